/* SPDX-License-Identifier: MIT
 *
 * Draws a table: lines of NAME tab X tab Y, on logarithmic axes.
 *
 *     plot points|lines TITLE X-LABEL Y-LABEL < TABLE > SVG */
#include "bench.h"

#include <math.h>

#include "print/chart.h"

static struct chart chart;

static struct chart_series *series_of(const char *name)
{
    for (size_t i = 0; i < chart.nseries; i++) {
        if (strcmp(chart.series[i].name, name) == 0) {
            return &chart.series[i];
        }
    }
    if (chart.nseries == CHART_SERIES) {
        fprintf(stderr, "error: more than %d names\n", CHART_SERIES);
        exit(2);
    }
    struct chart_series *s = &chart.series[chart.nseries++];
    snprintf(s->name, sizeof(s->name), "%.47s", name);
    return s;
}

static void widen(struct chart_axis *axis, double value)
{
    axis->low = axis->low == 0 || value < axis->low ? value : axis->low;
    axis->high = value > axis->high ? value : axis->high;
}

/* To whole decades. */
static void round_axis(struct chart_axis *axis)
{
    axis->is_log = true;
    axis->low = pow(10, floor(log10(axis->low)));
    axis->high = pow(10, ceil(log10(axis->high)));
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: plot points|lines TITLE X-LABEL Y-LABEL < TABLE > SVG\n");
        return 2;
    }
    char line[200];
    snprintf(chart.title, sizeof(chart.title), "%s", argv[2]);
    snprintf(chart.x.label, sizeof(chart.x.label), "%s", argv[3]);
    snprintf(chart.y.label, sizeof(chart.y.label), "%s", argv[4]);
    while (fgets(line, sizeof(line), stdin)) {
        char *x = strchr(line, '\t');
        char *y = x ? strchr(x + 1, '\t') : NULL;
        if (!y) {
            fprintf(stderr, "error: not NAME, X, Y: %s", line);
            return 2;
        }
        *x++ = '\0';
        struct chart_series *s = series_of(line);
        s->is_points = strcmp(argv[1], "points") == 0;
        if (s->npoints < CHART_POINTS) {
            s->x[s->npoints] = strtod(x, NULL);
            s->y[s->npoints] = strtod(y + 1, NULL);
            widen(&chart.x, s->x[s->npoints]);
            widen(&chart.y, s->y[s->npoints]);
            s->npoints++;
        }
    }
    if (chart.nseries == 0) {
        fprintf(stderr, "error: nothing to draw\n");
        return 2;
    }
    round_axis(&chart.x);
    round_axis(&chart.y);
    const struct chart *const charts[] = {&chart};
    chart_svg(stdout, charts, 1);
    return fflush(stdout) != 0 || ferror(stdout) ? 2 : 0;
}
