/* SPDX-License-Identifier: MIT
 *
 * The batch of ask.c with AVX2, four keys at a time. A key's columns take two registers, which the
 * first fold makes one: column j < 4 is then in the lower half of lane j, and column j + 4 in the
 * upper half. */
#include "base/macros.h"
#include "list/ask.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#include "base/bytes.h"
#include "list/layout.h"
#include "list/mix_x86.h"

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

#define ASK_NAME    unseen__list_ask_avx2
#define ASK_TARGET  AVX2
#define ASK_KEYS    4
#define ASK_COLUMNS __m256i
#include "list/ask_template.h"

/* ---- pages ---- */

/* The least level that bumps a key, in the bits where a word has it. The highest level bumps all
 * keys. */
AVX2 UNSEEN_INLINE __m256i limit_of(__m256i last)
{
    const __m256i bump = _mm256_srli_epi64(last, 56);
    __m256i level = _mm256_set1_epi64x(1);
    for (unsigned i = 1; i < 3; i++) {
        const __m256i below = _mm256_set1_epi64x(unseen__list_thresholds[i] - 1);
        level = _mm256_sub_epi32(level, _mm256_cmpgt_epi32(bump, below));
    }
    return _mm256_slli_epi64(level, UNSEEN__LIST_LEVEL_SHIFT);
}

AVX2 UNSEEN_INLINE void store4(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((void *)to, x);
}

AVX2 UNSEEN_INLINE void find_pages(const struct unseen__list_view *view, unsigned layer,
                                   const uint64_t *keys, struct batch *b, size_t i)
{
    const struct unseen__list_layer *l = &view->layers[layer];
    const struct unseen__list_geometry *s = &view->geometry;
    const unsigned shift = l->shard_bits ? 64 - l->shard_bits : 63;
    const uint64_t some = l->shard_bits ? UINT64_MAX : 0;
    const uint64_t *shards = l->shards;
    const __m256i shard = _mm256_set_epi64x(
        (long long)shards[(keys[3] & some) >> shift], (long long)shards[(keys[2] & some) >> shift],
        (long long)shards[(keys[1] & some) >> shift], (long long)shards[(keys[0] & some) >> shift]);
    const __m256i low = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i key = _mm256_loadu_si256((const void *)keys);
    const __m256i place = _mm256_mul_epu32(
        _mm256_srli_epi64(_mm256_sll_epi64(key, _mm_cvtsi32_si128((int)l->shard_bits)), 32),
        _mm256_srli_epi64(shard, 32));
    const __m256i page =
        _mm256_add_epi64(_mm256_and_si256(shard, low), _mm256_srli_epi64(place, 32));
    const __m256i row = _mm256_srli_epi64(
        _mm256_mul_epu32(place, _mm256_set1_epi64x(UNSEEN__LIST_ROWS * s->blocks)), 32);
    const __m256i block =
        _mm256_srli_epi64(_mm256_subs_epu16(row, _mm256_set1_epi64x(UNSEEN__LIST_FIRST_ROWS)), 6);
    const __m256i c0 = unseen__list_mix4(key);
    const __m256i more = unseen__list_mix4(
        _mm256_add_epi64(key, _mm256_set1_epi64x((long long)UINT64_C(0x9e3779b97f4a7c15))));
    const __m256i has_next = _mm256_cmpgt_epi64(_mm256_set1_epi64x(s->blocks - 1), block);
    const __m256i last = unseen__list_multiply4(
        _mm256_xor_si256(c0, _mm256_shuffle_epi32(more, 0xb1)), UINT64_C(0xd6e8feb86659fd93));
    store4(b->offset + i,
           _mm256_add_epi64(_mm256_slli_epi64(page, 12),
                            _mm256_mul_epu32(block, _mm256_set1_epi64x(8 * s->group0))));
    store4(b->block + i, block);
    store4(b->c0 + i, c0);
    store4(b->c1 + i, _mm256_and_si256(more, has_next));
    store4(b->limit + i, limit_of(last));
    store4(b->fingerprint + i, _mm256_srli_epi64(last, 8));
}

/* ---- parities ---- */

AVX2 UNSEEN_INLINE __m256i fold64(__m256i a, __m256i b)
{
    const __m256i outer = _mm256_blend_epi32(a, b, 0xaa);
    const __m256i inner = _mm256_blend_epi32(b, a, 0xaa);
    return _mm256_xor_si256(outer, _mm256_shuffle_epi32(inner, 0xb1));
}

AVX2 UNSEEN_INLINE __m256i fold32(__m256i a, __m256i b)
{
    const __m256i low = _mm256_xor_si256(a, _mm256_srli_epi32(a, 16));
    const __m256i high = _mm256_xor_si256(b, _mm256_slli_epi32(b, 16));
    return _mm256_blend_epi16(low, high, 0xaa);
}

AVX2 UNSEEN_INLINE __m256i fold16(__m256i a, __m256i b)
{
    const __m256i odd = _mm256_set1_epi16((short)0xff00);
    const __m256i low = _mm256_xor_si256(a, _mm256_srli_epi16(a, 8));
    const __m256i high = _mm256_xor_si256(b, _mm256_slli_epi16(b, 8));
    return _mm256_blendv_epi8(low, high, odd);
}

/* Eight columns. */
struct columns {
    __m256i x[2];
};

AVX2 UNSEEN_INLINE struct columns load_all(const uint8_t *from)
{
    return (struct columns){
        {_mm256_loadu_si256((const void *)from), _mm256_loadu_si256((const void *)(from + 32))}};
}

/* The first n columns; the others are 0, and their bytes are not read. */
AVX2 UNSEEN_INLINE struct columns load_some(const uint8_t *from, unsigned n)
{
    static const int64_t lanes[2 * COLUMNS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const struct columns has = load_all((const uint8_t *)(lanes + COLUMNS - n));
    return (struct columns){{_mm256_maskload_epi64((const void *)from, has.x[0]),
                             _mm256_maskload_epi64((const void *)(from + 32), has.x[1])}};
}

AVX2 UNSEEN_INLINE __m256i under(const struct batch *b, size_t slot, bool whole, const uint8_t *w0,
                                 const uint8_t *w1, unsigned n)
{
    const struct columns own = whole ? load_all(w0) : load_some(w0, n);
    const struct columns next = whole ? load_all(w1) : load_some(w1, n);
    const __m256i c0 = _mm256_set1_epi64x((long long)b->c0[slot]);
    const __m256i c1 = _mm256_set1_epi64x((long long)b->c1[slot]);
    __m256i x[2];
    for (size_t h = 0; h < 2; h++) {
        x[h] = _mm256_xor_si256(_mm256_and_si256(own.x[h], c0), _mm256_and_si256(next.x[h], c1));
    }
    return fold64(x[0], x[1]);
}

AVX2 UNSEEN_INLINE unsigned differ(const __m256i x[KEYS], uint64_t fingerprints, unsigned n)
{
    const __m256i column = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    __m256i y = fold16(fold32(x[0], x[2]), fold32(x[1], x[3]));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 4));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 2));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 1));
    const __m256i expected = _mm256_srlv_epi32(_mm256_set1_epi32((int)fingerprints), column);
    y = _mm256_and_si256(_mm256_xor_si256(y, expected),
                         _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), column));
    unsigned bits = (unsigned)_mm256_movemask_epi8(_mm256_slli_epi16(y, 7));
    bits |= bits >> 16;
    bits |= bits >> 8;
    bits |= bits >> 4;
    return bits & 15;
}

/* ---- keys ---- */

AVX2 UNSEEN_INLINE uint64_t low_bytes(const struct batch *b, size_t i)
{
    uint32_t bytes = 0;
    for (size_t k = KEYS; k-- > 0;) {
        bytes = bytes << 8 | (uint8_t)b->fingerprint[i + k];
    }
    return bytes;
}

AVX2 UNSEEN_INLINE void keep_likely(struct batch *b, size_t i, unsigned likely)
{
    for (unsigned k = 0; k < KEYS; k++) {
        b->likely[b->nlikely] = (uint16_t)(i + k);
        b->nlikely += likely >> k & 1;
    }
}

#endif
