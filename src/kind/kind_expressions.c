/* SPDX-License-Identifier: MIT
 *
 * The kind "expressions": an entry is a site, a folder or a page, and covers everything below it. A
 * question makes the up to 48 host-suffix and path-prefix expressions of its URL ([SafeBrowsing],
 * src/url/expressions.c). An entry is the first, the most specific expression of its own URL:
 *
 *     evil.com, *.evil.com, .evil.com    evil.com/          the site and those below it
 *     http://evil.com/folder/            evil.com/folder/   the folder and what is in it
 *     evil.com/page?x=1                  evil.com/page?x=1  the page
 *     2001:db8::7                        [2001:db8::7]/     everything at that address
 *
 * Questions are read leniently: nearly any line looks like a URL. So entries are judged by more.
 * Taken for URLs, "jo@gmail.com" would block a mail provider, "0.0.0.0 evil.com",
 * "evil.com,malware" or a filter rule such as "||evil.com^" would block nothing at all, and
 * "2001:db8::/32" the address 0.0.7.209.
 *
 * Entries and questions are read as browsers read a URL (src/url/browsed.c): as Safe Browsing
 * published it, a URL could be spelt past a list. The path of a question is read in all the ways in
 * which proxies and servers read it, too (src/url/readings.c). */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/percent.h"
#include "url/safebrowsing.h"

enum {
    V6_LONGEST = 45 /* ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255 */
};

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool begins_with(struct unseen_bytes in, const char *text)
{
    const size_t len = strlen(text);
    return in.len >= len && memcmp(in.data, text, len) == 0;
}

/* Does the text begin with "scheme://" or "//"? */
static bool has_scheme(struct unseen_bytes in)
{
    size_t at = 0;
    while (at < in.len && (is_ascii_alnum(in.data[at]) || in.data[at] == '+' ||
                           in.data[at] == '-' || in.data[at] == '.')) {
        at++;
    }
    return begins_with(in, "//") || begins_with(without_first(in, at), "://");
}

/* Does something stand before the path that only a whole URL may have: the @ of a user, who would
 * be dropped, or an escape, which may be anything? */
static bool has_user(struct unseen_bytes in)
{
    for (size_t i = 0; i < in.len && in.data[i] != '/' && in.data[i] != '?'; i++) {
        if (in.data[i] == '@' || in.data[i] == '%') {
            return true;
        }
    }
    return false;
}

/* Refused: tabs are removed from URLs, so further columns of a line would become part of its
 * URL. */
static bool has_control(struct unseen_bytes in)
{
    for (size_t i = 0; i < in.len; i++) {
        if ((unsigned char)in.data[i] < ' ' || in.data[i] == 0x7f) {
            return true;
        }
    }
    return false;
}

static bool is_ipv4(struct unseen_bytes host)
{
    uint32_t address;
    return unseen__ipv4_parse_strict(host.data, host.len, &address);
}

/* Is the host an address, or a name that may be one? A name that ends in a number may not. */
static bool is_host(struct unseen_bytes host)
{
    uint16_t pieces[8];
    return host.data[0] == '['
               ? host.len > 2 && unseen__ipv6_parse(host.data + 1, host.len - 2, pieces)
               : unseen__is_domain(host) &&
                     (!unseen__ipv4_wanted(host.data, host.len) || is_ipv4(host));
}

static bool is_digits_and_dots(struct unseen_bytes in)
{
    for (size_t i = 0; i < in.len; i++) {
        if (!is_ascii_digit(in.data[i]) && in.data[i] != '.') {
            return false;
        }
    }
    return true;
}

/* Is it something else than the site or the page at an IPv4 address that it would be without a
 * scheme? A number such as 3221225991 is the serial of a zone, a row or an identifier, and
 * 192.0.2.0/24 is a network. */
static bool is_number(struct unseen_bytes in, struct unseen_bytes host, struct unseen_bytes path)
{
    const bool is_same = in.len >= host.len && memcmp(in.data, host.data, host.len) == 0;
    return is_ipv4(host) && in.data[0] != '[' && !has_scheme(in) &&
           (!is_same || (path.len > 0 && is_digits_and_dots(path)));
}

/* Does it begin with a single slash? That is a path, or a pattern for paths. */
static bool is_path(struct unseen_bytes in)
{
    return in.len > 0 && is_slash(in.data[0]) && (in.len == 1 || !is_slash(in.data[1]));
}

static bool ends_with_wildcard(struct unseen_bytes text)
{
    return text.len >= 2 && memcmp(text.data + text.len - 2, "/*", 2) == 0;
}

static enum unseen_entry judge_expression(struct unseen_bytes in, struct unseen_bytes text)
{
    const char *const slash = memchr(text.data, '/', text.len);
    const struct unseen_bytes host = {text.data, (size_t)(slash - text.data)};
    if (!is_host(host) || is_number(in, host, without_first(text, host.len + 1)) ||
        ends_with_wildcard(text)) {
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

/* Puts a bare IPv6 address into brackets, as lists of addresses have none. Other text stays. */
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
    struct unseen_bytes expressions[UNSEEN__EXPRESSIONS_MAX];
    char room[V6_LONGEST + 2];
    size_t n = 0;
    in = with_brackets(without_wildcard(without_blanks(in)), room);
    if (has_control(in) || is_path(in) || (!has_scheme(in) && has_user(in))) {
        return refuse_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    const enum unseen_status status = unseen__expressions_entry(url, in, buf, cap, expressions, &n);
    if (status != UNSEEN_OK) {
        return status;
    }
    const enum unseen_entry fitness =
        n > 0 ? judge_expression(in, expressions[0]) : UNSEEN_ENTRY_INVALID;
    if (fitness == UNSEEN_ENTRY_INVALID) {
        return refuse_entry(fitness, entry_out, fitness_out);
    }
    *entry_out = expressions[0];
    *fitness_out = fitness;
    return UNSEEN_OK;
}

static enum unseen_status expressions_texts(const struct unseen_url *url, struct unseen_bytes in,
                                            char *buf, size_t cap, struct unseen_bytes *texts_out,
                                            uint16_t *readings_out, size_t *n_out)
{
    if (cap < unseen_kind_bound(UNSEEN_KIND_EXPRESSIONS, in.len)) {
        return UNSEEN_ERR_SPACE;
    }
    char room[V6_LONGEST + 2];
    in = with_brackets(without_blanks(in), room);
    return unseen__expressions_read(url, in, buf, cap, texts_out, readings_out, n_out);
}

const struct unseen__kind unseen__kind_expressions = {
    .name = "expressions",
    .id = "expressions/1",
    .texts_max = UNSEEN__EXPRESSIONS_MAX,
    .needs_url = true,
    .bound_factor = UNSEEN__READ_BOUND_FACTOR,
    .bound_extra = UNSEEN__READ_BOUND_EXTRA + 2 * UNSEEN__READ_BOUND_FACTOR, /* and the brackets */
    .invalid = "is not a URL, a site or a folder",
    .dangerous = "is a bare top-level domain or a name without a dot",
    .entry = expressions_entry,
    .texts = expressions_texts,
};
