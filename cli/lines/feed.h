/* SPDX-License-Identifier: MIT
 *
 * The pipeline of a command: reads all files and calls the command back with each batch, with
 * one thread or more. Calls come one after the other, but not always from the same thread. */
#ifndef UNSEEN_CLI_FEED_H
#define UNSEEN_CLI_FEED_H

#include <stdbool.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"
#include "lines/reader.h"
#include "print/output.h"

enum {
    FEED_KEPT = 16
};

struct feed {
    /* set by the caller */
    const struct input_options *input;
    const char *file; /* if not NULL, read this file and not those of the options */
    const struct identity *identity;
    struct output *out;
    struct output *more; /* a second one, or NULL */
    /* Answers a batch; false ends the run. */
    bool (*take)(void *context, const struct batch *b);
    /* If not NULL, called in place of `take`: answers up to FEED_KEPT batches, which are kept until
     * there are so many, the memory of one is needed, or the run is about to wait for input. One
     * thread does everything then. */
    bool (*take_kept)(void *context, const struct batch *const *batches, size_t n);
    /* Called before each wait for input, after the outputs have been written, and about once a
     * second during the wait; may be NULL. */
    void (*poll)(void *context);
    void *context;

    /* state */
    size_t first; /* the index of the first file among those of the options */

    /* results */
    bool failed; /* a file or line could not be read, which has been reported */
};

void feed_run(struct feed *f);

#endif
