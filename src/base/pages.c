/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

enum {
    FIRST_PAGES = 16,
    DOUBLINGS = 5,
    CHUNK_PAGES = FIRST_PAGES << DOUBLINGS, /* 2 MiB */
    LARGE_CHUNKS = 12 /* from here on, 16 MiB, huge pages are worth their first touch */
};

static size_t pages_of(size_t chunk)
{
    return chunk < DOUBLINGS ? (size_t)FIRST_PAGES << chunk : CHUNK_PAGES;
}

/* Room for one more chunk in the list. */
static bool make_room(struct unseen__pages *p)
{
    if (p->nchunks < p->chunks_cap) {
        return true;
    }
    const size_t cap = p->chunks_cap ? p->chunks_cap * 2 : 16;
    uint8_t **chunks = unseen__alloc(&p->allocator, cap * sizeof(*chunks), sizeof(*chunks));
    if (!chunks) {
        return false;
    }
    if (p->nchunks) {
        memcpy(chunks, p->chunks, p->nchunks * sizeof(*chunks));
    }
    unseen__free(&p->allocator, p->chunks, p->chunks_cap * sizeof(*chunks));
    p->memory += (cap - p->chunks_cap) * sizeof(*chunks);
    p->chunks = chunks;
    p->chunks_cap = cap;
    return true;
}

static bool add_chunk(struct unseen__pages *p)
{
    if (!make_room(p)) {
        return false;
    }
    const size_t size = pages_of(p->nchunks) * UNSEEN__PAGE;
    uint8_t *chunk = unseen__alloc(&p->allocator, size, UNSEEN__PAGE);
    if (!chunk) {
        return false;
    }
    if (p->nchunks >= LARGE_CHUNKS) {
        unseen__memory_large(&p->allocator, chunk);
    }
    p->chunks[p->nchunks++] = chunk;
    p->memory += size;
    p->next = 0;
    return true;
}

void *unseen__page_take(struct unseen__pages *p)
{
    void *page = p->given;
    if (page) {
        memcpy(&p->given, page, sizeof(p->given));
    } else {
        if ((p->nchunks == 0 || p->next == pages_of(p->nchunks - 1)) && !add_chunk(p)) {
            return NULL;
        }
        page = p->chunks[p->nchunks - 1] + p->next++ * UNSEEN__PAGE;
    }
    return memset(page, 0, UNSEEN__PAGE);
}

void unseen__page_give(struct unseen__pages *p, void *page)
{
    memcpy(page, &p->given, sizeof(p->given));
    p->given = page;
}

void unseen__pages_release(struct unseen__pages *p)
{
    for (size_t i = 0; i < p->nchunks; i++) {
        unseen__free(&p->allocator, p->chunks[i], pages_of(i) * UNSEEN__PAGE);
    }
    unseen__free(&p->allocator, p->chunks, p->chunks_cap * sizeof(*p->chunks));
}
