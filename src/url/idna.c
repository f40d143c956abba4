/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII (WHATWG URL standard, section 3.3; UTS 46 with CheckHyphens and VerifyDnsLength
 * off, CheckBidi and CheckJoiners on, not transitional).
 *
 * ASCII domains, which is to say nearly all, are lower-cased and never fail. Others go to
 * libidn2, which has the Unicode tables. It implements IDNA2008 on top of UTS 46, and so refuses
 * what UTS 46 and browsers take: symbols and emoji, hyphens in some places, long names. For these
 * there is a second way, the plain mapping. Its idea: a symbol is its own mapping, so cut the name
 * at symbols and ASCII, let libidn2 map each run of letters in between, and put it together again:
 *
 *     i♥-ÄB.de  ->  "i" ♥ "-" libidn2("Ä") "b"  ->  i♥-äb  ->  xn--i-b-...
 *
 * What it gives up is the check of a label as a whole for the rule of right-to-left scripts.
 * Code points newer than libidn2's tables are refused. */
#include "url/host.h"

#include <string.h>

#include <idn2.h>

#include "url/punycode.h"

/* The most code points of a name that is not ASCII; DNS has room for 253 bytes. It bounds the
 * time, which is quadratic in it, and the memory. */
enum {
    NAME_MAX_POINTS = 512,
    RUN_MAX_POINTS = 48,
    UTF8_MAX = 4
};

struct points {
    uint32_t point[NAME_MAX_POINTS];
    size_t n;
};

static bool push(struct points *to, uint32_t point)
{
    if (to->n == NAME_MAX_POINTS) {
        return false;
    }
    to->point[to->n++] = point;
    return true;
}

/* ---- UTF-8 ------------------------------------------------------------------------------------*/

/* Reads one code point; 0 bytes for what is not UTF-8. */
static size_t read_utf8(const unsigned char *in, size_t len, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (in[0] < 0x80) {
        *point = in[0];
        return 1;
    }
    const size_t n = in[0] >= 0xf0 ? 4 : in[0] >= 0xe0 ? 3 : 2;
    if (in[0] < 0xc2 || in[0] > 0xf4 || n > len) {
        return 0;
    }
    uint32_t value = in[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((in[i] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (in[i] & 0x3fu);
    }
    *point = value;
    return value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : n;
}

static char *write_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
        return out;
    }
    const int nmore = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const unsigned mark = 0xff00u >> (nmore + 1) & 0xff;
    *out++ = (char)(mark | point >> (6 * nmore));
    for (int i = nmore - 1; i >= 0; i--) {
        *out++ = (char)(0x80 | (point >> (6 * i) & 0x3f));
    }
    return out;
}

/* ---- Tables -----------------------------------------------------------------------------------*/

struct range {
    uint32_t first;
    uint32_t last;
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t point)
{
    for (size_t i = 0; i < n; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

#define IN_RANGES(ranges, point) in_ranges((ranges), sizeof(ranges) / sizeof((ranges)[0]), (point))

/* Mapped to nothing by UTS 46. */
static const struct range ignored[] = {
    {0xad, 0xad},     {0x34f, 0x34f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200b}, {0x2060, 0x2060}, {0x2064, 0x2064},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0100, 0xe01ef},
};

/* Never valid, although libidn2 gives the same reason for them as for a symbol: controls, format
 * characters, noncharacters, private use, and symbols that contain a dot. */
static const struct range never_valid[] = {
    {0, 0x1f},          {0x7f, 0x9f},        {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},      {0x890, 0x891},     {0x8e2, 0x8e2},
    {0x1680, 0x1680},   {0x17ff, 0x17ff},    {0x2024, 0x2026},   {0x2488, 0x249b},
    {0xfe12, 0xfe12},   {0x200e, 0x200f},    {0x2028, 0x202e},   {0x2061, 0x2063},
    {0x2065, 0x206f},   {0xe000, 0xf8ff},    {0xfdd0, 0xfdef},   {0xfff0, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd},  {0x13430, 0x1343f}, {0x1fffe, 0x1ffff},
    {0x2fffe, 0x2ffff}, {0x3fffe, 0x10ffff},
};

/* Mappings that UTS 46 has and libidn2's tables lack or have otherwise: capitals of scripts that
 * got small letters late, the capital sharp s, the dots of other scripts, and five ideographs
 * whose mapping was corrected. */
static const struct {
    struct range from;
    uint32_t to;
} newer_mappings[] = {
    {{0x4c0, 0x4c0}, 0x4cf},      {{0x10a0, 0x10c5}, 0x2d00},   {{0x10c7, 0x10c7}, 0x2d27},
    {{0x10cd, 0x10cd}, 0x2d2d},   {{0x1e9e, 0x1e9e}, 0xdf},     {{0x2132, 0x2132}, 0x214e},
    {{0x2183, 0x2183}, 0x2184},   {{0x3002, 0x3002}, '.'},      {{0xff0e, 0xff0e}, '.'},
    {{0xff61, 0xff61}, '.'},      {{0x2f868, 0x2f868}, 0x36fc}, {{0x2f874, 0x2f874}, 0x5f33},
    {{0x2f91f, 0x2f91f}, 0x43ab}, {{0x2f95f, 0x2f95f}, 0x7aae}, {{0x2f9bf, 0x2f9bf}, 0x4d57},
};

static uint32_t newer_mapping(uint32_t point)
{
    for (size_t i = 0; i < sizeof(newer_mappings) / sizeof(newer_mappings[0]); i++) {
        const struct range from = newer_mappings[i].from;
        if (point >= from.first && point <= from.last) {
            return newer_mappings[i].to + (point - from.first);
        }
    }
    return point >= 'A' && point <= 'Z' ? point | 0x20 : point;
}

/* The three symbols that a combining stroke makes of an ASCII character; 0 for none. */
static uint32_t with_stroke(uint32_t point)
{
    return point == '<' ? 0x226e : point == '=' ? 0x2260 : point == '>' ? 0x226f : 0;
}

/* Hangul syllables from their parts (Unicode standard, section 3.12): *last and the next code
 * point make one syllable, which replaces *last; false if they do not. */
static bool compose_hangul(uint32_t *last, uint32_t point)
{
    enum {
        S = 0xac00,
        L = 0x1100,
        V = 0x1161,
        T = 0x11a7,
        NL = 19,
        NV = 21,
        NT = 28
    };
    if (*last - L < NL && point - V < NV) {
        *last = S + ((*last - L) * NV + (point - V)) * NT;
        return true;
    }
    if (*last - S < NL * NV * NT && (*last - S) % NT == 0 && point - T - 1 < NT - 1) {
        *last += point - T;
        return true;
    }
    return false;
}

/* Decodes the name and maps what needs no libidn2. */
static bool read_name(const char *in, size_t len, struct points *name)
{
    name->n = 0;
    for (size_t i = 0; i < len;) {
        uint32_t point;
        const size_t n = read_utf8((const unsigned char *)in + i, len - i, &point);
        if (n == 0) {
            return false;
        }
        i += n;
        uint32_t none = 0;
        uint32_t *const last = name->n > 0 ? &name->point[name->n - 1] : &none;
        if (point == 0x338 && with_stroke(*last)) {
            *last = with_stroke(*last);
        } else if (!IN_RANGES(ignored, point) && !compose_hangul(last, point) &&
                   !push(name, newer_mapping(point))) {
            return false;
        }
    }
    return true;
}

/* ---- libidn2 ----------------------------------------------------------------------------------*/

static bool is_alabel(const char *label, size_t len)
{
    return len >= 4 && memcmp(label, "xn--", 4) == 0;
}

/* Appends the code points that an ASCII name stands for. */
static bool append_decoded(const char *name, struct points *to)
{
    for (;;) {
        const size_t len = strcspn(name, ".");
        if (is_alabel(name, len)) {
            size_t n;
            if (!unseen__punycode_decode(name + 4, len - 4, to->point + to->n,
                                         NAME_MAX_POINTS - to->n, &n)) {
                return false;
            }
            to->n += n;
        } else {
            for (size_t i = 0; i < len; i++) {
                if (!push(to, (unsigned char)name[i])) {
                    return false;
                }
            }
        }
        if (!name[len]) {
            return true;
        }
        if (!push(to, '.')) {
            return false;
        }
        name += len + 1;
    }
}

/* Lets libidn2 convert the code points to an ASCII name, which the caller frees with idn2_free. */
static int lookup(const uint32_t *points, size_t n, char **ascii_out)
{
    char text[NAME_MAX_POINTS * UTF8_MAX + 1];
    char *end = text;
    for (size_t i = 0; i < n; i++) {
        if (points[i] == 0) {
            return IDN2_DISALLOWED;
        }
        end = write_utf8(end, points[i]);
    }
    *end = '\0';
    return idn2_lookup_u8((const uint8_t *)text, (uint8_t **)ascii_out, IDN2_NONTRANSITIONAL);
}

/* ---- The plain mapping ------------------------------------------------------------------------*/

/* Appends what libidn2 makes of a run of letters. */
static bool map_run(const uint32_t *points, size_t n, struct points *to)
{
    char *ascii = NULL;
    if (n == 0) {
        return true;
    }
    if (lookup(points, n, &ascii) != IDN2_OK) {
        return false;
    }
    const bool fits = append_decoded(ascii, to);
    idn2_free(ascii);
    return fits;
}

enum kind {
    LETTER, /* libidn2 maps it, alone or after other letters */
    SYMBOL, /* stays as it is */
    INVALID
};

static enum kind kind_of(uint32_t point)
{
    if (point < 0x80) {
        return SYMBOL;
    }
    char *ascii = NULL;
    switch (lookup(&point, 1, &ascii)) {
    case IDN2_OK:
        idn2_free(ascii);
        return LETTER;
    case IDN2_LEADING_COMBINING:
    case IDN2_CONTEXTJ:
    case IDN2_CONTEXTJ_NO_RULE:
    case IDN2_BIDI:
        return LETTER;
    case IDN2_CONTEXTO:
    case IDN2_CONTEXTO_NO_RULE:
        return SYMBOL;
    case IDN2_DISALLOWED:
        return IN_RANGES(never_valid, point) ? INVALID : SYMBOL;
    default:
        return INVALID;
    }
}

static bool is_ascii_alnum(uint32_t point)
{
    return (point >= '0' && point <= '9') || (point >= 'a' && point <= 'z');
}

static bool is_mark(uint32_t point)
{
    char *ascii = NULL;
    const int error = lookup(&point, 1, &ascii);
    idn2_free(ascii);
    return error == IDN2_LEADING_COMBINING;
}

/* Maps one label. A letter of ASCII directly before a run goes with it, for a combining mark may
 * follow. Marks after a symbol or a hyphen cannot combine with it and stay as they are. */
static bool map_label(const uint32_t *points, size_t n, struct points *to)
{
    for (size_t i = 0; i < n;) {
        const bool base = is_ascii_alnum(points[i]);
        size_t end = i + base;
        enum kind kind = SYMBOL;
        while (end < n && end - i < RUN_MAX_POINTS && (kind = kind_of(points[end])) == LETTER) {
            end++;
        }
        if (kind == INVALID) {
            return false;
        }
        const bool run = end > i + base;
        if (run && !map_run(points + i, end - i, to)) {
            if (i == 0 || !is_mark(points[i])) {
                return false;
            }
            end = i + 1;
            if (!push(to, points[i])) {
                return false;
            }
        }
        if (!run) {
            end = i + 1;
            if (!push(to, points[i])) {
                return false;
            }
        }
        i = end;
    }
    return true;
}

static bool map_name(const struct points *name, struct points *mapped)
{
    mapped->n = 0;
    for (size_t start = 0; start <= name->n;) {
        size_t end = start;
        while (end < name->n && name->point[end] != '.') {
            end++;
        }
        if (!map_label(name->point + start, end - start, mapped) ||
            (end < name->n && !push(mapped, '.'))) {
            return false;
        }
        start = end + 1;
    }
    return true;
}

/* A label in ASCII that claims to be an encoded one must decode to a valid label that is mapped
 * already. */
static bool valid_alabel(const uint32_t *points, size_t n)
{
    char text[NAME_MAX_POINTS];
    struct points decoded;
    struct points mapped = {.n = 0};
    bool other = false;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)points[i];
    }
    if (!is_alabel(text, n)) {
        return true;
    }
    if (!unseen__punycode_decode(text + 4, n - 4, decoded.point, NAME_MAX_POINTS, &decoded.n)) {
        return false;
    }
    for (size_t i = 0; i < decoded.n; i++) {
        other |= decoded.point[i] >= 0x80;
        if (IN_RANGES(ignored, decoded.point[i]) ||
            newer_mapping(decoded.point[i]) != decoded.point[i]) {
            return false;
        }
    }
    return other && map_label(decoded.point, decoded.n, &mapped) && mapped.n == decoded.n &&
           memcmp(mapped.point, decoded.point, mapped.n * sizeof(uint32_t)) == 0;
}

/* Writes a mapped label as ASCII. */
static bool encode_label(const uint32_t *points, size_t n, char *out, size_t cap, size_t *out_len)
{
    bool ascii = true;
    for (size_t i = 0; i < n; i++) {
        ascii &= points[i] < 0x80;
    }
    if (ascii) {
        if (n > cap || !valid_alabel(points, n)) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            out[i] = (char)points[i];
        }
        *out_len = n;
        return true;
    }
    const bool claims =
        n >= 4 && points[0] == 'x' && points[1] == 'n' && points[2] == '-' && points[3] == '-';
    if (claims || cap < 4 || !unseen__punycode_encode(points, n, out + 4, cap - 4, out_len)) {
        return false;
    }
    memcpy(out, "xn--", 4);
    *out_len += 4;
    return true;
}

static bool plain_mapping(const struct points *name, char *out, size_t cap, size_t *out_len)
{
    struct points mapped;
    if (!map_name(name, &mapped)) {
        return false;
    }
    size_t n = 0;
    for (size_t start = 0; start <= mapped.n;) {
        size_t end = start;
        while (end < mapped.n && mapped.point[end] != '.') {
            end++;
        }
        size_t label_len;
        if (!encode_label(mapped.point + start, end - start, out + n, cap - n, &label_len)) {
            return false;
        }
        n += label_len;
        if (end < mapped.n) {
            if (n == cap) {
                return false;
            }
            out[n++] = '.';
        }
        start = end + 1;
    }
    *out_len = n;
    return true;
}

/* ---- Domain to ASCII --------------------------------------------------------------------------*/

/* Does libidn2's reason to refuse a name hold under UTS 46, too? */
static bool is_final(int error)
{
    return error == IDN2_BIDI || error == IDN2_LEADING_COMBINING || error == IDN2_CONTEXTJ ||
           error == IDN2_CONTEXTJ_NO_RULE || error == IDN2_ENCODING_ERROR;
}

static bool ascii_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (len > cap) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        out[i] = in[i] >= 'A' && in[i] <= 'Z' ? (char)(in[i] | 0x20) : in[i];
    }
    *out_len = len;
    return true;
}

static bool is_ascii(const char *in, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++) {
        all |= (unsigned char)in[i];
    }
    return all < 0x80;
}

bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (is_ascii(in, len)) {
        return ascii_to_ascii(in, len, out, cap, out_len);
    }
    struct points name;
    if (!read_name(in, len, &name)) {
        return false;
    }
    char *ascii = NULL;
    const int error = lookup(name.point, name.n, &ascii);
    if (error != IDN2_OK) {
        return !is_final(error) && plain_mapping(&name, out, cap, out_len);
    }
    const bool fits = ascii_to_ascii(ascii, strlen(ascii), out, cap, out_len);
    idn2_free(ascii);
    return fits;
}
