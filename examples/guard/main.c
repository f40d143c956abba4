/* SPDX-License-Identifier: MIT
 *
 * usage: STORE [OPTION]... FOLDER put|get|delete|rebuild|check|bench [N]
 *
 *     put      KEY TAB VALUE a line from standard input; prints the keys of each transaction when
 *              they are durable
 *     get      a key a line from standard input; prints KEY TAB VALUE of those that are there
 *     delete   a key a line
 *     rebuild  makes the guard's list anew
 *     check    asks the guard for every key of the store: status 1 if it lacks one
 *     bench N  asks for N keys of those that `bench-load N` wrote, nine in ten absent; prints
 *              figures
 *
 *     --rate RATE        of the guard (default 0.0001); 0: no guard
 *     --filter KIND:BITS the store's own filter (RocksDB: bloom:10, ribbon:10)
 *     --batch N          pairs in a transaction of put (100) */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store.h"

enum {
    BATCH_MAX = 10000,
    VALUE_BYTES = 100
};

struct options {
    struct store_setting setting;
    size_t batch;
    const char *folder;
    const char *command;
    uint64_t n;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Reads a line without its end; false at the end of the input. */
static bool read_line(char **line, size_t *cap, size_t *len)
{
    const ssize_t n = getline(line, cap, stdin);
    *len = n > 0 && (*line)[n - 1] == '\n' ? (size_t)n - 1 : (size_t)(n > 0 ? n : 0);
    return n > 0;
}

static bool flush(struct store *s, char **lines, const struct unseen_bytes *keys,
                  const struct unseen_bytes *values, size_t n)
{
    const bool done = n == 0 || store_put(s, keys, values, n);
    for (size_t i = 0; i < n; i++) {
        if (done) {
            printf("%.*s\n", (int)keys[i].len, keys[i].data);
        }
        free(lines[i]);
    }
    return fflush(stdout) == 0 && done;
}

static bool put(struct store *s, const struct options *o)
{
    static char *lines[BATCH_MAX];
    static struct unseen_bytes keys[BATCH_MAX];
    static struct unseen_bytes values[BATCH_MAX];
    size_t n = 0;
    size_t len = 0;
    bool done = true;
    for (size_t cap = 0; done && read_line(&lines[n], &cap, &len); cap = 0) {
        const char *tab = memchr(lines[n], '\t', len);
        const size_t key_len = tab ? (size_t)(tab - lines[n]) : len;
        const size_t from = tab ? key_len + 1 : len;
        keys[n] = (struct unseen_bytes){lines[n], key_len};
        values[n] = (struct unseen_bytes){lines[n] + from, len - from};
        if (++n == o->batch) {
            done = flush(s, lines, keys, values, n);
            memset(lines, 0, sizeof(lines));
            n = 0;
        }
    }
    return done && flush(s, lines, keys, values, n);
}

static void print_value(void *context, struct unseen_bytes value)
{
    const struct unseen_bytes *key = context;
    printf("%.*s\t%.*s\n", (int)key->len, key->data, (int)value.len, value.data);
}

static bool each_line(struct store *s, bool deletes)
{
    char *line = NULL;
    size_t cap = 0;
    size_t len = 0;
    bool done = true;
    bool found = false;
    uint64_t n = 0;
    struct store_stats stats;
    while (done && read_line(&line, &cap, &len)) {
        struct unseen_bytes key = {line, len};
        done = deletes ? store_delete(s, key) : store_get(s, key, &found, print_value, &key);
        n++;
    }
    free(line);
    if (done && !deletes && store_stats(s, &stats)) {
        fprintf(stderr, "%" PRIu64 " keys, %" PRIu64 " asked of the store\n", n, stats.asked);
    }
    return done;
}

/* ---- Check ----------------------------------------------------------------------------------- */

struct check {
    struct guard *guard;
    uint64_t n;
    uint64_t nlacking;
};

static bool check_key(void *context, const void *key, size_t len)
{
    struct check *c = context;
    c->n++;
    c->nlacking += guard_lacks(c->guard, key, len);
    return true;
}

static bool check(struct store *s)
{
    struct check c = {.guard = store_guard(s)};
    if (!c.guard || !store_keys(s, check_key, &c)) {
        return false;
    }
    printf("%" PRIu64 " keys in the store, the guard lacks %" PRIu64 "\n", c.n, c.nlacking);
    return c.nlacking == 0;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double cpu_seconds(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct unseen_bytes key_of(char *text, uint64_t i)
{
    return (struct unseen_bytes){text, (size_t)sprintf(text, "key:%016" PRIx64, mix(i + 1))};
}

static bool load(struct store *s, const struct options *o)
{
    static char texts[BATCH_MAX][32];
    static char value[VALUE_BYTES];
    static struct unseen_bytes keys[BATCH_MAX];
    static struct unseen_bytes values[BATCH_MAX];
    memset(value, 'v', sizeof(value));
    for (uint64_t i = 0; i < o->n;) {
        size_t n = 0;
        for (; n < BATCH_MAX && i < o->n; n++, i++) {
            keys[n] = key_of(texts[n], i);
            values[n] = (struct unseen_bytes){value, sizeof(value)};
        }
        if (!store_put(s, keys, values, n)) {
            return false;
        }
    }
    return store_rebuild(s);
}

static void nothing(void *context, struct unseen_bytes value)
{
    (void)context;
    (void)value;
}

/* Asks n questions, of which one in `step` is for a key that is there. */
static bool ask(struct store *s, const struct options *o, uint64_t n, uint64_t step,
                const char *name)
{
    struct store_stats before;
    struct store_stats after;
    uint64_t nfound = 0;
    uint64_t npresent = 0;
    char text[32];
    if (!store_stats(s, &before)) {
        return false;
    }
    const double start = cpu_seconds();
    for (uint64_t i = 0; i < n; i++) {
        bool found = false;
        const bool present = i % step == 0;
        const uint64_t which = mix(i ^ step << 40) % o->n;
        npresent += present;
        if (!store_get(s, key_of(text, present ? which : o->n + i), &found, nothing, NULL)) {
            return false;
        }
        nfound += found;
    }
    const double seconds = cpu_seconds() - start;
    if (!store_stats(s, &after) || nfound != npresent) {
        fprintf(stderr, "%" PRIu64 " keys are there, %" PRIu64 " were found\n", npresent, nfound);
        return false;
    }
    printf("%-20s %8.0f ns of CPU a question, %7" PRIu64 " asked, %7" PRIu64 " %s\n", name,
           1e9 * seconds / (double)n, after.asked - before.asked,
           after.blocks_read - before.blocks_read, after.blocks_are);
    return true;
}

static bool bench(struct store *s, const struct options *o)
{
    struct store_stats stats;
    const uint64_t n = o->n / 5;
    /* The third time, all that is asked for has been read, with a guard and without. */
    if (!ask(s, o, n, 10, "nine in ten absent") || !ask(s, o, n, 1, "all present") ||
        !ask(s, o, n, 1, "all present, again") || !store_stats(s, &stats)) {
        return false;
    }
    if (store_guard(s)) {
        const struct guard_stats g = guard_stats(store_guard(s));
        printf("guard                %.2f bits a key (%" PRIu64 " keys, %" PRIu64 " bytes)\n",
               8 * (double)g.list_bytes / (double)g.list_keys, g.list_keys, g.list_bytes);
    }
    if (stats.filter_bytes > 0) {
        printf("the store's filters  %.2f bits a key (%" PRIu64 " bytes)\n",
               8 * (double)stats.filter_bytes / (double)o->n, stats.filter_bytes);
    }
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--rate RATE] [--filter KIND:BITS] [--batch N] [--fast] FOLDER "
            "put|get|delete|rebuild|check|bench-load N|bench N\n",
            program);
    return 2;
}

static bool parse(struct options *o, int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--rate") == 0) {
            o->setting.rate = atof(argv[++i]);
        } else if (strcmp(argv[i], "--filter") == 0) {
            o->setting.filter = argv[++i];
        } else if (strcmp(argv[i], "--batch") == 0) {
            o->batch = (size_t)atol(argv[++i]);
        } else if (strcmp(argv[i], "--fast") == 0) {
            o->setting.fast = true;
        } else {
            return false;
        }
    }
    if (argc - i < 2 || o->batch < 1 || o->batch > BATCH_MAX || o->setting.rate < 0) {
        return false;
    }
    o->folder = argv[i];
    o->command = argv[i + 1];
    o->n = i + 2 < argc ? strtoull(argv[i + 2], NULL, 10) : 0;
    return true;
}

static bool run(struct store *s, const struct options *o, bool *known)
{
    *known = true;
    if (strcmp(o->command, "put") == 0) {
        return put(s, o);
    }
    if (strcmp(o->command, "get") == 0 || strcmp(o->command, "delete") == 0) {
        return each_line(s, o->command[0] == 'd');
    }
    if (strcmp(o->command, "rebuild") == 0) {
        return store_rebuild(s);
    }
    if (strcmp(o->command, "check") == 0) {
        return check(s);
    }
    if (strcmp(o->command, "bench-load") == 0 && o->n > 0) {
        return load(s, o);
    }
    if (strcmp(o->command, "bench") == 0 && o->n > 0) {
        return bench(s, o);
    }
    *known = false;
    return false;
}

int main(int argc, char **argv)
{
    struct options o = {.setting = {.rate = 1e-4}, .batch = 100};
    bool known = true;
    if (!parse(&o, argc, argv)) {
        return usage(argv[0]);
    }
    struct store *s = store_open(o.folder, &o.setting);
    if (!s) {
        return 2;
    }
    const bool done = run(s, &o, &known);
    store_close(s);
    return !known ? usage(argv[0]) : done ? 0 : 1;
}
