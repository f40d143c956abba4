/* SPDX-License-Identifier: MIT
 *
 * Finds one field of a line, for lists that carry more than a URL: `url TAB referrer TAB ...`.
 * Separators are single bytes and never quoted, as for cut(1). A format with quotes needs a parser
 * of its own in front. */
#include "unseen.h"

#include <string.h>

struct unseen_bytes unseen_lines_field(struct unseen_bytes line, char delimiter, size_t field)
{
    const struct unseen_bytes none = {NULL, 0};
    if (field == 0) {
        return none;
    }
    const char *at = line.data;
    size_t left = line.len;
    for (;;) {
        const char *end = left ? memchr(at, delimiter, left) : NULL;
        if (--field == 0) {
            return (struct unseen_bytes){at, end ? (size_t)(end - at) : left};
        }
        if (!end) {
            return none;
        }
        left -= (size_t)(end - at) + 1;
        at = end + 1;
    }
}
