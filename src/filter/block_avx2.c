/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter's operations for AVX2: eight places at a time. */
#include "filter/block.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

struct kernel_places {
    __m256i eight[2];
};

struct kernel_count {
    uint64_t n;
};

UNSEEN_INLINE KERNEL_TARGET void kernel_find(uint64_t lo, uint32_t lanes,
                                             struct kernel_places *places)
{
    (void)lanes;
    static const uint32_t multiplier[16] = {BLOCK_MULTIPLIERS};
    const __m256i *m = (const __m256i *)(const void *)multiplier;
    const __m256i a = _mm256_set1_epi32((int)(uint32_t)lo);
    const __m256i b = _mm256_set1_epi32((int)(uint32_t)(lo >> 32));
    for (int i = 0; i < 2; i++) {
        const __m256i product = _mm256_mullo_epi32(a, _mm256_loadu_si256(m + i));
        places->eight[i] = _mm256_srli_epi32(_mm256_add_epi32(product, b), 23);
    }
}

/* Which bits a line has, as the sign bits of eight lanes: the words of 32 bits come from each half
 * of the line by a permutation, and the right one by the place's top bit. A gather would be
 * shorter; it was not tried. */
UNSEEN_INLINE KERNEL_TARGET uint32_t line_has(const uint8_t *line, __m256i place)
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

UNSEEN_INLINE KERNEL_TARGET bool kernel_lacking(const uint8_t *block, bool is_wide, uint32_t lanes,
                                                const struct kernel_places *places)
{
    const uint8_t *second = is_wide ? block + UNSEEN__LINE : block;
    const uint32_t has = line_has(block, places->eight[0]) | line_has(second, places->eight[1])
                                                                 << 8;
    return (~has & lanes) != 0;
}

/* Stores half a line with more bits; how many were not set. */
UNSEEN_INLINE KERNEL_TARGET unsigned store_half(uint8_t *half, __m256i old, __m256i all)
{
    const __m256i added = _mm256_xor_si256(all, old);
    _mm256_storeu_si256((__m256i *)(void *)half, all);
    return (unsigned)(_mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 0)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 1)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 2)) +
                      _mm_popcnt_u64((uint64_t)_mm256_extract_epi64(added, 3)));
}

/* Sets the bits of n places of a line: each place's word is compared with the numbers of all words.
 * A store for each place is as many instructions, but waits for memory. */
UNSEEN_INLINE KERNEL_TARGET unsigned set_line(uint8_t *line, const uint32_t *words,
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
    return store_half(line, old_low, low) + store_half(line + 32, old_high, high);
}

UNSEEN_INLINE KERNEL_TARGET void kernel_set(uint8_t *block, bool is_wide, unsigned k,
                                            const struct kernel_places *places,
                                            struct kernel_count *count)
{
    uint32_t words[16];
    uint32_t bits[16];
    const unsigned second = is_wide ? k / 2 : 0;
    for (int i = 0; i < 2; i++) {
        const __m256i in_word = _mm256_and_si256(places->eight[i], _mm256_set1_epi32(31));
        const __m256i bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), in_word);
        const __m256i word = _mm256_srli_epi32(places->eight[i], 5);
        _mm256_storeu_si256((__m256i *)(void *)(words + 8 * (size_t)i), word);
        _mm256_storeu_si256((__m256i *)(void *)(bits + 8 * (size_t)i), bit);
    }
    count->n += set_line(block, words, bits, k - second);
    if (is_wide) {
        count->n += set_line(block + UNSEEN__LINE, words + 8, bits + 8, second);
    }
}

UNSEEN_INLINE KERNEL_TARGET uint64_t kernel_sum(const struct kernel_count *count)
{
    return count->n;
}

#include "filter/block_kernel.h"
#else
typedef int block_avx2_is_empty; /* ISO C wants a declaration */
#endif
