/* SPDX-License-Identifier: MIT
 *
 * The counting filter's operations in portable C, which specify what the kernels in counting_x86.c
 * do. A word of 64 bits has 16 counters, and an operation tests or changes all counters of a word
 * at once. */
#include "bits/counting.h"

#define KERNEL(name) name##_portable
#define KERNEL_TARGET

enum {
    LINE_WORDS = 8,
    WORD_CELLS = 16
};

struct KERNEL(mask) {
    uint64_t word[2 * LINE_WORDS];
};

UNSEEN_INLINE void KERNEL(mark)(unsigned k, bool two_lines, uint64_t lo, struct KERNEL(mask) * mask)
{
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    uint32_t places[16];
    for (unsigned i = 0; i < 16; i++) {
        places[i] = counting_place(two_lines, i, lo, multiplier[i]);
    }
    for (unsigned i = 0; i < (two_lines ? 16 : 8); i++) {
        mask->word[i] = 0;
    }
    for (unsigned i = 0; i < k; i++) {
        mask->word[places[i] / WORD_CELLS] |= (uint64_t)1 << places[i] % 16 * 4;
    }
}

/* Adds up line by line: a counter of a sum of 8 words does not overflow. */
UNSEEN_INLINE unsigned KERNEL(zeros)(bool two_lines, const uint8_t *block,
                                     const struct KERNEL(mask) * mask)
{
    unsigned zeros = 0;
    for (unsigned line = 0; line < (two_lines ? 16 : 8); line += 8) {
        uint64_t sum = 0;
        for (unsigned i = line; i < line + 8; i++) {
            sum += mask->word[i] & ~counting_used(load_le64(block + 8 * i));
        }
        zeros += counting_sum(sum);
    }
    return zeros;
}

UNSEEN_INLINE void KERNEL(up)(bool two_lines, uint8_t *block, const struct KERNEL(mask) * mask)
{
    for (unsigned i = 0; i < (two_lines ? 16 : 8); i++) {
        const uint64_t x = load_le64(block + 8 * i);
        store_le64(block + 8 * i, x + (mask->word[i] & ~counting_full(x)));
    }
}

UNSEEN_INLINE unsigned KERNEL(down)(bool two_lines, uint8_t *block,
                                    const struct KERNEL(mask) * mask)
{
    unsigned zeros = 0;
    for (unsigned line = 0; line < (two_lines ? 16 : 8); line += 8) {
        uint64_t sum = 0;
        for (unsigned i = line; i < line + 8; i++) {
            const uint64_t x = load_le64(block + 8 * i);
            const uint64_t y = x - (mask->word[i] & ~counting_full(x));
            store_le64(block + 8 * i, y);
            sum += mask->word[i] & ~counting_used(y);
        }
        zeros += counting_sum(sum);
    }
    return zeros;
}

#include "bits/counting_kernel.h"
