/* SPDX-License-Identifier: MIT
 *
 * The exact filter's operations for AVX-512: a whole line at a time. */
#include "filter/exact.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_equal(const uint8_t *line, uint32_t word)
{
    return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(line), _mm512_set1_epi32((int)word));
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_count(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "filter/exact_kernel.h"
#else
typedef int exact_avx512_is_empty; /* ISO C wants a declaration */
#endif
