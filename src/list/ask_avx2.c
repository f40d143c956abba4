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
#include "list/mix_avx2.h"

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

enum {
    KEYS = 4,
    COLUMNS = 8, /* that are compared at a time */
    AHEAD = 64,  /* keys between the fetch of their lines and the comparison */
    RING = 2 * AHEAD,
    REST_AHEAD = 32, /* keys between the fetch of the rest and its comparison */
    REST_LATEST = RING - AHEAD - 2 * KEYS /* then the key's slot is about to be taken */
};

/* The last keys, each in the slot of its number modulo RING; and the likely keys, which group 0
 * could not rule out. */
struct batch {
    uint64_t offset[RING]; /* of group 0, in the pages */
    uint64_t block[RING];
    uint64_t c0[RING];
    uint64_t c1[RING];
    uint64_t limit[RING]; /* if the word with the level is at least this, the key is bumped */
    uint64_t fingerprint[RING];
    uint16_t likely[UNSEEN__LIST_BATCH + KEYS]; /* their numbers in the batch */
    size_t nlikely;
};

/* ---- pages ---- */

/* The least level that bumps a key, in the bits where a word has it. The highest level bumps all
 * keys. */
AVX2 static inline __m256i limit_of(__m256i last)
{
    const __m256i bump = _mm256_srli_epi64(last, 56);
    __m256i level = _mm256_set1_epi64x(1);
    for (unsigned i = 1; i < 3; i++) {
        const __m256i below = _mm256_set1_epi64x(unseen__list_thresholds[i] - 1);
        level = _mm256_sub_epi32(level, _mm256_cmpgt_epi32(bump, below));
    }
    return _mm256_slli_epi64(level, UNSEEN__LIST_LEVEL_SHIFT);
}

AVX2 static inline void store4(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((void *)to, x);
}

/* unseen__list_place_of and unseen__list_row_of, for the keys of the slots from i on. */
AVX2 static inline void find_pages(const struct unseen__list_view *view, unsigned layer,
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

AVX2 static inline void fetch_group0(const struct unseen__list_view *view, const struct batch *b,
                                     size_t i)
{
    const unsigned line = 8 * view->geometry.group0;
    for (size_t k = i; k < i + KEYS; k++) {
        const uint8_t *at = view->pages + b->offset[k];
        _mm_prefetch((const char *)at, _MM_HINT_T1);
        _mm_prefetch((const char *)at + line, _MM_HINT_T1);
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

/* Eight columns. */
struct columns {
    __m256i x[2];
};

AVX2 static inline struct columns load_all(const uint8_t *from)
{
    return (struct columns){
        {_mm256_loadu_si256((const void *)from), _mm256_loadu_si256((const void *)(from + 32))}};
}

/* The first n columns; the others are 0, and their bytes are not read. */
AVX2 static inline struct columns load_some(const uint8_t *from, unsigned n)
{
    static const int64_t lanes[2 * COLUMNS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const struct columns has = load_all((const uint8_t *)(lanes + COLUMNS - n));
    return (struct columns){{_mm256_maskload_epi64((const void *)from, has.x[0]),
                             _mm256_maskload_epi64((const void *)(from + 32), has.x[1])}};
}

/* Masks the columns of a key with its coefficients, and folds them into one register. */
AVX2 static inline __m256i under(const struct batch *b, size_t slot, struct columns w0,
                                 struct columns w1)
{
    const __m256i c0 = _mm256_set1_epi64x((long long)b->c0[slot]);
    const __m256i c1 = _mm256_set1_epi64x((long long)b->c1[slot]);
    __m256i x[2];
    for (size_t h = 0; h < 2; h++) {
        x[h] = _mm256_xor_si256(_mm256_and_si256(w0.x[h], c0), _mm256_and_si256(w1.x[h], c1));
    }
    return fold64(x[0], x[1]);
}

/* Returns one bit for each key: set if the parity of one of the first n columns differs from the
 * column's bit in the key's byte of fingerprints. */
AVX2 static inline unsigned differ(const __m256i x[KEYS], uint32_t fingerprints, unsigned n)
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

/* ---- a batch ---- */

/* Compares group 0 of the keys from i on; whole: group 0 has eight columns. */
AVX2 static inline void compare_group0(const struct unseen__list_view *view, bool whole,
                                       struct batch *b, size_t i, uint8_t *answers)
{
    const unsigned group0 = whole ? COLUMNS : view->geometry.group0;
    const size_t slot = i % RING;
    __m256i x[KEYS];
    unsigned stays = 0;
    uint32_t fingerprints = 0;
    for (size_t k = KEYS; k-- > 0;) {
        const uint8_t *at = view->pages + b->offset[slot + k];
        const uint8_t *next = at + 8 * group0;
        x[k] = whole ? under(b, slot + k, load_all(at), load_all(next))
                     : under(b, slot + k, load_some(at, group0), load_some(next, group0));
        stays = 2 * stays + (load_le64(next - 8) < b->limit[slot + k]);
        fingerprints = fingerprints << 8 | (uint8_t)b->fingerprint[slot + k];
    }
    const unsigned no = differ(x, fingerprints, group0 - 1);
    store_le32(answers + i, _pdep_u32(~stays, 0x01010101) << 1);
    const unsigned likely = stays & ~no;
    if (likely != 0) {
        for (unsigned k = 0; k < KEYS; k++) {
            b->likely[b->nlikely] = (uint16_t)(i + k);
            b->nlikely += likely >> k & 1;
        }
    }
}

AVX2 static inline const uint8_t *page_of(const struct unseen__list_view *view, uint64_t offset)
{
    return view->pages + offset / UNSEEN__LIST_PAGE * UNSEEN__LIST_PAGE;
}

/* Does the column that holds the levels agree? Its two top bits are displaced; here they are put
 * below the others. */
AVX2 static inline bool agrees_leveled(const struct unseen__list_geometry *s, const uint8_t *page,
                                       const uint8_t *group0, const struct batch *b, size_t slot,
                                       unsigned block, unsigned next)
{
    const unsigned line = 8 * s->group0;
    const uint64_t w0 = load_le64(group0 + line - 8) << 2 | unseen__list_displaced(s, page, block);
    const uint64_t w1 =
        load_le64(group0 + 2 * line - 8) << 2 | unseen__list_displaced(s, page, next);
    const uint64_t c0 = b->c0[slot] << 2 | b->c0[slot] >> 62;
    const uint64_t c1 = b->c1[slot] << 2 | b->c1[slot] >> 62;
    const uint64_t parity = (uint64_t)_mm_popcnt_u64((c0 & w0) ^ (c1 & w1));
    return ((parity ^ b->fingerprint[slot] >> (s->group0 - 1)) & 1) == 0;
}

/* Compares the rest for the likely keys from i on. */
AVX2 static inline void compare_rest(const struct unseen__list_view *view, const struct batch *b,
                                     size_t i, uint8_t *answers)
{
    const struct unseen__list_geometry *s = &view->geometry;
    unsigned yes = 0;
    for (unsigned j = 0; s->group0 + j <= s->columns; j += COLUMNS) {
        __m256i x[KEYS];
        uint32_t fingerprints = 0;
        unsigned agrees = 0;
        for (size_t k = KEYS; k-- > 0;) {
            const size_t slot = b->likely[i + k] % RING;
            const unsigned block = (unsigned)b->block[slot];
            const unsigned next = unseen__list_next_block(s, block);
            const uint8_t *group0 = view->pages + b->offset[slot];
            const uint8_t *page = page_of(view, b->offset[slot]);
            const unsigned end = s->columns + unseen__list_is_extended(s, block) - s->group0;
            const unsigned n = end - j < COLUMNS ? end - j : COLUMNS;
            const unsigned fingerprint = (unsigned)(b->fingerprint[slot] >> (s->group0 + j));
            x[k] = under(b, slot, load_some(page + s->rest[block] + 8 * j, n),
                         load_some(page + s->rest[next] + 8 * j, n));
            fingerprints = fingerprints << 8 | (fingerprint & ((1u << n) - 1));
            agrees = 2 * agrees + agrees_leveled(s, page, group0, b, slot, block, next);
        }
        yes = (j == 0 ? agrees : yes) & ~differ(x, fingerprints, COLUMNS);
    }
    for (size_t k = 0; k < KEYS; k++) {
        answers[b->likely[i + k]] = yes >> k & 1 ? UNSEEN__LIST_YES : UNSEEN__LIST_NO;
    }
}

/* Compares the rest for the likely keys from *compared on that are long enough behind key i.
 * Four at a time, or fewer if their slots are about to be taken. */
AVX2 static inline void compare_rests(const struct unseen__list_view *view, struct batch *b,
                                      size_t i, size_t *compared, uint8_t *answers)
{
    size_t at = *compared;
    while (at + KEYS <= b->nlikely && b->likely[at + KEYS - 1] + (size_t)REST_AHEAD <= i) {
        compare_rest(view, b, at, answers);
        at += KEYS;
    }
    while (at < b->nlikely && b->likely[at] + (size_t)REST_LATEST <= i) {
        for (size_t k = b->nlikely; k < at + KEYS; k++) { /* repeats the last one */
            b->likely[k] = b->likely[b->nlikely - 1];
        }
        compare_rest(view, b, at, answers);
        at = at + KEYS < b->nlikely ? at + KEYS : b->nlikely;
    }
    *compared = at;
}

AVX2 static inline void ask_fours(const struct unseen__list_view *view, unsigned layer, bool whole,
                                  const uint64_t *keys, size_t n, uint8_t *answers)
{
    struct batch b;
    size_t fetched = 0;
    size_t compared = 0;
    b.nlikely = 0;
    for (size_t i = 0; i < n + AHEAD; i += KEYS) {
        if (i < n) {
            find_pages(view, layer, keys + i, &b, i % RING);
            fetch_group0(view, &b, i % RING);
        }
        if (i < AHEAD) {
            continue;
        }
        compare_group0(view, whole, &b, i - AHEAD, answers);
        for (; fetched < b.nlikely; fetched++) {
            const size_t slot = b.likely[fetched] % RING;
            unseen__list_fetch_rest(&view->geometry, page_of(view, b.offset[slot]),
                                    (unsigned)b.block[slot]);
        }
        compare_rests(view, &b, i - AHEAD, &compared, answers);
    }
    compare_rests(view, &b, n + REST_LATEST, &compared, answers);
}

AVX2 static void ask_in_fours(const struct unseen__list_view *view, unsigned layer,
                              const uint64_t *keys, size_t n, uint8_t *answers)
{
    if (view->geometry.group0 == COLUMNS) {
        ask_fours(view, layer, true, keys, n, answers);
    } else {
        ask_fours(view, layer, false, keys, n, answers);
    }
}

void unseen__list_ask_avx2(const struct unseen__list_view *view, unsigned layer,
                           const uint64_t *keys, size_t n, uint8_t *answers)
{
    uint64_t tail[KEYS] = {0};
    uint8_t tail_answers[KEYS];
    const size_t nfours = n / KEYS * KEYS;
    if (nfours > 0) {
        ask_in_fours(view, layer, keys, nfours, answers);
    }
    if (nfours < n) {
        memcpy(tail, keys + nfours, (n - nfours) * sizeof(*tail));
        ask_in_fours(view, layer, tail, KEYS, tail_answers);
        memcpy(answers + nfours, tail_answers, n - nfours);
    }
}

#else

typedef int unseen__list_ask_avx2_is_empty; /* ISO C wants something here */

#endif
