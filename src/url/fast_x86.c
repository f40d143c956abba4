/* SPDX-License-Identifier: MIT
 *
 * The AVX2 and AVX-512 kernels of the fast path: fast.c in steps of 64 bytes. Per step each kernel
 * makes masks of 64 bits, one bit per byte; fast_template.h does the rest with them.
 *
 * A set of ASCII characters is tested with two look-ups by nibble [Langdale19]: the low nibble
 * selects a row of eight bits, one per high nibble; the high nibble selects its bit.
 *
 * Nothing outside the input is read. AVX2: the last step ends at the input's end and overlaps the
 * one before, and its masks are shifted; inputs below 16 bytes go to the portable kernel. AVX-512:
 * bytes past the end are masked off. */
#include "url/fast.h"

#include "base/bytes.h"
#include "base/macros.h"

#if UNSEEN_X86

#include <immintrin.h>

struct masks {
    uint64_t suspects; /* to be judged anywhere behind the host */
    uint64_t slashes;  /* / */
    uint64_t dots;     /* . or %: to be judged after a slash */
    uint64_t others; /* not a-z 0-9 . - _; the first byte past the end counts as such a byte, too */
};

/* Row i of a set: bit h is set if the character 16 h + i is in it. As two 64-bit halves. */
enum row_half {
    LOW,
    HIGH
};

/* Columns: 0 and 1 are controls; 2 has space " # '; 3 has < >; 5 has \ ^; 6 has `; 7 has { } and
 * 0x7F. */
static const uint64_t suspect_rows[2] = {UINT64_C(0x0703030307070347),
                                         UINT64_C(0x832b832b83030303)};
/* Columns: 2 has - and ., 3 the digits, 5 has _, 6 and 7 the letters. */
static const uint64_t host_rows[2] = {UINT64_C(0xc8c8c8c8c8c8c888), UINT64_C(0x6044444040c0c8c8)};
/* The bit of each column. Columns 8 to 15, the bytes from 0x80 up, have the bit of column 0, which
 * each row of the suspects has, and no row of the hosts. */
static const uint64_t column_bits[2] = {UINT64_C(0x8040201008040201), UINT64_C(0x0101010101010101)};

/* ---- AVX2 -------------------------------------------------------------------------------------*/

#define AVX2 UNSEEN_TARGET("avx2,bmi,bmi2,lzcnt")

AVX2 static inline __m256i table256(const uint64_t halves[2])
{
    return _mm256_broadcastsi128_si256(_mm_set_epi64x((long long)halves[1], (long long)halves[0]));
}

AVX2 static inline uint64_t mask256(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

AVX2 static inline __m256i load32(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

AVX2 static inline struct masks masks32(__m256i bytes)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i column = _mm256_shuffle_epi8(table256(column_bits), nibble);
    const __m256i suspect =
        _mm256_and_si256(_mm256_shuffle_epi8(table256(suspect_rows), bytes), column);
    const __m256i in_host =
        _mm256_and_si256(_mm256_shuffle_epi8(table256(host_rows), bytes), column);
    /* Bytes from 0x80 up are in no set; the sign bit makes them suspects. */
    const __m256i clean = _mm256_andnot_si256(bytes, _mm256_cmpeq_epi8(suspect, zero));
    const __m256i dots = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')),
                                         _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('%')));
    return (struct masks){
        .suspects = mask256(clean) ^ 0xffffffff,
        .slashes = mask256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('/'))),
        .dots = mask256(dots),
        .others = mask256(_mm256_cmpeq_epi8(in_host, zero)),
    };
}

/* Joins two reads; the second starts offset bytes after the first. */
AVX2 static inline struct masks join(struct masks a, struct masks b, size_t offset)
{
    return (struct masks){
        .suspects = a.suspects | b.suspects << offset,
        .slashes = a.slashes | b.slashes << offset,
        .dots = a.dots | b.dots << offset,
        .others = a.others | b.others << offset,
    };
}

/* The masks of an input of 16 to 31 bytes: its first and its last 16 bytes. */
AVX2 static inline struct masks read_short(const char *in, size_t len)
{
    const __m128i front = _mm_loadu_si128((const __m128i *)(const void *)in);
    const __m128i back = _mm_loadu_si128((const __m128i *)(const void *)(in + len - 16));
    const struct masks both = masks32(_mm256_set_m128i(back, front));
    const struct masks first = {both.suspects & 0xffff, both.slashes & 0xffff, both.dots & 0xffff,
                                both.others & 0xffff};
    const struct masks last = {both.suspects >> 16, both.slashes >> 16, both.dots >> 16,
                               both.others >> 16};
    return join(first, last, len - 16);
}

/* len is at least 16. */
AVX2 static inline struct masks first64_avx2(const char *in, size_t len)
{
    if (len < 32) {
        struct masks masks = read_short(in, len);
        masks.others |= UINT64_C(1) << len;
        return masks;
    }
    const size_t second = len < 64 ? len - 32 : 32;
    struct masks masks = join(masks32(load32(in)), masks32(load32(in + second)), second);
    masks.others |= (uint64_t)(len < 64) << (len & 63);
    return masks;
}

/* at is at least 64 and below len. */
AVX2 static inline struct masks read64_avx2(const char *in, size_t at, size_t len)
{
    const size_t block = at + 64 <= len ? at : len - 64;
    const size_t shift = at - block;
    struct masks masks = join(masks32(load32(in + block)), masks32(load32(in + block + 32)), 32);
    masks.suspects >>= shift;
    masks.slashes >>= shift;
    masks.dots >>= shift;
    return masks;
}

/* 0xff for each of the 32 bytes at p that is harmless. */
AVX2 static inline __m256i harmless32(const char *p)
{
    const __m256i bytes = load32(p);
    const __m256i before = load32(p - 1);
    const __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i column = _mm256_shuffle_epi8(table256(column_bits), nibble);
    const __m256i suspect =
        _mm256_and_si256(_mm256_shuffle_epi8(table256(suspect_rows), bytes), column);
    const __m256i dots = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')),
                                         _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('%')));
    const __m256i starts = _mm256_cmpeq_epi8(before, _mm256_set1_epi8('/'));
    const __m256i clean =
        _mm256_andnot_si256(bytes, _mm256_cmpeq_epi8(suspect, _mm256_setzero_si256()));
    return _mm256_andnot_si256(_mm256_and_si256(dots, starts), clean);
}

AVX2 static inline bool suspects_avx2(const char *p)
{
    return _mm256_movemask_epi8(_mm256_and_si256(harmless32(p), harmless32(p + 32))) != -1;
}

#define FAST_NAME       unseen__fast_avx2
#define FAST_WHOLE      whole_avx2
#define FAST_SCAN       scan_avx2
#define FAST_TARGET     AVX2
#define FAST_MIN_LEN    16
#define FAST_READ_FIRST first64_avx2
#define FAST_SUSPECTS   suspects_avx2
#define FAST_READ       read64_avx2
#include "url/fast_template.h"

/* ---- AVX-512 ----------------------------------------------------------------------------------*/

#define AVX512 UNSEEN_TARGET("avx512f,avx512bw,avx512vl,bmi,bmi2,lzcnt")

AVX512 static inline __m512i table512(const uint64_t halves[2])
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)halves[1], (long long)halves[0]));
}

AVX512 static inline struct masks read64_avx512(const char *in, size_t at, size_t len)
{
    const size_t n = len - at;
    const uint64_t inside = _bzhi_u64(~UINT64_C(0), n < 64 ? (unsigned)n : 64);
    const __m512i bytes = _mm512_maskz_loadu_epi8(inside, in + at);
    const __m512i nibble = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
    const __m512i column = _mm512_shuffle_epi8(table512(column_bits), nibble);
    /* A look-up of a byte with a sign bit gives 0; of its low nibble it does not. */
    const __m512i row = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    const uint64_t suspects = _mm512_mask_test_epi8_mask(
        inside, _mm512_shuffle_epi8(table512(suspect_rows), row), column);
    const uint64_t in_host =
        _mm512_test_epi8_mask(_mm512_shuffle_epi8(table512(host_rows), bytes), column);
    return (struct masks){
        .suspects = suspects,
        .slashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('/')),
        .dots = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('.')) |
                _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('%')),
        .others = ~in_host,
    };
}

AVX512 static inline struct masks first64_avx512(const char *in, size_t len)
{
    return read64_avx512(in, 0, len);
}

AVX512 static inline bool suspects_avx512(const char *p)
{
    const __m512i bytes = _mm512_loadu_si512(p);
    const __m512i nibble = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
    const __m512i column = _mm512_shuffle_epi8(table512(column_bits), nibble);
    const __m512i row = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    const __mmask64 suspects =
        _mm512_test_epi8_mask(_mm512_shuffle_epi8(table512(suspect_rows), row), column);
    const __mmask64 starts =
        _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p - 1), _mm512_set1_epi8('/'));
    const __mmask64 dots = _mm512_mask_cmpeq_epi8_mask(starts, bytes, _mm512_set1_epi8('.')) |
                           _mm512_mask_cmpeq_epi8_mask(starts, bytes, _mm512_set1_epi8('%'));
    return (suspects | dots) != 0;
}

#define FAST_NAME       unseen__fast_avx512
#define FAST_WHOLE      whole_avx512
#define FAST_SCAN       scan_avx512
#define FAST_TARGET     AVX512
#define FAST_MIN_LEN    8
#define FAST_READ_FIRST first64_avx512
#define FAST_SUSPECTS   suspects_avx512
#define FAST_READ       read64_avx512
#include "url/fast_template.h"

#endif
