/* SPDX-License-Identifier: MIT
 *
 * Kinds of entries. For any line: a kind writes nothing behind the bound. The text of an entry is
 * its own canonical form (with the same fitness, if that is fine), and is among the texts of its
 * own question. A question makes no more texts than the kind allows, all different and none empty.
 * A question about sites finds the host that browsers open (the profile "whatwg"), and has the
 * texts of the URL that browsers make of it. The first byte chooses the kind and the profile. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unseen_list.h>

#include "target.h"
#include "url/url.h"

enum {
    CANARY = 64,
    NKINDS = 6 /* and phone numbers of a country */
};

static bool same(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* A buffer of the bound of len bytes with canaries behind it. */
static char *buffer(enum unseen_kind kind, size_t len)
{
    const size_t bound = unseen_kind_bound(kind, len);
    char *const buf = malloc(bound + CANARY);
    require(buf != NULL);
    memset(buf + bound, 0x5a, CANARY);
    return buf;
}

static void release(char *buf, enum unseen_kind kind, size_t len)
{
    const size_t bound = unseen_kind_bound(kind, len);
    for (size_t i = 0; i < CANARY; i++) {
        require(buf[bound + i] == 0x5a);
    }
    free(buf);
}

/* Whether wanted is among the texts of the question. */
static bool check_question(enum unseen_kind kind, const struct unseen_url *url,
                           struct unseen_bytes in, struct unseen_bytes wanted)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n = 0;
    bool found = false;
    char *const buf = buffer(kind, in.len);
    require(unseen_kind_texts(kind, url, in.data, in.len, buf, unseen_kind_bound(kind, in.len),
                              texts, &n) == UNSEEN_OK);
    require(n <= UNSEEN_KIND_TEXTS_MAX);
    for (size_t i = 0; i < n; i++) {
        require(texts[i].len > 0);
        found |= same(texts[i], wanted);
        for (size_t j = 0; j < i; j++) {
            require(!same(texts[i], texts[j]));
        }
    }
    release(buf, kind, in.len);
    return found;
}

/* The text as an entry. That of a site gets its scheme again: without one, the page 24 of an
 * address looks like a network. */
static void check_again(enum unseen_kind kind, const struct unseen_url *url,
                        struct unseen_bytes text)
{
    struct unseen_bytes again;
    enum unseen_entry fitness;
    const size_t nscheme = kind == UNSEEN_KIND_EXPRESSIONS ? 7 : 0;
    const size_t len = nscheme + text.len;
    char *const line = malloc(len);
    char *const buf = buffer(kind, len);
    require(line != NULL);
    memcpy(line, "http://", nscheme);
    memcpy(line + nscheme, text.data, text.len);
    require(unseen_kind_entry(kind, url, line, len, buf, unseen_kind_bound(kind, len), &again,
                              &fitness) == UNSEEN_OK);
    require(fitness == UNSEEN_ENTRY_FINE && same(again, text));
    release(buf, kind, len);
    free(line);
}

/* Stores "http://HOST/" of a canonical URL in out, which has room for it; false if the URL is not
 * one of those that browsers open on the network. */
static bool site_of(struct unseen_bytes url, char *out, size_t *len_out)
{
    static const char *const schemes[] = {"http://", "https://", "ws://", "wss://", "ftp://"};
    size_t start = 0;
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        const size_t len = strlen(schemes[i]);
        start = url.len > len && memcmp(url.data, schemes[i], len) == 0 ? len : start;
    }
    if (start == 0) {
        return false;
    }
    size_t end = start;
    for (; url.data[end] != '/'; end++) {
        start = url.data[end] == '@' ? end + 1 : start;
    }
    memcpy(out, "http://", 7);
    memcpy(out + 7, url.data + start, end - start + 1);
    *len_out = 7 + end - start + 1;
    return true;
}

static size_t ask(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                  struct unseen_bytes *texts)
{
    size_t n = 0;
    require(unseen_kind_texts(UNSEEN_KIND_EXPRESSIONS, url, in.data, in.len, buf,
                              unseen_kind_bound(UNSEEN_KIND_EXPRESSIONS, in.len), texts,
                              &n) == UNSEEN_OK);
    return n;
}

static bool has_text(const struct unseen_bytes *texts, size_t n, struct unseen_bytes text)
{
    for (size_t i = 0; i < n; i++) {
        if (same(texts[i], text)) {
            return true;
        }
    }
    return false;
}

/* A text has the texts of what browsers make of it, and the site is among them. A host that is only
 * dots is no site. */
static void check_browsers(struct unseen_bytes in)
{
    const struct unseen_url_options options = {.size = sizeof(options), .profile = "whatwg"};
    struct unseen_url *whatwg = NULL;
    struct unseen_canon canon;
    struct unseen_bytes texts[2][UNSEEN_KIND_TEXTS_MAX];
    size_t site_len;
    require(unseen_url_create(&whatwg, &options, NULL) == UNSEEN_OK);
    const size_t bound = unseen_url_bound(in.len, 0);
    char *const canon_buf = malloc(2 * bound + 16);
    require(canon_buf != NULL);
    char *const site = canon_buf + bound;
    require(unseen_url_canon(whatwg, in.data, in.len, NULL, canon_buf, bound, &canon) == UNSEEN_OK);
    if (canon.form != UNSEEN_URL_FAILED && site_of(canon.bytes, site, &site_len)) {
        char *const buf = buffer(UNSEEN_KIND_EXPRESSIONS, in.len);
        char *const again = buffer(UNSEEN_KIND_EXPRESSIONS, canon.bytes.len);
        const size_t n = ask(whatwg, in, buf, texts[0]);
        const size_t ncanonical = ask(whatwg, canon.bytes, again, texts[1]);
        for (size_t i = 0; i < ncanonical; i++) {
            require(has_text(texts[0], n, texts[1][i]));
        }
        release(again, UNSEEN_KIND_EXPRESSIONS, canon.bytes.len);
        char *const site_buf = buffer(UNSEEN_KIND_EXPRESSIONS, site_len);
        if (ask(whatwg, (struct unseen_bytes){site, site_len}, site_buf, texts[1]) > 0) {
            require(has_text(texts[0], n, texts[1][0]));
        }
        release(site_buf, UNSEEN_KIND_EXPRESSIONS, site_len);
        release(buf, UNSEEN_KIND_EXPRESSIONS, in.len);
    }
    free(canon_buf);
    unseen_url_free(whatwg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const profiles[] = {"none",   "whatwg",       "crawl",
                                           "scrapy", "safebrowsing", "aggressive"};
    if (size == 0) {
        return 0;
    }
    const unsigned number = data[0] % NKINDS;
    const enum unseen_kind kind =
        number == NKINDS - 1 ? UNSEEN_KIND_PHONE_OF(86) : (enum unseen_kind)number;
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = profiles[data[0] / NKINDS % 6]};
    const struct unseen_bytes in = {(const char *)data + 1, size - 1};
    struct unseen_url *url = NULL;
    struct unseen_bytes text;
    enum unseen_entry fitness;
    require(unseen_url_create(&url, &options, NULL) == UNSEEN_OK);
    char *const buf = buffer(kind, in.len);
    require(unseen_kind_entry(kind, url, in.data, in.len, buf, unseen_kind_bound(kind, in.len),
                              &text, &fitness) == UNSEEN_OK);
    require((text.len > 0) == (fitness == UNSEEN_ENTRY_FINE || fitness == UNSEEN_ENTRY_DANGEROUS));
    (void)check_question(kind, url, in, text);
    if (text.len > 0) {
        require(check_question(kind, url, text, text));
    }
    if (fitness == UNSEEN_ENTRY_FINE) {
        check_again(kind, url, text);
    }
    if (kind == UNSEEN_KIND_EXPRESSIONS) {
        check_browsers(in);
    }
    release(buf, kind, in.len);
    unseen_url_free(url);
    return 0;
}
