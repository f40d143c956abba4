/* SPDX-License-Identifier: MIT
 *
 * The thread that makes changes durable, so that nobody else waits for the disk. What is begun while
 * it is busy is committed together: one record, one sync. */
#ifndef UNSEEN_LOG_COMMITTER_H
#define UNSEEN_LOG_COMMITTER_H

#include <pthread.h>

#include "log/log.h"

/* A row of changes: packed keys, and for each 1 if it is removed. They are those at start..start+n
 * of the arrays. */
struct unseen__changes {
    uint8_t *keys;
    uint8_t *removed;
    size_t start;
    size_t n;
    size_t cap;
    uint64_t output_len;
};

struct unseen__committer {
    struct unseen__log *log; /* the thread's, from start to stop */
    bool is_running;

    /* the caller's */
    struct unseen__changes waiting; /* not begun yet */
    int output_fd;                  /* synced before each record; -1: none */
    const char *output_name;        /* NULL: its length is not recorded */
    uint64_t output_len;            /* as of the last begin */

    /* shared, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct unseen__changes begun;
    uint64_t nbegun; /* calls of begin that brought something */
    uint64_t ndone;  /* of these, how many are durable */
    uint64_t log_end;
    bool stop;
    enum unseen_status status;
    struct unseen_error error;

    /* the thread's */
    struct unseen__changes writing;
    uint8_t *bits;
    size_t bits_cap;
    int wake[2]; /* a pipe: a byte in it ends a rest early */
    pthread_t thread;
};

/* Errors: NOMEM (no memory, thread or descriptors). */
enum unseen_status unseen__committer_start(struct unseen__committer *committer,
                                           struct unseen__log *log, struct unseen_error *error);

/* Makes room for n more waiting changes. Errors: NOMEM; nothing has changed. */
enum unseen_status unseen__committer_reserve(struct unseen__committer *committer, size_t n);

/* Adds a change to those waiting; there must be room. */
void unseen__committer_note(struct unseen__committer *committer, struct unseen_key key,
                            bool removed);

/* Begins to commit the first n of those waiting. Errors: NOMEM (nothing was begun), ARGUMENT (too
 * many at once to be one record), and those of earlier commits. */
enum unseen_status unseen__committer_begin(struct unseen__committer *committer, size_t n,
                                           uint64_t output_len, struct unseen_error *error);

/* Returns when all that was begun is durable, or an error has stopped it. */
enum unseen_status unseen__committer_wait(struct unseen__committer *committer,
                                          struct unseen_error *error);

/* Whether it goes on; if not, STOPPED. */
enum unseen_status unseen__committer_status(struct unseen__committer *committer);

/* Waits as above and ends the thread; the log is the caller's again. What waits is still there. */
enum unseen_status unseen__committer_stop(struct unseen__committer *committer,
                                          struct unseen_error *error);

/* The last of the waiting changes, which is taken out; false if there are none. */
bool unseen__committer_take_back(struct unseen__committer *committer, struct unseen_key *key_out,
                                 bool *removed_out);

/* After stop. */
void unseen__committer_release(struct unseen__committer *committer);

/* How long the log is without what is on its way. */
uint64_t unseen__committer_log_end(struct unseen__committer *committer);

/* The checksum that a record keeps of an output file of that length. Returns an errno number. */
int unseen__output_checksum(int fd, uint64_t len, uint64_t *checksum_out);

#endif
