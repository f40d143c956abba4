/* SPDX-License-Identifier: MIT
 *
 * The counting filter as one of the filters. counting.h explains the structure, blocks.h has what is not
 * its alone. */
#include "filter/counting.h"

#include <math.h>

static uint64_t count_used(const uint8_t *bytes, size_t nbytes)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < nbytes; at += 8) {
        sum += counting_sum(counting_used(load_le64(bytes + at)));
    }
    return sum;
}

static const struct blocks_kind kind = {
    .ops = &unseen__counting_ops,
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
static unsigned multiplicity(const struct unseen__filter *filter, struct unseen_key key)
{
    static const uint32_t multipliers[UNSEEN__BLOCKED_HASHES] = {COUNTING_MULTIPLIERS};
    const struct blocks *c = blocks_from_const(filter);
    const uint8_t *block = blocks_of_key(c, c->is_wide, key);
    unsigned least = UNSEEN_COUNT_MAX;
    for (unsigned i = 0; i < c->k; i++) {
        const unsigned place = counting_place(c->is_wide, i, key.lo, multipliers[i]);
        const unsigned count = block[place / 2] >> place % 2 * 4 & 15u;
        least = count < least ? count : least;
    }
    return least;
}

/* ---- union ---- */

/* The sums of 16 counters each, 15 where that is too much: even and odd counters apart, in bytes. */
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

static void combine_piece(struct unseen__filter *filter, enum unseen__combination combination,
                          const uint8_t *piece, size_t len)
{
    struct blocks *c = blocks_from(filter);
    const uint8_t *other;
    size_t place;
    const size_t n = unseen__array_overlap(&c->array, piece, len, &other, &place);
    (void)combination; /* a union: there is no intersection of bags here */
    for (size_t i = 0; i < n; i += 8) {
        uint8_t *p = c->bytes + place + i;
        store_le64(p, add_counters(load_le64(p), load_le64(other + i)));
    }
}

static void combine_finish(struct unseen__filter *filter, enum unseen__combination combination)
{
    struct blocks *c = blocks_from(filter);
    (void)combination;
    c->nset = count_used(c->bytes, (size_t)c->array.nlines * UNSEEN__LINE);
    c->nkeys = (uint64_t)llround(unseen__blocks_load(c, c->nset) * (double)c->nblocks);
}

static enum unseen_status plan(struct unseen_plan *plan)
{
    return unseen__blocks_plan(&kind, plan);
}

static double plan_rate(const struct unseen_plan *plan, double nkeys)
{
    return unseen__blocks_plan_rate(&kind, plan, nkeys);
}

static enum unseen_status shard_bits(const struct unseen__filter_params *params, unsigned wanted,
                                     unsigned *shard_bits_out)
{
    return unseen__blocks_shard_bits(&kind, params, wanted, shard_bits_out);
}

static enum unseen_status create(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params)
{
    return unseen__blocks_create(&kind, filter_out, params);
}

const struct unseen__filter_ops unseen__counting_ops = {
    .name = "counting",
    .abilities = UNSEEN_CAN_REMOVE | UNSEEN_CAN_MERGE,
    .shard_bits = shard_bits,
    .create = create,
    .free = unseen__blocks_free,
    .add = unseen__blocks_add,
    .contains = unseen__blocks_contains,
    .remove = unseen__blocks_remove,
    .multiplicity = multiplicity,
    .nkeys = unseen__blocks_nkeys,
    .stats = unseen__blocks_stats,
    .tally = unseen__blocks_tally,
    .save_params = unseen__blocks_save_params,
    .save_piece = unseen__blocks_save_piece,
    .owns_piece = unseen__blocks_owns_piece,
    .load_piece = unseen__blocks_load_piece,
    .load_finish = unseen__blocks_load_finish,
    .is_same_shape = unseen__blocks_is_same_shape,
    .combine_piece = combine_piece,
    .combine_finish = combine_finish,
    .plan = plan,
    .plan_rate = plan_rate,
};
