/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations in plain C: the specification of the SIMD levels. The loops over
 * 16 words have no early exit and collect one bit per word by a masked constant, so that compilers
 * turn them into vector code. For KERNEL(matches) and KERNEL(empty), which every operation runs,
 * compilers are not good enough: they are written with SSE2 where the base instruction set has SSE2
 * (every x86-64).
 * A test builds this file with UNSEEN_PLAIN_C as well, and compares. */
#include "tags/compact_ops.h"

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

/* The sign bit of each word: whether the tag there matches (compact_kernel.h). */
UNSEEN_INLINE __m128i match_signs(const uint8_t *words, __m128i key)
{
    const __m128i tag = _mm_loadu_si128((const __m128i *)(const void *)words);
    const __m128i minus_mark = _mm_or_si128(tag, _mm_sub_epi32(_mm_setzero_si128(), tag));
    return _mm_add_epi32(_mm_srli_epi32(_mm_xor_si128(tag, key), 1), minus_mark);
}

UNSEEN_INLINE uint32_t match_mask(const uint8_t *line, __m128i key)
{
    __m128i signs[4];
    for (int i = 0; i < 4; i++) {
        signs[i] = match_signs(line + 16 * i, key);
    }
    return lanes_mask(signs);
}

UNSEEN_INLINE uint32_t KERNEL(matches)(const uint8_t *a, const uint8_t *b, uint32_t v)
{
    const __m128i key = _mm_set1_epi32((int)v);
    return match_mask(a, key) | match_mask(b, key) << 16;
}

UNSEEN_INLINE uint32_t KERNEL(empty)(const uint8_t *line)
{
    __m128i empty[4];
    for (int i = 0; i < 4; i++) {
        const __m128i tag = _mm_loadu_si128((const __m128i *)(const void *)(line + 16 * i));
        empty[i] = _mm_cmpeq_epi32(tag, _mm_setzero_si128());
    }
    return lanes_mask(empty);
}
#else
UNSEEN_INLINE uint32_t match_mask(const uint8_t *line, uint32_t v)
{
    uint32_t match = 0;
    for (unsigned i = 0; i < 16; i++) {
        const uint32_t tag = load_le32(line + 4 * i);
        const uint32_t sign = (((tag ^ v) >> 1) + (tag | (0 - tag))) >> 31;
        match |= sign ? slot_bit[i] : 0;
    }
    return match;
}

UNSEEN_INLINE uint32_t KERNEL(matches)(const uint8_t *a, const uint8_t *b, uint32_t v)
{
    return match_mask(a, v) | match_mask(b, v) << 16;
}

UNSEEN_INLINE uint32_t KERNEL(empty)(const uint8_t *line)
{
    uint32_t empty = 0;
    for (unsigned i = 0; i < 16; i++) {
        empty |= load_le32(line + 4 * i) == 0 ? slot_bit[i] : 0;
    }
    return empty;
}
#endif

UNSEEN_INLINE uint32_t KERNEL(r_in_32)(const uint8_t *line, unsigned first, unsigned count)
{
    const uint32_t last = (count << 24) - 1;
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 16; i++) {
        in_range |= load_le32(line + 4 * i) - (first << 24) <= last ? slot_bit[i] : 0;
    }
    return count ? in_range : 0;
}

UNSEEN_INLINE uint32_t KERNEL(r_in_39)(const uint8_t *line, unsigned first, unsigned count)
{
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 13; i++) {
        in_range |= ((compact_low_39(line, i) - first) & 127) < count ? slot_bit[i] : 0;
    }
    return in_range;
}

UNSEEN_INLINE uint32_t KERNEL(r_in_51)(const uint8_t *line, unsigned first, unsigned count)
{
    uint32_t in_range = 0;
    for (unsigned i = 0; i < 10; i++) {
        in_range |= ((compact_low_51(line, i) - first) & 127) < count ? slot_bit[i] : 0;
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

#include "tags/compact_kernel.h"
