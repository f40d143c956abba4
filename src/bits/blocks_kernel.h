/* SPDX-License-Identifier: MIT
 *
 * The loops over a batch of keys, for both filters of blocks. Compiled once per SIMD level and
 * number of lines of a block. block_kernel.h and counting_kernel.h define the following and include
 * this file:
 *
 *     KERNEL(name), KERNEL_TARGET   the level's names and function attribute
 *     struct KERNEL(batch)          constants of a batch of keys, and counts of its changes
 *     KERNEL(batch_init)(b, two_lines, batch)
 *     KERNEL(add_key)(batch, two_lines, block, lo)   adds a key; true if it was not there
 *     KERNEL(has_key)(batch, two_lines, block, lo)   true if the key is there
 *     KERNEL(batch_nset)(batch)     the number of cells that the batch has put in use
 *
 * They get the operations add_one, add_two, contains_one and contains_two. */

/* A key's block, and the word that chooses the cells in it. */
struct KERNEL(probe) {
    uint8_t *block;
    uint64_t lo;
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find_lines)(const struct blocks *b, bool two_lines,
                                                    struct unseen_key key, const void *group,
                                                    struct KERNEL(probe) * probe)
{
    (void)group;
    probe->block = blocks_of_key(b, two_lines, key);
    probe->lo = key.lo;
    UNSEEN_PREFETCH_L2(probe->block);
    if (two_lines) {
        UNSEEN_PREFETCH_L2(probe->block + UNSEEN__LINE);
    }
}

UNSEEN_INLINE const void *KERNEL(find_group)(const struct blocks *b, struct unseen_key key)
{
    (void)b;
    (void)key;
    return NULL;
}

#define KERNEL_FILTER     struct blocks
#define KERNEL_PROBE      struct KERNEL(probe)
#define KERNEL_GROUP      const void
#define KERNEL_HAS_GROUPS 0
#include "filter/read_ahead.h"

/* Returns the probe of key i; its slot of the ring goes to a key ahead. */
UNSEEN_INLINE KERNEL_TARGET struct KERNEL(probe)
    KERNEL(next)(const struct blocks *b, bool two_lines, const struct unseen_key *keys, size_t n,
                 size_t i, struct KERNEL(ring) * ring)
{
    const struct KERNEL(probe) probe = ring->probe[i % KERNEL_AHEAD];
    KERNEL(look_ahead)(b, two_lines, keys, n, i, ring);
    return probe;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(add)(struct blocks *b, bool two_lines,
                                             enum blocks_which which, const struct unseen_key *keys,
                                             size_t n, uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    struct KERNEL(batch) batch;
    uint64_t nnew = 0;
    KERNEL(batch_init)(b, two_lines, &batch);
    KERNEL(look_anew)(b, two_lines, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct KERNEL(probe) probe = KERNEL(next)(b, two_lines, keys, n, i, &ring);
        const bool is_new =
            !(which == ADD_ABSENT && KERNEL(has_key)(&batch, two_lines, probe.block, probe.lo)) &&
            KERNEL(add_key)(&batch, two_lines, probe.block, probe.lo);
        verdicts[i] = is_new ? UNSEEN_NEW : UNSEEN_SEEN;
        nnew += is_new;
    }
    b->nset += KERNEL(batch_nset)(&batch);
    b->nkeys += nnew;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(contains)(const struct blocks *b, bool two_lines,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    struct KERNEL(batch) batch;
    KERNEL(batch_init)(b, two_lines, &batch);
    KERNEL(look_anew)(b, two_lines, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct KERNEL(probe) probe = KERNEL(next)(b, two_lines, keys, n, i, &ring);
        verdicts[i] =
            KERNEL(has_key)(&batch, two_lines, probe.block, probe.lo) ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

static KERNEL_TARGET void KERNEL(add_one)(struct blocks *b, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    KERNEL(add)(b, false, ADD_ALL, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(add_two)(struct blocks *b, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    KERNEL(add)(b, true, ADD_ALL, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_one)(const struct blocks *b,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    KERNEL(contains)(b, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_two)(const struct blocks *b,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    KERNEL(contains)(b, true, keys, n, verdicts);
}
