/* SPDX-License-Identifier: MIT
 *
 * Code points: reads them from UTF-8, and looks them up in tables of ranges. */
#ifndef UNSEEN_BASE_UTF8_H
#define UNSEEN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads one code point of UTF-8 ([Yergeau03], section 4) from in[0..len), len > 0, and returns its
 * length; 0 if the bytes are not UTF-8. */
size_t unseen__utf8_read(const char *in, size_t len, uint32_t *point);

struct point_range {
    uint32_t first;
    uint32_t last;
};

static inline bool unseen__in_ranges(const struct point_range *ranges, size_t n, uint32_t point)
{
    if (point < ranges[0].first) {
        return false; /* most text is ASCII */
    }
    size_t at = 0; /* of the first range that ends at the code point or above */
    for (size_t end = n; at < end;) {
        const size_t middle = at + (end - at) / 2;
        if (ranges[middle].last < point) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at < n && point >= ranges[at].first;
}

/* True if the array `ranges`, which is sorted, has the code point. */
#define IN_RANGES(ranges, point)                                                                   \
    unseen__in_ranges((ranges), sizeof(ranges) / sizeof((ranges)[0]), (point))

#endif
