/* SPDX-License-Identifier: MIT
 *
 * The operations of the compact filter, written once for every SIMD level. The file that includes
 * this one defines
 *
 *     KERNEL(name)       the name with the level's suffix
 *     KERNEL_TARGET      the function attribute that lets the compiler use the level
 *     kernel_compare     which of a line's 16 words match, and which are 0
 *     kernel_small_r_in  which of a small line's 16 tags, empty or not, have a remainder in the
 *                        cyclic interval [first, first + count)
 *     kernel_wide_r_in   the same for a wide line's 13 tags
 *     kernel_erase       makes the chosen words of a line 0
 *     kernel_count       the number of 1 bits
 *
 * and gets compact_small_LEVEL and compact_wide_LEVEL. All levels give the same answers and leave
 * the same bytes. Keys are operated on in order; the lines of the key COMPACT_AHEAD places behind
 * are found and prefetched meanwhile, so that memory and processor work at the same time. When a
 * group grows, what was found for the keys ahead is found again. */

/* The slots of a line, as bits. */
UNSEEN_INLINE uint32_t KERNEL(slots)(bool wide)
{
    return wide ? (1u << 13) - 1 : (1u << 16) - 1;
}

/* Which tag of the two lines the key matches: slot of line a, or 16 + slot of line b, or
 * KERNEL_NONE. In a wide line the remainder must agree as well. There is a match or none, so one
 * loop over both lines is a branch the processor predicts. */
#define KERNEL_NONE 32u

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(match)(bool wide, const uint8_t *a, const uint8_t *b,
                                                   uint32_t in_a, uint32_t in_b, unsigned r)
{
    uint32_t candidates = (in_a & KERNEL(slots)(wide)) | (in_b & KERNEL(slots)(wide)) << 16;
    for (; UNSEEN_UNLIKELY(candidates != 0); candidates &= candidates - 1) {
        unsigned i = (unsigned)__builtin_ctz(candidates);
        const uint8_t *line = a + ((b - a) & -(ptrdiff_t)(i >> 4));
        if (!wide || UNSEEN_LIKELY(wide_r(line, i % 16) == r)) {
            return i;
        }
    }
    return KERNEL_NONE;
}

/* The probes of the next COMPACT_AHEAD keys: key i has place i % COMPACT_AHEAD. The directory
 * entry of the key as far behind that one is fetched, too. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_ahead)(const struct compact *c, bool wide,
                                                    const struct unseen_key *keys, size_t n,
                                                    size_t i, struct compact_probe *ring)
{
    struct compact_probe *probe = &ring[i % COMPACT_AHEAD];
    if (i + COMPACT_AHEAD < n) {
        UNSEEN_PREFETCH(compact_find(c, compact_path(c, keys[i + COMPACT_AHEAD])));
    }
    compact_locate(c, wide, keys[i], probe);
    UNSEEN_PREFETCH(probe->page + (size_t)probe->a * COMPACT_LINE);
    UNSEEN_PREFETCH(probe->page + (size_t)probe->b * COMPACT_LINE);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_ahead_first)(const struct compact *c, bool wide,
                                                          const struct unseen_key *keys, size_t n,
                                                          struct compact_probe *ring)
{
    for (size_t i = 0; i < COMPACT_AHEAD && i < n; i++) {
        UNSEEN_PREFETCH(compact_find(c, compact_path(c, keys[i])));
    }
    for (size_t i = 0; i < COMPACT_AHEAD && i < n; i++) {
        KERNEL(look_ahead)(c, wide, keys, n, i, ring);
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
    if (KERNEL(match)(wide, a, b, in_a.match, in_b.match, probe->r) != KERNEL_NONE) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    if (UNSEEN_UNLIKELY(c->overflow.nkeys) && unseen__overflow_contains(&c->overflow, *key)) {
        *verdict = UNSEEN_SEEN;
        return true;
    }
    uint32_t free_a = in_a.empty & KERNEL(slots)(wide);
    uint32_t free_b = in_b.empty & KERNEL(slots)(wide);
    /* The emptier line, a on ties: unpredictable, so without a branch. */
    uint32_t take_b = 0u - (uint32_t)(kernel_count(free_b) > kernel_count(free_a));
    uint32_t free = free_a ^ ((free_a ^ free_b) & take_b);
    if (UNSEEN_UNLIKELY(!free)) {
        return false;
    }
    compact_fill_slot(c, wide, probe, probe->a ^ ((probe->a ^ probe->b) & take_b), free);
    *verdict = UNSEEN_NEW;
    return true;
}

UNSEEN_INLINE KERNEL_TARGET enum unseen_status KERNEL(add)(struct compact *c, bool wide,
                                                           const struct unseen_key *keys, size_t n,
                                                           uint8_t *verdicts, size_t *ndone_out)
{
    struct compact_probe ring[COMPACT_AHEAD];
    KERNEL(look_ahead_first)(c, wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        struct compact_probe *probe = &ring[i % COMPACT_AHEAD];
        if (UNSEEN_UNLIKELY(!KERNEL(add_one)(c, wide, &keys[i], probe, &verdicts[i]))) {
            bool moved = false;
            enum unseen_status status = unseen__compact_add_full(c, keys[i], probe, &moved);
            if (status != UNSEEN_OK) {
                *ndone_out = i;
                return status;
            }
            verdicts[i] = UNSEEN_NEW;
            for (size_t k = 1; moved && k < COMPACT_AHEAD && i + k < n; k++) {
                KERNEL(look_ahead)(c, wide, keys, n, i + k, ring);
            }
        }
        if (i + COMPACT_AHEAD < n) {
            KERNEL(look_ahead)(c, wide, keys, n, i + COMPACT_AHEAD, ring);
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
    unsigned i = KERNEL(match)(wide, a, b, kernel_compare(a, probe->v).match,
                               kernel_compare(b, probe->v).match, probe->r);
    *line_out = i < 16 ? probe->a : probe->b;
    *slot_out = i % 16;
    return i != KERNEL_NONE;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(contains)(const struct compact *c, bool wide,
                                                  const struct unseen_key *keys, size_t n,
                                                  uint8_t *verdicts)
{
    struct compact_probe ring[COMPACT_AHEAD];
    KERNEL(look_ahead_first)(c, wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        unsigned line;
        unsigned slot;
        bool found = KERNEL(find)(wide, &ring[i % COMPACT_AHEAD], &line, &slot);
        if (UNSEEN_UNLIKELY(c->overflow.nkeys) && !found) {
            found = unseen__overflow_contains(&c->overflow, keys[i]);
        }
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        if (i + COMPACT_AHEAD < n) {
            KERNEL(look_ahead)(c, wide, keys, n, i + COMPACT_AHEAD, ring);
        }
    }
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(remove)(struct compact *c, bool wide,
                                                const struct unseen_key *keys, size_t n,
                                                uint8_t *verdicts)
{
    struct compact_probe ring[COMPACT_AHEAD];
    KERNEL(look_ahead_first)(c, wide, keys, n, ring);
    for (size_t i = 0; i < n; i++) {
        struct compact_probe *probe = &ring[i % COMPACT_AHEAD];
        unsigned line;
        unsigned slot;
        bool found = false;
        /* A key in the overflow has no tag, so a tag it matches is another key's. */
        if (UNSEEN_UNLIKELY(c->overflow.nkeys) && unseen__overflow_remove(&c->overflow, keys[i])) {
            found = true;
            c->nkeys--;
        } else if (KERNEL(find)(wide, probe, &line, &slot)) {
            found = true;
            compact_clear_slot(c, probe, line, slot);
        }
        verdicts[i] = found ? UNSEEN_SEEN : UNSEEN_NEW;
        if (i + COMPACT_AHEAD < n) {
            KERNEL(look_ahead)(c, wide, keys, n, i + COMPACT_AHEAD, ring);
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

static KERNEL_TARGET void KERNEL(small_leaving)(const uint8_t *page, unsigned first, unsigned count,
                                                uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        const uint8_t *line = page + (size_t)i * COMPACT_LINE;
        uint32_t used = ~kernel_compare(line, 0).empty;
        slots[i] = (uint16_t)(kernel_small_r_in(line, first, count) & used);
    }
}

static KERNEL_TARGET void KERNEL(wide_leaving)(const uint8_t *page, unsigned first, unsigned count,
                                               uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        const uint8_t *line = page + (size_t)i * COMPACT_LINE;
        uint32_t used = ~kernel_compare(line, 0).empty;
        slots[i] = (uint16_t)(kernel_wide_r_in(line, first, count) & used & KERNEL(slots)(true));
    }
}

static KERNEL_TARGET void KERNEL(erase)(uint8_t *page, const uint16_t *slots)
{
    for (unsigned i = 0; i < COMPACT_LINES; i++) {
        kernel_erase(page + (size_t)i * COMPACT_LINE, slots[i]);
    }
}

static KERNEL_TARGET uint32_t KERNEL(free_slots)(const uint8_t *line)
{
    return kernel_compare(line, 0).empty;
}

const struct compact_kernel KERNEL(unseen__compact_small) = {
    KERNEL(small_add),     KERNEL(small_contains), KERNEL(small_remove),
    KERNEL(small_leaving), KERNEL(erase),          KERNEL(free_slots),
};

const struct compact_kernel KERNEL(unseen__compact_wide) = {
    KERNEL(wide_add),     KERNEL(wide_contains), KERNEL(wide_remove),
    KERNEL(wide_leaving), KERNEL(erase),         KERNEL(free_slots),
};
