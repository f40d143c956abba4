/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII, Punycode, IPv4 and IPv6: the web-platform vectors, and tables that are always
 * here. */
#include "url_json.h"
#include "url_schemes.h"

#include <jansson.h>

#include "url/host.h"
#include "url/percent.h"
#include "url/punycode.h"

enum {
    OUT = 8192,
    LONG_OUT = 1 << 17
};

static bool is_ascii(const char *in, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)in[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/* The name as a URL's host parser takes it: no forbidden characters, not empty. */
static bool to_ascii(const char *in, size_t len, char *out, size_t *out_len)
{
    if (!unseen__idna_to_ascii(in, len, out, OUT, out_len) || *out_len == 0) {
        return false;
    }
    for (size_t i = 0; i < *out_len; i++) {
        if (unseen__url_class[(unsigned char)out[i]] & UNSEEN__FORBIDDEN_DOMAIN) {
            return false;
        }
    }
    return true;
}

struct counts {
    unsigned nascii, nascii_good;
    unsigned nvalid, nvalid_good;
    unsigned ninvalid, ninvalid_good;
};

static void run_case(const char *in, size_t len, const char *expected, struct counts *counts)
{
    char out[OUT];
    size_t out_len = 0;
    const bool valid = to_ascii(in, len, out, &out_len);
    const bool good =
        expected ? valid && out_len == strlen(expected) && memcmp(out, expected, out_len) == 0
                 : !valid;
    if (is_ascii(in, len)) {
        counts->nascii++;
        counts->nascii_good += good;
    } else if (expected) {
        counts->nvalid++;
        counts->nvalid_good += good;
        if (!good) {
            fprintf(stderr, "miss: <%.*s>, expected %s, got %.*s\n", (int)len, in, expected,
                    valid ? (int)out_len : 1, valid ? out : "-");
        }
        CHECK(good);
    } else {
        counts->ninvalid++;
        counts->ninvalid_good += good;
    }
}

static void run_file(const char *name)
{
    struct counts counts = {0};
    json_t *cases = data_json(name);
    if (!cases) {
        return;
    }
    size_t i;
    json_t *item;
    json_array_foreach(cases, i, item)
    {
        const json_t *const input = json_object_get(item, "input");
        if (input) {
            run_case(json_string_value(input), json_string_length(input),
                     json_string_value(json_object_get(item, "output")), &counts);
        }
    }
    json_decref(cases);
    printf("%s: ASCII %u of %u, valid %u of %u, invalid %u of %u refused\n", name,
           counts.nascii_good, counts.nascii, counts.nvalid_good, counts.nvalid,
           counts.ninvalid_good, counts.ninvalid);
    CHECK_EQ(counts.nascii_good, counts.nascii);
    CHECK_EQ(counts.ninvalid_good, counts.ninvalid);
}

static void test_names(void)
{
    static const struct {
        const char *in;
        const char *out; /* NULL: invalid */
    } cases[] = {
        {"B\xc3\xbc"
         "cher.Example",
         "xn--bcher-kva.example"},
        {"fa\xc3\x9f.de", "xn--fa-hia.de"},
        {"\xe2\x98\x95.example", "xn--53h.example"},
        {"i\xe2\x99\xa5-\xc3\x84"
         "B.de",
         "xn--i-b-rla7119b.de"},
        {"\xf0\x9f\x92\xa9.la", "xn--ls8h.la"},
        {"-\xc3\xa4-.de", "xn-----via.de"},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x80\x82JP", "xn--wgv71a119e.jp"},
        {"a\xcc\x8a.de", "xn--5ca.de"},
        {"\xef\xbc\xa7\xef\xbd\x8f.com", "go.com"},
        {"a\xc2\xad"
         "b.com",
         "ab.com"},
        {"=\xcc\xb8", "xn--1ch"},
        /* Mapped to what IDNA2008 has no use for: a half, degrees Celsius, a halfwidth bracket. */
        {"\xc2\xbd.com", "xn--12-c6t.com"},
        {"\xe2\x84\x83", "xn--c-0ca"},
        {"\xef\xbd\xa2", "xn--16j"},
        {"\xe2\x98\x95\xef\xbc\x8d", "xn----1yp"},
        {"\xe2\x91\xb4", "(1)"},
        /* Marks: a Hangul tone mark, and an acute that stands on a hyphen. */
        {"a\xe3\x80\xae"
         "b",
         "xn--ab-j53a"},
        {"e-\xcc\x81", "xn--e--9tb"},
        {"\xe2\x98\x95"
         "e\xcc\x81\xcc\xa3",
         "xn--lsa503lq7e"},
        /* Deviations beside symbols. */
        {"\xc3\x9f\xe2\x98\x95\xcf\x82", "xn--zca29lf79b"},
        {"\xe2\x98\x95\xe2\x80\x8d\xe2\x98\x95", NULL},
        /* Directions: tatweel in Latin, a symbol of Kharoshthi at the end of Arabic. */
        {"a\xd9\x80"
         "b",
         NULL},
        {"\xdd\x9d\xf0\x90\xa9\x92", "xn--hpb0073k"},
        {"\xe2\x98\x95\xd7\x90", NULL},
        /* Never valid: not assigned, a small full stop, a digit with one, a description. */
        {"\xcd\xb8", NULL},
        {"\xef\xb9\x92", NULL},
        {"\xf0\x9f\x84\x80", NULL},
        {"\xe2\xbf\xb0", NULL},
        /* Newer than libidn2: an ideograph, a corrected one, a capital. */
        {"\xf0\xb1\x8d\x90", "xn--8o8n"},
        {"\xf0\xaf\xa1\xb4", "xn--u2t"},
        {"\xea\x9f\x94", "xn--678a"},
        {"XN--A", "xn--a"},
        {"xn--a.\xc3\x9f", NULL},
        {"\xff.de", NULL},
        {"\xed\xa0\x80.de", NULL},
        {"\xef\xbf\xbd.com", NULL},
        {"\xcc\x81"
         "a.de",
         NULL},
        {"\xee\x80\x80.de", NULL},
        {"\xe2\x80\x8d.example", NULL},
        {"\xd9\x8a"
         "a",
         NULL},
        {"\xc2\xad", NULL},
    };
    char out[OUT];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = 0;
        const bool valid = to_ascii(cases[i].in, strlen(cases[i].in), out, &len);
        const bool good = cases[i].out ? valid && len == strlen(cases[i].out) &&
                                             memcmp(out, cases[i].out, len) == 0
                                       : !valid;
        if (!CHECK(good)) {
            fprintf(stderr, "%s: %.*s\n", cases[i].in, (int)len, out);
        }
    }
    /* What does not fit is refused. */
    char name[2000];
    size_t len;
    memset(name, 'a', sizeof(name));
    memcpy(name, "\xc3\xa4", 2);
    CHECK(unseen__idna_to_ascii(name, sizeof(name), out, OUT, &len));
    CHECK(!unseen__idna_to_ascii(name, 20, out, 10, &len));
    CHECK(!unseen__idna_to_ascii(name + 2, 20, out, 10, &len));
    CHECK(unseen__idna_to_ascii(name, 500, out, OUT, &len));
}

/* Writes unit n times behind start, and end behind them, and makes the name ASCII, in a buffer that
 * has both. */
static bool repeat_to_ascii(const char *start, const char *unit, size_t n, const char *end,
                            char *out, size_t *out_len)
{
    size_t len = strlen(start);
    memcpy(out, start, len);
    for (size_t i = 0; i < n; i++) {
        memcpy(out + len, unit, strlen(unit));
        len += strlen(unit);
    }
    memcpy(out + len, end, strlen(end));
    len += strlen(end);
    const bool valid = unseen__idna_to_ascii(out, len, out, LONG_OUT - 1, out_len);
    out[valid ? *out_len : 0] = '\0';
    return valid;
}

/* A name has no limit in front of the mapping. Behind it a label has room for 63 code points that
 * are not ASCII, and the labels that libidn2 makes have 253 bytes, as names of DNS. */
static void test_limits(void)
{
    static char out[LONG_OUT];
    static char expected[LONG_OUT];
    size_t len;
    uint32_t address;
    static const size_t nzeros[] = {1, 511, 512, 513, 10000};
    for (size_t i = 0; i < sizeof(nzeros) / sizeof(nzeros[0]); i++) {
        CHECK(repeat_to_ascii("198.51.100.", "\xef\xbc\x90", nzeros[i], "7", out, &len));
        CHECK(unseen__ipv4_parse(out, len, &address) && address == 0xc6336407);
    }
    /* Decomposed letters, alone and with a mark that changes places with theirs. */
    CHECK(repeat_to_ascii("", "e\xcc\x81", 63, ".com", out, &len));
    CHECK(repeat_to_ascii("", "\xc3\xa9", 63, ".com", expected, &len));
    CHECK(strcmp(out, expected) == 0 && len > 63);
    CHECK(!repeat_to_ascii("", "e\xcc\x81", 64, ".com", out, &len));
    CHECK(!repeat_to_ascii("", "\xc3\xa9", 64, ".com", out, &len));
    CHECK(repeat_to_ascii("", "e\xcc\x81\xcc\xa3.", 23, "com", out, &len));
    CHECK(repeat_to_ascii("", "\xe1\xba\xb9\xcc\x81.", 23, "com", expected, &len));
    CHECK(strcmp(out, expected) == 0 && len == 23 * 12 + 3); /* of 11 bytes and a dot */
    CHECK(!repeat_to_ascii("", "e\xcc\x81\xcc\xa3.", 24, "com", out, &len));
    /* Three letters to a syllable, and four parts of a letter. */
    CHECK(repeat_to_ascii("", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", 63, "", out, &len));
    CHECK(repeat_to_ascii("", "\xea\xb0\x81", 63, "", expected, &len));
    CHECK(strcmp(out, expected) == 0);
    CHECK(repeat_to_ascii("", "\xce\xb1\xcc\x93\xcc\x80\xcd\x85", 31, "", out, &len));
    CHECK(repeat_to_ascii("", "\xe1\xbc\x82\xce\xb9", 31, "", expected, &len));
    CHECK(strcmp(out, expected) == 0);
    /* What is ignored, and capitals of mathematics, count for nothing and for ASCII. */
    CHECK(repeat_to_ascii("\xc3\xa9", "\xc2\xad", 10000, ".com", out, &len));
    CHECK(strcmp(out, "xn--9ca.com") == 0);
    CHECK(repeat_to_ascii("", "\xf0\x9d\x90\x80", 253, "", out, &len) && len == 253);
    CHECK(!repeat_to_ascii("", "\xf0\x9d\x90\x80", 254, "", out, &len));
    CHECK(repeat_to_ascii("1", "\xf0\x9d\x9f\x8e\xe2\x93\xaa", 5000, "", out, &len) &&
          len == 10001);
    /* Marks: none may be first, and they count, too. */
    CHECK(!repeat_to_ascii("", "\xcc\x81", 3, "", out, &len));
    CHECK(repeat_to_ascii("z", "\xcc\x81", 63, "", out, &len)); /* z with acute is one letter */
    CHECK(!repeat_to_ascii("z", "\xcc\x81", 64, "", out, &len));
    CHECK(!repeat_to_ascii("z", "\xcc\x81", 10000, "", out, &len));
    /* 28 ligatures of four words each: a space is not in a name. */
    CHECK(!repeat_to_ascii("", "\xef\xb7\xba", 28, ".com", out, &len));
    /* Symbols, which libidn2 refuses: a label of them at the limit, one that is cut between marks,
     * and one in Hebrew that has them in many places. */
    CHECK(repeat_to_ascii("", "\xe2\x98\x95", 63, "", out, &len));
    CHECK(!repeat_to_ascii("", "\xe2\x98\x95", 64, "", out, &len));
    CHECK(repeat_to_ascii("\xe2\x98\x95", "e\xcc\x81\xcc\xa3", 31, "", out, &len));
    CHECK(repeat_to_ascii("\xe2\x98\x95", "\xe1\xba\xb9\xcc\x81", 31, "", expected, &len));
    CHECK(strcmp(out, expected) == 0);
    CHECK(repeat_to_ascii("", "\xd7\x90\xe0\xbc\xba", 20, "\xd7\x90", out, &len));
    CHECK(!repeat_to_ascii("", "\xd7\x90\xe0\xbc\xba", 20, "a\xd7\x90", out, &len));
    CHECK(!repeat_to_ascii("", "\xd7\x90\xe0\xbc\xba", 20, "", out, &len)); /* ends in a symbol */
    /* Sharp s, which libidn2 would map, between symbols; a label that is longer than what libidn2
     * is given at once, with the other characters at its end. */
    CHECK(repeat_to_ascii("", "\xc3\x9f\xe2\x98\x95", 2, "", out, &len));
    CHECK(strcmp(out, "xn--zcaa196zba") == 0);
    CHECK(repeat_to_ascii("", "a", 1000, "e\xcc\x81.com", out, &len));
    CHECK(repeat_to_ascii("", "a", 1000, "\xc3\xa9.com", expected, &len));
    CHECK(strcmp(out, expected) == 0);
    /* ASCII is not limited. */
    CHECK(repeat_to_ascii("\xc3\xa9", "a", 10000, "", out, &len) && len > 10005);
    CHECK(repeat_to_ascii("\xc3\xa9", ".", 10000, "", out, &len) && len == 10007);
    /* An A-label is what its letters are written as, once. */
    CHECK(repeat_to_ascii("\xc3\xa9", ".xn--9ca", 35, "", out, &len));
    CHECK(!repeat_to_ascii("\xc3\xa9", ".xn--9ca", 36, "", out, &len));
    CHECK(!repeat_to_ascii("\xc3\xa9", ".xn--9CA-", 1, "", out, &len));
    CHECK(!repeat_to_ascii("\xc3\xa9.xn--", "a", 1000, "-9ca", out, &len));
    CHECK(!repeat_to_ascii("\xc3\xa9.", "xn--", 60, "a-9ca", out, &len));
}

/* Writes a label that needs the plain mapping: letters, and marks that one letter has, of which
 * normalising puts those below the letter first. */
static void write_marked(char *to, int nletters, bool composed, int nmarks, bool sorted)
{
    to = stpcpy(to, "\xe2\x98\x95"); /* a symbol */
    for (int i = 0; i < nletters; i++) {
        to = stpcpy(to, composed ? "\xe1\xba\xbf" : "e\xcc\x82\xcc\x81");
    }
    to = stpcpy(to, "\xd0\xb6");
    for (int i = 0; i < 2 * nmarks; i++) {
        const bool below = sorted ? i < nmarks : i % 2 == 1;
        to = stpcpy(to, below ? "\xcc\xa4" : "\xcc\x82");
    }
}

/* However long a label is and wherever it is cut for libidn2, all spellings of it are one. */
static void test_cuts(void)
{
    char in[1024];
    char wanted[OUT];
    char out[OUT];
    size_t wanted_len = 0;
    size_t len = 0;
    for (int nletters = 0; nletters <= 16; nletters++) {
        for (int nmarks = 1; nmarks <= 17; nmarks++) {
            write_marked(in, nletters, true, nmarks, true);
            const bool is_name = to_ascii(in, strlen(in), wanted, &wanted_len);
            CHECK(is_name);
            for (int how = 0; how < 3; how++) {
                write_marked(in, nletters, how & 1, nmarks, how & 2);
                CHECK(to_ascii(in, strlen(in), out, &len) && len == wanted_len &&
                      memcmp(out, wanted, len) == 0);
                /* What is printed is read again as itself. */
                CHECK(to_ascii(out, len, in, &len) && len == wanted_len &&
                      memcmp(in, wanted, len) == 0);
            }
        }
    }
}

/* Right-to-left scripts and Unicode 15; NULL: refused. */
static void test_scripts(void)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        /* Symbols, marks and signs of right-to-left scripts behind a letter of another one. */
        {"a\xd8\x86", "xn--a-3kc"},
        {"a\xd9\xaa", "xn--a-tqc"},
        {"a\xe0\xa2\x97", "xn--a-nnd"},
        {"a\xf0\x9e\xbb\xb0", "xn--a-7w0s"},
        /* Letters are refused there, and symbols are refused at the end of a right-to-left
         * label. */
        {"a\xd8\x88", NULL},
        {"\xd7\x90\xd8\x86", NULL},
        {"\xd7\x90\xe0\xa2\x97", "xn--4db63l"},
        {"\xe0\xa2\x97", NULL}, /* a mark at the start */
        /* Signs of Arabic numbers at the start, and Arabic digits beside others. */
        {"\xd9\xab\xd7\x90", NULL},
        {"\xf0\x90\xb9\xa0\xd7\x90", NULL},
        {"\xd7\x90\xd9\xab", "xn--4db42a"},
        {"\xd7\x90"
         "1\xd9\xa1",
         NULL},
        {"\xd7\x90"
         "1.\xd7\x90\xd9\xa1",
         "xn--1-zhc.xn--4db40a"},
        /* Superscript letters. */
        {"\xf0\x9e\x80\xb0", "xn--80a"},
        {"\xf0\x9e\x81\xad", "xn--x4a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[OUT];
        size_t len = 0;
        const char *const expected = cases[i].out;
        const bool valid = to_ascii(cases[i].in, strlen(cases[i].in), out, &len);
        const bool same =
            valid && expected && len == strlen(expected) && memcmp(out, expected, len) == 0;
        if (!CHECK(expected ? same : !valid)) {
            fprintf(stderr, "  %s: %.*s\n", cases[i].in, (int)len, valid ? out : "");
        }
    }
}

/* The whole text of a label: its ASCII, a hyphen, and what stands for the other code points. */
static bool encode(const uint32_t *in, size_t n, char *text, size_t cap, size_t *text_len)
{
    struct unseen__wide wide[40];
    size_t nwide = 0;
    size_t nascii = 0;
    for (size_t i = 0; i < n; i++) {
        if (in[i] >= 0x80) {
            wide[nwide++] = (struct unseen__wide){in[i], i};
        } else if (nascii < cap) {
            text[nascii++] = (char)in[i];
        }
    }
    if (nascii > 0 && nascii < cap) {
        text[nascii++] = '-';
    }
    const bool good =
        unseen__punycode_encode(wide, nwide, n, text + nascii, cap - nascii, text_len);
    *text_len += nascii;
    return good && (n == nwide || n - nwide < nascii);
}

/* Labels of random code points survive the way there and back. */
static void test_punycode(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        uint32_t in[40];
        uint32_t back[40];
        char text[400];
        size_t text_len;
        size_t back_len;
        const size_t n = test_random(&seed) % 40;
        const uint64_t kind = test_random(&seed);
        for (size_t k = 0; k < n; k++) {
            const uint64_t r = test_random(&seed);
            in[k] = (uint32_t)(kind & 1 && r & 1 ? 'a' + (r >> 8) % 26
                               : kind & 2        ? 0x4e00 + (r >> 8) % 99
                                                 : 0x80 + (r >> 8) % 0x10ff7f);
        }
        CHECK(encode(in, n, text, sizeof(text), &text_len));
        CHECK(unseen__punycode_decode(text, text_len, back, 40, &back_len));
        CHECK(back_len == n && memcmp(in, back, n * sizeof(*in)) == 0);
        CHECK(text_len == 0 || !encode(in, n, text, text_len - 1, &text_len));
    }
    uint32_t out[8];
    size_t len;
    CHECK(!unseen__punycode_decode("99999999", 8, out, 8, &len));
    CHECK(!unseen__punycode_decode("bcher-kv!", 9, out, 8, &len));
    CHECK(!unseen__punycode_decode("bcher-kva", 9, out, 5, &len));
}

static void test_addresses(void)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"1.2.3.4", "1.2.3.4"},
        {"0x7f.1", "127.0.0.1"},
        {"3279880203", "195.127.0.11"},
        {"0x", "0.0.0.0"},
        {"1.2.3.4.", "1.2.3.4"},
        {"010.1", "8.0.0.1"},
        {"256", "0.0.1.0"},
        {"1.2.3.256", NULL},
        {"256.1", NULL},
        {"1.2.3.4.5", NULL},
        {"08.1", NULL},
        {"4294967296", NULL},
        {"4294967295", "255.255.255.255"},
        {"1..2", NULL},
        {"99999999999999999999999", NULL},
        {"", NULL},
    };
    static const struct {
        const char *in;
        const char *out;
    } v6[] = {
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"2001:DB8::00ff:0", "2001:db8::ff:0"},
        {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
        {"1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"},
        {"::ffff:1.2.3.4", "::ffff:102:304"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6::8", "1:2:3:4:5:6:0:8"},
        {"1:2:3:4:5::1.2.3.4", "1:2:3:4:5:0:102:304"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {":", NULL},
        {":1", NULL},
        {"1:", NULL},
        {"1::2::3", NULL},
        {"::1:2:3:4:5:6:7:8", NULL},
        {"1:2:3:4::5:6:7:8", NULL},
        {"1:2:3:4:5:6:7:8::", NULL},
        {"1:2:3:4:5:6::1.2.3.4", NULL},
        {"1:2:3:4:5:6:7", NULL},
        {"1:2:3:4:5:6:7:8:9", NULL},
        {"12345::", NULL},
        {"::1.2.3", NULL},
        {"::1.2.3.4.5", NULL},
        {"::01.2.3.4", NULL},
        {"::1.2.3.256", NULL},
        {"1:2:3:4:5:6:7:1.2.3.4", NULL},
        {"::1:2:3:4:5:6:7:1.2.3.4", NULL},
        {"::1:2:3:4:5:6:1.2.3.4", NULL},
        {"1::2:3:4:5:6:7:1.2.3.4", NULL},
        {"1:2:3:4:5:6:7::1.2.3.4", NULL},
        {"::1:2:3:4:5:1.2.3.4", "0:1:2:3:4:5:102:304"},
        {"1:2:3:4::5:1.2.3.4", "1:2:3:4:0:5:102:304"},
        {"1.2.3.4", NULL},
        {"::1.2.3.4:5", NULL},
        {"::g", NULL},
        {"", NULL},
    };
    char out[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t address;
        const bool valid = unseen__ipv4_parse(cases[i].in, strlen(cases[i].in), &address);
        CHECK(valid == (cases[i].out != NULL));
        if (valid && cases[i].out) {
            out[unseen__ipv4_write(address, out)] = '\0';
            CHECK(strcmp(out, cases[i].out) == 0);
        }
    }
    for (size_t i = 0; i < sizeof(v6) / sizeof(v6[0]); i++) {
        uint16_t pieces[8];
        const bool valid = unseen__ipv6_parse(v6[i].in, strlen(v6[i].in), pieces);
        if (!CHECK(valid == (v6[i].out != NULL))) {
            fprintf(stderr, "%s\n", v6[i].in);
        }
        if (valid && v6[i].out) {
            out[unseen__ipv6_write(pieces, out)] = '\0';
            CHECK(strcmp(out, v6[i].out) == 0);
        }
    }
    CHECK(unseen__ipv4_wanted("a.1", 3));
    CHECK(unseen__ipv4_wanted("a.0x", 4));
    CHECK(unseen__ipv4_wanted("a.09.", 5));
    CHECK(!unseen__ipv4_wanted("1.a", 3));
    CHECK(!unseen__ipv4_wanted(".", 1));
    CHECK(!unseen__ipv4_wanted("1..", 3));
}

/* Name, ASCII or !. */
static void check_row(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    char out[OUT];
    size_t out_len = 0;
    const bool valid = to_ascii(column[0].data, column[0].len, out, &out_len);
    const bool fails = column[1].len == 1 && column[1].data[0] == '!';
    if (!CHECK(valid != fails &&
               (!valid || scheme_same((struct unseen_bytes){out, out_len}, column[1])))) {
        fprintf(stderr, "<%.*s>: expected %.*s, got %.*s\n", (int)column[0].len, column[0].data,
                (int)column[1].len, column[1].data, valid ? (int)out_len : 1, valid ? out : "!");
    }
}

int main(void)
{
    test_start();
    test_punycode();
    test_addresses();
    test_names();
    test_limits();
    test_cuts();
    test_scripts();
    const size_t nrows = scheme_vectors("vectors/idna.tsv", check_row);
    printf("%zu rows\n", nrows);
    CHECK(nrows > 200);
    run_file("wpt_toascii.json");
    run_file("wpt_idna_v2.json");
    return test_end();
}
