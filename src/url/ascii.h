/* SPDX-License-Identifier: MIT
 *
 * Characters of ASCII, whatever the locale, and tables with one entry for each byte. */
#ifndef UNSEEN_URL_ASCII_H
#define UNSEEN_URL_ASCII_H

#include <stdbool.h>

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

/* The initialiser {ASCII_TABLE(F)} of an array with F(byte) for each byte. F is a macro, so that
 * compilers make the table. */
#define ASCII_TABLE4(F, c) F(c), F((c) + 1), F((c) + 2), F((c) + 3)
#define ASCII_TABLE16(F, c)                                                                        \
    ASCII_TABLE4(F, c), ASCII_TABLE4(F, (c) + 4), ASCII_TABLE4(F, (c) + 8),                        \
        ASCII_TABLE4(F, (c) + 12)
#define ASCII_TABLE64(F, c)                                                                        \
    ASCII_TABLE16(F, c), ASCII_TABLE16(F, (c) + 16), ASCII_TABLE16(F, (c) + 32),                   \
        ASCII_TABLE16(F, (c) + 48)
#define ASCII_TABLE(F)                                                                             \
    ASCII_TABLE64(F, 0), ASCII_TABLE64(F, 64), ASCII_TABLE64(F, 128), ASCII_TABLE64(F, 192)

/* The initialiser {ASCII_ROWS(F)} of the set of the ASCII bytes with F(byte), as 16 rows: bit h of
 * row i says whether the byte 16 h + i is in it. */
#define ASCII_ROW_BIT(F, i, h) (F(16 * (h) + (i)) ? 1 << (h) : 0)
#define ASCII_ROW(F, i)                                                                            \
    (ASCII_ROW_BIT(F, i, 0) | ASCII_ROW_BIT(F, i, 1) | ASCII_ROW_BIT(F, i, 2) |                    \
     ASCII_ROW_BIT(F, i, 3) | ASCII_ROW_BIT(F, i, 4) | ASCII_ROW_BIT(F, i, 5) |                    \
     ASCII_ROW_BIT(F, i, 6) | ASCII_ROW_BIT(F, i, 7))
#define ASCII_ROWS4(F, i)                                                                          \
    ASCII_ROW(F, i), ASCII_ROW(F, (i) + 1), ASCII_ROW(F, (i) + 2), ASCII_ROW(F, (i) + 3)
#define ASCII_ROWS(F) ASCII_ROWS4(F, 0), ASCII_ROWS4(F, 4), ASCII_ROWS4(F, 8), ASCII_ROWS4(F, 12)

#endif
