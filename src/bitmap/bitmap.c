/* SPDX-License-Identifier: MIT
 *
 * The bitmap: creation, the tree, one page, and batches of integers that are added, removed or
 * looked up. bitmap.h explains the structure. */
#include "bitmap/bitmap.h"

#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"

enum {
    AHEAD = 64 /* integers whose words are fetched together */
};

/* ---- creation ---- */

enum unseen_status unseen_bitmap_create(struct unseen_bitmap **bitmap_out,
                                        const struct unseen_bitmap_options *given,
                                        struct unseen_error *error)
{
    struct unseen_bitmap_options options = {.size = sizeof(options)};
    enum unseen_cpu cpu;
    enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_bitmap_options", error);
    if (status == UNSEEN_OK) {
        status = unseen__cpu_select(options.cpu, &cpu, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_bitmap *b =
        unseen__alloc_zero(&allocator, sizeof(*b), _Alignof(struct unseen_bitmap));
    if (!b) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    b->cpu = cpu;
    b->pool.pages.allocator = allocator;
    b->pool.pages.memory = sizeof(*b);
    *bitmap_out = b;
    return UNSEEN_OK;
}

void unseen_bitmap_free(struct unseen_bitmap *b)
{
    if (!b) {
        return;
    }
    const struct unseen_allocator allocator = b->pool.pages.allocator;
    if (b->is_edited) {
        unseen__chunk_writer_abandon(&b->writer);
    }
    unseen__pages_release(&b->pool.pages);
    unseen__free(&allocator, b->root, b->nroot * sizeof(*b->root));
    unseen__free(&allocator, b, sizeof(*b));
}

uint64_t unseen_bitmap_memory(const struct unseen_bitmap *b)
{
    return b->pool.pages.memory;
}

/* ---- the tree ---- */

/* Makes the root long enough for this leaf: doubles it. */
static bool grow_root(struct unseen_bitmap *b, uint64_t leaf)
{
    size_t nroot = b->nroot ? b->nroot : 16;
    while (nroot <= leaf) {
        nroot *= 2;
    }
    uint64_t **root =
        unseen__alloc_zero(&b->pool.pages.allocator, nroot * sizeof(*root), sizeof(*root));
    if (!root) {
        return false;
    }
    if (b->nroot) {
        memcpy(root, b->root, b->nroot * sizeof(*root));
    }
    unseen__free(&b->pool.pages.allocator, b->root, b->nroot * sizeof(*root));
    b->pool.pages.memory += (nroot - b->nroot) * sizeof(*root);
    b->root = root;
    b->nroot = nroot;
    return true;
}

uint64_t *unseen__bitmap_entry_make(struct unseen_bitmap *b, uint64_t page)
{
    const uint64_t leaf = page >> BITMAP_LEAF_BITS;
    if (leaf >= b->nroot && !grow_root(b, leaf)) {
        return NULL;
    }
    if (!b->root[leaf]) {
        b->root[leaf] = unseen__page_take(&b->pool.pages);
        if (!b->root[leaf]) {
            return NULL;
        }
    }
    return b->root[leaf] + page % BITMAP_LEAF_SIZE;
}

uint64_t unseen__bitmap_next_page(const struct unseen_bitmap *b, uint64_t page)
{
    for (uint64_t leaf = page >> BITMAP_LEAF_BITS; leaf < b->nroot; leaf++) {
        for (uint64_t i = page % BITMAP_LEAF_SIZE; b->root[leaf] && i < BITMAP_LEAF_SIZE; i++) {
            if (b->root[leaf][i]) {
                return leaf << BITMAP_LEAF_BITS | i;
            }
        }
        page = 0;
    }
    return BITMAP_PAGES_END;
}

void unseen__bitmap_drop(struct unseen_bitmap *b, uint64_t *entry)
{
    if (bitmap_shape(*entry) == BITMAP_DENSE) {
        unseen__page_give(&b->pool.pages, bitmap_words(*entry));
    } else if (*entry) {
        unseen__bitmap_cell_give(&b->pool, bitmap_class(*entry), bitmap_cell(*entry));
    }
    *entry = 0;
}

/* ---- one page ---- */

UNSEEN_INLINE uint64_t bit_of(unsigned low)
{
    return (uint64_t)1 << low % 64;
}

void unseen__bitmap_add_cell(uint64_t *words, const uint16_t *cell)
{
    for (unsigned i = 1; i <= cell[0]; i++) {
        words[cell[i] / 64] |= bit_of(cell[i]);
    }
}

enum unseen_status unseen__bitmap_densify(struct unseen_bitmap *b, uint64_t *entry)
{
    if (bitmap_shape(*entry) == BITMAP_DENSE) {
        return UNSEEN_OK;
    }
    uint64_t *words = unseen__page_take(&b->pool.pages);
    if (!words) {
        return UNSEEN_ERR_NOMEM;
    }
    if (*entry) {
        unseen__bitmap_add_cell(words, bitmap_cell(*entry));
    }
    unseen__bitmap_drop(b, entry);
    *entry = bitmap_make_entry(words, BITMAP_DENSE);
    return UNSEEN_OK;
}

/* The class of the smallest cell for n integers. */
static unsigned class_for(unsigned n)
{
    unsigned class = 0;
    while (n >= bitmap_cell_words(class)) {
        class ++;
    }
    return class;
}

enum unseen_status unseen__bitmap_put_cell(struct unseen_bitmap *b, uint64_t *entry,
                                           const uint16_t *lows, unsigned n)
{
    const unsigned class = class_for(n);
    uint16_t *cell = unseen__bitmap_cell_take(&b->pool, class);
    if (!cell) {
        return UNSEEN_ERR_NOMEM;
    }
    cell[0] = (uint16_t)n;
    memcpy(cell + 1, lows, n * sizeof(*lows));
    *entry = bitmap_make_entry(cell, BITMAP_SPARSE + class);
    return UNSEEN_OK;
}

/* Makes room for one more integer: moves the cell to the next class, or to a dense page. */
static enum unseen_status widen(struct unseen_bitmap *b, uint64_t *entry)
{
    const unsigned class = bitmap_class(*entry);
    if (class + 1 == BITMAP_CLASSES) {
        return unseen__bitmap_densify(b, entry);
    }
    uint16_t *wider = unseen__bitmap_cell_take(&b->pool, class + 1);
    if (!wider) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(wider, bitmap_cell(*entry), bitmap_cell_words(class) * sizeof(*wider));
    unseen__bitmap_drop(b, entry);
    *entry = bitmap_make_entry(wider, BITMAP_SPARSE + class + 1);
    return UNSEEN_OK;
}

UNSEEN_INLINE bool add_bit(uint64_t *word, unsigned low)
{
    const uint64_t old = *word;
    *word = old | bit_of(low);
    return !(old & bit_of(low));
}

enum unseen_status unseen__bitmap_add(struct unseen_bitmap *b, uint64_t *entry, unsigned low,
                                      bool *added_out)
{
    if (!*entry) {
        const uint16_t only = (uint16_t)low;
        *added_out = true;
        return unseen__bitmap_put_cell(b, entry, &only, 1);
    }
    if (bitmap_shape(*entry) != BITMAP_DENSE) {
        uint16_t *cell = bitmap_cell(*entry);
        const unsigned rank = bitmap_cell_rank(cell, low);
        *added_out = !bitmap_cell_has(cell, rank, low);
        if (!*added_out) {
            return UNSEEN_OK;
        }
        if (cell[0] + 1u == bitmap_cell_words(bitmap_class(*entry))) {
            const enum unseen_status status = widen(b, entry);
            if (status != UNSEEN_OK) {
                return status;
            }
        }
        if (bitmap_shape(*entry) != BITMAP_DENSE) {
            cell = bitmap_cell(*entry);
            memmove(cell + 2 + rank, cell + 1 + rank, (cell[0] - rank) * sizeof(*cell));
            cell[1 + rank] = (uint16_t)low;
            cell[0]++;
            return UNSEEN_OK;
        }
    }
    *added_out = add_bit(bitmap_words(*entry) + low / 64, low);
    return UNSEEN_OK;
}

static bool is_empty(const uint64_t *words)
{
    unsigned i = 0;
    while (i < BITMAP_WORDS && words[i] == 0) {
        i++;
    }
    return i == BITMAP_WORDS;
}

/* Removes one integer of a page; returns true if it was present. */
static bool remove_one(struct unseen_bitmap *b, uint64_t *entry, unsigned low)
{
    if (!entry || !*entry) {
        return false;
    }
    if (bitmap_shape(*entry) == BITMAP_DENSE) {
        uint64_t *word = bitmap_words(*entry) + low / 64;
        const bool was = *word & bit_of(low);
        *word &= ~bit_of(low);
        if (was && *word == 0 && is_empty(bitmap_words(*entry))) {
            unseen__bitmap_drop(b, entry);
        }
        return was;
    }
    uint16_t *cell = bitmap_cell(*entry);
    const unsigned rank = bitmap_cell_rank(cell, low);
    if (!bitmap_cell_has(cell, rank, low)) {
        return false;
    }
    cell[0]--;
    memmove(cell + 1 + rank, cell + 2 + rank, (cell[0] - rank) * sizeof(*cell));
    if (cell[0] == 0) {
        unseen__bitmap_drop(b, entry);
    }
    return true;
}

/* ---- batches ---- */

UNSEEN_INLINE unsigned low_of(uint64_t value)
{
    return (unsigned)value & (BITMAP_ENTRIES_PER_PAGE - 1);
}

/* Finds and fetches the words of the next n integers. A word is NULL if the page of the integer is
 * not dense, or if there is no such integer. */
UNSEEN_INLINE void look_ahead(const struct unseen_bitmap *b, const uint64_t *values, size_t n,
                              uint64_t **words)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t *entry = bitmap_entry(b, values[i] >> BITMAP_LOW_BITS);
        words[i] = NULL;
        if (UNSEEN_LIKELY(entry && bitmap_shape(*entry) == BITMAP_DENSE)) {
            words[i] = bitmap_words(*entry) + low_of(values[i]) / 64;
            UNSEEN_PREFETCH_L2(words[i]);
        } else if (entry && *entry) {
            UNSEEN_PREFETCH_L2(bitmap_cell(*entry));
        }
    }
}

static enum unseen_status set_slowly(struct unseen_bitmap *b, uint64_t value, bool *added_out)
{
    if (value >= UNSEEN_BITMAP_END) {
        return UNSEEN_ERR_ARGUMENT;
    }
    uint64_t *entry = unseen__bitmap_entry_make(b, value >> BITMAP_LOW_BITS);
    return entry ? unseen__bitmap_add(b, entry, low_of(value), added_out) : UNSEEN_ERR_NOMEM;
}

static size_t batch_of(size_t n)
{
    return n < AHEAD ? n : AHEAD;
}

enum unseen_status unseen_bitmap_set(struct unseen_bitmap *b, const uint64_t *values, size_t n,
                                     uint8_t *verdicts, size_t *ndone_out)
{
    enum unseen_status status = UNSEEN_OK;
    size_t done = 0;
    while (done < n && status == UNSEEN_OK) {
        uint64_t *words[AHEAD];
        const size_t batch = batch_of(n - done);
        uint64_t nadded = 0;
        size_t i = 0;
        look_ahead(b, values + done, batch, words);
        for (; i < batch; i++) {
            const uint64_t value = values[done + i];
            bool added = false;
            if (UNSEEN_LIKELY(words[i] != NULL)) {
                added = add_bit(words[i], (unsigned)(value & 63));
            } else if ((status = set_slowly(b, value, &added)) != UNSEEN_OK) {
                break;
            }
            nadded += added;
            if (verdicts) {
                verdicts[done + i] = added ? UNSEEN_NEW : UNSEEN_SEEN;
            }
        }
        b->count += nadded;
        done += i;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_bitmap_clear(struct unseen_bitmap *b, const uint64_t *values, size_t n,
                                       uint8_t *verdicts, size_t *ndone_out)
{
    size_t done = 0;
    for (; done < n; done++) {
        const uint64_t value = values[done];
        if (value >= UNSEEN_BITMAP_END) {
            break;
        }
        if (done % AHEAD == 0) {
            uint64_t *words[AHEAD];
            look_ahead(b, values + done, batch_of(n - done), words);
        }
        const bool was = remove_one(b, bitmap_entry(b, value >> BITMAP_LOW_BITS), low_of(value));
        b->count -= was;
        if (verdicts) {
            verdicts[done] = was ? UNSEEN_SEEN : UNSEEN_NEW;
        }
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return done == n ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT;
}

void unseen_bitmap_get(const struct unseen_bitmap *b, const uint64_t *values, size_t n,
                       uint8_t *verdicts)
{
    for (size_t done = 0; done < n;) {
        uint64_t *words[AHEAD];
        const size_t batch = batch_of(n - done);
        look_ahead(b, values + done, batch, words);
        for (size_t i = 0; i < batch; i++) {
            const uint64_t value = values[done + i];
            const uint64_t *entry = words[i] ? NULL : bitmap_entry(b, value >> BITMAP_LOW_BITS);
            const bool has = words[i] ? *words[i] >> (value & 63) & 1
                                      : entry && bitmap_has(*entry, low_of(value));
            verdicts[done + i] = has ? UNSEEN_SEEN : UNSEEN_NEW;
        }
        done += batch;
    }
}
