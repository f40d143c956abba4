/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.SHARD: which key of a cluster a URL belongs to, for clients that cannot compute it
 * themselves (unseen_shards_find). The command needs no key, so any node answers it. */
#ifndef UNSEEN_MODULE_SHARDS_H
#define UNSEEN_MODULE_SHARDS_H

#include "server/server.h"

/* Must be called once, before the command. Returns false without memory. */
bool shards_init(void);

server_handler shards_shard;

#endif
