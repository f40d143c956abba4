/* SPDX-License-Identifier: MIT
 *
 * The SURT key of a URL, by which web archives sort and look up their pages (CDX and CDXJ files):
 *
 *     http://www.Example.com:8080/A/?b=2&a=1  ->  com,example:8080)/a?a=1&b=2
 *
 * The published rules read a URL as Safe Browsing does (safebrowsing.c), but keep the port. Then
 * they drop www, session ids, the slash at the end of a path and an empty query, put everything
 * into lower case and sort the parameters. Each rule looks for sessions once, from the end,
 * wherever their text stands; the function does the same, because the keys must be equal to the
 * keys in files. */
#include <string.h>

#include "url/ascii.h"
#include "url/pieces.h"
#include "url/safebrowsing.h"
#include "url/url.h"

/* A text that is rewritten where it stands. */
struct text {
    char *at;
    size_t len;
};

static void take_out(struct text *text, size_t start, size_t end)
{
    memmove(text->at + start, text->at + end, text->len - end);
    text->len -= end - start;
}

/* ---- Sessions ---------------------------------------------------------------------------------*/

/* The number of letters, and of digits if `digits` is true, at the start of s[0..len). */
static size_t run_of(const char *s, size_t len, bool digits)
{
    size_t n = 0;
    while (n < len && (is_ascii_letter(s[n]) || (digits && is_ascii_digit(s[n])))) {
        n++;
    }
    return n;
}

/* The first byte is looked at by itself, because callers ask at each byte of a text. */
static bool starts_with(const char *s, size_t len, const char *prefix)
{
    if (len == 0 || *s != *prefix) {
        return false;
    }
    const size_t n = strlen(prefix);
    return len >= n && memcmp(s, prefix, n) == 0;
}

/* Where a session may end: at the next & or the end of the query, and at the & behind that. */
struct ends {
    size_t next;
    size_t second;
};

typedef size_t session_fn(const struct text *query, size_t start, const struct ends *ends,
                          const char *name);

/* The end of NAME= and 32 letters or digits; 0 if that does not stand at start. */
static size_t named_session(const struct text *query, size_t start, const struct ends *ends,
                            const char *name)
{
    const size_t value = start + strlen(name);
    return ends->next == value + 32 && run_of(query->at + value, 32, true) == 32 ? ends->next : 0;
}

/* aspsessionid, 8 letters, =, 24 letters */
static size_t asp_session(const struct text *query, size_t start, const struct ends *ends,
                          const char *name)
{
    const char *const more = query->at + start + strlen(name);
    return ends->next == start + strlen(name) + 33 && run_of(more, 8, false) == 8 &&
                   more[8] == '=' && run_of(more + 9, 24, false) == 24
               ? ends->next
               : 0;
}

/* cfid=...&cftoken=... */
static size_t coldfusion_session(const struct text *query, size_t start, const struct ends *ends,
                                 const char *name)
{
    static const char token[] = "&cftoken=";
    const size_t token_len = sizeof(token) - 1;
    return ends->next > start + strlen(name) &&
                   starts_with(query->at + ends->next, query->len - ends->next, token) &&
                   ends->second > ends->next + token_len
               ? ends->second
               : 0;
}

/* Takes out the last session of a kind, with the & behind it. */
static void strip_session(struct text *query, session_fn *session, const char *name)
{
    struct ends ends = {query->len, query->len};
    for (size_t i = query->len; i-- > 0;) {
        if (query->at[i] == '&') {
            ends = (struct ends){i, ends.next};
        }
        const size_t end =
            starts_with(query->at + i, query->len - i, name) ? session(query, i, &ends, name) : 0;
        if (end > 0) {
            take_out(query, i, end + (end < query->len));
            return;
        }
    }
}

static void strip_query_sessions(struct text *query)
{
    strip_session(query, named_session, "jsessionid=");
    strip_session(query, named_session, "phpsessid=");
    strip_session(query, named_session, "sid=");
    strip_session(query, asp_session, "aspsessionid");
    strip_session(query, coldfusion_session, "cfid=");
}

/* The length of a segment (x(24 letters or digits)...)/ or, if `bare`, (24 letters or digits)/;
 * 0 if s does not start with it. */
static size_t path_session(const char *s, size_t len, bool bare)
{
    size_t i = 1;
    if (bare) {
        i += run_of(s + i, len - i, true);
        return i == 25 && len > 26 && s[i] == ')' && s[i + 1] == '/' ? 27 : 0;
    }
    do {
        if (len - i < 28 || !is_ascii_letter(s[i]) || s[i + 1] != '(' ||
            run_of(s + i + 2, len - i - 2, true) != 24 || s[i + 26] != ')') {
            return 0;
        }
        i += 27;
    } while (s[i] != ')');
    return len > i + 1 && s[i + 1] == '/' ? i + 2 : 0;
}

/* The last ".aspx" of the path; 0 if there is none. */
static size_t find_aspx(const struct text *path)
{
    for (size_t i = path->len; i-- > 0;) {
        if (starts_with(path->at + i, path->len - i, ".aspx")) {
            return i;
        }
    }
    return 0;
}

/* Takes out the last session of each form that stands in front of a page of ASP.NET. */
static void strip_path_sessions(struct text *path)
{
    for (int bare = 0; bare < 2; bare++) {
        const size_t aspx = find_aspx(path);
        for (size_t i = aspx; i-- > 1;) {
            const size_t n = path->at[i] == '(' && path->at[i - 1] == '/'
                                 ? path_session(path->at + i, path->len - i, bare)
                                 : 0;
            if (n > 0 && i + n < aspx) {
                take_out(path, i, i + n);
                break;
            }
        }
    }
}

/* ---- Order of parameters ----------------------------------------------------------------------*/

/* Stands for the = behind a name while pieces are sorted: they are sorted by name, then by value,
 * and every byte of a name is above it. */
static const char name_end = '\x01';

/* Writes the pieces of the query, sorted, to out; returns the end. scratch has room for 8 bytes for
 * each piece. */
static char *write_sorted(const struct text *query, char *scratch, char *out)
{
    const struct unseen__pieces p = {query->at, query->at + query->len};
    uint32_t *const starts =
        (uint32_t *)(void *)(scratch + (sizeof(uint32_t) - (uintptr_t)scratch % sizeof(uint32_t)));
    size_t n = 0;
    bool in_name = true;
    starts[n++] = 0;
    for (size_t i = 0; i < query->len; i++) {
        if (query->at[i] == '&') {
            starts[n++] = (uint32_t)(i + 1);
            in_name = true;
        } else if (query->at[i] == '=' && in_name) {
            query->at[i] = name_end;
            in_name = false;
        }
    }
    unseen__sort_pieces(&p, starts, starts + n, n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            *out++ = '&';
        }
        for (const char *at = p.text + starts[i]; at < p.end && *at != '&'; at++) {
            *out++ = *at == name_end ? '=' : *at;
        }
    }
    return out;
}

/* ---- The start --------------------------------------------------------------------------------*/

/* The length of http: or https: at the start of a text; 0 if neither is there. */
static size_t scheme_len(struct unseen_bytes text)
{
    return starts_with(text.data, text.len, "http:")    ? 5
           : starts_with(text.data, text.len, "https:") ? 6
                                                        : 0;
}

/* Of several schemes, as in http://https://e.com, the last counts, and any number of slashes behind
 * it. room has len + 2 bytes. */
static struct unseen_bytes mend_start(struct unseen_bytes text, char *room)
{
    while (text.len > 0 && is_ascii_space(*text.data)) {
        text = (struct unseen_bytes){text.data + 1, text.len - 1};
    }
    for (;;) {
        const size_t n = scheme_len(text);
        if (n == 0) {
            return text;
        }
        size_t nslashes = 0;
        while (n + nslashes < text.len && text.data[n + nslashes] == '/') {
            nslashes++;
        }
        const size_t start = n + nslashes;
        const struct unseen_bytes rest = {text.data + start, text.len - start};
        if (nslashes == 2 && scheme_len(rest) > 0 &&
            starts_with(rest.data + scheme_len(rest), rest.len - scheme_len(rest), "//")) {
            text = rest;
            continue;
        }
        if (nslashes == 2) {
            return text;
        }
        memcpy(room, text.data, n);
        memcpy(room + n, "//", 2);
        memcpy(room + n + 2, rest.data, rest.len);
        return (struct unseen_bytes){room, n + 2 + rest.len};
    }
}

/* ---- The key ----------------------------------------------------------------------------------*/

/* The length of a www. or www2. at the start of a host. */
static size_t www_len(const char *host, size_t len)
{
    size_t n = len >= 3 && memcmp(host, "www", 3) == 0 ? 3 : 0;
    while (n > 0 && n < len && is_ascii_digit(host[n])) {
        n++;
    }
    return n > 0 && n < len && host[n] == '.' ? n + 1 : 0;
}

/* Writes a host, its labels from the last to the first; returns the end. */
static char *write_host(const char *host, size_t len, bool keep_www, char *out)
{
    const char *const start = host + (keep_www ? 0 : www_len(host, len));
    for (const char *end = host + len; end >= start;) {
        const char *label = end;
        while (label > start && label[-1] != '.') {
            label--;
        }
        memcpy(out, label, (size_t)(end - label));
        out += end - label;
        end = label - 1;
        if (end >= start) {
            *out++ = ',';
        }
    }
    return out;
}

/* Writes ":" and the port without leading zeros, if it is not the scheme's own; returns the end, or
 * NULL if it is not a port. */
static char *write_port(struct unseen_bytes port, bool https, char *out)
{
    unsigned value;
    if (!ascii_read_number(port.data, port.len, 65535, &value)) {
        return NULL;
    }
    if (value == 0 || value == (https ? 443 : 80)) {
        return out;
    }
    *out++ = ':';
    return ascii_write_number(value, out);
}

/* The form stands at the start of buf, the decoded text, which the port is a part of, and the
 * mended text at its end. The key is written behind the form, and the starts of parameters behind
 * the key. */
enum unseen_status unseen_url_surt(const void *data, size_t len, bool keep_www, void *buf,
                                   size_t cap, struct unseen_bytes *surt_out)
{
    const size_t bound = len > SIZE_MAX / 2 ? 0 : unseen_url_bound(2 * len, 0);
    *surt_out = (struct unseen_bytes){NULL, 0};
    if (bound == 0 || cap < bound) {
        return UNSEEN_ERR_SPACE;
    }
    if (len > UINT32_MAX / 4) {
        return UNSEEN_OK;
    }
    struct unseen_bytes port;
    char *const form = buf;
    const size_t room = bound - len - 2;
    const struct unseen_bytes text =
        mend_start((struct unseen_bytes){data, len}, (char *)buf + room);
    const size_t form_len = unseen__safebrowsing_form(text, form, room, &port);
    if (form_len == 0) {
        return UNSEEN_OK;
    }
    char *const host = (char *)memchr(form, ':', form_len) + 3; /* behind "://" */
    char *const form_end = form + form_len;
    char *const path_start = memchr(host, '/', (size_t)(form_end - host));
    for (char *at = host; at < form_end; at++) {
        *at = ascii_lower(*at);
    }
    char *const question = memchr(path_start, '?', (size_t)(form_end - path_start));
    struct text path = {path_start, (size_t)((question ? question : form_end) - path_start)};
    struct text query = {question ? question + 1 : form_end,
                         question ? (size_t)(form_end - question - 1) : 0};
    strip_path_sessions(&path);
    path.len -= path.len > 1 && path.at[path.len - 1] == '/';
    strip_query_sessions(&query);
    char *const start = form_end;
    char *out = write_host(host, (size_t)(path_start - host), keep_www, start);
    out = write_port(port, memcmp(form, "https:", 6) == 0, out);
    if (!out) {
        return UNSEEN_OK;
    }
    *out++ = ')';
    memcpy(out, path.at, path.len);
    out += path.len;
    if (query.len > 0) {
        *out++ = '?';
        out = write_sorted(&query, out + query.len, out);
    }
    *surt_out = (struct unseen_bytes){start, (size_t)(out - start)};
    return UNSEEN_OK;
}
