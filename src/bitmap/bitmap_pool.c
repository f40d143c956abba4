/* SPDX-License-Identifier: MIT
 *
 * The pool of cells of 16, 64 and 256 bytes. A page that is cut into cells is a slab; its first 64
 * bytes say how many of its cells are in use and which are free. */
#include "bitmap/bitmap.h"

enum {
    SLAB_HEAD = 64
};

struct bitmap_slab {
    struct bitmap_slab *next; /* in the list of slabs with a free cell */
    struct bitmap_slab *prev;
    uint16_t used;  /* cells in use */
    uint16_t free;  /* offset of the first free cell in the slab, in words; 0: none */
    uint16_t fresh; /* offset of the first cell that was never used, in words */
};

_Static_assert(sizeof(struct bitmap_slab) <= SLAB_HEAD, "the head of a slab");

static struct bitmap_slab *slab_of(const uint16_t *cell)
{
    return (struct bitmap_slab *)((uintptr_t)cell & ~(uintptr_t)(UNSEEN__PAGE - 1));
}

static bool slab_is_full(const struct bitmap_slab *slab)
{
    return slab->free == 0 && slab->fresh == UNSEEN__PAGE / 2;
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

/* The offset of the first cell, in words: after the head, at a multiple of the size of a cell. */
static uint16_t first_cell(unsigned class)
{
    const unsigned words = bitmap_cell_words(class);
    return (uint16_t)(words > SLAB_HEAD / 2 ? words : SLAB_HEAD / 2);
}

uint16_t *unseen__bitmap_cell_take(struct bitmap_pool *pool, unsigned class)
{
    struct bitmap_slab *slab = pool->partial[class];
    if (!slab) {
        slab = unseen__page_take(&pool->pages);
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
        unseen__page_give(&pool->pages, slab);
        return;
    }
    cell[0] = slab->free;
    slab->free = (uint16_t)(cell - (uint16_t *)(void *)slab);
}
