/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter: what it does not share with the counting filter. block.h explains the
 * structure, blocks.h the shared part. */
#include "bits/block.h"

#include <math.h>

const struct blocks_kind unseen__block_kind = {
    .cells = 8 * UNSEEN__LINE,
    .cell_bits = 1,
    .fpr_min = 1e-12,
    .count = popcount_bytes,
    .portable = unseen__block_portable,
#if UNSEEN_X86
    .avx2 = unseen__block_avx2,
    .avx512 = unseen__block_avx512,
#endif
};

/* ---- union ---- */

enum unseen_status unseen__block_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                             size_t len)
{
    struct blocks *b = blocks_from(filter);
    b->nmerged += unseen__line_array_merge(&b->array, piece, len);
    return UNSEEN_OK;
}

void unseen__block_merge_finish(struct unseen__filter *filter)
{
    struct blocks *b = blocks_from(filter);
    b->nset = b->nmerged;
    b->nkeys = (uint64_t)llround(unseen__blocks_load(b, b->nset) * (double)b->nblocks);
    b->nmerged = 0;
}
