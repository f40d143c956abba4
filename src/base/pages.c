/* SPDX-License-Identifier: MIT
 *
 * Chunk i of a pool has 2^i pages, up to 512. Pages that were given back are taken
 * first. */
#include "base/pages.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"

enum {
    FIRST_PAGES = 1,
    DOUBLINGS = 9,
    CHUNK_PAGES = FIRST_PAGES << DOUBLINGS, /* 2 MiB */
    LARGE_CHUNKS = 16 /* 16 MiB are in use: from here on huge pages are worth their first touch */
};

static size_t pages_of(size_t chunk)
{
    return chunk < DOUBLINGS ? (size_t)FIRST_PAGES << chunk : CHUNK_PAGES;
}

static bool add_chunk(struct unseen__pages *p)
{
    const size_t old_cap = p->chunks_cap;
    if (!array_grow(&p->allocator, &p->chunks, &p->chunks_cap, p->nchunks + 1, 16,
                    sizeof(*p->chunks))) {
        return false;
    }
    p->memory += (p->chunks_cap - old_cap) * sizeof(*p->chunks);
    const size_t size = pages_of(p->nchunks) * UNSEEN__PAGE;
    uint8_t *chunk = unseen__alloc(&p->allocator, size, UNSEEN__PAGE);
    if (!chunk) {
        return false;
    }
    if (p->nchunks >= LARGE_CHUNKS) {
        unseen__memory_large(&p->allocator, chunk, size);
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
