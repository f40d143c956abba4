/* SPDX-License-Identifier: MIT
 *
 * A value on its way out: the frames of dump.h as the arguments of
 *
 *     UNSEEN.LOAD key FIRST|NEXT frame... */
#ifndef UNSEEN_MODULE_FRAMES_H
#define UNSEEN_MODULE_FRAMES_H

#include "server/server.h"
#include "value/value.h"

enum {
    FRAMES_MAX = 15 /* in one UNSEEN.LOAD, which stays below 1 MiB */
};

/* The next frames of a value, as strings of the server, for one command: max at most (a small value
 * has 3). Counts *position on as dump_frame does. Returns the number of strings; the caller
 * frees them with frames_free. */
size_t frames_next(const struct value *value, int64_t *position, struct server_string **frames,
                   size_t max);
void frames_free(struct server_string **frames, size_t n);

/* Replicates a whole value, in place of what the key has there. */
void frames_replicate(struct server_ctx *ctx, struct server_string *name,
                      const struct value *value);

#endif
