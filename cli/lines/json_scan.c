/* SPDX-License-Identifier: MIT
 *
 * Most bytes of a record are inside strings. Masks of the quotes and backslashes in 64 bytes find
 * the quote that ends a string. SSE2 is part of every x86-64, so nothing is chosen at run time.
 * Elsewhere, and in the last bytes of a line, memchr finds a quote, and the number of backslashes
 * in front of it says whether it is escaped.
 *
 * Values off the path are skipped: brackets are counted, nothing else is looked at. The scan goes
 * on to the end of the record even if the value has been found, because a later member of the same
 * name counts, and because a cut record has no key. */
#include "lines/json_scan.h"

#include <stdint.h>
#include <string.h>

#include "characters.h"
#include "print/print_utf8.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define SCAN_SSE2 1
#else
#define SCAN_SSE2 0
#endif

struct scan {
    const char *at;
    const char *end;
    struct unseen_bytes found; /* data NULL: nothing so far */
};

/* What a byte means outside of strings. */
enum {
    PLAIN,
    SPACE = 1,
    COMMA = 2, /* or colon */
    QUOTE = 4,
    OPEN = 8,
    CLOSE = 16
};

static const unsigned char meaning[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, [','] = COMMA, [':'] = COMMA,
    ['"'] = QUOTE, ['['] = OPEN,   ['{'] = OPEN,   [']'] = CLOSE,  ['}'] = CLOSE,
};

static unsigned meaning_of(char c)
{
    return meaning[(unsigned char)c];
}

/* ---- Parts of JSON --------------------------------------------------------------------------- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && meaning_of(*at) == SPACE) {
        at++;
    }
    return at;
}

/* json_string_end by memchr. */
static const char *string_end_bytes(const char *at, const char *end)
{
    const char *quote = NULL;
    for (const char *from = at; from < end; from = quote + 1) {
        quote = memchr(from, '"', (size_t)(end - from));
        if (!quote) {
            return NULL;
        }
        const char *slash = quote;
        while (slash > from && slash[-1] == '\\') {
            slash--;
        }
        if (((quote - slash) & 1) == 0) {
            return quote;
        }
    }
    return NULL;
}

#if SCAN_SSE2

/* Bit i says that p[i] is the byte. */
static inline unsigned mask16(const char *p, char byte)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

static inline uint64_t mask64(const char *p, char byte)
{
    return mask16(p, byte) | (uint64_t)mask16(p + 16, byte) << 16 |
           (uint64_t)mask16(p + 32, byte) << 32 | (uint64_t)mask16(p + 48, byte) << 48;
}

/* Bit i says that an odd number of backslashes stands in front of byte i, as in [Langdale19, sec.
 * 3.1.1]. *carry is the bit of byte 64. The sum of runs and the starts of runs at odd places
 * carries a bit behind each of these runs. */
static inline uint64_t escaped_bytes(uint64_t slashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;
    slashes &= ~*carry;
    const uint64_t behind = slashes << 1 | *carry;
    const uint64_t odd_starts = slashes & ~even & ~behind;
    const uint64_t sum = odd_starts + slashes;
    *carry = sum < slashes;
    return (even ^ sum << 1) & behind;
}

const char *json_string_end(const char *at, const char *end)
{
    /* Most strings are short and have no escapes. */
    for (int i = 0; i < 4 && end - at >= 16; i++, at += 16) {
        const unsigned quotes = mask16(at, '"');
        if (mask16(at, '\\')) {
            break;
        }
        if (quotes) {
            return at + __builtin_ctz(quotes);
        }
    }
    uint64_t carry = 0;
    for (; end - at >= 64; at += 64) {
        const uint64_t slashes = mask64(at, '\\');
        const uint64_t quotes = mask64(at, '"') & ~escaped_bytes(slashes, &carry);
        if (quotes) {
            return at + __builtin_ctzll(quotes);
        }
    }
    return string_end_bytes(at + carry, end);
}

#else

const char *json_string_end(const char *at, const char *end)
{
    return string_end_bytes(at, end);
}

#endif

static const char *bare_end(const char *at, const char *end)
{
    while (at < end && meaning_of(*at) == PLAIN) {
        at++;
    }
    return at;
}

/* The value of four hexadecimal digits; -1: they are not. */
static int hex4(const char *at, const char *end)
{
    int value = 0;
    if (end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        const int digit = hex_value(at[i]);
        if (digit < 0) {
            return -1;
        }
        value = value << 4 | digit;
    }
    return value;
}

size_t json_unescape(const char **at, const char *end, char out[JSON_BYTES_MAX])
{
    static const char letters[] = "\"\\/bfnrt";
    static const char bytes[] = "\"\\/\b\f\n\r\t";
    const char *p = *at + 1;
    if (p == end) {
        return 0;
    }
    if (*p != 'u') {
        const char *letter = memchr(letters, *p, sizeof(letters) - 1);
        if (!letter) {
            return 0;
        }
        out[0] = bytes[letter - letters];
        *at = p + 1;
        return 1;
    }
    const int code = hex4(p + 1, end);
    if (code < 0) {
        return 0;
    }
    p += 5;
    const bool is_first = code >= 0xd800 && code < 0xdc00 && end - p >= 6;
    const int low = is_first && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
    if (low >= 0xdc00 && low < 0xe000) {
        *at = p + 6;
        return utf8_put(0x10000u + ((unsigned)(code - 0xd800) << 10) + (unsigned)(low - 0xdc00),
                        out);
    }
    *at = p;
    return utf8_put((unsigned)code, out);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool has_escape(struct unseen_bytes text)
{
    return text.len > 0 && memchr(text.data, '\\', text.len);
}

/* Bytes of a text, one by one. */
struct bytes_of {
    const char *at;
    const char *end;
    char decoded[JSON_BYTES_MAX];
    size_t ndecoded;
    size_t ntaken;
};

/* The next byte, or -1 at the end. */
static int next_byte(struct bytes_of *b)
{
    if (b->ntaken == b->ndecoded) {
        if (b->at == b->end) {
            return -1;
        }
        b->ntaken = 0;
        b->ndecoded = *b->at == '\\' ? json_unescape(&b->at, b->end, b->decoded) : 0;
        if (b->ndecoded == 0) {
            b->decoded[0] = *b->at++;
            b->ndecoded = 1;
        }
    }
    return (unsigned char)b->decoded[b->ntaken++];
}

/* True if two texts as between quotes mean the same. A sequence that is not valid is compared as it
 * stands. */
static bool mean_the_same(struct unseen_bytes a, struct unseen_bytes b)
{
    struct bytes_of x = {.at = a.data, .end = a.data + a.len};
    struct bytes_of y = {.at = b.data, .end = b.data + b.len};
    int left = 0;
    int right = 0;
    while (left == right && left >= 0) {
        left = next_byte(&x);
        right = next_byte(&y);
    }
    return left == right;
}

static bool is_member(const struct json_step *step, struct unseen_bytes name)
{
    if (!step->name.data) {
        return false;
    }
    if (name.len == step->name.len && memcmp(name.data, step->name.data, name.len) == 0) {
        return true;
    }
    return (has_escape(name) || has_escape(step->name)) && mean_the_same(name, step->name);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool skip_string(struct scan *s)
{
    const char *quote = json_string_end(s->at + 1, s->end);
    s->at = quote ? quote + 1 : s->end;
    return quote != NULL;
}

static bool skip_container(struct scan *s)
{
    size_t depth = 0;
    do {
        while (s->at < s->end && meaning_of(*s->at) < QUOTE) {
            s->at++;
        }
        if (s->at == s->end) {
            return false;
        }
        const unsigned what = meaning_of(*s->at);
        if (what == QUOTE) {
            if (!skip_string(s)) {
                return false;
            }
        } else {
            depth += what == OPEN ? 1 : SIZE_MAX; /* one more, or one less */
            s->at++;
        }
    } while (depth > 0);
    return true;
}

static bool skip_value(struct scan *s)
{
    if (s->at == s->end) {
        return false;
    }
    switch (meaning_of(*s->at)) {
    case QUOTE:
        return skip_string(s);
    case OPEN:
        return skip_container(s);
    default: {
        const char *begin = s->at;
        s->at = bare_end(begin, s->end);
        return s->at > begin;
    }
    }
}

static bool skip_byte(struct scan *s, char c)
{
    s->at = skip_space(s->at, s->end);
    const bool found = s->at < s->end && *s->at == c;
    s->at += found;
    return found;
}

static bool walk(struct scan *s, const struct json_step *step, size_t nsteps);

/* Takes the value in front if it is on the path, and skips it otherwise. What was found before, in
 * an earlier member of the same name, does not count any more. */
static bool walk_or_skip(struct scan *s, const struct json_step *step, size_t nsteps, bool is_on)
{
    s->at = skip_space(s->at, s->end);
    if (!is_on) {
        return skip_value(s);
    }
    s->found.data = NULL;
    return walk(s, step + 1, nsteps - 1);
}

static bool walk_object(struct scan *s, const struct json_step *step, size_t nsteps)
{
    s->at++;
    if (skip_byte(s, '}')) {
        return true;
    }
    do {
        s->at = skip_space(s->at, s->end);
        const char *name = s->at + 1;
        if (s->at == s->end || *s->at != '"' || !skip_string(s)) {
            return false;
        }
        const size_t len = (size_t)(s->at - name) - 1;
        if (!skip_byte(s, ':') ||
            !walk_or_skip(s, step, nsteps, is_member(step, (struct unseen_bytes){name, len}))) {
            return false;
        }
    } while (skip_byte(s, ','));
    return skip_byte(s, '}');
}

static bool walk_array(struct scan *s, const struct json_step *step, size_t nsteps)
{
    size_t i = 0;
    s->at++;
    if (skip_byte(s, ']')) {
        return true;
    }
    do {
        if (!walk_or_skip(s, step, nsteps, i++ == step->index)) {
            return false;
        }
    } while (skip_byte(s, ','));
    return skip_byte(s, ']');
}

/* Moves behind the value in front, and finds what is at the end of the path in it. False if the
 * value is not complete. It calls itself once for a step of the path, however deep the line is. */
static bool walk(struct scan *s, const struct json_step *step, size_t nsteps)
{
    if (nsteps > 0 && s->at < s->end && *s->at == '{') {
        return walk_object(s, step, nsteps);
    }
    if (nsteps > 0 && s->at < s->end && *s->at == '[') {
        return walk_array(s, step, nsteps);
    }
    const char *begin = s->at;
    if (!skip_value(s)) {
        return false;
    }
    if (nsteps == 0) {
        s->found = (struct unseen_bytes){begin, (size_t)(s->at - begin)};
    }
    return true;
}

bool json_find(struct unseen_bytes line, const struct json_step *steps, size_t nsteps, int behind,
               struct unseen_bytes *value_out)
{
    struct scan s = {.at = line.data, .end = line.data + line.len};
    if (line.len >= 3 && memcmp(line.data, "\xef\xbb\xbf", 3) == 0) {
        s.at += 3;
    }
    s.at = skip_space(s.at, s.end);
    if (!walk(&s, steps, nsteps) || !s.found.data) {
        return false;
    }
    *value_out = s.found;
    if (s.at < s.end && (unsigned char)*s.at == behind) {
        return true;
    }
    s.at = skip_space(s.at, s.end);
    return s.at == s.end || (unsigned char)*s.at == behind;
}
