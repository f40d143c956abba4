/* SPDX-License-Identifier: MIT
 *
 * The counting filter's operations for AVX-512: a line of counters is one vector. */
#include "filter/counting.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt")

struct kernel_mask {
    __m512i line[2];
};

/* Each place is compared with the numbers of all words of 32 bits at once. The places come from
 * memory again, where a broadcast costs nothing. */
UNSEEN_INLINE KERNEL_TARGET __m512i line_of(const uint32_t *words, const uint32_t *bits,
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

UNSEEN_INLINE KERNEL_TARGET void kernel_mark(const struct blocks *c, bool is_wide, uint64_t lo,
                                             struct kernel_mask *mask)
{
    static const uint32_t multiplier[16] = {COUNTING_MULTIPLIERS};
    uint32_t words[16];
    uint32_t bits[16];
    const __m512i a = _mm512_set1_epi32((int)(uint32_t)lo);
    const __m512i b = _mm512_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m512i h = _mm512_add_epi32(_mm512_mullo_epi32(a, _mm512_loadu_si512(multiplier)), b);
    const __m512i place = _mm512_srli_epi32(h, 25);
    _mm512_storeu_si512(words, _mm512_srli_epi32(place, 3));
    /* A rotation counts modulo 32: counter p of its word is in bit 4 p. */
    _mm512_storeu_si512(bits, _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_slli_epi32(place, 2)));
    if (is_wide) {
        mask->line[0] = line_of(words, bits, 0, 2, c->k);
        mask->line[1] = line_of(words, bits, 1, 2, c->k);
    } else {
        mask->line[0] = line_of(words, bits, 0, 1, c->k);
    }
}

/* The marked counters that are 0. */
UNSEEN_INLINE KERNEL_TARGET __m512i zeros_of(__m512i x, __m512i mask)
{
    const __m512i pairs = _mm512_or_si512(x, _mm512_srli_epi64(x, 1));
    return _mm512_andnot_si512(_mm512_or_si512(pairs, _mm512_srli_epi64(pairs, 2)), mask);
}

/* The marked counters that are not 15. */
UNSEEN_INLINE KERNEL_TARGET __m512i open_of(__m512i x, __m512i mask)
{
    const __m512i pairs = _mm512_and_si512(x, _mm512_srli_epi64(x, 1));
    return _mm512_andnot_si512(_mm512_and_si512(pairs, _mm512_srli_epi64(pairs, 2)), mask);
}

/* The set bits of a vector. Mostly there are none. */
UNSEEN_INLINE KERNEL_TARGET unsigned count_bits(__m512i x)
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

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_zeros(bool is_wide, const uint8_t *block,
                                                  const struct kernel_mask *mask)
{
    unsigned zeros = count_bits(zeros_of(_mm512_loadu_si512(block), mask->line[0]));
    if (is_wide) {
        const __m512i x = _mm512_loadu_si512(block + UNSEEN__LINE);
        zeros += count_bits(zeros_of(x, mask->line[1]));
    }
    return zeros;
}

UNSEEN_INLINE KERNEL_TARGET void kernel_up(bool is_wide, uint8_t *block,
                                           const struct kernel_mask *mask)
{
    for (unsigned i = 0; i < (is_wide ? 2 : 1); i++) {
        uint8_t *line = block + (size_t)i * UNSEEN__LINE;
        const __m512i x = _mm512_loadu_si512(line);
        _mm512_storeu_si512(line, _mm512_add_epi64(x, open_of(x, mask->line[i])));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned kernel_down(bool is_wide, uint8_t *block,
                                                 const struct kernel_mask *mask)
{
    unsigned zeros = 0;
    for (unsigned i = 0; i < (is_wide ? 2 : 1); i++) {
        uint8_t *line = block + (size_t)i * UNSEEN__LINE;
        const __m512i x = _mm512_loadu_si512(line);
        const __m512i y = _mm512_sub_epi64(x, open_of(x, mask->line[i]));
        _mm512_storeu_si512(line, y);
        zeros += count_bits(zeros_of(y, mask->line[i]));
    }
    return zeros;
}

#include "filter/counting_kernel.h"
#else
typedef int counting_avx512_is_empty; /* ISO C wants a declaration */
#endif
