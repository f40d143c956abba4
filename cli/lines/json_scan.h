/* SPDX-License-Identifier: MIT
 *
 * Finds the value at a path in a line of JSON, without a tree of the line.
 *
 * The scanner checks only what it needs: the members and elements that the path goes through, the
 * ends of strings, and that each bracket is closed. So a record is used whatever its other values
 * hold, even if a strict parser would refuse it. */
#ifndef UNSEEN_CLI_JSON_SCAN_H
#define UNSEEN_CLI_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

/* A step of a path: into an object by a name, into an array by an index. */
struct json_step {
    struct unseen_bytes name; /* as between quotes in JSON; NULL: no member is meant */
    size_t index;             /* SIZE_MAX: no element is meant */
};

enum {
    JSON_NO_BYTE = -1
};

/* Finds the value at the end of the path. *value_out is the text of the value as it stands in the
 * line, a string with its quotes. Of members with one name the last one counts. Whitespace may
 * stand around the JSON, a byte order mark in front. If `behind` is a byte, JSON may end in front
 * of that byte; otherwise JSON ends with the line. Returns false if the line has no such value, or
 * if its JSON is not complete. */
bool json_find(struct unseen_bytes line, const struct json_step *steps, size_t nsteps, int behind,
               struct unseen_bytes *value_out);

/* ---- Parts of JSON --------------------------------------------------------------------------- */

/* The quote that ends the string whose first byte, behind its quote, is `at`. NULL: none. */
const char *json_string_end(const char *at, const char *end);

enum {
    JSON_BYTES_MAX = 4
};

/* Decodes the escape sequence at *at, moves *at behind it and returns the number of bytes put into
 * `out`; 0: it is not a valid sequence. A surrogate without its other half becomes the three bytes
 * that UTF-8 would have for it. */
size_t json_unescape(const char **at, const char *end, char out[JSON_BYTES_MAX]);

/* True if a value that json_find found is an object or an array. */
static inline bool json_is_container(struct unseen_bytes value)
{
    return value.data[0] == '{' || value.data[0] == '[';
}

#endif
