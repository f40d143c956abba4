/* SPDX-License-Identifier: MIT
 *
 * Lines against the dumbest correct version, one byte at a time. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include "test.h"

static size_t model_split(const char *data, size_t len, char delimiter, struct unseen_bytes *lines,
                          size_t max, size_t *consumed_out)
{
    size_t n = 0;
    size_t start = 0;
    for (size_t i = 0; i < len && n < max; i++) {
        if (data[i] == delimiter) {
            lines[n].data = data + start;
            lines[n++].len = i - start;
            start = i + 1;
        }
    }
    *consumed_out = start;
    return n;
}

static bool same_lines(const struct unseen_bytes *a, const struct unseen_bytes *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].data != b[i].data || a[i].len != b[i].len) {
            return false;
        }
    }
    return true;
}

/* Compares one split with the model's; nothing past lines[max) may be written. */
static bool agrees(const char *data, size_t len, char delimiter, size_t max)
{
    static struct unseen_bytes got[1100];
    static struct unseen_bytes want[1100];
    memset(got, 0x5A, sizeof(got));
    size_t got_consumed = 0;
    size_t want_consumed = 0;
    size_t ngot = unseen_lines_split(data, len, delimiter, got, max, &got_consumed);
    size_t nwant = model_split(data, len, delimiter, want, max, &want_consumed);
    const unsigned char *beyond = (const unsigned char *)&got[max];
    bool untouched = true;
    for (size_t i = 0; i < sizeof(got[0]); i++) {
        untouched = untouched && beyond[i] == 0x5A;
    }
    return ngot == nwant && got_consumed == want_consumed && untouched &&
           same_lines(got, want, nwant);
}

/* One delimiter at each place of each length, in front of a page that cannot be read. */
static void check_split_lengths(void)
{
    enum {
        SPACE = 4096
    };
    static char zeros[SPACE];
    char *end = test_guarded(zeros, SPACE) + SPACE;
    for (size_t len = 0; len <= 200; len++) {
        for (size_t at = 0; at <= len; at++) {
            memset(end - len, 'a', len);
            if (at < len) {
                end[-(ptrdiff_t)(len - at)] = '\n';
            }
            CHECK(agrees(end - len, len, '\n', 4));
        }
    }
}

/* Every density from one line to all delimiters, every max, bytes next to the delimiter. */
static void check_split_random(void)
{
    static const char near[] = {'\n', '\v', '\t', '\x8a', '\0', '\xff', '\x0a' ^ 1, 'x'};
    static char text[4096];
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        size_t len = (size_t)(test_random(&seed) % 700);
        uint64_t sparse = 1 + test_random(&seed) % 100;
        for (size_t i = 0; i < len; i++) {
            uint64_t r = test_random(&seed);
            text[i] = r % sparse == 0 ? '\n' : near[1 + (r >> 32) % (sizeof(near) - 1)];
        }
        size_t max = (size_t)(test_random(&seed) % (round % 2 ? 8 : 1000));
        CHECK(agrees(text, len, '\n', max));
        CHECK(agrees(text, len, '\0', max));
        CHECK(agrees(text, len, '\xff', max));
    }
}

static void check_split_edges(void)
{
    size_t consumed = 99;
    CHECK_EQ(unseen_lines_split(NULL, 0, '\n', NULL, 0, &consumed), 0);
    CHECK_EQ(consumed, 0);
    struct unseen_bytes lines[2];
    CHECK_EQ(unseen_lines_split("\n\n\n", 3, '\n', lines, 2, &consumed), 2);
    CHECK_EQ(consumed, 2);
    CHECK_EQ(lines[1].len, 0);
}

static bool text_is(const char *line, size_t len, const char *text)
{
    struct unseen_bytes it = {line, len};
    const bool has_cr = unseen_lines_trim(&it, 1, &it) == 1;
    return has_cr == (len != strlen(text)) && it.data == line && it.len == strlen(text) &&
           memcmp(it.data, text, it.len) == 0;
}

/* Each line is followed by its delimiter. */
static void check_trim(void)
{
    CHECK(text_is("a\r\n", 2, "a"));
    CHECK(text_is("a\n", 1, "a"));
    CHECK(text_is("\r\n", 1, ""));
    CHECK(text_is("\n", 0, ""));
    CHECK(text_is("a\r\r\n", 3, "a\r"));
    CHECK(text_is("\ra\n", 2, "\ra"));
    CHECK(unseen_lines_trim(NULL, 0, NULL) == 0);
    const struct unseen_bytes lines[3] = {{"a\r\n", 2}, {"b\n", 1}, {"\r\n", 1}};
    struct unseen_bytes texts[3];
    CHECK(unseen_lines_trim(lines, 3, texts) == 2);
    CHECK(texts[0].len == 1 && texts[1].len == 1 && texts[2].len == 0);
    CHECK(texts[0].data == lines[0].data && texts[1].data == lines[1].data);
    CHECK(lines[0].len == 2);
    /* Lines without a CR are stored, too. */
    struct unseen_bytes same[2] = {{NULL, 7}, {NULL, 7}};
    CHECK(unseen_lines_trim(lines + 1, 1, same) == 0);
    CHECK(same[0].data == lines[1].data && same[0].len == 1 && same[1].len == 7);
}

/* The comparison itself must be able to fail: a wrong line is found. */
static void check_model_fails(void)
{
    struct unseen_bytes a[2] = {{"ab", 1}, {"b", 1}};
    struct unseen_bytes b[2] = {a[0], {a[1].data, 0}};
    CHECK(same_lines(a, a, 2));
    CHECK(!same_lines(a, b, 2));
}

int main(void)
{
    test_start();
    check_split_edges();
    check_split_lengths();
    check_split_random();
    check_trim();
    check_model_fails();
    return test_end();
}
