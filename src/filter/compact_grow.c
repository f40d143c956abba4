/* SPDX-License-Identifier: MIT
 *
 * How the compact filter makes room, from the cheapest step to the dearest:
 *
 *   kick    one tag of the two full lines moves to its own other line: 1 in 15 adds
 *   expand  a group of 8..14 pages takes one more page: 1 in about 900 adds
 *   split   a group of 15 pages becomes two groups of 8: 1 in about 7,000 adds
 *
 * Keys need not come in random order. The keys of a sorted file all go to one group for a while
 * and, when it splits, to one of its halves. Each half gets as many pages as its tags need; a half
 * that needs all 15 keeps the pages of the group. So a split never fails because it is uneven: a
 * group splits exactly when more keys begin with its prefix than 15 pages hold. No order of the
 * keys changes that, and in the end there are the same groups.
 *
 * Every step builds new pages beside the old pages, and changes the group and the directory only
 * when nothing can fail any more.
 *
 * A new page is filled in order. Small arrays beside it hold the number of tags of each line and
 * the wide remainders, because reading back memory that was just written stalls the processor. Tags
 * that move are first collected as a list of places, without a branch on the data: a mispredicted
 * branch for each line costs more than everything else. */
#include "filter/compact_ops.h"

/* Hostile keys come in numbers: after a group could not make room, the next STUCK_KEYS keys do not
 * try again. */
enum {
    STUCK_KEYS = COMPACT_STUCK_MAX,
    SPLIT_SHARE = 16 /* a group with less than 1/16 of its slots in use does not split */
};

/* Pages being filled. */
struct fill {
    uint8_t *page[COMPACT_PAGES_MAX];
    uint8_t used[COMPACT_PAGES_MAX][COMPACT_LINES];  /* tags of each line, at its first slots */
    uint8_t r[COMPACT_PAGES_MAX][COMPACT_LINES][16]; /* wide: their remainders */
};

/* Places of tags in a page: line * 16 + slot. The last 16 entries are room for writes past the
 * end. */
struct places {
    size_t n;
    uint16_t at[COMPACT_LINES * 16 + 16];
};

static unsigned slots_of(const struct compact *c)
{
    return c->layout->slots;
}

static uint32_t free_slots(const struct compact *c, const uint8_t *line)
{
    return c->kernel->compare(line, 0).empty & ((1u << slots_of(c)) - 1);
}

/* ---- filling new pages ---- */

static void fill_start(const struct compact *c, struct fill *f, unsigned page, uint32_t number)
{
    f->page[page] = compact_page(c, number);
    memset(f->page[page], 0, COMPACT_PAGE);
    memset(f->used[page], 0, sizeof(f->used[page]));
}

static void fill_slot(bool wide, struct fill *f, unsigned page, unsigned line, unsigned slot,
                      uint32_t word, unsigned r)
{
    store_le32(f->page[page] + (size_t)line * COMPACT_LINE + 4 * slot, word);
    if (wide) {
        f->r[page][line][slot] = (uint8_t)r;
    }
}

static unsigned fill_r(bool wide, const struct fill *f, unsigned page, unsigned line, unsigned slot)
{
    return wide ? f->r[page][line][slot]
                : compact_word(f->page[page] + (size_t)line * COMPACT_LINE, slot) >> 24;
}

/* Moves one tag of a full line to its own other line, to make a free slot. */
static UNSEEN_NOINLINE bool fill_kick(const struct compact *c, struct fill *f, unsigned page,
                                      unsigned from, unsigned *slot_out)
{
    const bool wide = c->layout->is_wide;
    for (unsigned slot = 0; slot < slots_of(c); slot++) {
        unsigned r = fill_r(wide, f, page, from, slot);
        unsigned to = from ^ compact_offset(r, c->layout->r_bits);
        if (f->used[page][to] < slots_of(c)) {
            uint32_t word = compact_word(f->page[page] + (size_t)from * COMPACT_LINE, slot);
            fill_slot(wide, f, page, to, f->used[page][to]++, word, r);
            *slot_out = slot;
            return true;
        }
    }
    return false;
}

/* Puts a tag into the line that it had on its old page, or into the partner of that line. */
UNSEEN_INLINE bool fill_put(const struct compact *c, bool wide, struct fill *f, unsigned page,
                            unsigned line, uint32_t word, unsigned r)
{
    const unsigned slots = wide ? 13 : 16;
    unsigned offset = compact_offset(r, wide ? 7 : 8);
    uint8_t *used = f->used[page];
    /* The emptier of the two, without a branch. */
    unsigned to = line ^ (offset & (0u - (unsigned)(used[line ^ offset] < used[line])));
    unsigned slot = used[to];
    if (UNSEEN_LIKELY(slot < slots)) {
        used[to]++;
    } else if (!fill_kick(c, f, page, to, &slot)) {
        to ^= offset;
        if (!fill_kick(c, f, page, to, &slot)) {
            return false;
        }
    }
    fill_slot(wide, f, page, to, slot, word, r);
    return true;
}

/* Packs the remainders of a wide line into its 7-bit fields. */
static void pack_r(const uint8_t *r, unsigned n, uint8_t *line)
{
    uint64_t low = 0;
    uint64_t high = 0;
    for (unsigned i = 0; i < 9 && i < n; i++) {
        low |= (uint64_t)r[i] << (7 * i);
    }
    for (unsigned i = 9; i < n; i++) {
        high |= (uint64_t)r[i] << (7 * i - 63);
    }
    store_le64(line + 52, low | high << 63);
    store_le32(line + 60, (uint32_t)(high >> 1));
}

/* Writes what was kept beside a page: the remainders and the full map. */
static void fill_done(const struct compact *c, const struct fill *f, unsigned page, uint32_t number)
{
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        unsigned used = f->used[page][line];
        full |= (uint64_t)(used == slots_of(c)) << line;
        if (c->layout->is_wide) {
            pack_r(f->r[page][line], used, f->page[page] + (size_t)line * COMPACT_LINE);
        }
    }
    *compact_full(c, number) = full;
}

/* ---- expand ---- */

/* The places of the chosen slots of each line. Four for each line are taken without a branch. */
static void collect(const uint16_t *slots, struct places *places)
{
    size_t n = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        uint32_t rest = slots[line];
        for (unsigned i = 0; i < 4; i++) {
            places->at[n] = (uint16_t)(line * 16 + (unsigned)__builtin_ctz(rest | 1u << 16));
            n += rest != 0;
            rest &= rest - 1;
        }
        for (; UNSEEN_UNLIKELY(rest != 0); rest &= rest - 1) {
            places->at[n++] = (uint16_t)(line * 16 + (unsigned)__builtin_ctz(rest));
        }
    }
    places->n = n;
}

/* Copies the chosen tags of a page to page number to of the fill. */
UNSEEN_INLINE bool copy_places(const struct compact *c, bool wide, const uint8_t *page,
                               const struct places *places, struct fill *f, unsigned to)
{
    for (size_t i = 0; i < places->n; i++) {
        unsigned line = places->at[i] / 16;
        unsigned slot = places->at[i] % 16;
        const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
        if (!fill_put(c, wide, f, to, line, compact_word(bytes, slot),
                      compact_r(wide, bytes, slot))) {
            return false;
        }
    }
    return true;
}

static void prefetch_page(const uint8_t *page)
{
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        UNSEEN_PREFETCH(page + (size_t)line * COMPACT_LINE);
    }
}

/* Copies the tags that leave the group's pages for its new one. */
static bool copy_leaving(const struct compact *c, const struct compact_group *group, struct fill *f,
                         uint16_t leaving[][COMPACT_LINES])
{
    const unsigned m = group->npages;
    struct places places;
    for (unsigned p = 0; p < m; p++) {
        const uint8_t *interval = c->layout->leaving[m - COMPACT_PAGES_MIN][p];
        const uint8_t *page = compact_page(c, group->page[p]);
        if (p + 1 < m) {
            prefetch_page(compact_page(c, group->page[p + 1]));
        }
        c->kernel->leaving(page, interval[0], interval[1], leaving[p]);
        collect(leaving[p], &places);
        if (!(c->layout->is_wide ? copy_places(c, true, page, &places, f, m)
                                 : copy_places(c, false, page, &places, f, m))) {
            return false;
        }
    }
    return true;
}

static void erase_leaving(const struct compact *c, const struct compact_group *group,
                          uint16_t leaving[][COMPACT_LINES])
{
    for (unsigned p = 0; p < group->npages; p++) {
        uint64_t freed = 0;
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            freed |= (uint64_t)(leaving[p][line] != 0) << line;
        }
        c->kernel->erase(compact_page(c, group->page[p]), leaving[p]);
        *compact_full(c, group->page[p]) &= ~freed;
    }
}

/* Gives a group one page more. Returns false, with nothing changed, if the tags that leave do not
 * fit into one page (the pages of the group are very uneven). Needs one page in reserve. */
static bool expand(struct compact *c, struct compact_group *entries, size_t copies)
{
    struct compact_group group = entries[0];
    uint16_t leaving[COMPACT_PAGES_MAX][COMPACT_LINES];
    struct fill f;
    uint32_t number = unseen__compact_page_take(c);
    fill_start(c, &f, group.npages, number);
    c->work += group.npages;
    if (!copy_leaving(c, &group, &f, leaving)) {
        unseen__compact_page_give(c, number);
        return false;
    }
    erase_leaving(c, &group, leaving);
    fill_done(c, &f, group.npages, number);
    group.page[group.npages++] = number;
    for (size_t i = 0; i < copies; i++) {
        entries[i] = group;
    }
    c->npages++;
    return true;
}

/* ---- split and rebuild ---- */

/* One or two new groups that are built from an old group. With two, the top bit of v chooses the
 * group of a tag. */
struct build {
    unsigned nparts;
    struct compact_group group[2];
    struct fill fill[2];
};

/* The tag at a place of a page. */
static uint32_t word_at(const uint8_t *page, unsigned place)
{
    return compact_word(page + (size_t)(place / 16) * COMPACT_LINE, place % 16);
}

/* The places of all tags of a page. */
static void collect_all(const struct compact *c, const uint8_t *page, struct places *places)
{
    size_t n = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        for (unsigned slot = 0; slot < slots_of(c); slot++) {
            places->at[n] = (uint16_t)(line * 16 + slot);
            n += compact_word(page + (size_t)line * COMPACT_LINE, slot) != 0;
        }
    }
    places->n = n;
}

UNSEEN_INLINE bool build_put(const struct compact *c, bool wide, struct build *b, unsigned part,
                             unsigned home, unsigned line, uint32_t word, unsigned r)
{
    unsigned page = compact_page_of(compact_layout_of(wide), b->group[part].npages, home, r);
    return fill_put(c, wide, &b->fill[part], page, line, word, r);
}

/* Changes a tag for one half of its group; returns false if the tag belongs to the other half. A
 * tag gives up its top bit of v, which is the number of its half. A void tag has no bit left to
 * give: it belongs to both halves and stays as it is. */
UNSEEN_INLINE bool halve(const struct compact *c, uint32_t *word, unsigned half)
{
    const uint32_t v_top = 1u << (c->layout->v_bits - 1);
    const uint32_t v_mask = v_top | (v_top - 1);
    const uint32_t v = *word & v_mask;
    if (v == v_top) {
        return true;
    }
    *word = (*word & ~v_mask) | (v << 1 & v_mask);
    return (v >= v_top) == half;
}

/* Copies a page's tags into the parts. Returns the part that was too small, or -1. */
UNSEEN_INLINE int build_page(const struct compact *c, bool wide, const struct compact_group *from,
                             unsigned page, const struct places *places, struct build *b)
{
    const unsigned v_bits = wide ? 32 : 24;
    const uint32_t v_top = 1u << (v_bits - 1);
    const uint32_t v_mask = v_top | (v_top - 1);
    const uint8_t *start = compact_page(c, from->page[page]);
    for (size_t i = 0; i < places->n; i++) {
        unsigned line = places->at[i] / 16;
        unsigned slot = places->at[i] % 16;
        const uint8_t *bytes = start + (size_t)line * COMPACT_LINE;
        uint32_t word = compact_word(bytes, slot);
        unsigned r = compact_r(wide, bytes, slot);
        unsigned home = compact_home_of(c->layout, from->npages, page, r);
        unsigned part = 0;
        if (b->nparts == 2) {
            if (UNSEEN_UNLIKELY((word & v_mask) == v_top)) {
                /* Void: no bit left to give, so the tag belongs to both. */
                if (!build_put(c, wide, b, 1, home, line, word, r)) {
                    return 1;
                }
            } else {
                part = word >> (v_bits - 1) & 1;
                word = (word & ~v_mask) | (word << 1 & v_mask);
            }
        }
        if (UNSEEN_UNLIKELY(!build_put(c, wide, b, part, home, line, word, r))) {
            return (int)part;
        }
    }
    return -1;
}

static int build_all(const struct compact *c, const struct compact_group *from, struct build *b)
{
    struct places places;
    int full = -1;
    for (unsigned p = 0; p < from->npages && full < 0; p++) {
        if (p + 1u < from->npages) {
            prefetch_page(compact_page(c, from->page[p + 1]));
        }
        collect_all(c, compact_page(c, from->page[p]), &places);
        full = c->layout->is_wide ? build_page(c, true, from, p, &places, b)
                                  : build_page(c, false, from, p, &places, b);
    }
    return full;
}

static void give_pages(struct compact *c, const struct compact_group *group)
{
    for (unsigned p = 0; p < group->npages; p++) {
        unseen__compact_page_give(c, group->page[p]);
    }
}

/* Starts a build of nparts groups, which have no pages yet. */
static void build_init(struct build *b, const struct compact_group *from, unsigned nparts)
{
    b->nparts = nparts;
    for (unsigned part = 0; part < nparts; part++) {
        b->group[part] = (struct compact_group){.depth = (uint8_t)(from->depth + nparts - 1)};
    }
}

/* Takes pages until the new group has npages, and empties all of them. */
static void build_start(struct compact *c, struct build *b, unsigned part, unsigned npages)
{
    struct compact_group *group = &b->group[part];
    while (group->npages < npages) {
        group->page[group->npages++] = unseen__compact_page_take(c);
    }
    for (unsigned p = 0; p < npages; p++) {
        fill_start(c, &b->fill[part], p, group->page[p]);
    }
}

static void build_done(struct compact *c, struct build *b)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        for (unsigned p = 0; p < b->group[part].npages; p++) {
            fill_done(c, &b->fill[part], p, b->group[part].page[p]);
        }
    }
}

static void build_drop(struct compact *c, struct build *b)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        give_pages(c, &b->group[part]);
        b->group[part].npages = 0;
    }
}

/* Builds each part with npages[part] pages. Returns the part that needs more pages, or -1. Needs
 * nparts * COMPACT_PAGES_MAX pages in reserve, as do the functions below. */
static int build_try(struct compact *c, const struct compact_group *from, struct build *b,
                     const unsigned *npages)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        build_start(c, b, part, npages[part]); /* NOLINT: npages has b->nparts elements */
    }
    c->work += from->npages;
    const int full = build_all(c, from, b);
    if (full < 0) {
        build_done(c, b);
    }
    return full;
}

/* Builds the parts with the fewest pages, from npages on, that hold their tags. Returns false, with
 * the pages given back, when COMPACT_PAGES_MAX are not enough. */
static bool build(struct compact *c, const struct compact_group *from, struct build *b,
                  unsigned *npages)
{
    const unsigned last = b->nparts - 1;
    while (npages[0] <= COMPACT_PAGES_MAX && npages[last] <= COMPACT_PAGES_MAX) {
        const int full = build_try(c, from, b, npages);
        if (full < 0) {
            return true;
        }
        npages[full]++;
    }
    build_drop(c, b);
    return false;
}

/* Spreads the tags of a group over more pages. */
static bool rebuild(struct compact *c, struct compact_group *entries, size_t copies)
{
    struct compact_group old = entries[0];
    struct build b;
    unsigned npages = old.npages + 1u;
    build_init(&b, &old, 1);
    if (!build(c, &old, &b, &npages)) {
        return false;
    }
    for (size_t i = 0; i < copies; i++) {
        entries[i] = b.group[0];
    }
    give_pages(c, &old);
    c->npages += (uint64_t)b.group[0].npages - old.npages;
    return true;
}

/* Counts the copies of void tags. A split copies a void tag to both halves, where the two copies
 * together have the weight of one. They count as two keys from then on: an export cannot tell them
 * from two keys, and removing takes away one of them. */
static void count_void_copies(struct compact *c, const struct compact_group *old)
{
    const uint32_t v_top = 1u << (c->layout->v_bits - 1);
    const uint32_t v_mask = v_top | (v_top - 1);
    if (c->generations[old->depth] == 0) {
        return;
    }
    for (unsigned p = 0; p < old->npages; p++) {
        const uint8_t *page = compact_page(c, old->page[p]);
        struct places places;
        collect_all(c, page, &places);
        for (size_t i = 0; i < places.n; i++) {
            if ((word_at(page, places.at[i]) & v_mask) == v_top) {
                c->generations[old->depth]--;
                c->generations[old->depth + 1] += 2;
                c->nkeys++;
            }
        }
    }
}

/* How many tags each half of a group gets. Void tags count in both. */
static void count_halves(const struct compact *c, const struct compact_group *group, size_t *nhalf)
{
    nhalf[0] = 0;
    nhalf[1] = 0;
    for (unsigned p = 0; p < group->npages; p++) {
        const uint8_t *page = compact_page(c, group->page[p]);
        struct places places;
        collect_all(c, page, &places);
        for (size_t i = 0; i < places.n; i++) {
            for (unsigned half = 0; half < 2; half++) {
                uint32_t word = word_at(page, places.at[i]);
                nhalf[half] += halve(c, &word, half);
            }
        }
    }
}

/* The fewest pages on which so many tags may fit: pages of random keys are 92 % full at most. */
static unsigned pages_for(const struct compact *c, size_t ntags)
{
    const size_t page_tags = (size_t)COMPACT_LINES * slots_of(c) * 92 / 100;
    const size_t npages = (ntags + page_tags - 1) / page_tags;
    return npages > COMPACT_PAGES_MIN ? (unsigned)npages : COMPACT_PAGES_MIN;
}

/* Copies the tags of one half to the only part of a build. */
static bool copy_half(const struct compact *c, const struct compact_group *from, unsigned half,
                      struct build *b)
{
    const bool wide = c->layout->is_wide;
    for (unsigned p = 0; p < from->npages; p++) {
        const uint8_t *page = compact_page(c, from->page[p]);
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
            for (unsigned slot = 0; slot < slots_of(c); slot++) {
                uint32_t word = compact_word(bytes, slot);
                const unsigned r = compact_r(wide, bytes, slot);
                if (word && halve(c, &word, half) &&
                    !build_put(c, wide, b, 0, compact_home_of(c->layout, from->npages, p, r), line,
                               word, r)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Turns a group into one half of itself, on its own pages. */
static void keep_half(const struct compact *c, const struct compact_group *group, unsigned half)
{
    for (unsigned p = 0; p < group->npages; p++) {
        uint8_t *page = compact_page(c, group->page[p]);
        uint64_t freed = 0;
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
            for (unsigned slot = 0; slot < slots_of(c); slot++) {
                uint32_t word = compact_word(bytes, slot);
                const bool stays = !word || halve(c, &word, half);
                store_le32(bytes + (size_t)4 * slot, stays ? word : 0);
                freed |= (uint64_t)!stays << line;
            }
        }
        *compact_full(c, group->page[p]) &= ~freed;
    }
}

/* Puts two groups in place of one. */
static void install_halves(struct compact *c, struct compact_group *entries, size_t copies,
                           const struct compact_group *halves)
{
    c->npages += (uint64_t)halves[0].npages + halves[1].npages - entries[0].npages;
    c->ngroups++;
    for (size_t i = 0; i < copies; i++) {
        entries[i] = halves[i >= copies / 2];
    }
}

/* Splits a group. The half with more tags keeps all pages, on which its tags certainly fit; the
 * other half gets new pages. */
static bool split_in_place(struct compact *c, struct compact_group *entries, size_t copies,
                           const size_t *nhalf)
{
    const struct compact_group old = entries[0];
    const unsigned kept = nhalf[1] > nhalf[0];
    struct compact_group halves[2];
    struct build b;
    unsigned npages = pages_for(c, nhalf[!kept]);
    build_init(&b, &old, 1);
    for (;; npages++) {
        if (npages > COMPACT_PAGES_MAX) {
            build_drop(c, &b);
            return false;
        }
        build_start(c, &b, 0, npages);
        c->work += old.npages;
        if (copy_half(c, &old, !kept, &b)) {
            break;
        }
    }
    build_done(c, &b);
    count_void_copies(c, &old);
    keep_half(c, &old, kept);
    halves[kept] = old;
    halves[!kept] = b.group[0];
    halves[0].depth = halves[1].depth = (uint8_t)(old.depth + 1);
    halves[0].stuck = halves[1].stuck = 0;
    install_halves(c, entries, copies, halves);
    return true;
}

/* If keys crowd in a few lines of an almost empty group, they were made to. Splitting would take a
 * group for every few of them. */
static bool is_worth_a_split(const struct compact *c, const struct compact_group *group,
                             size_t ntags)
{
    return ntags >= (size_t)group->npages * COMPACT_LINES * slots_of(c) / SPLIT_SHARE;
}

static size_t build_ntags(const struct build *b)
{
    size_t ntags = 0;
    for (unsigned part = 0; part < b->nparts; part++) {
        for (unsigned p = 0; p < b->group[part].npages; p++) {
            for (unsigned line = 0; line < COMPACT_LINES; line++) {
                ntags += b->fill[part].used[p][line];
            }
        }
    }
    return ntags;
}

/* Splits a group in two. The directory has room for both. Returns false, with nothing changed, if
 * the tags are too few or do not spread. */
static bool split_group(struct compact *c, struct compact_group *entries, size_t copies)
{
    const struct compact_group old = entries[0];
    struct build b;
    unsigned npages[2] = {COMPACT_PAGES_MIN, COMPACT_PAGES_MIN};
    build_init(&b, &old, 2);
    if (build_try(c, &old, &b, npages) >= 0) {
        size_t nhalf[2];
        count_halves(c, &old, nhalf);
        if (!is_worth_a_split(c, &old, nhalf[0] + nhalf[1])) {
            build_drop(c, &b);
            return false;
        }
        npages[0] = pages_for(c, nhalf[0]);
        npages[1] = pages_for(c, nhalf[1]);
        if (!build(c, &old, &b, npages)) {
            return split_in_place(c, entries, copies, nhalf);
        }
    }
    if (!is_worth_a_split(c, &old, build_ntags(&b))) {
        build_drop(c, &b);
        return false;
    }
    count_void_copies(c, &old);
    install_halves(c, entries, copies, b.group);
    give_pages(c, &old);
    return true;
}

/* With random keys no group is much deeper than the others: some 7,000 keys never have 12 more bits
 * in common. */
unsigned unseen__compact_depth_limit(const struct compact *c)
{
    unsigned limit = 12;
    for (uint64_t n = c->ngroups; n > 1; n /= 2) {
        limit++;
    }
    return limit < COMPACT_DEPTH_MAX ? limit : COMPACT_DEPTH_MAX;
}

static void set_stuck(struct compact_group *entries, size_t copies, unsigned stuck)
{
    for (size_t i = 0; i < copies; i++) {
        entries[i].stuck = (uint16_t)stuck;
    }
}

enum unseen_status unseen__compact_grow(struct compact *c, uint64_t path, bool *stuck_out)
{
    size_t copies;
    struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
    *stuck_out = true;
    if (entries->stuck) {
        set_stuck(entries, copies, entries->stuck - 1u);
        return UNSEEN_OK;
    }
    *stuck_out = false;
    enum unseen_status status = unseen__compact_pages_reserve(c, 1);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (entries->npages < COMPACT_PAGES_MAX && expand(c, entries, copies)) {
        return UNSEEN_OK;
    }
    status = unseen__compact_pages_reserve(c, 2 * (size_t)COMPACT_PAGES_MAX);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (entries->npages < COMPACT_PAGES_MAX && rebuild(c, entries, copies)) {
        return UNSEEN_OK;
    }
    if (entries->depth < unseen__compact_depth_limit(c)) {
        status = unseen__compact_directory_deepen(c, path);
        if (status != UNSEEN_OK) {
            return status;
        }
        entries = unseen__compact_directory_find(c, path, &copies);
        if (split_group(c, entries, copies)) {
            return UNSEEN_OK;
        }
    }
    *stuck_out = true;
    set_stuck(entries, copies, STUCK_KEYS);
    return UNSEEN_OK;
}

/* ---- a key whose lines are full ---- */

bool unseen__compact_add_plain(struct compact *c, const struct compact_probe *probe, uint32_t mark)
{
    uint32_t free_a = free_slots(c, probe->a);
    uint32_t free_b = free_slots(c, probe->b);
    bool take_b = __builtin_popcount(free_b) > __builtin_popcount(free_a);
    uint32_t free = take_b ? free_b : free_a;
    if (!free) {
        return false;
    }
    compact_fill_slot(c, c->layout->is_wide, probe, mark, take_b ? probe->b : probe->a, free);
    return true;
}

void unseen__compact_kick_in(struct compact *c, struct compact_kicked *kicked)
{
    if (kicked->page == COMPACT_NO_PAGE) {
        return;
    }
    uint8_t *line = compact_page(c, kicked->page) + (size_t)kicked->to * COMPACT_LINE;
    uint32_t free = free_slots(c, line);
    compact_put(c->layout->is_wide, line, (unsigned)__builtin_ctz(free), kicked->word, kicked->r);
    if ((free & (free - 1)) == 0) {
        *compact_full(c, kicked->page) |= (uint64_t)1 << kicked->to;
    }
    kicked->page = COMPACT_NO_PAGE;
}

/* The full map says which lines have room without looking at them. */
bool unseen__compact_kick_out(struct compact *c, const struct compact_probe *probe, uint32_t mark,
                              struct compact_kicked *kicked)
{
    const bool wide = c->layout->is_wide;
    const uint64_t full = *compact_full(c, probe->page);
    for (int side = 0; side < 2; side++) {
        uint8_t *line = side ? probe->b : probe->a;
        unsigned from = compact_line_number(c, probe, line);
        for (unsigned slot = 0; slot < slots_of(c); slot++) {
            const unsigned r = compact_r(wide, line, slot);
            const unsigned to = from ^ compact_offset(r, c->layout->r_bits);
            if (full >> to & 1) {
                continue;
            }
            UNSEEN_PREFETCH(compact_start(c, probe) + (size_t)to * COMPACT_LINE);
            *kicked = (struct compact_kicked){probe->page, compact_word(line, slot), (uint8_t)r,
                                              (uint8_t)to};
            compact_fill_slot(c, wide, probe, mark, line, 1u << slot);
            return true;
        }
    }
    return false;
}

static bool kick(struct compact *c, const struct compact_probe *probe, uint32_t mark)
{
    struct compact_kicked kicked = {.page = COMPACT_NO_PAGE};
    const bool done = unseen__compact_kick_out(c, probe, mark, &kicked);
    unseen__compact_kick_in(c, &kicked);
    return done;
}

/* Computes the full map of a page anew: lines from which a tag was removed have room again. Returns
 * true if the map changed. */
static bool refresh_full(struct compact *c, const struct compact_probe *probe)
{
    const uint8_t *start = compact_start(c, probe);
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        full |= (uint64_t)(free_slots(c, start + (size_t)line * COMPACT_LINE) == 0) << line;
    }
    bool changed = full != *compact_full(c, probe->page);
    *compact_full(c, probe->page) = full;
    return changed;
}

bool unseen__compact_add_by_kick(struct compact *c, const struct compact_probe *probe,
                                 uint32_t mark)
{
    return kick(c, probe, mark) || (refresh_full(c, probe) && kick(c, probe, mark));
}

enum unseen_status unseen__compact_add_full(struct compact *c, struct unseen_key key,
                                            struct compact_probe *probe, bool *moved_out)
{
    while (!unseen__compact_add_by_kick(c, probe, c->mark)) {
        bool stuck;
        enum unseen_status status = unseen__compact_grow(c, compact_path(c, key), &stuck);
        *moved_out = true;
        if (status != UNSEEN_OK) {
            return status;
        }
        if (stuck) {
            status = unseen__stash_add(&c->stash, key, &c->allocator);
            c->nkeys += status == UNSEEN_OK;
            return status;
        }
        compact_locate(c, c->layout->is_wide, key, compact_find(c, compact_path(c, key)), probe);
        if (unseen__compact_add_plain(c, probe, c->mark)) {
            return UNSEEN_OK;
        }
    }
    return UNSEEN_OK;
}
