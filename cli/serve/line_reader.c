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
        if (!newline && !r->at_end && !too_long && !was_skipped) {
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

/* Bytes of the empty line at the front of text; 0 if another line stands there. */
static size_t empty_line(const char *text, size_t len, bool has_cr)
{
    if (len > 0 && text[0] == '\n') {
        return 1;
    }
    return has_cr && len > 1 && text[0] == '\r' && text[1] == '\n' ? 2 : 0;
}

/* Bytes up to the end of the first empty line; 0 if there is none yet. */
static size_t paragraph_len(struct line_reader *r, struct unseen_bytes rest, bool has_cr)
{
    const char *end = rest.data + rest.len;
    const char *at = rest.data + r->known;
    size_t len = r->known == 0 ? empty_line(at, rest.len, has_cr) : 0;
    while (len == 0 && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        len = empty_line(at, (size_t)(end - at), has_cr);
        if (len > 0) {
            len += (size_t)(at - rest.data);
        }
    }
    r->known = rest.len > 2 ? rest.len - 2 : 0; /* the empty line may have begun */
    return len;
}

enum reading line_reader_paragraph(struct line_reader *r, bool has_cr,
                                   struct unseen_bytes *lines_out)
{
    *lines_out = line_reader_rest(r);
    if (lines_out->len == 0) {
        return READING_NONE;
    }
    const size_t len = paragraph_len(r, *lines_out, has_cr);
    lines_out->len = len > 0 ? len : lines_out->len;
    if (len == 0 && lines_out->len <= r->longest) {
        return READING_NONE;
    }
    line_reader_take(r, lines_out->len);
    return lines_out->len > r->longest ? READING_LONG : READING_WHOLE;
}

bool line_reader_reserve(struct line_reader *r, size_t n)
{
    if (r->at > 0) {
        memmove(r->text.data, r->text.data + r->at, r->text.len - r->at);
        r->text.len -= r->at;
        r->at = 0;
    }
    return text_reserve(&r->text, n);
}

void line_reader_clear(struct line_reader *r)
{
    text_clear(&r->text);
    line_reader_take(r, 0);
    r->at = 0;
}
