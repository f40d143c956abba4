/* SPDX-License-Identifier: MIT
 *
 * The operations of the exact filter, compiled once per SIMD level. The including file defines
 *
 *     KERNEL(name)     name with the level's suffix
 *     KERNEL_TARGET    the level's function attribute, or nothing
 *     kernel_equal     which of a line's 16 words are equal to a word, as bits
 *     kernel_count     the number of 1 bits of up to 16
 *
 * All levels give the same answers and leave the same bytes. Keys are operated on in order; the
 * group of the key 64 places behind and the lines of the key 32 places behind are fetched meanwhile.
 * When a group has grown, what was found for the keys ahead is found again. */
#include "filter/exact.h"

struct kernel_ring {
    struct exact_probe probe[EXACT_AHEAD];
    struct exact_group *group[EXACT_AHEAD];
};

/* Notes the group of key i and fetches what is always needed of it. */
UNSEEN_INLINE KERNEL_TARGET void kernel_look_far(const struct exact *e,
                                                 const struct unseen_key *keys, size_t n, size_t i,
                                                 struct kernel_ring *ring)
{
    if (i < n) {
        struct exact_group *group = exact_find(e, keys[i].hi);
        UNSEEN_PREFETCH_L2(group);
        UNSEEN_PREFETCH_L2(&group->page[0]);
        UNSEEN_PREFETCH_L2(&group->page[8]);
        UNSEEN_PREFETCH_L2(&group->page[16]);
        UNSEEN_PREFETCH_L2(&group->page[24]);
        ring->group[i % EXACT_AHEAD] = group;
    }
}

/* Finds the lines of key i, whose group is known, and fetches them. */
UNSEEN_INLINE KERNEL_TARGET void kernel_look_near(const struct unseen_key *keys, size_t n, size_t i,
                                                  struct kernel_ring *ring)
{
    if (i < n) {
        struct exact_probe *probe = &ring->probe[i % EXACT_AHEAD];
        uint32_t a;
        uint32_t b;
        probe->group = ring->group[i % EXACT_AHEAD];
        exact_place(probe->group, keys[i].hi, &a, &b, &probe->word, &probe->field);
        probe->a = exact_line(probe->group, a);
        probe->b = exact_line(probe->group, b);
        UNSEEN_PREFETCH_L2(probe->a);
        UNSEEN_PREFETCH_L2(probe->b);
    }
}

/* Fills the ring: lines for the keys from first on, but for the skip that were done already, and
 * groups for those behind. */
UNSEEN_INLINE KERNEL_TARGET void kernel_look_anew(const struct exact *e,
                                                  const struct unseen_key *keys, size_t n,
                                                  size_t first, size_t skip,
                                                  struct kernel_ring *ring)
{
    const size_t end = first + EXACT_AHEAD - skip;
    for (size_t i = first; i < end; i++) {
        kernel_look_far(e, keys, n, i, ring);
    }
    for (size_t i = first; i < end; i++) {
        kernel_look_near(keys, n, i, ring);
    }
    for (size_t i = end; i < end + EXACT_AHEAD; i++) {
        kernel_look_far(e, keys, n, i, ring);
    }
}

/* After key i: its place in the ring goes to the key EXACT_AHEAD places behind it. */
UNSEEN_INLINE KERNEL_TARGET void kernel_look_ahead(const struct exact *e,
                                                   const struct unseen_key *keys, size_t n,
                                                   size_t i, struct kernel_ring *ring)
{
    kernel_look_near(keys, n, i + EXACT_AHEAD, ring);
    kernel_look_far(e, keys, n, i + 2 * (size_t)EXACT_AHEAD, ring);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_slots(const struct exact_group *group)
{
    return ((uint32_t)1 << group->slots) - 1;
}

/* The lower word of a slot as kernel_find has it; seldom asked for, so the line is found again. */
UNSEEN_INLINE KERNEL_TARGET uint64_t *kernel_low(const struct exact_probe *probe, uint64_t key,
                                                 unsigned found)
{
    uint32_t line[2];
    uint32_t word;
    uint32_t field;
    exact_place(probe->group, key, &line[0], &line[1], &word, &field);
    return exact_low(probe->group, line[found >> 4], found % 16);
}

/* The slot of line a, or 16 + the slot of line b, that has the key; 32 if there is none. Two tags of
 * a line with one word are rare, so the loop seldom goes round twice. */
UNSEEN_INLINE KERNEL_TARGET unsigned kernel_find(const struct exact_probe *probe,
                                                 struct unseen_key key)
{
    const struct exact_group *group = probe->group;
    const uint32_t slots = kernel_slots(group);
    uint32_t candidates = (kernel_equal(probe->a, probe->word) & slots) |
                          (kernel_equal(probe->b, probe->word) & slots) << 16;
    for (; UNSEEN_UNLIKELY(candidates != 0); candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctz(candidates);
        const uint8_t *line = i < 16 ? probe->a : probe->b;
        if (UNSEEN_LIKELY(exact_field(group, line, i % 16) == (probe->field | i >> 4)) &&
            (!group->low || *kernel_low(probe, key.hi, i) == key.lo)) {
            return i;
        }
    }
    return 32;
}

/* Whether the key is in the list; a word of 0 is never in a line. */
UNSEEN_INLINE KERNEL_TARGET bool kernel_is_listed(const struct exact *e, struct unseen_key key)
{
    return UNSEEN_UNLIKELY(e->overflow.nkeys > 0) &&
           unseen__overflow_contains(&e->overflow, exact_whole(e, key));
}

/* Puts a key where there is room. Returns false where both its lines are full. */
UNSEEN_INLINE KERNEL_TARGET bool kernel_put(struct exact *e, const struct exact_probe *probe,
                                            struct unseen_key key)
{
    struct exact_group *group = probe->group;
    const uint32_t slots = kernel_slots(group);
    const uint32_t free_a = kernel_equal(probe->a, 0) & slots;
    const uint32_t free_b = kernel_equal(probe->b, 0) & slots;
    /* The emptier line, a on ties: unpredictable, so without a branch. */
    const bool take_b = kernel_count(free_b) > kernel_count(free_a);
    const uint32_t free = free_a ^ ((free_a ^ free_b) & (0u - (uint32_t)take_b));
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    const unsigned slot = (unsigned)__builtin_ctz(free);
    exact_put(group, take_b ? probe->b : probe->a, slot, probe->word, probe->field | take_b);
    if (group->low) {
        *kernel_low(probe, key.hi, slot | (unsigned)take_b << 4) = key.lo;
    }
    group->nkeys++;
    e->nkeys++;
    return true;
}

static KERNEL_TARGET enum unseen_status KERNEL(add)(struct exact *e, const struct unseen_key *keys,
                                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct kernel_ring ring;
    kernel_look_anew(e, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % EXACT_AHEAD];
        const bool fits = UNSEEN_LIKELY(probe->word != 0);
        bool moved = false;
        verdicts[i] = UNSEEN_SEEN;
        if (!(fits && kernel_find(probe, keys[i]) < 32) && !kernel_is_listed(e, keys[i])) {
            verdicts[i] = UNSEEN_NEW;
            if (UNSEEN_UNLIKELY(!fits || !kernel_put(e, probe, keys[i]))) {
                const enum unseen_status status = unseen__exact_add_slowly(e, keys[i], &moved);
                if (status != UNSEEN_OK) {
                    *ndone_out = i;
                    return status;
                }
            }
        }
        if (UNSEEN_UNLIKELY(moved)) {
            kernel_look_anew(e, keys, n, i + 1, 1, &ring);
        }
        kernel_look_ahead(e, keys, n, i, &ring);
    }
    *ndone_out = n;
    return UNSEEN_OK;
}

static KERNEL_TARGET void KERNEL(contains)(const struct exact *e, const struct unseen_key *keys,
                                           size_t n, uint8_t *verdicts)
{
    struct kernel_ring ring;
    kernel_look_anew(e, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % EXACT_AHEAD];
        const bool found =
            (probe->word != 0 && kernel_find(probe, keys[i]) < 32) || kernel_is_listed(e, keys[i]);
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        kernel_look_ahead(e, keys, n, i, &ring);
    }
}

static KERNEL_TARGET void KERNEL(remove)(struct exact *e, const struct unseen_key *keys, size_t n,
                                         uint8_t *verdicts)
{
    struct kernel_ring ring;
    kernel_look_anew(e, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % EXACT_AHEAD];
        const unsigned slot = probe->word ? kernel_find(probe, keys[i]) : 32;
        bool found = slot < 32;
        if (found) {
            exact_put(probe->group, slot < 16 ? probe->a : probe->b, slot % 16, 0, 0);
            probe->group->nkeys--;
        } else if (UNSEEN_UNLIKELY(e->overflow.nkeys > 0)) {
            found = unseen__overflow_remove(&e->overflow, exact_whole(e, keys[i]));
        }
        e->nkeys -= found;
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        kernel_look_ahead(e, keys, n, i, &ring);
    }
}

const struct exact_kernel KERNEL(unseen__exact) = {KERNEL(add), KERNEL(contains), KERNEL(remove)};
