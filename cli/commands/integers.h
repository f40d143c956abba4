/* SPDX-License-Identifier: MIT
 *
 * Integers as text, eight digits at a time. For billions of lines: without a branch that depends on
 * the digits. */
#ifndef UNSEEN_CLI_INTEGERS_H
#define UNSEEN_CLI_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    INTEGER_FAST_DIGITS = 16,
    INTEGER_TEXT_MAX = 32 /* integers_print may write this many bytes, whatever it returns */
};

/* Eight characters as a word, the last one in the highest byte. */
static inline uint64_t integer_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The last n <= 8 of eight characters, '0' in front of them. */
static inline uint64_t integer_last(uint64_t word, size_t n)
{
    const uint64_t zeros = 0x3030303030303030u;
    /* In two steps: a shift by 64 has no meaning. */
    const uint64_t kept = UINT64_MAX << 4 * (8 - n) << 4 * (8 - n);
    return n == 0 ? zeros : (word & kept) | (zeros & ~kept);
}

static inline bool integer_is_digits(uint64_t word)
{
    return ((word + 0x4646464646464646u) & 0x8080808080808080u) == 0 &&
           ((word - 0x3030303030303030u) & 0x8080808080808080u) == 0;
}

/* The value of eight digits: neighbours become pairs, pairs fours, fours the whole. */
static inline uint64_t integer_value(uint64_t word)
{
    word -= 0x3030303030303030u;
    word = word * 10 + (word >> 8);
    const uint64_t low = (word & 0x000000ff000000ffu) * 0x000f424000000064u;
    const uint64_t high = (word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u;
    return (low + high) >> 32;
}

/* The value of data[0..len) with 1 to 16 digits; false if it is anything else. The 16 bytes in
 * front of its end are read, whatever len. */
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

/* Prints integers that do not decrease: what the last four digits follow is the same for many of
 * them, and those four come from a table. */
struct integers_printer {
    uint64_t block; /* the integer / 10000 that the text is of */
    size_t len;
    char text[16];
    char digits[10000][4];
};

void integers_start(struct integers_printer *printer);

/* The slow half of integers_print: another block. */
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
        /* Below 10000 there are zeros in front. */
        const size_t nzeros = (size_t)(value < 1000) + (value < 100) + (value < 10);
        memmove(to - 4, to - 4 + nzeros, 4 - nzeros);
        to -= nzeros;
    }
    return to;
}

#endif
