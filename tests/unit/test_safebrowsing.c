/* SPDX-License-Identifier: MIT
 *
 * The scheme "safebrowsing": the published pairs, each part by name, and the promises that hold
 * for every input. */
#include "url_schemes.h"

enum {
    MUTATIONS = 100000
};

static struct unseen_url *url;

static void check_vector(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    scheme_check(url, column[0], column[1]);
}

static void check_text(const char *in, const char *expected)
{
    scheme_check(url, scheme_text(in), scheme_text(expected));
}

static void test_parts(void)
{
    static const char *const pairs[][2] = {
        /* outer space, tabs, fragment */
        {" \t\v\f\r\nhttp://e.com/a \n", "http://e.com/a"},
        {"ht\ttp://e.c\nom/\ra", "http://e.com/a"},
        {"http://e.com/a#b#c", "http://e.com/a"},
        {"http://e.com/a #b", "http://e.com/a%20"},
        /* escapes, until none is left */
        {"http://e.com/%%%25%32%35a%%", "http://e.com/%25%25%25a%25%25"},
        {"http://e.com/%25252525252541", "http://e.com/A"},
        {"http://e.com/%2%355%34%31", "http://e.com/T1"},
        {"http://e.com/%%34%31", "http://e.com/A"},
        {"http://e.com/%zz%4", "http://e.com/%25zz%254"},
        {"http://e.com/%7euser%2fx", "http://e.com/~user/x"},
        {"http://e.com/a%3fb", "http://e.com/a?b"},
        {"http://e.com/a%23b%09%0a", "http://e.com/a%23b%09%0A"},
        {"http://e.com/%c3%a9\xff", "http://e.com/%C3%A9%FF"},
        {"http://e.com/?q=a%20b+c%26", "http://e.com/?q=a%20b+c&"},
        /* schemes */
        {"HTTPS://E.com", "https://e.com/"},
        {"e.com", "http://e.com/"},
        {"e.com:8080/a", "http://e.com/a"},
        {"e.com:/a", "http://e.com/a"},
        {"//e.com/a", "http://e.com/a"},
        {"web+x://e.com/a", "web+x://e.com/a"},
        {"a_b:80/c", "http://a_b/c"},
        {"%20http://e.com/", "http://%20http/e.com/"},
        /* userinfo and port */
        {"http://u:p@e.com/", "http://e.com/"},
        {"http://a@b@e.com:1:2/", "http://e.com/"},
        {"http://e.com:99999/@b", "http://e.com/@b"},
        /* hosts */
        {"http://..A...b../", "http://a.b/"},
        {"http://b\xc3\xbc"
         "cher.de/",
         "http://xn--bcher-kva.de/"},
        {"http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/"},
        {"http://\xe3\x80\x82"
         "a\xe3\x80\x82\xe3\x80\x82"
         "B\xc3\xbc/",
         "http://a.xn--b-eha/"},
        {"http://\xef\xbc\x91.2.3.4/", "http://1.2.3.4/"},
        {"http://a\xef\xbc\x8f"
         "b/",
         "http://a%EF%BC%8Fb/"},
        {"http://[::FFFF:1.2.3.4]:80/", "http://1.2.3.4/"},
        {"http://[64:FF9B::1.2.3.4]/", "http://1.2.3.4/"},
        {"http://[64:ff9b:1::1.2.3.4]/", "http://[64:ff9b:1::102:304]/"},
        {"http://[2001:0DB8:0000::0001]/", "http://[2001:db8::1]/"},
        {"http://[2001:db8:0:0::0.0.0.7]/", "http://[2001:db8::7]/"},
        {"http://[1:2:3:4:5:6:7:8:9]/A", "http://[1:2:3:4:5:6:7:8:9]/A"},
        {"http://[V1.X]/", "http://[v1.x]/"},
        {"http://1/", "http://0.0.0.1/"},
        {"http://1.2/", "http://1.0.0.2/"},
        {"http://0X7f.1/", "http://127.0.0.1/"},
        {"http://010.8.8.8/", "http://8.8.8.8/"},
        {"http://1.2.3.256/", "http://1.2.3.0/"},
        {"http://276.2.3/", "http://20.2.0.3/"},
        {"http://12.0x12.01234/", "http://12.18.2.156/"},
        {"http://4294967297/", "http://0.0.0.1/"},
        {"http://08.1.1.1/", "http://08.1.1.1/"},
        {"http://1.2.3.4.5/", "http://1.2.3.4.5/"},
        {"http://0x/", "http://0x/"},
        {"http://1.2.3.4x/", "http://1.2.3.4x/"},
        /* paths */
        {"http://e.com?a", "http://e.com/?a"},
        {"http://e.com/a/..", "http://e.com/"},
        {"http://e.com/a/.", "http://e.com/a/"},
        {"http://e.com/../../a/./b/../c", "http://e.com/a/c"},
        {"http://e.com/a//../b", "http://e.com/a/b"},
        {"http://e.com//a//b//", "http://e.com/a/b/"},
        {"http://e.com/a/%2e%2e/b", "http://e.com/b"},
        {"http://e.com/...", "http://e.com/..."},
        {"http://e.com/a\\..\\b", "http://e.com/a\\..\\b"},
        {"http://e.com/a?b/../c//d", "http://e.com/a?b/../c//d"},
        {"http://e.com/?", "http://e.com/?"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        check_text(pairs[i][0], pairs[i][1]);
    }
}

static void test_failures(void)
{
    static const char *const texts[] = {
        "",
        " ",
        "#",
        "/a",
        "?a",
        "http://",
        "http:///a",
        "http:///www.e.com/a",
        "http://.[::1]/",
        "http://.[a]b/",
        "http://.",
        "http://@/",
        "http://:80",
        "mailto:a@b.c",
        "javascript:alert(1)",
        "http:e.com",
        "data:,x",
        "http://[::1]x/",
    };
    static char buf[2048];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct unseen_canon canon;
        CHECK(unseen_url_canon(url, texts[i], strlen(texts[i]), NULL, buf, sizeof(buf), &canon) ==
              UNSEEN_OK);
        if (!CHECK(canon.form == UNSEEN_URL_FAILED && canon.bytes.data == texts[i])) {
            fprintf(stderr, "  <%s>\n", texts[i]);
        }
    }
}

/* Escapes of escapes of escapes, 100,000 deep: one pass each would take minutes. */
static void test_deep_escapes(void)
{
    enum {
        DEPTH = 100000
    };
    const size_t front = strlen("http://e.com/%");
    const size_t len = front + 2 * (size_t)DEPTH + 2;
    const size_t cap = unseen_url_bound(len, 0);
    char *const in = malloc(len + 1);
    char *const buf = malloc(cap);
    if (!in || !buf) {
        exit(2);
    }
    strcpy(in, "http://e.com/%");
    for (size_t i = 0; i < DEPTH; i++) {
        memcpy(in + front + 2 * i, "25", 2);
    }
    memcpy(in + len - 2, "41", 2);
    struct unseen_canon canon;
    CHECK(unseen_url_canon(url, in, len, NULL, buf, cap, &canon) == UNSEEN_OK);
    CHECK(scheme_same(canon.bytes, scheme_text("http://e.com/A")));
    free(in);
    free(buf);
}

/* Letters newer than libidn2, and symbols of right-to-left scripts. */
static void test_names(void)
{
    check_text("http://a\xd8\x86.com/", "http://xn--a-3kc.com/");
    check_text("http://\xf0\x9e\x80\xb0.com/", "http://xn--80a.com/");
}

static void test_promises(const struct data_lines *lines)
{
    static const char *const texts[] = {
        "https://www.example.com/a/b/c.html?param=1/2#frag",
        "http://u:p@www.Example.com:80/a/../b//%7e%20%2520?q=%3F%23",
        "http://%31%36%38.0x1.077/.%2e/x y\xff",
        ("http://b\xc3\xbc"
         "cher.de/..//./"),
        "example.com/%20%FF%23",
        "//[::1]:80/a",
    };
    enum {
        NTEXTS = sizeof(texts) / sizeof(texts[0])
    };
    struct unseen_bytes built_in[NTEXTS];
    for (size_t i = 0; i < NTEXTS; i++) {
        built_in[i] = scheme_text(texts[i]);
        scheme_check_guarded(url, built_in[i]);
    }
    scheme_check_mutated(url, built_in, NTEXTS, MUTATIONS / 4 * test_scale(), 1);
    scheme_check_mutated(url, lines->lines, lines->n, MUTATIONS / 2 * test_scale(), 2);
}

int main(void)
{
    test_start();
    const struct data_lines lines =
        data_add_made(data_load_lines("urls_links.txt.gz", "urls_requests.txt.gz"), 20000);
    url = data_url("safebrowsing", NULL, 0);
    const size_t nrows = scheme_vectors("vectors/safebrowsing.tsv", check_vector);
    printf("%zu rows\n", nrows);
    CHECK(nrows > 100);
    printf("%zu vectors\n", scheme_vectors("safebrowsing_canonical.tsv", check_vector));
    test_parts();
    test_failures();
    test_deep_escapes();
    test_names();
    test_promises(&lines);
    unseen_url_free(url);
    return test_end();
}
