/* SPDX-License-Identifier: MIT
 *
 * The keys of a batch that a chain of filters has yet to answer. A filter of the chain is asked
 * about all of them at once, so that its memory is fetched ahead; the keys that it has are closed,
 * and the next one is asked about the rest. */
#ifndef UNSEEN_SET_OPEN_KEYS_H
#define UNSEEN_SET_OPEN_KEYS_H

#include <string.h>

#include "base/macros.h"
#include "hash/key.h"

enum {
    OPEN_KEYS_MAX = 256
};

struct open_keys {
    struct unseen_key keys[OPEN_KEYS_MAX];
    uint16_t at[OPEN_KEYS_MAX];      /* the index of each key in the batch */
    uint8_t verdicts[OPEN_KEYS_MAX]; /* of the filter that was asked last */
    size_t n;
};

/* Begins with a batch of n keys. */
UNSEEN_INLINE void open_keys_begin(struct open_keys *open, const struct unseen_key *keys, size_t n)
{
    memcpy(open->keys, keys, n * sizeof(*keys));
    for (size_t i = 0; i < n; i++) {
        open->at[i] = (uint16_t)i;
    }
    open->n = n;
}

/* Takes the verdicts of the filter that was asked: keys that it has are closed, and copied to `had`
 * unless it is NULL. verdicts are those of the batch. Returns the number of keys closed. */
UNSEEN_INLINE size_t open_keys_close(struct open_keys *open, uint8_t *verdicts,
                                     struct unseen_key *had)
{
    const size_t n = open->n;
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const struct unseen_key key = open->keys[i];
        verdicts[open->at[i]] = open->verdicts[i];
        if (had) {
            had[i - left] = key;
        }
        open->keys[left] = key;
        open->at[left] = open->at[i];
        left += open->verdicts[i] == UNSEEN_NEW;
    }
    open->n = left;
    return n - left;
}

#endif
