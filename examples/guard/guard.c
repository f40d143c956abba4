/* SPDX-License-Identifier: MIT
 *
 * Why the guard is never behind the store: a key is in the log of a recent.N, synced, before the
 * store gets it (guard_add), and leaves the folder only with a list that has it. A rebuild first
 * begins a new recent while no write is under way, and then reads the keys of the store: what is
 * committed later is in the new recent, what was committed before is in the list. From then on
 * every key is recorded. The list takes its name by a rename; the old recents are removed after
 * that. A crash in between leaves more than is needed, never less. */
#define _POSIX_C_SOURCE 200809L
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unseen_list.h>

enum {
    RECENTS_MAX = 16, /* rebuilds that were interrupted one after the other */
    WINDOW = 1024,    /* questions; if nearly all keys of a window are there, */
    PASSED = 15       /* so many windows pass without a question */
};

struct recent {
    unsigned number;
    struct unseen_store *store;
};

struct guard {
    char *folder;
    double rate;
    struct unseen_list *list;
    struct recent recents[RECENTS_MAX]; /* the last one gets new keys */
    size_t nrecents;
    bool is_rebuilding;       /* a key that only the old list has must be recorded, too */
    pthread_mutex_t rebuilds; /* held by a rebuild from its beginning to its end */
    pthread_rwlock_t writers; /* held to read by writers, to write by a rebuild */
    pthread_rwlock_t state;   /* held to read by questions, to write by changes of the above */
    pthread_mutex_t adding;   /* a store of unseen has one writer */
    atomic_uint nasked;       /* of the current windows, those that pass among them */
    atomic_uint nabsent;      /* of the window that is asked */
    atomic_bool passes;       /* the window before had hardly an absent key */
};

static bool complain(const char *what, const struct unseen_error *error)
{
    fprintf(stderr, "guard: %s: %s\n", what,
            error->text[0] ? error->text : unseen_status_string(error->status));
    return false;
}

static void path_of(const struct guard *g, const char *name, char *path, size_t cap)
{
    snprintf(path, cap, "%s/%s", g->folder, name);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool open_recent(struct guard *g, unsigned number)
{
    char name[32];
    char path[4096];
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = UNSEEN_STORE_CREATE, .profile = "none"};
    struct unseen_error error;
    snprintf(name, sizeof(name), "recent.%u", number);
    path_of(g, name, path, sizeof(path));
    if (g->nrecents == RECENTS_MAX) {
        fprintf(stderr, "guard: %s: %d rebuilds did not end\n", g->folder, RECENTS_MAX);
        return false;
    }
    struct recent *r = &g->recents[g->nrecents];
    r->number = number;
    if (unseen_store_open(&r->store, path, &options, &error) != UNSEEN_OK) {
        return complain("cannot open", &error);
    }
    g->nrecents++;
    return true;
}

static int compare(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a;
    const unsigned y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* All recents there are, by number; recent.1 if there is none. */
static bool open_recents(struct guard *g)
{
    unsigned numbers[RECENTS_MAX];
    size_t n = 0;
    DIR *dir = opendir(g->folder);
    if (!dir) {
        perror(g->folder);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned number = 0;
        int end = 0;
        if (sscanf(entry->d_name, "recent.%u%n", &number, &end) == 1 &&
            entry->d_name[end] == '\0' && n < RECENTS_MAX) {
            numbers[n++] = number;
        }
    }
    (void)closedir(dir);
    if (n == 0) {
        numbers[n++] = 1;
    }
    qsort(numbers, n, sizeof(numbers[0]), compare);
    for (size_t i = 0; i < n; i++) {
        if (!open_recent(g, numbers[i])) {
            return false;
        }
    }
    return true;
}

static bool open_list(struct guard *g, struct unseen_list **list_out)
{
    char path[4096];
    struct unseen_error error;
    path_of(g, "list", path, sizeof(path));
    *list_out = NULL;
    const enum unseen_status status = unseen_list_open(list_out, path, NULL, &error);
    return status == UNSEEN_OK || status == UNSEEN_ERR_MISSING || complain("cannot open", &error);
}

struct guard *guard_open(const char *folder, double rate)
{
    struct guard *g = calloc(1, sizeof(*g));
    if (!g) {
        return NULL;
    }
    g->folder = strdup(folder);
    g->rate = rate;
    (void)pthread_mutex_init(&g->rebuilds, NULL);
    (void)pthread_rwlock_init(&g->writers, NULL);
    (void)pthread_rwlock_init(&g->state, NULL);
    (void)pthread_mutex_init(&g->adding, NULL);
    if (g->folder && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        guard_close(g);
        return NULL;
    }
    if (!g->folder || !open_list(g, &g->list) || !open_recents(g)) {
        guard_close(g);
        return NULL;
    }
    return g;
}

void guard_close(struct guard *g)
{
    if (!g) {
        return;
    }
    for (size_t i = 0; i < g->nrecents; i++) {
        struct unseen_error error;
        if (unseen_store_close(g->recents[i].store, &error) != UNSEEN_OK) {
            (void)complain("cannot close", &error); /* what was added is durable */
        }
    }
    unseen_list_close(g->list);
    (void)pthread_mutex_destroy(&g->adding);
    (void)pthread_rwlock_destroy(&g->state);
    (void)pthread_rwlock_destroy(&g->writers);
    (void)pthread_mutex_destroy(&g->rebuilds);
    free(g->folder);
    free(g);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool guard_knows(const struct guard *g)
{
    return g->list != NULL;
}

/* Where all keys are there, the guard would only cost time: it lets 15 of 16 windows of questions
 * pass then. An error in the counts, of threads that count at once, costs nothing but questions. */
static bool passes(struct guard *g)
{
    const unsigned n = atomic_fetch_add_explicit(&g->nasked, 1, memory_order_relaxed) + 1;
    const bool now = atomic_load_explicit(&g->passes, memory_order_relaxed);
    if (n >= (now ? PASSED * WINDOW : WINDOW)) {
        const unsigned absent = atomic_exchange_explicit(&g->nabsent, 0, memory_order_relaxed);
        atomic_store_explicit(&g->nasked, 0, memory_order_relaxed);
        atomic_store_explicit(&g->passes, !now && absent < WINDOW / 64, memory_order_relaxed);
    }
    return now;
}

bool guard_may_have(struct guard *g, const void *key, size_t len)
{
    const struct unseen_bytes item = {key, len};
    uint8_t verdict = UNSEEN_SEEN;
    if (passes(g)) {
        return true;
    }
    (void)pthread_rwlock_rdlock(&g->state);
    if (g->list) {
        unseen_list_contains_texts(g->list, &item, 1, &verdict);
        for (size_t i = 0; i < g->nrecents && verdict != UNSEEN_SEEN; i++) {
            if (unseen_store_contains(g->recents[i].store, &item, 1, &verdict, NULL) != UNSEEN_OK) {
                verdict = UNSEEN_SEEN; /* a damaged image gives none: the store has to be asked */
            }
        }
    }
    (void)pthread_rwlock_unlock(&g->state);
    if (verdict != UNSEEN_SEEN) {
        atomic_fetch_add_explicit(&g->nabsent, 1, memory_order_relaxed);
    }
    return verdict == UNSEEN_SEEN;
}

bool guard_lacks(struct guard *g, const void *key, size_t len)
{
    atomic_store(&g->passes, false);
    return !guard_may_have(g, key, len);
}

/* ---- Adding ---------------------------------------------------------------------------------- */

void guard_write_begin(struct guard *g)
{
    (void)pthread_rwlock_rdlock(&g->writers);
}

void guard_write_end(struct guard *g)
{
    (void)pthread_rwlock_unlock(&g->writers);
}

/* A key that the list has needs no record: overwriting costs no sync. While a new list is made, it
 * does: the key may have been deleted before the new list was begun, and come back now. */
static size_t leave_out_listed(struct guard *g, const struct unseen_bytes *keys, size_t n,
                               struct unseen_bytes *rest)
{
    size_t nrest = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t verdict = UNSEEN_NEW;
        if (g->list && !g->is_rebuilding) {
            unseen_list_contains_texts(g->list, &keys[i], 1, &verdict);
        }
        if (verdict != UNSEEN_SEEN) {
            rest[nrest++] = keys[i];
        }
    }
    return nrest;
}

bool guard_add(struct guard *g, const struct unseen_bytes *keys, size_t n)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_bytes *rest = malloc((n + 1) * sizeof(*rest));
    uint8_t *verdicts = malloc(n + 1);
    if (!rest || !verdicts) {
        error.status = UNSEEN_ERR_NOMEM;
    } else {
        (void)pthread_mutex_lock(&g->adding);
        struct unseen_store *store = g->recents[g->nrecents - 1].store;
        const size_t nrest = leave_out_listed(g, keys, n, rest);
        (void)pthread_rwlock_wrlock(&g->state);
        error.status = unseen_store_add(store, rest, nrest, verdicts, NULL);
        (void)pthread_rwlock_unlock(&g->state);
        if (error.status == UNSEEN_OK && nrest > 0) {
            error.status = unseen_store_commit(store, &error);
        }
        (void)pthread_mutex_unlock(&g->adding);
    }
    free(rest);
    free(verdicts);
    return error.status == UNSEEN_OK || complain("cannot add", &error);
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

struct building {
    struct unseen_list_build *build;
    struct unseen_error error;
};

static bool take_key(void *context, const void *key, size_t len)
{
    struct building *b = context;
    const struct unseen_bytes item = {key, len};
    return unseen_list_build_add_texts(b->build, &item, 1, &b->error) == UNSEEN_OK;
}

static bool build_list(struct guard *g, const struct guard_scan *scan)
{
    char path[4096];
    struct building b = {.error = {.status = UNSEEN_OK}};
    const struct unseen_list_build_options options = {
        .size = sizeof(options), .profile = "none", .fpr = g->rate};
    path_of(g, "list", path, sizeof(path));
    if (unseen_list_build_create(&b.build, path, &options, &b.error) != UNSEEN_OK) {
        return complain("cannot build", &b.error);
    }
    bool done = scan->each(scan->context, take_key, &b);
    if (done) {
        done = unseen_list_build_finish(b.build, NULL, NULL, &b.error) == UNSEEN_OK;
    }
    if (b.error.status != UNSEEN_OK) {
        (void)complain("cannot build", &b.error);
    }
    unseen_list_build_free(b.build);
    return done;
}

static void remove_recent(struct guard *g, const struct recent *r)
{
    static const char *const endings[] = {"", ".image"};
    (void)unseen_store_close(r->store, NULL); /* not needed any more */
    for (size_t i = 0; i < 2; i++) {
        char name[48];
        char path[4096];
        snprintf(name, sizeof(name), "recent.%u%s", r->number, endings[i]);
        path_of(g, name, path, sizeof(path));
        if (unlink(path) != 0 && errno != ENOENT) {
            perror(path); /* it stays, and is too much, not too little */
        }
    }
}

/* The new list takes the place of the old one and of the first ndone recents. */
static void change_lists(struct guard *g, struct unseen_list *list, size_t ndone)
{
    struct recent done[RECENTS_MAX];
    (void)pthread_mutex_lock(&g->adding);
    (void)pthread_rwlock_wrlock(&g->state);
    struct unseen_list *old = g->list;
    g->list = list;
    memcpy(done, g->recents, ndone * sizeof(done[0]));
    memmove(g->recents, g->recents + ndone, (g->nrecents - ndone) * sizeof(g->recents[0]));
    g->nrecents -= ndone;
    g->is_rebuilding = false;
    (void)pthread_rwlock_unlock(&g->state);
    (void)pthread_mutex_unlock(&g->adding);
    unseen_list_close(old);
    for (size_t i = 0; i < ndone; i++) {
        remove_recent(g, &done[i]);
    }
}

static bool rebuild(struct guard *g, const struct guard_scan *scan)
{
    (void)pthread_rwlock_wrlock(&g->writers);
    (void)pthread_rwlock_wrlock(&g->state);
    const size_t ndone = g->nrecents;
    bool begun = open_recent(g, g->recents[ndone - 1].number + 1);
    g->is_rebuilding = true;
    (void)pthread_rwlock_unlock(&g->state);
    begun = begun && scan->begin(scan->context);
    (void)pthread_rwlock_unlock(&g->writers);
    struct unseen_list *list = NULL;
    if (!begun || !build_list(g, scan) || !open_list(g, &list) || !list) {
        return false;
    }
    change_lists(g, list, ndone);
    return true;
}

/* A rebuild removes the recents that were there when it began, so no other may remove them. */
bool guard_rebuild(struct guard *g, const struct guard_scan *scan)
{
    (void)pthread_mutex_lock(&g->rebuilds);
    const bool done = rebuild(g, scan);
    (void)pthread_mutex_unlock(&g->rebuilds);
    return done;
}

/* ---- Figures --------------------------------------------------------------------------------- */

struct guard_stats guard_stats(struct guard *g)
{
    struct guard_stats s = {0};
    struct unseen_list_info info = {.size = sizeof(info)};
    (void)pthread_rwlock_rdlock(&g->state);
    if (g->list && unseen_list_info(g->list, &info) == UNSEEN_OK) {
        s.list_bytes = info.bytes;
        s.list_keys = info.nkeys;
    }
    for (size_t i = 0; i < g->nrecents; i++) {
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        if (unseen_set_stats(unseen_store_set(g->recents[i].store), &stats) == UNSEEN_OK) {
            s.recent_keys += stats.nkeys;
            s.recent_memory += stats.memory;
        }
    }
    (void)pthread_rwlock_unlock(&g->state);
    return s;
}
