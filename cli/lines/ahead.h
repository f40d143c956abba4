/* SPDX-License-Identifier: MIT
 *
 * A thread that decodes ahead: it reads a source into a few pieces of memory, and another thread
 * takes the bytes from there. */
#ifndef UNSEEN_CLI_AHEAD_H
#define UNSEEN_CLI_AHEAD_H

#include <stdint.h>
#include <sys/types.h>

#include "lines/stage.h"

enum {
    AHEAD_WINDOW_LOG = 24, /* with it a file takes at most 32 MiB */
    AHEAD_TAKEN_MIN = 128 * 1024
};

struct ahead;

/* Starts a thread that reads `from`, which must not wait for anybody, and whose messages are not
 * printed. `offset` tells where in the file the source has come to; both get from.context. NULL if
 * no thread or no memory can be had. */
struct ahead *ahead_start(struct source from, uint64_t (*offset)(const void *context));

/* Takes 1 to cap bytes, and waits for them. Returns 0 at the end, and -1 if the source has failed:
 * then no bytes were taken before, or more than AHEAD_TAKEN_MIN. */
ssize_t ahead_take(struct ahead *a, void *buf, size_t cap);

/* Where in the file the bytes that were taken end, about. */
uint64_t ahead_offset(const struct ahead *a);

/* Ends the thread. NULL does nothing. */
void ahead_stop(struct ahead *a);

#endif
