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

#include "base/bytes.h"
#include "list/layout.h"

#define AVX512 UNSEEN_TARGET("avx512f,avx512dq,avx512bw,avx512vl,bmi2,popcnt")

enum {
    LANES = 8,
    AHEAD = 64, /* keys between the fetch of their lines and the comparison */
    RING = 2 * AHEAD,
    LIKELY = UNSEEN__LIST_BATCH + LANES,
    REST_AHEAD = 32
};

/* The keys whose lines are being fetched, each in the slot of its number modulo RING; and the
 * likely keys, which group 0 could not rule out. */
struct batch {
    uint64_t offset[RING];
    uint64_t c0[RING];
    uint64_t c1[RING];
    uint64_t limit[RING]; /* if the word with the level is at least this, the key is bumped */
    uint32_t fingerprint[RING];
    uint32_t block[RING];
    uint8_t low[RING]; /* the fingerprint's lowest 8 bits */
    size_t nlikely;
    uint64_t likely_offset[LIKELY];
    uint64_t likely_c0[LIKELY];
    uint64_t likely_c1[LIKELY];
    uint32_t likely_fingerprint[LIKELY];
    uint32_t likely_block[LIKELY];
    uint16_t likely[LIKELY]; /* their numbers in the batch */
};

/* ---- pages ---- */

AVX512 static inline __m512i mix(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 30));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0xbf58476d1ce4e5b9)));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0x94d049bb133111eb)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

AVX512 static inline void fetch_group0(const struct unseen__list_view *view, const struct batch *b,
                                       size_t i)
{
    const unsigned line = 8 * view->geometry.group0;
    for (size_t k = i; k < i + LANES; k++) {
        const uint8_t *at = view->pages + b->offset[k];
        _mm_prefetch((const char *)at, _MM_HINT_T1);
        _mm_prefetch((const char *)at + line, _MM_HINT_T1);
    }
}

/* The least level that bumps the key, in the bits where a word has it. The highest level bumps all
 * keys. */
AVX512 static inline __m512i limit_of(__m512i last)
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

/* unseen__list_place_of and unseen__list_row_of, for eight keys. */
AVX512 static inline void find_pages(const struct unseen__list_view *view, unsigned layer,
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
    const __m512i c0 = mix(key);
    const __m512i more =
        mix(_mm512_add_epi64(key, _mm512_set1_epi64((long long)UINT64_C(0x9e3779b97f4a7c15))));
    const __m512i last =
        _mm512_mullo_epi64(_mm512_xor_si512(c0, _mm512_rol_epi64(more, 32)),
                           _mm512_set1_epi64((long long)UINT64_C(0xd6e8feb86659fd93)));
    const __m512i all = _mm512_set1_epi64((INT64_C(2) << s->columns) - 1);
    const __m512i fingerprint = _mm512_and_si512(_mm512_srli_epi64(last, 8), all);
    _mm512_storeu_si512(b->offset + i, offset);
    _mm512_storeu_si512(b->c0 + i, c0);
    _mm512_storeu_si512(b->c1 + i, _mm512_maskz_mov_epi64(has_next, more));
    _mm256_storeu_si256((void *)(b->fingerprint + i), _mm512_cvtepi64_epi32(fingerprint));
    _mm256_storeu_si256((void *)(b->block + i), _mm512_cvtepi64_epi32(block));
    _mm512_storeu_si512(b->limit + i, limit_of(last));
    _mm_storel_epi64((void *)(b->low + i), _mm512_cvtepi64_epi8(fingerprint));
}

/* ---- parities ---- */

AVX512 static inline __m512i fold64(__m512i a, __m512i b)
{
    const __m512i outer = _mm512_mask_blend_epi32(0xaaaa, a, b);
    const __m512i inner = _mm512_mask_blend_epi32(0xaaaa, b, a);
    return _mm512_xor_si512(outer, _mm512_rol_epi64(inner, 32));
}

AVX512 static inline __m512i fold32(__m512i a, __m512i b)
{
    const __m512i outer = _mm512_mask_blend_epi16(0xaaaaaaaa, a, b);
    const __m512i inner = _mm512_mask_blend_epi16(0xaaaaaaaa, b, a);
    return _mm512_xor_si512(outer, _mm512_rol_epi32(inner, 16));
}

AVX512 static inline __m512i fold16(__m512i a, __m512i b)
{
    a = _mm512_xor_si512(a, _mm512_srli_epi16(a, 8));
    b = _mm512_xor_si512(b, _mm512_slli_epi16(b, 8));
    return _mm512_mask_blend_epi8(UINT64_C(0xaaaaaaaaaaaaaaaa), a, b);
}

/* Returns one bit for each key: set if the parity of one of the first ncolumns lanes differs from
 * the lane's bit in the key's byte of fingerprints. */
AVX512 static inline unsigned differ(const __m512i x[LANES], uint64_t fingerprints,
                                     unsigned ncolumns)
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
    mask = ncolumns < LANES ? mask & ((UINT64_C(1) << 8 * ncolumns) - 1) : mask;
    mask |= mask >> 32;
    mask |= mask >> 16;
    mask |= mask >> 8;
    return (unsigned)mask & 0xff;
}

/* Masks the words of two blocks with a key's coefficients, and adds them. */
AVX512 static inline __m512i under(uint64_t c0, uint64_t c1, __mmask8 lanes, const uint8_t *w0,
                                   const uint8_t *w1)
{
    const __m512i x =
        _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, w0), _mm512_set1_epi64((long long)c0));
    return _mm512_ternarylogic_epi64(x, _mm512_maskz_loadu_epi64(lanes, w1),
                                     _mm512_set1_epi64((long long)c1), 0x78);
}

/* ---- group 0 ---- */

/* Appends the keys of the bits in `likely`, of the eight from slot i on, to the likely keys. */
AVX512 static inline void keep_likely(struct batch *b, size_t i, size_t number, unsigned likely)
{
    const __mmask8 which = (__mmask8)likely;
    const size_t at = b->nlikely;
    const __m256i numbers =
        _mm256_add_epi32(_mm256_set1_epi32((int)number), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    const __m512i offset = _mm512_loadu_si512(b->offset + i);
    const __m512i c0 = _mm512_loadu_si512(b->c0 + i);
    const __m512i c1 = _mm512_loadu_si512(b->c1 + i);
    const __m256i fingerprint = _mm256_loadu_si256((const void *)(b->fingerprint + i));
    const __m256i block = _mm256_loadu_si256((const void *)(b->block + i));
    _mm512_storeu_si512(b->likely_offset + at, _mm512_maskz_compress_epi64(which, offset));
    _mm512_storeu_si512(b->likely_c0 + at, _mm512_maskz_compress_epi64(which, c0));
    _mm512_storeu_si512(b->likely_c1 + at, _mm512_maskz_compress_epi64(which, c1));
    _mm256_storeu_si256((void *)(b->likely_fingerprint + at),
                        _mm256_maskz_compress_epi32(which, fingerprint));
    _mm256_storeu_si256((void *)(b->likely_block + at), _mm256_maskz_compress_epi32(which, block));
    _mm_storeu_si128((void *)(b->likely + at),
                     _mm256_cvtepi32_epi16(_mm256_maskz_compress_epi32(which, numbers)));
    b->nlikely = at + (size_t)_mm_popcnt_u32(likely);
}

/* Compares group 0 for the eight keys from slot i on. */
AVX512 static inline void compare_group0(const struct unseen__list_view *view, struct batch *b,
                                         size_t i, size_t number, uint8_t *answers)
{
    const unsigned group0 = view->geometry.group0;
    const __mmask8 lanes = (__mmask8)((1u << group0) - 1);
    __m512i x[LANES];
    unsigned stays = 0;
    for (size_t k = LANES; k-- > 0;) {
        const uint8_t *at = view->pages + b->offset[i + k];
        x[k] = under(b->c0[i + k], b->c1[i + k], lanes, at, at + 8 * group0);
        stays = 2 * stays + (load_le64(at + 8 * (group0 - 1)) < b->limit[i + k]);
    }
    const unsigned no = differ(x, load_le64(b->low + i), group0 - 1);
    store_le64(answers + number, _pdep_u64(~stays, UINT64_C(0x0101010101010101)) << 1);
    const unsigned likely = stays & ~no;
    if (likely != 0) {
        keep_likely(b, i, number, likely);
    }
}

/* ---- the rest ---- */

AVX512 static inline const uint8_t *page_of(const struct unseen__list_view *view, uint64_t offset)
{
    return view->pages + offset / UNSEEN__LIST_PAGE * UNSEEN__LIST_PAGE;
}

/* Does the column that holds the levels agree? */
AVX512 static inline bool agrees_leveled(const struct unseen__list_view *view,
                                         const struct batch *b, size_t i, unsigned next)
{
    const struct unseen__list_geometry *s = &view->geometry;
    const uint8_t *page = page_of(view, b->likely_offset[i]);
    const unsigned block = b->likely_block[i];
    const unsigned j = s->group0 - 1;
    uint64_t w0 = load_le64(page + unseen__list_word_offset(s, block, j));
    uint64_t w1 = load_le64(page + unseen__list_word_offset(s, next, j));
    const uint64_t own = (UINT64_C(1) << UNSEEN__LIST_LEVEL_SHIFT) - 1;
    w0 = (w0 & own) | (uint64_t)unseen__list_displaced(s, page, block) << UNSEEN__LIST_LEVEL_SHIFT;
    w1 = (w1 & own) | (uint64_t)unseen__list_displaced(s, page, next) << UNSEEN__LIST_LEVEL_SHIFT;
    const uint64_t x = (b->likely_c0[i] & w0) ^ (b->likely_c1[i] & w1);
    return (((uint64_t)_mm_popcnt_u64(x) ^ b->likely_fingerprint[i] >> j) & 1) == 0;
}

/* Compares the rest for eight likely keys, from i on. */
AVX512 static inline void compare_rest(const struct unseen__list_view *view, const struct batch *b,
                                       size_t i, uint8_t *answers)
{
    const struct unseen__list_geometry *s = &view->geometry;
    unsigned yes = 0;
    unsigned next[LANES];
    for (size_t k = 0; k < LANES; k++) {
        const unsigned block = b->likely_block[i + k];
        next[k] = unseen__list_next_block(s, block);
        yes |= (unsigned)agrees_leveled(view, b, i + k, next[k]) << k;
    }
    for (unsigned j = s->group0; j <= s->columns; j += LANES) {
        __m512i x[LANES];
        uint64_t fingerprints = 0;
        for (size_t k = 0; k < LANES; k++) {
            const unsigned block = b->likely_block[i + k];
            const uint8_t *page = page_of(view, b->likely_offset[i + k]);
            const unsigned end = s->columns + unseen__list_is_extended(s, block);
            const unsigned ncolumns = end - j < LANES ? end - j : LANES;
            const unsigned bits = (1u << ncolumns) - 1;
            x[k] = under(b->likely_c0[i + k], b->likely_c1[i + k], (__mmask8)bits,
                         page + unseen__list_word_offset(s, block, j),
                         page + unseen__list_word_offset(s, next[k], j));
            fingerprints |= (uint64_t)(b->likely_fingerprint[i + k] >> j & bits) << 8 * k;
        }
        yes &= ~differ(x, fingerprints, LANES);
    }
    for (size_t k = 0; k < LANES; k++) {
        answers[b->likely[i + k]] = yes >> k & 1 ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
    }
}

/* ---- a batch ---- */

/* Repeats the last likely key, so that the last eight are complete. */
static void fill_up(struct batch *b)
{
    const size_t last = b->nlikely - 1;
    for (size_t k = b->nlikely; k < b->nlikely + LANES - 1; k++) {
        b->likely[k] = b->likely[last];
        b->likely_offset[k] = b->likely_offset[last];
        b->likely_c0[k] = b->likely_c0[last];
        b->likely_c1[k] = b->likely_c1[last];
        b->likely_fingerprint[k] = b->likely_fingerprint[last];
        b->likely_block[k] = b->likely_block[last];
    }
}

AVX512 static void ask_eights(const struct unseen__list_view *view, unsigned layer,
                              const uint64_t *keys, size_t n, uint8_t *answers)
{
    struct batch b;
    size_t fetched = 0;
    size_t compared = 0;
    b.nlikely = 0;
    for (size_t i = 0; i < n + AHEAD; i += LANES) {
        if (i < n) {
            find_pages(view, layer, keys + i, &b, i % RING);
            fetch_group0(view, &b, i % RING);
        }
        if (i >= AHEAD && i - AHEAD < n) {
            compare_group0(view, &b, (i - AHEAD) % RING, i - AHEAD, answers);
        }
        for (; fetched < b.nlikely; fetched++) {
            unseen__list_fetch_rest(&view->geometry, page_of(view, b.likely_offset[fetched]),
                                    b.likely_block[fetched]);
        }
        while (compared + REST_AHEAD + LANES <= fetched) {
            compare_rest(view, &b, compared, answers);
            compared += LANES;
        }
    }
    if (compared < b.nlikely) {
        fill_up(&b);
    }
    for (; compared < b.nlikely; compared += LANES) {
        compare_rest(view, &b, compared, answers);
    }
}

void unseen__list_ask_avx512(const struct unseen__list_view *view, unsigned layer,
                             const uint64_t *keys, size_t n, uint8_t *answers)
{
    uint64_t tail[LANES] = {0};
    uint8_t tail_answers[LANES];
    const size_t whole = n / LANES * LANES;
    if (whole > 0) {
        ask_eights(view, layer, keys, whole, answers);
    }
    if (whole < n) {
        memcpy(tail, keys + whole, (n - whole) * sizeof(*tail));
        ask_eights(view, layer, tail, LANES, tail_answers);
        memcpy(answers + whole, tail_answers, n - whole);
    }
}

#else

typedef int unseen__list_ask_avx512_is_empty; /* ISO C wants something here */

#endif
