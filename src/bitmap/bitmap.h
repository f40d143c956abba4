/* SPDX-License-Identifier: MIT
 *
 * The bitmap: an exact set of integers below 2^40, for sorting them and for operations on whole
 * sets. It stands beside the filters: integers are their own keys, and nothing is hashed.
 * unseen_bitmap.h is its public interface, and `unseen sort` is its main user.
 *
 * An integer has three parts. Each part leads one level down:
 *
 *     [ leaf: 16 bits ][ page: 9 bits ][ low: 15 bits ]
 *
 * The root is an array of leaves, as long as the largest leaf number needs. A leaf is 512 entries,
 * and an entry stands for a run of 2^15 integers. It is 0 if the run has no integer in the set;
 * else it is an address, and its low bits say what is at the address:
 *
 *     dense    a page of 2^15 bits
 *     sparse   a cell of 8, 32 or 128 words of 16 bits: how many integers, then their low parts in
 *              increasing order
 *
 * So an integer costs 32 bytes at most where a run has many integers, whatever range they are
 * spread over, and one bit where they are dense. (Roaring bitmaps [Lemire18] do the same with runs
 * of 2^16 and cells of up to 4096 words. Smaller cells make adding fast: each new integer shifts
 * half of a cell, and only the first 127 integers of a run go through a cell.)
 *
 * Leaves, dense pages and the slabs that cells are cut from are all pages of 4 KiB from one pool. A
 * slab whose cells are all free becomes a free page again, so a run that becomes dense leaves no
 * hole behind. docs/decisions/bitmap.md has the measurements. */
#ifndef UNSEEN_BITMAP_BITMAP_H
#define UNSEEN_BITMAP_BITMAP_H

#include <stdbool.h>

#include "base/macros.h"
#include "base/pages.h"
#include "hash/chunk_file.h"
#include "unseen_bitmap.h"

enum {
    BITMAP_LOW_BITS = 15,
    BITMAP_LEAF_BITS = 9,
    BITMAP_LEAF_SIZE = 1 << BITMAP_LEAF_BITS,
    BITMAP_WORDS = UNSEEN__PAGE / 8,
    BITMAP_CLASSES = 3,
    BITMAP_CELL_MAX = 128, /* words of the largest cell */
    BITMAP_ENTRIES_PER_PAGE = 1 << BITMAP_LOW_BITS
};

/* What the low bits of an entry say. */
enum bitmap_shape {
    BITMAP_NONE = 0,
    BITMAP_DENSE = 1,
    BITMAP_SPARSE = 2 /* + the class of the cell: 2, 3 or 4 */
};

/* One more than the largest page number. */
#define BITMAP_PAGES_END (UNSEEN_BITMAP_END >> BITMAP_LOW_BITS)

struct bitmap_slab;

/* bitmap_pool.c: cells cut from pages. */
struct bitmap_pool {
    struct unseen__pages pages;
    struct bitmap_slab *partial[BITMAP_CLASSES]; /* slabs with a free cell */
};

/* The state of an import. */
struct bitmap_import {
    bool has_header;
    bool has_end;
    uint64_t id;
    uint64_t count;
};

struct unseen_bitmap {
    uint64_t **root;
    size_t nroot;
    uint64_t count;
    struct bitmap_pool pool;
    enum unseen_cpu cpu;
    struct bitmap_import import;
    bool is_edited;             /* the writer is open */
    struct chunk_writer writer; /* of a bitmap that was opened to be edited */
};

/* Takes a cell of a class, contents undefined; NULL without memory. */
uint16_t *unseen__bitmap_cell_take(struct bitmap_pool *pool, unsigned class);
void unseen__bitmap_cell_give(struct bitmap_pool *pool, unsigned class, uint16_t *cell);

/* The words of a cell. */
UNSEEN_INLINE unsigned bitmap_cell_words(unsigned class)
{
    return 8u << 2 * class;
}

/* bitmap.c */

/* The entry of a page; NULL if its leaf does not exist. */
UNSEEN_INLINE uint64_t *bitmap_entry(const struct unseen_bitmap *b, uint64_t page)
{
    const uint64_t leaf = page >> BITMAP_LEAF_BITS;
    uint64_t *entries = leaf < b->nroot ? b->root[leaf] : NULL;
    return entries ? entries + page % BITMAP_LEAF_SIZE : NULL;
}

UNSEEN_INLINE unsigned bitmap_shape(uint64_t entry)
{
    return (unsigned)entry & 7;
}

UNSEEN_INLINE unsigned bitmap_class(uint64_t entry)
{
    return bitmap_shape(entry) - BITMAP_SPARSE;
}

UNSEEN_INLINE uint64_t *bitmap_words(uint64_t entry)
{
    return (uint64_t *)(uintptr_t)(entry & ~(uint64_t)7);
}

UNSEEN_INLINE uint16_t *bitmap_cell(uint64_t entry)
{
    return (uint16_t *)(uintptr_t)(entry & ~(uint64_t)7);
}

/* The number of integers in a cell that are below low. No branch depends on them, so that the loop
 * is vectorised. */
UNSEEN_INLINE unsigned bitmap_cell_rank(const uint16_t *cell, unsigned low)
{
    const unsigned n = cell[0];
    uint16_t rank = 0;
    for (unsigned i = 1; i <= n; i++) {
        rank = (uint16_t)(rank + (cell[i] < low));
    }
    return rank;
}

UNSEEN_INLINE bool bitmap_cell_has(const uint16_t *cell, unsigned rank, unsigned low)
{
    return rank < cell[0] && cell[1 + rank] == low;
}

/* True if a page has an integer with this low part. The entry may be 0. */
UNSEEN_INLINE bool bitmap_has(uint64_t entry, unsigned low)
{
    if (bitmap_shape(entry) == BITMAP_DENSE) {
        return bitmap_words(entry)[low / 64] >> low % 64 & 1;
    }
    const uint16_t *cell = bitmap_cell(entry);
    return entry && bitmap_cell_has(cell, bitmap_cell_rank(cell, low), low);
}

UNSEEN_INLINE uint64_t bitmap_make_entry(const void *address, unsigned shape)
{
    return (uint64_t)(uintptr_t)address | shape;
}

/* The entry of a page; makes its leaf if need be. NULL without memory. */
uint64_t *unseen__bitmap_entry_make(struct unseen_bitmap *b, uint64_t page);

/* Sets the bits of a cell's integers in the words of a dense page. */
void unseen__bitmap_add_cell(uint64_t *words, const uint16_t *cell);

/* Makes an entry dense, whatever it was. */
enum unseen_status unseen__bitmap_densify(struct unseen_bitmap *b, uint64_t *entry);

/* Frees the page or the cell of an entry. The caller corrects the count. */
void unseen__bitmap_drop(struct unseen_bitmap *b, uint64_t *entry);

/* Adds one integer of a page; *added_out is true if it was absent. */
enum unseen_status unseen__bitmap_add(struct unseen_bitmap *b, uint64_t *entry, unsigned low,
                                      bool *added_out);

/* Makes a sparse page of n low parts in increasing order, 0 < n < BITMAP_CELL_MAX. The page has no
 * entry yet. */
enum unseen_status unseen__bitmap_put_cell(struct unseen_bitmap *b, uint64_t *entry,
                                           const uint16_t *lows, unsigned n);

/* The first page from `page` on that has integers, or BITMAP_PAGES_END. */
uint64_t unseen__bitmap_next_page(const struct unseen_bitmap *b, uint64_t page);

/* bitmap_range.c */

/* The number of integers in a page. */
unsigned unseen__bitmap_page_count(const struct unseen_bitmap *b, uint64_t entry);

/* bitmap_save.c */

/* Writes the next chunk of a bitmap, as unseen__chunk_cut does. Equal bitmaps give equal bytes. */
enum unseen_status unseen__bitmap_next_chunk(const void *bitmap, uint64_t *cursor, void *buf,
                                             size_t cap, size_t *len_out);

/* Takes one whole chunk into a bitmap that was empty before the first: the header first, the others
 * in any order. *complete_out says whether the bitmap has all chunks. Errors: CORRUPT, VERSION,
 * NOMEM, ARGUMENT (the bitmap was not empty); the bitmap can only be freed then. */
enum unseen_status unseen__bitmap_take_chunk(void *bitmap, const void *chunk, size_t len,
                                             bool *complete_out);

#endif
