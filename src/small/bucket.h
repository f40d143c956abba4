/* SPDX-License-Identifier: MIT
 *
 * A bucket: the answers for up to BUCKET_KEYS_MAX keys in little more than r bits a key, wrong at a
 * rate of 2^-r. It is a matrix Z of m rows and r columns of bits, m a multiple of 4 and hardly
 * above the number of keys [Porat09]. A hash of a key makes a vector h of m bits and r check bits
 * c. The matrix is the solution of the equations h * Z = c of all keys, one equation for a bit of
 * c. A key that has no equation fulfils them with the rate 2^-r.
 *
 * As many random equations as there are rows have a solution in 29 of 100 cases. So a key is hashed
 * with one of BUCKET_SEEDS seeds, and if all of them fail, the matrix gets four rows more.
 *
 * One byte, the code, is 0xa0 + 32 * seed + m / 4. The columns stand one after the other, m bits
 * each, without a gap; so each begins at a multiple of 4 bits. The matrix of the next bucket
 * follows, also without a gap. Bits count from the low end of a byte. */
#ifndef UNSEEN_SMALL_BUCKET_H
#define UNSEEN_SMALL_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "unseen.h"

enum {
    BUCKET_KEYS_MAX = 112,
    BUCKET_STEP = 4,         /* rows that are added at a time */
    BUCKET_MORE_STEPS = 3,   /* steps beyond those that the keys need */
    BUCKET_ROWS_MAX = 124,   /* so that a column at any bit position has 128 bits */
    BUCKET_COLUMNS_MAX = 20, /* a rate of 1e-6 */
    BUCKET_SEEDS = 3,
    BUCKET_CODE = 0xa0, /* codes are not below */
    BUCKET_STEPS_MASK = 0x1f
};

/* A vector or a column: bit 64 and the bits above it are in high. */
struct bucket_bits {
    uint64_t low;
    uint64_t high;
};

struct bucket {
    uint8_t code;
    struct bucket_bits columns[BUCKET_COLUMNS_MAX];
};

/* Solves the equations of n different keys, at most BUCKET_KEYS_MAX. Returns false if there is no
 * solution, which is so for keys that are not hashes. */
bool unseen__bucket_solve(struct bucket *bucket, const struct unseen_key *keys, unsigned n,
                          unsigned ncolumns);

/* Writes the columns from bit 4 * nibble of `to` on. These bits are 0 before. */
void unseen__bucket_write(const struct bucket *bucket, unsigned ncolumns, uint8_t *to,
                          size_t nibble);

/* Whether a key fulfils the equations of a bucket. `code` has one step or more. The columns begin
 * at bit 4 * nibble of bytes + at; all bytes from `bytes` to the end of the columns are readable.
 * at is 2 or more. */
bool unseen__bucket_has(const uint8_t *bytes, size_t at, size_t nibble, unsigned code,
                        unsigned ncolumns, uint64_t hi);

static inline unsigned bucket_steps(unsigned code)
{
    return code & BUCKET_STEPS_MASK;
}

#endif
