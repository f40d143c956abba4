/* SPDX-License-Identifier: MIT
 *
 * The remainders of a wide line for the AVX2 and AVX-512 levels: 13 fields of 7 bits from byte 52
 * on. A byte shuffle brings the two bytes around each field into a 16-bit lane, a multiplication
 * by a power of two brings the field to the lane's top, and the bits left below it do not disturb
 * an unsigned comparison of the tops. Included inside a kernel file, after KERNEL_TARGET. */
UNSEEN_INLINE KERNEL_TARGET uint32_t kernel_wide_r_in(const uint8_t *line, unsigned first,
                                                      unsigned count)
{
    /* Field i starts at bit 7 i: byte 7 i / 8 (plus 4 in the 16 bytes from 48 on), bit 7 i % 8. */
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
    const __m256i base = _mm256_set1_epi16((short)(first << 9));
    const __m256i last = _mm256_set1_epi16((short)((count << 9) - 1));
    __m256i tail =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(line + 48)));
    __m256i r = _mm256_mullo_epi16(_mm256_shuffle_epi8(tail, bytes), shift);
    __m256i from = _mm256_sub_epi16(r, base);
    __m256i in = _mm256_cmpeq_epi16(_mm256_min_epu16(from, last), from);
    __m128i packed = _mm_packs_epi16(_mm256_castsi256_si128(in), _mm256_extracti128_si256(in, 1));
    return count ? (uint32_t)_mm_movemask_epi8(packed) : 0;
}
