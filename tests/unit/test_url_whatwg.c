/* SPDX-License-Identifier: MIT
 *
 * The WHATWG parser against our own vectors, state by state, and the web-platform tests.
 *
 * Label: kernels */
#include "url_json.h"
#include "url_schemes.h"

#include <jansson.h>

static struct unseen_url *whatwg;

static void *need(void *ptr)
{
    if (!ptr) {
        abort();
    }
    return ptr;
}

/* expected NULL: a failure. */
static bool check_canon(struct unseen_bytes in, const struct unseen_bytes *base,
                        const struct unseen_bytes *expected)
{
    const size_t cap = base ? unseen_url_bound(in.len, base->len) : unseen_url_bound(in.len, 0);
    char *buf = need(malloc(cap));
    struct unseen_canon canon;
    const enum unseen_status status =
        unseen_url_canon(whatwg, in.data, in.len, base, buf, cap, &canon);
    bool good = status == UNSEEN_OK;
    if (good && expected) {
        good = canon.form != UNSEEN_URL_FAILED && canon.bytes.len == expected->len &&
               memcmp(canon.bytes.data, expected->data, expected->len) == 0;
    } else if (good) {
        good = canon.form == UNSEEN_URL_FAILED && canon.bytes.data == in.data &&
               canon.bytes.len == in.len;
    }
    if (!good) {
        fprintf(stderr, "<%.*s> against <%.*s>: expected <%.*s>, got <%.*s> (form %d)\n",
                (int)in.len, in.data, base ? (int)base->len : 0, base ? base->data : "",
                expected ? (int)expected->len : 7, expected ? expected->data : "failure",
                (int)canon.bytes.len, canon.bytes.data, (int)canon.form);
    }
    free(buf);
    return good;
}

static struct unseen_bytes string_bytes(const json_t *string)
{
    return (struct unseen_bytes){json_string_value(string), json_string_length(string)};
}

static void test_vectors(void)
{
    json_t *cases = data_json("wpt_urltestdata.json");
    if (!cases) {
        return;
    }
    size_t i;
    json_t *item;
    unsigned ncases = 0;
    json_array_foreach(cases, i, item)
    {
        const json_t *const input = json_object_get(item, "input");
        if (!json_is_object(item) || !input) {
            continue;
        }
        const json_t *const base = json_object_get(item, "base");
        const json_t *const href = json_object_get(item, "href");
        const struct unseen_bytes base_bytes = string_bytes(base);
        const struct unseen_bytes expected = string_bytes(href);
        CHECK(check_canon(string_bytes(input), json_is_string(base) ? &base_bytes : NULL,
                          json_is_true(json_object_get(item, "failure")) ? NULL : &expected));
        ncases++;
    }
    printf("%u web-platform cases\n", ncases);
    json_decref(cases);
}

/* Input, canonical form or !, base. */
static void check_row(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    const bool fails = column[1].len == 1 && column[1].data[0] == '!';
    CHECK(check_canon(column[0], column[2].len ? &column[2] : NULL, fails ? NULL : &column[1]));
}

/* Of each state of the standard what is easily got wrong. base NULL: none; out NULL: a failure. */
static void test_table(void)
{
    static const struct {
        const char *in;
        const char *base;
        const char *out;
    } cases[] = {
        {"", NULL, NULL},
        {"http://", NULL, NULL},
        {"http:///", NULL, NULL},
        {"http://e.com", NULL, "http://e.com/"},
        {"HTTPS:\\\\E.com\\a\\..\\b", NULL, "https://e.com/b"},
        {"http:e.com", NULL, "http://e.com/"},
        {"http:e.com", "http://x.com/a/b", "http://x.com/a/e.com"},
        {"http:/e.com", "https://x.com/a/b", "http://e.com/"},
        {"http://u:p@x@e.com:080/", NULL, "http://u:p%40x@e.com/"},
        {"http://:@e.com/", NULL, "http://e.com/"},
        {"http://u:@e.com/", NULL, "http://u@e.com/"},
        {"http://@/", NULL, NULL},
        {"x://@", NULL, NULL},
        {"x://u@h", NULL, "x://u@h"},
        {"http://e.com:65536/", NULL, NULL},
        {"http://e.com:0/", NULL, "http://e.com:0/"},
        {"wss://e.com:443", NULL, "wss://e.com/"},
        {"x://h:080/", NULL, "x://h:80/"},
        {"http://e.com:8a/", NULL, NULL},
        {"x://:80", NULL, NULL},
        {"http://1.2.3.4./", NULL, "http://1.2.3.4/"},
        {"http://1.2.3.4../", NULL, "http://1.2.3.4../"},
        {"http://a.0x/", NULL, NULL},
        {"http://0xffffffff/", NULL, "http://255.255.255.255/"},
        {"x://1.2/", NULL, "x://1.2/"},
        {"http://[::1%25e]/", NULL, NULL},
        {"x://[::1]:1", NULL, "x://[::1]:1"},
        {"http://[1::]a/", NULL, NULL},
        {"http://ex%41mple%2ecom/", NULL, "http://example.com/"},
        {"http://a%00b/", NULL, NULL},
        {"http://a%25b/", NULL, NULL},
        {"x://a%00b%7F", NULL, "x://a%00b%7F"},
        {"x://a b", NULL, NULL},
        {"x://\xc3\xa9", NULL, "x://%C3%A9"},
        {"http://e/%7e%zz%2E%2e/.%2E/b", NULL, "http://e/b"},
        {"http://e/a/..//b/.", NULL, "http://e//b/"},
        {"http://e/{}|^`\"<>'", NULL, "http://e/%7B%7D|%5E%60%22%3C%3E'"},
        {"http://e/?'\"`{}|^#'\"`{}|^", NULL, "http://e/?%27%22`{}|^#'%22%60{}|^"},
        {"x://e?'#", NULL, "x://e?'#"},
        {"http://e/?#", NULL, "http://e/?#"},
        {"x:/..", NULL, "x:/"},
        {"x:/..//a", NULL, "x:/.//a"},
        {"x:/.//a/../..//", NULL, "x:/.//"},
        {"../b", "x:/.//a", "x:/b"},
        {"x:a b ?c #d ", NULL, "x:a b%20?c%20#d"},
        {"x: # ", NULL, "x:%20#"},
        {"javascript:alert(1) \t", NULL, "javascript:alert(1)"},
        {"#f", "x:a?q", "x:a?q#f"},
        {"?q", "x:a", NULL},
        {"a", "mailto:b", NULL},
        {"", "x:a", NULL},
        {"", "x:/a?q#f", "x:/a?q"},
        {"//h", "x:/a", "x://h"},
        {"///a", "x:/b", "x:///a"},
        {"file:", NULL, "file:///"},
        {"file:c:\\a\\..\\..", NULL, "file:///c:/"},
        {"file://C|/a", NULL, "file:///C:/a"},
        {"file://localhost/a", NULL, "file:///a"},
        {"file://h/C|/..", NULL, "file://h/C:/"},
        {"C|/a", "file://h/D:/b", "file://h/C:/a"},
        {"/a", "file:///D:/b", "file:///D:/a"},
        {"..", "file:///D:/b/c", "file:///D:/"},
        {"//C:/a", "file://h/", "file:///C:/a"},
        {"?q", "file:///C:/a", "file:///C:/a?q"},
        {"Cx", "file:///D:/b", "file:///D:/Cx"},
        {"\x01 http://e/ \x1f", NULL, "http://e/"},
        {"ht\ttp://e\n.com/\ra", NULL, "http://e.com/a"},
        {"1x:a", NULL, NULL},
        {"a+.-1:b", NULL, "a+.-1:b"},
        {"//e.com:80/", "https://x/", "https://e.com:80/"},
        {"\\\\h\\a", "http://x/", "http://h/a"},
        {"?a b", "http://e/x?y#z", "http://e/x?a%20b"},
        {"./", "http://e/a/b/c", "http://e/a/b/"},
        {"../../..", "http://e/a/b/c", "http://e/"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct unseen_bytes in = {cases[i].in, strlen(cases[i].in)};
        const char *const base = cases[i].base ? cases[i].base : "";
        const char *const out = cases[i].out ? cases[i].out : "";
        const struct unseen_bytes base_bytes = {base, strlen(base)};
        const struct unseen_bytes expected = {out, strlen(out)};
        CHECK(check_canon(in, cases[i].base ? &base_bytes : NULL, cases[i].out ? &expected : NULL));
    }
}

int main(void)
{
    test_start();
    whatwg = data_url("whatwg", NULL, 0);
    test_table();
    const size_t nrows = scheme_vectors("vectors/whatwg.tsv", check_row);
    printf("%zu rows\n", nrows);
    CHECK(nrows > 800);
    test_vectors();
    unseen_url_free(whatwg);
    return test_end();
}
