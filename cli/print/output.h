/* SPDX-License-Identifier: MIT
 *
 * A buffered writer. An error is reported once and remembered; writing on is harmless and does
 * nothing. A reader that has gone away (EPIPE) is an error without a message, as in any filter. */
#ifndef UNSEEN_CLI_OUTPUT_H
#define UNSEEN_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    OUTPUT_BYTES = 256 * 1024
};

struct output {
    int fd;
    const char *name;
    char *buf; /* buf[sent..len) is still to be written */
    size_t cap;
    size_t len;
    size_t sent;
    uint64_t written; /* bytes that have been written */
    uint64_t put;     /* bytes that were to be, also after a failure: where the next one stands */
    /* Never wait for the reader of the output before the end: what it does not take yet is kept,
     * in as much memory as that needs. */
    bool elastic;
    bool failed;
    bool reader_gone; /* it has failed because nobody reads the pipe any more */
    bool is_open;
};

/* Opens path for writing without cutting it yet ("-" or NULL: standard output). */
bool output_open(struct output *out, const char *path);

/* The same, but what the file holds will be continued: it is opened for reading, too, and if it
 * was made, that is on the disk at once. */
bool output_open_again(struct output *out, const char *path);

/* Makes the name of a regular file that the shell has opened durable, as far as that is possible. */
void output_sync_name(const struct output *out);

/* Cuts a regular file that was opened by name to nothing: once it is known to be no input. */
bool output_truncate(struct output *out);

/* Moves to a place of a regular file that was opened by name, as lseek does. */
bool output_seek(struct output *out, uint64_t offset, int whence);

/* Whether it goes to a regular file. */
bool output_is_file(const struct output *out);

/* Makes out elastic if it is a pipe or a socket; where it is not, nothing changes. */
void output_make_elastic(struct output *out);

/* Writes what is buffered; if elastic, what can be written without waiting. */
bool output_flush(struct output *out);

/* Whether an elastic output has kept something. */
static inline bool output_is_behind(const struct output *out)
{
    return out->elastic && out->sent < out->len;
}

/* The slow half of output_write. */
void output_write_large(struct output *out, const char *data, size_t len);

/* As printf, at most 8 KiB. */
__attribute__((format(printf, 2, 3))) void output_print(struct output *out, const char *format,
                                                        ...);

/* Room for len bytes in the buffer, for the caller to fill and to claim by output_advance; NULL
 * if there is none. */
char *output_reserve(struct output *out, size_t len);

static inline void output_advance(struct output *out, size_t len)
{
    out->len += len;
    out->put += len;
}

/* Writes all that is buffered, however long that takes; false if anything has failed. */
bool output_finish(struct output *out);

/* Flushes and closes; false if anything has failed since output_open. */
bool output_close(struct output *out);

/* Lets go of what a run that did not happen has opened; nothing is written or reported. */
void output_abandon(struct output *out);

static inline void output_write(struct output *out, const char *data, size_t len)
{
    if (len <= out->cap - out->len) {
        memcpy(out->buf + out->len, data, len);
        out->len += len;
        out->put += len;
    } else {
        output_write_large(out, data, len);
    }
}

#endif
