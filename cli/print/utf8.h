/* SPDX-License-Identifier: MIT
 *
 * What is UTF-8 and what is not. */
#ifndef UNSEEN_CLI_UTF8_H
#define UNSEEN_CLI_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 sequence at s < end, 1 for ASCII; 0 if there is none. */
size_t utf8_sequence(const unsigned char *s, const unsigned char *end);

/* The same, but 0 for what could steer a terminal, too: U+0000 to U+001F and U+007F to U+009F. A byte
 * that is no UTF-8 is one of these where a terminal has 8-bit characters. */
size_t utf8_visible(const unsigned char *s, const unsigned char *end);

/* Puts '?' in place of each character and byte of text that is not visible. */
void utf8_clean(char *text);

#endif
