/* SPDX-License-Identifier: MIT
 *
 * The steps of solve.c with AVX2. The equations are turned on their side: a plane holds one byte of
 * each of 128 rows, in four registers. The columns are eliminated eight at a time, that is, by
 * planes. The byte of a row, times the inverse of the pivots' own bytes, says which of the eight
 * pivots the row takes. That byte, times the pivots' bytes in another plane, is what the row gets
 * there. A product of bytes and a matrix of 8 by 8 bits is two shuffles, of 16 bytes each, which
 * look up what the lower and the upper halves of the bytes give. */
#include "base/macros.h"
#include "list/mix_x86.h"
#include "list/stripe.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#include "base/bytes.h"

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

enum {
    ROWS = UNSEEN__LIST_ROWS,
    STRIPE = UNSEEN__LIST_STRIPE,
    HEIGHT = UNSEEN__LIST_HEIGHT, /* rows of a plane */
    WIDTH = 32,                   /* of a register */
    QUARTERS = HEIGHT / WIDTH,
    W1 = 8, /* the planes: 8 of w0, 8 of w1, up to 4 of the right side */
    RIGHT = 16,
    PLANES = 20
};

struct planes {
    uint8_t bytes[PLANES][HEIGHT];
    unsigned end; /* the number of planes in use */
};

/* The pivots of a stripe: the columns that have a pivot, and the pivots' rows, the first in the
 * lowest byte. If they are near, they are in the 32 rows from `first` on, and a shuffle takes them
 * from there. */
struct pivots {
    unsigned found;
    uint64_t rows;
    unsigned first;
    __m256i shuffle;
};

/* ---- planes ---- */

/* 32 rows of 8 bytes to 32 bytes of the first n of 8 planes. */
AVX2 static inline void turn(const uint64_t *from, size_t n, uint8_t *to, size_t height)
{
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0));
    __m256i a[8];
    __m256i b[8];
    for (size_t i = 0; i < 8; i++) {
        const __m128i low = _mm_loadu_si128((const void *)(from + 2 * i));
        const __m128i high = _mm_loadu_si128((const void *)(from + 16 + 2 * i));
        a[i] = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), pairs);
    }
    for (size_t i = 0; i < 4; i++) {
        b[i] = _mm256_unpacklo_epi16(a[2 * i], a[2 * i + 1]); /* planes 0 to 3 of 4 rows */
        b[i + 4] = _mm256_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        a[i] = _mm256_unpacklo_epi32(b[i], b[i + 1]); /* planes i and i + 1 of 8 rows */
        a[i + 1] = _mm256_unpacklo_epi32(b[i + 2], b[i + 3]);
        a[i + 2] = _mm256_unpackhi_epi32(b[i], b[i + 1]);
        a[i + 3] = _mm256_unpackhi_epi32(b[i + 2], b[i + 3]);
    }
    for (size_t i = 0; i < n; i += 2) {
        uint8_t *at = to + i * height;
        _mm256_store_si256((void *)at, _mm256_unpacklo_epi64(a[i], a[i + 1]));
        _mm256_store_si256((void *)(at + height), _mm256_unpackhi_epi64(a[i], a[i + 1]));
    }
}

/* 32 bytes of 8 planes to 32 rows of 8 bytes. */
AVX2 static inline void turn_back(const uint8_t (*from)[HEIGHT], uint64_t *to)
{
    __m256i a[8];
    __m256i b[8];
    for (size_t i = 0; i < 8; i++) {
        a[i] = _mm256_load_si256((const void *)from[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        b[i] = _mm256_unpacklo_epi8(a[2 * i], a[2 * i + 1]); /* rows 0 to 7 */
        b[i + 4] = _mm256_unpackhi_epi8(a[2 * i], a[2 * i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        a[i] = _mm256_unpacklo_epi16(b[i], b[i + 1]); /* four rows, lower half */
        a[i + 1] = _mm256_unpacklo_epi16(b[i + 2], b[i + 3]);
        a[i + 2] = _mm256_unpackhi_epi16(b[i], b[i + 1]);
        a[i + 3] = _mm256_unpackhi_epi16(b[i + 2], b[i + 3]);
    }
    for (size_t i = 0; i < 8; i += 2) {
        const __m256i x = _mm256_unpacklo_epi32(a[i], a[i + 1]);
        const __m256i y = _mm256_unpackhi_epi32(a[i], a[i + 1]);
        _mm_storeu_si128((void *)(to + 2 * i), _mm256_castsi256_si128(x));
        _mm_storeu_si128((void *)(to + 2 * i + 2), _mm256_castsi256_si128(y));
        _mm_storeu_si128((void *)(to + 16 + 2 * i), _mm256_extracti128_si256(x, 1));
        _mm_storeu_si128((void *)(to + 16 + 2 * i + 2), _mm256_extracti128_si256(y, 1));
    }
}

AVX2 static void to_planes(const struct unseen__list_system *s, struct planes *p)
{
    uint64_t right[HEIGHT];
    for (size_t i = 0; i < HEIGHT; i++) {
        right[i] = s->right[i];
    }
    p->end = RIGHT + (s->right_bits + 7) / 8;
    for (size_t i = 0; i < HEIGHT; i += WIDTH) {
        turn(s->w0 + i, 8, &p->bytes[0][i], HEIGHT);
        turn(s->w1 + i, 8, &p->bytes[W1][i], HEIGHT);
        turn(right + i, 4, &p->bytes[RIGHT][i], HEIGHT);
    }
}

/* Leaves w0 as it is, because nothing reads it any more. */
AVX2 static void from_planes(const struct planes *p, struct unseen__list_system *s)
{
    uint8_t planes[8][HEIGHT] __attribute__((aligned(WIDTH))); /* with upper halves of 0 */
    uint64_t right[HEIGHT];
    memcpy(planes, p->bytes[RIGHT], sizeof(planes) / 2);
    memset(planes[4], 0, sizeof(planes) / 2);
    for (size_t i = 0; i < HEIGHT; i += WIDTH) {
        turn_back((const uint8_t(*)[HEIGHT])(const void *)&p->bytes[W1][i], s->w1 + i);
        turn_back((const uint8_t(*)[HEIGHT])(const void *)&planes[0][i], right + i);
    }
    for (size_t i = 0; i < HEIGHT; i++) {
        s->right[i] = (uint32_t)right[i];
    }
}

/* ---- matrices ---- */

/* Bytes 0 to 7 of both halves are the rows of a matrix. The result has in its lower half the
 * products of the 16 numbers below 16 and the matrix, and in its upper half those of their 16-fold:
 * a sum of rows, which are shuffled to where a number has their bits. */
AVX2 static inline __m256i products(__m256i matrix)
{
    const __m256i rows[4] = {
        _mm256_set_epi8(4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 4, -1, 0, -1, 0, -1, 0, -1,
                        0, -1, 0, -1, 0, -1, 0, -1, 0, -1),
        _mm256_set_epi8(5, 5, -1, -1, 5, 5, -1, -1, 5, 5, -1, -1, 5, 5, -1, -1, 1, 1, -1, -1, 1, 1,
                        -1, -1, 1, 1, -1, -1, 1, 1, -1, -1),
        _mm256_set_epi8(6, 6, 6, 6, -1, -1, -1, -1, 6, 6, 6, 6, -1, -1, -1, -1, 2, 2, 2, 2, -1, -1,
                        -1, -1, 2, 2, 2, 2, -1, -1, -1, -1),
        _mm256_set_epi8(7, 7, 7, 7, 7, 7, 7, 7, -1, -1, -1, -1, -1, -1, -1, -1, 3, 3, 3, 3, 3, 3, 3,
                        3, -1, -1, -1, -1, -1, -1, -1, -1)};
    const __m256i low = _mm256_xor_si256(_mm256_shuffle_epi8(matrix, rows[0]),
                                         _mm256_shuffle_epi8(matrix, rows[1]));
    const __m256i high = _mm256_xor_si256(_mm256_shuffle_epi8(matrix, rows[2]),
                                          _mm256_shuffle_epi8(matrix, rows[3]));
    return _mm256_xor_si256(low, high);
}

/* The two tables of products, each in both halves. */
struct tables {
    __m256i low;
    __m256i high;
};

AVX2 static inline struct tables tables_of(__m256i matrix)
{
    const __m256i x = products(matrix);
    return (struct tables){_mm256_permute4x64_epi64(x, 0x44), _mm256_permute4x64_epi64(x, 0xee)};
}

/* Bytes as two numbers below 16 each. */
struct halves {
    __m256i low;
    __m256i high;
};

AVX2 static inline struct halves halves_of(__m256i x)
{
    const __m256i mask = _mm256_set1_epi8(15);
    return (struct halves){_mm256_and_si256(x, mask),
                           _mm256_and_si256(_mm256_srli_epi16(x, 4), mask)};
}

/* The sum of x and the products of the bytes and the matrix of the tables. */
AVX2 static inline __m256i add_product(__m256i x, struct halves bytes, struct tables tables)
{
    x = _mm256_xor_si256(x, _mm256_shuffle_epi8(tables.low, bytes.low));
    return _mm256_xor_si256(x, _mm256_shuffle_epi8(tables.high, bytes.high));
}

/* ---- a stripe ---- */

/* Finds the pivots among the 32 rows from the first available one on. Returns false if a pivot is
 * not among these rows. */
AVX2 static inline bool find_near(const uint8_t *plane, struct unseen__list_rows *available,
                                  struct pivots *t)
{
    const unsigned first = (unsigned)__builtin_ctzll(available->low | UINT64_C(1) << 63);
    __m256i x = _mm256_loadu_si256((const void *)(plane + first));
    uint64_t having[STRIPE];
    for (unsigned k = STRIPE; k-- > 0;) {
        having[k] = (uint32_t)_mm256_movemask_epi8(x);
        x = _mm256_add_epi8(x, x);
    }
    t->rows = unseen__list_take_near(having, first, available);
    if (t->rows == UINT64_MAX) {
        return false;
    }
    const uint64_t at = t->rows - first * UINT64_C(0x0101010101010101);
    const __m128i low = _mm_cvtsi64_si128((long long)at);
    t->found = 0xff;
    t->first = first;
    t->shuffle = _mm256_set_m128i(_mm_sub_epi8(low, _mm_set1_epi8(16)),
                                  _mm_adds_epu8(low, _mm_set1_epi8(0x70)));
    return true;
}

/* Finds pivots among all rows. */
AVX2 static UNSEEN_NOINLINE void find_far(const uint8_t *plane, struct unseen__list_rows *available,
                                          struct pivots *t)
{
    struct unseen__list_rows having[STRIPE];
    unsigned rows[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        const __m128i shift = _mm_cvtsi32_si128(7 - (int)k);
        uint64_t masks[QUARTERS];
        for (size_t q = 0; q < QUARTERS; q++) {
            const __m256i x = _mm256_load_si256((const void *)(plane + WIDTH * q));
            masks[q] = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(x, shift));
        }
        having[k] =
            (struct unseen__list_rows){masks[0] | masks[1] << 32, masks[2] | masks[3] << 32};
    }
    t->found = unseen__list_stripe_find(having, available, rows);
    t->rows = 0;
    for (unsigned k = 0; k < STRIPE; k++) {
        t->rows |= (uint64_t)rows[k] << 8 * k;
    }
}

/* The pivots' bytes in a plane, in each word of the register; any byte for a pivot that was not
 * found. */
AVX2 static inline __m256i bytes_of(const uint8_t *plane, const struct pivots *t, bool near)
{
    if (near) {
        const __m256i x = _mm256_loadu_si256((const void *)(plane + t->first));
        const __m256i y = _mm256_shuffle_epi8(x, t->shuffle);
        return _mm256_or_si256(y, _mm256_permute4x64_epi64(y, 0x4e));
    }
    uint64_t bytes = 0;
    for (unsigned k = 0; k < STRIPE; k++) {
        bytes |= (uint64_t)plane[(t->rows >> 8 * k) % HEIGHT] << 8 * k;
    }
    return _mm256_set1_epi64x((long long)bytes);
}

/* Adds the pivots' rows to the rows of some planes, as `which` says. */
AVX2 static inline void add_pivots(struct planes *p, unsigned first, unsigned end,
                                   const struct pivots *t, bool near,
                                   const struct halves which[QUARTERS])
{
    for (unsigned i = first; i < end; i++) {
        const struct tables tables = tables_of(bytes_of(p->bytes[i], t, near));
        for (size_t q = 0; q < QUARTERS; q++) {
            __m256i *to = (void *)(p->bytes[i] + WIDTH * q);
            _mm256_store_si256(to, add_product(_mm256_load_si256(to), which[q], tables));
        }
    }
}

/* Adds to each row the sum of pivots that clears its byte in plane c; to a pivot, the sum that
 * leaves only its own bit. */
AVX2 static inline void add_stripe(struct planes *p, unsigned c, const struct pivots *t, bool near,
                                   bool with_w1)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint8_t *plane = p->bytes[c];
    uint64_t matrix = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(bytes_of(plane, t, near)));
    uint64_t kept = UINT64_MAX;
    if (!near) { /* a missing pivot becomes one that no row takes */
        kept = _pdep_u64(t->found, ones) * 0xff;
        matrix = (matrix & kept & t->found * ones) | (UINT64_C(0x8040201008040201) & ~kept);
    }
    const uint64_t inverse = unseen__list_invert(matrix) & kept;
    for (unsigned k = 0; k < STRIPE; k++) {
        if (near || t->found >> k & 1) {
            plane[t->rows >> 8 * k & 0xff] ^= (uint8_t)(1u << k);
        }
    }
    const struct tables tables = tables_of(_mm256_set1_epi64x((long long)inverse));
    struct halves which[QUARTERS];
    for (size_t q = 0; q < QUARTERS; q++) {
        const __m256i x = _mm256_load_si256((const void *)(plane + WIDTH * q));
        which[q] = halves_of(add_product(_mm256_setzero_si256(), halves_of(x), tables));
    }
    add_pivots(p, c + 1, with_w1 ? RIGHT : W1, t, near, which);
    add_pivots(p, RIGHT, p->end, t, near, which);
}

AVX2 static bool eliminate(struct unseen__list_system *s, struct unseen__list_equations *solved,
                           struct unseen__list_equations *carried)
{
    struct planes p __attribute__((aligned(WIDTH)));
    const struct unseen__list_rows own = unseen__list_own_rows(s);
    s->left = unseen__list_rows_below(s->n);
    to_planes(s, &p);
    for (unsigned c = 0; c < W1; c++) {
        struct pivots t;
        const bool near = find_near(p.bytes[c], &s->left, &t);
        if (UNSEEN_UNLIKELY(!near)) {
            find_far(p.bytes[c], &s->left, &t);
        }
        const bool with_w1 = unseen__list_changes_w1(own, s->left);
        if (near) {
            add_stripe(&p, c, &t, true, with_w1);
        } else {
            add_stripe(&p, c, &t, false, with_w1);
        }
        store_le64(s->pivots + STRIPE * c, t.rows);
    }
    from_planes(&p, s);
    return unseen__list_keep(s, solved, carried);
}

/* ---- unknowns ---- */

/* The unknowns are planes in this kernel: byte 64 * i + r of x is byte i of unknown r. */
AVX2 static void substitute(const struct unseen__list_equations *solved, unsigned ncolumns,
                            const struct unseen__list_unknowns *next,
                            struct unseen__list_unknowns *to)
{
    uint8_t w[8][ROWS] __attribute__((aligned(WIDTH)));
    uint8_t right[4][ROWS] __attribute__((aligned(WIDTH)));
    uint64_t wide[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        wide[i] = solved->right[i];
    }
    for (size_t h = 0; h < ROWS; h += WIDTH) {
        turn(solved->w + h, 8, &w[0][h], ROWS);
        turn(wide + h, 4, &right[0][h], ROWS);
    }
    for (unsigned i = 0; 8 * i < ncolumns; i++) {
        const uint8_t *from = (const uint8_t *)next->x + (size_t)i * ROWS;
        uint8_t *x = (uint8_t *)to->x + (size_t)i * ROWS;
        __m256i sums[2];
        for (size_t h = 0; h < 2; h++) {
            sums[h] = _mm256_load_si256((const void *)(right[i] + WIDTH * h));
        }
        for (size_t j = 0; j < 8; j++) {
            const struct tables tables =
                tables_of(_mm256_set1_epi64x((long long)load_le64(from + 8 * j)));
            for (size_t h = 0; h < 2; h++) {
                const __m256i bytes = _mm256_load_si256((const void *)(w[j] + WIDTH * h));
                sums[h] = add_product(sums[h], halves_of(bytes), tables);
            }
        }
        for (size_t h = 0; h < 2; h++) {
            _mm256_storeu_si256((void *)(x + WIDTH * h), sums[h]);
        }
        for (unsigned k = 8; k-- > 0;) {
            const uint64_t high = (uint32_t)_mm256_movemask_epi8(sums[1]);
            to->words[8 * i + k] = (uint32_t)_mm256_movemask_epi8(sums[0]) | high << 32;
            sums[0] = _mm256_add_epi8(sums[0], sums[0]);
            sums[1] = _mm256_add_epi8(sums[1], sums[1]);
        }
    }
}

/* ---- keys ---- */

/* unseen__list_row_of, for four keys at a time; SLACK is more than three. */
AVX2 static void hash(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys)
{
    const __m256i step = _mm256_set1_epi64x((long long)UINT64_C(0x9e3779b97f4a7c15));
    const __m128i bits = _mm_set1_epi32(INT32_MAX);
    const __m256i pick = _mm256_broadcastsi128_si256(
        _mm_set_epi8(-1, -1, -1, -1, -1, -1, 15, 7, 12, 11, 10, 9, 4, 3, 2, 1));
    for (size_t i = 0; i < n; i += 4) {
        uint64_t tail[4] = {0};
        const uint64_t *from = hashes + i;
        if (n - i < 4) {
            memcpy(tail, from, (n - i) * sizeof(*tail));
            from = tail;
        }
        const __m256i x = _mm256_loadu_si256((const void *)from);
        const __m256i c0 = unseen__list_mix4(x);
        const __m256i c1 = unseen__list_mix4(_mm256_add_epi64(x, step));
        /* in each half, the two fingerprints and then the two bump bytes */
        const __m256i more = _mm256_shuffle_epi8(
            unseen__list_multiply4(_mm256_xor_si256(c0, _mm256_shuffle_epi32(c1, 0xb1)),
                                   UINT64_C(0xd6e8feb86659fd93)),
            pick);
        const __m128i low = _mm256_castsi256_si128(more);
        const __m128i high = _mm256_extracti128_si256(more, 1);
        _mm256_storeu_si256((void *)(keys->c0 + i), c0);
        _mm256_storeu_si256((void *)(keys->c1 + i), c1);
        _mm_storeu_si128((void *)(keys->fingerprint + i),
                         _mm_and_si128(_mm_unpacklo_epi64(low, high), bits));
        store_le32(keys->bump + i, (uint32_t)_mm_extract_epi16(low, 4) |
                                       (uint32_t)_mm_extract_epi16(high, 4) << 16);
    }
}

const struct unseen__list_kernel unseen__list_avx2 = {hash, unseen__list_collect, eliminate,
                                                      substitute};

#endif
