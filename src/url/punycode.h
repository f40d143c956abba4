/* SPDX-License-Identifier: MIT
 *
 * Punycode: code points as ASCII, without the prefix "xn--" (for idna.c). */
#ifndef UNSEEN_URL_PUNYCODE_H
#define UNSEEN_URL_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both write at most cap units to out and their number to *out_len. They return false if cap is too
 * small or the input is not valid. Quadratic time: only for labels of bounded length. */
bool unseen__punycode_encode(const uint32_t *in, size_t len, char *out, size_t cap,
                             size_t *out_len);
bool unseen__punycode_decode(const char *in, size_t len, uint32_t *out, size_t cap,
                             size_t *out_len);

#endif
