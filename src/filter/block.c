/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter: what it does not share with the counting filter. block.h explains the
 * structure, blocks.h the shared part. */
#include "filter/block.h"

#include <math.h>

const struct blocks_kind unseen__block_kind = {
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

enum unseen_status unseen__block_combine_piece(struct unseen__filter *filter,
                                               enum unseen__combination combination,
                                               const uint8_t *piece, size_t len)
{
    struct blocks *b = blocks_from(filter);
    unseen__line_array_combine(&b->array, combination, piece, len, &b->combined);
    return UNSEEN_OK;
}

void unseen__block_combine_finish(struct unseen__filter *filter,
                                  enum unseen__combination combination)
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
