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
