/* SPDX-License-Identifier: MIT
 *
 * What there is to know of a store, as one JSON object in one line. */
#ifndef UNSEEN_CLI_INFO_JSON_H
#define UNSEEN_CLI_INFO_JSON_H

#include <unseen_list.h>

#include "print/output.h"

/* When path was written, as RFC 3339 has it; false if that is not to be found out. */
bool info_written(const char *path, char text[24]);

/* Writes the object and a newline. path is where the store is. */
void info_json(struct output *out, struct unseen_store *store, const char *path);

/* The same of a list. */
void info_json_list(struct output *out, const struct unseen_list *list, const char *path);

#endif
