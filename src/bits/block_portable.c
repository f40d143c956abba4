/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter's operations in portable C: the specification of the other levels. */
#include "bits/block.h"

#define KERNEL(name) name##_portable
#define KERNEL_TARGET

struct KERNEL(places) {
    uint32_t place[16];
};

struct KERNEL(count) {
    uint64_t n;
};

UNSEEN_INLINE void KERNEL(find)(uint64_t lo, uint32_t lanes, struct KERNEL(places) * places)
{
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    for (unsigned i = 0; lanes >> i; i++) {
        places->place[i] = ((uint32_t)lo * multiplier[i] + (uint32_t)(lo >> 32)) >> 23;
    }
}

UNSEEN_INLINE bool KERNEL(lacking)(const uint8_t *block, bool two_lines, uint32_t lanes,
                                   const struct KERNEL(places) * places)
{
    uint32_t lacking = 0;
    for (unsigned i = 0; lanes >> i; i++) {
        const uint8_t *line = block + (two_lines && i >= 8 ? UNSEEN__LINE : 0);
        const uint32_t place = places->place[i];
        lacking |= (uint32_t)(~line[place / 8] >> place % 8 & 1) << i;
    }
    return lacking & lanes;
}

/* Sets the bits at n places of a line. Returns how many were 0, as two places may be the same. A
 * loop over the lacking bits alone takes fewer steps, but mispredicts its end for each key; single
 * stores to the line would wait for memory. */
UNSEEN_INLINE unsigned KERNEL(set_line)(uint8_t *line, const uint32_t *places, unsigned n)
{
    uint64_t words[8];
    unsigned nset = 0;
    memcpy(words, line, sizeof(words));
    for (unsigned i = 0; i < n; i++) {
        const uint64_t bit = UNSEEN_LE64((uint64_t)1 << places[i] % 64);
        uint64_t *word = &words[places[i] / 64];
        nset += !(*word & bit);
        *word |= bit;
    }
    memcpy(line, words, sizeof(words));
    return nset;
}

UNSEEN_INLINE void KERNEL(set)(uint8_t *block, bool two_lines, unsigned k,
                               const struct KERNEL(places) * places, struct KERNEL(count) * count)
{
    const unsigned second = two_lines ? k / 2 : 0;
    count->n += KERNEL(set_line)(block, places->place, k - second);
    if (two_lines) {
        count->n += KERNEL(set_line)(block + UNSEEN__LINE, places->place + 8, second);
    }
}

UNSEEN_INLINE uint64_t KERNEL(sum)(const struct KERNEL(count) * count)
{
    return count->n;
}

#include "bits/block_kernel.h"
