/* SPDX-License-Identifier: MIT
 *
 * Adds or finds one key of the blocked Bloom filter. Compiled once per SIMD level; the including
 * file defines
 *
 *     KERNEL(name)            name with the level's suffix
 *     KERNEL_TARGET           the level's function attribute, or nothing
 *     struct KERNEL(places)   the places of a key
 *     struct KERNEL(count)    a count of bits, all zeros at first
 *     KERNEL(find)(lo, lanes, places)
 *                             computes the places that lanes has
 *     KERNEL(lacking)(block, two_lines, lanes, places)
 *                             true if the block lacks a bit at one of them
 *     KERNEL(set)(block, two_lines, k, places, count)
 *                             sets the bits of k places and counts those that were not set
 *     KERNEL(sum)(count)      a count as a number */
struct KERNEL(batch) {
    unsigned k;
    uint32_t lanes;
    struct KERNEL(count) count;
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(batch_init)(const struct blocks *b, bool two_lines,
                                                    struct KERNEL(batch) * batch)
{
    *batch = (struct KERNEL(batch)){.k = b->k, .lanes = block_lanes(two_lines, b->k)};
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(has_key)(const struct KERNEL(batch) * batch, bool two_lines,
                                                 const uint8_t *block, uint64_t lo)
{
    struct KERNEL(places) places;
    KERNEL(find)(lo, batch->lanes, &places);
    return !KERNEL(lacking)(block, two_lines, batch->lanes, &places);
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(add_key)(struct KERNEL(batch) * batch, bool two_lines,
                                                 uint8_t *block, uint64_t lo)
{
    struct KERNEL(places) places;
    KERNEL(find)(lo, batch->lanes, &places);
    const bool is_new = KERNEL(lacking)(block, two_lines, batch->lanes, &places);
    if (is_new) {
        KERNEL(set)(block, two_lines, batch->k, &places, &batch->count);
    }
    return is_new;
}

UNSEEN_INLINE KERNEL_TARGET uint64_t KERNEL(batch_nset)(const struct KERNEL(batch) * batch)
{
    return KERNEL(sum)(&batch->count);
}

#include "bits/blocks_kernel.h"

const struct blocks_kernel KERNEL(unseen__block)[2] = {
    {KERNEL(add_one), KERNEL(contains_one), NULL, NULL},
    {KERNEL(add_two), KERNEL(contains_two), NULL, NULL},
};
