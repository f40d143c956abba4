/* SPDX-License-Identifier: MIT
 *
 * A stage of an input: it reads coded bytes from a source, and is itself the source of the decoded
 * bytes. It reports damage in them. */
#ifndef UNSEEN_CLI_STAGE_H
#define UNSEEN_CLI_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lines/decoder.h"

/* Where bytes come from. read behaves as input_read does, but goes on returning an error. */
struct source {
    ssize_t (*read)(void *context, void *buf, size_t cap);
    void *context;
    /* Goes back n bytes. False after an error that has been reported. NULL: it cannot. */
    bool (*back)(void *context, uint64_t n);
};

struct stage {
    const char *name; /* of the file */
    const struct decoder_format *format;
    unsigned window_log;
    struct source from;
    const struct decoder_format *functions; /* in use: of format, or its quick ones */
    void *decoder;
    uint64_t taken;     /* coded bytes of this member so far */
    uint64_t given;     /* decoded bytes of it that the quick functions gave */
    unsigned char *raw; /* coded bytes that are not decoded yet: raw[at..len) */
    size_t at;
    size_t len;
    bool raw_end;
    bool unfinished; /* inside a gzip member or a zstd frame, for example */
    bool holds_more; /* the decoder has more output, for which there was no room */
    bool failed;
};

enum {
    STAGE_RAW_BYTES = 128 * 1024
};

/* Makes the stage, of which the caller has set the first four fields. head[0..len) comes before the
 * bytes of the source; len is at most STAGE_RAW_BYTES. False without memory, which has been
 * reported. */
bool stage_start(struct stage *s, const void *head, size_t len);
void stage_release(struct stage *s);

/* The decoded bytes. Room for them: at least 4 bytes. */
struct source stage_source(struct stage *s);

#endif
