/* SPDX-License-Identifier: MIT
 *
 * Curves and points over two axes, for a terminal or as SVG. Nothing is known here of what they
 * mean. */
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
    double low; /* at the left or below; low > high turns the axis round */
    double high;
    bool is_log;
};

struct chart_series {
    char name[CHART_NAME];
    bool is_points; /* marks, no line; a single one has its name beside it */
    size_t npoints;
    double x[CHART_POINTS]; /* of a line: increasing along the axis */
    double y[CHART_POINTS];
};

struct chart {
    char title[128];
    struct chart_axis x;
    struct chart_axis y;
    size_t nseries;
    struct chart_series series[CHART_SERIES];
};

/* Where a value is on its axis: 0 at low, 1 at high; outside, below 0 or above 1. */
double chart_place(const struct chart_axis *axis, double value);

/* The values at which the axis is marked, at most max of them, in increasing order: round ones. */
size_t chart_ticks(const struct chart_axis *axis, double *ticks, size_t max);

/* A value as short text of three digits: 20, 0.0123, 8.89e-5, 1e10. */
void chart_value(double value, char text[24]);

/* Some 15 lines of text: in braille, or if that is not wanted, in stars. */
void chart_print(FILE *to, const struct chart *chart, bool braille);

/* The charts below each other as one SVG file. */
void chart_svg(FILE *to, const struct chart *const *charts, size_t ncharts);

#endif
