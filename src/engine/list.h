/* SPDX-License-Identifier: MIT
 *
 * What building and asking a list have in common: an identity's key, 64 bits, the upper half of the
 * hash under the list's seed. */
#ifndef UNSEEN_ENGINE_LIST_H
#define UNSEEN_ENGINE_LIST_H

#include "hash/key.h"

static inline uint64_t unseen__list_key(const void *data, size_t len, uint64_t seed)
{
    struct unseen_key key;
    unseen__key_to(data, len, seed, &key);
    return key.hi;
}

#endif
