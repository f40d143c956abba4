/* SPDX-License-Identifier: MIT
 *
 * The counting filter's loops, compiled once per SIMD level and width. The including file defines
 *
 *     KERNEL(name)         name with the level's suffix
 *     KERNEL_TARGET        the level's function attribute, or nothing
 *     struct kernel_mask   a block in which the lowest bit of some counters is set
 *     kernel_mark(c, is_wide, lo, mask)      those of a key
 *     kernel_zeros(is_wide, block, mask)     how many of the marked counters are 0
 *     kernel_up(is_wide, block, mask)        counts the marked counters up, but for full ones
 *     kernel_down(is_wide, block, mask)      and down; how many are 0 then
 *
 * Blocks are fetched COUNTING_AHEAD keys ahead: a ring holds where they are. */

struct kernel_probe {
    uint8_t *block;
    uint64_t lo;
};

UNSEEN_INLINE KERNEL_TARGET void kernel_fetch(const struct blocks *c, bool is_wide,
                                              struct unseen_key key, struct kernel_probe *probe)
{
    probe->block = blocks_of_key(c, is_wide, key);
    probe->lo = key.lo;
    UNSEEN_PREFETCH_L2(probe->block);
    if (is_wide) {
        UNSEEN_PREFETCH_L2(probe->block + UNSEEN__LINE);
    }
}

UNSEEN_INLINE KERNEL_TARGET size_t kernel_fetch_first(const struct blocks *c, bool is_wide,
                                                      const struct unseen_key *keys, size_t n,
                                                      struct kernel_probe *ring)
{
    const size_t nfirst = n < COUNTING_AHEAD ? n : COUNTING_AHEAD;
    for (size_t i = 0; i < nfirst; i++) {
        kernel_fetch(c, is_wide, keys[i], &ring[i]);
    }
    return nfirst;
}

/* The key's probe; its place in the ring goes to the next key that was not fetched yet. */
UNSEEN_INLINE KERNEL_TARGET struct kernel_probe kernel_next(const struct blocks *c, bool is_wide,
                                                            const struct unseen_key *keys, size_t n,
                                                            size_t i, struct kernel_probe *ring)
{
    const struct kernel_probe probe = ring[i % COUNTING_AHEAD];
    if (i + COUNTING_AHEAD < n) {
        kernel_fetch(c, is_wide, keys[i + COUNTING_AHEAD], &ring[i % COUNTING_AHEAD]);
    }
    return probe;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_add(struct blocks *c, bool is_wide,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts)
{
    struct kernel_probe ring[COUNTING_AHEAD];
    struct kernel_mask mask;
    uint64_t nset = 0;
    uint64_t nnew = 0;
    (void)kernel_fetch_first(c, is_wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_probe probe = kernel_next(c, is_wide, keys, n, i, ring);
        kernel_mark(c, is_wide, probe.lo, &mask);
        const unsigned zeros = kernel_zeros(is_wide, probe.block, &mask);
        kernel_up(is_wide, probe.block, &mask);
        verdicts[i] = zeros ? UNSEEN_NEW : UNSEEN_SEEN;
        nset += zeros;
        nnew += zeros > 0;
    }
    c->nset += nset;
    c->nkeys += nnew;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_contains(const struct blocks *c, bool is_wide,
                                                 const struct unseen_key *keys, size_t n,
                                                 uint8_t *verdicts)
{
    struct kernel_probe ring[COUNTING_AHEAD];
    struct kernel_mask mask;
    (void)kernel_fetch_first(c, is_wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_probe probe = kernel_next(c, is_wide, keys, n, i, ring);
        kernel_mark(c, is_wide, probe.lo, &mask);
        verdicts[i] = kernel_zeros(is_wide, probe.block, &mask) ? UNSEEN_NEW : UNSEEN_SEEN;
    }
}

/* A key is gone when one of its counters is 0 afterwards. */
UNSEEN_INLINE KERNEL_TARGET void kernel_remove(struct blocks *c, bool is_wide,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    struct kernel_probe ring[COUNTING_AHEAD];
    struct kernel_mask mask;
    uint64_t nfreed = 0;
    uint64_t ngone = 0;
    (void)kernel_fetch_first(c, is_wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_probe probe = kernel_next(c, is_wide, keys, n, i, ring);
        kernel_mark(c, is_wide, probe.lo, &mask);
        verdicts[i] = UNSEEN_NEW;
        if (kernel_zeros(is_wide, probe.block, &mask) == 0) {
            verdicts[i] = UNSEEN_SEEN;
            const unsigned zeros = kernel_down(is_wide, probe.block, &mask);
            nfreed += zeros;
            ngone += zeros > 0;
        }
    }
    c->nset -= nfreed;
    c->nkeys -= ngone < c->nkeys ? ngone : c->nkeys;
}

static KERNEL_TARGET void KERNEL(add_one)(struct blocks *c, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    kernel_add(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(add_two)(struct blocks *c, const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts)
{
    kernel_add(c, true, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_one)(const struct blocks *c,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    kernel_contains(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(contains_two)(const struct blocks *c,
                                               const struct unseen_key *keys, size_t n,
                                               uint8_t *verdicts)
{
    kernel_contains(c, true, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(remove_one)(struct blocks *c, const struct unseen_key *keys,
                                             size_t n, uint8_t *verdicts)
{
    kernel_remove(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(remove_two)(struct blocks *c, const struct unseen_key *keys,
                                             size_t n, uint8_t *verdicts)
{
    kernel_remove(c, true, keys, n, verdicts);
}

const struct blocks_kernel KERNEL(unseen__counting)[2] = {
    {KERNEL(add_one), KERNEL(contains_one), KERNEL(remove_one)},
    {KERNEL(add_two), KERNEL(contains_two), KERNEL(remove_two)},
};
