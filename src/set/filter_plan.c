/* SPDX-License-Identifier: MIT
 *
 * unseen_plan: how large will a set be? Some of capacity, rate, size and bits per key are given,
 * and the others follow. Each filter has its own formulas. */
#include <math.h>
#include <stddef.h>

#include "base/sized.h"
#include "set/set.h"

const char *unseen_filter_name(size_t i)
{
    return unseen__filter_name_at(i);
}

/* The most keys or bits of a plan: more than any machine has, and far below the limit of
 * uint64_t. */
#define LARGEST 1e18

/* The filter that serves the name in the plan. The name may say a rate. */
static const struct unseen__filter_ops *take_filter(struct unseen_plan *plan)
{
    const char *name = plan->filter ? plan->filter : "compact";
    bool counts = false;
    unseen__filter_resolve(&name, &counts, &plan->fpr);
    return unseen__filter_find(name, counts);
}

/* A rate that follows from too few bits may be 1. */
static bool is_in_range(const struct unseen_plan *plan)
{
    return plan->fpr >= 0 && plan->fpr <= 1 && plan->bits_per_key >= 0 &&
           plan->bits_per_key <= UNSEEN__BITS_PER_KEY_MAX && (double)plan->capacity <= LARGEST &&
           (double)plan->bits <= LARGEST;
}

/* Computes the third of capacity, bits and bits per key from the other two. False if the third is
 * too large, or if all three are given and differ by more than a key. */
static bool complete_size(struct unseen_plan *plan)
{
    const double capacity = (double)plan->capacity;
    const double bits = (double)plan->bits;
    if (plan->capacity && plan->bits && plan->bits_per_key > 0) {
        return fabs(capacity * plan->bits_per_key - bits) <= 1 + plan->bits_per_key + 1e-9 * bits;
    }
    if (plan->capacity && plan->bits) {
        plan->bits_per_key = bits / capacity;
    } else if (plan->capacity && plan->bits_per_key > 0) {
        if (capacity * plan->bits_per_key > LARGEST) {
            return false;
        }
        plan->bits = (uint64_t)ceil(capacity * plan->bits_per_key - 1e-6);
    } else if (plan->bits && plan->bits_per_key > 0) {
        if (bits / plan->bits_per_key > LARGEST) {
            return false;
        }
        plan->capacity = (uint64_t)(bits / plan->bits_per_key + 0.5);
        return plan->capacity > 0;
    }
    return true;
}

enum unseen_status unseen_plan(struct unseen_plan *plan)
{
    struct unseen_plan made = {0};
    if (plan->size < offsetof(struct unseen_plan, abilities) ||
        unseen__sized_take(&made, sizeof(made), plan, "unseen_plan", NULL) != UNSEEN_OK) {
        return UNSEEN_ERR_SIZE;
    }
    if (!is_in_range(&made) || made.fpr >= 1) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const double given = made.fpr;
    const struct unseen__filter_ops *ops = take_filter(&made);
    if (!ops) {
        return UNSEEN_ERR_NAME;
    }
    if (!ops->plan) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    made.filter = made.filter ? made.filter : ops->name;
    made.abilities = ops->abilities;
    made.served_by = ops->name;
    if (!complete_size(&made)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (made.fpr == 0 && made.bits_per_key == 0) {
        made.fpr = UNSEEN_FPR_DEFAULT;
    }
    enum unseen_status status = ops->plan(&made);
    if (status == UNSEEN_OK && !complete_size(&made)) {
        status = UNSEEN_ERR_ARGUMENT;
    }
    made.fpr = given > 0 ? given : made.fpr;
    return status == UNSEEN_OK ? unseen__sized_give(plan, &made, sizeof(made)) : status;
}

double unseen_plan_rate(const struct unseen_plan *given, double nkeys)
{
    struct unseen_plan plan = {0};
    if (unseen__sized_take(&plan, sizeof(plan), given, "unseen_plan", NULL) != UNSEEN_OK ||
        !is_in_range(&plan) || !(nkeys > 0) || plan.capacity == 0) {
        return 0;
    }
    const struct unseen__filter_ops *ops = take_filter(&plan);
    return ops && ops->plan_rate ? ops->plan_rate(&plan, nkeys) : 0;
}
