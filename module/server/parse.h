/* SPDX-License-Identifier: MIT
 *
 * Arguments of commands as numbers and words. */
#ifndef UNSEEN_MODULE_PARSE_H
#define UNSEEN_MODULE_PARSE_H

#include "server/server.h"

/* True if the argument is this word, in upper or lower case. */
bool parse_is(const struct server_string *argument, const char *word);

/* The first letters of the argument are those of word, in upper or lower case. */
bool parse_begins(const struct server_string *argument, const char *letters);

/* Returns false if the argument is not a whole number. */
bool parse_number(const struct server_string *argument, long long *number_out);

/* Returns false if the argument is not a number from min to max. */
bool parse_range(const struct server_string *argument, long long min, long long max,
                 uint64_t *number_out);

/* As parse_range from 0 on, for a number of bytes: "10mb" is 10 MiB, and "10m" 10^7 bytes, as in a
 * file of the server. */
bool parse_memory(const struct server_string *argument, long long max, uint64_t *number_out);

/* Returns false if the argument is not a number; "nan" and "inf" are not. */
bool parse_double(const struct server_string *argument, double *number_out);

#endif
