/* SPDX-License-Identifier: MIT
 *
 * The batch of ask.c with AVX-512, eight keys at a time. A register takes a key's columns, one lane
 * each. Folding makes one register of eight: a fold adds the upper half of each element to the
 * lower half, and puts the halves of two registers side by side. In the end byte k of lane j has
 * the bit of column j and key k. */
#include "base/macros.h"
#include "list/ask.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#include "base/bytes.h"
#include "list/layout.h"
#include "list/mix_x86.h"

#define AVX512 UNSEEN_TARGET("avx512f,avx512dq,avx512bw,avx512vl,bmi2,popcnt")

#define ASK_NAME    unseen__list_ask_avx512
#define ASK_TARGET  AVX512
#define ASK_KEYS    8
#define ASK_COLUMNS __m512i
#include "list/ask_template.h"

/* ---- pages ---- */

/* The least level that bumps the key, in the bits where a word has it. The highest level bumps all
 * keys. */
AVX512 UNSEEN_INLINE __m512i limit_of(__m512i last)
{
    const __m512i bump = _mm512_srli_epi64(last, 56);
    const __m512i one = _mm512_set1_epi64(1);
    __m512i level = one;
    for (unsigned i = 1; i < 3; i++) {
        const __m512i threshold = _mm512_set1_epi64(unseen__list_thresholds[i]);
        level = _mm512_mask_add_epi64(level, _mm512_cmpge_epu64_mask(bump, threshold), level, one);
    }
    return _mm512_slli_epi64(level, UNSEEN__LIST_LEVEL_SHIFT);
}

AVX512 UNSEEN_INLINE void find_pages(const struct unseen__list_view *view, unsigned layer,
                                     const uint64_t *keys, struct batch *b, size_t i)
{
    const struct unseen__list_layer *l = &view->layers[layer];
    const struct unseen__list_geometry *s = &view->geometry;
    const __m512i key = _mm512_loadu_si512(keys);
    const __m512i index = _mm512_srl_epi64(key, _mm_cvtsi32_si128(64 - (int)l->shard_bits));
    const __m512i shard = _mm512_i64gather_epi64(index, l->shards, 8);
    const __m512i low_half = _mm512_set1_epi64(UINT32_MAX);
    const __m512i x =
        _mm512_srli_epi64(_mm512_sll_epi64(key, _mm_cvtsi32_si128((int)l->shard_bits)), 32);
    const __m512i product = _mm512_mul_epu32(x, _mm512_srli_epi64(shard, 32));
    const __m512i page =
        _mm512_add_epi64(_mm512_and_si512(shard, low_half), _mm512_srli_epi64(product, 32));
    const __m512i nrows = _mm512_set1_epi64(UNSEEN__LIST_ROWS * (long long)s->blocks);
    __m512i row = _mm512_srli_epi64(_mm512_mul_epu32(product, nrows), 32);
    const __m512i first_rows = _mm512_set1_epi64(UNSEEN__LIST_FIRST_ROWS);
    row = _mm512_sub_epi64(_mm512_max_epu64(row, first_rows), first_rows);
    const __m512i block = _mm512_srli_epi64(row, 6);
    const __m512i line = _mm512_set1_epi64(8 * (long long)s->group0);
    const __m512i offset =
        _mm512_add_epi64(_mm512_slli_epi64(page, 12), _mm512_mul_epu32(block, line));
    const __mmask8 has_next =
        _mm512_cmplt_epi64_mask(block, _mm512_set1_epi64((long long)s->blocks - 1));
    const __m512i c0 = unseen__list_mix8(key);
    const __m512i more = unseen__list_mix8(
        _mm512_add_epi64(key, _mm512_set1_epi64((long long)UINT64_C(0x9e3779b97f4a7c15))));
    const __m512i last =
        _mm512_mullo_epi64(_mm512_xor_si512(c0, _mm512_rol_epi64(more, 32)),
                           _mm512_set1_epi64((long long)UINT64_C(0xd6e8feb86659fd93)));
    _mm512_storeu_si512(b->offset + i, offset);
    _mm512_storeu_si512(b->block + i, block);
    _mm512_storeu_si512(b->c0 + i, c0);
    _mm512_storeu_si512(b->c1 + i, _mm512_maskz_mov_epi64(has_next, more));
    _mm512_storeu_si512(b->limit + i, limit_of(last));
    _mm512_storeu_si512(b->fingerprint + i, _mm512_srli_epi64(last, 8));
}

/* ---- parities ---- */

AVX512 UNSEEN_INLINE __m512i fold64(__m512i a, __m512i b)
{
    const __m512i outer = _mm512_mask_blend_epi32(0xaaaa, a, b);
    const __m512i inner = _mm512_mask_blend_epi32(0xaaaa, b, a);
    return _mm512_xor_si512(outer, _mm512_rol_epi64(inner, 32));
}

AVX512 UNSEEN_INLINE __m512i fold32(__m512i a, __m512i b)
{
    const __m512i outer = _mm512_mask_blend_epi16(0xaaaaaaaa, a, b);
    const __m512i inner = _mm512_mask_blend_epi16(0xaaaaaaaa, b, a);
    return _mm512_xor_si512(outer, _mm512_rol_epi32(inner, 16));
}

AVX512 UNSEEN_INLINE __m512i fold16(__m512i a, __m512i b)
{
    a = _mm512_xor_si512(a, _mm512_srli_epi16(a, 8));
    b = _mm512_xor_si512(b, _mm512_slli_epi16(b, 8));
    return _mm512_mask_blend_epi8(UINT64_C(0xaaaaaaaaaaaaaaaa), a, b);
}

AVX512 UNSEEN_INLINE unsigned differ(const __m512i x[KEYS], uint64_t fingerprints, unsigned n)
{
    const __m512i a = fold32(fold64(x[0], x[4]), fold64(x[2], x[6]));
    const __m512i b = fold32(fold64(x[1], x[5]), fold64(x[3], x[7]));
    __m512i y = fold16(a, b);
    y = _mm512_xor_si512(y, _mm512_srli_epi16(y, 4));
    y = _mm512_xor_si512(y, _mm512_srli_epi16(y, 2));
    y = _mm512_xor_si512(y, _mm512_srli_epi16(y, 1));
    const __m512i expected = _mm512_srlv_epi64(_mm512_set1_epi64((long long)fingerprints),
                                               _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    uint64_t mask = _mm512_test_epi8_mask(_mm512_xor_si512(y, expected), _mm512_set1_epi8(1));
    mask = n < COLUMNS ? mask & ((UINT64_C(1) << 8 * n) - 1) : mask;
    mask |= mask >> 32;
    mask |= mask >> 16;
    mask |= mask >> 8;
    return (unsigned)mask & 0xff;
}

AVX512 UNSEEN_INLINE __m512i under(const struct batch *b, size_t slot, bool whole,
                                   const uint8_t *w0, const uint8_t *w1, unsigned n)
{
    const __mmask8 columns = whole ? 0xff : (__mmask8)((1u << n) - 1);
    const __m512i c0 = _mm512_set1_epi64((long long)b->c0[slot]);
    const __m512i c1 = _mm512_set1_epi64((long long)b->c1[slot]);
    const __m512i x = _mm512_and_si512(_mm512_maskz_loadu_epi64(columns, w0), c0);
    return _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi64(columns, w1), c1, 0x78);
}

/* ---- keys ---- */

AVX512 UNSEEN_INLINE uint64_t low_bytes(const struct batch *b, size_t i)
{
    const __m512i fingerprints = _mm512_loadu_si512(b->fingerprint + i);
    return (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(fingerprints));
}

AVX512 UNSEEN_INLINE void keep_likely(struct batch *b, size_t i, unsigned likely)
{
    const __m256i numbers =
        _mm256_add_epi32(_mm256_set1_epi32((int)i), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    const __m256i kept = _mm256_maskz_compress_epi32((__mmask8)likely, numbers);
    _mm_storeu_si128((void *)(b->likely + b->nlikely), _mm256_cvtepi32_epi16(kept));
    b->nlikely += (size_t)_mm_popcnt_u32(likely);
}

#endif
