/* SPDX-License-Identifier: MIT
 *
 * The fast path of the WHATWG profiles never lies, and all of URL identity keeps its promises on
 * mutated URLs: idempotent, inside its buffers, never reading past the input.
 *
 * Label: kernels */
#include "url_data.h"

#include "url/url.h"

static const char *const built_in[] = {
    "http://e.com/",
    "http://e.com",
    "https://www.example.com/a/b/c.html?q=1&r=2#frag",
    "https://www.example.com:8080/a/b/c.html?q=it's",
    "http://www.example.com?x=1",
    "http://www.example.com#!x",
    "http://a-very-long-host-name.with-many-labels.example-domain.co.uk/some/path/to/a/page",
    "http://127.0.0.1/a/../b/./c/%2e%2E/d",
    "http://u:p@[2001:db8::1]:80/x y",
    "https://e.com/%7Ea/..b/.c/...?d#e",
    ("https://www.b\xc3\xbc"
     "cher.example/\xc3\xa9?\xff"),
    "ftp://ftp.example.org/a;type=i",
    "file:///C|/a/../..",
    "mailto:a@b.c ?x #y",
    "web+x:/..//a/b",
    "https://www.e.com//a//index.html/?utm_source=x&b=2&a=1&&sid=0123456789abcdef0123456789abcdef",
    "e.com:8080/a;jsessionid=1/b%4%31%zz",
};

static struct data_lines urls;

/* Real URLs where there are some, and as many made-up ones; the odd ones above now and then. */
static void load_urls(void)
{
    enum {
        MADE = 20000,
        ODD_EVERY = 100
    };
    urls = data_add_made(data_load_lines("urls_links.txt.gz", "urls_requests.txt.gz"), MADE);
    for (size_t i = urls.n - MADE; i < urls.n; i += ODD_EVERY) {
        const char *text = built_in[i / ODD_EVERY % (sizeof(built_in) / sizeof(built_in[0]))];
        urls.lines[i] = (struct unseen_bytes){text, strlen(text)};
    }
}

/* rule NULL: the profile as it is; "all": with every rule it may have. */
static struct unseen_url *create(const char *profile, const char *rule)
{
    const char *rules[32] = {rule};
    size_t nrules = rule ? 1 : 0;
    const struct unseen_url_entry *entry;
    for (size_t i = 0; rule && strcmp(rule, "all") == 0 && (entry = unseen_url_rule_at(i)) &&
                       1u << i < UNSEEN__RULE_DROP_BLANK_VALUES;
         i++) {
        rules[i] = entry->name;
        nrules = i + 1;
    }
    return data_url(profile, rules, nrules);
}

static bool same(const struct unseen_canon *a, const struct unseen_canon *b)
{
    return a->form == b->form && a->bytes.len == b->bytes.len &&
           (a->bytes.len == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.len) == 0);
}

static void show(const char *what, const char *in, size_t len, const struct unseen_canon *a,
                 const struct unseen_canon *b)
{
    fprintf(stderr, "%s: <%.*s>\n  %d <%.*s>\n  %d <%.*s>\n", what, (int)len, in, (int)a->form,
            (int)a->bytes.len, a->bytes.data, (int)b->form, (int)b->bytes.len, b->bytes.data);
}

enum {
    TEXT_MAX = 16384,
    BUF = 8 * TEXT_MAX + 1024
};

struct buffers {
    char fast[BUF];
    char slow[BUF + 64];
    char again[BUF];
};

/* Slow writes only inside the bound; fast, if it answers, answers the same; twice is once. */
static bool check_url(const struct unseen_url *url, const char *in, size_t len, struct buffers *b,
                      bool *accepted)
{
    struct unseen_canon fast;
    struct unseen_canon slow;
    struct unseen_canon again;
    const size_t bound = unseen_url_bound(len, 0);
    memset(b->slow + bound, 0x5c, 64);
    url->slow(url, in, len, b->slow, bound + 64, &slow);
    bool good = true;
    for (size_t i = 0; i < 64; i++) {
        good = good && b->slow[bound + i] == 0x5c;
    }
    *accepted = url->fast && url->fast(url, in, len, b->fast, BUF, &fast);
    if (*accepted && !same(&fast, &slow)) {
        show("fast lies", in, len, &fast, &slow);
        good = false;
    }
    if (slow.form == UNSEEN_URL_FAILED || slow.bytes.len > TEXT_MAX) {
        return good;
    }
    good = good && unseen_url_canon(url, slow.bytes.data, slow.bytes.len, NULL, b->again, BUF,
                                    &again) == UNSEEN_OK;
    if (again.form != UNSEEN_URL_UNCHANGED) {
        show("not idempotent", in, len, &slow, &again);
        good = false;
    }
    return good;
}

static void test_mutations(const char *profile, const char *rule, uint64_t n)
{
    struct unseen_url *url = create(profile, rule);
    struct buffers *b = calloc(1, sizeof(*b));
    char text[TEXT_MAX];
    uint64_t seed = 20260101;
    uint64_t naccepted = 0;
    if (!b) {
        abort();
    }
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_bytes line = urls.lines[test_random(&seed) % urls.n];
        size_t len = line.len < 2000 ? line.len : 2000;
        memcpy(text, line.data, len);
        len = data_mutate(text, len, &seed);
        bool accepted;
        if (!CHECK(check_url(url, text, len, b, &accepted))) {
            break;
        }
        naccepted += accepted;
    }
    printf("%s: %llu mutated URLs, %llu by the fast path\n", unseen_url_id(url),
           (unsigned long long)n, (unsigned long long)naccepted);
    free(b);
    unseen_url_free(url);
}

/* Each rule by itself, and all of them. */
static void test_rules(uint64_t n)
{
    const struct unseen_url_entry *entry;
    for (size_t i = 0; (entry = unseen_url_rule_at(i)) && 1u << i < UNSEEN__RULE_DROP_BLANK_VALUES;
         i++) {
        test_mutations("crawl", entry->name, n);
    }
    test_mutations("crawl", "all", n);
}

/* Each structure that the kernels look for, begun at each place: they read 64 bytes at a time, and
 * what a structure means must not depend on where such a block ends. Two heads: a long path, and a
 * long host, behind which the path begins anywhere; each with http and with https. */
static void test_places(const char *profile, const char *rule)
{
    static const char *const structures[] = {
        "/.",       "/..",    "/./",    "/../",    "/./x",
        "/../x",    "/.x",    "/..x",   "/...",    "/%2e",
        "/%2E",     "/%2e/",  "/.%2e",  "/%2e.",   "/%2e%2E/x",
        "//",       "//./",   "?",      "?x",      "?x/../y",
        "#",        "#x",     "?#",     "/?",      "/#!x",
        "%41",      "%7e",    "%c3%A9", "%",       "%4",
        "\\",       "\\..\\", "\t",     " ",       "\x7f",
        "\xc3\xa9", "\"",     "<",      "`",       "{",
        "'",        "^",      "|",      "&",       ";jsessionid=1",
        "@",        ":",      ":80/",   ":8080/x", ":/",
        "./",       ".1/",    ".a1/",   "-9/",     ".0x/y",
    };
    static const size_t tails[] = {0, 1, 2, 61, 130};
    struct unseen_url *url = create(profile, rule);
    struct buffers *b = calloc(1, sizeof(*b));
    uint64_t nwrong = 0;
    if (!b) {
        abort();
    }
    for (size_t head = 0; head < 4; head++) {
        static const char *const heads[] = {"http://e.c/bb", "http://e.c", "https://e.c/b",
                                            "https://e.c"};
        for (size_t place = 13; place <= 210; place++) {
            for (size_t i = 0; i < sizeof(structures) / sizeof(*structures) * 5; i++) {
                char text[1024];
                memset(text, 'a', sizeof(text));
                memcpy(text, heads[head], strlen(heads[head]));
                for (size_t k = 20; head % 2 && k + 2 < place; k += 30) {
                    text[k] = '.';
                }
                const char *const structure = structures[i / 5];
                memcpy(text + place, structure, strlen(structure));
                const size_t len = place + strlen(structure) + tails[i % 5];
                bool accepted;
                nwrong += !check_url(url, text, len, b, &accepted);
            }
        }
    }
    CHECK_EQ(nwrong, 0);
    free(b);
    unseen_url_free(url);
}

/* What needs most room for its length, in a buffer of exactly the bound in front of a guard page:
 * every byte escaped, pieces of one byte to sort, names and addresses that grow. */
static void test_bound(const char *profile, const char *rule)
{
    static const struct {
        const char *head;
        const char *repeated;
        const char *tail;
    } texts[] = {
        {"http://e?", "&\"", ""},   {"e?", "&\"", "&"},
        {"ftp:e/?", "\"&\"", ""},   {"http:e?", "\xff", ""},
        {"", "\xff", ""},           {"http:", "\xe2\x98\x95", ""},
        {"http:", "\xc3\xa4.", ""}, {"", "\xf0\x9f\x98\x80", ""},
        {"http:\"@", "1", ""},      {"http://", "\"", "@0"},
        {"x:", " ", "?"},           {"x:/..//", "\"", "#"},
        {"file:", "C|", ""},        {"http://e/", "//;jsessionid=", ""},
    };
    struct unseen_url *url = create(profile, rule);
    char in[600];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t n = 0; n < 200; n += 1 + n / 16) {
            size_t len = (size_t)sprintf(in, "%s", texts[i].head);
            for (size_t k = 0; k < n && len < 500; k++) {
                len += (size_t)sprintf(in + len, "%s", texts[i].repeated);
            }
            len += (size_t)sprintf(in + len, "%s", texts[i].tail);
            static char zeros[BUF];
            const size_t bound = unseen_url_bound(len, 0);
            char *const out = test_guarded(zeros, bound);
            struct unseen_canon canon;
            url->slow(url, in, len, out, bound, &canon);
            CHECK(canon.form != UNSEEN_URL_REWRITTEN ||
                  (canon.bytes.data >= out && canon.bytes.len <= 3 * len + 512));
        }
    }
    unseen_url_free(url);
}

/* Every prefix of every built-in URL, in front of a guard page, in both paths. */
static void test_guard_pages(const char *profile)
{
    struct unseen_url *url = create(profile, NULL);
    static char buf[BUF];
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
        for (size_t len = 0; len <= strlen(built_in[i]); len++) {
            const char *in = test_guarded(built_in[i], len);
            struct unseen_canon canon;
            struct unseen_canon slow;
            CHECK(unseen_url_canon(url, in, len, NULL, buf, BUF, &canon) == UNSEEN_OK);
            CHECK(canon.form == UNSEEN_URL_REWRITTEN || canon.bytes.data == in);
            url->slow(url, in, len, buf, BUF, &slow);
        }
    }
    unseen_url_free(url);
}

/* A buffer of any size: either SPACE or the same answer, and nothing is written past it. */
static void test_space(const char *profile)
{
    struct unseen_url *url = create(profile, NULL);
    static char buf[BUF];
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
        const size_t len = strlen(built_in[i]);
        for (size_t cap = 0; cap <= unseen_url_bound(len, 0); cap += 1 + cap / 50) {
            char *const out = test_guarded(buf, cap);
            struct unseen_canon canon;
            struct unseen_canon full;
            CHECK(unseen_url_canon(url, built_in[i], len, NULL, buf, BUF, &full) == UNSEEN_OK);
            const enum unseen_status status =
                unseen_url_canon(url, built_in[i], len, NULL, out, cap, &canon);
            CHECK(status == UNSEEN_OK ? same(&canon, &full) : status == UNSEEN_ERR_SPACE);
            CHECK(status == UNSEEN_OK || cap < unseen_url_bound(len, 0));
        }
    }
    unseen_url_free(url);
}

/* ---- Merges on the real lists -----------------------------------------------------------------*/

static int compare_bytes(const void *a, const void *b)
{
    const struct unseen_bytes *x = a;
    const struct unseen_bytes *y = b;
    const int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static size_t count_distinct(struct unseen_bytes *items, size_t n)
{
    size_t ndistinct = 0;
    qsort(items, n, sizeof(*items), compare_bytes);
    for (size_t i = 0; i < n; i++) {
        ndistinct += i == 0 || compare_bytes(&items[i - 1], &items[i]) != 0;
    }
    return ndistinct;
}

/* How many of the list's distinct lines the profile merges into others. */
static size_t count_merges(const char *list, const char *profile, const char *rule)
{
    const struct data_lines lines = data_load_lines(list, NULL);
    struct unseen_url *url = create(profile, rule);
    static char buf[BUF];
    const size_t before = count_distinct(lines.lines, lines.n);
    size_t nbytes = 1;
    for (size_t i = 0; i < lines.n; i++) {
        nbytes += 3 * lines.lines[i].len + 512;
    }
    char *copies = data_keep(malloc(nbytes));
    for (size_t i = 0; i < lines.n; i++) {
        struct unseen_canon canon;
        if (!CHECK(unseen_url_canon(url, lines.lines[i].data, lines.lines[i].len, NULL, buf, BUF,
                                    &canon) == UNSEEN_OK)) {
            break;
        }
        memcpy(copies, canon.bytes.data, canon.bytes.len);
        lines.lines[i] = (struct unseen_bytes){copies, canon.bytes.len};
        copies += canon.bytes.len;
    }
    const size_t merges = before - count_distinct(lines.lines, lines.n);
    printf("%s, %s: %zu distinct, %zu merged\n", list, unseen_url_id(url), before, merges);
    unseen_url_free(url);
    return merges;
}

static void test_merges(void)
{
    char path[PATH_MAX];
    if (!data_path("urls_links.txt.gz", path, sizeof(path))) {
        return;
    }
    CHECK_EQ(count_merges("urls_links.txt.gz", "whatwg", NULL), 138);
    CHECK_EQ(count_merges("urls_requests.txt.gz", "whatwg", NULL), 0);
    CHECK_EQ(count_merges("urls_links.txt.gz", "crawl", NULL), 366);
    CHECK_EQ(count_merges("urls_requests.txt.gz", "crawl", NULL), 403);
    CHECK_EQ(count_merges("urls_links.txt.gz", "crawl", "sort-query"), 366);
    CHECK_EQ(count_merges("urls_requests.txt.gz", "crawl", "sort-query"), 405);
    count_merges("urls_links.txt.gz", "aggressive", NULL);
    count_merges("urls_requests.txt.gz", "aggressive", NULL);
    count_merges("urls_links.txt.gz", "aggressive", "strip-index");
    count_merges("urls_requests.txt.gz", "aggressive", "strip-index");
}

int main(void)
{
    test_start();
    load_urls();
    const uint64_t n = 30000 * test_scale();
    test_mutations("whatwg", NULL, n);
    test_mutations("crawl", NULL, n);
    test_mutations("crawl", "keep-hashbang", n);
    test_mutations("aggressive", NULL, n);
    test_mutations("aggressive", "strip-index", n);
    test_rules(n / 10);
    test_places("whatwg", NULL);
    test_places("crawl", NULL);
    test_places("aggressive", "strip-index");
    test_bound("whatwg", NULL);
    test_bound("aggressive", NULL);
    test_bound("crawl", "sort-query");
    test_bound("crawl", "all");
    test_guard_pages("whatwg");
    test_guard_pages("crawl");
    test_guard_pages("aggressive");
    test_space("crawl");
    test_space("aggressive");
    test_merges();
    return test_end();
}
