/* SPDX-License-Identifier: MIT
 *
 * Finds the pivots of some columns from one bit for each row and column, for the vector kernels of
 * solve.h. */
#ifndef UNSEEN_LIST_STRIPE_H
#define UNSEEN_LIST_STRIPE_H

#include "list/solve.h"

/* One bit for each row. */
struct unseen__list_rows {
    uint64_t low;
    uint64_t high;
};

static inline struct unseen__list_rows unseen__list_rows_below(size_t n)
{
    struct unseen__list_rows rows = {UINT64_MAX, UINT64_MAX};
    if (n < 64) {
        rows = (struct unseen__list_rows){(UINT64_C(1) << n) - 1, 0};
    } else if (n < UNSEEN__LIST_HEIGHT) {
        rows.high = (UINT64_C(1) << (n - 64)) - 1;
    }
    return rows;
}

static inline bool unseen__list_has_row(struct unseen__list_rows rows, unsigned r)
{
    return (r < 64 ? rows.low >> r : rows.high >> (r - 64)) & 1;
}

/* Finds the pivots of n columns, one after the other. The pivot of a column is the first available
 * row that has a bit there once the columns before are eliminated, or NO_ROW. Takes the pivots out
 * of available, and returns a bit for each column that has a pivot. */
static inline unsigned unseen__list_stripe_find(struct unseen__list_rows *having, unsigned n,
                                                struct unseen__list_rows *available,
                                                unsigned *pivots)
{
    unsigned found = 0;
    for (unsigned k = 0; k < n; k++) {
        const uint64_t low = having[k].low & available->low;
        const uint64_t high = having[k].high & available->high;
        if ((low | high) == 0) {
            pivots[k] = UNSEEN__LIST_NO_ROW;
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
        for (unsigned other = k + 1; other < n; other++) {
            const uint64_t add = 0 - (uint64_t)unseen__list_has_row(having[other], r);
            having[other].low ^= having[k].low & add;
            having[other].high ^= having[k].high & add;
        }
        pivots[k] = r;
        found |= 1u << k;
    }
    return found;
}

#endif
