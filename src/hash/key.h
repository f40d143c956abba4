/* SPDX-License-Identifier: MIT
 *
 * Identity bytes -> key. The hash is XXH3-128 with a 64-bit seed; its bits are part of every saved
 * set, so the id below is written there, and another hash would be another id. XXH3's output has
 * been frozen since xxHash 0.8.0. */
#ifndef UNSEEN_HASH_KEY_H
#define UNSEEN_HASH_KEY_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdbool.h>

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

/* Whether keys can be this short. */
static inline bool unseen__key_bits_are_valid(unsigned bits)
{
    return bits == 64 || bits == 96 || bits == 128;
}

/* Makes of a key the one that its hi (64 bits), hi and the low half of lo (96), or all of it (128)
 * stand for. A filter wants two halves that look independent of each other and of which some low
 * bits of lo and the high bits of hi say everything: so the low 17 bits of hi stand in lo, veiled
 * by a hash of the others. */
static inline void unseen__key_narrow(unsigned bits, struct unseen_key *key)
{
    if (bits == 128) {
        return;
    }
    const bool is_short = bits == 64;
    uint64_t mixed = (key->hi >> (is_short ? 17 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    key->lo = is_short ? key->hi ^ mixed : (key->lo & UINT32_MAX) | (mixed << 32);
}

static inline uint64_t unseen__checksum(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

static inline uint64_t unseen__checksum_seeded(const void *data, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, len, seed);
}

#endif
