/* SPDX-License-Identifier: MIT
 *
 * A block of counters as words of 64 bits, 16 counters in each, tested and changed all at once: what
 * counting_kernel.h needs, for every processor and for those whose compilers make vectors of it.
 * Included after KERNEL_TARGET. */
#include "filter/counting.h"

struct kernel_mask {
    uint64_t word[2 * COUNTING_LINE_WORDS];
};

UNSEEN_INLINE KERNEL_TARGET void kernel_mark(const struct blocks *c, bool is_wide, uint64_t lo,
                                             struct kernel_mask *mask)
{
    static const uint32_t multiplier[16] = {COUNTING_MULTIPLIERS};
    uint32_t places[16];
    for (unsigned i = 0; i < 16; i++) {
        places[i] = counting_place(is_wide, i, lo, multiplier[i]);
    }
    for (unsigned i = 0; i < (is_wide ? 16 : 8); i++) {
        mask->word[i] = 0;
    }
    for (unsigned i = 0; i < c->k; i++) {
        mask->word[places[i] / COUNTING_WORD_CELLS] |= (uint64_t)1 << places[i] % 16 * 4;
    }
}

/* Line by line: the sum of 8 words is a sum of counters that do not overflow. */
UNSEEN_INLINE KERNEL_TARGET unsigned kernel_zeros(bool is_wide, const uint8_t *block,
                                                  const struct kernel_mask *mask)
{
    unsigned zeros = 0;
    for (unsigned line = 0; line < (is_wide ? 16 : 8); line += 8) {
        uint64_t sum = 0;
        for (unsigned i = line; i < line + 8; i++) {
            sum += mask->word[i] & ~counting_used(load_le64(block + 8 * i));
        }
        zeros += counting_sum(sum);
    }
    return zeros;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_up(bool is_wide, uint8_t *block,
                                           const struct kernel_mask *mask)
{
    for (unsigned i = 0; i < (is_wide ? 16 : 8); i++) {
        const uint64_t x = load_le64(block + 8 * i);
        store_le64(block + 8 * i, x + (mask->word[i] & ~counting_full(x)));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_down(bool is_wide, uint8_t *block,
                                                 const struct kernel_mask *mask)
{
    unsigned zeros = 0;
    for (unsigned line = 0; line < (is_wide ? 16 : 8); line += 8) {
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
