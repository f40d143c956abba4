/* SPDX-License-Identifier: MIT
 *
 * Asking a list for keys. The first layer is asked first. A page that bumps a key sends it on to
 * the next layer, and a key that the last layer bumps is searched among the leftover keys.
 *
 * A batch goes through a layer in three steps (two in portable C). Each step is some keys ahead of
 * the next, so that the memory of many keys is fetched at once: find the page and fetch two lines
 * of it; compare the columns of group 0, which rules most other keys out; fetch and compare the
 * rest for the keys that remain. */
#ifndef UNSEEN_LIST_ASK_H
#define UNSEEN_LIST_ASK_H

#include <stddef.h>

#include "base/macros.h"
#include "list/layout.h"
#include "list/list_format.h"
#include "list/page.h"

/* The shards of a layer: the first page in the low half, the number of pages in the high half. */
struct unseen__list_layer {
    unsigned shard_bits;
    const uint64_t *shards;
};

/* The parts of an open list that a question reads. Every first page and number of pages lies within
 * pages. */
struct unseen__list_view {
    struct unseen__list_geometry geometry;
    uint64_t key_mask; /* the bits of a key that the list keeps */
    const uint8_t *pages;
    unsigned nlayers;
    struct unseen__list_layer layers[UNSEEN__LIST_LAYERS_MAX];
    const uint64_t *leftover;
    size_t nleftover;
};

enum {
    UNSEEN__LIST_BATCH = 1024
};

/* Asks one layer for n keys, at most UNSEEN__LIST_BATCH. answers[i] becomes an enum
 * unseen__list_answer. */
typedef void unseen__list_asker(const struct unseen__list_view *view, unsigned layer,
                                const uint64_t *keys, size_t n, uint8_t *answers);

/* The asker for a processor level. */
unseen__list_asker *unseen__list_asker_for(enum unseen_cpu cpu);
unseen__list_asker unseen__list_ask_avx2;
unseen__list_asker unseen__list_ask_avx512;

/* The page of a key in a layer, and the row of the key on that page. */
static inline const uint8_t *unseen__list_page_of(const struct unseen__list_view *view,
                                                  unsigned layer, uint64_t key,
                                                  struct unseen__list_row *row_out)
{
    const struct unseen__list_layer *l = &view->layers[layer];
    const uint64_t shard = l->shards[l->shard_bits ? key >> (64 - l->shard_bits) : 0];
    const struct unseen__list_place place =
        unseen__list_place_of(&view->geometry, key, l->shard_bits, (uint32_t)(shard >> 32));
    *row_out = unseen__list_row_of(&view->geometry, key, place.row);
    return view->pages + ((shard & UINT32_MAX) + place.page) * UNSEEN__LIST_PAGE;
}

/* Fetches the rest of a key that begins in this block. For one block in four, the displaced bits
 * are not beside it. */
static inline void unseen__list_fetch_rest(const struct unseen__list_geometry *s,
                                           const uint8_t *page, unsigned block)
{
    const unsigned len = 16 * (s->columns + 1 - s->group0);
    const unsigned next = unseen__list_next_block(s, block);
    for (unsigned k = 0; k < len; k += 64) {
        UNSEEN_PREFETCH_L2(page + s->rest[block] + k);
    }
    UNSEEN_PREFETCH_L2(page + s->rest[block] + len - 1);
    UNSEEN_PREFETCH_L2(page + s->displaced[block / 4]);
    UNSEEN_PREFETCH_L2(page + s->displaced[next / 4]);
}

/* Is the key in the list? */
bool unseen__list_contains(const struct unseen__list_view *view, uint64_t key);

/* Sets answers[i] to UNSEEN__LIST_YES if keys[i] is in the list, else to UNSEEN__LIST_NO. */
void unseen__list_contains_batch(const struct unseen__list_view *view, unseen__list_asker *ask,
                                 const uint64_t *keys, size_t n, uint8_t *answers);

#endif
