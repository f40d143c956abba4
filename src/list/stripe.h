/* SPDX-License-Identifier: MIT
 *
 * Finds the pivots of some columns from one bit for each row and column, for the vector kernels of
 * solve.h. */
#ifndef UNSEEN_LIST_STRIPE_H
#define UNSEEN_LIST_STRIPE_H

#include "base/macros.h"
#include "list/solve.h"

#if UNSEEN_X86
#include <immintrin.h>
#endif

enum {
    UNSEEN__LIST_STRIPE = 8 /* columns eliminated at a time */
};

/* The rows that are not carried ones. */
static inline struct unseen__list_rows unseen__list_own_rows(const struct unseen__list_system *s)
{
    const struct unseen__list_rows all = unseen__list_rows_below(s->n);
    const struct unseen__list_rows carried = unseen__list_rows_below(s->ncarried);
    return (struct unseen__list_rows){all.low & ~carried.low, all.high & ~carried.high};
}

/* Is one of the own rows a pivot? Carried rows come first and have a w1 of 0. So the first pivots
 * are among them, and until there is another one, w1 stays as it is. */
static inline bool unseen__list_changes_w1(struct unseen__list_rows own,
                                           struct unseen__list_rows left)
{
    return ((own.low & ~left.low) | (own.high & ~left.high)) != 0;
}

/* Finds the pivots of a stripe's columns, one after the other. The pivot of a column is the first
 * available row that has a bit there once the columns before are eliminated, or NO_ROW. Takes the
 * pivots out of available, and returns a bit for each column that has a pivot. */
static inline unsigned
unseen__list_stripe_find(struct unseen__list_rows having[UNSEEN__LIST_STRIPE],
                         struct unseen__list_rows *available, unsigned pivots[UNSEEN__LIST_STRIPE])
{
    unsigned found = 0;
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
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
        for (unsigned other = k + 1; other < UNSEEN__LIST_STRIPE; other++) {
            const uint64_t add = 0 - (uint64_t)unseen__list_has_row(having[other], r);
            having[other].low ^= having[k].low & add;
            having[other].high ^= having[k].high & add;
        }
        pivots[k] = r;
        found |= 1u << k;
    }
    return found;
}

/* Takes the pivot of the first of n columns, and eliminates it from the other columns. Returns a
 * bit for its row; 0 if the column has no pivot, and then the columns behind it mean nothing. */
UNSEEN_INLINE uint64_t unseen__list_take_pivot(uint64_t *having, unsigned n, uint64_t *left)
{
    const uint64_t candidates = having[0] & *left;
    const uint64_t self = candidates & (0 - candidates);
    *left ^= self;
    for (unsigned i = 1; i < n; i++) {
        having[i] ^= (having[i] & self) != 0 ? having[0] : 0;
    }
    return self;
}

#if UNSEEN_X86

/* Finds the pivots of a stripe's columns among 64 rows, the first available one and those behind
 * it, which begin with row `first`: bit i of having[k] says whether row first + i has a bit in
 * column k. Takes the pivots out of available, and returns their rows, the first pivot's in the
 * lowest byte. Returns UINT64_MAX, and takes none, if a pivot is not among these rows. */
UNSEEN_TARGET("bmi")
UNSEEN_INLINE uint64_t unseen__list_take_near(uint64_t having[UNSEEN__LIST_STRIPE], unsigned first,
                                              struct unseen__list_rows *available)
{
    const uint64_t before = available->low >> first | available->high << 1 << (63 - first);
    uint64_t left = before;
    const uint64_t a = _tzcnt_u64(unseen__list_take_pivot(having, 8, &left));
    const uint64_t b = _tzcnt_u64(unseen__list_take_pivot(having + 1, 7, &left));
    const uint64_t c = _tzcnt_u64(unseen__list_take_pivot(having + 2, 6, &left));
    const uint64_t d = _tzcnt_u64(unseen__list_take_pivot(having + 3, 5, &left));
    const uint64_t e = _tzcnt_u64(unseen__list_take_pivot(having + 4, 4, &left));
    const uint64_t f = _tzcnt_u64(unseen__list_take_pivot(having + 5, 3, &left));
    const uint64_t g = _tzcnt_u64(unseen__list_take_pivot(having + 6, 2, &left));
    const uint64_t h = _tzcnt_u64(unseen__list_take_pivot(having + 7, 1, &left));
    /* a column without a pivot gives 64, and the columns behind it mean nothing */
    const uint64_t at = a | b << 8 | c << 16 | d << 24 | e << 32 | f << 40 | g << 48 | h << 56;
    if ((at & UINT64_C(0x4040404040404040)) != 0) {
        return UINT64_MAX;
    }
    const uint64_t taken = before ^ left;
    available->low &= ~(taken << first);
    available->high &= ~(taken >> 1 >> (63 - first));
    return at + first * UINT64_C(0x0101010101010101);
}

#endif

/* Inverts a matrix of 8 by 8 bits, with row 0 in the lowest byte, by Gauss-Jordan elimination. The
 * diagonal never becomes 0, because the columns' pivots were found in this order. */
static inline uint64_t unseen__list_invert(uint64_t matrix)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t inverse = UINT64_C(0x8040201008040201);
    for (unsigned k = 0; k < UNSEEN__LIST_STRIPE; k++) {
        const uint64_t others = matrix >> k & (ones ^ UINT64_C(1) << 8 * k);
        const uint64_t row = matrix >> 8 * k & 0xff;
        const uint64_t inverse_row = inverse >> 8 * k & 0xff;
        matrix ^= others * row;
        inverse ^= others * inverse_row;
    }
    return inverse;
}

#endif
