/* SPDX-License-Identifier: MIT
 *
 * An input file as lines in UTF-8 or any bytes: standard input or a named file. What it holds is
 * told by its first bytes, never by the name (magic.h): gzip, zstd, xz and bzip2 are decompressed,
 * any number of members and frames; a byte order mark is dropped; UTF-16 with a mark becomes UTF-8;
 * an archive and the like is an error. Messages about the file are printed here. */
#ifndef UNSEEN_CLI_INPUT_H
#define UNSEEN_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;
struct reread;

enum {
    MAX_LINE_DEFAULT = 16 << 20,
    INPUTS_AHEAD_MAX = 64 /* files that are decoded ahead at once */
};

/* The files of a command, and how they are read. */
struct input_options {
    const char *const
        *files; /* without the store; a command that reads lines gets - if no file is named */
    size_t nfiles;
    bool none_named; /* no file is named */
    char delimiter;
    uint64_t max_line;   /* 0: any length */
    unsigned window_log; /* compressed data may take windows of 2^window_log bytes; 0: 2^27 */
    unsigned threads;    /* 0: choose */
    bool has_limit;      /* of memory: no file is decoded ahead */
    /* NULL, or the files are read twice: what the second reading needs (reread.h). Set by a
     * command. */
    struct reread *reread;
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
    /* Returns when the first n batches of a reader are no longer in use. False: reading is to
     * stop. NULL: no batch is in use while the next one is made. */
    bool (*used)(void *context, uint64_t n);
    void *context;
};

/* Opens name ("-": standard input). Of the options it uses the delimiter, the window and reread.
 * NULL if that failed, which has been reported. */
struct input *input_open(const char *name, struct input_wait wait, const struct input_options *o);

/* Opens the file `name` before its turn, if it is a regular file of coded bytes, and starts a
 * thread that decodes it. NULL: it is something else, or that failed; input_open says why. */
struct input *input_open_ahead(const char *name, const struct input_options *o);

/* False if the file that was opened ahead has changed since, or its name leads to another one. */
bool input_is_current(const struct input *in);

/* The turn of a file that was opened ahead has come. False if it cannot be read, which has been
 * reported. */
bool input_begin_turn(struct input *in);

enum {
    INPUT_READ_MIN = 16 /* a decoder that has less room might never move on */
};

/* Reads 1 to cap bytes. Waits only if there is no byte, and in front of the first line. Returns 0
 * at the end of the file, -1 after an error that has been reported, INPUT_STOP if `before` said so.
 * cap must be at least INPUT_READ_MIN, and 1024 at the first call. */
ssize_t input_read(struct input *in, void *buf, size_t cap);

/* The offset in the file up to which its bytes, compressed or not, have been used. */
uint64_t input_offset(const struct input *in);

/* The name of the file for messages. */
const char *input_name(const struct input *in);

void input_close(struct input *in);

#endif
