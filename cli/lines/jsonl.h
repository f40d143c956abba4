/* SPDX-License-Identifier: MIT
 *
 * The value at a path of a JSON line. */
#ifndef UNSEEN_CLI_JSONL_H
#define UNSEEN_CLI_JSONL_H

#include <stdbool.h>

#include <unseen.h>

/* Finds path (".a.b"; a number picks from an array) in a line of JSON. A string gives its text, any
 * other value but null its shortest JSON form, with sorted names. take is called with the text,
 * which is valid during the call. False if the line is no JSON, has nothing there, takes more
 * than 64 MiB and 16 times its length of memory, or memory ran out: then take was not called. */
bool jsonl_find(struct unseen_bytes line, const char *path,
                void (*take)(void *context, struct unseen_bytes value), void *context);

#endif
