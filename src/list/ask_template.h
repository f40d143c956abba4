/* SPDX-License-Identifier: MIT
 *
 * The batch of ask.c for vector kernels, which take some keys at a time. Each key is in a slot of a
 * ring that stays in the nearest cache. The likely keys, which group 0 could not rule out, wait
 * there for the comparison of their rest. The file that includes this one defines before
 *
 *     ASK_NAME     the function to define
 *     ASK_TARGET   the level's function attribute
 *     ASK_KEYS     the number of keys at a time, 4 or 8
 *     ASK_COLUMNS  the type of a register with the columns of a key
 *
 * and the functions that are declared here, behind the #include. */

enum {
    KEYS = ASK_KEYS,
    COLUMNS = 8, /* that are compared at a time */
    AHEAD = 64,  /* keys between the fetch of their lines and the comparison */
    RING = 2 * AHEAD,
    REST_AHEAD = 32, /* keys between the fetch of the rest and its comparison */
    REST_LATEST = RING - AHEAD - 2 * KEYS /* then the key's slot is about to be taken */
};

/* The last keys, each in the slot of its number modulo RING; and the likely keys. */
struct batch {
    uint64_t offset[RING]; /* of group 0, in the pages */
    uint64_t block[RING];
    uint64_t c0[RING];
    uint64_t c1[RING];
    uint64_t limit[RING]; /* if the word with the level is at least this, the key is bumped */
    uint64_t fingerprint[RING];
    uint16_t likely[UNSEEN__LIST_BATCH + KEYS]; /* their numbers in the batch */
    size_t nlikely;
};

/* unseen__list_place_of and unseen__list_row_of, for the keys of the slots from i on. */
ASK_TARGET UNSEEN_INLINE void find_pages(const struct unseen__list_view *view, unsigned layer,
                                         const uint64_t *keys, struct batch *b, size_t i);

/* Masks n columns of a key with its coefficients, and adds those of its two blocks; other columns
 * are not read. whole: n is COLUMNS. */
ASK_TARGET UNSEEN_INLINE ASK_COLUMNS under(const struct batch *b, size_t slot, bool whole,
                                           const uint8_t *w0, const uint8_t *w1, unsigned n);

/* The lowest bytes of the fingerprints in the slots from i on. */
ASK_TARGET UNSEEN_INLINE uint64_t low_bytes(const struct batch *b, size_t i);

/* Returns one bit for each key: set if the parity of one of the first n columns differs from the
 * column's bit in the key's byte of fingerprints. */
ASK_TARGET UNSEEN_INLINE unsigned differ(const ASK_COLUMNS x[KEYS], uint64_t fingerprints,
                                         unsigned n);

/* Appends the keys of the bits in `likely`, of those from number i on, to the likely keys. */
ASK_TARGET UNSEEN_INLINE void keep_likely(struct batch *b, size_t i, unsigned likely);

ASK_TARGET UNSEEN_INLINE void fetch_group0(const struct unseen__list_view *view,
                                           const struct batch *b, size_t i)
{
    const unsigned line = 8 * view->geometry.group0;
    for (size_t k = i; k < i + KEYS; k++) {
        const uint8_t *at = view->pages + b->offset[k];
        _mm_prefetch((const char *)at, _MM_HINT_T1);
        _mm_prefetch((const char *)at + line, _MM_HINT_T1);
    }
}

/* Compares group 0 of the keys from i on; whole: group 0 has eight columns. */
ASK_TARGET UNSEEN_INLINE void compare_group0(const struct unseen__list_view *view, bool whole,
                                             struct batch *b, size_t i, uint8_t *answers)
{
    const unsigned group0 = whole ? COLUMNS : view->geometry.group0;
    const size_t slot = i % RING;
    ASK_COLUMNS x[KEYS];
    unsigned stays = 0;
    for (size_t k = KEYS; k-- > 0;) {
        const uint8_t *at = view->pages + b->offset[slot + k];
        const uint8_t *next = at + 8 * group0;
        x[k] = under(b, slot + k, whole, at, next, group0);
        stays = 2 * stays + (load_le64(next - 8) < b->limit[slot + k]);
    }
    const unsigned no = differ(x, low_bytes(b, slot), group0 - 1);
    const uint64_t first_answers = _pdep_u64(~stays, UINT64_C(0x0101010101010101)) << 1;
    memcpy(answers + i, &first_answers, KEYS);
    const unsigned likely = stays & ~no;
    if (likely != 0) {
        keep_likely(b, i, likely);
    }
}

ASK_TARGET UNSEEN_INLINE const uint8_t *page_of(const struct unseen__list_view *view,
                                                uint64_t offset)
{
    return view->pages + offset / UNSEEN__LIST_PAGE * UNSEEN__LIST_PAGE;
}

/* Does the column that holds the levels agree? Its two top bits are displaced; here they are put
 * below the others. */
ASK_TARGET UNSEEN_INLINE bool agrees_leveled(const struct unseen__list_geometry *s,
                                             const uint8_t *page, const uint8_t *group0,
                                             const struct batch *b, size_t slot, unsigned block,
                                             unsigned next)
{
    const unsigned line = 8 * s->group0;
    const uint64_t w0 = load_le64(group0 + line - 8) << 2 | unseen__list_displaced(s, page, block);
    const uint64_t w1 =
        load_le64(group0 + 2 * line - 8) << 2 | unseen__list_displaced(s, page, next);
    const uint64_t c0 = b->c0[slot] << 2 | b->c0[slot] >> 62;
    const uint64_t c1 = b->c1[slot] << 2 | b->c1[slot] >> 62;
    const uint64_t parity = (uint64_t)_mm_popcnt_u64((c0 & w0) ^ (c1 & w1));
    return ((parity ^ b->fingerprint[slot] >> (s->group0 - 1)) & 1) == 0;
}

/* Compares the rest for the likely keys from i on. */
ASK_TARGET UNSEEN_INLINE void compare_rest(const struct unseen__list_view *view,
                                           const struct batch *b, size_t i, uint8_t *answers)
{
    const struct unseen__list_geometry *s = &view->geometry;
    unsigned yes = 0;
    for (unsigned j = 0; s->group0 + j <= s->columns; j += COLUMNS) {
        ASK_COLUMNS x[KEYS];
        uint64_t fingerprints = 0;
        unsigned agrees = 0;
        for (size_t k = KEYS; k-- > 0;) {
            const size_t slot = b->likely[i + k] % RING;
            const unsigned block = (unsigned)b->block[slot];
            const unsigned next = unseen__list_next_block(s, block);
            const uint8_t *group0 = view->pages + b->offset[slot];
            const uint8_t *page = page_of(view, b->offset[slot]);
            const unsigned end = s->columns + unseen__list_is_extended(s, block) - s->group0;
            const unsigned n = end - j < COLUMNS ? end - j : COLUMNS;
            const unsigned fingerprint = (unsigned)(b->fingerprint[slot] >> (s->group0 + j));
            x[k] = under(b, slot, false, page + s->rest[block] + 8 * j,
                         page + s->rest[next] + 8 * j, n);
            fingerprints = fingerprints << 8 | (fingerprint & ((1u << n) - 1));
            agrees = 2 * agrees + agrees_leveled(s, page, group0, b, slot, block, next);
        }
        yes = (j == 0 ? agrees : yes) & ~differ(x, fingerprints, COLUMNS);
    }
    for (size_t k = 0; k < KEYS; k++) {
        answers[b->likely[i + k]] = yes >> k & 1 ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
    }
}

/* Compares the rest for one likely key. */
ASK_TARGET UNSEEN_INLINE uint8_t compare_single_rest(const struct unseen__list_view *view,
                                                     const struct batch *b, size_t slot)
{
    const struct unseen__list_row row = {.block = (unsigned)b->block[slot],
                                         .c0 = b->c0[slot],
                                         .c1 = b->c1[slot],
                                         .fingerprint = (uint32_t)b->fingerprint[slot]};
    const uint8_t *page = page_of(view, b->offset[slot]);
    return unseen__list_page_ask_rest(&view->geometry, page, &row) ? UNSEEN__LIST_YES
                                                                   : UNSEEN__LIST_NO;
}

/* Compares the rest for the likely keys from *compared on that are long enough behind key i: some
 * at a time, or singly if there are fewer and their slots are about to be taken. The next step
 * takes the slots of keys up to i - REST_LATEST - 1, of which none waits any more. */
ASK_TARGET UNSEEN_INLINE void compare_rests(const struct unseen__list_view *view,
                                            const struct batch *b, size_t i, size_t *compared,
                                            uint8_t *answers)
{
    size_t at = *compared;
    while (at + KEYS <= b->nlikely && b->likely[at + KEYS - 1] + (size_t)REST_AHEAD <= i) {
        compare_rest(view, b, at, answers);
        at += KEYS;
    }
    while (at < b->nlikely && b->likely[at] + (size_t)REST_LATEST <= i) {
        const size_t key = b->likely[at++];
        answers[key] = compare_single_rest(view, b, key % RING);
    }
    *compared = at;
}

ASK_TARGET UNSEEN_INLINE void ask_batch(const struct unseen__list_view *view, unsigned layer,
                                        bool whole, const uint64_t *keys, size_t n,
                                        uint8_t *answers)
{
    struct batch b;
    size_t fetched = 0;
    size_t compared = 0;
    b.nlikely = 0;
    for (size_t i = 0; i < n + AHEAD; i += KEYS) {
        if (i < n) {
            find_pages(view, layer, keys + i, &b, i % RING);
            fetch_group0(view, &b, i % RING);
        }
        if (i < AHEAD) {
            continue;
        }
        compare_group0(view, whole, &b, i - AHEAD, answers);
        for (; fetched < b.nlikely; fetched++) {
            const size_t slot = b.likely[fetched] % RING;
            unseen__list_fetch_rest(&view->geometry, page_of(view, b.offset[slot]),
                                    (unsigned)b.block[slot]);
        }
        compare_rests(view, &b, i - AHEAD, &compared, answers);
    }
    compare_rests(view, &b, n + REST_LATEST, &compared, answers);
}

/* n is a multiple of KEYS. */
ASK_TARGET static void ask_multiple(const struct unseen__list_view *view, unsigned layer,
                                    const uint64_t *keys, size_t n, uint8_t *answers)
{
    if (view->geometry.group0 == COLUMNS) {
        ask_batch(view, layer, true, keys, n, answers);
    } else {
        ask_batch(view, layer, false, keys, n, answers);
    }
}

void ASK_NAME(const struct unseen__list_view *view, unsigned layer, const uint64_t *keys, size_t n,
              uint8_t *answers)
{
    uint64_t tail[KEYS] = {0};
    uint8_t tail_answers[KEYS];
    const size_t nmultiple = n / KEYS * KEYS;
    if (nmultiple > 0) {
        ask_multiple(view, layer, keys, nmultiple, answers);
    }
    if (nmultiple < n) {
        memcpy(tail, keys + nmultiple, (n - nmultiple) * sizeof(*tail));
        ask_multiple(view, layer, tail, KEYS, tail_answers);
        memcpy(answers + nmultiple, tail_answers, n - nmultiple);
    }
}
