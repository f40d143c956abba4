/* SPDX-License-Identifier: MIT */
#include "url/patterns.h"

#include "url/ascii.h"
#include "url/percent.h"

/* Reads the next byte of a name, decoded, and moves *at behind it. */
static inline unsigned char next_byte(const char **at, const char *end, bool folds)
{
    const int value = **at == '%' ? unseen__percent_value(*at, end) : -1;
    const char c = value < 0 ? **at : (char)value;
    *at += value < 0 ? 1 : 3;
    return (unsigned char)(folds ? ascii_lower(c) : c);
}

/* 0 if the pattern matches the name. Else the order of their bytes: below 0 if the pattern comes
 * first, above 0 if the name comes first. */
static int compare(const struct unseen__pattern *pattern, const char *name, const char *end,
                   bool folds)
{
    for (size_t i = 0; i < pattern->len; i++) {
        if (name == end) {
            return 1;
        }
        const int difference =
            (int)(unsigned char)pattern->text[i] - (int)next_byte(&name, end, folds);
        if (difference != 0) {
            return difference;
        }
    }
    return name == end || pattern->is_start ? 0 : -1;
}

bool unseen__patterns_match(const struct unseen__patterns *patterns, const char *name, size_t len)
{
    const char *const end = name + len;
    if (len > 0) {
        const char *at = name;
        const unsigned char first = next_byte(&at, end, patterns->folds);
        if (!(patterns->first & UNSEEN__PATTERN_BIT(first))) {
            return false;
        }
    }
    size_t low = 0;
    size_t high = patterns->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(&patterns->at[middle], name, end, patterns->folds);
        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}
