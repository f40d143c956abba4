/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII (WHATWG URL standard, section 3.3; UTS 46 with CheckHyphens and VerifyDnsLength
 * off, CheckBidi and CheckJoiners on, not transitional).
 *
 * Nearly all domains are ASCII: they are lower-cased and never fail. Others go to libidn2, which
 * has the Unicode tables. It implements IDNA2008 on top of UTS 46, and so refuses names that UTS 46
 * and browsers take: symbols and emoji, hyphens in some positions, long names. For these names
 * there is a second way, the plain mapping. It uses that libidn2, when asked for transitional
 * processing, maps and normalises by UTS 46 and leaves out the tests of IDNA2008. So the name is
 * cut at ASCII characters and at those that only transitional processing maps, libidn2 maps each
 * run in between, and the results are put together again:
 *
 *     i♥-ÄB.de  ->  libidn2("i♥") "-" libidn2("Ä") "b"  ->  i♥-äb  ->  xn--i-b-...
 *
 * The tests that UTS 46 has, too, are made afterwards: libidn2 gets each label once more, with a
 * stand-in for each symbol.
 *
 * Code points newer than libidn2 are in a table. */
#include "url/host.h"

#include <string.h>

#include <idn2.h>

#include "base/utf8.h"
#include "url/ascii.h"
#include "url/punycode.h"

/* The most code points of a name that is not ASCII; DNS has room for 253 bytes. The limit bounds
 * the memory, and the time, which is quadratic. */
enum {
    NAME_MAX_POINTS = 512,
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

/* Mapped to nothing by UTS 46. */
static const struct point_range ignored[] = {
    {0xad, 0xad},     {0x34f, 0x34f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200b}, {0x2060, 0x2064}, {0x206a, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0100, 0xe01ef},
};

/* Valid by UTS 46 in Unicode 17, and unknown to libidn2 2.3.3. */
static const struct point_range newer_valid[] = {
    {0x88f, 0x88f},     {0x897, 0x897},     {0xc5c, 0xc5c},     {0xcdc, 0xcdc},
    {0xcf3, 0xcf3},     {0xece, 0xece},     {0x1806, 0x1806},   {0x1acf, 0x1add},
    {0x1ae0, 0x1aeb},   {0x1b4e, 0x1b4f},   {0x1b7f, 0x1b7f},   {0x1c8a, 0x1c8a},
    {0x20c1, 0x20c1},   {0x2427, 0x2429},   {0x2b96, 0x2b96},   {0x31e4, 0x31e5},
    {0xa7cd, 0xa7cd},   {0xa7cf, 0xa7cf},   {0xa7db, 0xa7db},   {0xfbc3, 0xfbd2},
    {0xfd90, 0xfd91},   {0xfdc8, 0xfdce},   {0x105c0, 0x105f3}, {0x10940, 0x10959},
    {0x10d40, 0x10d4f}, {0x10d69, 0x10d85}, {0x10d8e, 0x10d8f}, {0x10ec2, 0x10ec7},
    {0x10ed0, 0x10ed8}, {0x10efa, 0x10eff}, {0x1123f, 0x11241}, {0x11380, 0x11389},
    {0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113c0},
    {0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d5},
    {0x113d7, 0x113d8}, {0x113e1, 0x113e2}, {0x116d0, 0x116e3}, {0x11b00, 0x11b09},
    {0x11b60, 0x11b67}, {0x11bc0, 0x11be1}, {0x11bf0, 0x11bf9}, {0x11db0, 0x11ddb},
    {0x11de0, 0x11de9}, {0x11f00, 0x11f10}, {0x11f12, 0x11f3a}, {0x11f3e, 0x11f5a},
    {0x1342f, 0x1342f}, {0x13440, 0x13455}, {0x13460, 0x143fa}, {0x16100, 0x16139},
    {0x16d40, 0x16d79}, {0x16ebb, 0x16ed3}, {0x16ff2, 0x16ff6}, {0x187f8, 0x187ff},
    {0x18cff, 0x18cff}, {0x18d09, 0x18d1e}, {0x18d80, 0x18df2}, {0x1b132, 0x1b132},
    {0x1b155, 0x1b155}, {0x1cc00, 0x1ccd5}, {0x1ccfa, 0x1ccfc}, {0x1cd00, 0x1ceb3},
    {0x1ceba, 0x1ced0}, {0x1cee0, 0x1cef0}, {0x1d2c0, 0x1d2d3}, {0x1df25, 0x1df2a},
    {0x1e08f, 0x1e08f}, {0x1e4d0, 0x1e4f9}, {0x1e5d0, 0x1e5fa}, {0x1e5ff, 0x1e5ff},
    {0x1e6c0, 0x1e6de}, {0x1e6e0, 0x1e6f5}, {0x1e6fe, 0x1e6ff}, {0x1f6d8, 0x1f6d8},
    {0x1f6dc, 0x1f6dc}, {0x1f774, 0x1f77f}, {0x1f7d9, 0x1f7d9}, {0x1f8b2, 0x1f8bb},
    {0x1f8c0, 0x1f8c1}, {0x1f8d0, 0x1f8d8}, {0x1fa54, 0x1fa57}, {0x1fa75, 0x1fa77},
    {0x1fa87, 0x1fa8a}, {0x1fa8e, 0x1fa8f}, {0x1faad, 0x1faaf}, {0x1fabb, 0x1fabf},
    {0x1fac6, 0x1fac6}, {0x1fac8, 0x1fac8}, {0x1facd, 0x1facf}, {0x1fada, 0x1fadc},
    {0x1fadf, 0x1fadf}, {0x1fae8, 0x1faea}, {0x1faef, 0x1faef}, {0x1faf7, 0x1faf8},
    {0x1fbcb, 0x1fbef}, {0x1fbfa, 0x1fbfa}, {0x2b739, 0x2b73f}, {0x2cea2, 0x2cead},
    {0x2ebf0, 0x2ee5d}, {0x31350, 0x33479},
};

/* The blocks of right-to-left scripts, without some symbols in them. */
static const struct point_range right_to_left[] = {
    {0x590, 0x8ff},   {0xfb1d, 0xfd3d},   {0xfd50, 0xfdcd},   {0xfdf0, 0xfdfc},
    {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff},
};

/* What is not a letter in these blocks, of the code points that need a stand-in: symbols without a
 * direction (classes ON, ET and CS of the bidirectional algorithm), marks (NSM), and signs and
 * numbers that belong to Arabic digits (AN). */
static const struct point_range undirected[] = {
    {0x606, 0x607},     {0x609, 0x60a},     {0x60c, 0x60c},     {0x60e, 0x60f},
    {0x66a, 0x66a},     {0x6de, 0x6de},     {0x6e9, 0x6e9},     {0x7f6, 0x7f9},
    {0xfbc3, 0xfbd2},   {0xfd90, 0xfd91},   {0xfdc8, 0xfdcd},   {0x1091f, 0x1091f},
    {0x10b39, 0x10b3f}, {0x10d6e, 0x10d6e}, {0x10ed0, 0x10ed8}, {0x1eef0, 0x1eef1},
};
static const struct point_range newer_marks[] = {
    {0x897, 0x897}, {0x10d69, 0x10d6d}, {0x10efa, 0x10eff}};
static const struct point_range arabic_numbers[] = {{0x66b, 0x66c}, {0x10e60, 0x10e7e}};

/* Digits that a label must not mix (RFC 5893, section 2, rule 4): Arabic ones, and those that go
 * from left to right, also in the forms that are mapped to them. */
static const struct point_range arabic_digits[] = {
    {0x660, 0x669}, {0x66b, 0x66c}, {0x10d30, 0x10d39}, {0x10e60, 0x10e7e}};
static const struct point_range european_digits[] = {
    {'0', '9'},       {0xb2, 0xb3},     {0xb9, 0xb9},     {0x6f0, 0x6f9},     {0x2070, 0x2070},
    {0x2074, 0x2079}, {0x2080, 0x2089}, {0xff10, 0xff19}, {0x1d7ce, 0x1d7ff}, {0x1fbf0, 0x1fbf9},
};

struct mapping {
    struct point_range from;
    uint32_t to;
};

/* Mappings that UTS 46 has and libidn2's tables lack or have otherwise: capitals of scripts that
 * got small letters late, the capital sharp s, the dots of other scripts, letters and digits from
 * old computers, and five ideographs whose mapping was corrected. Two hyphens are here because
 * libidn2 takes none at the end of a run. */
static const struct mapping newer_mappings[] = {
    {{0x4c0, 0x4c0}, 0x4cf},
    {{0x10a0, 0x10c5}, 0x2d00},
    {{0x10c7, 0x10c7}, 0x2d27},
    {{0x10cd, 0x10cd}, 0x2d2d},
    {{0x1c89, 0x1c89}, 0x1c8a},
    {{0x1e9e, 0x1e9e}, 0xdf},
    {{0x2132, 0x2132}, 0x214e},
    {{0x2183, 0x2183}, 0x2184},
    {{0x3002, 0x3002}, '.'},
    {{0xa7cb, 0xa7cb}, 0x264},
    {{0xa7cc, 0xa7cc}, 0xa7cd},
    {{0xa7ce, 0xa7ce}, 0xa7cf},
    {{0xa7d2, 0xa7d2}, 0xa7d3},
    {{0xa7d4, 0xa7d4}, 0xa7d5},
    {{0xa7da, 0xa7da}, 0xa7db},
    {{0xa7dc, 0xa7dc}, 0x19b},
    {{0xa7f1, 0xa7f1}, 's'},
    {{0xfe63, 0xfe63}, '-'},
    {{0xff0d, 0xff0d}, '-'},
    {{0xff0e, 0xff0e}, '.'},
    {{0xff61, 0xff61}, '.'},
    {{0x10d50, 0x10d65}, 0x10d70},
    {{0x16ea0, 0x16eb8}, 0x16ebb},
    {{0x1ccd6, 0x1ccef}, 'a'},
    {{0x1ccf0, 0x1ccf9}, '0'},
    {{0x2f868, 0x2f868}, 0x36fc},
    {{0x2f874, 0x2f874}, 0x5f53},
    {{0x2f91f, 0x2f91f}, 0x243ab},
    {{0x2f95f, 0x2f95f}, 0x7aee},
    {{0x2f9bf, 0x2f9bf}, 0x45d7},
    /* Superscript and subscript letters of Cyrillic. */
    {{0x1e030, 0x1e038}, 0x430},
    {{0x1e039, 0x1e03b}, 0x43a},
    {{0x1e03c, 0x1e046}, 0x43e},
    {{0x1e047, 0x1e047}, 0x44b},
    {{0x1e048, 0x1e049}, 0x44d},
    {{0x1e04a, 0x1e04a}, 0xa689},
    {{0x1e04b, 0x1e04b}, 0x4d9},
    {{0x1e04c, 0x1e04c}, 0x456},
    {{0x1e04d, 0x1e04d}, 0x458},
    {{0x1e04e, 0x1e04e}, 0x4e9},
    {{0x1e04f, 0x1e04f}, 0x4af},
    {{0x1e050, 0x1e050}, 0x4cf},
    {{0x1e051, 0x1e059}, 0x430},
    {{0x1e05a, 0x1e05b}, 0x43a},
    {{0x1e05c, 0x1e05d}, 0x43e},
    {{0x1e05e, 0x1e05e}, 0x441},
    {{0x1e05f, 0x1e064}, 0x443},
    {{0x1e065, 0x1e066}, 0x44a},
    {{0x1e067, 0x1e067}, 0x491},
    {{0x1e068, 0x1e068}, 0x456},
    {{0x1e069, 0x1e069}, 0x455},
    {{0x1e06a, 0x1e06a}, 0x45f},
    {{0x1e06b, 0x1e06b}, 0x4ab},
    {{0x1e06c, 0x1e06c}, 0xa651},
    {{0x1e06d, 0x1e06d}, 0x4b1},
};

static uint32_t newer_mapping(uint32_t point)
{
    if (point < 0x80) {
        return (uint32_t)ascii_lower((char)point);
    }
    for (size_t i = 0; i < sizeof(newer_mappings) / sizeof(newer_mappings[0]); i++) {
        const struct point_range from = newer_mappings[i].from;
        if (point >= from.first && point <= from.last) {
            return newer_mappings[i].to + (point - from.first);
        }
    }
    return point;
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

/* Decodes the name, and makes the mappings that do not need libidn2. */
static bool read_name(const char *in, size_t len, struct points *name)
{
    name->n = 0;
    for (size_t i = 0; i < len;) {
        uint32_t point;
        const size_t n = unseen__utf8_read(in + i, len - i, &point);
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

/* Does a label have Arabic and other digits? libidn2 does not look. */
static bool mixes_digits(const struct points *name)
{
    bool arabic = false;
    bool european = false;
    for (size_t i = 0; i < name->n && !(arabic && european); i++) {
        const uint32_t point = name->point[i];
        const bool ends = point == '.';
        arabic = !ends && (arabic || IN_RANGES(arabic_digits, point));
        european = !ends && (european || IN_RANGES(european_digits, point));
    }
    return arabic && european;
}

/* ---- libidn2 ----------------------------------------------------------------------------------*/

/* Lets libidn2 convert the code points to an ASCII name, which the caller frees with idn2_free. */
static int lookup(const uint32_t *points, size_t n, int flags, char **ascii_out)
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
    return idn2_lookup_u8((const uint8_t *)text, (uint8_t **)ascii_out, flags);
}

/* The error of libidn2 for a code point that stands alone. */
static int lookup_one(uint32_t point)
{
    char *ascii = NULL;
    const int error = lookup(&point, 1, IDN2_NONTRANSITIONAL, &ascii);
    idn2_free(ascii);
    return error;
}

static bool is_mark(uint32_t point)
{
    return lookup_one(point) == IDN2_LEADING_COMBINING;
}

/* Does libidn2's reason to refuse a name hold under UTS 46, too? */
static bool is_final(int error)
{
    return error == IDN2_BIDI || error == IDN2_LEADING_COMBINING || error == IDN2_CONTEXTJ ||
           error == IDN2_CONTEXTJ_NO_RULE || error == IDN2_ENCODING_ERROR;
}

/* ---- The plain mapping ------------------------------------------------------------------------*/

static bool is_alabel(const char *label, size_t len)
{
    return len >= 4 && memcmp(label, "xn--", 4) == 0;
}

static bool is_too_long(int error)
{
    return error == IDN2_PUNYCODE_BIG_OUTPUT || error == IDN2_TOO_BIG_LABEL ||
           error == IDN2_TOO_BIG_DOMAIN;
}

/* A letter, an Egyptian hieroglyph, that goes in front of each run. With it any run is a label,
 * even a single mark, and the mapping of the run can be read from the Punycode of the label. */
static const uint32_t leader = 0x13000;

/* Where to cut a run: near the middle, and not in front of a mark if that is possible. */
static size_t find_middle(const uint32_t *points, size_t n)
{
    for (size_t i = n / 2; i > n / 4; i--) {
        if (!is_mark(points[i])) {
            return i;
        }
    }
    return n / 2;
}

/* Appends the mapping of a run. If the run makes too long a label, its halves are mapped. */
static bool map_run(const uint32_t *points, size_t n, struct points *to)
{
    uint32_t run[NAME_MAX_POINTS + 1] = {leader};
    char *ascii = NULL;
    memcpy(run + 1, points, n * sizeof(*points));
    const int error = n < NAME_MAX_POINTS
                          ? lookup(run, n + 1, IDN2_TRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP, &ascii)
                          : IDN2_TOO_BIG_LABEL;
    if (error != IDN2_OK) {
        const size_t half = find_middle(points, n);
        return is_too_long(error) && half > 0 && map_run(points, half, to) &&
               map_run(points + half, n - half, to);
    }
    size_t nmapped = 0;
    bool good =
        is_alabel(ascii, strlen(ascii)) &&
        unseen__punycode_decode(ascii + 4, strlen(ascii) - 4, run, NAME_MAX_POINTS + 1, &nmapped) &&
        run[0] == leader;
    for (size_t i = 1; good && i < nmapped; i++) {
        good = push(to, run[i]);
    }
    idn2_free(ascii);
    return good;
}

/* Sharp s, final sigma and the joiners, which transitional processing maps. */
static bool is_deviation(uint32_t point)
{
    return point == 0xdf || point == 0x3c2 || point == 0x200c || point == 0x200d;
}

static bool is_in_run(uint32_t point)
{
    return point >= 0x80 && !is_deviation(point) && !IN_RANGES(newer_valid, point);
}

static bool is_alnum(uint32_t point)
{
    return point < 0x80 && is_ascii_alnum((char)point);
}

/* Maps one label. An ASCII letter right before a run goes with the run, because a mark may
 * follow. */
static bool map_label(const uint32_t *points, size_t n, struct points *to)
{
    for (size_t i = 0; i < n;) {
        const size_t start = i;
        i += is_alnum(points[i]);
        while (i < n && is_in_run(points[i])) {
            i++;
        }
        if (i > start && is_in_run(points[i - 1])) {
            if (!map_run(points + start, i - start, to)) {
                return false;
            }
        } else {
            i = start + 1;
            if (!push(to, points[start])) {
                return false;
            }
        }
    }
    return true;
}

/* The stand-in for a symbol where only direction and position count: a letter of Hebrew, a letter
 * without a direction, a mark, or an Arabic digit. A letter stands for itself. */
static uint32_t stand_in(uint32_t point)
{
    if (is_alnum(point)) {
        return point;
    }
    const int error = point < 0x80 ? IDN2_DISALLOWED : lookup_one(point);
    if (error != IDN2_DISALLOWED && error != IDN2_UNASSIGNED) {
        return point;
    }
    if (IN_RANGES(newer_marks, point)) {
        return 0x300;
    }
    if (IN_RANGES(arabic_numbers, point)) {
        return 0x660;
    }
    const bool directed = IN_RANGES(right_to_left, point) && !IN_RANGES(undirected, point);
    return directed ? 0x5d0 : 0x2b9;
}

/* Does a mapped label keep the rules for right-to-left scripts, joiners and the first letter? */
static bool keeps_rules(const uint32_t *points, size_t n)
{
    struct points label = {.n = 0};
    char *ascii = NULL;
    if (is_mark(points[0])) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        push(&label, stand_in(points[i]));
    }
    const int error = lookup(label.point, label.n, IDN2_NONTRANSITIONAL, &ascii);
    idn2_free(ascii);
    return !is_final(error);
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

/* An ASCII label that begins with xn-- must decode to a valid label that mapping leaves as it
 * is. */
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
           memcmp(mapped.point, decoded.point, mapped.n * sizeof(uint32_t)) == 0 &&
           keeps_rules(mapped.point, mapped.n);
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
    if (claims || cap < 4 || !keeps_rules(points, n) ||
        !unseen__punycode_encode(points, n, out + 4, cap - 4, out_len)) {
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

static bool ascii_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (len > cap) {
        return false;
    }
    *out_len = (size_t)(ascii_copy_lower(in, len, out) - out);
    return true;
}

bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (is_ascii_text(in, len)) {
        return ascii_to_ascii(in, len, out, cap, out_len);
    }
    struct points name;
    if (!read_name(in, len, &name) || (mixes_digits(&name))) {
        return false;
    }
    char *ascii = NULL;
    const int error = lookup(name.point, name.n, IDN2_NONTRANSITIONAL, &ascii);
    if (error != IDN2_OK) {
        return !is_final(error) && plain_mapping(&name, out, cap, out_len);
    }
    const bool fits = ascii_to_ascii(ascii, strlen(ascii), out, cap, out_len);
    idn2_free(ascii);
    return fits;
}
