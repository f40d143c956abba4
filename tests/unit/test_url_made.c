/* SPDX-License-Identifier: MIT
 *
 * Made-up URLs, whose canonical form is known without a parser (vectors/made_urls.h): each profile
 * that follows the standard gives it, by the fast path, by the slow one and in a tight buffer. And
 * each structure of a URL at every place of the blocks that the fast path takes.
 *
 * Label: kernels */
#include "url_data.h"

#include "url/url.h"

enum {
    BUF = 8 * MADE_MAX + 1024
};

static bool equals(struct unseen_bytes a, const char *data, size_t len)
{
    return a.len == len && memcmp(a.data, data, len) == 0;
}

/* The whole, and the slow path by itself. */
static bool check_canon(const struct unseen_url *url, const struct made_text *in, const char *want,
                        size_t want_len)
{
    static char buf[BUF];
    struct unseen_canon canon;
    const bool is_same = in->len == want_len && memcmp(in->data, want, want_len) == 0;
    bool good = true;
    for (int slow = 0; slow < 2 && good; slow++) {
        const size_t cap = unseen_url_bound(in->len, 0);
        enum unseen_status status = UNSEEN_OK;
        if (slow) {
            url->slow(url, in->data, in->len, buf, cap, &canon);
        } else {
            status = unseen_url_canon(url, in->data, in->len, NULL, buf, cap, &canon);
        }
        good = CHECK(status == UNSEEN_OK && equals(canon.bytes, want, want_len) &&
                     canon.form == (is_same ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN));
        if (!good) {
            fprintf(stderr, "%s: <%.*s>\n  expected <%.*s>\n  got      <%.*s> (form %d, %s)\n",
                    unseen_url_id(url), (int)in->len, in->data, (int)want_len, want,
                    (int)canon.bytes.len, canon.bytes.data, (int)canon.form,
                    slow ? "slow" : "whole");
        }
    }
    return good;
}

static void test_made(uint64_t n)
{
    static struct made_url u;
    struct unseen_url *whatwg = data_url("whatwg", NULL, 0);
    struct unseen_url *crawl = data_url("crawl", NULL, 0);
    uint64_t seed = 2;
    uint64_t nfailed = 0;
    uint64_t nchanged = 0;
    for (uint64_t i = 0; i < n && nfailed < 20; i++) {
        made_url(&u, &seed);
        nchanged +=
            u.spelled.len != u.canon.len || memcmp(u.spelled.data, u.canon.data, u.canon.len) != 0;
        nfailed += !check_canon(whatwg, &u.spelled, u.canon.data, u.canon.len);
        nfailed += !check_canon(whatwg, &u.canon, u.canon.data, u.canon.len);
        nfailed += !check_canon(crawl, &u.spelled, u.canon.data, u.fragment);
    }
    printf("%llu made-up URLs, %llu not in canonical form\n", (unsigned long long)n,
           (unsigned long long)nchanged);
    CHECK(nchanged * 4 < 3 * n && nchanged * 4 > n);
    unseen_url_free(whatwg);
    unseen_url_free(crawl);
}

/* ---- Structures at every place ----------------------------------------------------------------*/

/* Each behind a path of n letters, and with more behind it. canon NULL: unchanged. */
static const struct made_pair in_path[] = {
    {"/./b", "/b"},
    {"/../b", NULL /* see below */},
    {"/%2e/b", "/b"},
    {"/%2E%2e/b", NULL},
    {"/.", "/"},
    {"/..", NULL},
    {"/.b", NULL},
    {"/..b", NULL},
    {"/...", NULL},
    {"/.%2eb", NULL},
    {"//b", NULL},
    {"\\b", "/b"},
    {" b", "%20b"},
    {"\"b", "%22b"},
    {"<b", "%3Cb"},
    {">b", "%3Eb"},
    {"`b", "%60b"},
    {"{b", "%7Bb"},
    {"}b", "%7Db"},
    {"^b", "%5Eb"},
    {"|b", NULL},
    {"'b", NULL},
    {"\x7f", "%7F"},
    {"\x80", "%80"},
    {"\xc3\xa9", "%C3%A9"},
    {"\xff", "%FF"},
    {"\tb", "b"},
    {"\nb", "b"},
    {"\rb", "b"},
    {"\x01y", "%01y"},
    {"%41", NULL},
    {"%zz", NULL},
    {"%", NULL},
    {"?", NULL},
    {"?b", NULL},
    {"?'b", "?%27b"},
    {"?b'", "?b%27"},
    {"?\"", "?%22"},
    {"?`{}|^\\", NULL},
    {"?a/../b/./", NULL},
    {"?a b", "?a%20b"},
    {"?a\xff", "?a%FF"},
    {"?a<", "?a%3C"},
    {"?a\tb", "?ab"},
    {"? b", "?%20b"},
    {"?a#", NULL},
    {"?a#b'", NULL},
    {"?a#b`", "?a#b%60"},
    {"#", NULL},
    {"#b", NULL},
    {"#'", NULL},
    {"#`", "#%60"},
    {"# b", "#%20b"},
    {"#/../", NULL},
    {"#a?b", NULL},
    {"#\x80", "#%80"},
    {"#a#b", NULL},
    {"#!b", NULL},
};

static void put_repeated(struct made_text *t, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        made_put(t, text);
    }
}

/* "/../b" and its relatives take the letters before them away. */
static bool goes_up(const char *text)
{
    return strcmp(text, "/../b") == 0 || strcmp(text, "/%2E%2e/b") == 0 || strcmp(text, "/..") == 0;
}

static bool ends_in_dots(const char *text)
{
    return strcmp(text, "/.") == 0 || strcmp(text, "/..") == 0;
}

static void check_place(const struct unseen_url *whatwg, const struct unseen_url *crawl,
                        const struct made_pair *pair, size_t n, const char *behind)
{
    static struct made_url u;
    u.spelled.len = u.canon.len = 0;
    made_both(&u, "http://e.com/", NULL);
    const size_t root = u.canon.len;
    put_repeated(&u.spelled, "a", n);
    put_repeated(&u.canon, "a", n);
    if (goes_up(pair->spelled)) {
        u.canon.len = root;
        made_put(&u.spelled, pair->spelled);
        made_put(&u.canon, ends_in_dots(pair->spelled) ? "" : "b");
    } else {
        made_both(&u, pair->spelled, pair->canon);
    }
    if (!ends_in_dots(pair->spelled)) {
        made_both(&u, behind, NULL);
    }
    const char *hash = memchr(u.canon.data, '#', u.canon.len);
    check_canon(whatwg, &u.spelled, u.canon.data, u.canon.len);
    check_canon(crawl, &u.spelled, u.canon.data,
                hash ? (size_t)(hash - u.canon.data) : u.canon.len);
}

static void test_places(void)
{
    static const char *const behind[] = {
        "", "c",
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"};
    struct unseen_url *whatwg = data_url("whatwg", NULL, 0);
    struct unseen_url *crawl = data_url("crawl", NULL, 0);
    for (size_t i = 0; i < sizeof(in_path) / sizeof(in_path[0]); i++) {
        for (size_t n = 0; n <= 200; n++) {
            for (size_t k = 0; k < sizeof(behind) / sizeof(behind[0]); k++) {
                check_place(whatwg, crawl, &in_path[i], n, behind[k]);
            }
        }
    }
    unseen_url_free(whatwg);
    unseen_url_free(crawl);
}

/* The same for what may stand in or behind a host of n letters. */
static void test_hosts_at_places(void)
{
    static const struct made_pair ends[] = {
        {"", "/"},           {"/", NULL},           {"?q", "/?q"},    {"#f", "/#f"},
        {":80", "/"},        {":80/", "/"},         {":/", "/"},      {":81", ":81/"},
        {":081/p", ":81/p"}, {":443/p", NULL},      {"A/", "a/"},     {".Z?q", ".z/?q"},
        {"-/", NULL},        {"./", NULL},          {"_b/", NULL},    {"%41/", "a/"},
        {"\t/", "/"},        {"\\p", "/p"},         {":80?q", "/?q"}, {":80#f", "/#f"},
        {".c:8080/", NULL},  {".c/..", ".c/"},      {".c/.", ".c/"},  {".c//", NULL},
        {"/:@", NULL},       {"?a@b:c", "/?a@b:c"},
    };
    struct unseen_url *whatwg = data_url("whatwg", NULL, 0);
    struct unseen_url *crawl = data_url("crawl", NULL, 0);
    static struct made_url u;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        for (size_t n = 1; n <= 140; n++) {
            for (int userinfo = 0; userinfo < 2; userinfo++) {
                u.spelled.len = u.canon.len = 0;
                made_both(&u, userinfo ? "http://u@" : "http://", NULL);
                for (size_t k = 0; k < n; k++) {
                    made_both(&u, k % 50 == 20 ? "." : "h", NULL);
                }
                made_both(&u, n % 50 == 21 ? "h" : "", NULL);
                made_both(&u, ends[i].spelled, ends[i].canon);
                const char *hash = memchr(u.canon.data, '#', u.canon.len);
                check_canon(whatwg, &u.spelled, u.canon.data, u.canon.len);
                check_canon(crawl, &u.spelled, u.canon.data,
                            hash ? (size_t)(hash - u.canon.data) : u.canon.len);
            }
        }
    }
    unseen_url_free(whatwg);
    unseen_url_free(crawl);
}

int main(void)
{
    test_start();
    test_made(100000 * test_scale());
    test_places();
    test_hosts_at_places();
    return test_end();
}
