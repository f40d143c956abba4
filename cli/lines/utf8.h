/* SPDX-License-Identifier: MIT
 *
 * What is UTF-8 and what is not. */
#ifndef UNSEEN_CLI_UTF8_H
#define UNSEEN_CLI_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 sequence at s < end, 1 for ASCII; 0 if there is none. */
size_t utf8_sequence(const unsigned char *s, const unsigned char *end);

#endif
