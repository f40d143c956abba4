/* SPDX-License-Identifier: MIT
 *
 * The plans of several filters for one question. */
#ifndef UNSEEN_CLI_PLAN_SOLVE_H
#define UNSEEN_CLI_PLAN_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <unseen.h>

#include "print/chart.h"

enum {
    PLANNED_LOADS = 4,
    PLANNED_MAX = CHART_SERIES
};

/* The numbers that are given; 0: not given. */
struct question {
    uint64_t capacity;
    double fpr;
    double bits_per_key;
    uint64_t memory; /* bytes */
    unsigned hashes;
};

struct planned {
    struct unseen_plan plan;
    enum unseen_status status;   /* if it is not OK, only plan.filter means something */
    double rates[PLANNED_LOADS]; /* expected rates at planned_loads of the capacity */
    uint64_t nkeys_most;         /* the most keys that fit into question.memory; 0: not asked */
};

extern const double planned_loads[PLANNED_LOADS];

void planned_solve(struct planned *planned, const char *filter, const struct question *question);

/* Make charts: the rate with more and more keys, and the bits per key for lower and lower rates. */
void planned_chart_rates(struct chart *chart, const struct planned *planned, size_t n);
void planned_chart_bits(struct chart *chart, const struct planned *planned, size_t n);

/* Print the plans as a table, and as a JSON object. */
void planned_print(FILE *to, const struct question *question, const struct planned *planned,
                   size_t n);
void planned_print_json(FILE *to, const struct question *question, const struct planned *planned,
                        size_t n);

#endif
