/* SPDX-License-Identifier: MIT
 *
 * ASCII characters, independent of the locale, and macros for tables with one entry for each
 * byte. */
#ifndef UNSEEN_URL_ASCII_H
#define UNSEEN_URL_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_ascii_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline bool is_ascii_alnum(char c)
{
    return is_ascii_digit(c) || is_ascii_letter(c);
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool is_ascii_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies in[0..len) to out in lower case; returns the end. */
static inline char *ascii_copy_lower(const char *in, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        *out++ = ascii_lower(in[i]);
    }
    return out;
}

/* Are all bytes of in[0..len) ASCII? */
static inline bool is_ascii_text(const char *in, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++) {
        all |= (unsigned char)in[i];
    }
    return all < 0x80;
}

/* Are all bytes of in[0..len) digits? So are none. */
static inline bool is_ascii_digits(const char *in, size_t len)
{
    size_t i = 0;
    while (i < len && is_ascii_digit(in[i])) {
        i++;
    }
    return i == len;
}

/* Reads a decimal number of at most max, which is far below UINT_MAX / 10; nothing is 0. Returns
 * false if in[0..len) is another text. */
static inline bool ascii_read_number(const char *in, size_t len, unsigned max, unsigned *value_out)
{
    unsigned value = 0;
    for (size_t i = 0; i < len && value <= max; i++) {
        if (!is_ascii_digit(in[i])) {
            return false;
        }
        value = value * 10 + (unsigned)(in[i] - '0');
    }
    *value_out = value;
    return value <= max;
}

/* Writes a decimal number; returns the end. */
static inline char *ascii_write_number(unsigned value, char *out)
{
    char digits[10];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0) {
        *out++ = digits[--n];
    }
    return out;
}

/* The initialiser {ASCII_TABLE(F)} of an array with F(byte) for each byte. F is a macro, so that
 * the compiler makes the table. */
#define ASCII_TABLE4(F, c) F(c), F((c) + 1), F((c) + 2), F((c) + 3)
#define ASCII_TABLE16(F, c)                                                                        \
    ASCII_TABLE4(F, c), ASCII_TABLE4(F, (c) + 4), ASCII_TABLE4(F, (c) + 8),                        \
        ASCII_TABLE4(F, (c) + 12)
#define ASCII_TABLE64(F, c)                                                                        \
    ASCII_TABLE16(F, c), ASCII_TABLE16(F, (c) + 16), ASCII_TABLE16(F, (c) + 32),                   \
        ASCII_TABLE16(F, (c) + 48)
#define ASCII_TABLE(F)                                                                             \
    ASCII_TABLE64(F, 0), ASCII_TABLE64(F, 64), ASCII_TABLE64(F, 128), ASCII_TABLE64(F, 192)

#endif
