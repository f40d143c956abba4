/* SPDX-License-Identifier: MIT
 *
 * Numbers as people write them on a command line. Each function returns false for anything else:
 * signs, spaces, fractions of one, overflow, letters that mean nothing. */
#ifndef UNSEEN_CLI_NUMBER_H
#define UNSEEN_CLI_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 250000, 1e9, 2.5e6, 10K, 1.5M, 2G, 1T: powers of 1000. */
bool number_count(const char *text, uint64_t *out);

/* 65536, 64K, 1M, 2G, 1T: powers of 1024. */
bool number_bytes(const char *text, uint64_t *out);

/* 0.001, 1e-6: above 0 and below 1. */
bool number_rate(const char *text, double *out);

/* 20, 9.6, 1e3: any number above 0. */
bool number_positive(const char *text, double *out);

/* 600, 0640: rights of a file, in octal, that let its owner read and write it, and nobody run it. */
bool number_mode(const char *text, unsigned *out);

#endif
