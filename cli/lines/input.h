/* SPDX-License-Identifier: MIT
 *
 * One input file as plain bytes: standard input or a named file, as it is or decompressed. gzip
 * (any number of members) and zstd (any number of frames) are known by their first bytes, never by
 * their names. Messages about the file are printed here. */
#ifndef UNSEEN_CLI_INPUT_H
#define UNSEEN_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;

enum {
    MAX_LINE_DEFAULT = 16 << 20
};

/* The files of a command, and how they are read. */
struct input_options {
    const char *const *files; /* without the store; - in place of none, where lines are read */
    size_t nfiles;
    bool none_named; /* it is that - */
    char delimiter;
    uint64_t max_line; /* 0: any length */
    bool long_window;  /* of zstd */
    unsigned threads;  /* 0: as many as are of use */
};

enum {
    INPUT_NOTHING = -1, /* before: nothing else to wait for */
    INPUT_STOP = -2     /* before, input_read: the input is of no use any more */
};

/* How a reader waits: for input, and for the blocks that it fills. */
struct input_wait {
    /* Called each time before the program would wait for input, and about once a second while it
     * waits. If it returns a descriptor, it is called again as soon as that can be written to.
     * NULL: the caller does not care. */
    int (*before)(void *context);
    /* Returns when the first n batches of a reader are no longer in use; NULL if that is always so. */
    void (*used)(void *context, uint64_t n);
    void *context;
};

/* Opens name ("-": standard input). A zstd frame may ask for a window of 128 MiB of memory; with
 * long_window, for as much as libzstd can do, 2 GiB. NULL if that failed, which has been reported
 * then. */
struct input *input_open(const char *name, struct input_wait wait, bool long_window);

/* Reads 1 to cap bytes, waiting only if there is not a single byte. Returns 0 at the end of the
 * file, -1 after an error that has been reported, INPUT_STOP if before said so. cap must be at
 * least 16. */
ssize_t input_read(struct input *in, void *buf, size_t cap);

/* Leaves out the next n bytes, before the first read; fewer if the file ends. False after an error
 * that has been reported, or if before said INPUT_STOP. Costs no time where the file is plain. */
bool input_skip(struct input *in, uint64_t n);

/* How many bytes of the file as it is, compressed or not, are used up. */
uint64_t input_place(const struct input *in);

/* How messages call the file. */
const char *input_name(const struct input *in);

void input_close(struct input *in);

#endif
