/* SPDX-License-Identifier: MIT
 *
 * SURT keys: the vectors, with a guard page behind input and buffer, and hostile queries. */
#include "test.h"
#include "url_schemes.h"

static char buf[SCHEME_TEXT_MAX * 16 + 1024];
static size_t nurls;
static size_t nwww;

static void check_vector(const struct unseen_bytes column[SCHEME_COLUMNS])
{
    struct unseen_bytes surt;
    const struct unseen_bytes in = column[0];
    const bool is_url = !(column[1].len == 1 && column[1].data[0] == '!');
    CHECK(unseen_url_surt(in.data, in.len, false, buf, sizeof(buf), &surt) == UNSEEN_OK);
    if (!CHECK((surt.data != NULL) == is_url && (!is_url || scheme_same(surt, column[1])))) {
        fprintf(stderr, "<%.*s> gives <%.*s>\n", (int)in.len, in.data, (int)surt.len,
                surt.data ? surt.data : "");
    }
    CHECK(unseen_url_surt(in.data, in.len, false, buf, unseen_url_bound(2 * in.len, 0) - 1,
                          &surt) == UNSEEN_ERR_SPACE);
    /* The exact sizes, so that the sanitizers see a byte too far. */
    const size_t cap = unseen_url_bound(2 * in.len, 0);
    char *exact_in = malloc(in.len + 1);
    char *exact = malloc(cap);
    memcpy(exact_in, in.data, in.len);
    for (size_t len = 0; len <= in.len; len++) {
        const size_t need = unseen_url_bound(2 * len, 0);
        CHECK(unseen_url_surt(exact_in, len, false, exact + (cap - need), need, &surt) ==
              UNSEEN_OK);
    }
    CHECK((surt.data != NULL) == is_url && (!is_url || scheme_same(surt, column[1])));
    free(exact);
    free(exact_in);
    /* The third column is there if the key with its www is another. */
    const struct unseen_bytes kept = column[2].len ? column[2] : column[1];
    CHECK(unseen_url_surt(in.data, in.len, true, buf, sizeof(buf), &surt) == UNSEEN_OK);
    CHECK((surt.data != NULL) == is_url && (!is_url || scheme_same(surt, kept)));
    nwww += column[2].len != 0;
    nurls += is_url;
}

/* Texts that make a careless search for sessions, or a careless sort, take quadratic time. */
static void test_hostile(void)
{
    static const char *const pieces[] = {
        "&",    "cfid=", "sid=", "cfid=a&cftoken=",
        "b&a&", "\xff&", "(x(",  "/(S(0123456789abcdefghijklmn))/a"};
    enum {
        LEN = 1 << 18
    };
    const size_t cap = unseen_url_bound(2 * (size_t)LEN, 0);
    char *in = malloc(LEN + 64);
    char *out = malloc(cap);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        size_t n = (size_t)sprintf(in, i < 6 ? "http://e.com/?" : "http://e.com/");
        while (n + strlen(pieces[i]) < LEN) {
            memcpy(in + n, pieces[i], strlen(pieces[i]));
            n += strlen(pieces[i]);
        }
        struct unseen_bytes surt;
        CHECK(unseen_url_surt(in, n, false, out, cap, &surt) == UNSEEN_OK && surt.data);
    }
    free(out);
    free(in);
}

int main(void)
{
    test_start();
    CHECK(scheme_vectors("vectors/surt.tsv", check_vector) > 90);
    CHECK(nurls > 80 && nwww > 5);
    test_hostile();
    struct unseen_bytes surt;
    CHECK(unseen_url_surt("a", SIZE_MAX, false, buf, sizeof(buf), &surt) == UNSEEN_ERR_SPACE);
    return test_end();
}
