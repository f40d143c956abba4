/* SPDX-License-Identifier: MIT
 *
 * Punycode: code points as ASCII, without the prefix "xn--" (for idna.c). */
#ifndef UNSEEN_URL_PUNYCODE_H
#define UNSEEN_URL_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A code point of a label that is not ASCII. */
struct unseen__wide {
    uint32_t point;
    size_t at; /* its place in the label */
};

/* Writes what follows the ASCII characters (and their hyphen) of a label of npoints code points, of
 * which n are not ASCII: at most cap bytes to out, their number to *out_len. Sorts the n. Returns
 * false if cap is too small or a distance too large. Quadratic in n. */
bool unseen__punycode_encode(struct unseen__wide *wide, size_t n, size_t npoints, char *out,
                             size_t cap, size_t *out_len);

/* Writes at most cap code points to out and their number to *out_len. Returns false if cap is too
 * small or the input is not valid. Quadratic time: only for labels of bounded length. */
bool unseen__punycode_decode(const char *in, size_t len, uint32_t *out, size_t cap,
                             size_t *out_len);

#endif
