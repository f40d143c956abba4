/* SPDX-License-Identifier: MIT
 *
 * The operations of the exact filter, compiled once per SIMD level. The including file defines
 *
 *     KERNEL(name)     name with the level's suffix
 *     KERNEL_TARGET    the level's function attribute, or nothing
 *     KERNEL(equal)    which of a line's 16 words are equal to a word, as bits
 *     KERNEL(count)    the number of 1 bits of up to 16
 *
 * All levels give the same answers and leave the same bytes. When a group has
 * grown, the lines of the keys ahead are found again. */
#include "filter/exact.h"

/* Finds the group of a key, and fetches its numbers and its page addresses. */
UNSEEN_INLINE KERNEL_TARGET struct exact_group *KERNEL(find_group)(const struct exact *e,
                                                                   struct unseen_key key)
{
    struct exact_group *group = exact_find(e, key.hi);
    UNSEEN_PREFETCH_L2(group);
    for (unsigned i = 0; i < EXACT_PAGES_MAX; i += 8) {
        UNSEEN_PREFETCH_L2(&group->page[i]);
    }
    return group;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find_lines)(const struct exact *e, bool variant,
                                                    struct unseen_key key,
                                                    struct exact_group *group,
                                                    struct exact_probe *probe)
{
    uint32_t a;
    uint32_t b;
    (void)e;
    (void)variant;
    probe->group = group;
    exact_place(group, key.hi, &a, &b, &probe->word, &probe->field);
    probe->a = exact_line(group, a);
    probe->b = exact_line(group, b);
    UNSEEN_PREFETCH_L2(probe->a);
    UNSEEN_PREFETCH_L2(probe->b);
}

#define KERNEL_FILTER     struct exact
#define KERNEL_PROBE      struct exact_probe
#define KERNEL_GROUP      struct exact_group
#define KERNEL_HAS_GROUPS 1
#include "filter/read_ahead.h"

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(slots)(const struct exact_group *group)
{
    return ((uint32_t)1 << group->slots) - 1;
}

/* The lower word of a slot that KERNEL(find) returned. It is seldom needed, so the line is computed
 * again. */
UNSEEN_INLINE KERNEL_TARGET uint64_t *KERNEL(low)(const struct exact_probe *probe, uint64_t key,
                                                  unsigned found)
{
    uint32_t line[2];
    uint32_t word;
    uint32_t field;
    exact_place(probe->group, key, &line[0], &line[1], &word, &field);
    return exact_low(probe->group, line[found >> 4], found % 16);
}

/* The slot of line a, or 16 + the slot of line b, that has the key; 32 if the key is absent. Two
 * tags of a line seldom have the same word, so the loop seldom runs twice. */
UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(find)(const struct exact_probe *probe,
                                                  struct unseen_key key)
{
    const struct exact_group *group = probe->group;
    const uint32_t slots = KERNEL(slots)(group);
    uint32_t candidates = (KERNEL(equal)(probe->a, probe->word) & slots) |
                          (KERNEL(equal)(probe->b, probe->word) & slots) << 16;
    for (; UNSEEN_UNLIKELY(candidates != 0); candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctz(candidates);
        const uint8_t *line = i < 16 ? probe->a : probe->b;
        const uint32_t field = probe->field ^ (exact_flip(probe->word) & (0u - (i >> 4)));
        if (UNSEEN_LIKELY(exact_field(group, line, i % 16) == field) &&
            (!group->low || *KERNEL(low)(probe, key.hi, i) == key.lo)) {
            return i;
        }
    }
    return 32;
}

/* True if the key is in the stash. A word of 0 is never in a line. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(is_stashed)(const struct exact *e, struct unseen_key key)
{
    return UNSEEN_UNLIKELY(e->stash.nkeys > 0) &&
           unseen__stash_contains(&e->stash, exact_whole(e, key));
}

/* Adds a key to the emptier of its lines. Returns false if both are full. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(put)(struct exact *e, const struct exact_probe *probe,
                                             struct unseen_key key)
{
    struct exact_group *group = probe->group;
    const uint32_t slots = KERNEL(slots)(group);
    const uint32_t free_a = KERNEL(equal)(probe->a, 0) & slots;
    const uint32_t free_b = KERNEL(equal)(probe->b, 0) & slots;
    /* The emptier line, a on ties: unpredictable, so without a branch. */
    const bool take_b = KERNEL(count)(free_b) > KERNEL(count)(free_a);
    const uint32_t free = free_a ^ ((free_a ^ free_b) & (0u - (uint32_t)take_b));
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    const unsigned slot = (unsigned)__builtin_ctz(free);
    const uint32_t flip = exact_flip(probe->word) & (0u - (uint32_t)take_b);
    exact_put(group, take_b ? probe->b : probe->a, slot, probe->word, probe->field ^ flip);
    if (group->low) {
        *KERNEL(low)(probe, key.hi, slot | (unsigned)take_b << 4) = key.lo;
    }
    if (UNSEEN_UNLIKELY((free & (free - 1)) == 0)) {
        uint32_t line[2];
        uint32_t word;
        uint32_t field;
        exact_place(group, key.hi, &line[0], &line[1], &word, &field);
        exact_set_full(group, line[take_b]);
    }
    group->nkeys++;
    e->nkeys++;
    return true;
}

static KERNEL_TARGET enum unseen_status KERNEL(add)(struct exact *e, const struct unseen_key *keys,
                                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct KERNEL(ring) ring;
    struct exact_kicked kicked[EXACT_KICKED] = {{.group = NULL}};
    size_t nkicks = 0;
    enum unseen_status status = UNSEEN_OK;
    size_t i = 0;
    KERNEL(look_anew)(e, false, keys, n, 0, 0, &ring);
    for (; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % KERNEL_AHEAD];
        const bool fits = UNSEEN_LIKELY(probe->word != 0);
        bool moved = false;
        for (unsigned k = 0; k < EXACT_KICKED; k++) {
            if (UNSEEN_UNLIKELY(probe->group == kicked[k].group)) {
                unseen__exact_kick_in(&kicked[k]);
            }
        }
        verdicts[i] = UNSEEN_SEEN;
        if (!(fits && KERNEL(find)(probe, keys[i]) < 32) && !KERNEL(is_stashed)(e, keys[i])) {
            verdicts[i] = UNSEEN_NEW;
            if (UNSEEN_UNLIKELY(!fits || !KERNEL(put)(e, probe, keys[i]))) {
                struct exact_kicked *oldest = &kicked[nkicks % EXACT_KICKED];
                unseen__exact_kick_in(oldest);
                if (fits && unseen__exact_kick_out(probe, keys[i], oldest)) {
                    nkicks++;
                    e->nkeys++;
                } else {
                    status = unseen__exact_add_slowly(e, keys[i], &moved);
                    if (status != UNSEEN_OK) {
                        break;
                    }
                }
            }
        }
        if (UNSEEN_UNLIKELY(moved)) {
            KERNEL(look_anew)(e, false, keys, n, i + 1, 1, &ring);
        }
        KERNEL(look_ahead)(e, false, keys, n, i, &ring);
    }
    for (unsigned k = 0; k < EXACT_KICKED; k++) {
        unseen__exact_kick_in(&kicked[k]);
    }
    *ndone_out = i;
    return status;
}

static KERNEL_TARGET void KERNEL(contains)(const struct exact *e, const struct unseen_key *keys,
                                           size_t n, uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(e, false, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % KERNEL_AHEAD];
        const bool found = (probe->word != 0 && KERNEL(find)(probe, keys[i]) < 32) ||
                           KERNEL(is_stashed)(e, keys[i]);
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        KERNEL(look_ahead)(e, false, keys, n, i, &ring);
    }
}

static KERNEL_TARGET void KERNEL(remove)(struct exact *e, const struct unseen_key *keys, size_t n,
                                         uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(e, false, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        const struct exact_probe *probe = &ring.probe[i % KERNEL_AHEAD];
        const unsigned slot = probe->word ? KERNEL(find)(probe, keys[i]) : 32;
        bool found = slot < 32;
        if (found) {
            exact_put(probe->group, slot < 16 ? probe->a : probe->b, slot % 16, 0, 0);
            probe->group->nkeys--;
            probe->group->is_stale = true;
        } else if (UNSEEN_UNLIKELY(e->stash.nkeys > 0)) {
            found = unseen__stash_remove(&e->stash, exact_whole(e, keys[i]));
        }
        e->nkeys -= found;
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        KERNEL(look_ahead)(e, false, keys, n, i, &ring);
    }
}

const struct exact_kernel KERNEL(unseen__exact) = {KERNEL(add), KERNEL(contains), KERNEL(remove)};
