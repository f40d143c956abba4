/* SPDX-License-Identifier: MIT
 *
 * The rows of bits of scrapy_fast.c: one bit for each byte of a URL, which says what the byte is.
 * Two kernels make the rows: front, for host and path, and query. The kernels exist twice: portable
 * (the specification) and AVX2. A set of ASCII bytes is 16 rows, one for each low nibble, of 8
 * bits, one for each high nibble, so that two byte shuffles answer for 32 bytes [Mula18]. The
 * header is a part of scrapy_fast.c, so that the compiler can inline all of it. */
#ifndef UNSEEN_URL_SCRAPY_ROWS_H
#define UNSEEN_URL_SCRAPY_ROWS_H

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "url/ascii.h"
#include "url/percent.h"
#include "url/scrapy.h"

#if UNSEEN_X86
#include <immintrin.h>
#endif

enum {
    WORD = 64,
    LEN_MAX = 4095, /* longer URLs are left to the slow path */
    NWORDS = (LEN_MAX + 1) / WORD
};

/* What a set bit says about its byte. The bits of the path count from the start of the host, the
 * bits of the others from the start of the query. The bit behind the last byte is set, so that
 * every walk ends. */
enum row {
    ROW_END,    /* ends a piece of a query: & # */
    ROW_EQUALS, /* = */
    ROW_CODED,  /* stands for another byte in a query: % + */
    ROW_DIRTY,  /* would be written otherwise in a query, or is a % whose escape would be */
    ROW_PATH, /* not plain in a path, or a dot behind a slash; the portable kernel sets all dots */
    NROWS
};

struct bits {
    uint8_t rows[NROWS][(NWORDS + 1) * 8]; /* little-endian; one word more than is used */
};

#define PLAIN_HOST(c) (SCRAPY_LOWER(c) || SCRAPY_DIGIT(c) || (c) == '-' || (c) == '.' || (c) == '_')
/* A dot is plain unless it begins a dot segment. */
#define PLAIN_PATH(c) (SCRAPY_PATH(c) && (c) != '%' && (c) != ';' && (c) != '?')
#define ENDS_PATH(c)  ((c) == '?' || (c) == '#')
#define ENDS_PIECE(c) ((c) == '&' || (c) == '#')
#define CODED(c)      ((c) == '%' || (c) == '+')
#define CLEAN(c)      (SCRAPY_UNRESERVED(c) || CODED(c) || ENDS_PIECE(c) || (c) == '=')

/* ---- Kernels --------------------------------------------------------------------------------- */

enum {
    IS_HOST_END = NROWS, /* not plain in a host */
    IS_PATH_END,
    KEEPS_ESCAPE /* in a query the byte is written as an escape */
};

#define CLASS(c)                                                                                   \
    ((ENDS_PIECE(c) ? 1u << ROW_END : 0) | ((c) == '=' ? 1u << ROW_EQUALS : 0) |                   \
     (CODED(c) ? 1u << ROW_CODED : 0) | (CLEAN(c) ? 0 : 1u << ROW_DIRTY) |                         \
     (PLAIN_PATH(c) && (c) != '.' ? 0 : 1u << ROW_PATH) |                                          \
     (PLAIN_HOST(c) ? 0 : 1u << IS_HOST_END) | (ENDS_PATH(c) ? 1u << IS_PATH_END : 0) |            \
     (SCRAPY_UNRESERVED(c) || (c) == ' ' ? 0 : 1u << KEEPS_ESCAPE))

static const uint8_t class_of[256] = {ASCII_TABLE(CLASS)};

/* The byte of the escape at in[i], which starts with % and has two upper-case digits; else -1. */
static inline int upper_escape(const char *in, size_t len, size_t i)
{
    if (len - i < 3 || SCRAPY_LOWER(in[i + 1]) || SCRAPY_LOWER(in[i + 2])) {
        return -1;
    }
    return unseen__percent_value(in + i, in + len);
}

static inline void store_word(struct bits *bits, enum row row, size_t at, uint64_t word)
{
    store_le64(bits->rows[row] + at / WORD * 8, word);
}

/* The bit that ends every walk along a row, if it is in a word that holds the next n bytes. If the
 * last word is full, the bit is in the word behind: a row is stored with a word of 1 behind its
 * last word. */
static inline uint64_t end_bit(size_t n)
{
    return n < WORD ? (uint64_t)1 << n : 0;
}

/* The classes of 8 bytes in one word: byte i has the class of in[i]. Only n of them are present. */
static inline uint64_t classes_of_8(const char *in, size_t n)
{
    uint64_t classes = 0;
    for (size_t i = 0; i < n; i++) {
        classes |= (uint64_t)class_of[(unsigned char)in[i]] << 8 * i;
    }
    return classes;
}

/* Makes the words of the classes [first, end) for the first 64 of n bytes. Returns all classes of
 * these bytes. */
UNSEEN_INLINE uint64_t words_portable(const char *in, size_t n, int first, int end,
                                      uint64_t words[IS_PATH_END])
{
    uint64_t all = 0;
    memset(words, 0, IS_PATH_END * sizeof(words[0]));
    for (size_t i = 0; i < WORD && i < n; i += 8) {
        const uint64_t classes = n - i >= 8 ? classes_of_8(in + i, 8) : classes_of_8(in + i, n - i);
        all |= classes;
        for (int row = first; row < end; row++) {
            /* Gathers the bit of each byte in the top byte: no two products meet. */
            const uint64_t bit_of_each = classes >> row & UINT64_C(0x0101010101010101);
            words[row] |= (bit_of_each * UINT64_C(0x0102040810204080) >> 56) << i;
        }
    }
    return all;
}

/* Fills the row of the path, from the host at in[start] at least up to the first ? or #. Returns
 * the length of the host; 0 if there is none, or if it has 64 bytes or more. */
UNSEEN_INLINE size_t front_portable(const char *in, size_t len, size_t start, struct bits *bits)
{
    uint64_t words[IS_PATH_END];
    size_t host_len = 0;
    in += start;
    len -= start;
    for (size_t at = 0; at < len; at += WORD) {
        const uint64_t all = words_portable(in + at, len - at, ROW_PATH, IS_PATH_END, words);
        const uint64_t end = end_bit(len - at);
        store_word(bits, ROW_PATH, at, words[ROW_PATH] | end);
        if (at == 0 && (words[IS_HOST_END] | end)) {
            host_len = (size_t)__builtin_ctzll(words[IS_HOST_END] | end);
        }
        if (all >> IS_PATH_END & UINT64_C(0x0101010101010101)) {
            return host_len;
        }
    }
    store_word(bits, ROW_PATH, (len + WORD - 1) / WORD * WORD, 1);
    return host_len;
}

/* Fills the rows of a query, which starts at in[start], up to its end or the end of the fragment.
 * Returns true if no bit is set in ROW_DIRTY. */
UNSEEN_INLINE bool query_portable(const char *in, size_t len, size_t start, struct bits *bits)
{
    uint64_t words[IS_PATH_END];
    uint64_t dirty = 0;
    size_t at = 0;
    in += start;
    len -= start;
    for (; at < len; at += WORD) {
        words_portable(in + at, len - at, ROW_END, ROW_PATH, words);
        for (uint64_t rest = words[ROW_CODED]; rest; rest &= rest - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(rest);
            const int value = upper_escape(in, len, at + i);
            if (in[at + i] == '%' && (value < 0 || !(class_of[value] >> KEEPS_ESCAPE))) {
                words[ROW_DIRTY] |= (uint64_t)1 << i;
            }
        }
        dirty |= words[ROW_DIRTY];
        for (int row = ROW_END; row < ROW_PATH; row++) {
            store_word(bits, (enum row)row, at, words[row] | end_bit(len - at));
        }
    }
    for (int row = ROW_END; row < ROW_PATH; row++) {
        store_word(bits, (enum row)row, at, 1);
    }
    return !dirty;
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

/* The kernels load 32 bytes of text from each of three neighbouring offsets. */
enum {
    TEXT_MIN = 34
};

/* Which escapes are written again, by their digits. A first digit has the bit of its group, and a
 * second digit has the bits of the groups that it may stand behind. The groups: 1 for 0, 1, 8, 9
 * and A-F, which may be followed by any digit; 2 for 2, not by 0 - .; 4 for 3, not by a digit; 8
 * for 4 and 6, by 0 only; 16 for 5, by [ \ ] ^; 32 for 7, by { | } and DEL. Indexed by the low
 * nibble. */
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

/* Which bytes are in no row of the set? */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i is_outside(__m256i text, const uint8_t nibbles[16])
{
    const __m256i low = _mm256_and_si256(text, _mm256_set1_epi8(15));
    const __m256i high_bit = _mm256_shuffle_epi8(load_table(high_bits), high_nibbles(text));
    const __m256i row = _mm256_shuffle_epi8(load_table(nibbles), low);
    return _mm256_cmpeq_epi8(_mm256_and_si256(row, high_bit), _mm256_setzero_si256());
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i equal_to(__m256i text, char c)
{
    return _mm256_cmpeq_epi8(text, _mm256_set1_epi8(c));
}

/* Looks up each digit 0-9 and A-F in its table; gives 0 for other bytes. */
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

/* The bytes of text[at..at + 32) that start an escape to be written again if they are a %. Near the
 * end the load starts earlier; the last two bytes start no escape. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t kept_escapes(const char *text, size_t len, size_t at)
{
    const size_t last = len - TEXT_MIN;
    const size_t from = at < last ? at : last;
    const __m256i first = look_up_digits(load_32(text + from + 1), first_09, first_af);
    const __m256i second = look_up_digits(load_32(text + from + 2), second_09, second_af);
    const __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(first, second), _mm256_setzero_si256());
    return (mask_of(none) ^ UINT32_MAX) >> (at - from);
}

/* Up to 64 bytes of input in two registers. A load never reads outside of text, which has at least
 * 32 bytes: near the end it starts `skip` bytes before the wanted bytes. */
struct window {
    const char *from[2];
    __m256i bytes[2];
    size_t skip[2];
};

UNSEEN_TARGET("avx2")
UNSEEN_INLINE struct window load_window(const char *text, size_t len, size_t at)
{
    const size_t last = len - 32;
    const size_t from[2] = {at < last ? at : last, at + 32 < last ? at + 32 : last};
    return (struct window){{text + from[0], text + from[1]},
                           {load_32(text + from[0]), load_32(text + from[1])},
                           {at - from[0], at + 32 - from[1]}};
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

/* Which bytes are a or b? */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t either_in(const struct window *window, char a, char b)
{
    const __m256i *const bytes = window->bytes;
    return join(window, _mm256_or_si256(equal_to(bytes[0], a), equal_to(bytes[0], b)),
                _mm256_or_si256(equal_to(bytes[1], a), equal_to(bytes[1], b)));
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t outside_in(const struct window *window, const uint8_t nibbles[16])
{
    return join(window, is_outside(window->bytes[0], nibbles),
                is_outside(window->bytes[1], nibbles));
}

/* Which bytes are a dot behind a slash? The text must not start with the window. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE __m256i segment_dots(const struct window *window, int half)
{
    return _mm256_and_si256(equal_to(window->bytes[half], '.'),
                            equal_to(load_32(window->from[half] - 1), '/'));
}

/* Which bytes are not plain in a path? */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE uint64_t path_stops(const struct window *window)
{
    const __m256i first = is_outside(window->bytes[0], path_nibbles);
    const __m256i second = is_outside(window->bytes[1], path_nibbles);
    return join(window, _mm256_or_si256(first, segment_dots(window, 0)),
                _mm256_or_si256(second, segment_dots(window, 1)));
}

/* The input; or a longer copy if it is too short, with the length of the copy in *len_io. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE const char *long_enough(const char *in, size_t *len_io, char copy[TEXT_MIN])
{
    if (UNSEEN_LIKELY(*len_io >= TEXT_MIN)) {
        return in;
    }
    memset(copy, 'a', TEXT_MIN);
    memcpy(copy, in, *len_io);
    *len_io = TEXT_MIN;
    return copy;
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE size_t front_avx2(const char *in, size_t len, size_t start, struct bits *bits)
{
    char copy[TEXT_MIN];
    size_t text_len = len;
    const char *const text = long_enough(in, &text_len, copy);
    const struct window first = load_window(text, text_len, start);
    const uint64_t host = outside_in(&first, host_nibbles) | end_bit(len - start);
    const size_t host_len = host ? (size_t)__builtin_ctzll(host) : 0;
    for (size_t at = start; at < len; at += WORD) {
        const struct window window = load_window(text, text_len, at);
        store_word(bits, ROW_PATH, at - start, path_stops(&window) | end_bit(len - at));
        if (len - at > WORD && either_in(&window, '?', '#')) {
            return host_len;
        }
    }
    store_word(bits, ROW_PATH, (len - start + WORD - 1) / WORD * WORD, 1);
    return host_len;
}

UNSEEN_TARGET("avx2")
UNSEEN_INLINE bool query_avx2(const char *in, size_t len, size_t start, struct bits *bits)
{
    char copy[TEXT_MIN];
    size_t text_len = len;
    const char *const text = long_enough(in, &text_len, copy);
    uint64_t all_dirty = 0;
    size_t at = start;
    for (; at < len; at += WORD) {
        const struct window window = load_window(text, text_len, at);
        const uint64_t end = end_bit(len - at);
        const uint64_t percents = equal_in(&window, '%');
        uint64_t dirty = outside_in(&window, clean_nibbles);
        if (percents) {
            uint64_t kept = kept_escapes(text, text_len, at);
            kept |= percents >> 32 ? kept_escapes(text, text_len, at + 32) << 32 : 0;
            dirty |= percents & ~kept;
        }
        store_word(bits, ROW_END, at - start, either_in(&window, '&', '#') | end);
        store_word(bits, ROW_EQUALS, at - start, equal_in(&window, '=') | end);
        store_word(bits, ROW_CODED, at - start, percents | equal_in(&window, '+') | end);
        store_word(bits, ROW_DIRTY, at - start, dirty | end);
        all_dirty |= dirty;
    }
    for (int row = ROW_END; row < ROW_PATH; row++) {
        store_word(bits, (enum row)row, at - start, 1);
    }
    return !all_dirty;
}

#endif

/* ---- Walking along a row --------------------------------------------------------------------- */

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

/* The bits of a row from i on: at least STEP of them, because one load serves from any offset. */
enum {
    STEP = 56
};

UNSEEN_INLINE uint64_t bits_from(const struct bits *bits, enum row row, size_t i)
{
    return load_le64(bits->rows[row] + i / 8) >> i % 8;
}

/* The lowest n bits, of less than 64. */
UNSEEN_INLINE uint64_t low_bits(uint64_t word, size_t n)
{
    return word & (((uint64_t)1 << n) - 1);
}

#endif
