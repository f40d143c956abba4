/* SPDX-License-Identifier: MIT
 *
 * A ring with one writer and one reader needs no lock, only two counts: batches filled and batches
 * used. They are semaphores because a wait on one is ended by a signal, which a condition
 * variable's is not: SIGUSR1 is answered while the input is silent.
 *
 * A block may be overwritten when every batch that points into it has been used. Batches are used
 * in the order in which they were made, so that is again a count: the posts of `used` seen so far.
 */
#include "lines/read_ahead.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

bool read_ahead_is_wanted(unsigned threads)
{
    cpu_set_t usable;
    if (threads > 0) {
        return threads > 1;
    }
    return sched_getaffinity(0, sizeof(usable), &usable) == 0 && CPU_COUNT(&usable) > 1;
}

/* Interrupts what the thread waits for; it looks at `stopping` then. */
static int wake_signal(void)
{
    return SIGRTMIN;
}

static void woken(int signal_number)
{
    (void)signal_number;
}

/* Returns without a post, too, when the thread shall end: nothing is in use any more then. */
static void wait_post(struct read_ahead *a, sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR && !atomic_load(&a->stopping)) {
    }
}

/* A slot may be filled for the n'th time round when n - AHEAD_BATCHES batches have been used. */
static void wait_used(void *context, uint64_t n)
{
    struct read_ahead *a = context;
    while (a->nwaited < n && !atomic_load(&a->stopping)) {
        wait_post(a, &a->used);
        a->nwaited++;
    }
}

/* The thread's word before it waits for input. */
static int before_input(void *context)
{
    struct read_ahead *a = context;
    return atomic_load(&a->stopping) ? INPUT_STOP : INPUT_NOTHING;
}

static void *run(void *context)
{
    struct read_ahead *a = context;
    bool more = true;
    for (uint64_t n = 0; more; n++) {
        struct batch *b = &a->slots[n % AHEAD_BATCHES];
        wait_used(a, n < AHEAD_BATCHES ? 0 : n - AHEAD_BATCHES + 1);
        more = !atomic_load(&a->stopping) && reader_next(a->reader, b);
        if (!more) {
            b->n = SIZE_MAX; /* the end */
        }
        (void)sem_post(&a->filled); /* cannot overflow: at most AHEAD_BATCHES */
    }
    (void)sem_post(&a->over);
    return NULL;
}

bool read_ahead_start(struct read_ahead *a, struct reader *reader, struct input_wait wait)
{
    *a = (struct read_ahead){.reader = reader, .wait = wait};
    reader->nblocks = BLOCKS_MAX;
    reader->wait = (struct input_wait){before_input, wait_used, a};
    a->slots = calloc(AHEAD_BATCHES, sizeof(*a->slots));
    struct sigaction action = {.sa_handler = woken};
    sigemptyset(&action.sa_mask);
    if (a->slots && sem_init(&a->filled, 0, 0) == 0 && sem_init(&a->used, 0, 0) == 0 &&
        sem_init(&a->over, 0, 0) == 0 && sigaction(wake_signal(), &action, NULL) == 0) {
        /* All other signals are for the main thread. */
        sigset_t most;
        sigset_t old;
        sigfillset(&most);
        sigdelset(&most, wake_signal());
        pthread_sigmask(SIG_SETMASK, &most, &old);
        int status = pthread_create(&a->thread, NULL, run, a);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (status == 0) {
            return true;
        }
    }
    free(a->slots);
    reader->nblocks = 1;
    reader->wait = (struct input_wait){.before = NULL};
    return false;
}

/* Waits for a filled slot, with a word to the caller first. False: the caller wants no more. */
static bool wait_filled(struct read_ahead *a)
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

struct batch *read_ahead_next(struct read_ahead *a)
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

void read_ahead_finish(struct read_ahead *a)
{
    const struct timespec moment = {.tv_nsec = 200 * 1000};
    atomic_store(&a->stopping, true);
    while (!a->ended && sem_trywait(&a->over) != 0) {
        /* A signal that comes just before a wait is lost, so there is always another one. */
        (void)pthread_kill(a->thread, wake_signal());
        (void)nanosleep(&moment, NULL);
    }
    pthread_join(a->thread, NULL);
    sem_destroy(&a->over);
    sem_destroy(&a->filled);
    sem_destroy(&a->used);
    for (size_t i = 0; i < AHEAD_BATCHES; i++) {
        text_release(&a->slots[i].text);
    }
    free(a->slots);
}
