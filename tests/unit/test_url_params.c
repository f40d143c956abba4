/* SPDX-License-Identifier: MIT
 *
 * The rules drop-params, only-params and strip-query: spellings, answers, errors, and a second,
 * slow implementation on made-up URLs. */
#include "test.h"

enum {
    BUF = 1 << 17
};

static char buf[BUF];

static enum unseen_status make(struct unseen_url **url_out, const char *profile, const char *rule,
                               const char *other, struct unseen_error *error)
{
    const char *const rules[] = {rule, other};
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = profile,
                                               .rules = rules,
                                               .nrules = other ? 2 : 1,
                                               .cpu = test_cpu};
    *url_out = NULL;
    return unseen_url_create(url_out, &options, error);
}

/* ---- Identity texts ---------------------------------------------------------------------------*/

static void test_spellings(void)
{
    static const struct {
        const char *rule;
        const char *other;
        const char *id;
    } spellings[] = {
        {"drop-params(ref)", NULL, "crawl/1+drop-params(ref)"},
        {"drop-params(b,a,b,c*)", NULL, "crawl/1+drop-params(a,b,c*)"},
        {"drop-params(utm_source,utm_*,utm,utm_*)", NULL, "crawl/1+drop-params(utm,utm_*)"},
        {"drop-params(a*,ab,abc*,b)", NULL, "crawl/1+drop-params(a*,b)"},
        {"drop-params(*,a,e.com:a)", NULL, "crawl/1+drop-params(*,e.com:a)"},
        {"drop-params(b.e.com:x,e.com:y,a,c.com:x,c.com:a)", NULL,
         "crawl/1+drop-params(a,c.com:a,c.com:x,e.com:y,b.e.com:x)"},
        {"drop-params(E.COM:a,b\xc3\xbc"
         "cher.de:b,e.com.:c,0x7f.1:d,[::0:1]:e)",
         NULL, "crawl/1+drop-params([::1]:e,e.com:a,e.com:c,127.0.0.1:d,xn--bcher-kva.de:b)"},
        {"drop-params(%61,a%2Cb,%2A,x%2a*,\xc3\xa9,%3A,a+b,%,%zz)", NULL,
         "crawl/1+drop-params(%25,%25zz,%2A,%3A,a,a%2Bb,a%2Cb,x%2A*,%C3%A9)"},
        {"drop-params(b)", "drop-params(a)", "crawl/1+drop-params(a,b)"},
        {"drop-params(b)", "no-drop-params", "crawl/1"},
        {"only-params(p,id)", "drop-params(x)", "crawl/1+drop-params(x)+only-params(id,p)"},
        {"only-params(a)", "drop-params(e.com:a)", "crawl/1+drop-params(e.com:a)+only-params(a)"},
        {"only-params(e.com:a)", "drop-params(a.e.com:a)",
         "crawl/1+drop-params(a.e.com:a)+only-params(e.com:a)"},
        {"only-params(utm_*)", "drop-params(utm_x,utm_)",
         "crawl/1+drop-params(utm_,utm_x)+only-params(utm_*)"},
        {"strip-query", "sort-query", "crawl/1+strip-query+sort-query"},
    };
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct unseen_url *url;
        struct unseen_url *again;
        struct unseen_error error = {.text = ""};
        CHECK(make(&url, NULL, spellings[i].rule, spellings[i].other, &error) == UNSEEN_OK);
        if (!CHECK(url && strcmp(unseen_url_id(url), spellings[i].id) == 0)) {
            fprintf(stderr, "%s: %s%s\n", spellings[i].rule, url ? unseen_url_id(url) : "",
                    error.text);
        }
        const struct unseen_url_options options = {.size = sizeof(options),
                                                   .profile = spellings[i].id};
        CHECK(unseen_url_create(&again, &options, NULL) == UNSEEN_OK);
        CHECK(strcmp(unseen_url_id(again), spellings[i].id) == 0);
        unseen_url_free(again);
        unseen_url_free(url);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *rule;
        const char *other;
        enum unseen_status status;
        const char *text;
    } errors[] = {
        {"drop-params", NULL, UNSEEN_ERR_ARGUMENT,
         "\"drop-params\" names no parameters; write drop-params(ref,utm_*)"},
        {"drop-params(a", NULL, UNSEEN_ERR_ARGUMENT,
         "\"drop-params(a\" names no parameters; write drop-params(ref,utm_*)"},
        {"drop-params(a)b", NULL, UNSEEN_ERR_NAME, "there is no rule \"drop-params(a)b\""},
        {"strip-www(a)", NULL, UNSEEN_ERR_NAME, "there is no rule \"strip-www(a)\""},
        {"drop-params()", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"\" is not a pattern: it names no parameter"},
        {"only-params(a,,b)", NULL, UNSEEN_ERR_ARGUMENT,
         "only-params: \"\" is not a pattern: it names no parameter"},
        {"drop-params(e.com:)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"e.com:\" is not a pattern: it names no parameter"},
        {"drop-params(a*b)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"a*b\" is not a pattern: * may stand only at its end, write %2A for the "
         "character"},
        {"drop-params(a=1)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"a=1\" is not a pattern: it is the name of a parameter, other characters "
         "as escapes"},
        {"drop-params(:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \":a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(*.e.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"*.e.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(e.com/x:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"e.com/x:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(e.com:80:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"e.com:80:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(u@e.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"u@e.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(.e.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \".e.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(e.com..:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"e.com..:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(%2ce.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"%2ce.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(%28e.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"%28e.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(%29e.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"%29e.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(%2be.com:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"%2be.com:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params([::1]x:a)", NULL, UNSEEN_ERR_ARGUMENT,
         "drop-params: \"[::1]x:a\" is not a pattern: what stands before the : is not a host"},
        {"drop-params(id)", "only-params(id)", UNSEEN_ERR_ARGUMENT,
         "only-params keeps \"id\", and drop-params drops it"},
        {"drop-params(u*)", "only-params(p,utm_*)", UNSEEN_ERR_ARGUMENT,
         "only-params keeps \"utm_*\", and drop-params drops it"},
        {"drop-params(e.com:id)", "only-params(a,www.e.com:id)", UNSEEN_ERR_ARGUMENT,
         "only-params keeps \"id\", and drop-params drops it"},
        {"drop-params(*)", "only-params(e.com:x%2Cy)", UNSEEN_ERR_ARGUMENT,
         "only-params keeps \"x%2Cy\", and drop-params drops it"},
        {"strip-query", "drop-params(a)", UNSEEN_ERR_ARGUMENT,
         "strip-query drops every parameter, so drop-params has nothing left to choose from"},
        {"only-params(a)", "strip-query", UNSEEN_ERR_ARGUMENT,
         "strip-query drops every parameter, so only-params has nothing left to choose from"},
        {"strip-www", "only-params(id,www.shop.example:sku)", UNSEEN_ERR_ARGUMENT,
         "strip-www makes www.shop.example shop.example: write the patterns of only-params for "
         "shop.example"},
        {"only-params(www2.WWW.a.e.com.:sku)", "strip-www", UNSEEN_ERR_ARGUMENT,
         "strip-www makes www2.www.a.e.com a.e.com: write the patterns of only-params for a.e.com"},
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct unseen_url *url;
        struct unseen_error error = {.text = ""};
        const enum unseen_status status = make(&url, NULL, errors[i].rule, errors[i].other, &error);
        CHECK(!url && status == errors[i].status && error.status == status &&
              error.setting == UNSEEN_SETTING_RULES);
        if (!CHECK(strcmp(error.text, errors[i].text) == 0)) {
            fprintf(stderr, "%s: %s\n", errors[i].rule, error.text);
        }
        unseen_url_free(url);
    }
    struct unseen_url *url;
    CHECK(make(&url, "scrapy", "drop-params(a)", NULL, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(make(&url, "crawl/1+drop-params", "strip-www", NULL, NULL) == UNSEEN_ERR_ARGUMENT);
}

/* Sites below www., and strip-www. */
static void test_www(void)
{
    static const struct {
        const char *profile;
        const char *rule;
        bool is_made;
    } cases[] = {
        {"aggressive", "only-params(www.e.com:a)", false},
        {"aggressive", "only-params(e.com:a,www.com:a,a.www.e.com:a,wwww.e.com:a)", true},
        {"aggressive-strip-www", "only-params(www.e.com:a)", true},
        {"aggressive", "drop-params(www.e.com:a)", true},
        {"crawl/1+strip-www+only-params(id,www.shop.example:sku)", NULL, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct unseen_url *url = NULL;
        const struct unseen_url_options options = {.size = sizeof(options),
                                                   .profile = cases[i].profile,
                                                   .rules = &cases[i].rule,
                                                   .nrules = cases[i].rule ? 1 : 0};
        const enum unseen_status status = unseen_url_create(&url, &options, NULL);
        if (!CHECK(status == (cases[i].is_made ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT))) {
            fprintf(stderr, "%s, %s: %d\n", cases[i].profile, cases[i].rule, (int)status);
        }
        unseen_url_free(url);
    }
}

/* A list of n names of 4 bytes each, with their commas. */
static char *long_list(size_t n, const char *end)
{
    char *text = malloc(n * 5 + 100);
    char *at = text + sprintf(text, "drop-params(");
    for (size_t i = 0; i < n; i++) {
        at += sprintf(at, "%s%c%c%c%c", i ? "," : "", (char)('a' + i % 26),
                      (char)('a' + i / 26 % 26), (char)('a' + i / 676 % 26), 'x');
    }
    sprintf(at, "%s)", end);
    return text;
}

static void test_long_lists(void)
{
    struct unseen_url *url;
    struct unseen_error error;
    char *list = long_list(813, "");
    CHECK(make(&url, NULL, list, NULL, &error) == UNSEEN_OK);
    CHECK(url && strlen(unseen_url_id(url)) == strlen("crawl/1+") + strlen(list));
    struct unseen_url *again;
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = url ? unseen_url_id(url) : ""};
    CHECK(unseen_url_create(&again, &options, &error) == UNSEEN_OK);
    CHECK(again && url && strcmp(unseen_url_id(url), unseen_url_id(again)) == 0);
    unseen_url_free(again);
    unseen_url_free(url);
    free(list);
    static const char too_long[] = "the profile and its rules make a text of more than 4095 bytes";
    list = long_list(813, ",bbbbbbbbbbb");
    CHECK(make(&url, NULL, list, NULL, &error) == UNSEEN_ERR_ARGUMENT && !url);
    CHECK(strcmp(error.text, too_long) == 0);
    free(list);
    list = long_list(3000, "");
    CHECK(make(&url, NULL, list, NULL, &error) == UNSEEN_ERR_ARGUMENT && !url);
    CHECK(strcmp(error.text, too_long) == 0);
    free(list);
    list = long_list(100, ",\xff\xff"); /* bytes that become three */
    char *more = malloc(8000);
    strcpy(more, "only-params(");
    memset(more + 12, 0xfe, 3900);
    strcpy(more + 12 + 3900, ")");
    CHECK(make(&url, NULL, list, more, &error) == UNSEEN_ERR_ARGUMENT && !url);
    CHECK(strcmp(error.text, "the patterns of only-params make a text of more than 4095 bytes") ==
          0);
    free(more);
    free(list);
}

static void test_memory(void)
{
    const char *const rules[] = {"drop-params(a,e.com:b)", "only-params(c)"};
    for (unsigned long fail_at = 1;; fail_at++) {
        struct test_allocator counter = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
        const struct unseen_url_options options = {
            .size = sizeof(options), .rules = rules, .nrules = 2, .allocator = &allocator};
        struct unseen_url *url = NULL;
        struct unseen_error error = {.text = ""};
        const enum unseen_status status = unseen_url_create(&url, &options, &error);
        unseen_url_free(url);
        CHECK(counter.nlive == 0 && counter.bytes == 0);
        if (status == UNSEEN_OK) {
            CHECK(fail_at > 5);
            break;
        }
        CHECK(status == UNSEEN_ERR_NOMEM && !url && error.status == status);
    }
}

/* ---- Answers ----------------------------------------------------------------------------------*/

static void test_cases(void)
{
    static const struct {
        const char *rule;
        const char *in;
        const char *out;
    } cases[] = {
        {"drop-params(utm_*,ref,news.example:page)", "http://e.com/?utm_x=1&a=2&ref&page=3",
         "http://e.com/?a=2&page=3"},
        {"drop-params(utm_*,ref,news.example:page)", "http://news.example/?page=3&a",
         "http://news.example/?a"},
        {"drop-params(utm_*,ref,news.example:page)", "http://www.News.example.:81/?page=3&a",
         "http://www.news.example.:81/?a"},
        {"drop-params(utm_*,ref,news.example:page)", "http://oldnews.example/?page=3&ref",
         "http://oldnews.example/?page=3"},
        {"drop-params(utm_*,ref,news.example:page)", "http://news.example.org/?page=3",
         "http://news.example.org/?page=3"},
        {"drop-params(ref)", "http://e.com/?Ref=1&re=1&reff=1&%72ef=1&r%65%66",
         "http://e.com/?Ref=1&re=1&reff=1"},
        {"drop-params(ref)", "http://e.com/?ref", "http://e.com/"},
        {"drop-params(ref)", "http://e.com/?", "http://e.com/?"},
        {"drop-params(ref)", "http://e.com/?&&ref&", "http://e.com/?&&"},
        {"drop-params(*)", "http://e.com/?&a=1", "http://e.com/"},
        {"drop-params(*)", "http://e.com/?", "http://e.com/"},
        {"drop-params(e.com:*)", "http://f.com/?a=1", "http://f.com/?a=1"},
        {"drop-params(%3D,%26*)", "http://e.com/?=a&%3D=1&%26x=1&b", "http://e.com/?=a&b"},
        {"drop-params(%25)", "http://e.com/?%=1&%25=1&%2=1", "http://e.com/?%2=1"},
        {"drop-params(a)", "https://u:p@e.com/a;a=1?a=1#a", "https://u:p@e.com/a;a=1"},
        {"drop-params(a)", "x:/?a=1", "x:/?a=1"},
        {"drop-params(127.0.0.1:a,[::1]:b)", "http://0x7f.1/?a&b", "http://127.0.0.1/?b"},
        {"drop-params(127.0.0.1:a,[::1]:b)", "http://[0::1]/?a&b", "http://[::1]/?a"},
        {"only-params(id,p,shop.example:sku)", "http://e.com/?sku=1&id=2&x=3&p",
         "http://e.com/?id=2&p"},
        {"only-params(id,p,shop.example:sku)", "http://a.shop.example/?sku=1&id=2&x=3&&p",
         "http://a.shop.example/?sku=1&id=2&p"},
        {"only-params(id)", "http://e.com/?x", "http://e.com/"},
        {"only-params(id)", "http://e.com/?", "http://e.com/"},
        {"only-params(shop.example:sku)", "http://e.com/?x=1&&y", "http://e.com/?x=1&&y"},
        {"only-params(shop.example:sku)", "http://shop.example/?x=1&sku=2",
         "http://shop.example/?sku=2"},
        {"only-params(e.com:a,b.e.com:c)", "http://a.b.e.com/?a=1&b=2&c=3",
         "http://a.b.e.com/?a=1&c=3"},
        {"only-params(utm_*)", "http://e.com/?utm_=1&utm=2", "http://e.com/?utm_=1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct unseen_url *url;
        struct unseen_canon canon;
        const char *const in = cases[i].in;
        CHECK(make(&url, NULL, cases[i].rule, NULL, NULL) == UNSEEN_OK);
        CHECK(unseen_url_canon(url, in, strlen(in), NULL, buf, BUF, &canon) == UNSEEN_OK);
        if (!CHECK(canon.bytes.len == strlen(cases[i].out) &&
                   memcmp(canon.bytes.data, cases[i].out, canon.bytes.len) == 0)) {
            fprintf(stderr, "%s: %s gives %.*s\n", cases[i].rule, in, (int)canon.bytes.len,
                    canon.bytes.data);
        }
        unseen_url_free(url);
    }
    /* The host is read before strip-www and strip-dot change it. */
    struct unseen_url *url;
    struct unseen_canon canon;
    CHECK(make(&url, "aggressive", "drop-params(www.e.com:a)", NULL, NULL) == UNSEEN_OK);
    static const char www[] = "http://www.e.com./?a&b";
    CHECK(unseen_url_canon(url, www, strlen(www), NULL, buf, BUF, &canon) == UNSEEN_OK);
    CHECK(canon.bytes.len == 15 && memcmp(canon.bytes.data, "http://e.com/?b", 15) == 0);
    unseen_url_free(url);
}

/* ---- A second implementation ------------------------------------------------------------------*/

static int hex(char c)
{
    const char *at = c ? strchr("0123456789abcdef0123456789ABCDEF", c) : NULL;
    return at ? (int)(at - "0123456789abcdef0123456789ABCDEF") % 16 : -1;
}

static size_t slow_decode(const char *s, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const bool escape = i + 2 < len && s[i] == '%' && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;
        out[n++] = escape ? (char)(hex(s[i + 1]) * 16 + hex(s[i + 2])) : s[i];
        i += escape ? 2 : 0;
    }
    return n;
}

/* Goes through all patterns of a list. *for_host: one of them is for this host, or for all. */
static bool slow_match(const char *list, const char *host, const char *name, size_t len,
                       bool *for_host)
{
    char decoded[256];
    const size_t decoded_len = slow_decode(name, len, decoded);
    bool match = false;
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, ",");
        const char *colon = memchr(at, ':', n);
        const char *pattern = colon ? colon + 1 : at;
        size_t pattern_len = (size_t)(at + n - pattern);
        bool applies = true;
        if (colon) {
            const size_t host_len = (size_t)(colon - at);
            const size_t all = strlen(host);
            applies = all >= host_len && memcmp(host + all - host_len, at, host_len) == 0 &&
                      (all == host_len || host[all - host_len - 1] == '.');
        }
        *for_host = *for_host || applies;
        const bool is_start = pattern_len > 0 && pattern[pattern_len - 1] == '*';
        pattern_len -= is_start;
        match = match || (applies && decoded_len >= pattern_len &&
                          memcmp(decoded, pattern, pattern_len) == 0 &&
                          (is_start || decoded_len == pattern_len));
        at += n + (at[n] == ',');
    }
    return match;
}

static size_t slow_canon(const char *drop, const char *only, const char *host, const char *url,
                         char *out)
{
    const char *question = strchr(url, '?');
    size_t n = question ? (size_t)(question - url) : strlen(url);
    memcpy(out, url, n);
    bool first = true;
    for (const char *piece = question; piece;) {
        piece++;
        const size_t len = strcspn(piece, "&");
        const size_t name_len = strcspn(piece, "=&");
        bool any = false;
        bool has_only = false;
        const bool dropped = slow_match(drop, host, piece, name_len, &any);
        const bool kept = slow_match(only, host, piece, name_len, &has_only);
        if (!dropped && (kept || !has_only)) {
            out[n++] = first ? '?' : '&';
            memcpy(out + n, piece, len);
            n += len;
            first = false;
        }
        piece = piece[len] ? piece + len : NULL;
    }
    return n;
}

static const char *pick(uint64_t *seed, const char *const *from, size_t n)
{
    return from[test_random(seed) % n];
}

static void make_pattern_list(uint64_t *seed, size_t max, char *out)
{
    static const char *const hosts[] = {"", "", "", "e.com:", "a.e.com:", "b.a.e.com:", "f.org:"};
    static const char *const names[] = {"a", "ab", "abc", "b", "ba", "c", "x_y", "abcd", "z", ""};
    const size_t n = 1 + test_random(seed) % max;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *name = pick(seed, names, 10);
        const bool star = !*name ? test_random(seed) % 4 == 0 : test_random(seed) % 3 == 0;
        if (*name || star) {
            sprintf(out + strlen(out), "%s%s%s%s", out[0] ? "," : "", pick(seed, hosts, 7), name,
                    star ? "*" : "");
        }
    }
    if (!out[0]) {
        strcpy(out, "q");
    }
}

static void test_second(void)
{
    static const char *const hosts[] = {"e.com",    "a.e.com", "b.a.e.com", "c.b.a.e.com",
                                        "xa.e.com", "f.org",   "com",       "ff.org"};
    static const char *const pieces[] = {"a",      "a=1",   "ab=2",   "abc",   "b=%41",  "ba",
                                         "c=3",    "%61=5", "a%62=1", "x_y=1", "x%5Fy=", "x%5fy",
                                         "abcd=1", "abx",   "",       "=",     "z",      "%"};
    uint64_t seed = 7;
    size_t ndone = 0;
    for (size_t round = 0; round < 3000; round++) {
        char drop[2000];
        char only[2000];
        char drop_rule[2100];
        char only_rule[2100];
        make_pattern_list(&seed, 12, drop);
        make_pattern_list(&seed, 6, only);
        sprintf(drop_rule, "drop-params(%s)", drop);
        sprintf(only_rule, "only-params(%s)", only);
        struct unseen_url *url;
        if (make(&url, "crawl", drop_rule, only_rule, NULL) != UNSEEN_OK) {
            continue; /* a contradiction */
        }
        for (size_t k = 0; k < 20; k++) {
            char in[2000];
            char expected[2000];
            const char *host = pick(&seed, hosts, 8);
            sprintf(in, "http://%s/p", host);
            for (size_t n = test_random(&seed) % 9, i = 0; i < n; i++) {
                sprintf(in + strlen(in), "%c%s", i ? '&' : '?', pick(&seed, pieces, 18));
            }
            const size_t len = slow_canon(drop, only, host, in, expected);
            struct unseen_canon canon;
            CHECK(unseen_url_canon(url, in, strlen(in), NULL, buf, BUF, &canon) == UNSEEN_OK);
            if (!CHECK(canon.bytes.len == len && memcmp(canon.bytes.data, expected, len) == 0)) {
                fprintf(stderr, "%s: %s gives %.*s, not %.*s\n", unseen_url_id(url), in,
                        (int)canon.bytes.len, canon.bytes.data, (int)len, expected);
            }
            ndone++;
        }
        unseen_url_free(url);
    }
    CHECK(ndone > 10000);
    printf("%zu URLs compared\n", ndone);
}

/* Many parameters and many patterns, all alike but at their ends, and a host of many labels. */
static void test_hostile(void)
{
    enum {
        NPATTERNS = 200,
        NPARAMS = 50000
    };
    char rule[8000];
    char *at = rule + sprintf(rule, "drop-params(a.a.a.a.a.a.a.a:b");
    for (int i = 0; i < NPATTERNS; i++) {
        at += sprintf(at, ",aaaaaaaaaa%04d", 2 * i);
    }
    strcpy(at, ")");
    struct unseen_url *url;
    CHECK(make(&url, NULL, rule, NULL, NULL) == UNSEEN_OK);
    const size_t cap = 2000000;
    char *in = malloc(cap);
    char *out = malloc(8 * cap + 1024);
    size_t n = (size_t)sprintf(in, "http://");
    for (int i = 0; i < 100000; i++) {
        memcpy(in + n, "a.", 2);
        n += 2;
    }
    n += (size_t)sprintf(in + n, "a/?");
    const size_t start = n;
    for (int i = 0; i < NPARAMS; i++) {
        n += (size_t)sprintf(in + n, "aaaaaaaaaa%04d=1&", i % 1000);
    }
    n += (size_t)sprintf(in + n, "b=1&c");
    struct unseen_canon canon;
    CHECK(unseen_url_canon(url, in, n, NULL, out, 8 * cap + 1024, &canon) == UNSEEN_OK);
    CHECK_EQ(canon.bytes.len, start + NPARAMS / 1000 * (1000 - NPATTERNS) * 17 + 1);
    unseen_url_free(url);
    free(in);
    free(out);
}

int main(void)
{
    test_start();
    test_spellings();
    test_errors();
    test_www();
    test_long_lists();
    test_memory();
    test_cases();
    test_second();
    test_hostile();
    return test_end();
}
