/* SPDX-License-Identifier: MIT
 *
 * usage: guard_rebuilds FOLDER
 *
 * Two threads rebuild one guard at once, as a nightly job and a hurried person would. Both must
 * succeed, and the guard must have every key. Called by guard.sh. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "guard.h"

enum {
    ROUNDS = 5,
    KEYS = 2000
};

static struct guard *guard;
static size_t nkeys = KEYS;

static size_t name(char *text, size_t i)
{
    return (size_t)sprintf(text, "key %zu", i);
}

static bool begin(void *context)
{
    (void)context;
    return true;
}

/* Takes long enough for the other thread to come. */
static bool each(void *context, bool (*take)(void *build, const void *key, size_t len), void *build)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    char text[32];
    bool done = true;
    (void)context;
    (void)nanosleep(&moment, NULL);
    for (size_t i = 0; i < nkeys && done; i++) {
        done = take(build, text, name(text, i));
    }
    return done;
}

static void *rebuild(void *failed)
{
    const struct guard_scan scan = {begin, each, NULL};
    return guard_rebuild(guard, &scan) ? NULL : failed;
}

static bool rebuild_twice(void)
{
    bool failed = false;
    void *other = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, rebuild, &failed) != 0) {
        return false;
    }
    const bool done = rebuild(&failed) == NULL;
    (void)pthread_join(thread, &other);
    return done && !other;
}

static bool add_one(void)
{
    char text[32];
    const struct unseen_bytes key = {text, name(text, nkeys)};
    guard_write_begin(guard);
    const bool done = guard_add(guard, &key, 1);
    nkeys += done;
    guard_write_end(guard);
    return done;
}

int main(int argc, char **argv)
{
    char text[32];
    guard = argc == 2 ? guard_open(argv[1], 1e-4) : NULL;
    bool good = guard != NULL;
    for (int round = 0; round < ROUNDS && good; round++) {
        good = rebuild_twice() && add_one();
    }
    for (size_t i = 0; i < nkeys && good; i++) {
        good = !guard_lacks(guard, text, name(text, i));
    }
    guard_close(guard);
    return good ? 0 : 1;
}
