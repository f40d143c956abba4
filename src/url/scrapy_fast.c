/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "scrapy": proves in one scan that a URL is its own canonical form, as
 * fast.c does for the WHATWG profiles, puts in the missing / after a host, and cuts the fragment
 * off.
 *
 *     https://www.example.com/a/b;c?q=1&z=%2F#f
 *                ^   ^       ^                    host
 *                                ^ ^              path
 *                                    ^ ^ ^^  ^    query
 *
 * The scan stops at the bytes that are not plain in their part of the URL, here marked, and each of
 * them is judged by itself. If only the query is not canonical, for example because its pieces are
 * not sorted, the slow path writes the query behind a copy of the rest. All other URLs are
 * declined.
 *
 * The scan exists twice: portable (the specification) and AVX2. */
#include "url/scrapy.h"

#include <string.h>

#include "base/macros.h"
#include "url/ascii.h"
#include "url/fast.h"
#include "url/percent.h"

/* A scan for the bytes outside of a set. */
struct scan {
    const char *in;
    size_t len;
    unsigned set;   /* a bit of unseen__scrapy_class */
    size_t end;     /* AVX2: `stops` is about the 64 bytes before this one; 0: about none */
    uint64_t stops; /* a bit for each byte that is outside of the set, or behind the input */
};

/* Finds the first byte from in[i] on that is outside of the set, or the end. */
typedef size_t next_fn(struct scan *scan, size_t i);

/* Goes on with another set from in[i] on. */
UNSEEN_INLINE size_t switch_set(struct scan *scan, unsigned set, size_t i, next_fn *next)
{
    scan->set = set;
    scan->end = 0;
    return next(scan, i);
}

UNSEEN_INLINE size_t next_portable(struct scan *scan, size_t i)
{
    while (i < scan->len && scrapy_is(scan->in[i], scan->set)) {
        i++;
    }
    return i;
}

/* ---- Judging ---------------------------------------------------------------------------------*/

/* The end of the port whose colon is at in[at]; 0 if the port would be written otherwise. */
static size_t port_end(const char *in, size_t at, size_t len)
{
    unsigned value = 0;
    const size_t start = at + 1;
    for (at = start; at < len && at < start + 5 && SCRAPY_DIGIT(in[at]); at++) {
        value = value * 10 + (unsigned)(in[at] - '0');
    }
    return at == start || in[start] == '0' || value > 65535 ? 0 : at;
}

/* The byte of the escape at in[i], which starts with % and has two upper-case digits; else -1. */
static inline int upper_escape(const struct scan *scan, size_t i)
{
    const char *const in = scan->in + i;
    if (scan->len - i < 3 || SCRAPY_LOWER(in[1]) || SCRAPY_LOWER(in[2])) {
        return -1;
    }
    return unseen__percent_value(in, in + 3);
}

/* Is there nothing to escape or to drop in the params of path [start, end)? */
static bool params_are_plain(const char *in, size_t start, size_t end)
{
    size_t semicolon = end;
    for (size_t i = end; i > start && in[i - 1] != '/'; i--) {
        if (in[i - 1] == ';') {
            semicolon = i - 1;
        }
    }
    for (size_t i = semicolon; i < end; i++) {
        if (!scrapy_is(in[i], SCRAPY__PARAMS)) {
            return false;
        }
    }
    return semicolon + 1 != end;
}

/* Is the dot at in[i] the start of the segment "." or ".."? */
static inline bool starts_dot_segment(const struct scan *scan, size_t i)
{
    const char *const in = scan->in;
    if (in[i - 1] != '/') {
        return false;
    }
    i += i + 1 < scan->len && in[i + 1] == '.';
    return i + 1 == scan->len || in[i + 1] == '/' || in[i + 1] == ';' || in[i + 1] == '?' ||
           in[i + 1] == '#';
}

/* Finds the end of the path that starts at in[start]. Returns false if the path is not canonical,
 * or may not be. */
UNSEEN_INLINE bool prove_path(struct scan *scan, size_t start, size_t *end_out, next_fn *next)
{
    const char *const in = scan->in;
    bool semicolon = false;
    for (size_t i = switch_set(scan, SCRAPY__PLAIN_PATH, start, next);; i = next(scan, i + 1)) {
        if (i == scan->len || in[i] == '?' || in[i] == '#') {
            *end_out = i;
            return !semicolon || params_are_plain(in, start, i);
        }
        if (in[i] == '.') {
            if (starts_dot_segment(scan, i)) {
                return false;
            }
        } else if (in[i] == ';') {
            semicolon = true;
        } else {
            const int byte = in[i] == '%' ? upper_escape(scan, i) : -1;
            if (byte < 0 || !scrapy_path_keeps_escape(byte)) {
                return false;
            }
        }
    }
}

/* Is the query from in[start] to *end_out written as it is? Its pieces are key=value, in order, and
 * minimally escaped. */
UNSEEN_INLINE bool prove_query(struct scan *scan, size_t start, bool drop_blank, size_t *end_out,
                               next_fn *next)
{
    const char *const in = scan->in;
    size_t last = start; /* the piece before, if there is one */
    size_t piece = start;
    size_t value = 0; /* where the value of the piece starts; 0: not found yet */
    for (size_t i = switch_set(scan, SCRAPY__UNRESERVED, start, next);; i = next(scan, i + 1)) {
        const char c = i < scan->len ? in[i] : '#';
        if (c == '=' && !value) {
            value = i + 1;
        } else if (c == '&' || c == '#') {
            if (!value || (drop_blank && value == i) ||
                (piece > start &&
                 unseen__scrapy_compare(in + last, in + piece - 1, in + piece, in + i, '&') > 0)) {
                return false;
            }
            if (c == '#') {
                *end_out = i;
                return true;
            }
            last = piece;
            piece = i + 1;
            value = 0;
        } else if (c == '%') {
            const int byte = upper_escape(scan, i);
            if (byte < 0 || byte == ' ' || scrapy_is((char)byte, SCRAPY__UNRESERVED)) {
                return false;
            }
        } else if (c != '+') {
            return false;
        }
    }
}

/* ---- The whole -------------------------------------------------------------------------------*/

/* Answers for a URL that is canonical up to the query at in[front], which is not. slash: a / is put
 * in before the query. */
static bool rewrite_query(const struct unseen_url *url, const struct scan *scan, size_t front,
                          bool slash, char *buf, size_t cap, struct unseen_canon *out)
{
    struct unseen_bytes query = {scan->in + front + 1, scan->len - front - 1};
    const char *const hash = memchr(query.data, '#', query.len);
    if (hash) {
        query.len = (size_t)(hash - query.data);
    }
    if ((hash && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) ||
        cap < unseen_url_bound(scan->len, 0)) {
        return false;
    }
    memcpy(buf, scan->in, front);
    buf[front] = '/';
    const char *const end = unseen__scrapy_write_query(url, query, buf + front + slash, buf + cap);
    if (!end) {
        return false;
    }
    *out = (struct unseen_canon){UNSEEN_URL_REWRITTEN, {buf, (size_t)(end - buf)}};
    return true;
}

/* The length without the spaces and controls at the end. */
static inline size_t trimmed_len(const char *in, size_t len)
{
    while (len > 0 && (unsigned char)in[len - 1] <= ' ') {
        len--;
    }
    return len;
}

/* len is the trimmed length. */
UNSEEN_INLINE bool fast(const struct unseen_url *url, const char *in, size_t full_len, size_t len,
                        char *buf, size_t cap, struct unseen_canon *out, next_fn *next)
{
    struct scan scan = {.in = in, .len = len};
    const size_t host = unseen__fast_scheme(in, len);
    if (host == 0) {
        return false;
    }
    size_t path = switch_set(&scan, SCRAPY__PLAIN_HOST, host, next);
    if (path == host || (path < len && in[path] == ':' && !(path = port_end(in, path, len)))) {
        return false;
    }
    size_t end = path;
    const bool slash = path == len || in[path] == '?' || in[path] == '#';
    if (!slash && (in[path] != '/' || !prove_path(&scan, path, &end, next))) {
        return false;
    }
    if (end < len && in[end] == '?') {
        const size_t front = end;
        const bool drop_blank = unseen__url_rule(url, UNSEEN__RULE_DROP_BLANK_VALUES);
        if (!prove_query(&scan, front + 1, drop_blank, &end, next)) {
            return rewrite_query(url, &scan, front, slash, buf, cap, out);
        }
    }
    if (end < len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    return unseen__fast_answer(in, full_len, path, slash, end, buf, cap, out);
}

static bool fast_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                          size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, trimmed_len(in, len), buf, cap, out, next_portable);
}

/* ---- AVX2 ------------------------------------------------------------------------------------*/

#if UNSEEN_X86
#include <immintrin.h>

enum {
    VECTOR = 32
};

/* A set of ASCII bytes is 16 rows, one for each low nibble, of 8 bits, one for each high nibble, so
 * that two byte shuffles answer for 32 bytes [Mula18]. */
struct rows {
    uint8_t row[16];
};

#define ROW_BIT(F, i, h) (F(16 * (h) + (i)) ? 1 << (h) : 0)
#define ROW(F, i)                                                                                  \
    (ROW_BIT(F, i, 0) | ROW_BIT(F, i, 1) | ROW_BIT(F, i, 2) | ROW_BIT(F, i, 3) |                   \
     ROW_BIT(F, i, 4) | ROW_BIT(F, i, 5) | ROW_BIT(F, i, 6) | ROW_BIT(F, i, 7))
#define ROWS4(F, i) ROW(F, i), ROW(F, (i) + 1), ROW(F, (i) + 2), ROW(F, (i) + 3)
#define ROWS(F)                                                                                    \
    {                                                                                              \
        {                                                                                          \
            ROWS4(F, 0), ROWS4(F, 4), ROWS4(F, 8), ROWS4(F, 12)                                    \
        }                                                                                          \
    }

static const struct rows host_rows = ROWS(SCRAPY_PLAIN_HOST);
static const struct rows path_rows = ROWS(SCRAPY_PLAIN_PATH);
static const struct rows query_rows = ROWS(SCRAPY_UNRESERVED);
/* The bit of a high nibble; a byte above 0x7f has none and is in no set. */
static const struct rows high_bits = {{1, 2, 4, 8, 16, 32, 64, 128}};

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i load_rows(const struct rows *rows)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)rows));
}

/* Which of the 32 bytes are outside of the set? */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t outside(const char *in, unsigned set)
{
    const struct rows *const rows = set == SCRAPY__PLAIN_HOST   ? &host_rows
                                    : set == SCRAPY__PLAIN_PATH ? &path_rows
                                                                : &query_rows;
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)in);
    const __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i column = _mm256_shuffle_epi8(load_rows(&high_bits), nibble);
    const __m256i inside = _mm256_and_si256(_mm256_shuffle_epi8(load_rows(rows), bytes), column);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(inside, _mm256_setzero_si256()));
}

/* The stops of the 64 bytes from in[at] on; all bytes from in[len] on are stops. Reads nothing
 * outside of the input, which has VECTOR bytes at least. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t stops_avx2(const char *in, size_t at, size_t len, unsigned set)
{
    const size_t n = len - at;
    if (UNSEEN_LIKELY(n >= 2 * VECTOR)) {
        return outside(in + at, set) | outside(in + at + VECTOR, set) << VECTOR;
    }
    const uint64_t last = outside(in + len - VECTOR, set);
    if (n <= VECTOR) {
        return last >> (VECTOR - n) | ~(uint64_t)0 << n;
    }
    return outside(in + at, set) | last << (n - VECTOR) | ~(uint64_t)0 << n;
}

UNSEEN_TARGET("avx2,bmi")
UNSEEN_INLINE size_t next_avx2(struct scan *scan, size_t i)
{
    if (i < scan->end) {
        const uint64_t rest = scan->stops >> (i + 64 - scan->end);
        if (rest) {
            return i + (size_t)__builtin_ctzll(rest);
        }
        i = scan->end;
    }
    for (; i < scan->len; i += 64) {
        scan->end = i + 64;
        scan->stops = stops_avx2(scan->in, i, scan->len, scan->set);
        if (scan->stops) {
            return i + (size_t)__builtin_ctzll(scan->stops);
        }
    }
    return scan->len;
}

UNSEEN_TARGET("avx2,bmi")
static bool fast_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                      size_t cap, struct unseen_canon *out)
{
    const size_t trimmed = trimmed_len(in, len);
    if (trimmed < VECTOR) {
        return fast_portable(url, in, len, buf, cap, out);
    }
    return fast(url, in, len, trimmed, buf, cap, out, next_avx2);
}
#endif

unseen__url_fast_fn *unseen__url_scrapy_fast(enum unseen_cpu cpu, uint32_t rules)
{
    (void)cpu; /* unused if there is no other level */
    if (rules & UNSEEN__RULE_SPLIT_SEMICOLONS) {
        return NULL;
    }
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX2 || cpu == UNSEEN_CPU_AVX512) {
        return fast_avx2;
    }
#endif
    return fast_portable;
}
