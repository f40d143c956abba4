/* SPDX-License-Identifier: MIT
 *
 * Ranges of a bitmap: adds, removes, counts and lists the integers between two bounds. */
#include "bitmap/bitmap.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

enum {
    PAGE_END = BITMAP_ENTRIES_PER_PAGE
};

/* ---- counting ---- */

static uint64_t count_portable(const uint64_t *words, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += popcount_portable(words[i]);
    }
    return sum;
}

#if UNSEEN_X86
static UNSEEN_TARGET("popcnt") uint64_t count_x86(const uint64_t *words, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (uint64_t)__builtin_popcountll(words[i]);
    }
    return sum;
}
#endif

/* The number of 1 bits in n words. */
static uint64_t count_bits(const struct unseen_bitmap *b, const uint64_t *words, size_t n)
{
#if UNSEEN_X86
    if (b->cpu != UNSEEN_CPU_PORTABLE) {
        return count_x86(words, n);
    }
#else
    (void)b;
#endif
    return count_portable(words, n);
}

unsigned unseen__bitmap_page_count(const struct unseen_bitmap *b, uint64_t entry)
{
    switch (bitmap_shape(entry)) {
    case BITMAP_NONE:
        return 0;
    case BITMAP_DENSE:
        return (unsigned)count_bits(b, bitmap_words(entry), BITMAP_WORDS);
    default:
        return bitmap_cell(entry)[0];
    }
}

/* The bits of word i that are low parts in [first, end). */
static uint64_t mask_of(unsigned i, unsigned first, unsigned end)
{
    uint64_t mask = UINT64_MAX;
    if (first > 64 * i) {
        mask = UINT64_MAX << (first - 64 * i);
    }
    if (end < 64 * i + 64) {
        mask &= UINT64_MAX >> (64 * i + 64 - end);
    }
    return mask;
}

/* The number of integers of a page with low parts in [first, end); first < end. */
static uint64_t count_part(const struct unseen_bitmap *b, uint64_t entry, unsigned first,
                           unsigned end)
{
    uint64_t sum = 0;
    if (bitmap_shape(entry) == BITMAP_DENSE) {
        for (unsigned i = first / 64; i <= (end - 1) / 64; i++) {
            const uint64_t word = bitmap_words(entry)[i] & mask_of(i, first, end);
            sum += count_bits(b, &word, 1);
        }
    } else if (entry) {
        const uint16_t *cell = bitmap_cell(entry);
        for (unsigned i = 1; i <= cell[0]; i++) {
            sum += cell[i] >= first && cell[i] < end;
        }
    }
    return sum;
}

/* The low parts of a page that [first, end) covers. */
static void part_of(uint64_t page, uint64_t first, uint64_t end, unsigned *low_first,
                    unsigned *low_end)
{
    const uint64_t start = page << BITMAP_LOW_BITS;
    *low_first = first > start ? (unsigned)(first - start) : 0;
    *low_end = end < start + PAGE_END ? (unsigned)(end - start) : PAGE_END;
}

uint64_t unseen_bitmap_count(const struct unseen_bitmap *b, uint64_t first, uint64_t end)
{
    if (first == 0 && end >= UNSEEN_BITMAP_END) {
        return b->count;
    }
    uint64_t sum = 0;
    end = end < UNSEEN_BITMAP_END ? end : UNSEEN_BITMAP_END;
    for (uint64_t page = first >> BITMAP_LOW_BITS; first < end; page++) {
        page = unseen__bitmap_next_page(b, page);
        if (page << BITMAP_LOW_BITS >= end) {
            break;
        }
        unsigned low_first;
        unsigned low_end;
        part_of(page, first, end, &low_first, &low_end);
        const uint64_t entry = *bitmap_entry(b, page);
        sum += low_first == 0 && low_end == PAGE_END ? unseen__bitmap_page_count(b, entry)
                                                     : count_part(b, entry, low_first, low_end);
    }
    return sum;
}

/* ---- adding and removing ---- */

static enum unseen_status set_part(struct unseen_bitmap *b, uint64_t page, unsigned first,
                                   unsigned end)
{
    uint64_t *entry = unseen__bitmap_entry_make(b, page);
    if (!entry) {
        return UNSEEN_ERR_NOMEM;
    }
    if (end - first < BITMAP_CELL_MAX / 2 && bitmap_shape(*entry) != BITMAP_DENSE) {
        for (unsigned low = first; low < end; low++) {
            bool added;
            const enum unseen_status status = unseen__bitmap_add(b, entry, low, &added);
            if (status != UNSEEN_OK) {
                return status;
            }
            b->count += added;
        }
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__bitmap_densify(b, entry);
    if (status != UNSEEN_OK) {
        return status;
    }
    b->count += end - first - count_part(b, *entry, first, end);
    for (unsigned i = first / 64; i <= (end - 1) / 64; i++) {
        bitmap_words(*entry)[i] |= mask_of(i, first, end);
    }
    return UNSEEN_OK;
}

static void clear_part(struct unseen_bitmap *b, uint64_t *entry, unsigned first, unsigned end)
{
    const uint64_t nremoved = count_part(b, *entry, first, end);
    b->count -= nremoved;
    if (nremoved == unseen__bitmap_page_count(b, *entry)) {
        unseen__bitmap_drop(b, entry);
    } else if (bitmap_shape(*entry) == BITMAP_DENSE) {
        for (unsigned i = first / 64; i <= (end - 1) / 64; i++) {
            bitmap_words(*entry)[i] &= ~mask_of(i, first, end);
        }
    } else {
        uint16_t *cell = bitmap_cell(*entry);
        unsigned kept = 0;
        for (unsigned i = 1; i <= cell[0]; i++) {
            cell[1 + kept] = cell[i];
            kept += cell[i] < first || cell[i] >= end;
        }
        cell[0] = (uint16_t)kept;
    }
}

static enum unseen_status add_range(struct unseen_bitmap *b, uint64_t first, uint64_t end)
{
    /* If memory were granted block by block, a range too large would end the program instead of
     * failing. */
    if (!unseen__memory_is_plausible(&b->pool.pages.allocator, (size_t)((end - first) / 8 + 1))) {
        return UNSEEN_ERR_NOMEM;
    }
    while (first < end) {
        const uint64_t page = first >> BITMAP_LOW_BITS;
        unsigned low_first;
        unsigned low_end;
        part_of(page, first, end, &low_first, &low_end);
        const enum unseen_status status = set_part(b, page, low_first, low_end);
        if (status != UNSEEN_OK) {
            return status;
        }
        first = (page << BITMAP_LOW_BITS) + low_end;
    }
    return UNSEEN_OK;
}

static void remove_range(struct unseen_bitmap *b, uint64_t first, uint64_t end)
{
    for (uint64_t page = first >> BITMAP_LOW_BITS; first < end; page++) {
        page = unseen__bitmap_next_page(b, page);
        if (page << BITMAP_LOW_BITS >= end) {
            break;
        }
        unsigned low_first;
        unsigned low_end;
        part_of(page, first, end, &low_first, &low_end);
        clear_part(b, bitmap_entry(b, page), low_first, low_end);
    }
}

enum unseen_status unseen_bitmap_set_range(struct unseen_bitmap *b, uint64_t first, uint64_t end,
                                           bool is_member)
{
    if (first > end || end > UNSEEN_BITMAP_END) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (is_member) {
        return add_range(b, first, end);
    }
    remove_range(b, first, end);
    return UNSEEN_OK;
}

/* ---- listing ---- */

static size_t list_cell(const uint16_t *cell, uint64_t base, unsigned low, uint64_t *values,
                        size_t max)
{
    size_t n = 0;
    for (unsigned i = 1; i <= cell[0] && n < max; i++) {
        values[n] = base + cell[i];
        n += cell[i] >= low;
    }
    return n;
}

static size_t list_dense(const uint64_t *words, uint64_t base, unsigned low, uint64_t *values,
                         size_t max)
{
    size_t n = 0;
    for (unsigned i = low / 64; i < BITMAP_WORDS; i++) {
        const uint64_t first = base + 64 * (uint64_t)i;
        uint64_t word = words[i] & mask_of(i, low, PAGE_END);
        for (; word && n < max; word &= word - 1) {
            values[n++] = first + (unsigned)__builtin_ctzll(word);
        }
    }
    return n;
}

size_t unseen_bitmap_next(const struct unseen_bitmap *b, uint64_t from, uint64_t *values,
                          size_t max)
{
    size_t n = 0;
    unsigned low = (unsigned)from & (PAGE_END - 1);
    uint64_t page = from < UNSEEN_BITMAP_END ? from >> BITMAP_LOW_BITS : BITMAP_PAGES_END;
    const uint64_t first_page = page;
    while (n < max && (page = unseen__bitmap_next_page(b, page)) < BITMAP_PAGES_END) {
        const uint64_t entry = *bitmap_entry(b, page);
        const uint64_t base = page << BITMAP_LOW_BITS;
        low = page == first_page ? low : 0;
        n += bitmap_shape(entry) == BITMAP_DENSE
                 ? list_dense(bitmap_words(entry), base, low, values + n, max - n)
                 : list_cell(bitmap_cell(entry), base, low, values + n, max - n);
        page++;
    }
    return n;
}
