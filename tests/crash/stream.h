/* SPDX-License-Identifier: MIT
 *
 * Lines that have a time each, "KEY SECONDS", and what a store with a window lets through of them:
 * the dumbest model, a time for each key. No answer depends on how late a key may leave, so there
 * is one right output, wherever the stream was interrupted. Before some lines `unseen remove` takes
 * keys away, of which some come again. The line before is let through, so the output says whether
 * it is time for that. */
#ifndef UNSEEN_CRASH_STREAM_H
#define UNSEEN_CRASH_STREAM_H

#include "crash.h"

enum {
    STREAM_PARTS = 4 /* between which keys are removed */
};

struct stream {
    uint32_t n;    /* lines */
    uint32_t part; /* lines of a part */
    char *in;
    char *out;
    size_t *in_ends;          /* of each line; in_ends[-1] is 0, too */
    size_t *out_ends;         /* of what is let through up to each line */
    char *gone[STREAM_PARTS]; /* the keys that are removed before each part; NULL: none */
    char *missing; /* the keys below n that are not there behind the last line, a line each */
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

/* The end of the part that line number i is in. */
uint32_t stream_end(const struct stream *s, uint32_t i);

/* Whether keys are removed before line number i: those in the file _gone, by this job. To remove
 * them once more changes nothing. */
bool stream_removes(const struct stream *s, uint32_t i);
struct crash_job stream_remove_job(const char *tool);

/* Goes on with line number i, to the end, as the job is run: with its shim and environment. False,
 * and crash_messages, if a run fails. */
bool stream_go_on(const struct stream *s, const char *tool, uint32_t i, struct crash_job job);

/* Makes the store whose next run, of the lines from the one that is returned on, moves the head of
 * its log and makes a hole before it. The stream ends with that run. */
uint32_t stream_before_hole(struct stream *s, const char *tool);

/* What is wrong with the store behind the last line, or NULL. */
const char *stream_check_store(const struct stream *s, const char *tool);

#endif
