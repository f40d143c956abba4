/* SPDX-License-Identifier: MIT
 *
 * A chart as SVG that needs no other file. The first colours are those of Okabe and Ito, which
 * colour-blind people can tell apart. A filter has the same colour in every picture; other names
 * get the colours that are left. The name of a curve is at the right edge, and a thin line leads to
 * it from the end of the curve. */
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
    NAME_HEIGHT = 15,
    LETTER = 7, /* about the width of one */
    RADIUS = 4  /* of a point */
};

static const struct {
    const char *name;
    const char *colour;
} known[] = {
    {"compact", "#0072b2"},  {"bloom", "#d55e00"},          {"block", "#009e73"},
    {"counting", "#cc79a7"}, {"scalable", "#56b4e9"},       {"exact", "#000000"},
    {"list", "#117733"},     {"scalable-bloom", "#b8860b"}, {"scalable-count", "#882255"},
    {"unseen", "#0072b2"},   {"the least", "#7f7f7f"},
};

static const char *const others[] = {"#e69f00", "#44aa99", "#6a3d9a", "#999933", "#b15928",
                                     "#1f78b4", "#aa4466", "#33a02c", "#555555", "#cab2d6"};

enum {
    NOTHERS = sizeof(others) / sizeof(others[0])
};

/* The colour of a name that is known, with or without "unseen-" in front; NULL if it is not. */
static const char *known_colour(const char *name)
{
    const char *filter = strncmp(name, "unseen-", 7) == 0 ? name + 7 : name;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, filter) == 0) {
            return known[i].colour;
        }
    }
    return NULL;
}

/* The colour of the i'th series. */
static const char *colour_of(const struct chart *chart, size_t i)
{
    const char *colour = known_colour(chart->series[i].name);
    size_t nothers = 0;
    for (size_t j = 0; j < i; j++) {
        nothers += known_colour(chart->series[j].name) == NULL;
    }
    return colour ? colour : others[nothers % NOTHERS];
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

static bool svg_is_inside(const struct chart *chart, const struct chart_series *s, size_t i)
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
static void svg_put_line(FILE *to, const struct chart *chart, const struct chart_series *s,
                         size_t i)
{
    fprintf(to,
            "<polyline fill='none' stroke='%s' stroke-width='2' clip-path='url(#frame)' points='",
            colour_of(chart, i));
    for (size_t j = 0; j < s->npoints; j++) {
        /* A point far outside is drawn nearer: the numbers stay short, and the line still
         * leaves. */
        const double y = place_y(chart, s->y[j]);
        fprintf(to, "%.1f,%.1f ", place_x(chart, s->x[j]), fmin(fmax(y, -9999), 9999));
    }
    fputs("'/>\n", to);
}

/* Leads from a point or the end of a curve to its name. */
static void put_leader(FILE *to, double x1, double y1, double x2, double y2, const char *colour)
{
    if (fabs(x1 - x2) > 2 * NAME_HEIGHT || fabs(y1 - y2) > NAME_HEIGHT / 2.0) {
        fprintf(to,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='0.6' "
                "stroke-dasharray='2 2'/>\n",
                x1, y1, x2, y2, colour);
    }
}

/* A rectangle that a name must not cover: a point, or another name. */
struct box {
    double left;
    double right;
    double y; /* the middle */
    double half;
};

struct boxes {
    size_t n;
    struct box box[CHART_SERIES * (CHART_POINTS + 1)];
};

static bool is_free(const struct boxes *boxes, const struct box *wanted)
{
    for (size_t i = 0; i < boxes->n; i++) {
        const struct box *b = &boxes->box[i];
        if (b->left < wanted->right && wanted->left < b->right &&
            fabs(b->y - wanted->y) < b->half + wanted->half) {
            return false;
        }
    }
    return wanted->y > TOP && wanted->y < HEIGHT - BOTTOM;
}

/* Finds a free place near the point for its name: at its right, else further up or down. */
static struct box find_place(const struct boxes *boxes, const char *name, double x, double y)
{
    const double width = LETTER * (double)strlen(name);
    struct box place = {x + LETTER, x + LETTER + width, y, NAME_HEIGHT / 2.0 - 1};
    for (int i = 0; i < 40; i++) {
        const int steps = (i + 1) / 2 * (i % 2 ? -1 : 1);
        const struct box wanted = {place.left, place.right, y + steps * (NAME_HEIGHT / 2.0),
                                   place.half};
        if (is_free(boxes, &wanted)) {
            return wanted;
        }
    }
    return place;
}

static void put_label(FILE *to, struct boxes *boxes, const struct chart_series *s, double x,
                      double y, const char *colour)
{
    const struct box place = find_place(boxes, s->name, x, y);
    boxes->box[boxes->n++] = place;
    put_leader(to, x, y, place.left, place.y, colour);
    fprintf(to, "<text x='%.1f' y='%.1f' fill='%s'>", place.left, place.y + 4, colour);
    svg_put_text(to, s->name);
    fputs("</text>\n", to);
}

/* Draws the points of all series first, so that no name covers one. */
static void put_points(FILE *to, const struct chart *chart, struct boxes *boxes)
{
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        for (size_t j = 0; s->is_points && j < s->npoints; j++) {
            const double x = place_x(chart, s->x[j]);
            const double y = place_y(chart, s->y[j]);
            if (svg_is_inside(chart, s, j)) {
                boxes->box[boxes->n++] = (struct box){x - RADIUS, x + RADIUS, y, RADIUS};
                fprintf(to, "<circle cx='%.1f' cy='%.1f' r='%d' fill='%s'/>\n", x, y, RADIUS,
                        colour_of(chart, i));
            }
        }
    }
}

static void put_labels(FILE *to, const struct chart *chart, struct boxes *boxes)
{
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        if (s->is_points && s->npoints == 1 && svg_is_inside(chart, s, 0)) {
            put_label(to, boxes, s, place_x(chart, s->x[0]), place_y(chart, s->y[0]),
                      colour_of(chart, i));
        }
    }
}

struct name {
    size_t series;
    double y;
    double end_x; /* the end of the curve */
    double end_y;
};

/* Sorts the names by the ends of their curves, and keeps a line of text between any two. */
static size_t place_names(const struct chart *chart, struct name *names)
{
    size_t n = 0;
    for (size_t i = 0; i < chart->nseries; i++) {
        const struct chart_series *s = &chart->series[i];
        size_t end = s->npoints;
        while (end > 0 && !svg_is_inside(chart, s, end - 1)) {
            end--;
        }
        if (end == 0 || (s->is_points && s->npoints == 1)) {
            continue;
        }
        const double y = place_y(chart, s->y[end - 1]);
        const struct name name = {i, y, place_x(chart, s->x[end - 1]), y};
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

static void put_name(FILE *to, const struct chart *chart, const struct name *name)
{
    const char *colour = colour_of(chart, name->series);
    put_leader(to, name->end_x, name->end_y, WIDTH - RIGHT + 6, name->y, colour);
    fprintf(to, "<text x='%d' y='%.1f' fill='%s'>", WIDTH - RIGHT + 8, name->y + 4, colour);
    svg_put_text(to, chart->series[name->series].name);
    fputs("</text>\n", to);
}

static void put_chart(FILE *to, const struct chart *chart)
{
    struct name names[CHART_SERIES];
    struct boxes boxes;
    boxes.n = 0;
    fputs("<text x='8' y='18' font-weight='bold'>", to);
    svg_put_text(to, chart->title);
    fputs("</text>\n", to);
    put_axes(to, chart);
    for (size_t i = 0; i < chart->nseries; i++) {
        if (!chart->series[i].is_points) {
            svg_put_line(to, chart, &chart->series[i], i);
        }
    }
    put_points(to, chart, &boxes);
    put_labels(to, chart, &boxes);
    const size_t n = place_names(chart, names);
    for (size_t i = 0; i < n; i++) {
        put_name(to, chart, &names[i]);
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
