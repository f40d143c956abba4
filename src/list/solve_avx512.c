/* SPDX-License-Identifier: MIT
 *
 * The steps of solve.c with AVX-512. The pivots of a stripe are found among 16 rows by arithmetic
 * on two words, without a branch that depends on the data; their 16 sums fit in two registers, and
 * one permutation looks up eight rows in them. */
#include "base/macros.h"
#include "list/stripe.h"

#if UNSEEN_X86

#include <immintrin.h>
#include <string.h>

#define AVX512 UNSEEN_TARGET("avx512f,avx512dq,avx512bw,avx512vl,bmi2,popcnt")

enum {
    ROWS = UNSEEN__LIST_ROWS,
    STRIPE = UNSEEN__LIST_STRIPE,
    LANES = 8,
    WINDOW = 2 * LANES
};

struct sums {
    __m512i low;
    __m512i high;
};

/* All sums of four values, by the bits of the index. */
AVX512 static inline struct sums sum_up(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    __m512i low = _mm512_maskz_set1_epi64(0xaa, (long long)a);
    low = _mm512_mask_xor_epi64(low, 0xcc, low, _mm512_set1_epi64((long long)b));
    low = _mm512_mask_xor_epi64(low, 0xf0, low, _mm512_set1_epi64((long long)c));
    return (struct sums){low, _mm512_xor_si512(low, _mm512_set1_epi64((long long)d))};
}

AVX512 static inline __m512i look_up(struct sums sums, __m512i index)
{
    return _mm512_permutex2var_epi64(sums.low, index, sums.high);
}

AVX512 static inline struct sums reorder(struct sums sums, struct sums order)
{
    return (struct sums){look_up(sums, order.low), look_up(sums, order.high)};
}

AVX512 static inline void add(uint64_t *to, __m512i index, struct sums sums)
{
    _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(to), look_up(sums, index)));
}

/* The sums of a stripe, and where its pivots are: lane i of the window (4 bits each) has bit k if
 * it is the pivot of column k. */
struct stripe {
    struct sums w0;
    struct sums w1;
    struct sums right;
    uint64_t pivots;
    unsigned mask;
    size_t window; /* its first row, a multiple of LANES */
};

/* The stripe's bits of 16 rows, 4 bits each; 0 for those in use. */
AVX512 static inline uint64_t window_bits(const struct unseen__list_system *s, size_t first,
                                          unsigned column)
{
    const __m128i shift = _mm_cvtsi32_si128((int)column);
    const __mmask8 a = (__mmask8)~s->used[first / 8];
    const __mmask8 b = (__mmask8)~s->used[first / 8 + 1];
    const __m512i x = _mm512_srl_epi64(_mm512_maskz_loadu_epi64(a, s->w0 + first), shift);
    const __m512i y = _mm512_srl_epi64(_mm512_maskz_loadu_epi64(b, s->w0 + first + LANES), shift);
    const uint64_t nibbles = UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(x));
    const uint64_t high = (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(y));
    return _pext_u64(low, nibbles) | _pext_u64(high, nibbles) << 32;
}

/* Gauss-Jordan elimination of 16 rows of 4 bits in one word, and of which rows they are made in
 * another. False if the rank is below 4. */
AVX512 static inline bool pick(struct unseen__list_system *s, struct stripe *t, size_t first,
                               unsigned column)
{
    const uint64_t ones = UINT64_C(0x1111111111111111);
    uint64_t bits = window_bits(s, first, column);
    uint64_t made = 0; /* bit k of a lane: of the row that is pivot k */
    uint64_t available = ones;
    unsigned lane[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        const uint64_t having = bits >> k & ones;
        const uint64_t candidates = having & available;
        if (candidates == 0) {
            return false;
        }
        const unsigned at = (unsigned)__builtin_ctzll(candidates);
        const uint64_t self = candidates & (0 - candidates);
        const uint64_t others = having ^ self;
        made ^= self << k;
        bits ^= others * (bits >> at & 15);
        made ^= others * (made >> at & 15);
        available ^= self;
        lane[k] = at;
    }
    const size_t r0 = first + lane[0] / 4;
    const size_t r1 = first + lane[1] / 4;
    const size_t r2 = first + lane[2] / 4;
    const size_t r3 = first + lane[3] / 4;
    const struct sums order = sum_up(made >> lane[0] & 15, made >> lane[1] & 15,
                                     made >> lane[2] & 15, made >> lane[3] & 15);
    t->w0 = reorder(sum_up(s->w0[r0], s->w0[r1], s->w0[r2], s->w0[r3]), order);
    t->w1 = reorder(sum_up(s->w1[r0], s->w1[r1], s->w1[r2], s->w1[r3]), order);
    t->right = reorder(sum_up(s->right[r0], s->right[r1], s->right[r2], s->right[r3]), order);
    t->pivots = UINT64_C(1) << lane[0] | UINT64_C(2) << lane[1] | UINT64_C(4) << lane[2] |
                UINT64_C(8) << lane[3];
    t->mask = 15;
    t->window = first;
    s->pivots[column] = (uint16_t)r0;
    s->pivots[column + 1] = (uint16_t)r1;
    s->pivots[column + 2] = (uint16_t)r2;
    s->pivots[column + 3] = (uint16_t)r3;
    const uint32_t used = (uint32_t)_pext_u64(ones ^ available, ones);
    s->used[first / 8] |= (uint8_t)used;
    s->used[first / 8 + 1] |= (uint8_t)(used >> 8);
    return true;
}

/* A row's bits over the columns say which sum clears them. A pivot is itself a sum of pivots: with
 * its own bit left out of the index it becomes the sum that has only this bit. */
AVX512 static inline void add_sums(struct unseen__list_system *s, const struct stripe *t,
                                   unsigned column)
{
    const __m512i mask = _mm512_set1_epi64(t->mask);
    const __m128i shift = _mm_cvtsi32_si128((int)column);
    const __m512i steps = _mm512_set_epi64(28, 24, 20, 16, 12, 8, 4, 0);
    for (size_t i = 0; i < s->n; i += LANES) {
        __m512i index = _mm512_srl_epi64(_mm512_loadu_si512(s->w0 + i), shift);
        index = _mm512_and_si512(index, mask);
        const size_t at = i - t->window;
        const uint64_t pivots = at < WINDOW ? t->pivots >> 4 * at : 0;
        const __m512i keep = _mm512_srlv_epi64(_mm512_set1_epi64((long long)pivots), steps);
        index = _mm512_xor_si512(index, _mm512_and_si512(keep, _mm512_set1_epi64(15)));
        add(s->w0 + i, index, t->w0);
        add(s->w1 + i, index, t->w1);
        add(s->right + i, index, t->right);
    }
}

/* The sums of pivots anywhere. */
AVX512 static inline void sum_stripe(const struct unseen__list_system *s,
                                     const struct unseen__list_stripe *far, struct stripe *t)
{
    uint64_t w0[STRIPE];
    uint64_t w1[STRIPE];
    uint64_t right[STRIPE];
    for (unsigned k = 0; k < STRIPE; k++) {
        const size_t row = far->pivots[k] % UNSEEN__LIST_HEIGHT; /* any, where none is found */
        w0[k] = s->w0[row];
        w1[k] = s->w1[row];
        right[k] = s->right[row];
    }
    const struct sums order = sum_up(far->made[0], far->made[1], far->made[2], far->made[3]);
    t->w0 = reorder(sum_up(w0[0], w0[1], w0[2], w0[3]), order);
    t->w1 = reorder(sum_up(w1[0], w1[1], w1[2], w1[3]), order);
    t->right = reorder(sum_up(right[0], right[1], right[2], right[3]), order);
    t->pivots = 0;
    t->window = 0;
    t->mask = far->found;
}

static inline void set_bits(struct unseen__list_rows *rows, size_t at, unsigned bits)
{
    if (at < 64) {
        rows->low |= (uint64_t)bits << at;
    } else {
        rows->high |= (uint64_t)bits << (at - 64);
    }
}

/* Where the window does not do: all rows. The pivots' own bits clear them, so they are put back. */
AVX512 static UNSEEN_NOINLINE void search(struct unseen__list_system *s, unsigned column)
{
    struct unseen__list_rows having[STRIPE] = {{0, 0}};
    struct unseen__list_rows available = {0, 0};
    struct unseen__list_stripe far;
    struct stripe t;
    unsigned bits[STRIPE];
    const __m128i shift = _mm_cvtsi32_si128((int)column);
    for (size_t i = 0; i < s->n; i += LANES) {
        const __m512i x = _mm512_srl_epi64(_mm512_loadu_si512(s->w0 + i), shift);
        for (unsigned k = 0; k < STRIPE; k++) {
            set_bits(&having[k], i, _mm512_test_epi64_mask(x, _mm512_set1_epi64(1 << k)));
        }
        set_bits(&available, i, ~(unsigned)s->used[i / 8] & 0xff);
    }
    unseen__list_stripe_find(having, &available, &far);
    for (unsigned k = 0; k < STRIPE; k++) {
        bits[k] = (unsigned)(s->w0[far.pivots[k] % UNSEEN__LIST_HEIGHT] >> column & 15);
    }
    unseen__list_stripe_reduce(bits, &far);
    sum_stripe(s, &far, &t);
    add_sums(s, &t, column);
    uint64_t w0[WINDOW];
    uint64_t w1[WINDOW];
    uint64_t right[WINDOW];
    _mm512_storeu_si512(w0, t.w0.low);
    _mm512_storeu_si512(w0 + LANES, t.w0.high);
    _mm512_storeu_si512(w1, t.w1.low);
    _mm512_storeu_si512(w1 + LANES, t.w1.high);
    _mm512_storeu_si512(right, t.right.low);
    _mm512_storeu_si512(right + LANES, t.right.high);
    for (unsigned k = 0; k < STRIPE; k++) {
        const size_t row = far.pivots[k];
        s->pivots[column + k] = (uint16_t)row;
        if (row != UNSEEN__LIST_NO_ROW) {
            s->used[row / 8] |= (uint8_t)(1u << row % 8);
            s->w0[row] = w0[1u << k];
            s->w1[row] = w1[1u << k];
            s->right[row] = right[1u << k];
        }
    }
}

AVX512 static void eliminate(struct unseen__list_system *s)
{
    struct stripe t;
    size_t window = 0;
    if (s->n > UNSEEN__LIST_HEIGHT) {
        unseen__list_eliminate(s);
        return;
    }
    /* A window may reach beyond the last row: what is there counts as used. */
    const size_t limit = (s->n + LANES - 1) / LANES * LANES + WINDOW;
    s->used[s->n / 8] |= (uint8_t)(0xffu << s->n % 8);
    memset(s->used + s->n / 8 + 1, 0xff, limit / 8 - s->n / 8 - 1);
    for (unsigned column = 0; column < ROWS; column += STRIPE) {
        while (s->used[window / 8] == 0xff && window + WINDOW < limit) {
            window += LANES;
        }
        if (pick(s, &t, window, column)) {
            add_sums(s, &t, column);
        } else {
            search(s, column);
        }
    }
}

AVX512 static void substitute(const uint64_t w1[ROWS], const uint32_t right[ROWS],
                              const uint32_t y[ROWS], uint32_t x[ROWS])
{
    const __m512i low_bits = _mm512_set1_epi32(15);
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    __m512i sums[ROWS / 4]; /* of four unknowns each, by the bits of the index */
    for (size_t k = 0; k < ROWS / 4; k++) {
        __m512i sum = _mm512_maskz_set1_epi32(0xaaaa, (int)y[4 * k]);
        sum = _mm512_mask_xor_epi32(sum, 0xcccc, sum, _mm512_set1_epi32((int)y[4 * k + 1]));
        sum = _mm512_mask_xor_epi32(sum, 0xf0f0, sum, _mm512_set1_epi32((int)y[4 * k + 2]));
        sums[k] = _mm512_mask_xor_epi32(sum, 0xff00, sum, _mm512_set1_epi32((int)y[4 * k + 3]));
    }
    for (size_t i = 0; i < ROWS; i += 16) {
        const __m512i a = _mm512_loadu_si512(w1 + i);
        const __m512i b = _mm512_loadu_si512(w1 + i + 8);
        __m512i low = _mm512_permutex2var_epi32(a, even, b);
        __m512i high = _mm512_permutex2var_epi32(a, odd, b);
        __m512i sum = _mm512_loadu_si512(right + i);
        for (size_t k = 0; k < ROWS / 8; k++) {
            const __m512i first = _mm512_and_si512(low, low_bits);
            const __m512i second = _mm512_and_si512(high, low_bits);
            sum = _mm512_xor_si512(sum, _mm512_permutexvar_epi32(first, sums[k]));
            sum = _mm512_xor_si512(sum, _mm512_permutexvar_epi32(second, sums[k + ROWS / 8]));
            low = _mm512_srli_epi32(low, 4);
            high = _mm512_srli_epi32(high, 4);
        }
        _mm512_storeu_si512(x + i, sum);
    }
}

AVX512 static void transpose(const uint32_t x[ROWS], unsigned n, uint64_t *words)
{
    const __m512i a = _mm512_loadu_si512(x);
    const __m512i b = _mm512_loadu_si512(x + 16);
    const __m512i c = _mm512_loadu_si512(x + 32);
    const __m512i d = _mm512_loadu_si512(x + 48);
    __m512i bit = _mm512_set1_epi32(1);
    for (unsigned j = 0; j < n; j++) {
        const __mmask32 low =
            _mm512_kunpackw(_mm512_test_epi32_mask(b, bit), _mm512_test_epi32_mask(a, bit));
        const __mmask32 high =
            _mm512_kunpackw(_mm512_test_epi32_mask(d, bit), _mm512_test_epi32_mask(c, bit));
        words[j] = _mm512_kunpackd(high, low);
        bit = _mm512_slli_epi32(bit, 1);
    }
}

/* ---- keys ---- */

AVX512 static inline __m512i mix(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 30));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0xbf58476d1ce4e5b9)));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0x94d049bb133111eb)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

AVX512 static void hash(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys)
{
    const __m512i step = _mm512_set1_epi64((long long)UINT64_C(0x9e3779b97f4a7c15));
    const __m512i factor = _mm512_set1_epi64((long long)UINT64_C(0xd6e8feb86659fd93));
    for (size_t i = 0; i < n; i += LANES) {
        const size_t rest = n - i < LANES ? n - i : LANES;
        const __m512i x = _mm512_maskz_loadu_epi64((__mmask8)((1u << rest) - 1), hashes + i);
        const __m512i c0 = mix(x);
        const __m512i c1 = mix(_mm512_add_epi64(x, step));
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
                           size_t first, size_t end, unsigned threshold)
{
    const __m128i least = _mm_set1_epi16((short)threshold);
    size_t n = s->n;
    for (size_t i = first; i < end; i += LANES) {
        const unsigned in_block = end - i < LANES ? (1u << (end - i)) - 1 : 0xff;
        const __m128i bump = _mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)(keys->bump + i)));
        const __mmask8 stays = (__mmask8)(_mm_cmpge_epi16_mask(bump, least) & in_block);
        const __m512i right =
            _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)(keys->fingerprint + i)));
        _mm512_storeu_si512(s->w0 + n,
                            _mm512_maskz_compress_epi64(stays, _mm512_loadu_si512(keys->c0 + i)));
        _mm512_storeu_si512(s->w1 + n,
                            _mm512_maskz_compress_epi64(stays, _mm512_loadu_si512(keys->c1 + i)));
        _mm512_storeu_si512(s->right + n, _mm512_maskz_compress_epi64(stays, right));
        n += (size_t)__builtin_popcount(stays);
    }
    s->n = n;
}

const struct unseen__list_kernel unseen__list_avx512 = {hash, collect, eliminate, substitute,
                                                        transpose};

#else

typedef int unseen__list_avx512_is_empty; /* ISO C wants something here */

#endif
