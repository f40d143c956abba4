/* SPDX-License-Identifier: MIT
 *
 * SipHash-1-3-128 of eight NH digests at once, each in a 64-bit lane: the code of key.c in two AVX2
 * registers side by side, or in one AVX-512 register. Fewer than four digests are faster in
 * portable code. */
#include "hash/key.h"

#if UNSEEN_X86

#include <immintrin.h>

enum {
    FEWEST = 4
};

/* ---- AVX2 -------------------------------------------------------------------------------------*/

#define AVX2 UNSEEN_TARGET("avx2") UNSEEN_INLINE

struct sip256 {
    __m256i v[4];
};

AVX2 __m256i rotate256(__m256i x, int n)
{
    return _mm256_or_si256(_mm256_slli_epi64(x, n), _mm256_srli_epi64(x, 64 - n));
}

/* A rotation by 16 or 32 is one shuffle. */
AVX2 __m256i rotate256_16(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(_mm_setr_epi8(
                                      6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13)));
}

AVX2 __m256i rotate256_32(__m256i x)
{
    return _mm256_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1));
}

AVX2 void round256(struct sip256 *s)
{
    __m256i *v = s->v;
    v[0] = _mm256_add_epi64(v[0], v[1]);
    v[2] = _mm256_add_epi64(v[2], v[3]);
    v[1] = _mm256_xor_si256(rotate256(v[1], 13), v[0]);
    v[3] = _mm256_xor_si256(rotate256_16(v[3]), v[2]);
    v[0] = rotate256_32(v[0]);
    v[2] = _mm256_add_epi64(v[2], v[1]);
    v[0] = _mm256_add_epi64(v[0], v[3]);
    v[1] = _mm256_xor_si256(rotate256(v[1], 17), v[2]);
    v[3] = _mm256_xor_si256(rotate256(v[3], 21), v[0]);
    v[2] = rotate256_32(v[2]);
}

AVX2 void take256(struct sip256 *s, const uint64_t *words)
{
    const __m256i word = _mm256_loadu_si256((const __m256i *)(const void *)words);
    s->v[3] = _mm256_xor_si256(s->v[3], word);
    round256(s);
    s->v[0] = _mm256_xor_si256(s->v[0], word);
}

/* Three rounds of both halves, in turn: one half works while the other waits. */
AVX2 void final256(struct sip256 *a, struct sip256 *b, int changed, long long by)
{
    a->v[changed] = _mm256_xor_si256(a->v[changed], _mm256_set1_epi64x(by));
    b->v[changed] = _mm256_xor_si256(b->v[changed], _mm256_set1_epi64x(by));
    for (int i = 0; i < 3; i++) {
        round256(a);
        round256(b);
    }
}

AVX2 __m256i out256(const struct sip256 *s)
{
    return _mm256_xor_si256(_mm256_xor_si256(s->v[0], s->v[1]), _mm256_xor_si256(s->v[2], s->v[3]));
}

/* Stores four keys, lo before hi. */
AVX2 void put256(__m256i hi, __m256i lo, struct unseen_key *keys)
{
    const __m256i even = _mm256_unpacklo_epi64(lo, hi);
    const __m256i odd = _mm256_unpackhi_epi64(lo, hi);
    _mm256_storeu_si256((__m256i *)(void *)keys, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(keys + 2), _mm256_permute2x128_si256(even, odd, 0x31));
}

UNSEEN_TARGET("avx2")
void unseen__key_kernel_avx2(const struct unseen__hasher *hasher,
                             const struct unseen__key_batch *batch, size_t n,
                             struct unseen_key *keys)
{
    struct unseen_key all[UNSEEN__KEY_LANES];
    struct unseen_key *to = n == UNSEEN__KEY_LANES ? keys : all;
    struct sip256 a;
    if (n < FEWEST) {
        unseen__key_kernel_portable(hasher, batch, n, keys);
        return;
    }
    for (int i = 0; i < 4; i++) {
        a.v[i] = _mm256_set1_epi64x((long long)hasher->sip[i]);
    }
    struct sip256 b = a;
    for (int k = 0; k <= UNSEEN__DIGEST_WORDS; k++) {
        take256(&a, batch->words[k]);
        take256(&b, batch->words[k] + 4);
    }
    final256(&a, &b, 2, 0xee);
    const __m256i hi[2] = {out256(&a), out256(&b)};
    final256(&a, &b, 1, 0xdd);
    put256(hi[0], out256(&a), to);
    put256(hi[1], out256(&b), to + 4);
    if (to == all) {
        memcpy(keys, all, n * sizeof(*keys));
    }
}

/* ---- AVX-512 ----------------------------------------------------------------------------------*/

#define AVX512 UNSEEN_TARGET("avx512f") UNSEEN_INLINE

struct sip512 {
    __m512i v[4];
};

AVX512 void round512(struct sip512 *s)
{
    __m512i *v = s->v;
    v[0] = _mm512_add_epi64(v[0], v[1]);
    v[2] = _mm512_add_epi64(v[2], v[3]);
    v[1] = _mm512_xor_si512(_mm512_rol_epi64(v[1], 13), v[0]);
    v[3] = _mm512_xor_si512(_mm512_rol_epi64(v[3], 16), v[2]);
    v[0] = _mm512_rol_epi64(v[0], 32);
    v[2] = _mm512_add_epi64(v[2], v[1]);
    v[0] = _mm512_add_epi64(v[0], v[3]);
    v[1] = _mm512_xor_si512(_mm512_rol_epi64(v[1], 17), v[2]);
    v[3] = _mm512_xor_si512(_mm512_rol_epi64(v[3], 21), v[0]);
    v[2] = _mm512_rol_epi64(v[2], 32);
}

AVX512 void final512(struct sip512 *s, int changed, long long by)
{
    s->v[changed] = _mm512_xor_si512(s->v[changed], _mm512_set1_epi64(by));
    for (int i = 0; i < 3; i++) {
        round512(s);
    }
}

AVX512 __m512i out512(const struct sip512 *s)
{
    return _mm512_xor_si512(_mm512_xor_si512(s->v[0], s->v[1]), _mm512_xor_si512(s->v[2], s->v[3]));
}

/* Stores eight keys, lo before hi. */
AVX512 void put512(__m512i hi, __m512i lo, struct unseen_key *keys)
{
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    _mm512_storeu_si512(keys, _mm512_permutex2var_epi64(lo, first, hi));
    _mm512_storeu_si512(keys + 4, _mm512_permutex2var_epi64(lo, second, hi));
}

UNSEEN_TARGET("avx512f")
void unseen__key_kernel_avx512(const struct unseen__hasher *hasher,
                               const struct unseen__key_batch *batch, size_t n,
                               struct unseen_key *keys)
{
    struct unseen_key all[UNSEEN__KEY_LANES];
    struct unseen_key *to = n == UNSEEN__KEY_LANES ? keys : all;
    struct sip512 s;
    if (n < FEWEST) {
        unseen__key_kernel_portable(hasher, batch, n, keys);
        return;
    }
    for (int i = 0; i < 4; i++) {
        s.v[i] = _mm512_set1_epi64((long long)hasher->sip[i]);
    }
    for (int k = 0; k <= UNSEEN__DIGEST_WORDS; k++) {
        const __m512i word = _mm512_loadu_si512(batch->words[k]);
        s.v[3] = _mm512_xor_si512(s.v[3], word);
        round512(&s);
        s.v[0] = _mm512_xor_si512(s.v[0], word);
    }
    final512(&s, 2, 0xee);
    const __m512i hi = out512(&s);
    final512(&s, 1, 0xdd);
    put512(hi, out512(&s), to);
    if (to == all) {
        memcpy(keys, all, n * sizeof(*keys));
    }
}

#endif
