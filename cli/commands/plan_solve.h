/* SPDX-License-Identifier: MIT
 *
 * Answers a question of `unseen plan`: makes a plan for each filter, and for each kind of list. */
#ifndef UNSEEN_CLI_PLAN_SOLVE_H
#define UNSEEN_CLI_PLAN_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <unseen_list.h>

#include "print/chart.h"

enum {
    PLANNED_LOADS = 4,
    PLANNED_MAX = CHART_SERIES,
    PLANNED_RATES_POINTS = CHART_POINTS - 1,
    PLANNED_BITS_POINTS = 37
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
    const char *name;      /* of the row: a filter, or a list and its kind */
    const char *served_by; /* the filter that serves a name which is not its own; else NULL */
    bool is_list;
    enum unseen_kind kind; /* of a list */
    struct unseen_plan plan;
    uint64_t bytes;              /* in memory, of a list in its file; 0: not known */
    enum unseen_status status;   /* if it is not OK, only name and bytes mean something */
    double rates[PLANNED_LOADS]; /* expected rates at planned_loads of the capacity */
    uint64_t nkeys_most;         /* the most keys that fit into question.memory; 0: not asked */
};

extern const double planned_loads[PLANNED_LOADS];

/* With only keys, only memory, or neither, takes the default rate of a set. */
void question_complete(struct question *question);

/* Solves the row of all that can be planned: the filters, and if the question says a rate, the
 * lists of each kind (phone numbers take what URLs take). Returns false behind the last row. */
bool planned_solve_row(struct planned *planned, const struct question *question, size_t row);

/* The bytes that n keys take at least at a rate, in any structure that takes any keys: n
 * log2(1/rate) bits. */
double planned_least_bytes(uint64_t nkeys, double fpr);

/* True if the question asks for what no structure can be. */
bool planned_is_impossible(const struct question *question);

/* Make charts: the rate with more and more keys, and the bits per key for lower and lower rates. */
void planned_chart_rates(struct chart *chart, const struct planned *planned, size_t n);
void planned_chart_bits(struct chart *chart, const struct planned *planned, size_t n);

/* The same in steps: an empty chart, and then the points from 0 to PLANNED_..._POINTS - 1. A curve
 * without points is of a filter that cannot have the rates. */
void planned_chart_rates_begin(struct chart *chart, const struct planned *planned, size_t n);
void planned_chart_rates_point(struct chart *chart, const struct planned *planned, size_t n,
                               unsigned point);
void planned_chart_bits_begin(struct chart *chart, const struct planned *planned, size_t n);
void planned_chart_bits_point(struct chart *chart, const struct planned *planned, size_t n,
                              unsigned point);

/* Print the plans as a table, and as a JSON object. */
void planned_print(FILE *to, const struct question *question, const struct planned *planned,
                   size_t n);
void planned_print_json(FILE *to, const struct question *question, const struct planned *planned,
                        size_t n);

#endif
