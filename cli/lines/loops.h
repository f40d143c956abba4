/* SPDX-License-Identifier: MIT
 *
 * The loops that run a feed in one thread (feed.c) or in more (workers.c), and what they share
 * (loops.c). */
#ifndef UNSEEN_CLI_LOOPS_H
#define UNSEEN_CLI_LOOPS_H

#include <stdbool.h>

#include "lines/feed.h"
#include "lines/reader.h"

/* Runs the feed with n threads, at least two, and at most WORKERS_MAX: releases the reader, sets
 * f->failed. False if no thread or no memory can be had: then nothing was read. */
bool workers_run(struct feed *f, struct reader *reader, size_t n);

/* Writes the outputs; see struct input_wait. The context is the feed. */
int feed_before_wait(void *context);

/* Has a batch answered, unless it is kept; false if the run is to stop. */
bool feed_give(struct feed *f, const struct batch *b);

enum feed_state {
    FEED_RUNS,
    FEED_STOPS,      /* the run is to stop, */
    FEED_STOPS_NOTED /* as the reader has noted */
};

/* Notes the status of identity_take for a batch (reader_note), and has the batch answered. */
enum feed_state feed_answer(struct feed *f, struct reader *reader, const struct batch *b,
                            enum unseen_status status);

/* Ends a run whose last batch was answered with that state: sets f->failed, and releases the
 * reader. If the run ends early, files and lines beyond the last answered batch do not count. */
void feed_end(struct feed *f, struct reader *reader, enum feed_state state);

#endif
