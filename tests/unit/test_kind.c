/* SPDX-License-Identifier: MIT
 *
 * Kinds of entries: which lines are entries and what their texts are, which texts a question makes,
 * and, against models that know nothing of texts, that an entry is among the texts of a question
 * exactly if it covers it. */
#include "test.h"

#include <arpa/inet.h>
#include <unseen_list.h>

enum {
    ROOM = 32 * 1024
};

static struct unseen_url *url;

static struct unseen_bytes bytes(const char *text)
{
    return (struct unseen_bytes){text, strlen(text)};
}

static bool is_text(struct unseen_bytes a, const char *b)
{
    return a.len == strlen(b) && (a.len == 0 || memcmp(a.data, b, a.len) == 0);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void test_names(void)
{
    static const char *const names[] = {"url", "expressions", "mail", "ip", "phone"};
    static const unsigned ntexts[] = {1, 48, 10, 129, 1};
    static const enum unseen_kind unknown = (enum unseen_kind)5;
    for (unsigned i = 0; i < 5; i++) {
        CHECK(strcmp(unseen_kind_name((enum unseen_kind)i), names[i]) == 0);
        CHECK_EQ(unseen_kind_texts_max((enum unseen_kind)i), ntexts[i]);
        CHECK_EQ(unseen_kind_bound((enum unseen_kind)i, SIZE_MAX) == 0, i != 3 && i != 4);
    }
    CHECK(unseen_kind_name(unknown) == NULL);
    CHECK(strcmp(unseen_kind_name(UNSEEN_KIND_PHONE_OF(999)), "phone") == 0);
    CHECK(unseen_kind_name(UNSEEN_KIND_PHONE_OF(1000)) == NULL);
    CHECK(unseen_kind_name((enum unseen_kind)(UNSEEN_KIND_MAIL + 0x100)) == NULL);
    CHECK_EQ(UNSEEN_KIND_COUNTRY(UNSEEN_KIND_PHONE_OF(86)), 86);
    CHECK_EQ(UNSEEN_KIND_GROUP(UNSEEN_KIND_PHONE_OF(86)), UNSEEN_KIND_PHONE);
    CHECK_EQ(unseen_kind_texts_max(unknown), 0);
    CHECK_EQ(unseen_kind_bound(unknown, 1), 0);
}

static void test_arguments(void)
{
    static const enum unseen_kind unknown = (enum unseen_kind)5;
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_bytes text;
    enum unseen_entry fitness;
    char buf[ROOM];
    size_t n;
    CHECK(unseen_kind_entry(unknown, url, "a", 1, buf, ROOM, &text, &fitness) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_kind_texts(unknown, url, "a", 1, buf, ROOM, texts, &n) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_kind_entry(UNSEEN_KIND_EXPRESSIONS, NULL, "a", 1, buf, ROOM, &text, &fitness) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_kind_texts(UNSEEN_KIND_EXPRESSIONS, NULL, "a", 1, buf, ROOM, texts, &n) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_kind_entry(UNSEEN_KIND_URL, NULL, NULL, 0, NULL, 0, &text, &fitness) ==
              UNSEEN_OK &&
          fitness == UNSEEN_ENTRY_EMPTY && text.len == 0);
    CHECK(unseen_kind_texts(UNSEEN_KIND_URL, NULL, NULL, 0, NULL, 0, texts, &n) == UNSEEN_OK &&
          n == 0);
}

/* ---- Entries --------------------------------------------------------------------------------- */

struct line {
    const char *line;
    const char *text; /* of the entry; "" where there is none */
    enum unseen_entry fitness;
};

#define FINE      UNSEEN_ENTRY_FINE
#define EMPTY     UNSEEN_ENTRY_EMPTY
#define INVALID   UNSEEN_ENTRY_INVALID
#define DANGEROUS UNSEEN_ENTRY_DANGEROUS

static const struct line url_lines[] = {
    {"HTTP://E.com:80/a/../b#c", "http://e.com/b", FINE},
    {"http://e.com/b", "http://e.com/b", FINE},
    {"http://com/", "http://com/", FINE}, /* one page */
    {"http://localhost", "http://localhost/", FINE},
    {"no url at all", "no url at all", FINE},
    {" kept as it is ", " kept as it is ", FINE},
    {"key1", "key1", FINE},
    {"12345", "12345", FINE},
    {"x", "x", FINE},
    {"e.com", "e.com", FINE},
    {"", "", EMPTY},
    {" \t\r\n", "", EMPTY},
    {"/", "/", DANGEROUS},
    {" / ", " / ", DANGEROUS},
    {"//", "//", DANGEROUS},
    {"http://", "http://", DANGEROUS},
    {"file:///", "file:///", DANGEROUS},
    {"com", "com", DANGEROUS},
    {" com ", " com ", DANGEROUS},
    {"COM/", "COM/", DANGEROUS},
    {".com", ".com", DANGEROUS},
    {"*.com", "*.com", DANGEROUS},
    {"com.", "com.", DANGEROUS},
    {"xn--p1ai", "xn--p1ai", DANGEROUS},
    {"\xd1\x80\xd1\x84", "\xd1\x80\xd1\x84", DANGEROUS},
};

/* Without a canonicaliser, or with one that leaves everything. */
static const struct line plain_lines[] = {
    {"HTTP://E.com:80/a/../b#c", "HTTP://E.com:80/a/../b#c", FINE},
    {"com", "com", FINE},
    {" com ", " com ", FINE},
    {" ", "", EMPTY},
    {"/", "/", DANGEROUS},
};

static const struct line expressions_lines[] = {
    {"evil.com", "evil.com/", FINE},
    {"evil.com/", "evil.com/", FINE},
    {" EVIL.com. ", "evil.com/", FINE},
    {".evil.com", "evil.com/", FINE},
    {"*.evil.com", "evil.com/", FINE},
    {"*.evil.com/a/", "evil.com/a/", FINE},
    {"evil.com/path/", "evil.com/path/", FINE},
    {"http://evil.com/x?q", "evil.com/x?q", FINE},
    {"https://u:p@evil.com:444/x#y", "evil.com/x", FINE},
    {"//evil.com/x", "evil.com/x", FINE},
    {"evil.com:8080", "evil.com/", FINE},
    {"evil.com/a@b", "evil.com/a@b", FINE},
    {"evil.com?jo@evil.com", "evil.com/?jo@evil.com", FINE},
    {"evil.com/%20", "evil.com/%20", FINE},
    {"b\xc3\xbc"
     "cher.example/a",
     "xn--bcher-kva.example/a", FINE},
    {"192.0.2.7", "192.0.2.7/", FINE},
    {"http://3221225991/", "192.0.2.7/", FINE},
    {"[2001:DB8::7]/x", "[2001:db8::7]/x", FINE},
    {"2001:DB8::7", "[2001:db8::7]/", FINE},
    {"1111:2222:3333:4444:5555:6666:255.255.255.255", "[1111:2222:3333:4444:5555:6666:ffff:ffff]/",
     FINE},
    {" 2001:db8:0:0::7\r", "[2001:db8::7]/", FINE},
    {"http://[::FFFF:1.2.3.4]/x", "1.2.3.4/x", FINE},
    {"my_host.example", "my_host.example/", FINE},
    {"a.b.c.d.e.f.g/1/2/3/4/5/6", "a.b.c.d.e.f.g/1/2/3/4/5/6", FINE},
    {"intranet/page", "intranet/page", FINE},
    {"com", "com/", DANGEROUS},
    {"*.com", "com/", DANGEROUS},
    {"http://com/", "com/", DANGEROUS},
    {"localhost", "localhost/", DANGEROUS},
    {"", "", EMPTY},
    {"\r", "", EMPTY},
    {"/", "", INVALID},
    {"http:///", "", INVALID},
    {".", "", INVALID},
    {"*.", "", INVALID},
    {"*", "", INVALID},
    {"# comment", "", INVALID},
    {"evil.com # comment", "", INVALID},
    {"evil.com\t2026-11-20", "", INVALID},
    {"http://evil.com/\tphishing", "", INVALID},
    {"0.0.0.0 evil.com", "", INVALID},
    {"||evil.com^", "", INVALID},
    {"evil.com/*", "", INVALID},
    {"http://*.evil.com/", "", INVALID},
    {"ev*l.com", "", INVALID},
    {"jo@evil.com", "", INVALID},
    {"jo%40evil.com", "", INVALID},
    {"mailto:jo@evil.com", "", INVALID},
    {"http://[::1", "", INVALID},
    {"http://[evil.com]/", "", INVALID},
    {"http://e%20vil.com/", "", INVALID},
    {"http://evil.com:99999/", "evil.com/", FINE}, /* no URL to browsers, but a port */
    {"http://evil.com:%38%30/", "evil.com/", FINE},
    {"1.2.3.4:80", "1.2.3.4/", FINE},
    {"1.2.3.4:/x", "1.2.3.4/x", FINE},
    {"2001:db8::/32", "", INVALID},
    {"12:30:01 evil.example", "", INVALID},
    {"1.2.3.4:80 word", "", INVALID},
    {"http://evil.com:80a/", "", INVALID},
    {"//u@evil.com:x/", "", INVALID},
    /* Browsers take these for hosts, but nobody can register them. */
    {"\"evil.com\"", "", INVALID},
    {"'evil.com'", "", INVALID},
    {"`evil.com`", "", INVALID},
    {"evil.com,malware", "", INVALID},
    {"evil.com, 2026", "", INVALID},
    {"evil.com;x", "", INVALID},
    {"evil.com=1", "", INVALID},
    {"{evil.com}", "", INVALID},
    {"address=/evil.com/", "", INVALID},
    {"evil.com$third-party", "", INVALID},
    {"\"http://evil.com/x\"", "", INVALID},
    {"evil.com,malware/x", "", INVALID},
    {"a123456789012345678901234567890123456789012345678901234567890123.example", "", INVALID},
    /* Numbers are addresses to browsers, but not in a list. */
    {"3221225991", "", INVALID},
    {"0xc0000207", "", INVALID},
    {"192.0.519", "", INVALID},
    {"2026112700", "", INVALID},
    {"192.0.2.010", "", INVALID},
    {"[::ffff:192.0.2.7]/x", "192.0.2.7/x", FINE},
    {"192.0.2.7.", "192.0.2.7/", FINE},
    {"192.0.2.0/24", "", INVALID},
    {"192.0.2.0/255.255.255.0", "", INVALID},
    {"http://192.0.2.0/24", "192.0.2.0/24", FINE},
    {"192.0.2.0/24/x", "192.0.2.0/24/x", FINE},
    {"192.0.2.1-192.0.2.9", "", INVALID},
    {"evil.123", "", INVALID},
    {"evil.0x7f/x", "", INVALID},
    {"http://evil.123/", "", INVALID},
    {"192.0.2.7:80/x", "192.0.2.7/x", FINE},
    /* A path, or a pattern for paths, is not a site. */
    {"/evil.com/", "", INVALID},
    {"/evil.com/x", "", INVALID},
    {"\\evil.com/", "", INVALID},
    {"\\\\evil.com/x", "evil.com/x", FINE},
    {"http:/evil.com/x", "evil.com/x", FINE},
};

static const struct line mail_lines[] = {
    {"Jo@Mail.Evil.example", "jo@mail.evil.example", FINE},
    {" jo@evil.example. ", "jo@evil.example", FINE},
    {"jo+tag@evil.example", "jo+tag@evil.example", FINE},
    {"EVIL.example", "evil.example", FINE},
    {"@evil.example", "evil.example", FINE},
    {"*@evil.example", "evil.example", FINE},
    {".evil.example", "evil.example", FINE},
    {"*.evil.example", "evil.example", FINE},
    {"*@*.evil.example", "evil.example", FINE},
    {"_dmarc.evil.example", "_dmarc.evil.example", FINE},
    {"jo@localhost", "jo@localhost", FINE},
    {"j@e", "j@e", FINE},
    {"j@e.x", "j@e.x", FINE},
    {"e.x", "e.x", FINE},
    {"e.-", "e.-", FINE},
    {"jo@[192.0.2.7]", "jo@[192.0.2.7]", FINE},
    {"jo@[IPv6:2001:db8::7]", "jo@[ipv6:2001:db8::7]", FINE},
    {"\"Jo Do\"@evil.example", "\"jo do\"@evil.example", FINE},
    {"\"jo@home\"@evil.example", "\"jo@home\"@evil.example", FINE},
    {"J\xc3\xb6@B\xc3\xbc"
     "cher.example",
     "j\xc3\xb6@xn--bcher-kva.example", FINE},
    {"b\xc3\xbc"
     "cher\xe3\x80\x82"
     "example\xe3\x80\x82",
     "xn--bcher-kva.example", FINE},
    {"\"jo\"@evil.example", "jo@evil.example", FINE},
    {"\"j\\o\"@Evil.example", "jo@evil.example", FINE},
    {"\"Jo\\ Do\"@evil.example", "\"jo do\"@evil.example", FINE},
    {"\"j\\\"o\\\\\"@evil.example", "\"j\\\"o\\\\\"@evil.example", FINE},
    {"\"\\\"jo\\\"\"@evil.example", "\"\\\"jo\\\"\"@evil.example", FINE},
    {"\"j\"o\"@evil.example", "\"j\"o\"@evil.example", FINE}, /* no quoted string: kept */
    {"\"*\"@evil.example", "\"*\"@evil.example", FINE},       /* *@ would be the domain */
    {"\"jo\\\"@evil.example", "\"jo\\\"@evil.example", FINE},
    {"jo@[IPv6:2001:DB8:0:0::7]", "jo@[ipv6:2001:db8::7]", FINE},
    {"jo@[IPv6:1::3:4:5:6:7:8]", "jo@[ipv6:1:0:3:4:5:6:7:8]", FINE},
    {"jo@[IPv6:::FFFF:192.0.2.7]", "jo@[192.0.2.7]", FINE},
    {"com", "com", DANGEROUS},
    {"*.com", "com", DANGEROUS},
    {"@localhost", "localhost", DANGEROUS},
    {"", "", EMPTY},
    {"  ", "", EMPTY},
    {"@", "", INVALID},
    {".", "", INVALID},
    {"*", "", INVALID},
    {"*@", "", INVALID},
    {"jo@", "", INVALID},
    {"@jo@evil.example", "", INVALID},
    {"@*@evil.example", "", INVALID},
    {"jo@home@evil.example", "", INVALID},
    {"jo do@evil.example", "", INVALID},
    {"Jo Do <jo@evil.example>", "", INVALID},
    {"jo@evil.example,al@evil.example", "", INVALID},
    {"jo@evil..example", "", INVALID},
    {"jo@.evil.example", "", INVALID},
    {"..evil.example", "", INVALID},
    {"192.0.2.7", "", INVALID},
    {"jo@192.0.2.7", "", INVALID},
    {"[192.0.2.7]", "", INVALID},
    {"http://evil.example/", "", INVALID},
    {"evil.example/", "", INVALID},
    {"b\xff"
     "cher.example",
     "", INVALID},
    {"a123456789012345678901234567890123456789012345678901234567890123.example", "", INVALID},
};

static const struct line ip_lines[] = {
    {"192.0.2.7", "192.0.2.7", FINE},
    {" 192.0.2.7/32\r", "192.0.2.7", FINE},
    {"192.0.2.7/24", "192.0.2.0/24", FINE},
    {"255.255.255.255/31", "255.255.255.254/31", FINE},
    {"10.0.0.0/8", "10.0.0.0/8", FINE},
    {"0.0.0.0", "0.0.0.0", FINE},
    {"2001:DB8:0:0::7", "2001:db8::7", FINE},
    {"2001:db8::7/128", "2001:db8::7", FINE},
    {"2001:db8::7/127", "2001:db8::6/127", FINE},
    {"2001:db8:ffff::/33", "2001:db8:8000::/33", FINE},
    {"2001::/16", "2001::/16", FINE},
    {"::", "::", FINE},
    {"::ffff:192.0.2.7", "192.0.2.7", FINE},
    {"::FFFF:c000:207", "192.0.2.7", FINE},
    {"::ffff:192.0.2.7/120", "192.0.2.0/24", FINE},
    {"::ffff:192.0.2.7/95", "::fffe:0:0/95", DANGEROUS}, /* does not cover 192.0.2.7 */
    {"::ffff:0:0/90", "::ffc0:0:0/90", DANGEROUS},
    {"::/64", "::/64", DANGEROUS},
    {"::/96", "::/96", FINE},
    {"::fffe:0:0/96", "::fffe:0:0/96", FINE},
    {"::1:ffff:0:0/90", "::1:ffc0:0:0/90", FINE},
    {"10.0.0.0/7", "10.0.0.0/7", DANGEROUS},
    {"192.0.2.7/0", "0.0.0.0/0", DANGEROUS},
    {"2001::/15", "2000::/15", DANGEROUS},
    {"::/0", "::/0", DANGEROUS},
    {"::ffff:0:0/96", "0.0.0.0/0", DANGEROUS},
    {"", "", EMPTY},
    {" ", "", EMPTY},
    {"/", "", INVALID},
    {"/24", "", INVALID},
    {"192.0.2.7/", "", INVALID},
    {"192.0.2.7/33", "", INVALID},
    {"192.0.2.7/024", "", INVALID},
    {"192.0.2.7/-1", "", INVALID},
    {"192.0.2.7/4294967320", "", INVALID},
    {"192.0.2.7/255.255.255.0", "192.0.2.0/24", FINE},
    {"192.0.2.7/255.255.255.255", "192.0.2.7", FINE},
    {"10.0.0.0/255.255.255.254", "10.0.0.0/31", FINE},
    {"10.0.0.0/254.0.0.0", "10.0.0.0/7", DANGEROUS},
    {"10.0.0.0/0.0.0.0", "0.0.0.0/0", DANGEROUS},
    {"2001:db8::7/ffff:ffff::", "2001:db8::/32", FINE},
    {"192.0.2.0/0.0.0.255", "", INVALID},
    {"192.0.2.0/255.0.255.0", "", INVALID},
    {"192.0.2.0/255.255.255.1", "", INVALID},
    {"192.0.2.0/255.255.255", "", INVALID},
    {"192.0.2.0/ffff::", "", INVALID},
    {"2001:db8::/255.255.0.0", "", INVALID},
    {"192.0.2.1-192.0.2.9", "", INVALID},
    {"192.0.2.*", "", INVALID},
    {"192.0.2", "", INVALID},
    {"192.0.2.010", "", INVALID},
    {"192.0.2.256", "", INVALID},
    {"192.0.2.7.", "", INVALID},
    {"0xc0000207", "", INVALID},
    {"2001:db8::/129", "", INVALID},
    {"2001:db8:::7", "", INVALID},
    {"[2001:db8::7]", "", INVALID},
    {"fe80::1%eth0", "", INVALID},
    {"192.0.2.7 192.0.2.8", "", INVALID},
    {"evil.example", "", INVALID},
};

static const struct line phone_lines[] = {
    {"+4989123456", "+4989123456", FINE},
    {"+49 (0)89 / 123-456", "+4989123456", FINE},
    {"+49.89.123.456", "+4989123456", FINE},
    {" 0049 89 123456 ", "+4989123456", FINE},
    {"0049 (0) 89 123456", "+4989123456", FINE},
    {"+49 (089) 123456", "+49089123456", FINE}, /* only "(0)" is known not to be dialled */
    {"(089) 123456", "089123456", FINE},
    {"89 (0) 123456", "890123456", FINE}, /* not international */
    {"0 89 (0) 123456", "0890123456", FINE},
    {"(0)89 123456", "089123456", FINE},
    {"110", "110", FINE},
    {"123456789012345", "123456789012345", FINE},
    {"00123456789012345", "+123456789012345", FINE},
    {"", "", EMPTY},
    {"11", "", INVALID},
    {"+11", "", INVALID},
    {"1234567890123456", "", INVALID},
    {"+1234567890123456", "", INVALID},
    {"1234567890123456789012345678901234567890", "", INVALID},
    {"+", "", INVALID},
    {"00", "", INVALID},
    {"++49123", "", INVALID},
    {"49+123", "", INVALID},
    {"+0123456", "", INVALID},
    {"\xef\xbc\x8b\xef\xbc\x94\xef\xbc\x99 89\xe2\x80\x90"
     "123456",
     "+4989123456", FINE},
    {"tel:+4989123456", "", INVALID},
    {"0800-FLOWERS", "", INVALID},
    {"123456 x12", "", INVALID},
    {"- ()", "", INVALID},
};

/* National numbers of countries; the last field is the country. */
static const struct {
    struct line line;
    unsigned country;
} national_lines[] = {
    {{"138 0013 8000", "+8613800138000", FINE}, 86},
    {{"(010) 1234-5678", "+861012345678", FINE}, 86},
    {{"+86 138 0013 8000", "+8613800138000", FINE}, 86},
    {{"0049 89 123456", "+4989123456", FINE}, 86},
    {{"110", "+86110", FINE}, 86},
    {{"089 123456", "+4989123456", FINE}, 49},
    {{"89123456", "+4989123456", FINE}, 49},
    {{"0", "", INVALID}, 49},
    {{"12345678901234", "", INVALID}, 49}, /* 16 digits with the code */
    {{"0123456789012345", "", INVALID}, 49},
    {{"012345678901234", "", INVALID}, 49},
    {{"01234567890123", "+491234567890123", FINE}, 49},
    {{"1 (212) 555-0100", "+12125550100", FINE}, 1},
    {{"212 555 0100", "+12125550100", FINE}, 1},
    {{"112", "+1112", FINE}, 1}, /* its 1 is not dialled in front of a number */
    {{"8 (495) 123-45-67", "+74951234567", FINE}, 7},
    {{"812 1234567", "+78121234567", FINE}, 7},
    {{"06 30 123 4567", "+36301234567", FINE}, 36},
    {{"06 1234567", "+39061234567", FINE}, 39},
    {{"0549 123456", "+3780549123456", FINE}, 378},
    {{"FLOWERS", "", INVALID}, 49},
    {{" ", "", EMPTY}, 49},
};

/* Whether the text is among those that it makes itself as a question. */
static bool asks_for(enum unseen_kind kind, const struct unseen_url *with, struct unseen_bytes text)
{
    static char buf[ROOM];
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n = 0;
    CHECK(unseen_kind_texts(kind, with, text.data, text.len, buf, ROOM, texts, &n) == UNSEEN_OK);
    CHECK(n <= UNSEEN_KIND_TEXTS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len == text.len && memcmp(texts[i].data, text.data, text.len) == 0) {
            return true;
        }
    }
    return false;
}

static void check_line(enum unseen_kind kind, const struct unseen_url *with,
                       const struct line *line)
{
    static char buf[ROOM];
    struct unseen_bytes text = {NULL, 1};
    enum unseen_entry fitness = (enum unseen_entry)9;
    const struct unseen_bytes in = bytes(line->line);
    const char *const data = test_guarded(in.data, in.len);
    CHECK(unseen_kind_entry(kind, with, data, in.len, buf, ROOM, &text, &fitness) == UNSEEN_OK);
    if (!CHECK(fitness == line->fitness) || !CHECK(is_text(text, line->text))) {
        fprintf(stderr, "  %s <%s>: %d <%.*s>\n", unseen_kind_name(kind), line->line, (int)fitness,
                (int)text.len, text.data);
    }
    CHECK((unseen_kind_complaint(kind, fitness)[0] == '\0') == (fitness == FINE));
    if (text.len > 0) {
        CHECK(asks_for(kind, with, text));
    }
}

#define CHECK_LINES(kind, with, lines)                                                             \
    check_lines((kind), (with), (lines), sizeof(lines) / sizeof(*(lines)))

static void check_lines(enum unseen_kind kind, const struct unseen_url *with,
                        const struct line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_line(kind, with, &lines[i]);
    }
}

static void test_entries(void)
{
    struct unseen_url *none = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = "none", .cpu = test_cpu};
    CHECK(unseen_url_create(&none, &options, NULL) == UNSEEN_OK);
    CHECK_LINES(UNSEEN_KIND_URL, url, url_lines);
    CHECK_LINES(UNSEEN_KIND_URL, NULL, plain_lines);
    CHECK_LINES(UNSEEN_KIND_URL, none, plain_lines);
    CHECK_LINES(UNSEEN_KIND_EXPRESSIONS, url, expressions_lines);
    CHECK_LINES(UNSEEN_KIND_EXPRESSIONS, none, expressions_lines);
    CHECK_LINES(UNSEEN_KIND_MAIL, NULL, mail_lines);
    CHECK_LINES(UNSEEN_KIND_IP, NULL, ip_lines);
    CHECK_LINES(UNSEEN_KIND_PHONE, NULL, phone_lines);
    for (size_t i = 0; i < sizeof(national_lines) / sizeof(national_lines[0]); i++) {
        check_line(UNSEEN_KIND_PHONE_OF(national_lines[i].country), NULL, &national_lines[i].line);
    }
    unseen_url_free(none);
}

/* The longest names that there are, and one byte more: an address of 254 bytes, a domain of 253, a
 * label of 63. */
static void test_longest_mail(void)
{
    static const struct {
        size_t local; /* 0: a domain */
        size_t domain;
        enum unseen_entry fitness;
    } cases[] = {
        {1, 252, FINE},  {2, 251, FINE},     {2, 252, INVALID}, {3, 251, INVALID},
        {64, 189, FINE}, {64, 190, INVALID}, {200, 53, FINE},   {200, 54, INVALID},
        {0, 252, FINE},  {0, 253, FINE},     {0, 254, INVALID}, {1, 253, INVALID},
        {245, 8, FINE},  {246, 8, INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[600];
        size_t len = cases[i].local;
        memset(text, 'j', sizeof(text));
        if (len > 0) {
            text[len++] = '@';
        }
        const size_t end = len + cases[i].domain;
        for (size_t at = len + 1; at + 2 < end; at += 50) {
            text[at] = '.';
        }
        text[end] = '\0';
        check_line(UNSEEN_KIND_MAIL, NULL,
                   &(struct line){text, cases[i].fitness == FINE ? text : "", cases[i].fitness});
    }
    for (size_t len = 62; len <= 65; len++) {
        char text[100];
        memset(text, 'j', sizeof(text));
        memcpy(text + len, ".example", 9);
        const bool fine = len <= 63;
        check_line(UNSEEN_KIND_MAIL, NULL,
                   &(struct line){text, fine ? text : "", fine ? FINE : INVALID});
    }
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* The texts of a question, with a blank behind each. */
static const char *list(enum unseen_kind kind, const char *question)
{
    static char out[ROOM];
    static char buf[ROOM];
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n = 0;
    size_t len = 0;
    CHECK(unseen_kind_texts(kind, url, question, strlen(question), buf, ROOM, texts, &n) ==
          UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%.*s ", (int)texts[i].len,
                                texts[i].data);
    }
    out[len] = '\0';
    return out;
}

static void check_texts(enum unseen_kind kind, const char *question, const char *expected)
{
    if (!CHECK(strcmp(list(kind, question), expected) == 0)) {
        fprintf(stderr, "  <%s>: %s\n", question, list(kind, question));
    }
}

static bool finds(enum unseen_kind kind, const char *line, const char *question);

/* Questions that mean one listed thing. The first text is the one that a list would have. */
static const struct {
    enum unseen_kind kind;
    const char *text;
    const char *questions[40];
} spelt[] = {
    {UNSEEN_KIND_MAIL,
     "jo@evil.example",
     {"Jo Do <jo@evil.example>",
      "<JO@evil.example>",
      "\"Al\" <jo@evil.example> ",
      "\"<al@good.example>\" <jo@evil.example>",
      "al@good.example <jo@evil.example>",
      "jo(al@good.example)@evil.example",
      "jo@(c(c)\\)c)evil.example",
      "jo@evil.example (Jo)",
      "(Jo)jo@evil.example.",
      "jo @ evil . example",
      "\"jo\"@evil.example",
      "\"j\\o\" @evil.example",
      "mailto:jo@evil.example",
      "MAILTO:jo%40evil.example?cc=al@good.example",
      "<mailto:jo@evil.example?subject=a@b>",
      "<@a.example,@b.example:jo@evil.example>",
      "@a.example:jo@evil.example",
      "jo@evil\xe3\x80\x82"
      "example",
      "jo@\xef\xbd\x85vil.example",
      "Jo <jo@evil.example> (Jo)",
      "<jo@evil.example>\t(work)",
      "Jo (5\" nails) <jo@evil.example>",
      "Jo <jo@evil.example (Jo <3)>",
      "(<al@good.example>) <jo@evil.example>",
      "Jo :-( <jo(c)@evil.example>",
      "\"Jo :-(\" <jo@evil.example> (\\))",
      "mailto:jo@evil.example#x",
      "mailto:jo@evil.example#x?y",
      "mailto:jo@evil.example?x#y"}},
    {UNSEEN_KIND_MAIL,
     "evil.example",
     {"x@[y\"@evil.example", "\"<al@good.example>\"@evil.example",
      "\"(al@good.example)\"@evil.example", "(@good.example@evil.example",
      "\"jo@good.example@evil.example", "<x@evil.example> (work)", "(Jo <jo)@evil.example>"}},
    {UNSEEN_KIND_MAIL,
     "\"<al@good.example> (al)\"@evil.example",
     {"Jo <\"<al@good.example> (al)\"@evil.example> (Jo)"}},
    {UNSEEN_KIND_MAIL, "jo@[192.0.2.7]", {"jo@[IPv6:::ffff:c000:207]", "<jo@[192.0.2.7]>"}},
    {UNSEEN_KIND_MAIL, "\"jo do\"@evil.example", {"\"jo\\ do\"@evil.example"}},
    {UNSEEN_KIND_IP,
     "192.0.2.8",
     {"192.0.2.8.", "0300.0.2.010", "0xC0000208", "0xc0.0.0x2.8", "3221225992", "192.0.520",
      "192.000.002.008", "192.0.2.010", "192.0.2.8:443",
      "\xef\xbc\x91"
      "92.0.2.8",
      "::ffff:192.0.2.8", "[::ffff:192.0.2.8]:443", "::ffff:c000:208%eth0",
      "192\xe3\x80\x82"
      "0.2.8"}},
    {UNSEEN_KIND_IP, "192.0.2.10", {"192.0.2.010", "192.000.002.010"}},
    {UNSEEN_KIND_IP,
     "2001:db8::7",
     {"[2001:DB8::7]", "[2001:db8::7]:443", "2001:db8::7%eth0", "[2001:db8::7%25eth0]:8080"}},
    {UNSEEN_KIND_PHONE,
     "+4989123456",
     {"\xef\xbc\x8b\xef\xbc\x94\xef\xbc\x99\xe3\x80\x80"
      "89123456",
      "+\xd9\xa4\xd9\xa9 89 123456",
      "\xe2\x80\xaa+49\xe2\x80\x91"
      "89\xc2\xa0"
      "123456\xe2\x80\xac",
      "+49 \xef\xbc\x88"
      "0\xef\xbc\x89 89 123456",
      "tel:+49-89-123456;ext=7", "TEL:+4989123456", "+49 89 123456 ext. 7", "+49 89 123456x7",
      "+4989123456#7"}},
};

static void test_spelt_questions(void)
{
    for (size_t i = 0; i < sizeof(spelt) / sizeof(spelt[0]); i++) {
        for (size_t k = 0; spelt[i].questions[k]; k++) {
            const char *const question = spelt[i].questions[k];
            if (!CHECK(finds(spelt[i].kind, spelt[i].text, question))) {
                fprintf(stderr, "  <%s> is not %s but %s\n", question, spelt[i].text,
                        list(spelt[i].kind, question));
            }
        }
    }
    check_texts(UNSEEN_KIND_MAIL, "@[IPv6:2001:DB8::0:7]", "[ipv6:2001:db8::7] ");
    char strict[ROOM];
    snprintf(strict, sizeof(strict), "%s", list(UNSEEN_KIND_IP, "0.0.0.1"));
    check_texts(UNSEEN_KIND_IP, "00.0.0.1", strict); /* both readings are one address */
    check_texts(UNSEEN_KIND_IP, "00.0.0.1/8", "");
    check_texts(UNSEEN_KIND_IP, "1:2", "");
    check_texts(UNSEEN_KIND_IP, "192.0.2.8:x", "");
    check_texts(UNSEEN_KIND_PHONE, "12 x7", "");
    check_texts(UNSEEN_KIND_PHONE_OF(86), "tel:010-1234-5678;ext=7", "+861012345678 ");
    check_texts(UNSEEN_KIND_PHONE_OF(49), "089 12345678901234", "");
    check_texts(UNSEEN_KIND_PHONE, "+49 89 123456 \xff", "");
}

/* No number of zeros in front of a number hides an address from a list. */
static void test_padded_questions(void)
{
    static const struct {
        const char *format;
        const char *text;
    } cases[] = {
        {"%s300.0.2.7", "192.0.2.7"},     {"192.0.%s2.7", "192.0.2.7"},
        {"0x%sc0000207", "192.0.2.7"},    {"192.0.2.%s7:443", "192.0.2.7"},
        {"192.0.2.7:%s443", "192.0.2.7"}, {"192.0.2.%s", "192.0.2.0"},
        {"192.0.2.0X%s", "192.0.2.0"},    {"192.0.2.%s10", "192.0.2.10"},
        {"192.0.2.%s10", "192.0.2.8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char zeros[1000];
        char question[1100];
        for (size_t n = 1; n < sizeof(zeros); n = n < 10 ? n + 1 : 5 * n) {
            memset(zeros, '0', n);
            zeros[n] = '\0';
            snprintf(question, sizeof(question), cases[i].format, zeros);
            if (!CHECK(finds(UNSEEN_KIND_IP, cases[i].text, question))) {
                fprintf(stderr, "  %s, %zu zeros\n", cases[i].format, n);
            }
        }
    }
    check_texts(UNSEEN_KIND_IP, "000xc0.0.2.7", "");
    check_texts(UNSEEN_KIND_IP, "0x0x7.0.2.7", "");
    check_texts(UNSEEN_KIND_IP, "192.0.2.0008a", "");
}

static void test_questions(void)
{
    check_texts(UNSEEN_KIND_URL, "HTTP://E.com/a#b", "http://e.com/a ");
    check_texts(UNSEEN_KIND_URL, "no url", "no url ");
    check_texts(UNSEEN_KIND_URL, " ", "");
    check_texts(UNSEEN_KIND_EXPRESSIONS, "http://a.b.c/1/2.html?x=1",
                "a.b.c/1/2.html?x=1 a.b.c/1/2.html a.b.c/ a.b.c/1/ b.c/1/2.html?x=1 b.c/1/2.html "
                "b.c/ b.c/1/ ");
    check_texts(UNSEEN_KIND_EXPRESSIONS, "mailto:a@b.c", "");
    check_texts(UNSEEN_KIND_EXPRESSIONS, "1.2.3.4:80 word", "1.2.3.4/ ");
    check_texts(UNSEEN_KIND_EXPRESSIONS, "http://evil.com:80a/", "evil.com/ ");
    check_texts(UNSEEN_KIND_EXPRESSIONS, " 2001:DB8:0::7\r", "[2001:db8::7]/ ");
    check_texts(UNSEEN_KIND_EXPRESSIONS, "https://[2001:db8:0:0::7]:8080/", "[2001:db8::7]/ ");
    check_texts(UNSEEN_KIND_MAIL, "Jo@Mail.Evil.example.",
                "jo@mail.evil.example mail.evil.example evil.example example ");
    check_texts(UNSEEN_KIND_MAIL, "mail.evil.example", "mail.evil.example evil.example example ");
    check_texts(UNSEEN_KIND_MAIL, "jo@localhost", "jo@localhost localhost ");
    check_texts(UNSEEN_KIND_MAIL, "jo@[192.0.2.7]", "jo@[192.0.2.7] [192.0.2.7] ");
    check_texts(UNSEEN_KIND_MAIL, "a@1.2.3.4.5.6.7.8.9.x",
                "a@1.2.3.4.5.6.7.8.9.x 1.2.3.4.5.6.7.8.9.x 3.4.5.6.7.8.9.x 4.5.6.7.8.9.x "
                "5.6.7.8.9.x 6.7.8.9.x 7.8.9.x 8.9.x 9.x x ");
    /* Questions are not judged. */
    check_texts(UNSEEN_KIND_MAIL, "a b@c\xff..d", "a b@c\xff..d c\xff..d .d d ");
    check_texts(UNSEEN_KIND_MAIL, "jo@", "");
    check_texts(UNSEEN_KIND_MAIL, "...", "");
    check_texts(UNSEEN_KIND_IP, "10.0.0.0/6",
                "8.0.0.0/6 8.0.0.0/5 0.0.0.0/4 0.0.0.0/3 0.0.0.0/2 "
                "0.0.0.0/1 0.0.0.0/0 ");
    check_texts(UNSEEN_KIND_IP, "::ffff:10.0.0.0/99", "0.0.0.0/3 0.0.0.0/2 0.0.0.0/1 0.0.0.0/0 ");
    check_texts(UNSEEN_KIND_IP, "ffff::/3", "e000::/3 c000::/2 8000::/1 ::/0 ");
    check_texts(UNSEEN_KIND_IP, "evil.example", "");
    test_spelt_questions();
    test_padded_questions();
    check_texts(UNSEEN_KIND_PHONE, "0049 89 123456", "+4989123456 ");
    check_texts(UNSEEN_KIND_PHONE, "Jo", "");
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* With every size of buffer, ending at a guard page, the answer is SPACE or the right one; with the
 * bound it is the right one. */
static void check_sizes(enum unseen_kind kind, const char *text)
{
    static char wide[ROOM];
    const size_t len = strlen(text);
    const size_t bound = unseen_kind_bound(kind, len);
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_bytes right[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_bytes entry;
    struct unseen_bytes right_entry;
    enum unseen_entry fitness;
    size_t nright = 0;
    char *const end = test_guarded(wide, ROOM) + ROOM;
    CHECK(bound <= ROOM);
    CHECK(unseen_kind_texts(kind, url, text, len, wide, ROOM, right, &nright) == UNSEEN_OK);
    for (size_t cap = 0; cap <= bound; cap++) {
        size_t n = 0;
        const enum unseen_status status =
            unseen_kind_texts(kind, url, text, len, end - cap, cap, texts, &n);
        CHECK(status == UNSEEN_OK || (status == UNSEEN_ERR_SPACE && cap < bound));
        CHECK(status != UNSEEN_OK || n == nright);
        for (size_t i = 0; i < n; i++) {
            CHECK(texts[i].len == right[i].len &&
                  memcmp(texts[i].data, right[i].data, right[i].len) == 0);
        }
    }
    CHECK(unseen_kind_entry(kind, url, text, len, wide, ROOM, &right_entry, &fitness) == UNSEEN_OK);
    for (size_t cap = 0; cap <= bound; cap++) {
        const enum unseen_status status =
            unseen_kind_entry(kind, url, text, len, end - cap, cap, &entry, &fitness);
        CHECK(status == UNSEEN_OK || (status == UNSEEN_ERR_SPACE && cap < bound));
        CHECK(status != UNSEEN_OK || (entry.len == right_entry.len &&
                                      memcmp(entry.data, right_entry.data, right_entry.len) == 0));
    }
}

static void test_sizes(void)
{
    check_sizes(UNSEEN_KIND_URL, "HTTP://E.com/a#b");
    check_sizes(UNSEEN_KIND_EXPRESSIONS, "http://a.b.c/1/2.html?x=1");
    check_sizes(UNSEEN_KIND_EXPRESSIONS, "http://a.b.c.d.e.f.g.h\\x//..;/y%2f..%5cz%252f/a?\xff%");
    check_sizes(UNSEEN_KIND_EXPRESSIONS, "1111:2222:3333:4444:5555:6666:255.255.255.255");
    check_sizes(UNSEEN_KIND_MAIL, "Jo@Mail.Evil.example");
    check_sizes(UNSEEN_KIND_MAIL, "J\xc3\xb6@b\xc3\xbc"
                                  "cher.example");
    check_sizes(UNSEEN_KIND_IP, "255.254.253.252");
    check_sizes(UNSEEN_KIND_IP, "2001:db8:1111:2222:3333:4444:5555:6666");
    check_sizes(UNSEEN_KIND_PHONE, "+49 89 123456");
}

/* ---- Models ---------------------------------------------------------------------------------- */

/* Is the entry, a line of a list, among the texts of the question? */
static bool finds(enum unseen_kind kind, const char *line, const char *question)
{
    static char entry_buf[ROOM];
    static char buf[ROOM];
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    struct unseen_bytes entry;
    enum unseen_entry fitness;
    size_t n = 0;
    CHECK(unseen_kind_entry(kind, url, line, strlen(line), entry_buf, ROOM, &entry, &fitness) ==
              UNSEEN_OK &&
          (fitness == FINE || fitness == DANGEROUS));
    CHECK(unseen_kind_texts(kind, url, question, strlen(question), buf, ROOM, texts, &n) ==
          UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len == entry.len && memcmp(texts[i].data, entry.data, entry.len) == 0) {
            return true;
        }
    }
    return false;
}

/* A model says what covers what, makes random lines and questions that often meet, and can be told
 * to be wrong. */
struct model {
    enum unseen_kind kind;
    void (*line)(uint64_t *seed, char *out, size_t cap);
    void (*question)(uint64_t *seed, char *out, size_t cap);
    bool (*covers)(const char *line, const char *question, bool fault);
};

/* Addresses with few different bits, as bits: 32 and 128 of them. */
static void random_address(uint64_t *seed, char *out, size_t cap)
{
    const uint64_t r = test_random(seed);
    if (r & 1) {
        snprintf(out, cap, "%u.%u.%u.%u", (unsigned)(r >> 8 & 0x81), (unsigned)(r >> 16 & 3),
                 (unsigned)(r >> 24 & 0x11), (unsigned)(r >> 32 & 0xff));
    } else {
        snprintf(out, cap, "%x:%x::%x", (unsigned)(r >> 8 & 0x8001), (unsigned)(r >> 24 & 0x1010),
                 (unsigned)(r >> 40 & 0xf));
    }
}

static void random_network(uint64_t *seed, char *out, size_t cap)
{
    random_address(seed, out, cap);
    const size_t len = strlen(out);
    const unsigned all = strchr(out, ':') ? 129 : 33;
    snprintf(out + len, cap - len, "/%u", (unsigned)(test_random(seed) % all));
}

static bool covers_address(const char *line, const char *question, bool fault)
{
    unsigned char network[16];
    unsigned char address[16];
    char text[64];
    snprintf(text, sizeof(text), "%s", line);
    *strchr(text, '/') = '\0';
    const int family = strchr(line, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(family, text, network) != 1 || inet_pton(family, question, address) != 1) {
        return false;
    }
    unsigned nbits = (unsigned)strtoul(strchr(line, '/') + 1, NULL, 10);
    nbits -= fault && nbits > 0;
    for (unsigned i = 0; i < nbits; i++) {
        if ((network[i / 8] ^ address[i / 8]) >> (7 - i % 8) & 1) {
            return false;
        }
    }
    return true;
}

/* Names of 2 to 5 labels out of a few. */
static void random_name(uint64_t *seed, char *out, size_t cap)
{
    static const char *const labels[] = {"a", "b", "aa", "xa"};
    size_t len = 0;
    for (uint64_t n = 2 + test_random(seed) % 4; n > 0; n--) {
        len += (size_t)snprintf(out + len, cap - len, "%s%s", labels[test_random(seed) % 4],
                                n > 1 ? "." : "");
    }
}

static void random_mail(uint64_t *seed, char *out, size_t cap)
{
    static const char *const locals[] = {"", "jo@", "Al@"};
    const char *const local = locals[test_random(seed) % 3];
    snprintf(out, cap, "%s", local);
    random_name(seed, out + strlen(local), cap - strlen(local));
}

/* Is name the domain or below it? */
static bool is_below(const char *name, const char *domain)
{
    const size_t len = strlen(name);
    const size_t domain_len = strlen(domain);
    return len >= domain_len && strcmp(name + len - domain_len, domain) == 0 &&
           (len == domain_len || name[len - domain_len - 1] == '.');
}

static bool covers_mail(const char *line, const char *question, bool fault)
{
    const char *const at = strchr(question, '@');
    if (strchr(line, '@') || fault) {
        return strcmp(line, question) == 0;
    }
    return is_below(at ? at + 1 : question, line);
}

static void random_page(uint64_t *seed, char *out, size_t cap)
{
    static const char *const paths[] = {"/", "/a", "/a/", "/a/b", "/a/b/", "/a/?x", "/a?x", "/b/a"};
    snprintf(out, cap, "http://");
    random_name(seed, out + 7, cap - 7);
    const size_t len = strlen(out);
    snprintf(out + len, cap - len, "%s", paths[test_random(seed) % 8]);
}

/* Folders end in a slash and cover what begins with them; a page covers itself with any query. */
static bool covers_path(const char *entry, const char *path)
{
    const size_t len = strlen(entry);
    if (!strchr(entry, '?') && entry[len - 1] == '/' && strncmp(path, entry, len) == 0) {
        return true;
    }
    return strncmp(path, entry, len) == 0 && (path[len] == '\0' || path[len] == '?');
}

static bool covers_page(const char *line, const char *question, bool fault)
{
    char host[256];
    char domain[256];
    const char *const path = strchr(question + 7, '/');
    const char *const entry_path = strchr(line + 7, '/');
    snprintf(host, sizeof(host), "%.*s", (int)(path - question - 7), question + 7);
    snprintf(domain, sizeof(domain), "%.*s", (int)(entry_path - line - 7), line + 7);
    return is_below(host, domain) && (fault || covers_path(entry_path, path));
}

/* In how many of n random cases the model and the texts differ. */
static unsigned long count_differences(const struct model *model, bool fault, unsigned long n)
{
    char line[256];
    char question[256];
    uint64_t seed = 6;
    unsigned long ndifferent = 0;
    unsigned long ncovered = 0;
    for (unsigned long i = 0; i < n; i++) {
        model->line(&seed, line, sizeof(line));
        model->question(&seed, question, sizeof(question));
        const bool covers = model->covers(line, question, fault);
        ncovered += covers;
        if (finds(model->kind, line, question) != covers && ndifferent++ == 0 && !fault) {
            fprintf(stderr, "  <%s> and <%s>: %d\n", line, question, covers);
        }
    }
    CHECK(ncovered > n / 1000 && ncovered < n / 2);
    return ndifferent;
}

static void test_models(void)
{
    static const struct model models[] = {
        {UNSEEN_KIND_IP, random_network, random_address, covers_address},
        {UNSEEN_KIND_MAIL, random_mail, random_mail, covers_mail},
        {UNSEEN_KIND_EXPRESSIONS, random_page, random_page, covers_page},
    };
    const unsigned long n = 20000 * test_scale();
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        CHECK_EQ(count_differences(&models[i], false, n), 0);
        CHECK(count_differences(&models[i], true, n) > 0);
    }
}

int main(void)
{
    test_start();
    const struct unseen_url_options options = {.size = sizeof(options), .cpu = test_cpu};
    if (!CHECK(unseen_url_create(&url, &options, NULL) == UNSEEN_OK)) {
        return test_end();
    }
    test_names();
    test_arguments();
    test_entries();
    test_longest_mail();
    test_questions();
    test_sizes();
    test_models();
    unseen_url_free(url);
    return test_end();
}
