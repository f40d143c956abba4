/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "scrapy": answers for ordinary URLs, and declines the others.
 *
 * Kernels turn the URL into rows of bits, one bit for each byte. One row has the bytes that are not
 * plain in a path. If there is a query, further rows have the bytes that divide it, and the bytes
 * that would be written otherwise. Then each part of the URL is walked from one set bit to the
 * next, so that plain bytes cost nothing:
 *
 *     https://www.example.com/a/b;c?q=1&b=%2F#f
 *                            ^                    host
 *                                ^ ^              path
 *                                    ^ ^ ^   ^    equals signs and ends of pieces
 *
 * If the pieces of the query are in order and minimally escaped, the URL is proved canonical; else
 * the pieces are written in order behind a copy of the front. The kernels exist twice: portable
 * (the specification) and AVX2. A set of ASCII bytes is 16 rows, one for each low nibble, of 8
 * bits, one for each high nibble, so that two byte shuffles answer for 32 bytes [Mula18]. */
#include "url/scrapy.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "url/ascii.h"
#include "url/fast.h"
#include "url/percent.h"

#if UNSEEN_X86
#include <immintrin.h>
#endif

enum {
    WORD = 64,
    LEN_MAX = 4095, /* longer URLs are left to the slow path */
    NWORDS = (LEN_MAX + 1) / WORD,
    NPIECES = 128,
    CHUNK = 32 /* bytes copied at once: most pieces of a query are shorter */
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
/* A dot is plain unless it begins a dot segment of version 2. */
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
UNSEEN_INLINE uint64_t path_stops(unsigned version, const struct window *window)
{
    __m256i first = is_outside(window->bytes[0], path_nibbles);
    __m256i second = is_outside(window->bytes[1], path_nibbles);
    if (version >= 2) {
        first = _mm256_or_si256(first, segment_dots(window, 0));
        second = _mm256_or_si256(second, segment_dots(window, 1));
    }
    return join(window, first, second);
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
UNSEEN_INLINE size_t front_avx2(unsigned version, const char *in, size_t len, size_t start,
                                struct bits *bits)
{
    char copy[TEXT_MIN];
    size_t text_len = len;
    const char *const text = long_enough(in, &text_len, copy);
    const struct window first = load_window(text, text_len, start);
    const uint64_t host = outside_in(&first, host_nibbles) | end_bit(len - start);
    const size_t host_len = host ? (size_t)__builtin_ctzll(host) : 0;
    for (size_t at = start; at < len; at += WORD) {
        const struct window window = load_window(text, text_len, at);
        store_word(bits, ROW_PATH, at - start, path_stops(version, &window) | end_bit(len - at));
        if (len - at > WORD && either_in(&window, '?', '#')) {
            return host_len;
        }
    }
    store_word(bits, ROW_PATH, (len - start + WORD - 1) / WORD * WORD, 1);
    return host_len;
}

UNSEEN_TARGET("avx2")
static inline size_t front_1_avx2(const char *in, size_t len, size_t start, struct bits *bits)
{
    return front_avx2(1, in, len, start, bits);
}

UNSEEN_TARGET("avx2")
static inline size_t front_2_avx2(const char *in, size_t len, size_t start, struct bits *bits)
{
    return front_avx2(2, in, len, start, bits);
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

/* ---- Walking --------------------------------------------------------------------------------- */

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
static inline bool starts_dot_segment(const char *in, size_t len, size_t i)
{
    if (in[i - 1] != '/') {
        return false;
    }
    i += i + 1 < len && in[i + 1] == '.';
    return i + 1 == len || in[i + 1] == '/' || in[i + 1] == ';' || ENDS_PATH(in[i + 1]);
}

/* Walks the path from its first slash to the byte that ends it. Returns false if the path is not
 * canonical, or may not be. */
UNSEEN_INLINE bool walk_path(unsigned version, const char *in, size_t len, const struct bits *bits,
                             size_t start, size_t *end_out)
{
    bool semicolon = false;
    for (size_t i = next(bits, ROW_PATH, start);; i = next(bits, ROW_PATH, i + 1)) {
        if (i == len || in[i] == '?' || in[i] == '#') {
            *end_out = i;
            return !semicolon || params_are_plain(in, start, i);
        }
        if (in[i] == '.') {
            if (version >= 2 && starts_dot_segment(in, len, i)) {
                return false;
            }
        } else if (in[i] == ';') {
            semicolon = true;
        } else if (in[i] == '%') {
            const int value = upper_escape(in, len, i);
            if (value < 0 || !scrapy_path_keeps_escape(version, value)) {
                return false;
            }
        } else {
            return false;
        }
    }
}

/* Walks port and path, which follow the host, to their end. Returns 0 if they are not canonical, or
 * may not be. *slash_out: only the slash of an empty path is missing. */
UNSEEN_INLINE size_t walk_front(unsigned version, const char *in, size_t len,
                                const struct bits *bits, size_t host_len, bool *slash_out)
{
    size_t end = host_len;
    if (end == 0 || (end < len && in[end] == ':' && !(end = port_end(in, end, len)))) {
        return 0;
    }
    *slash_out = end == len || ENDS_PATH(in[end]);
    if (!*slash_out && (in[end] != '/' || !walk_path(version, in, len, bits, end, &end))) {
        return 0;
    }
    return end;
}

/* ---- Query ----------------------------------------------------------------------------------- */

/* A piece, key=value, at [start, end) of the query. */
struct piece {
    uint16_t start;
    uint16_t end;
    bool bare; /* without an equals sign */
};

struct query {
    const char *text;
    size_t len;            /* with the fragment */
    size_t end;            /* without the fragment */
    int64_t keys[NPIECES]; /* see sort_key */
    struct piece pieces[NPIECES];
    uint8_t order[NPIECES]; /* the pieces by rank, once sorted */
    size_t n;
    bool clean;  /* are all pieces written as they are, and none left out? */
    bool rising; /* does no piece have a greater sort key than the next? */
    bool ties;   /* is there a piece like the next as far as the sort key goes? */
};

/* The first 7 bytes of the decoded key, big-endian, above a byte of 0. A shorter key is filled up
 * with 0. */
UNSEEN_INLINE uint64_t key_prefix(const struct query *query, const struct bits *bits, size_t start,
                                  size_t end)
{
    enum {
        PREFIX = 7
    };
    const size_t n = end - start < PREFIX ? end - start : PREFIX;
    const char *const text = query->text;
    if (UNSEEN_LIKELY(!low_bits(bits_from(bits, ROW_CODED, start), n))) {
        /* The load ends with the text at the latest. It stays inside the input, because the URL
         * stands before the query. */
        const size_t over = start + 8 > query->len ? start + 8 - query->len : 0;
        return __builtin_bswap64(low_bits(load_le64(text + start - over) >> 8 * over, 8 * n));
    }
    uint64_t prefix = 0;
    for (int shift = 56; shift > 0 && start < end; shift -= 8) {
        const int value = unseen__percent_value(text + start, text + end);
        const char c = value >= 0 ? (char)value : text[start] == '+' ? ' ' : text[start];
        prefix |= (uint64_t)(unsigned char)c << shift;
        start += value >= 0 ? 3 : 1;
    }
    return prefix;
}

/* The length of the common prefix of a and b, at most n. */
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

/* The byte with which a piece goes on where another piece differs from it. -1: the piece or its key
 * ends. -2: this takes a closer look. */
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

/* Does a come after b? The first difference of the texts decides, unless it is near an escape, or
 * one piece ends where the other has an equals sign. */
static bool is_text_after(const char *text, const struct piece *a, const struct piece *b)
{
    const char *const text_a = text + a->start;
    const char *const text_b = text + b->start;
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

/* The prefix of seven bytes and the number of the piece, as a signed integer of the same order.
 * Different bytes decide: the 0 that fills a key up is below any byte, and equal to a 0 in a key.
 * The number makes each sort key unique. */
UNSEEN_INLINE int64_t sort_key(uint64_t prefix, size_t i)
{
    return (int64_t)((prefix ^ (uint64_t)1 << 63) | i);
}

UNSEEN_INLINE bool is_tie(int64_t a, int64_t b)
{
    return ((uint64_t)a ^ (uint64_t)b) >> 8 == 0;
}

/* Orders pieces of equal prefix, which stand side by side, by text. Returns true if any piece
 * moved. Most pieces do not move, and the first comparison says so; the index of a piece that moves
 * is found by halving, because comparing texts is dear. */
static bool sort_ties(struct query *query)
{
    const struct piece *const pieces = query->pieces;
    uint8_t *const order = query->order;
    bool moved = false;
    size_t run = 0; /* the first piece of equal prefix */
    for (size_t i = 1; i < query->n; i++) {
        const uint8_t moving = order[i];
        if (!is_tie(query->keys[order[i - 1]], query->keys[moving])) {
            run = i;
        }
        size_t low = run;
        size_t high = i;
        for (size_t at = i - 1; low < high; at = low + (high - low) / 2) {
            if (is_text_after(query->text, &pieces[order[at]], &pieces[moving])) {
                high = at;
            } else {
                low = at + 1;
            }
        }
        if (low < i) {
            memmove(order + low + 1, order + low, i - low);
            order[low] = moving;
            moved = true;
        }
    }
    return moved;
}

/* Finds the order of the sort keys by insertion sort: for the few pieces of a query nothing
 * portable is faster, and their number has a limit. */
static inline void rank_portable(struct query *query)
{
    int64_t sorted[NPIECES];
    for (size_t i = 0; i < query->n; i++) {
        const int64_t key = query->keys[i];
        size_t j = i;
        for (; j > 0 && sorted[j - 1] > key; j--) {
            sorted[j] = sorted[j - 1];
        }
        sorted[j] = key;
    }
    for (size_t i = 0; i < query->n; i++) {
        query->order[i] = (uint8_t)sorted[i];
    }
}

#if UNSEEN_X86
/* Counts for each piece the pieces before it, four at a time. Comparing all pairs without a branch
 * beats any sort that has to guess. */
UNSEEN_TARGET("avx2")
UNSEEN_INLINE void rank_avx2(struct query *query)
{
    enum {
        LANES = 4
    };
    for (size_t i = query->n; i % LANES; i++) {
        query->keys[i] = INT64_MAX;
    }
    for (size_t i = 0; i < query->n; i += LANES) {
        const __m256i keys = _mm256_loadu_si256((const __m256i *)(const void *)(query->keys + i));
        __m256i counts = _mm256_setzero_si256();
        for (size_t j = 0; j < query->n; j++) {
            const __m256i other = _mm256_set1_epi64x(query->keys[j]);
            counts = _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(keys, other));
        }
        uint64_t ranks[LANES];
        _mm256_storeu_si256((__m256i *)(void *)ranks, counts);
        for (size_t lane = 0; lane < LANES; lane++) {
            /* A lane without a piece has rank n, for which there is room. */
            query->order[ranks[lane]] = (uint8_t)(i + lane);
        }
    }
}
#endif

typedef void rank_fn(struct query *query);

/* Finds the order of the pieces. Returns true if they are in order already. */
UNSEEN_INLINE bool sort_pieces(struct query *query, rank_fn *rank)
{
    if (query->rising && !query->ties) {
        return true;
    }
    if (!query->rising) {
        rank(query);
        sort_ties(query);
        return false;
    }
    for (size_t i = 0; i < query->n; i++) {
        query->order[i] = (uint8_t)i;
    }
    return !sort_ties(query);
}

/* Marks every = of a piece but the first: it is part of the value, and is written as an escape. */
static void mark_equals(struct bits *bits, size_t start, size_t end)
{
    for (; (start = next(bits, ROW_EQUALS, start)) < end; start++) {
        bits->rows[ROW_DIRTY][start / 8] |= (uint8_t)(1u << start % 8);
    }
}

/* The end of the key of a piece. *more_out: the value has an equals sign, too. */
UNSEEN_INLINE size_t find_key_end(const struct bits *bits, size_t start, size_t end, bool *more_out)
{
    const size_t n = end - start;
    if (UNSEEN_LIKELY(n <= STEP)) {
        const uint64_t equals = low_bits(bits_from(bits, ROW_EQUALS, start), n);
        *more_out = (equals & (equals - 1)) != 0;
        return start + (size_t)__builtin_ctzll(equals | (uint64_t)1 << n);
    }
    const size_t key_end = next(bits, ROW_EQUALS, start);
    *more_out = key_end < end && next(bits, ROW_EQUALS, key_end + 1) < end;
    return key_end < end ? key_end : end;
}

/* Reads the query. Returns false if it has too many pieces. */
UNSEEN_INLINE bool walk_query(bool drop_blank, struct bits *bits, struct query *query)
{
    int64_t last = INT64_MIN;
    query->n = 0;
    query->rising = true;
    query->ties = false;
    for (size_t start = 0;; start = query->end + 1) {
        const uint64_t ends = bits_from(bits, ROW_END, start);
        const size_t end = UNSEEN_LIKELY(ends) ? start + (size_t)__builtin_ctzll(ends)
                                               : next(bits, ROW_END, start);
        query->end = end;
        bool more_equals;
        const size_t key_end = find_key_end(bits, start, end, &more_equals);
        if (end == start || (drop_blank && key_end + 1 >= end)) {
            query->clean = false;
        } else if (query->n == NPIECES) {
            return false;
        } else {
            const bool bare = key_end == end;
            if (more_equals) {
                mark_equals(bits, key_end + 1, end);
            }
            query->clean = query->clean & !bare & !more_equals;
            const int64_t key = sort_key(key_prefix(query, bits, start, key_end), query->n);
            query->rising = query->rising & (last <= key);
            query->ties = query->ties | (query->n != 0 && is_tie(last, key));
            last = key;
            query->keys[query->n] = key;
            query->pieces[query->n++] = (struct piece){(uint16_t)start, (uint16_t)end, bare};
        }
        if (end == query->len || query->text[end] == '#') {
            return true;
        }
    }
}

/* A copy of the last bytes of the query, with room to load a chunk that starts at any of them. */
struct tail {
    char bytes[2 * CHUNK];
    size_t start;
};

/* Writes a piece, one run of clean bytes at a time. Returns NULL if it has a byte that is not part
 * of the URL. May overwrite a chunk behind the piece. */
UNSEEN_INLINE char *write_piece(const struct query *query, const struct bits *bits,
                                const struct tail *tail, const struct piece *piece, char *out)
{
    const char *const text = query->text;
    const size_t end = piece->end;
    for (size_t at = piece->start; at < end;) {
        memcpy(out, at < tail->start ? text + at : tail->bytes + (at - tail->start), CHUNK);
        const size_t n = end - at < CHUNK ? end - at : CHUNK;
        const uint64_t dirty = low_bits(bits_from(bits, ROW_DIRTY, at), n);
        const size_t run = (size_t)__builtin_ctzll(dirty | (uint64_t)1 << n);
        out += run;
        at += run;
        if (run < n) {
            if (text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
                return NULL;
            }
            const int value = unseen__percent_value(text + at, text + end);
            const unsigned char byte = value < 0 ? (unsigned char)text[at] : (unsigned char)value;
            out = scrapy_write_byte(byte, out);
            at += value < 0 ? 1 : 3;
        }
    }
    *out = '=';
    return out + piece->bare;
}

/* Writes ? and the pieces in their order, or as they stand. Returns NULL if write_piece does. */
UNSEEN_INLINE char *write_query(const struct query *query, const struct bits *bits, bool in_order,
                                char *out)
{
    struct tail tail;
    memset(tail.bytes, 0, sizeof(tail.bytes));
    if (query->len < CHUNK) {
        tail.start = 0;
        memcpy(tail.bytes, query->text, query->len);
    } else {
        tail.start = query->len - CHUNK;
        memcpy(tail.bytes, query->text + tail.start, CHUNK);
    }
    *out++ = '?';
    for (size_t i = 0; i < query->n; i++) {
        const struct piece *const piece = &query->pieces[in_order ? i : query->order[i]];
        out = write_piece(query, bits, &tail, piece, out);
        if (!out) {
            return NULL;
        }
        *out++ = '&';
    }
    return out - 1;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static inline bool answer(struct unseen_canon *out, enum unseen_url_form form, const char *text,
                          size_t len)
{
    *out = (struct unseen_canon){form, {text, len}};
    return true;
}

/* Answers with the input up to end, which is canonical. */
static inline bool answer_front(struct unseen_canon *out, const char *in, size_t len, size_t end)
{
    return answer(out, end == len ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN, in, end);
}

/* Copies the URL up to its query or its end, and puts in a slash if that is missing. */
static inline char *write_front(const char *in, size_t end, bool slash, char *out)
{
    memcpy(out, in, end);
    out[end] = '/';
    return out + end + slash;
}

typedef size_t front_fn(const char *in, size_t len, size_t start, struct bits *bits);
typedef bool query_fn(const char *in, size_t len, size_t start, struct bits *bits);

/* Answers for a URL whose query starts at in[start], behind the question mark. slash: a / is put in
 * before the question mark. */
UNSEEN_INLINE bool fast_query(const struct unseen_url *url, const char *in, size_t full_len,
                              size_t len, size_t start, bool slash, struct bits *bits, char *buf,
                              size_t cap, struct unseen_canon *out, query_fn *kernel, rank_fn *rank)
{
    struct query query;
    query.text = in + start;
    query.len = len - start;
    query.clean = kernel(in, len, start, bits);
    if (!walk_query(unseen__url_rule(url, UNSEEN__RULE_DROP_BLANK_VALUES), bits, &query)) {
        return false;
    }
    if (query.end < query.len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    const bool in_order = sort_pieces(&query, rank);
    if (!slash && (query.n == 0 || (in_order && query.clean))) {
        return answer_front(out, in, full_len, query.n == 0 ? start - 1 : start + query.end);
    }
    if (cap < unseen_url_bound(len, 0)) {
        return false;
    }
    char *end = write_front(in, start - 1, slash, buf);
    if (query.n != 0) {
        end = write_query(&query, bits, in_order, end);
    }
    return end && answer(out, UNSEEN_URL_REWRITTEN, buf, (size_t)(end - buf));
}

UNSEEN_INLINE bool fast(unsigned version, const struct unseen_url *url, const char *in,
                        size_t full_len, char *buf, size_t cap, struct unseen_canon *out,
                        front_fn *front_kernel, query_fn *query_kernel, rank_fn *rank)
{
    const size_t host = unseen__fast_scheme(in, full_len);
    if (host == 0 || full_len > LEN_MAX) {
        return false;
    }
    size_t len = full_len;
    while ((unsigned char)in[len - 1] <= ' ') {
        len--;
    }
    struct bits bits;
    bool slash;
    const size_t host_len = front_kernel(in, len, host, &bits);
    const size_t end = host + walk_front(version, in + host, len - host, &bits, host_len, &slash);
    if (end == host) {
        return false;
    }
    if (end < len && in[end] == '?') {
        return fast_query(url, in, full_len, len, end + 1, slash, &bits, buf, cap, out,
                          query_kernel, rank);
    }
    if (end < len && unseen__url_rule(url, UNSEEN__RULE_KEEP_FRAGMENT)) {
        return false;
    }
    if (slash && cap > end) {
        write_front(in, end, true, buf);
        return answer(out, UNSEEN_URL_REWRITTEN, buf, end + 1);
    }
    return !slash && answer_front(out, in, full_len, end);
}

static bool fast_1_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                            size_t cap, struct unseen_canon *out)
{
    return fast(1, url, in, len, buf, cap, out, front_portable, query_portable, rank_portable);
}

static bool fast_2_portable(const struct unseen_url *url, const char *in, size_t len, char *buf,
                            size_t cap, struct unseen_canon *out)
{
    return fast(2, url, in, len, buf, cap, out, front_portable, query_portable, rank_portable);
}

#if UNSEEN_X86
UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")
static bool fast_1_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                        size_t cap, struct unseen_canon *out)
{
    return fast(1, url, in, len, buf, cap, out, front_1_avx2, query_avx2, rank_avx2);
}

UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")
static bool fast_2_avx2(const struct unseen_url *url, const char *in, size_t len, char *buf,
                        size_t cap, struct unseen_canon *out)
{
    return fast(2, url, in, len, buf, cap, out, front_2_avx2, query_avx2, rank_avx2);
}
#endif

static unseen__url_fast_fn *select_fast(unsigned version, enum unseen_cpu cpu, uint32_t rules)
{
    (void)cpu; /* unused if there is no other level */
    if (rules & UNSEEN__RULE_SPLIT_SEMICOLONS) {
        return NULL;
    }
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX2 || cpu == UNSEEN_CPU_AVX512) {
        return version == 1 ? fast_1_avx2 : fast_2_avx2;
    }
#endif
    return version == 1 ? fast_1_portable : fast_2_portable;
}

unseen__url_fast_fn *unseen__url_scrapy_fast(enum unseen_cpu cpu, uint32_t rules)
{
    return select_fast(1, cpu, rules);
}

unseen__url_fast_fn *unseen__url_scrapy_2_fast(enum unseen_cpu cpu, uint32_t rules)
{
    return select_fast(2, cpu, rules);
}
