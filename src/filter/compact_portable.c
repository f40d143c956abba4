/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations in plain C: the specification of the SIMD levels. The loops over
 * 16 words are written so that compilers turn them into vector code of the base instruction set
 * (SSE2, NEON): no early exit, and one bit per word collected by a masked constant. */
#include "filter/compact_ops.h"

#define KERNEL(name)  name##_portable
#define KERNEL_TARGET

static const uint32_t slot_bit[16] = {1u << 0,  1u << 1,  1u << 2,  1u << 3, 1u << 4,  1u << 5,
                                      1u << 6,  1u << 7,  1u << 8,  1u << 9, 1u << 10, 1u << 11,
                                      1u << 12, 1u << 13, 1u << 14, 1u << 15};

UNSEEN_INLINE struct compact_lanes kernel_compare(const uint8_t *line, uint32_t v)
{
    uint32_t match = 0;
    uint32_t empty = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint32_t tag = load_le32(line + 4 * i);
        uint32_t differ = (tag ^ v) & ~(tag ^ (tag - 1));
        match |= differ == 0 ? slot_bit[i] : 0;
        empty |= tag == 0 ? slot_bit[i] : 0;
    }
    return (struct compact_lanes){match & ~empty, empty};
}

UNSEEN_INLINE uint32_t kernel_small_r_in(const uint8_t *line, unsigned first, unsigned count)
{
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 16; i++) {
        in_range |= load_le32(line + 4 * i) - (first << 24) < count << 24 ? slot_bit[i] : 0;
    }
    return in_range;
}

UNSEEN_INLINE uint32_t kernel_wide_r_in(const uint8_t *line, unsigned first, unsigned count)
{
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 13; i++) {
        in_range |= ((wide_r(line, i) - first) & 127) < count ? slot_bit[i] : 0;
    }
    return in_range;
}

UNSEEN_INLINE void kernel_erase(uint8_t *line, uint32_t slots)
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t tag = load_le32(line + 4 * i);
        store_le32(line + 4 * i, slots & slot_bit[i] ? 0 : tag);
    }
}

UNSEEN_INLINE unsigned kernel_count(uint32_t bits)
{
    /* For 16 bits; the base instruction set has no such instruction. */
    bits = bits - (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0f0f;
    return (bits + (bits >> 8)) & 31;
}

#include "filter/compact_kernel.h"
