/* SPDX-License-Identifier: MIT
 *
 * The counting filter: what it does not share with the blocked Bloom filter. counting.h explains
 * the structure, blocks.h the shared part. */
#include "bits/counting.h"

#include <math.h>

static uint64_t count_used(const uint8_t *bytes, size_t nbytes)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < nbytes; at += 8) {
        sum += counting_sum(counting_used(load_le64(bytes + at)));
    }
    return sum;
}

const struct blocks_kind unseen__counting_kind = {
    .cells = COUNTING_CELLS,
    .cell_bits = 4,
    .fpr_min = 1e-7,
    .count = count_used,
    .portable = unseen__counting_portable,
#if UNSEEN_X86
    .avx2 = unseen__counting_avx2,
    .avx512 = unseen__counting_avx512,
#endif
};

/* The least of the key's counters. */
uint64_t unseen__counting_count(const struct unseen__filter *filter, struct unseen_key key)
{
    static const uint32_t multipliers[UNSEEN__BLOCKED_HASHES] = {BLOCKS_MULTIPLIERS};
    const struct blocks *c = blocks_from_const(filter);
    const uint8_t *block = blocks_of_key(c, c->two_lines, key);
    unsigned least = UNSEEN_COUNT_MAX;
    for (unsigned i = 0; i < c->k; i++) {
        const unsigned place = counting_place(c->two_lines, i, key.lo, multipliers[i]);
        const unsigned count = block[place / 2] >> place % 2 * 4 & 15u;
        least = count < least ? count : least;
    }
    return least;
}

/* ---- union ---- */

/* Adds 16 counters to 16 others; a sum above 15 becomes 15. Even and odd counters are added apart,
 * in bytes. */
static uint64_t add_counters(uint64_t x, uint64_t y)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t sums[2] = {(x & low) + (y & low), (x >> 4 & low) + (y >> 4 & low)};
    for (int i = 0; i < 2; i++) {
        const uint64_t carry = sums[i] >> 4 & UINT64_C(0x0101010101010101);
        sums[i] = (sums[i] & low) | carry * 15;
    }
    return sums[0] | sums[1] << 4;
}

enum unseen_status unseen__counting_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                                size_t len)
{
    struct blocks *c = blocks_from(filter);
    const uint8_t *other;
    size_t place;
    const size_t n = unseen__line_array_overlap(&c->array, piece, len, &other, &place);
    for (size_t i = 0; i < n; i += 8) {
        uint8_t *p = c->bytes + place + i;
        store_le64(p, add_counters(load_le64(p), load_le64(other + i)));
    }
    return UNSEEN_OK;
}

void unseen__counting_merge_finish(struct unseen__filter *filter)
{
    struct blocks *c = blocks_from(filter);
    c->nset = count_used(c->bytes, (size_t)c->array.nlines * UNSEEN__LINE);
    c->nkeys = (uint64_t)llround(unseen__blocks_load(c, c->nset) * (double)c->nblocks);
}
