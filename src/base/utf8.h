/* SPDX-License-Identifier: MIT
 *
 * Reads text in UTF-8. */
#ifndef UNSEEN_BASE_UTF8_H
#define UNSEEN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Reads one code point of UTF-8 ([Yergeau03], section 4) from in[0..len), len > 0, and returns its
 * length; 0 if the bytes are not UTF-8. */
size_t unseen__utf8_read(const char *in, size_t len, uint32_t *point);

#endif
