/* SPDX-License-Identifier: MIT
 *
 * Files of decimal integers below 2^40, a line each, for `unseen sort` and `unseen bits`. */
#ifndef UNSEEN_CLI_INTEGER_LINES_H
#define UNSEEN_CLI_INTEGER_LINES_H

#include <stdbool.h>

#include <unseen.h>

#include "lines/input.h"

enum {
    INTEGER_LINES = 512 /* the most integers of a call */
};

/* Takes n integers and their lines, which end in one more byte, the delimiter; false ends the
 * reading. */
typedef bool integer_lines_take(void *context, const uint64_t *values,
                                const struct unseen_bytes *lines, size_t n);

/* Calls take with the integers of all files, in order. False if a file could not be read, a line is
 * not such an integer (which is reported with the hint; NULL: none), or take returned false. */
bool integer_lines_read(const struct input_options *o, const char *hint, integer_lines_take *take,
                        void *context);

#endif
