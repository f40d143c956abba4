/* SPDX-License-Identifier: MIT
 *
 * What the compact filter's kernels, compact_kick.c and compact_merge.c share: finding a key's
 * lines, filling and clearing a slot. */
#ifndef UNSEEN_TAGS_COMPACT_OPS_H
#define UNSEEN_TAGS_COMPACT_OPS_H

#include "tags/compact.h"

/* Finds the two lines of a key of this group. */
UNSEEN_INLINE void compact_locate(const struct compact *c, enum compact_width width,
                                  struct unseen_key key, const struct compact_group *group,
                                  struct compact_probe *probe)
{
    /* 32 bits: fewer instructions. */
    const unsigned r_bits = compact_r_bits(width);
    const unsigned low_bits = compact_low_bits(width);
    const uint32_t lo = (uint32_t)key.lo;
    const uint32_t low = lo >> 6 & ((1u << low_bits) - 1);
    const uint32_t r = compact_r(width, low);
    const uint32_t home = lo >> (6 + low_bits) & 7;
    const uint64_t rest = compact_path(c, key) << group->depth;
    const uint32_t *moves = unseen__compact_layouts[width].moves;
    const unsigned place = compact_page_in(moves, r_bits, group->npages, home, r);
    const uint32_t number = group->page[place];
    uint8_t *page = compact_page(c, number);
    const uint32_t a = lo % COMPACT_LINES * COMPACT_LINE;
    probe->a = page + a;
    probe->b = page + (a ^ compact_offset(r, r_bits) * COMPACT_LINE);
    probe->v = width == COMPACT_32 ? low << 24 | (uint32_t)(rest >> 40) : (uint32_t)(rest >> 32);
    probe->page = number;
    probe->low = low;
    probe->depth = group->depth;
}

/* The start of the probe's page, and the number of a line in it. */
UNSEEN_INLINE uint8_t *compact_start(const struct compact *c, const struct compact_probe *probe)
{
    return compact_page(c, probe->page);
}

UNSEEN_INLINE unsigned compact_line_number(const struct compact *c,
                                           const struct compact_probe *probe, const uint8_t *line)
{
    return (unsigned)((size_t)(line - compact_start(c, probe)) / COMPACT_LINE);
}

/* Puts the probe's tag, with this end mark, into the lowest free slot of a line. The mark is
 * c->mark for a tag of a whole key. */
UNSEEN_INLINE void compact_fill_slot(struct compact *c, enum compact_width width,
                                     const struct compact_probe *probe, uint32_t mark,
                                     uint8_t *line, uint32_t free)
{
    uint32_t word = (probe->v & ~(2 * mark - 1)) | mark;
    compact_put(width, line, (unsigned)__builtin_ctz(free), word, probe->low);
    if ((free & (free - 1)) == 0) {
        *compact_full(c, probe->page) |= (uint64_t)1 << compact_line_number(c, probe, line);
    }
    c->generations[probe->depth + compact_v_len(c, mark)]++;
    c->nkeys++;
}

/* Clears a slot. The full map keeps its bit, which saves a memory access: unseen__compact_add_full
 * refreshes the map before a group grows. */
UNSEEN_INLINE void compact_clear_slot(struct compact *c, const struct compact_probe *probe,
                                      uint8_t *line, unsigned slot)
{
    uint32_t word = compact_word(line, slot);
    store_le32(line + 4 * slot, 0);
    c->generations[probe->depth + compact_v_len(c, word)]--;
    c->nkeys--;
}

/* Which slots of a line have the probe's tag or a shorter one of it. The caller compares
 * low. */
UNSEEN_INLINE uint32_t compact_matches(const struct compact *c, const struct compact_probe *probe,
                                       const uint8_t *line)
{
    return c->kernel->compare(line, probe->v).match & ((1u << c->layout->slots) - 1);
}

/* Adds the probe's tag to the emptier of its lines; returns false if both are full. */
bool unseen__compact_add_plain(struct compact *c, const struct compact_probe *probe, uint32_t mark);

/* Kick: the first tag of line a, then b, whose own other line has room goes there, and the probe's
 * tag takes its slot. Returns false if there is no such tag. Both lines are full. */
bool unseen__compact_add_by_kick(struct compact *c, const struct compact_probe *probe,
                                 uint32_t mark);

/* A tag that was taken out of its full line, on its way to its other line. That line is seldom in
 * the cache. So it is fetched, the batch goes on, and the tag is put there a few keys later: before
 * any other access to its page. */
struct compact_kicked {
    uint32_t page; /* COMPACT_NO_PAGE: there is no such tag */
    uint32_t word;
    uint32_t low;
    uint8_t to; /* the number of its line */
};

#define COMPACT_NO_PAGE 0 /* the full map of the first chunk: never a page of a group */

/* As unseen__compact_add_by_kick, but the tag that moves aside is in *kicked then. */
bool unseen__compact_kick_out(struct compact *c, const struct compact_probe *probe, uint32_t mark,
                              struct compact_kicked *kicked);

/* Puts the tag into its line. Does nothing if there is none. */
void unseen__compact_kick_in(struct compact *c, struct compact_kicked *kicked);

/* Adds a key whose two lines are full: moves a tag aside or lets the group grow. *moved_out is set
 * if pages or the directory changed, so that other probes are stale. */
enum unseen_status unseen__compact_add_full(struct compact *c, struct unseen_key key,
                                            struct compact_probe *probe, bool *moved_out);

#endif
