/* SPDX-License-Identifier: MIT
 *
 * URL identity. The first byte chooses a profile and rules; the second byte chooses where to cut
 * the rest into a reference and its base. If the first byte is 128 or more, both bytes together
 * choose any set of rules. The target asserts that the fast path agrees with the slow path, that
 * the canonical form is its own canonical form, that a URL on the network and what the profile
 * "whatwg" makes of it are looked up by the same expressions, that of named parameters those are
 * left that should be, that a SURT key has no scheme and no capitals, and that nothing is written
 * past the bound. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "unseen.h"
#include "url/url.h"

enum {
    CANARY = 64
};

static char *new_buffer(size_t bound)
{
    char *buf = malloc(bound + CANARY);
    require(buf != NULL);
    memset(buf + bound, 0x5c, CANARY);
    return buf;
}

static void free_buffer(char *buf, size_t bound)
{
    for (size_t i = 0; i < CANARY; i++) {
        require(buf[bound + i] == 0x5c);
    }
    free(buf);
}

static struct unseen_url *create_with(const char *profile, const char *const *rules, size_t nrules)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .rules = rules, .nrules = nrules};
    struct unseen_url *url = NULL;
    require(unseen_url_create(&url, &options, NULL) == UNSEEN_OK);
    return url;
}

/* The rules that a profile of WHATWG has and that need no patterns are on for some bits each. */
static struct unseen_url *create_any(uint32_t bits)
{
    const char *rules[64];
    size_t n = 0;
    const struct unseen_url_entry *entry;
    const uint32_t mixed = bits * UINT32_C(2654435761);
    for (size_t i = 0; (entry = unseen_url_rule_at(i)); i++) {
        if (!strstr(entry->name, "-params") && strncmp(entry->sentence, "scrapy only", 11) != 0 &&
            (mixed >> (i + 8) % 32 & 1)) {
            rules[n++] = entry->name;
        }
    }
    return create_with("crawl", rules, n);
}

static struct unseen_url *create(uint8_t choice, uint8_t more)
{
    static const struct {
        const char *profile;
        const char *rules[2];
        size_t nrules;
    } settings[] = {
        {"whatwg", {0}, 0},
        {"crawl", {0}, 0},
        {"crawl", {"keep-hashbang", "default-scheme"}, 2},
        {"aggressive", {0}, 0},
        {"aggressive", {"strip-index", "keep-fragment"}, 2},
        {"crawl", {"decode-unreserved", "sort-query"}, 2},
        {"aggressive/1", {"strip-index/1", "keep-routes"}, 2},
        {"crawl", {"drop-params(a*,b,%2e,e.com:x)", "only-params(c,d,e.com:e)"}, 2},
        {"aggressive", {"drop-params(id,x_*)", "keep-fragment"}, 2},
        {"aggressive", {"unescape-amp", "names-only"}, 2},
    };
    if (choice >= 128) {
        return create_any((choice - 128u) << 8 | more);
    }
    const size_t i = choice % (sizeof(settings) / sizeof(settings[0]));
    return create_with(settings[i].profile, settings[i].rules, settings[i].nrules);
}

static bool same(const struct unseen_canon *a, const struct unseen_canon *b)
{
    return a->form == b->form && a->bytes.len == b->bytes.len &&
           (a->bytes.len == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.len) == 0);
}

static void check_again(const struct unseen_url *url, struct unseen_bytes text)
{
    struct unseen_canon again;
    const size_t bound = unseen_url_bound(text.len, 0);
    char *const buf = new_buffer(bound);
    require(unseen_url_canon(url, text.data, text.len, NULL, buf, bound, &again) == UNSEEN_OK);
    require(again.form == UNSEEN_URL_UNCHANGED);
    free_buffer(buf, bound);
}

static void check_canon(const struct unseen_url *url, const char *in, size_t len)
{
    struct unseen_canon fast;
    struct unseen_canon slow;
    const size_t bound = unseen_url_bound(len, 0);
    char *const buf = new_buffer(bound);
    char *const fast_buf = new_buffer(bound);
    url->slow(url, in, len, buf, bound, &slow);
    if (url->fast && url->fast(url, in, len, fast_buf, bound, &fast)) {
        require(same(&fast, &slow));
    }
    if (slow.form != UNSEEN_URL_FAILED) {
        check_again(url, slow.bytes);
    }
    free_buffer(fast_buf, bound);
    free_buffer(buf, bound);
}

/* Counts the pieces of the query of a canonical form, and those whose names are as plain text. */
static size_t count_pieces(struct unseen_bytes url, const char *name, size_t *named_out)
{
    const char *const end = url.data + url.len;
    const char *hash = memchr(url.data, '#', url.len);
    const char *const query_end = hash ? hash : end;
    const char *at = memchr(url.data, '?', (size_t)(query_end - url.data));
    size_t n = 0;
    *named_out = 0;
    while (at && at < query_end) {
        const char *piece = ++at;
        while (at < query_end && *at != '&') {
            at++;
        }
        const char *equals = memchr(piece, '=', (size_t)(at - piece));
        const size_t len = (size_t)((equals ? equals : at) - piece);
        n++;
        *named_out += len == strlen(name) && memcmp(piece, name, len) == 0;
    }
    return n;
}

/* drop-params and only-params of one name divide the pieces between them. */
static void check_params(const char *in, size_t len)
{
    static const char *const drop[] = {"drop-params(id)"};
    static const char *const only[] = {"only-params(id)"};
    struct unseen_url *urls[] = {create_with("crawl", NULL, 0), create_with("crawl", drop, 1),
                                 create_with("crawl", only, 1)};
    const size_t bound = unseen_url_bound(len, 0);
    size_t pieces[3];
    size_t named[3];
    bool is_web = true;
    for (size_t i = 0; i < 3; i++) {
        struct unseen_canon canon;
        char *const buf = new_buffer(bound);
        require(unseen_url_canon(urls[i], in, len, NULL, buf, bound, &canon) == UNSEEN_OK);
        pieces[i] = count_pieces(canon.bytes, "id", &named[i]);
        is_web = is_web && canon.form != UNSEEN_URL_FAILED && canon.bytes.len > 7 &&
                 (memcmp(canon.bytes.data, "http://", 7) == 0 ||
                  memcmp(canon.bytes.data, "https:/", 7) == 0);
        free_buffer(buf, bound);
        unseen_url_free(urls[i]);
    }
    require(!is_web || (named[1] == 0 && named[2] == named[0]));
    require(!is_web || pieces[1] + pieces[2] == pieces[0]);
}

/* A key has the host in front of a parenthesis, and no capitals. With its www it is the same but
 * for ",www" and digits at the end of the host. */
static void check_surt(const char *in, size_t len)
{
    const size_t bound = unseen_url_bound(2 * len, 0);
    char *const buf = new_buffer(bound);
    char *const kept_buf = new_buffer(bound);
    struct unseen_bytes surt;
    struct unseen_bytes kept;
    require(unseen_url_surt(in, len, false, buf, bound, &surt) == UNSEEN_OK);
    require(unseen_url_surt(in, len, true, kept_buf, bound, &kept) == UNSEEN_OK);
    require(!surt.data == !kept.data && (!surt.data || memchr(surt.data, ')', surt.len)));
    for (size_t i = 0; surt.data && i < surt.len; i++) {
        require(surt.data[i] < 'A' || surt.data[i] > 'Z');
    }
    if (surt.data && surt.len == kept.len) {
        require(memcmp(surt.data, kept.data, surt.len) == 0);
    } else if (surt.data) {
        size_t same = 0;
        while (surt.data[same] == kept.data[same]) {
            same++;
        }
        const size_t rest = surt.len - same; /* from the port or the parenthesis on */
        require(kept.len >= surt.len + 4 && memcmp(kept.data + same, ",www", 4) == 0);
        require(memcmp(surt.data + same, kept.data + kept.len - rest, rest) == 0);
    }
    free_buffer(kept_buf, bound);
    free_buffer(buf, bound);
}

static void check_base(const struct unseen_url *url, const char *in, size_t len, const char *base,
                       size_t base_len)
{
    const struct unseen_bytes document = {base, base_len};
    struct unseen_canon canon;
    const size_t bound = unseen_url_bound(len, base_len);
    char *const buf = new_buffer(bound);
    require(unseen_url_canon(url, in, len, &document, buf, bound, &canon) == UNSEEN_OK);
    if (canon.form != UNSEEN_URL_FAILED) {
        check_again(url, canon.bytes);
    }
    free_buffer(buf, bound);
}

/* Stores the expressions of the text, which lie in the buffer that is returned. */
static char *expressions_of(const struct unseen_url *url, struct unseen_bytes text,
                            struct unseen_bytes *expressions, size_t *n_out)
{
    const size_t bound = unseen_url_bound(text.len, 0);
    char *const buf = new_buffer(bound);
    require(unseen_url_expressions(url, text.data, text.len, buf, bound, expressions, n_out) ==
            UNSEEN_OK);
    return buf;
}

/* Schemes without a host, and files, are left out. */
static void check_expressions(const struct unseen_url *whatwg, const char *in, size_t len)
{
    struct unseen_bytes expressions[2][UNSEEN_EXPRESSIONS_MAX];
    struct unseen_canon canon;
    size_t n[2];
    const size_t bound = unseen_url_bound(len, 0);
    char *const buf = new_buffer(bound);
    require(unseen_url_canon(whatwg, in, len, NULL, buf, bound, &canon) == UNSEEN_OK);
    if (canon.form != UNSEEN_URL_FAILED && canon.bytes.len > 8 &&
        (memcmp(canon.bytes.data, "http://", 7) == 0 ||
         memcmp(canon.bytes.data, "https://", 8) == 0 ||
         memcmp(canon.bytes.data, "ftp://", 6) == 0)) {
        const struct unseen_bytes text = {in, len};
        char *const first = expressions_of(whatwg, text, expressions[0], &n[0]);
        char *const second = expressions_of(whatwg, canon.bytes, expressions[1], &n[1]);
        require(n[0] == n[1]);
        for (size_t i = 0; i < n[0]; i++) {
            const struct unseen_bytes a = expressions[0][i];
            const struct unseen_bytes b = expressions[1][i];
            require(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        }
        free_buffer(first, unseen_url_bound(len, 0));
        free_buffer(second, unseen_url_bound(canon.bytes.len, 0));
    }
    free_buffer(buf, bound);
}

static void take_step(void *context, const struct unseen_url_step *step)
{
    *(size_t *)context += step->before.len + step->after.len + strlen(step->sentence);
}

static void check_explain(const struct unseen_url *url, const char *in, size_t len)
{
    struct unseen_canon plain;
    struct unseen_canon explained;
    size_t nbytes = 0;
    const size_t bound = unseen_url_bound(2 * len, 0);
    char *const buf = new_buffer(bound);
    char *const plain_buf = new_buffer(bound);
    require(unseen_url_canon(url, in, len, NULL, plain_buf, bound, &plain) == UNSEEN_OK);
    require(unseen_url_explain(url, in, len, buf, bound, take_step, &nbytes, &explained) ==
            UNSEEN_OK);
    require(same(&plain, &explained));
    require(plain.form != UNSEEN_URL_REWRITTEN || nbytes > 0);
    free_buffer(plain_buf, bound);
    free_buffer(buf, bound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct unseen_url *url = create(data[0], data[1]);
    const char *const in = (const char *)data + 2;
    const size_t len = size - 2;
    const size_t cut = data[1] < len ? data[1] : len;
    check_canon(url, in, len);
    check_explain(url, in, len);
    if (strncmp(unseen_url_id(url), "whatwg/", 7) == 0) {
        check_expressions(url, in, len);
    }
    check_params(in, len);
    check_surt(in, len);
    check_base(url, in, cut, in + cut, len - cut);
    unseen_url_free(url);
    return 0;
}
