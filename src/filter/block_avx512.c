/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter's operations for AVX-512: all places at once. */
#include "filter/block.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt")

struct kernel_places {
    __m512i all;
};

struct kernel_count {
    __m512i sums;
};

UNSEEN_INLINE KERNEL_TARGET void kernel_find(uint64_t lo, uint32_t lanes,
                                             struct kernel_places *places)
{
    (void)lanes;
    static const uint32_t multiplier[16] = {BLOCK_MULTIPLIERS};
    const __m512i a = _mm512_set1_epi32((int)(uint32_t)lo);
    const __m512i b = _mm512_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m512i product = _mm512_mullo_epi32(a, _mm512_loadu_si512(multiplier));
    places->all = _mm512_srli_epi32(_mm512_add_epi32(product, b), 23);
}

UNSEEN_INLINE KERNEL_TARGET bool kernel_lacking(const uint8_t *block, bool is_wide, uint32_t lanes,
                                                const struct kernel_places *places)
{
    const __m512i second =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16);
    const __m512i word = _mm512_srli_epi32(places->all, 5);
    const __m512i line = _mm512_loadu_si512(block);
    const __m512i words = is_wide
                              ? _mm512_permutex2var_epi32(line, _mm512_or_si512(word, second),
                                                          _mm512_loadu_si512(block + UNSEEN__LINE))
                              : _mm512_permutexvar_epi32(word, line);
    const __m512i bit = _mm512_rolv_epi32(_mm512_set1_epi32(1), places->all);
    return _mm512_mask_testn_epi32_mask((__mmask16)lanes, words, bit) != 0;
}

/* Adds the number of set bits of each group of eight bytes: those of half a byte from a table. */
UNSEEN_INLINE KERNEL_TARGET void count_bits(__m512i x, struct kernel_count *count)
{
    const __m512i table =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i half = _mm512_set1_epi8(15);
    const __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(x, half));
    const __m512i high =
        _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), half));
    const __m512i sums = _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512());
    count->sums = _mm512_add_epi64(count->sums, sums);
}

/* Adds the bits of n places to a line: each place's word is compared with the numbers of all words
 * at once. The places come from memory, where a broadcast costs nothing. */
UNSEEN_INLINE KERNEL_TARGET void set_line(uint8_t *line, const uint32_t *words,
                                          const uint32_t *bits, unsigned n,
                                          struct kernel_count *count)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i old = _mm512_loadu_si512(line);
    __m512i all = old;
    for (unsigned i = 0; i < n; i++) {
        const __mmask16 here = _mm512_cmpeq_epi32_mask(numbers, _mm512_set1_epi32((int)words[i]));
        all = _mm512_mask_or_epi32(all, here, all, _mm512_set1_epi32((int)bits[i]));
    }
    _mm512_storeu_si512(line, all);
    count_bits(_mm512_xor_si512(all, old), count);
}

UNSEEN_INLINE KERNEL_TARGET void kernel_set(uint8_t *block, bool is_wide, unsigned k,
                                            const struct kernel_places *places,
                                            struct kernel_count *count)
{
    uint32_t words[16];
    uint32_t bits[16];
    const unsigned second = is_wide ? k / 2 : 0;
    _mm512_storeu_si512(words, _mm512_srli_epi32(places->all, 5));
    _mm512_storeu_si512(bits, _mm512_rolv_epi32(_mm512_set1_epi32(1), places->all));
    set_line(block, words, bits, k - second, count);
    if (is_wide) {
        set_line(block + UNSEEN__LINE, words + 8, bits + 8, second, count);
    }
}

UNSEEN_INLINE KERNEL_TARGET uint64_t kernel_sum(const struct kernel_count *count)
{
    return (uint64_t)_mm512_reduce_add_epi64(count->sums);
}

#include "filter/block_kernel.h"
#else
typedef int block_avx512_is_empty; /* ISO C wants a declaration */
#endif
