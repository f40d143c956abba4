/* SPDX-License-Identifier: MIT
 *
 * The Bloom filter of the textbooks [Bloom70], as the yardstick: m bits, k probes per key at
 * h1 + i * h2 [Kirsch06], one key at a time. k = 10 and 20 bits per key give 8.9e-5. The only
 * liberty: h mod m is a multiplication (the high word of h * m), which is faster than a division
 * and as uniform. */
#ifndef UNSEEN_BENCH_TEXTBOOK_BLOOM_H
#define UNSEEN_BENCH_TEXTBOOK_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

struct textbook_bloom {
    uint64_t *words;
    uint64_t m;
    unsigned k;
};

static inline uint64_t textbook_bit(const struct textbook_bloom *bloom, uint64_t h)
{
    return (uint64_t)((unsigned __int128)h * bloom->m >> 64);
}

/* Sets the key's bits; true if all of them were set before. */
static inline bool textbook_bloom_add(struct textbook_bloom *bloom, uint64_t h1, uint64_t h2)
{
    bool seen = true;
    for (unsigned i = 0; i < bloom->k; i++) {
        uint64_t bit = textbook_bit(bloom, h1 + i * h2);
        uint64_t mask = (uint64_t)1 << bit % 64;
        seen = seen && (bloom->words[bit / 64] & mask);
        bloom->words[bit / 64] |= mask;
    }
    return seen;
}

static inline bool textbook_bloom_contains(const struct textbook_bloom *bloom, uint64_t h1,
                                           uint64_t h2)
{
    for (unsigned i = 0; i < bloom->k; i++) {
        uint64_t bit = textbook_bit(bloom, h1 + i * h2);
        if (!(bloom->words[bit / 64] >> bit % 64 & 1)) {
            return false;
        }
    }
    return true;
}

#endif
