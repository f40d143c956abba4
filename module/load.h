/* SPDX-License-Identifier: MIT
 *
 * Values that come in by commands, frame by frame: BF.LOADCHUNK, CF.LOADCHUNK, BF.LOAD, and, for
 * replicas and the AOF, with several frames in a command,
 *
 *     UNSEEN.LOAD key FIRST|NEXT frame...
 *     UNSEEN.LOAD key DROP
 *
 * and how they go out: BF.SCANDUMP and CF.SCANDUMP. A value is put together aside, and its key
 * appears when the last frame has come. DROP forgets the frames that have come. */
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

/* Call it once, before all others. Returns false if the server refuses. */
bool load_init(struct server_ctx *ctx);

enum {
    LOAD_FRAMES = 15 /* in one UNSEEN.LOAD, which stays below 1 MiB */
};

/* The next frames of a value, as strings of the server, for one command: max at most (a small value
 * has 3). Counts *position on as dump_frame does. Returns the number of strings; the caller
 * frees them with load_free_frames. */
size_t load_frames(const struct value *value, int64_t *position, struct server_string **frames,
                   size_t max);
void load_free_frames(struct server_string **frames, size_t n);

/* The unfinished loads that a primary sends, with their frames, to and from an RDB file. Loading
 * ends all loads that are there, and drops a bad load of the file. Returns false if the file cannot
 * be read, or memory is short. */
void load_save_unfinished(struct server_io *io);
bool load_load_unfinished(struct server_io *io);

/* Replicates a whole value, in place of what the key has there. */
void load_replicate(struct server_ctx *ctx, struct server_string *name, const struct value *value);

#endif
