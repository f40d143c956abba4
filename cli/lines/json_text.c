/* SPDX-License-Identifier: MIT
 *
 * Keys are in the stores of users: a value must have the same text in each version. */
#include "lines/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "lines/json_scan.h"

/* ---- Numbers and words ----------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at)) {
        at++;
    }
    return at;
}

enum bare {
    BARE_INTEGER,
    BARE_REAL,
    BARE_BOOL,
    BARE_NO_TEXT /* null, NaN, and what is not JSON */
};

static bool is_word(struct unseen_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

static enum bare bare_of(struct unseen_bytes text)
{
    const char *end = text.data + text.len;
    const char *at = text.data + (text.len > 0 && text.data[0] == '-');
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits) {
        return is_word(text, "true") || is_word(text, "false") ? BARE_BOOL : BARE_NO_TEXT;
    }
    if (*digits == '0' && at - digits > 1) {
        return BARE_NO_TEXT;
    }
    if (at == end) {
        return BARE_INTEGER;
    }
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits) {
            return BARE_NO_TEXT;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) {
            return BARE_NO_TEXT;
        }
    }
    return at == end ? BARE_REAL : BARE_NO_TEXT;
}

/* Puts 17 digits, ".0" if they look like an integer, and no '+' and leading zeros in the
 * exponent. */
static bool put_double(struct text *room, double value)
{
    char buf[40];
    (void)snprintf(buf, sizeof(buf), "%.17g", value);
    const char *exponent = strchr(buf, 'e');
    if (!exponent) {
        return text_append(room, buf, strlen(buf)) &&
               (strchr(buf, '.') || text_append(room, ".0", 2));
    }
    const char *digits = exponent + 1;
    const bool is_negative = *digits == '-';
    digits += *digits == '-' || *digits == '+';
    digits += strspn(digits, "0");
    return text_append(room, buf, (size_t)(exponent + 1 - buf)) &&
           text_append(room, "-", is_negative ? 1 : 0) && text_append(room, digits, strlen(digits));
}

static bool put_real(struct text *room, struct unseen_bytes text)
{
    const size_t at = room->len;
    if (!text_append(room, text.data, text.len) || !text_append(room, "", 1)) {
        return false;
    }
    const double value = strtod(room->data + at, NULL);
    room->len = at + (isinf(value) ? text.len : 0);
    return isinf(value) || put_double(room, value);
}

static enum unseen_status bare_text(struct unseen_bytes value, struct text *room,
                                    struct unseen_bytes *text_out)
{
    const size_t at = room->len;
    const enum bare bare = bare_of(value);
    if (bare == BARE_NO_TEXT) {
        return UNSEEN_OK;
    }
    if (bare != BARE_REAL) {
        *text_out = is_word(value, "-0") ? (struct unseen_bytes){value.data + 1, 1} : value;
        return UNSEEN_OK;
    }
    if (!put_real(room, value)) {
        return UNSEEN_ERR_NOMEM;
    }
    *text_out = (struct unseen_bytes){room->data + at, room->len - at};
    return UNSEEN_OK;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Appends what the text between quotes means. False without memory, or, with *valid_out false, if
 * an escape sequence is not valid. */
static bool put_decoded(struct text *room, struct unseen_bytes text, bool *valid_out)
{
    const char *at = text.data;
    const char *end = at + text.len;
    *valid_out = true;
    if (!text_reserve(room, text.len)) { /* decoding makes nothing longer */
        return false;
    }
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(room->data + room->len, at, plain);
        room->len += plain;
        at += plain;
        if (slash) {
            char bytes[JSON_BYTES_MAX];
            const size_t n = json_unescape(&at, end, bytes);
            if (n == 0) {
                *valid_out = false;
                return false;
            }
            memcpy(room->data + room->len, bytes, n);
            room->len += n;
        }
    }
    return true;
}

static enum unseen_status string_text(struct unseen_bytes value, struct text *room,
                                      struct unseen_bytes *text_out)
{
    const struct unseen_bytes text = {value.data + 1, value.len - 2};
    const size_t at = room->len;
    bool is_valid = true;
    if (text.len == 0 || !memchr(text.data, '\\', text.len)) {
        *text_out = text;
        return UNSEEN_OK;
    }
    if (put_decoded(room, text, &is_valid)) {
        *text_out = (struct unseen_bytes){room->data + at, room->len - at};
        return UNSEEN_OK;
    }
    room->len = at;
    return is_valid ? UNSEEN_ERR_NOMEM : UNSEEN_OK;
}

enum unseen_status json_text(struct unseen_bytes value, struct text *room,
                             struct unseen_bytes *text_out)
{
    *text_out = (struct unseen_bytes){NULL, 0};
    return json_is_container(value) ? UNSEEN_OK
           : value.data[0] == '"'   ? string_text(value, room, text_out)
                                    : bare_text(value, room, text_out);
}
