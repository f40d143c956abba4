/* SPDX-License-Identifier: MIT */
#include "serve/line_reader.h"

#include <stdint.h>
#include <string.h>

/* The high bit of each byte that is not ASCII; and not 0 if one of the eight is a %. */
static uint64_t costly_bytes(const char *eight)
{
    const uint64_t low = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, eight, sizeof(word));
    const uint64_t differs = word ^ low * '%';
    return (word | ((differs - low) & ~differs)) & low << 7;
}

/* A byte that is not ASCII, or a %. Most texts have none. */
static bool has_costly_byte(const char *text, size_t len)
{
    uint64_t any = 0;
    if (len < 8) {
        for (size_t i = 0; i < len; i++) {
            any |= text[i] == '%' || (unsigned char)text[i] >= 0x80;
        }
        return any;
    }
    for (size_t i = 0; i + 8 < len; i += 8) {
        any |= costly_bytes(text + i);
    }
    return any | costly_bytes(text + len - 8);
}

bool line_reader_is_costly(struct unseen_bytes text)
{
    if (!has_costly_byte(text.data, text.len)) {
        return false;
    }
    /* The host ends at the first of these bytes behind the scheme and its slashes, unless what
     * stands before it is the part of a mail address before the @. */
    const char *const end = text.data + text.len;
    const char *const colon = memchr(text.data, ':', text.len);
    const char *at = colon ? colon + 1 : text.data;
    while (at < end && ((unsigned char)*at <= ' ' || *at == '/' || *at == '\\')) {
        at++;
    }
    while (at < end && *at != '/' && *at != '\\' && *at != '?' && *at != '#') {
        at++;
    }
    const bool is_all = memchr(at, '@', (size_t)(end - at)) != NULL;
    return has_costly_byte(text.data, is_all ? text.len : (size_t)(at - text.data));
}

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
