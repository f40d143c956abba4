/* SPDX-License-Identifier: MIT
 *
 * The kind "expressions": an entry is a site, a folder or a page, and covers what lies below it. A
 * question makes the up to 30 host-suffix and path-prefix expressions of its URL ([SafeBrowsing],
 * src/url/expressions.c); an entry is the first, the most specific one, of its own URL:
 *
 *     evil.com, *.evil.com, .evil.com    evil.com/          the site and those below it
 *     http://evil.com/folder/            evil.com/folder/   the folder and what is in it
 *     evil.com/page?x=1                  evil.com/page?x=1  the page
 *     2001:db8::7                        [2001:db8::7]/     what is at that address
 *
 * So many lines look like a URL to the lenient reader of questions that an entry is judged by more:
 * taken for URLs, "jo@gmail.com" would block a mail provider, and "0.0.0.0 evil.com" or a filter
 * rule such as "||evil.com^" nothing at all. */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/percent.h"
#include "url/url.h"

enum {
    V6_LONGEST = 45 /* ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255 */
};

static bool begins_with(struct unseen_bytes in, const char *text)
{
    const size_t len = strlen(text);
    return in.len >= len && memcmp(in.data, text, len) == 0;
}

/* "scheme://" or "//". */
static bool has_scheme(struct unseen_bytes in)
{
    size_t at = 0;
    while (at < in.len && (is_ascii_alnum(in.data[at]) || in.data[at] == '+' ||
                           in.data[at] == '-' || in.data[at] == '.')) {
        at++;
    }
    return begins_with(in, "//") || begins_with(without_first(in, at), "://");
}

/* Is something before the path that only a whole URL may have: a user, who would be dropped, or an
 * escape, which may be anything? */
static bool has_user(struct unseen_bytes in)
{
    for (size_t i = 0; i < in.len && in.data[i] != '/' && in.data[i] != '?'; i++) {
        if (in.data[i] == '@' || in.data[i] == '%') {
            return true;
        }
    }
    return false;
}

/* Columns behind the URL would become part of it, as tabs are removed from URLs. */
static bool has_control(struct unseen_bytes in)
{
    for (size_t i = 0; i < in.len; i++) {
        if ((unsigned char)in.data[i] < ' ' || in.data[i] == 0x7f) {
            return true;
        }
    }
    return false;
}

/* A name as browsers take it, without wildcards, or an address. */
static bool is_host(struct unseen_bytes host)
{
    uint16_t pieces[8];
    if (host.data[0] == '[') {
        return host.len > 2 && unseen__ipv6_parse(host.data + 1, host.len - 2, pieces);
    }
    for (size_t i = 0; i < host.len; i++) {
        if ((unseen__url_class[(unsigned char)host.data[i]] & UNSEEN__FORBIDDEN_DOMAIN) ||
            host.data[i] == '*') {
            return false;
        }
    }
    return true;
}

static bool ends_with_wildcard(struct unseen_bytes text)
{
    return text.len >= 2 && memcmp(text.data + text.len - 2, "/*", 2) == 0;
}

static enum unseen_entry judge_expression(struct unseen_bytes text)
{
    const char *const slash = memchr(text.data, '/', text.len);
    const struct unseen_bytes host = {text.data, (size_t)(slash - text.data)};
    if (!is_host(host) || ends_with_wildcard(text)) {
        return UNSEEN_ENTRY_INVALID;
    }
    const bool is_whole_site = host.len + 1 == text.len;
    const bool is_one_label = host.data[0] != '[' && !has_byte(host, '.');
    return is_whole_site && is_one_label ? UNSEEN_ENTRY_DANGEROUS : UNSEEN_ENTRY_FINE;
}

/* "*.evil.com" and ".evil.com" as "evil.com". */
static struct unseen_bytes without_wildcard(struct unseen_bytes in)
{
    return without_first(in, begins_with(in, "*.") ? 2 : begins_with(in, "."));
}

/* A bare IPv6 address, as lists of addresses have it, in brackets; anything else as it is. */
static struct unseen_bytes with_brackets(struct unseen_bytes in, char room[V6_LONGEST + 2])
{
    uint16_t pieces[8];
    if (in.len > V6_LONGEST || !unseen__ipv6_parse(in.data, in.len, pieces)) {
        return in;
    }
    room[0] = '[';
    memcpy(room + 1, in.data, in.len);
    room[in.len + 1] = ']';
    return (struct unseen_bytes){room, in.len + 2};
}

static enum unseen_status expressions_entry(const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *entry_out,
                                            enum unseen_entry *fitness_out)
{
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    char room[V6_LONGEST + 2];
    size_t n = 0;
    in = with_brackets(without_wildcard(without_blanks(in)), room);
    if (has_control(in) || (!has_scheme(in) && has_user(in))) {
        return no_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    const enum unseen_status status =
        unseen_url_expressions(url, in.data, in.len, buf, cap, expressions, &n);
    if (status != UNSEEN_OK) {
        return status;
    }
    const enum unseen_entry fitness =
        n > 0 ? judge_expression(expressions[0]) : UNSEEN_ENTRY_INVALID;
    if (fitness == UNSEEN_ENTRY_INVALID) {
        return no_entry(fitness, entry_out, fitness_out);
    }
    *entry_out = expressions[0];
    *fitness_out = fitness;
    return UNSEEN_OK;
}

static enum unseen_status expressions_texts(const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *texts_out,
                                            size_t *n_out)
{
    char room[V6_LONGEST + 2];
    in = with_brackets(without_blanks(in), room);
    return unseen_url_expressions(url, in.data, in.len, buf, cap, texts_out, n_out);
}

const struct unseen__kind unseen__kind_expressions = {
    .name = "expressions",
    .texts_max = UNSEEN_EXPRESSIONS_MAX,
    .needs_url = true,
    .bound_factor = UNSEEN__URL_BOUND_FACTOR,
    .bound_extra = UNSEEN__URL_BOUND_EXTRA + 2 * UNSEEN__URL_BOUND_FACTOR, /* for the brackets */
    .invalid = "is no URL and no site or folder",
    .dangerous = "is a bare top-level domain or a name without a dot",
    .entry = expressions_entry,
    .texts = expressions_texts,
};
