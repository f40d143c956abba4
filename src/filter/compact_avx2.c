/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations for AVX2: 8 words at a time. */
#include "filter/compact_ops.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET uint32_t lanes_mask(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
           (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8;
}

UNSEEN_INLINE KERNEL_TARGET struct compact_lanes kernel_compare(const uint8_t *line, uint32_t v)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi32(-1);
    const __m256i key = _mm256_set1_epi32((int)v);
    __m256i match[2];
    __m256i empty[2];
    for (int i = 0; i < 2; i++) {
        __m256i tag = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32 * i));
        __m256i below = _mm256_xor_si256(tag, _mm256_add_epi32(tag, ones));
        __m256i differ = _mm256_andnot_si256(below, _mm256_xor_si256(tag, key));
        empty[i] = _mm256_cmpeq_epi32(tag, zero);
        match[i] = _mm256_andnot_si256(empty[i], _mm256_cmpeq_epi32(differ, zero));
    }
    return (struct compact_lanes){lanes_mask(match[0], match[1]), lanes_mask(empty[0], empty[1])};
}

UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_small_r_in(const uint8_t *line, unsigned first,
                                                       unsigned count)
{
    /* The remainder is a tag's top byte, so the bits below it do not disturb the comparison. */
    const __m256i base = _mm256_set1_epi32((int)(first << 24));
    const __m256i last = _mm256_set1_epi32((int)((count << 24) - 1));
    __m256i in[2];
    for (int i = 0; i < 2; i++) {
        __m256i tag = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32 * i));
        __m256i from = _mm256_sub_epi32(tag, base);
        in[i] = _mm256_cmpeq_epi32(_mm256_min_epu32(from, last), from);
    }
    return count ? lanes_mask(in[0], in[1]) : 0;
}

#include "filter/compact_wide_r.h"

UNSEEN_INLINE KERNEL_TARGET void kernel_erase(uint8_t *line, uint32_t slots)
{
    for (int i = 0; i < 2; i++) {
        const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        __m256i *at = (__m256i *)(void *)(line + 32 * i);
        __m256i chosen = _mm256_and_si256(_mm256_set1_epi32((int)(slots >> (8 * i))), bit);
        __m256i erase = _mm256_cmpeq_epi32(chosen, bit);
        _mm256_storeu_si256(at, _mm256_andnot_si256(erase, _mm256_loadu_si256(at)));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_count(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "filter/compact_kernel.h"
#else
typedef int compact_avx2_is_empty; /* ISO C wants a declaration */
#endif
