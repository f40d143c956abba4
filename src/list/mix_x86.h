/* SPDX-License-Identifier: MIT
 *
 * unseen__list_mix for four words at a time with AVX2, and for eight with AVX-512. */
#ifndef UNSEEN_LIST_MIX_X86_H
#define UNSEEN_LIST_MIX_X86_H

#include <stdint.h>

#include "base/macros.h"

#if UNSEEN_X86

#include <immintrin.h>

/* The lower words of the products of words and a factor. */
UNSEEN_TARGET("avx2") static inline __m256i unseen__list_multiply4(__m256i x, uint64_t factor)
{
    const __m256i low = _mm256_set1_epi64x((long long)(factor & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(factor >> 32));
    const __m256i outer = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                           _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(outer, 32));
}

UNSEEN_TARGET("avx2") static inline __m256i unseen__list_mix4(__m256i x)
{
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 30));
    x = unseen__list_multiply4(x, UINT64_C(0xbf58476d1ce4e5b9));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 27));
    x = unseen__list_multiply4(x, UINT64_C(0x94d049bb133111eb));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
}

UNSEEN_TARGET("avx512f,avx512dq") static inline __m512i unseen__list_mix8(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 30));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0xbf58476d1ce4e5b9)));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0x94d049bb133111eb)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

#endif

#endif
