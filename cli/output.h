/* SPDX-License-Identifier: MIT
 *
 * A buffered writer. An error is reported once and remembered; writing on is harmless and does
 * nothing. A reader that has gone away (EPIPE) is an error without a message, as in any filter. */
#ifndef UNSEEN_CLI_OUTPUT_H
#define UNSEEN_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    OUTPUT_BYTES = 256 * 1024
};

struct output {
    int fd;
    const char *name;
    char *buf;
    size_t len;
    bool failed;
    bool is_open;
    /* Called when a signal interrupts a write; may be NULL. */
    void (*interrupted)(void *context);
    void *context;
};

/* Opens path for writing without cutting it yet ("-" or NULL: standard output). */
bool output_open(struct output *out, const char *path);

/* Cuts a regular file that was opened by name to nothing: once it is known to be no input. */
bool output_truncate(struct output *out);

/* Writes what is buffered. */
bool output_flush(struct output *out);

/* The slow half of output_write. */
void output_write_large(struct output *out, const char *data, size_t len);

/* Flushes and closes; false if anything has failed since output_open. */
bool output_close(struct output *out);

static inline void output_write(struct output *out, const char *data, size_t len)
{
    if (len <= OUTPUT_BYTES - out->len) {
        memcpy(out->buf + out->len, data, len);
        out->len += len;
    } else {
        output_write_large(out, data, len);
    }
}

#endif
