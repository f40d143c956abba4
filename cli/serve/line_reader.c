/* SPDX-License-Identifier: MIT */
#include "serve/line_reader.h"

#include <string.h>

enum reading line_reader_line(struct line_reader *r, struct unseen_bytes *line_out)
{
    while (r->at < r->text.len) {
        const struct unseen_bytes rest = line_reader_rest(r);
        const char *newline = memchr(rest.data + r->known, '\n', rest.len - r->known);
        const size_t len = newline ? (size_t)(newline - rest.data) : rest.len;
        const bool too_long = len > r->longest;
        const bool was_skipped = r->skips;
        if (!newline && (!r->at_end || r->is_cut) && !too_long && !was_skipped) {
            r->known = rest.len;
            break;
        }
        r->skips = !newline && (was_skipped || too_long);
        line_reader_take(r, len + (newline != NULL));
        if (!was_skipped) {
            *line_out = (struct unseen_bytes){rest.data, len};
            return too_long ? READING_LONG : READING_WHOLE;
        }
    }
    return READING_NONE;
}

enum reading line_reader_paragraph(struct line_reader *r, bool has_cr,
                                   struct unseen_bytes *lines_out)
{
    const struct unseen_bytes rest = line_reader_rest(r);
    const char *newline;
    size_t at = r->known; /* the beginning of a line */
    bool whole = false;
    while (!whole && at < rest.len && (newline = memchr(rest.data + at, '\n', rest.len - at))) {
        const size_t len = (size_t)(newline - rest.data) - at;
        whole = len == 0 || (has_cr && len == 1 && rest.data[at] == '\r');
        at += len + 1;
    }
    r->known = at;
    *lines_out = (struct unseen_bytes){rest.data, whole ? at : rest.len};
    const bool too_long = lines_out->len > r->longest;
    if (!whole && !too_long) {
        return READING_NONE;
    }
    line_reader_take(r, lines_out->len);
    return too_long ? READING_LONG : READING_WHOLE;
}
