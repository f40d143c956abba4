/* SPDX-License-Identifier: MIT
 *
 * Files and the folders they are in. */
#ifndef UNSEEN_CLI_FOLDER_H
#define UNSEEN_CLI_FOLDER_H

#include <stdbool.h>

/* open(2), tried again when a signal interrupts it. Child processes do not inherit the
 * descriptor. */
int file_open(const char *path, int flags);

/* Makes the names in the folder of path durable: after a power cut a file whose name is not on the
 * disk is gone, even if it was synced. False if that failed; errno has the cause. */
bool folder_sync(const char *path);

#endif
