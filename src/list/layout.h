/* SPDX-License-Identifier: MIT
 *
 * Where on a page a column and a block's displaced bits are, for the code that reads or writes
 * pages. */
#ifndef UNSEEN_LIST_LAYOUT_H
#define UNSEEN_LIST_LAYOUT_H

#include "list/geometry.h"

enum {
    UNSEEN__LIST_LEVEL_SHIFT = 62
};
#define UNSEEN__LIST_LEVEL_MASK (UINT64_C(3) << UNSEEN__LIST_LEVEL_SHIFT)

/* The offset of column j of a block; the additional column is number `columns`. */
static inline unsigned unseen__list_word_offset(const struct unseen__list_geometry *s,
                                                unsigned block, unsigned j)
{
    return j < s->group0 ? 8 * (block * s->group0 + j) : s->rest[block] + 8 * (j - s->group0);
}

/* The two bits that a block's level has displaced. */
static inline unsigned unseen__list_displaced(const struct unseen__list_geometry *s,
                                              const uint8_t *page, unsigned block)
{
    return page[s->displaced[block / 4]] >> 2 * (block % 4) & 3;
}

/* The block behind this one. The last block is its own successor: its keys have no coefficients
 * there. */
static inline unsigned unseen__list_next_block(const struct unseen__list_geometry *s,
                                               unsigned block)
{
    return block + 1 < s->blocks ? block + 1 : block;
}

#endif
