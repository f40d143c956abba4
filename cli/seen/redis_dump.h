/* SPDX-License-Identifier: MIT
 *
 * Reads a filter of RedisBloom out of a server, by BF.SCANDUMP. */
#ifndef UNSEEN_CLI_REDIS_DUMP_H
#define UNSEEN_CLI_REDIS_DUMP_H

#include <stdbool.h>
#include <stddef.h>

/* Takes a piece. Returns false to end. */
typedef bool redis_dump_take(void *context, const void *data, size_t len);

/* Calls take for the pieces of the filter that the address names, the header first. Returns false
 * if the server did not give all of them, which has been reported, or if take returned false. */
bool redis_dump(const char *address, const char *password, redis_dump_take *take, void *context);

#endif
