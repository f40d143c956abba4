/* SPDX-License-Identifier: MIT
 *
 * Asking a list. A key is looked for in the first layer; a page that bumps it sends it on to the
 * next, and the last layer to the keys that are listed. A batch goes through a layer in three
 * steps, each some keys ahead of the next, so that the memory of all of them is fetched at once:
 * find the page and fetch two lines of it; compare the columns of group 0, which sends most other
 * keys away; fetch and compare the rest for those that are left. */
#ifndef UNSEEN_LIST_ASK_H
#define UNSEEN_LIST_ASK_H

#include <stddef.h>

#include "list/list_format.h"
#include "list/page.h"

/* The shards of a layer: first page in the low half, number of pages in the high one. */
struct unseen__list_layer {
    unsigned shard_bits;
    const uint64_t *shards;
};

/* What of an open list a question needs. Every first page and number of pages lies within pages. */
struct unseen__list_view {
    struct unseen__list_geometry geometry;
    uint64_t key_mask; /* the bits that are kept */
    const uint8_t *pages;
    unsigned nlayers;
    struct unseen__list_layer layers[UNSEEN__LIST_LAYERS_MAX];
    const uint64_t *leftover;
    size_t nleftover;
};

enum {
    UNSEEN__LIST_BATCH = 1024
};

/* Asks one layer for n keys, at most UNSEEN__LIST_BATCH; answers are enum unseen__list_answer. */
typedef void unseen__list_asker(const struct unseen__list_view *view, unsigned layer,
                                const uint64_t *keys, size_t n, uint8_t *answers);

/* The asker of a level. */
unseen__list_asker *unseen__list_asker_for(enum unseen_cpu cpu);
unseen__list_asker unseen__list_ask_avx2;
unseen__list_asker unseen__list_ask_avx512;

/* The page of a key in a layer, and what it is there. */
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

/* Whether the key is in the list. */
bool unseen__list_contains(const struct unseen__list_view *view, uint64_t key);

/* The same for n keys: answers[i] is UNSEEN__LIST_YES or NO. */
void unseen__list_contains_batch(const struct unseen__list_view *view, unseen__list_asker *ask,
                                 const uint64_t *keys, size_t n, uint8_t *answers);

#endif
