/* SPDX-License-Identifier: MIT
 *
 * The plans of several filters, and of lists, for one question. */
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
    const char *name; /* of the row: a filter, or a list and its kind */
    bool is_list;
    enum unseen_kind kind; /* of a list */
    struct unseen_plan plan;
    uint64_t bytes;              /* in memory, of a list in its file; 0: not known */
    enum unseen_status status;   /* if it is not OK, only name and bytes mean something */
    double rates[PLANNED_LOADS]; /* expected rates at planned_loads of the capacity */
    uint64_t nkeys_most;         /* the most keys that fit into question.memory; 0: not asked */
};

extern const double planned_loads[PLANNED_LOADS];

void planned_solve(struct planned *planned, const char *filter, const struct question *question);

/* The same for a list of a kind. The question must say a rate. */
void planned_solve_list(struct planned *planned, const char *name, enum unseen_kind kind,
                        const struct question *question);

/* The bytes that n keys take at least at a rate, in any structure that takes any keys: n
 * log2(1/rate) bits. */
double planned_least_bytes(uint64_t nkeys, double fpr);

/* True if the question asks for what no structure can be. */
bool planned_is_impossible(const struct question *question);

/* Make charts: the rate with more and more keys, and the bits per key for lower and lower rates. */
void planned_chart_rates(struct chart *chart, const struct planned *planned, size_t n);
void planned_chart_bits(struct chart *chart, const struct planned *planned, size_t n);

/* Print the plans as a table, and as a JSON object. */
void planned_print(FILE *to, const struct question *question, const struct planned *planned,
                   size_t n);
void planned_print_json(FILE *to, const struct question *question, const struct planned *planned,
                        size_t n);

#endif
