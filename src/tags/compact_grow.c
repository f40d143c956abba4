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
 * that needs 14 or more keeps the pages of the group. So a split never fails because it is uneven:
 * a group splits exactly when more keys begin with its prefix than 15 pages hold. No order of the
 * keys changes that, and in the end there are the same groups.
 *
 * Every step builds new pages beside the old pages, and changes the group and the directory only
 * when nothing can fail any more.
 *
 * compact_build.h builds the new groups, compact_kick.c has the kick. */
#include "tags/compact_build.h"

enum {
    /* Hostile keys come in numbers: after a group could not make room, its next STUCK_KEYS keys do
     * not try again. */
    STUCK_KEYS = COMPACT_STUCK_MAX,
    SPLIT_SHARE = 16, /* a group with less than 1/16 of its slots in use does not split */
    SPLIT_PAGES = 2 * COMPACT_PAGES_MIN, /* that a split of random keys takes */
    /* A half that needs so many pages keeps those of the group. */
    KEEPS_PAGES_FROM = COMPACT_PAGES_MAX - 1
};

/* ---- expand ---- */

/* Copies the chosen tags of a page to page number to of the fill. */
UNSEEN_INLINE bool copy_places(const struct compact *c, enum compact_width width,
                               const uint8_t *page, const struct compact_places *places,
                               struct compact_fill *f, unsigned to)
{
    for (size_t i = 0; i < places->n; i++) {
        unsigned line = places->at[i] / 16;
        unsigned slot = places->at[i] % 16;
        const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
        if (!compact_fill_put(c, width, f, to, line, compact_word(bytes, slot),
                              compact_low(width, bytes, slot))) {
            return false;
        }
    }
    return true;
}

static bool copy_some(const struct compact *c, const uint8_t *page,
                      const struct compact_places *places, struct compact_fill *f, unsigned to)
{
    switch (c->layout->width) {
    case COMPACT_32:
        return copy_places(c, COMPACT_32, page, places, f, to);
    case COMPACT_39:
        return copy_places(c, COMPACT_39, page, places, f, to);
    default:
        return copy_places(c, COMPACT_51, page, places, f, to);
    }
}

/* Copies the tags that leave the group's pages for its new one. */
static bool copy_leaving(const struct compact *c, const struct compact_group *group,
                         struct compact_fill *f, uint16_t leaving[][COMPACT_LINES])
{
    const unsigned m = group->npages;
    struct compact_places places;
    for (unsigned p = 0; p < m; p++) {
        const uint8_t *interval = c->layout->leaving[m - COMPACT_PAGES_MIN][p];
        const uint8_t *page = compact_page(c, group->page[p]);
        if (p + 1 < m) {
            compact_prefetch_page(compact_page(c, group->page[p + 1]));
        }
        places.n = c->kernel->leaving(page, interval[0], interval[1], leaving[p], places.at);
        if (!copy_some(c, page, &places, f, m)) {
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
    struct compact_fill f;
    uint32_t number = unseen__compact_page_take(c);
    unseen__compact_fill_start(c, &f, group.npages, number);
    c->work += group.npages;
    if (!copy_leaving(c, &group, &f, leaving)) {
        unseen__compact_page_give(c, number);
        return false;
    }
    erase_leaving(c, &group, leaving);
    unseen__compact_fill_done(c, &f, group.npages, number);
    group.page[group.npages++] = number;
    for (size_t i = 0; i < copies; i++) {
        entries[i] = group;
    }
    c->npages++;
    return true;
}

/* ---- split and rebuild ---- */

/* Changes a tag for one half of its group; returns false if the tag belongs to the other half. A
 * tag gives up its top bit of v, which is the number of its half. A void tag has no bit left to
 * give: it belongs to both halves and stays as it is. */
UNSEEN_INLINE bool halve(const struct compact *c, uint32_t *word, unsigned half)
{
    const uint32_t v_top = compact_v_top(c->layout->width);
    const uint32_t v_mask = compact_v_mask(c->layout->width);
    const uint32_t v = *word & v_mask;
    if (v == v_top) {
        return true;
    }
    *word = (*word & ~v_mask) | (v << 1 & v_mask);
    return (v >= v_top) == half;
}

bool unseen__compact_rebuild(struct compact *c, struct compact_group *entries, size_t copies,
                             unsigned npages)
{
    struct compact_group old = entries[0];
    struct compact_build b;
    unseen__compact_build_init(&b, &old, 1);
    if (!unseen__compact_build(c, &old, &b, &npages)) {
        return false;
    }
    for (size_t i = 0; i < copies; i++) {
        entries[i] = b.group[0];
    }
    unseen__compact_give_pages(c, &old);
    c->npages += (uint64_t)b.group[0].npages - old.npages;
    return true;
}

/* Counts the copies of void tags. A split copies a void tag to both halves, where the two copies
 * together have the weight of one. They count as two keys from then on: an export cannot tell them
 * from two keys, and removing takes away one of them. */
static void count_void_copies(struct compact *c, const struct compact_group *old)
{
    const uint32_t v_top = compact_v_top(c->layout->width);
    const uint32_t v_mask = compact_v_mask(c->layout->width);
    if (c->generations[old->depth] == 0) {
        return;
    }
    for (unsigned p = 0; p < old->npages; p++) {
        const uint8_t *page = compact_page(c, old->page[p]);
        struct compact_places places;
        compact_collect(c, page, &places);
        for (size_t i = 0; i < places.n; i++) {
            if ((compact_word_at(page, places.at[i]) & v_mask) == v_top) {
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
        struct compact_places places;
        compact_collect(c, page, &places);
        for (size_t i = 0; i < places.n; i++) {
            for (unsigned half = 0; half < 2; half++) {
                uint32_t word = compact_word_at(page, places.at[i]);
                nhalf[half] += halve(c, &word, half);
            }
        }
    }
}

/* The fewest pages on which so many tags may fit: pages of random keys are 92 % full at most. */
static unsigned compact_pages_for(const struct compact *c, size_t ntags)
{
    const size_t page_tags = (size_t)COMPACT_LINES * c->layout->slots * 92 / 100;
    const size_t npages = (ntags + page_tags - 1) / page_tags;
    return npages > COMPACT_PAGES_MIN ? (unsigned)npages : COMPACT_PAGES_MIN;
}

/* Copies the tags of one half to the only part of a build. */
static bool copy_half(const struct compact *c, const struct compact_group *from, unsigned half,
                      struct compact_build *b)
{
    const enum compact_width width = c->layout->width;
    for (unsigned p = 0; p < from->npages; p++) {
        const uint8_t *page = compact_page(c, from->page[p]);
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
            for (unsigned slot = 0; slot < c->layout->slots; slot++) {
                uint32_t word = compact_word(bytes, slot);
                const unsigned low = compact_low(width, bytes, slot);
                const unsigned r = compact_r(width, low);
                if (word && halve(c, &word, half) &&
                    !compact_fill_put(
                        c, width, &b->fill,
                        compact_page_of(c->layout, b->group[0].npages,
                                        compact_home_of(c->layout, from->npages, p, r), r),
                        line, word, low)) {
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
            for (unsigned slot = 0; slot < c->layout->slots; slot++) {
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
    struct compact_build b;
    unsigned npages = compact_pages_for(c, nhalf[!kept]);
    unseen__compact_build_init(&b, &old, 1);
    for (;; npages++) {
        if (npages > COMPACT_PAGES_MAX) {
            unseen__compact_build_drop(c, &b);
            return false;
        }
        unseen__compact_build_start(c, &b, 0, npages);
        c->work += old.npages;
        if (copy_half(c, &old, !kept, &b)) {
            break;
        }
    }
    unseen__compact_build_done(c, &b);
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
    return ntags >= (size_t)group->npages * COMPACT_LINES * c->layout->slots / SPLIT_SHARE;
}

static size_t build_ntags(const struct compact_build *b)
{
    size_t ntags = 0;
    for (unsigned part = 0; part < b->nparts; part++) {
        for (unsigned p = 0; p < b->group[part].npages; p++) {
            for (unsigned line = 0; line < COMPACT_LINES; line++) {
                ntags += b->fill.used[part * COMPACT_PAGES_MAX + p][line];
            }
        }
    }
    return ntags;
}

/* Builds the halves of a group with the fewest pages, from npages on, that hold their tags.
 * *done_out is false, with the pages given back, if a half needs KEEPS_PAGES_FROM or more. */
static enum unseen_status build_halves(struct compact *c, const struct compact_group *old,
                                       struct compact_build *b, unsigned *npages, bool *done_out)
{
    *done_out = false;
    while (npages[0] < KEEPS_PAGES_FROM && npages[1] < KEEPS_PAGES_FROM) {
        const size_t more = npages[0] + npages[1] - b->group[0].npages - b->group[1].npages;
        const enum unseen_status status = unseen__compact_pages_reserve(c, more);
        if (status != UNSEEN_OK) {
            unseen__compact_build_drop(c, b);
            return status;
        }
        const int full = unseen__compact_build_try(c, old, b, npages);
        if (full < 0) {
            *done_out = true;
            return UNSEEN_OK;
        }
        npages[full]++;
    }
    unseen__compact_build_drop(c, b);
    return UNSEEN_OK;
}

/* Splits a group in two. The directory has room for both, and SPLIT_PAGES pages are in reserve.
 * *done_out is false, and nothing was changed, if the tags are too few or do not spread. */
static enum unseen_status split_group(struct compact *c, struct compact_group *entries,
                                      size_t copies, bool *done_out)
{
    const struct compact_group old = entries[0];
    struct compact_build b;
    unsigned npages[2] = {COMPACT_PAGES_MIN, COMPACT_PAGES_MIN};
    *done_out = false;
    unseen__compact_build_init(&b, &old, 2);
    if (unseen__compact_build_try(c, &old, &b, npages) >= 0) {
        size_t nhalf[2];
        bool is_built;
        count_halves(c, &old, nhalf);
        if (!is_worth_a_split(c, &old, nhalf[0] + nhalf[1])) {
            unseen__compact_build_drop(c, &b);
            return UNSEEN_OK;
        }
        npages[0] = compact_pages_for(c, nhalf[0]);
        npages[1] = compact_pages_for(c, nhalf[1]);
        const enum unseen_status status = build_halves(c, &old, &b, npages, &is_built);
        if (status == UNSEEN_OK && !is_built) {
            *done_out = split_in_place(c, entries, copies, nhalf);
        }
        if (!is_built) {
            return status;
        }
    }
    if (!is_worth_a_split(c, &old, build_ntags(&b))) {
        unseen__compact_build_drop(c, &b);
        return UNSEEN_OK;
    }
    count_void_copies(c, &old);
    install_halves(c, entries, copies, b.group);
    unseen__compact_give_pages(c, &old);
    *done_out = true;
    return UNSEEN_OK;
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
    status = unseen__compact_pages_reserve(c, SPLIT_PAGES); /* for a rebuild, too */
    if (status != UNSEEN_OK) {
        return status;
    }
    if (entries->npages < COMPACT_PAGES_MAX &&
        unseen__compact_rebuild(c, entries, copies, entries->npages + 1u)) {
        return UNSEEN_OK;
    }
    if (entries->depth < unseen__compact_depth_limit(c)) {
        bool is_done;
        status = unseen__compact_directory_deepen(c, path);
        if (status != UNSEEN_OK) {
            return status;
        }
        entries = unseen__compact_directory_find(c, path, &copies);
        status = split_group(c, entries, copies, &is_done);
        if (status != UNSEEN_OK || is_done) {
            return status;
        }
    }
    *stuck_out = true;
    set_stuck(entries, copies, STUCK_KEYS);
    return UNSEEN_OK;
}

/* ---- room in advance ---- */

/* Splits a group into two of at least npages pages each. Returns false, with nothing changed, if
 * the tags do not spread. */
static bool split_to(struct compact *c, struct compact_group *entries, size_t copies,
                     unsigned npages)
{
    const struct compact_group old = entries[0];
    struct compact_build b;
    unsigned wanted[2] = {npages, npages};
    unseen__compact_build_init(&b, &old, 2);
    if (!unseen__compact_build(c, &old, &b, wanted)) {
        return false;
    }
    count_void_copies(c, &old);
    install_halves(c, entries, copies, b.group);
    unseen__compact_give_pages(c, &old);
    return true;
}

/* Splits each group that is not as deep as this. */
static enum unseen_status split_level(struct compact *c, unsigned depth, unsigned npages)
{
    uint64_t path = 0;
    do {
        size_t copies;
        struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
        if (entries->depth < depth) {
            enum unseen_status status =
                unseen__compact_pages_reserve(c, 2 * (size_t)COMPACT_PAGES_MAX);
            if (status == UNSEEN_OK) {
                status = unseen__compact_directory_deepen(c, path);
            }
            if (status != UNSEEN_OK) {
                return status;
            }
            entries = unseen__compact_directory_find(c, path, &copies);
            if (split_to(c, entries, copies, npages)) {
                entries = unseen__compact_directory_find(c, path, &copies);
            }
        }
        path = compact_next_path(path, entries->depth);
    } while (path != 0);
    return UNSEEN_OK;
}

/* Gives npages pages to each group of this depth. */
static enum unseen_status widen_level(struct compact *c, unsigned depth, unsigned npages)
{
    uint64_t path = 0;
    do {
        size_t copies;
        struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
        if (entries->depth == depth && entries->npages < npages) {
            const enum unseen_status status = unseen__compact_pages_reserve(c, COMPACT_PAGES_MAX);
            if (status != UNSEEN_OK) {
                return status;
            }
            (void)unseen__compact_rebuild(c, entries, copies, npages);
        }
        path = compact_next_path(path, entries->depth);
    } while (path != 0);
    return UNSEEN_OK;
}

/* Level by level, so that no group is ever much deeper than the others: an import takes that for a
 * fault. */
enum unseen_status unseen__compact_grow_to(struct compact *c, unsigned depth, unsigned npages)
{
    /* All at once, for huge pages. */
    const uint64_t npages_then = (uint64_t)npages << depth;
    enum unseen_status status =
        npages_then > c->npages
            ? unseen__compact_pages_reserve(c, (size_t)(npages_then - c->npages))
            : UNSEEN_OK;
    for (unsigned d = 1; d <= depth && status == UNSEEN_OK; d++) {
        status = split_level(c, d, d < depth ? COMPACT_PAGES_MIN : npages);
    }
    return status == UNSEEN_OK ? widen_level(c, depth, npages) : status;
}
