/* SPDX-License-Identifier: MIT
 *
 * The loads that a primary sends, in an RDB file. A replica gets only what comes behind its own
 * file, or behind the full sync that it got from another replica. So it keeps the frames of
 * unfinished loads, and its files have them. */
#ifndef UNSEEN_MODULE_LOAD_FILE_H
#define UNSEEN_MODULE_LOAD_FILE_H

#include "server/server.h"

void load_file_save(struct server_io *io);

/* Takes the loads of a file; a bad one is dropped. Returns false if the file cannot be read, or
 * memory is short. */
bool load_file_load(struct server_io *io);

#endif
