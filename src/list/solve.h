/* SPDX-License-Identifier: MIT
 *
 * The steps of solving a page that are worth a vector unit. Portable C is the specification; the
 * others give the same bits. */
#ifndef UNSEEN_LIST_SOLVE_H
#define UNSEEN_LIST_SOLVE_H

#include "list/page.h"

enum {
    /* Most rows of a block: those carried from the block before and its own. A multiple of 8. */
    UNSEEN__LIST_SYSTEM_MAX = 384,
    UNSEEN__LIST_STRIPE = 4, /* columns eliminated at a time */
    UNSEEN__LIST_NO_ROW = UINT16_MAX,
    UNSEEN__LIST_SLACK = 8
};

/* Rows of equations: the coefficients over a block and over the next, and the right side. Kernels
 * may change rows from n on, which mean nothing. */
struct unseen__list_system {
    size_t n;
    uint64_t w0[UNSEEN__LIST_SYSTEM_MAX];
    uint64_t w1[UNSEEN__LIST_SYSTEM_MAX];
    uint64_t right[UNSEEN__LIST_SYSTEM_MAX];
    uint8_t used[UNSEEN__LIST_SYSTEM_MAX / 8]; /* bit i % 8 of i / 8: row i is a pivot */
    uint16_t pivots[UNSEEN__LIST_ROWS];        /* the row of each column, or NO_ROW */
};

static inline bool unseen__list_is_used(const struct unseen__list_system *s, size_t i)
{
    return s->used[i / 8] >> i % 8 & 1;
}

/* The keys of a page: coefficients, fingerprints and bump bytes. Kernels may read and write up to
 * UNSEEN__LIST_SLACK elements behind the last one, which mean nothing. */
struct unseen__list_keys {
    uint64_t *c0;
    uint64_t *c1;
    uint32_t *fingerprint;
    uint8_t *bump;
};

struct unseen__list_kernel {
    /* What unseen__list_row_of makes of n hashes, in a block with a successor and with fingerprints
     * of 23 bits or more. */
    void (*hash)(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys);

    /* Appends the equations of the keys first..end whose bump byte is not below the threshold. */
    void (*collect)(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                    size_t first, size_t end, unsigned threshold);

    /* Gauss-Jordan elimination over the block. Afterwards the pivot row of a column is the only one
     * with a bit there, and rows that are no pivots have no bits over the block at all. */
    void (*eliminate)(struct unseen__list_system *system);

    /* x[i] = right[i] xor all y[j] for which bit j of w1[i] is set. */
    void (*substitute)(const uint64_t w1[UNSEEN__LIST_ROWS],
                       const uint32_t right[UNSEEN__LIST_ROWS], const uint32_t y[UNSEEN__LIST_ROWS],
                       uint32_t x[UNSEEN__LIST_ROWS]);

    /* Bit i of words[j] is bit j of x[i], for j < n. */
    void (*transpose)(const uint32_t x[UNSEEN__LIST_ROWS], unsigned n, uint64_t *words);
};

/* The portable steps, for the levels that have none of their own. */
void unseen__list_hash(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys);
void unseen__list_collect(struct unseen__list_system *system, const struct unseen__list_keys *keys,
                          size_t first, size_t end, unsigned threshold);
void unseen__list_eliminate(struct unseen__list_system *system);
void unseen__list_substitute(const uint64_t w1[UNSEEN__LIST_ROWS],
                             const uint32_t right[UNSEEN__LIST_ROWS],
                             const uint32_t y[UNSEEN__LIST_ROWS], uint32_t x[UNSEEN__LIST_ROWS]);

/* The kernel of a level. */
const struct unseen__list_kernel *unseen__list_kernel_for(enum unseen_cpu cpu);
extern const struct unseen__list_kernel unseen__list_avx2;
extern const struct unseen__list_kernel unseen__list_avx512;

#endif
