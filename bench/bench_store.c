/* SPDX-License-Identifier: MIT
 *
 * A store of many keys: adding and committing them, closing, and opening again - from the image,
 * and from the log alone; and asking while the image is read piece by piece.
 *
 *     bench_store [NKEYS [DIRECTORY]]        10^8 keys, in the current directory
 *
 * What is opened has just been written, so it is in the kernel's cache: the figures are the store's
 * own work, and the disk comes on top. Needs about 16 bytes of disk and 8 of memory a key. CPU time
 * is that of all threads, and the goals are CPU time; a ratio of wall to CPU above 1 was spent
 * waiting for the disk, or for the processor when the machine is busy. */
#include "bench.h"

#include <sys/resource.h>
#include <unseen.h>

enum {
    SEED = 1,
    COMMIT_KEYS = 8192
};

static const double GOAL_ASK = 1.1;
static const double GOAL_OPEN = 0.2; /* s, of GOAL_KEYS keys */
static const uint64_t GOAL_KEYS = 100000000;

struct stopwatch {
    double cpu;
    double wall;
};

static struct stopwatch start_watch(void)
{
    return (struct stopwatch){bench_cpu(), bench_seconds(CLOCK_MONOTONIC)};
}

static struct stopwatch stop_watch(struct stopwatch start)
{
    return (struct stopwatch){bench_cpu() - start.cpu, bench_seconds(CLOCK_MONOTONIC) - start.wall};
}

static void check(enum unseen_status status, const struct unseen_error *error)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "error: %s\n", error->text);
        exit(2);
    }
}

static struct unseen_store *open_store(const char *path, enum unseen_store_mode mode)
{
    const uint64_t seed = SEED;
    struct unseen_store_options options = {.size = sizeof(options), .mode = mode};
    if (mode == UNSEEN_STORE_CREATE) {
        options.seed = &seed;
        options.seed_len = sizeof(seed);
        options.profile = "none";
    }
    struct unseen_store *store;
    struct unseen_error error;
    check(unseen_store_open(&store, path, &options, &error), &error);
    return store;
}

static void close_store(struct unseen_store *store)
{
    struct unseen_error error;
    check(unseen_store_close(store, &error), &error);
}

static struct unseen_store_info info_of(struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    bench_check(unseen_store_info(store, &info));
    return info;
}

/* A store of 64-bit keys keeps one half, and makes the other from it. */
static void narrow(struct unseen_key *key)
{
    const uint64_t y = (key->hi >> 17) * 0x9e3779b97f4a7c15u;
    key->lo = key->hi ^ y ^ y >> 32;
}

static void add(struct unseen_store *store, uint64_t nkeys)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    struct unseen_error error;
    for (uint64_t i = 0; i < nkeys; i += BENCH_BATCH) {
        size_t n = nkeys - i < BENCH_BATCH ? (size_t)(nkeys - i) : BENCH_BATCH;
        bench_keys(keys, i, n, SEED);
        for (size_t k = 0; k < n; k++) {
            narrow(&keys[k]);
        }
        bench_check(unseen_store_add_keys(store, keys, n, verdicts, NULL));
        if ((i + n) % COMMIT_KEYS == 0) {
            check(unseen_store_commit_begin(store, UINT64_MAX, 0, &error), &error);
        }
    }
    check(unseen_store_commit(store, &error), &error);
}

static void print_row(const char *what, struct stopwatch time, uint64_t nkeys)
{
    printf("%-28s %8.3f %8.3f %8.1f\n", what, time.cpu, time.wall, time.cpu / (double)nkeys * 1e9);
    fflush(stdout);
}

/* Medians of opening to read. Ends the program if the store has not what was put in. */
static void time_open(const char *what, const char *path, uint64_t nkeys, bool from_image)
{
    double cpu[BENCH_ROUNDS];
    double wall[BENCH_ROUNDS];
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        struct stopwatch start = start_watch();
        struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
        struct stopwatch time = stop_watch(start);
        cpu[round] = time.cpu;
        wall[round] = time.wall;
        if (bench_stats(unseen_store_set(store)).nkeys != nkeys ||
            (info_of(store).replayed == 0) != from_image) {
            fprintf(stderr, "error: opened from something else, or keys are missing\n");
            exit(2);
        }
        close_store(store);
    }
    print_row(what,
              (struct stopwatch){bench_median(cpu, BENCH_ROUNDS), bench_median(wall, BENCH_ROUNDS)},
              nkeys);
}

/* Asks n questions, half of them about absent keys; CPU ns for each. `part` leaves out the keys of
 * a 256th of the hashes, so that some pieces of the image stay unread. */
static double ask(const struct unseen_set *set, uint64_t nkeys, size_t n, uint64_t seed, bool part)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    double seconds = 0;
    uint64_t state = seed;
    for (size_t i = 0; i < n; i += BENCH_BATCH) {
        for (size_t k = 0; k < BENCH_BATCH; k++) {
            do {
                bench_keys(&keys[k], test_random(&state) % (2 * nkeys), 1, SEED);
            } while (part && keys[k].hi >> 56 == 0);
            narrow(&keys[k]);
        }
        const double start = bench_cpu();
        bench_check(unseen_set_contains_keys(set, keys, BENCH_BATCH, verdicts, NULL));
        seconds += bench_cpu() - start;
    }
    return seconds / (double)n * 1e9;
}

/* What asking costs while the image is read piece by piece, and after that, against a set that has
 * everything in memory from the start. */
static void time_ask(const char *path, uint64_t nkeys)
{
    enum {
        FIRST = 1 << 18,
        WARM = 1 << 22
    };
    double first[BENCH_ROUNDS];
    double answered[BENCH_ROUNDS];
    double part[BENCH_ROUNDS];
    double all[BENCH_ROUNDS];
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        const uint64_t seed = (uint64_t)round + 7;
        const struct stopwatch start = start_watch();
        struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
        answered[round] = stop_watch(start).cpu;
        const struct unseen_set *set = unseen_store_set(store);
        struct unseen_set *copy = NULL;
        first[round] = ask(set, nkeys, FIRST, seed, true);
        answered[round] += first[round] * FIRST * 1e-9;
        part[round] = ask(set, nkeys, WARM, seed, true);
        struct unseen_error error;
        check(unseen_set_copy(&copy, set, &error), &error);
        const double whole = ask(copy, nkeys, WARM, seed, true);
        all[round] = ask(set, nkeys, WARM, seed, true) / whole;
        part[round] /= whole;
        unseen_set_free(copy);
        close_store(store);
    }
    printf("%-28s %8s %8s %8.1f\n", "ask, first 2^18", "", "", bench_median(first, BENCH_ROUNDS));
    printf("ask, against a set in memory: %.2f with some pieces unread\n\n",
           bench_median(part, BENCH_ROUNDS));
    bench_print_goal("ask, all pieces read, against a set in memory",
                     bench_median(all, BENCH_ROUNDS), GOAL_ASK);
    if (nkeys == GOAL_KEYS) {
        bench_print_goal("open from the image and ask 2^18 questions, CPU s",
                         bench_median(answered, BENCH_ROUNDS), GOAL_OPEN);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t nkeys = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 100000000;
    const char *directory = argc > 2 ? argv[2] : ".";
    char path[4096];
    char image[4096 + 8];
    int len = snprintf(path, sizeof(path), "%s/bench.unseen", directory);
    if (nkeys < 1000 || argc > 3 || len < 0 || (size_t)len >= sizeof(path)) {
        fprintf(stderr, "usage: bench_store [NKEYS [DIRECTORY]]\n");
        return 2;
    }
    snprintf(image, sizeof(image), "%s.image", path);
    if (access(path, F_OK) == 0) {
        fprintf(stderr, "error: %s is there already\n", path);
        return 2;
    }
    bench_heading("a store", SEED);
    printf("%llu keys of 64 bits in %s, a commit begun after each %d; opening: medians of %d\n\n",
           (unsigned long long)nkeys, directory, COMMIT_KEYS, BENCH_ROUNDS);
    printf("%-28s %8s %8s %8s\n", "", "CPU s", "wall s", "ns a key");

    struct stopwatch start = start_watch();
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add(store, nkeys);
    print_row("add and commit", stop_watch(start), nkeys);
    uint64_t nstored = bench_stats(unseen_store_set(store)).nkeys;
    start = start_watch();
    close_store(store);
    print_row("close (writes the image)", stop_watch(start), nkeys);

    time_open("open, image", path, nstored, true);
    time_ask(path, nkeys);
    store = open_store(path, UNSEEN_STORE_READ);
    struct unseen_store_info info = info_of(store);
    struct unseen_set_stats stats = bench_stats(unseen_store_set(store));
    close_store(store);
    if (unlink(image) != 0) {
        bench_die(image);
    }
    time_open("open, log alone", path, nstored, false);
    if (unlink(path) != 0) {
        bench_die(path);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "\nbytes a key: log %.3f, image %.3f, memory %.3f; %llu keys taken for seen; peak of the "
        "process %.0f MiB\n",
        (double)info.log_bytes / (double)nstored, (double)info.image_bytes / (double)nstored,
        (double)stats.memory / (double)nstored, (unsigned long long)(nkeys - nstored),
        (double)usage.ru_maxrss / 1024);
    return 0;
}
