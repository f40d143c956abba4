/* SPDX-License-Identifier: MIT
 *
 * The committer: a thread that makes changes durable, so that the caller need not wait for the
 * disk.
 *
 * A change goes through three rows. The caller notes it in `waiting`; begin moves it to `begun`;
 * the thread moves all of `begun` to `writing` and commits them together: one record, one sync. */
#ifndef UNSEEN_LOG_COMMITTER_H
#define UNSEEN_LOG_COMMITTER_H

#include <pthread.h>

#include "log/log.h"

/* A row of n changes, at start..start+n of the arrays: packed keys, a 1 for each removed key, and
 * when each was made. */
struct unseen__changes {
    uint8_t *keys;
    uint8_t *removed;
    uint64_t *times;
    size_t start;
    size_t n;
    size_t cap;
    uint64_t output_len;
};

struct unseen__committer {
    struct unseen__log *log; /* belongs to the thread from start to stop */
    bool is_running;

    int notify_fd; /* written to after each commit; 0: none */

    /* used by the caller; the thread reads the output's descriptor and name */
    struct unseen__changes waiting;
    int output_fd;           /* synced before each record; -1: no output */
    const char *output_name; /* NULL: records do not say how long the output is */
    uint64_t output_len;     /* as of the last begin */

    /* shared, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct unseen__changes begun;
    uint64_t nbegun;   /* calls of begin with at least one change */
    uint64_t ndone;    /* how many of these calls are durable */
    uint64_t ndurable; /* changes that are durable */
    uint64_t log_end;
    uint64_t log_time;
    bool stop;
    enum unseen_status status;
    struct unseen_error error;

    /* used by the thread, and by the caller when all that was begun is durable */
    uint64_t durable_len; /* of the output, as the last record of this run says; or NO_OUTPUT, */
    uint64_t durable_checksum;

    /* used by the thread */
    struct unseen__changes writing;
    uint8_t *bits;
    size_t bits_cap;
    struct unseen__run *runs;
    size_t runs_cap;
    int wake[2]; /* a pipe: a byte in it ends a rest early */
    pthread_t thread;
};

/* notify_fd is written to after each commit; 0: none. Errors: NOMEM (no memory, thread or
 * descriptors). */
enum unseen_status unseen__committer_start(struct unseen__committer *committer,
                                           struct unseen__log *log, int notify_fd,
                                           struct unseen_error *error);

/* Makes room for n more waiting changes. Errors: NOMEM; nothing has changed. */
enum unseen_status unseen__committer_reserve(struct unseen__committer *committer, size_t n);

/* Adds a waiting change. unseen__committer_reserve has made room for it. Times do not go back. */
void unseen__committer_note(struct unseen__committer *committer, struct unseen_key key,
                            bool removed, uint64_t time);

/* Hands the first n waiting changes to the thread. Errors: NOMEM (no change was handed over),
 * ARGUMENT (more changes than a record can hold), and the errors of earlier commits. */
enum unseen_status unseen__committer_begin(struct unseen__committer *committer, size_t n,
                                           uint64_t output_len, struct unseen_error *error);

/* Ends the thread's rest. With wait, it returns when all changes that were handed over are durable,
 * or when a commit has failed; else at once. *ndurable_out, unless NULL, is the number of changes
 * that are durable. Errors: that of a commit that has failed. */
enum unseen_status unseen__committer_poll(struct unseen__committer *committer, bool wait,
                                          uint64_t *ndurable_out, struct unseen_error *error);

/* Makes all later commits fail with this error. Nothing may have been begun that is not durable. */
void unseen__committer_fail(struct unseen__committer *committer, const struct unseen_error *error);

/* STOPPED if a commit has failed. */
enum unseen_status unseen__committer_status(struct unseen__committer *committer);

/* Waits as unseen__committer_poll does, and ends the thread. The log then belongs to the caller
 * again. Changes that wait are kept. */
enum unseen_status unseen__committer_stop(struct unseen__committer *committer,
                                          struct unseen_error *error);

/* Takes out the last waiting change; false if no change waits. */
bool unseen__committer_take_back(struct unseen__committer *committer, struct unseen_key *key_out,
                                 bool *removed_out);

/* After stop. */
void unseen__committer_release(struct unseen__committer *committer);

/* The end of the last durable record. */
uint64_t unseen__committer_log_end(struct unseen__committer *committer);

/* The time of that record. */
uint64_t unseen__committer_log_time(struct unseen__committer *committer);

/* Says that the caller, and not the thread, has appended to the log. Call it before the first
 * begin. */
void unseen__committer_appended(struct unseen__committer *committer);

/* The checksum that a record keeps of an output file of that length. Returns an errno number. */
int unseen__output_checksum(int fd, uint64_t len, uint64_t *checksum_out);

#endif
