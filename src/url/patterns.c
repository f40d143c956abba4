/* SPDX-License-Identifier: MIT */
#include "url/patterns.h"

#include "base/macros.h"
#include "url/ascii.h"
#include "url/percent.h"

void unseen__patterns_init(struct unseen__patterns *list, const struct unseen__pattern *at,
                           size_t n, bool folds)
{
    *list =
        (struct unseen__patterns){.at = at, .folds = folds, .matches_all = n > 0 && at[0].len == 0};
    size_t i = 0;
    for (size_t byte = 0; byte <= 256; byte++) {
        while (i < n && (at[i].len == 0 || (unsigned char)at[i].text[0] < byte)) {
            i++;
        }
        list->start[byte] = (uint16_t)i;
    }
}

/* Reads the next byte of a name, decoded, and moves *at behind it. */
UNSEEN_INLINE unsigned char next_byte(const char **at, const char *end, bool folds)
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

const struct unseen__pattern *unseen__patterns_find(const struct unseen__patterns *list,
                                                    const char *name, size_t len)
{
    if (list->matches_all) {
        return list->at;
    }
    if (len == 0) {
        return NULL;
    }
    const char *const end = name + len;
    const char *second = name;
    const unsigned char first = next_byte(&second, end, list->folds);
    size_t low = list->start[first];
    size_t high = list->start[first + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(&list->at[middle], name, end, list->folds);
        if (order == 0) {
            return &list->at[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
