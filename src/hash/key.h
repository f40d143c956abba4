/* SPDX-License-Identifier: MIT
 *
 * Identity bytes -> key. The hash is XXH3-128 with a 64-bit seed; its bits are part of every saved
 * set, so the id below is written there, and another hash would be another id. XXH3's output has
 * been frozen since xxHash 0.8.0. */
#ifndef UNSEEN_HASH_KEY_H
#define UNSEEN_HASH_KEY_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macros.h"
#include "unseen.h"

enum {
    UNSEEN__HASH_XXH3_128 = 1
};

/* Two stores of one word each, as the hash comes in two registers: a struct returned by value was
 * spilled as two words and copied as one vector, which stalls the processor for 5 ns a key. */
static inline void unseen__key_to(const void *data, size_t len, uint64_t seed,
                                  struct unseen_key *key_out)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(data, len, seed);
    UNSEEN_OPAQUE(hash.low64);
    UNSEEN_OPAQUE(hash.high64);
    key_out->lo = hash.low64;
    key_out->hi = hash.high64;
}

static inline struct unseen_key unseen__key(const void *data, size_t len, uint64_t seed)
{
    struct unseen_key key;
    unseen__key_to(data, len, seed, &key);
    return key;
}

static inline uint64_t unseen__checksum(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

#endif
