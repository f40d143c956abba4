/* SPDX-License-Identifier: MIT
 *
 * The operations of the blocked Bloom filter for AVX2, eight places at a time, and for AVX-512, all
 * places at once. */
#include "bits/block.h"

#if UNSEEN_X86
#include <immintrin.h>

/* ---- AVX2 -------------------------------------------------------------------------------------*/

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

struct KERNEL(places) {
    __m256i eight[2];
};

struct KERNEL(count) {
    uint64_t n;
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find)(uint64_t lo, uint32_t lanes,
                                              struct KERNEL(places) * places)
{
    (void)lanes;
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    const __m256i *m = (const __m256i *)(const void *)multiplier;
    const __m256i a = _mm256_set1_epi32((int)(uint32_t)lo);
    const __m256i b = _mm256_set1_epi32((int)(uint32_t)(lo >> 32));
    for (int i = 0; i < 2; i++) {
        const __m256i product = _mm256_mullo_epi32(a, _mm256_loadu_si256(m + i));
        places->eight[i] = _mm256_srli_epi32(_mm256_add_epi32(product, b), 23);
    }
}

/* Whether a line has the bits of eight places, as the sign bits of eight lanes. A permutation takes
 * a word of 32 bits from each half of the line, and the top bit of the place chooses between them.
 * A gather would be shorter; it was not tried. */
UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(line_has)(const uint8_t *line, __m256i place)
{
    const __m256i word = _mm256_srli_epi32(place, 5);
    const __m256 low = _mm256_castsi256_ps(
        _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(const void *)line), word));
    const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(
        _mm256_loadu_si256((const __m256i *)(const void *)(line + 32)), word));
    const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(place, 23));
    const __m256i words = _mm256_castps_si256(_mm256_blendv_ps(low, high, is_high));
    const __m256i up = _mm256_andnot_si256(place, _mm256_set1_epi32(31));
    const __m256i bit = _mm256_sllv_epi32(words, up);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(bit));
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(lacking)(const uint8_t *block, bool two_lines,
                                                 uint32_t lanes,
                                                 const struct KERNEL(places) * places)
{
    const uint8_t *second = two_lines ? block + UNSEEN__LINE : block;
    const uint32_t has =
        KERNEL(line_has)(block, places->eight[0]) | KERNEL(line_has)(second, places->eight[1]) << 8;
    return (~has & lanes) != 0;
}

/* Stores half a line with more bits; returns how many of them are new. */
UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(store_half)(uint8_t *half, __m256i old, __m256i all)
{
    const __m256i added = _mm256_xor_si256(all, old);
    _mm256_storeu_si256((__m256i *)(void *)half, all);
    return (unsigned)(_mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 0)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 1)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 2)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 3)));
}

/* Sets the bits of n places of a line: compares the word number of each place with the numbers of
 * all words. One store for each place takes as many instructions, but waits for memory. */
UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(set_line)(uint8_t *line, const uint32_t *words,
                                                      const uint32_t *bits, unsigned n)
{
    const __m256i low_numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i high_numbers = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i old_low = _mm256_loadu_si256((const __m256i *)(const void *)line);
    const __m256i old_high = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32));
    __m256i low = old_low;
    __m256i high = old_high;
    for (unsigned i = 0; i < n; i++) {
        const __m256i word = _mm256_set1_epi32((int)words[i]);
        const __m256i bit = _mm256_set1_epi32((int)bits[i]);
        low = _mm256_or_si256(low, _mm256_and_si256(bit, _mm256_cmpeq_epi32(low_numbers, word)));
        high = _mm256_or_si256(high, _mm256_and_si256(bit, _mm256_cmpeq_epi32(high_numbers, word)));
    }
    return KERNEL(store_half)(line, old_low, low) + KERNEL(store_half)(line + 32, old_high, high);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(set)(uint8_t *block, bool two_lines, unsigned k,
                                             const struct KERNEL(places) * places,
                                             struct KERNEL(count) * count)
{
    uint32_t words[16];
    uint32_t bits[16];
    const unsigned second = two_lines ? k / 2 : 0;
    for (int i = 0; i < 2; i++) {
        const __m256i in_word = _mm256_and_si256(places->eight[i], _mm256_set1_epi32(31));
        const __m256i bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), in_word);
        const __m256i word = _mm256_srli_epi32(places->eight[i], 5);
        _mm256_storeu_si256((__m256i *)(void *)(words + 8 * (size_t)i), word);
        _mm256_storeu_si256((__m256i *)(void *)(bits + 8 * (size_t)i), bit);
    }
    count->n += KERNEL(set_line)(block, words, bits, k - second);
    if (two_lines) {
        count->n += KERNEL(set_line)(block + UNSEEN__LINE, words + 8, bits + 8, second);
    }
}

UNSEEN_INLINE KERNEL_TARGET uint64_t KERNEL(sum)(const struct KERNEL(count) * count)
{
    return count->n;
}

#include "bits/block_kernel.h"
#undef KERNEL
#undef KERNEL_TARGET

/* ---- AVX-512 ----------------------------------------------------------------------------------*/

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt")

struct KERNEL(places) {
    __m512i all;
};

struct KERNEL(count) {
    __m512i sums;
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(find)(uint64_t lo, uint32_t lanes,
                                              struct KERNEL(places) * places)
{
    (void)lanes;
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    const __m512i a = _mm512_set1_epi32((int)(uint32_t)lo);
    const __m512i b = _mm512_set1_epi32((int)(uint32_t)(lo >> 32));
    const __m512i product = _mm512_mullo_epi32(a, _mm512_loadu_si512(multiplier));
    places->all = _mm512_srli_epi32(_mm512_add_epi32(product, b), 23);
}

UNSEEN_INLINE KERNEL_TARGET bool KERNEL(lacking)(const uint8_t *block, bool two_lines,
                                                 uint32_t lanes,
                                                 const struct KERNEL(places) * places)
{
    const __m512i second =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16);
    const __m512i word = _mm512_srli_epi32(places->all, 5);
    const __m512i line = _mm512_loadu_si512(block);
    const __m512i words = two_lines
                              ? _mm512_permutex2var_epi32(line, _mm512_or_si512(word, second),
                                                          _mm512_loadu_si512(block + UNSEEN__LINE))
                              : _mm512_permutexvar_epi32(word, line);
    const __m512i bit = _mm512_rolv_epi32(_mm512_set1_epi32(1), places->all);
    return _mm512_mask_testn_epi32_mask((__mmask16)lanes, words, bit) != 0;
}

/* Adds the number of set bits in each group of eight bytes. A table has the number for each half of
 * a byte. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(count_bits)(__m512i x, struct KERNEL(count) * count)
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

/* Adds the bits of n places to a line: compares the word number of each place with the numbers of
 * all words at once. The places come from memory, because a broadcast from memory costs nothing. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(set_line)(uint8_t *line, const uint32_t *words,
                                                  const uint32_t *bits, unsigned n,
                                                  struct KERNEL(count) * count)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i old = _mm512_loadu_si512(line);
    __m512i all = old;
    for (unsigned i = 0; i < n; i++) {
        const __mmask16 here = _mm512_cmpeq_epi32_mask(numbers, _mm512_set1_epi32((int)words[i]));
        all = _mm512_mask_or_epi32(all, here, all, _mm512_set1_epi32((int)bits[i]));
    }
    _mm512_storeu_si512(line, all);
    KERNEL(count_bits)(_mm512_xor_si512(all, old), count);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(set)(uint8_t *block, bool two_lines, unsigned k,
                                             const struct KERNEL(places) * places,
                                             struct KERNEL(count) * count)
{
    uint32_t words[16];
    uint32_t bits[16];
    const unsigned second = two_lines ? k / 2 : 0;
    _mm512_storeu_si512(words, _mm512_srli_epi32(places->all, 5));
    _mm512_storeu_si512(bits, _mm512_rolv_epi32(_mm512_set1_epi32(1), places->all));
    KERNEL(set_line)(block, words, bits, k - second, count);
    if (two_lines) {
        KERNEL(set_line)(block + UNSEEN__LINE, words + 8, bits + 8, second, count);
    }
}

UNSEEN_INLINE KERNEL_TARGET uint64_t KERNEL(sum)(const struct KERNEL(count) * count)
{
    return (uint64_t)_mm512_reduce_add_epi64(count->sums);
}

#include "bits/block_kernel.h"

#endif
