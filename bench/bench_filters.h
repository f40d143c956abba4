/* SPDX-License-Identifier: MIT
 *
 * What the two programs about every filter share: their options, and the picture that -o asks
 * for. */
#ifndef UNSEEN_BENCH_BENCH_FILTERS_H
#define UNSEEN_BENCH_BENCH_FILTERS_H

#include "bench.h"

#include <math.h>

#include "print/chart.h"

/* Key numbers: members are 0 .. nmembers - 1; the others are far away. */
static const uint64_t absent_keys = (uint64_t)1 << 41;

static struct chart chart;
static const char *only; /* NULL: all filters */
static uint64_t seed = 1;

/* True for a filter of its own. Other names are served by a filter that has a row already. */
static inline bool is_filter(const char *name)
{
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .filter = name, .fpr = 1e-2, .capacity = 1};
    struct unseen_set *set;
    bench_check(unseen_set_create(&set, &options, NULL));
    const bool is_own = strcmp(bench_stats(set).filter, name) == 0;
    unseen_set_free(set);
    return is_own;
}

static inline bool is_wanted(const char *name)
{
    return only ? strcmp(name, only) == 0 : is_filter(name);
}

static inline void write_chart(const char *path)
{
    const struct chart *const charts[] = {&chart};
    FILE *to = fopen(path, "w");
    if (!to) {
        bench_die(path);
    }
    chart_svg(to, charts, 1);
    if (ferror(to) || fclose(to) != 0) {
        bench_die(path);
    }
}

/* The series of this name, made if there is none. */
static inline struct chart_series *series_of(const char *name, bool is_points)
{
    for (size_t i = 0; i < chart.nseries; i++) {
        if (strcmp(chart.series[i].name, name) == 0) {
            return &chart.series[i];
        }
    }
    if (chart.nseries == CHART_SERIES) {
        return NULL;
    }
    struct chart_series *s = &chart.series[chart.nseries++];
    snprintf(s->name, sizeof(s->name), "%s", name);
    s->is_points = is_points;
    return s;
}

static inline void add_point(struct chart_series *s, double x, double y)
{
    if (s && s->npoints < CHART_POINTS) {
        s->x[s->npoints] = x;
        s->y[s->npoints++] = y;
    }
}

static inline struct unseen_plan plan_of(const char *name, double fpr, uint64_t capacity)
{
    struct unseen_plan plan = {
        .size = sizeof(plan), .filter = name, .fpr = fpr, .capacity = capacity};
    if (unseen_plan(&plan) != UNSEEN_OK) {
        plan.size = 0;
    }
    return plan;
}

/* Reads the options in front of the sizes. Returns the number of the first size. */
static inline int filters_options(int argc, char **argv, const char *usage, const char **svg_out)
{
    int option;
    while ((option = getopt(argc, argv, "f:o:s:")) != -1) {
        if (option == 'f') {
            only = optarg;
        } else if (option == 'o') {
            *svg_out = optarg;
        } else if (option == 's') {
            seed = strtoull(optarg, NULL, 10);
        } else {
            fprintf(stderr, "usage: %s\n", usage);
            exit(2);
        }
    }
    return optind;
}

#endif
