/* SPDX-License-Identifier: MIT
 *
 * A chart as SVG that needs no other file. The colours are those of Okabe and Ito, which colour-
 * blind people can tell apart. The name of a curve is beside its end. */
#include <math.h>
#include <string.h>

#include "print/chart.h"

enum {
    WIDTH = 760,
    HEIGHT = 400,
    LEFT = 70,
    RIGHT = 130,
    TOP = 44,
    BOTTOM = 50,
    NAME_HEIGHT = 15
};

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#7f7f7f",
                                      "#882255", "#117733", "#b8860b", "#44aa99"};

static const char *colour_of(size_t i)
{
    return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

static void svg_put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        default:
            fputc(*text, to);
        }
    }
}

static double place_x(const struct chart *chart, double x)
{
    return LEFT + chart_place(&chart->x, x) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct chart *chart, double y)
{
    return HEIGHT - BOTTOM - chart_place(&chart->y, y) * (HEIGHT - TOP - BOTTOM);
}

static bool is_inside(const struct chart *chart, const struct chart_series *s, size_t i)
{
    const double x = chart_place(&chart->x, s->x[i]);
    const double y = chart_place(&chart->y, s->y[i]);
    return x > -1e-9 && x < 1 + 1e-9 && y > -1e-9 && y < 1 + 1e-9;
}

static void put_axes(FILE *to, const struct chart *chart)
{
    double ticks[16];
    char text[24];
    size_t n = chart_ticks(&chart->y, ticks, 9);
    for (size_t i = 0; i < n; i++) {
        const double y = place_y(chart, ticks[i]);
        chart_value(ticks[i], text);
        fprintf(to, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>\n", LEFT,
                WIDTH - RIGHT, y, y);
        fprintf(to, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 6, y + 4, text);
    }
    n = chart_ticks(&chart->x, ticks, 10);
    for (size_t i = 0; i < n; i++) {
        const double x = place_x(chart, ticks[i]);
        chart_value(ticks[i], text);
        fprintf(to, "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#ddd'/>\n", x, x, TOP,
                HEIGHT - BOTTOM);
        fprintf(to, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", x,
                HEIGHT - BOTTOM + 16, text);
    }
    fprintf(to, "<text x='%d' y='%d' text-anchor='middle'>", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - BOTTOM + 34);
    svg_put_text(to, chart->x.label);
    fprintf(to, "</text>\n<text x='%d' y='%d'>", 8, TOP - 8);
    svg_put_text(to, chart->y.label);
    fputs("</text>\n", to);
}

/* A line may leave the frame. The renderer clips it at the edge, so that its slope stays right. */
static void put_line(FILE *to, const struct chart *chart, const struct chart_series *s, size_t i)
{
    fprintf(to,
            "<polyline fill='none' stroke='%s' stroke-width='2' clip-path='url(#frame)' points='",
            colour_of(i));
    for (size_t j = 0; j < s->npoints; j++) {
        /* A point far outside is drawn nearer: the numbers stay short, and the line still
         * leaves. */
        const double y = place_y(chart, s->y[j]);
        fprintf(to, "%.1f,%.1f ", place_x(chart, s->x[j]), fmin(fmax(y, -9999), 9999));
    }
    fputs("'/>\n", to);
}

/* The names beside the points of a chart so far: a later name keeps out of their way. */
struct labels {
    size_t n;
    double x[CHART_SERIES];
    double y[CHART_SERIES];
};

static bool is_free(const struct labels *labels, double x, double y)
{
    for (size_t i = 0; i < labels->n; i++) {
        if (fabs(labels->x[i] - x) < 100 && fabs(labels->y[i] - y) < NAME_HEIGHT - 3) {
            return false;
        }
    }
    return true;
}

static void put_label(FILE *to, struct labels *labels, const struct chart_series *s, double x,
                      double y, const char *colour)
{
    static const int shifts[] = {0, -1, 1, -2, 2, -3, 3};
    double at = y;
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        at = y + shifts[i] * (NAME_HEIGHT - 3);
        if (is_free(labels, x, at)) {
            break;
        }
    }
    labels->x[labels->n] = x;
    labels->y[labels->n++] = at;
    fprintf(to, "<text x='%.1f' y='%.1f' fill='%s'>", x + 7, at + 4, colour);
    svg_put_text(to, s->name);
    fputs("</text>\n", to);
}

static void put_points(FILE *to, const struct chart *chart, struct labels *labels,
                       const struct chart_series *s, size_t i)
{
    for (size_t j = 0; j < s->npoints; j++) {
        const double x = place_x(chart, s->x[j]);
        const double y = place_y(chart, s->y[j]);
        if (!is_inside(chart, s, j)) {
            continue;
        }
        fprintf(to, "<circle cx='%.1f' cy='%.1f' r='4' fill='%s'/>\n", x, y, colour_of(i));
        if (s->npoints == 1) {
            put_label(to, labels, s, x, y, colour_of(i));
        }
    }
}

struct name {
    size_t series;
    double y;
};

/* Sorts the names by the ends of their curves, and keeps a line of text between any two. */
static size_t place_names(const struct chart *chart, struct name *names)
{
    size_t n = 0;
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        size_t end = s->npoints;
        while (end > 0 && !is_inside(chart, s, end - 1)) {
            end--;
        }
        if (end == 0 || (s->is_points && s->npoints == 1)) {
            continue;
        }
        const struct name name = {i, place_y(chart, s->y[end - 1])};
        size_t at = n++;
        for (; at > 0 && names[at - 1].y > name.y; at--) {
            names[at] = names[at - 1];
        }
        names[at] = name;
    }
    for (size_t i = 1; i < n; i++) {
        names[i].y = fmax(names[i].y, names[i - 1].y + NAME_HEIGHT);
    }
    double lowest = HEIGHT - BOTTOM;
    for (size_t i = n; i > 0; i--, lowest -= NAME_HEIGHT) {
        names[i - 1].y = fmin(names[i - 1].y, lowest);
    }
    return n;
}

static void put_chart(FILE *to, const struct chart *chart)
{
    struct name names[CHART_SERIES];
    struct labels labels = {.n = 0};
    fputs("<text x='8' y='18' font-weight='bold'>", to);
    svg_put_text(to, chart->title);
    fputs("</text>\n", to);
    put_axes(to, chart);
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        if (s->is_points) {
            put_points(to, chart, &labels, s, i);
        } else {
            put_line(to, chart, s, i);
        }
    }
    const size_t n = place_names(chart, names);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "<text x='%d' y='%.1f' fill='%s'>", WIDTH - RIGHT + 8, names[i].y + 4,
                colour_of(names[i].series));
        svg_put_text(to, chart->series[names[i].series].name);
        fputs("</text>\n", to);
    }
}

void chart_svg(FILE *to, const struct chart *const *charts, size_t ncharts)
{
    const unsigned height = (unsigned)ncharts * HEIGHT;
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %u' width='%d' height='%u' "
            "font-family='sans-serif' font-size='12'>\n"
            "<rect width='%d' height='%u' fill='#fff'/>\n"
            "<clipPath id='frame'><rect x='%d' y='%d' width='%d' height='%d'/></clipPath>\n",
            WIDTH, height, WIDTH, height, WIDTH, height, LEFT, TOP, WIDTH - LEFT - RIGHT,
            HEIGHT - TOP - BOTTOM);
    for (size_t i = 0; i < ncharts; i++) {
        fprintf(to, "<g transform='translate(0,%u)'>\n", (unsigned)i * HEIGHT);
        put_chart(to, charts[i]);
        fputs("</g>\n", to);
    }
    fputs("</svg>\n", to);
}
