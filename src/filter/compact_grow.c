/* SPDX-License-Identifier: MIT
 *
 * How the compact filter makes room, from the cheapest step to the dearest:
 *
 *   kick    one tag of the two full lines moves to its own other line: 1 in 15 adds
 *   expand  a group of 8..14 pages takes one more page: 1 in about 900 adds, some 10 us
 *   split   a group of 15 pages becomes two groups of 8: 1 in about 7,000 adds, some 60 us
 *
 * Every step first builds the new pages beside the old ones, and changes what others can see only
 * when nothing can fail any more. A new page is filled in order, with the number of tags of each
 * line in a small array: looking for free slots in memory written just before costs twice as much.
 */
#include "filter/compact_ops.h"

/* Pages being filled. */
struct fill {
    uint8_t *page[COMPACT_PAGES_MAX];
    uint8_t used[COMPACT_PAGES_MAX][COMPACT_LINES]; /* tags of each line, at its first slots */
};

static bool is_wide(const struct compact *c)
{
    return c->r_bits == 7;
}

static unsigned slots_of(const struct compact *c)
{
    return c->layout->slots;
}

/* ---- kick ---- */

bool compact_kick(struct compact *c, const struct compact_probe *probe, uint8_t **line_out,
                  unsigned *slot_out)
{
    const bool wide = is_wide(c);
    const unsigned slots = slots_of(c);
    for (int side = 0; side < 2; side++) {
        unsigned from = side ? probe->b : probe->a;
        uint8_t *line = probe->page + (size_t)from * COMPACT_LINE;
        for (unsigned slot = 0; slot < slots; slot++) {
            unsigned r = compact_r(wide, line, slot);
            unsigned to = from ^ compact_offset(r, c->r_bits);
            if (*probe->full >> to & 1) {
                continue;
            }
            uint8_t *other = probe->page + (size_t)to * COMPACT_LINE;
            unsigned nfree = 0;
            unsigned target = 0;
            for (unsigned i = slots; i-- > 0;) {
                if (compact_word(other, i) == 0) {
                    target = i;
                    nfree++;
                }
            }
            compact_put(wide, other, target, compact_word(line, slot), r);
            if (nfree == 1) {
                *probe->full |= (uint64_t)1 << to;
            }
            compact_put(wide, line, slot, 0, 0);
            *line_out = line;
            *slot_out = slot;
            return true;
        }
    }
    return false;
}

/* ---- filling new pages ---- */

/* Moves one tag of line from to its own other line, to make a free slot. */
static bool fill_kick(const struct compact *c, struct fill *f, unsigned page, unsigned from,
                      unsigned *slot_out)
{
    const bool wide = is_wide(c);
    uint8_t *line = f->page[page] + (size_t)from * COMPACT_LINE;
    for (unsigned slot = 0; slot < slots_of(c); slot++) {
        unsigned r = compact_r(wide, line, slot);
        unsigned to = from ^ compact_offset(r, c->r_bits);
        if (f->used[page][to] < slots_of(c)) {
            compact_put(wide, f->page[page] + (size_t)to * COMPACT_LINE, f->used[page][to]++,
                        compact_word(line, slot), r);
            *slot_out = slot;
            return true;
        }
    }
    return false;
}

/* Puts a tag that was in this line before into the same line or its partner. */
static bool fill_put(const struct compact *c, struct fill *f, unsigned page, unsigned line,
                     uint32_t word, unsigned r)
{
    const bool wide = is_wide(c);
    unsigned other = line ^ compact_offset(r, c->r_bits);
    uint8_t *used = f->used[page];
    unsigned to = used[other] < used[line] ? other : line;
    unsigned slot = used[to];
    if (UNSEEN_LIKELY(slot < slots_of(c))) {
        used[to]++;
    } else if (!fill_kick(c, f, page, to, &slot)) {
        to ^= compact_offset(r, c->r_bits);
        if (!fill_kick(c, f, page, to, &slot)) {
            return false;
        }
    }
    compact_put(wide, f->page[page] + (size_t)to * COMPACT_LINE, slot, word, r);
    return true;
}

static void fill_start(const struct compact *c, struct fill *f, unsigned page, uint32_t number)
{
    f->page[page] = compact_page(c, number);
    memset(f->page[page], 0, COMPACT_PAGE);
    memset(f->used[page], 0, sizeof(f->used[page]));
}

/* Sets the full map of a page that was filled. */
static void fill_done(const struct compact *c, const struct fill *f, unsigned page,
                      uint32_t number)
{
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        full |= (uint64_t)(f->used[page][line] == slots_of(c)) << line;
    }
    *compact_full(c, number) = full;
}

/* ---- expand ---- */

/* The tags that leave a group's pages for page number npages, copied there. */
static bool copy_leaving(const struct compact *c, const struct compact_group *group,
                         struct fill *f, uint16_t leaving[][COMPACT_LINES])
{
    const bool wide = is_wide(c);
    const unsigned m = group->npages;
    for (unsigned p = 0; p < m; p++) {
        const uint8_t *interval = c->layout->leaving[m - COMPACT_PAGES_MIN][p];
        const uint8_t *page = compact_page(c, group->page[p]);
        c->kernel->leaving(page, interval[0], interval[1], leaving[p]);
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            const uint8_t *bytes = page + (size_t)line * COMPACT_LINE;
            for (uint32_t slots = leaving[p][line]; slots; slots &= slots - 1) {
                unsigned slot = (unsigned)__builtin_ctz(slots);
                if (!fill_put(c, f, m, line, compact_word(bytes, slot),
                              compact_r(wide, bytes, slot))) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void erase_leaving(const struct compact *c, const struct compact_group *group,
                          uint16_t leaving[][COMPACT_LINES])
{
    const bool wide = is_wide(c);
    for (unsigned p = 0; p < group->npages; p++) {
        uint8_t *page = compact_page(c, group->page[p]);
        uint64_t freed = 0;
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            freed |= (uint64_t)(leaving[p][line] != 0) << line;
            for (uint32_t slots = leaving[p][line]; slots; slots &= slots - 1) {
                compact_put(wide, page + (size_t)line * COMPACT_LINE,
                            (unsigned)__builtin_ctz(slots), 0, 0);
            }
        }
        *compact_full(c, group->page[p]) &= ~freed;
    }
}

/* One page more. Returns false, with nothing changed, when the tags that leave do not fit into
 * one page (the group's pages are very uneven). Needs one page in reserve. */
static bool expand(struct compact *c, struct compact_group *entries, size_t copies)
{
    struct compact_group group = entries[0];
    uint16_t leaving[COMPACT_PAGES_MAX][COMPACT_LINES];
    struct fill f;
    uint32_t number = compact_page_take(c);
    fill_start(c, &f, group.npages, number);
    if (!copy_leaving(c, &group, &f, leaving)) {
        compact_page_give(c, number);
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

/* Which tags of the old group a new one takes: all, or those that go to one child. */
enum part {
    WHOLE = -1,
    CHILD_0 = 0,
    CHILD_1 = 1
};

/* Copies one line's tags into the new group. */
static bool copy_line(const struct compact *c, const struct compact_group *from, unsigned page,
                      unsigned line, enum part part, struct fill *f, unsigned npages)
{
    const bool wide = is_wide(c);
    const uint32_t v_top = 1u << (c->layout->v_bits - 1);
    const uint32_t v_mask = v_top | (v_top - 1);
    const uint8_t *bytes = compact_page(c, from->page[page]) + (size_t)line * COMPACT_LINE;
    for (unsigned slot = 0; slot < slots_of(c); slot++) {
        uint32_t word = compact_word(bytes, slot);
        if (word == 0) {
            continue;
        }
        unsigned r = compact_r(wide, bytes, slot);
        bool is_void = (word & v_mask) == v_top; /* no bit left to give: belongs to both */
        if (part != WHOLE && !is_void) {
            if ((int)((word & v_top) != 0) != (int)part) {
                continue;
            }
            word = (word & ~v_mask) | (word << 1 & v_mask);
        }
        unsigned home = compact_home_of(c, from->npages, page, r);
        if (!fill_put(c, f, compact_page_of(c, npages, home, r), line, word, r)) {
            return false;
        }
    }
    return true;
}

static bool copy_group(const struct compact *c, const struct compact_group *from, enum part part,
                       struct fill *f, unsigned npages)
{
    for (unsigned page = 0; page < from->npages; page++) {
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            if (!copy_line(c, from, page, line, part, f, npages)) {
                return false;
            }
        }
    }
    return true;
}

/* Builds part of an old group as a new group of the fewest pages, from npages on, that hold it.
 * Needs COMPACT_PAGES_MAX pages in reserve. Returns false when not even those hold it. */
static bool build(struct compact *c, const struct compact_group *from, enum part part,
                  unsigned npages, struct compact_group *group_out)
{
    struct compact_group group = {.depth = from->depth};
    struct fill f;
    for (; npages <= COMPACT_PAGES_MAX; npages++) {
        while (group.npages < npages) {
            group.page[group.npages++] = compact_page_take(c);
        }
        for (unsigned p = 0; p < npages; p++) {
            fill_start(c, &f, p, group.page[p]);
        }
        if (copy_group(c, from, part, &f, npages)) {
            for (unsigned p = 0; p < npages; p++) {
                fill_done(c, &f, p, group.page[p]);
            }
            *group_out = group;
            return true;
        }
    }
    for (unsigned p = 0; p < group.npages; p++) {
        compact_page_give(c, group.page[p]);
    }
    return false;
}

static void give_pages(struct compact *c, const struct compact_group *group)
{
    for (unsigned p = 0; p < group->npages; p++) {
        compact_page_give(c, group->page[p]);
    }
}

/* The same tags over more pages. */
static bool rebuild(struct compact *c, struct compact_group *entries, size_t copies)
{
    struct compact_group old = entries[0];
    struct compact_group group;
    if (old.npages == COMPACT_PAGES_MAX ||
        !build(c, &old, WHOLE, old.npages + 1u, &group)) {
        return false;
    }
    for (size_t i = 0; i < copies; i++) {
        entries[i] = group;
    }
    give_pages(c, &old);
    c->npages += (uint64_t)group.npages - old.npages;
    return true;
}

/* A void tag has become two: its weight is the same. */
static void count_void_copies(struct compact *c, const struct compact_group *old)
{
    const uint32_t v_top = 1u << (c->layout->v_bits - 1);
    const uint32_t v_mask = v_top | (v_top - 1);
    if (c->generations[old->depth] == 0) {
        return;
    }
    for (unsigned p = 0; p < old->npages; p++) {
        const uint8_t *page = compact_page(c, old->page[p]);
        for (unsigned line = 0; line < COMPACT_LINES; line++) {
            for (unsigned slot = 0; slot < slots_of(c); slot++) {
                uint32_t word = compact_word(page + (size_t)line * COMPACT_LINE, slot);
                if ((word & v_mask) == v_top) {
                    c->generations[old->depth]--;
                    c->generations[old->depth + 1] += 2;
                }
            }
        }
    }
}

/* Two groups instead of one, each with half of the tags. The directory has room for both. */
static bool split(struct compact *c, struct compact_group *entries, size_t copies)
{
    struct compact_group old = entries[0];
    struct compact_group child[2];
    if (!build(c, &old, CHILD_0, COMPACT_PAGES_MIN, &child[0])) {
        return false;
    }
    if (!build(c, &old, CHILD_1, COMPACT_PAGES_MIN, &child[1])) {
        give_pages(c, &child[0]);
        return false;
    }
    count_void_copies(c, &old);
    for (size_t i = 0; i < copies; i++) {
        entries[i] = child[i >= copies / 2];
        entries[i].depth++;
    }
    give_pages(c, &old);
    c->npages += (uint64_t)child[0].npages + child[1].npages - old.npages;
    c->ngroups++;
    return true;
}

/* With random keys no group is much deeper than the others: 12 more bits in common, for some 7,000
 * keys, do not happen. */
unsigned compact_depth_limit(const struct compact *c)
{
    unsigned limit = 12;
    for (uint64_t n = c->ngroups; n > 1; n /= 2) {
        limit++;
    }
    return limit < COMPACT_DEPTH_MAX ? limit : COMPACT_DEPTH_MAX;
}

enum unseen_status compact_grow(struct compact *c, uint64_t path, bool *stuck_out)
{
    *stuck_out = false;
    enum unseen_status status = compact_pages_reserve(c, 2 * (size_t)COMPACT_PAGES_MAX);
    if (status != UNSEEN_OK) {
        return status;
    }
    size_t copies;
    struct compact_group *entries = compact_directory_find(c, path, &copies);
    if (entries->npages < COMPACT_PAGES_MAX &&
        (expand(c, entries, copies) || rebuild(c, entries, copies))) {
        return UNSEEN_OK;
    }
    if (entries->depth >= compact_depth_limit(c)) {
        *stuck_out = true;
        return UNSEEN_OK;
    }
    status = compact_directory_deepen(c, path);
    if (status != UNSEEN_OK) {
        return status;
    }
    entries = compact_directory_find(c, path, &copies);
    *stuck_out = !split(c, entries, copies);
    return UNSEEN_OK;
}

/* ---- a key whose lines are full ---- */

static unsigned count_free(const struct compact *c, const uint8_t *line, uint32_t *free_out)
{
    uint32_t free = 0;
    for (unsigned slot = 0; slot < slots_of(c); slot++) {
        free |= (uint32_t)(compact_word(line, slot) == 0) << slot;
    }
    *free_out = free;
    return (unsigned)__builtin_popcount(free);
}

/* The ordinary choice of line and slot; false when both lines are full. */
static bool add_plain(struct compact *c, const struct compact_probe *probe)
{
    uint32_t free_a;
    uint32_t free_b;
    unsigned na = count_free(c, probe->page + (size_t)probe->a * COMPACT_LINE, &free_a);
    unsigned nb = count_free(c, probe->page + (size_t)probe->b * COMPACT_LINE, &free_b);
    if (na == 0 && nb == 0) {
        return false;
    }
    compact_fill_slot(c, is_wide(c), probe, nb > na ? probe->b : probe->a,
                      nb > na ? free_b : free_a);
    return true;
}

static bool add_by_kick(struct compact *c, const struct compact_probe *probe)
{
    uint8_t *line;
    unsigned slot;
    if (!compact_kick(c, probe, &line, &slot)) {
        return false;
    }
    unsigned number = (unsigned)((size_t)(line - probe->page) / COMPACT_LINE);
    compact_fill_slot(c, is_wide(c), probe, number, 1u << slot);
    return true;
}

enum unseen_status compact_add_full(struct compact *c, struct unseen_key key,
                                    struct compact_probe *probe, bool *moved_out)
{
    while (!add_plain(c, probe) && !add_by_kick(c, probe)) {
        bool stuck;
        enum unseen_status status = compact_grow(c, compact_path(c, key), &stuck);
        *moved_out = true;
        if (status != UNSEEN_OK) {
            return status;
        }
        if (stuck) {
            status = unseen__overflow_add(&c->overflow, key, &c->allocator);
            c->nkeys += status == UNSEEN_OK;
            return status;
        }
        compact_locate(c, is_wide(c), key, probe);
    }
    return UNSEEN_OK;
}
