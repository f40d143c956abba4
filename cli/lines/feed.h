/* SPDX-License-Identifier: MIT
 *
 * From all files of a command to its outputs: batches are read, here or ahead in a thread, and a
 * callback of the command answers them. */
#ifndef UNSEEN_CLI_FEED_H
#define UNSEEN_CLI_FEED_H

#include <stdbool.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"
#include "print/output.h"

struct feed {
    /* set by the caller */
    const struct input_options *input;
    const char *file; /* read alone, in place of those of the options; NULL: none */
    const struct identity *identity;
    struct output *out;
    struct output *more; /* a second one, or NULL */
    /* Answers a batch; false if there is no use in another. */
    bool (*take)(void *context, const struct batch *b);
    /* Called before each wait, when the outputs have been written, and about once a second while it
     * lasts; may be NULL. */
    void (*poll)(void *context);
    void *context;

    /* results */
    bool failed; /* some file or line could not be read, which has been reported */
};

void feed_run(struct feed *f);

#endif
