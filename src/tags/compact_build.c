/* SPDX-License-Identifier: MIT
 *
 * Building groups of the compact filter.
 *
 * A new page is filled in order. Small arrays beside it hold the number of tags of each line and
 * the low of 39-bit tags, because reading back memory that was just written stalls the processor.
 * Tags that move are first collected as a list of places, without a branch on the data: a
 * mispredicted branch for each line costs more than everything else. */
#include "tags/compact_build.h"

enum {
    BUILD_SOURCES = 2 /* pages that are copied at the same time */
};

/* ---- pages being filled ---- */

void unseen__compact_fill_start(const struct compact *c, struct compact_fill *f, unsigned page,
                                uint32_t number)
{
    f->page[page] = compact_page(c, number);
    memset(f->page[page], 0, COMPACT_PAGE);
    memset(f->used[page], 0, sizeof(f->used[page]));
}

static unsigned fill_low(enum compact_width width, const struct compact_fill *f, unsigned page,
                         unsigned line, unsigned slot)
{
    return width == COMPACT_39
               ? f->low[page][line][slot]
               : compact_low(width, f->page[page] + (size_t)line * COMPACT_LINE, slot);
}

UNSEEN_NOINLINE bool unseen__compact_fill_kick(const struct compact *c, struct compact_fill *f,
                                               unsigned page, unsigned from, unsigned *slot_out)
{
    const enum compact_width width = c->layout->width;
    for (unsigned slot = 0; slot < c->layout->slots; slot++) {
        const unsigned low = fill_low(width, f, page, from, slot);
        unsigned to = from ^ compact_offset(compact_r(width, low), c->layout->r_bits);
        if (f->used[page][to] < c->layout->slots) {
            uint32_t word = compact_word(f->page[page] + (size_t)from * COMPACT_LINE, slot);
            compact_fill_word(width, f, page, to, f->used[page][to]++, word, low);
            *slot_out = slot;
            return true;
        }
    }
    return false;
}

/* Eight bytes of 7 bits each, next to each other. */
static uint64_t pack_bytes(uint64_t x)
{
    x = (x & 0x007f007f007f007f) | (x & 0x7f007f007f007f00) >> 1;
    x = (x & 0x00003fff00003fff) | (x & 0x3fff00003fff0000) >> 2;
    return (x & 0x000000000fffffff) | (x & 0x0fffffff00000000) >> 4;
}

/* The inverse. */
static uint64_t unpack_bytes(uint64_t x)
{
    x = (x & 0x000000000fffffff) | (x & 0x00fffffff0000000) << 4;
    x = (x & 0x00003fff00003fff) | (x & 0x0fffc0000fffc000) << 2;
    return (x & 0x007f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
}

/* Packs the low of the first n tags into the 7-bit fields of a line of 39-bit tags, and makes the
 * other fields 0. */
static void pack_low(const uint8_t *low, unsigned n, uint8_t *line)
{
    const uint64_t first = pack_bytes(load_le64(low)) & (((uint64_t)1 << 7 * (n < 8 ? n : 8)) - 1);
    const uint64_t second =
        pack_bytes(load_le64(low + 8)) & (((uint64_t)1 << 7 * (n > 8 ? n - 8 : 0)) - 1);
    store_le64(line + 52, first | second << 56);
    store_le32(line + 60, (uint32_t)(second >> 8));
}

/* The fields of a line of 39-bit tags, a byte each; the bytes behind the last field say nothing. */
static void unpack_low(const uint8_t *line, uint8_t *low)
{
    const uint64_t first = load_le64(line + 52);
    store_le64(low, unpack_bytes(first & (((uint64_t)1 << 56) - 1)));
    store_le64(low + 8,
               unpack_bytes(first >> 56 | (uint64_t)(load_le32(line + 60) & 0x7ffffff) << 8));
}

void unseen__compact_fill_done(const struct compact *c, const struct compact_fill *f, unsigned page,
                               uint32_t number)
{
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        unsigned used = f->used[page][line];
        full |= (uint64_t)(used == c->layout->slots) << line;
        if (c->layout->width == COMPACT_39) {
            pack_low(f->low[page][line], used, f->page[page] + (size_t)line * COMPACT_LINE);
        }
    }
    *compact_full(c, number) = full;
}

/* ---- groups being built ---- */

/* A page of an old group. Its tags go, in each part, to the page that `to` has for their
 * remainder. */
struct source {
    const uint8_t *page;
    struct compact_places places;
    uint8_t to[2][256];
    uint8_t low[COMPACT_LINES * 16]; /* of 39-bit tags: their low by place */
};

static void source_init(const struct compact *c, const struct compact_group *from, unsigned page,
                        const struct compact_build *b, struct source *source)
{
    source->page = compact_page(c, from->page[page]);
    compact_collect(c, source->page, &source->places);
    for (unsigned r = 0; r < 1u << c->layout->r_bits; r++) {
        const unsigned home = compact_home_of(c->layout, from->npages, page, r);
        for (unsigned part = 0; part < b->nparts; part++) {
            /* No tag of the page has a remainder without a home. */
            const unsigned to = home == COMPACT_NO_HOME
                                    ? 0
                                    : compact_page_of(c->layout, b->group[part].npages, home, r);
            source->to[part][r] = (uint8_t)(part * COMPACT_PAGES_MAX + to);
        }
    }
    for (unsigned line = 0; c->layout->width == COMPACT_39 && line < COMPACT_LINES; line++) {
        unpack_low(source->page + (size_t)line * COMPACT_LINE, source->low + (size_t)line * 16);
    }
}

/* What becomes of the word of a tag. */
enum turn {
    STAYS,
    SPLITS, /* its top bit of v chooses the part */
    JOINS   /* the half that it comes from becomes its top bit of v */
};

/* The word of a tag of this half in the group of both halves. A tag of full length has no room for
 * the bit: it loses its last one, and has full length in the new group. */
UNSEEN_INLINE uint32_t join_word(const struct compact *c, enum compact_width width, uint32_t word,
                                 struct compact_build *b)
{
    const uint32_t v_mask = compact_v_mask(width);
    const uint32_t v = word & v_mask;
    uint32_t joined = v >> 1 | (b->half ? compact_v_top(width) : 0);
    if ((v & (0 - v)) == c->mark) {
        joined = (joined & ~(2 * c->mark - 1)) | c->mark;
        b->nshortened++;
    }
    return (word & ~v_mask) | joined;
}

/* Copies a tag to its part. Returns the part that was too small, or -1. */
UNSEEN_INLINE int build_put(const struct compact *c, enum compact_width width, enum turn turn,
                            const struct source *source, unsigned place, struct compact_build *b)
{
    const uint32_t v_top = compact_v_top(width);
    const uint32_t v_mask = compact_v_mask(width);
    const unsigned line = place / 16;
    uint32_t word = load_le32(source->page + (size_t)4 * place);
    const unsigned low =
        width == COMPACT_39
            ? source->low[place]
            : compact_low(width, source->page + (size_t)line * COMPACT_LINE, place % 16);
    const unsigned r = compact_r(width, low);
    unsigned part = 0;
    if (turn == JOINS) {
        word = join_word(c, width, word, b);
    }
    if (turn == SPLITS) {
        const uint32_t rest = word << 1 & v_mask;
        if (UNSEEN_UNLIKELY(rest == 0)) {
            /* Void: no bit left to give, so the tag belongs to both. */
            if (!compact_fill_put(c, width, &b->fill, source->to[1][r], line, word, low)) {
                return 1;
            }
        } else {
            part = (word & v_top) != 0;
            word = (word & ~v_mask) | rest;
        }
    }
    const bool fits = compact_fill_put(c, width, &b->fill, source->to[part][r], line, word, low);
    return UNSEEN_LIKELY(fits) ? -1 : (int)part;
}

/* Copies the tags of n pages to the parts, a tag of each page in turn. Each tag waits for the
 * number of tags that the last one left in its line, so tags for different pages go faster. */
UNSEEN_INLINE int build_sources(const struct compact *c, enum compact_width width, enum turn turn,
                                const struct source *sources, size_t n, struct compact_build *b)
{
    size_t longest = 0;
    for (size_t k = 0; k < n; k++) {
        longest = sources[k].places.n > longest ? sources[k].places.n : longest;
    }
    for (size_t i = 0; i < longest; i++) {
        for (size_t k = 0; k < n; k++) {
            if (UNSEEN_LIKELY(i < sources[k].places.n)) {
                const int full = build_put(c, width, turn, &sources[k], sources[k].places.at[i], b);
                if (UNSEEN_UNLIKELY(full >= 0)) {
                    return full;
                }
            }
        }
    }
    return -1;
}

/* Whether the tags of pages `page` to page + BUILD_SOURCES - 1 go to different pages. The first
 * pages of any group have the tags of one home each, and a fresh group has a page for each home. */
static bool are_independent(unsigned page, const struct compact_build *b)
{
    return page + BUILD_SOURCES <= COMPACT_PAGES_MIN && b->group[0].npages == COMPACT_PAGES_MIN &&
           b->group[b->nparts - 1].npages == COMPACT_PAGES_MIN;
}

static int build_some(const struct compact *c, const struct source *sources, size_t n,
                      struct compact_build *b, enum turn turn)
{
    const enum compact_width width = c->layout->width;
    if (turn == JOINS || width == COMPACT_51) {
        return build_sources(c, width, turn, sources, n, b);
    }
    if (width == COMPACT_32) {
        return turn == SPLITS ? build_sources(c, COMPACT_32, SPLITS, sources, n, b)
                              : build_sources(c, COMPACT_32, STAYS, sources, n, b);
    }
    return turn == SPLITS ? build_sources(c, COMPACT_39, SPLITS, sources, n, b)
                          : build_sources(c, COMPACT_39, STAYS, sources, n, b);
}

/* Pages are worked on in order where their tags go to the same pages, because the order of the tags
 * decides the bytes. */
static int build_all(const struct compact *c, const struct compact_group *from,
                     struct compact_build *b, enum turn turn)
{
    struct source sources[BUILD_SOURCES];
    int full = -1;
    for (unsigned p = 0; p < from->npages && full < 0;) {
        const unsigned n = are_independent(p, b) ? BUILD_SOURCES : 1;
        for (unsigned k = 0; k < n; k++, p++) {
            if (p + 1 < from->npages) {
                compact_prefetch_page(compact_page(c, from->page[p + 1]));
            }
            source_init(c, from, p, b, &sources[k]);
        }
        full = build_some(c, sources, n, b, turn);
    }
    return full;
}

void unseen__compact_build_init(struct compact_build *b, const struct compact_group *from,
                                unsigned nparts)
{
    b->nparts = nparts;
    for (unsigned part = 0; part < nparts; part++) {
        b->group[part] = (struct compact_group){.depth = (uint8_t)(from->depth + nparts - 1)};
    }
}

void unseen__compact_build_start(struct compact *c, struct compact_build *b, unsigned part,
                                 unsigned npages)
{
    struct compact_group *group = &b->group[part];
    while (group->npages < npages) {
        group->page[group->npages++] = unseen__compact_page_take(c);
    }
    for (unsigned p = 0; p < npages; p++) {
        unseen__compact_fill_start(c, &b->fill, part * COMPACT_PAGES_MAX + p, group->page[p]);
    }
}

void unseen__compact_build_done(struct compact *c, struct compact_build *b)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        for (unsigned p = 0; p < b->group[part].npages; p++) {
            unseen__compact_fill_done(c, &b->fill, part * COMPACT_PAGES_MAX + p,
                                      b->group[part].page[p]);
        }
    }
}

void unseen__compact_build_drop(struct compact *c, struct compact_build *b)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        unseen__compact_give_pages(c, &b->group[part]);
        b->group[part].npages = 0;
    }
}

int unseen__compact_build_try(struct compact *c, const struct compact_group *from,
                              struct compact_build *b, const unsigned *npages)
{
    for (unsigned part = 0; part < b->nparts; part++) {
        /* NOLINTNEXTLINE: npages has b->nparts elements */
        unseen__compact_build_start(c, b, part, npages[part]);
    }
    c->work += from->npages;
    const int full = build_all(c, from, b, b->nparts == 2 ? SPLITS : STAYS);
    if (full < 0) {
        unseen__compact_build_done(c, b);
    }
    return full;
}

bool unseen__compact_build(struct compact *c, const struct compact_group *from,
                           struct compact_build *b, unsigned *npages)
{
    const unsigned last = b->nparts - 1;
    while (npages[0] <= COMPACT_PAGES_MAX && npages[last] <= COMPACT_PAGES_MAX) {
        const int full = unseen__compact_build_try(c, from, b, npages);
        if (full < 0) {
            return true;
        }
        npages[full]++;
    }
    unseen__compact_build_drop(c, b);
    return false;
}

bool unseen__compact_build_joined(struct compact *c, const struct compact_group halves[2],
                                  struct compact_build *b, unsigned npages)
{
    for (; npages <= COMPACT_PAGES_MAX; npages++) {
        int full = -1;
        b->nshortened = 0;
        unseen__compact_build_start(c, b, 0, npages);
        for (b->half = 0; b->half < 2 && full < 0; b->half++) {
            c->work += halves[b->half].npages;
            full = build_all(c, &halves[b->half], b, JOINS);
        }
        if (full < 0) {
            unseen__compact_build_done(c, b);
            return true;
        }
    }
    unseen__compact_build_drop(c, b);
    return false;
}
