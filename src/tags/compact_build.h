/* SPDX-License-Identifier: MIT
 *
 * New groups of the compact filter, built beside an old group from its tags (compact_grow.c says
 * when). A group gets new pages, and the tags are put into them one by one. */
#ifndef UNSEEN_TAGS_COMPACT_BUILD_H
#define UNSEEN_TAGS_COMPACT_BUILD_H

#include "tags/compact.h"

/* ---- tags of old pages ---- */

/* Places of tags in a page: line * 16 + slot. */
struct compact_places {
    size_t n;
    uint16_t at[COMPACT_PLACES];
};

/* The tag at a place of a page. */
static inline uint32_t compact_word_at(const uint8_t *page, unsigned place)
{
    return compact_word(page + (size_t)(place / 16) * COMPACT_LINE, place % 16);
}

/* The places of all tags of a page. */
static inline void compact_collect(const struct compact *c, const uint8_t *page,
                                   struct compact_places *places)
{
    uint16_t slots[COMPACT_LINES];
    places->n = c->kernel->leaving(page, 0, 1u << c->layout->r_bits, slots, places->at);
}

static inline void compact_prefetch_page(const uint8_t *page)
{
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        UNSEEN_PREFETCH(page + (size_t)line * COMPACT_LINE);
    }
}

/* ---- pages being filled ---- */

/* Pages being filled: of one group or of two, each of which has COMPACT_PAGES_MAX of the
 * numbers. */
struct compact_fill {
    uint8_t *page[2 * COMPACT_PAGES_MAX];
    uint8_t used[2 * COMPACT_PAGES_MAX][COMPACT_LINES]; /* tags of each line, at its first slots */
    uint8_t low[2 * COMPACT_PAGES_MAX][COMPACT_LINES][16]; /* of 39-bit tags: their low */
};

/* Empties new page number `page` of the fill; `number` is its number in the filter. */
void unseen__compact_fill_start(const struct compact *c, struct compact_fill *f, unsigned page,
                                uint32_t number);

/* Writes what was kept beside a page: the low of 39-bit tags, and the full map. */
void unseen__compact_fill_done(const struct compact *c, const struct compact_fill *f, unsigned page,
                               uint32_t number);

/* Moves one tag of a full line to its own other line. Returns false if none can move; otherwise
 * *slot_out is the free slot. */
bool unseen__compact_fill_kick(const struct compact *c, struct compact_fill *f, unsigned page,
                               unsigned from, unsigned *slot_out);

static inline void compact_fill_word(enum compact_width width, struct compact_fill *f,
                                     unsigned page, unsigned line, unsigned slot, uint32_t word,
                                     unsigned low)
{
    uint8_t *bytes = f->page[page] + (size_t)line * COMPACT_LINE;
    store_le32(bytes + 4 * slot, word);
    if (width == COMPACT_39) {
        f->low[page][line][slot] = (uint8_t)low;
    } else if (width == COMPACT_51) {
        compact_set_low_51(bytes, slot, low);
    }
}

/* Puts a tag into the line that it had on its old page, or into the partner of that line. */
UNSEEN_INLINE bool compact_fill_put(const struct compact *c, enum compact_width width,
                                    struct compact_fill *f, unsigned page, unsigned line,
                                    uint32_t word, unsigned low)
{
    const unsigned slots = compact_slots(width);
    unsigned offset = compact_offset(compact_r(width, low), compact_r_bits(width));
    uint8_t *used = f->used[page];
    const unsigned here = used[line];
    const unsigned there = used[line ^ offset];
    /* The emptier of the two, without a branch. */
    unsigned to = line ^ (offset & (0u - (unsigned)(there < here)));
    unsigned slot = there < here ? there : here;
    if (UNSEEN_LIKELY(slot < slots)) {
        used[to] = (uint8_t)(slot + 1);
    } else if (!unseen__compact_fill_kick(c, f, page, to, &slot)) {
        to ^= offset;
        if (!unseen__compact_fill_kick(c, f, page, to, &slot)) {
            return false;
        }
    }
    compact_fill_word(width, f, page, to, slot, word, low);
    return true;
}

/* ---- groups being built ---- */

/* One or two new groups that are built from an old group. With two, the top bit of v chooses the
 * group of a tag. */
struct compact_build {
    unsigned nparts;
    struct compact_group group[2];
    unsigned half;     /* of two groups that are joined: the one that is read now */
    size_t nshortened; /* tags that lost a bit when their groups were joined */
    struct compact_fill fill;
};

/* Starts a build of nparts groups, which have no pages yet. */
void unseen__compact_build_init(struct compact_build *b, const struct compact_group *from,
                                unsigned nparts);

/* Takes pages until the new group has npages, and empties all of them. */
void unseen__compact_build_start(struct compact *c, struct compact_build *b, unsigned part,
                                 unsigned npages);

/* Builds each part with npages[part] pages. Returns the part that needs more pages, or -1. The
 * pages that the parts do not have yet must be in reserve. */
int unseen__compact_build_try(struct compact *c, const struct compact_group *from,
                              struct compact_build *b, const unsigned *npages);

/* Builds the parts with the fewest pages, from npages on, that hold their tags. Returns false, with
 * the pages given back, when COMPACT_PAGES_MAX are not enough. Needs nparts * COMPACT_PAGES_MAX
 * pages in reserve. */
bool unseen__compact_build(struct compact *c, const struct compact_group *from,
                           struct compact_build *b, unsigned *npages);

/* Builds one group, of the fewest pages from npages on, from both halves of its path. As
 * unseen__compact_build otherwise. */
bool unseen__compact_build_joined(struct compact *c, const struct compact_group halves[2],
                                  struct compact_build *b, unsigned npages);

/* Completes the pages of a build that was filled by hand. */
void unseen__compact_build_done(struct compact *c, struct compact_build *b);

/* Gives the pages of a build back. */
void unseen__compact_build_drop(struct compact *c, struct compact_build *b);

#endif
