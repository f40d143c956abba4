/* SPDX-License-Identifier: MIT
 *
 * Host-suffix/path-prefix expressions: the published lists, the order, the limits, and the SHA-256
 * of expressions, by which lists are exchanged (computed here, not in the library). */
#include "url_schemes.h"

#include <jansson.h>

#include "url/safebrowsing.h"

enum {
    MUTATIONS = 20000
};

static struct unseen_url *url;

/* The expressions of a URL, one a line, as they come. */
static const char *list(const char *text)
{
    static char out[1 << 14];
    static char buf[SCHEME_BUF];
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    size_t n = 0;
    size_t len = 0;
    CHECK(unseen_url_expressions(url, text, strlen(text), buf, sizeof(buf), expressions, &n) ==
          UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%.*s\n", (int)expressions[i].len,
                                expressions[i].data);
    }
    out[len] = '\0';
    return out;
}

static void check_list(const char *text, const char *expected)
{
    if (!CHECK(strcmp(list(text), expected) == 0)) {
        fprintf(stderr, "  <%s>\n%s", text, list(text));
    }
}

static void test_lists(void)
{
    check_list("http://a.b.c/1/2.html?param=1", "a.b.c/1/2.html?param=1\na.b.c/1/2.html\na.b.c/\n"
                                                "a.b.c/1/\nb.c/1/2.html?param=1\nb.c/1/2.html\n"
                                                "b.c/\nb.c/1/\n");
    check_list("http://a.b.c.d.e.f.g/1.html",
               "a.b.c.d.e.f.g/1.html\na.b.c.d.e.f.g/\nc.d.e.f.g/1.html\nc.d.e.f.g/\n"
               "d.e.f.g/1.html\nd.e.f.g/\ne.f.g/1.html\ne.f.g/\nf.g/1.html\nf.g/\n");
    check_list("http://a.b/c/d/", "a.b/c/d/\na.b/\na.b/c/\n");
    check_list("http://a.b/?", "a.b/\n");
    check_list("a.b?x", "a.b/?x\na.b/\n");
    check_list("http://b/", "b/\n");
    check_list("https://u:p@A.b:443/#f", "a.b/\n");
    check_list("http://0x01020304/a/b", "1.2.3.4/a/b\n1.2.3.4/\n1.2.3.4/a/\n");
    check_list("http://[2001:DB8::1]/a", "[2001:db8::1]/a\n[2001:db8::1]/\n");
    check_list("http://1.2.3.4.5/", "1.2.3.4.5/\n2.3.4.5/\n3.4.5/\n4.5/\n");
    check_list("http://e.f/1/2/3/4/5", "e.f/1/2/3/4/5\ne.f/\ne.f/1/\ne.f/1/2/\ne.f/1/2/3/\n");
    check_list("mailto:a@b.c", "");
    check_list("", "");
}

/* The published lists, as sets: their sources list the same expressions in different orders. */
static size_t test_vectors(void)
{
    const struct data_file file = data_load("safebrowsing_expressions.json");
    if (!file.data) {
        return 0;
    }
    json_error_t error;
    json_t *root = json_loadb(file.data, file.len, 0, &error);
    const json_t *cases = json_object_get(root, "cases");
    CHECK(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        static char buf[SCHEME_BUF];
        struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
        size_t n = 0;
        const json_t *one = json_array_get(cases, i);
        const char *text = json_string_value(json_object_get(one, "url"));
        const json_t *expected = json_object_get(one, "expressions");
        CHECK(unseen_url_expressions(url, text, strlen(text), buf, sizeof(buf), expressions, &n) ==
              UNSEEN_OK);
        CHECK_EQ(n, json_array_size(expected));
        for (size_t k = 0; k < json_array_size(expected); k++) {
            bool found = false;
            for (size_t m = 0; m < n; m++) {
                found = found ||
                        scheme_same(expressions[m],
                                    scheme_text(json_string_value(json_array_get(expected, k))));
            }
            if (!CHECK(found)) {
                fprintf(stderr, "  <%s>\n", text);
            }
        }
    }
    const size_t ncases = json_array_size(cases);
    json_decref(root);
    return ncases;
}

/* Every expression is part of the canonical form, as the slow path makes it, and there are at most
 * 30, none of them twice; the buffer ends at a guard page. */
static void test_any(const struct data_lines *lines)
{
    static char work[SCHEME_TEXT_MAX];
    static char canon_buf[SCHEME_BUF];
    const size_t cap = unseen_url_bound(SCHEME_TEXT_MAX / 4 + 16, 0);
    char *const zeros = calloc(1, cap);
    if (!zeros) {
        exit(2);
    }
    char *const end = test_guarded(zeros, cap) + cap;
    free(zeros);
    uint64_t seed = 5;
    size_t most = 0;
    for (uint64_t i = 0; i < MUTATIONS * test_scale(); i++) {
        const struct unseen_bytes text = lines->lines[test_random(&seed) % lines->n];
        size_t len = text.len < sizeof(work) / 4 ? text.len : sizeof(work) / 4;
        memcpy(work, text.data, len);
        len = data_mutate(work, len, &seed);
        struct unseen_canon canon;
        struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
        size_t n = UNSEEN_EXPRESSIONS_MAX + 1;
        const size_t bound = unseen_url_bound(len, 0);
        unseen__url_safebrowsing_browsed(url, work, len, canon_buf, bound, &canon);
        CHECK(unseen_url_expressions(url, work, len, end - bound, bound, expressions, &n) ==
              UNSEEN_OK);
        CHECK(n <= UNSEEN_EXPRESSIONS_MAX && (n == 0) == (canon.form == UNSEEN_URL_FAILED));
        bool parts = true;
        for (size_t k = 0; k < n; k++) {
            const struct unseen_bytes e = expressions[k];
            parts =
                parts && e.data >= end - bound && e.data + e.len <= end - bound + canon.bytes.len;
            for (size_t m = 0; m < k; m++) {
                parts = parts && !scheme_same(e, expressions[m]);
            }
        }
        CHECK(parts);
        most = n > most ? n : most;
    }
    CHECK(most > 10);
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    size_t n = 77;
    CHECK(unseen_url_expressions(url, "http://a.b/", 11, work, unseen_url_bound(11, 0) - 1,
                                 expressions, &n) == UNSEEN_ERR_SPACE);
    CHECK_EQ(n, 77);
}

/* ---- SHA-256 [FIPS180] ----------------------------------------------------------------------*/

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional part of the square or cube root of a prime, by integers
 * only: the largest x with x^power <= prime * 2^(32 power), without its top bits. */
static uint32_t root_bits(unsigned prime, int power)
{
    uint64_t low = 0;
    uint64_t high = (uint64_t)32 << 32;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        unsigned __int128 product = middle;
        for (int i = 1; i < power; i++) {
            product *= middle;
        }
        if (product <= (unsigned __int128)prime << 32 * power) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

static void sha256_block(const unsigned char block[64], uint32_t state[8], const uint32_t k[64])
{
    uint32_t w[64];
    uint32_t s[8];
    memcpy(s, state, sizeof(s));
    for (size_t i = 0; i < 64; i++) {
        if (i < 16) {
            w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
        } else {
            const uint32_t a = w[i - 15];
            const uint32_t b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        }
        const uint32_t t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                           ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        const uint32_t u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                           ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

/* Of a text of at most 1000 bytes, in hexadecimal. */
static void sha256(const char *text, size_t len, char hex[65])
{
    unsigned char message[1088] = {0};
    uint32_t state[8];
    uint32_t k[64];
    for (unsigned prime = 2, n = 0; n < 64; prime++) {
        bool composite = false;
        for (unsigned d = 2; d * d <= prime; d++) {
            composite = composite || prime % d == 0;
        }
        if (!composite) {
            k[n] = root_bits(prime, 3);
            if (n < 8) {
                state[n] = root_bits(prime, 2);
            }
            n++;
        }
    }
    memcpy(message, text, len);
    message[len] = 0x80;
    const size_t total = (len + 9 + 63) / 64 * 64;
    for (size_t i = 0; i < 8; i++) {
        message[total - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    }
    for (size_t i = 0; i < total; i += 64) {
        sha256_block(message + i, state, k);
    }
    for (int i = 0; i < 8; i++) {
        sprintf(hex + 8 * i, "%08x", state[i]);
    }
}

/* The published digests: that of "abc", and the prefix by which a site is looked up. */
static void test_digests(void)
{
    char hex[65];
    sha256("abc", 3, hex);
    CHECK(strcmp(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0);
    const struct data_file file = data_load("safebrowsing_expressions.json");
    if (!file.data) {
        return;
    }
    json_error_t error;
    json_t *root = json_loadb(file.data, file.len, 0, &error);
    const json_t *vectors = json_object_get(root, "sha256_vectors");
    CHECK(json_array_size(vectors) > 0);
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        const json_t *one = json_array_get(vectors, i);
        const char *text = json_string_value(json_object_get(one, "input"));
        sha256(text, strlen(text), hex);
        CHECK(strcmp(hex, json_string_value(json_object_get(one, "sha256"))) == 0);
    }
    json_decref(root);
}

int main(void)
{
    test_start();
    url = data_url("crawl", NULL, 0); /* of any profile */
    test_lists();
    printf("%zu lists\n", test_vectors());
    test_digests();
    unseen_url_free(url);
    url = data_url("safebrowsing", NULL, 0);
    struct data_lines lines = data_load_lines("urls_links.txt.gz", "urls_requests.txt.gz");
    struct unseen_bytes built_in = scheme_text("http://a.b.c.d.e.f.g/1/2/3/4/5.html?p=1");
    if (!lines.n) {
        lines = (struct data_lines){&built_in, 1};
    }
    test_any(&lines);
    unseen_url_free(url);
    return test_end();
}
