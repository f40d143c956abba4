/* SPDX-License-Identifier: MIT
 *
 * Files and the folders they are in. */
#ifndef UNSEEN_CLI_FOLDER_H
#define UNSEEN_CLI_FOLDER_H

#include <stdbool.h>

/* open(2), which no signal fails. Only the program itself keeps the descriptor. */
int file_open(const char *path, int flags);

/* Makes the names in the folder of path durable: a file whose name is not on the disk would be gone
 * after a power cut, with all that was synced. False leaves the cause in errno. */
bool folder_sync(const char *path);

#endif
