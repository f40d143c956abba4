/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter's loops, compiled once per SIMD level and width. The including file
 * defines
 *
 *     KERNEL(name)    name with the level's suffix
 *     KERNEL_TARGET   the level's function attribute, or nothing
 *     struct kernel_places
 *                     the places of a key
 *     struct kernel_count
 *                     a count of bits; zeros are none
 *     kernel_find(lo, lanes, places)
 *                     where the bits of lanes are
 *     kernel_lacking(block, is_wide, lanes, places)
 *                     whether the block lacks some of the bits of lanes
 *     kernel_set(block, is_wide, k, places, count)
 *                     sets the bits of k places and counts those that were not set
 *     kernel_sum(count)
 *                     a count as a number
 *
 * Blocks are fetched BLOCK_AHEAD keys ahead: a ring holds where the next ones are. */
#include "filter/block.h"

struct kernel_probe {
    uint8_t *block;
    uint64_t lo;
};

UNSEEN_INLINE KERNEL_TARGET void kernel_fetch(const struct blocks *b, bool is_wide,
                                              struct unseen_key key, struct kernel_probe *probe)
{
    probe->block = blocks_of_key(b, is_wide, key);
    probe->lo = key.lo;
    UNSEEN_PREFETCH_L2(probe->block);
    if (is_wide) {
        UNSEEN_PREFETCH_L2(probe->block + UNSEEN__LINE);
    }
}

UNSEEN_INLINE KERNEL_TARGET size_t kernel_fetch_first(const struct blocks *b, bool is_wide,
                                                      const struct unseen_key *keys, size_t n,
                                                      struct kernel_probe *ring)
{
    const size_t nfirst = n < BLOCK_AHEAD ? n : BLOCK_AHEAD;
    for (size_t i = 0; i < nfirst; i++) {
        kernel_fetch(b, is_wide, keys[i], &ring[i]);
    }
    return nfirst;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_add(struct blocks *b, bool is_wide,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts)
{
    struct kernel_probe ring[BLOCK_AHEAD];
    struct kernel_places places;
    const uint32_t lanes = block_lanes(is_wide, b->k);
    const unsigned k = b->k;
    struct kernel_count count = {0};
    uint64_t nnew = 0;
    size_t fetched = kernel_fetch_first(b, is_wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_probe probe = ring[i % BLOCK_AHEAD];
        if (fetched < n) {
            kernel_fetch(b, is_wide, keys[fetched++], &ring[i % BLOCK_AHEAD]);
        }
        kernel_find(probe.lo, lanes, &places);
        const bool is_new = kernel_lacking(probe.block, is_wide, lanes, &places);
        verdicts[i] = is_new ? UNSEEN_NEW : UNSEEN_SEEN;
        if (is_new) {
            kernel_set(probe.block, is_wide, k, &places, &count);
            nnew++;
        }
    }
    b->nset += kernel_sum(&count);
    b->nkeys += nnew;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_contains(const struct blocks *b, bool is_wide,
                                                 const struct unseen_key *keys, size_t n,
                                                 uint8_t *verdicts)
{
    struct kernel_probe ring[BLOCK_AHEAD];
    struct kernel_places places;
    const uint32_t lanes = block_lanes(is_wide, b->k);
    size_t fetched = kernel_fetch_first(b, is_wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_probe probe = ring[i % BLOCK_AHEAD];
        if (fetched < n) {
            kernel_fetch(b, is_wide, keys[fetched++], &ring[i % BLOCK_AHEAD]);
        }
        kernel_find(probe.lo, lanes, &places);
        verdicts[i] =
            kernel_lacking(probe.block, is_wide, lanes, &places) ? UNSEEN_NEW : UNSEEN_SEEN;
    }
}

static KERNEL_TARGET void KERNEL(add_one)(struct blocks *b, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    kernel_add(b, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(add_two)(struct blocks *b, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    kernel_add(b, true, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_one)(const struct blocks *b,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    kernel_contains(b, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_two)(const struct blocks *b,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    kernel_contains(b, true, keys, n, verdicts);
}

const struct blocks_kernel KERNEL(unseen__block)[2] = {
    {KERNEL(add_one), KERNEL(contains_one), NULL},
    {KERNEL(add_two), KERNEL(contains_two), NULL},
};
