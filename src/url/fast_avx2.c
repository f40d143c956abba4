/* SPDX-License-Identifier: MIT
 *
 * The AVX2 kernel of the fast path: fast.c in steps of 32 bytes.
 *
 * A set of ASCII characters is tested with two table look-ups by nibble [Mula18, Langdale19]: the
 * low nibble selects a row of eight bits, one per high nibble; the high nibble selects its bit.
 *
 * Nothing outside the input is read: the last block ends at the input's end and overlaps the one
 * before, and shorter inputs go to the portable kernel. */
#include "url/fast.h"

#include "base/macros.h"

#if UNSEEN_X86

#include <immintrin.h>

enum {
    BLOCK = 32
};

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2")

/* Row i of a set: bit h is set if the character 16 h + i is in it. */
#define ROWS(r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, ra, rb, rc, rd, re, rf)                       \
    _mm256_setr_epi8((char)(r0), (char)(r1), (char)(r2), (char)(r3), (char)(r4), (char)(r5),       \
                     (char)(r6), (char)(r7), (char)(r8), (char)(r9), (char)(ra), (char)(rb),       \
                     (char)(rc), (char)(rd), (char)(re), (char)(rf), (char)(r0), (char)(r1),       \
                     (char)(r2), (char)(r3), (char)(r4), (char)(r5), (char)(r6), (char)(r7),       \
                     (char)(r8), (char)(r9), (char)(ra), (char)(rb), (char)(rc), (char)(rd),       \
                     (char)(re), (char)(rf))

AVX2 static inline __m256i load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Per byte: its bit in the row of its character, or 0. Bytes from 0x80 up give 0. */
AVX2 static inline __m256i lookup(__m256i bytes, __m256i rows)
{
    const __m256i bits = ROWS(1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    return _mm256_and_si256(_mm256_shuffle_epi8(rows, bytes), _mm256_shuffle_epi8(bits, high));
}

AVX2 static inline uint32_t equal(__m256i bytes, char c)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)));
}

/* The block that begins at at, or the last one; *skip_out bytes of it lie before at. */
AVX2 static inline __m256i load_at(const char *in, size_t at, size_t len, size_t *skip_out)
{
    const size_t block = at + BLOCK <= len ? at : len - BLOCK;
    *skip_out = at - block;
    return load(in + block);
}

/* The first byte from at on that is not a-z 0-9 . - _, or len; at < len. */
AVX2 static inline size_t host_end(const char *in, size_t at, size_t len)
{
    /* Columns: 2 has - and ., 3 the digits, 5 has _, 6 and 7 the letters. */
    const __m256i rows = ROWS(0x88, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc0,
                              0x40, 0x40, 0x44, 0x44, 0x60);
    for (;;) {
        size_t skip;
        const __m256i bytes = load_at(in, at, len, &skip);
        const __m256i other = _mm256_cmpeq_epi8(lookup(bytes, rows), _mm256_setzero_si256());
        const uint32_t mask = (uint32_t)_mm256_movemask_epi8(other) >> skip;
        if (mask) {
            return at + (size_t)__builtin_ctz(mask);
        }
        at += BLOCK - skip;
        if (at == len) {
            return len;
        }
    }
}

/* Bit i: byte i has to be judged. before holds the byte in front of each. */
AVX2 static inline uint32_t find_suspects(__m256i bytes, __m256i before)
{
    /* Columns: 0 and 1 are controls; 2 has space " # '; 3 has < >; 5 has \ ^; 6 has `; 7 has
     * { } and 0x7F. */
    const __m256i rows = ROWS(0x47, 3, 7, 7, 3, 3, 3, 7, 3, 3, 3, 0x83, 0x2b, 0x83, 0x2b, 0x83);
    const __m256i clean = _mm256_cmpeq_epi8(lookup(bytes, rows), _mm256_setzero_si256());
    const __m256i dot = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')),
                                        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('%')));
    const __m256i start = _mm256_and_si256(_mm256_cmpeq_epi8(before, _mm256_set1_epi8('/')), dot);
    /* The sign bit of a byte from 0x80 up is its own mark. */
    const __m256i high = _mm256_or_si256(start, bytes);
    return ~(uint32_t)_mm256_movemask_epi8(clean) | (uint32_t)_mm256_movemask_epi8(high);
}

/* Judges the bytes from path to the end; *cut_out is the length of the canonical form. */
AVX2 static inline bool scan(uint32_t rules, const char *in, size_t path, size_t len,
                             size_t *cut_out)
{
    size_t query = SIZE_MAX;
    *cut_out = len;
    for (size_t at = path; at < len;) {
        size_t skip;
        const __m256i bytes = load_at(in, at, len, &skip);
        const __m256i before = load(in + at - skip - 1);
        const uint32_t keep = ~(uint32_t)0 << skip;
        const uint32_t questions = equal(bytes, '?') & keep;
        uint32_t suspects = find_suspects(bytes, before) & keep;
        const size_t block = at - skip;
        if (query == SIZE_MAX && questions) {
            query = block + (size_t)__builtin_ctz(questions);
        }
        for (; suspects; suspects &= suspects - 1) {
            const size_t suspect = block + (size_t)__builtin_ctz(suspects);
            const enum unseen__fast_verdict verdict =
                unseen__fast_judge(rules, in, suspect, len, query, cut_out);
            if (verdict != UNSEEN__FAST_GO_ON) {
                return verdict == UNSEEN__FAST_CUT;
            }
        }
        at = block + BLOCK;
    }
    return true;
}

AVX2 bool unseen__fast_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                            size_t cap, struct unseen_canon *out)
{
    /* One more than a block: the byte before the last block is read, too. */
    if (len < BLOCK + 1) {
        return unseen__fast_portable(url, in, len, buf, cap, out);
    }
    const size_t host = unseen__fast_prefix(in, len);
    if (host == 0) {
        return false;
    }
    size_t path = host_end(in, host, len);
    if (!unseen__fast_host(in, host, path)) {
        return false;
    }
    if (path < len && in[path] == ':') {
        path = unseen__fast_port(in, path, len);
        if (path == 0) {
            return false;
        }
    }
    const bool slash = path == len || in[path] != '/';
    if (slash && path < len && in[path] != '?' && in[path] != '#') {
        return false;
    }
    size_t cut;
    return scan(url->rules, in, path, len, &cut) &&
           unseen__fast_answer(in, len, path, slash, cut, buf, cap, out);
}

#endif
