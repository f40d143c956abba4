/* SPDX-License-Identifier: MIT
 *
 * Output is written before the program waits for more input. Otherwise a crawler that reads our
 * output to make our input would wait for us while we wait for it.
 *
 * Reading ahead, in a thread of its own:
 *
 * A ring with one writer and one reader needs no lock, only two counts: batches filled and batches
 * used. The counts are semaphores, because a signal interrupts a wait for a semaphore but not for
 * a condition variable: so SIGUSR1 is answered while the input is silent.
 *
 * A block may be overwritten when every batch that points into it has been used. Batches are used
 * in the order in which they were made, so a count tells that, too: the posts of `used` so far. */
#include "lines/feed.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "lines/files.h"
#include "lines/reader.h"
#include "lines/rounds.h"
#include "print/message.h"
#include "print/report.h"
#include "stop.h"

bool feed_goes_on(const struct feed *f)
{
    return !f->out->failed && !(f->more && f->more->failed) && !stop_is_wanted();
}

int feed_before_wait(void *context)
{
    struct feed *f = context;
    (void)output_flush(f->out); /* remembered in out */
    if (f->more && f->more->is_open) {
        (void)output_flush(f->more);
    }
    report_poll();
    if (f->poll) {
        f->poll(f->context);
    }
    if (!feed_goes_on(f)) {
        return INPUT_STOP;
    }
    const int behind = output_behind(f->out);
    return behind >= 0 ? behind : INPUT_NOTHING;
}

/* The index among the files of the options of the first file that is read; their number if it is
 * not one of them. */
static size_t first_file(const struct feed *f)
{
    size_t i = 0;
    while (f->file && i < f->input->nfiles && f->input->files[i] != f->file) {
        i++;
    }
    return i;
}

/* Tells the report where the batch is from. */
static void report_batch(const struct feed *f, const struct batch *b)
{
    if (f->first < f->input->nfiles) {
        report_at(f->input->files, f->input->nfiles, f->first + b->file, b->offset);
    }
}

bool feed_give(struct feed *f, const struct batch *b)
{
    report_batch(f, b);
    f->failed = b->failed;
    return f->take(f->context, b) && feed_goes_on(f);
}

/* ---- Reading ahead --------------------------------------------------------------------------- */

enum {
    AHEAD_BATCHES = 16
};

/* Without a thread, the reader makes one batch at a time, when it is asked for. */
struct read_ahead {
    struct reader *reader;
    struct batch *slots; /* used in turn */
    size_t nslots;       /* AHEAD_BATCHES; FEED_KEPT if batches are kept; otherwise 1 */
    bool has_thread;
    pthread_t thread;
    sem_t filled;
    sem_t used;
    sem_t over;           /* the thread is about to end */
    atomic_bool stopping; /* the thread is asked to end */

    /* used by the reading thread */
    uint64_t nwaited; /* posts of `used` that were waited for */

    /* used by the other thread */
    uint64_t ntaken;
    uint64_t nsettled; /* of these, answered if batches are kept */
    bool stops;        /* kept batches could not be answered */
    bool ended;
    struct feed *feed;
};

/* `threads` is what the user asked for; 0: decide by the number of processors. */
static bool read_ahead_is_wanted(unsigned threads)
{
    cpu_set_t usable;
    if (threads > 0) {
        return threads > 1;
    }
    return sched_getaffinity(0, sizeof(usable), &usable) == 0 && CPU_COUNT(&usable) > 1;
}

/* Interrupts a wait of the thread, which then looks at `stopping`. */
static int wake_signal(void)
{
    return SIGRTMIN;
}

static void woken(int signal_number)
{
    (void)signal_number;
}

/* Waits for a post. When the thread is asked to end, returns without one: no batch is in use
 * then. */
static void wait_post(struct read_ahead *a, sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR && !atomic_load(&a->stopping)) {
    }
}

/* Waits until the first n batches have been used. */
static void wait_used(void *context, uint64_t n)
{
    struct read_ahead *a = context;
    while (a->nwaited < n && !atomic_load(&a->stopping)) {
        wait_post(a, &a->used);
        a->nwaited++;
    }
}

/* The thread calls it before it waits for input. */
static int before_input(void *context)
{
    struct read_ahead *a = context;
    return atomic_load(&a->stopping) ? INPUT_STOP : INPUT_NOTHING;
}

static void *read_all(void *context)
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
        (void)sem_post(&a->filled); /* cannot overflow: it is at most AHEAD_BATCHES */
    }
    (void)sem_post(&a->over);
    return NULL;
}

static bool start_thread(struct read_ahead *a)
{
    struct sigaction action = {.sa_handler = woken};
    sigemptyset(&action.sa_mask);
    if (sem_init(&a->filled, 0, 0) != 0 || sem_init(&a->used, 0, 0) != 0 ||
        sem_init(&a->over, 0, 0) != 0 || sigaction(wake_signal(), &action, NULL) != 0) {
        return false;
    }
    /* All other signals go to the main thread. */
    sigset_t most;
    sigset_t old;
    sigfillset(&most);
    sigdelset(&most, wake_signal());
    pthread_sigmask(SIG_SETMASK, &most, &old);
    const int status = pthread_create(&a->thread, NULL, read_all, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status == 0;
}

/* ---- Keeping batches ------------------------------------------------------------------------- */

/* Answers the batches that are kept. */
static void settle(struct read_ahead *a)
{
    struct feed *f = a->feed;
    a->stops = a->stops || (f->settle && !f->settle(f->context));
    a->nsettled = a->ntaken;
}

static void settle_used(void *context, uint64_t n)
{
    struct read_ahead *a = context;
    if (n > a->nsettled) {
        settle(a);
    }
}

static int settle_before_wait(void *context)
{
    struct read_ahead *a = context;
    settle(a);
    return a->stops ? INPUT_STOP : feed_before_wait(a->feed);
}

/* ---- Either way ------------------------------------------------------------------------------ */

static bool make_slots(struct read_ahead *a, size_t n)
{
    a->nslots = n;
    a->slots = calloc(n, sizeof(*a->slots));
    return a->slots != NULL;
}

/* Starts a thread if one is wanted and can be had. False, and reported, without memory. */
static bool read_ahead_start(struct read_ahead *a, bool wants_thread)
{
    struct reader *reader = a->reader;
    if (a->feed->settle) {
        reader->nblocks = BLOCKS_AHEAD;
        reader->wait = (struct input_wait){settle_before_wait, settle_used, a};
        return make_slots(a, FEED_KEPT) || message_no_memory();
    }
    if (wants_thread) {
        reader->nblocks = BLOCKS_AHEAD;
        reader->wait = (struct input_wait){before_input, wait_used, a};
        a->has_thread = make_slots(a, AHEAD_BATCHES) && start_thread(a);
    }
    if (!a->has_thread) {
        free(a->slots);
        reader->nblocks = 1;
        reader->wait = (struct input_wait){feed_before_wait, NULL, a->feed};
        (void)make_slots(a, 1);
    }
    return a->slots || message_no_memory();
}

/* Waits for a filled slot, and calls before_wait first. False if the run is to stop. */
static bool wait_filled(struct read_ahead *a)
{
    while (sem_trywait(&a->filled) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (feed_before_wait(a->feed) == INPUT_STOP) {
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

/* As read_ahead_next, without a thread. */
static const struct batch *read_next(struct read_ahead *a)
{
    struct batch *b = &a->slots[a->ntaken % a->nslots];
    if (a->ntaken - a->nsettled == a->nslots) {
        settle(a);
    }
    a->ended = a->stops || !reader_next(a->reader, b);
    a->ntaken++;
    return a->ended || a->stops ? NULL : b;
}

/* The next batch, valid until the next call, or until it was settled. NULL at the end (a->ended),
 * or if the run is to stop. */
static const struct batch *read_ahead_next(struct read_ahead *a)
{
    if (!a->has_thread) {
        return read_next(a);
    }
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

/* Ends the thread, even if it waits for input that never comes. */
static void end_thread(struct read_ahead *a)
{
    const struct timespec moment = {.tv_nsec = 200 * 1000};
    atomic_store(&a->stopping, true);
    while (!a->ended && sem_trywait(&a->over) != 0) {
        /* A signal that comes just before a wait is lost, so send another one. */
        (void)pthread_kill(a->thread, wake_signal());
        (void)nanosleep(&moment, NULL);
    }
    pthread_join(a->thread, NULL);
    sem_destroy(&a->over);
    sem_destroy(&a->filled);
    sem_destroy(&a->used);
}

/* Releases all batches. The reader then belongs to the caller again. */
static void read_ahead_finish(struct read_ahead *a)
{
    if (a->has_thread) {
        end_thread(a);
    }
    for (size_t i = 0; i < a->nslots; i++) {
        text_release(&a->slots[i].text);
    }
    free(a->slots);
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

void feed_run(struct feed *f)
{
    struct reader reader = {
        .names = f->file ? &f->file : f->input->files,
        .nnames = f->file ? 1 : f->input->nfiles,
        .identity = f->identity,
        .options = f->input,
    };
    struct read_ahead ahead = {.reader = &reader, .feed = f};
    f->first = first_file(f);
    f->failed = false;
    /* If an input is a named fifo, the program is probably part of a loop: mkfifo q; unseen < q
     * | fetch > q. When both pipes are full, the reader of our output waits for us to read, so
     * we must not wait for it to read. Reading goes first then, and the output may queue up in
     * memory. */
    if (files_have_fifo(reader.names, reader.nnames)) {
        output_make_elastic(f->out);
    }
    const bool one_by_one = f->out->elastic || f->settle || !f->identity;
    if (!one_by_one && f->input->threads > 2 && rounds_run(f, &reader)) {
        return;
    }
    if (!read_ahead_start(&ahead, !f->out->elastic && read_ahead_is_wanted(f->input->threads))) {
        f->failed = true;
        return;
    }
    const struct batch *b;
    while ((b = read_ahead_next(&ahead)) != NULL && feed_give(f, b)) {
    }
    if (!ahead.has_thread) {
        settle(&ahead);
    }
    read_ahead_finish(&ahead);
    /* If the run ends early, files and lines that the thread read beyond the last batch taken do
     * not count. */
    if (ahead.ended || !ahead.has_thread) {
        f->failed = reader.failed;
        reader_summary(&reader);
    }
    reader_release(&reader);
}
