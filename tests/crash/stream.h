/* SPDX-License-Identifier: MIT
 *
 * Lines that have a time each, "KEY SECONDS", and what a store with a window lets through of them:
 * the dumbest model, a time for each key. No answer depends on how late a key may leave, so there
 * is one right output, wherever the stream was interrupted. */
#ifndef UNSEEN_CRASH_STREAM_H
#define UNSEEN_CRASH_STREAM_H

#include "crash.h"

struct stream {
    uint32_t n; /* lines */
    char *in;
    char *out;
    size_t *in_ends;  /* of each line; in_ends[-1] is 0, too */
    size_t *out_ends; /* of what is let through up to each line */
    char *missing;    /* the keys below n that are not there behind the last line, a line each */
};

void stream_make(struct stream *s, uint32_t n, uint64_t *random);
void stream_free(struct stream *s);

/* `unseen -s s -o out` of the lines of a file, or of a descriptor; NULL: of no line, which cuts off
 * of the output what is not committed. */
struct crash_job stream_job(const char *tool, const char *in);

/* The line with which to go on behind what is in the file out; UINT32_MAX: that is not how the
 * right output begins. */
uint32_t stream_next(const struct stream *s);

/* Whether the file out is the right output of all lines. */
bool stream_is_whole(const struct stream *s);

/* Copies line number i with its line end; its length, which is below CRASH_URL_MAX. */
size_t stream_line(const struct stream *s, uint32_t i, char *buf);

/* Writes the lines from..to-1 to the file _lines. */
void stream_write(const struct stream *s, uint32_t from, uint32_t to);

/* What is wrong with the store behind the last line, or NULL. */
const char *stream_check_store(const struct stream *s, const char *tool);

#endif
