/* SPDX-License-Identifier: MIT
 *
 * The formulas of rate.h, and the search for the best bits and hashes. */
#include "bits/rate.h"

#include <math.h>
#include <stdbool.h>

/* The most bits per key of a plan, times the bits of a cell. */
#define BITS_MAX 512.0

/* Two rates are equal if their ratio is below this: the number of bits is rounded. */
#define RATE_SLACK 1.02

/* ---- classic ---- */

double unseen__bloom_rate(double m, unsigned k, double n)
{
    const double empty = exp((double)k * n * log1p(-1 / m));
    return pow(1 - empty, (double)k);
}

double unseen__bloom_keys(double m, unsigned k, double nset)
{
    /* A full filter tells only that there are many keys: take the number that leaves half a bit
     * empty. */
    const double left = nset < m - 0.5 ? m - nset : 0.5;
    return log(left / m) / ((double)k * log1p(-1 / m));
}

/* ---- blocked ---- */

/* The most keys per block, on average, of the first way to the rate. The number of keys of a block
 * then exceeds UNSEEN__BLOCKED_KEYS with a probability below 1e-16. */
#define FEW_KEYS 190.0

/* The terms of the sum over j rise and then fall. When they have fallen to this share of the sum,
 * the rest is left out. */
#define NEGLIGIBLE 1e-15

/* W(i): the probability that k cells, drawn independently from B, are i different cells. */
static void different_cells(unsigned cells, unsigned k, double *w)
{
    for (unsigned i = 0; i <= k; i++) {
        w[i] = i == 0;
    }
    for (unsigned draw = 0; draw < k; draw++) {
        for (unsigned i = k; i > 0; i--) {
            w[i] = (w[i] * i + w[i - 1] * (cells - (i - 1))) / cells;
        }
        w[0] = 0;
    }
}

static void part_init(struct unseen__blocked_part *part, unsigned cells, unsigned k)
{
    part->cells = cells;
    part->k = k;
    different_cells(cells, k, part->empty);
    for (unsigned l = 0; l <= k; l++) {
        double sum = 0;
        double choose = 1; /* i over l */
        for (unsigned i = l; i <= k; i++) {
            sum += part->empty[i] * choose;
            choose = choose * (i + 1) / (i + 1 - l);
        }
        part->factor[l] = l % 2 ? -sum : sum;
        part->term[l] = part->factor[l];
        part->q[l] = exp((double)k * log1p(-(double)l / cells));
    }
}

void unseen__blocked_init(struct unseen__blocked *blocked, unsigned cells, unsigned parts,
                          unsigned k)
{
    const unsigned k2 = parts == 2 ? k / 2 : 0;
    blocked->nparts = parts == 2 ? 2 : 1;
    blocked->nknown = 0;
    part_init(&blocked->part[0], cells, k - k2);
    part_init(&blocked->part[1], cells, k2);
    for (unsigned i = 0; i < 2; i++) {
        const struct unseen__blocked_part *part = &blocked->part[parts == 2 ? i : 0];
        blocked->fading[i] = part->k ? -expm1((double)part->k * log1p(-1.0 / cells)) : 0;
    }
}

/* One more key: k throws. Of v empty cells, a throw takes one with probability v / B. */
static void throw_key(struct unseen__blocked_part *part)
{
    const double share = 1.0 / part->cells;
    double *empty = part->empty;
    for (unsigned throw = 0; throw < part->k; throw ++) {
        for (unsigned v = 0; v < part->k; v++) {
            empty[v] += share * ((v + 1) * empty[v + 1] - v * empty[v]);
        }
        empty[part->k] -= share * part->k * empty[part->k];
    }
}

/* Returns the rate of a part after the keys so far, and adds a key. Both empty[0] and the sum of
 * the terms are the rate. While it is small, the terms cancel each other, so the function uses
 * empty[0]. Later the sum has lost no more than a few digits. */
static double next_of_part(struct unseen__blocked_part *part)
{
    const bool is_small = part->empty[0] < 1e-3;
    double sum = 0;
    for (unsigned l = 0; l <= part->k; l++) {
        sum += part->term[l];
        part->term[l] *= part->q[l];
    }
    if (is_small) {
        sum = part->empty[0];
        throw_key(part);
    }
    return sum;
}

/* The rate of a block with j keys; j is below UNSEEN__BLOCKED_KEYS. */
static double rate_of_block(struct unseen__blocked *blocked, unsigned j)
{
    while (blocked->nknown <= j) {
        struct unseen__blocked_part *part = blocked->part;
        const double first = next_of_part(&part[0]);
        double second = 1;
        if (blocked->nparts == 2) {
            second = part[0].k == part[1].k ? first : next_of_part(&part[1]);
        }
        blocked->rate[blocked->nknown++] = first * second;
    }
    return blocked->rate[j];
}

/* The sum over l for a part, or over l and l' for two parts: n keys in nblocks blocks; nblocks is
 * INFINITY for a load of n. */
static double sum_of_terms(const struct unseen__blocked *blocked, double n, double nblocks)
{
    const struct unseen__blocked_part *one = &blocked->part[0];
    const struct unseen__blocked_part *two = &blocked->part[1];
    double rate = 0;
    for (unsigned l = 0; l <= one->k; l++) {
        for (unsigned m = 0; m <= two->k; m++) {
            const double decay = 1 - one->q[l] * two->q[m];
            const double kept = isinf(nblocks) ? -n * decay : n * log1p(-decay / nblocks);
            rate += one->factor[l] * two->factor[m] * exp(kept);
        }
    }
    return rate > 0 ? rate : 0;
}

double unseen__blocked_rate(struct unseen__blocked *blocked, double load)
{
    double rate = 0;
    if (load > FEW_KEYS) {
        return sum_of_terms(blocked, load, INFINITY);
    }
    double share = exp(-load); /* of the blocks with j keys */
    for (unsigned j = 0; j < UNSEEN__BLOCKED_KEYS; j++) {
        const double term = share * rate_of_block(blocked, j);
        rate += term;
        share *= load / (j + 1);
        if (j > load && term <= NEGLIGIBLE * rate) {
            break;
        }
    }
    return rate;
}

double unseen__blocked_rate_of(struct unseen__blocked *blocked, double n, double nblocks)
{
    double rate = 0;
    if (n > FEW_KEYS * nblocks || nblocks < 2) {
        return sum_of_terms(blocked, n, nblocks);
    }
    double share = exp(n * log1p(-1 / nblocks)); /* of the blocks with j keys */
    for (unsigned j = 0; j < UNSEEN__BLOCKED_KEYS && j <= n; j++) {
        const double term = share * rate_of_block(blocked, j);
        rate += term;
        share *= (n - j) / ((j + 1) * (nblocks - 1));
        if (j > n / nblocks && term <= NEGLIGIBLE * rate) {
            break;
        }
    }
    return rate;
}

double unseen__blocked_fill(const struct unseen__blocked *blocked, double load)
{
    return -0.5 * (expm1(-load * blocked->fading[0]) + expm1(-load * blocked->fading[1]));
}

double unseen__blocked_load(const struct unseen__blocked *blocked, double fill)
{
    double low = 0;
    double high = 1;
    while (unseen__blocked_fill(blocked, high) < fill && high < 1e6) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (unseen__blocked_fill(blocked, middle) < fill) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* ---- from cells in use ---- */

void unseen__tally_estimate(const struct unseen__tally *tally, struct unseen_set_stats *stats)
{
    const double fill = tally->nset / tally->ncells;
    if (tally->cells == 0) {
        stats->nkeys_estimate = unseen__bloom_keys(tally->ncells, tally->k, tally->nset);
        stats->fpr_estimate = pow(fill, tally->k);
        return;
    }
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, tally->cells, tally->lines, tally->k);
    const double load = unseen__blocked_load(&blocked, fill);
    stats->nkeys_estimate = load * tally->ncells / (tally->cells * tally->lines);
    stats->fpr_estimate = unseen__blocked_rate(&blocked, load);
}

/* ---- from some numbers to all ---- */

static double block_bits(const struct unseen__rate_model *model)
{
    return (double)model->cells * (model->parts == 2 ? 2 : 1) * model->cell_bits;
}

double unseen__model_rate(const struct unseen__rate_model *model, unsigned k, double bits_per_key)
{
    if (model->cells == 0) {
        return pow(-expm1(-(double)(k * model->cell_bits) / bits_per_key), (double)k);
    }
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, model->cells, model->parts, k);
    return unseen__blocked_rate(&blocked, block_bits(model) / bits_per_key);
}

static double classic_bits(unsigned k, double fpr)
{
    return -(double)k / log1p(-pow(fpr, 1.0 / k));
}

/* The load at which a blocked filter has a rate. The logarithm of the rate is nearly linear in the
 * logarithm of the load, so regula falsi (Illinois) takes a few steps. */
static double blocked_load_for(struct unseen__blocked *blocked, double cells, unsigned k,
                               double fpr, double near)
{
    const double want = log(fpr);
    /* The load of the classic formula is too high. From there, steps down soon reach a load that is
     * too low. A load that is near is a little too high, or too low. */
    const double classic = log(cells / classic_bits(k, fpr));
    double high = near > 0 ? fmin(log(near) + 0.01, classic) : classic;
    double at_high = log(unseen__blocked_rate(blocked, exp(high))) - want;
    while (at_high < 0 && high < classic) {
        high = fmin(high + 0.1, classic);
        at_high = log(unseen__blocked_rate(blocked, exp(high))) - want;
    }
    double low = high;
    double at_low = at_high;
    double step = near > 0 ? 0.02 : 0.25;
    while (at_low > 0 && low > -20) {
        low -= step;
        step = fmin(step * 4, 0.25);
        at_low = log(unseen__blocked_rate(blocked, exp(low))) - want;
    }
    int side = 0;
    for (int i = 0; i < 60 && high - low > 1e-9 && at_low < -1e-9; i++) {
        double middle = low - at_low * (high - low) / (at_high - at_low);
        if (!(middle > low && middle < high)) {
            middle = (low + high) / 2;
        }
        const double at = log(unseen__blocked_rate(blocked, exp(middle))) - want;
        const bool is_high = at > 0;
        if (is_high) {
            high = middle;
            at_high = at;
            at_low /= side == 1 ? 2 : 1;
        } else {
            low = middle;
            at_low = at;
            at_high /= side == -1 ? 2 : 1;
        }
        side = is_high ? 1 : -1;
    }
    return exp(low);
}

/* The fewest bits per key for a rate with k hashes. Near: the bits for another k, where the search
 * begins; 0: not known. */
static double bits_for(const struct unseen__rate_model *model, unsigned k, double fpr, double near)
{
    struct unseen__blocked blocked;
    if (model->cells == 0) {
        return classic_bits(k, fpr) * model->cell_bits;
    }
    unseen__blocked_init(&blocked, model->cells, model->parts, k);
    const double bits = block_bits(model);
    return bits /
           blocked_load_for(&blocked, bits / model->cell_bits, k, fpr, near > 0 ? bits / near : 0);
}

/* Returns the best k for a rate, or for bits per key; *value_out is the number of bits, or the
 * rate, with this k. Each of the two falls and then rises with k, so the search walks down from
 * `start`. */
static unsigned best_hashes(const struct unseen__rate_model *model, double start, double fpr,
                            double bits_per_key, double *value_out)
{
    unsigned k = start < 1 ? 1 : start > model->k_max ? model->k_max : (unsigned)start;
    double value =
        fpr > 0 ? bits_for(model, k, fpr, 0) : unseen__model_rate(model, k, bits_per_key);
    for (int step = -1; step <= 1; step += 2) {
        for (;;) {
            unsigned next = (unsigned)((int)k + step);
            if (next < 1 || next > model->k_max) {
                break;
            }
            double at = fpr > 0 ? bits_for(model, next, fpr, value)
                                : unseen__model_rate(model, next, bits_per_key);
            if (at >= value) {
                break;
            }
            value = at;
            k = next;
        }
    }
    *value_out = value;
    return k;
}

static enum unseen_status solve_bits(const struct unseen__rate_model *model,
                                     struct unseen_plan *plan)
{
    if (plan->fpr < model->fpr_min) {
        return UNSEEN_ERR_FPR;
    }
    double bits;
    if (plan->hashes == 0) {
        /* Blocked filters are best with some 12 % fewer hashes than a classic one. */
        const double start = -log2(plan->fpr) * (model->cells > 0 ? 0.88 : 1);
        plan->hashes = best_hashes(model, start, plan->fpr, 0, &bits);
    } else {
        bits = bits_for(model, plan->hashes, plan->fpr, 0);
    }
    plan->bits_per_key = ceil(bits * 64) / 64;
    return plan->bits_per_key <= BITS_MAX * model->cell_bits ? UNSEEN_OK : UNSEEN_ERR_FPR;
}

static enum unseen_status solve_rate(const struct unseen__rate_model *model,
                                     struct unseen_plan *plan)
{
    double rate;
    if (plan->hashes == 0) {
        double start = plan->bits_per_key / model->cell_bits * 0.6931;
        plan->hashes = best_hashes(model, start, 0, plan->bits_per_key, &rate);
    } else {
        rate = unseen__model_rate(model, plan->hashes, plan->bits_per_key);
    }
    if (plan->fpr == 0) {
        plan->fpr = rate;
    }
    return rate <= plan->fpr * RATE_SLACK ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT;
}

enum unseen_status unseen__rate_solve(const struct unseen__rate_model *model,
                                      struct unseen_plan *plan)
{
    if (plan->hashes > model->k_max) {
        return UNSEEN_ERR_ARGUMENT;
    }
    return plan->bits_per_key > 0 ? solve_rate(model, plan) : solve_bits(model, plan);
}
