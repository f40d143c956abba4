/* SPDX-License-Identifier: MIT
 *
 * Names of files, in memory of an allocator. */
#ifndef UNSEEN_BASE_FILENAME_H
#define UNSEEN_BASE_FILENAME_H

#include "unseen.h"

/* path and suffix together. NULL: no memory. */
char *unseen__path_with(const struct unseen_allocator *allocator, const char *path,
                        const char *suffix);

/* The folder of path: "." if path is only a name. NULL: no memory. */
char *unseen__path_folder(const struct unseen_allocator *allocator, const char *path);

/* path may be NULL. Its length must not have changed. */
void unseen__path_free(const struct unseen_allocator *allocator, char *path);

#endif
