/* SPDX-License-Identifier: MIT
 *
 * Identity texts, as users type them and as they stand in the headers of files. The input is a
 * text, a newline and a URL; the text is tried as a profile, and as the patterns of drop-params and
 * of only-params. The target asserts that a text is refused with a sentence, or has an identity
 * that gives the same canonicaliser again; that the form of the URL is its own form and has the
 * same fingerprint as the URL; and that the same patterns, dropped and kept, divide the parameters
 * of the URL between them. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "commands/fingerprint.h"
#include "target.h"
#include "unseen.h"

enum {
    ID_MAX = 4095
};

static bool same(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static struct unseen_url *create(const char *profile, const char *rule)
{
    struct unseen_url *url = NULL;
    struct unseen_error error = {.text = ""};
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .rules = &rule, .nrules = rule ? 1 : 0};
    const enum unseen_status status = unseen_url_create(&url, &options, &error);
    require((status == UNSEEN_OK) == (url != NULL));
    require(url || unseen_status_string(status)[0] != '\0');
    return url;
}

/* The form of the text, in memory of its own. */
static char *canon(const struct unseen_url *url, struct unseen_bytes text,
                   struct unseen_canon *canon_out)
{
    const size_t bound = unseen_url_bound(text.len, 0);
    char *const buf = malloc(bound);
    require(buf &&
            unseen_url_canon(url, text.data, text.len, NULL, buf, bound, canon_out) == UNSEEN_OK);
    return buf;
}

/* The identity of a canonicaliser makes the same one again. */
static void check_identity(const struct unseen_url *url, struct unseen_bytes text)
{
    const char *const id = unseen_url_id(url);
    struct unseen_url *const twin = create(id, NULL);
    struct unseen_canon forms[3];
    require(strlen(id) <= ID_MAX && twin && strcmp(unseen_url_id(twin), id) == 0);
    char *const first = canon(url, text, &forms[0]);
    char *const second = canon(twin, text, &forms[1]);
    char *const third = canon(url, forms[0].bytes, &forms[2]);
    require(forms[0].form == forms[1].form && same(forms[0].bytes, forms[1].bytes));
    require(same(forms[0].bytes, forms[2].bytes));
    free(third);
    free(second);
    free(first);
    unseen_url_free(twin);
}

static size_t count_pieces(struct unseen_bytes url)
{
    const char *const question = memchr(url.data, '?', url.len);
    size_t n = question ? 1 : 0;
    for (const char *at = question; at && at < url.data + url.len; at++) {
        n += *at == '&';
    }
    return n;
}

/* Patterns for a host say nothing about another host: there both rules keep everything. */
static void check_patterns(const struct unseen_url *urls[3], struct unseen_bytes text)
{
    size_t n[3];
    bool is_web = true;
    for (size_t i = 0; i < 3; i++) {
        struct unseen_canon form;
        char *const buf = canon(urls[i], text, &form);
        is_web = is_web && form.form != UNSEEN_URL_FAILED && form.bytes.len > 7 &&
                 memcmp(form.bytes.data, "http://", 7) == 0;
        n[i] = is_web ? count_pieces(form.bytes) : 0;
        free(buf);
    }
    require(!is_web || n[1] + n[2] == n[0] || (n[1] == n[0] && n[2] == n[0]));
}

static void try_patterns(const char *patterns, struct unseen_bytes text)
{
    const size_t room = strlen(patterns) + 16;
    char *const rule = malloc(room);
    static const char *const names[] = {"drop-params(", "only-params("};
    struct unseen_url *urls[3] = {create("crawl", NULL), NULL, NULL};
    require(rule != NULL);
    for (size_t i = 0; i < 2; i++) {
        strcpy(rule, names[i]);
        strcat(rule, patterns);
        strcat(rule, ")");
        urls[i + 1] = create("crawl", rule);
        if (urls[i + 1]) {
            check_identity(urls[i + 1], text);
        }
    }
    /* A text may close the parenthesis itself and go on with another rule. */
    if (urls[1] && urls[2] && !strchr(patterns, ')')) {
        check_patterns((const struct unseen_url *[]){urls[0], urls[1], urls[2]}, text);
    }
    for (size_t i = 0; i < 3; i++) {
        unseen_url_free(urls[i]);
    }
    free(rule);
}

static void check_fingerprint(struct unseen_bytes text)
{
    struct unseen_url *const url = create("scrapy", NULL);
    struct unseen_canon form;
    char digits[2][FINGERPRINT_DIGITS];
    char *const buf = canon(url, text, &form);
    if (form.form != UNSEEN_URL_FAILED && fingerprint_write(text, form.bytes, digits[0])) {
        require(fingerprint_write(text, form.bytes, digits[1]));
        for (size_t i = 0; i < FINGERPRINT_DIGITS; i++) {
            require(memchr("0123456789abcdef", digits[0][i], 16));
        }
        /* A form without "://" got its fingerprint for a part of the text that it lacks. */
        require(!fingerprint_write(form.bytes, form.bytes, digits[1]) ||
                memcmp(digits[0], digits[1], FINGERPRINT_DIGITS) == 0);
    }
    free(buf);
    unseen_url_free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *const newline = size ? memchr(data, '\n', size) : NULL;
    const size_t len = newline ? (size_t)(newline - data) : size;
    const size_t rest = newline ? len + 1 : size;
    char *const profile = malloc(len + 1);
    char *const input = malloc(size - rest + 1);
    require(profile && input);
    if (len > 0) {
        memcpy(profile, data, len);
    }
    profile[len] = '\0';
    if (size > rest) {
        memcpy(input, data + rest, size - rest);
    }
    const struct unseen_bytes text = {input, size - rest};
    struct unseen_url *const url = create(profile, NULL);
    if (url) {
        check_identity(url, text);
    }
    try_patterns(profile, text);
    check_fingerprint(text);
    unseen_url_free(url);
    free(input);
    free(profile);
    return 0;
}
