/* SPDX-License-Identifier: MIT */
#include "import/requests_seen.h"

#include <string.h>

#include "characters.h"

enum {
    LENGTH_BYTES = 2
};

static bool push_bytes(struct requests_seen *r, struct unseen_bytes line)
{
    if (r->broken) {
        return true;
    }
    if (r->at > 0) {
        memmove(r->text.data, r->text.data + r->at, r->text.len - r->at);
        r->text.len -= r->at;
        r->at = 0;
    }
    return text_append(&r->text, line.data, line.len) && text_append(&r->text, "\n", 1);
}

bool requests_seen_push(struct requests_seen *r, struct unseen_bytes line)
{
    if (r->shape == REQUESTS_SEEN_UNKNOWN) {
        const bool bytes = line.len > 0 && line.data[0] == 0;
        r->shape = bytes ? REQUESTS_SEEN_BYTES : REQUESTS_SEEN_DIGITS;
    }
    if (r->shape == REQUESTS_SEEN_BYTES) {
        return push_bytes(r, line);
    }
    r->line = (struct unseen_bytes){line.data ? line.data : "", line.len};
    return true;
}

/* Python's text files on Windows make CR CR LF of a line end that is CR LF already. */
static struct unseen_bytes trim_returns(struct unseen_bytes line)
{
    while (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}

static bool is_digits(struct unseen_bytes line)
{
    for (size_t i = 0; i < line.len; i++) {
        const char c = line.data[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'f')) {
            return false;
        }
    }
    return line.len == FINGERPRINT_DIGITS;
}

static enum requests_seen_result next_digits(struct requests_seen *r,
                                             struct unseen_bytes *digits_out)
{
    if (!r->line.data) {
        return REQUESTS_SEEN_NOTHING;
    }
    const struct unseen_bytes line = trim_returns(r->line);
    r->line.data = NULL;
    if (!is_digits(line)) {
        return REQUESTS_SEEN_WRONG;
    }
    *digits_out = line;
    return REQUESTS_SEEN_FINGERPRINT;
}

static void write_digits(struct requests_seen *r, const unsigned char *bytes)
{
    for (size_t i = 0; i < r->width; i++) {
        r->digits[2 * i] = hex_digit(bytes[i] >> 4);
        r->digits[2 * i + 1] = hex_digit(bytes[i]);
    }
}

static enum requests_seen_result next_bytes(struct requests_seen *r,
                                            struct unseen_bytes *digits_out)
{
    const size_t rest = r->text.len - r->at;
    if (r->broken || rest < LENGTH_BYTES) {
        return REQUESTS_SEEN_NOTHING;
    }
    const unsigned char *p = (const unsigned char *)r->text.data + r->at;
    const size_t width = (size_t)p[0] << 8 | p[1];
    r->width = r->width ? r->width : width;
    if (width != r->width || width == 0 || width > FINGERPRINT_BYTES_MAX) {
        r->broken = true;
        return REQUESTS_SEEN_WRONG;
    }
    if (rest < LENGTH_BYTES + width) {
        return REQUESTS_SEEN_NOTHING;
    }
    write_digits(r, p + LENGTH_BYTES);
    r->at += LENGTH_BYTES + width;
    r->offset += LENGTH_BYTES + width;
    *digits_out = (struct unseen_bytes){r->digits, 2 * width};
    return REQUESTS_SEEN_FINGERPRINT;
}

enum requests_seen_result requests_seen_next(struct requests_seen *r,
                                             struct unseen_bytes *digits_out)
{
    return (r->shape == REQUESTS_SEEN_BYTES ? next_bytes : next_digits)(r, digits_out);
}

/* The reader adds a line end if the last line lacks it. */
bool requests_seen_is_whole(const struct requests_seen *r)
{
    const size_t rest = r->text.len - r->at;
    return r->shape != REQUESTS_SEEN_BYTES || r->broken || rest == 0 ||
           (rest == 1 && r->text.data[r->at] == '\n');
}

void requests_seen_release(struct requests_seen *r)
{
    text_release(&r->text);
    *r = (struct requests_seen){.shape = REQUESTS_SEEN_UNKNOWN};
}
