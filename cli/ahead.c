/* SPDX-License-Identifier: MIT
 *
 * A ring with one writer and one reader needs no lock, only two counts: batches filled and batches
 * used. They are semaphores because a wait on one is ended by a signal, which a condition
 * variable's is not: SIGUSR1 is answered while the input is silent.
 *
 * A block may be overwritten when every batch that points into it has been used. Batches are used
 * in the order in which they were made, so that is again a count: the posts of `used` seen so far.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "ahead.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

bool ahead_is_wanted(unsigned threads)
{
    cpu_set_t usable;
    if (threads > 0) {
        return threads > 1;
    }
    return sched_getaffinity(0, sizeof(usable), &usable) == 0 && CPU_COUNT(&usable) > 1;
}

/* The thread can be cancelled here and where it waits for input (input.c), nowhere else: it holds
 * nothing then that the other thread does not know of. */
static void sem_wait_always(sem_t *sem)
{
    int old = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    while (sem_wait(sem) != 0 && errno == EINTR) {
    }
    pthread_setcancelstate(old, NULL);
}

/* A slot may be filled for the n'th time round when n - AHEAD_BATCHES batches have been used. */
static void wait_used(void *context, uint64_t n)
{
    struct ahead *a = context;
    while (a->nwaited < n) {
        sem_wait_always(&a->used);
        a->nwaited++;
    }
}

static void *run(void *context)
{
    struct ahead *a = context;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    for (uint64_t n = 0;; n++) {
        struct batch *b = &a->slots[n % AHEAD_BATCHES];
        wait_used(a, n < AHEAD_BATCHES ? 0 : n - AHEAD_BATCHES + 1);
        bool more = reader_next(a->reader, b);
        if (!more) {
            b->n = SIZE_MAX; /* the end */
        }
        (void)sem_post(&a->filled); /* cannot overflow: at most AHEAD_BATCHES */
        if (!more) {
            return NULL;
        }
    }
}

bool ahead_start(struct ahead *a, struct reader *reader, struct input_wait wait)
{
    *a = (struct ahead){.reader = reader, .wait = wait};
    reader->nblocks = BLOCKS_MAX;
    reader->wait_used = wait_used;
    reader->wait_used_context = a;
    a->slots = calloc(AHEAD_BATCHES, sizeof(*a->slots));
    if (a->slots && sem_init(&a->filled, 0, 0) == 0 && sem_init(&a->used, 0, 0) == 0) {
        /* Signals are for the main thread. */
        sigset_t all;
        sigset_t old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        int status = pthread_create(&a->thread, NULL, run, a);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (status == 0) {
            return true;
        }
    }
    free(a->slots);
    reader->nblocks = 1;
    reader->wait_used = NULL;
    return false;
}

/* Waits for a filled slot, with a word to the caller first. False: the caller wants no more. */
static bool wait_filled(struct ahead *a)
{
    while (sem_trywait(&a->filled) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (a->wait.before(a->wait.context) == INPUT_STOP) {
            return false;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (sem_timedwait(&a->filled, &until) == 0) {
            return true;
        }
    }
    return true;
}

struct batch *ahead_next(struct ahead *a)
{
    if (a->ntaken > 0) {
        (void)sem_post(&a->used); /* cannot overflow */
    }
    if (!wait_filled(a)) {
        return NULL;
    }
    struct batch *b = &a->slots[a->ntaken++ % AHEAD_BATCHES];
    a->ended = b->n == SIZE_MAX;
    return a->ended ? NULL : b;
}

void ahead_finish(struct ahead *a)
{
    if (!a->ended) {
        pthread_cancel(a->thread);
    }
    pthread_join(a->thread, NULL);
    sem_destroy(&a->filled);
    sem_destroy(&a->used);
    for (size_t i = 0; i < AHEAD_BATCHES; i++) {
        text_release(&a->slots[i].text);
    }
    free(a->slots);
}
