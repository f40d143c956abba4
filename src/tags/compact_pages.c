/* SPDX-License-Identifier: MIT
 *
 * Page memory of the compact filter: pages have numbers, and come from chunks that are never moved,
 * so that growing never copies a set. Chunk i has the numbers from 512 i on; the first chunks have
 * fewer pages than 512 (compact_chunk_pages), so that a small set is small. The first page of a
 * chunk is not a page of the filter but holds one word for each of the others: which of its lines
 * are full. */
#include "tags/compact.h"

#include "base/array.h"

enum {
    LARGE_CHUNKS = COMPACT_SMALL_CHUNKS + 30, /* from here on huge pages are worth 20 % and more */
    /* If all pages of a chunk are needed at once, as in a set made for its keys and in an import,
     * but for its last chunk, huge pages take no more memory. */
    LARGE_CHUNKS_WHOLE = COMPACT_SMALL_CHUNKS,
    CHUNK_ALIGN = 64 /* a line; the allocators of servers give no more */
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

/* Adds a chunk, because the next `wanted` pages are not there yet. */
static enum unseen_status add_chunk(struct compact *c, size_t wanted)
{
    if (!grow_array(c, &c->chunks, &c->chunks_cap, c->nchunks + 1, sizeof(*c->chunks))) {
        return UNSEEN_ERR_NOMEM;
    }
    const size_t npages = compact_chunk_pages(c, c->nchunks);
    uint8_t *chunk = unseen__compact_alloc(c, npages * COMPACT_PAGE, CHUNK_ALIGN);
    if (!chunk) {
        return UNSEEN_ERR_NOMEM;
    }
    const bool is_whole = c->nchunks >= LARGE_CHUNKS_WHOLE && (c->loaded || wanted >= npages - 1);
    if (is_whole || c->nchunks >= LARGE_CHUNKS) {
        unseen__memory_large(&c->allocator, chunk, npages * COMPACT_PAGE);
    }
    c->chunks[c->nchunks++] = chunk;
    c->nfresh += npages - 1;
    return UNSEEN_OK;
}

void unseen__compact_pages_release(struct compact *c)
{
    for (size_t i = 0; i < c->nchunks; i++) {
        unseen__compact_free(c, c->chunks[i], compact_chunk_pages(c, i) * COMPACT_PAGE);
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
    while (c->nfree + c->nfresh < n) {
        enum unseen_status status = add_chunk(c, n - c->nfree - c->nfresh);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

uint32_t unseen__compact_page_take(struct compact *c)
{
    if (c->nfree) {
        return c->free_pages[--c->nfree];
    }
    /* next_page is the number after the last one taken: perhaps behind the end of its chunk. */
    uint32_t chunk = c->next_page / COMPACT_CHUNK_PAGES;
    if (c->next_page % COMPACT_CHUNK_PAGES >= compact_chunk_pages(c, chunk)) {
        c->next_page = ++chunk * COMPACT_CHUNK_PAGES;
    }
    c->next_page += c->next_page % COMPACT_CHUNK_PAGES == 0; /* the full map */
    c->nfresh--;
    return c->next_page++;
}

void unseen__compact_page_give(struct compact *c, uint32_t number)
{
    c->free_pages[c->nfree++] = number;
}

void unseen__compact_give_pages(struct compact *c, const struct compact_group *group)
{
    for (unsigned p = 0; p < group->npages; p++) {
        unseen__compact_page_give(c, group->page[p]);
    }
}

/* The pages of the last chunk that were never taken. */
static size_t fresh_in_last(const struct compact *c)
{
    const uint32_t start = (uint32_t)(c->nchunks - 1) * COMPACT_CHUNK_PAGES;
    const size_t npages = compact_chunk_pages(c, c->nchunks - 1);
    return c->next_page > start ? npages - (c->next_page - start) : npages - 1;
}

uint32_t unseen__compact_pages_close_chunk(struct compact *c, size_t nspare)
{
    if (c->nchunks < 2) {
        return 0;
    }
    const uint32_t start = (uint32_t)(c->nchunks - 1) * COMPACT_CHUNK_PAGES;
    const size_t nfresh = fresh_in_last(c);
    size_t nfree = 0;
    for (size_t i = 0; i < c->nfree; i++) {
        nfree += c->free_pages[i] >= start;
    }
    const size_t nused = compact_chunk_pages(c, c->nchunks - 1) - 1 - nfresh - nfree;
    if (c->nfree - nfree + c->nfresh - nfresh < nused + nspare) {
        return 0;
    }
    size_t nkept = 0;
    for (size_t i = 0; i < c->nfree; i++) {
        if (c->free_pages[i] < start) {
            c->free_pages[nkept++] = c->free_pages[i];
        }
    }
    c->nfree = nkept;
    c->nfresh -= nfresh;
    if (c->next_page > start) {
        c->next_page =
            start - COMPACT_CHUNK_PAGES + (uint32_t)compact_chunk_pages(c, c->nchunks - 2);
    }
    return start;
}

void unseen__compact_pages_drop_chunk(struct compact *c)
{
    c->nchunks--;
    unseen__compact_free(c, c->chunks[c->nchunks],
                         compact_chunk_pages(c, c->nchunks) * COMPACT_PAGE);
}
