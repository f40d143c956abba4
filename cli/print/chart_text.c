/* SPDX-License-Identifier: MIT
 *
 * A chart of characters. A braille character is a cell of 2 by 4 dots: its code is U+2800 and a
 * bit for each dot. The name of a curve is at its right end, or in the next line that is free. */
#include <math.h>
#include <string.h>

#include "print/chart.h"

enum {
    COLUMNS = 48,
    ROWS = 13,
    DOTS_X = COLUMNS * 2,
    DOTS_Y = ROWS * 4,
    LABEL = 8
};

struct canvas {
    unsigned char cells[ROWS][COLUMNS];
    char ends[ROWS][200]; /* names at the right */
};

/* Counts y from the bottom. A dot outside the canvas is not drawn. */
static void put_dot(struct canvas *c, long x, long y)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || x >= DOTS_X || y < 0 || y >= DOTS_Y) {
        return;
    }
    const long down = DOTS_Y - 1 - y;
    c->cells[down / 4][x / 2] |= bits[down % 4][x % 2];
}

struct dot {
    double x;
    double y;
};

static struct dot dot_of(const struct chart *chart, const struct chart_series *s, size_t i)
{
    const double x = chart_place(&chart->x, s->x[i]) * (DOTS_X - 1);
    const double y = chart_place(&chart->y, s->y[i]) * (DOTS_Y - 1);
    /* A point far outside is moved nearer: its position must fit into a long. */
    return (struct dot){fmin(fmax(x, -1e4), 1e4), fmin(fmax(y, -1e4), 1e4)};
}

static void draw_line(struct canvas *c, struct dot a, struct dot b)
{
    const double steps = ceil(fmax(fmax(fabs(b.x - a.x), fabs(b.y - a.y)), 1));
    for (double i = 0; i <= steps; i++) {
        put_dot(c, lround(a.x + (b.x - a.x) * i / steps), lround(a.y + (b.y - a.y) * i / steps));
    }
}

static bool dot_is_inside(struct dot d)
{
    return d.x > -1 && d.x < DOTS_X && d.y > -1 && d.y < DOTS_Y;
}

static void add_name(char *names, size_t cap, const char *name)
{
    const size_t len = strlen(names);
    snprintf(names + len, cap - len, "%s%s", len ? ", " : "", name);
}

/* Draws a curve; returns the row of its right end, or -1 if no part of it is inside. */
static long draw_series(struct canvas *c, const struct chart *chart, const struct chart_series *s)
{
    long end = -1;
    struct dot before = {0, 0};
    for (size_t i = 0; i < s->npoints; i++) {
        const struct dot d = dot_of(chart, s, i);
        if (i > 0 && !s->is_points) {
            draw_line(c, before, d);
        }
        put_dot(c, lround(d.x), lround(d.y));
        end = dot_is_inside(d) ? lround(d.y) : end;
        before = d;
    }
    return end >= 0 && end < DOTS_Y ? (DOTS_Y - 1 - end) / 4 : -1;
}

struct name {
    const char *text;
    long row;
};

/* Puts the names at the ends of their curves, in the same order, each in a row of its own as long
 * as there are rows. */
static void put_names(struct canvas *c, struct name *names, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct name name = names[i];
        size_t at = i;
        for (; at > 0 && names[at - 1].row > name.row; at--) {
            names[at] = names[at - 1];
        }
        names[at] = name;
    }
    for (size_t i = 1; i < n; i++) {
        const long after = names[i - 1].row + 1;
        names[i].row = names[i].row > after ? names[i].row : after;
    }
    long lowest = ROWS - 1;
    for (size_t i = n; i > 0; i--, lowest -= lowest > 0) {
        names[i - 1].row = names[i - 1].row < lowest ? names[i - 1].row : lowest;
    }
    for (size_t i = 0; i < n; i++) {
        add_name(c->ends[names[i].row], sizeof(c->ends[0]), names[i].text);
    }
}

static void print_cell(FILE *to, unsigned char cell, bool braille)
{
    if (cell == 0 || !braille) {
        fputc(cell == 0 ? ' ' : '*', to);
        return;
    }
    const unsigned code = 0x2800 + cell;
    fprintf(to, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)),
            (int)(0x80 | (code & 0x3f)));
}

/* Fills in the labels of the rows; a row without a label gets an empty text. */
static void label_rows(const struct chart_axis *axis, char labels[ROWS][24])
{
    double ticks[ROWS];
    const size_t n = chart_ticks(axis, ticks, ROWS / 2 + 1);
    memset(labels, 0, sizeof(labels[0]) * ROWS);
    for (size_t i = 0; i < n; i++) {
        const long y = lround(chart_place(axis, ticks[i]) * (DOTS_Y - 1));
        chart_value(ticks[i], labels[(DOTS_Y - 1 - y) / 4]);
    }
}

static void print_x_axis(FILE *to, const struct chart_axis *axis)
{
    char line[COLUMNS + 24 + 1];
    double ticks[8];
    const size_t n = chart_ticks(axis, ticks, 7);
    memset(line, ' ', sizeof(line));
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        /* Go from left to right, also if the axis is turned round. */
        const double tick = ticks[axis->low > axis->high ? n - 1 - i : i];
        char text[24];
        chart_value(tick, text);
        const size_t at = (size_t)lround(chart_place(axis, tick) * (COLUMNS - 1));
        memcpy(line + at, text, strlen(text));
        end = at + strlen(text);
    }
    fprintf(to, "%*s  %.*s  %s\n", LABEL, "", (int)end, line, axis->label);
}

void chart_print(FILE *to, const struct chart *chart, bool braille)
{
    struct canvas c;
    struct name names[CHART_SERIES];
    char labels[ROWS][24];
    memset(&c, 0, sizeof(c));
    size_t nnames = 0;
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        names[nnames] = (struct name){s->name, draw_series(&c, chart, s)};
        nnames += names[nnames].row >= 0;
    }
    put_names(&c, names, nnames);
    label_rows(&chart->y, labels);
    fprintf(to, "%s\n%*s\n", chart->title, LABEL, chart->y.label);
    for (size_t row = 0; row < ROWS; row++) {
        fprintf(to, "%*s %c", LABEL, labels[row], labels[row][0] ? '+' : '|');
        for (size_t column = 0; column < COLUMNS; column++) {
            print_cell(to, c.cells[row][column], braille);
        }
        fprintf(to, "%s%s\n", c.ends[row][0] ? " " : "", c.ends[row]);
    }
    print_x_axis(to, &chart->x);
}
