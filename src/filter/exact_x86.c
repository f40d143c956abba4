/* SPDX-License-Identifier: MIT
 *
 * The exact filter's operations for AVX2: 8 words at a time. AVX-512 gains too little over it
 * (docs/decisions/exact.md). */
#include "filter/exact.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(equal)(const uint8_t *line, uint32_t word)
{
    const __m256i *half = (const __m256i *)(const void *)line;
    const __m256i same = _mm256_set1_epi32((int)word);
    const __m256i low = _mm256_cmpeq_epi32(_mm256_loadu_si256(half), same);
    const __m256i high = _mm256_cmpeq_epi32(_mm256_loadu_si256(half + 1), same);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
           (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8;
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(count)(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "filter/exact_kernel.h"
#endif
