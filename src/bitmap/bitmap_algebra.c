/* SPDX-License-Identifier: MIT
 *
 * And, or and andnot of whole bitmaps, page by page. A dense page that loses its last integer is
 * freed. A dense page that keeps a few integers stays dense: only the caller knows whether it pays
 * to shrink it, by an export and an import. */
#include "bitmap/bitmap.h"

#include <string.h>

/* Keeps the integers of a cell that are in the other page (keep), or that are not. */
static void filter_cell(uint16_t *cell, uint64_t other, bool keep)
{
    unsigned kept = 0;
    for (unsigned i = 1; i <= cell[0]; i++) {
        cell[1 + kept] = cell[i];
        kept += bitmap_has(other, cell[i]) == keep;
    }
    cell[0] = (uint16_t)kept;
}

/* A page as bits. */
static const uint64_t *as_words(uint64_t entry, uint64_t *buf)
{
    if (bitmap_shape(entry) == BITMAP_DENSE) {
        return bitmap_words(entry);
    }
    memset(buf, 0, UNSEEN__PAGE);
    if (entry) {
        unseen__bitmap_add_cell(buf, bitmap_cell(entry));
    }
    return buf;
}

static void filter_dense(uint64_t *words, uint64_t other, bool keep)
{
    uint64_t buf[BITMAP_WORDS];
    const uint64_t *with = as_words(other, buf);
    const uint64_t flip = keep ? 0 : UINT64_MAX;
    for (unsigned i = 0; i < BITMAP_WORDS; i++) {
        words[i] &= with[i] ^ flip;
    }
}

/* b and other, if keep is true; else b andnot other. */
static void filter_all(struct unseen_bitmap *b, const struct unseen_bitmap *other, bool keep)
{
    for (uint64_t page = 0; (page = unseen__bitmap_next_page(b, page)) < BITMAP_PAGES_END; page++) {
        uint64_t *entry = bitmap_entry(b, page);
        const uint64_t *with = bitmap_entry(other, page);
        const uint64_t other_entry = with ? *with : 0;
        if (!other_entry && !keep) {
            continue;
        }
        b->count -= unseen__bitmap_page_count(b, *entry);
        if (bitmap_shape(*entry) == BITMAP_DENSE) {
            filter_dense(bitmap_words(*entry), other_entry, keep);
        } else {
            filter_cell(bitmap_cell(*entry), other_entry, keep);
        }
        const unsigned left = unseen__bitmap_page_count(b, *entry);
        b->count += left;
        if (left == 0) {
            unseen__bitmap_drop(b, entry);
        }
    }
}

/* Merges two cells into a list in increasing order, and returns its length. No branch depends on
 * the order. */
static unsigned merge_cells(const uint16_t *x, const uint16_t *y, uint16_t *lows)
{
    const uint16_t *x_end = x + 1 + x[0];
    const uint16_t *y_end = y + 1 + y[0];
    unsigned n = 0;
    x++;
    y++;
    while (x < x_end && y < y_end) {
        const uint16_t from_x = *x;
        const uint16_t from_y = *y;
        lows[n++] = from_x < from_y ? from_x : from_y;
        x += from_x <= from_y;
        y += from_y <= from_x;
    }
    while (x < x_end) {
        lows[n++] = *x++;
    }
    while (y < y_end) {
        lows[n++] = *y++;
    }
    return n;
}

static enum unseen_status or_cell(struct unseen_bitmap *b, uint64_t *entry, const uint16_t *cell)
{
    if (!*entry) {
        return unseen__bitmap_put_cell(b, entry, cell + 1, cell[0]);
    }
    uint16_t lows[2 * BITMAP_CELL_MAX];
    const unsigned n = bitmap_shape(*entry) == BITMAP_DENSE
                           ? BITMAP_CELL_MAX
                           : merge_cells(bitmap_cell(*entry), cell, lows);
    if (n < BITMAP_CELL_MAX) {
        uint64_t old = *entry;
        const enum unseen_status status = unseen__bitmap_put_cell(b, entry, lows, n);
        if (status == UNSEEN_OK) {
            unseen__bitmap_drop(b, &old);
        }
        return status;
    }
    const enum unseen_status status = unseen__bitmap_densify(b, entry);
    if (status == UNSEEN_OK) {
        unseen__bitmap_add_cell(bitmap_words(*entry), cell);
    }
    return status;
}

static enum unseen_status or_dense(struct unseen_bitmap *b, uint64_t *entry, const uint64_t *with)
{
    const enum unseen_status status = unseen__bitmap_densify(b, entry);
    for (unsigned i = 0; i < BITMAP_WORDS && status == UNSEEN_OK; i++) {
        bitmap_words(*entry)[i] |= with[i];
    }
    return status;
}

static enum unseen_status or_all(struct unseen_bitmap *b, const struct unseen_bitmap *other)
{
    enum unseen_status status = UNSEEN_OK;
    for (uint64_t page = 0; status == UNSEEN_OK; page++) {
        page = unseen__bitmap_next_page(other, page);
        if (page == BITMAP_PAGES_END) {
            break;
        }
        const uint64_t with = *bitmap_entry(other, page);
        uint64_t *entry = unseen__bitmap_entry_make(b, page);
        if (!entry) {
            return UNSEEN_ERR_NOMEM;
        }
        b->count -= unseen__bitmap_page_count(b, *entry);
        status = bitmap_shape(with) == BITMAP_DENSE ? or_dense(b, entry, bitmap_words(with))
                                                    : or_cell(b, entry, bitmap_cell(with));
        b->count += unseen__bitmap_page_count(b, *entry);
    }
    return status;
}

enum unseen_status unseen_bitmap_combine(struct unseen_bitmap *b,
                                         enum unseen_bitmap_operation operation,
                                         const struct unseen_bitmap *other)
{
    switch (operation) {
    case UNSEEN_BITMAP_OR:
        return b == other ? UNSEEN_OK : or_all(b, other);
    case UNSEEN_BITMAP_AND:
        if (b != other) {
            filter_all(b, other, true);
        }
        return UNSEEN_OK;
    case UNSEEN_BITMAP_ANDNOT:
        if (b == other) {
            return unseen_bitmap_set_range(b, 0, UNSEEN_BITMAP_END, false);
        }
        filter_all(b, other, false);
        return UNSEEN_OK;
    default:
        return UNSEEN_ERR_ARGUMENT;
    }
}
