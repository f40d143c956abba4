/* SPDX-License-Identifier: MIT
 *
 * Paths of the scheme "scrapy": escapes are decoded where that changes nothing, and written anew.
 *
 * w3lib's answer is not always its own canonical form: its answer to %%341 is %41, and its answer
 * to %41 is A. If so, we leave one escape, so that canon(canon(x)) = canon(x). Such places are
 * marked "w3lib:" below.
 *
 * Two paths that w3lib keeps apart are never merged: what is written in such a place is a text to
 * which w3lib gives the same answer as to the input. */
#include "url/percent.h"
#include "url/scrapy.h"
#include "url/whatwg.h"

/* Would the escape %XX of these two digits be written again as it is? */
static bool is_stable_escape(const char *digits)
{
    const int value = unseen__hex_value(digits[0]) * 16 + unseen__hex_value(digits[1]);
    return scrapy_path_keeps_escape(value) && !SCRAPY_LOWER(digits[0]) && !SCRAPY_LOWER(digits[1]);
}

/* Whether the text is a scheme, if a colon follows. w3lib: a path a%3Ab without a scheme becomes
 * a:b, which has one. */
static bool is_scheme(const char *start, const char *out)
{
    return unseen__scrapy_scheme_end(start, out) == out;
}

/* Whether the last three characters written are an escape that the input does not have and that is
 * read in another way next time. `percent` is the last '%' that starts no escape of the input, or
 * NULL. */
static bool is_new_escape(const char *percent, const char *out)
{
    return percent && out - percent == 3 && unseen__hex_value(percent[1]) >= 0 &&
           unseen__hex_value(percent[2]) >= 0 && !is_stable_escape(percent + 1);
}

/* Writes the escape that `percent` starts by chance with its first digit escaped. */
static char *part_escape(char *percent)
{
    const char second = percent[2];
    char *const out = unseen__percent_write(percent + 1, (unsigned char)percent[1]);
    *out = second;
    return out + 1;
}

static char *write_path(struct unseen_bytes path, bool may_be_scheme, char *out)
{
    const char *const end = path.data + path.len;
    char *const start = out;
    char *percent = NULL; /* the last '%' written that starts no escape of the input */
    bool colon = false;
    for (const char *at = path.data; at < end;) {
        const int value = unseen__percent_value(at, end);
        const char c = value < 0 ? *at : (char)value;
        const bool ends_scheme = c == ':' && may_be_scheme && !colon && is_scheme(start, out);
        colon = colon || c == ':';
        at += value < 0 ? 1 : 3;
        if ((value >= 0 && scrapy_path_keeps_escape(value)) || !scrapy_is(c, SCRAPY__PATH) ||
            ends_scheme) {
            out = unseen__percent_write(out, (unsigned char)c);
            continue;
        }
        if (c == '%') {
            percent = out;
        }
        *out++ = c;
        /* w3lib: %%341 becomes %41, which becomes A. */
        if (is_new_escape(percent, out)) {
            out = part_escape(percent);
            percent = NULL;
        }
    }
    return out;
}

char *unseen__scrapy_write_path(struct unseen_bytes path, bool may_be_scheme, char *out)
{
    char *const end = write_path(path, may_be_scheme, out);
    return *out == '/' ? unseen__resolve_dots(out, end) : end;
}
