/* SPDX-License-Identifier: MIT
 *
 * The stash: an exact set of whole keys, for keys that find no slot in a compact filter.
 * With random keys it stays nearly empty. If keys were made to collide, by
 * somebody who knows the secret, the stash keeps the filter's promise never to lose a key.
 *
 * The keys stand in an array. Their order follows from the calls alone, so that a filter is saved
 * as the same bytes everywhere. A hash table (open addressing, at most half full) has the index of
 * each key. Its hash has a random salt: nobody can choose keys that collide in it.
 *
 * A filter that counts also keeps here how often a key was added beyond its tags. The array of
 * counts is made when the first key is added again. */
#ifndef UNSEEN_TAGS_STASH_H
#define UNSEEN_TAGS_STASH_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__stash {
    /* In the order of the calls; a removed key is replaced by the last key. */
    struct unseen_key *keys;
    size_t nkeys;
    uint64_t *counts; /* how often each key was added; NULL: each once */
    uint32_t *slots;  /* the index of a key, plus 1; 0 is empty */
    size_t nslots;    /* a power of two, twice the capacity of keys; or 0 */
    uint64_t salt[2]; /* 0, 0: not drawn yet */
};

/* Frees the memory. The stash is empty then, and keeps its salt. */
void unseen__stash_release(struct unseen__stash *o, const struct unseen_allocator *allocator);
bool unseen__stash_contains(const struct unseen__stash *o, struct unseen_key key);

/* Adds an absent key. Errors: NOMEM, RANDOM; nothing has changed. */
enum unseen_status unseen__stash_add(struct unseen__stash *o, struct unseen_key key,
                                     const struct unseen_allocator *allocator);

/* Adds a key n more times, whether it is present or not; n is not 0. Errors: NOMEM, RANDOM; nothing
 * has changed. */
enum unseen_status unseen__stash_add_again(struct unseen__stash *o, struct unseen_key key,
                                           uint64_t n, const struct unseen_allocator *allocator);

/* How often a key was added; 0: it is absent. */
uint64_t unseen__stash_count(const struct unseen__stash *o, struct unseen_key key);

/* Takes back one add of a key; returns false if it was absent. */
bool unseen__stash_remove(struct unseen__stash *o, struct unseen_key key);

/* Bytes taken through the allocator. */
size_t unseen__stash_memory(const struct unseen__stash *o);

#endif
