/* SPDX-License-Identifier: MIT
 *
 * Label: threads
 *
 * A set shared by threads. Eight threads add the same keys in different orders: each key is told
 * NEW exactly once, in single calls and in batches, while the set grows and others ask, remove and
 * count. A set for one thread may be read by many. Run with ThreadSanitizer, too. */
#include "set_check.h"

#include <pthread.h>

enum {
    NTHREADS = 8,
    BATCH = 256
};

static const uint64_t seed_1 = 1;

static struct unseen_set *make(double fpr, unsigned threads)
{
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .fpr = fpr,
                                         .seed = &seed_1,
                                         .seed_len = sizeof(seed_1),
                                         .threads = threads,
                                         .cpu = test_cpu};
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
        fprintf(stderr, "no set\n");
        exit(2);
    }
    return set;
}

/* What the threads share. A key's number of NEW answers minus its removals is nnew[key]. */
struct race {
    struct unseen_set *set;
    uint32_t nkeys;
    bool batches;
    int *nnew;
};

struct racer {
    struct race *race;
    uint32_t number;
    pthread_t thread;
};

/* Runs function in NTHREADS threads at once. */
static void run_threads(struct race *race, void *(*function)(void *))
{
    struct racer racers[NTHREADS];
    for (uint32_t i = 0; i < NTHREADS; i++) {
        racers[i] = (struct racer){.race = race, .number = i};
        if (pthread_create(&racers[i].thread, NULL, function, &racers[i]) != 0) {
            exit(2);
        }
    }
    for (uint32_t i = 0; i < NTHREADS; i++) {
        pthread_join(racers[i].thread, NULL);
    }
}

/* The i'th key of this thread: all keys, each thread from its own start, half of them backwards,
 * so that the threads meet. */
static uint32_t nth_key(const struct racer *racer, uint32_t i)
{
    uint32_t nkeys = racer->race->nkeys;
    uint32_t from = racer->number / 2 * (nkeys / NTHREADS);
    return racer->number % 2 ? (from + nkeys - i) % nkeys : (from + i) % nkeys;
}

static void answer(struct race *race, uint32_t key, uint8_t verdict, int change)
{
    if (change) {
        __atomic_add_fetch(&race->nnew[key], change, __ATOMIC_RELAXED);
    }
    CHECK(verdict <= UNSEEN_NEW);
}

static void *add_all(void *context)
{
    const struct racer *racer = context;
    struct race *race = racer->race;
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    for (uint32_t at = 0; at < race->nkeys;) {
        uint32_t n = race->batches ? BATCH - racer->number : 1;
        n = race->nkeys - at < n ? race->nkeys - at : n;
        for (uint32_t i = 0; i < n; i++) {
            keys[i] = test_key(nth_key(racer, at + i));
        }
        CHECK(unseen_set_add_keys(race->set, keys, n, verdicts, NULL) == UNSEEN_OK);
        for (uint32_t i = 0; i < n; i++) {
            answer(race, nth_key(racer, at + i), verdicts[i], verdicts[i] == UNSEEN_NEW);
        }
        /* Whoever has added or been told SEEN sees the keys from now on. */
        CHECK(unseen_set_contains_keys(race->set, keys, n, verdicts, NULL) == UNSEEN_OK);
        CHECK(memchr(verdicts, UNSEEN_NEW, n) == NULL);
        at += n;
    }
    return NULL;
}

static void check_race(double fpr, bool batches, uint32_t nkeys)
{
    struct race race = {.set = make(fpr, NTHREADS), .nkeys = nkeys, .batches = batches};
    race.nnew = calloc(nkeys, sizeof(*race.nnew));
    if (!race.nnew) {
        exit(2);
    }
    run_threads(&race, add_all);
    uint64_t nwrong = 0;
    for (uint32_t i = 0; i < nkeys; i++) {
        nwrong += race.nnew[i] != 1;
    }
    CHECK_EQ(nwrong, 0);
    CHECK(test_set_sound(race.set));
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(race.set, &stats) == UNSEEN_OK);
    CHECK_EQ(stats.nkeys, nkeys);
    free(race.nnew);
    unseen_set_free(race.set);
}

/* Adds and removes at random, in batches or one by one; one thread only counts. What was told NEW
 * minus what was told removed is what is left. */
static void *mix(void *context)
{
    const struct racer *racer = context;
    struct race *race = racer->race;
    struct unseen_key keys[BATCH];
    uint32_t numbers[BATCH];
    uint8_t verdicts[BATCH];
    uint64_t random = racer->number;
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    for (int round = 0; round < 300; round++) {
        if (racer->number == 0) {
            CHECK(unseen_set_stats(race->set, &stats) == UNSEEN_OK && stats.nkeys <= race->nkeys);
            continue;
        }
        uint32_t n = round % 2 ? 1 + (uint32_t)(test_random(&random) % BATCH) : 1;
        for (uint32_t i = 0; i < n; i++) {
            numbers[i] = (uint32_t)(test_random(&random) % race->nkeys);
            keys[i] = test_key(numbers[i]);
        }
        bool adding = round % 3 != 0;
        CHECK((adding ? unseen_set_add_keys(race->set, keys, n, verdicts, NULL)
                      : unseen_set_remove_keys(race->set, keys, n, verdicts, NULL)) == UNSEEN_OK);
        for (uint32_t i = 0; i < n; i++) {
            int change = adding ? verdicts[i] == UNSEEN_NEW : -(verdicts[i] == UNSEEN_SEEN);
            answer(race, numbers[i], verdicts[i], change);
        }
    }
    return NULL;
}

static void check_mix(double fpr)
{
    struct race race = {.set = make(fpr, NTHREADS), .nkeys = 20000};
    race.nnew = calloc(race.nkeys, sizeof(*race.nnew));
    if (!race.nnew) {
        exit(2);
    }
    run_threads(&race, mix);
    uint64_t nwrong = 0;
    uint64_t nleft = 0;
    for (uint32_t i = 0; i < race.nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_contains_keys(race.set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nwrong += race.nnew[i] != (verdict == UNSEEN_SEEN);
        nleft += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nwrong, 0);
    CHECK(nleft > 0 && nleft < race.nkeys);
    CHECK(test_set_sound(race.set));
    free(race.nnew);
    unseen_set_free(race.set);
}

/* ---- many readers of a set that does not change ---- */

static void *read_all(void *context)
{
    const struct racer *racer = context;
    const struct unseen_set *set = racer->race->set;
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    for (uint32_t at = 0; at < 2 * racer->race->nkeys; at += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++) {
            keys[i] = test_key(at + i);
        }
        CHECK(unseen_set_contains_keys(set, keys, BATCH, verdicts, NULL) == UNSEEN_OK);
        for (uint32_t i = 0; i < BATCH; i++) {
            CHECK_EQ(verdicts[i], at + i < racer->race->nkeys ? UNSEEN_SEEN : UNSEEN_NEW);
        }
        CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK && stats.nkeys == racer->race->nkeys);
        CHECK(test_set_key(set, "x", 1, &keys[0]) == UNSEEN_OK);
    }
    struct test_image image = {0};
    static _Thread_local uint8_t buf[UNSEEN_CHUNK_MAX];
    uint64_t cursor = 0;
    size_t len;
    do {
        CHECK(unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK);
        image.len += len;
    } while (len);
    CHECK(image.len > (size_t)racer->race->nkeys * 4);
    return NULL;
}

static void check_readers(void)
{
    struct race race = {.set = make(0, 1), .nkeys = 30 * BATCH};
    for (uint32_t i = 0; i < race.nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(race.set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    run_threads(&race, read_all);
    unseen_set_free(race.set);
}

/* The count can fail: with two sets in one race, keys are told NEW twice. */
static void *add_to_own(void *context)
{
    const struct racer *racer = context;
    struct race own = *racer->race;
    struct racer self = {.race = &own, .number = racer->number};
    own.set = make(0, 1);
    (void)add_all(&self);
    unseen_set_free(own.set);
    return NULL;
}

static void check_checks(void)
{
    struct race race = {.nkeys = 1000};
    race.nnew = calloc(race.nkeys, sizeof(*race.nnew));
    if (!race.nnew) {
        exit(2);
    }
    run_threads(&race, add_to_own);
    CHECK_EQ(race.nnew[0], NTHREADS);
    free(race.nnew);
}

int main(void)
{
    test_start();
    check_checks();
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        const double fpr = test_fprs[width];
        check_race(fpr, false, 40000);
        check_race(fpr, true, 100000);
        check_mix(fpr);
    }
    check_readers();
    return test_end();
}
