/* SPDX-License-Identifier: MIT
 *
 * Hexadecimal digits. */
#ifndef UNSEEN_CLI_HEX_H
#define UNSEEN_CLI_HEX_H

/* The value of a digit in either case; -1 for any other character. */
static inline int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that the two digits at text spell; -1 if one of them is not a digit. */
static inline int hex_byte(const char *text)
{
    const int high = hex_value(text[0]);
    const int low = hex_value(text[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

#endif
