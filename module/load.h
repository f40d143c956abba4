/* SPDX-License-Identifier: MIT
 *
 * Values that come in by commands, frame by frame: UNSEEN.LOAD of a rewritten AOF, BF.LOADCHUNK,
 * CF.LOADCHUNK and BF.LOAD; and how they go out: BF.SCANDUMP and CF.SCANDUMP. A value is put
 * together aside, and its key appears when the last frame has come. */
#ifndef UNSEEN_MODULE_LOAD_H
#define UNSEEN_MODULE_LOAD_H

#include "server.h"
#include "value.h"

server_handler load_unseen;
server_handler load_bloom_scandump;
server_handler load_bloom_loadchunk;
server_handler load_bloom_load;
server_handler load_cuckoo_scandump;
server_handler load_cuckoo_loadchunk;

/* Replicates a whole value, in place of what the key has there. */
void load_replicate(struct server_ctx *ctx, struct server_string *name, const struct value *value);

#endif
