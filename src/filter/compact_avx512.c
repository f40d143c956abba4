/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations for AVX-512: a whole line at a time. */
#include "filter/compact_ops.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET struct compact_lanes kernel_compare(const uint8_t *line, uint32_t v)
{
    /* Truth table of (tag ^ key) & ~(tag ^ below), with tag = a, key = b, below = a - 1 = c. */
    enum {
        DIFFER = 0x24
    };
    __m512i tag = _mm512_loadu_si512(line);
    __m512i below = _mm512_add_epi32(tag, _mm512_set1_epi32(-1));
    __m512i differ = _mm512_ternarylogic_epi32(tag, _mm512_set1_epi32((int)v), below, DIFFER);
    __mmask16 used = _mm512_test_epi32_mask(tag, tag);
    __mmask16 match = _mm512_mask_testn_epi32_mask(used, differ, differ);
    return (struct compact_lanes){match, (uint32_t)(uint16_t)~used};
}

UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_small_r_in(const uint8_t *line, unsigned first,
                                                       unsigned count)
{
    /* The remainder is a tag's top byte, so the bits below it do not disturb the comparison. */
    __m512i base = _mm512_set1_epi32((int)(first << 24));
    __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(line), base);
    return _mm512_cmplt_epu32_mask(from, _mm512_set1_epi32((int)(count << 24)));
}

#include "filter/compact_wide_r.h"

UNSEEN_INLINE KERNEL_TARGET void kernel_erase(uint8_t *line, uint32_t slots)
{
    _mm512_mask_storeu_epi32(line, (__mmask16)slots, _mm512_setzero_si512());
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_count(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "filter/compact_kernel.h"
#else
typedef int compact_avx512_is_empty; /* ISO C wants a declaration */
#endif
