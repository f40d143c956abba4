/* SPDX-License-Identifier: MIT
 *
 * Buckets: see bucket.h. A question loads each column as two words and compares a parity; it has no
 * branch that depends on the key. */
#include "small/bucket.h"

/* ---- equations ---- */

/* The left side of r equations, and their right sides. */
struct equations {
    struct bucket_bits left;
    uint64_t check;
};

/* The low n bits, n below 64. */
UNSEEN_INLINE uint64_t low_mask(unsigned n)
{
    return ((uint64_t)1 << n) - 1;
}

/* The factors are digits of pi with the last bit set. No two keys may have the same vector under
 * all seeds. So the vector begins with the high word of the product, whose bits depend on all bits
 * of x, and the seed is added without carries, which changes the difference of two keys. (With the
 * low word first and a sum, one of 10,000 sets of 4 keys had no solution.) The check bits must not
 * be a linear function of the product's bits: otherwise a column that repeats this function solves
 * all equations, and every key passes. So they are bits from the middle of hi, on which carries
 * have an effect. */
UNSEEN_INLINE struct equations equations_of(uint64_t hi, unsigned code)
{
    const unsigned nrows = BUCKET_STEP * bucket_steps(code);
    const uint64_t x = hi ^ (code >> 5) * UINT64_C(0x243f6a8885a308d3);
    struct equations e = {.check = hi >> 24};
    e.left.low = mul_wide(x, UINT64_C(0xa4093822299f31d1), &e.left.high);
    e.left.low &= nrows < 64 ? low_mask(nrows) : UINT64_MAX;
    e.left.high &= nrows < 64 ? 0 : low_mask(nrows - 64);
    return e;
}

/* 1 if the number of 1 bits is odd. */
UNSEEN_INLINE uint64_t parity(uint64_t x)
{
#if defined(__GNUC__)
    return (uint64_t)__builtin_parityll(x);
#else
    return popcount_portable(x) & 1;
#endif
}

/* The sum of the products of the bits. */
UNSEEN_INLINE uint64_t product(struct bucket_bits a, struct bucket_bits b)
{
    return parity((a.low & b.low) ^ (a.high & b.high));
}

/* ---- solving ---- */

/* Equations whose first bit is bit i are in at[i], if bit i of `is_there` is set. */
struct triangle {
    struct equations at[BUCKET_ROWS_MAX];
    struct bucket_bits is_there;
};

UNSEEN_INLINE unsigned first_bit(struct bucket_bits bits)
{
    return bits.low ? lowest_bit(bits.low) : 64 + lowest_bit(bits.high);
}

UNSEEN_INLINE bool has_bit(struct bucket_bits bits, unsigned i)
{
    return (i < 64 ? bits.low >> i : bits.high >> (i - 64)) & 1;
}

UNSEEN_INLINE void set_bit(struct bucket_bits *bits, unsigned i, uint64_t bit)
{
    if (i < 64) {
        bits->low |= bit << i;
    } else {
        bits->high |= bit << (i - 64);
    }
}

/* Returns false if the equations contradict those in the triangle. */
static bool triangle_add(struct triangle *triangle, struct equations e)
{
    while (e.left.low | e.left.high) {
        const unsigned i = first_bit(e.left);
        struct equations *other = &triangle->at[i];
        if (!has_bit(triangle->is_there, i)) {
            *other = e;
            set_bit(&triangle->is_there, i, 1);
            return true;
        }
        e.left.low ^= other->left.low;
        e.left.high ^= other->left.high;
        e.check ^= other->check;
    }
    return e.check == 0;
}

/* From the last row to the first. A row that no equation begins with is 0. */
static void triangle_solve(const struct triangle *triangle, unsigned nrows, unsigned ncolumns,
                           struct bucket_bits *columns)
{
    memset(columns, 0, ncolumns * sizeof(*columns));
    for (unsigned i = nrows; i-- > 0;) {
        const struct equations *e = &triangle->at[i];
        for (unsigned j = 0; j < ncolumns && has_bit(triangle->is_there, i); j++) {
            set_bit(&columns[j], i, (product(e->left, columns[j]) ^ e->check >> j) & 1);
        }
    }
}

static bool solve_with(struct bucket *bucket, unsigned code, const struct unseen_key *keys,
                       unsigned n, unsigned ncolumns)
{
    struct triangle triangle;
    triangle.is_there = (struct bucket_bits){0, 0};
    for (unsigned i = 0; i < n; i++) {
        struct equations e = equations_of(keys[i].hi, code);
        e.check &= low_mask(ncolumns);
        if (!triangle_add(&triangle, e)) {
            return false;
        }
    }
    bucket->code = (uint8_t)code;
    triangle_solve(&triangle, BUCKET_STEP * bucket_steps(code), ncolumns, bucket->columns);
    return true;
}

bool unseen__bucket_solve(struct bucket *bucket, const struct unseen_key *keys, unsigned n,
                          unsigned ncolumns)
{
    const unsigned least = (n + BUCKET_STEP - 1) / BUCKET_STEP;
    for (unsigned more = 0; more <= BUCKET_MORE_STEPS; more++) {
        for (unsigned seed = 0; seed < BUCKET_SEEDS; seed++) {
            const unsigned code = BUCKET_CODE + (seed << 5) + least + more;
            if (solve_with(bucket, code, keys, n, ncolumns)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- bytes ---- */

void unseen__bucket_write(const struct bucket *bucket, unsigned ncolumns, uint8_t *to,
                          size_t nibble)
{
    const unsigned nsteps = bucket_steps(bucket->code);
    for (unsigned j = 0; j < ncolumns; j++, nibble += nsteps) {
        for (unsigned i = 0; i < nsteps; i++) {
            const struct bucket_bits *column = &bucket->columns[j];
            const uint64_t four =
                (i < 16 ? column->low >> 4 * i : column->high >> 4 * (i - 16)) & 15;
            to[(nibble + i) / 2] |= (uint8_t)(four << 4 * ((nibble + i) % 2));
        }
    }
}

/* A vector in the places of its bits in a column, and the addresses of the two words of the column.
 * A word never ends behind the column. In a column of more than 8 bytes, the first word begins with
 * the column and the last word ends with it. In a shorter column both words are the same one, which
 * ends with the column and may begin before it. */
struct placed {
    uint64_t first;
    uint64_t last;
    const uint8_t *first_at;
    const uint8_t *last_at;
};

UNSEEN_INLINE struct placed place(const uint8_t *data, size_t nibble, struct bucket_bits bits,
                                  unsigned nsteps)
{
    const unsigned shift = nibble % 2 ? 4 : 0;
    const unsigned nbytes = (nsteps + (nibble % 2 ? 1 : 0) + 1) / 2;
    const uint64_t low = bits.low << shift;
    const uint64_t high = bits.high << shift | bits.low >> 32 >> (32 - shift);
    const uint8_t *column = data + nibble / 2;
    const uint8_t *last_at = column + nbytes - 8;
    if (nbytes <= 8) {
        return (struct placed){low << 8 * (8 - nbytes), 0, last_at, last_at};
    }
    return (struct placed){low, high << 8 * (16 - nbytes), column, last_at};
}

UNSEEN_INLINE uint64_t placed_product(const struct placed *p, size_t offset)
{
    return parity((load_le64(p->first_at + offset) & p->first) ^
                  (load_le64(p->last_at + offset) & p->last));
}

/* Two columns together have nsteps whole bytes. */
UNSEEN_INLINE bool has(const uint8_t *data, size_t nibble, unsigned code, unsigned ncolumns,
                       uint64_t hi)
{
    const unsigned nsteps = bucket_steps(code);
    const struct equations e = equations_of(hi, code);
    const struct placed even = place(data, nibble, e.left, nsteps);
    const struct placed odd = place(data, nibble + nsteps, e.left, nsteps);
    uint64_t check = e.check;
    uint64_t wrong = 0;
    size_t offset = 0;
    for (; ncolumns >= 2; ncolumns -= 2, offset += nsteps, check >>= 2) {
        wrong |= placed_product(&even, offset) ^ check;
        wrong |= placed_product(&odd, offset) ^ check >> 1;
    }
    if (ncolumns > 0) {
        wrong |= placed_product(&even, offset) ^ check;
    }
    return (wrong & 1) == 0;
}

bool unseen__bucket_has(const uint8_t *bytes, size_t at, size_t nibble, unsigned code,
                        unsigned ncolumns, uint64_t hi)
{
    /* The word of a short first column may begin before `bytes`. */
    uint8_t copy[8 + 2 + 8 + BUCKET_COLUMNS_MAX * 8];
    const size_t len = at + (nibble + (size_t)ncolumns * bucket_steps(code) + 1) / 2;
    if (UNSEEN_UNLIKELY(at + nibble / 2 + (bucket_steps(code) + 1) / 2 < 8)) {
        memset(copy, 0, 8);
        memcpy(copy + 8, bytes, len);
        bytes = copy + 8;
    }
    return has(bytes + at, nibble, code, ncolumns, hi);
}
