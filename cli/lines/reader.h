/* SPDX-License-Identifier: MIT
 *
 * Files to batches: reads blocks, splits them into lines and computes their keys. The same code
 * runs in the main thread or ahead of it in a thread of its own (ahead.h). */
#ifndef UNSEEN_CLI_READER_H
#define UNSEEN_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/batch.h"
#include "lines/identity.h"
#include "lines/input.h"

enum {
    BLOCK_BYTES = 256 * 1024,
    BLOCKS_MAX = 3
};

struct block {
    char *data;
    size_t cap;    /* a delimiter for the last line and BATCH_READABLE bytes are there besides */
    uint64_t last; /* number of batches made when this block was left */
};

struct reader {
    /* set by the caller */
    const char *const *names;
    size_t nnames;
    const struct identity *identity; /* NULL: only split into lines */
    char delimiter;
    uint64_t max_line; /* 0: any length */
    bool long_window;  /* of zstd, as input_open */
    struct input_wait wait;
    size_t nblocks; /* 1, or more when batches are used while the next are made */
    /* The first file is read from here on; 0: from its beginning. */
    uint64_t skip_bytes;
    uint64_t skip_lines;

    /* result: some file or line could not be read, which has been reported */
    bool failed;

    /* state */
    struct input *input;
    const char *name; /* of the file that the lines are from */
    struct block blocks[BLOCKS_MAX];
    size_t current;
    size_t at;      /* start of the first line not in a batch yet */
    size_t scanned; /* no delimiter in [at, at + scanned) */
    size_t filled;
    uint64_t skipped; /* bytes of an over-long line that are gone already; 0: in no such line */
    uint64_t line;    /* number in its file of the line at `at`, from 0 */
    uint64_t nlong;   /* over-long lines in all files */
    uint64_t nbatches;
    uint64_t nmisses; /* lines without the wanted key */
    struct text scratch;
};

/* Fills *b with the next lines; false at the end. Errors of single files have been reported and
 * set failed. */
bool reader_next(struct reader *r, struct batch *b);

/* The number of a line of b in its file, from 1. */
uint64_t reader_line_number(const struct batch *b, const char *line, char delimiter);

/* Says at the end what was said of single lines only for the first of them. */
void reader_summary(const struct reader *r);

void reader_release(struct reader *r);

#endif
