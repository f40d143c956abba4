/* SPDX-License-Identifier: MIT
 *
 * The steps of solve.c with AVX-512 and GFNI, which multiplies bytes by a matrix of 8 by 8 bits.
 * The equations are turned on their side: a plane holds one byte of each row. The columns are
 * eliminated eight at a time, that is, by planes. The byte of a row, times the inverse of the
 * pivots' own bytes, says which of the eight pivots the row takes. That byte, times the pivots'
 * bytes in another plane, is what the row gets there. So a register of 64 rows takes one
 * multiplication for each plane.
 *
 * A pivot that is found leaves its row, and goes to the row of its column in a third part of the
 * planes. So in the end the solved equations stand there in order, and in the first two parts only
 * the carried equations are not 0. */
#include "base/macros.h"
#include "list/mix_x86.h"
#include "list/stripe.h"

#if UNSEEN_X86

#include <immintrin.h>

#define AVX512                                                                                     \
    UNSEEN_TARGET("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,gfni,bmi,bmi2,"       \
                  "popcnt")

enum {
    ROWS = UNSEEN__LIST_ROWS,
    WORDS = 8, /* of a register */
    W1 = 8,    /* the planes: 8 of w0, 8 of w1, up to 4 of the right side */
    RIGHT = 16,
    PLANES = 20,
    STRIPE = UNSEEN__LIST_STRIPE
};

struct plane {
    __m512i low;  /* rows 0 to 63 */
    __m512i high; /* 64 to 127 */
    __m512i solved;
};

struct planes {
    struct plane plane[PLANES];
    unsigned end; /* the number of planes in use */
};

/* ---- turning ---- */

/* Words k of eight registers to register k. */
AVX512 static inline void turn_words(__m512i a[WORDS])
{
    __m512i b[WORDS];
    for (size_t i = 0; i < WORDS; i += 2) {
        b[i] = _mm512_unpacklo_epi64(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 1]);
    }
    for (size_t odd = 0; odd < 2; odd++) {
        const __m512i x = _mm512_shuffle_i64x2(b[odd], b[2 + odd], 0x88);
        const __m512i y = _mm512_shuffle_i64x2(b[4 + odd], b[6 + odd], 0x88);
        const __m512i z = _mm512_shuffle_i64x2(b[odd], b[2 + odd], 0xdd);
        const __m512i u = _mm512_shuffle_i64x2(b[4 + odd], b[6 + odd], 0xdd);
        a[odd] = _mm512_shuffle_i64x2(x, y, 0x88);
        a[4 + odd] = _mm512_shuffle_i64x2(x, y, 0xdd);
        a[2 + odd] = _mm512_shuffle_i64x2(z, u, 0x88);
        a[6 + odd] = _mm512_shuffle_i64x2(z, u, 0xdd);
    }
}

/* Quarters k of four registers to register k. */
AVX512 static inline void turn_quarters(__m512i a[4])
{
    const __m512i x = _mm512_shuffle_i64x2(a[0], a[1], 0x88);
    const __m512i y = _mm512_shuffle_i64x2(a[2], a[3], 0x88);
    const __m512i z = _mm512_shuffle_i64x2(a[0], a[1], 0xdd);
    const __m512i u = _mm512_shuffle_i64x2(a[2], a[3], 0xdd);
    a[0] = _mm512_shuffle_i64x2(x, y, 0x88);
    a[1] = _mm512_shuffle_i64x2(z, u, 0x88);
    a[2] = _mm512_shuffle_i64x2(x, y, 0xdd);
    a[3] = _mm512_shuffle_i64x2(z, u, 0xdd);
}

/* Byte first[i] + k of a register to byte 8 * k + i. */
AVX512 static inline __m512i turn_bytes_from(__m512i x, int64_t first)
{
    const __m512i step = _mm512_set_epi64(INT64_C(0x0707070707070707), INT64_C(0x0606060606060606),
                                          INT64_C(0x0505050505050505), INT64_C(0x0404040404040404),
                                          INT64_C(0x0303030303030303), INT64_C(0x0202020202020202),
                                          INT64_C(0x0101010101010101), 0);
    return _mm512_permutexvar_epi8(_mm512_add_epi8(_mm512_set1_epi64(first), step), x);
}

/* Byte 8 * i + k of a register to byte 8 * k + i. */
AVX512 static inline __m512i turn_bytes(__m512i x)
{
    return turn_bytes_from(x, INT64_C(0x3830282018100800));
}

/* The same with the bytes of each word in reverse. */
AVX512 static inline __m512i matrices(__m512i x)
{
    return turn_bytes_from(x, INT64_C(0x0008101820283038));
}

/* Byte 4 * i + k of a register to byte 16 * k + i. */
AVX512 static inline __m512i turn_fours(__m512i x)
{
    const __m512i first = _mm512_broadcast_i32x4(
        _mm_set_epi8(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0));
    const __m512i step = _mm512_set_epi32(
        0x03030303, 0x03030303, 0x03030303, 0x03030303, 0x02020202, 0x02020202, 0x02020202,
        0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0, 0, 0, 0);
    return _mm512_permutexvar_epi8(_mm512_add_epi8(first, step), x);
}

/* The inverse of that. */
AVX512 static inline __m512i turn_fours_back(__m512i x)
{
    const __m512i first = _mm512_set1_epi32(0x30201000);
    const __m512i step =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a,
                         0x09090909, 0x08080808, 0x07070707, 0x06060606, 0x05050505, 0x04040404,
                         0x03030303, 0x02020202, 0x01010101, 0);
    return _mm512_permutexvar_epi8(_mm512_add_epi8(first, step), x);
}

/* 64 words to eight planes. */
AVX512 static inline void to_planes(const uint64_t *from, __m512i to[WORDS])
{
    for (size_t i = 0; i < WORDS; i++) {
        to[i] = turn_bytes(_mm512_loadu_si512(from + WORDS * i));
    }
    turn_words(to);
}

AVX512 static inline void from_planes(__m512i from[WORDS], uint64_t *to)
{
    turn_words(from);
    for (size_t i = 0; i < WORDS; i++) {
        _mm512_storeu_si512(to + WORDS * i, turn_bytes(from[i]));
    }
}

/* The same with 64 half words and four planes. */
AVX512 static inline void to_four_planes(const uint32_t *from, __m512i to[4])
{
    for (size_t i = 0; i < 4; i++) {
        to[i] = turn_fours(_mm512_loadu_si512(from + 16 * i));
    }
    turn_quarters(to);
}

AVX512 static inline void from_four_planes(__m512i from[4], uint32_t *to)
{
    turn_quarters(from);
    for (size_t i = 0; i < 4; i++) {
        _mm512_storeu_si512(to + 16 * i, turn_fours_back(from[i]));
    }
}

/* Rows behind the last one may hold anything. */
AVX512 static inline void take_system(const struct unseen__list_system *s, struct planes *p)
{
    __m512i low[WORDS];
    __m512i high[WORDS];
    const __m512i zero = _mm512_setzero_si512();
    to_planes(s->w0, low);
    to_planes(s->w0 + ROWS, high);
    for (size_t i = 0; i < WORDS; i++) {
        p->plane[i] = (struct plane){low[i], high[i], zero};
    }
    to_planes(s->w1, low);
    to_planes(s->w1 + ROWS, high);
    for (size_t i = 0; i < WORDS; i++) {
        p->plane[W1 + i] = (struct plane){low[i], high[i], zero};
    }
    to_four_planes(s->right, low);
    to_four_planes(s->right + ROWS, high);
    for (size_t i = 0; i < 4; i++) {
        p->plane[RIGHT + i] = (struct plane){low[i], high[i], zero};
    }
    p->end = RIGHT + (s->right_bits + 7) / 8;
}

/* ---- a stripe ---- */

/* A matrix is a word with row 0 in the lowest byte. GFNI wants the rows of a factor in reverse. */

/* The product of this word and a matrix in reverse order is that matrix, transposed. */
#define TURNED INT64_C(0x0102040810204080)

/* The pivots of a stripe: the columns that have a pivot, and the pivots' rows, the first in the
 * highest byte. */
struct pivots {
    unsigned found;
    uint64_t rows;
};

/* Finds the pivots among the 64 rows from the first available one on. Returns false if a pivot is
 * not among these rows. */
AVX512 static inline bool find_near(const struct plane *plane, struct unseen__list_rows *available,
                                    struct pivots *t)
{
    const __m512i step = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const unsigned first = (unsigned)__builtin_ctzll(available->low | UINT64_C(1) << 63);
    const __m512i rows = _mm512_permutex2var_epi8(
        plane->low, _mm512_add_epi8(step, _mm512_set1_epi8((char)first)), plane->high);
    uint64_t having[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        having[k] = _mm512_test_epi8_mask(rows, _mm512_set1_epi8((char)(1 << k)));
    }
    const uint64_t near = unseen__list_take_near(having, first, available);
    t->found = 0xff;
    t->rows = __builtin_bswap64(near);
    return near != UINT64_MAX;
}

/* Finds pivots among all rows. */
AVX512 static UNSEEN_NOINLINE void find_far(const struct plane *plane,
                                            struct unseen__list_rows *available, struct pivots *t)
{
    struct unseen__list_rows having[STRIPE];
    unsigned rows[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        const __m512i bit = _mm512_set1_epi8((char)(1 << k));
        having[k].low = _mm512_test_epi8_mask(plane->low, bit);
        having[k].high = _mm512_test_epi8_mask(plane->high, bit);
    }
    t->found = unseen__list_stripe_find(having, available, rows);
    t->rows = 0;
    for (unsigned k = 0; k < STRIPE; k++) {
        t->rows = t->rows << 8 | (rows[k] & 127); /* any row, if none was found */
    }
}

/* The pivots' bytes in a plane, in each word of the register. */
AVX512 static inline __m512i bytes_of(const struct plane *plane, __m512i rows, bool near)
{
    return near ? _mm512_permutexvar_epi8(rows, plane->low)
                : _mm512_permutex2var_epi8(plane->low, rows, plane->high);
}

/* Adds the pivots' rows to the rows of a plane, as `which` says. */
AVX512 static inline void add_pivots(struct plane *plane, __m512i bytes, const struct plane *which)
{
    const __m512i factor = _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(TURNED), bytes, 0);
    plane->low = _mm512_xor_si512(plane->low, _mm512_gf2p8affine_epi64_epi8(which->low, factor, 0));
    plane->high =
        _mm512_xor_si512(plane->high, _mm512_gf2p8affine_epi64_epi8(which->high, factor, 0));
    plane->solved =
        _mm512_xor_si512(plane->solved, _mm512_gf2p8affine_epi64_epi8(which->solved, factor, 0));
}

/* The same for some planes. */
AVX512 static inline void add_all(struct planes *p, unsigned first, unsigned end, __m512i rows,
                                  bool near, const struct plane *which)
{
    for (unsigned i = first; i < end; i++) {
        add_pivots(&p->plane[i], bytes_of(&p->plane[i], rows, near), which);
    }
}

/* Eliminates the columns of plane c. */
AVX512 static inline void eliminate_stripe(struct planes *p, unsigned c,
                                           struct unseen__list_rows own,
                                           struct unseen__list_rows *available)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const struct plane *plane = &p->plane[c];
    struct pivots t;
    if (UNSEEN_UNLIKELY(!find_near(plane, available, &t))) {
        find_far(plane, available, &t);
    }
    const __m512i rows = _mm512_set1_epi64((long long)t.rows);
    const bool near = (t.rows & 64 * ones) == 0;
    uint64_t matrix =
        (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(bytes_of(plane, rows, near)));
    matrix = __builtin_bswap64(matrix);
    uint64_t kept = UINT64_MAX;
    if (UNSEEN_UNLIKELY(t.found != 0xff)) { /* a missing pivot becomes one that no row takes */
        kept = _pdep_u64(t.found, ones) * 0xff;
        matrix = (matrix & kept & t.found * ones) | (UINT64_C(0x8040201008040201) & ~kept);
    }
    const uint64_t inverse = unseen__list_invert(matrix) & kept;
    const __m512i factor = _mm512_gf2p8affine_epi64_epi8(
        _mm512_set1_epi64(TURNED), _mm512_set1_epi64((long long)__builtin_bswap64(inverse)), 0);
    const __m512i solved = _mm512_gf2p8affine_epi64_epi8(plane->solved, factor, 0);
    const struct plane which = {
        _mm512_gf2p8affine_epi64_epi8(plane->low, factor, 0),
        _mm512_gf2p8affine_epi64_epi8(plane->high, factor, 0),
        _mm512_mask_set1_epi64(solved, (__mmask8)(1u << c), (long long)inverse)};
    const unsigned end = unseen__list_changes_w1(own, *available) ? RIGHT : W1;
    if (near) {
        add_all(p, c + 1, end, rows, true, &which);
        add_all(p, RIGHT, p->end, rows, true, &which);
    } else {
        add_all(p, c + 1, end, rows, false, &which);
        add_all(p, RIGHT, p->end, rows, false, &which);
    }
}

/* ---- a block ---- */

/* Stores the carried equations, as unseen__list_keep does. */
AVX512 static inline bool carry(const struct planes *p, const struct unseen__list_rows *available,
                                struct unseen__list_equations *carried)
{
    __m512i low = _mm512_setzero_si512();
    __m512i high = low;
    __m512i right_low = low;
    __m512i right_high = low;
    for (unsigned i = W1; i < RIGHT; i++) {
        low = _mm512_or_si512(low, p->plane[i].low);
        high = _mm512_or_si512(high, p->plane[i].high);
    }
    for (unsigned i = RIGHT; i < p->end; i++) {
        right_low = _mm512_or_si512(right_low, p->plane[i].low);
        right_high = _mm512_or_si512(right_high, p->plane[i].high);
    }
    const uint64_t some_low = _mm512_test_epi8_mask(low, low);
    const uint64_t some_high = _mm512_test_epi8_mask(high, high);
    const uint64_t wrong_low = _mm512_test_epi8_mask(right_low, right_low) & ~some_low;
    const uint64_t wrong_high = _mm512_test_epi8_mask(right_high, right_high) & ~some_high;
    const uint64_t from_low = some_low & available->low;
    const uint64_t from_high = some_high & available->high;
    const size_t nlow = (size_t)_mm_popcnt_u64(from_low);
    const size_t n = nlow + (size_t)_mm_popcnt_u64(from_high);
    if (((wrong_low & available->low) | (wrong_high & available->high)) != 0 || n > ROWS ||
        (!carried && n > 0)) {
        return false;
    }
    if (!carried) {
        return true;
    }
    __m512i to[PLANES - W1];
    const uint64_t where = n < ROWS ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    const __mmask64 above = where & ~(nlow < ROWS ? (UINT64_C(1) << nlow) - 1 : UINT64_MAX);
    for (unsigned i = W1; i < PLANES; i++) {
        const __m512i x = i < p->end ? _mm512_maskz_compress_epi8(from_low, p->plane[i].low)
                                     : _mm512_setzero_si512();
        const __m512i y = i < p->end ? _mm512_maskz_compress_epi8(from_high, p->plane[i].high)
                                     : _mm512_setzero_si512();
        to[i - W1] = _mm512_mask_expand_epi8(x, above, y);
    }
    carried->n = n;
    from_planes(to, carried->w);
    from_four_planes(to + WORDS, carried->right);
    return true;
}

AVX512 static bool eliminate(struct unseen__list_system *s, struct unseen__list_equations *solved,
                             struct unseen__list_equations *carried)
{
    struct planes p;
    struct unseen__list_rows available = unseen__list_rows_below(s->n);
    const struct unseen__list_rows own = unseen__list_own_rows(s);
    take_system(s, &p);
    for (unsigned c = 0; c < W1; c++) {
        eliminate_stripe(&p, c, own, &available);
    }
    for (unsigned i = W1; i < RIGHT; i++) {
        _mm512_storeu_si512(solved->w + WORDS * (i - W1), p.plane[i].solved);
    }
    for (unsigned i = RIGHT; i < PLANES; i++) {
        _mm512_storeu_si512(solved->right + 16 * (i - RIGHT), p.plane[i].solved);
    }
    return carry(&p, &available, carried);
}

/* The solved equations are planes in this kernel. */
AVX512 static void substitute(const struct unseen__list_equations *solved, unsigned ncolumns,
                              const struct unseen__list_unknowns *next,
                              struct unseen__list_unknowns *to)
{
    /* Eight columns of the next block's unknowns as bytes are eight matrices. */
    for (unsigned j = 0; j < ncolumns; j += WORDS) {
        __m512i x = _mm512_loadu_si512(solved->right + 2 * j);
        const __m512i y = matrices(_mm512_loadu_si512(next->words + j));
        uint64_t factors[WORDS];
        _mm512_storeu_si512(factors, y);
        for (unsigned i = 0; i < WORDS; i++) {
            x = _mm512_xor_si512(
                x, _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(solved->w + WORDS * i),
                                                 _mm512_set1_epi64((long long)factors[i]), 0));
        }
        for (unsigned k = 0; k < WORDS; k++) {
            to->words[j + k] = _mm512_test_epi8_mask(x, _mm512_set1_epi8((char)(1 << k)));
        }
    }
}

/* ---- keys ---- */

AVX512 static void hash(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys)
{
    const __m512i step = _mm512_set1_epi64((long long)UINT64_C(0x9e3779b97f4a7c15));
    const __m512i factor = _mm512_set1_epi64((long long)UINT64_C(0xd6e8feb86659fd93));
    for (size_t i = 0; i < n; i += WORDS) {
        const size_t rest = n - i < WORDS ? n - i : WORDS;
        const __m512i x = _mm512_maskz_loadu_epi64((__mmask8)((1u << rest) - 1), hashes + i);
        const __m512i c0 = unseen__list_mix8(x);
        const __m512i c1 = unseen__list_mix8(_mm512_add_epi64(x, step));
        const __m512i last =
            _mm512_mullo_epi64(_mm512_xor_si512(c0, _mm512_rol_epi64(c1, 32)), factor);
        const __m256i fingerprint = _mm256_and_si256(
            _mm512_cvtepi64_epi32(_mm512_srli_epi64(last, 8)), _mm256_set1_epi32(INT32_MAX));
        _mm512_storeu_si512(keys->c0 + i, c0);
        _mm512_storeu_si512(keys->c1 + i, c1);
        _mm256_storeu_si256((void *)(keys->fingerprint + i), fingerprint);
        _mm_storel_epi64((void *)(keys->bump + i),
                         _mm512_cvtepi64_epi8(_mm512_srli_epi64(last, 56)));
    }
}

AVX512 static void collect(struct unseen__list_system *s, const struct unseen__list_keys *keys,
                           const struct unseen__list_pick *pick)
{
    const __m128i least = _mm_set1_epi16((short)pick->threshold);
    const __m256i fingerprint = _mm256_set1_epi32((int)pick->fingerprint);
    const __mmask8 has_next = pick->is_last ? 0 : 0xff;
    size_t n = s->n;
    for (size_t i = pick->first; i < pick->end; i += WORDS) {
        const size_t rest = pick->end - i;
        const unsigned in_block = rest < WORDS ? (1u << rest) - 1 : 0xff;
        const __m128i bump = _mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)(keys->bump + i)));
        const __mmask8 stays = (__mmask8)(_mm_cmpge_epi16_mask(bump, least) & in_block);
        const __m256i right = _mm256_and_si256(
            _mm256_loadu_si256((const void *)(keys->fingerprint + i)), fingerprint);
        const __m512i w1 = _mm512_maskz_loadu_epi64(has_next, keys->c1 + i);
        _mm512_storeu_si512(s->w0 + n,
                            _mm512_maskz_compress_epi64(stays, _mm512_loadu_si512(keys->c0 + i)));
        _mm512_storeu_si512(s->w1 + n, _mm512_maskz_compress_epi64(stays, w1));
        _mm256_storeu_si256((void *)(s->right + n), _mm256_maskz_compress_epi32(stays, right));
        n += (size_t)__builtin_popcount(stays);
    }
    s->n = n;
}

bool unseen__list_has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("gfni");
}

const struct unseen__list_kernel unseen__list_avx512 = {hash, collect, eliminate, substitute};

#endif
