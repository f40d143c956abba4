/* SPDX-License-Identifier: MIT
 *
 * Before the turn of its file a thread fills many pieces, so that several files are decoded at
 * once. From the first byte that is taken on, only a few pieces are full, which stay in a cache: of
 * the empty ones, the last is filled first. A thread with enough full pieces sleeps until half of
 * them are empty: a wake-up for each would cost more than it brings. If the source fails, the piece
 * that was being filled is dropped, so no caller gets a few bytes only in front of a failure. */
#include "lines/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lines/input.h"
#include "print/message.h"

enum {
    PIECE_BYTES = 2 * AHEAD_TAKEN_MIN,
    FULL_EARLY = 60, /* pieces that are full, before the turn of the file, 15 MiB, */
    FULL_LATER = 4   /* and from then on */
};

struct piece {
    struct piece *next;
    size_t len;
    uint64_t offset;
    char bytes[PIECE_BYTES];
};

struct ahead {
    struct source from;
    uint64_t (*offset)(const void *context);
    pthread_t thread;

    /* Only the thread that takes bytes uses these. */
    struct piece *taking; /* NULL, or the piece of which `at` bytes were taken; */
    size_t at;
    uint64_t taken; /* where in the file they end */

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t has_piece;
    pthread_cond_t has_room;
    struct piece *empty;
    struct piece *full; /* in the order of their bytes, */
    struct piece *last; /* up to this one */
    size_t nfull;
    size_t most_full;
    bool ended; /* nothing more is filled */
    bool failed;
    bool stopping;
};

/* Fills a piece. Returns what the last read of the source returned. */
static ssize_t fill(const struct ahead *a, struct piece *piece)
{
    ssize_t n = 1;
    piece->len = 0;
    while (n > 0 && PIECE_BYTES - piece->len >= INPUT_READ_MIN) {
        n = a->from.read(a->from.context, piece->bytes + piece->len, PIECE_BYTES - piece->len);
        piece->len += n > 0 ? (size_t)n : 0;
    }
    piece->offset = a->offset(a->from.context);
    return n;
}

/* Waits until a piece is to be filled, and takes an empty one. NULL if the thread is to end, or
 * without memory. The lock is held. */
static struct piece *next_empty(struct ahead *a)
{
    if (a->nfull >= a->most_full) {
        while (a->nfull > a->most_full / 2 && !a->stopping) {
            pthread_cond_wait(&a->has_room, &a->lock);
        }
    }
    struct piece *piece = a->empty;
    if (a->stopping) {
        return NULL;
    }
    if (!piece) {
        return malloc(sizeof(*piece));
    }
    a->empty = piece->next;
    return piece;
}

static void put_empty(struct ahead *a, struct piece *piece)
{
    piece->next = a->empty;
    a->empty = piece;
}

static void put_full(struct ahead *a, struct piece *piece)
{
    piece->next = NULL;
    *(a->full ? &a->last->next : &a->full) = piece;
    a->last = piece;
    a->nfull++;
}

static void *run(void *context)
{
    struct ahead *a = context;
    message_mute();
    pthread_mutex_lock(&a->lock);
    while (!a->ended) {
        struct piece *piece = next_empty(a);
        ssize_t n = -1;
        if (piece) {
            pthread_mutex_unlock(&a->lock);
            n = fill(a, piece);
            pthread_mutex_lock(&a->lock);
            (n >= 0 && piece->len > 0 ? put_full : put_empty)(a, piece);
        }
        a->ended = n <= 0;
        a->failed = n < 0;
        pthread_cond_signal(&a->has_piece);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void free_pieces(struct piece *piece)
{
    while (piece) {
        struct piece *next = piece->next;
        free(piece);
        piece = next;
    }
}

static void release(struct ahead *a)
{
    pthread_cond_destroy(&a->has_piece);
    pthread_cond_destroy(&a->has_room);
    pthread_mutex_destroy(&a->lock);
    free(a->taking);
    free_pieces(a->full);
    free_pieces(a->empty);
    free(a);
}

struct ahead *ahead_start(struct source from, uint64_t (*offset)(const void *context))
{
    struct ahead *a = calloc(1, sizeof(*a));
    if (!a) {
        return NULL;
    }
    a->from = from;
    a->offset = offset;
    a->most_full = FULL_EARLY;
    (void)pthread_mutex_init(&a->lock, NULL); /* these cannot fail */
    (void)pthread_cond_init(&a->has_piece, NULL);
    (void)pthread_cond_init(&a->has_room, NULL);
    /* Signals are for the main thread. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = pthread_create(&a->thread, NULL, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!started) {
        release(a);
        return NULL;
    }
    return a;
}

/* The next full piece. NULL at the end. */
static struct piece *next_full(struct ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->most_full = FULL_LATER;
    while (!a->full && !a->ended) {
        pthread_cond_wait(&a->has_piece, &a->lock);
    }
    struct piece *piece = a->full;
    if (piece) {
        a->full = piece->next;
        if (--a->nfull == FULL_LATER / 2) {
            pthread_cond_signal(&a->has_room);
        }
    }
    pthread_mutex_unlock(&a->lock);
    return piece;
}

ssize_t ahead_take(struct ahead *a, void *buf, size_t cap)
{
    if (!a->taking) {
        a->taking = next_full(a);
        a->at = 0;
    }
    if (!a->taking) {
        return a->failed ? -1 : 0; /* the thread has ended */
    }
    struct piece *piece = a->taking;
    const size_t n = piece->len - a->at < cap ? piece->len - a->at : cap;
    memcpy(buf, piece->bytes + a->at, n);
    a->at += n;
    a->taken = piece->offset;
    if (a->at == piece->len) {
        pthread_mutex_lock(&a->lock);
        put_empty(a, piece);
        pthread_mutex_unlock(&a->lock);
        a->taking = NULL;
    }
    return (ssize_t)n;
}

uint64_t ahead_offset(const struct ahead *a)
{
    return a->taken;
}

void ahead_stop(struct ahead *a)
{
    if (!a) {
        return;
    }
    pthread_mutex_lock(&a->lock);
    a->stopping = true;
    pthread_cond_signal(&a->has_room);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    release(a);
}
