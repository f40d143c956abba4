/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "scrapy": answers for the URLs of everyday, declines the others.
 *
 * A kernel turns the URL into rows of bits, one bit a byte: what is not plain in a host and in a
 * path, and where the marks of a query are. Then each part is walked from one set bit to the
 * next, so that plain bytes cost nothing:
 *
 *     https://www.example.com/a/b;c?q=1&b=%2F#f
 *                            ^                    host
 *                                ^ ^              path
 *                                    ^ ^ ^ ^   ^  marks
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
    LEN_MAX = 4095, /* longer URLs and longer queries are left to the slow path */
    NWORDS = (LEN_MAX + 1) / WORD,
    NPIECES = 64,
    NMARKS = 4 * NPIECES
};

/* What a set bit says about its byte. Bit len is set in each row, so that every walk ends. */
enum row {
    ROW_HOST,  /* not plain in a host */
    ROW_PATH,  /* not plain in a path */
    ROW_MARK,  /* divides a query: & = # */
    ROW_CODED, /* stands for another byte in a query: % + */
    ROW_DIRTY, /* would be written otherwise in a query, or is a % whose escape would be */
    NROWS
};

struct bits {
    uint8_t rows[NROWS][(NWORDS + 1) * 8]; /* little-endian; one word more than is used */
    bool blank;                            /* is there a space or a control? */
};

#define PLAIN_HOST(c) (SCRAPY_LOWER(c) || SCRAPY_DIGIT(c) || (c) == '-' || (c) == '.' || (c) == '_')
#define PLAIN_PATH(c) (SCRAPY_PATH(c) && (c) != '%' && (c) != ';' && (c) != '?')
#define CODED(c)      ((c) == '%' || (c) == '+')
#define MARK(c)       ((c) == '&' || (c) == '=' || (c) == '#')
#define CLEAN(c)      (SCRAPY_UNRESERVED(c) || CODED(c) || MARK(c))

/* ---- Kernels ---------------------------------------------------------------------------------- */

enum {
    IS_BLANK = NROWS,
    KEEPS_ESCAPE /* in a query the byte is written as an escape */
};

#define CLASS(c)                                                                                   \
    ((PLAIN_HOST(c) ? 0 : 1u << ROW_HOST) | (PLAIN_PATH(c) ? 0 : 1u << ROW_PATH) |                 \
     (MARK(c) ? 1u << ROW_MARK : 0) | (CODED(c) ? 1u << ROW_CODED : 0) |                           \
     (CLEAN(c) ? 0 : 1u << ROW_DIRTY) | ((c) <= ' ' ? 1u << IS_BLANK : 0) |                        \
     (SCRAPY_UNRESERVED(c) || (c) == ' ' ? 0 : 1u << KEEPS_ESCAPE))
#define CLASS4(c)  CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define CLASS16(c) CLASS4(c), CLASS4((c) + 4), CLASS4((c) + 8), CLASS4((c) + 12)
#define CLASS64(c) CLASS16(c), CLASS16((c) + 16), CLASS16((c) + 32), CLASS16((c) + 48)

static const uint8_t class_of[256] = {CLASS64(0), CLASS64(64), CLASS64(128), CLASS64(192)};

/* The byte of the escape of two upper-case digits that % at i starts, else -1. */
static inline int upper_escape(const char *in, size_t len, size_t i)
{
    if (len - i < 3 || SCRAPY_LOWER(in[i + 1]) || SCRAPY_LOWER(in[i + 2])) {
        return -1;
    }
    return unseen__percent_value(in + i, in + len);
}

static inline void store_words(const uint64_t words[NROWS], size_t start, size_t len,
                               struct bits *bits)
{
    const uint64_t end = len - start < WORD ? (uint64_t)1 << (len - start) : 0;
    for (int row = 0; row < NROWS; row++) {
        store_le64(bits->rows[row] + start / 8, words[row] | end);
    }
}

/* The classes of 8 bytes, n of them present, in one word: byte i is that of in[i]. */
static inline uint64_t classes_of_8(const char *in, size_t n)
{
    uint64_t classes = 0;
    for (size_t i = 0; i < n; i++) {
        classes |= (uint64_t)class_of[(unsigned char)in[i]] << 8 * i;
    }
    return classes;
}

static inline void kernel_portable(const char *in, size_t len, struct bits *bits)
{
    uint64_t all = 0;
    for (size_t start = 0; start <= len; start += WORD) {
        uint64_t words[NROWS] = {0};
        for (size_t i = start; i < start + WORD && i < len; i += 8) {
            const uint64_t classes =
                len - i >= 8 ? classes_of_8(in + i, 8) : classes_of_8(in + i, len - i);
            all |= classes;
            for (int row = 0; row < NROWS; row++) {
                /* Gathers the bit of each byte in the top byte: no two products meet. */
                const uint64_t bit_of_each = classes >> row & UINT64_C(0x0101010101010101);
                words[row] |= (bit_of_each * UINT64_C(0x0102040810204080) >> 56) << (i - start);
            }
        }
        for (uint64_t rest = words[ROW_CODED]; rest; rest &= rest - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(rest);
            const int value = upper_escape(in, len, start + i);
            if (in[start + i] == '%' && (value < 0 || !(class_of[value] >> KEEPS_ESCAPE))) {
                words[ROW_DIRTY] |= (uint64_t)1 << i;
            }
        }
        store_words(words, start, len, bits);
    }
    bits->blank = (all >> IS_BLANK & UINT64_C(0x0101010101010101)) != 0;
}

#if UNSEEN_X86

#define NIBBLE(plain, low)                                                                         \
    ((plain(low) ? 1 : 0) | (plain((low) + 16) ? 2 : 0) | (plain((low) + 32) ? 4 : 0) |            \
     (plain((low) + 48) ? 8 : 0) | (plain((low) + 64) ? 16 : 0) | (plain((low) + 80) ? 32 : 0) |   \
     (plain((low) + 96) ? 64 : 0) | (plain((low) + 112) ? 128 : 0))
#define NIBBLE4(plain, low)                                                                        \
    NIBBLE(plain, low), NIBBLE(plain, (low) + 1), NIBBLE(plain, (low) + 2), NIBBLE(plain, (low) + 3)
#define NIBBLES(plain)                                                                             \
    {                                                                                              \
        NIBBLE4(plain, 0), NIBBLE4(plain, 4), NIBBLE4(plain, 8), NIBBLE4(plain, 12)                \
    }

static const uint8_t host_nibbles[16] = NIBBLES(PLAIN_HOST);
static const uint8_t path_nibbles[16] = NIBBLES(PLAIN_PATH);
static const uint8_t clean_nibbles[16] = NIBBLES(CLEAN);
/* The bit of a high nibble; a byte above 0x7f has none and is in no set. */
static const uint8_t high_bits[16] = {1, 2, 4, 8, 16, 32, 64, 128};

/* Which escapes are written again, by their digits. A first digit has the bit of its group, and a
 * second digit those of the groups it may stand behind: 1 for 0, 1, 8, 9 and A-F, which may be
 * followed by any; 2 for 2, not by 0 - .; 4 for 3, not by a digit; 8 for 4 and 6, by 0 only; 16
 * for 5, by [ \ ] ^; 32 for 7, by { | } and DEL. Indexed by the low nibble. */
static const uint8_t first_09[16] = {1, 1, 2, 4, 8, 16, 8, 32, 1, 1};
static const uint8_t first_af[16] = {0, 1, 1, 1, 1, 1, 1};
static const uint8_t second_09[16] = {9, 3, 3, 3, 3, 3, 3, 3, 3, 3};
static const uint8_t second_af[16] = {0, 7, 55, 55, 53, 21, 39};

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i load_table(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i load_32(const char *in)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)in);
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t mask_of(__m256i lanes)
{
    return (uint32_t)_mm256_movemask_epi8(lanes);
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i high_nibbles(__m256i text)
{
    return _mm256_and_si256(_mm256_srli_epi16(text, 4), _mm256_set1_epi8(15));
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i is_outside(__m256i text, __m256i high_bit, __m256i nibbles)
{
    const __m256i low = _mm256_and_si256(text, _mm256_set1_epi8(15));
    const __m256i hit = _mm256_and_si256(_mm256_shuffle_epi8(nibbles, low), high_bit);
    return _mm256_cmpeq_epi8(hit, _mm256_setzero_si256());
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i equal_to(__m256i text, char c)
{
    return _mm256_cmpeq_epi8(text, _mm256_set1_epi8(c));
}

/* For each digit 0-9 and A-F its entry in one of the two tables, else 0. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i look_up_digits(__m256i text, const uint8_t digits_09[16],
                                     const uint8_t digits_af[16])
{
    const __m256i low = _mm256_and_si256(text, _mm256_set1_epi8(15));
    const __m256i high = high_nibbles(text);
    const __m256i in_09 = _mm256_shuffle_epi8(load_table(digits_09), low);
    const __m256i in_af = _mm256_shuffle_epi8(load_table(digits_af), low);
    return _mm256_or_si256(_mm256_and_si256(in_09, equal_to(high, 3)),
                           _mm256_and_si256(in_af, equal_to(high, 4)));
}

/* The bytes of in[at..at + 32) that, if they are a %, start an escape to be written again. */
UNSEEN_TARGET("avx2")
static inline uint64_t kept_escapes(const char *in, size_t len, size_t at)
{
    char copy[34] = {0};
    const char *text = in + at;
    if (len - at < sizeof(copy)) {
        memcpy(copy, text, len - at);
        text = copy;
    }
    const __m256i first = look_up_digits(load_32(text + 1), first_09, first_af);
    const __m256i second = look_up_digits(load_32(text + 2), second_09, second_af);
    const __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(first, second), _mm256_setzero_si256());
    return mask_of(none) ^ UINT32_MAX;
}

/* 64 bytes of input in two registers. */
struct window {
    __m256i bytes[2];
    unsigned skip[2]; /* the first wanted byte of each; 32: none */
};

/* The window at start; reads nothing outside the input: the last bytes come from a load that ends
 * with it, or from copy, which holds a shorter input. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE struct window load_window(const char *in, size_t len, size_t start, const char *copy)
{
    const size_t n = len - start;
    if (n >= WORD) {
        return (struct window){{load_32(in + start), load_32(in + start + 32)}, {0, 0}};
    }
    const __m256i last = load_32(len < 32 ? copy : in + len - 32);
    if (n >= 32) {
        return (struct window){{load_32(in + start), last}, {0, (unsigned)(WORD - n)}};
    }
    return (struct window){{last, last}, {len < 32 ? 0 : (unsigned)(32 - n), 32}};
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t join(const struct window *window, __m256i first, __m256i second)
{
    return mask_of(first) >> window->skip[0] | mask_of(second) >> window->skip[1] << 32;
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t equal_in(const struct window *window, char c)
{
    return join(window, equal_to(window->bytes[0], c), equal_to(window->bytes[1], c));
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t outside_in(const struct window *window, const __m256i high_bit[2],
                                  const uint8_t nibbles[16])
{
    const __m256i table = load_table(nibbles);
    return join(window, is_outside(window->bytes[0], high_bit[0], table),
                is_outside(window->bytes[1], high_bit[1], table));
}

UNSEEN_TARGET("avx2")
static inline void kernel_avx2(const char *in, size_t len, struct bits *bits)
{
    __m256i lowest = _mm256_set1_epi8(' ' + 1);
    char copy[32];
    if (len < sizeof(copy)) {
        memset(copy, ' ' + 1, sizeof(copy));
        memcpy(copy, in, len);
    }
    for (size_t start = 0; start <= len; start += WORD) {
        const struct window window = load_window(in, len, start, copy);
        const __m256i highs = load_table(high_bits);
        const __m256i high_bit[2] = {_mm256_shuffle_epi8(highs, high_nibbles(window.bytes[0])),
                                     _mm256_shuffle_epi8(highs, high_nibbles(window.bytes[1]))};
        const uint64_t percents = equal_in(&window, '%');
        uint64_t dirty = outside_in(&window, high_bit, clean_nibbles);
        if (percents) {
            uint64_t kept = kept_escapes(in, len, start);
            kept |= len - start > 32 ? kept_escapes(in, len, start + 32) << 32 : 0;
            dirty |= percents & ~kept;
        }
        const uint64_t end = len - start < WORD ? (uint64_t)1 << (len - start) : 0;
        uint8_t(*const rows)[(NWORDS + 1) * 8] = bits->rows;
        store_le64(rows[ROW_HOST] + start / 8, outside_in(&window, high_bit, host_nibbles) | end);
        store_le64(rows[ROW_PATH] + start / 8, outside_in(&window, high_bit, path_nibbles) | end);
        store_le64(rows[ROW_MARK] + start / 8,
                   equal_in(&window, '&') | equal_in(&window, '=') | equal_in(&window, '#') | end);
        store_le64(rows[ROW_CODED] + start / 8, percents | equal_in(&window, '+') | end);
        store_le64(rows[ROW_DIRTY] + start / 8, dirty | end);
        lowest = _mm256_min_epu8(lowest, _mm256_min_epu8(window.bytes[0], window.bytes[1]));
    }
    bits->blank = mask_of(equal_to(lowest, ' ' + 1)) != UINT32_MAX;
}

#endif

/* ---- Walking ---------------------------------------------------------------------------------- */

/* The first set bit from i on. */
UNSEEN_INLINE size_t next(const struct bits *bits, enum row row, size_t i)
{
    const uint8_t *const bytes = bits->rows[row];
    size_t word = i / WORD;
    uint64_t rest = load_le64(bytes + word * 8) >> i % WORD << i % WORD;
    while (!rest) {
        rest = load_le64(bytes + ++word * 8);
    }
    return word * WORD + (size_t)__builtin_ctzll(rest);
}

/* Is a bit set in [start, end)? One load serves 57 bits from any place. */
UNSEEN_INLINE bool any(const struct bits *bits, enum row row, size_t start, size_t end)
{
    enum {
        STEP = 56
    };
    const uint8_t *const bytes = bits->rows[row];
    for (; end - start > STEP; start += STEP) {
        if (load_le64(bytes + start / 8) >> start % 8 << 8) {
            return true;
        }
    }
    const uint64_t rest = load_le64(bytes + start / 8) >> start % 8;
    return (rest & (((uint64_t)1 << (end - start)) - 1)) != 0;
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
UNSEEN_INLINE bool walk_path(const char *in, size_t len, const struct bits *bits, size_t start,
                             size_t *end_out)
{
    bool semicolon = false;
    for (size_t i = next(bits, ROW_PATH, start);; i = next(bits, ROW_PATH, i + 1)) {
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
    uint16_t start;
    uint16_t end;
    bool clean; /* written as it is */
};

struct query {
    int64_t keys[NPIECES]; /* see sort_key */
    struct piece pieces[NPIECES];
    uint8_t order[NPIECES]; /* the pieces by rank, once sorted */
    size_t n;
    size_t end;
    bool sorted; /* are they in order as they stand? */
    bool clean;  /* are all written as they are, and none left out? */
};

/* The first 8 bytes of the decoded key, big-endian, filled up with 0; plain says that nothing in
 * it needs decoding. */
UNSEEN_INLINE uint64_t key_prefix(const char *in, size_t len, size_t start, size_t end, bool plain)
{
    if (start == end) {
        return 0;
    }
    if (plain && start + 8 <= len) {
        const unsigned unused = end - start < 8 ? 64 - 8 * (unsigned)(end - start) : 0;
        return __builtin_bswap64(load_le64(in + start)) >> unused << unused;
    }
    uint64_t prefix = 0;
    for (int shift = 56; shift >= 0 && start < end; shift -= 8) {
        const int value = unseen__percent_value(in + start, in + end);
        const char c = value >= 0 ? (char)value : in[start] == '+' ? ' ' : in[start];
        prefix |= (uint64_t)(unsigned char)c << shift;
        start += value >= 0 ? 3 : 1;
    }
    return prefix;
}

/* How many bytes a and b have in common, of n. */
static inline size_t common_len(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t difference = load_le64(a + i) ^ load_le64(b + i);
        if (difference) {
            return i + (size_t)__builtin_ctzll(difference) / 8;
        }
    }
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* The byte a piece goes on with at a place where another one differs from it: -1 for its end or,
 * in a key, the end of that; -2 if it takes a closer look. */
static inline int byte_at(const char *piece, size_t len, size_t i)
{
    if (i == len) {
        return -1;
    }
    if (piece[i] == '=') {
        return memchr(piece, '=', i) ? '=' : -1;
    }
    return piece[i] == '%' ? -2 : piece[i] == '+' ? ' ' : (unsigned char)piece[i];
}

/* a after b? Decided at the first difference of the texts, unless that is near an escape or one
 * ends where the other has an equals sign. */
static bool is_text_after(const char *in, const struct piece *a, const struct piece *b)
{
    const char *const text_a = in + a->start;
    const char *const text_b = in + b->start;
    const size_t len_a = (size_t)(a->end - a->start);
    const size_t len_b = (size_t)(b->end - b->start);
    const size_t i = common_len(text_a, text_b, len_a < len_b ? len_a : len_b);
    if (i == len_a && i == len_b) {
        return false;
    }
    const int byte_a = byte_at(text_a, len_a, i);
    const int byte_b = byte_at(text_b, len_b, i);
    const bool in_escape = (i >= 1 && text_a[i - 1] == '%') || (i >= 2 && text_a[i - 2] == '%');
    if (byte_a == byte_b || byte_a == -2 || byte_b == -2 || in_escape) {
        return unseen__scrapy_compare(text_a, text_a + len_a, text_b, text_b + len_b, '&') > 0;
    }
    return byte_a > byte_b;
}

/* Seven bytes of the prefix and the number of the piece, as a signed integer of the same order:
 * different bytes decide, as the 0 that fills a key up is below any byte and equal to a 0 that is
 * part of one; the number makes each of them unique. */
UNSEEN_INLINE int64_t sort_key(uint64_t prefix, size_t i)
{
    return (int64_t)(((prefix & ~(uint64_t)0xff) ^ (uint64_t)1 << 63) | i);
}

UNSEEN_INLINE bool is_tie(int64_t a, int64_t b)
{
    return ((uint64_t)a ^ (uint64_t)b) >> 8 == 0;
}

/* Piece i after piece j? */
UNSEEN_INLINE bool is_after(const char *in, const struct query *query, size_t i, size_t j)
{
    return is_tie(query->keys[i], query->keys[j])
               ? is_text_after(in, &query->pieces[i], &query->pieces[j])
               : query->keys[i] > query->keys[j];
}

/* Orders pieces of equal prefix, which stand side by side, by text. */
static void sort_ties(const char *in, struct query *query)
{
    size_t run = 0; /* its first */
    for (size_t i = 1; i < query->n; i++) {
        const uint8_t moving = query->order[i];
        if (!is_tie(query->keys[query->order[run]], query->keys[moving])) {
            run = i;
        }
        size_t j = i;
        for (; j > run && is_after(in, query, query->order[j - 1], moving); j--) {
            query->order[j] = query->order[j - 1];
        }
        query->order[j] = moving;
    }
}

/* Sorts by counting for each piece those before it: for the few that a query has, comparing each
 * with each without a branch beats any sort that has to guess. */
static inline void rank_portable(struct query *query)
{
    uint8_t ranks[NPIECES] = {0};
    for (size_t i = 1; i < query->n; i++) {
        for (size_t j = 0; j < i; j++) {
            const bool before = query->keys[j] < query->keys[i];
            ranks[i] = (uint8_t)(ranks[i] + before);
            ranks[j] = (uint8_t)(ranks[j] + !before);
        }
    }
    for (size_t i = 0; i < query->n; i++) {
        query->order[ranks[i]] = (uint8_t)i;
    }
}

#if UNSEEN_X86
UNSEEN_TARGET("avx2")
UNSEEN_INLINE void rank_avx2(struct query *query)
{
    enum {
        LANES = 4
    };
    for (size_t i = query->n; i % LANES; i++) {
        query->keys[i] = INT64_MAX;
    }
    for (size_t i = 0; i < query->n; i++) {
        const __m256i key = _mm256_set1_epi64x(query->keys[i]);
        __m256i counts = _mm256_setzero_si256();
        for (size_t j = 0; j < query->n; j += LANES) {
            const __m256i others =
                _mm256_loadu_si256((const __m256i *)(const void *)(query->keys + j));
            counts = _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(key, others));
        }
        const __m128i pairs =
            _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
        const uint64_t rank = (uint64_t)(_mm_cvtsi128_si64(pairs) + _mm_extract_epi64(pairs, 1));
        query->order[rank] = (uint8_t)i;
    }
}
#endif

/* The places of the set bits of a row from start to len, which is the last of them. */
struct marks {
    uint16_t at[NMARKS + WORD];
    size_t n;
};

/* false: too many. Takes 8 at a time, and those past the last are overwritten by the next word:
 * a loop of unknown length would cost a mispredicted branch a word [Langdale19]. */
UNSEEN_INLINE bool find_marks(const struct bits *bits, size_t start, size_t len,
                              struct marks *marks)
{
    marks->n = 0;
    size_t word = start / WORD;
    uint64_t rest = load_le64(bits->rows[ROW_MARK] + word * 8) >> start % WORD << start % WORD;
    for (;;) {
        const size_t n = (size_t)__builtin_popcountll(rest);
        for (size_t i = 0; i < n; i += 8) {
            for (size_t j = 0; j < 8; j++) {
                /* The top bit stands in for those that are used up, and does no harm. */
                const size_t bit = (size_t)__builtin_ctzll(rest | (uint64_t)1 << (WORD - 1));
                marks->at[marks->n + i + j] = (uint16_t)(word * WORD + bit);
                rest &= rest - 1;
            }
        }
        marks->n += n;
        if (word == len / WORD) {
            return true;
        }
        if (marks->n > NMARKS) {
            return false;
        }
        rest = load_le64(bits->rows[ROW_MARK] + ++word * 8);
    }
}

/* Reads the query from start on. false: too many pieces. */
UNSEEN_INLINE bool walk_query(const struct unseen_url *url, const char *in, size_t len,
                              const struct bits *bits, size_t start, struct query *query)
{
    const bool drop_blank = unseen__url_rule(url, UNSEEN__RULE_DROP_BLANK_VALUES);
    struct marks marks;
    if (!find_marks(bits, start, len, &marks)) {
        return false;
    }
    query->n = 0;
    query->sorted = true;
    query->clean = true;
    for (const uint16_t *mark = marks.at;; start = query->end + 1) {
        const size_t key_end = *mark++;
        size_t end = key_end;
        unsigned nequals = 0;
        while (end < len && in[end] == '=') {
            end = *mark++;
            nequals++;
        }
        query->end = end;
        if (end == start || (drop_blank && key_end + 1 >= end)) {
            query->clean = false;
        } else if (query->n == NPIECES) {
            return false;
        } else {
            const bool plain_key = !any(bits, ROW_CODED, start, key_end);
            const uint64_t prefix = key_prefix(in, len, start, key_end, plain_key);
            const bool clean = nequals == 1 && !any(bits, ROW_DIRTY, start, end);
            query->clean = query->clean && clean;
            query->keys[query->n] = sort_key(prefix, query->n);
            query->pieces[query->n++] = (struct piece){(uint16_t)start, (uint16_t)end, clean};
            query->sorted =
                query->sorted && (query->n < 2 || !is_after(in, query, query->n - 2, query->n - 1));
        }
        if (end == len || in[end] == '#') {
            return true;
        }
    }
}

/* Copies n bytes of the input, up to 31 more where both sides have room: most pieces are short. */
static inline void copy_piece(char *out, const char *in, size_t n, size_t room)
{
    if (n + 32 > room) {
        memcpy(out, in, n);
        return;
    }
    for (size_t i = 0; i < n; i += 32) {
        memcpy(out + i, in + i, 32);
    }
}

/* out has room for 32 bytes more than is written. */
static char *write_query(const char *in, size_t len, const struct query *query, char *out)
{
    for (size_t i = 0; i < query->n; i++) {
        const struct piece *const piece = &query->pieces[query->sorted ? i : query->order[i]];
        *out++ = i == 0 ? '?' : '&';
        if (piece->clean) {
            const size_t n = (size_t)(piece->end - piece->start);
            copy_piece(out, in + piece->start, n, len - piece->start);
            out += n;
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

typedef void kernel_fn(const char *in, size_t len, struct bits *bits);
typedef void rank_fn(struct query *query);

UNSEEN_INLINE bool fast(const struct unseen_url *url, const char *in, size_t len, char *buf,
                        size_t cap, struct unseen_canon *out, kernel_fn *kernel, rank_fn *rank)
{
    const size_t host = scheme_len(in, len);
    if (host == 0 || len > LEN_MAX) {
        return false;
    }
    struct bits bits;
    kernel(in, len, &bits);
    if (bits.blank) { /* the slow path may have to trim or to remove it */
        return false;
    }
    const size_t slash = next(&bits, ROW_HOST, host);
    if (slash == host) {
        return false;
    }
    if (slash == len && unseen_url_bound(len) <= cap) {
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
            if (cap < unseen_url_bound(len)) {
                return false;
            }
            if (!query.sorted) {
                rank(&query);
                sort_ties(in, &query);
            }
            memcpy(buf, in, end);
            const char *const text_end = write_query(in, len, &query, buf + end);
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
    return fast(url, in, len, buf, cap, out, kernel_portable, rank_portable);
}

#if UNSEEN_X86
UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")
static bool fast_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                      size_t cap, struct unseen_canon *out)
{
    return fast(url, in, len, buf, cap, out, kernel_avx2, rank_avx2);
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
