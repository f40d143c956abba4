/* SPDX-License-Identifier: MIT
 *
 * The key of a list's identity: 64 bits, the upper half of the hash under the list's seed. */
#ifndef UNSEEN_LIST_KEY_H
#define UNSEEN_LIST_KEY_H

#include "hash/key.h"

static inline uint64_t unseen__list_key(const void *data, size_t len, uint64_t seed)
{
    struct unseen_key key;
    unseen__key_to(data, len, seed, &key);
    return key.hi;
}

#endif
