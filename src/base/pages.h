/* SPDX-License-Identifier: MIT
 *
 * Pages of 4 KiB, for the bitmap, which grows page by page. Pages are cut from chunks that double
 * up to 2 MiB, so that a small bitmap is small and a large bitmap is in huge pages. */
#ifndef UNSEEN_BASE_PAGES_H
#define UNSEEN_BASE_PAGES_H

#include "unseen.h"

enum {
    UNSEEN__PAGE = 4096 /* bytes */
};

struct unseen__pages {
    struct unseen_allocator allocator; /* set by the user; all else starts as 0 */
    uint8_t **chunks;
    size_t nchunks;
    size_t chunks_cap;
    size_t next;     /* first page of the last chunk that was never used */
    void *given;     /* pages that were given back, linked by their first word */
    uint64_t memory; /* bytes taken through the allocator */
};

/* A page of zeros, aligned to its size; NULL without memory. */
void *unseen__page_take(struct unseen__pages *pages);
void unseen__page_give(struct unseen__pages *pages, void *page);

/* Frees all chunks. */
void unseen__pages_release(struct unseen__pages *pages);

#endif
