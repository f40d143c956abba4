/* SPDX-License-Identifier: MIT
 *
 * The operations of the compact filter, written once for every SIMD level. The file that includes
 * this one defines
 *
 *     KERNEL(name)        the name with the level's suffix
 *     KERNEL_TARGET       the function attribute that lets the compiler use the level
 *     KERNEL(matches)     which of the 16 words of lines a (low half) and b match v
 *     KERNEL(empty)       which of a line's 16 words are 0
 *     KERNEL(small_r_in)  which of a small line's 16 tags, empty or not, have a remainder in the
 *                         cyclic interval [first, first + count)
 *     KERNEL(wide_r_in)   the same for a wide line's 13 tags
 *     KERNEL(erase_line)  makes the chosen words of a line 0
 *     KERNEL(count)       the number of 1 bits
 *
 * and gets unseen__compact_small_LEVEL and unseen__compact_wide_LEVEL, which compact_width.h makes
 * of the functions below. All levels give the same answers and leave the same bytes.
 *
 * A word matches when its tag and v differ only in the tag's end mark and below it. The end mark is
 * tag & -tag, so this is (tag ^ v) / 2 < tag & -tag, which is false for an empty slot: its end mark
 * is 0. tag | -tag is minus the end mark. So the sign bit of (tag ^ v) / 2 + (tag | -tag) is the
 * answer.
 *
 * After a group has grown, the lines of the keys ahead are found again. */

/* The slots of a line, as bits. */
UNSEEN_INLINE uint32_t KERNEL(slots)(bool wide)
{
    return wide ? (1u << 13) - 1 : (1u << 16) - 1;
}

/* The slots of lines a and b. */
UNSEEN_INLINE uint32_t KERNEL(both_slots)(bool wide)
{
    return KERNEL(slots)(wide) | KERNEL(slots)(wide) << 16;
}

/* Line a (0) or b (1) of a probe, without a branch. */
UNSEEN_INLINE KERNEL_TARGET uint8_t *KERNEL(line)(const struct compact_probe *probe, unsigned b)
{
    return probe->a + ((probe->b - probe->a) & -(ptrdiff_t)b);
}

/* The slots whose tags match, in lines a and b. */
UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(candidates)(bool wide,
                                                        const struct compact_probe *probe)
{
    return KERNEL(matches)(probe->a, probe->b, probe->v) & KERNEL(both_slots)(wide);
}

/* A tag that the key matches in its two lines: slot of line a, or 16 + slot of line b, or
 * KERNEL_NONE. In a wide line the remainder must agree as well. There is hardly ever more than one
 * match, so one loop over both lines is a branch that the processor predicts. */
#define KERNEL_NONE 32u

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(match)(bool wide, const struct compact_probe *probe)
{
    uint32_t candidates = KERNEL(candidates)(wide, probe);
    for (; UNSEEN_UNLIKELY(candidates != 0); candidates &= candidates - 1) {
        unsigned i = (unsigned)__builtin_ctz(candidates);
        if (!wide || UNSEEN_LIKELY(wide_r(KERNEL(line)(probe, i / 16), i % 16) == probe->r)) {
            return i;
        }
    }
    return KERNEL_NONE;
}

/* Finds the group of a key and fetches its directory entry. */
UNSEEN_INLINE KERNEL_TARGET const struct compact_group *KERNEL(find_group)(const struct compact *c,
                                                                           struct unseen_key key)
{
    const struct compact_group *group = compact_find(c, compact_path(c, key));
    UNSEEN_PREFETCH(group);
    return group;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find_lines)(const struct compact *c, bool wide,
                                                    struct unseen_key key,
                                                    const struct compact_group *group,
                                                    struct compact_probe *probe)
{
    compact_locate(c, wide, key, group, probe);
    UNSEEN_PREFETCH_L2(probe->a);
    UNSEEN_PREFETCH_L2(probe->b);
}

#define KERNEL_NEAR 8 /* keys */

#define KERNEL_FILTER     struct compact
#define KERNEL_PROBE      struct compact_probe
#define KERNEL_GROUP      const struct compact_group
#define KERNEL_HAS_GROUPS 1
#include "filter/read_ahead.h"

/* After key i: looks ahead, and fetches the lines of the key that comes KERNEL_NEAR keys later from
 * the second-level cache into the first. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_on)(const struct compact *c, bool wide,
                                                 const struct unseen_key *keys, size_t n, size_t i,
                                                 struct KERNEL(ring) * ring)
{
    KERNEL(look_ahead)(c, wide, keys, n, i, ring);
    if (i + KERNEL_NEAR < n) {
        const struct compact_probe *probe = &ring->probe[(i + KERNEL_NEAR) % KERNEL_AHEAD];
        UNSEEN_PREFETCH(probe->a);
        UNSEEN_PREFETCH(probe->b);
    }
}

/* Adds a key where there is room. Returns false when both its lines are full. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(add_one)(struct compact *c, bool wide,
                                                 const struct unseen_key *key,
                                                 const struct compact_probe *probe,
                                                 uint8_t *verdict)
{
    if (KERNEL(match)(wide, probe) != KERNEL_NONE) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    if (UNSEEN_UNLIKELY(c->stash.nkeys) && unseen__stash_contains(&c->stash, *key)) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    uint32_t free_a = KERNEL(empty)(probe->a) & KERNEL(slots)(wide);
    uint32_t free_b = KERNEL(empty)(probe->b) & KERNEL(slots)(wide);
    /* The emptier line, a on ties: unpredictable, so without a branch. */
    bool take_b = KERNEL(count)(free_b) > KERNEL(count)(free_a);
    uint32_t free = free_a ^ ((free_a ^ free_b) & (0u - (uint32_t)take_b));
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    compact_fill_slot(c, wide, probe, c->mark, KERNEL(line)(probe, take_b), free);
    *verdict = UNSEEN_NEW;
    return true;
}

UNSEEN_INLINE KERNEL_TARGET enum unseen_status KERNEL(add)(struct compact *c, bool wide,
                                                           const struct unseen_key *keys, size_t n,
                                                           uint8_t *verdicts, size_t *ndone_out)
{
    struct KERNEL(ring) ring;
    struct compact_kicked kicked = {.page = COMPACT_NO_PAGE};
    KERNEL(look_anew)(c, wide, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        struct compact_probe *probe = &ring.probe[i % KERNEL_AHEAD];
        if (UNSEEN_UNLIKELY(probe->page == kicked.page)) {
            unseen__compact_kick_in(c, &kicked);
        }
        if (UNSEEN_UNLIKELY(!KERNEL(add_one)(c, wide, &keys[i], probe, &verdicts[i]))) {
            bool moved = false;
            enum unseen_status status = UNSEEN_OK;
            unseen__compact_kick_in(c, &kicked);
            if (!unseen__compact_kick_out(c, probe, c->mark, &kicked)) {
                status = unseen__compact_add_full(c, keys[i], probe, &moved);
            }
            if (status != UNSEEN_OK) {
                *ndone_out = i;
                return status;
            }
            verdicts[i] = UNSEEN_NEW;
            if (moved) {
                KERNEL(look_anew)(c, wide, keys, n, i + 1, 1, &ring);
            }
        }
        KERNEL(look_on)(c, wide, keys, n, i, &ring);
    }
    unseen__compact_kick_in(c, &kicked);
    *ndone_out = n;
    return UNSEEN_OK;
}

/* Whether a key matches a tag. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(find)(bool wide, const struct compact_probe *probe)
{
    return KERNEL(match)(wide, probe) != KERNEL_NONE;
}

/* Of the candidates that a key matches, the longest tag; KERNEL_NONE if there is none. */
static UNSEEN_NOINLINE KERNEL_TARGET unsigned
KERNEL(longest)(bool wide, const struct compact_probe *probe, uint32_t candidates)
{
    uint32_t longest = 0; /* its end mark */
    unsigned found = KERNEL_NONE;
    for (; candidates != 0; candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctz(candidates);
        const uint8_t *line = KERNEL(line)(probe, i / 16);
        const uint32_t word = compact_word(line, i % 16);
        const uint32_t mark = word & (0 - word);
        if ((!wide || wide_r(line, i % 16) == probe->r) && (longest == 0 || mark < longest)) {
            longest = mark;
            found = i;
        }
    }
    return found;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(contains)(const struct compact *c, bool wide,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(c, wide, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        bool found = KERNEL(find)(wide, &ring.probe[i % KERNEL_AHEAD]);
        if (UNSEEN_UNLIKELY(c->stash.nkeys) && !found) {
            found = unseen__stash_contains(&c->stash, keys[i]);
        }
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        KERNEL(look_on)(c, wide, keys, n, i, &ring);
    }
}

/* Removes the longest tag that a key matches. There is hardly ever more than one candidate. */
UNSEEN_INLINE KERNEL_TARGET uint8_t KERNEL(remove_one)(struct compact *c, bool wide,
                                                       const struct compact_probe *probe)
{
    const uint32_t candidates = KERNEL(candidates)(wide, probe);
    if (!candidates) {
        return UNSEEN_NEW;
    }
    unsigned i = (unsigned)__builtin_ctz(candidates);
    if (UNSEEN_UNLIKELY(candidates & (candidates - 1))) {
        const struct compact_probe copy = *probe; /* keeps the probe itself in registers */
        i = KERNEL(longest)(wide, &copy, candidates);
        if (i == KERNEL_NONE) {
            return UNSEEN_NEW;
        }
    } else if (wide && wide_r(KERNEL(line)(probe, i / 16), i % 16) != probe->r) {
        return UNSEEN_NEW;
    }
    compact_clear_slot(c, probe, KERNEL(line)(probe, i / 16), i % 16);
    return UNSEEN_SEEN;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(remove)(struct compact *c, bool wide,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(c, wide, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        /* A key in the stash has no tag: a tag that it matches belongs to another key. */
        if (UNSEEN_UNLIKELY(c->stash.nkeys) && unseen__stash_remove(&c->stash, keys[i])) {
            verdicts[i] = UNSEEN_SEEN;
            c->nkeys--;
        } else {
            verdicts[i] = KERNEL(remove_one)(c, wide, &ring.probe[i % KERNEL_AHEAD]);
        }
        KERNEL(look_on)(c, wide, keys, n, i, &ring);
    }
}

/* True if the batch is one key and the stash is empty; then finds its lines. A single key does
 * without the ring: with fewer instructions to a call, the processor begins the next call earlier,
 * while this call waits for its lines. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(is_single)(const struct compact *c, bool wide,
                                                   const struct unseen_key *keys, size_t n,
                                                   struct compact_probe *probe)
{
    if (n != 1 || UNSEEN_UNLIKELY(c->stash.nkeys)) {
        return false;
    }
    compact_locate(c, wide, *keys, compact_find(c, compact_path(c, *keys)), probe);
    return true;
}

/* Appends the places of the chosen slots of four lines. They are written eight at a time: a branch
 * for each line, or for each slot, would be mispredicted. */
UNSEEN_INLINE KERNEL_TARGET size_t KERNEL(append_places)(unsigned line, const uint16_t *slots,
                                                         uint16_t *places)
{
    uint64_t rest =
        slots[0] | (uint64_t)slots[1] << 16 | (uint64_t)slots[2] << 32 | (uint64_t)slots[3] << 48;
    const size_t n = KERNEL(count)(slots[0]) + KERNEL(count)(slots[1]) + KERNEL(count)(slots[2]) +
                     KERNEL(count)(slots[3]);
    for (size_t i = 0; i < n; i += COMPACT_PLACES_SPARE) {
        for (size_t k = 0; k < COMPACT_PLACES_SPARE; k++) {
            const unsigned bit = (unsigned)__builtin_ctzll(rest | (uint64_t)1 << 63);
            places[i + k] = (uint16_t)(line * 16 + bit);
            rest &= rest - 1;
        }
    }
    return n;
}

UNSEEN_INLINE KERNEL_TARGET size_t KERNEL(leaving)(bool wide, const uint8_t *page, unsigned first,
                                                   unsigned count, uint16_t *slots,
                                                   uint16_t *places)
{
    size_t n = 0;
    for (unsigned i = 0; i < COMPACT_LINES; i += 4) {
        for (unsigned k = i; k < i + 4; k++) {
            const uint8_t *line = page + (size_t)k * COMPACT_LINE;
            const uint32_t used = ~KERNEL(empty)(line) & KERNEL(slots)(wide);
            slots[k] = (uint16_t)(used & (wide ? KERNEL(wide_r_in)(line, first, count)
                                               : KERNEL(small_r_in)(line, first, count)));
        }
        n += KERNEL(append_places)(i, slots + i, places + n);
    }
    return n;
}

static KERNEL_TARGET void KERNEL(erase)(uint8_t *page, const uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        KERNEL(erase_line)(page + (size_t)i * COMPACT_LINE, slots[i]);
    }
}

static KERNEL_TARGET struct compact_lanes KERNEL(compare_line)(const uint8_t *line, uint32_t v)
{
    return (struct compact_lanes){KERNEL(matches)(line, line, v) & 0xffff, KERNEL(empty)(line)};
}

#define WIDTH(name) KERNEL(name##_small)
#define WIDE        false
#include "filter/compact_width.h"

#define WIDTH(name) KERNEL(name##_wide)
#define WIDE        true
#include "filter/compact_width.h"
