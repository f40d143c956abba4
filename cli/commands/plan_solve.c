/* SPDX-License-Identifier: MIT */
#include "commands/plan_solve.h"

#include <math.h>
#include <string.h>

const double planned_loads[PLANNED_LOADS] = {0.1, 0.5, 1, 2};

/* The capacity that stands for "many" if none is given. */
static const uint64_t large = 1000000000;

/* For fewer keys, sizes are rounded up so much that they say nothing about a filter. */
static const uint64_t few = 1000000;

/* The rate with load times the capacity. If the filter was planned without a capacity, it is
 * `large`. */
static double planned_rate(const struct unseen_plan *plan, double load)
{
    struct unseen_plan of = *plan;
    if (of.capacity == 0) {
        of.capacity = large;
        of.bits = (uint64_t)ceil(of.bits_per_key * (double)large);
    }
    return unseen_plan_rate(&of, load * (double)of.capacity);
}

static struct unseen_plan plan_start(const char *filter, const struct question *q)
{
    struct unseen_plan plan = {.size = sizeof(plan), .filter = filter};
    plan.capacity = q->capacity;
    plan.fpr = q->fpr;
    plan.bits_per_key = q->bits_per_key;
    plan.hashes = q->hashes;
    return plan;
}

/* The bytes for so many keys at the rate of the question; UINT64_MAX if that cannot be planned. */
static uint64_t bytes_for(const char *filter, const struct question *q, uint64_t nkeys)
{
    struct unseen_plan plan = plan_start(filter, q);
    plan.capacity = nkeys;
    return unseen_plan(&plan) == UNSEEN_OK ? plan.bits / 8 : UINT64_MAX;
}

/* The largest number of keys that fits into the memory. More keys never take fewer bytes, but for
 * rounding. */
static uint64_t most_keys(const char *filter, const struct question *q)
{
    uint64_t low = 0;
    uint64_t high = 1;
    while (high < (uint64_t)1 << 56 && bytes_for(filter, q, high) <= q->memory) {
        low = high;
        high *= 2;
    }
    while (high - low > 1 && high - low > low / 1000000) {
        const uint64_t middle = low + (high - low) / 2;
        if (bytes_for(filter, q, middle) <= q->memory) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Says why not a single key fits: the filter cannot be planned, or it is too large. */
static enum unseen_status why_none(const char *filter, const struct question *q)
{
    struct unseen_plan plan = plan_start(filter, q);
    plan.capacity = 1;
    const enum unseen_status status = unseen_plan(&plan);
    return status == UNSEEN_OK ? UNSEEN_ERR_SPACE : status;
}

/* Solves a question that gives memory. The memory gives the bits. If the rate of a filter does not
 * follow from the bits, the filter has its own rate, and the memory is only a limit. */
static enum unseen_status solve_memory(struct unseen_plan *plan, const struct question *q)
{
    plan->bits = q->memory * 8;
    enum unseen_status status = unseen_plan(plan);
    if (status == UNSEEN_ERR_UNSUPPORTED && q->bits_per_key == 0) {
        *plan = plan_start(plan->filter, q);
        status = unseen_plan(plan);
        if (status == UNSEEN_OK && plan->bits / 8 > q->memory) {
            status = UNSEEN_ERR_SPACE;
        }
    }
    return status;
}

void planned_solve(struct planned *planned, const char *filter, const struct question *q)
{
    *planned = (struct planned){.plan = plan_start(filter, q)};
    struct unseen_plan *plan = &planned->plan;
    const bool by_rate = q->fpr > 0 || (q->bits_per_key == 0 && q->capacity == 0);
    if (q->memory > 0 && by_rate) {
        planned->nkeys_most = most_keys(filter, q);
        plan->capacity = q->capacity ? q->capacity : planned->nkeys_most;
        planned->status = plan->capacity ? unseen_plan(plan) : why_none(filter, q);
    } else if (q->memory > 0) {
        planned->status = solve_memory(plan, q);
    } else {
        planned->status = unseen_plan(plan);
    }
    for (size_t i = 0; planned->status == UNSEEN_OK && i < PLANNED_LOADS; i++) {
        planned->rates[i] = planned_rate(plan, planned_loads[i]);
    }
}

/* ---- Charts ---------------------------------------------------------------------------------- */

static void name_series(struct chart_series *s, const char *name)
{
    snprintf(s->name, sizeof(s->name), "%s", name);
}

/* The lowest rate of the chart: a decade below the lowest rate at the capacity. Nobody chooses a
 * filter by its rate when it is nearly empty. */
static double lowest_rate(const struct planned *planned, size_t n)
{
    double lowest = 0.01;
    for (size_t i = 0; i < n; i++) {
        const double rate = planned[i].rates[2];
        lowest = planned[i].status == UNSEEN_OK && rate > 0 ? fmin(lowest, rate) : lowest;
    }
    return pow(10, floor(log10(fmax(lowest, 1e-14))) - 1);
}

void planned_chart_rates(struct chart *chart, const struct planned *planned, size_t n)
{
    memset(chart, 0, sizeof(*chart));
    snprintf(chart->title, sizeof(chart->title), "Wrong answers as the filter fills");
    chart->x = (struct chart_axis){"% of the capacity", 0, 200, false};
    chart->y = (struct chart_axis){"rate", lowest_rate(planned, n), 1, true};
    for (size_t i = 0; i < n; i++) {
        if (planned[i].status != UNSEEN_OK) {
            continue;
        }
        struct chart_series *s = &chart->series[chart->nseries++];
        name_series(s, planned[i].plan.filter);
        for (size_t j = 1; j < CHART_POINTS; j++) {
            const double load = 2.0 * (double)j / (CHART_POINTS - 1);
            const double rate = planned_rate(&planned[i].plan, load);
            if (rate > 0) {
                s->x[s->npoints] = 100 * load;
                s->y[s->npoints++] = rate;
            }
        }
    }
}

void planned_chart_bits(struct chart *chart, const struct planned *planned, size_t n)
{
    enum {
        STEPS = 36
    };
    memset(chart, 0, sizeof(*chart));
    snprintf(chart->title, sizeof(chart->title), "Memory for a rate of wrong answers");
    chart->x = (struct chart_axis){"rate", 1e-1, 1e-9, true};
    chart->y = (struct chart_axis){"bits/key", 0, 80, false};
    for (size_t i = 0; i < n; i++) {
        struct chart_series *s = &chart->series[chart->nseries];
        name_series(s, planned[i].plan.filter);
        for (int j = 0; j <= STEPS; j++) {
            struct unseen_plan plan = {.size = sizeof(plan), .filter = planned[i].plan.filter};
            plan.capacity = planned[i].plan.capacity > few ? planned[i].plan.capacity : large;
            plan.fpr = pow(10, -1 - 8.0 * j / STEPS) * (1 + 1e-9);
            if (unseen_plan(&plan) == UNSEEN_OK) {
                s->x[s->npoints] = plan.fpr;
                s->y[s->npoints++] = plan.bits_per_key;
            }
        }
        chart->nseries += s->npoints > 0;
    }
    struct chart_series *least = &chart->series[chart->nseries++];
    name_series(least, "the least");
    for (int j = 0; j <= STEPS; j++) {
        least->x[j] = pow(10, -1 - 8.0 * j / STEPS);
        least->y[j] = -log2(least->x[j]);
        least->npoints++;
    }
}
