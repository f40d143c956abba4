/* SPDX-License-Identifier: MIT
 *
 * The figures of a store, a list, a foreign filter or a bitmap as a JSON object on one line. */
#ifndef UNSEEN_CLI_INFO_JSON_H
#define UNSEEN_CLI_INFO_JSON_H

#include <unseen_foreign.h>
#include <unseen_list.h>

#include "print/output.h"

/* Writes when the file was changed, in the format of RFC 3339; false if that is not known. */
bool info_written(const char *path, char text[24]);

/* Writes the object of the store at path, and a newline. */
void info_json(struct output *out, struct unseen_store *store, const char *path);

/* The same for a list. */
void info_json_list(struct output *out, const struct unseen_list *list, const char *path);

/* The same for a foreign filter. */
void info_json_foreign(struct output *out, const struct unseen_foreign_info *info,
                       const char *path);

struct info_bitmap {
    uint64_t n; /* integers */
    uint64_t first;
    uint64_t last;   /* both 0 if there are none */
    uint64_t memory; /* bytes */
    uint64_t disk;
};

/* The same for a bitmap. */
void info_json_bitmap(struct output *out, const struct info_bitmap *info, const char *path);

/* What a scheme of hashes is called. */
const char *info_scheme(enum unseen_foreign_scheme scheme);

#endif
