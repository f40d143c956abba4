/* SPDX-License-Identifier: MIT
 *
 * Work files in a folder where others may make names, too. Somebody else's file, a link or a fifo in
 * place of one is not followed, not waited for and not written to: it is refused. Of our own files only
 * those are taken that have no other name, as the other name may be what its owner knows a file by.
 *
 * folder is open, name a name in it, and path what messages call the file. */
#ifndef UNSEEN_BASE_OWN_H
#define UNSEEN_BASE_OWN_H

#include <stdbool.h>

#include "unseen.h"

/* Opens a file that is there, with these flags of open(2). Errors: MISSING, FOREIGN (it is not ours),
 * IO. */
enum unseen_status unseen__own_open(int folder, const char *name, const char *path, int flags,
                                    int *fd_out, struct unseen_error *error);

/* The same to read and write, and takes the file's lock. If there is none, and makes, one is made that
 * nobody else may read or write. Errors: MISSING (unless makes), FOREIGN, BUSY, IO; there is nothing to
 * close then. */
enum unseen_status unseen__own_take(int folder, const char *name, const char *path, bool makes,
                                    int *fd_out, struct unseen_error *error);

/* Makes a file and takes its lock. What is left of an earlier one is removed, unless another process
 * has its lock. The umask takes its bits from mode. Errors: FOREIGN, BUSY, IO. */
enum unseen_status unseen__own_make(int folder, const char *name, const char *path, unsigned mode,
                                    int *fd_out, struct unseen_error *error);

#endif
