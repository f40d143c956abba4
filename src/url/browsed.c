/* SPDX-License-Identifier: MIT
 *
 * How a browser reads a text, for lists of bad sites: which host does it open, and which path does
 * it ask for? Safe Browsing's published rules read a text in another way, so a text could be
 * written that a browser opens at a listed site and that the rules look up elsewhere:
 *
 *     text                                  a browser opens                by the rules alone
 *     http:\\evil.example\login             http://evil.example/login      no host
 *     http://good.example%2f@evil.example/  http://evil.example/           good.example
 *
 * The WHATWG parser reads the text first. Text without a scheme is read as the address bar of a
 * browser reads it: with "http://" in front. If that is not a URL with a host, either, the
 * published rules alone have to do. */
#include <string.h>

#include "url/ascii.h"
#include "url/whatwg.h"

enum {
    PREFIX_LEN = 7 /* http:// */
};

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Does text[at..] begin with a port: digits, and then the end of an authority? */
static bool is_port(struct unseen_bytes text, size_t at)
{
    const size_t start = at;
    while (at < text.len && is_ascii_digit(text.data[at])) {
        at++;
    }
    return at > start && (at == text.len || is_slash(text.data[at]) || text.data[at] == '?' ||
                          text.data[at] == '#');
}

/* Returns what has to stand in front of the text to make it a URL: "" if it has a scheme, or if it
 * is a path. A name with a port, such as e.com:80/a, looks like a scheme. */
static const char *missing_prefix(struct unseen_bytes text)
{
    size_t at = 0;
    if (text.len >= 2 && is_slash(text.data[0]) && is_slash(text.data[1])) {
        return "http:";
    }
    if (text.len == 0 || is_slash(text.data[0])) {
        return "";
    }
    while (at < text.len && (is_ascii_alnum(text.data[at]) || text.data[at] == '+' ||
                             text.data[at] == '-' || text.data[at] == '.')) {
        at++;
    }
    const bool is_scheme = is_ascii_letter(text.data[0]) && at < text.len && text.data[at] == ':';
    return is_scheme && !is_port(text, at + 1) ? "" : "http://";
}

/* Writes what stands before the text and the text; returns the whole. */
static struct unseen_bytes prefixed(const char *prefix, struct unseen_bytes text, char *out)
{
    const size_t len = strlen(prefix);
    memcpy(out, prefix, len);
    memcpy(out + len, text.data, text.len);
    return (struct unseen_bytes){out, len + text.len};
}

static bool read_host(struct unseen_bytes text, char *buf, size_t cap,
                      struct unseen__url_record *record)
{
    return unseen__url_parse(text.data, text.len, NULL, 0, buf, cap, NULL, record) &&
           record->host_end > record->host_start;
}

/* The buffer: the record from its start; the prefixed text at its end, and before that the room
 * that the parser takes. The parts that nobody looks up, user, port and fragment, are cut out where
 * they stand. */
bool unseen__url_browsed(struct unseen_bytes in, char *buf, size_t cap,
                         struct unseen_bytes *text_out)
{
    struct unseen__url_record record;
    while (in.len > 0 && (unsigned char)in.data[0] <= ' ') {
        in.data++;
        in.len--;
    }
    if (!read_host(in, buf, cap, &record)) {
        const char *const prefix = missing_prefix(in);
        cap -= in.len + PREFIX_LEN;
        if (*prefix == '\0' || !read_host(prefixed(prefix, in, buf + cap), buf, cap, &record)) {
            return false;
        }
    }
    char *const text = record.text;
    char *end = text + record.scheme_end + 2; /* behind "//" */
    const size_t host_len = record.host_end - record.host_start;
    const size_t rest_len = record.query_end - record.path_start;
    memmove(end, text + record.host_start, host_len);
    end += host_len;
    memmove(end, text + record.path_start, rest_len);
    end += rest_len;
    *text_out = (struct unseen_bytes){text, (size_t)(end - text)};
    return true;
}
