/* SPDX-License-Identifier: MIT
 *
 * What the planner page asks of the library: the functions of this file are exported from the
 * WebAssembly module. They are `unseen plan --json` in steps, so that a page that is typed into
 * never waits for a whole answer:
 *
 *     planner_field(i)     where the page writes the text of field i: keys, rate, memory
 *     planner_begin()      reads the fields. Returns the fields that are not understood, as bits
 *     planner_row()        plans one more filter or list; false if there is none
 *     planner_json()       the rows so far, as `unseen plan --json` prints them
 *     planner_curve(i)     adds one point to each curve of chart i; false if they are complete
 *     planner_chart(i)     the curves so far, as JSON */
#include <stdlib.h>

#include "commands/plan_solve.h"
#include "options/options.h"

/* Elsewhere a function of its name, for fuzz_planner.c. */
#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name))) name
#else
#define EXPORT(name) name
#endif

enum {
    FIELD_CAP = 64,
    FIELD_KEYS = 0,
    FIELD_RATE,
    FIELD_MEMORY,
    NFIELDS,
    NCHARTS = 2
};

static char fields[NFIELDS][FIELD_CAP];
static struct question question;
static struct planned planned[PLANNED_MAX];
static size_t nplanned;
static struct chart charts[NCHARTS];
static unsigned npoints[NCHARTS]; /* of charts, so far */

/* As the options --capacity, --fpr and --memory of `unseen plan` take them. */
#define MEMORY_MAX ((uint64_t)1 << 56)

static bool read_number(const char *text, bool (*read)(const char *, uint64_t *), uint64_t most,
                        uint64_t *out)
{
    return *text == '\0' || (read(text, out) && *out >= 1 && *out <= most);
}

char *EXPORT(planner_field)(unsigned field)
{
    return field < NFIELDS ? fields[field] : NULL;
}

unsigned EXPORT(planner_field_cap)(void)
{
    return FIELD_CAP;
}

unsigned EXPORT(planner_begin)(void)
{
    question = (struct question){0};
    nplanned = 0;
    for (unsigned i = 0; i < NCHARTS; i++) {
        npoints[i] = 0;
    }
    for (unsigned i = 0; i < NFIELDS; i++) {
        fields[i][FIELD_CAP - 1] = '\0';
    }
    const bool keys = read_number(fields[FIELD_KEYS], number_count, UINT64_MAX, &question.capacity);
    const bool rate =
        fields[FIELD_RATE][0] == '\0' || number_rate(fields[FIELD_RATE], &question.fpr);
    const bool memory =
        read_number(fields[FIELD_MEMORY], number_bytes, MEMORY_MAX, &question.memory);
    question_complete(&question);
    return (unsigned)!keys << FIELD_KEYS | (unsigned)!rate << FIELD_RATE |
           (unsigned)!memory << FIELD_MEMORY;
}

bool EXPORT(planner_row)(void)
{
    if (nplanned == PLANNED_MAX || !planned_solve_row(&planned[nplanned], &question, nplanned)) {
        return false;
    }
    nplanned++;
    return true;
}

/* The text that print writes; NULL if there is no memory for it. It is valid until the next
 * call. */
static const char *text_of(void (*print)(FILE *to, unsigned i), unsigned i)
{
    static char *text;
    size_t len = 0;
    free(text);
    text = NULL;
    FILE *to = open_memstream(&text, &len);
    if (!to) {
        return NULL;
    }
    print(to, i);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) {
        free(text);
        text = NULL;
    }
    return text;
}

static void print_rows(FILE *to, unsigned i)
{
    (void)i;
    planned_print_json(to, &question, planned, nplanned);
}

const char *EXPORT(planner_json)(void)
{
    return text_of(print_rows, 0);
}

bool EXPORT(planner_curve)(unsigned i)
{
    static const struct {
        unsigned npoints;
        void (*begin)(struct chart *, const struct planned *, size_t);
        void (*point)(struct chart *, const struct planned *, size_t, unsigned);
    } kinds[NCHARTS] = {
        {PLANNED_RATES_POINTS, planned_chart_rates_begin, planned_chart_rates_point},
        {PLANNED_BITS_POINTS, planned_chart_bits_begin, planned_chart_bits_point}};
    if (i >= NCHARTS || npoints[i] == kinds[i].npoints) {
        return false;
    }
    if (npoints[i] == 0) {
        kinds[i].begin(&charts[i], planned, nplanned);
    }
    kinds[i].point(&charts[i], planned, nplanned, npoints[i]++);
    return true;
}

static void print_axis(FILE *to, const char *name, const struct chart_axis *axis)
{
    double ticks[16];
    char text[24];
    const size_t n = chart_ticks(axis, ticks, 8);
    fprintf(to, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        chart_value(ticks[i], text);
        fprintf(to, "%s[%.6g,\"%s\"]", i ? "," : "", chart_place(axis, ticks[i]), text);
    }
    fputs("],", to);
}

/* Points by their places on the axes: 0 at low, 1 at high. */
static void print_chart(FILE *to, unsigned i)
{
    const struct chart *chart = &charts[i];
    fputc('{', to);
    print_axis(to, "x", &chart->x);
    print_axis(to, "y", &chart->y);
    fputs("\"curves\":[", to);
    for (size_t j = 0; j < chart->nseries; j++) {
        const struct chart_series *s = &chart->series[j];
        fprintf(to, "%s{\"name\":\"%s\",\"points\":[", j ? "," : "", s->name);
        for (size_t k = 0; k < s->npoints; k++) {
            fprintf(to, "%s[%.4f,%.4f]", k ? "," : "", chart_place(&chart->x, s->x[k]),
                    chart_place(&chart->y, s->y[k]));
        }
        fputs("]}", to);
    }
    fputs("]}", to);
}

const char *EXPORT(planner_chart)(unsigned i)
{
    return i < NCHARTS ? text_of(print_chart, i) : NULL;
}
