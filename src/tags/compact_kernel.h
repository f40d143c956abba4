/* SPDX-License-Identifier: MIT
 *
 * The operations of the compact filter, written once for every SIMD level. The file that includes
 * this one defines
 *
 *     KERNEL(name)        the name with the level's suffix
 *     KERNEL_TARGET       the function attribute that lets the compiler use the level
 *     KERNEL(matches)     which of the 16 words of lines a (low half) and b match v
 *     KERNEL(empty)       which of a line's 16 words are 0
 *     KERNEL(r_in_32)     which of a line's 16 tags of 32 bits, empty or not, have a remainder in
 *                         the cyclic interval [first, first + count)
 *     KERNEL(r_in_39)     the same for 13 tags of 39 bits
 *     KERNEL(r_in_51)     the same for 10 tags of 51 bits
 *     KERNEL(erase_line)  makes the chosen words of a line 0
 *     KERNEL(count)       the number of 1 bits
 *
 * and gets unseen__compact_32_LEVEL and so on, which compact_width.h makes of the functions below.
 * All levels give the same answers and leave the same bytes.
 *
 * A word matches when its tag and v differ only in the tag's end mark and below it. The end mark is
 * tag & -tag, so this is (tag ^ v) / 2 < tag & -tag, which is false for an empty slot: its end mark
 * is 0. tag | -tag is minus the end mark. So the sign bit of (tag ^ v) / 2 + (tag | -tag) is the
 * answer.
 *
 * After a group has grown, the lines of the keys ahead are found again. */

/* The slots of a line, as bits. */
UNSEEN_INLINE uint32_t KERNEL(slots)(enum compact_width width)
{
    return (1u << compact_slots(width)) - 1;
}

/* The slots of lines a and b. */
UNSEEN_INLINE uint32_t KERNEL(both_slots)(enum compact_width width)
{
    return KERNEL(slots)(width) | KERNEL(slots)(width) << 16;
}

/* Line a (0) or b (1) of a probe, without a branch. */
UNSEEN_INLINE KERNEL_TARGET uint8_t *KERNEL(line)(const struct compact_probe *probe, unsigned b)
{
    return probe->a + ((probe->b - probe->a) & -(ptrdiff_t)b);
}

/* The slots whose tags match, in lines a and b. */
UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(candidates)(enum compact_width width,
                                                        const struct compact_probe *probe)
{
    return KERNEL(matches)(probe->a, probe->b, probe->v) & KERNEL(both_slots)(width);
}

/* A tag that the key matches in its two lines: slot of line a, or 16 + slot of line b, or
 * KERNEL_NONE. Behind the words, low must agree as well. There is hardly ever more than one
 * match, so one loop over both lines is a branch that the processor predicts. */
#define KERNEL_NONE 32u

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(match)(enum compact_width width,
                                                   const struct compact_probe *probe)
{
    uint32_t candidates = KERNEL(candidates)(width, probe);
    for (; UNSEEN_UNLIKELY(candidates != 0); candidates &= candidates - 1) {
        unsigned i = (unsigned)__builtin_ctz(candidates);
        if (UNSEEN_LIKELY(compact_low_agrees(width, KERNEL(line)(probe, i / 16), i % 16, probe))) {
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

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find_lines)(const struct compact *c,
                                                    enum compact_width width, struct unseen_key key,
                                                    const struct compact_group *group,
                                                    struct compact_probe *probe)
{
    compact_locate(c, width, key, group, probe);
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
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_on)(const struct compact *c, enum compact_width width,
                                                 const struct unseen_key *keys, size_t n, size_t i,
                                                 struct KERNEL(ring) * ring)
{
    KERNEL(look_ahead)(c, width, keys, n, i, ring);
    if (i + KERNEL_NEAR < n) {
        const struct compact_probe *probe = &ring->probe[(i + KERNEL_NEAR) % KERNEL_AHEAD];
        UNSEEN_PREFETCH(probe->a);
        UNSEEN_PREFETCH(probe->b);
    }
}

/* Adds a key where there is room. Returns false when both its lines are full. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(add_one)(struct compact *c, enum compact_width width,
                                                 const struct unseen_key *key,
                                                 const struct compact_probe *probe,
                                                 uint8_t *verdict)
{
    if (KERNEL(match)(width, probe) != KERNEL_NONE) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    if (UNSEEN_UNLIKELY(c->stash.nkeys) && unseen__stash_contains(&c->stash, *key)) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    uint32_t free_a = KERNEL(empty)(probe->a) & KERNEL(slots)(width);
    uint32_t free_b = KERNEL(empty)(probe->b) & KERNEL(slots)(width);
    /* The emptier line, a on ties: unpredictable, so without a branch. */
    bool take_b = KERNEL(count)(free_b) > KERNEL(count)(free_a);
    uint32_t free = free_a ^ ((free_a ^ free_b) & (0u - (uint32_t)take_b));
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    compact_fill_slot(c, width, probe, c->mark, KERNEL(line)(probe, take_b), free);
    *verdict = UNSEEN_NEW;
    return true;
}

UNSEEN_INLINE KERNEL_TARGET enum unseen_status KERNEL(add)(struct compact *c,
                                                           enum compact_width width,
                                                           const struct unseen_key *keys, size_t n,
                                                           uint8_t *verdicts, size_t *ndone_out)
{
    struct KERNEL(ring) ring;
    struct compact_kicked kicked = {.page = COMPACT_NO_PAGE};
    KERNEL(look_anew)(c, width, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        struct compact_probe *probe = &ring.probe[i % KERNEL_AHEAD];
        if (UNSEEN_UNLIKELY(probe->page == kicked.page)) {
            unseen__compact_kick_in(c, &kicked);
        }
        if (UNSEEN_UNLIKELY(!KERNEL(add_one)(c, width, &keys[i], probe, &verdicts[i]))) {
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
                KERNEL(look_anew)(c, width, keys, n, i + 1, 1, &ring);
            }
        }
        KERNEL(look_on)(c, width, keys, n, i, &ring);
    }
    unseen__compact_kick_in(c, &kicked);
    *ndone_out = n;
    return UNSEEN_OK;
}

/* Whether a key matches a tag. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(find)(enum compact_width width,
                                              const struct compact_probe *probe)
{
    return KERNEL(match)(width, probe) != KERNEL_NONE;
}

/* Of the candidates that a key matches, the longest tag; KERNEL_NONE if there is none. */
static UNSEEN_NOINLINE KERNEL_TARGET unsigned
KERNEL(longest)(enum compact_width width, const struct compact_probe *probe, uint32_t candidates)
{
    uint32_t longest = 0; /* its end mark */
    unsigned found = KERNEL_NONE;
    for (; candidates != 0; candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctz(candidates);
        const uint8_t *line = KERNEL(line)(probe, i / 16);
        const uint32_t word = compact_word(line, i % 16);
        const uint32_t mark = word & (0 - word);
        if (compact_low_agrees(width, line, i % 16, probe) && (longest == 0 || mark < longest)) {
            longest = mark;
            found = i;
        }
    }
    return found;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(contains)(const struct compact *c, enum compact_width width,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(c, width, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        bool found = KERNEL(find)(width, &ring.probe[i % KERNEL_AHEAD]);
        if (UNSEEN_UNLIKELY(c->stash.nkeys) && !found) {
            found = unseen__stash_contains(&c->stash, keys[i]);
        }
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        KERNEL(look_on)(c, width, keys, n, i, &ring);
    }
}

/* Removes the longest tag that a key matches. There is hardly ever more than one candidate. */
UNSEEN_INLINE KERNEL_TARGET uint8_t KERNEL(remove_one)(struct compact *c, enum compact_width width,
                                                       const struct compact_probe *probe)
{
    const uint32_t candidates = KERNEL(candidates)(width, probe);
    if (!candidates) {
        return UNSEEN_NEW;
    }
    unsigned i = (unsigned)__builtin_ctz(candidates);
    if (UNSEEN_UNLIKELY(candidates & (candidates - 1))) {
        const struct compact_probe copy = *probe; /* keeps the probe itself in registers */
        i = KERNEL(longest)(width, &copy, candidates);
        if (i == KERNEL_NONE) {
            return UNSEEN_NEW;
        }
    } else if (!compact_low_agrees(width, KERNEL(line)(probe, i / 16), i % 16, probe)) {
        return UNSEEN_NEW;
    }
    compact_clear_slot(c, probe, KERNEL(line)(probe, i / 16), i % 16);
    return UNSEEN_SEEN;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(remove)(struct compact *c, enum compact_width width,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    struct KERNEL(ring) ring;
    KERNEL(look_anew)(c, width, keys, n, 0, 0, &ring);
    for (size_t i = 0; i < n; i++) {
        /* A key in the stash has no tag: a tag that it matches belongs to another key. */
        if (UNSEEN_UNLIKELY(c->stash.nkeys) && unseen__stash_remove(&c->stash, keys[i])) {
            verdicts[i] = UNSEEN_SEEN;
            c->nkeys--;
        } else {
            verdicts[i] = KERNEL(remove_one)(c, width, &ring.probe[i % KERNEL_AHEAD]);
        }
        KERNEL(look_on)(c, width, keys, n, i, &ring);
    }
}

/* True if the batch is one key and the stash is empty; then finds its lines. A single key does
 * without the ring: with fewer instructions to a call, the processor begins the next call earlier,
 * while this call waits for its lines. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(is_single)(const struct compact *c,
                                                   enum compact_width width,
                                                   const struct unseen_key *keys, size_t n,
                                                   struct compact_probe *probe)
{
    if (n != 1 || UNSEEN_UNLIKELY(c->stash.nkeys)) {
        return false;
    }
    compact_locate(c, width, *keys, compact_find(c, compact_path(c, *keys)), probe);
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

UNSEEN_INLINE KERNEL_TARGET size_t KERNEL(leaving)(enum compact_width width, const uint8_t *page,
                                                   unsigned first, unsigned count, uint16_t *slots,
                                                   uint16_t *places)
{
    size_t n = 0;
    for (unsigned i = 0; i < COMPACT_LINES; i += 4) {
        for (unsigned k = i; k < i + 4; k++) {
            const uint8_t *line = page + (size_t)k * COMPACT_LINE;
            const uint32_t used = ~KERNEL(empty)(line) & KERNEL(slots)(width);
            slots[k] =
                (uint16_t)(used & (width == COMPACT_32   ? KERNEL(r_in_32)(line, first, count)
                                   : width == COMPACT_39 ? KERNEL(r_in_39)(line, first, count)
                                                         : KERNEL(r_in_51)(line, first, count)));
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

#define WIDTH(name)  KERNEL(name##_32)
#define WIDTH_NUMBER COMPACT_32
#include "tags/compact_width.h"

#define WIDTH(name)  KERNEL(name##_39)
#define WIDTH_NUMBER COMPACT_39
#include "tags/compact_width.h"

#define WIDTH(name)  KERNEL(name##_51)
#define WIDTH_NUMBER COMPACT_51
#include "tags/compact_width.h"
