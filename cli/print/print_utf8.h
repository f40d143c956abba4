/* SPDX-License-Identifier: MIT
 *
 * Writes and checks UTF-8, and cleans text for a terminal. */
#ifndef UNSEEN_CLI_PRINT_UTF8_H
#define UNSEEN_CLI_PRINT_UTF8_H

#include <stddef.h>

/* Writes the code point, and returns the number of its bytes. */
static inline size_t utf8_put(unsigned code, char out[4])
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i > 1; i--) {
        out[i - 1] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[n] | code);
    return n;
}

/* The length of the UTF-8 sequence at s < end: 1 for ASCII, 0 if the bytes are not UTF-8. */
size_t utf8_sequence(const unsigned char *s, const unsigned char *end);

/* The same, but 0 also for characters that could steer a terminal: U+0000 to U+001F and U+007F to
 * U+009F. A terminal with 8-bit characters may take a byte that is not UTF-8 for one of these. */
size_t utf8_visible(const unsigned char *s, const unsigned char *end);

/* Puts '?' in place of each character and byte of text that is not visible. */
void utf8_clean(char *text);

#endif
