/* SPDX-License-Identifier: MIT
 *
 * Finds the value at a path of a JSON line. */
#ifndef UNSEEN_CLI_JSONL_H
#define UNSEEN_CLI_JSONL_H

#include <stdbool.h>

#include <unseen.h>

/* Finds path (".a.b"; a number picks from an array) in a line of JSON and calls take with the
 * text: that of a string, or the shortest JSON form of any other value but null, with sorted
 * names. The text is valid during the call. False, and take is not called, if the line is not
 * JSON, has nothing at the path, takes more memory than 64 MiB and 16 times its length, or if
 * memory ran out. */
bool jsonl_find(struct unseen_bytes line, const char *path,
                void (*take)(void *context, struct unseen_bytes value), void *context);

#endif
