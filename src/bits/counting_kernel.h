/* SPDX-License-Identifier: MIT
 *
 * Adds, finds or removes one key of the counting filter. Compiled once per SIMD level; the
 * including file defines
 *
 *     KERNEL(name)         name with the level's suffix
 *     KERNEL_TARGET        the level's function attribute, or nothing
 *     struct KERNEL(mask)  a block in which the lowest bit of some counters is set
 *     KERNEL(mark)(k, two_lines, lo, mask)     marks the counters of a key
 *     KERNEL(zeros)(two_lines, block, mask)    how many of the marked counters are 0
 *     KERNEL(up)(two_lines, block, mask)       adds 1 to the marked counters that are not full
 *     KERNEL(down)(two_lines, block, mask)     subtracts 1; returns how many are 0 then */
struct KERNEL(batch) {
    unsigned k;
    uint64_t nset;
    uint64_t nfreed; /* counters that removing made 0 */
    uint64_t ngone;  /* keys that have such a counter */
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(batch_init)(const struct blocks *c, bool two_lines,
                                                    struct KERNEL(batch) * batch)
{
    (void)two_lines;
    *batch = (struct KERNEL(batch)){.k = c->k};
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(has_key)(const struct KERNEL(batch) * batch, bool two_lines,
                                                 const uint8_t *block, uint64_t lo)
{
    struct KERNEL(mask) mask;
    KERNEL(mark)(batch->k, two_lines, lo, &mask);
    return KERNEL(zeros)(two_lines, block, &mask) == 0;
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(add_key)(struct KERNEL(batch) * batch, bool two_lines,
                                                 uint8_t *block, uint64_t lo)
{
    struct KERNEL(mask) mask;
    KERNEL(mark)(batch->k, two_lines, lo, &mask);
    const unsigned zeros = KERNEL(zeros)(two_lines, block, &mask);
    KERNEL(up)(two_lines, block, &mask);
    batch->nset += zeros;
    return zeros > 0;
}

/* A key is gone when one of its counters is 0 afterwards. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(remove_key)(struct KERNEL(batch) * batch, bool two_lines,
                                                    uint8_t *block, uint64_t lo)
{
    struct KERNEL(mask) mask;
    KERNEL(mark)(batch->k, two_lines, lo, &mask);
    if (KERNEL(zeros)(two_lines, block, &mask) > 0) {
        return false;
    }
    const unsigned zeros = KERNEL(down)(two_lines, block, &mask);
    batch->nfreed += zeros;
    batch->ngone += zeros > 0;
    return true;
}

UNSEEN_INLINE KERNEL_TARGET uint64_t KERNEL(batch_nset)(const struct KERNEL(batch) * batch)
{
    return batch->nset;
}

#include "bits/blocks_kernel.h"

UNSEEN_INLINE KERNEL_TARGET void KERNEL(remove)(struct blocks *c, bool two_lines,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    struct KERNEL(batch) batch;
    KERNEL(batch_init)(c, two_lines, &batch);
    KERNEL(look_anew)(c, two_lines, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct KERNEL(probe) probe = KERNEL(next)(c, two_lines, keys, n, i, &ring);
        const bool found = KERNEL(remove_key)(&batch, two_lines, probe.block, probe.lo);
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
    }
    c->nset -= batch.nfreed;
    c->nkeys -= batch.ngone < c->nkeys ? batch.ngone : c->nkeys;
}

static KERNEL_TARGET void KERNEL(add_absent_one)(struct blocks *c, const struct unseen_key *keys,
                                                 size_t n, uint8_t *verdicts)
{
    KERNEL(add)(c, false, ADD_ABSENT, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(add_absent_two)(struct blocks *c, const struct unseen_key *keys,
                                                 size_t n, uint8_t *verdicts)
{
    KERNEL(add)(c, true, ADD_ABSENT, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(remove_one)(struct blocks *c, const struct unseen_key *keys,
                                             size_t n, uint8_t *verdicts)
{
    KERNEL(remove)(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(remove_two)(struct blocks *c, const struct unseen_key *keys,
                                             size_t n, uint8_t *verdicts)
{
    KERNEL(remove)(c, true, keys, n, verdicts);
}

const struct blocks_kernel KERNEL(unseen__counting)[2] = {
    {KERNEL(add_one), KERNEL(contains_one), KERNEL(remove_one), KERNEL(add_absent_one)},
    {KERNEL(add_two), KERNEL(contains_two), KERNEL(remove_two), KERNEL(add_absent_two)},
};
