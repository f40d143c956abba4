/* SPDX-License-Identifier: MIT
 *
 * The secret of a cluster, which a file gives to all its servers: sets of different servers can
 * be merged then. */
#ifndef UNSEEN_MODULE_SECRET_H
#define UNSEEN_MODULE_SECRET_H

#include <stdbool.h>
#include <stdint.h>

#include "server/config.h"

/* Reads SEED_LEN bytes from a file of two hexadecimal digits for each, and perhaps a line end.
 * Returns false, and leaves the seed as it is, if the file has anything else or cannot be read. */
bool secret_read(const char *path, uint8_t seed[SEED_LEN]);

#endif
