/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations in plain C: the specification of the SIMD levels. The loops over
 * 16 words have no early exit and collect one bit per word by a masked constant, so that compilers
 * turn them into vector code. For KERNEL(compare), which every operation runs twice, compilers are
 * not good enough: it is written with SSE2 where the base instruction set has SSE2 (every x86-64).
 * A test builds this file with UNSEEN_PLAIN_C as well, and compares. */
#include "filter/compact_ops.h"

#ifndef KERNEL
#define KERNEL(name) name##_portable
#endif
#define KERNEL_TARGET

static const uint32_t slot_bit[16] = {1u << 0,  1u << 1,  1u << 2,  1u << 3, 1u << 4,  1u << 5,
                                      1u << 6,  1u << 7,  1u << 8,  1u << 9, 1u << 10, 1u << 11,
                                      1u << 12, 1u << 13, 1u << 14, 1u << 15};

#if defined(__SSE2__) && !defined(UNSEEN_PLAIN_C)
#include <emmintrin.h>

UNSEEN_INLINE uint32_t lanes_mask(const __m128i *lanes)
{
    __m128i low = _mm_packs_epi32(lanes[0], lanes[1]);
    __m128i high = _mm_packs_epi32(lanes[2], lanes[3]);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

UNSEEN_INLINE struct compact_lanes KERNEL(compare)(const uint8_t *line, uint32_t v)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i ones = _mm_set1_epi32(-1);
    const __m128i key = _mm_set1_epi32((int)v);
    __m128i match[4];
    __m128i empty[4];
    for (int i = 0; i < 4; i++) {
        __m128i tag = _mm_loadu_si128((const __m128i *)(const void *)(line + 16 * i));
        __m128i below = _mm_xor_si128(tag, _mm_add_epi32(tag, ones));
        __m128i differ = _mm_andnot_si128(below, _mm_xor_si128(tag, key));
        match[i] = _mm_cmpeq_epi32(differ, zero);
        empty[i] = _mm_cmpeq_epi32(tag, zero);
    }
    uint32_t is_empty = lanes_mask(empty);
    return (struct compact_lanes){lanes_mask(match) & ~is_empty, is_empty};
}
#else
UNSEEN_INLINE struct compact_lanes KERNEL(compare)(const uint8_t *line, uint32_t v)
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
#endif

UNSEEN_INLINE uint32_t KERNEL(small_r_in)(const uint8_t *line, unsigned first, unsigned count)
{
    const uint32_t last = (count << 24) - 1;
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 16; i++) {
        in_range |= load_le32(line + 4 * i) - (first << 24) <= last ? slot_bit[i] : 0;
    }
    return count ? in_range : 0;
}

UNSEEN_INLINE uint32_t KERNEL(wide_r_in)(const uint8_t *line, unsigned first, unsigned count)
{
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 13; i++) {
        in_range |= ((wide_r(line, i) - first) & 127) < count ? slot_bit[i] : 0;
    }
    return in_range;
}

UNSEEN_INLINE void KERNEL(erase_line)(uint8_t *line, uint32_t slots)
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t tag = load_le32(line + 4 * i);
        store_le32(line + 4 * i, slots & slot_bit[i] ? 0 : tag);
    }
}

UNSEEN_INLINE unsigned KERNEL(count)(uint32_t bits)
{
    /* For 16 bits; the base instruction set has no such instruction. */
    bits = bits - (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0f0f;
    return (bits + (bits >> 8)) & 31;
}

#include "filter/compact_kernel.h"
