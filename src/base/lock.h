/* SPDX-License-Identifier: MIT
 *
 * The lock of the one writer: flock(2) on its file. It ends with the process, so none is ever left
 * behind. */
#ifndef UNSEEN_BASE_LOCK_H
#define UNSEEN_BASE_LOCK_H

#include "unseen.h"

/* BUSY, with the number of the process that has it where the system tells, or IO. */
enum unseen_status unseen__lock_take(int fd, const char *path, struct unseen_error *error);

#endif
