/* SPDX-License-Identifier: MIT
 *
 * Work files in a folder where other users may create names, too. Under the name of a work file, a
 * file of another user, a link or a fifo is refused: it is never followed, waited for or written
 * to. A file of our own with a second name (a hard link) is refused, too: its owner may know it by
 * that name.
 *
 * folder is an open folder, name is a name in it, and path is what messages call the file. */
#ifndef UNSEEN_BASE_OWN_H
#define UNSEEN_BASE_OWN_H

#include <stdbool.h>

#include "unseen.h"

/* Opens a file that exists, with flags of open(2). Errors: MISSING, FOREIGN (the file is refused),
 * IO. */
enum unseen_status unseen__own_open(int folder, const char *name, const char *path, int flags,
                                    int *fd_out, struct unseen_error *error);

/* Opens a file to read and write and takes its lock. If `makes` is true and the file does not
 * exist, creates it; nobody else may read or write it. Errors: MISSING (unless makes), FOREIGN,
 * BUSY, IO; no file is open then. */
enum unseen_status unseen__own_take(int folder, const char *name, const char *path, bool makes,
                                    int *fd_out, struct unseen_error *error);

/* Creates a file and takes its lock. Removes an earlier file of this name, unless another process
 * has its lock. The umask clears its bits of mode. Errors: FOREIGN, BUSY, IO. */
enum unseen_status unseen__own_make(int folder, const char *name, const char *path, unsigned mode,
                                    int *fd_out, struct unseen_error *error);

#endif
