/* SPDX-License-Identifier: MIT
 *
 * Paths (WHATWG URL standard, section 4.4, "path start state" and "path state"): segments are
 * escaped, "." and ".." are resolved in every spelling (%2e too), and a file's drive letter is
 * protected. The path is kept serialised: the list of segments [a, b] is the text "/a/b", and the
 * empty list is the empty text. */
#include <string.h>

#include "url/ascii.h"
#include "url/percent.h"
#include "url/whatwg.h"

bool unseen__is_drive_letter(const char *in, size_t len)
{
    return len == 2 && is_ascii_letter(in[0]) && (in[1] == ':' || in[1] == '|');
}

bool unseen__is_normalized_drive_letter(const char *in)
{
    return is_ascii_letter(in[0]) && in[1] == ':';
}

bool unseen__starts_with_drive_letter(const char *in, const char *end)
{
    return end - in >= 2 && unseen__is_drive_letter(in, 2) &&
           (end - in == 2 || in[2] == '/' || in[2] == '\\' || in[2] == '?' || in[2] == '#');
}

int unseen__count_dots(const char *in, size_t len)
{
    int n = 0;
    const char *const end = in + len;
    while (in < end) {
        if (*in == '.') {
            in++;
        } else if (unseen__percent_value(in, end) == '.') {
            in += 3;
        } else {
            return 0;
        }
        if (++n > 2) {
            return 0;
        }
    }
    return n;
}

void unseen__path_shorten(struct unseen__url_record *url)
{
    const char *const path = url->text + url->path_start;
    const size_t len = url->len - url->path_start;
    if (url->scheme == UNSEEN__SCHEME_FILE && len == 3 &&
        unseen__is_normalized_drive_letter(path + 1)) {
        return;
    }
    while (url->len > url->path_start) {
        url->len--;
        if (url->text[url->len] == '/') {
            break;
        }
    }
}

/* All four delimiters are in the userinfo set, so one look-up passes over most bytes. */
const char *unseen__find_delimiter(const char *in, const char *end, bool special)
{
    for (; in < end; in++) {
        if ((unseen__url_class[(unsigned char)*in] & UNSEEN__SET_USERINFO) &&
            (*in == '/' || *in == '?' || *in == '#' || (*in == '\\' && special))) {
            break;
        }
    }
    return in;
}

static void append_segment(struct unseen__url_record *url, const char *in, size_t len)
{
    const bool drive = url->scheme == UNSEEN__SCHEME_FILE && url->len == url->path_start &&
                       unseen__is_drive_letter(in, len);
    unseen__put(url, '/');
    char *const out = url->text + url->len;
    char *const end = unseen__percent_encode(in, len, UNSEEN__SET_PATH, out);
    if (drive) {
        out[1] = ':';
    }
    url->len = (size_t)(end - url->text);
}

void unseen__path(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    const bool special = unseen__is_special(url);
    for (bool more = true; more;) {
        const char *const q = unseen__find_delimiter(p->at, p->end, special);
        const size_t len = (size_t)(q - p->at);
        more = q < p->end && (*q == '/' || *q == '\\');
        const int ndots = unseen__count_dots(p->at, len);
        if (ndots == 2) {
            unseen__path_shorten(url);
        }
        if (ndots == 0) {
            append_segment(url, p->at, len);
        } else if (!more) {
            unseen__put(url, '/'); /* a final dot segment leaves an empty segment */
        }
        p->at = q + more;
    }
}

void unseen__path_start(struct unseen__url_parser *p)
{
    const bool end = p->at == p->end;
    if (unseen__is_special(p->url)) {
        p->at += !end && (*p->at == '/' || *p->at == '\\');
        unseen__path(p);
    } else if (!end && *p->at != '?' && *p->at != '#') {
        p->at += *p->at == '/';
        unseen__path(p);
    }
}

/* ---- Paths of other schemes ------------------------------------------------------------------ */

/* 1 for the segment ".", 2 for "..", 0 for any other; no dot is escaped. */
static int plain_dots(const char *segment, size_t len)
{
    const bool dots = len >= 1 && len <= 2 && segment[0] == '.' && segment[len - 1] == '.';
    return dots ? (int)len : 0;
}

char *unseen__resolve_dots(char *start, char *end)
{
    char *out = start;
    for (char *at = start; at < end;) {
        char *const segment = at + 1;
        char *const slash = memchr(segment, '/', (size_t)(end - segment));
        at = slash ? slash : end;
        const int ndots = plain_dots(segment, (size_t)(at - segment));
        if (ndots == 2 && out > start) {
            do {
                out--;
            } while (*out != '/');
        }
        const size_t len = ndots == 0 ? (size_t)(at - segment) + 1 : at == end;
        memmove(out, ndots == 0 ? segment - 1 : "/", len);
        out += len;
    }
    return out;
}
