/* SPDX-License-Identifier: MIT
 *
 * Sets that forget by time. Random operations against a list of keys and times; the answers do not
 * depend on how lines are divided into calls; memory, also after a burst; threads; what is refused.
 * Label: threads, kernels */
#include "test.h"

#define require CHECK
#include "window_model.h"

#include <pthread.h>

static const uint64_t seed = 1;

static struct unseen_set *make(uint64_t window, unsigned threads)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .threads = threads,
                                               .cpu = test_cpu,
                                               .window = window};
    struct unseen_set *set = NULL;
    if (!CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK)) {
        exit(1);
    }
    return set;
}

static struct unseen_key key_of(const struct unseen_set *set, uint64_t number)
{
    return unseen_set_identity_key(set, &number, sizeof(number));
}

static uint8_t add_one(struct unseen_set *set, uint64_t number)
{
    const struct unseen_key key = key_of(set, number);
    uint8_t verdict = 9;
    CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict;
}

static struct unseen_set_stats stats_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats;
}

/* Detects a key that leaves early or late, an entry that is removed twice, a time that goes back,
 * and memory that is lost. */
static void check_model(void)
{
    static struct window_model m;
    uint64_t random = 5;
    for (unsigned kind = 0; kind < 128 * test_scale(); kind++) {
        const uint8_t head[2] = {(uint8_t)(kind / 2), (uint8_t)(kind % 64)};
        model_create(&m, head, test_cpu, (struct unseen_allocator){test_alloc, test_free, NULL});
        for (int step = 0; step < 120; step++) {
            const uint64_t x = test_random(&random);
            uint8_t bytes[MODEL_OPERATION];
            memcpy(bytes, &x, sizeof(bytes));
            model_step(&m, bytes);
        }
        model_end(&m);
    }
}

/* The sentence of the meaning, step by step. */
static void check_meaning(void)
{
    struct unseen_set *set = make(10000, 1);
    const struct unseen_key key = key_of(set, 1);
    uint8_t verdict;
    CHECK_EQ(add_one(set, 1), UNSEEN_NEW); /* before any time: counts from the first one */
    CHECK_EQ(stats_of(set).oldest, 0);
    CHECK(unseen_set_expire(set, 50000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(stats_of(set).oldest, 50000);
    CHECK_EQ(add_one(set, 1), UNSEEN_SEEN);
    CHECK(unseen_set_expire(set, 59000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(stats_of(set).nleaving, 1);
    CHECK_EQ(add_one(set, 2), UNSEEN_NEW);
    CHECK_EQ(stats_of(set).nleaving, 1);
    CHECK(unseen_set_expire(set, 59999, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(add_one(set, 1), UNSEEN_SEEN); /* which does not prolong it */
    CHECK(unseen_set_expire(set, 60000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(add_one(set, 1), UNSEEN_NEW);
    CHECK(unseen_set_expire(set, 1, SIZE_MAX, NULL) == UNSEEN_OK); /* is not later: nothing */
    CHECK_EQ(add_one(set, 2), UNSEEN_SEEN);
    CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_SEEN);
    CHECK(unseen_set_expire(set, 65000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(add_one(set, 1), UNSEEN_NEW);
    /* The entry from before the removal comes out, and the key stays. */
    CHECK(unseen_set_expire(set, 70000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(add_one(set, 1), UNSEEN_SEEN);
    CHECK(unseen_set_expire(set, 75000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(add_one(set, 1), UNSEEN_NEW);
    unseen_set_free(set);
}

enum {
    LINES = 20000
};

/* Lines with times, each by its own calls, and again in calls as long as *next_out allows, in
 * batches of any size. Both give the same answers. */
static void check_batches(uint64_t window)
{
    static uint64_t times[LINES];
    static struct unseen_key keys[LINES];
    static uint8_t verdicts[2][LINES];
    struct unseen_set *one = make(window, 1);
    struct unseen_set *more = make(window, 1);
    uint64_t random = window;
    uint64_t now = 1000000;
    for (size_t i = 0; i < LINES; i++) {
        const uint64_t x = test_random(&random);
        now += x % 2 ? x / 2 % (2 + window / 1000) : 0;
        times[i] = now;
        keys[i] = key_of(one, x % 3 ? i % 4000 : x % 3000); /* most come again a window later */
    }
    for (size_t i = 0; i < LINES; i++) {
        CHECK(unseen_set_expire(one, times[i], SIZE_MAX, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(one, &keys[i], 1, &verdicts[0][i], NULL) == UNSEEN_OK);
    }
    for (size_t i = 0; i < LINES;) {
        uint64_t next = 0;
        const size_t batch_end = i + 1 + test_random(&random) % 700;
        size_t end = i + 1;
        CHECK(unseen_set_expire(more, times[i], SIZE_MAX, &next) == UNSEEN_OK);
        while (end < LINES && end < batch_end && times[end] < next) {
            end++;
        }
        CHECK(unseen_set_expire(more, times[end - 1], SIZE_MAX, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(more, keys + i, end - i, verdicts[1] + i, NULL) == UNSEEN_OK);
        i = end;
    }
    CHECK(memcmp(verdicts[0], verdicts[1], LINES) == 0);
    CHECK(memchr(verdicts[0], UNSEEN_SEEN, LINES) != NULL);
    unseen_set_free(one);
    unseen_set_free(more);
}

/* Adds nsteps times n new keys, a time apart. */
static void flow(struct unseen_set *set, uint64_t *number, uint64_t *now, size_t nsteps, size_t n)
{
    for (size_t step = 0; step < nsteps; step++, ++*now) {
        CHECK(unseen_set_expire(set, *now, 4096, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < n; i++) {
            (void)add_one(set, ++*number);
        }
    }
}

/* Beside the set, a live key takes 9 bytes at most. After a burst of ten times the usual, the set
 * takes what a new one takes, within a half. */
static void check_memory(void)
{
    const uint64_t window = 10000;
    struct unseen_set *set = make(window, 1);
    struct unseen_set *plain = make(0, 1);
    uint64_t number = 0;
    uint64_t now = 1;
    flow(set, &number, &now, window, 30);
    for (uint64_t i = 0; i < number; i++) {
        (void)add_one(plain, i);
    }
    const double usual = (double)stats_of(set).memory;
    CHECK((usual - (double)stats_of(plain).memory) / (double)number <= 9);
    flow(set, &number, &now, window / 10, 300);
    CHECK((double)stats_of(set).memory > 1.4 * usual);
    flow(set, &number, &now, 2 * window, 30);
    CHECK((double)stats_of(set).memory < 1.5 * usual);
    CHECK(stats_of(set).nkeys >= 30 * window && stats_of(set).nkeys <= 30 * (window + 5));
    unseen_set_free(set);
    unseen_set_free(plain);
}

enum {
    THREADS = 4,
    ROUNDS = 400,
    BATCH = 100
};

struct job {
    struct unseen_set *set;
    uint64_t number;
    uint64_t nnew;
    uint64_t nleft; /* explicit removals that took a key */
};

/* All threads add keys of a small universe, remove some, and move the clock. */
static void *work(void *argument)
{
    struct job *job = argument;
    uint64_t random = job->number;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct unseen_key keys[BATCH];
        uint8_t verdicts[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            keys[i] = key_of(job->set, test_random(&random) % 5000);
        }
        CHECK(unseen_set_expire(job->set, 1 + round * 10, 200, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(job->set, keys, BATCH, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < BATCH; i++) {
            job->nnew += verdicts[i] == UNSEEN_NEW;
        }
        CHECK(unseen_set_remove_keys(job->set, keys, 10, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < 10; i++) {
            job->nleft += verdicts[i] == UNSEEN_SEEN;
        }
        (void)stats_of(job->set);
    }
    return NULL;
}

/* Each key that was new leaves once. */
static void check_threads(void)
{
    struct unseen_set *set = make(500, THREADS);
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.set = set, .number = i};
        CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
    }
    uint64_t nnew = 0;
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        nnew += jobs[i].nnew;
    }
    CHECK(nnew > 5000);
    CHECK(stats_of(set).nkeys > 0);
    CHECK(unseen_set_expire(set, 1000000, 0, NULL) == UNSEEN_OK);
    CHECK_EQ(stats_of(set).nkeys, 0);
    CHECK_EQ(stats_of(set).oldest, 0);
    unseen_set_free(set);
}

/* A set and a replica get the same calls. Now and then the replica is replaced by a copy of itself:
 * nothing of the queue, of the removed keys and of the times is lost. */
static void check_replica(uint64_t window)
{
    struct unseen_set *sets[2] = {make(window, 1), make(window, 1)};
    uint64_t random = window;
    uint64_t now = 1;
    for (int step = 0; step < 3000; step++) {
        const uint64_t x = test_random(&random);
        const uint64_t first = x >> 8 & 1023;
        const size_t max = x >> 20 & 1 ? 3 : 1000;
        now += x >> 24 & 1 ? (x >> 32) % (2 + window / 50) : 0;
        for (int i = 0; i < 2; i++) {
            struct unseen_key keys[64];
            uint8_t verdicts[64];
            for (uint64_t k = 0; k < 64; k++) {
                keys[k] = key_of(sets[i], first + k);
            }
            if (x % 8 < 3) {
                CHECK(unseen_set_add_keys(sets[i], keys, 64, verdicts, NULL) == UNSEEN_OK);
            } else if (x % 8 < 4) {
                CHECK(unseen_set_remove_keys(sets[i], keys, 9, verdicts, NULL) == UNSEEN_OK);
            } else {
                CHECK(unseen_set_expire(sets[i], now, max, NULL) == UNSEEN_OK);
            }
        }
        if (x >> 40 & 1) {
            struct unseen_set *copy = NULL;
            CHECK(unseen_set_copy(&copy, sets[1], NULL) == UNSEEN_OK);
            unseen_set_free(sets[1]);
            sets[1] = copy;
        }
        CHECK(unseen_set_digest(sets[0]) == unseen_set_digest(sets[1]));
        CHECK(unseen_set_due(sets[0]) == unseen_set_due(sets[1]));
    }
    CHECK(unseen_set_expire(sets[1], now + 3 * window + 3000, 0, NULL) == UNSEEN_OK);
    CHECK_EQ(stats_of(sets[1]).nkeys, 0);
    CHECK(unseen_set_due(sets[1]) == UINT64_MAX);
    unseen_set_free(sets[0]);
    unseen_set_free(sets[1]);
}

/* Many keys and removed keys: several chunks. A payload that is changed is refused, or is a set. */
static void check_chunks(void)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    struct unseen_set *set = make(1000, 1);
    struct unseen_set *copy = NULL;
    for (uint64_t i = 0; i < 30000; i++) {
        const struct unseen_key key = key_of(set, i);
        uint8_t verdict;
        CHECK(unseen_set_expire(set, 1 + i / 40, 0, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        if (i % 3 == 0) {
            CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
    }
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK);
    CHECK(unseen_set_digest(set) == unseen_set_digest(copy));
    CHECK_EQ(stats_of(copy).nkeys, 20000);
    unseen_set_free(copy);
    /* The places of the length, the clock, a time, a number of keys and a key. */
    static const size_t places[] = {24, 32, 40, 48, 52};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct unseen_import *import = NULL;
        uint64_t cursor = 0;
        size_t len;
        enum unseen_status status = UNSEEN_OK;
        CHECK(unseen_import_create(&import, NULL, NULL) == UNSEEN_OK);
        do {
            CHECK(unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK);
            if (len > 0 && memcmp(buf, "UNSW", 4) == 0) {
                buf[places[i] + 1] ^= 0x40;
                test_repair(buf, len);
            }
            status =
                len > 0 && status == UNSEEN_OK ? unseen_import_chunk(import, buf, len) : status;
        } while (len > 0);
        copy = NULL;
        if (status == UNSEEN_OK) {
            status = unseen_import_finish(import, &copy);
        } else {
            unseen_import_free(import);
        }
        CHECK(status == UNSEEN_ERR_CORRUPT);
        unseen_set_free(copy);
    }
    unseen_set_free(set);
}

static void check_refused(void)
{
    struct unseen_set *set = make(1000, 2);
    struct unseen_set *plain = make(0, 1);
    struct unseen_set *copy = NULL;
    struct unseen_error error;
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    uint64_t cursor = 0;
    size_t len;
    CHECK(unseen_set_expire(plain, 1, 1, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_set_copy(&copy, set, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(error.setting == UNSEEN_SETTING_WINDOW && strstr(error.text, "cannot be copied"));
    CHECK(unseen_set_save(set, "/nowhere/x", &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "cannot be saved") != NULL);
    unseen_set_free(plain);
    unseen_set_free(set);
    set = make(1000, 1);
    plain = NULL;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .key_bits = 64};
    CHECK(unseen_set_create(&plain, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_merge(plain, set, NULL, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "cannot be merged") != NULL);
    CHECK(unseen_set_merge(set, plain, NULL, &error) == UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
    unseen_set_free(plain);
    CHECK(!copy);
}

static void check_texts(void)
{
    static const struct {
        const char *text;
        uint64_t ms; /* 0: refused */
    } texts[] = {
        {"1", 1000},
        {"90", 90000},
        {"90s", 90000},
        {"10m", 600000},
        {"1.5h", 5400000},
        {"0.25h", 900000},
        {"24h", 86400000},
        {"30d", UINT64_C(2592000000)},
        {"2w", UINT64_C(1209600000)},
        {"100y", UINT64_C(3153600000000)},
        {"1.0001s", 1000},
        {"1.00000001999999999999999s", 1000},
        {"3153600000", UINT64_C(3153600000000)},
        {"000000000000001", 0},
        {"0", 0},
        {"0.9", 0},
        {"", 0},
        {"s", 0},
        {".5h", 0},
        {"1.h", 0},
        {"1.", 0},
        {"-1", 0},
        {"+1", 0},
        {" 1", 0},
        {"1 ", 0},
        {"1hh", 0},
        {"1h30m", 0},
        {"1ms", 0},
        {"1H", 0},
        {"1e3", 0},
        {"100.0001y", 0},
        {"3153600001", 0},
        {"99999999999999999999", 0},
        {"99999999999y", 0},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint64_t ms = 0;
        const enum unseen_status status = unseen_window_parse(texts[i].text, &ms);
        if (!CHECK_EQ(ms, texts[i].ms) ||
            !CHECK(status == (texts[i].ms ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT))) {
            fprintf(stderr, "of %s\n", texts[i].text);
        }
    }
}

int main(void)
{
    test_start();
    check_threads();
    if (TEST_THREADS_ONLY) {
        return test_end();
    }
    check_meaning();
    check_model();
    check_batches(1);
    check_batches(60000);
    check_batches(600001);
    check_batches(86400000);
    if (!test_brief()) {
        check_memory();
    }
    check_replica(1000);
    check_replica(100000);
    check_chunks();
    check_refused();
    check_texts();
    return test_end();
}
