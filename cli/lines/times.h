/* SPDX-License-Identifier: MIT
 *
 * The time of a line, as data have it. */
#ifndef UNSEEN_CLI_TIMES_H
#define UNSEEN_CLI_TIMES_H

#include <stdint.h>

#include <unseen.h>

enum {
    TIMES_TEXT_MAX = 32
};

/* Reads a time: seconds since 1970, or milliseconds, if there are 10^11 or more, also with a
 * fraction; or a date and time of RFC 3339 with its offset, such as 2026-11-27T18:30:00.5Z. *ms_out
 * is in milliseconds, rounded. Returns NULL, or why the text is not a time: the end of a
 * sentence. */
const char *times_parse(struct unseen_bytes text, uint64_t *ms_out);

/* Writes a time as RFC 3339 has it, in UTC. */
void times_put(uint64_t ms, char text[TIMES_TEXT_MAX]);

#endif
