/* SPDX-License-Identifier: MIT
 *
 * Makes paths, in memory of an allocator, for the files that lie beside a store or a list. */
#ifndef UNSEEN_BASE_FILENAME_H
#define UNSEEN_BASE_FILENAME_H

#include "unseen.h"

/* Returns path with suffix appended; NULL without memory. */
char *unseen__path_with(const struct unseen_allocator *allocator, const char *path,
                        const char *suffix);

/* Returns where path leads, from the root and with all symbolic links resolved: files beside it are
 * made there, also when the process has gone to another folder. Of a file that does not exist yet
 * the folder is resolved, and a path that leads nowhere is returned as it is. NULL without
 * memory. */
char *unseen__path_real(const struct unseen_allocator *allocator, const char *path);

/* Returns the folder that path lies in, "." if path is only a name; NULL without memory. */
char *unseen__path_folder(const struct unseen_allocator *allocator, const char *path);

/* Frees a path that was made here. path may be NULL. Its length must not have changed. */
void unseen__path_free(const struct unseen_allocator *allocator, char *path);

#endif
