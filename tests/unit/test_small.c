/* SPDX-License-Identifier: MIT
 *
 * Small sets and static sets: runs against plain arrays of numbers, values against all keys that
 * were added, the rate, the bytes, bytes that are forged, and memory that runs out. */
#include "test.h"

#include <math.h>
#include <unseen_small.h>

#include "hash/checksum.h"
#include "small/parts.h"
#include "small/small.h"

static struct test_allocator counting;
static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};

static struct unseen_key random_key(uint64_t *state)
{
    struct unseen_key key;
    key.lo = test_random(state);
    key.hi = test_random(state);
    return key;
}

/* ---- runs ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_in(const uint64_t *numbers, unsigned n, uint64_t x)
{
    for (unsigned i = 0; i < n; i++) {
        if (numbers[i] == x) {
            return true;
        }
    }
    return false;
}

/* One run, at the end of readable memory but for the pad. */
static void check_run(unsigned n, uint64_t universe, uint64_t *state)
{
    uint64_t numbers[RUN_MAX];
    uint64_t read[RUN_MAX];
    uint8_t run[RUN_BYTES + RUN_PAD];
    for (unsigned i = 0; i < n; i++) {
        numbers[i] = test_random(state) % universe;
    }
    qsort(numbers, n, sizeof(*numbers), compare_numbers);
    const size_t len = unseen__run_len(numbers, n, universe);
    CHECK(len <= RUN_BYTES);
    memset(run, 0xA5, sizeof(run));
    unseen__run_encode(run, len, numbers, n, universe);
    CHECK(unseen__run_decode(run, len, n, universe, read));
    CHECK(memcmp(read, numbers, n * sizeof(*numbers)) == 0);
    for (unsigned i = 0; i < n; i++) {
        CHECK(unseen__run_has(run, len, n, universe, numbers[i]));
        const uint64_t next = numbers[i] + 1;
        CHECK(unseen__run_has(run, len, n, universe, next) == is_in(numbers, n, next));
    }
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t x = test_random(state) % universe;
        CHECK(unseen__run_has(run, len, n, universe, x) == is_in(numbers, n, x));
    }
    /* A number more, anywhere: the run that all of them together make. */
    for (unsigned i = 0; n < RUN_MAX && i < 20; i++) {
        uint8_t more[RUN_BYTES + RUN_PAD];
        uint8_t anew[RUN_BYTES];
        const uint64_t x = i == 0          ? 0
                           : i == 1        ? universe - 1
                           : (i == 2 && n) ? numbers[n / 2]
                                           : test_random(state) % universe;
        memcpy(read, numbers, n * sizeof(*numbers));
        read[n] = x;
        qsort(read, n + 1, sizeof(*read), compare_numbers);
        const size_t more_len = unseen__run_insert(more, run, len, n, universe, x);
        if (CHECK_EQ(more_len, unseen__run_len(read, n + 1, universe))) {
            unseen__run_encode(anew, more_len, read, n + 1, universe);
            CHECK(memcmp(more, anew, more_len) == 0);
        }
    }
    /* A changed bit gives other numbers, of which the changed bytes are the only code, or none. */
    for (size_t bit = 0; bit < len * 8; bit++) {
        run[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (unseen__run_decode(run, len, n, universe, read)) {
            uint8_t again[RUN_BYTES];
            CHECK(memcmp(read, numbers, n * sizeof(*numbers)) != 0);
            CHECK(read[n - 1] < universe);
            CHECK_EQ(unseen__run_len(read, n, universe), len);
            unseen__run_encode(again, len, read, n, universe);
            CHECK(memcmp(again, run, len) == 0);
        }
        run[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(!unseen__run_decode(run, len + 1, n, universe, read));
    CHECK(len == 0 || !unseen__run_decode(run, len - 1, n, universe, read));
}

static void check_runs(void)
{
    uint64_t state = 1;
    for (unsigned n = 0; n <= RUN_MAX; n += n < 10 ? 1 : 13) {
        check_run(n, n + 1, &state);
        check_run(n, 4 * n + 3, &state);
        check_run(n, 10841, &state);
        check_run(n, UINT64_C(1) << 26, &state);
        check_run(n, UINT64_C(1) << RUN_UNIVERSE_BITS, &state);
    }
}

static void check_rate_codes(void)
{
    for (double rate = 0.9; rate > 1e-6; rate *= 0.93) {
        const unsigned code = unseen__rate_code(rate);
        CHECK(unseen__rate_of_code(code) <= rate && unseen__rate_of_code(code) > rate * 0.94);
        const double universe = 107 / unseen__rate_of_code(code);
        CHECK(fabs((double)unseen__rate_universe(code, 107) - universe) <= 1 + universe * 1e-6);
    }
    /* The same number on every machine. */
    CHECK_EQ(unseen__rate_universe(80, 107), 10871);
    CHECK_EQ(unseen__rate_universe(203, 712), 88085432);
}

/* ---- values ---- */

/* Adds n random keys one at a time. Every key that was added stays SEEN. Returns how many were
 * added before SPACE. */
static size_t grow(void **value, size_t n, uint64_t seed, uint64_t *nnew_out)
{
    uint64_t state = seed;
    uint64_t nnew = 0;
    size_t i = 0;
    for (; i < n; i++) {
        const struct unseen_key key = random_key(&state);
        uint8_t verdict = 9;
        size_t ndone = 9;
        const enum unseen_status status =
            unseen_small_add(value, &key, 1, &verdict, &ndone, &allocator);
        if (status == UNSEEN_ERR_SPACE) {
            CHECK(ndone == 0 && verdict == 9);
            break;
        }
        CHECK(status == UNSEEN_OK && ndone == 1);
        nnew += verdict == UNSEEN_NEW;
    }
    *nnew_out = nnew;
    return i;
}

static void check_all_seen(const void *value, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) {
        const struct unseen_key key = random_key(&state);
        uint8_t verdict = 9;
        unseen_small_contains(value, &key, 1, &verdict);
        CHECK(verdict == UNSEEN_SEEN);
    }
}

static struct unseen_small_stats stats_of(const void *value)
{
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_small_stats(value, &stats) == UNSEEN_OK);
    return stats;
}

static void check_growth(double fpr, size_t n, size_t room)
{
    void *value = NULL;
    uint64_t nnew;
    CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
    CHECK_EQ(counting.bytes, 16);
    for (uint64_t seed = 1; seed < 3; seed++) {
        const size_t added = grow(&value, n, seed, &nnew);
        CHECK(added == n || (added >= room && added <= room + room / 50));
        check_all_seen(value, added, seed);
        struct unseen_small_stats stats = stats_of(value);
        CHECK_EQ(stats.nkeys, nnew);
        CHECK_EQ(stats.memory, counting.bytes);
        CHECK_EQ(stats.len, unseen_small_len(value));
        CHECK(stats.memory >= stats.len && stats.memory <= stats.len + stats.len / 16 + 16);
        CHECK(stats.fpr_promise <= (fpr > 0 ? fpr : UNSEEN_FPR_DEFAULT));
        CHECK(stats.fpr_promise >= (fpr >= 1e-5 ? 0.94 * fpr : 0));
        CHECK(stats.fpr_estimate <= stats.fpr_promise);

        /* The same bytes are the same value, at any address. */
        void *copy = NULL;
        CHECK(unseen_small_load(&copy, value, stats.len, &allocator) == UNSEEN_OK);
        CHECK(memcmp(copy, value, stats.len) == 0);
        check_all_seen(copy, added, seed);
        unseen_small_free(value, &allocator);
        CHECK_EQ(counting.nlive, 1);
        value = NULL;
        CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
        unseen_small_free(copy, &allocator);
    }
    unseen_small_free(value, &allocator);
    CHECK(counting.nlive == 0 && counting.bytes == 0);
}

/* In a batch, singly, with repeats: equal answers, equal bytes. */
static void check_batches(double fpr)
{
    enum {
        N = 900
    };
    static struct unseen_key keys[N];
    uint8_t one[N];
    uint8_t many[N];
    void *a = NULL;
    void *b = NULL;
    uint64_t state = 7;
    for (size_t i = 0; i < N; i++) {
        keys[i] = i % 3 == 2 ? keys[i / 2] : random_key(&state);
    }
    CHECK(unseen_small_create(&a, fpr, NULL) == UNSEEN_OK);
    CHECK(unseen_small_create(&b, fpr, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < N; i++) {
        CHECK(unseen_small_add(&a, &keys[i], 1, &one[i], NULL, NULL) == UNSEEN_OK);
    }
    size_t ndone = 0;
    CHECK(unseen_small_add(&b, keys, N, many, &ndone, NULL) == UNSEEN_OK && ndone == N);
    CHECK(memcmp(one, many, N) == 0);
    for (size_t i = 2; i < N; i += 3) {
        CHECK(many[i] == UNSEEN_SEEN);
    }
    const size_t len = unseen_small_len(a);
    CHECK(len == unseen_small_len(b) && memcmp(a, b, len) == 0);
    unseen_small_contains(a, keys, N, many);
    CHECK(!memchr(many, UNSEEN_NEW, N));
    unseen_small_free(a, NULL);
    unseen_small_free(b, NULL);
}

/* The measured rate is the estimate within 4 sigma, and below the promise. */
static void check_rate(double fpr, size_t n, unsigned nvalues, unsigned nasked)
{
    uint64_t state = 11;
    double expected = 0;
    uint64_t nseen = 0;
    for (unsigned i = 0; i < nvalues; i++) {
        void *value = NULL;
        uint64_t nnew;
        CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
        (void)grow(&value, n, 100 + i, &nnew);
        const struct unseen_small_stats stats = stats_of(value);
        expected += stats.fpr_estimate * nasked;
        for (unsigned j = 0; j < nasked; j++) {
            const struct unseen_key key = random_key(&state);
            uint8_t verdict;
            unseen_small_contains(value, &key, 1, &verdict);
            nseen += verdict == UNSEEN_SEEN;
        }
        unseen_small_free(value, &allocator);
    }
    CHECK(fabs((double)nseen - expected) <= 4 * sqrt(expected) + 1);
    CHECK((double)nseen <= fpr * nvalues * nasked + 4 * sqrt(fpr * nvalues * nasked));
}

/* The goals: bytes of a value on average, and of its block. */
static void check_bytes(void)
{
    static const size_t ns[6] = {1, 10, 50, 200, 1000, 10000};
    static const double rates[3] = {1e-2, 1e-3, 1e-4};
    static const size_t goals[3][6] = {{16, 32, 64, 300, 1700, 20000},
                                       {16, 32, 96, 380, 2100, 25000},
                                       {16, 32, 112, 460, 2500, 29000}};
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned i = 0; i < 6; i++) {
            const unsigned nvalues = ns[i] > 1000 ? 3 : 40;
            size_t bytes = 0;
            for (unsigned v = 0; v < nvalues; v++) {
                void *value = NULL;
                uint64_t nnew;
                CHECK(unseen_small_create(&value, rates[r], &allocator) == UNSEEN_OK);
                (void)grow(&value, ns[i], 1000 + v, &nnew);
                bytes += unseen_small_len(value);
                unseen_small_free(value, &allocator);
            }
            CHECK(bytes <= goals[r][i] * nvalues);
        }
    }
}

static void check_arguments(void)
{
    void *value = NULL;
    CHECK(unseen_small_create(&value, -1, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_small_create(&value, 1, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_small_create(&value, (double)NAN, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_small_create(&value, 4e-9, NULL) == UNSEEN_ERR_FPR);
    struct unseen_small_options options = {.fpr = 0.01};
    CHECK(unseen_small_create_with(&value, &options) == UNSEEN_ERR_SIZE);
    options = (struct unseen_small_options){.size = sizeof(options), .fpr = 9e-6, .counts = true};
    CHECK(unseen_small_create_with(&value, &options) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(value == NULL);
    unseen_small_free(NULL, NULL);
    struct unseen_small_stats stats = {.size = 1};
    CHECK(unseen_small_create(&value, 0, NULL) == UNSEEN_OK);
    CHECK(unseen_small_stats(value, &stats) == UNSEEN_ERR_SIZE);
    unseen_small_free(value, NULL);
}

/* A mark is carried by a value that grows, and is not saved. */
static void check_mark(double fpr, size_t n)
{
    void *value = NULL;
    void *plain = NULL;
    void *loaded = NULL;
    uint8_t saved[UNSEEN_SMALL_LEN_MAX + 2];
    uint64_t nnew;
    CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
    CHECK(unseen_small_create(&plain, fpr, &allocator) == UNSEEN_OK);
    CHECK_EQ(unseen_small_mark(value), 0);
    CHECK(unseen_small_set_mark(&value, 0xFE01, &allocator) == UNSEEN_OK);
    CHECK_EQ(grow(&value, n, 5, &nnew), n);
    CHECK_EQ(grow(&plain, n, 5, &nnew), n);
    CHECK_EQ(unseen_small_mark(value), 0xFE01);
    check_all_seen(value, n, 5);
    const size_t len = unseen_small_len(plain);
    CHECK_EQ(unseen_small_len(value), len + 2);
    CHECK(unseen_small_load(&loaded, value, len + 2, &allocator) == UNSEEN_ERR_VERSION);
    CHECK_EQ(unseen_small_save(value, saved), len);
    CHECK(memcmp(saved, plain, len) == 0);
    CHECK(unseen_small_set_mark(&value, 7, &allocator) == UNSEEN_OK);
    CHECK_EQ(unseen_small_mark(value), 7);
    CHECK_EQ(unseen_small_len(value), len + 2);
    CHECK(unseen_small_set_mark(&value, 0, &allocator) == UNSEEN_OK);
    CHECK(unseen_small_len(value) == len && memcmp(value, plain, len) == 0);
    unseen_small_free(value, &allocator);
    unseen_small_free(plain, &allocator);
}

/* An add without memory changes nothing, and succeeds when it is tried again. */
static void check_nomem(double fpr)
{
    void *value = NULL;
    uint64_t state = 3;
    counting = (struct test_allocator){.fail_at = 1};
    CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_ERR_NOMEM);
    counting = (struct test_allocator){0};
    CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
    unsigned nfailed = 0;
    unsigned nlater = 0;
    for (unsigned i = 0; i < 700; i++) {
        const struct unseen_key key = random_key(&state);
        const size_t len = unseen_small_len(value);
        uint8_t before[UNSEEN_SMALL_LEN_MAX];
        uint8_t verdict;
        size_t ndone;
        memcpy(before, value, len);
        for (unsigned nth = 1;; nth++) {
            counting.fail_at = counting.nallocs + nth;
            if (unseen_small_add(&value, &key, 1, &verdict, &ndone, &allocator) == UNSEEN_OK) {
                break;
            }
            nfailed++;
            nlater += nth > 1;
            CHECK(ndone == 0 && unseen_small_len(value) == len && memcmp(before, value, len) == 0);
        }
        unseen_small_contains(value, &key, 1, &verdict);
        CHECK(verdict == UNSEEN_SEEN);
    }
    CHECK(nfailed > 20);
    CHECK(fpr >= 1e-5 || nlater > 0); /* runs were doubled, and then no memory was left */
    counting.fail_at = counting.nallocs + 1;
    CHECK(unseen_small_set_mark(&value, 1, &allocator) == UNSEEN_ERR_NOMEM ||
          unseen_small_mark(value) == 1);
    counting.fail_at = 0;
    unseen_small_free(value, &allocator);
    CHECK(counting.nlive == 0 && counting.bytes == 0);
    counting = (struct test_allocator){0};
}

static void *make_with(double fpr, uint64_t capacity, bool counts)
{
    const struct unseen_small_options options = {.size = sizeof(options),
                                                 .fpr = fpr,
                                                 .capacity = capacity,
                                                 .counts = counts,
                                                 .allocator = &allocator};
    void *value = NULL;
    CHECK(unseen_small_create_with(&value, &options) == UNSEEN_OK);
    return value;
}

/* A value with a first layer for a capacity is smaller than the layers of one without, its rate is
 * below the promise, and it goes on behind the first layer. */
static void check_sized(double fpr, uint64_t capacity, unsigned nasked)
{
    void *value = make_with(fpr, capacity, false);
    void *plain = make_with(fpr, 0, false);
    uint64_t nnew;
    uint64_t state = 51;
    uint64_t nseen = 0;
    CHECK_EQ(grow(&value, capacity, 5, &nnew), capacity);
    CHECK_EQ(grow(&plain, capacity, 5, &nnew), capacity);
    const struct unseen_small_stats stats = stats_of(value);
    CHECK(stats.nlayers == 1 && (double)stats.len < 0.95 * (double)stats_of(plain).len);
    CHECK((double)stats.len <= (double)capacity * (log2(1 / fpr) + 3.2) / 8);
    for (unsigned i = 0; i < nasked; i++) {
        const struct unseen_key key = random_key(&state);
        uint8_t verdict;
        unseen_small_contains(value, &key, 1, &verdict);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK(fabs((double)nseen - stats.fpr_estimate * nasked) <=
          4 * sqrt(stats.fpr_estimate * nasked) + 1);
    CHECK(stats.fpr_estimate <= stats.fpr_promise && stats.fpr_promise <= fpr);
    (void)grow(&value, capacity, 6, &nnew);
    check_all_seen(value, capacity, 5);
    check_all_seen(value, capacity, 6);
    CHECK(stats_of(value).nlayers == 2 && stats_of(value).fpr_estimate <= fpr);
    unseen_small_free(value, &allocator);
    unseen_small_free(plain, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

enum {
    COUNTED_KEYS = 3000
};

/* What a value that counts must have: no key fewer than were added and not removed. */
struct model {
    void *value;
    uint64_t total;
    uint64_t nremoved;
    uint32_t counts[COUNTED_KEYS];
};

static struct unseen_key counted_key(unsigned i)
{
    uint64_t state = 1000 + i;
    return random_key(&state);
}

static void model_check(const struct model *model)
{
    for (unsigned i = 0; i < COUNTED_KEYS; i++) {
        const struct unseen_key key = counted_key(i);
        uint8_t verdict;
        unseen_small_contains(model->value, &key, 1, &verdict);
        CHECK(verdict == UNSEEN_SEEN || model->counts[i] == 0);
        CHECK(unseen_small_count(model->value, key) >= model->counts[i]);
    }
    CHECK_EQ(stats_of(model->value).nkeys, model->total);
    CHECK_EQ(stats_of(model->value).nremoved, model->nremoved);
    CHECK_EQ(stats_of(model->value).memory, counting.bytes);
}

static void model_add(struct model *model, unsigned i)
{
    const struct unseen_key key = counted_key(i);
    const size_t len = unseen_small_len(model->value);
    uint8_t verdict;
    const enum unseen_status status =
        unseen_small_add(&model->value, &key, 1, &verdict, NULL, &allocator);
    if (status == UNSEEN_OK) {
        CHECK(verdict == UNSEEN_SEEN || model->counts[i] == 0);
        model->counts[i]++;
        model->total++;
    } else {
        CHECK(status == UNSEEN_ERR_SPACE && len == unseen_small_len(model->value));
    }
}

static void model_remove(struct model *model, unsigned i)
{
    uint8_t verdict = 9;
    if (model->counts[i] > 0) {
        CHECK(unseen_small_remove(&model->value, counted_key(i), &verdict, &allocator) ==
              UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
        model->counts[i]--;
        model->total--;
        model->nremoved++;
    }
}

/* Adds, repeats and removals in any order; few keys get most of the repeats. */
static void check_counted(double fpr, uint64_t capacity, unsigned nkeys)
{
    static struct model model;
    uint64_t state = capacity + nkeys;
    model = (struct model){.value = make_with(fpr, capacity, true)};
    const size_t empty_len = unseen_small_len(model.value);
    CHECK(unseen_small_set_mark(&model.value, 5, &allocator) == UNSEEN_OK);
    for (unsigned step = 0; step < 12 * nkeys; step++) {
        const uint64_t random = test_random(&state);
        const unsigned i = (unsigned)(random >> 8) % (random & 1 ? nkeys : nkeys / 10 + 1);
        const bool shrinks = step / nkeys % 3 == 2;
        if ((random >> 1 & 7) < (shrinks ? 2 : 5)) {
            model_add(&model, i);
        } else {
            model_remove(&model, i);
        }
        if (step % (nkeys / 2 + 1) == 0) {
            model_check(&model);
        }
    }
    CHECK_EQ(unseen_small_mark(model.value), 5);
    CHECK(unseen_small_set_mark(&model.value, 0, &allocator) == UNSEEN_OK);
    void *copy = NULL;
    const size_t len = unseen_small_len(model.value);
    CHECK(unseen_small_load(&copy, model.value, len, &allocator) == UNSEEN_OK);
    CHECK(memcmp(copy, model.value, len) == 0);
    unseen_small_free(copy, &allocator);
    model_check(&model);
    for (unsigned i = 0; i < nkeys; i++) {
        while (model.counts[i] > 0) {
            model_remove(&model, i);
        }
    }
    model_check(&model);
    CHECK_EQ(unseen_small_len(model.value), empty_len);
    unseen_small_free(model.value, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

/* Keys leave in the order in which they came: those of the first layer while later layers have
 * keys with the same hashes. */
static void check_counted_order(double fpr)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        void *value = make_with(fpr, 200, true);
        struct unseen_key keys[1000];
        uint64_t state = seed;
        uint8_t verdict;
        size_t n = 0;
        for (unsigned i = 0; i < 1000; i++) {
            keys[n] = random_key(&state);
            n += unseen_small_add(&value, &keys[n], 1, &verdict, NULL, &allocator) == UNSEEN_OK;
        }
        CHECK(n > 900 && stats_of(value).nlayers == 3);
        for (size_t i = 0; i < n; i++) {
            CHECK(unseen_small_remove(&value, keys[i], &verdict, &allocator) == UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
        }
        CHECK_EQ(stats_of(value).nkeys, 0);
        unseen_small_free(value, &allocator);
    }
    CHECK_EQ(counting.nlive, 0);
}

/* One key, a million times; and more such keys than there is room for. */
static void check_repeats(void)
{
    void *value = make_with(0.005, 0, true);
    uint8_t verdict;
    for (unsigned i = 0; i < 1000000; i++) {
        const struct unseen_key key = counted_key(0);
        CHECK(unseen_small_add(&value, &key, 1, &verdict, NULL, &allocator) == UNSEEN_OK);
    }
    CHECK_EQ(unseen_small_count(value, counted_key(0)), 1000000);
    CHECK(unseen_small_len(value) < 50);
    unsigned nfull = 0;
    for (unsigned i = 0; i < 1200; i++) {
        const struct unseen_key key = counted_key(i % 150);
        const enum unseen_status status =
            unseen_small_add(&value, &key, 1, &verdict, NULL, &allocator);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_SPACE);
        nfull += status == UNSEEN_ERR_SPACE;
    }
    CHECK(nfull > 0);
    CHECK_EQ(stats_of(value).nkeys, 1000000 + 1200 - nfull);
    unseen_small_free(value, &allocator);
}

/* Keys leave values with prefixes, too. */
static void check_removal(double fpr)
{
    void *value = make_with(fpr, 0, false);
    uint8_t verdict;
    for (unsigned i = 0; i < 500; i++) {
        const struct unseen_key key = counted_key(i);
        CHECK(unseen_small_add(&value, &key, 1, &verdict, NULL, &allocator) == UNSEEN_OK);
    }
    for (unsigned i = 0; i < 500; i++) {
        const struct unseen_key key = counted_key(i);
        CHECK_EQ(unseen_small_count(value, key), 1);
        CHECK(unseen_small_remove(&value, key, &verdict, &allocator) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
        CHECK(unseen_small_remove(&value, key, &verdict, &allocator) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_NEW);
        CHECK_EQ(stats_of(value).nkeys, 499 - i);
    }
    CHECK_EQ(unseen_small_len(value), 4);
    unseen_small_free(value, &allocator);
    value = make_with(0.01, 0, false);
    CHECK(unseen_small_remove(&value, counted_key(1), &verdict, &allocator) ==
          UNSEEN_ERR_UNSUPPORTED);
    unseen_small_free(value, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

/* Every cut, every changed bit: refused, or a value that can be used. */
static void check_forged_of(double fpr, size_t n, uint64_t capacity, bool counts)
{
    void *value = make_with(fpr, capacity, counts);
    uint64_t nnew;
    (void)grow(&value, n, 17, &nnew);
    if (counts) {
        for (unsigned i = 0; i < 6; i++) {
            (void)grow(&value, n / 10 + 1, 17, &nnew);
        }
    }
    const size_t len = unseen_small_len(value);
    uint8_t bytes[UNSEEN_SMALL_LEN_MAX + 1];
    void *made = NULL;
    memcpy(bytes, value, len);
    bytes[len] = 0;
    CHECK(unseen_small_load(&made, bytes, len + 1, &allocator) == UNSEEN_ERR_CORRUPT);
    for (size_t cut = 0; cut < len; cut++) {
        CHECK(unseen_small_load(&made, bytes, cut, &allocator) == UNSEEN_ERR_CORRUPT);
    }
    uint64_t naccepted = 0;
    for (size_t bit = 0; bit < len * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (unseen_small_load(&made, bytes, len, &allocator) == UNSEEN_OK) {
            naccepted++;
            CHECK_EQ(unseen_small_len(made), len);
            const size_t added = grow(&made, 3, bit, &nnew);
            check_all_seen(made, added, bit);
            uint64_t state = bit;
            const struct unseen_key key = random_key(&state);
            uint8_t verdict;
            const enum unseen_status status = unseen_small_remove(&made, key, &verdict, &allocator);
            CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_SPACE ||
                  status == UNSEEN_ERR_UNSUPPORTED);
            unseen_small_free(made, &allocator);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(naccepted > 0);
    bytes[1] = 0; /* the rate 1 */
    CHECK(unseen_small_load(&made, bytes, len, &allocator) == UNSEEN_ERR_CORRUPT || fpr < 1e-5);
    bytes[0] |= 0x40;
    CHECK(unseen_small_load(&made, bytes, len, &allocator) == UNSEEN_ERR_VERSION);
    bytes[0] ^= 0x40 | 0x80;
    CHECK(unseen_small_load(&made, bytes, len, &allocator) == UNSEEN_ERR_VERSION);
    unseen_small_free(value, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

static void check_forged(double fpr, size_t n)
{
    check_forged_of(fpr, n, 0, false);
}

/* A run of 255 bytes, which is the most, whose numbers are all in the lower half of the universe.
 * Cut in two it would have 259 bytes. The value is full then, and keeps its keys. */
static void check_run_too_long_to_cut(void)
{
    enum {
        LOG_RUNS = 4,
        NRUNS = 1 << LOG_RUNS,
        NNUMBERS = 67
    };
    const uint64_t universe = (uint64_t)1 << (40 - LOG_RUNS);
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = "s",
                                               .seed_len = 1,
                                               .allocator = &allocator};
    uint64_t numbers[NNUMBERS];
    uint8_t bytes[2 + 2 * NRUNS + 255] = {SMALL_NARROW << 4 | 1, LOG_RUNS, NNUMBERS};
    struct unseen_key keys[NNUMBERS + 1];
    uint8_t verdicts[NNUMBERS + 1];
    struct unseen_set *set;
    void *value;
    size_t ndone;
    for (unsigned i = 0; i < NNUMBERS; i++) {
        const uint64_t gap = ((uint64_t)1 << 28) + (i < 30 ? (uint64_t)1 << 29 : 0);
        numbers[i] = gap + (i ? numbers[i - 1] : 0);
        keys[i] = (struct unseen_key){numbers[i] & 0x1ffff, numbers[i] >> 17 << 41};
    }
    const size_t len = unseen__run_len(numbers, NNUMBERS, universe);
    CHECK(len == 255 && unseen__run_len(numbers, NNUMBERS, universe / 2) == 259);
    bytes[2 + NRUNS] = (uint8_t)len;
    unseen__run_encode(bytes + 2 + 2 * NRUNS, len, numbers, NNUMBERS, universe);
    CHECK(unseen_small_load(&value, bytes, sizeof(bytes), &allocator) == UNSEEN_OK);
    keys[NNUMBERS] = (struct unseen_key){0, (universe / 2) >> 17 << 41};
    CHECK(unseen_small_add(&value, keys, NNUMBERS + 1, verdicts, &ndone, &allocator) ==
          UNSEEN_ERR_SPACE);
    CHECK_EQ(ndone, NNUMBERS);
    CHECK_EQ(unseen_small_len(value), sizeof(bytes));
    CHECK(unseen_small_grow(&set, value, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_add_keys(set, keys, NNUMBERS + 1, verdicts, NULL) == UNSEEN_OK);
    for (unsigned i = 0; i <= NNUMBERS; i++) {
        CHECK(verdicts[i] == (i < NNUMBERS ? UNSEEN_SEEN : UNSEEN_NEW));
    }
    unseen_set_free(set);
    unseen_small_free(value, &allocator);
    CHECK_EQ(counting.nlive, 0);
    CHECK_EQ(counting.bytes, 0);
}

/* Keys that are alike in their low bits make a compact filter split while it is small. The bits
 * that the filter has of a key then are more than those of a prefix. */
static void check_crowd(double fpr)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = "s",
                                               .seed_len = 1,
                                               .allocator = &allocator};
    struct unseen_key keys[60];
    uint8_t verdicts[60];
    struct unseen_set *set;
    void *value = NULL;
    size_t ndone;
    uint64_t state = 7;
    CHECK(unseen_small_create(&value, fpr, &allocator) == UNSEEN_OK);
    for (size_t i = 0; i < 60; i++) {
        keys[i] = random_key(&state);
        keys[i].lo = 3;
    }
    CHECK(unseen_small_add(&value, keys, 60, verdicts, &ndone, &allocator) == UNSEEN_OK);
    CHECK(unseen_small_grow(&set, value, &options, NULL) == UNSEEN_OK);
    unseen_set_contains_keys(set, keys, 60, verdicts, NULL);
    for (size_t i = 0; i < 60; i++) {
        CHECK(verdicts[i] == UNSEEN_SEEN);
    }
    unseen_set_free(set);
    unseen_small_free(value, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

/* The same bytes on every machine: their checksums, and one value as it stands in
 * docs/format.md. */
static void check_golden(void)
{
    static const struct {
        double fpr;
        size_t n;
        uint64_t checksum;
    } golden[] = {{0.01, 50, UINT64_C(3737973801317083211)},
                  {0.01, 3000, UINT64_C(8315134152778756955)},
                  {1e-5, 300, UINT64_C(3286648731674692942)},
                  {2e-6, 500, UINT64_C(7441297909896912013)},
                  {0, 700, UINT64_C(11942816057070805272)}};
    for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
        void *value = NULL;
        uint64_t nnew;
        CHECK(unseen_small_create(&value, golden[i].fpr, &allocator) == UNSEEN_OK);
        (void)grow(&value, golden[i].n, 41, &nnew);
        CHECK_EQ(unseen__checksum(value, unseen_small_len(value)), golden[i].checksum);
        unseen_small_free(value, &allocator);
    }
    struct unseen_key keys[500];
    uint8_t buf[1024];
    uint64_t state = 43;
    size_t len = 0;
    for (unsigned i = 0; i < 500; i++) {
        keys[i] = random_key(&state);
    }
    CHECK(unseen_static_build(keys, 60, 0.01, buf, sizeof(buf), &len) == UNSEEN_OK);
    CHECK_EQ(unseen__checksum(buf, len), UINT64_C(2692724758470631068));
    CHECK(unseen_static_build(keys, 500, 0.01, buf, sizeof(buf), &len) == UNSEEN_OK);
    CHECK_EQ(unseen__checksum(buf, len), UINT64_C(3403641812073424883));

    /* Three numbers of 13 bits and their gaps 258, 1, 10592: low bits of 12, then 0, 0 and 2
     * zeros. */
    static const uint64_t numbers[3] = {258, 259, 10851};
    static const uint8_t run[] = {0x02, 0x11, 0x00, 0x60, 0x39, 0x01};
    uint8_t made[sizeof(run) + 1] = {0};
    CHECK_EQ(unseen__run_len(numbers, 3, 12289), sizeof(run));
    unseen__run_encode(made, sizeof(run), numbers, 3, 12289);
    CHECK(memcmp(made, run, sizeof(run)) == 0);
}

/* ---- static sets ---- */

static void check_static(size_t n, double fpr)
{
    struct unseen_key *keys = malloc((n + 1) * sizeof(*keys));
    uint64_t state = 23 + n;
    for (size_t i = 0; i < n; i++) {
        keys[i] = random_key(&state);
    }
    const size_t bound = unseen_static_bound(n, fpr);
    uint8_t *buf = malloc(bound);
    size_t len = 0;
    CHECK(unseen_static_build(keys, n, fpr, buf, bound, &len) == UNSEEN_OK);
    CHECK(len <= bound && len >= 2);
    /* At the end of readable memory, as a block of a file is. */
    char *data = test_guarded(buf, len);
    for (size_t i = 0; i < n; i++) {
        CHECK(unseen_static_contains(data, len, keys[i]));
    }
    const unsigned nasked = 20000;
    unsigned nseen = 0;
    for (unsigned i = 0; i < nasked; i++) {
        nseen += unseen_static_contains(data, len, random_key(&state));
    }
    const double rate = exp2(-ceil(-log2(fpr)));
    CHECK(n == 0 ? nseen == 0 : nseen >= rate * nasked - 4 * sqrt(rate * nasked) - 1);
    CHECK(nseen <= rate * nasked + 4 * sqrt(rate * nasked) + 1);
    /* A buffer that is too small, which is known when all is built. */
    for (size_t cap = 0; cap < len; cap += 1 + len / (n > 5000 ? 2 : 50)) {
        size_t wanted = 0;
        memset(buf, 0xA5, bound);
        CHECK(unseen_static_build(keys, n, fpr, buf, cap, &wanted) == UNSEEN_ERR_SPACE);
        CHECK(wanted == len && buf[cap] == 0xA5);
    }
    /* Damage: any answer, nothing read beyond the bytes. */
    for (unsigned i = 0; i < 300; i++) {
        const size_t at = i < 10 ? i % len : test_random(&state) % len;
        const char was = data[at];
        data[at] = (char)test_random(&state);
        (void)unseen_static_contains(data, len, keys[0]);
        (void)unseen_static_contains(data, len, random_key(&state));
        data[at] = was;
    }
    for (size_t cut = 0; cut < len && cut < 300; cut++) {
        (void)unseen_static_contains(data + len - cut, cut, random_key(&state));
    }
    free(buf);
    free(keys);
}

/* Every number of keys from 0 to two buckets and more, and every number of columns, in a block that
 * a sanitizer guards at both ends. */
static void check_static_sizes(void)
{
    struct unseen_key keys[300];
    uint64_t state = 31;
    for (size_t n = 0; n <= 300; n++) {
        const unsigned ncolumns = 1 + (unsigned)n % 19;
        const double fpr = exp2(-(double)ncolumns);
        uint8_t buf[2048];
        size_t len = 0;
        for (size_t i = 0; i < n; i++) {
            keys[i] = random_key(&state);
        }
        CHECK(unseen_static_bound(n, fpr) <= sizeof(buf));
        CHECK(unseen_static_build(keys, n, fpr, buf, sizeof(buf), &len) == UNSEEN_OK);
        CHECK(len <= unseen_static_bound(n, fpr));
        /* At most 12 rows, and on average 2.5, beyond the keys of a bucket. */
        const size_t nbuckets = buf[0] >> 5;
        CHECK(nbuckets >= 1 && nbuckets <= 5 && (buf[0] & 31) == ncolumns);
        CHECK(len <= 1 + nbuckets + (ncolumns * (n + 15 * nbuckets) + 7) / 8);
        uint8_t *exact = malloc(len);
        memcpy(exact, buf, len);
        for (size_t i = 0; i < n; i++) {
            CHECK(unseen_static_contains(exact, len, keys[i]));
        }
        for (unsigned i = 0; i < 50; i++) {
            (void)unseen_static_contains(exact, len, random_key(&state));
        }
        free(exact);
    }
}

/* Bytes that are not a static set, as the second one shows, let every key pass. */
static void check_no_static_set(void)
{
    uint8_t bytes[200] = {83};
    uint64_t state = 37;
    for (unsigned second = 0; second < 0xa0; second++) {
        bytes[1] = (uint8_t)second;
        for (unsigned i = 0; i < 20; i++) {
            CHECK(unseen_static_contains(bytes, sizeof(bytes), random_key(&state)));
        }
    }
}

static void check_static_sets(void)
{
    check_static_sizes();
    check_no_static_set();
    static const size_t ns[] = {0, 1, 2, 5, 30, 60, 64, 65, 112, 113, 500, 560, 561, 3000, 65536};
    for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
        check_static(ns[i], 0.0084);
        check_static(ns[i], 0.3);
        check_static(ns[i], 1e-6);
    }
    CHECK(unseen_static_bound(UNSEEN_STATIC_KEYS_MAX + 1, 0.01) == 0);
    CHECK(unseen_static_bound(1, 1) == 0 && unseen_static_bound(1, 9e-7) == 0);
    CHECK(unseen_static_bound(1, (double)NAN) == 0);

    /* Versions of one key count once; keys that are not hashes are refused. */
    struct unseen_key same[300];
    uint8_t buf[4096];
    size_t len = 0;
    for (unsigned i = 0; i < 300; i++) {
        same[i] = (struct unseen_key){.lo = i, .hi = 77};
    }
    CHECK(unseen_static_build(same, 300, 0.01, buf, sizeof(buf), &len) == UNSEEN_OK && len <= 6);
    CHECK(unseen_static_contains(buf, len, same[5]));
    for (unsigned i = 0; i < 300; i++) {
        same[i].hi = i;
    }
    CHECK(unseen_static_build(same, 300, 0.01, buf, sizeof(buf), &len) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_static_build(same, 300, 1, buf, sizeof(buf), &len) == UNSEEN_ERR_ARGUMENT);

    /* The promise of the header: 7.4 bits for a key and 2 bytes. */
    struct unseen_key keys[60];
    uint64_t state = 29;
    size_t sum = 0;
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned j = 0; j < 60; j++) {
            keys[j] = random_key(&state);
        }
        CHECK(unseen_static_build(keys, 60, 0.01, buf, sizeof(buf), &len) == UNSEEN_OK);
        sum += len;
    }
    CHECK((double)sum / 200 <= 2 + 60 * 7.4 / 8);
    /* LevelDB's Bloom filter with 10 bits, of the same rate: 76 bytes. */
    sum = 0;
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned j = 0; j < 60; j++) {
            keys[j] = random_key(&state);
        }
        CHECK(unseen_static_build(keys, 60, 0.0084, buf, sizeof(buf), &len) == UNSEEN_OK);
        sum += len;
    }
    CHECK((double)sum / 200 <= 0.75 * 76);
    /* Few keys have few rows, and still a solution. */
    unsigned nbuilt = 0;
    for (unsigned i = 0; i < 100000; i++) {
        for (unsigned j = 0; j < 4; j++) {
            keys[j] = random_key(&state);
        }
        nbuilt += unseen_static_build(keys, 4, 0.0084, buf, sizeof(buf), &len) == UNSEEN_OK;
    }
    CHECK_EQ(nbuilt, 100000);
}

int main(void)
{
    test_start();
    check_runs();
    check_rate_codes();
    check_growth(0.01, 30000, 21824);
    check_growth(1e-5, 30000, 21824);
    check_growth(0.5, 2000, 2000);
    check_growth(2e-6, 10000, 7000);
    check_growth(0, 10000, 7000);
    check_batches(0.01);
    check_batches(2e-6);
    check_batches(0);
    check_rate(0.01, 64, 200, 2000);
    check_rate(0.01, 200, 100, 4000);
    check_rate(0.01, 20000, 2, 100000);
    check_rate(1e-3, 700, 30, 20000);
    check_rate(0.3, 1000, 20, 2000);
    check_bytes();
    check_arguments();
    check_mark(0.01, 0);
    check_mark(0.01, 500);
    check_mark(0, 6000);
    check_nomem(0.01);
    check_nomem(0);
    check_forged(0.01, 0);
    check_forged(0.01, 40);
    check_forged(0.01, 150);
    check_forged(1e-5, 100);
    check_forged(2e-6, 100);
    check_forged(0, 30);
    check_forged_of(0.005, 40, 0, true);
    check_forged_of(0.01, 250, 250, false);
    check_forged_of(1e-6, 150, 1, false);
    check_forged_of(0.005, 250, 250, true);
    check_sized(0.01, 200, 20000);
    check_sized(0.1, 1000, 20000);
    check_sized(0.01, 1025, 20000);
    check_sized(1e-4, 5000, 100000);
    check_sized(2e-6, 200, 100000);
    check_sized(1e-6, 1025, 1000000);
    check_sized(5e-7, 2000, 1000000);
    check_counted(0.005, 0, 40);
    check_counted(0.005, 0, 1000);
    check_counted(0.3, 0, COUNTED_KEYS);
    check_counted(0.005, 1024, COUNTED_KEYS);
    check_counted(1e-5, 300, 900);
    check_counted_order(0.1);
    check_repeats();
    check_removal(2e-6);
    check_removal(0);
    check_run_too_long_to_cut();
    check_crowd(2e-6);
    check_crowd(0);
    check_golden();
    check_static_sets();
    return test_end();
}
