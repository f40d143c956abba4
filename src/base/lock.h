/* SPDX-License-Identifier: MIT
 *
 * The lock of the one writer of a store or a list: flock(2) on a file. The kernel ends the lock
 * with the process, so a crash leaves no lock behind. */
#ifndef UNSEEN_BASE_LOCK_H
#define UNSEEN_BASE_LOCK_H

#include <stdbool.h>

#include "unseen.h"

/* Takes the lock of an open file. Errors: BUSY if another process has the lock (the text has its
 * number, if the system tells), IO. */
enum unseen_status unseen__lock_take(int fd, const char *path, struct unseen_error *error);

/* Opens the file at path to read and write, and takes its lock. If another file gets the name
 * between these two steps, starts again with that file. Errors: BUSY, MISSING, IO; no file is open
 * then. */
enum unseen_status unseen__lock_open(const char *path, int *fd_out, struct unseen_error *error);

/* Closes *fd and sets it to -1; does nothing if *fd is negative. opener is the process that took
 * the lock, or 0: only that process unlocks. Call it after everything that matters has been
 * synced. */
void unseen__lock_close(int *fd, long opener);

/* True if path names the open file. */
bool unseen__lock_has_name(int fd, const char *path);

#endif
