/* SPDX-License-Identifier: MIT
 *
 * The scheme "scrapy": w3lib's vectors, the places where w3lib does not agree with itself, a
 * model of the query, and the promises that hold for every input.
 *
 * Label: kernels */
#include "url_schemes.h"

enum {
    MUTATIONS = 100000
};

static const char *const fragment_rule = "keep-fragment";
static const char *const blank_rule = "drop-blank-values";
static const char *const semicolon_rule = "split-semicolons";

static void check_text(const struct unseen_url *url, const char *in, const char *expected)
{
    scheme_check(url, scheme_text(in), scheme_text(expected));
}

static void check_failure(const struct unseen_url *url, struct unseen_bytes in)
{
    static char buf[2048];
    struct unseen_canon canon;
    CHECK(unseen_url_canon(url, in.data, in.len, NULL, buf, sizeof(buf), &canon) == UNSEEN_OK);
    if (!CHECK(canon.form == UNSEEN_URL_FAILED && canon.bytes.data == in.data)) {
        fprintf(stderr, "  <%.*s>\n", (int)in.len, in.data);
    }
}

/* ---- Vectors ----------------------------------------------------------------------------------*/

static bool has(struct unseen_bytes options, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= options.len; i++) {
        if (memcmp(options.data + i, text, n) == 0) {
            return true;
        }
    }
    return false;
}

static void check_vector(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    const struct unseen_bytes options = column[2];
    if (has(options, "\"encoding\"")) {
        return; /* the text of a URL is UTF-8 here */
    }
    const char *rules[3];
    size_t nrules = 0;
    if (has(options, "\"keep_fragments\": true")) {
        rules[nrules++] = fragment_rule;
    }
    if (has(options, "\"keep_blank_values\": false")) {
        rules[nrules++] = blank_rule;
    }
    if (has(options, "\"query_separator\": \";\"")) {
        rules[nrules++] = semicolon_rule;
    }
    struct unseen_url *url = data_url("scrapy", rules, nrules);
    scheme_check(url, column[0], column[1]);
    unseen_url_free(url);
}

/* The documented differences from w3lib: what unseen answers. */
static void check_difference(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    struct unseen_url *url = data_url("scrapy", NULL, 0);
    if (scheme_same(column[1], scheme_text("!"))) {
        check_failure(url, column[0]);
    } else {
        scheme_check(url, column[0], column[1]);
    }
    unseen_url_free(url);
}

/* One pair or more for each part of a URL. */
static void test_parts(const struct unseen_url *url)
{
    static const char *const pairs[][2] = {
        {"", "/"},
        {"HTTP://WWW.Example.COM", "http://www.example.com/"},
        {" \x01http://e.com/a\x1f ", "http://e.com/a"},
        {"ht\ttp://e\n.com/\ra", "http://e.com/a"},
        {"http:\\\\e.com\\a?b=\\", "http://e.com/a?b=%5C"},
        {"foo://a\\b/c\\d", "foo://a\\b/c%5Cd"},
        {"A,b:C", "A,b:C"},
        {"http:/a", "http:///a"},
        {"http:a", "http:a"},
        {"foo:/a", "foo:/a"},
        {"foo:////a", "foo:////a"},
        {"mailto:A b", "mailto:A%20b"},
        {"//e.com", "//e.com/"},
        {"e.com/A", "e.com/A"},
        {"http://U%7Ex:p:q@E.com/", "http://U~x:p%3Aq@e.com/"},
        {"http://a@b@E.com/", "http://a%40b@e.com/"},
        {"http://u;=%zz@e.com/", "http://u%3B%3D%25zz@e.com/"},
        {"http://e.com:/", "http://e.com/"},
        {"http://e.com:0080/", "http://e.com:80/"},
        {"http://e.com:0/", "http://e.com:0/"},
        {"http://e.com:80", "http://e.com:80/"},
        {"http://e.com:65535?b&a", "http://e.com:65535/?a=&b="},
        {"http://0x7F.1./", "http://0x7f.1./"},
        {"http://[::0:1]:8080/", "http://[::1]:8080/"},
        {"http://[FE80::1%25Eth0]/", "http://[fe80::1%25eth0]/"},
        {"http://[v1.X]/", "http://v1.x/"},
        {"http://[v1.X:Y]/", "http://[v1.x:y]/"},
        {"http://b\xc3\xbc"
         "cher.de/",
         "http://xn--bcher-kva.de/"},
        {"http://Stra\xc3\x9f"
         "e.de/",
         "http://strasse.de/"},
        {"http://\xff.com/", "http://%ff.com/"},
        {"http://e.com/a/./b/..//c", "http://e.com/a//c"},
        {"http://e.com/%7euser%2fx%3fy%2E", "http://e.com/~user%2Fx%3Fy."},
        {"http://e.com/[a]|b'c^\"", "http://e.com/[a]|b'c%5E%22"},
        {"http://e.com/%zz%4", "http://e.com/%zz%4"},
        {"http://e.com/100%25", "http://e.com/100%25"},
        {"http://e.com/\xc3\xa9\xff", "http://e.com/%C3%A9%FF"},
        {"http://e.com/a;", "http://e.com/a"},
        {"http://e.com/a;b;c/d;%7e[|]", "http://e.com/a;b;c/d;%7e%5B%7C%5D"},
        {"http://e.com/?", "http://e.com/"},
        {"http://e.com?a", "http://e.com/?a="},
        {"http://e.com?a=1#b", "http://e.com/?a=1"},
        {"http://e.com?", "http://e.com/"},
        {"http://e.com#a", "http://e.com/"},
        {"http://e.com/?b&a= \r\n", "http://e.com/?a=&b="},
        {"http://e.com/?b&a=\t1\x01 ,", "http://e.com/?a=1%01+%2C&b="},
        {"http://e.com/?&&=&b&a=b=c", "http://e.com/?=&a=b%3Dc&b="},
        {"http://e.com/?b=2;a=1", "http://e.com/?b=2%3Ba%3D1"},
        {"http://e.com/?q=a+b%20c%2B&%zz=", "http://e.com/?%25zz=&q=a+b+c%2B"},
        {"http://e.com/?a-=1&a=2&a%00=3&A=4", "http://e.com/?A=4&a=2&a%00=3&a-=1"},
        {"http://e.com/?a=b#c?d=e", "http://e.com/?a=b"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        check_text(url, pairs[i][0], pairs[i][1]);
    }
}

static void test_failures(const struct unseen_url *url)
{
    static const char *const texts[] = {
        "http://e.com:x/",   "http://e.com:65536/", "http://a:b:c/",     "http://[::1/",
        "http://::1]/",      "http://a[::1]/",      "http://[::1]a/",    "http://[1.2.3.4]/",
        "http://[::1]:x/",   "http://[v.x]/",       "http://[V1.x]/",    "http://[::1%]/",
        "http://[a]@e.com/", "http://[::1%a%b]/",   "http://[v1.\xff]/", "http://[::1%\xff]/",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        check_failure(url, scheme_text(texts[i]));
    }
}

/* Where w3lib's answer (the comment) is not its own canonical form, an escape stays. To w3lib our
 * answer is the same URL as the input. So two URLs that w3lib keeps apart never become one. */
static void test_idempotence(const struct unseen_url *url)
{
    /* An escape that comes from decoding. */
    check_text(url, "http://e.com/%%34%31", "http://e.com/%%341"); /* %41 */
    check_text(url, "http://e.com/%%341", "http://e.com/%%341");
    check_text(url, "http://e.com/%4%31", "http://e.com/%%341");
    check_text(url, "http://e.com/%%32f", "http://e.com/%%32f");     /* %2f */
    check_text(url, "http://e.com/%2%66", "http://e.com/%%32f");     /* %2f */
    check_text(url, "http://e.com/a/%%32e", "http://e.com/a/%%32e"); /* a/%2e, not a dot segment */
    check_text(url, "http://e.com/%%61F", "http://e.com/%%61F");     /* %aF */
    check_text(url, "http://e.com/%%41F", "http://e.com/%AF");       /* the same */
    /* An escaped colon behind what then is a scheme. */
    check_text(url, "A%3ab", "A%3Ab");       /* A:b */
    check_text(url, "a%3ab", "a%3Ab");       /* a:b, which is itself another key here */
    check_text(url, "h%341A:b", "h41A%3Ab"); /* h41A:b */
    check_text(url, "/A%3ab", "/A:b");       /* the same */
    check_text(url, "A,%3ab", "A,:b");       /* the same */
}

/* Names that IDNA 2003 keeps and UTS 46 refuses, or that are not worth its tables, stay. */
static void test_names(const struct unseen_url *url)
{
    check_text(url, "http://\xef\xbc\x85.com/", "http://\xef\xbc\x85.com/"); /* %.com */
    check_text(url, "http://b\xc3\xbc%.De/", "http://b\xc3\xbc%.de/");
    check_text(url, "http://\xe2\x84\x80.com/", "http://\xe2\x84\x80.com/"); /* w3lib raises */
    /* The tab inside of a character: w3lib sees two bytes that are not UTF-8. */
    check_failure(url, scheme_text("http://\xc3\t\xa9.com/"));
    check_text(url, "http://e.com/\xc3\t\xa9", "http://e.com/%C3%A9");
    /* Cherokee letters, whose cases are newer than IDNA 2003; a ligature that ends with a mark. */
    check_text(url, "http://\xe1\x8e\xa0.com/", "http://\xe1\x8e\xa0.com/");
    check_text(url, "http://\xef\xac\x9d.com/", "http://\xef\xac\x9d.com/");
    check_text(url, "http://\xc3\xa9\t.com/", "http://xn--9ca.com/");
    /* Invisible characters around letters from right to left are dropped. */
    check_text(url, "http://\xd7\x90\xc2\xad.com/", "http://xn--4db.com/");
    check_text(url, "http://\xe2\x80\x8d\xd7\x90\xef\xb8\x8f.com/", "http://xn--4db.com/");
    check_text(url,
               "http://\xc2\xad"
               "1\xd7\x90.com/",
               "http://\xc2\xad"
               "1\xd7\x90.com/");
    /* The last and the first of the spaces between U+2000 and U+200A; a dot of full width. */
    check_text(url,
               "http://a\xe2\x80\x8a"
               "b\xe2\x80\x80.com/",
               "http://a b .com/");
    check_text(url, "http://\xc3\xa9.com\xef\xbd\xa1/", "http://xn--9ca.com./");
}

static void test_rules(void)
{
    struct unseen_url *url = data_url("scrapy", &fragment_rule, 1);
    check_text(url, "http://e.com/?a=1#B c%7e[", "http://e.com/?a=1#B%20c%7e%5B");
    check_text(url, "http://e.com/#", "http://e.com/");
    unseen_url_free(url);
    url = data_url("scrapy", &blank_rule, 1);
    check_text(url, "http://e.com/?b=&c&a=2&=", "http://e.com/?a=2");
    check_text(url, "http://e.com/?=1&b=", "http://e.com/?=1");
    check_text(url, "http://e.com/?b", "http://e.com/");
    unseen_url_free(url);
    url = data_url("scrapy", &semicolon_rule, 1);
    check_text(url, "http://e.com/?c=3;a=5&0;;b", "http://e.com/?a=5%260;b=;c=3");
    unseen_url_free(url);
}

/* ---- A model of the query ---------------------------------------------------------------------*/

/* A pair as the dumbest program would hold it: both texts decoded, with their lengths. */
struct pair {
    unsigned char text[2][64];
    size_t len[2];
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *const x = a;
    const struct pair *const y = b;
    for (int i = 0; i < 2; i++) {
        const size_t n = x->len[i] < y->len[i] ? x->len[i] : y->len[i];
        const int order = memcmp(x->text[i], y->text[i], n);
        if (order != 0 || x->len[i] != y->len[i]) {
            return order != 0 ? order : x->len[i] < y->len[i] ? -1 : 1;
        }
    }
    return 0;
}

static size_t encode(const unsigned char *text, size_t len, char *out)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != 0 && strchr(plain, text[i])) {
            out[n++] = (char)text[i];
        } else if (text[i] == ' ') {
            out[n++] = '+';
        } else {
            n += (size_t)sprintf(out + n, "%%%02X", text[i]);
        }
    }
    return n;
}

/* The same byte in one of the ways that a URL may write it. */
static size_t spell(unsigned char byte, bool key, uint64_t random, char *out)
{
    const bool must = byte == '&' || byte == '#' || byte == '%' || byte == '+' || byte <= ' ' ||
                      (key && byte == '=');
    if (byte == ' ' && random % 2) {
        out[0] = '+';
        return 1;
    }
    if (must || random % 8 == 0) {
        return (size_t)sprintf(out, random % 3 ? "%%%02X" : "%%%02x", byte);
    }
    out[0] = (char)byte;
    return 1;
}

/* Random pairs from few bytes, so that many are alike; spelled at random, against the model. */
static void test_model(const struct unseen_url *url)
{
    static const unsigned char bytes[] = {'a', 'b', 'a', '-', '=', '+', ' ', '%', 0, 0x80, '~'};
    static struct pair pairs[160];
    static char in[1 << 16];
    static char expected[1 << 16];
    static char buf[8 * (1 << 16) + 1024];
    uint64_t seed = 3;
    for (uint64_t round = 0; round < 3000 * test_scale(); round++) {
        const size_t n = 1 + test_random(&seed) % (round % 16 ? 12 : 160);
        size_t in_len = (size_t)sprintf(in, "http://e.com/?");
        size_t expected_len = in_len;
        memcpy(expected, in, in_len);
        for (size_t i = 0; i < n; i++) {
            for (int part = 0; part < 2; part++) {
                const size_t len = test_random(&seed) % (round % 3 ? 4 : 12);
                pairs[i].len[part] = len;
                for (size_t k = 0; k < len; k++) {
                    const uint64_t r = test_random(&seed);
                    /* Of two letters only: keys of equal prefix. */
                    const unsigned char byte = bytes[r % (round % 5 ? sizeof(bytes) : 2)];
                    pairs[i].text[part][k] = byte;
                    in_len += spell(byte, part == 0, r >> 32, in + in_len);
                }
                in[in_len++] = part == 0 ? '=' : '&';
            }
        }
        qsort(pairs, n, sizeof(pairs[0]), compare_pairs);
        for (size_t i = 0; i < n; i++) {
            for (int part = 0; part < 2; part++) {
                expected_len +=
                    encode(pairs[i].text[part], pairs[i].len[part], expected + expected_len);
                expected[expected_len++] = part == 0 ? '=' : '&';
            }
        }
        struct unseen_canon canon;
        const struct unseen_bytes want = {expected, expected_len - 1};
        CHECK(unseen_url_canon(url, in, in_len, NULL, buf, sizeof(buf), &canon) == UNSEEN_OK);
        if (!CHECK(scheme_same(canon.bytes, want))) {
            fprintf(stderr, "  <%.*s>\n  <%.*s>\n", (int)in_len, in, (int)canon.bytes.len,
                    canon.bytes.data);
        }
    }
}

/* Random queries of the texts that mean something in one, so that each of them stands everywhere:
 * at the ends of keys, values and of what is read at once. */
static void test_random_queries(const struct unseen_url *url)
{
    static const char *const tokens[] = {
        "&", "=",     "#",   "?",  "%",  "+",   "%2F",    "%2f", "%41",  "%3D", "%26",      "%20",
        "%", "%252F", "&&",  "==", "&=", "&a=", "&a=1&b", "/",   ":",    ",",   " ",        "\t",
        "[", "\xc3",  "%c3", "%z", "a",  "z",   "A",      "0",   "long", "key", "&long_k=1"};
    static const char *const fronts[] = {"http://a.b/?", "http://a.b?", "https://e.com:81/c;d?"};
    uint64_t seed = 5;
    for (uint64_t round = 0; round < 30000 * test_scale(); round++) {
        char text[2048];
        size_t len = (size_t)sprintf(text, "%s", fronts[test_random(&seed) % 3]);
        for (uint64_t n = test_random(&seed) % (round % 8 ? 32 : 200); n > 0; n--) {
            const uint64_t token = test_random(&seed) % (sizeof(tokens) / sizeof(tokens[0]));
            len += (size_t)sprintf(text + len, "%s", tokens[token]);
        }
        scheme_check_any(url, text, len);
    }
}

/* A long query with its pieces in falling order, and one of equal pieces, which must not take
 * quadratic time. */
static void test_long_queries(const struct unseen_url *url)
{
    enum {
        PIECES = 200000,
        DIGITS = 6,
        PIECE = DIGITS + 2
    };
    const size_t front = strlen("http://e.com/?");
    const size_t len = front + (size_t)PIECES * PIECE;
    const size_t cap = unseen_url_bound(len, 0);
    char *const in = malloc(len + 1);
    char *const buf = malloc(cap);
    if (!in || !buf) {
        exit(2);
    }
    strcpy(in, "http://e.com/?");
    for (int i = 0; i < PIECES; i++) {
        sprintf(in + front + (size_t)i * PIECE, "%0*d=&", DIGITS, PIECES - 1 - i);
    }
    struct unseen_canon canon;
    CHECK(unseen_url_canon(url, in, len, NULL, buf, cap, &canon) == UNSEEN_OK);
    CHECK_EQ(canon.bytes.len, len - 1);
    bool sorted = true;
    for (int i = 0; i < PIECES; i++) {
        char piece[PIECE + 1];
        sprintf(piece, "%0*d=", DIGITS, i);
        sorted =
            sorted && memcmp(canon.bytes.data + front + (size_t)i * PIECE, piece, PIECE - 1) == 0;
    }
    CHECK(sorted);
    memset(in + front, '&', len - front);
    for (size_t i = front; i < len; i += 2) {
        in[i] = 'a';
    }
    CHECK(unseen_url_canon(url, in, len, NULL, buf, cap, &canon) == UNSEEN_OK);
    CHECK_EQ(canon.bytes.len, front + 3 * ((len - front) / 2) - 1);
    free(in);
    free(buf);
}

static const char *const texts[] = {
    "https://www.example.com/a/b;x=1/c;p?b=2&a=%2F&a=1&c&long_parameter=x&long_parameter=w#f",
    "HTTP://u:p@E.com:0080/%7e%2f/a%3B?=&&z=%zz+%20&y=a=b\t;c",
    ("http://b\xc3\xbc"
     "cher.de/%2541%25/\xff?\xff=%e9"),
    "http://example.com/?sorted=1&tail=2",
    "[::1]?a",
    "http://[::1%25a]:8/a%3B[",
    "http://example.com/a/../b/./..;c/.d/..?a=/../b",
    "/..//%2e%2e/a/.",
    "http://\xd7\x90.\xd7\x90"
    "3.\xc3\t\x9f\xe3\x80\x82/%%34%31",
    /* The fast path takes hosts of less than 64 bytes. */
    "http://a-name-that-is-as-long-as-the-kernels-look.for-a-host.example.e/..a/./b",
};
enum {
    NTEXTS = sizeof(texts) / sizeof(texts[0])
};

/* Promises that hold for every input. */
static void test_promises(const struct data_lines *lines)
{
    struct unseen_url *url = data_url("scrapy", NULL, 0);
    struct unseen_bytes built_in[NTEXTS];
    for (size_t i = 0; i < NTEXTS; i++) {
        built_in[i] = scheme_text(texts[i]);
        scheme_check_guarded(url, built_in[i]);
    }
    scheme_check_mutated(url, built_in, NTEXTS, MUTATIONS / 2 * test_scale(), 1);
    scheme_check_mutated(url, lines->lines, lines->n, MUTATIONS * test_scale(), 2);
    const char *const rules[] = {fragment_rule, blank_rule};
    struct unseen_url *ruled = data_url("scrapy", rules, 2);
    test_random_queries(ruled);
    scheme_check_mutated(ruled, lines->lines, lines->n, MUTATIONS / 4 * test_scale(), 4);
    unseen_url_free(ruled);
    unseen_url_free(url);
}

int main(void)
{
    test_start();
    const struct data_lines lines =
        data_add_made(data_load_lines("urls_links.txt.gz", "urls_requests.txt.gz"), 20000);
    struct unseen_url *url = data_url("scrapy", NULL, 0);
    const size_t nrows = scheme_vectors("vectors/scrapy.tsv", check_vector);
    printf("%zu rows\n", nrows);
    CHECK(nrows > 150);
    printf("%zu vectors\n", scheme_vectors("w3lib_canonicalize_url.tsv", check_vector));
    const size_t ndifferences = scheme_vectors("vectors/scrapy_differences.tsv", check_difference);
    printf("%zu documented differences\n", ndifferences);
    CHECK(ndifferences > 25);
    test_parts(url);
    test_failures(url);
    test_idempotence(url);
    test_names(url);
    test_rules();
    test_model(url);
    test_random_queries(url);
    test_long_queries(url);
    unseen_url_free(url);
    test_promises(&lines);
    return test_end();
}
