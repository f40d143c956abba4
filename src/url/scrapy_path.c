/* SPDX-License-Identifier: MIT
 *
 * Paths of the scheme "scrapy": escapes are decoded where that changes nothing, and written anew.
 *
 * w3lib's answer is not always its own canonical form: its answer to %%341 is %41, and its answer
 * to %41 is A. If so, we leave one escape, so that canon(canon(x)) = canon(x). Such places are
 * marked "w3lib:" below.
 *
 * Version 2 never merges two paths that w3lib keeps apart: what it writes in such a place is a
 * text to which w3lib gives the same answer as to the input. Version 1 did not always. */
#include <string.h>

#include "url/percent.h"
#include "url/scrapy.h"

/* ---- Both versions --------------------------------------------------------------------------- */

/* Would the escape %XX of these two digits be written again as it is? */
static bool is_stable_escape(unsigned version, const char *digits)
{
    const int value = unseen__hex_value(digits[0]) * 16 + unseen__hex_value(digits[1]);
    return scrapy_path_keeps_escape(version, value) && !SCRAPY_LOWER(digits[0]) &&
           !SCRAPY_LOWER(digits[1]);
}

/* Whether the text is a scheme, if a colon follows. w3lib: a path a%3Ab without a scheme becomes
 * a:b, which has one. */
static bool is_scheme(unsigned version, const char *start, const char *out)
{
    return unseen__scrapy_scheme_end(version, start, out) == out;
}

/* Whether the last three characters written are an escape that the input does not have and that is
 * read in another way next time. `percent` is the last '%' that starts no escape of the input, or
 * NULL. */
static bool is_new_escape(unsigned version, const char *percent, const char *out)
{
    return percent && out - percent == 3 && unseen__hex_value(percent[1]) >= 0 &&
           unseen__hex_value(percent[2]) >= 0 && !is_stable_escape(version, percent + 1);
}

/* ---- Version 1 ------------------------------------------------------------------------------- */

/* Writes the path, with the semicolons of its last segment escaped or not. *semicolon_out is the
 * first one that was decoded, if any. */
static char *write_path_as(struct unseen_bytes path, struct unseen__scrapy_path context,
                           bool keep_semicolons, char *out, char **semicolon_out)
{
    const char *const end = path.data + path.len;
    const char *segment = end; /* the last one */
    while (segment > path.data && segment[-1] != '/') {
        segment--;
    }
    char *const start = out;
    char *percent = NULL; /* the last '%' written that starts no escape of the input */
    bool colon = false;
    *semicolon_out = NULL;
    for (const char *at = path.data; at < end;) {
        const int value = unseen__percent_value(at, end);
        const char c = value < 0 ? *at : (char)value;
        const bool ends_scheme =
            c == ':' && context.may_be_scheme && !colon && is_scheme(1, start, out);
        /* w3lib: a%3B becomes a;, the start of params, which is dropped if they are empty. */
        const bool starts_params = c == ';' && value >= 0 && at >= segment && context.has_params;
        colon = colon || c == ':';
        at += value < 0 ? 1 : 3;
        if ((value >= 0 && (c == '/' || c == '?')) || !scrapy_is(c, SCRAPY__PATH) || ends_scheme ||
            (starts_params && keep_semicolons)) {
            out = unseen__percent_write(out, (unsigned char)c);
            continue;
        }
        if (starts_params && !*semicolon_out) {
            *semicolon_out = out;
        }
        if (c == '%') {
            percent = out;
        }
        *out++ = c;
        /* w3lib: %2541 becomes %41, which becomes A. */
        if (is_new_escape(1, percent, out)) {
            memmove(percent + 3, percent + 1, 2);
            memcpy(percent + 1, "25", 2);
            out += 2;
            percent = NULL;
        }
    }
    return out;
}

static char *write_path_1(struct unseen_bytes path, struct unseen__scrapy_path context, char *out)
{
    char *semicolon;
    char *const end = write_path_as(path, context, false, out, &semicolon);
    if (!semicolon) {
        return end;
    }
    /* Next time, the text behind the semicolon is read as params, and the text before it as the
     * path. Neither may change then. */
    bool stable = semicolon > out && (semicolon + 1 < end || context.params_follow);
    for (const char *at = semicolon; at < end; at++) {
        stable = stable && scrapy_is(*at, SCRAPY__PARAMS);
    }
    return stable ? end : write_path_as(path, context, true, out, &semicolon);
}

/* ---- Version 2 ------------------------------------------------------------------------------- */

/* Writes the escape that `percent` starts by chance with its first digit escaped. */
static char *part_escape(char *percent)
{
    const char second = percent[2];
    char *const out = unseen__percent_write(percent + 1, (unsigned char)percent[1]);
    *out = second;
    return out + 1;
}

static char *write_path_2(struct unseen_bytes path, struct unseen__scrapy_path context, char *out)
{
    const char *const end = path.data + path.len;
    char *const start = out;
    char *percent = NULL; /* the last '%' written that starts no escape of the input */
    bool colon = false;
    for (const char *at = path.data; at < end;) {
        const int value = unseen__percent_value(at, end);
        const char c = value < 0 ? *at : (char)value;
        const bool ends_scheme =
            c == ':' && context.may_be_scheme && !colon && is_scheme(2, start, out);
        colon = colon || c == ':';
        at += value < 0 ? 1 : 3;
        if ((value >= 0 && scrapy_path_keeps_escape(2, value)) || !scrapy_is(c, SCRAPY__PATH) ||
            ends_scheme) {
            out = unseen__percent_write(out, (unsigned char)c);
            continue;
        }
        if (c == '%') {
            percent = out;
        }
        *out++ = c;
        /* w3lib: %%341 becomes %41, which becomes A. */
        if (is_new_escape(2, percent, out)) {
            out = part_escape(percent);
            percent = NULL;
        }
    }
    return out;
}

/* 1 for the segment ".", 2 for "..", 0 for any other. */
static int count_dots(const char *segment, size_t len)
{
    const bool dots = len >= 1 && len <= 2 && segment[0] == '.' && segment[len - 1] == '.';
    return dots ? (int)len : 0;
}

/* Resolves the segments "." and ".." of a path that starts with a slash. */
static char *resolve_dots(char *start, char *end)
{
    char *out = start;
    for (char *at = start; at < end;) {
        char *const segment = at + 1;
        char *const slash = memchr(segment, '/', (size_t)(end - segment));
        at = slash ? slash : end;
        const int ndots = count_dots(segment, (size_t)(at - segment));
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

/* ---- The whole ------------------------------------------------------------------------------- */

char *unseen__scrapy_write_path(unsigned version, struct unseen_bytes path,
                                struct unseen__scrapy_path context, char *out)
{
    if (version == 1) {
        return write_path_1(path, context, out);
    }
    char *const end = write_path_2(path, context, out);
    return *out == '/' ? resolve_dots(out, end) : end;
}
