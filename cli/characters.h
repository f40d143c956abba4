/* SPDX-License-Identifier: MIT
 *
 * Letters and digits of ASCII, whatever the locale is. */
#ifndef UNSEEN_CLI_CHARACTERS_H
#define UNSEEN_CLI_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads the decimal digits that text[0..len) begins with. Returns how many there are. A number too
 * large for 64 bits becomes the largest. */
static inline size_t read_decimal(const char *text, size_t len, uint64_t *number_out)
{
    uint64_t number = 0;
    size_t n = 0;
    for (; n < len && is_digit(text[n]); n++) {
        const uint64_t digit = (uint64_t)(text[n] - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *number_out = number;
    return n;
}

/* The hexadecimal digit of the lowest four bits. */
static inline char hex_digit(unsigned value)
{
    return "0123456789abcdef"[value & 15];
}

/* The value of a digit of either case; -1 for any other character. */
static inline int hex_value(char c)
{
    return is_digit(c)            ? c - '0'
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
