/* SPDX-License-Identifier: MIT
 *
 * Threads that all do the same work. A portion is what one read has brought. It is read and split,
 * then its keys are made, then it is answered and written. One thread at a time reads, and one
 * thread at a time answers, both in the order of the input. Any thread makes keys.
 *
 * A thread answers the next portion if its keys are made, otherwise it reads another portion and
 * makes its keys. So if the set takes longer, one thread goes on answering, and the others
 * make keys ahead. If the keys take longer, all threads make keys.
 *
 * A thread that has nothing to do sleeps. It is woken when half of the portions are free: a wake-up
 * for every portion would cost more than it brings. While there is work, a thread is awake; it
 * never waits for one that sleeps.
 *
 * Before a thread waits for input, all earlier portions are answered and the outputs are written.
 *
 * Signals go to the main thread. If a signal interrupts its sleep, it wakes the other threads, one
 * of which may wait for input or for the reader of the output. A thread sleeps on a semaphore,
 * because a signal interrupts a wait for a semaphore but not for a condition variable. */
#include "lines/loops.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

enum {
    PORTIONS_MAX = 2 * WORKERS_MAX + 2,
    PORTION_BATCHES = 8
};

struct portion {
    struct batch batches[PORTION_BATCHES];
    enum unseen_status statuses[PORTION_BATCHES]; /* of their keys */
    size_t n;
    uint64_t end;  /* the number of batches up to the end of this portion */
    bool has_keys; /* and can be answered */
};

struct workers;

struct worker {
    struct workers *all;
    pthread_t thread;
    bool is_main;
    struct text scratch;
    bool sleeps;
    uint64_t wanted; /* wakes up when so many batches are answered; 0: when there is work */
    sem_t wake;
};

struct workers {
    struct feed *feed;
    struct reader *reader;
    struct portion *portions; /* used in turn */
    size_t nportions;
    struct worker workers[WORKERS_MAX]; /* the first one is the main thread */
    size_t n;

    pthread_mutex_t lock; /* for what follows, and for `has_keys`, `sleeps` and `wanted` */
    struct worker *reading;
    bool answering;
    uint64_t nread; /* portions that were read, or are being read */
    uint64_t nanswered;
    uint64_t batches_answered;
    bool ended; /* nothing more is to be read */
    enum feed_state state;
};

/* Interrupts a wait of another thread. */
static int wake_signal(void)
{
    return SIGRTMIN;
}

static void woken(int signal_number)
{
    (void)signal_number;
}

/* ---- What there is to do. The lock is held. -------------------------------------------------- */

static bool can_answer(const struct workers *p)
{
    return !p->answering && p->nanswered < p->nread &&
           p->portions[p->nanswered % p->nportions].has_keys;
}

/* True if no more than `most` portions are in use. */
static bool can_read(const struct workers *p, uint64_t most)
{
    return !p->reading && !p->ended && p->nread - p->nanswered <= most;
}

static bool is_over(const struct workers *p)
{
    return p->state != FEED_RUNS || (p->ended && p->nanswered == p->nread);
}

static bool should_wake(const struct worker *w)
{
    const struct workers *p = w->all;
    return can_answer(p) || is_over(p) ||
           (w->wanted > 0 ? p->batches_answered >= w->wanted : can_read(p, p->nportions / 2));
}

/* Called after each change, by a thread that is awake: a second one is enough for the other work
 * that there may be. The thread that reads waits for what others answer, and must be woken, too. */
static void wake_others(struct workers *p)
{
    bool is_woken = false;
    for (size_t i = 0; i < p->n; i++) {
        struct worker *w = &p->workers[i];
        if (w->sleeps && (!is_woken || w->wanted > 0 || is_over(p)) && should_wake(w)) {
            w->sleeps = false;
            is_woken = true;
            (void)sem_post(&w->wake); /* cannot overflow */
        }
    }
}

static void go_to_sleep(struct worker *w)
{
    struct workers *p = w->all;
    w->sleeps = true;
    pthread_mutex_unlock(&p->lock);
    while (sem_wait(&w->wake) != 0 && errno == EINTR) {
        for (size_t i = 1; w->is_main && i < p->n; i++) {
            (void)pthread_kill(p->workers[i].thread, wake_signal());
        }
    }
    pthread_mutex_lock(&p->lock);
}

/* ---- Work. The lock is held at the beginning and at the end. --------------------------------- */

/* Answers the next portion. */
static void answer(struct worker *w)
{
    struct workers *p = w->all;
    const struct portion *portion = &p->portions[p->nanswered % p->nportions];
    enum feed_state state = FEED_RUNS;
    p->answering = true;
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < portion->n && state == FEED_RUNS; i++) {
        state = feed_answer(p->feed, p->reader, &portion->batches[i], portion->statuses[i]);
    }
    pthread_mutex_lock(&p->lock);
    p->answering = false;
    p->state = state;
    p->nanswered++;
    p->batches_answered = portion->end;
    wake_others(p);
}

/* Answers, or waits until others have answered, the first n batches. False if the run is
 * to stop. */
static bool answer_first(struct worker *w, uint64_t n)
{
    struct workers *p = w->all;
    pthread_mutex_lock(&p->lock);
    w->wanted = n;
    while (p->state == FEED_RUNS && p->batches_answered < n) {
        if (can_answer(p)) {
            answer(w);
        } else {
            go_to_sleep(w);
        }
    }
    w->wanted = 0;
    const bool goes_on = p->state == FEED_RUNS;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

/* Reads a portion and splits all that has been read. False at the end. */
static bool split_portion(struct reader *reader, struct portion *portion)
{
    portion->n = 0;
    const bool more = reader_next(reader, &portion->batches[0], true);
    if (more) {
        do {
            portion->n++;
        } while (portion->n < PORTION_BATCHES &&
                 reader_next(reader, &portion->batches[portion->n], false));
    }
    portion->end = reader->nbatches;
    return more;
}

/* Reads a portion and makes its keys. */
static void read_portion(struct worker *w)
{
    struct workers *p = w->all;
    struct portion *portion = &p->portions[p->nread++ % p->nportions];
    portion->has_keys = false;
    p->reading = w;
    pthread_mutex_unlock(&p->lock);
    const bool more = split_portion(p->reader, portion);
    pthread_mutex_lock(&p->lock);
    p->reading = NULL;
    p->ended = !more;
    wake_others(p);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < portion->n; i++) {
        portion->statuses[i] = identity_take(p->feed->identity, &portion->batches[i], &w->scratch);
    }
    pthread_mutex_lock(&p->lock);
    portion->has_keys = true;
    wake_others(p);
}

static void *work(void *context)
{
    struct worker *w = context;
    struct workers *p = w->all;
    pthread_mutex_lock(&p->lock);
    while (!is_over(p)) {
        if (can_answer(p)) {
            answer(w);
        } else if (can_read(p, p->nportions - 1)) {
            read_portion(w);
        } else {
            go_to_sleep(w);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- While a thread reads -------------------------------------------------------------------- */

static int workers_before_wait(void *context)
{
    struct workers *p = context;
    return answer_first(p->reading, p->reader->nbatches) ? feed_before_wait(p->feed) : INPUT_STOP;
}

static bool workers_used(void *context, uint64_t n)
{
    struct workers *p = context;
    return answer_first(p->reading, n);
}

/* ---- The threads ----------------------------------------------------------------------------- */

/* A thread gets only the signals that it causes itself. */
static bool start_thread(struct worker *w)
{
    static const int own_signals[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGPIPE, SIGXFSZ};
    struct sigaction action = {.sa_handler = woken};
    sigset_t most;
    sigset_t old;
    sigemptyset(&action.sa_mask);
    if (sigaction(wake_signal(), &action, NULL) != 0) {
        return false;
    }
    sigfillset(&most);
    sigdelset(&most, wake_signal());
    for (size_t i = 0; i < sizeof(own_signals) / sizeof(own_signals[0]); i++) {
        sigdelset(&most, own_signals[i]);
    }
    pthread_sigmask(SIG_SETMASK, &most, &old);
    const int status = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status == 0;
}

static void release(struct workers *p)
{
    for (size_t i = 0; p->portions && i < p->nportions; i++) {
        for (size_t k = 0; k < PORTION_BATCHES; k++) {
            text_release(&p->portions[i].batches[k].text);
        }
    }
    for (size_t i = 0; i < p->n; i++) {
        text_release(&p->workers[i].scratch);
        (void)sem_destroy(&p->workers[i].wake);
    }
    free(p->portions);
    pthread_mutex_destroy(&p->lock);
}

static void add_worker(struct workers *p)
{
    struct worker *w = &p->workers[p->n];
    *w = (struct worker){.all = p, .is_main = p->n == 0};
    (void)sem_init(&w->wake, 0, 0); /* cannot fail */
    p->n++;
}

/* Makes the main thread a worker, and starts the others. False if no other thread starts. */
static bool start(struct workers *p, size_t n)
{
    struct reader *reader = p->reader;
    p->nportions = 2 * n + 2;
    p->portions = calloc(p->nportions, sizeof(*p->portions));
    (void)pthread_mutex_init(&p->lock, NULL); /* cannot fail */
    pthread_mutex_lock(&p->lock);
    add_worker(p);
    while (p->portions && p->n < n) {
        add_worker(p);
        if (!start_thread(&p->workers[p->n - 1])) {
            (void)sem_destroy(&p->workers[--p->n].wake);
            break;
        }
    }
    if (p->n > 1) {
        reader->splits_only = true;
        reader->nblocks = p->nportions;
        reader->wait = (struct input_wait){workers_before_wait, workers_used, p};
    }
    pthread_mutex_unlock(&p->lock);
    return p->n > 1;
}

bool workers_run(struct feed *f, struct reader *reader, size_t n)
{
    struct workers p = {.feed = f, .reader = reader};
    if (!start(&p, n < WORKERS_MAX ? n : WORKERS_MAX)) {
        release(&p);
        return false;
    }
    (void)work(&p.workers[0]);
    for (size_t i = 1; i < p.n; i++) {
        pthread_join(p.workers[i].thread, NULL);
    }
    feed_end(f, reader, p.state);
    release(&p);
    return true;
}
