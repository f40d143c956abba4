/* SPDX-License-Identifier: MIT
 *
 * Page memory of the compact filter: pages have numbers, and come from chunks of 512 (2 MiB) so
 * that growing never moves a large set. The first page of a chunk is not a page of the filter but
 * holds one word for each of the 512: which of its lines are full. The first chunk starts small
 * and is doubled by copying, so that a small set is small. */
#include "filter/compact.h"

#include "base/array.h"

enum {
    FIRST_CHUNK_PAGES = 16,
    LARGE_CHUNKS = 32,      /* from here on huge pages are worth 20 % and more */
    LARGE_CHUNKS_IMPORT = 2 /* an import fills every page at once: fewer page faults count */
};

void *unseen__compact_alloc(struct compact *c, size_t size, size_t align)
{
    void *ptr = unseen__alloc(&c->allocator, size, align);
    if (ptr) {
        c->memory += size;
    }
    return ptr;
}

void unseen__compact_free(struct compact *c, void *ptr, size_t size)
{
    if (ptr) {
        unseen__free(&c->allocator, ptr, size);
        c->memory -= size;
    }
}

/* Grows the array of free page numbers, or the array of chunks. */
static bool grow_array(struct compact *c, void *array, size_t *cap, size_t wanted, size_t element)
{
    const size_t old_cap = *cap;
    if (!array_grow(&c->allocator, array, cap, wanted, 16, element)) {
        return false;
    }
    c->memory += (*cap - old_cap) * element;
    return true;
}

static enum unseen_status grow_first_chunk(struct compact *c)
{
    size_t pages = c->chunk0_pages ? c->chunk0_pages * 2 : FIRST_CHUNK_PAGES;
    uint8_t *chunk = unseen__compact_alloc(c, pages * COMPACT_PAGE, COMPACT_PAGE);
    if (!chunk) {
        return UNSEEN_ERR_NOMEM;
    }
    if (c->chunk0_pages) {
        memcpy(chunk, c->chunks[0], c->chunk0_pages * COMPACT_PAGE);
        unseen__compact_free(c, c->chunks[0], c->chunk0_pages * COMPACT_PAGE);
    } else {
        c->next_page = 1;
        c->nchunks = 1;
    }
    c->chunks[0] = chunk;
    c->chunk0_pages = pages;
    return UNSEEN_OK;
}

static enum unseen_status add_chunk(struct compact *c)
{
    if (!grow_array(c, &c->chunks, &c->chunks_cap, c->nchunks + 1, sizeof(*c->chunks))) {
        return UNSEEN_ERR_NOMEM;
    }
    if (c->nchunks == 0 || (c->nchunks == 1 && c->chunk0_pages < COMPACT_CHUNK_PAGES)) {
        return grow_first_chunk(c);
    }
    uint8_t *chunk =
        unseen__compact_alloc(c, (size_t)COMPACT_CHUNK_PAGES * COMPACT_PAGE, COMPACT_PAGE);
    if (!chunk) {
        return UNSEEN_ERR_NOMEM;
    }
    if (c->nchunks >= (c->loaded ? LARGE_CHUNKS_IMPORT : LARGE_CHUNKS)) {
        unseen__memory_large(&c->allocator, chunk);
    }
    c->chunks[c->nchunks++] = chunk;
    return UNSEEN_OK;
}

/* The number of pages that were never used: from next_page to the end of the last chunk, without
 * the first page of each chunk. */
static size_t fresh_pages(const struct compact *c)
{
    size_t end = c->nchunks > 1 || c->chunk0_pages == COMPACT_CHUNK_PAGES
                     ? c->nchunks * COMPACT_CHUNK_PAGES
                     : c->chunk0_pages;
    size_t n = 0;
    for (size_t page = c->next_page; page < end; page++) {
        n += page % COMPACT_CHUNK_PAGES != 0;
        if (n > 4 * COMPACT_PAGES_MAX) {
            break; /* more than anyone asks for */
        }
    }
    return n;
}

void unseen__compact_pages_release(struct compact *c)
{
    for (size_t i = 0; i < c->nchunks; i++) {
        size_t pages = i == 0 ? c->chunk0_pages : COMPACT_CHUNK_PAGES;
        unseen__compact_free(c, c->chunks[i], pages * COMPACT_PAGE);
    }
    unseen__compact_free(c, c->chunks, c->chunks_cap * sizeof(*c->chunks));
    unseen__compact_free(c, c->free_pages, c->free_cap * sizeof(*c->free_pages));
}

enum unseen_status unseen__compact_pages_reserve(struct compact *c, size_t n)
{
    /* The free list must have room for all pages that may come back at once. */
    if (!grow_array(c, &c->free_pages, &c->free_cap, c->nfree + 4 * COMPACT_PAGES_MAX,
                    sizeof(*c->free_pages))) {
        return UNSEEN_ERR_NOMEM;
    }
    while (c->nfree + fresh_pages(c) < n) {
        enum unseen_status status = add_chunk(c);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

uint32_t unseen__compact_page_take(struct compact *c)
{
    uint32_t number;
    if (c->nfree) {
        number = c->free_pages[--c->nfree];
    } else {
        if (c->next_page % COMPACT_CHUNK_PAGES == 0) {
            c->next_page++;
        }
        number = c->next_page++;
    }
    return number;
}

void unseen__compact_page_give(struct compact *c, uint32_t number)
{
    c->free_pages[c->nfree++] = number;
}
