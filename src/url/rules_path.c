/* SPDX-License-Identifier: MIT
 *
 * The rules for paths, and those for escapes, which queries have, too. No rule lower-cases anything
 * in a path. */
#include <string.h>

#include "url/percent.h"
#include "url/rules.h"

/* ---- Escapes ----------------------------------------------------------------------------------*/

size_t unseen__upper_escapes(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    char *const end = s + len;
    for (char *at = s; (at = memchr(at, '%', (size_t)(end - at)));) {
        do {
            const int value = unseen__percent_value(at, end);
            if (value >= 0) {
                unseen__percent_write(at, (unsigned char)value);
            }
            at += value >= 0 ? 3 : 1;
        } while (at < end && *at == '%');
    }
    return len;
}

/* Would c, written after out[0..n), complete an escape that the input does not have, as the 1 does
 * in "%4%31"? Such a byte stays escaped. */
static bool completes_escape(const char *out, size_t n, char c)
{
    if (unseen__hex_value(c) < 0) {
        return false;
    }
    return (n >= 1 && out[n - 1] == '%') ||
           (n >= 2 && out[n - 2] == '%' && unseen__hex_value(out[n - 1]) >= 0);
}

static bool is_unreserved(char c)
{
    return is_ascii_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/* The characters with a possible meaning of their own that may stand in a segment as they are. */
static bool is_reserved(char c)
{
    return c == '!' || c == '$' || (c >= '&' && c <= ',') || c == ':' || c == ';' || c == '=' ||
           c == '@';
}

/* Decodes the escapes of the characters that are wanted. */
static inline size_t decode(char *s, size_t len, bool is_wanted(char c))
{
    const char *first = memchr(s, '%', len);
    size_t n = first ? (size_t)(first - s) : len;
    for (size_t i = n; i < len;) {
        const int value = s[i] == '%' ? unseen__percent_value(s + i, s + len) : -1;
        const char c = (char)value;
        if (value < 0) {
            s[n++] = s[i++];
        } else if (is_wanted(c) && !completes_escape(s, n, c)) {
            s[n++] = c;
            i += 3;
        } else {
            for (int k = 0; k < 3; k++) {
                s[n++] = s[i++];
            }
        }
    }
    return n;
}

size_t unseen__decode_unreserved(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    return decode(s, len, is_unreserved);
}

size_t unseen__decode_reserved(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    return decode(s, len, is_reserved);
}

/* ---- Slashes ----------------------------------------------------------------------------------*/

size_t unseen__collapse_slashes(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    size_t n = 0;
    while (n < len && !(s[n] == '/' && n > 0 && s[n - 1] == '/')) {
        n++;
    }
    for (size_t i = n; i < len; i++) {
        if (s[i] != '/' || s[n - 1] != '/') {
            s[n++] = s[i];
        }
    }
    return n;
}

size_t unseen__strip_slash(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    while (len > 1 && s[len - 1] == '/') {
        len--;
    }
    return len;
}

/* ---- Sessions ---------------------------------------------------------------------------------*/

/* Is the segment that ends at s[n) . or .. in some spelling? Cutting a parameter off such a segment
 * would turn it into a step through the tree. */
static bool ends_in_dots(const char *s, size_t n)
{
    size_t ndots = 0;
    while (n > 0 && s[n - 1] != '/' && ndots < 3) {
        const bool escaped = n >= 3 && unseen__percent_value(s + n - 3, s + n) == '.';
        if (!escaped && s[n - 1] != '.') {
            return false;
        }
        n -= escaped ? 3 : 1;
        ndots++;
    }
    return ndots == 1 || ndots == 2;
}

/* Drops ;jsessionid=... up to the end of its segment or the next parameter. */
static size_t strip_jsessionid(char *s, size_t len)
{
    const char *first = memchr(s, ';', len);
    size_t n = first ? (size_t)(first - s) : len;
    for (size_t i = n; i < len;) {
        if (s[i] == ';' && unseen__has_prefix(s + i, len - i, ";jsessionid=") &&
            !ends_in_dots(s, n)) {
            i++;
            while (i < len && s[i] != ';' && s[i] != '/') {
                i++;
            }
        } else {
            s[n++] = s[i++];
        }
    }
    return n;
}

/* The length of a segment such as (S(0123456789abcdefghijklmn)) or (A(...)S(...)F(...)), the form
 * in which ASP.NET writes a session into a path; 0 if s does not start with one. A session has 24
 * letters and digits. */
static size_t aspnet_len(const char *s, size_t len)
{
    bool has_session = false;
    size_t i = 1;
    while (i + 1 < len && is_ascii_letter(s[i]) && s[i + 1] == '(') {
        const size_t start = i + 2;
        size_t end = start;
        while (end < len && (is_ascii_alnum(s[end]) || s[end] == '-' || s[end] == '_')) {
            end++;
        }
        if (end == len || s[end] != ')') {
            return 0;
        }
        has_session = has_session || ((s[i] | 0x20) == 's' && end - start == 24);
        i = end + 1;
    }
    return has_session && i < len && s[i] == ')' ? i + 1 : 0;
}

/* Drops ;jsessionid=..., and the segments in which ASP.NET writes sessions, but not the last
 * segment. */
size_t unseen__strip_path_sessions(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    len = strip_jsessionid(s, len);
    const char *first = memchr(s, '(', len);
    size_t n = first ? (size_t)(first - s) : len;
    for (size_t i = n; i < len;) {
        const size_t segment =
            s[i] == '(' && n > 0 && s[n - 1] == '/' ? aspnet_len(s + i, len - i) : 0;
        if (segment > 0 && i + segment < len && s[i + segment] == '/') {
            i += segment + 1;
        } else {
            s[n++] = s[i++];
        }
    }
    return n;
}

/* ---- Index pages ------------------------------------------------------------------------------*/

/* The part of s[0..len) behind the last slash, if it is index.* or default.*; *ending_out is what
 * stands behind the dot. NULL if it is another. */
static char *find_index(char *s, size_t len, struct unseen_bytes *ending_out)
{
    char *name = s + len;
    while (name > s && name[-1] != '/') {
        name--;
    }
    const size_t name_len = (size_t)(s + len - name);
    const size_t stem = unseen__has_prefix(name, name_len, "index.")     ? 6
                        : unseen__has_prefix(name, name_len, "default.") ? 8
                                                                         : 0;
    *ending_out = (struct unseen_bytes){name + stem, name_len - stem};
    return stem > 0 ? name : NULL;
}

/* Takes the endings of pages only: a feed, a script or a style is not its folder. */
size_t unseen__strip_index(const struct unseen__rule_context *context, char *s, size_t len)
{
    (void)context;
    static const char *const pages[] = {"htm",  "html", "shtml", "xhtml", "php", "php3",
                                        "php4", "php5", "asp",   "aspx",  "jsp", "jspx",
                                        "cfm",  "cgi",  "pl",    "phtml", "do"};
    struct unseen_bytes ending;
    const char *name = find_index(s, len, &ending);
    for (size_t i = 0; name && i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strlen(pages[i]) == ending.len &&
            unseen__has_prefix(ending.data, ending.len, pages[i])) {
            return (size_t)(name - s);
        }
    }
    return len;
}
