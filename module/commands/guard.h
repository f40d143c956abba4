/* SPDX-License-Identifier: MIT
 *
 * GUARD.*: a filter, a cache and a lease in front of a database. A key that the filter does not
 * know is absent, a key with a value is answered, and any other key is leased to exactly one
 * loader. */
#ifndef UNSEEN_MODULE_GUARD_H
#define UNSEEN_MODULE_GUARD_H

#include "server/server.h"

server_handler guard_get;
server_handler guard_set;
server_handler guard_fail;
server_handler guard_del;

/* Adds the guard's counts to the section of INFO. */
void guard_add_info(struct server_info_ctx *info);

#endif
