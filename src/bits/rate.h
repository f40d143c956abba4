/* SPDX-License-Identifier: MIT
 *
 * The false-positive rates of Bloom filters: the share of absent keys whose bits are all set. The
 * filters plan their size with them and estimate their rate.
 *
 * Classic: n keys set k bits each among m, a question reads k. The share of set bits is then close
 * to 1 - (1 - 1/m)^(k n), and the rate is that share to the power k [Bloom70].
 *
 * Blocked: a key's k cells are in one block of B cells, and a block gets a number of keys that is
 * Poisson distributed with the mean load. Blocks with more keys than the mean answer wrong far more
 * often, so that the classic formula promises too much [Putze09]. The k cells of a question are i
 * different ones with probability W(i); all cells are chosen independently, so two may be the same.
 * There are two ways to the exact rate, and each is used where it is accurate:
 *
 *   - Up to FEW_KEYS keys per block: the sum over the number of keys j of the probability that a
 *     block has j keys, times the probability that the cells of a question are all taken after j
 *     keys. The latter follows throw by throw while it is small: of v cells that are still empty,
 *     a throw takes one with probability v / B. All terms are positive, so no digit is lost.
 *   - Beyond: l given cells are all still empty after a key with probability q(l) = (1 - l / B)^k,
 *     and after a Poisson number of keys with probability exp(-load (1 - q(l))). Inclusion and
 *     exclusion over the cells that are empty gives
 *
 *         rate = sum over l of (-1)^l C(l) exp(-load (1 - q(l)))
 *         C(l) = sum over i of W(i) (i over l)
 *
 *     with k + 1 terms, which cancel each other at low loads but not at these.
 *
 * If a block has two parts with half of the k cells each, the probabilities of both parts are
 * multiplied, and the second sum goes over both parts, with the product of their q(l) and q(l') and
 * the product of their factors. */
#ifndef UNSEEN_BITS_RATE_H
#define UNSEEN_BITS_RATE_H

#include "unseen.h"

enum {
    UNSEEN__HASHES_MAX = 64,     /* classic */
    UNSEEN__BLOCKED_HASHES = 16, /* blocked: more gain nothing above a rate of 1e-5 */
    UNSEEN__BLOCKED_KEYS = 320   /* of a block, in the first way to the rate */
};

/* Classic: the rate, and the number of keys that leave nset of m bits set [Swamidass07]. */
double unseen__bloom_rate(double m, unsigned k, double n);
double unseen__bloom_keys(double m, unsigned k, double nset);

/* Blocked: one of the 1 or 2 parts of a block. */
struct unseen__blocked_part {
    unsigned cells;
    unsigned k;
    /* [v]: the probability that v of the cells of a question are still empty, after the keys so
     * far; kept up while it is needed. */
    double empty[UNSEEN__BLOCKED_HASHES + 1];
    /* [l]: (-1)^l C(l), q(l), and (-1)^l C(l) q(l)^j after the j keys so far. */
    double factor[UNSEEN__BLOCKED_HASHES + 1];
    double q[UNSEEN__BLOCKED_HASHES + 1];
    double term[UNSEEN__BLOCKED_HASHES + 1];
};

struct unseen__blocked {
    struct unseen__blocked_part part[2];
    unsigned nparts;
    /* [j]: the rate of a block with j keys, known for j below nknown. */
    unsigned nknown;
    double rate[UNSEEN__BLOCKED_KEYS];
    double fading[2]; /* of each part: a cell is empty with probability exp(-load fading) */
};

/* Prepares for blocks of 1 or 2 parts with `cells` cells each. k is 1 to UNSEEN__BLOCKED_HASHES;
 * the second part has the smaller half of the k cells. */
void unseen__blocked_init(struct unseen__blocked *blocked, unsigned cells, unsigned parts,
                          unsigned k);
/* The rate at a load. Remembers the rates of blocks, for the next load. */
double unseen__blocked_rate(struct unseen__blocked *blocked, double load);
/* The rate of n keys in so few blocks that the loads are not quite Poisson distributed, but
 * binomially. */
double unseen__blocked_rate_of(struct unseen__blocked *blocked, double n, double nblocks);
/* The share of cells in use at a load, and the load that leaves this share. */
double unseen__blocked_fill(const struct unseen__blocked *blocked, double load);
double unseen__blocked_load(const struct unseen__blocked *blocked, double fill);

/* The cells in use of a set. Those of all its filters are added up first, so that the formulas,
 * which take microseconds, run once for the set and not for each of up to 256 filters. */
struct unseen__tally {
    unsigned cells; /* of a line; 0: classic, a key's cells are anywhere */
    unsigned lines; /* of a block */
    unsigned k;
    double nset;
    double ncells;
};

/* Sets nkeys_estimate and fpr_estimate. */
void unseen__tally_estimate(const struct unseen__tally *tally, struct unseen_set_stats *stats);

/* A kind of Bloom filter as unseen__rate_solve needs it. */
struct unseen__rate_model {
    unsigned cells;     /* of a part of a block; 0: classic */
    unsigned parts;     /* of a block: 2, else 1 */
    unsigned cell_bits; /* 1, or the width of a counter */
    unsigned k_max;
    double fpr_min; /* the lowest rate to promise */
};

double unseen__model_rate(const struct unseen__rate_model *model, unsigned k, double bits_per_key);

/* Fills in the unknown numbers of fpr, bits_per_key and hashes: the fewest bits for a rate, or the
 * lowest rate for the bits. Bits that follow from a rate are a multiple of 1/64, so that machines
 * agree even if their exp differs in the last digit. Errors: as unseen_plan. */
enum unseen_status unseen__rate_solve(const struct unseen__rate_model *model,
                                      struct unseen_plan *plan);

#endif
