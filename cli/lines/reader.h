/* SPDX-License-Identifier: MIT
 *
 * Files to batches: reads blocks, splits them into lines and computes their keys. One thread at
 * a time may use a reader. */
#ifndef UNSEEN_CLI_READER_H
#define UNSEEN_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"

enum {
    BLOCK_BYTES = 128 * 1024,
    BLOCKS_KEPT = 3,                 /* for batches that are kept */
    WORKERS_MAX = 8,                 /* threads that make keys and ask by turns, */
    BLOCKS_MAX = 2 * WORKERS_MAX + 2 /* and their blocks */
};

struct block {
    char *data;
    size_t cap;    /* besides, there is room for a last delimiter and BATCH_READABLE bytes */
    uint64_t last; /* the number of batches made before the reader left this block */
};

struct reader {
    /* set by the caller */
    const char *const *names;
    size_t nnames;
    const struct identity *identity; /* NULL: only split into lines */
    const struct input_options *options;
    bool splits_only; /* the caller makes keys with identity_take, and then calls reader_note */
    struct input_wait wait;
    size_t most_ahead; /* files that threads of their own decode at once: to INPUTS_AHEAD_MAX */
    size_t nblocks;    /* 1, or more if batches are used while the next are made */

    /* results, which have been reported: a file or line could not be read; */
    bool failed;
    bool note_failed; /* with splits_only: reader_note has failed, or a file had no keys */

    /* state */
    bool stopped; /* before the end of the input */
    struct input *input;
    const char *name; /* of the file that the lines are from */
    size_t nopened;   /* files so far */
    size_t nlooked;   /* files that were decoded ahead, or are not to be; set by the caller */
    struct input
        *ahead[INPUTS_AHEAD_MAX]; /* used in turn; NULL: the file is opened when it is its turn */
    uint64_t offset;              /* see struct batch */
    struct block blocks[BLOCKS_MAX];
    size_t current;
    size_t at;      /* start of the first line that is not in a batch yet */
    size_t scanned; /* [at, at + scanned) has no delimiter */
    size_t filled;
    uint64_t
        skipped;    /* bytes of an over-long line that were dropped so far; 0: not in such a line */
    uint64_t line;  /* number in its file of the line at `at`, from 0 */
    uint64_t first; /* lines of the file before this one are passed over, uncounted */
    uint64_t nlong; /* over-long lines in all files */
    uint64_t nbatches;
    uint64_t nmisses;     /* lines without the key or the time, in all files; */
    bool lacks_time;      /* the first of them lacked the time */
    uint64_t file_lines;  /* lines of the file that was noted last, */
    uint64_t file_misses; /* and those without the key */
    size_t noted_file;
    const char *noted_name;
    struct text scratch;
};

/* Fills *b with the next lines. Returns false at the end; without may_read, also if no complete
 * line is left of the bytes that were read before. An error of a single file is reported and sets
 * failed. */
bool reader_next(struct reader *r, struct batch *b, bool may_read);

/* With splits_only: takes note of the lines without the key in b, and of the status of
 * identity_take. Call it for each batch in turn. False, and reported, if the reading is to end:
 * at once after an error status, otherwise behind the lines of b. */
bool reader_note(struct reader *r, const struct batch *b, enum unseen_status status);

/* The same behind the last batch. */
void reader_note_end(struct reader *r);

/* The number of a line of b in its file, from 1. */
uint64_t reader_line_number(const struct batch *b, const char *line, char delimiter);

/* Reports how many lines were left out or taken whole, beyond those reported one by one. */
void reader_summary(const struct reader *r);

void reader_release(struct reader *r);

#endif
