/* SPDX-License-Identifier: MIT
 *
 * Hexadecimal digits. */
#ifndef UNSEEN_CLI_HEX_H
#define UNSEEN_CLI_HEX_H

/* The digit of the lowest four bits. */
static inline char hex_digit(unsigned value)
{
    return "0123456789abcdef"[value & 15];
}

/* The value of a digit of either case; -1 for any other character. */
static inline int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte that the two digits at text spell; -1 if one of them is not a digit. */
static inline int hex_byte(const char *text)
{
    const int high = hex_value(text[0]);
    const int low = hex_value(text[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

#endif
