/* SPDX-License-Identifier: MIT
 *
 * Print, then remember. A line is handed over when its last byte has been written; only then may
 * the store commit its key. So each batch leaves a mark: how far its lines reach in the output, and
 * how many changes of the store they are. What has been written decides which marks are due. */
#ifndef UNSEEN_CLI_COMMIT_MARKS_H
#define UNSEEN_CLI_COMMIT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "print/output.h"
#include "seen/seen_options.h"

enum {
    COMMIT_MARKS = 256
};

struct commit_marks {
    /* set by the caller */
    struct unseen_store *store; /* NULL: nothing is remembered, nothing is done here */
    const struct seen_options *o;
    struct output *out;
    char delimiter;
    bool prints_new; /* changes are handed over with lines; otherwise at once */

    bool failed; /* a commit has, which has been reported */

    /* state */
    bool keeps_length; /* of out, which is a file that is continued */
    uint64_t start;    /* its length at the start */
    uint64_t position; /* of the last mark that was due */
    size_t first;      /* marks[first % COMMIT_MARKS] is the oldest of n */
    size_t n;
    struct {
        uint64_t position;
        uint64_t nchanges;
    } marks[COMMIT_MARKS];
};

/* Tells the store of the output, where that is a file; one that is continued is cut to what was
 * committed, and written from there on. False if that failed, which has been reported. */
bool commit_marks_start(struct commit_marks *h);

/* The lines of nchanges more changes have been put. */
void commit_marks_mark(struct commit_marks *h, uint64_t nchanges);

/* Commits what has been written completely. */
void commit_marks_written(struct commit_marks *h);

/* Commits what has been written, at the end. If that is not all, a file that is continued is cut
 * behind the last line that was handed over. */
void commit_marks_end(struct commit_marks *h);

#endif
