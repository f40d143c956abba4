/* SPDX-License-Identifier: MIT
 *
 * The kind "phone": an entry is one phone number. The canonical text is its digits, with a + in
 * front if the number is international (ITU-T E.164: 15 digits at most).
 *
 *     +49 (0)89 / 123-456    +4989123456    separators go, and "(0)", which nobody dials behind a +
 *     0049 89 123456         +4989123456    00 is how most of the world dials the +
 *     089 123456             089123456      a national number stays one: its country is unknown
 *     110                    110            short numbers have three digits or more
 *     (full-width digits)                   digits, + and separators of all scripts count
 *
 * So write international numbers both in lists and in questions, or give the list a country
 * (UNSEEN_KIND_PHONE_OF): its national numbers get the code of the country, in entries and in
 * questions. What is dialled in front of a number within a country goes:
 *
 *     of country 49: 089 123456               +4989123456
 *     of country 1: 1 212 555 0100            +12125550100
 *     of country 39: 06 1234567               +39061234567, where the 0 is a part of the number
 *
 * In a question "tel:" is dropped,
 * and so is an extension or what else follows the number behind ";", "x", "ext" or "#". */
#include "kind/kind.h"

#include <string.h>

#include "base/utf8.h"
#include "url/ascii.h"

enum {
    DIGITS_MIN = 3,
    DIGITS_MAX = 15,
    CODE_DIGITS = 3,                        /* of a country */
    TEXT_MAX = DIGITS_MAX + 3 + CODE_DIGITS /* the + or 00, one digit too many, and a code */
};

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '-' || c == '.' || c == '(' || c == ')' || c == '/';
}

/* ---- Other scripts --------------------------------------------------------------------------- */

/* The zeros of the decimal digits of Unicode 15 that keyboards have; nine digits follow each. */
static const uint32_t zeros[] = {0x660,   0x6f0,   0x7c0,   0x966,   0x9e6,  0xa66,  0xae6,
                                 0xb66,   0xbe6,   0xc66,   0xce6,   0xd66,  0xe50,  0xed0,
                                 0xf20,   0x1040,  0x17e0,  0x1810,  0xa620, 0xff10, 0x1d7ce,
                                 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1fbf0};

/* Characters between digits that people see as a blank, a dash or nothing at all, and the marks of
 * direction that address books put around numbers. */
static const struct point_range separators[] = {
    {0xa0, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},   {0x1680, 0x1680}, {0x180e, 0x180e},
    {0x2000, 0x2015}, {0x2028, 0x202f}, {0x205f, 0x2064}, {0x2066, 0x206f}, {0x2212, 0x2212},
    {0x3000, 0x3000}, {0x30fc, 0x30fc}, {0xfe63, 0xfe63}, {0xfeff, 0xfeff}, {0xff0d, 0xff0f}};

/* The ASCII character that a code point stands for in a phone number; 0 for none. */
static char ascii_of(uint32_t point)
{
    if (point < 0x80) {
        return (char)point;
    }
    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
        if (point - zeros[i] < 10) {
            return (char)('0' + (point - zeros[i]));
        }
    }
    if (IN_RANGES(separators, point)) {
        return ' ';
    }
    return point == 0xff08   ? '('
           : point == 0xff09 ? ')'
           : point == 0xff0b ? '+'
           : point == 0xff1b ? ';'
                             : 0;
}

/* Reads the character at the start of a text that is not empty, and moves the text behind it. */
static char take_char(struct unseen_bytes *in)
{
    uint32_t point;
    const size_t n = unseen__utf8_read(in->data, in->len, &point);
    const char c = n > 0 ? ascii_of(point) : '\0';
    *in = without_first(*in, n > 0 ? n : 1);
    return c;
}

/* Drops "(0)" at the start of the text; false if it is not there. */
static bool take_trunk_zero(struct unseen_bytes *in)
{
    struct unseen_bytes rest = *in;
    for (const char *c = "(0)"; *c; c++) {
        if (rest.len == 0 || take_char(&rest) != *c) {
            return false;
        }
    }
    *in = rest;
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Does an extension or a parameter begin with this character? */
static bool ends_number(char c)
{
    return c == ';' || c == ',' || c == '#' || (c | 0x20) == 'x' || (c | 0x20) == 'e';
}

static struct unseen_bytes without_scheme(struct unseen_bytes in)
{
    return in.len >= 4 && (in.data[0] | 0x20) == 't' && (in.data[1] | 0x20) == 'e' &&
                   (in.data[2] | 0x20) == 'l' && in.data[3] == ':'
               ? without_first(in, 4)
               : in;
}

/* Writes the + and the digits. Returns their number; 0 if the text is not a phone number. */
static size_t write_dialled(struct unseen_bytes in, bool is_question, char *out)
{
    size_t len = 0;
    while (in.len > 0) {
        const bool international =
            len > 0 && (out[0] == '+' || (len > 1 && out[0] == '0' && out[1] == '0'));
        if (international && take_trunk_zero(&in)) {
            continue;
        }
        const char c = take_char(&in);
        if (is_ascii_digit(c) || (c == '+' && len == 0)) {
            if (len == TEXT_MAX - CODE_DIGITS) {
                return 0;
            }
            out[len++] = c;
        } else if (is_question && len >= DIGITS_MIN && ends_number(c)) {
            return len;
        } else if (!is_separator(c)) {
            return 0;
        }
    }
    return len;
}

/* Stores the number, or returns false if the text is not a phone number. No country code begins
 * with 0. */
static bool read_phone(struct unseen_bytes in, bool is_question, char *buf,
                       struct unseen_bytes *number_out)
{
    in = without_blanks(in);
    size_t len = write_dialled(is_question ? without_scheme(in) : in, is_question, buf);
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

/* ---- Countries ------------------------------------------------------------------------------- */

/* What is dialled in front of a national number within a country, where that is not 0. */
static const struct {
    unsigned country;
    const char *prefix;
    size_t len; /* of the digits with the prefix; 0: any */
} trunks[] = {{1, "1", 11}, {7, "8", 11}, {36, "06", 0}, {39, "", 0}, {378, "", 0}, {379, "", 0}};

/* The number of digits to drop from a national number. */
static size_t trunk_len(unsigned country, struct unseen_bytes number)
{
    const char *prefix = "0";
    for (size_t i = 0; i < sizeof(trunks) / sizeof(trunks[0]); i++) {
        if (trunks[i].country == country) {
            const bool fits = trunks[i].len == 0 || trunks[i].len == number.len;
            prefix = fits ? trunks[i].prefix : "";
        }
    }
    const size_t len = strlen(prefix);
    return number.len > len && memcmp(number.data, prefix, len) == 0 ? len : 0;
}

bool unseen__phone_set_country(unsigned country, char *buf, struct unseen_bytes *number)
{
    char code[CODE_DIGITS + 1];
    size_t ncode = 0;
    if (number->data[0] == '+') {
        return true;
    }
    for (unsigned rest = country; rest > 0; rest /= 10) {
        code[CODE_DIGITS - ncode++] = (char)('0' + rest % 10);
    }
    code[CODE_DIGITS - ncode++] = '+';
    const struct unseen_bytes bare = without_first(*number, trunk_len(country, *number));
    memmove(buf + ncode, bare.data, bare.len);
    memcpy(buf, code + CODE_DIGITS + 1 - ncode, ncode);
    *number = (struct unseen_bytes){buf, ncode + bare.len};
    return number->len <= DIGITS_MAX + 1;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static enum unseen_status phone_entry(const struct unseen_url *url, struct unseen_bytes in,
                                      char *buf, size_t cap, struct unseen_bytes *entry_out,
                                      enum unseen_entry *fitness_out)
{
    (void)url;
    if (cap < TEXT_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    if (!read_phone(in, false, buf, entry_out)) {
        return refuse_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    *fitness_out = UNSEEN_ENTRY_FINE;
    return UNSEEN_OK;
}

static enum unseen_status phone_texts(const struct unseen_url *url, struct unseen_bytes in,
                                      char *buf, size_t cap, struct unseen_bytes *texts_out,
                                      uint16_t *readings_out, size_t *n_out)
{
    (void)url;
    if (cap < TEXT_MAX) {
        return UNSEEN_ERR_SPACE;
    }
    readings_out[0] = 1;
    *n_out = read_phone(in, true, buf, &texts_out[0]);
    return UNSEEN_OK;
}

const struct unseen__kind unseen__kind_phone = {
    .name = "phone",
    .id = "phone/1",
    .texts_max = 1,
    .bound_factor = 0,
    .bound_extra = TEXT_MAX,
    .invalid = "is not a phone number",
    .dangerous = "is not a phone number",
    .entry = phone_entry,
    .texts = phone_texts,
};
