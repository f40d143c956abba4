/* SPDX-License-Identifier: MIT
 *
 * Curves and points over two axes, printed on a terminal or written as SVG. What the values mean
 * is the caller's affair. */
#ifndef UNSEEN_CLI_CHART_H
#define UNSEEN_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    CHART_POINTS = 64,
    CHART_SERIES = 24,
    CHART_NAME = 48
};

struct chart_axis {
    char label[CHART_NAME];
    double low; /* at the left or at the bottom; low > high turns the axis round */
    double high;
    bool is_log;
};

struct chart_series {
    char name[CHART_NAME];
    bool is_points; /* points, not a line; a single point has its name beside it */
    size_t npoints;
    double x[CHART_POINTS]; /* increasing along the axis, unless is_points */
    double y[CHART_POINTS];
};

struct chart {
    char title[128];
    struct chart_axis x;
    struct chart_axis y;
    size_t nseries;
    struct chart_series series[CHART_SERIES];
};

/* The position of a value on its axis: 0 at low, 1 at high, below 0 or above 1 outside. */
double chart_place(const struct chart_axis *axis, double value);

/* Chooses at most max round values at which to mark the axis, in increasing order. */
size_t chart_ticks(const struct chart_axis *axis, double *ticks, size_t max);

/* Writes a value with three digits: 20, 0.0123, 8.89e-5, 1e10. */
void chart_value(double value, char text[24]);

/* Prints about 15 lines of text: braille characters, or stars. */
void chart_print(FILE *to, const struct chart *chart, bool braille);

/* Writes the charts, one below the other, as an SVG file. */
void chart_svg(FILE *to, const struct chart *const *charts, size_t ncharts);

#endif
