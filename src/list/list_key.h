/* SPDX-License-Identifier: MIT
 *
 * The keys of identities in a list: 64 bits, the upper half of the 128 that hash/key.h makes. */
#ifndef UNSEEN_LIST_LIST_KEY_H
#define UNSEEN_LIST_LIST_KEY_H

#include "hash/key.h"

static inline uint64_t unseen__list_key(const struct unseen__hasher *hasher, const void *data,
                                        size_t len)
{
    return unseen__key(hasher, data, len, 128).hi;
}

static inline void unseen__list_keys(const struct unseen__hasher *hasher,
                                     const struct unseen_bytes *items, size_t n, uint64_t *keys)
{
    struct unseen__key_batch batch;
    struct unseen_key whole[UNSEEN__KEY_LANES];
    for (size_t at = 0; at < n; at += UNSEEN__KEY_LANES) {
        const size_t count = n - at < UNSEEN__KEY_LANES ? n - at : UNSEEN__KEY_LANES;
        batch.is_whole = 0;
        for (size_t i = 0; i < count; i++) {
            unseen__key_batch_put(hasher, &batch, i, items[at + i].data, items[at + i].len);
        }
        unseen__key_batch_make(hasher, &batch, count, 128, whole);
        for (size_t i = 0; i < count; i++) {
            keys[at + i] = whole[i].hi;
        }
    }
}

#endif
