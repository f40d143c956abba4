/* SPDX-License-Identifier: MIT */
#include "value/timed.h"

#include <pthread.h>
#include <string.h>

#include "server/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timed **heap; /* each is due no later than the two at twice its place, and 1 more */
static size_t n;
static size_t cap;

static void put(struct timed *timed, size_t place)
{
    heap[place - 1] = timed;
    timed->place = place;
}

/* Moves it to where it belongs. */
static void sift(struct timed *timed)
{
    size_t place = timed->place;
    for (; place > 1 && heap[place / 2 - 1]->due > timed->due; place /= 2) {
        put(heap[place / 2 - 1], place);
    }
    for (size_t child; (child = 2 * place) <= n; place = child) {
        child += child < n && heap[child]->due < heap[child - 1]->due;
        if (heap[child - 1]->due >= timed->due) {
            break;
        }
        put(heap[child - 1], place);
    }
    put(timed, place);
}

static bool grow(void)
{
    const struct unseen_allocator allocator = memory_own_allocator();
    const size_t bigger = cap ? 2 * cap : 16;
    struct timed **made = allocator.alloc(NULL, bigger * sizeof(*made), _Alignof(struct timed *));
    if (!made) {
        return false;
    }
    if (n > 0) {
        memcpy(made, heap, n * sizeof(*made));
    }
    if (heap) {
        allocator.free(NULL, heap, cap * sizeof(*heap));
    }
    heap = made;
    cap = bigger;
    return true;
}

enum unseen_status timed_insert(struct timed *timed)
{
    pthread_mutex_lock(&lock);
    const bool has_room = n < cap || grow();
    if (has_room) {
        timed->due = UINT64_MAX;
        put(timed, ++n);
    }
    pthread_mutex_unlock(&lock);
    return has_room ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

void timed_remove(struct timed *timed)
{
    pthread_mutex_lock(&lock);
    struct timed *last = heap[--n];
    if (last != timed) {
        put(last, timed->place);
        sift(last);
    }
    pthread_mutex_unlock(&lock);
}

void timed_update(struct timed *timed, uint64_t due)
{
    pthread_mutex_lock(&lock);
    if (timed->due != due) {
        timed->due = due;
        sift(timed);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t timed_first(size_t *n_out)
{
    pthread_mutex_lock(&lock);
    const uint64_t due = n > 0 ? heap[0]->due : UINT64_MAX;
    *n_out = n;
    pthread_mutex_unlock(&lock);
    return due;
}

/* A value that still has something due stays below the others until all had their turn. */
void timed_run(uint64_t upto, uint64_t (*run)(struct timed *timed, uint64_t upto))
{
    struct timed *done = NULL;
    pthread_mutex_lock(&lock);
    while (n > 0 && heap[0]->due <= upto) {
        struct timed *timed = heap[0];
        timed->next = done;
        done = timed;
        timed->due = UINT64_MAX;
        sift(timed);
    }
    for (; done; done = done->next) {
        done->due = run(done, upto);
        sift(done);
    }
    pthread_mutex_unlock(&lock);
}
