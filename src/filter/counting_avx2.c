/* SPDX-License-Identifier: MIT
 *
 * The counting filter's operations for AVX2: a line of counters is two vectors. */
#include "filter/counting.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

struct kernel_mask {
    __m256i half[4];
};

UNSEEN_INLINE KERNEL_TARGET __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

UNSEEN_INLINE KERNEL_TARGET void store(void *p, __m256i x)
{
    _mm256_storeu_si256((__m256i *)p, x);
}

/* The words of 32 bits and the bits in them of eight places. */
UNSEEN_INLINE KERNEL_TARGET void eight_places(uint64_t lo, const uint32_t *multiplier,
                                              uint32_t *words, uint32_t *bits)
{
    const __m256i a = _mm256_set1_epi32((int)(uint32_t)lo);
    const __m256i b = _mm256_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m256i h = _mm256_add_epi32(_mm256_mullo_epi32(a, load(multiplier)), b);
    const __m256i place = _mm256_srli_epi32(h, 25);
    const __m256i shift = _mm256_and_si256(_mm256_slli_epi32(place, 2), _mm256_set1_epi32(31));
    store(words, _mm256_srli_epi32(place, 3));
    store(bits, _mm256_sllv_epi32(_mm256_set1_epi32(1), shift));
}

/* Each place is compared with the numbers of the words of a line. The places come from memory again,
 * where a broadcast costs nothing. */
UNSEEN_INLINE KERNEL_TARGET void mark_line(const uint32_t *words, const uint32_t *bits,
                                           unsigned first, unsigned step, unsigned k, __m256i *half)
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

UNSEEN_INLINE KERNEL_TARGET void kernel_mark(const struct blocks *c, bool is_wide, uint64_t lo,
                                             struct kernel_mask *mask)
{
    static const uint32_t multiplier[16] = {COUNTING_MULTIPLIERS};
    uint32_t words[16];
    uint32_t bits[16];
    eight_places(lo, multiplier, words, bits);
    eight_places(lo, multiplier + 8, words + 8, bits + 8);
    if (is_wide) {
        mark_line(words, bits, 0, 2, c->k, mask->half);
        mark_line(words, bits, 1, 2, c->k, mask->half + 2);
    } else {
        mark_line(words, bits, 0, 1, c->k, mask->half);
    }
}

/* The marked counters that are 0. */
UNSEEN_INLINE KERNEL_TARGET __m256i zeros_of(__m256i x, __m256i mask)
{
    const __m256i pairs = _mm256_or_si256(x, _mm256_srli_epi64(x, 1));
    return _mm256_andnot_si256(_mm256_or_si256(pairs, _mm256_srli_epi64(pairs, 2)), mask);
}

/* The marked counters that are not 15. */
UNSEEN_INLINE KERNEL_TARGET __m256i open_of(__m256i x, __m256i mask)
{
    const __m256i pairs = _mm256_and_si256(x, _mm256_srli_epi64(x, 1));
    return _mm256_andnot_si256(_mm256_and_si256(pairs, _mm256_srli_epi64(pairs, 2)), mask);
}

/* The set bits of n vectors, with one branch for all: mostly there are none, or several. */
UNSEEN_INLINE KERNEL_TARGET unsigned count_bits(const __m256i *x, size_t n)
{
    __m256i any = x[0];
    uint64_t words[4];
    unsigned sum = 0;
    for (size_t i = 1; i < n; i++) {
        any = _mm256_or_si256(any, x[i]);
    }
    for (size_t i = 0; !_mm256_testz_si256(any, any) && i < n; i++) {
        store(words, x[i]);
        sum += (unsigned)(_mm_popcnt_u64(words[0]) + _mm_popcnt_u64(words[1]) +
                          _mm_popcnt_u64(words[2]) + _mm_popcnt_u64(words[3]));
    }
    return sum;
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_zeros(bool is_wide, const uint8_t *block,
                                                  const struct kernel_mask *mask)
{
    const size_t n = is_wide ? 4 : 2;
    __m256i zeros[4];
    for (size_t i = 0; i < n; i++) {
        zeros[i] = zeros_of(load(block + 32 * i), mask->half[i]);
    }
    return count_bits(zeros, n);
}

UNSEEN_INLINE KERNEL_TARGET void kernel_up(bool is_wide, uint8_t *block,
                                           const struct kernel_mask *mask)
{
    for (size_t i = 0; i < (is_wide ? 4u : 2u); i++) {
        const __m256i x = load(block + 32 * i);
        store(block + 32 * i, _mm256_add_epi64(x, open_of(x, mask->half[i])));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_down(bool is_wide, uint8_t *block,
                                                 const struct kernel_mask *mask)
{
    const size_t n = is_wide ? 4 : 2;
    __m256i zeros[4];
    for (size_t i = 0; i < n; i++) {
        const __m256i x = load(block + 32 * i);
        const __m256i y = _mm256_sub_epi64(x, open_of(x, mask->half[i]));
        store(block + 32 * i, y);
        zeros[i] = zeros_of(y, mask->half[i]);
    }
    return count_bits(zeros, n);
}

#include "filter/counting_kernel.h"
#else
typedef int counting_avx2_is_empty; /* ISO C wants a declaration */
#endif
