/* SPDX-License-Identifier: MIT
 *
 * Structs that begin with their own size, as the caller's version of the header knows it. */
#ifndef UNSEEN_BASE_SIZED_H
#define UNSEEN_BASE_SIZED_H

#include "unseen.h"

/* Copies the caller's struct to *to, which has `known` bytes, all of them zero but for the size.
 * from may be NULL. name is the type, without "struct". Errors: SIZE. */
enum unseen_status unseen__sized_take(void *to, size_t known, const void *from, const char *name,
                                      struct unseen_error *error);

/* Copies as much of *from, which has `known` bytes, to the caller's struct as that has room for.
 * Errors: SIZE; *to is untouched then. */
enum unseen_status unseen__sized_give(void *to, const void *from, size_t known);

#endif
