/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter as one of the filters. block.h explains the structure, blocks.h has what is
 * not its alone. */
#include "filter/block.h"

#include <math.h>

static const struct blocks_kind kind = {
    .ops = &unseen__block_ops,
    .cells = 8 * UNSEEN__LINE,
    .cell_bits = 1,
    .fpr_min = 1e-12,
    .count = unseen__count_bits,
    .portable = unseen__block_portable,
#if UNSEEN_X86
    .avx2 = unseen__block_avx2,
    .avx512 = unseen__block_avx512,
#endif
};

/* ---- union and intersection ---- */

static void combine_piece(struct unseen__filter *filter, enum unseen__combination combination,
                          const uint8_t *piece, size_t len)
{
    struct blocks *b = blocks_from(filter);
    unseen__line_array_combine(&b->array, combination, piece, len, &b->combined);
}

static void combine_finish(struct unseen__filter *filter, enum unseen__combination combination)
{
    struct blocks *b = blocks_from(filter);
    const struct unseen__combined *c = &b->combined;
    double load = unseen__blocks_load(b, c->either);
    b->nset = c->either;
    if (combination == UNSEEN__INTERSECTION) {
        load = fmax(0, unseen__blocks_load(b, c->own) + unseen__blocks_load(b, c->other) - load);
        b->nset = c->own + c->other - c->either;
    }
    b->nkeys = (uint64_t)llround(load * (double)b->nblocks);
    b->combined = (struct unseen__combined){0};
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

const struct unseen__filter_ops unseen__block_ops = {
    .name = "block",
    .abilities = UNSEEN_CAN_MERGE | UNSEEN_CAN_INTERSECT,
    .shard_bits = shard_bits,
    .create = create,
    .free = unseen__blocks_free,
    .add = unseen__blocks_add,
    .contains = unseen__blocks_contains,
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
