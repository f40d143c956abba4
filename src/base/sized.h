/* SPDX-License-Identifier: MIT
 *
 * Copies public structs that begin with their own size (options, statistics) between a caller and
 * the library. The size says which version of the header the caller was compiled with. */
#ifndef UNSEEN_BASE_SIZED_H
#define UNSEEN_BASE_SIZED_H

#include "unseen.h"

/* Copies the caller's struct *from to *to. *to has `known` bytes, all zero but for the size, and
 * stays so if from is NULL. name is the type, without "struct". Errors: SIZE. */
enum unseen_status unseen__sized_take(void *to, size_t known, const void *from, const char *name,
                                      struct unseen_error *error);

/* Copies *from, which has `known` bytes, to the caller's struct: as many bytes as that has room
 * for. Errors: SIZE; *to is unchanged then. */
enum unseen_status unseen__sized_give(void *to, const void *from, size_t known);

#endif
