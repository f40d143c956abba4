/* SPDX-License-Identifier: MIT
 *
 * A stripe of columns and its pivots, from one bit for each row and column: what the kernels of
 * solve.h do one word at a time. */
#ifndef UNSEEN_LIST_STRIPE_H
#define UNSEEN_LIST_STRIPE_H

#include "list/solve.h"

enum {
    UNSEEN__LIST_HEIGHT = 128 /* rows that are looked at; no system of a page has more */
};

/* One bit for each row. */
struct unseen__list_rows {
    uint64_t low;
    uint64_t high;
};

struct unseen__list_stripe {
    unsigned found; /* the columns that have a pivot */
    unsigned pivots[UNSEEN__LIST_STRIPE];
    /* Which pivots' rows make the one that has only one of the stripe's bits: bit i of made[k] is for
     * the pivot of column i. */
    unsigned made[UNSEEN__LIST_STRIPE];
};

static inline bool unseen__list_has_row(struct unseen__list_rows rows, unsigned r)
{
    return (r < 64 ? rows.low >> r : rows.high >> (r - 64)) & 1;
}

/* The pivot of one column after the other: the first row that is available and has it, once those
 * before are eliminated. */
static inline void unseen__list_stripe_find(struct unseen__list_rows having[UNSEEN__LIST_STRIPE],
                                            struct unseen__list_rows *available,
                                            struct unseen__list_stripe *t)
{
    t->found = 0;
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
        const uint64_t low = having[k].low & available->low;
        const uint64_t high = having[k].high & available->high;
        if ((low | high) == 0) {
            t->pivots[k] = UNSEEN__LIST_NO_ROW;
            continue;
        }
        unsigned r;
        if (low != 0) {
            r = (unsigned)__builtin_ctzll(low);
            available->low &= ~(UINT64_C(1) << r);
        } else {
            r = 64 + (unsigned)__builtin_ctzll(high);
            available->high &= ~(UINT64_C(1) << (r - 64));
        }
        for (unsigned other = k + 1; other < UNSEEN__LIST_STRIPE; other++) {
            const uint64_t add = 0 - (uint64_t)unseen__list_has_row(having[other], r);
            having[other].low ^= having[k].low & add;
            having[other].high ^= having[k].high & add;
        }
        t->pivots[k] = r;
        t->found |= 1u << k;
    }
}

/* Gauss-Jordan elimination of the pivots among themselves: bits[k] has the four bits of pivot k,
 * and what it is made of gathers above them. */
static inline void unseen__list_stripe_reduce(unsigned bits[UNSEEN__LIST_STRIPE],
                                              struct unseen__list_stripe *t)
{
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
        bits[k] = t->found >> k & 1 ? (bits[k] & 15) | 16u << k : 0;
    }
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
        for (unsigned other = 0; other < UNSEEN__LIST_STRIPE; other++) {
            if (other != k) {
                bits[other] ^= bits[k] & (0 - (bits[other] >> k & t->found >> k & 1));
            }
        }
    }
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
        t->made[k] = bits[k] >> 4;
    }
}

#endif
