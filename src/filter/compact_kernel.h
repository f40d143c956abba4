/* SPDX-License-Identifier: MIT
 *
 * The operations of the compact filter, written once for every SIMD level. The file that includes
 * this one defines
 *
 *     KERNEL(name)       the name with the level's suffix
 *     KERNEL_TARGET      the function attribute that lets the compiler use the level
 *     kernel_compare     which of a line's 16 words match, and which are 0
 *     kernel_in_range    which of a line's 16 words w have w - first < count (modulo 2^32)
 *     kernel_count       the number of 1 bits
 *
 * and gets compact_small_LEVEL and compact_wide_LEVEL. All levels give the same answers and leave
 * the same bytes. A batch is two passes over up to 256 keys: find each key's lines and prefetch
 * them, then operate in order. When a group grows in between, what was found for the keys behind
 * it is found again. */

/* The slots of a line a key may match: of its words for the small layout; for the wide one the
 * words are 13, and r must agree as well. */
UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(confirm)(bool wide, const uint8_t *line,
                                                     uint32_t candidates, unsigned r)
{
    if (!wide) {
        return candidates;
    }
    while (candidates && wide_r(line, (unsigned)__builtin_ctz(candidates)) != r) {
        candidates &= candidates - 1;
    }
    return candidates;
}

UNSEEN_INLINE uint32_t KERNEL(slots)(bool wide)
{
    return wide ? (1u << 13) - 1 : (1u << 16) - 1;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(locate_ahead)(const struct compact *c, bool wide,
                                                      const struct unseen_key *keys, size_t n,
                                                      struct compact_probe *probes)
{
    for (size_t i = 0; i < n; i++) {
        compact_locate(c, wide, keys[i], &probes[i]);
        UNSEEN_PREFETCH(probes[i].page + (size_t)probes[i].a * COMPACT_LINE);
        UNSEEN_PREFETCH(probes[i].page + (size_t)probes[i].b * COMPACT_LINE);
    }
}

/* Adds a key where there is room. Returns false when both its lines are full. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(add_one)(struct compact *c, bool wide,
                                                 const struct unseen_key *key,
                                                 const struct compact_probe *probe,
                                                 uint8_t *verdict)
{
    uint8_t *a = probe->page + (size_t)probe->a * COMPACT_LINE;
    uint8_t *b = probe->page + (size_t)probe->b * COMPACT_LINE;
    struct compact_lanes in_a = kernel_compare(a, probe->v);
    struct compact_lanes in_b = kernel_compare(b, probe->v);
    uint32_t slots = KERNEL(slots)(wide);
    if ((in_a.match | in_b.match) & slots) {
        if (KERNEL(confirm)(wide, a, in_a.match & slots, probe->r) |
            KERNEL(confirm)(wide, b, in_b.match & slots, probe->r)) {
            *verdict = UNSEEN_SEEN;
            return true;
        }
    }
    if (UNSEEN_UNLIKELY(c->overflow.nkeys) && unseen__overflow_contains(&c->overflow, *key)) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    uint32_t free_a = in_a.empty & slots;
    uint32_t free_b = in_b.empty & slots;
    bool take_b = kernel_count(free_b) > kernel_count(free_a);
    uint32_t free = take_b ? free_b : free_a;
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    compact_fill_slot(c, wide, probe, take_b ? probe->b : probe->a, free);
    *verdict = UNSEEN_NEW;
    return true;
}

UNSEEN_INLINE KERNEL_TARGET enum unseen_status KERNEL(add)(struct compact *c, bool wide,
                                                           const struct unseen_key *keys, size_t n,
                                                           uint8_t *verdicts, size_t *ndone_out)
{
    struct compact_probe probes[COMPACT_BATCH];
    for (size_t done = 0; done < n; done += COMPACT_BATCH) {
        size_t count = n - done < COMPACT_BATCH ? n - done : COMPACT_BATCH;
        KERNEL(locate_ahead)(c, wide, keys + done, count, probes);
        bool moved = false;
        for (size_t i = 0; i < count; i++) {
            const struct unseen_key *key = &keys[done + i];
            if (UNSEEN_UNLIKELY(moved)) {
                compact_locate(c, wide, *key, &probes[i]);
            }
            if (UNSEEN_LIKELY(
                    KERNEL(add_one)(c, wide, key, &probes[i], &verdicts[done + i]))) {
                continue;
            }
            enum unseen_status status = compact_add_full(c, *key, &probes[i], &moved);
            if (status != UNSEEN_OK) {
                *ndone_out = done + i;
                return status;
            }
            verdicts[done + i] = UNSEEN_NEW;
        }
    }
    *ndone_out = n;
    return UNSEEN_OK;
}

/* The line and slot of the one tag a key matches; false if there is none. */
UNSEEN_INLINE KERNEL_TARGET bool KERNEL(find)(bool wide, const struct compact_probe *probe,
                                              unsigned *line_out, unsigned *slot_out)
{
    const uint8_t *a = probe->page + (size_t)probe->a * COMPACT_LINE;
    const uint8_t *b = probe->page + (size_t)probe->b * COMPACT_LINE;
    uint32_t slots = KERNEL(slots)(wide);
    uint32_t in_a = kernel_compare(a, probe->v).match & slots;
    uint32_t in_b = kernel_compare(b, probe->v).match & slots;
    if (!(in_a | in_b)) {
        return false;
    }
    in_a = KERNEL(confirm)(wide, a, in_a, probe->r);
    in_b = KERNEL(confirm)(wide, b, in_b, probe->r);
    *line_out = in_a ? probe->a : probe->b;
    *slot_out = (unsigned)__builtin_ctz((in_a ? in_a : in_b) | 1u << 31);
    return (in_a | in_b) != 0;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(contains)(const struct compact *c, bool wide,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts)
{
    struct compact_probe probes[COMPACT_BATCH];
    for (size_t done = 0; done < n; done += COMPACT_BATCH) {
        size_t count = n - done < COMPACT_BATCH ? n - done : COMPACT_BATCH;
        KERNEL(locate_ahead)(c, wide, keys + done, count, probes);
        for (size_t i = 0; i < count; i++) {
            unsigned line;
            unsigned slot;
            bool found = KERNEL(find)(wide, &probes[i], &line, &slot);
            if (UNSEEN_UNLIKELY(c->overflow.nkeys) && !found) {
                found = unseen__overflow_contains(&c->overflow, keys[done + i]);
            }
            verdicts[done + i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        }
    }
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(remove)(struct compact *c, bool wide,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    struct compact_probe probes[COMPACT_BATCH];
    for (size_t done = 0; done < n; done += COMPACT_BATCH) {
        size_t count = n - done < COMPACT_BATCH ? n - done : COMPACT_BATCH;
        KERNEL(locate_ahead)(c, wide, keys + done, count, probes);
        for (size_t i = 0; i < count; i++) {
            unsigned line;
            unsigned slot;
            bool found = KERNEL(find)(wide, &probes[i], &line, &slot);
            if (found) {
                compact_clear_slot(c, wide, &probes[i], line, slot);
            } else if (UNSEEN_UNLIKELY(c->overflow.nkeys) &&
                       unseen__overflow_remove(&c->overflow, keys[done + i])) {
                found = true;
                c->nkeys--;
            }
            verdicts[done + i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        }
    }
}

/* The two instances. */

static KERNEL_TARGET enum unseen_status KERNEL(small_add)(struct compact *c,
                                                          const struct unseen_key *keys, size_t n,
                                                          uint8_t *verdicts, size_t *ndone_out)
{
    return KERNEL(add)(c, false, keys, n, verdicts, ndone_out);
}

static KERNEL_TARGET enum unseen_status KERNEL(wide_add)(struct compact *c,
                                                         const struct unseen_key *keys, size_t n,
                                                         uint8_t *verdicts, size_t *ndone_out)
{
    return KERNEL(add)(c, true, keys, n, verdicts, ndone_out);
}

static KERNEL_TARGET void KERNEL(small_contains)(const struct compact *c,
                                                 const struct unseen_key *keys, size_t n,
                                                 uint8_t *verdicts)
{
    KERNEL(contains)(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(wide_contains)(const struct compact *c,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    KERNEL(contains)(c, true, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(small_remove)(struct compact *c, const struct unseen_key *keys,
                                               size_t n, uint8_t *verdicts)
{
    KERNEL(remove)(c, false, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(wide_remove)(struct compact *c, const struct unseen_key *keys,
                                              size_t n, uint8_t *verdicts)
{
    KERNEL(remove)(c, true, keys, n, verdicts);
}

static KERNEL_TARGET void KERNEL(small_leaving)(const uint8_t *page, unsigned first,
                                                unsigned count, uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        const uint8_t *line = page + (size_t)i * COMPACT_LINE;
        uint32_t in_range = kernel_in_range(line, first << 24, count << 24);
        slots[i] = (uint16_t)(in_range & ~kernel_compare(line, 0).empty);
    }
}

static KERNEL_TARGET void KERNEL(wide_leaving)(const uint8_t *page, unsigned first, unsigned count,
                                               uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        const uint8_t *line = page + (size_t)i * COMPACT_LINE;
        uint32_t in_range = 0;
        for (unsigned slot = 0; slot < 13; slot++) {
            in_range |= (uint32_t)(((wide_r(line, slot) - first) & 127) < count) << slot;
        }
        slots[i] = (uint16_t)(in_range & ~kernel_compare(line, 0).empty);
    }
}

const struct compact_kernel KERNEL(compact_small) = {
    KERNEL(small_add),
    KERNEL(small_contains),
    KERNEL(small_remove),
    KERNEL(small_leaving),
};

const struct compact_kernel KERNEL(compact_wide) = {
    KERNEL(wide_add),
    KERNEL(wide_contains),
    KERNEL(wide_remove),
    KERNEL(wide_leaving),
};
