/* SPDX-License-Identifier: MIT
 *
 * Lists of sites cannot be evaded by spelling: a URL is listed exactly if the host that browsers
 * open is listed. Made-up spellings of listed and of other hosts are asked, with backslashes, too
 * few and too many slashes, credentials, escapes, and names, numbers and dots in other scripts. The
 * profile "whatwg" says which host browsers open. */
#include "test.h"

#include <unseen_list.h>

enum {
    ROOM = 1 << 16,
    TEXT_CAP = 600,
    SPELLINGS = 160000,
    ENOUGH = 100000 /* spellings that are URLs */
};

static struct unseen_url *whatwg;
static uint64_t seed = 14;

static unsigned roll(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

#define PICK(array) ((array)[roll(sizeof(array) / sizeof((array)[0]))])

/* ---- Spellings ------------------------------------------------------------------------------- */

struct text {
    char data[TEXT_CAP];
    size_t len;
};

static void put(struct text *t, const char *text)
{
    const size_t len = strlen(text);
    if (t->len + len < TEXT_CAP) {
        memcpy(t->data + t->len, text, len);
        t->len += len;
    }
}

static void put_byte(struct text *t, char c)
{
    put(t, (const char[2]){c, '\0'});
}

/* One character of a host: as it is, in upper case, escaped, or full-width. */
static void put_host_byte(struct text *t, char c, unsigned strangeness)
{
    static const char *const dots[] = {".",           "%2e", "%2E", "\xe3\x80\x82", "\xef\xbc\x8e",
                                       "\xef\xbd\xa1"};
    char escape[16];
    const unsigned way = roll(strangeness);
    if (c == '.' && way < 3) {
        put(t, PICK(dots));
    } else if (way == 0) {
        snprintf(escape, sizeof(escape), roll(2) ? "%%%02x" : "%%%02X", (unsigned char)c);
        put(t, escape);
    } else if (way == 1) {
        put_byte(t, (char)(c >= 'a' && c <= 'z' ? c - 32 : c));
    } else if (way == 2 && c > ' ') { /* U+FF01 to U+FF5E */
        const unsigned point = 0xff00u + (unsigned char)c - 0x20;
        snprintf(escape, sizeof(escape), "%c%c%c", (char)0xef, (char)(0x80 | (point >> 6 & 0x3f)),
                 (char)(0x80 | (point & 0x3f)));
        put(t, escape);
    } else {
        put_byte(t, c);
    }
    if (roll(20 * strangeness) == 0) {
        put(t, roll(2) ? "\t" : "\xc2\xad");
    }
}

static void put_host(struct text *t)
{
    static const char *const hosts[] = {
        "evil.example",
        "evil.example",
        "www.evil.example",
        "a.b.c.d.e.f.evil.example",
        "good.example",
        "evil.example.good.example",
        "notevil.example",
        "example",
        "a.b.c.d.e.f.listed.example",
        "x.a.b.c.d.e.f.listed.example",
        "b.c.d.e.f.listed.example",
        "192.0.2.7",
        "192.0.2.8",
        "0300.0.2.7",
        "0xC0000207",
        "0xc0.0x00.519",
        "3221225991",
        "[2001:db8::7]",
        "[2001:DB8:0:0::0.0.0.7]",
        "[2001:db8::8]",
        "[::ffff:192.0.2.7]",
        "b\xc3\xbc"
        "cher.example",
        "B\xc3\x9c"
        "CHER.example",
        "xn--bcher-kva.example",
        "bu\xcc\x88"
        "cher.example",
    };
    const char *const host = PICK(hosts);
    const unsigned strangeness = roll(2) ? 12 : 1000000;
    for (const char *c = host; *c; c++) {
        if (*host == '[' || (unsigned char)*c >= 0x80) {
            put_byte(t, *c);
        } else {
            put_host_byte(t, *c, strangeness);
        }
    }
    if (roll(12) == 0 && *host != '[') {
        put(t, roll(2) || (*host >= '0' && *host <= '9') ? "." : "..");
    }
}

static void make_spelling(struct text *t)
{
    static const char *const outer[] = {"", "", "", " ", "\x01 ", "\n"};
    static const char *const schemes[] = {
        "http:", "http:", "https:", "HTTP:", "hTTps:", "ht\ttp:", "ws:", "wss:", "ftp:", "https:"};
    static const char *const slashes[] = {"//", "//",  "//",   "\\\\",   "/\\",  "/",   "\\",
                                          "",   "///", "////", "/\\/\\", "\t//", "/\n/"};
    static const char *const users[] = {"",
                                        "",
                                        "",
                                        "jo@",
                                        "jo:secret@",
                                        "good.example%2f@",
                                        "good.example%3f@",
                                        "good.example%23@",
                                        "evil.example%2F@",
                                        "evil.example%5c@",
                                        "evil.example:80@",
                                        "a@b@",
                                        ":@",
                                        "@",
                                        "%40%40@",
                                        "%25%32%66@"};
    static const char *const ports[] = {"",    "",     "",       "",       ":",
                                        ":80", ":443", ":00080", ":65535", ":65536"};
    static const char *const rests[] = {"",
                                        "/",
                                        "/login",
                                        "\\login",
                                        "\\@good.example/",
                                        "\\.good.example/",
                                        "/@evil.example/",
                                        "?@evil.example",
                                        "#@evil.example/",
                                        "/..\\..//x/%2e%2E/y%5cz?q=\\",
                                        "?a=b#c",
                                        "/%2f%3f%23%25",
                                        "/a\\b\\..\\c?d\\e",
                                        "/a%2fb/../c",
                                        "/a%2fb/\t../c",
                                        "/a%2fb/%2e./c",
                                        "/C|/..",
                                        "/a|b^c\"<>`{}",
                                        "/\xc3\xa9\xff"};
    t->len = 0;
    put(t, PICK(outer));
    put(t, PICK(schemes));
    put(t, PICK(slashes));
    put(t, PICK(users));
    put_host(t);
    put(t, PICK(ports));
    put(t, PICK(rests));
    put(t, PICK(outer));
}

/* ---- The reference --------------------------------------------------------------------------- */

/* Drops the dots at both ends and all but one of each run: a name with a final dot is looked up as
 * the name without it. */
static void tidy(char *host)
{
    char *out = host;
    for (const char *in = host; *in; in++) {
        if (*in != '.' || (out > host && out[-1] != '.')) {
            *out++ = *in;
        }
    }
    out -= out > host && out[-1] == '.';
    *out = '\0';
}

/* Stores the host that browsers open; false if they open none. */
static bool find_host(const struct text *t, struct unseen_canon *canon, char *buf, char *host)
{
    CHECK(unseen_url_canon(whatwg, t->data, t->len, NULL, buf, ROOM, canon) == UNSEEN_OK);
    if (canon->form == UNSEEN_URL_FAILED) {
        return false;
    }
    const char *const end = canon->bytes.data + canon->bytes.len;
    const char *at = (const char *)memchr(canon->bytes.data, ':', canon->bytes.len) + 3;
    const char *const slash = memchr(at, '/', (size_t)(end - at));
    for (const char *c = at; c < slash; c++) {
        at = *c == '@' ? c + 1 : at;
    }
    const char *const bracket = *at == '[' ? memchr(at, ']', (size_t)(slash - at)) : at;
    const char *const colon = memchr(bracket, ':', (size_t)(slash - bracket));
    const size_t len = (size_t)((colon ? colon : slash) - at);
    memcpy(host, at, len);
    host[len] = '\0';
    tidy(host);
    return true;
}

static const struct site {
    const char *host; /* that is listed, with all names below it */
    const char *text;
} sites[] = {
    {"evil.example", "evil.example/"},
    {"a.b.c.d.e.f.listed.example", "a.b.c.d.e.f.listed.example/"}, /* eight labels */
    {"192.0.2.7", "192.0.2.7/"},
    {"[::ffff:c000:207]", "192.0.2.7/"}, /* the same address */
    {"[2001:db8::7]", "[2001:db8::7]/"},
    {"xn--bcher-kva.example", "xn--bcher-kva.example/"},
};
enum {
    NSITES = sizeof(sites) / sizeof(sites[0])
};

static bool is_below(const char *name, const char *site)
{
    const size_t len = strlen(name);
    const size_t site_len = strlen(site);
    return len >= site_len && strcmp(name + len - site_len, site) == 0 &&
           (len == site_len || name[len - site_len - 1] == '.');
}

static bool should_be_listed(const char *host)
{
    for (size_t i = 0; i < NSITES; i++) {
        if (is_below(host, sites[i].host)) {
            return true;
        }
    }
    return false;
}

/* ---- The kind -------------------------------------------------------------------------------- */

struct texts {
    char buf[ROOM];
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n;
};

static char *text_end; /* of a buffer in front of a guard page */

static void ask(enum unseen_kind kind, const char *text, size_t len, struct texts *out)
{
    char *const data = memcpy(text_end - len, text, len);
    CHECK(unseen_kind_texts(kind, whatwg, data, len, out->buf, ROOM, out->texts, &out->n) ==
          UNSEEN_OK);
}

static bool is_listed(const struct texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < NSITES; k++) {
            if (t->texts[i].len == strlen(sites[k].text) &&
                memcmp(t->texts[i].data, sites[k].text, t->texts[i].len) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool has_text(const struct texts *t, struct unseen_bytes text)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->texts[i].len == text.len && memcmp(t->texts[i].data, text.data, text.len) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_texts(const struct texts *t, const struct texts *others)
{
    for (size_t i = 0; i < others->n; i++) {
        if (!has_text(t, others->texts[i])) {
            return false;
        }
    }
    return true;
}

static void test_entries(void)
{
    static char buf[ROOM];
    for (size_t i = 0; i < NSITES; i++) {
        struct unseen_bytes entry;
        enum unseen_entry fitness;
        CHECK(unseen_kind_entry(UNSEEN_KIND_EXPRESSIONS, whatwg, sites[i].host,
                                strlen(sites[i].host), buf, ROOM, &entry, &fitness) == UNSEEN_OK);
        CHECK(fitness == UNSEEN_ENTRY_FINE && entry.len == strlen(sites[i].text) &&
              memcmp(entry.data, sites[i].text, entry.len) == 0);
    }
}

/* Every spelling is listed exactly if the host that browsers open is, and is asked for all texts of
 * the URL that browsers make of it. (And for those of programs that read its path in another way:
 * tests/cli/path_spellings.sh.) */
static void test_spellings(void)
{
    static struct texts texts;
    static struct texts canonical;
    static char canon_buf[ROOM];
    size_t counts[2] = {0, 0};
    for (unsigned i = 0; i < SPELLINGS; i++) {
        struct text t;
        struct unseen_canon canon;
        char host[TEXT_CAP];
        make_spelling(&t);
        if (!find_host(&t, &canon, canon_buf, host)) {
            continue;
        }
        const bool expected = should_be_listed(host);
        ask(UNSEEN_KIND_EXPRESSIONS, t.data, t.len, &texts);
        ask(UNSEEN_KIND_EXPRESSIONS, canon.bytes.data, canon.bytes.len, &canonical);
        if (!CHECK(is_listed(&texts) == expected) || !CHECK(has_texts(&texts, &canonical))) {
            fprintf(stderr, "  <%.*s> opens %s\n", (int)t.len, t.data, host);
        }
        counts[expected]++;
    }
    printf("%zu spellings of listed hosts, %zu of others\n", counts[1], counts[0]);
    CHECK(counts[0] + counts[1] >= ENOUGH && counts[1] >= ENOUGH / 4 && counts[0] >= ENOUGH / 4);
}

int main(void)
{
    test_start();
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = "whatwg", .cpu = test_cpu};
    CHECK(unseen_url_create(&whatwg, &options, NULL) == UNSEEN_OK);
    static const char zeros[ROOM];
    text_end = test_guarded(zeros, ROOM) + ROOM;
    test_entries();
    test_spellings();
    unseen_url_free(whatwg);
    return test_end();
}
