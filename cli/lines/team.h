/* SPDX-License-Identifier: MIT
 *
 * A team of threads works for one more thread, its captain. The captain hands over a round of
 * pieces of work, does something else meanwhile, and then works on the pieces, too, until the round
 * is done. A round has two steps: no piece of the second step begins before all pieces of the first
 * are done. */
#ifndef UNSEEN_CLI_TEAM_H
#define UNSEEN_CLI_TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    TEAM_MAX = 64
};

struct team {
    /* set by the caller, before team_start. Does a piece, from 0; the pieces of the second step
     * follow those of the first. `member` is below TEAM_MAX, and no two threads have the same. */
    void (*work)(void *context, size_t member, size_t piece);
    void *context;

    /* state */
    size_t nthreads;
    pthread_t threads[TEAM_MAX - 1];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t nmembers; /* numbers that were given to threads; the captain is 0 */
    size_t nfirst;   /* pieces of the first step, */
    size_t npieces;  /* and of both */
    size_t nbegun;
    size_t ndone;
    bool stopping;
};

/* Starts at most n threads. With fewer, the captain does more. False without any. */
bool team_start(struct team *t, size_t n);

/* Begins a round. No other one is under way. */
void team_begin(struct team *t, size_t nfirst, size_t nsecond);

/* Ends the round, if there is one. */
void team_end(struct team *t);

/* Ends the threads; no round is under way. */
void team_stop(struct team *t);

#endif
