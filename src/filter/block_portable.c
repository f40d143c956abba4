/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter's operations in portable C: the specification of the other levels. */
#include "filter/block.h"

#define KERNEL(name) name##_portable
#define KERNEL_TARGET

struct kernel_places {
    uint32_t place[16];
};

struct kernel_count {
    uint64_t n;
};

UNSEEN_INLINE void kernel_find(uint64_t lo, uint32_t lanes, struct kernel_places *places)
{
    static const uint32_t multiplier[16] = {BLOCK_MULTIPLIERS};
    for (unsigned i = 0; lanes >> i; i++) {
        places->place[i] = ((uint32_t)lo * multiplier[i] + (uint32_t)(lo >> 32)) >> 23;
    }
}

UNSEEN_INLINE bool kernel_lacking(const uint8_t *block, bool is_wide, uint32_t lanes,
                                  const struct kernel_places *places)
{
    uint32_t lacking = 0;
    for (unsigned i = 0; lanes >> i; i++) {
        const uint8_t *line = block + (is_wide && i >= 8 ? UNSEEN__LINE : 0);
        const uint32_t place = places->place[i];
        lacking |= (uint32_t)(~line[place / 8] >> place % 8 & 1) << i;
    }
    return lacking & lanes;
}

UNSEEN_INLINE void kernel_set(uint8_t *block, bool is_wide, unsigned k,
                              const struct kernel_places *places, struct kernel_count *count)
{
    count->n += block_set_all(block, is_wide, places->place, k);
}

UNSEEN_INLINE uint64_t kernel_sum(const struct kernel_count *count)
{
    return count->n;
}

#include "filter/block_kernel.h"
