/* SPDX-License-Identifier: MIT
 *
 * Reading ahead: a reader in a thread of its own, its batches handed over in order. */
#ifndef UNSEEN_CLI_READ_AHEAD_H
#define UNSEEN_CLI_READ_AHEAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lines/batch.h"
#include "lines/reader.h"

enum {
    AHEAD_BATCHES = 16
};

struct read_ahead {
    struct reader *reader;
    pthread_t thread;
    sem_t filled;
    sem_t used;
    sem_t over;           /* the thread is about to end */
    atomic_bool stopping; /* it shall */
    struct batch *slots;  /* AHEAD_BATCHES of them, used in turn */

    /* the reading thread's */
    uint64_t nwaited; /* posts of `used` taken so far */

    /* the other thread's */
    uint64_t ntaken;
    bool ended;
    struct input_wait wait;
};

/* Whether to read ahead: threads is what the user wants, 0 for as many as are of use here. */
bool read_ahead_is_wanted(unsigned threads);

/* Starts the thread; false if that failed (nothing was read, nothing is reported). The reader
 * belongs to the thread from now on. */
bool read_ahead_start(struct read_ahead *a, struct reader *reader, struct input_wait wait);

/* The next batch, valid until the next call; NULL at the end (a->ended) or if wait.before wants to
 * stop. That is called before each wait, and about once a second while it lasts. */
struct batch *read_ahead_next(struct read_ahead *a);

/* Ends the thread, which may be waiting for input that never comes, and releases all batches. The
 * reader belongs to the caller again. */
void read_ahead_finish(struct read_ahead *a);

#endif
