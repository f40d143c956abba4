/* SPDX-License-Identifier: MIT
 *
 * Helpers that the tests of the schemes "scrapy" and "safebrowsing" share: vectors in .tsv files
 * (input, expected, a third column), and promises that hold for every input. */
#ifndef UNSEEN_TESTS_URL_SCHEMES_H
#define UNSEEN_TESTS_URL_SCHEMES_H

#include "url_data.h"

#include "url/url.h"

enum {
    SCHEME_COLUMNS = 3,
    SCHEME_TEXT_MAX = 1 << 14,
    SCHEME_BUF = 8 * SCHEME_TEXT_MAX + 1024
};

static inline bool scheme_same(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline struct unseen_bytes scheme_text(const char *text)
{
    return (struct unseen_bytes){text, strlen(text)};
}

/* Checks that the canonical form of `in` is `expected`, with and without the fast path, and that
 * the form is its own canonical form. */
static inline void scheme_check(const struct unseen_url *url, struct unseen_bytes in,
                                struct unseen_bytes expected)
{
    static char buf[SCHEME_BUF];
    static char again_buf[SCHEME_BUF];
    struct unseen_canon canon;
    struct unseen_canon again;
    CHECK(unseen_url_canon(url, in.data, in.len, NULL, buf, sizeof(buf), &canon) == UNSEEN_OK);
    if (!CHECK(scheme_same(canon.bytes, expected))) {
        fprintf(stderr, "  input    <%.*s>\n  expected <%.*s>\n  got      <%.*s>\n", (int)in.len,
                in.data, (int)expected.len, expected.data, (int)canon.bytes.len, canon.bytes.data);
    }
    CHECK_EQ(canon.form == UNSEEN_URL_REWRITTEN, !scheme_same(in, expected));
    url->slow(url, in.data, in.len, again_buf, unseen_url_bound(in.len, 0), &again);
    CHECK(again.form == canon.form && scheme_same(again.bytes, expected));
    CHECK(unseen_url_canon(url, canon.bytes.data, canon.bytes.len, NULL, again_buf,
                           sizeof(again_buf), &again) == UNSEEN_OK);
    CHECK(again.form == UNSEEN_URL_UNCHANGED && scheme_same(again.bytes, expected));
}

/* ---- Vectors ----------------------------------------------------------------------------------*/

/* Undoes the escapes \t \n \r \\ \xHH in place. */
static inline struct unseen_bytes scheme_unescape(char *text, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < len) {
            i++;
            unsigned value = 0;
            if (text[i] == 'x' && i + 2 < len && sscanf(text + i + 1, "%2x", &value) == 1) {
                c = (char)value;
                i += 2;
            } else {
                c = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i] == 'r' ? '\r' : text[i];
            }
        }
        text[out++] = c;
    }
    return (struct unseen_bytes){text, out};
}

/* Calls `check` for each line except comments. Returns the number of lines. */
static inline size_t scheme_vectors(const char *name,
                                    void (*check)(const struct unseen_bytes column[SCHEME_COLUMNS]))
{
    const struct data_file file = data_load(name);
    size_t n = 0;
    for (char *line = file.data, *end; line && line < file.data + file.len; line = end + 1) {
        end = memchr(line, '\n', (size_t)(file.data + file.len - line));
        end = end ? end : file.data + file.len;
        struct unseen_bytes column[SCHEME_COLUMNS] = {{line, 0}, {line, 0}, {line, 0}};
        char *at = line;
        for (size_t i = 0; i < SCHEME_COLUMNS && at < end; i++) {
            char *tab = memchr(at, '\t', (size_t)(end - at));
            tab = tab ? tab : end;
            column[i] = scheme_unescape(at, (size_t)(tab - at));
            at = tab + 1;
        }
        if (line < end && *line != '#') {
            check(column);
            n++;
        }
    }
    return n;
}

/* ---- Promises ---------------------------------------------------------------------------------*/

/* Canonicalises every prefix of the text, with a guard page behind the input and behind the buffer.
 * The answer is the same as elsewhere; a smaller buffer gives SPACE or the same answer. */
static inline void scheme_check_guarded(const struct unseen_url *url, struct unseen_bytes text)
{
    static char buf[SCHEME_BUF];
    char *const in_end = test_guarded(text.data, text.len) + text.len;
    const size_t bound = unseen_url_bound(text.len, 0);
    char *const zeros = calloc(1, bound);
    if (!zeros) {
        exit(2);
    }
    char *const out_end = test_guarded(zeros, bound) + bound;
    free(zeros);
    for (size_t len = 0; len <= text.len; len++) {
        char *const in = in_end - len;
        memmove(in, text.data, len);
        const size_t cap = unseen_url_bound(len, 0);
        struct unseen_canon expected;
        struct unseen_canon canon;
        CHECK(unseen_url_canon(url, text.data, len, NULL, buf, sizeof(buf), &expected) ==
              UNSEEN_OK);
        CHECK(unseen_url_canon(url, in, len, NULL, out_end - cap, cap, &canon) == UNSEEN_OK);
        CHECK(canon.form == expected.form && scheme_same(canon.bytes, expected.bytes));
        const enum unseen_status status =
            unseen_url_canon(url, in, len, NULL, out_end - len, len, &canon);
        CHECK(status == UNSEEN_ERR_SPACE ||
              (status == UNSEEN_OK && scheme_same(canon.bytes, expected.bytes)));
    }
}

/* Checks one input: the fast path is never wrong, and the answer is its own canonical form. Returns
 * true if the fast path answered. */
static inline bool scheme_check_any(const struct unseen_url *url, const char *in, size_t len)
{
    static char fast_buf[SCHEME_BUF];
    static char buf[SCHEME_BUF];
    static char again_buf[SCHEME_BUF];
    struct unseen_canon fast;
    struct unseen_canon canon;
    struct unseen_canon again;
    url->slow(url, in, len, buf, unseen_url_bound(len, 0), &canon);
    const bool answered = url->fast && url->fast(url, in, len, fast_buf, sizeof(fast_buf), &fast);
    bool ok = !answered || (fast.form == canon.form && scheme_same(fast.bytes, canon.bytes));
    if (canon.form != UNSEEN_URL_FAILED) {
        CHECK(unseen_url_canon(url, canon.bytes.data, canon.bytes.len, NULL, again_buf,
                               sizeof(again_buf), &again) == UNSEEN_OK);
        ok = ok && again.form == UNSEEN_URL_UNCHANGED && scheme_same(again.bytes, canon.bytes);
    }
    if (!CHECK(ok)) {
        fprintf(stderr, "  input <%.*s>\n  slow  <%.*s>\n", (int)len, in, (int)canon.bytes.len,
                canon.bytes.data);
    }
    return answered;
}

/* Checks n mutations of the texts; each text has a few KiB at most. */
static inline void scheme_check_mutated(const struct unseen_url *url,
                                        const struct unseen_bytes *texts, size_t ntexts, uint64_t n,
                                        uint64_t seed)
{
    static char work[SCHEME_TEXT_MAX];
    uint64_t nanswered = 0;
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_bytes text = texts[test_random(&seed) % ntexts];
        size_t len = text.len < sizeof(work) / 4 ? text.len : sizeof(work) / 4;
        memcpy(work, text.data, len);
        if (test_random(&seed) % 8) {
            len = data_mutate(work, len, &seed);
        }
        nanswered += scheme_check_any(url, work, len);
    }
    CHECK(!url->fast || nanswered > n / 100);
}

#endif
