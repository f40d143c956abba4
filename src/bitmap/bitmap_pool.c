/* SPDX-License-Identifier: MIT
 *
 * Memory of a bitmap: pages of 4 KiB from chunks that double up to 2 MiB, and cells of 16, 64 and
 * 256 bytes cut from pages. A page cut into cells is a slab; its first 64 bytes say how many of its
 * cells are in use and which are free. */
#include "bitmap/bitmap.h"

#include <string.h>

#include "base/memory.h"

enum {
    FIRST_CHUNK_PAGES = 16,
    CHUNK_PAGES = 512,
    LARGE_CHUNKS = 12, /* from here on, 14 MiB, huge pages are worth their first touch */
    SLAB_HEAD = 64
};

struct bitmap_slab {
    struct bitmap_slab *next; /* in the list of slabs with a free cell */
    struct bitmap_slab *prev;
    uint16_t used;  /* cells in use */
    uint16_t free;  /* place of the first free cell in the slab, in words; 0: none */
    uint16_t fresh; /* cells from here on were never used */
};

_Static_assert(sizeof(struct bitmap_slab) <= SLAB_HEAD, "the head of a slab");

/* ---- pages ---- */

static size_t chunk_pages(size_t i)
{
    const size_t pages = i < 5 ? (size_t)FIRST_CHUNK_PAGES << i : CHUNK_PAGES;
    return pages;
}

static bool add_chunk(struct bitmap_pool *pool)
{
    if (pool->nchunks == pool->chunks_cap) {
        const size_t cap = pool->chunks_cap ? pool->chunks_cap * 2 : 16;
        uint8_t **chunks = unseen__alloc(&pool->allocator, cap * sizeof(*chunks), sizeof(*chunks));
        if (!chunks) {
            return false;
        }
        if (pool->nchunks) {
            memcpy(chunks, pool->chunks, pool->nchunks * sizeof(*chunks));
        }
        unseen__free(&pool->allocator, pool->chunks, pool->chunks_cap * sizeof(*chunks));
        pool->memory += (cap - pool->chunks_cap) * sizeof(*chunks);
        pool->chunks = chunks;
        pool->chunks_cap = cap;
    }
    const size_t size = chunk_pages(pool->nchunks) * BITMAP_PAGE;
    uint8_t *chunk = unseen__alloc(&pool->allocator, size, BITMAP_PAGE);
    if (!chunk) {
        return false;
    }
    if (pool->nchunks >= LARGE_CHUNKS) {
        unseen__memory_large(&pool->allocator, chunk);
    }
    pool->chunks[pool->nchunks++] = chunk;
    pool->memory += size;
    pool->next = 0;
    return true;
}

void unseen__bitmap_pool_release(struct bitmap_pool *pool)
{
    for (size_t i = 0; i < pool->nchunks; i++) {
        unseen__free(&pool->allocator, pool->chunks[i], chunk_pages(i) * BITMAP_PAGE);
    }
    unseen__free(&pool->allocator, pool->chunks, pool->chunks_cap * sizeof(*pool->chunks));
}

void *unseen__bitmap_page_take(struct bitmap_pool *pool)
{
    void *page = pool->free_pages;
    if (page) {
        memcpy(&pool->free_pages, page, sizeof(pool->free_pages));
    } else {
        if ((pool->nchunks == 0 || pool->next == chunk_pages(pool->nchunks - 1)) &&
            !add_chunk(pool)) {
            return NULL;
        }
        page = pool->chunks[pool->nchunks - 1] + pool->next++ * BITMAP_PAGE;
    }
    return memset(page, 0, BITMAP_PAGE);
}

void unseen__bitmap_page_give(struct bitmap_pool *pool, void *page)
{
    memcpy(page, &pool->free_pages, sizeof(pool->free_pages));
    pool->free_pages = page;
}

/* ---- cells ---- */

static struct bitmap_slab *slab_of(const uint16_t *cell)
{
    return (struct bitmap_slab *)((uintptr_t)cell & ~(uintptr_t)(BITMAP_PAGE - 1));
}

static bool slab_is_full(const struct bitmap_slab *slab)
{
    return slab->free == 0 && slab->fresh == BITMAP_PAGE / 2;
}

static void link_slab(struct bitmap_pool *pool, unsigned class, struct bitmap_slab *slab)
{
    slab->prev = NULL;
    slab->next = pool->partial[class];
    if (slab->next) {
        slab->next->prev = slab;
    }
    pool->partial[class] = slab;
}

static void unlink_slab(struct bitmap_pool *pool, unsigned class, struct bitmap_slab *slab)
{
    if (slab->prev) {
        slab->prev->next = slab->next;
    } else {
        pool->partial[class] = slab->next;
    }
    if (slab->next) {
        slab->next->prev = slab->prev;
    }
}

/* The first cell lies behind the head, at a multiple of the cell's size. */
static uint16_t first_cell(unsigned class)
{
    const unsigned words = bitmap_cell_words(class);
    return (uint16_t)(words > SLAB_HEAD / 2 ? words : SLAB_HEAD / 2);
}

uint16_t *unseen__bitmap_cell_take(struct bitmap_pool *pool, unsigned class)
{
    struct bitmap_slab *slab = pool->partial[class];
    if (!slab) {
        slab = unseen__bitmap_page_take(pool);
        if (!slab) {
            return NULL;
        }
        slab->fresh = first_cell(class);
        link_slab(pool, class, slab);
    }
    uint16_t *cell = (uint16_t *)(void *)slab;
    if (slab->free) {
        cell += slab->free;
        slab->free = cell[0];
    } else {
        cell += slab->fresh;
        slab->fresh = (uint16_t)(slab->fresh + bitmap_cell_words(class));
    }
    slab->used++;
    if (slab_is_full(slab)) {
        unlink_slab(pool, class, slab);
    }
    return cell;
}

void unseen__bitmap_cell_give(struct bitmap_pool *pool, unsigned class, uint16_t *cell)
{
    struct bitmap_slab *slab = slab_of(cell);
    if (slab_is_full(slab)) {
        link_slab(pool, class, slab);
    }
    if (--slab->used == 0) {
        unlink_slab(pool, class, slab);
        unseen__bitmap_page_give(pool, slab);
        return;
    }
    cell[0] = slab->free;
    slab->free = (uint16_t)(cell - (uint16_t *)(void *)slab);
}
