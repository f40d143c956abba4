/* SPDX-License-Identifier: MIT
 *
 * Values that come in by commands, frame by frame: BF.LOADCHUNK, CF.LOADCHUNK, BF.LOAD, and, for
 * replicas and the AOF, with several frames in a command,
 *
 *     UNSEEN.LOAD key FIRST|NEXT frame...
 *     UNSEEN.LOAD key DROP
 *
 * A value is put together aside (keys/loads.h), and its key appears when the last frame has come.
 * DROP forgets the frames that have come. */
#ifndef UNSEEN_MODULE_LOAD_H
#define UNSEEN_MODULE_LOAD_H

#include "server/server.h"

server_handler load_unseen;
server_handler load_bloom_loadchunk;
server_handler load_bloom_load;
server_handler load_cuckoo_loadchunk;

#endif
