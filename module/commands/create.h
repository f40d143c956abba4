/* SPDX-License-Identifier: MIT
 *
 * Creation of large values. A set that is sized for millions of items takes its memory at once,
 * and a server would stand still while it is cleared. So a thread makes the value, its client
 * waits, and then the key gets it. One value is made at a time, so at most one value is in memory
 * without a key. The other clients wait for their turn: some may want the same key. */
#ifndef UNSEEN_MODULE_CREATE_H
#define UNSEEN_MODULE_CREATE_H

#include "server/server.h"
#include "value/settings.h"

enum creation_way {
    CREATE_AT_ONCE, /* the caller creates the key */
    CREATE_ASIDE,   /* the client waits, and is answered later */
    CREATE_REFUSED  /* nobody can wait, and the server would stand still for too long */
};

/* If a value with these settings takes long to make, blocks the client and makes it for the key
 * `name`, which is argv[1]. Then `made` goes on with the command, for a key that has the value; or
 * `late`, if another client has made the key meanwhile. */
enum creation_way create_aside(struct server_ctx *ctx, struct server_string *name,
                               const struct settings *settings, server_handler *made,
                               server_handler *late);

#endif
