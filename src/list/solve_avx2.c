/* SPDX-License-Identifier: MIT
 *
 * The steps of solve.c with AVX2. The equations are turned on their side: a plane holds one byte of
 * each of 128 rows, in four registers. What a stripe adds to a row depends on four bits of the row.
 * So for each plane there are 16 bytes to choose from, and one shuffle looks up 32 rows. */
#include "base/macros.h"
#include "list/stripe.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

enum {
    ROWS = UNSEEN__LIST_ROWS,
    STRIPE = 4,                   /* columns eliminated at a time */
    HEIGHT = UNSEEN__LIST_HEIGHT, /* rows of a plane */
    WIDTH = 32,                   /* of a register */
    QUARTERS = HEIGHT / WIDTH,
    W1 = 8, /* the planes: 8 of w0, 8 of w1, up to 4 of the right side */
    RIGHT = 16,
    PLANES = 20
};

/* Four columns and their pivots. */
struct stripe {
    unsigned found; /* the columns that have a pivot */
    unsigned pivots[STRIPE];
    /* made[k] says which pivots' rows add up to a row that has only bit k of the stripe: bit i
     * stands for the pivot of column i. */
    unsigned made[STRIPE];
};

struct planes {
    uint8_t bytes[PLANES][HEIGHT];
    unsigned end; /* the number of planes in use */
};

/* single[k] is a 1 << k with zeros on both sides: from byte 128 - r on, it is 0 in all rows but row
 * r. */
#define ZEROS_16  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define ZEROS_128 ZEROS_16, ZEROS_16, ZEROS_16, ZEROS_16, ZEROS_16, ZEROS_16, ZEROS_16, ZEROS_16
static const uint8_t single[STRIPE][2 * HEIGHT] = {
    {ZEROS_128, 1}, {ZEROS_128, 2}, {ZEROS_128, 4}, {ZEROS_128, 8}};

/* ---- planes ---- */

/* 32 rows of 8 bytes to 32 bytes of 8 planes. */
AVX2 static inline void turn(const uint64_t *from, size_t n, uint8_t (*to)[HEIGHT])
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
        _mm256_store_si256((void *)to[i], _mm256_unpacklo_epi64(a[i], a[i + 1]));
        _mm256_store_si256((void *)to[i + 1], _mm256_unpackhi_epi64(a[i], a[i + 1]));
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
        turn(s->w0 + i, 8, (uint8_t(*)[HEIGHT])(void *)&p->bytes[0][i]);
        turn(s->w1 + i, 8, (uint8_t(*)[HEIGHT])(void *)&p->bytes[W1][i]);
        turn(right + i, 4, (uint8_t(*)[HEIGHT])(void *)&p->bytes[RIGHT][i]);
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

/* ---- a stripe ---- */

AVX2 static inline struct unseen__list_rows rows_with(const uint8_t *plane, unsigned bit)
{
    const __m128i shift = _mm_cvtsi32_si128(7 - (int)bit);
    uint64_t masks[QUARTERS];
    for (size_t q = 0; q < QUARTERS; q++) {
        const __m256i x = _mm256_load_si256((const void *)(plane + WIDTH * q));
        masks[q] = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(x, shift));
    }
    return (struct unseen__list_rows){masks[0] | masks[1] << 32, masks[2] | masks[3] << 32};
}

/* Gauss-Jordan elimination of the pivots among themselves. bits[k] has the four bits of pivot k,
 * and collects above them which pivots it is the sum of. */
static inline void reduce(unsigned bits[STRIPE], struct stripe *t)
{
    for (unsigned k = 0; k < STRIPE; k++) {
        bits[k] = t->found >> k & 1 ? (bits[k] & 15) | 16u << k : 0;
    }
    for (unsigned k = 0; k < STRIPE; k++) {
        for (unsigned other = 0; other < STRIPE; other++) {
            if (other != k) {
                bits[other] ^= bits[k] & (0 - (bits[other] >> k & t->found >> k & 1));
            }
        }
    }
    for (unsigned k = 0; k < STRIPE; k++) {
        t->made[k] = bits[k] >> 4;
    }
}

/* Finds the stripe's pivots. */
AVX2 static inline void find_stripe(const uint8_t *plane, unsigned bit,
                                    struct unseen__list_rows *available, struct stripe *t)
{
    struct unseen__list_rows having[STRIPE];
    unsigned bits[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        having[k] = rows_with(plane, bit + k);
    }
    t->found = unseen__list_stripe_find(having, STRIPE, available, t->pivots);
    for (unsigned k = 0; k < STRIPE; k++) {
        bits[k] = (unsigned)plane[t->pivots[k] % HEIGHT] >> bit;
    }
    reduce(bits, t);
}

/* Adds to each row the sum of pivots that clears its bits of the stripe; to a pivot, the sum that
 * leaves only its own bit. */
AVX2 static inline void add_sums(struct planes *p, const struct stripe *t, unsigned column)
{
    const uint8_t *plane = p->bytes[column / 8];
    const __m128i shift = _mm_cvtsi32_si128((int)(column % 8));
    const __m256i found = _mm256_set1_epi8((char)t->found);
    const __m256i values = _mm256_broadcastsi128_si256(
        _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m256i index[QUARTERS];
    for (size_t q = 0; q < QUARTERS; q++) {
        const __m256i x = _mm256_load_si256((const void *)(plane + WIDTH * q));
        index[q] = _mm256_and_si256(_mm256_srl_epi16(x, shift), found);
    }
    const uint8_t *from[STRIPE]; /* a pivot's byte of plane 0; any byte if there is no pivot */
    __m256i sums = _mm256_setzero_si256();
    for (unsigned k = 0; k < STRIPE; k++) {
        const __m256i bit = _mm256_set1_epi8((char)(1 << k));
        const __m256i has = _mm256_cmpeq_epi8(_mm256_and_si256(values, bit), bit);
        sums = _mm256_xor_si256(sums, _mm256_and_si256(has, _mm256_set1_epi8((char)t->made[k])));
        from[k] = p->bytes[0] + t->pivots[k] % HEIGHT;
        if (t->found >> k & 1) {
            for (size_t q = 0; q < QUARTERS; q++) {
                const uint8_t *one = single[k] + HEIGHT - t->pivots[k] + WIDTH * q;
                index[q] = _mm256_xor_si256(index[q], _mm256_loadu_si256((const void *)one));
            }
        }
    }
    __m256i masks[STRIPE]; /* masks[k]: for which values of the index pivot k is part of the sum */
    for (unsigned k = 0; k < STRIPE; k++) {
        const __m256i bit = _mm256_set1_epi8((char)(1 << k));
        masks[k] = _mm256_cmpeq_epi8(_mm256_and_si256(sums, bit), bit);
    }
    for (unsigned i = (column + STRIPE) / 8; i < p->end; i++) {
        const size_t at = (size_t)i * HEIGHT;
        __m256i table = _mm256_setzero_si256();
        for (unsigned k = 0; k < STRIPE; k++) {
            const __m256i byte = _mm256_set1_epi8((char)from[k][at]);
            table = _mm256_xor_si256(table, _mm256_and_si256(byte, masks[k]));
        }
        for (size_t q = 0; q < QUARTERS; q++) {
            __m256i *to = (void *)(p->bytes[i] + WIDTH * q);
            const __m256i sum = _mm256_shuffle_epi8(table, index[q]);
            _mm256_store_si256(to, _mm256_xor_si256(_mm256_load_si256(to), sum));
        }
    }
}

AVX2 static bool eliminate(struct unseen__list_system *s, struct unseen__list_equations *solved,
                           struct unseen__list_equations *carried)
{
    struct planes p __attribute__((aligned(WIDTH)));
    struct stripe t;
    struct unseen__list_rows available = unseen__list_rows_below(s->n);
    const struct unseen__list_rows all = available;
    to_planes(s, &p);
    for (unsigned column = 0; column < ROWS; column += STRIPE) {
        const uint8_t *plane = p.bytes[column / 8];
        find_stripe(plane, column % 8, &available, &t);
        add_sums(&p, &t, column);
        for (unsigned k = 0; k < STRIPE; k++) {
            s->pivots[column + k] = (uint16_t)t.pivots[k];
        }
    }
    from_planes(&p, s);
    const uint64_t used[2] = {all.low & ~available.low, all.high & ~available.high};
    memcpy(s->used, used, sizeof(used)); /* x86 has the order of bytes that `used` wants */
    return unseen__list_keep(s, solved, carried);
}

/* ---- unknowns ---- */

AVX2 static void transpose(const uint32_t x[ROWS], unsigned n, uint64_t *words)
{
    for (unsigned j = 0; j < n; j++) {
        const __m128i shift = _mm_cvtsi32_si128(31 - (int)j);
        uint64_t word = 0;
        for (unsigned i = 0; i < ROWS; i += 8) {
            const __m256i y = _mm256_sll_epi32(_mm256_loadu_si256((const void *)(x + i)), shift);
            word |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(y)) << i;
        }
        words[j] = word;
    }
}

AVX2 static void substitute(const struct unseen__list_equations *solved, unsigned ncolumns,
                            const struct unseen__list_unknowns *next,
                            struct unseen__list_unknowns *to)
{
    unseen__list_sum(solved, next->x, to->x);
    transpose(to->x, ncolumns, to->words);
}

const struct unseen__list_kernel unseen__list_avx2 = {unseen__list_hash, unseen__list_collect,
                                                      eliminate, substitute};

#else

typedef int unseen__list_avx2_is_empty; /* ISO C wants something here */

#endif
