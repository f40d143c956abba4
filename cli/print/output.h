/* SPDX-License-Identifier: MIT
 *
 * A buffered writer. An error is reported once and remembered; later writes do nothing. If the
 * reader of a pipe has gone away (EPIPE), the writer fails without a message, as in any filter. */
#ifndef UNSEEN_CLI_OUTPUT_H
#define UNSEEN_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    OUTPUT_BYTES = 64 * 1024
};

struct output {
    int fd; /* -1: the bytes stay in memory */
    const char *name;
    char *buf; /* buf[sent..len) is still to be written */
    size_t cap;
    size_t len;
    size_t sent;
    uint64_t written; /* bytes that have been written */
    uint64_t put; /* bytes that were put, also after a failure; the next byte is at this position */
    /* Never wait for the reader of the output before the end: keep the bytes that it does not take
     * yet, in as much memory as they need. */
    bool elastic;
    /* A second output, which gets what has been written to this one; NULL: none. If it fails, so
     * does this one. */
    struct output *tee;
    bool failed;
    bool reader_gone; /* failed because nobody reads the pipe any more */
    bool is_open;
};

/* The format that a name asks for, such as NAME.gz, which an output does not have: the program that
 * writes it, "" if it is an archive, NULL if the name asks for lines. */
const char *output_format_of(const char *name);

/* Opens path ("-" or NULL: standard output) for writing, and does not truncate it yet. */
bool output_open(struct output *out, const char *path);

/* Opens path to append to it. It is opened for reading, too. If the file is new, its name is
 * durable before the function returns. */
bool output_open_again(struct output *out, const char *path);

/* Opens an output that keeps all its bytes in memory, in buf[0..len). The name is for messages.
 * False without memory. output_abandon frees it. */
bool output_open_memory(struct output *out, const char *name);

/* Makes the name of a regular file that the shell has opened durable, if the system tells the
 * name. */
void output_sync_name(const struct output *out);

/* Truncates a regular file that was opened by name. Call it when the file is known not to be an
 * input. */
bool output_truncate(struct output *out);

/* Moves in a regular file that was opened by name, as lseek does. */
bool output_seek(struct output *out, uint64_t offset, int whence);

/* True if the output is a regular file. */
bool output_is_file(const struct output *out);

/* Makes out, and its tee, elastic if it is a pipe or a socket. */
void output_make_elastic(struct output *out);

/* Writes the buffered bytes; an elastic output writes as many as it can without waiting. */
bool output_flush(struct output *out);

/* The descriptor of an elastic output, or of its tee, with bytes that could not be written yet; -1:
 * there are none. */
static inline int output_behind(const struct output *out)
{
    if (out->elastic && out->sent < out->len) {
        return out->fd;
    }
    return out->tee ? output_behind(out->tee) : -1;
}

/* The slow half of output_write. */
void output_write_large(struct output *out, const char *data, size_t len);

/* As printf, for at most 8 KiB of text. */
__attribute__((format(printf, 2, 3))) void output_print(struct output *out, const char *format,
                                                        ...);

/* Returns room for len bytes in the buffer, or NULL. The caller fills it and calls
 * output_advance. */
static inline char *output_reserve(struct output *out, size_t len)
{
    if (len > out->cap - out->len) {
        (void)output_flush(out); /* remembered in out */
    }
    return len <= out->cap - out->len ? out->buf + out->len : NULL;
}

static inline void output_advance(struct output *out, size_t len)
{
    out->len += len;
    out->put += len;
}

/* Writes all buffered bytes, however long that takes; false if anything has failed. */
bool output_finish(struct output *out);

/* Flushes and closes; false if anything has failed since output_open. */
bool output_close(struct output *out);

/* Closes the output without writing or reporting anything, for a run that did not happen. */
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
