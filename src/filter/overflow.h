/* SPDX-License-Identifier: MIT
 *
 * An exact set of whole keys, for the keys a fingerprint filter can find no place for. With random
 * keys it stays empty for ever; with keys made to collide (a known seed) it keeps the filter's
 * promise never to lose one. Open addressing, linear probing, at most half full.
 *
 * Where a key lies depends on a random salt, so a list in the order of its slots is another one each
 * time. */
#ifndef UNSEEN_FILTER_OVERFLOW_H
#define UNSEEN_FILTER_OVERFLOW_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__overflow {
    struct unseen_key *slots; /* {0, 0} is empty */
    size_t nslots;            /* a power of two, or 0 */
    size_t nkeys;
    bool has_zero; /* the key {0, 0} itself */
    uint64_t salt[2];
};

void unseen__overflow_release(struct unseen__overflow *o, const struct unseen_allocator *allocator);
bool unseen__overflow_contains(const struct unseen__overflow *o, struct unseen_key key);

/* Adds an absent key. NOMEM changes nothing. */
enum unseen_status unseen__overflow_add(struct unseen__overflow *o, struct unseen_key key,
                                        const struct unseen_allocator *allocator);

/* Returns whether it was there. */
bool unseen__overflow_remove(struct unseen__overflow *o, struct unseen_key key);

/* Bytes taken. */
size_t unseen__overflow_memory(const struct unseen__overflow *o);

#endif
