/* SPDX-License-Identifier: MIT
 *
 * The exact filter's operations for every processor. */
#include "filter/exact.h"

#define KERNEL(name) name##_portable
#define KERNEL_TARGET

/* No early exit, so that compilers vectorise the loop. */
UNSEEN_INLINE uint32_t KERNEL(equal)(const uint8_t *line, uint32_t word)
{
    uint32_t equal = 0;
    for (unsigned i = 0; i < 16; i++) {
        equal |= (uint32_t)(exact_word(line, i) == word) << i;
    }
    return equal;
}

UNSEEN_INLINE unsigned KERNEL(count)(uint32_t bits)
{
    bits = bits - (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0f0f;
    return (bits + (bits >> 8)) & 31;
}

#include "filter/exact_kernel.h"
