/* SPDX-License-Identifier: MIT
 *
 * The rates of Bloom filters: how often a key that was never added finds all its bits set.
 *
 * Classic: n keys set k bits each among m, a question reads k. After that the share of set bits is
 * close to 1 - (1 - 1/m)^(k n), and the rate is that share to the power k [Bloom70].
 *
 * Blocked: a key's k cells are in one block of B cells, and a block gets a number of keys that is
 * Poisson distributed with the mean load. Blocks with more keys than the mean answer wrong far more
 * often, so that the classic formula promises too much [Putze09]. The exact rate: the k cells of a
 * question are i different ones with probability W(i); l given cells are all still empty after a key
 * with probability q(l) = (1 - l / B)^k, and after a Poisson number of keys with probability
 * exp(-load (1 - q(l))). Inclusion and exclusion over the cells that are empty gives
 *
 *     rate = sum over l of (-1)^l C(l) exp(-load (1 - q(l)))    C(l) = sum over i of W(i) (i over l)
 *
 * with k + 1 terms. All cells are taken as chosen independently, so two may be the same. Where a
 * block has two parts with half of the k cells in each, the sum goes over both: q is the product of
 * q(l) and q(l') of the parts, and so is the factor. */
#ifndef UNSEEN_FILTER_RATE_H
#define UNSEEN_FILTER_RATE_H

#include "unseen.h"

enum {
    UNSEEN__HASHES_MAX = 64,    /* classic */
    UNSEEN__BLOCKED_HASHES = 16 /* blocked: beyond it the sum above loses too many digits */
};

/* Classic: the rate, and the number of keys that leave nset of m bits set [Swamidass07]. */
double unseen__bloom_rate(double m, unsigned k, double n);
double unseen__bloom_keys(double m, unsigned k, double nset);

/* Blocked: the sum's terms. */
struct unseen__blocked {
    unsigned nterms;
    long double factor[(UNSEEN__BLOCKED_HASHES / 2 + 1) * (UNSEEN__BLOCKED_HASHES / 2 + 1)];
    long double decay[(UNSEEN__BLOCKED_HASHES / 2 + 1) * (UNSEEN__BLOCKED_HASHES / 2 + 1)];
    double fading[2]; /* of each part: with what load a cell stays empty, exp(-load fading) */
};

/* A block of 1 or 2 parts with so many cells each; k is 1 to UNSEEN__BLOCKED_HASHES, and the second
 * part has the smaller half of them. */
void unseen__blocked_init(struct unseen__blocked *blocked, unsigned cells, unsigned parts,
                          unsigned k);
double unseen__blocked_rate(const struct unseen__blocked *blocked, double load);
/* The same for n keys in so few blocks that their loads are not quite Poisson distributed: l given
 * cells are then all still empty with probability (1 - (1 - q(l)) / nblocks)^n. */
double unseen__blocked_rate_of(const struct unseen__blocked *blocked, double n, double nblocks);
/* The share of all cells in use, and the load that leaves it. */
double unseen__blocked_fill(const struct unseen__blocked *blocked, double load);
double unseen__blocked_load(const struct unseen__blocked *blocked, double fill);

/* A kind of Bloom filter as unseen__rate_solve needs it. */
struct unseen__rate_model {
    unsigned cells;     /* of a part of a block; 0: classic */
    unsigned parts;     /* of a block: 2, else 1 */
    unsigned cell_bits; /* 1, or the width of a counter */
    unsigned k_max;
    double fpr_min; /* the lowest rate to promise */
};

double unseen__model_rate(const struct unseen__rate_model *model, unsigned k, double bits_per_key);

/* From what plan has of fpr, bits_per_key and hashes to all three: the fewest bits for a rate, or
 * the lowest rate for the bits. Bits that follow from a rate are a multiple of 1/64, so that
 * machines whose exp differs in the last digit agree. Errors: as unseen_plan. */
enum unseen_status unseen__rate_solve(const struct unseen__rate_model *model,
                                      struct unseen_plan *plan);

#endif
