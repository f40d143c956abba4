/* SPDX-License-Identifier: MIT
 *
 * The scheme "safebrowsing": the canonical form of Safe Browsing. expressions.c cuts the
 * expressions that lists of bad sites hold from this form. The code follows the published text;
 * where the text is silent, a comment says what is done. For lists a browser reads the URL first
 * (browsed.c), and the rules here apply to the host, path and query that it found. The profile does
 * not read as browsers do, because its form has to be its own: from http://168.0x..077/ the rules
 * make http://168.0x.077/, in which a browser sees an address.
 *
 *     trim, remove tabs and line ends, cut the fragment
 *     decode escapes until none is left
 *     scheme : // userinfo @ host : port   path   ? query
 *        |           |        |      |       |        |
 *      lower      dropped   dots,  dropped  dots,    kept
 *      case                 IPv4,          slashes
 *                           IPv6,
 *                           lower
 *     escape bytes up to space and from DEL, # and %
 *
 * Decoding comes first, so a %2F or %3F divides the URL like the byte it stands for.
 *
 * Reference: [SafeBrowsing], "URLs and hashing". */
#include "url/safebrowsing.h"

#include <string.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/name.h"
#include "url/percent.h"
#include "url/rules.h"

/* In what the forms differ: the one of the profile, the one that lists of sites are asked for, and
 * the one of their entries. */
struct form {
    char also;     /* a byte that is escaped in host and path, besides those that always are */
    bool reads_0x; /* "0x" without digits is the number 0, as in browsers */
    bool any_port; /* what stands behind the host and a ':' need not be digits */
};

static const struct form published = {'%', false, true};
static const struct form browsed = {'\\', true, true};
static const struct form browsed_entry = {'\\', true, false};

/* The parts that the canonical form keeps, decoded. They are rewritten where they stand. */
struct parts {
    struct unseen_bytes scheme;
    char *host;
    size_t host_len;
    struct unseen_bytes port; /* without its ':' */
    char *path;
    size_t path_len;
    struct unseen_bytes query; /* with its '?' */
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Appends c, and decodes the escape that c completes, if there is one. Escapes never overlap, and
 * decoding one leaves the others as they are, so the order does not matter. Decoding at once is the
 * same as decoding the whole text again and again, but takes linear time. */
static char *append_decoded(const char *start, char *out, char c)
{
    *out++ = c;
    for (int value; out - start >= 3 && (value = unseen__percent_value(out - 3, out)) >= 0;) {
        out -= 2;
        out[-1] = (char)value;
    }
    return out;
}

size_t unseen__decode_fully(const char *in, size_t len, char *out)
{
    const char *const start = out;
    for (size_t i = 0; i < len; i++) {
        out = append_decoded(start, out, in[i]);
    }
    return (size_t)(out - start);
}

/* Copies the input without outer space, tabs, line ends, fragment and escapes. */
static size_t copy_decoded(const char *in, size_t len, char *copy)
{
    if (len == 0) {
        return 0;
    }
    const char *end = in + len;
    while (in < end && is_ascii_space(*in)) {
        in++;
    }
    while (in < end && is_ascii_space(end[-1])) {
        end--;
    }
    char *out = copy;
    for (; in < end && *in != '#'; in++) {
        if (*in != '\t' && *in != '\n' && *in != '\r') {
            out = append_decoded(copy, out, *in);
        }
    }
    return (size_t)(out - copy);
}

/* The first / or ? in [in, end), or end. */
static char *authority_end(char *in, const char *end)
{
    while (in < end && *in != '/' && *in != '?') {
        in++;
    }
    return in;
}

/* Reads "scheme://" if it is there, or "//"; else the scheme is http, as for "e.com/a" and for
 * "e.com:80/a". false: another kind of URL, such as "mailto:a". */
static bool split_scheme(char **in, const char *end, struct unseen_bytes *scheme)
{
    char *at = *in;
    *scheme = (struct unseen_bytes){"http", 4};
    while (at < end && (unseen__url_class[(unsigned char)*at] & UNSEEN__FORBIDDEN_DOMAIN) == 0) {
        at++;
    }
    const bool named = at > *in && is_ascii_letter(**in);
    for (const char *c = *in; named && c < at; c++) {
        if (!(is_ascii_alnum(*c) || *c == '+' || *c == '-' || *c == '.')) {
            return true;
        }
    }
    if (named && end - at >= 3 && memcmp(at, "://", 3) == 0) {
        *scheme = (struct unseen_bytes){*in, (size_t)(at - *in)};
        *in = at + 3;
        return true;
    }
    if (end - *in >= 2 && memcmp(*in, "//", 2) == 0) {
        *in += 2;
        return true;
    }
    if (named && at < end && *at == ':') {
        return is_ascii_digits(at + 1, (size_t)(authority_end(at, end) - at) - 1);
    }
    return true;
}

/* Finds the host of an authority, without userinfo and port. The host may be empty, as in
 * http:///a; write_host refuses that, because the published text has a host in everything it looks
 * up. Returns false if something other than a port follows the bracket of an IPv6 address. */
static bool split_authority(char *in, char *end, struct parts *parts)
{
    for (char *at = end; at > in; at--) {
        if (at[-1] == '@') {
            in = at;
        }
    }
    char *host_end = in;
    if (in < end && *in == '[' && memchr(in, ']', (size_t)(end - in))) {
        host_end = (char *)memchr(in, ']', (size_t)(end - in)) + 1;
    } else {
        while (host_end < end && *host_end != ':') {
            host_end++;
        }
    }
    parts->host = in;
    parts->host_len = (size_t)(host_end - in);
    parts->port = (struct unseen_bytes){host_end, 0};
    if (host_end < end) {
        parts->port = (struct unseen_bytes){host_end + 1, (size_t)(end - host_end - 1)};
    }
    return host_end == end || *host_end == ':';
}

static bool split_parts(char *in, size_t len, struct parts *parts)
{
    char *const end = in + len;
    if (!split_scheme(&in, end, &parts->scheme)) {
        return false;
    }
    char *const path = authority_end(in, end);
    if (!split_authority(in, path, parts)) {
        return false;
    }
    char *const question = path < end ? memchr(path, '?', (size_t)(end - path)) : NULL;
    char *const path_end = question ? question : end;
    parts->path = path;
    parts->path_len = (size_t)(path_end - path);
    parts->query = (struct unseen_bytes){path_end, (size_t)(end - path_end)};
    return true;
}

/* ---- Host ------------------------------------------------------------------------------------ */

/* Drops the dots at both ends and all but one of each run, and makes letters small. */
static size_t tidy_name(char *host, size_t len)
{
    char *out = host;
    for (size_t i = 0; i < len; i++) {
        if (host[i] != '.' || (out > host && out[-1] != '.')) {
            *out++ = ascii_lower(host[i]);
        }
    }
    return (size_t)(out - host) - (out > host && out[-1] == '.');
}

/* Reads one part of an IPv4 address in decimal, octal (0...) or hexadecimal (0x...). Bits above the
 * 32nd are lost. */
static bool read_number(const char *in, const char *end, uint32_t *value_out)
{
    unsigned radix = 10;
    if (end - in >= 3 && in[0] == '0' && in[1] == 'x') {
        radix = 16;
        in += 2;
    } else if (end - in >= 2 && in[0] == '0') {
        radix = 8;
    }
    uint32_t value = 0;
    for (; in < end; in++) {
        const int digit = unseen__hex_value(*in);
        if (digit < 0 || (unsigned)digit >= radix) {
            return false;
        }
        value = value * radix + (unsigned)digit;
    }
    *value_out = value;
    return true;
}

/* Reads 1 to 4 numbers between dots: each is one byte of the address, and the last fills up the
 * rest. */
static bool read_ipv4(const char *in, size_t len, uint32_t *address_out)
{
    const char *const end = in + len;
    uint32_t address = 0;
    for (unsigned nbits = 32;; nbits -= 8) {
        const char *const dot = memchr(in, '.', (size_t)(end - in));
        uint32_t value;
        if (nbits == 0 || !read_number(in, dot ? dot : end, &value)) {
            return false;
        }
        if (!dot) {
            *address_out = address | (nbits == 32 ? value : value & ((1u << nbits) - 1));
            return true;
        }
        address |= (value & 0xff) << (nbits - 8);
        in = dot + 1;
    }
}

char *unseen__write_escaped(const char *in, size_t len, char also, char *out)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)in[i];
        if (c <= ' ' || c >= 0x7f || c == '#' || c == '%' || in[i] == also) {
            out = unseen__percent_write(out, c);
        } else {
            *out++ = in[i];
        }
    }
    return out;
}

/* Are the last two pieces an IPv4 address? They are under ::ffff:0:0/96, and under 64:ff9b::/96 of
 * NAT64. */
static bool holds_ipv4(const uint16_t pieces[8])
{
    static const uint16_t mapped[6] = {[5] = 0xffff};
    static const uint16_t nat64[6] = {0x64, 0xff9b};
    return memcmp(pieces, mapped, sizeof(mapped)) == 0 || memcmp(pieces, nat64, sizeof(nat64)) == 0;
}

/* Writes a host in brackets: an IPv6 address in its one spelling, or as IPv4 if it holds such an
 * address; anything else in small letters. */
static char *write_bracketed(char *host, size_t len, char also, char *out)
{
    uint16_t pieces[8];
    if (len >= 2 && host[len - 1] == ']' && unseen__ipv6_parse(host + 1, len - 2, pieces)) {
        if (holds_ipv4(pieces)) {
            return out + unseen__ipv4_write((uint32_t)pieces[6] << 16 | pieces[7], out);
        }
        *out++ = '[';
        out += unseen__ipv6_write(pieces, out);
        *out++ = ']';
        return out;
    }
    (void)ascii_copy_lower(host, len, host);
    return unseen__write_escaped(host, len, also, out);
}

/* Writes the host; returns its end, or NULL if there is none. */
static char *write_host(char *host, size_t len, const struct form *rules, char *out)
{
    if (len != 0 && host[0] == '[') {
        return write_bracketed(host, len, rules->also, out);
    }
    len = tidy_name(host, len);
    if (len == 0 || host[0] == '[') { /* dots stood before the bracket: this is not an address */
        return NULL;
    }
    size_t idna_len;
    const bool idna = !is_ascii_text(host, len) && name_to_ascii(host, len, out, &idna_len);
    if (idna) {
        idna_len = tidy_name(out, idna_len); /* IDNA makes dots of other full stops */
    }
    const char *const name = idna ? out : host;
    const size_t name_len = idna ? idna_len : len;
    uint32_t address;
    if (read_ipv4(name, name_len, &address) ||
        (rules->reads_0x && unseen__ipv4_parse(name, name_len, &address))) {
        return out + unseen__ipv4_write(address, out);
    }
    return idna ? out + idna_len : unseen__write_escaped(host, len, rules->also, out);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Writes the canonical form of a text to buf, from the start; the decoded text goes to its end. The
 * text may stand at the start of buf, too: it is not needed any more when the form is written.
 * Returns the length of the form; 0 if the text is not a URL. */
static size_t write_form(struct unseen_bytes text, const struct form *rules, char *buf, size_t cap,
                         struct unseen_bytes *port_out)
{
    char *const copy = buf + (cap - text.len);
    struct parts parts;
    if (!split_parts(copy, copy_decoded(text.data, text.len, copy), &parts) ||
        !(rules->any_port || is_ascii_digits(parts.port.data, parts.port.len))) {
        return 0;
    }
    char *end = ascii_copy_lower(parts.scheme.data, parts.scheme.len, buf);
    memcpy(end, "://", 3);
    end = write_host(parts.host, parts.host_len, rules, end + 3);
    if (!end) {
        return 0;
    }
    char *const path_end = unseen__resolve_dots(parts.path, parts.path + parts.path_len);
    const size_t path_len =
        unseen__collapse_slashes(NULL, parts.path, (size_t)(path_end - parts.path));
    if (path_len == 0) {
        *end++ = '/';
    }
    end = unseen__write_escaped(parts.path, path_len, rules->also, end);
    end = unseen__write_escaped(parts.query.data, parts.query.len, '%', end);
    *port_out = parts.port;
    return (size_t)(end - buf);
}

size_t unseen__safebrowsing_form(struct unseen_bytes text, char *buf, size_t cap,
                                 struct unseen_bytes *port_out)
{
    return write_form(text, &published, buf, cap, port_out);
}

/* Answers for in[0..len), which was read as this text. */
static void answer_form(struct unseen_bytes text, const struct form *rules, const char *in,
                        size_t len, char *buf, size_t cap, struct unseen_canon *out)
{
    struct unseen_bytes port;
    const size_t form_len = write_form(text, rules, buf, cap, &port);
    if (form_len == 0) {
        unseen__url_fail(out, in, len);
    } else {
        unseen__url_answer(out, in, len, buf, form_len);
    }
}

void unseen__url_safebrowsing(const struct unseen_url *url, const char *in, size_t len, char *buf,
                              size_t cap, struct unseen_canon *out)
{
    (void)url;
    answer_form((struct unseen_bytes){in, len}, &published, in, len, buf, cap, out);
}

/* The text that a browser reads is at most 3 len bytes and UNSEEN__TEXT_EXTRA, and decoding makes
 * less than len + UNSEEN__TEXT_EXTRA of it, so both and the form fit into the bound. A backslash
 * that was escaped stays escaped: as such it would be read as a slash next time. */
static void answer_browsed(const struct form *rules, const char *in, size_t len, char *buf,
                           size_t cap, struct unseen_canon *out)
{
    struct unseen_bytes text = {in, len};
    if (!unseen__safebrowsing_reads_alike(in, len) && !unseen__url_browsed(text, buf, cap, &text)) {
        text = (struct unseen_bytes){in, len};
    }
    answer_form(text, rules, in, len, buf, cap, out);
}

void unseen__url_safebrowsing_browsed(const struct unseen_url *url, const char *in, size_t len,
                                      char *buf, size_t cap, struct unseen_canon *out)
{
    (void)url;
    answer_browsed(&browsed, in, len, buf, cap, out);
}

void unseen__url_safebrowsing_entry(const struct unseen_url *url, const char *in, size_t len,
                                    char *buf, size_t cap, struct unseen_canon *out)
{
    (void)url;
    answer_browsed(&browsed_entry, in, len, buf, cap, out);
}
