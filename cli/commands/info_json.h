/* SPDX-License-Identifier: MIT
 *
 * The figures of a store or a list as a JSON object on one line. */
#ifndef UNSEEN_CLI_INFO_JSON_H
#define UNSEEN_CLI_INFO_JSON_H

#include <unseen_list.h>

#include "print/output.h"

/* Writes when the file was changed, in the format of RFC 3339; false if that is not known. */
bool info_written(const char *path, char text[24]);

/* Writes the object of the store at path, and a newline. */
void info_json(struct output *out, struct unseen_store *store, const char *path);

/* The same for a list. */
void info_json_list(struct output *out, const struct unseen_list *list, const char *path);

#endif
