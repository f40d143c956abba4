/* SPDX-License-Identifier: MIT
 *
 * The batch of ask.c with AVX2, four keys at a time, in the steps of ask_avx512.c. A key's columns
 * take two registers, which the first fold makes one: column j < 4 is then in the lower half of
 * lane j, and column j + 4 in the upper half. */
#include "base/macros.h"
#include "list/ask.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#include "base/bytes.h"
#include "list/layout.h"

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

enum {
    KEYS = 4,
    BATCH = UNSEEN__LIST_BATCH,
    AHEAD = 64, /* keys between the fetch of their lines and the comparison */
    REST_AHEAD = 32
};

struct batch {
    const uint8_t *pages[BATCH];
    struct unseen__list_row rows[BATCH];
    uint8_t low[BATCH];     /* the fingerprint's lowest 8 bits */
    uint16_t likely[BATCH]; /* keys that group 0 could not rule out */
    size_t nlikely;
};

static inline const uint8_t *group0_of(const struct unseen__list_view *view, const struct batch *b,
                                       size_t i)
{
    return b->pages[i] + 8 * b->rows[i].block * view->geometry.group0;
}

AVX2 static inline void find_pages(const struct unseen__list_view *view, unsigned layer,
                                   const uint64_t *keys, struct batch *b, size_t i)
{
    for (size_t k = i; k < i + KEYS; k++) {
        b->pages[k] = unseen__list_page_of(view, layer, keys[k], &b->rows[k]);
        b->low[k] = (uint8_t)b->rows[k].fingerprint;
        const uint8_t *at = group0_of(view, b, k);
        _mm_prefetch((const char *)at, _MM_HINT_T1);
        _mm_prefetch((const char *)at + 8 * view->geometry.group0, _MM_HINT_T1);
    }
}

/* ---- parities ---- */

AVX2 static inline __m256i fold64(__m256i a, __m256i b)
{
    const __m256i outer = _mm256_blend_epi32(a, b, 0xaa);
    const __m256i inner = _mm256_blend_epi32(b, a, 0xaa);
    return _mm256_xor_si256(outer, _mm256_shuffle_epi32(inner, 0xb1));
}

AVX2 static inline __m256i fold32(__m256i a, __m256i b)
{
    const __m256i low = _mm256_xor_si256(a, _mm256_srli_epi32(a, 16));
    const __m256i high = _mm256_xor_si256(b, _mm256_slli_epi32(b, 16));
    return _mm256_blend_epi16(low, high, 0xaa);
}

AVX2 static inline __m256i fold16(__m256i a, __m256i b)
{
    const __m256i odd = _mm256_set1_epi16((short)0xff00);
    const __m256i low = _mm256_xor_si256(a, _mm256_srli_epi16(a, 8));
    const __m256i high = _mm256_xor_si256(b, _mm256_slli_epi16(b, 8));
    return _mm256_blendv_epi8(low, high, odd);
}

/* Masks the columns of a key with its coefficients, and folds them into one register. */
AVX2 static inline __m256i under(const struct unseen__list_row *row, const uint8_t *w0,
                                 const uint8_t *w1, const __m256i lanes[2])
{
    const __m256i c0 = _mm256_set1_epi64x((long long)row->c0);
    const __m256i c1 = _mm256_set1_epi64x((long long)row->c1);
    __m256i x[2];
    for (size_t h = 0; h < 2; h++) {
        const __m256i a = _mm256_maskload_epi64((const void *)(w0 + 32 * h), lanes[h]);
        const __m256i b = _mm256_maskload_epi64((const void *)(w1 + 32 * h), lanes[h]);
        x[h] = _mm256_xor_si256(_mm256_and_si256(a, c0), _mm256_and_si256(b, c1));
    }
    return fold64(x[0], x[1]);
}

/* Returns one bit for each key: set if the parity of a column in mask differs from the column's bit
 * in the key's byte of fingerprints. */
AVX2 static inline unsigned differ(const __m256i x[KEYS], uint32_t fingerprints, __m256i mask)
{
    __m256i y = fold16(fold32(x[0], x[2]), fold32(x[1], x[3]));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 4));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 2));
    y = _mm256_xor_si256(y, _mm256_srli_epi16(y, 1));
    const __m256i expected = _mm256_srlv_epi32(_mm256_set1_epi32((int)fingerprints),
                                               _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
    y = _mm256_and_si256(_mm256_xor_si256(y, expected), mask);
    unsigned bits = (unsigned)_mm256_movemask_epi8(_mm256_slli_epi16(y, 7));
    bits |= bits >> 16;
    bits |= bits >> 8;
    bits |= bits >> 4;
    return bits & 15;
}

/* ---- a batch ---- */

/* The columns that group 0 has. */
struct columns {
    __m256i lanes[2]; /* to load */
    __m256i mask;     /* to compare: all but the one that holds the levels */
};

AVX2 static inline struct columns columns_of(unsigned group0)
{
    const __m256i n = _mm256_set1_epi64x(group0);
    struct columns c;
    c.lanes[0] = _mm256_cmpgt_epi64(n, _mm256_set_epi64x(3, 2, 1, 0));
    c.lanes[1] = _mm256_cmpgt_epi64(n, _mm256_set_epi64x(7, 6, 5, 4));
    c.mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)group0 - 1),
                                _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
    return c;
}

AVX2 static inline void compare_group0(const struct unseen__list_view *view,
                                       const struct columns *columns, struct batch *b, size_t i,
                                       uint8_t *answers)
{
    const unsigned group0 = view->geometry.group0;
    __m256i x[KEYS];
    unsigned bumped = 0;
    for (size_t k = 0; k < KEYS; k++) {
        const uint8_t *at = group0_of(view, b, i + k);
        const unsigned level = at[8 * group0 - 1] >> 6;
        x[k] = under(&b->rows[i + k], at, at + 8 * group0, columns->lanes);
        bumped |= (unsigned)(b->rows[i + k].bump < unseen__list_thresholds[level]) << k;
    }
    const unsigned no = differ(x, load_le32(b->low + i), columns->mask);
    store_le32(answers + i, _pdep_u32(bumped, 0x01010101) << 1);
    for (unsigned likely = ~(no | bumped) & 15; likely != 0; likely &= likely - 1) {
        b->likely[b->nlikely++] = (uint16_t)(i + (unsigned)__builtin_ctz(likely));
    }
}

AVX2 static inline void compare_rest(const struct unseen__list_view *view, const struct batch *b,
                                     size_t i, uint8_t *answers)
{
    answers[i] = unseen__list_page_ask_rest(&view->geometry, b->pages[i], &b->rows[i])
                     ? UNSEEN__LIST_YES
                     : UNSEEN__LIST_NO;
}

AVX2 static void ask_fours(const struct unseen__list_view *view, unsigned layer,
                           const uint64_t *keys, size_t n, uint8_t *answers)
{
    const struct columns columns = columns_of(view->geometry.group0);
    struct batch b;
    size_t fetched = 0;
    size_t compared = 0;
    b.nlikely = 0;
    for (size_t i = 0; i < n + AHEAD; i += KEYS) {
        if (i < n) {
            find_pages(view, layer, keys, &b, i);
        }
        if (i >= AHEAD && i - AHEAD < n) {
            compare_group0(view, &columns, &b, i - AHEAD, answers);
        }
        for (; fetched < b.nlikely; fetched++) {
            unseen__list_fetch_rest(&view->geometry, b.pages[b.likely[fetched]],
                                    b.rows[b.likely[fetched]].block);
        }
        for (; compared + REST_AHEAD < fetched; compared++) {
            compare_rest(view, &b, b.likely[compared], answers);
        }
    }
    for (; compared < b.nlikely; compared++) {
        compare_rest(view, &b, b.likely[compared], answers);
    }
}

void unseen__list_ask_avx2(const struct unseen__list_view *view, unsigned layer,
                           const uint64_t *keys, size_t n, uint8_t *answers)
{
    uint64_t tail[KEYS] = {0};
    uint8_t tail_answers[KEYS];
    const size_t whole = n / KEYS * KEYS;
    if (whole > 0) {
        ask_fours(view, layer, keys, whole, answers);
    }
    if (whole < n) {
        memcpy(tail, keys + whole, (n - whole) * sizeof(*tail));
        ask_fours(view, layer, tail, KEYS, tail_answers);
        memcpy(answers + whole, tail_answers, n - whole);
    }
}

#else

typedef int unseen__list_ask_avx2_is_empty; /* ISO C wants something here */

#endif
