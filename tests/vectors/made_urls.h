/* SPDX-License-Identifier: MIT
 *
 * URLs made up from a seed, each with its canonical form by the WHATWG standard. Both are put
 * together from the same parts, so that the canonical form does not come from a parser: a part is
 * chosen by what it means (a port, a segment, an address), written down once in one of its many
 * spellings and once in the canonical one. Most parts are plain, as on real pages. */
#ifndef UNSEEN_TESTS_MADE_URLS_H
#define UNSEEN_TESTS_MADE_URLS_H

#include "test.h"

enum {
    MADE_MAX = 8192,
    MADE_SEGMENTS = 64
};

struct made_text {
    char data[MADE_MAX];
    size_t len;
};

struct made_url {
    struct made_text spelled;
    struct made_text canon;
    size_t fragment; /* where the canonical form's '#' stands, or its length */
};

/* A text and what the standard makes of it. canon NULL: the same. */
struct made_pair {
    const char *spelled;
    const char *canon;
};

static inline uint64_t made_below(uint64_t *seed, uint64_t n)
{
    return (test_random(seed) >> 16) % n;
}

/* True once in n times. */
static inline bool made_once_in(uint64_t *seed, uint64_t n)
{
    return made_below(seed, n) == 0;
}

static inline void made_put(struct made_text *t, const char *text)
{
    const size_t len = strlen(text);
    if (t->len + len >= MADE_MAX) {
        abort();
    }
    memcpy(t->data + t->len, text, len);
    t->len += len;
}

static inline void made_both(struct made_url *u, const char *spelled, const char *canon)
{
    made_put(&u->spelled, spelled);
    made_put(&u->canon, canon ? canon : spelled);
}

static inline const char *made_word(uint64_t *seed)
{
    static const char *const words[] = {
        "a",       "b",      "id",      "news",     "index.html", "page",    "2024",    "07",
        "static",  "img",    "v1.2",    "en-us",    "about_us",   "item~1",  "search",  "q",
        "user",    "x",      "archive", "download", "main.css",   "app.js",  "article", "tag",
        "catalog", "edit",   "wiki",    "feed.xml", "sitemap",    "photo-7", "12345",   "index.php",
        "forum",   "thread", "login",   "help",     "products",   "a+b",     "c,d",     "$9",
        "(e)",     "f!",     "*",       "k:v",      "m@n",        "o&p",     "r=s",     "t;u"};
    return words[made_below(seed, sizeof(words) / sizeof(words[0]))];
}

#define MADE_CHOOSE(seed, array) (array)[made_below(seed, sizeof(array) / sizeof((array)[0]))]

/* Letters in either case. */
static inline void made_put_cased(struct made_text *t, const char *text, uint64_t *seed)
{
    for (; *text; text++) {
        const bool is_letter = *text >= 'a' && *text <= 'z';
        const char one[2] = {(char)(is_letter && made_once_in(seed, 2) ? *text - 'a' + 'A' : *text),
                             '\0'};
        made_put(t, one);
    }
}

/* ---- Text in the parts ------------------------------------------------------------------------*/

/* What every part escapes, and what none touches. */
static const struct made_pair made_everywhere[] = {
    {"\"", "%22"},
    {"<", "%3C"},
    {">", "%3E"},
    {" ", "%20"},
    {"\x01", "%01"},
    {"\x1f", "%1F"},
    {"\x7f", "%7F"},
    {"\xc3\xa9", "%C3%A9"},
    {"\xe6\x97\xa5", "%E6%97%A5"},
    {"\xf0\x9f\x92\xa9", "%F0%9F%92%A9"},
    {"\xff", "%FF"},
    {"\xc3", "%C3"},
    {"%41", NULL},
    {"%c3%a9", NULL},
    {"%2F", NULL},
    {"%zz", NULL},
    {"%", NULL},
    {"%4", NULL},
    {"%25", NULL},
    {"-._~!$&()*+,", NULL},
};

static const struct made_pair made_in_path[] = {{"`", "%60"}, {"{", "%7B"}, {"}", "%7D"},
                                                {"^", "%5E"}, {"|", NULL},  {"'", NULL},
                                                {"[", NULL},  {"]", NULL},  {"%5C", NULL}};
static const struct made_pair made_in_query[] = {
    {"'", "%27"}, {"`", NULL}, {"{", NULL}, {"}", NULL}, {"^", NULL}, {"|", NULL},
    {"\\", NULL}, {"?", NULL}, {"/", NULL}, {"[", NULL}, {"]", NULL}, {"/../", NULL}};
static const struct made_pair made_in_fragment[] = {{"`", "%60"}, {"'", NULL}, {"{", NULL},
                                                    {"^", NULL},  {"|", NULL}, {"\\", NULL},
                                                    {"?", NULL},  {"#", NULL}, {"/./", NULL}};
static const struct made_pair made_in_userinfo[] = {
    {"`", "%60"}, {"{", "%7B"}, {"^", "%5E"}, {"|", "%7C"}, {"'", NULL}, {"[", "%5B"},
    {"]", "%5D"}, {";", "%3B"}, {"=", "%3D"}, {"@", "%40"}, {"+", NULL}};

static inline const struct made_pair *made_special(uint64_t *seed, const struct made_pair *pairs,
                                                   size_t npairs)
{
    const size_t neverywhere = sizeof(made_everywhere) / sizeof(made_everywhere[0]);
    const size_t i = (size_t)made_below(seed, neverywhere + npairs);
    return i < neverywhere ? &made_everywhere[i] : &pairs[i - neverywhere];
}

/* A word, with something special inside once in `rare` times: never at the end, where it might be
 * trimmed or complete an escape. */
static inline void made_text(struct made_url *u, uint64_t *seed, const struct made_pair *pairs,
                             size_t npairs, uint64_t rare)
{
    static const char *const words[] = {"x", "view", "n-1", "Sort_By", "t~", "2024-07-01", "Q"};
    const char *word = MADE_CHOOSE(seed, words);
    made_both(u, word, NULL);
    while (made_once_in(seed, rare)) {
        const struct made_pair *pair = made_special(seed, pairs, npairs);
        made_both(u, pair->spelled, pair->canon);
        made_both(u, "z", NULL);
        rare = 2;
    }
}

#define MADE_TEXT(u, seed, pairs, rare)                                                            \
    made_text(u, seed, pairs, sizeof(pairs) / sizeof((pairs)[0]), rare)

/* ---- Hosts ------------------------------------------------------------------------------------*/

static inline void made_name(struct made_url *u, uint64_t *seed)
{
    static const char *const subdomains[] = {"",      "",     "www.",  "www.",  "www.", "m.",
                                             "shop.", "cdn.", "a-b.",  "_x.",   "1.",   "en.",
                                             "img1.", "ns0.", "blog.", "a.b.c."};
    static const char *const names[] = {"example", "e",      "news-site",  "my0shop", "3dprint",
                                        "wiki",    "big-co", "university", "xn--53h", "photo"};
    static const char *const ends[] = {".com", ".org", ".net",     ".de",  ".co.uk",  ".example",
                                       ".com", ".com", ".museum.", ".io.", ".invalid"};
    char name[128];
    const int n = snprintf(name, sizeof(name), "%s%s%s", MADE_CHOOSE(seed, subdomains),
                           MADE_CHOOSE(seed, names), MADE_CHOOSE(seed, ends));
    made_put(&u->canon, name);
    if (!made_once_in(seed, 12)) {
        made_put(&u->spelled, name);
    } else if (made_once_in(seed, 2)) {
        made_put_cased(&u->spelled, name, seed);
    } else { /* one byte escaped */
        const size_t at = (size_t)made_below(seed, (uint64_t)n);
        char escaped[136];
        snprintf(escaped, sizeof(escaped), "%.*s%%%02x%s", (int)at, name, (unsigned char)name[at],
                 name + at + 1);
        made_put(&u->spelled, escaped);
    }
}

/* Names beyond ASCII. What is mapped, by UTS 46: capitals, full width, composition, soft hyphens
 * and joiners that are ignored, other full stops; the sharp s stays. */
static inline void made_idna(struct made_url *u, uint64_t *seed)
{
    static const struct made_pair labels[] = {
        {"b\xc3\xbc"
         "cher",
         "xn--bcher-kva"},
        {"B\xc3\x9c"
         "CHER",
         "xn--bcher-kva"},
        {"bu\xcc\x88"
         "cher",
         "xn--bcher-kva"},
        {"b%C3%BCcher", "xn--bcher-kva"},
        {"fa\xc3\x9f", "xn--fa-hia"},
        {"\xe2\x98\x95", "xn--53h"},
        {"\xf0\x9f\x92\xa9", "xn--ls8h"},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "xn--wgv71a119e"},
        {"\xef\xbd\x85\xef\xbd\x98", "ex"},
        {"a\xc2\xad"
         "b",
         "ab"},
        {"\xef\xbc\xa7\xef\xbd\x8f", "go"},
        {"\xd0\xbf\xd1\x80\xd0\xb8\xd0\xbc\xd0\xb5\xd1\x80", "xn--e1afmkfd"},
        {"\xd0\x9f\xd0\xa0\xd0\x98\xd0\x9c\xd0\x95\xd0\xa0", "xn--e1afmkfd"},
    };
    static const char *const dots[] = {".", "\xe3\x80\x82", "\xef\xbc\x8e", "\xef\xbd\xa1", "."};
    const struct made_pair *label = &MADE_CHOOSE(seed, labels);
    made_both(u, label->spelled, label->canon);
    made_both(u, MADE_CHOOSE(seed, dots), ".");
    made_both(u, "example", NULL);
}

/* A number of an IPv4 address in one of three bases. */
static inline void made_ipv4_number(struct made_text *t, uint64_t *seed, uint64_t value)
{
    static const char *const formats[] = {"%llu", "%llu", "0x%llx", "0X%llX", "0%llo", "0x0%llx"};
    char text[40];
    snprintf(text, sizeof(text), MADE_CHOOSE(seed, formats), (unsigned long long)value);
    made_put(t, text);
}

static inline void made_ipv4(struct made_url *u, uint64_t *seed)
{
    const uint32_t address = (uint32_t)test_random(seed) >> (made_once_in(seed, 3) ? 16 : 0);
    const unsigned nparts = 1 + (unsigned)made_below(seed, 4);
    char text[40];
    snprintf(text, sizeof(text), "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
             address >> 8 & 255, address & 255);
    made_put(&u->canon, text);
    if (!made_once_in(seed, 4)) {
        made_put(&u->spelled, text);
        return;
    }
    for (unsigned i = 0; i + 1 < nparts; i++) {
        made_ipv4_number(&u->spelled, seed, address >> (24 - 8 * i) & 255);
        made_put(&u->spelled, ".");
    }
    made_ipv4_number(&u->spelled, seed, address & (UINT32_MAX >> 8 * (nparts - 1)));
    made_put(&u->spelled, made_once_in(seed, 4) ? "." : "");
}

/* The longest run of two or more zeros, the first of equal ones: [start, start + len). */
static inline void made_longest_zeros(const unsigned pieces[8], size_t *start, size_t *len)
{
    *start = *len = 0;
    for (size_t i = 0, run = 0; i < 8; i++) {
        run = pieces[i] ? 0 : run + 1;
        if (run >= 2 && run > *len) {
            *len = run;
            *start = i + 1 - run;
        }
    }
}

/* The pieces with format for each; those in [start, start + len) become "::". */
static inline void made_put_pieces(struct made_text *t, const unsigned pieces[8], size_t n,
                                   const char *format, size_t start, size_t len)
{
    char text[16];
    for (size_t i = 0; i < n; i++) {
        if (len && i == start) {
            made_put(t, i == 0 ? "::" : ":");
            i += len - 1;
            continue;
        }
        snprintf(text, sizeof(text), format, pieces[i]);
        made_put(t, text);
        made_put(t, i + 1 < n ? ":" : "");
    }
}

static inline void made_ipv6(struct made_url *u, uint64_t *seed)
{
    unsigned pieces[8];
    size_t start;
    size_t len;
    for (size_t i = 0; i < 8; i++) {
        pieces[i] = made_once_in(seed, 2)
                        ? 0
                        : (unsigned)(test_random(seed) & 0xffff) >> (made_once_in(seed, 2) ? 8 : 0);
    }
    made_longest_zeros(pieces, &start, &len);
    made_both(u, "[", NULL);
    made_put_pieces(&u->canon, pieces, 8, "%x", start, len);
    switch (made_below(seed, 5)) {
    case 0:
        made_put_pieces(&u->spelled, pieces, 8, "%04X", 0, 0);
        break;
    case 1:
        made_put_pieces(&u->spelled, pieces, 8, "%x", 0, 0);
        break;
    case 2: { /* an IPv4 address at the end, as in 64:ff9b::1.2.3.4 */
        char text[40];
        const bool shorten = len && start + len <= 6;
        made_put_pieces(&u->spelled, pieces, 6, "%X", start, shorten ? len : 0);
        snprintf(text, sizeof(text), "%s%u.%u.%u.%u", shorten && start + len == 6 ? "" : ":",
                 pieces[6] >> 8, pieces[6] & 255, pieces[7] >> 8, pieces[7] & 255);
        made_put(&u->spelled, text);
        break;
    }
    case 3: /* the run of zeros one shorter than it could be */
        made_put_pieces(&u->spelled, pieces, 8, "%03x", start, len > 2 ? len - 1 : len);
        break;
    default:
        made_put_pieces(&u->spelled, pieces, 8, "%x", start, len);
    }
    made_both(u, "]", NULL);
}

static inline void made_host(struct made_url *u, uint64_t *seed)
{
    switch (made_below(seed, 40)) {
    case 0:
    case 1:
        made_ipv4(u, seed);
        break;
    case 2:
    case 3:
        made_ipv6(u, seed);
        break;
    case 4:
    case 5:
        made_idna(u, seed);
        break;
    default:
        made_name(u, seed);
    }
}

/* ---- The parts --------------------------------------------------------------------------------*/

struct made_scheme {
    const char *name;
    unsigned port;
};

static inline void made_userinfo(struct made_url *u, uint64_t *seed)
{
    const uint64_t kind = made_below(seed, 120);
    if (kind > 4) {
        return;
    }
    switch (kind) {
    case 0: /* nothing in it */
        made_put(&u->spelled, "@");
        return;
    case 1:
        made_put(&u->spelled, ":@");
        return;
    case 2: /* no password */
        MADE_TEXT(u, seed, made_in_userinfo, 2);
        made_put(&u->spelled, ":");
        break;
    case 3: /* a colon in the password */
        MADE_TEXT(u, seed, made_in_userinfo, 2);
        made_both(u, ":", NULL);
        MADE_TEXT(u, seed, made_in_userinfo, 2);
        made_both(u, ":", "%3A");
        break;
    default:
        MADE_TEXT(u, seed, made_in_userinfo, 2);
    }
    made_both(u, "@", NULL);
}

static inline void made_port(struct made_url *u, uint64_t *seed, unsigned usual)
{
    char text[16];
    switch (made_below(seed, 30)) {
    case 0:
        made_put(&u->spelled, ":");
        break;
    case 1:
        snprintf(text, sizeof(text), ":%u", usual);
        made_put(&u->spelled, text);
        break;
    case 2:
        snprintf(text, sizeof(text), ":00%u", usual);
        made_put(&u->spelled, text);
        break;
    case 3: { /* never the usual one of any scheme: those end in 0, 1 or 3 */
        const unsigned port = (unsigned)made_below(seed, 6553) * 10 + 4;
        snprintf(text, sizeof(text), ":%u", port);
        made_put(&u->canon, text);
        snprintf(text, sizeof(text), made_once_in(seed, 4) ? ":0%u" : ":%u", port);
        made_put(&u->spelled, text);
        break;
    }
    default:
        break;
    }
}

/* Where each segment of the canonical path begins. `keep`: so many of them cannot be removed. */
struct made_path {
    size_t starts[MADE_SEGMENTS];
    size_t n;
    size_t keep;
};

static inline void made_pop(struct made_url *u, struct made_path *p)
{
    if (p->n > p->keep) {
        u->canon.len = p->starts[--p->n];
    }
}

/* One segment with the slash before it. is_last: dots leave an empty segment there. */
static inline void made_segment(struct made_url *u, uint64_t *seed, struct made_path *p,
                                const char *slash, bool is_last)
{
    static const char *const one[] = {".", ".", "%2e", "%2E"};
    static const char *const two[] = {"..", "..", "..", ".%2e", "%2E.", "%2e%2E"};
    static const char *const dotty[] = {"...",       ".a",    "..b",   "a.",
                                        "%2e%2e%2e", ".%2ea", "%2f..", ";."};
    made_put(&u->spelled, slash);
    const uint64_t kind = made_below(seed, 60);
    if (kind < 2) {
        made_put(&u->spelled, kind ? MADE_CHOOSE(seed, two) : MADE_CHOOSE(seed, one));
        if (kind) {
            made_pop(u, p);
        }
        if (is_last) {
            p->starts[p->n++] = u->canon.len;
            made_put(&u->canon, "/");
        }
        return;
    }
    p->starts[p->n++] = u->canon.len;
    made_put(&u->canon, "/");
    switch (kind) {
    case 2: /* an empty one */
        break;
    case 3:
        made_both(u, MADE_CHOOSE(seed, dotty), NULL);
        break;
    case 4:
    case 5:
        MADE_TEXT(u, seed, made_in_path, 2);
        break;
    default:
        made_both(u, made_word(seed), NULL);
    }
}

static inline void made_segments(struct made_url *u, uint64_t *seed, struct made_path *p,
                                 bool is_special)
{
    size_t n = (size_t)made_below(seed, 6);
    n += made_once_in(seed, 50) ? 20 : 0; /* some are long */
    const bool has_end = n > 0 && made_once_in(seed, 3);
    for (size_t i = 0; i < n; i++) {
        const bool is_back = is_special && made_once_in(seed, 60);
        made_segment(u, seed, p, is_back ? "\\" : "/", i + 1 == n && !has_end);
    }
    if (has_end) {
        p->starts[p->n++] = u->canon.len;
        made_both(u, "/", NULL);
    }
}

static inline void made_query(struct made_url *u, uint64_t *seed)
{
    if (made_once_in(seed, 40)) {
        made_both(u, "?", NULL); /* an empty one stays */
        return;
    }
    for (uint64_t i = 0, n = made_below(seed, 5); i < n; i++) {
        made_both(u, i ? "&" : "?", NULL);
        made_both(u, made_word(seed), NULL);
        made_both(u, "=", NULL);
        MADE_TEXT(u, seed, made_in_query, 20);
    }
}

static inline void made_fragment(struct made_url *u, uint64_t *seed)
{
    u->fragment = u->canon.len;
    if (made_once_in(seed, 6)) {
        made_both(u, "#", NULL);
        if (!made_once_in(seed, 8)) {
            MADE_TEXT(u, seed, made_in_fragment, 4);
        }
    }
}

/* ---- Whole URLs -------------------------------------------------------------------------------*/

static inline void made_special_url(struct made_url *u, uint64_t *seed)
{
    static const struct made_scheme schemes[] = {
        {"https", 443}, {"https", 443}, {"https", 443}, {"https", 443}, {"https", 443},
        {"http", 80},   {"http", 80},   {"http", 80},   {"http", 80},   {"http", 80},
        {"http", 80},   {"http", 80},   {"ftp", 21},    {"ws", 80},     {"wss", 443},
    };
    static const char *const slashes[] = {"\\\\", "/\\", "/", "", "////", "\\/\\"};
    const struct made_scheme *scheme = &MADE_CHOOSE(seed, schemes);
    struct made_path path = {.n = 0};
    made_put(&u->canon, scheme->name);
    if (made_once_in(seed, 20)) {
        made_put_cased(&u->spelled, scheme->name, seed);
    } else {
        made_put(&u->spelled, scheme->name);
    }
    made_both(u, ":", NULL);
    made_both(u, made_once_in(seed, 60) ? MADE_CHOOSE(seed, slashes) : "//", "//");
    made_userinfo(u, seed);
    made_host(u, seed);
    made_port(u, seed, scheme->port);
    const size_t before = u->canon.len;
    made_segments(u, seed, &path, true);
    if (u->canon.len == before) {
        made_put(&u->canon, "/"); /* also where all segments were dots */
    }
    made_query(u, seed);
}

/* Files: a host or none, a drive letter that no dots remove. */
static inline void made_file_url(struct made_url *u, uint64_t *seed)
{
    static const struct made_pair hosts[] = {{"file://", "file://"},
                                             {"file:/", "file://"},
                                             {"FILE://localhost", "file://"},
                                             {"file://server", "file://server"},
                                             {"file:\\\\", "file://"}};
    static const struct made_pair drives[] = {{"/C:", NULL}, {"/c|", "/c:"}, {"/C%3A", NULL}};
    struct made_path path = {.n = 0};
    size_t host = (size_t)made_below(seed, sizeof(hosts) / sizeof(hosts[0]));
    made_both(u, hosts[host].spelled, hosts[host].canon);
    const struct made_pair *drive = &MADE_CHOOSE(seed, drives);
    path.starts[path.n++] = u->canon.len;
    path.keep = drive->spelled[2] == '%' ? 0 : 1;
    /* Of "file:/" the slash is there already. */
    made_both(u, drive->spelled + (host == 1), drive->canon ? drive->canon : drive->spelled);
    made_segments(u, seed, &path, true);
    if (path.n == 0 && u->canon.data[u->canon.len - 1] != '/') {
        made_put(&u->canon, "/");
    }
    made_fragment(u, seed);
}

/* Schemes without rules of their own. */
static inline void made_other_url(struct made_url *u, uint64_t *seed)
{
    static const struct made_pair starts[] = {
        {"web+x://Host.Example:080/P", "web+x://Host.Example:80/P"},
        {"Foo://u:@h/", "foo://u@h/"},
        {"x://[0::1]/A\\b", "x://[::1]/A\\b"},
        {"x:/a/./b/../C", "x:/a/C"},
        {"x:/..//a", "x:/.//a"},
        {"mailto:A@B.c ", "mailto:A@B.c "},
        {"DATA:text/plain,a\"<b>`{", "data:text/plain,a\"<b>`{"},
        {"javascript:f('x y')", NULL},
        {"urn:isbn:0-486-27557-4\xc3\xa9", "urn:isbn:0-486-27557-4%C3%A9"},
        {"x://\xc3\xa9/", "x://%C3%A9/"},
    };
    const struct made_pair *start = &MADE_CHOOSE(seed, starts);
    made_both(u, start->spelled, start->canon);
    made_both(u, "End", NULL);
    made_fragment(u, seed);
}

/* What is removed before parsing: outer spaces and controls, tabs and line ends anywhere. */
static inline void made_dirt(struct made_url *u, uint64_t *seed)
{
    static const char *const outer[] = {" ", "\x01", "\x1f ", "  "};
    static const char *const inner[] = {"\t", "\n", "\r", "\r\n", "\t\t"};
    struct made_text dirty = {.len = 0};
    made_put(&dirty, made_once_in(seed, 3) ? MADE_CHOOSE(seed, outer) : "");
    for (size_t i = 0; i < u->spelled.len; i++) {
        const char one[2] = {u->spelled.data[i], '\0'};
        made_put(&dirty, one);
        made_put(&dirty,
                 i > 0 && made_once_in(seed, u->spelled.len) ? MADE_CHOOSE(seed, inner) : "");
    }
    made_put(&dirty, made_once_in(seed, 3) ? MADE_CHOOSE(seed, outer) : "");
    u->spelled = dirty;
}

/* The next URL of a seed. */
static inline void made_url(struct made_url *u, uint64_t *seed)
{
    u->spelled.len = u->canon.len = 0;
    switch (made_below(seed, 60)) {
    case 0:
        made_file_url(u, seed);
        break;
    case 1:
        made_other_url(u, seed);
        break;
    default:
        made_special_url(u, seed);
        made_fragment(u, seed);
    }
    if (made_once_in(seed, 60)) {
        made_dirt(u, seed);
    }
}

#endif
