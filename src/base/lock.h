/* SPDX-License-Identifier: MIT
 *
 * The lock of the one writer: flock(2) on its file. It ends with the process, so none is ever left
 * behind. */
#ifndef UNSEEN_BASE_LOCK_H
#define UNSEEN_BASE_LOCK_H

#include <stdbool.h>

#include "unseen.h"

/* BUSY, with the number of the process that has it where the system tells, or IO. */
enum unseen_status unseen__lock_take(int fd, const char *path, struct unseen_error *error);

/* Opens the file at path with these flags of open(2) and takes its lock; if another file has got the
 * name between the two, opens that. Errors: BUSY, MISSING, IO; there is nothing to close then. */
enum unseen_status unseen__lock_open(const char *path, int flags, int *fd_out,
                                     struct unseen_error *error);

/* Closes *fd, unless it is negative, and makes it -1. opener is the process that took the lock, or 0:
 * only that process unlocks. Call it when everything that matters has been synced. */
void unseen__lock_close(int *fd, long opener);

/* Whether the open file is the one that path names. */
bool unseen__lock_has_name(int fd, const char *path);

#endif
