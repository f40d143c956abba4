/* SPDX-License-Identifier: MIT
 *
 * The operations of the counting filter for AVX2, where a line of counters is two vectors, and for
 * AVX-512, where it is one. */
#include "bits/counting.h"

#if UNSEEN_X86
#include <immintrin.h>

/* ---- AVX2 -------------------------------------------------------------------------------------*/

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

struct KERNEL(mask) {
    __m256i half[4];
};

UNSEEN_INLINE KERNEL_TARGET __m256i KERNEL(load)(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(store)(void *p, __m256i x)
{
    _mm256_storeu_si256((__m256i *)p, x);
}

/* For eight places, stores the number of the 32-bit word that has the place, and its bit in the
 * word. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(eight_places)(uint64_t lo, const uint32_t *multiplier,
                                                      uint32_t *words, uint32_t *bits)
{
    const __m256i a = _mm256_set1_epi32((int)(uint32_t)lo);
    const __m256i b = _mm256_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m256i h = _mm256_add_epi32(_mm256_mullo_epi32(a, KERNEL(load)(multiplier)), b);
    const __m256i place = _mm256_srli_epi32(h, 25);
    const __m256i shift = _mm256_and_si256(_mm256_slli_epi32(place, 2), _mm256_set1_epi32(31));
    KERNEL(store)(words, _mm256_srli_epi32(place, 3));
    KERNEL(store)(bits, _mm256_sllv_epi32(_mm256_set1_epi32(1), shift));
}

/* Each place is compared with the numbers of the words of a line. The places come from memory
 * again, where a broadcast costs nothing. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(mark_line)(const uint32_t *words, const uint32_t *bits,
                                                   unsigned first, unsigned step, unsigned k,
                                                   __m256i *half)
{
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i others = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
    half[0] = _mm256_setzero_si256();
    half[1] = _mm256_setzero_si256();
    for (unsigned i = first; i < k; i += step) {
        const __m256i word = _mm256_set1_epi32((int)words[i]);
        const __m256i bit = _mm256_set1_epi32((int)bits[i]);
        const __m256i low = _mm256_and_si256(_mm256_cmpeq_epi32(numbers, word), bit);
        const __m256i high = _mm256_and_si256(_mm256_cmpeq_epi32(others, word), bit);
        half[0] = _mm256_or_si256(half[0], low);
        half[1] = _mm256_or_si256(half[1], high);
    }
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(mark)(unsigned k, bool two_lines, uint64_t lo,
                                              struct KERNEL(mask) * mask)
{
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    uint32_t words[16];
    uint32_t bits[16];
    KERNEL(eight_places)(lo, multiplier, words, bits);
    KERNEL(eight_places)(lo, multiplier + 8, words + 8, bits + 8);
    if (two_lines) {
        KERNEL(mark_line)(words, bits, 0, 2, k, mask->half);
        KERNEL(mark_line)(words, bits, 1, 2, k, mask->half + 2);
    } else {
        KERNEL(mark_line)(words, bits, 0, 1, k, mask->half);
    }
}

/* The marked counters that are 0. */
UNSEEN_INLINE KERNEL_TARGET __m256i KERNEL(zeros_of)(__m256i x, __m256i mask)
{
    const __m256i pairs = _mm256_or_si256(x, _mm256_srli_epi64(x, 1));
    return _mm256_andnot_si256(_mm256_or_si256(pairs, _mm256_srli_epi64(pairs, 2)), mask);
}

/* The marked counters that are not 15. */
UNSEEN_INLINE KERNEL_TARGET __m256i KERNEL(open_of)(__m256i x, __m256i mask)
{
    const __m256i pairs = _mm256_and_si256(x, _mm256_srli_epi64(x, 1));
    return _mm256_andnot_si256(_mm256_and_si256(pairs, _mm256_srli_epi64(pairs, 2)), mask);
}

/* The set bits of n vectors, with one branch for all: mostly there are none, or several. */
UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(count_bits)(const __m256i *x, size_t n)
{
    __m256i any = x[0];
    uint64_t words[4];
    unsigned sum = 0;
    for (size_t i = 1; i < n; i++) {
        any = _mm256_or_si256(any, x[i]);
    }
    for (size_t i = 0; !_mm256_testz_si256(any, any) && i < n; i++) {
        KERNEL(store)(words, x[i]);
        sum += (unsigned)(_mm_popcnt_u64(words[0]) + _mm_popcnt_u64(words[1]) +
                          _mm_popcnt_u64(words[2]) + _mm_popcnt_u64(words[3]));
    }
    return sum;
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(zeros)(bool two_lines, const uint8_t *block,
                                                   const struct KERNEL(mask) * mask)
{
    const size_t n = two_lines ? 4 : 2;
    __m256i zeros[4];
    for (size_t i = 0; i < n; i++) {
        zeros[i] = KERNEL(zeros_of)(KERNEL(load)(block + 32 * i), mask->half[i]);
    }
    return KERNEL(count_bits)(zeros, n);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(up)(bool two_lines, uint8_t *block,
                                            const struct KERNEL(mask) * mask)
{
    for (size_t i = 0; i < (two_lines ? 4u : 2u); i++) {
        const __m256i x = KERNEL(load)(block + 32 * i);
        KERNEL(store)(block + 32 * i, _mm256_add_epi64(x, KERNEL(open_of)(x, mask->half[i])));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(down)(bool two_lines, uint8_t *block,
                                                  const struct KERNEL(mask) * mask)
{
    const size_t n = two_lines ? 4 : 2;
    __m256i zeros[4];
    for (size_t i = 0; i < n; i++) {
        const __m256i x = KERNEL(load)(block + 32 * i);
        const __m256i y = _mm256_sub_epi64(x, KERNEL(open_of)(x, mask->half[i]));
        KERNEL(store)(block + 32 * i, y);
        zeros[i] = KERNEL(zeros_of)(y, mask->half[i]);
    }
    return KERNEL(count_bits)(zeros, n);
}

#include "bits/counting_kernel.h"
#undef KERNEL
#undef KERNEL_TARGET

/* ---- AVX-512 ----------------------------------------------------------------------------------*/

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt")

struct KERNEL(mask) {
    __m512i line[2];
};

/* Each place is compared with the numbers of all words of 32 bits at once. The places come from
 * memory again, where a broadcast costs nothing. */
UNSEEN_INLINE KERNEL_TARGET __m512i KERNEL(line_of)(const uint32_t *words, const uint32_t *bits,
                                                    unsigned first, unsigned step, unsigned k)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i line = _mm512_setzero_si512();
    for (unsigned i = first; i < k; i += step) {
        const __mmask16 here = _mm512_cmpeq_epi32_mask(numbers, _mm512_set1_epi32((int)words[i]));
        line = _mm512_mask_or_epi32(line, here, line, _mm512_set1_epi32((int)bits[i]));
    }
    return line;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(mark)(unsigned k, bool two_lines, uint64_t lo,
                                              struct KERNEL(mask) * mask)
{
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    uint32_t words[16];
    uint32_t bits[16];
    const __m512i a = _mm512_set1_epi32((int)(uint32_t)lo);
    const __m512i b = _mm512_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m512i h = _mm512_add_epi32(_mm512_mullo_epi32(a, _mm512_loadu_si512(multiplier)), b);
    const __m512i place = _mm512_srli_epi32(h, 25);
    _mm512_storeu_si512(words, _mm512_srli_epi32(place, 3));
    /* A rotation counts modulo 32: counter p of its word is in bit 4 p. */
    _mm512_storeu_si512(bits, _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_slli_epi32(place, 2)));
    if (two_lines) {
        mask->line[0] = KERNEL(line_of)(words, bits, 0, 2, k);
        mask->line[1] = KERNEL(line_of)(words, bits, 1, 2, k);
    } else {
        mask->line[0] = KERNEL(line_of)(words, bits, 0, 1, k);
    }
}

/* The marked counters that are 0. */
UNSEEN_INLINE KERNEL_TARGET __m512i KERNEL(zeros_of)(__m512i x, __m512i mask)
{
    const __m512i pairs = _mm512_or_si512(x, _mm512_srli_epi64(x, 1));
    return _mm512_andnot_si512(_mm512_or_si512(pairs, _mm512_srli_epi64(pairs, 2)), mask);
}

/* The marked counters that are not 15. */
UNSEEN_INLINE KERNEL_TARGET __m512i KERNEL(open_of)(__m512i x, __m512i mask)
{
    const __m512i pairs = _mm512_and_si512(x, _mm512_srli_epi64(x, 1));
    return _mm512_andnot_si512(_mm512_and_si512(pairs, _mm512_srli_epi64(pairs, 2)), mask);
}

/* The set bits of a vector. Mostly there are none. */
UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(count_bits)(__m512i x)
{
    uint64_t words[8];
    unsigned n = 0;
    if (_mm512_test_epi64_mask(x, x)) {
        _mm512_storeu_si512(words, x);
        for (int i = 0; i < 8; i++) {
            n += (unsigned)_mm_popcnt_u64(words[i]);
        }
    }
    return n;
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(zeros)(bool two_lines, const uint8_t *block,
                                                   const struct KERNEL(mask) * mask)
{
    unsigned zeros = KERNEL(count_bits)(KERNEL(zeros_of)(_mm512_loadu_si512(block), mask->line[0]));
    if (two_lines) {
        const __m512i x = _mm512_loadu_si512(block + UNSEEN__LINE);
        zeros += KERNEL(count_bits)(KERNEL(zeros_of)(x, mask->line[1]));
    }
    return zeros;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(up)(bool two_lines, uint8_t *block,
                                            const struct KERNEL(mask) * mask)
{
    for (unsigned i = 0; i < (two_lines ? 2 : 1); i++) {
        uint8_t *line = block + (size_t)i * UNSEEN__LINE;
        const __m512i x = _mm512_loadu_si512(line);
        _mm512_storeu_si512(line, _mm512_add_epi64(x, KERNEL(open_of)(x, mask->line[i])));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(down)(bool two_lines, uint8_t *block,
                                                  const struct KERNEL(mask) * mask)
{
    unsigned zeros = 0;
    for (unsigned i = 0; i < (two_lines ? 2 : 1); i++) {
        uint8_t *line = block + (size_t)i * UNSEEN__LINE;
        const __m512i x = _mm512_loadu_si512(line);
        const __m512i y = _mm512_sub_epi64(x, KERNEL(open_of)(x, mask->line[i]));
        _mm512_storeu_si512(line, y);
        zeros += KERNEL(count_bits)(KERNEL(zeros_of)(y, mask->line[i]));
    }
    return zeros;
}

#include "bits/counting_kernel.h"

#endif
