/* SPDX-License-Identifier: MIT
 *
 * Profiles, rules, identities, explanations, references, and what happens when memory is short. */
#include "test.h"

enum {
    BUF = 1 << 16
};

static char buf[BUF];

/* rules: up to four names, the rest NULL. */
static struct unseen_url *create(const char *profile, const char *const *rules,
                                 enum unseen_status *status)
{
    struct unseen_url *url = NULL;
    size_t nrules = 0;
    while (rules && nrules < 4 && rules[nrules]) {
        nrules++;
    }
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = profile,
                                               .rules = rules,
                                               .nrules = nrules,
                                               .cpu = test_cpu};
    *status = unseen_url_create(&url, &options, NULL);
    return url;
}

static bool equals(struct unseen_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

/* out NULL: fails. */
static const struct rule_case {
    const char *profile;
    const char *rules[4];
    const char *in;
    const char *out;
} cases[] = {
    {"none", {0}, "HTTP://E.com", "HTTP://E.com"},
    {"whatwg", {0}, "HTTP://E.com:80/a/../b?x=1#f", "http://e.com/b?x=1#f"},
    {"crawl", {0}, "HTTP://E.com:80/a/../b?x=1#f", "http://e.com/b?x=1"},
    {"crawl", {0}, "http://e.com/#!/a", "http://e.com/"},
    {"crawl", {"keep-hashbang"}, "http://e.com/#!/a b", "http://e.com/#!/a%20b"},
    {"crawl", {"keep-hashbang"}, "http://e.com/#a", "http://e.com/"},
    {"crawl", {"keep-hashbang"}, "http://e.com/#\n!a", "http://e.com/#!a"},
    {"crawl", {"keep-fragment"}, "http://e.com/#a", "http://e.com/#a"},
    {"whatwg", {"no-keep-fragment"}, "http://e.com/#a", "http://e.com/"},
    /* Domain to ASCII: a letter newer than libidn2; a symbol and a digit of right-to-left
     * scripts. */
    {"crawl", {0}, "http://\xf0\x9e\x80\xb0.com/", "http://xn--80a.com/"},
    {"whatwg", {0}, "http://a%D8%86.com/#f", "http://xn--a-3kc.com/#f"},
    {"crawl", {0}, "http://%D9%AB%D8%A7.com/", NULL},
    {"crawl", {0}, "e.com/a", NULL},
    {"crawl", {"default-scheme"}, "e.com/a", "http://e.com/a"},
    {"crawl", {"default-scheme"}, " e.com:8080/a ", "http://e.com:8080/a"},
    {"crawl", {"default-scheme"}, "//e.com/a", "http://e.com/a"},
    {"crawl", {"default-scheme"}, "/About/x", NULL},
    {"crawl", {"default-scheme"}, " /About/x", NULL},
    {"crawl", {"default-scheme"}, "\\a", NULL},
    {"crawl", {"default-scheme"}, "../a", NULL},
    {"crawl", {"default-scheme"}, "..", NULL},
    {"crawl", {"default-scheme"}, "./e.com", NULL},
    {"crawl", {"default-scheme"}, "%2e./a", NULL},
    {"crawl", {"default-scheme"}, "..\\a", NULL},
    {"crawl", {"default-scheme"}, "//../a", NULL},
    {"crawl", {"default-scheme"}, "/", NULL},
    {"crawl", {"default-scheme"}, "a", "http://a/"},
    {"crawl", {"default-scheme"}, "\\\\e.com\\a", "http://e.com/a"},
    {"aggressive", {0}, "/001/postUP.php", NULL},
    {"crawl", {"keep-routes"}, "http://e.com/#/a b", "http://e.com/#/a%20b"},
    {"crawl", {"keep-routes"}, "http://e.com/#!/a", "http://e.com/#!/a"},
    {"crawl", {"keep-routes"}, "http://e.com/#!a", "http://e.com/#!a"},
    {"crawl", {"keep-routes"}, "http://e.com/a?b#a/", "http://e.com/a?b"},
    {"crawl", {"keep-routes"}, "http://e.com/#", "http://e.com/"},
    {"crawl", {"keep-routes"}, "http://e.com/#\t/a", "http://e.com/#/a"},
    {"crawl", {"keep-routes"}, "http://e.com/#\ta", "http://e.com/"},
    {"crawl", {"keep-routes"}, "http://e.com#/", "http://e.com/#/"},
    {"crawl", {"keep-hashbang"}, "http://e.com/#/a", "http://e.com/"},
    {"crawl", {"keep-routes", "fold-scheme"}, "https://e.com/?b#/a", "http://e.com/?b#/a"},
    {"crawl", {"strip-dot"}, "http://e.com./a", "http://e.com/a"},
    {"crawl", {"strip-dot"}, "http://E.com.:81/a", "http://e.com:81/a"},
    {"crawl", {"strip-dot"}, "http://e.com../", "http://e.com../"},
    {"crawl", {"strip-dot"}, "http://0x10../", "http://0x10../"},
    {"crawl", {"strip-dot"}, "http://./", "http://./"},
    {"crawl", {"strip-dot", "strip-www"}, "http://www.e.com./", "http://e.com/"},
    {"aggressive", {0}, "http://www.e.com./", "http://e.com/"},
    {"crawl",
     {"decode-reserved"},
     "http://e.com/Alien_%28film%29%2C%3b%2F%3F%25%5B%41?%28",
     "http://e.com/Alien_(film),;%2F%3F%25%5B%41?%28"},
    {"crawl",
     {"decode-reserved"},
     "http://e.com/%21%24%26%27%28%29%2a%2b%2c%3B%3d%3A%40%%33A",
     "http://e.com/!$&'()*+,;=:@%%33A"},
    {"aggressive", {0}, "http://e.com/a%3bjsessionid=1", "http://e.com/a"},
    {"crawl", {"strip-query"}, "http://e.com/a?b#c", "http://e.com/a"},
    {"crawl", {"strip-query"}, "http://e.com/a?", "http://e.com/a"},
    {"crawl", {"strip-query", "keep-fragment"}, "http://e.com/a?b=1&c#d", "http://e.com/a#d"},
    {"crawl", {"strip-query"}, "x:/a?b", "x:/a?b"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/(S(0123456789abcdefghijklmn))/a?osCsid=0123456789abcdef0123456789abcdef",
     "http://e.com/a"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/b/(A(x-_9)S(0123456789abcdefghijklmn)F(y))/(s(0123456789abcdefghijklmN))/",
     "http://e.com/b/"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/(S(0123456789abcdefghijklmn))",
     "http://e.com/(S(0123456789abcdefghijklmn))"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/(S(0123456789abcdefghijklm))/(A(b))/(S(0123456789abcdefghijklmn)/a(S())/()/",
     "http://e.com/(S(0123456789abcdefghijklm))/(A(b))/(S(0123456789abcdefghijklmn)/a(S())/()/"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/x(S(0123456789abcdefghijklmn))/;jsessionid=1/(S(0123456789abcdefghijklmn));"
     "jsessionid=1/a",
     "http://e.com/x(S(0123456789abcdefghijklmn))//a"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/?PHPSESSID=0123456789abcdef0123456789&sessionid=short&sid=0123456789abcdef&"
     "jsessionid=0123456789ABCDEF.node-1&CFID=&%63ftoken=%20&SESSIONID=0123456789abcdef&cfid",
     "http://e.com/?sessionid=short&sid=0123456789abcdef&cfid"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/?phpsessid=0123456789abcdef%20&ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&"
     "sid=0123456789abcdef0123456789abcdef",
     "http://e.com/?phpsessid=0123456789abcdef%20"},
    {"crawl", {"default-scheme"}, "mailto:a@b.c", "mailto:a@b.c"},
    {"crawl", {"default-scheme"}, "", NULL},
    {"crawl", {"fold-scheme"}, "https://e.com/", "http://e.com/"},
    {"crawl", {"fold-scheme"}, "https://e.com:443/", "http://e.com/"},
    {"crawl", {"fold-scheme"}, "https://e.com:80/", "https://e.com:80/"},
    {"crawl", {"fold-scheme"}, "wss://e.com/", "wss://e.com/"},
    {"crawl", {"drop-userinfo"}, "http://u:p@e.com/", "http://e.com/"},
    {"crawl", {"drop-userinfo"}, "ftp://u@e.com/@", "ftp://e.com/@"},
    {"crawl", {"strip-www"}, "http://www.e.com/", "http://e.com/"},
    {"crawl", {"strip-www"}, "http://u@WWW2.www.e.com:81/", "http://u@e.com:81/"},
    {"crawl", {"strip-www"}, "http://www.com/", "http://www.com/"},
    {"crawl", {"strip-www"}, "http://www.com./", "http://www.com./"},
    {"crawl", {"strip-www"}, "http://wwww.e.com/", "http://wwww.e.com/"},
    {"crawl", {"upper-escapes"}, "http://e.com/%c3%a9%zz?%2f", "http://e.com/%C3%A9%zz?%2F"},
    {"crawl", {"decode-unreserved"}, "http://e.com/%7Ea%2F%41?%2d", "http://e.com/~a%2FA?-"},
    {"crawl", {"decode-unreserved"}, "http://e.com/%4%31%%36%31", "http://e.com/%4%31%%361"},
    {"crawl", {"decode-unreserved"}, "x:%%31", "x:%%31"},
    {"crawl", {"decode-unreserved"}, "x:%4%31", "x:%4%31"},
    {"crawl", {"collapse-slashes"}, "http://e.com//a///b//?c//d", "http://e.com/a/b/?c//d"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/a;jsessionid=1F.n1;b/c;JSESSIONID=2",
     "http://e.com/a;b/c"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/..;jsessionid=1/c",
     "http://e.com/..;jsessionid=1/c"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/%2E.;jsessionid=1/.%2e.;jsessionid=1",
     "http://e.com/%2E.;jsessionid=1/.%2e."},
    {"crawl", {"strip-sessions"}, "http://e.com/;jsessionid=1?a", "http://e.com/?a"},
    {"crawl", {"strip-sessions"}, "http://e.com/a/;jsessionid=1/b", "http://e.com/a//b"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/?PHPSESSID=0123456789abcdef0123456789abcdef&a=1&sid=short&CFID=1&CFTOKEN=2",
     "http://e.com/?a=1&sid=short"},
    {"crawl",
     {"strip-sessions"},
     "http://e.com/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX",
     "http://e.com/"},
    {"crawl", {"strip-index"}, "http://e.com/a/index.html?x", "http://e.com/a/?x"},
    {"crawl", {"strip-index"}, "http://e.com/Default.aspx", "http://e.com/"},
    {"crawl", {"strip-index"}, "http://e.com/INDEX.PHTML", "http://e.com/"},
    {"crawl", {"strip-index"}, "http://e.com/index.do", "http://e.com/"},
    {"crawl", {"strip-index"}, "http://e.com/index.xml", "http://e.com/index.xml"},
    {"crawl", {"strip-index"}, "http://e.com/index.rss", "http://e.com/index.rss"},
    {"crawl", {"strip-index"}, "http://e.com/index.js", "http://e.com/index.js"},
    {"crawl", {"strip-index"}, "http://e.com/default.css", "http://e.com/default.css"},
    {"crawl", {"strip-index"}, "http://e.com/index.h", "http://e.com/index.h"},
    {"crawl", {"strip-index"}, "http://e.com/index.", "http://e.com/index."},
    {"crawl", {"strip-index"}, "http://e.com/index", "http://e.com/index"},
    {"crawl", {"strip-index"}, "http://e.com/xindex.html", "http://e.com/xindex.html"},
    {"crawl", {"strip-index"}, "http://e.com/index.en.html", "http://e.com/index.en.html"},
    {"crawl", {"strip-index"}, "http://e.com/index.html/a", "http://e.com/index.html/a"},
    {"crawl", {"strip-slash"}, "http://e.com/a//", "http://e.com/a"},
    {"crawl", {"strip-slash"}, "http://e.com//", "http://e.com/"},
    {"crawl",
     {"strip-slash", "strip-index"},
     "http://e.com/a/index.php/index.htm/",
     "http://e.com/a"},
    {"crawl",
     {"strip-trackers"},
     "http://e.com/?utm_source=a&id=1&fbclid=2&gclid",
     "http://e.com/?id=1"},
    {"crawl", {"strip-trackers"}, "http://e.com/?utm_source=a", "http://e.com/"},
    {"crawl",
     {"strip-trackers"},
     "http://e.com/?utm_=a&Utm_x=1&xgclid=1&GCLID=1&igsh=1&ut%4D%5fz&%67clid=1",
     "http://e.com/?xgclid=1"},
    {"crawl",
     {"strip-trackers"},
     "http://e.com/?utm=1&gclid2=1&gcli=1&pk_id=1&itm_id=2&mtm_x=1&=gclid&g%zzclid=1&%=1",
     "http://e.com/?utm=1&gclid2=1&gcli=1&pk_id=1&itm_id=2&=gclid&g%zzclid=1&%=1"},
    {"aggressive", {0}, "http://e.com/?igsh=1&fbclid=1", "http://e.com/"},
    {"crawl", {"strip-trackers"}, "http://e.com/?", "http://e.com/?"},
    {"crawl", {"sort-query"}, "http://e.com/?b=2&a=1&&a=&a", "http://e.com/?a&a=&a=1&b=2"},
    {"crawl", {"sort-query"}, "http://e.com/?&&", "http://e.com/?"},
    {"crawl", {"drop-empty-query"}, "http://e.com/?#x", "http://e.com/"},
    {"crawl", {"drop-empty-query", "sort-query"}, "http://e.com/?&", "http://e.com/"},
    {"crawl", {"strip-slash", "strip-www"}, "file:///www.a/", "file:///www.a/"},
    {"crawl", {"sort-query"}, "x:/?b&a", "x:/?b&a"},
    {"crawl", {"names-only"}, "http://e.com/p?a=1&b=2#x", "http://e.com/p?a&b"},
    {"crawl", {"names-only"}, "http://e.com/p?b=9&a=8&&a=7&=5&b", "http://e.com/p?a&b"},
    {"crawl", {"names-only"}, "http://e.com/p?ab=1&a=b=2&a", "http://e.com/p?a&ab"},
    {"crawl", {"names-only"}, "http://e.com/p?=1&=", "http://e.com/p?"},
    {"crawl", {"names-only", "drop-empty-query"}, "http://e.com/p?=1&=", "http://e.com/p"},
    {"crawl",
     {"names-only", "strip-sessions", "strip-trackers"},
     "http://e.com/?utm_x=1&sid=1&sessionid=0123456789abcdef&b",
     "http://e.com/?b&sid"},
    {"crawl", {"unescape-amp"}, "http://e.com/?a=1&amp;b=2&amp;amp;c", "http://e.com/?a=1&b=2&c"},
    {"crawl",
     {"unescape-amp"},
     "http://e.com/?amp;a&amp=1&Amp;b&amp;",
     "http://e.com/?a&amp=1&Amp;b&"},
    {"crawl", {"unescape-amp"}, "http://e.com/a&amp;b?x=amp;y", "http://e.com/a&amp;b?x=amp;y"},
    {"crawl",
     {"unescape-amp"},
     "http://e.com/?a=1&#38;b=2&#x26;c&#X26;d#e",
     "http://e.com/?a=1&b=2&c&d"},
    {"crawl", {"unescape-amp"}, "http://e.com/?a&#38;amp;b&#38;#38;c", "http://e.com/?a&b&"},
    {"crawl", {"unescape-amp"}, "http://e.com/?a&#3\t8;b&\n#38;c", "http://e.com/?a&b&c"},
    {"crawl", {"unescape-amp"}, "http://e.com/a&#38;b", "http://e.com/a&"},
    {"crawl", {"unescape-amp"}, "http://e.com/?#38;&#39;", "http://e.com/?"},
    {"crawl", {"unescape-amp"}, "http://e.com/?a&#38", "http://e.com/?a&"},
    {"crawl",
     {"unescape-amp", "keep-fragment"},
     "http://e.com/?a&#38;b#c&#38;d",
     "http://e.com/?a&b#c&#38;d"},
    {"crawl", {0}, "http://e.com/?a=1&#38;b=2", "http://e.com/?a=1&"},
    {"crawl",
     {"unescape-amp", "strip-trackers", "sort-query"},
     "http://e.com/?b&amp;utm_source=rss&amp;a=1",
     "http://e.com/?a=1&b"},
    {"crawl",
     {"unescape-amp", "names-only"},
     "http://e.com/?x=1&amp;amp;=2&amp;a=3",
     "http://e.com/?a&x"},
    {"aggressive",
     {0},
     "HTTPS://u@www.E.com:443//a/%7e/?utm_medium=1&b=2&a=1#x",
     "http://e.com/a/~?a=1&b=2"},
    {"aggressive", {0}, "e.com/Path/", "http://e.com/Path"},
    {"aggressive", {"no-fold-scheme", "no-strip-www"}, "https://www.e.com", "https://www.e.com/"},
};

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct rule_case *c = &cases[i];
        enum unseen_status status;
        struct unseen_url *url = create(c->profile, c->rules, &status);
        struct unseen_canon canon;
        if (!CHECK(status == UNSEEN_OK)) {
            continue;
        }
        CHECK(unseen_url_canon(url, c->in, strlen(c->in), NULL, buf, BUF, &canon) == UNSEEN_OK);
        const char *const expected = c->out ? c->out : c->in;
        const enum unseen_url_form form = !c->out                      ? UNSEEN_URL_FAILED
                                          : strcmp(c->out, c->in) == 0 ? UNSEEN_URL_UNCHANGED
                                                                       : UNSEEN_URL_REWRITTEN;
        if (!CHECK(equals(canon.bytes, expected) && canon.form == form)) {
            fprintf(stderr, "%s: <%s> gives <%.*s>\n", unseen_url_id(url), c->in,
                    (int)canon.bytes.len, canon.bytes.data);
        }
        unseen_url_free(url);
    }
}

static bool gives(const struct unseen_url *url, const char *in, const char *out)
{
    struct unseen_canon canon;
    CHECK(unseen_url_canon(url, in, strlen(in), NULL, buf, BUF, &canon) == UNSEEN_OK);
    const bool same = equals(canon.bytes, out);
    if (!same) {
        fprintf(stderr, "%s: <%s> gives <%.*s>\n", unseen_url_id(url), in, (int)canon.bytes.len,
                canon.bytes.data);
    }
    return same;
}

/* Every tracker; the last two but one stand for families. */
static void test_trackers(void)
{
    static const char *const names[] = {
        "gclid",      "dclid",          "gbraid",
        "wbraid",     "fbclid",         "yclid",
        "mc_cid",     "mc_eid",         "_ga",
        "msclkid",    "_hsmi",          "_hsenc",
        "igshid",     "igsh",           "gad_source",
        "_gl",        "ttclid",         "_kx",
        "ysclid",     "mkt_tok",        "twclid",
        "srsltid",    "gad_campaignid", "gclsrc",
        "vero_id",    "pk_campaign",    "pk_kwd",
        "pk_keyword", "pk_source",      "pk_medium",
        "pk_content", "pk_cid",         "itm_source",
        "itm_medium", "itm_campaign",   "itm_content",
        "itm_term",   "s_cid",          "li_fat_id",
        "epik",       "hsCtaTracking",  "oly_enc_id",
        "utm_x",      "mtm_x",          "_branch_match_id",
    };
    static const char *const rules[4] = {"strip-trackers"};
    enum unseen_status status;
    struct unseen_url *url = create("crawl", rules, &status);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char in[100];
        char longer[100];
        snprintf(in, sizeof(in), "http://e.com/?a=1&%s=%s&b=2", names[i], names[i]);
        CHECK(gives(url, in, "http://e.com/?a=1&b=2"));
        snprintf(in, sizeof(in), "http://e.com/?%s", names[i]);
        CHECK(gives(url, in, "http://e.com/"));
        snprintf(longer, sizeof(longer), "http://e.com/?x%s=1", names[i]);
        CHECK(gives(url, longer, longer));
    }
    unseen_url_free(url);
}

static void test_ids(void)
{
    static const struct {
        const char *profile;
        const char *rules[4];
        const char *id;
    } ids[] = {
        {NULL, {0}, "crawl/1"},
        {"none", {0}, "none/1"},
        {"crawl/1", {0}, "crawl/1"},
        {"whatwg/1", {"no-keep-fragment"}, "whatwg/1-keep-fragment"},
        {"crawl", {"strip-www", "keep-hashbang"}, "crawl/1+keep-hashbang+strip-www"},
        {"crawl", {"no-strip-www"}, "crawl/1"},
        {"crawl", {"strip-www", "no-strip-www"}, "crawl/1"},
        {"crawl", {"strip-trackers"}, "crawl/1+strip-trackers"},
        {"crawl", {"strip-trackers/1"}, "crawl/1+strip-trackers"},
        {"crawl", {"no-strip-trackers/1"}, "crawl/1"},
        {"crawl+strip-trackers-strip-www", {0}, "crawl/1+strip-trackers"},
        {"crawl/1+strip-trackers/1", {"strip-www"}, "crawl/1+strip-www+strip-trackers"},
        {"aggressive", {"strip-trackers"}, "aggressive/1"},
        {"aggressive", {"no-strip-trackers"}, "aggressive/1-strip-trackers"},
        {"aggressive/1", {"no-strip-www", "strip-index"}, "aggressive/1-strip-www+strip-index"},
        {"scrapy", {"keep-fragment"}, "scrapy/1+keep-fragment"},
    };
    enum unseen_status status;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct unseen_url *url = create(ids[i].profile, ids[i].rules, &status);
        if (CHECK(status == UNSEEN_OK) && !CHECK(strcmp(unseen_url_id(url), ids[i].id) == 0)) {
            fprintf(stderr, "%s\n", unseen_url_id(url));
        }
        unseen_url_free(url);
        url = create(ids[i].id, NULL, &status); /* and back */
        CHECK(url && strcmp(unseen_url_id(url), ids[i].id) == 0);
        unseen_url_free(url);
    }
}

static void test_errors(void)
{
    static const char *const unknown[4] = {"strip-everything"};
    static const char *const elsewhere[4] = {"drop-blank-values"};
    static const char *const fixed[4] = {"keep-fragment"};
    enum unseen_status status;
    CHECK(!create("crawler", NULL, &status) && status == UNSEEN_ERR_NAME);
    CHECK(!create("crawl", unknown, &status) && status == UNSEEN_ERR_NAME);
    static const char *const versions[][4] = {
        {"strip-trackers/2"}, {"strip-trackers/0"}, {"strip-www/10"},
        {"strip-www/"},       {"strip-www/01"},
    };
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        CHECK(!create("crawl", versions[i], &status) && status == UNSEEN_ERR_VERSION);
    }
    CHECK(!create("crawl", elsewhere, &status) && status == UNSEEN_ERR_ARGUMENT);
    CHECK(!create("safebrowsing", fixed, &status) && status == UNSEEN_ERR_ARGUMENT);
    struct unseen_url *url = NULL;
    struct unseen_url_options options = {.size = 1};
    CHECK(unseen_url_create(&url, &options, NULL) == UNSEEN_ERR_SIZE && !url);
    unseen_url_free(NULL);
    CHECK_EQ(unseen_url_bound(SIZE_MAX, 0), 0);
    CHECK_EQ(unseen_url_bound(SIZE_MAX / 8, 0), 0);
    CHECK_EQ(unseen_url_bound(SIZE_MAX, 1), 0);
    CHECK(unseen_url_bound(0, 0) > 0);

    struct test_allocator counter = {.fail_at = 1};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
    options = (struct unseen_url_options){.size = sizeof(options), .allocator = &allocator};
    CHECK(unseen_url_create(&url, &options, NULL) == UNSEEN_ERR_NOMEM && !url);
    CHECK(unseen_url_create(&url, &options, NULL) == UNSEEN_OK);
    unseen_url_free(url);
    CHECK(counter.nlive == 0 && counter.bytes == 0);
}

/* All rules on one profile: the longest id fits. */
static void test_names(void)
{
    const char *names[64];
    size_t n = 0;
    const struct unseen_url_entry *entry;
    for (size_t i = 0; (entry = unseen_url_rule_at(i)); i++) {
        CHECK(entry->name[0] && entry->sentence[0]);
        const bool needs_patterns = strstr(entry->name, "-params") != NULL;
        if (strncmp(entry->sentence, "scrapy only", 11) != 0) {
            names[n++] = needs_patterns ? NULL : entry->name;
            n -= needs_patterns;
        }
    }
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = "crawl", .rules = names, .nrules = n};
    CHECK(n == 21 && unseen_url_create(&url, &options, NULL) == UNSEEN_OK);
    CHECK(url && strlen(unseen_url_id(url)) < 512);
    unseen_url_free(url);
    for (size_t i = 0; (entry = unseen_url_profile_at(i)); i++) {
        enum unseen_status status;
        url = create(entry->name, NULL, &status);
        CHECK(status == UNSEEN_OK &&
              strncmp(unseen_url_id(url), entry->name, strlen(entry->name)) == 0);
        unseen_url_free(url);
    }
}

/* ---- Explanations -----------------------------------------------------------------------------*/

struct trail {
    char text[4096];
    size_t len;
};

static void take_step(void *context, const struct unseen_url_step *step)
{
    struct trail *trail = context;
    CHECK(step->sentence[0] != '\0');
    const int n = snprintf(trail->text + trail->len, sizeof(trail->text) - trail->len,
                           "%s:%.*s>%.*s|", step->rule, (int)step->before.len, step->before.data,
                           (int)step->after.len, step->after.data);
    trail->len += n > 0 ? (size_t)n : 0;
}

static void test_explain(void)
{
    static const struct {
        const char *profile;
        const char *in;
        const char *steps;
    } explained[] = {
        {"crawl", "http://E.com:80/a/../b?x=1#f",
         "host-case:E.com>e.com|port::80>|dot-segments:/a/../b>/b|no-keep-fragment:#f>|"},
        {"crawl", "http://e.com/b?x=1", ""},
        {"whatwg", " HTTP:\\\\e.com ",
         "outer-space: HTTP:\\\\e.com >HTTP:\\\\e.com|scheme-case:HTTP>http|slashes:\\\\>//|"
         "empty-path:>/|"},
        {"whatwg", "http://0x7f.1\\a b?\"",
         "ipv4:0x7f.1>127.0.0.1|backslash:\\a b>/a%20b|"
         "escape:?\">?%22|"},
        {"aggressive", "https://www.e.com/a/?b&a&gclid=1",
         "fold-scheme:https>http|strip-www:www.e.com>e.com|strip-slash:/a/>/a|"
         "strip-trackers:?b&a&gclid=1>?b&a|sort-query:?b&a>?a&b|"},
        {"aggressive+strip-index", "http://e.com/a/index.html",
         "strip-index:/a/index.html>/a/|strip-slash:/a/>/a|"},
        {"aggressive+strip-index", "http://e.com/a//index.html",
         "collapse-slashes:/a//index.html>/a/index.html|strip-index:/a/index.html>/a/|"
         "strip-slash:/a/>/a|"},
        {"aggressive+strip-index", "http://e.com/index.html/",
         "strip-slash:/index.html/>/index.html|strip-index:/index.html>/|"},
        /* Each rule once, whatever the path is. */
        {"aggressive+strip-index", "http://e.com/a/index.html/index.php/index.asp",
         "strip-index:/a/index.html/index.php/index.asp>/a/index.html/index.php/|"
         "strip-slash:/a/index.html/index.php/>/a|"},
        {"aggressive+strip-index", "http://e.com/a/index.html/index.php/",
         "strip-slash:/a/index.html/index.php/>/a/index.html/index.php|"
         "strip-index:/a/index.html/index.php>/a|"},
        {"crawl+strip-index", "http://e.com/a/index.html/index.html",
         "strip-index:/a/index.html/index.html>/a/index.html/|"},
    };
    for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++) {
        enum unseen_status status;
        struct unseen_url *url = create(explained[i].profile, NULL, &status);
        struct trail trail = {.len = 0};
        struct unseen_canon canon;
        struct unseen_canon plain;
        static char other[BUF];
        const char *const in = explained[i].in;
        if (!CHECK(status == UNSEEN_OK)) {
            continue;
        }
        CHECK(unseen_url_explain(url, in, strlen(in), buf, BUF, take_step, &trail, &canon) ==
              UNSEEN_OK);
        CHECK(unseen_url_canon(url, in, strlen(in), NULL, other, BUF, &plain) == UNSEEN_OK);
        CHECK(canon.form == plain.form && canon.bytes.len == plain.bytes.len &&
              memcmp(canon.bytes.data, plain.bytes.data, plain.bytes.len) == 0);
        if (!CHECK(strcmp(trail.text, explained[i].steps) == 0)) {
            fprintf(stderr, "%s: %s\n", in, trail.text);
        }
        CHECK(unseen_url_explain(url, in, strlen(in), buf, 100, take_step, &trail, &canon) ==
              UNSEEN_ERR_SPACE);
        unseen_url_free(url);
    }
}

static void test_base(void)
{
    static const struct {
        const char *profile;
        const char *in;
        const char *base;
        const char *out;
    } references[] = {
        {"crawl", "../b#x", "http://e.com/a/c/d?q#f", "http://e.com/a/b"},
        {"crawl", "//x.com", "https://e.com/", "https://x.com/"},
        {"crawl", "", "http://e.com/a?q#f", "http://e.com/a?q"},
        {"crawl", "?y", "http://u@e.com:81/a?q#f", "http://u@e.com:81/a?y"},
        {"whatwg", "#y", "mailto:a@b.c", "mailto:a@b.c#y"},
        {"whatwg", "y", "mailto:a@b.c", NULL},
        {"whatwg", "y", "no base", NULL},
        {"whatwg", "..", "file:///C:/", "file:///C:/"},
        {"whatwg", "b", "x:/.//a", "x:/.//b"},
        {"scrapy", "?b=1&a=2", "http://e.com/x", "http://e.com/x?a=2&b=1"},
        {"crawl", "#\n!a", "http://e.com/", "http://e.com/"},
        {"aggressive", "..//b/?b&a", "https://www.e.com/x/y/", "http://e.com/x/b?a&b"},
        {"aggressive", "#a", "e.com:80/b", "http://e.com/b"}, /* the scheme "e.com" to WHATWG */
        {"none", "../b", "http://e.com/", "../b"},
    };
    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        enum unseen_status status;
        struct unseen_url *url = create(references[i].profile, NULL, &status);
        const char *const in = references[i].in;
        const struct unseen_bytes base = {references[i].base, strlen(references[i].base)};
        const char *const out = references[i].out ? references[i].out : in;
        struct unseen_canon canon;
        if (!CHECK(status == UNSEEN_OK)) {
            continue;
        }
        CHECK(unseen_url_canon(url, in, strlen(in), &base, buf, BUF, &canon) == UNSEEN_OK);
        if (!CHECK(equals(canon.bytes, out) &&
                   (canon.form == UNSEEN_URL_FAILED) == (references[i].out == NULL))) {
            fprintf(stderr, "<%s> at <%s>: <%.*s>\n", in, base.data, (int)canon.bytes.len,
                    canon.bytes.data);
        }
        CHECK(unseen_url_canon(url, in, strlen(in), &base, buf, 1000, &canon) == UNSEEN_ERR_SPACE);
        unseen_url_free(url);
    }
}

/* Many parameters, all equal but at their end, in falling order: sorting stays fast. */
static void test_hostile_query(void)
{
    enum {
        N = 20000,
        PIECE = 12,
        LEN = 14 + N * PIECE
    };
    static const char *const rules[4] = {"sort-query"};
    enum unseen_status status;
    struct unseen_url *url = create("crawl", rules, &status);
    char *in = malloc(LEN + 1);
    char *out = malloc(unseen_url_bound(LEN, 0));
    struct unseen_canon canon;
    if (!in || !out || !CHECK(status == UNSEEN_OK)) {
        abort();
    }
    size_t n = (size_t)sprintf(in, "http://e.com/?");
    for (int i = N; i > 0; i--) {
        n += (size_t)sprintf(in + n, "aaaa=%06d&", i);
    }
    CHECK(unseen_url_canon(url, in, n, NULL, out, unseen_url_bound(n, 0), &canon) == UNSEEN_OK);
    CHECK_EQ(canon.bytes.len, n - 1);
    for (size_t i = 14 + PIECE; i + PIECE < canon.bytes.len; i += PIECE) {
        CHECK(memcmp(canon.bytes.data + i - PIECE, canon.bytes.data + i, PIECE - 1) < 0);
    }
    free(in);
    free(out);
    unseen_url_free(url);
}

static void test_wrong_ids(void)
{
    static const struct {
        const char *id;
        enum unseen_status status;
    } wrong[] = {
        {"", UNSEEN_ERR_NAME},
        {"crawl/", UNSEEN_ERR_VERSION},
        {"crawl/10", UNSEEN_ERR_VERSION},
        {"crawl/1x", UNSEEN_ERR_NAME},
        {"crawl/1+", UNSEEN_ERR_NAME},
        {"crawl/1+strip-wwww", UNSEEN_ERR_NAME},
        {"crawl/1+strip-www,strip-slash", UNSEEN_ERR_NAME},
        {"crawl/1+split-semicolons", UNSEEN_ERR_ARGUMENT},
        {"crawler/1", UNSEEN_ERR_NAME},
        {"crawl/0", UNSEEN_ERR_VERSION},
        {"crawl/01", UNSEEN_ERR_VERSION},
        {"crawl/100", UNSEEN_ERR_VERSION},
        {"crawl/2", UNSEEN_ERR_VERSION},
        {"whatwg/9", UNSEEN_ERR_VERSION},
        {"crawl/1+strip-trackers/2", UNSEEN_ERR_VERSION},
        {"crawl/1+strip-trackers/1x", UNSEEN_ERR_NAME},
        {"crawl+", UNSEEN_ERR_NAME},
        {"crawl-", UNSEEN_ERR_NAME},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        enum unseen_status status = UNSEEN_OK;
        struct unseen_url *url = create(wrong[i].id, NULL, &status);
        if (!CHECK(!url && status == wrong[i].status)) {
            fprintf(stderr, "%s: %s\n", wrong[i].id, unseen_status_string(status));
        }
        unseen_url_free(url);
    }
}

int main(void)
{
    test_start();
    test_cases();
    test_trackers();
    test_ids();
    test_wrong_ids();
    test_errors();
    test_names();
    test_explain();
    test_base();
    test_hostile_query();
    return test_end();
}
