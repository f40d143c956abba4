/* SPDX-License-Identifier: MIT
 *
 * Checksums: XXH3-64. A checksum finds damage; it keeps no secret and stops no forger. XXH3's
 * output has been frozen since xxHash 0.8.0. */
#ifndef UNSEEN_HASH_CHECKSUM_H
#define UNSEEN_HASH_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t unseen__checksum(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

static inline uint64_t unseen__checksum_seeded(const void *data, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, len, seed);
}

#endif
