/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "scrapy": answers for the URLs of everyday, declines the others.
 *
 * A kernel turns the URL into three rows of bits, one bit a byte: what is not plain in a host, in
 * a path, in a query. Then the parts are walked from one set bit to the next, so that plain bytes
 * cost nothing:
 *
 *     https://www.example.com/a/b;c?q=1&b=%2F
 *                            ^   ^ ^ ^ ^ ^
 *     host ------------------'   | | '-'-'-'-- query: pieces, kept sorted as they are found
 *     path ----------------------'-'
 *
 * A query whose pieces are in order and minimally escaped proves the URL canonical; else the
 * pieces are written in order behind a copy of the front. The kernel exists twice: portable (the
 * specification) and AVX2. A set of ASCII bytes is 16 rows, one for each low nibble, of 8 bits,
 * one for each high nibble, so that two byte shuffles answer for 32 bytes [Mula18]. */
#include "url/scrapy.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "url/percent.h"
#include "url/url.h"

#if UNSEEN_X86
#include <immintrin.h>
#endif

enum {
    WORD = 64,
    LEN_MAX = 1023, /* longer URLs are left to the slow path */
    NWORDS = (LEN_MAX + 1) / WORD,
    NPIECES = 48
};

/* A set bit: not plain there. Bit len is set in each row, so that every walk ends. */
struct bits {
    uint64_t host[NWORDS];
    uint64_t path[NWORDS];
    uint64_t query[NWORDS];
};

typedef void kernel_fn(const char *in, size_t len, struct bits *bits);

#define PLAIN_HOST(c) (SCRAPY_LOWER(c) || SCRAPY_DIGIT(c) || (c) == '-' || (c) == '.' || (c) == '_')
#define PLAIN_PATH(c) (SCRAPY_PATH(c) && (c) != '%' && (c) != ';' && (c) != '?')

/* ---- Kernels ---------------------------------------------------------------------------------- */

enum {
    HOST = 1u << 0,
    PATH = 1u << 1,
    QUERY = 1u << 2
};

#define CLASS(c)                                                                                   \
    ((PLAIN_HOST(c) ? 0 : HOST) | (PLAIN_PATH(c) ? 0 : PATH) | (SCRAPY_UNRESERVED(c) ? 0 : QUERY))
#define CLASS4(c)  CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define CLASS16(c) CLASS4(c), CLASS4((c) + 4), CLASS4((c) + 8), CLASS4((c) + 12)
#define CLASS64(c) CLASS16(c), CLASS16((c) + 16), CLASS16((c) + 32), CLASS16((c) + 48)

static const uint8_t class_of[256] = {CLASS64(0), CLASS64(64), CLASS64(128), CLASS64(192)};

static void set_end(size_t len, struct bits *bits)
{
    const uint64_t bit = (uint64_t)1 << len % WORD;
    bits->host[len / WORD] |= bit;
    bits->path[len / WORD] |= bit;
    bits->query[len / WORD] |= bit;
}

static void kernel_portable(const char *in, size_t len, struct bits *bits)
{
    for (size_t start = 0; start <= len; start += WORD) {
        uint64_t host = 0;
        uint64_t path = 0;
        uint64_t query = 0;
        const size_t n = len - start < WORD ? len - start : WORD;
        for (size_t i = 0; i < n; i++) {
            const uint64_t class = class_of[(unsigned char)in[start + i]];
            host |= (class & 1) << i;
            path |= (class >> 1 & 1) << i;
            query |= (class >> 2 & 1) << i;
        }
        bits->host[start / WORD] = host;
        bits->path[start / WORD] = path;
        bits->query[start / WORD] = query;
    }
    set_end(len, bits);
}

#if UNSEEN_X86

#define ROW(plain, low)                                                                            \
    ((plain(low) ? 1 : 0) | (plain((low) + 16) ? 2 : 0) | (plain((low) + 32) ? 4 : 0) |            \
     (plain((low) + 48) ? 8 : 0) | (plain((low) + 64) ? 16 : 0) | (plain((low) + 80) ? 32 : 0) |   \
     (plain((low) + 96) ? 64 : 0) | (plain((low) + 112) ? 128 : 0))
#define ROWS(plain)                                                                                \
    {                                                                                              \
        ROW(plain, 0), ROW(plain, 1), ROW(plain, 2), ROW(plain, 3), ROW(plain, 4), ROW(plain, 5),  \
            ROW(plain, 6), ROW(plain, 7), ROW(plain, 8), ROW(plain, 9), ROW(plain, 10),            \
            ROW(plain, 11), ROW(plain, 12), ROW(plain, 13), ROW(plain, 14), ROW(plain, 15)         \
    }

static const uint8_t host_rows[16] = ROWS(PLAIN_HOST);
static const uint8_t path_rows[16] = ROWS(PLAIN_PATH);
static const uint8_t query_rows[16] = ROWS(SCRAPY_UNRESERVED);
/* The bit of a high nibble; a byte above 0x7f has none and is in no set. */
static const uint8_t high_bits[16] = {1, 2, 4, 8, 16, 32, 64, 128};

/* 32 bytes at in + at, of which the first n are wanted; never reads outside [in, in + len). */
UNSEEN_TARGET("avx2")
static inline __m256i load_32(const char *in, size_t len, size_t at)
{
    if (at + 32 <= len) {
        return _mm256_loadu_si256((const __m256i *)(const void *)(in + at));
    }
    char copy[32] = {0};
    if (at < len) {
        memcpy(copy, in + at, len - at);
    }
    return _mm256_loadu_si256((const __m256i *)(const void *)copy);
}

UNSEEN_TARGET("avx2")
static inline __m256i load_table(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

UNSEEN_TARGET("avx2")
static inline uint32_t outside(__m256i low, __m256i high_bit, __m256i rows)
{
    const __m256i hit = _mm256_and_si256(_mm256_shuffle_epi8(rows, low), high_bit);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256()));
}

UNSEEN_TARGET("avx2")
static void kernel_avx2(const char *in, size_t len, struct bits *bits)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i hosts = load_table(host_rows);
    const __m256i paths = load_table(path_rows);
    const __m256i queries = load_table(query_rows);
    const __m256i highs = load_table(high_bits);
    for (size_t start = 0; start <= len; start += WORD) {
        uint64_t host = 0;
        uint64_t path = 0;
        uint64_t query = 0;
        for (unsigned half = 0; half < WORD; half += 32) {
            const __m256i text = load_32(in, len, start + half);
            const __m256i low = _mm256_and_si256(text, nibble);
            const __m256i high = _mm256_and_si256(_mm256_srli_epi16(text, 4), nibble);
            const __m256i high_bit = _mm256_shuffle_epi8(highs, high);
            host |= (uint64_t)outside(low, high_bit, hosts) << half;
            path |= (uint64_t)outside(low, high_bit, paths) << half;
            query |= (uint64_t)outside(low, high_bit, queries) << half;
        }
        bits->host[start / WORD] = host;
        bits->path[start / WORD] = path;
        bits->query[start / WORD] = query;
    }
    set_end(len, bits);
}

#endif

/* ---- Walking ---------------------------------------------------------------------------------- */

/* The first set bit from i on. */
static inline size_t next(const uint64_t *row, size_t i)
{
    size_t word = i / WORD;
    uint64_t rest = row[word] >> i % WORD << i % WORD;
    while (!rest) {
        rest = row[++word];
    }
    return word * WORD + (size_t)__builtin_ctzll(rest);
}

static inline bool upper_hex(char c)
{
    return SCRAPY_DIGIT(c) || (c >= 'A' && c <= 'F');
}

/* The byte of an escape in upper case, else -1. */
static inline int upper_escape(const char *in, size_t len, size_t i)
{
    const int value = unseen__percent_value(in + i, in + len);
    return value >= 0 && upper_hex(in[i + 1]) && upper_hex(in[i + 2]) ? value : -1;
}

/* The length of "http://" or "https://" in lower case, else 0. */
static inline size_t scheme_len(const char *in, size_t len)
{
    if (len < 8 || memcmp(in, "http", 4) != 0) {
        return 0;
    }
    return memcmp(in + 4, "://", 3) == 0 ? 7 : memcmp(in + 4, "s://", 4) == 0 ? 8 : 0;
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

/* Walks the path from its first slash to the byte that ends it. false: not canonical, or not sure
 * of it. */
static inline bool walk_path(const char *in, size_t len, const struct bits *bits, size_t start,
                             size_t *end_out)
{
    bool semicolon = false;
    for (size_t i = next(bits->path, start);; i = next(bits->path, i + 1)) {
        if (i == len || in[i] == '?' || in[i] == '#') {
            *end_out = i;
            return !semicolon || params_are_plain(in, start, i);
        }
        if (in[i] == ';') {
            semicolon = true;
        } else if (in[i] == '%') {
            const int value = upper_escape(in, len, i);
            if (value < 0 || !scrapy_path_keeps_escape(value)) {
                return false;
            }
        } else {
            return false;
        }
    }
}

/* ---- Query ------------------------------------------------------------------------------------ */

/* key=value at [start, end) of the URL. */
struct piece {
    uint64_t prefix; /* the first 8 bytes of the decoded key, big-endian, filled up with 0 */
    uint16_t start;
    uint16_t end;
    bool clean; /* written as it is */
};

struct query {
    struct piece pieces[NPIECES]; /* sorted */
    size_t n;
    size_t end;
    bool sorted; /* were all in order? */
    bool clean;  /* are all written as they are, and none left out? */
};

/* The prefix of a key; plain says that nothing in it needs decoding. */
static inline uint64_t key_prefix(const char *in, size_t len, size_t start, size_t end, bool plain)
{
    uint64_t prefix = 0;
    if (plain && start + 8 <= len) {
        const size_t n = end - start;
        prefix = load_le64(in + start);
        prefix = n >= 8 ? prefix : prefix & (((uint64_t)1 << 8 * n) - 1);
        return __builtin_bswap64(prefix);
    }
    for (int shift = 56; shift >= 0 && start < end; shift -= 8) {
        const int value = unseen__percent_value(in + start, in + end);
        const char c = value >= 0 ? (char)value : in[start] == '+' ? ' ' : in[start];
        prefix |= (uint64_t)(unsigned char)c << shift;
        start += value >= 0 ? 3 : 1;
    }
    return prefix;
}

/* a after b? Different prefixes decide: the 0 that fills one up is below any byte, and equal to a
 * 0 that is part of a key. */
static inline bool is_after(const char *in, size_t end, const struct piece *a,
                            const struct piece *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix > b->prefix;
    }
    return unseen__scrapy_compare(in + a->start, in + b->start, in + end, '&') > 0;
}

/* Puts the piece in its place: few pieces, mostly in order, so an insertion sort. */
static inline void insert(const char *in, size_t end, struct query *query, struct piece piece)
{
    size_t i = query->n++;
    while (i > 0 && is_after(in, end, &query->pieces[i - 1], &piece)) {
        query->pieces[i] = query->pieces[i - 1];
        i--;
    }
    query->sorted = query->sorted && i + 1 == query->n;
    query->pieces[i] = piece;
}

/* Reads the query from start on. false: too many pieces, or a byte that the slow path may trim or
 * remove. */
static inline bool walk_query(const struct unseen_url *url, const char *in, size_t len,
                              const struct bits *bits, size_t start, struct query *query)
{
    const bool drop_blank = unseen__url_rule(url, UNSEEN__RULE_DROP_BLANK_VALUES);
    size_t equals = 0; /* 0: none yet */
    bool clean = true;
    bool plain = true; /* the key */
    query->n = 0;
    query->sorted = true;
    query->clean = true;
    for (size_t i = next(bits->query, start);; i = next(bits->query, i + 1)) {
        const char c = i < len ? in[i] : '#';
        if (c == '&' || c == '#') {
            const bool blank = equals == 0 || equals + 1 == i;
            if (i == start || (drop_blank && blank)) {
                query->clean = false;
            } else if (query->n == NPIECES) {
                return false;
            } else {
                clean = clean && equals != 0;
                query->clean = query->clean && clean;
                const size_t key_end = equals ? equals : i;
                insert(in, i, query,
                       (struct piece){key_prefix(in, len, start, key_end, plain), (uint16_t)start,
                                      (uint16_t)i, clean});
            }
            if (c == '#') {
                query->end = i;
                return true;
            }
            start = i + 1;
            equals = 0;
            clean = true;
            plain = true;
        } else if (c == '=' && equals == 0) {
            equals = i;
        } else if ((unsigned char)c <= ' ') {
            return false;
        } else {
            plain = plain && equals != 0;
            if (c == '%') {
                const int value = upper_escape(in, len, i);
                clean = clean && value >= 0 && value != ' ' &&
                        !scrapy_is((char)value, SCRAPY__UNRESERVED);
            } else if (c != '+') {
                clean = false;
            }
        }
    }
}

static char *write_query(const char *in, const struct query *query, char *out)
{
    for (size_t i = 0; i < query->n; i++) {
        const struct piece *const piece = &query->pieces[i];
        *out++ = i == 0 ? '?' : '&';
        if (piece->clean) {
            memcpy(out, in + piece->start, (size_t)(piece->end - piece->start));
            out += piece->end - piece->start;
        } else {
            out = unseen__scrapy_write_piece(in + piece->start, in + piece->end, '&', out);
        }
    }
    return out;
}

/* ---- The whole -------------------------------------------------------------------------------- */

static inline bool answer(struct unseen_canon *out, enum unseen_url_form form, const char *text,
                          size_t len)
{
    *out = (struct unseen_canon){form, {text, len}};
    return true;
}

/* The input up to end is canonical. */
static inline bool answer_front(struct unseen_canon *out, const char *in, size_t len, size_t end)
{
    return answer(out, end == len ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN, in, end);
}

UNSEEN_INLINE bool fast(const struct unseen_url *url, const char *in, size_t len, char *buf,
                        size_t cap, struct unseen_canon *out, kernel_fn *kernel)
{
    const size_t host = scheme_len(in, len);
    if (host == 0 || len > LEN_MAX) {
        return false;
    }
    struct bits bits;
    kernel(in, len, &bits);
    const size_t slash = next(bits.host, host);
    const size_t need = unseen_url_bound(len);
    if (slash == host) {
        return false;
    }
    if (slash == len && need <= cap) {
        memcpy(buf, in, len);
        buf[len] = '/';
        return answer(out, UNSEEN_URL_REWRITTEN, buf, len + 1);
    }
    size_t end;
    if (slash == len || in[slash] != '/' || !walk_path(in, len, &bits, slash, &end)) {
        return false;
    }
    if (end < len && in[end] == '?') {
        struct query query;
        if (!walk_query(url, in, len, &bits, end + 1, &query)) {
            return false;
        }
        if (query.end < len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
            return false;
        }
        if (query.n && !(query.sorted && query.clean)) {
            if (cap < need) {
                return false;
            }
            memcpy(buf, in, end);
            const char *const text_end = write_query(in, &query, buf + end);
            return answer(out, UNSEEN_URL_REWRITTEN, buf, (size_t)(text_end - buf));
        }
        end = query.n ? query.end : end;
    } else if (end < len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    return answer_front(out, in, len, end);
}

static bool fast_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                          size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, buf, cap, out, kernel_portable);
}

#if UNSEEN_X86
static bool fast_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                      size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, buf, cap, out, kernel_avx2);
}
#endif

unseen__url_fast_fn *unseen__url_scrapy_fast(enum unseen_cpu cpu, uint32_t rules)
{
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
