/* SPDX-License-Identifier: MIT
 *
 * CRLF is one line end. The splitter leaves the CR in the line, because whoever prints the line
 * wants its bytes; a comparison wants the text in front of it. Few files have a CR, so the lines
 * are only looked at first, without a branch for each. */
#include "unseen.h"

#include <string.h>

static size_t has_cr(struct unseen_bytes line)
{
    return line.len > 0 && line.data[line.len - 1] == '\r';
}

/* Looks at the delimiter behind an empty line. */
static size_t count_cr(const struct unseen_bytes *lines, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += lines[i].data[lines[i].len - (lines[i].len > 0)] == '\r';
    }
    return sum;
}

size_t unseen_lines_trim(const struct unseen_bytes *lines, size_t n, struct unseen_bytes *texts_out)
{
    const size_t ntrimmed = count_cr(lines, n);
    if (ntrimmed == 0) {
        if (n > 0 && texts_out != lines) {
            memcpy(texts_out, lines, n * sizeof(*lines));
        }
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        texts_out[i] = (struct unseen_bytes){lines[i].data, lines[i].len - has_cr(lines[i])};
    }
    return ntrimmed;
}
