/* SPDX-License-Identifier: MIT
 *
 * The counting Bloom filter of the textbooks [Fan00]: k counters for each key, anywhere among m, of
 * 32 bits, as programs have them that take the next integer type; one key at a time. In all else
 * like textbook_bloom.h. A removal that finds a counter at 0 changes nothing. */
#ifndef UNSEEN_BENCH_TEXTBOOK_COUNTING_H
#define UNSEEN_BENCH_TEXTBOOK_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

struct textbook_counting {
    uint32_t *counters;
    uint64_t m;
    unsigned k;
};

static inline uint32_t *textbook_counter(const struct textbook_counting *counting, uint64_t h)
{
    return &counting->counters[(uint64_t)((unsigned __int128)h * counting->m >> 64)];
}

/* true if the key was there. */
static inline bool textbook_counting_contains(const struct textbook_counting *counting, uint64_t h1,
                                              uint64_t h2)
{
    for (unsigned i = 0; i < counting->k; i++) {
        if (*textbook_counter(counting, h1 + i * h2) == 0) {
            return false;
        }
    }
    return true;
}

static inline bool textbook_counting_add(struct textbook_counting *counting, uint64_t h1,
                                         uint64_t h2)
{
    bool seen = true;
    for (unsigned i = 0; i < counting->k; i++) {
        uint32_t *counter = textbook_counter(counting, h1 + i * h2);
        seen = seen && *counter > 0;
        ++*counter;
    }
    return seen;
}

static inline bool textbook_counting_remove(struct textbook_counting *counting, uint64_t h1,
                                            uint64_t h2)
{
    if (!textbook_counting_contains(counting, h1, h2)) {
        return false;
    }
    for (unsigned i = 0; i < counting->k; i++) {
        --*textbook_counter(counting, h1 + i * h2);
    }
    return true;
}

#endif
