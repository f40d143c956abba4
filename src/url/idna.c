/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII (WHATWG URL standard, section 3.3; UTS 46 with CheckHyphens and VerifyDnsLength
 * off, CheckBidi and CheckJoiners on, not transitional).
 *
 * Nearly all domains are ASCII: they are lower-cased and never fail. Labels of others go to
 * libidn2, which has the Unicode tables, one by one. It implements IDNA2008 on top of UTS 46, and
 * so refuses labels that UTS 46 and browsers take: symbols and emoji, hyphens in some positions,
 * long labels. For these there is a second way, the plain mapping. It uses that libidn2, when asked
 * for transitional processing, maps and normalises by UTS 46 and leaves out the tests of IDNA2008.
 * So the label goes to libidn2 once more, or, if it has characters that only transitional
 * processing maps, or is long, the runs between those, and the results are put together again:
 *
 *     i♥-ßÄB  ->  libidn2("i♥") "-ß" libidn2("Ä") "b"  ->  i♥-ßäb  ->  xn--i-b-...
 *
 * The tests that UTS 46 has, too, are made afterwards: a label with right-to-left letters or
 * joiners goes to libidn2 once more, with a stand-in for each symbol.
 *
 * Whoever writes a page chooses its names, and libidn2 takes 0.4 us for a code point and 1 us for
 * a call. So it is asked for labels and runs, not for code points: each code point goes there a few
 * times at most. What a label and a name become has a limit, not what they are made of. Code points
 * newer than libidn2 are in a table. */
#include "url/host.h"

#include <string.h>

#include <idn2.h>

#include "base/utf8.h"
#include "url/ascii.h"
#include "url/punycode.h"

enum {
    /* A label of DNS has 63 bytes, and Punycode writes at least one byte for each code point beyond
     * ASCII. So a label with more of them is not a name. */
    LABEL_WIDE_MAX = 63,
    NAME_MADE_MAX = 253, /* bytes or code points that libidn2 makes of a name: DNS has no more */
    LABEL_POINTS_MAX = 2 * LABEL_WIDE_MAX, /* that libidn2 is given at a time */
    RUN_MAX = 32,
    UTF8_MAX = 4,
    CALL_COST = 3, /* of libidn2, in code points */
    DIGIT_MAX = 7  /* bytes of Punycode for a code point */
};

/* The label that is being written. Its ASCII is in the output already. */
struct label {
    size_t start; /* in the output */
    size_t npoints;
    size_t nwide;
    bool arabic_digits;
    bool european_digits;
};

struct domain {
    const char *in; /* what is not read yet */
    const char *end;
    uint32_t points[LABEL_POINTS_MAX]; /* read and not written yet: from `at` on */
    size_t at;
    size_t npoints;
    char *out;
    size_t len;
    size_t cap;
    size_t run_max; /* a longer run was too long for libidn2 */
    size_t nmade;   /* bytes or code points that libidn2 has made */
    bool decoded;   /* from an A-label */
    struct label label;
    struct unseen__wide wide[LABEL_WIDE_MAX]; /* the other code points of the label */
};

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

/* The blocks of right-to-left scripts, without some symbols in them; and four symbols that are
 * mapped to letters of Hebrew. */
static const struct point_range right_to_left[] = {
    {0x590, 0x8ff},   {0x2135, 0x2138}, {0xfb1d, 0xfd3d},   {0xfd50, 0xfdcd},
    {0xfdf0, 0xfdfc}, {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff},
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
static const struct point_range other_marks[] = {
    {0x897, 0x897}, {0x20d0, 0x20f0}, {0x10d69, 0x10d6d}, {0x10efa, 0x10eff}};
static const struct point_range arabic_numbers[] = {{0x66b, 0x66c}, {0x10e60, 0x10e7e}};

/* Digits that a label must not mix (RFC 5893, section 2, rule 4): Arabic ones, and those that go
 * from left to right, also in the forms that are mapped to them. */
static const struct point_range arabic_digits[] = {
    {0x660, 0x669}, {0x66b, 0x66c}, {0x10d30, 0x10d39}, {0x10e60, 0x10e7e}};
static const struct point_range european_digits[] = {
    {'0', '9'},       {0xb2, 0xb3},     {0xb9, 0xb9},     {0x6f0, 0x6f9},     {0x2070, 0x2070},
    {0x2074, 0x2079}, {0x2080, 0x2089}, {0xff10, 0xff19}, {0x1d7ce, 0x1d7ff}, {0x1fbf0, 0x1fbf9},
};

/* Blocks of symbols, pictures and parts of syllables that IDNA2008 excludes. None is a mark. */
static const struct point_range symbols[] = {
    {0xa1, 0xb6},     {0xb8, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},     {0x1100, 0x11ff},
    {0x2010, 0x20cf}, {0x20f1, 0x214d}, {0x214f, 0x2183}, {0x2185, 0x2bff}, {0x1f000, 0x1faff},
};

struct mapping {
    uint32_t first;
    uint32_t last;
    uint32_t to; /* of the first; those behind it follow in order */
};

/* Mappings that UTS 46 has and libidn2's tables lack or have otherwise: capitals of scripts that
 * got small letters late, the capital sharp s, the dots of other scripts, letters and digits from
 * old computers, superscript and subscript letters of Cyrillic (from 0x1e030 on), and five
 * ideographs whose mapping was corrected. Two hyphens are here because libidn2 takes none at the
 * end of a run, and all zeros because an address may have any number of them, which nothing
 * limits. */
static const struct mapping newer_mappings[] = {
    {0x4c0, 0x4c0, 0x4cf},      {0x10a0, 0x10c5, 0x2d00},    {0x10c7, 0x10c7, 0x2d27},
    {0x10cd, 0x10cd, 0x2d2d},   {0x1c89, 0x1c89, 0x1c8a},    {0x1e9e, 0x1e9e, 0xdf},
    {0x2070, 0x2070, '0'},      {0x2080, 0x2080, '0'},       {0x2132, 0x2132, 0x214e},
    {0x2183, 0x2183, 0x2184},   {0x24ea, 0x24ea, '0'},       {0x3002, 0x3002, '.'},
    {0xa7cb, 0xa7cb, 0x264},    {0xa7cc, 0xa7cc, 0xa7cd},    {0xa7ce, 0xa7ce, 0xa7cf},
    {0xa7d2, 0xa7d2, 0xa7d3},   {0xa7d4, 0xa7d4, 0xa7d5},    {0xa7da, 0xa7da, 0xa7db},
    {0xa7dc, 0xa7dc, 0x19b},    {0xa7f1, 0xa7f1, 's'},       {0xfe63, 0xfe63, '-'},
    {0xff0d, 0xff0d, '-'},      {0xff0e, 0xff0e, '.'},       {0xff10, 0xff10, '0'},
    {0xff61, 0xff61, '.'},      {0x10d50, 0x10d65, 0x10d70}, {0x16ea0, 0x16eb8, 0x16ebb},
    {0x1ccd6, 0x1ccef, 'a'},    {0x1ccf0, 0x1ccf9, '0'},     {0x1d7ce, 0x1d7ce, '0'},
    {0x1d7d8, 0x1d7d8, '0'},    {0x1d7e2, 0x1d7e2, '0'},     {0x1d7ec, 0x1d7ec, '0'},
    {0x1d7f6, 0x1d7f6, '0'},    {0x1e030, 0x1e038, 0x430},   {0x1e039, 0x1e03b, 0x43a},
    {0x1e03c, 0x1e046, 0x43e},  {0x1e047, 0x1e047, 0x44b},   {0x1e048, 0x1e049, 0x44d},
    {0x1e04a, 0x1e04a, 0xa689}, {0x1e04b, 0x1e04b, 0x4d9},   {0x1e04c, 0x1e04c, 0x456},
    {0x1e04d, 0x1e04d, 0x458},  {0x1e04e, 0x1e04e, 0x4e9},   {0x1e04f, 0x1e04f, 0x4af},
    {0x1e050, 0x1e050, 0x4cf},  {0x1e051, 0x1e059, 0x430},   {0x1e05a, 0x1e05b, 0x43a},
    {0x1e05c, 0x1e05d, 0x43e},  {0x1e05e, 0x1e05e, 0x441},   {0x1e05f, 0x1e064, 0x443},
    {0x1e065, 0x1e066, 0x44a},  {0x1e067, 0x1e067, 0x491},   {0x1e068, 0x1e068, 0x456},
    {0x1e069, 0x1e069, 0x455},  {0x1e06a, 0x1e06a, 0x45f},   {0x1e06b, 0x1e06b, 0x4ab},
    {0x1e06c, 0x1e06c, 0xa651}, {0x1e06d, 0x1e06d, 0x4b1},   {0x1fbf0, 0x1fbf0, '0'},
    {0x2f868, 0x2f868, 0x36fc}, {0x2f874, 0x2f874, 0x5f53},  {0x2f91f, 0x2f91f, 0x243ab},
    {0x2f95f, 0x2f95f, 0x7aee}, {0x2f9bf, 0x2f9bf, 0x45d7},
};

static uint32_t newer_mapping(uint32_t point)
{
    if (point < 0x80) {
        return (uint32_t)ascii_lower((char)point);
    }
    for (size_t i = 0; i < sizeof(newer_mappings) / sizeof(newer_mappings[0]); i++) {
        const struct mapping *m = &newer_mappings[i];
        if (point <= m->last) {
            return point < m->first ? point : m->to + (point - m->first);
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

/* Reads as many code points of the name as there is room for, and makes the mappings that do not
 * need libidn2. The two code points that are mapped to most, 18 and 8, are mapped to several words:
 * no host has a space. */
static bool read_points(struct domain *d)
{
    d->npoints -= d->at;
    memmove(d->points, d->points + d->at, d->npoints * sizeof(*d->points));
    d->at = 0;
    while (d->in < d->end && d->npoints < LABEL_POINTS_MAX) {
        uint32_t point;
        const size_t n = unseen__utf8_read(d->in, (size_t)(d->end - d->in), &point);
        if (n == 0 || point == 0 || point == 0xfdfa || point == 0xfdfb) {
            return false;
        }
        d->in += n;
        uint32_t none = 0;
        uint32_t *const last = d->npoints > 0 ? &d->points[d->npoints - 1] : &none;
        if (point == 0x338 && with_stroke(*last)) {
            *last = with_stroke(*last);
        } else if (!IN_RANGES(ignored, point) && !compose_hangul(last, point)) {
            d->points[d->npoints++] = newer_mapping(point);
        }
    }
    return true;
}

/* ---- libidn2 ----------------------------------------------------------------------------------*/

enum {
    WHOLE = IDN2_NONTRANSITIONAL,
    MAPPED = IDN2_TRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP
};

/* Lets libidn2 convert at most LABEL_POINTS_MAX code points, behind the one in front unless that is
 * 0, to an ASCII label, which the caller frees with idn2_free. */
static int lookup(uint32_t front, const uint32_t *points, size_t n, int flags, char **ascii_out)
{
    char text[(1 + LABEL_POINTS_MAX) * UTF8_MAX + 1];
    char *end = front == 0 ? text : write_utf8(text, front);
    for (size_t i = 0; i < n; i++) {
        end = write_utf8(end, points[i]);
    }
    *end = '\0';
    return idn2_lookup_u8((const uint8_t *)text, (uint8_t **)ascii_out, flags);
}

/* The error of libidn2 for a label, of which only the tests count. */
static int test_points(uint32_t front, const uint32_t *points, size_t n)
{
    char *ascii = NULL;
    const int error = lookup(front, points, n, WHOLE, &ascii);
    idn2_free(ascii);
    return error;
}

static bool is_mark(uint32_t point)
{
    return test_points(0, &point, 1) == IDN2_LEADING_COMBINING;
}

/* Does libidn2's reason to refuse a name hold under UTS 46, too? */
static bool is_final(int error)
{
    return error == IDN2_BIDI || error == IDN2_LEADING_COMBINING || error == IDN2_CONTEXTJ ||
           error == IDN2_CONTEXTJ_NO_RULE || error == IDN2_ENCODING_ERROR;
}

static bool is_too_long(int error)
{
    return error == IDN2_PUNYCODE_BIG_OUTPUT || error == IDN2_TOO_BIG_LABEL ||
           error == IDN2_TOO_BIG_DOMAIN;
}

/* Is a code point there that IDNA2008 does not have? */
static bool has_symbol(int error)
{
    return error == IDN2_DISALLOWED || error == IDN2_UNASSIGNED;
}

/* A letter, an Egyptian hieroglyph, that goes in front of each run. With it any run is a label,
 * even a single mark, and the mapping of the run can be read from the Punycode of the label. */
static const uint32_t leader = 0x13000;

/* ---- Labels -----------------------------------------------------------------------------------*/

static bool is_alabel(const char *label, size_t len)
{
    return len >= 4 && memcmp(label, "xn--", 4) == 0;
}

static bool is_joiner(uint32_t point)
{
    return point == 0x200c || point == 0x200d;
}

/* Sharp s, final sigma and the joiners, which transitional processing maps. */
static bool is_deviation(uint32_t point)
{
    return point == 0xdf || point == 0x3c2 || is_joiner(point);
}

static bool is_in_run(uint32_t point)
{
    return point >= 0x80 && !is_deviation(point) && !IN_RANGES(newer_valid, point);
}

static bool is_alnum(uint32_t point)
{
    return point < 0x80 && is_ascii_alnum((char)point);
}

static bool put(struct domain *to, const char *text, size_t len)
{
    if (len > to->cap - to->len) {
        return false;
    }
    memcpy(to->out + to->len, text, len);
    to->len += len;
    return true;
}

/* Notes that libidn2 has made n bytes or code points. False: no name has so many. */
static bool note_made(struct domain *d, size_t n)
{
    d->nmade += n;
    return d->nmade <= NAME_MADE_MAX;
}

/* Puts the label that libidn2 has made, and frees it. */
static bool put_label(struct domain *to, char *ascii)
{
    const size_t len = strlen(ascii);
    const bool fits = note_made(to, len) && put(to, ascii, len);
    ascii_copy_lower(to->out + to->label.start, to->len - to->label.start,
                     to->out + to->label.start);
    idn2_free(ascii);
    return fits;
}

/* Takes a code point that is mapped into the label. */
static bool take(struct domain *to, uint32_t point)
{
    struct label *const label = &to->label;
    if (point < 0x80) {
        label->npoints++;
        return point != ' ' && put(to, &(char){(char)point}, 1);
    }
    if (label->nwide == LABEL_WIDE_MAX) {
        return false;
    }
    to->wide[label->nwide++] = (struct unseen__wide){point, label->npoints++};
    return true;
}

/* ---- Rules of a label -------------------------------------------------------------------------*/

/* Does a label have Arabic and other digits? libidn2 does not look. */
static bool mixes_digits(struct label *label, const uint32_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        label->arabic_digits |= IN_RANGES(arabic_digits, points[i]);
        label->european_digits |= IN_RANGES(european_digits, points[i]);
    }
    return label->arabic_digits && label->european_digits;
}

/* The stand-in for a symbol where only direction and position count: a letter of Hebrew, a letter
 * without a direction, a mark, or an Arabic digit. */
static uint32_t stand_in(uint32_t point)
{
    if (IN_RANGES(other_marks, point)) {
        return 0x300;
    }
    if (IN_RANGES(arabic_numbers, point)) {
        return 0x660;
    }
    const bool directed = IN_RANGES(right_to_left, point) && !IN_RANGES(undirected, point);
    return directed ? 0x5d0 : 0x2b9;
}

static bool is_known_symbol(uint32_t point)
{
    return point < 0x80 ? !is_alnum(point)
                        : IN_RANGES(symbols, point) || IN_RANGES(other_marks, point) ||
                              IN_RANGES(newer_valid, point) || IN_RANGES(undirected, point) ||
                              IN_RANGES(arabic_numbers, point);
}

/* Takes the cost of a question about n code points from the room; false if there is none left. */
static bool take_room(size_t *room, size_t n)
{
    const size_t cost = n + CALL_COST;
    const bool enough = cost <= *room;
    *room = enough ? *room - cost : 0;
    return enough;
}

/* Puts stand-ins for the symbols among n code points, of which one is a symbol, as far as there is
 * room for questions. */
static void replace_symbols(uint32_t *points, size_t n, size_t *room)
{
    const size_t half = n / 2;
    if (!take_room(room, half)) {
        return;
    }
    if (n == 1) {
        points[0] = is_mark(points[0]) ? 0x300 : stand_in(points[0]);
        return;
    }
    const bool first = has_symbol(test_points(leader, points, half));
    if (first) {
        replace_symbols(points, half, room);
    }
    if (!first ||
        (take_room(room, n - half) && has_symbol(test_points(leader, points + half, n - half)))) {
        replace_symbols(points + half, n - half, room);
    }
}

/* The same for the symbols of a label: each one is looked for once. */
static void replace_all_symbols(uint32_t *points, size_t n)
{
    uint32_t different[LABEL_POINTS_MAX];
    uint32_t replaced[LABEL_POINTS_MAX];
    size_t ndifferent = 0;
    size_t room = 3 * n + 4 * CALL_COST;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < ndifferent && different[at] != points[i]) {
            at++;
        }
        different[at] = points[i];
        ndifferent += at == ndifferent;
    }
    memcpy(replaced, different, ndifferent * sizeof(*different));
    replace_symbols(replaced, ndifferent, &room);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (different[at] != points[i]) {
            at++;
        }
        points[i] = replaced[at];
    }
}

/* Does a mapped label keep the rules for right-to-left scripts, joiners and the first letter? A
 * label whose symbols are not in the tables, and in so many places that finding them costs more
 * than three times what libidn2 takes for the label, need not. */
static bool keeps_rules(const struct domain *d)
{
    const struct label *const label = &d->label;
    const uint32_t first = d->wide[0].point;
    bool special = false;
    for (size_t i = 0; i < label->nwide; i++) {
        special |= is_joiner(d->wide[i].point) || IN_RANGES(right_to_left, d->wide[i].point);
    }
    if (!special) {
        return d->wide[0].at > 0 || IN_RANGES(symbols, first) ||
               !(IN_RANGES(other_marks, first) || is_mark(first));
    }
    uint32_t points[LABEL_POINTS_MAX];
    size_t nwide = 0;
    if (label->npoints > LABEL_POINTS_MAX) {
        return true;
    }
    for (size_t i = 0; i < label->npoints; i++) {
        const bool wide = nwide < label->nwide && d->wide[nwide].at == i;
        points[i] = wide ? d->wide[nwide].point : (unsigned char)d->out[label->start + i - nwide];
        nwide += wide;
        points[i] = is_known_symbol(points[i]) ? stand_in(points[i]) : points[i];
    }
    int error = test_points(0, points, label->npoints);
    if (has_symbol(error)) {
        replace_all_symbols(points, label->npoints);
        error = test_points(0, points, label->npoints);
    }
    return !is_final(error);
}

/* ---- The plain mapping ------------------------------------------------------------------------*/

/* How much of a run to map if it is to be cut at about `max`: never in front of a mark, which
 * belongs to the letter before it. */
static size_t cut_run(const uint32_t *points, size_t n, size_t max)
{
    size_t cut = max < n ? max : n;
    while (cut > 0 && cut < n && !is_alnum(points[cut]) && is_mark(points[cut])) {
        cut--;
    }
    if (cut > 0) {
        return cut;
    }
    for (cut = max + 1; cut < n && !is_alnum(points[cut]) && is_mark(points[cut]);) {
        cut++;
    }
    return cut;
}

/* Maps the first part of n code points into the label, as many as *n says afterwards. */
static bool map_run(struct domain *to, const uint32_t *points, size_t *n)
{
    uint32_t mapped[LABEL_WIDE_MAX];
    size_t nmapped = 0;
    char *ascii = NULL;
    const size_t all = *n;
    bool has_many_marks = false; /* too many for libidn2, in a label longer than those of DNS */
    int error = IDN2_TOO_BIG_LABEL;
    while (is_too_long(error)) {
        *n = has_many_marks ? to->run_max : cut_run(points, all, to->run_max);
        error = lookup(leader, points, *n, MAPPED, &ascii);
        if (is_too_long(error)) {
            has_many_marks |= *n > to->run_max;
            to->run_max = *n / 2;
            error = *n == 1 ? IDN2_DISALLOWED : error;
        }
    }
    if (error != IDN2_OK) {
        return false;
    }
    bool good =
        is_alabel(ascii, strlen(ascii)) &&
        unseen__punycode_decode(ascii + 4, strlen(ascii) - 4, mapped, LABEL_WIDE_MAX, &nmapped) &&
        mapped[0] == leader && note_made(to, nmapped - 1);
    for (size_t i = 1; good && i < nmapped; i++) {
        good = take(to, mapped[i]);
    }
    idn2_free(ascii);
    return good;
}

/* Maps code points of a label, without the last ones if more follow. *n is how many there are, and
 * afterwards how many were mapped. An ASCII letter right before a run goes with the run, because a
 * mark may follow. */
static bool map_points(struct domain *to, const uint32_t *points, size_t *n, bool more)
{
    const size_t end = *n;
    for (size_t i = 0; i < end;) {
        size_t stop = i;
        while (stop < end &&
               (is_in_run(points[stop]) ||
                (is_alnum(points[stop]) && stop + 1 < end && is_in_run(points[stop + 1])))) {
            stop++;
        }
        if (more && (stop == end || i + 1 == end) && stop - i <= to->run_max) {
            *n = i;
            return true;
        }
        size_t nrun = stop - i;
        if (nrun == 0) {
            nrun = 1;
            if (!take(to, points[i])) {
                return false;
            }
        } else if (!map_run(to, points + i, &nrun)) {
            return false;
        }
        i += nrun;
    }
    return true;
}

static bool convert_label(struct domain *d, const uint32_t *points, size_t n);

/* A label that begins with xn-- must be what its code points are written as. */
static bool check_alabel(struct domain *d)
{
    const char *const text = d->out + d->label.start;
    const size_t len = d->len - d->label.start;
    char again[LABEL_POINTS_MAX * DIGIT_MAX];
    uint32_t points[LABEL_POINTS_MAX];
    size_t n;
    bool wide = false;
    struct domain inner = {.out = again, .cap = sizeof(again), .run_max = RUN_MAX, .decoded = true};
    if (d->decoded || len > sizeof(again) || !note_made(d, len) ||
        !unseen__punycode_decode(text + 4, len - 4, points, LABEL_POINTS_MAX, &n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        wide |= points[i] >= 0x80;
        if (IN_RANGES(ignored, points[i]) || newer_mapping(points[i]) != points[i]) {
            return false;
        }
    }
    return wide && !mixes_digits(&inner.label, points, n) && convert_label(&inner, points, n) &&
           inner.len == len && memcmp(again, text, len) == 0;
}

/* Writes the label that was taken: puts Punycode in place of its ASCII and other characters. */
static bool end_label(struct domain *to)
{
    struct label *const label = &to->label;
    char *const text = to->out + label->start;
    const size_t nascii = to->len - label->start;
    char digits[LABEL_WIDE_MAX * DIGIT_MAX];
    size_t ndigits;
    if (label->nwide == 0) {
        return !is_alabel(text, nascii) || check_alabel(to);
    }
    if (is_alabel(text, nascii) || to->cap - to->len < 5 || !keeps_rules(to) ||
        !unseen__punycode_encode(to->wide, label->nwide, label->npoints, digits, sizeof(digits),
                                 &ndigits)) {
        return false;
    }
    memmove(text + 4, text, nascii);
    memcpy(text, "xn--", 4);
    to->len += 4;
    return (nascii == 0 || put(to, "-", 1)) && put(to, digits, ndigits);
}

/* What libidn2 makes of a whole label by transitional processing is right where nothing is left out
 * of it: no character that only that maps, no test of UTS 46 but the one for the first letter, no
 * hyphen where libidn2 takes none. */
static bool is_plain(const uint32_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t point = points[i];
        const bool good = point < 0x80 ? is_alnum(point) || (point == '-' && i > 0 && i + 1 < n)
                                       : is_in_run(point) && !IN_RANGES(right_to_left, point);
        if (!good || (i == 3 && point == '-' && points[2] == '-')) {
            return false;
        }
    }
    return true;
}

/* Converts a whole label. */
static bool convert_label(struct domain *d, const uint32_t *points, size_t n)
{
    bool ascii = true;
    bool symbol = false;
    for (size_t i = 0; i < n; i++) {
        ascii &= points[i] < 0x80;
        symbol |= IN_RANGES(symbols, points[i]);
    }
    if (!ascii) {
        char *made = NULL;
        int error = symbol ? IDN2_DISALLOWED : lookup(0, points, n, WHOLE, &made);
        if (error != IDN2_OK && !is_final(error) && !is_too_long(error) && is_plain(points, n)) {
            error = lookup(0, points, n, MAPPED, &made);
        }
        if (error == IDN2_OK) {
            return put_label(d, made);
        }
        if (is_final(error)) {
            return false;
        }
    }
    return map_points(d, points, &n, false) && end_label(d);
}

/* ---- Domain to ASCII --------------------------------------------------------------------------*/

static bool convert_name(struct domain *d)
{
    bool begun = false; /* a part of the label is mapped */
    for (;;) {
        const uint32_t *points = d->points + d->at;
        size_t n = 0;
        while (d->at + n < d->npoints && points[n] != '.') {
            n++;
        }
        const bool ends = d->at + n < d->npoints;
        if (!ends && d->in < d->end && (d->at > 0 || d->npoints < LABEL_POINTS_MAX)) {
            if (!read_points(d)) {
                return false;
            }
            continue;
        }
        const bool more = !ends && d->in < d->end;
        if (mixes_digits(&d->label, points, n) ||
            !(begun || more ? map_points(d, points, &n, more) && (more || end_label(d))
                            : convert_label(d, points, n))) {
            return false;
        }
        d->at += n + ends;
        begun = more;
        if (!more && !ends) {
            return true;
        }
        if (ends) {
            if (!put(d, ".", 1)) {
                return false;
            }
            d->label = (struct label){.start = d->len};
        }
    }
}

bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (len > cap) {
        return false;
    }
    if (is_ascii_text(in, len)) {
        *out_len = (size_t)(ascii_copy_lower(in, len, out) - out);
        return true;
    }
    if (in == out) { /* reads from the end of the room */
        cap -= len;
        in = memmove(out + cap, in, len);
    }
    struct domain d;
    d.in = in;
    d.end = in + len;
    d.at = 0;
    d.npoints = 0;
    d.out = out;
    d.len = 0;
    d.cap = cap;
    d.run_max = RUN_MAX;
    d.nmade = 0;
    d.decoded = false;
    d.label = (struct label){.start = 0};
    if (!convert_name(&d)) {
        return false;
    }
    *out_len = d.len;
    return true;
}
