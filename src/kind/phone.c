/* SPDX-License-Identifier: MIT
 *
 * The kind "phone": an entry is one phone number. The canonical text is its digits, with a + in
 * front if the number is international (ITU-T E.164: 15 digits at most).
 *
 *     +49 (0)89 / 123-456    +4989123456    separators go, and "(0)", which nobody dials behind a +
 *     0049 89 123456         +4989123456    00 is how most of the world dials the +
 *     089 123456             089123456      a national number stays one: its country is unknown
 *     110                    110            short numbers have three digits or more
 *
 * So write international numbers both in lists and in questions. */
#include "kind/kind.h"

#include <string.h>

#include "url/ascii.h"

enum {
    DIGITS_MIN = 3,
    DIGITS_MAX = 15,
    TEXT_MAX = DIGITS_MAX + 3 /* the + or 00, and one digit too many */
};

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '-' || c == '.' || c == '(' || c == ')' || c == '/';
}

/* Writes the + and the digits. Returns their number; 0 if the text is not a phone number. */
static size_t write_dialled(struct unseen_bytes in, char *out)
{
    size_t len = 0;
    for (size_t i = 0; i < in.len; i++) {
        const char c = in.data[i];
        const bool international =
            len > 0 && (out[0] == '+' || (len > 1 && out[0] == '0' && out[1] == '0'));
        if (international && in.len - i >= 3 && memcmp(in.data + i, "(0)", 3) == 0) {
            i += 2;
        } else if (is_ascii_digit(c) || (c == '+' && len == 0)) {
            if (len == TEXT_MAX) {
                return 0;
            }
            out[len++] = c;
        } else if (!is_separator(c)) {
            return 0;
        }
    }
    return len;
}

/* Stores the number, or returns false if the text is not a phone number. No country code begins
 * with 0. */
static bool read_number(struct unseen_bytes in, char *buf, struct unseen_bytes *number_out)
{
    size_t len = write_dialled(without_blanks(in), buf);
    if (len >= 2 && buf[0] == '0' && buf[1] == '0') {
        buf[1] = '+';
        buf++;
        len--;
    }
    const bool international = len > 0 && buf[0] == '+';
    const size_t ndigits = len - international;
    *number_out = (struct unseen_bytes){buf, len};
    return ndigits >= DIGITS_MIN && ndigits <= DIGITS_MAX && !(international && buf[1] == '0');
}

static enum unseen_status phone_entry(const struct unseen__kind *kind, const struct unseen_url *url,
                                      struct unseen_bytes in, char *buf, size_t cap,
                                      struct unseen_bytes *entry_out,
                                      enum unseen_entry *fitness_out)
{
    (void)kind;
    (void)url;
    if (cap < TEXT_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    if (!read_number(in, buf, entry_out)) {
        return refuse_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    *fitness_out = UNSEEN_ENTRY_FINE;
    return UNSEEN_OK;
}

static enum unseen_status phone_texts(const struct unseen__kind *kind, const struct unseen_url *url,
                                      struct unseen_bytes in, char *buf, size_t cap,
                                      struct unseen_bytes *texts_out, size_t *n_out)
{
    (void)kind;
    (void)url;
    if (cap < TEXT_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    *n_out = read_number(in, buf, &texts_out[0]);
    return UNSEEN_OK;
}

const struct unseen__kind unseen__kind_phone = {
    .name = "phone",
    .id = "phone",
    .newest = UNSEEN_KIND_PHONE,
    .version = 1,
    .texts_max = 1,
    .bound_factor = 0,
    .bound_extra = TEXT_MAX,
    .invalid = "is not a phone number",
    .dangerous = "is not a phone number",
    .entry = phone_entry,
    .texts = phone_texts,
};
