/* SPDX-License-Identifier: MIT
 *
 * The compact filter's operations for AVX2, 8 words at a time, and for AVX-512, a whole line at a
 * time. AVX-512 gains little in batches, and up to 20 % for single keys
 * (docs/decisions/compact.md). */
#include "tags/compact_ops.h"

#if UNSEEN_X86
#include <immintrin.h>

#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET uint32_t lanes_mask(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
           (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8;
}

/* The sign bit of each word: whether the tag there matches (compact_kernel.h). */
UNSEEN_INLINE KERNEL_TARGET __m256i match_signs(const uint8_t *words, __m256i key)
{
    const __m256i tag = _mm256_loadu_si256((const __m256i *)(const void *)words);
    const __m256i minus_mark = _mm256_or_si256(tag, _mm256_sub_epi32(_mm256_setzero_si256(), tag));
    return _mm256_add_epi32(_mm256_srli_epi32(_mm256_xor_si256(tag, key), 1), minus_mark);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(matches)(const uint8_t *a, const uint8_t *b, uint32_t v)
{
    const __m256i key = _mm256_set1_epi32((int)v);
    const __m256i in_a = _mm256_packs_epi32(match_signs(a, key), match_signs(a + 32, key));
    const __m256i in_b = _mm256_packs_epi32(match_signs(b, key), match_signs(b + 32, key));
    /* A pack puts the halves of each 128 bits together: words of four, in this order. */
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i packed = _mm256_packs_epi16(in_a, in_b);
    return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(packed, order));
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(empty)(const uint8_t *line)
{
    const __m256i *words = (const __m256i *)(const void *)line;
    const __m256i zero = _mm256_setzero_si256();
    return lanes_mask(_mm256_cmpeq_epi32(_mm256_loadu_si256(words), zero),
                      _mm256_cmpeq_epi32(_mm256_loadu_si256(words + 1), zero));
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_32)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    /* The remainder is a tag's top byte, so the bits below it do not disturb the comparison. */
    const __m256i base = _mm256_set1_epi32((int)(first << 24));
    const __m256i last = _mm256_set1_epi32((int)((count << 24) - 1));
    __m256i in[2];
    for (int i = 0; i < 2; i++) {
        __m256i tag = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32 * i));
        __m256i from = _mm256_sub_epi32(tag, base);
        in[i] = _mm256_cmpeq_epi32(_mm256_min_epu32(from, last), from);
    }
    return count ? lanes_mask(in[0], in[1]) : 0;
}

/* Which of 16 remainders of 7 bits are in the interval. A byte shuffle brings the two bytes around
 * each remainder into a 16-bit lane, a multiplication by a power of two brings the remainder to the
 * lane's top, and the bits left below it do not disturb an unsigned comparison of the tops. */
UNSEEN_INLINE KERNEL_TARGET uint32_t lanes_in(__m256i fields, __m256i bytes, __m256i shift,
                                              unsigned first, unsigned count)
{
    const __m256i base = _mm256_set1_epi16((short)(first << 9));
    const __m256i last = _mm256_set1_epi16((short)((count << 9) - 1));
    __m256i r = _mm256_mullo_epi16(_mm256_shuffle_epi8(fields, bytes), shift);
    __m256i from = _mm256_sub_epi16(r, base);
    __m256i in = _mm256_cmpeq_epi16(_mm256_min_epu16(from, last), from);
    __m128i packed = _mm_packs_epi16(_mm256_castsi256_si128(in), _mm256_extracti128_si256(in, 1));
    return count ? (uint32_t)_mm_movemask_epi8(packed) : 0;
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_39)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    /* Field i starts at bit 7 i of byte 52, which is byte 4 of the last 16 bytes. */
#define PAIR(i)  4 + (i)*7 / 8, 5 + (i)*7 / 8
#define SHIFT(i) 1 << (9 - (i)*7 % 8)
    const __m256i bytes =
        _mm256_setr_epi8(PAIR(0), PAIR(1), PAIR(2), PAIR(3), PAIR(4), PAIR(5), PAIR(6), PAIR(7),
                         PAIR(8), PAIR(9), PAIR(10), PAIR(11), PAIR(12), -1, -1, -1, -1, -1, -1);
    const __m256i shift =
        _mm256_setr_epi16(SHIFT(0), SHIFT(1), SHIFT(2), SHIFT(3), SHIFT(4), SHIFT(5), SHIFT(6),
                          SHIFT(7), SHIFT(8), SHIFT(9), SHIFT(10), SHIFT(11), SHIFT(12), 0, 0, 0);
#undef PAIR
#undef SHIFT
    const __m256i tail =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(line + 48)));
    return lanes_in(tail, bytes, shift, first, count);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_51)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    /* Field i starts at bit 19 i + 2 of byte 40. Fields 0 to 4 are in the 16 bytes from byte 40 on,
     * fields 5 to 9 in those from byte 48 on. */
#define BIT(i)   (19 * (i) + 2 - 64 * ((i) / 5))
#define PAIR(i)  BIT(i) / 8, BIT(i) / 8 + 1
#define SHIFT(i) 1 << (9 - BIT(i) % 8)
    const __m256i bytes =
        _mm256_setr_epi8(PAIR(0), PAIR(1), PAIR(2), PAIR(3), PAIR(4), -1, -1, -1, -1, -1, -1,
                         PAIR(5), PAIR(6), PAIR(7), PAIR(8), PAIR(9), -1, -1, -1, -1, -1, -1);
    const __m256i shift =
        _mm256_setr_epi16(SHIFT(0), SHIFT(1), SHIFT(2), SHIFT(3), SHIFT(4), 0, 0, 0, SHIFT(5),
                          SHIFT(6), SHIFT(7), SHIFT(8), SHIFT(9), 0, 0, 0);
#undef BIT
#undef PAIR
#undef SHIFT
    const __m128i *const low = (const __m128i *)(const void *)(line + 40);
    const __m128i *const high = (const __m128i *)(const void *)(line + 48);
    const __m256i fields = _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low));
    const uint32_t in = lanes_in(fields, bytes, shift, first, count);
    return (in & 31) | (in >> 8 & 31) << 5;
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(erase_line)(uint8_t *line, uint32_t slots)
{
    for (int i = 0; i < 2; i++) {
        const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        __m256i *at = (__m256i *)(void *)(line + 32 * i);
        __m256i chosen = _mm256_and_si256(_mm256_set1_epi32((int)(slots >> (8 * i))), bit);
        __m256i erase = _mm256_cmpeq_epi32(chosen, bit);
        _mm256_storeu_si256(at, _mm256_andnot_si256(erase, _mm256_loadu_si256(at)));
    }
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(count)(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "tags/compact_kernel.h"
#undef KERNEL
#undef KERNEL_TARGET

/* ---- AVX-512 ---- */

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET UNSEEN_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt")

UNSEEN_INLINE KERNEL_TARGET uint32_t match_mask(const uint8_t *line, uint32_t v)
{
    /* Truth table of (tag ^ key) & ~(tag ^ below), with tag = a, key = b, below = a - 1 = c. */
    enum {
        DIFFER = 0x24
    };
    __m512i tag = _mm512_loadu_si512(line);
    __m512i below = _mm512_add_epi32(tag, _mm512_set1_epi32(-1));
    __m512i differ = _mm512_ternarylogic_epi32(tag, _mm512_set1_epi32((int)v), below, DIFFER);
    return _mm512_mask_testn_epi32_mask(_mm512_test_epi32_mask(tag, tag), differ, differ);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(matches)(const uint8_t *a, const uint8_t *b, uint32_t v)
{
    return match_mask(a, v) | match_mask(b, v) << 16;
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(empty)(const uint8_t *line)
{
    __m512i tag = _mm512_loadu_si512(line);
    return _mm512_testn_epi32_mask(tag, tag);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_32)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    /* The remainder is a tag's top byte, so the bits below it do not disturb the comparison. */
    __m512i base = _mm512_set1_epi32((int)(first << 24));
    __m512i last = _mm512_set1_epi32((int)((count << 24) - 1));
    __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(line), base);
    return count ? _mm512_cmple_epu32_mask(from, last) : 0;
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_39)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    return r_in_39_avx2(line, first, count);
}

UNSEEN_INLINE KERNEL_TARGET uint32_t KERNEL(r_in_51)(const uint8_t *line, unsigned first,
                                                     unsigned count)
{
    return r_in_51_avx2(line, first, count);
}

UNSEEN_INLINE KERNEL_TARGET void KERNEL(erase_line)(uint8_t *line, uint32_t slots)
{
    _mm512_mask_storeu_epi32(line, (__mmask16)slots, _mm512_setzero_si512());
}

UNSEEN_INLINE KERNEL_TARGET unsigned KERNEL(count)(uint32_t bits)
{
    return (unsigned)_mm_popcnt_u32(bits);
}

#include "tags/compact_kernel.h"
#endif
