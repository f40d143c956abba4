/* SPDX-License-Identifier: MIT
 *
 * Integers as text, eight digits at a time. Made for billions of lines, so no branch depends on
 * the digits. */
#ifndef UNSEEN_CLI_INTEGERS_H
#define UNSEEN_CLI_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    INTEGER_FAST_DIGITS = 16,
    INTEGER_TEXT_MAX = 32 /* integers_print may write so many bytes, whatever it returns */
};

/* Loads eight characters as a word, the last one in the highest byte. */
static inline uint64_t integer_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Keeps the last n <= 8 of eight characters and puts '0' in front of them. */
static inline uint64_t integer_last(uint64_t word, size_t n)
{
    const uint64_t zeros = 0x3030303030303030u;
    /* In two steps, because a shift by 64 is undefined. */
    const uint64_t kept = UINT64_MAX << 4 * (8 - n) << 4 * (8 - n);
    return n == 0 ? zeros : (word & kept) | (zeros & ~kept);
}

static inline bool integer_is_digits(uint64_t word)
{
    return ((word + 0x4646464646464646u) & 0x8080808080808080u) == 0 &&
           ((word - 0x3030303030303030u) & 0x8080808080808080u) == 0;
}

/* The value of eight digits: digits are joined to pairs, pairs to fours, fours to the whole. */
static inline uint64_t integer_value(uint64_t word)
{
    word -= 0x3030303030303030u;
    word = word * 10 + (word >> 8);
    const uint64_t low = (word & 0x000000ff000000ffu) * 0x000f424000000064u;
    const uint64_t high = (word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u;
    return (low + high) >> 32;
}

/* Parses 1 to 16 digits at data[0..len); false if the bytes are anything else. Reads the 16 bytes
 * in front of the end, whatever len is. */
static inline bool integer_parse(const char *data, size_t len, uint64_t *value_out)
{
    const char *end = data + len;
    const uint64_t last = integer_last(integer_load(end - 8), len < 8 ? len : 8);
    uint64_t first = 0;
    bool is_right = len - 1 < INTEGER_FAST_DIGITS && integer_is_digits(last);
    if (len > 8) {
        const uint64_t word = integer_last(integer_load(end - 16), len < 16 ? len - 8 : 8);
        is_right = is_right && integer_is_digits(word);
        first = integer_value(word);
    }
    *value_out = first * 100000000 + integer_value(last);
    return is_right;
}

/* Prints integers that do not decrease. Many of them have the same digits in front of the last
 * four, and the last four come from a table. */
struct integers_printer {
    uint64_t block; /* the text is that of integers with this integer / 10000 */
    size_t len;
    char text[16];
    char digits[10000][4];
};

void integers_start(struct integers_printer *printer);

/* The slow part of integers_print: begins another block. */
void integers_block(struct integers_printer *printer, uint64_t block);

/* Writes value, below 2^40, and returns the end of its text. */
static inline char *integers_print(struct integers_printer *printer, uint64_t value, char *to)
{
    uint64_t rest = value - printer->block * 10000;
    if (rest >= 10000) {
        integers_block(printer, value / 10000);
        rest = value - printer->block * 10000;
    }
    memcpy(to, printer->text, sizeof(printer->text));
    memcpy(to + printer->len, printer->digits[rest], 4);
    to += printer->len + 4;
    if (printer->len == 0) {
        /* Leave out leading zeros below 10000. */
        const size_t nzeros = (size_t)(value < 1000) + (value < 100) + (value < 10);
        memmove(to - 4, to - 4 + nzeros, 4 - nzeros);
        to -= nzeros;
    }
    return to;
}

#endif
