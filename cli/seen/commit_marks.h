/* SPDX-License-Identifier: MIT
 *
 * When a store may remember a line: print first, then remember. A line is handed over when its last
 * byte has been written; only then may the store commit its key. So each batch leaves a mark: how
 * far its lines reach in the output, and how many changes of the store they stand for. A mark is
 * due when its lines have been written. */
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
    struct unseen_store *store; /* NULL: nothing is remembered, and all functions do nothing */
    const struct seen_options *o;
    struct output *out;
    char delimiter;
    bool prints_new; /* changes are handed over with their lines; if false, at once */

    bool waits; /* nothing is committed yet: the lines may be what nobody meant */

    bool failed; /* a commit has failed, which has been reported */

    /* state */
    bool keeps_length; /* the store keeps the length of out, a file that is appended to */
    uint64_t start;    /* the length of that file at the start */
    uint64_t position; /* of the last mark that was due */
    size_t first;      /* marks[first % COMMIT_MARKS] is the oldest of n */
    size_t n;
    struct {
        uint64_t position;
        uint64_t nchanges;
    } marks[COMMIT_MARKS];
};

/* Tells the store of the output if it is a file. A file that is appended to is first cut to its
 * committed lines. False if that failed, which has been reported. */
bool commit_marks_start(struct commit_marks *h);

/* Leaves a mark: the lines of nchanges more changes have been put. */
void commit_marks_mark(struct commit_marks *h, uint64_t nchanges);

/* Commits the changes whose lines have been written. */
void commit_marks_written(struct commit_marks *h);

/* Commits at the end of a run. If not all lines were written, a file that is appended to is cut
 * behind the last line that was handed over. */
void commit_marks_end(struct commit_marks *h);

#endif
