/* SPDX-License-Identifier: MIT
 *
 * The WHATWG URL standard (https://url.spec.whatwg.org, the text of mid 2026): the basic URL parser
 * and the serialiser in one pass. This is the slow path of the profiles whatwg, crawl and
 * aggressive, and the specification of their fast path.
 *
 * There is one function per state of the standard, with the state's name. The standard goes through
 * its input character by character; a state here takes a whole component. "Pointer" is p->at, "c is
 * EOF" is p->at == p->end. Instead of a record of lists and strings the parser appends to the
 * serialised URL (whatwg.h draws it), which is possible because every component is final when the
 * next one starts.
 *
 * One deliberate difference: the standard decodes its input to code points first, and what is not
 * UTF-8 becomes U+FFFD. Here such bytes are escaped one by one, so that two different
 * inputs stay different. */
#include "url/whatwg.h"

#include <string.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/percent.h"

static const struct {
    const char *name;
    size_t len;
    enum unseen__scheme scheme;
    uint32_t port;
} special_schemes[] = {
    {"http", 4, UNSEEN__SCHEME_HTTP, 80}, {"https", 5, UNSEEN__SCHEME_HTTPS, 443},
    {"ws", 2, UNSEEN__SCHEME_WS, 80},     {"wss", 3, UNSEEN__SCHEME_WSS, 443},
    {"ftp", 3, UNSEEN__SCHEME_FTP, 21},   {"file", 4, UNSEEN__SCHEME_FILE, UINT32_MAX},
};
enum {
    NSPECIAL = sizeof(special_schemes) / sizeof(special_schemes[0])
};

static bool at_end(const struct unseen__url_parser *p)
{
    return p->at == p->end;
}

/* Is there a slash here, of the kinds that count for this scheme? */
static bool at_slash(const struct unseen__url_parser *p)
{
    return !at_end(p) && (*p->at == '/' || (*p->at == '\\' && unseen__is_special(p->url)));
}

static bool at_char(const struct unseen__url_parser *p, char c)
{
    return !at_end(p) && *p->at == c;
}

/* The end of the authority, or of the host of a file. */
static const char *authority_end(const struct unseen__url_parser *p)
{
    return unseen__find_delimiter(p->at, p->end, unseen__is_special(p->url));
}

/* Says why the text is not a URL, and returns false. */
static bool refuse(const struct unseen__url_parser *p, const char *reason, const char *in,
                   size_t len)
{
    unseen__url_refuse(p->trace, reason, in, len);
    return false;
}

static void append(struct unseen__url_record *url, const char *in, size_t len)
{
    if (len) {
        memcpy(url->text + url->len, in, len);
        url->len += len;
    }
}

static void append_encoded(struct unseen__url_record *url, const char *in, size_t len, unsigned set)
{
    url->len = (size_t)(unseen__percent_encode(in, len, set, url->text + url->len) - url->text);
}

/* ---- Path, query, fragment --------------------------------------------------------------------*/

static void fragment_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    url->query_end = url->len;
    if (at_end(p)) {
        return;
    }
    const size_t start = url->len;
    const size_t len = (size_t)(p->end - p->at);
    if (unseen__keeps_fragment(p->rules, len >= 2 ? p->at[1] : '\0')) {
        unseen__put(url, '#');
        append_encoded(url, p->at + 1, len - 1, UNSEEN__SET_FRAGMENT);
        unseen__url_note(p->trace, "escape", p->at, len, url->text + start, url->len - start);
    } else {
        unseen__url_note(p->trace, "no-keep-fragment", p->at, len, "", 0);
    }
}

/* The length of "#38;" or "#x26;" behind an & of a query, which is an & then, in a URL that was
 * copied from HTML; else 0. */
static size_t escaped_amp(const struct unseen__url_parser *p, const char *hash)
{
    const size_t len = (size_t)(p->end - hash);
    if (!(p->rules & UNSEEN__RULE_UNESCAPE_AMP) || !unseen__is_special(p->url) || hash[-1] != '&') {
        return 0;
    }
    if (len >= 4 && memcmp(hash, "#38;", 4) == 0) {
        return 4;
    }
    return len >= 5 && (hash[1] | 0x20) == 'x' && memcmp(hash + 2, "26;", 3) == 0 ? 5 : 0;
}

/* Appends what stands behind the ?. Returns the length of the query with the ?. */
static size_t append_query(const struct unseen__url_parser *p)
{
    const unsigned set = unseen__is_special(p->url) ? UNSEEN__SET_SPECIAL_QUERY : UNSEEN__SET_QUERY;
    const char *from = p->at + 1;
    for (;;) {
        const char *hash = memchr(from, '#', (size_t)(p->end - from));
        const char *end = hash ? hash : p->end;
        append_encoded(p->url, from, (size_t)(end - from), set);
        const size_t skipped = hash ? escaped_amp(p, hash) : 0;
        if (skipped == 0) {
            return (size_t)(end - p->at);
        }
        from = hash + skipped;
    }
}

/* Starts at ?, # or the end of the input. */
static void query_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    url->path_end = url->len;
    if (at_char(p, '?')) {
        unseen__put(url, '?');
        const size_t len = append_query(p);
        unseen__url_note(p->trace, "escape", p->at, len, url->text + url->path_end,
                         url->len - url->path_end);
        p->at += len;
    }
    fragment_state(p);
}

/* The serialiser's rule for a URL without a host whose path starts with an empty segment: without
 * "/." the path would be read as a host next time. */
static void protect_path(struct unseen__url_record *url)
{
    const size_t start = url->path_start;
    if (!url->has_host && !url->opaque_path && url->len - start >= 2 && url->text[start] == '/' &&
        url->text[start + 1] == '/') {
        memmove(url->text + start + 2, url->text + start, url->len - start);
        memcpy(url->text + start, "/.", 2);
        url->path_start += 2;
        url->len += 2;
    }
}

/* The rule that a trace names for a path that changed; of several rules the first. */
static const char *path_rule(const char *in, size_t len, size_t out_len)
{
    if (len == 0) {
        return "empty-path";
    }
    if (memchr(in, '\\', len)) {
        return "backslash";
    }
    return out_len < len ? "dot-segments" : "escape";
}

/* path is where the path began in the input, with its slash if there was one. */
static bool finish_path(struct unseen__url_parser *p, const char *path)
{
    struct unseen__url_record *url = p->url;
    const size_t path_len = (size_t)(p->at - path);
    const size_t out_len = url->len - url->path_start;
    unseen__url_note(p->trace, path_rule(path, path_len, out_len), path, path_len,
                     url->text + url->path_start, out_len);
    protect_path(url);
    query_state(p);
    return true;
}

static bool path_start_state(struct unseen__url_parser *p)
{
    const char *const path = p->at;
    p->url->authority_end = p->url->path_start = p->url->len;
    unseen__path_start(p);
    return finish_path(p, path);
}

static bool path_state(struct unseen__url_parser *p)
{
    const char *const path = p->at;
    unseen__path(p);
    return finish_path(p, path);
}

/* A space is kept, except right before ? or #: if that part were removed, the space would be lost
 * with it. */
static bool opaque_path_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    url->opaque_path = true;
    url->authority_end = url->path_start = url->len;
    const char *q = p->at;
    while (q < p->end && *q != '?' && *q != '#') {
        q++;
    }
    const bool final_space = q > p->at && q < p->end && q[-1] == ' ';
    const size_t len = (size_t)(q - p->at) - final_space;
    append_encoded(url, p->at, len, UNSEEN__SET_C0);
    if (final_space) {
        append(url, "%20", 3);
    }
    unseen__url_note(p->trace, "escape", p->at, len + final_space, url->text + url->path_start,
                     url->len - url->path_start);
    p->at = q;
    query_state(p);
    return true;
}

/* ---- Authority --------------------------------------------------------------------------------*/

/* The credentials in front of the last @; an empty user name with an empty password vanishes. */
static void append_credentials(struct unseen__url_record *url, const char *in, size_t len)
{
    const char *colon = memchr(in, ':', len);
    const size_t user_len = colon ? (size_t)(colon - in) : len;
    const size_t password_len = colon ? len - user_len - 1 : 0;
    append_encoded(url, in, user_len, UNSEEN__SET_USERINFO);
    if (password_len) {
        unseen__put(url, ':');
        append_encoded(url, colon + 1, password_len, UNSEEN__SET_USERINFO);
    }
    if (user_len || password_len) {
        unseen__put(url, '@');
    }
}

static uint32_t default_port(const struct unseen__url_record *url)
{
    for (size_t i = 0; i < NSPECIAL; i++) {
        if (special_schemes[i].scheme == url->scheme) {
            return special_schemes[i].port;
        }
    }
    return UINT32_MAX;
}

/* The digits behind the colon, up to the end of the authority. */
static bool port_state(struct unseen__url_parser *p, const char *end)
{
    struct unseen__url_record *url = p->url;
    const char *const start = p->at - 1;
    const size_t out_start = url->len;
    uint32_t port = 0;
    for (const char *q = p->at; q < end; q++) {
        if (!is_ascii_digit(*q)) {
            return refuse(p, "port-digits", start, (size_t)(end - start));
        }
        port = port * 10 + (uint32_t)(*q - '0');
        if (port > 65535) {
            return refuse(p, "port-range", start, (size_t)(end - start));
        }
    }
    if (p->at < end && port != default_port(url)) {
        unseen__put(url, ':');
        url->len = (size_t)(ascii_write_number(port, url->text + url->len) - url->text);
    }
    p->at = end;
    unseen__url_note(p->trace, "port", start, (size_t)(end - start), url->text + out_start,
                     url->len - out_start);
    return true;
}

/* The colon in front of the port: the first one that is not inside brackets. */
static const char *find_port(const char *in, const char *end)
{
    bool in_brackets = false;
    for (; in < end; in++) {
        if (*in == '[') {
            in_brackets = true;
        } else if (*in == ']') {
            in_brackets = false;
        } else if (*in == ':' && !in_brackets) {
            return in;
        }
    }
    return NULL;
}

/* Says what is wrong with a host that the parser does not take. */
static bool refuse_host(const struct unseen__url_parser *p, const char *in, size_t len)
{
    const bool special = unseen__is_special(p->url);
    const unsigned forbidden = special ? UNSEEN__FORBIDDEN_DOMAIN : UNSEEN__FORBIDDEN_HOST;
    const char *const end = in + len;
    bool ascii = true;
    if (len > 0 && in[0] == '[') {
        return refuse(p, "bad-ipv6", in, len);
    }
    for (const char *at = in; at < end; at++) {
        const int value = special ? unseen__percent_value(at, end) : -1;
        const unsigned char c = value < 0 ? (unsigned char)*at : (unsigned char)value;
        if (unseen__url_class[c] & forbidden && (c != '%' || value >= 0)) {
            return refuse(p, "bad-host", in, len);
        }
        ascii = ascii && c < 0x80;
        at += value < 0 ? 0 : 2;
    }
    return refuse(p, !ascii ? "bad-name" : memchr(in, '%', len) ? "bad-host" : "bad-ipv4", in, len);
}

static bool host_state(struct unseen__url_parser *p, const char *end)
{
    struct unseen__url_record *url = p->url;
    const char *colon = find_port(p->at, end);
    const char *const host_end = colon ? colon : end;
    const size_t host_len = (size_t)(host_end - p->at);
    if (host_len == 0 && (colon || unseen__is_special(url))) {
        return refuse(p, "no-host", p->at, (size_t)(end - p->at));
    }
    if (!unseen__host_append(p, p->at, host_len)) {
        return refuse_host(p, p->at, host_len);
    }
    p->at = host_end;
    if (colon) {
        p->at++;
        if (!port_state(p, end)) {
            return false;
        }
    }
    return path_start_state(p);
}

static void start_authority(struct unseen__url_record *url)
{
    append(url, "//", 2);
    url->has_host = true;
}

static bool authority_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    const char *const end = authority_end(p);
    const char *at_sign = end;
    while (at_sign > p->at && at_sign[-1] != '@') {
        at_sign--;
    }
    start_authority(url);
    if (at_sign > p->at) {
        const size_t len = (size_t)(at_sign - p->at);
        const size_t out_start = url->len;
        append_credentials(url, p->at, len - 1);
        unseen__url_note(p->trace, "userinfo", p->at, len, url->text + out_start,
                         url->len - out_start);
        p->at = at_sign;
        if (p->at == end) {
            return refuse(p, "no-host", p->at, 0);
        }
    }
    return host_state(p, end);
}

static bool special_authority_ignore_slashes_state(struct unseen__url_parser *p)
{
    const char *const start = p->at;
    while (at_slash(p)) {
        p->at++;
    }
    unseen__url_note(p->trace, "slashes", start, (size_t)(p->at - start), "//", 2);
    return authority_state(p);
}

/* ---- References -------------------------------------------------------------------------------*/

/* Copies userinfo, host and port of the base. */
static void copy_authority(struct unseen__url_parser *p)
{
    const struct unseen__url_record *base = p->base;
    struct unseen__url_record *url = p->url;
    /* Both schemes are equal here, so offsets in the base are offsets in the URL. */
    /* NOLINTNEXTLINE: callers have asked base_is_file, or whether there is a base */
    append(url, base->text + base->scheme_end, base->authority_end - base->scheme_end);
    url->has_host = base->has_host;
    url->host_start = base->host_start;
    url->host_end = base->host_end;
    url->authority_end = url->path_start = url->len;
}

static void copy_path(struct unseen__url_parser *p)
{
    const struct unseen__url_record *base = p->base;
    append(p->url, base->text + base->path_start, base->path_end - base->path_start);
    p->url->opaque_path = base->opaque_path;
}

static void copy_scheme(struct unseen__url_parser *p)
{
    p->url->scheme = p->base->scheme;
    append(p->url, p->base->text, p->base->scheme_end);
    p->url->scheme_end = p->url->len;
}

/* The common end of the relative and file states: authority and path are copied from the base. */
static bool after_base_path(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    protect_path(url);
    if (at_char(p, '?')) {
        query_state(p);
        return true;
    }
    const struct unseen__url_record *base = p->base;
    url->path_end = url->len;
    append(url, base->text + base->path_end, base->query_end - base->path_end);
    fragment_state(p);
    return true;
}

static bool relative_slash_state(struct unseen__url_parser *p)
{
    if (at_slash(p) && unseen__is_special(p->url)) {
        return special_authority_ignore_slashes_state(p);
    }
    if (at_char(p, '/')) {
        p->at++;
        return authority_state(p);
    }
    copy_authority(p);
    return path_state(p);
}

static bool relative_state(struct unseen__url_parser *p)
{
    if (at_slash(p)) {
        p->at++;
        return relative_slash_state(p);
    }
    copy_authority(p);
    copy_path(p);
    if (at_end(p) || *p->at == '?' || *p->at == '#') {
        return after_base_path(p);
    }
    unseen__path_shorten(p->url);
    return path_state(p);
}

/* ---- Files ------------------------------------------------------------------------------------*/

static void start_file(struct unseen__url_record *url)
{
    start_authority(url);
    url->host_start = url->host_end = url->len;
    url->authority_end = url->path_start = url->len;
}

static bool file_host_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    const char *const end = authority_end(p);
    const size_t len = (size_t)(end - p->at);
    start_file(url);
    if (unseen__is_drive_letter(p->at, len)) {
        return path_state(p);
    }
    if (len > 0) {
        if (!unseen__host_append(p, p->at, len)) {
            return refuse_host(p, p->at, len);
        }
        if (url->host_end - url->host_start == 9 &&
            memcmp(url->text + url->host_start, "localhost", 9) == 0) {
            url->len = url->host_end = url->host_start;
        }
        p->at = end;
    }
    return path_start_state(p);
}

static bool base_is_file(const struct unseen__url_parser *p)
{
    return p->base && p->base->scheme == UNSEEN__SCHEME_FILE;
}

static bool file_slash_state(struct unseen__url_parser *p)
{
    if (at_slash(p)) {
        p->at++;
        return file_host_state(p);
    }
    if (!base_is_file(p)) {
        start_file(p->url);
        return path_state(p);
    }
    copy_authority(p);
    const struct unseen__url_record *base = p->base;
    const char *const path = base->text + base->path_start;
    const size_t path_len = base->path_end - base->path_start;
    if (!unseen__starts_with_drive_letter(p->at, p->end) && path_len >= 3 &&
        unseen__is_normalized_drive_letter(path + 1) && (path_len == 3 || path[3] == '/')) {
        append(p->url, path, 3);
    }
    return path_state(p);
}

static bool file_state(struct unseen__url_parser *p)
{
    if (at_slash(p)) {
        p->at++;
        return file_slash_state(p);
    }
    if (!base_is_file(p)) {
        start_file(p->url);
        return path_state(p);
    }
    copy_authority(p);
    if (at_end(p) || *p->at == '?' || *p->at == '#') {
        copy_path(p);
        return after_base_path(p);
    }
    if (!unseen__starts_with_drive_letter(p->at, p->end)) {
        copy_path(p);
        unseen__path_shorten(p->url);
    }
    return path_state(p);
}

/* ---- Scheme -----------------------------------------------------------------------------------*/

static bool starts_with(const struct unseen__url_parser *p, const char *text, size_t len)
{
    return (size_t)(p->end - p->at) >= len && memcmp(p->at, text, len) == 0;
}

static bool no_scheme_state(struct unseen__url_parser *p)
{
    if (!p->base || (p->base->opaque_path && !at_char(p, '#'))) {
        const size_t len = (size_t)(p->end - p->at);
        return refuse(p, starts_with(p, "\xef\xbb\xbf", 3) ? "byte-order-mark" : "no-scheme", p->at,
                      len);
    }
    copy_scheme(p);
    if (p->base->opaque_path) {
        p->url->authority_end = p->url->path_start = p->url->len;
        copy_path(p);
        return after_base_path(p);
    }
    return base_is_file(p) ? file_state(p) : relative_state(p);
}

static bool special_scheme(struct unseen__url_parser *p)
{
    if (p->base && p->base->scheme == p->url->scheme && !starts_with(p, "//", 2)) {
        return relative_state(p);
    }
    return special_authority_ignore_slashes_state(p);
}

static bool after_scheme(struct unseen__url_parser *p)
{
    if (p->url->scheme == UNSEEN__SCHEME_FILE) {
        return file_state(p);
    }
    if (unseen__is_special(p->url)) {
        return special_scheme(p);
    }
    if (starts_with(p, "//", 2)) {
        p->at += 2;
        return authority_state(p);
    }
    if (at_char(p, '/')) {
        return path_start_state(p);
    }
    return opaque_path_state(p);
}

/* The length of the scheme in front of a colon; 0 if there is none. */
static size_t scheme_len(const char *in, size_t len)
{
    if (len == 0 || !is_ascii_letter(in[0])) {
        return 0;
    }
    size_t i = 1;
    while (i < len && (is_ascii_alnum(in[i]) || in[i] == '+' || in[i] == '-' || in[i] == '.')) {
        i++;
    }
    return i < len && in[i] == ':' ? i : 0;
}

static enum unseen__scheme find_scheme(const char *name, size_t len)
{
    for (size_t i = 0; i < NSPECIAL; i++) {
        if (special_schemes[i].len == len && memcmp(special_schemes[i].name, name, len) == 0) {
            return special_schemes[i].scheme;
        }
    }
    return UNSEEN__SCHEME_OTHER;
}

static bool scheme_start_state(struct unseen__url_parser *p)
{
    struct unseen__url_record *url = p->url;
    const size_t len = scheme_len(p->at, (size_t)(p->end - p->at));
    if (len == 0) {
        return no_scheme_state(p);
    }
    for (size_t i = 0; i < len; i++) {
        unseen__put(url, ascii_lower(p->at[i]));
    }
    url->scheme = find_scheme(url->text, len);
    unseen__url_note(p->trace, "scheme-case", p->at, len, url->text, len);
    unseen__put(url, ':');
    url->scheme_end = url->len;
    p->at += len + 1;
    return after_scheme(p);
}

/* ---- The input --------------------------------------------------------------------------------*/

static bool is_tab_or_newline(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

static bool is_outer(char c)
{
    return (unsigned char)c <= ' ';
}

static size_t skip_slashes(const char *in, size_t len)
{
    size_t i = 0;
    while (i < len && (in[i] == '/' || in[i] == '\\')) {
        i++;
    }
    return i;
}

/* Is the text a path, which names no host? It begins with one slash, or with a segment of dots. */
static bool is_path(const char *in, size_t len)
{
    const size_t nslashes = skip_slashes(in, len);
    const char *const start = in + nslashes;
    const char *const end = unseen__find_delimiter(start, in + len, true);
    return nslashes == 1 || unseen__count_dots(start, (size_t)(end - start)) > 0;
}

/* Does the text name a host and no scheme, as e.com/a and e.com:8080 do? The latter looks like a
 * scheme; a dot before the colon and only digits behind it tell it apart. */
static bool lacks_scheme(const char *in, size_t len, uint32_t rules)
{
    if ((rules & UNSEEN__RULE_DEFAULT_SCHEME) && is_path(in, len)) {
        return false;
    }
    const size_t name_len = scheme_len(in, len);
    if (name_len == 0) {
        return len > 0 && in[0] != '?' && in[0] != '#' && in[0] != ':';
    }
    size_t i = name_len + 1;
    while (i < len && is_ascii_digit(in[i])) {
        i++;
    }
    const bool port =
        i > name_len + 1 && (i == len || in[i] == '/' || in[i] == '?' || in[i] == '#');
    return port && memchr(in, '.', name_len);
}

struct unseen_bytes unseen__url_clean(const char *in, size_t len, char *copy,
                                      const struct unseen__url_trace *trace)
{
    const struct unseen_bytes whole = {in, len};
    while (len > 0 && is_outer(in[len - 1])) {
        len--;
    }
    while (len > 0 && is_outer(in[0])) {
        in++;
        len--;
    }
    unseen__url_note(trace, "outer-space", whole.data, whole.len, in, len);
    size_t ntabs = 0;
    for (size_t i = 0; i < len; i++) {
        ntabs += is_tab_or_newline(in[i]);
    }
    if (ntabs == 0) {
        return (struct unseen_bytes){in, len};
    }
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_tab_or_newline(in[i])) {
            copy[n++] = in[i];
        }
    }
    unseen__url_note(trace, "tab-newline", in, len, copy, n);
    return (struct unseen_bytes){copy, n};
}

/* Puts a missing scheme in front of a cleaned text, if a rule says so. copy has room for 7 bytes
 * more than the text, and the text may be in it. */
static struct unseen_bytes put_scheme(struct unseen_bytes text, uint32_t rules, char *copy,
                                      const struct unseen__url_trace *trace)
{
    if (!(rules & UNSEEN__RULE_DEFAULT_SCHEME) || !lacks_scheme(text.data, text.len, rules)) {
        return text;
    }
    const size_t nslashes = skip_slashes(text.data, text.len);
    memmove(copy + 7, text.data + nslashes, text.len - nslashes);
    memcpy(copy, "http://", 7);
    unseen__url_note(trace, "default-scheme", "", 0, "http:", 5);
    return (struct unseen_bytes){copy, text.len - nslashes + 7};
}

bool unseen__url_parse(const char *in, size_t len, const struct unseen__url_record *base,
                       uint32_t rules, char *buf, size_t cap, const struct unseen__url_trace *trace,
                       struct unseen__url_record *record)
{
    char *const copy = buf + cap - (len + 8);
    const struct unseen_bytes text =
        put_scheme(unseen__url_clean(in, len, copy, trace), base ? 0 : rules, copy, trace);
    const char *const start = text.data ? text.data : copy; /* an empty text may be NULL */
    *record = (struct unseen__url_record){.text = buf};
    struct unseen__url_parser p = {
        .at = start,
        .end = start + text.len,
        .base = base,
        .url = record,
        .rules = rules,
        .scratch = copy - (len + 8),
        .trace = trace,
    };
    return scheme_start_state(&p);
}

void unseen__url_whatwg_traced(const struct unseen_url *url, const char *in, size_t len, char *buf,
                               size_t cap, const struct unseen__url_trace *trace,
                               struct unseen_canon *out)
{
    struct unseen__url_record record;
    if (!unseen__url_parse(in, len, NULL, url->rules, buf, cap, trace, &record)) {
        unseen__url_fail(out, in, len);
        return;
    }
    unseen__url_apply_rules(&record, url, buf + record.len, trace);
    unseen__url_answer(out, in, len, record.text, record.len);
}

void unseen__url_whatwg(const struct unseen_url *url, const char *in, size_t len, char *buf,
                        size_t cap, struct unseen_canon *out)
{
    (void)cap; /* the parser copies to the end of its room: near the form, however large buf is */
    unseen__url_whatwg_traced(url, in, len, buf, unseen_url_bound(len, 0), NULL, out);
}
