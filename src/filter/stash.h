/* SPDX-License-Identifier: MIT
 *
 * An exact set of whole keys, for the keys a fingerprint filter can find no place for. With random
 * keys it stays empty for ever; with keys made to collide (a known secret) it keeps the filter's
 * promise never to lose one.
 *
 * The keys stand in an array, in an order that follows from the calls alone, so that a filter is saved
 * as the same bytes everywhere. A table of their places, by open addressing, at most half full, is
 * keyed by a random salt: nobody can choose keys that meet in it. */
#ifndef UNSEEN_FILTER_STASH_H
#define UNSEEN_FILTER_STASH_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__stash {
    struct unseen_key *keys; /* as they came; the last one takes the place of one that is removed */
    size_t nkeys;
    uint32_t *slots; /* the place of a key, plus 1; 0 is empty */
    size_t nslots;   /* a power of two, twice the keys that there is room for; or 0 */
    uint64_t salt[2];
};

void unseen__stash_release(struct unseen__stash *o, const struct unseen_allocator *allocator);
bool unseen__stash_contains(const struct unseen__stash *o, struct unseen_key key);

/* Adds an absent key. Errors: NOMEM, RANDOM; nothing has changed. */
enum unseen_status unseen__stash_add(struct unseen__stash *o, struct unseen_key key,
                                     const struct unseen_allocator *allocator);

/* Returns whether it was there. */
bool unseen__stash_remove(struct unseen__stash *o, struct unseen_key key);

/* Bytes taken. */
size_t unseen__stash_memory(const struct unseen__stash *o);

#endif
