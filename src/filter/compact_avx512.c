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
    enum { DIFFER = 0x24 };
    __m512i tag = _mm512_loadu_si512(line);
    __m512i below = _mm512_add_epi32(tag, _mm512_set1_epi32(-1));
    __m512i differ = _mm512_ternarylogic_epi32(tag, _mm512_set1_epi32((int)v), below, DIFFER);
    __mmask16 used = _mm512_test_epi32_mask(tag, tag);
    __mmask16 match = _mm512_mask_testn_epi32_mask(used, differ, differ);
    return (struct compact_lanes){match, (uint32_t)(uint16_t)~used};
}

UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_in_range(const uint8_t *line, uint32_t first,
                                                     uint32_t count)
{
    __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(line), _mm512_set1_epi32((int)first));
    return _mm512_cmplt_epu32_mask(from, _mm512_set1_epi32((int)count));
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_count(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "filter/compact_kernel.h"
#else
typedef int compact_avx512_is_empty; /* ISO C wants a declaration */
#endif
