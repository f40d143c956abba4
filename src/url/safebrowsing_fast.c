/* SPDX-License-Identifier: MIT
 *
 * The fast path of the scheme "safebrowsing": proves in one scan that a URL is its own canonical
 * form, up to its fragment and a missing slash behind its host. It may decline, but gives exactly
 * the answer of the slow path (safebrowsing.c).
 *
 *     http:// or https://, lower case
 *     a host of a-z 0-9 . - _ without empty labels, whose last label does not start with a digit
 *     then /, or ?, # or the end, where a / is put in
 *     no byte that is escaped, no escape that is decoded, no "//" and no "/." in the path
 *
 * For lists of sites a backslash in the path is a suspect, too: browsers take it for a slash. A URL
 * that passes is one that browsers leave as it is. */
#include "url/safebrowsing.h"

#include <string.h>

#include "url/ascii.h"
#include "url/fast.h"
#include "url/percent.h"

/* SLASH is chosen so that SLASH << 1 is SECOND: what may not follow a slash is found by one
 * shift. */
enum {
    IN_NAME = 1, /* may be in a host that needs no work, besides dots */
    ESCAPED = 2, /* escaped, or part of an escape, or # */
    SUSPECT = 4, /* to be looked at in a path */
    BACKSLASH = 8,
    SLASH = 0x40,
    SECOND = 0x80 /* / or . */
};

#define IS_NAME(c)                                                                                 \
    (((c) >= 'a' && (c) <= 'z') || ((c) >= '0' && (c) <= '9') || (c) == '-' || (c) == '_')
#define IS_ESCAPED(c) ((c) <= ' ' || (c) >= 0x7f || (c) == '#' || (c) == '%')
#define CLASS(c)                                                                                   \
    ((IS_NAME(c) ? IN_NAME : 0) | (IS_ESCAPED(c) ? ESCAPED : 0) |                                  \
     (IS_ESCAPED(c) || (c) == '?' ? SUSPECT : 0) | ((c) == '\\' ? BACKSLASH : 0) |                 \
     ((c) == '/' ? SLASH | SECOND : 0) | ((c) == '.' ? SECOND : 0))

static const uint8_t classes[256] = {ASCII_TABLE(CLASS)};

static inline unsigned class_of(char c)
{
    return classes[(unsigned char)c];
}

/* The end of a name that is certainly its own canonical form and not a number; else NULL. */
static const char *skip_name(const char *in, const char *end)
{
    const char *label = in;
    for (; in < end && *in != '/' && *in != '?' && *in != '#'; in++) {
        if (*in == '.') {
            if (in == label) {
                return NULL;
            }
            label = in + 1;
        } else if (!(class_of(*in) & IN_NAME)) {
            return NULL;
        }
    }
    return in == label || is_ascii_digit(*label) ? NULL : in;
}

/* Does this escape stay as it is? It is in upper case, its byte must be escaped, and its byte
 * cannot begin another escape. */
static bool is_final_escape(const char *in, const char *end)
{
    const int value = unseen__percent_value(in, end);
    return value >= 0 && (value <= ' ' || value >= 0x7f || value == '#') &&
           !(in[1] >= 'a' && in[1] <= 'f') && !(in[2] >= 'a' && in[2] <= 'f');
}

/* The first byte from at on that has one of the classes in mask, or that may not follow a slash.
 * Eight bytes are tested at a time. at is not the first byte of the input. */
static inline const char *next_in_path(const char *at, const char *end, unsigned mask)
{
    for (; end - at >= 8; at += 8) {
        unsigned all = 0;
        for (int i = 0; i < 8; i++) {
            const unsigned c = class_of(at[i]);
            all |= (c & mask) | (c & class_of(at[i - 1]) << 1 & SECOND);
        }
        if (all) {
            break;
        }
    }
    while (at < end &&
           !((class_of(*at) & mask) | (class_of(*at) & class_of(at[-1]) << 1 & SECOND))) {
        at++;
    }
    return at;
}

/* The first byte from at on that has to be looked at in a query. */
static const char *next_in_query(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        unsigned all = 0;
        for (int i = 0; i < 8; i++) {
            all |= class_of(at[i]);
        }
        if (all & ESCAPED) {
            break;
        }
    }
    while (at < end && !(class_of(*at) & ESCAPED)) {
        at++;
    }
    return at;
}

/* Returns the end of the canonical part of path and query, which is the end of the input or a #;
 * NULL to decline. */
static inline const char *skip_rest(const char *at, const char *end, unsigned suspects)
{
    for (bool query = false;; at++) {
        at = query ? next_in_query(at, end) : next_in_path(at, end, suspects);
        if (at == end || *at == '#') {
            return at;
        }
        if (*at == '%' && is_final_escape(at, end)) {
            at += 2;
        } else if (*at == '?') {
            query = true;
        } else {
            return NULL;
        }
    }
}

static inline bool answer_canonical(const char *in, size_t len, unsigned suspects, char *buf,
                                    size_t cap, struct unseen_canon *out)
{
    const char *const end = in + len;
    const size_t host = unseen__fast_scheme(in, len);
    const char *const host_end = host ? skip_name(in + host, end) : NULL;
    const char *const cut = host_end ? skip_rest(host_end, end, suspects) : NULL;
    if (!cut) {
        return false;
    }
    const bool lacks_slash = host_end == end || *host_end != '/';
    return unseen__fast_answer(in, len, (size_t)(host_end - in), lacks_slash, (size_t)(cut - in),
                               buf, cap, out);
}

static bool fast_safebrowsing(const struct unseen_url *url, const char *in, size_t len, char *buf,
                              size_t cap, struct unseen_canon *out)
{
    (void)url;
    return answer_canonical(in, len, SUSPECT, buf, cap, out);
}

bool unseen__fast_browsed(const struct unseen_url *url, const char *in, size_t len, char *buf,
                          size_t cap, struct unseen_canon *out)
{
    (void)url;
    return answer_canonical(in, len, SUSPECT | BACKSLASH, buf, cap, out);
}

unseen__url_fast_fn *unseen__url_safebrowsing_fast(enum unseen_cpu cpu, uint32_t rules)
{
    (void)cpu;
    (void)rules;
    return fast_safebrowsing;
}

/* ---- Texts that need no browser ---------------------------------------------------------------*/

/* Browsers resolve dot segments before the published rules decode escapes, so the path must have no
 * segment that may be one: it starts with a dot or an escape, or with a tab, which is removed. */
bool unseen__safebrowsing_reads_alike(const char *in, size_t len)
{
    const char *const end = in + len;
    const size_t host = unseen__fast_scheme(in, len);
    const char *at = host ? skip_name(in + host, end) : NULL;
    if (!at || (unsigned char)end[-1] <= ' ') {
        return false;
    }
    for (; at < end && *at != '?' && *at != '#'; at++) {
        if (*at == '\\' || (unsigned char)*at <= ' ' ||
            (*at == '/' && end - at >= 2 && (at[1] == '.' || at[1] == '%'))) {
            return false;
        }
    }
    return true;
}
