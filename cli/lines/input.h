/* SPDX-License-Identifier: MIT
 *
 * An input file as plain bytes: standard input or a named file, decompressed if need be. gzip (any
 * number of members) and zstd (any number of frames) are recognised by their first bytes, never by
 * the name. Messages about the file are printed here. */
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
    const char *const
        *files; /* without the store; a command that reads lines gets - if no file is named */
    size_t nfiles;
    bool none_named; /* no file is named */
    char delimiter;
    uint64_t max_line; /* 0: any length */
    bool long_window;  /* for zstd */
    unsigned threads;  /* 0: choose */
};

enum {
    INPUT_NOTHING = -1, /* returned by before: wait for input only */
    INPUT_STOP = -2     /* returned by before and input_read: stop reading */
};

/* How a reader waits for input, and for blocks that are still in use. */
struct input_wait {
    /* Called before each wait for input, and about once a second during the wait. If it returns a
     * descriptor, it is called again as soon as the descriptor can be written to. May be NULL. */
    int (*before)(void *context);
    /* Returns when the first n batches of a reader are no longer in use. NULL: no batch is in use
     * while the next one is made. */
    void (*used)(void *context, uint64_t n);
    void *context;
};

/* Opens name ("-": standard input). A zstd frame may ask for a window of 128 MiB of memory, or of 2
 * GiB with long_window. NULL if that failed, which has been reported. */
struct input *input_open(const char *name, struct input_wait wait, bool long_window);

/* Reads 1 to cap bytes; waits only if there is no byte. Returns 0 at the end of the file, -1 after
 * an error that has been reported, INPUT_STOP if `before` said so. cap must be at least 16. */
ssize_t input_read(struct input *in, void *buf, size_t cap);

/* Skips the first n bytes of the file, or all if it has fewer. Call it before the first read. False
 * after an error that has been reported, or if `before` said INPUT_STOP. Takes no time if the file
 * is not compressed. */
bool input_skip(struct input *in, uint64_t n);

/* The offset in the file up to which its bytes, compressed or not, have been used. */
uint64_t input_offset(const struct input *in);

/* The name of the file for messages. */
const char *input_name(const struct input *in);

void input_close(struct input *in);

#endif
