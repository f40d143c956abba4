/* SPDX-License-Identifier: MIT
 *
 * The counting filter against a byte for each of its counters, computed the slow way; against a
 * list of how often each key was added; and its rate against the formula.
 *
 * Label: kernels */
#include "set_check.h"

#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "bits/counting.h"
#include "filter/filter.h"
#include "set/set.h"

static struct unseen_key key_of(uint64_t i)
{
    struct unseen_key key;
    uint64_t state = i * 2;
    key.lo = test_random(&state);
    key.hi = test_random(&state);
    return key;
}

static struct unseen_set *fresh_at(enum unseen_cpu cpu, uint64_t capacity, double fpr,
                                   unsigned threads, const struct unseen_allocator *allocator)
{
    static const uint8_t seed[8] = {1};
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = "counting",
                                               .capacity = capacity,
                                               .fpr = fpr,
                                               .seed = seed,
                                               .seed_len = sizeof(seed),
                                               .threads = threads,
                                               .cpu = cpu,
                                               .allocator = allocator};
    struct unseen_set *set = NULL;
    return unseen_set_create(&set, &options, NULL) == UNSEEN_OK ? set : NULL;
}

static struct unseen_set *fresh(uint64_t capacity, double fpr)
{
    return fresh_at(test_cpu, capacity, fpr, 1, NULL);
}

static uint8_t one(enum unseen_status (*operation)(struct unseen_set *set,
                                                   const struct unseen_key *keys, size_t n,
                                                   uint8_t *verdicts, size_t *ndone_out),
                   struct unseen_set *set, struct unseen_key key)
{
    uint8_t verdict = 9;
    CHECK_EQ(operation(set, &key, 1, &verdict, NULL), UNSEEN_OK);
    return verdict;
}

static uint8_t add(struct unseen_set *set, uint64_t i)
{
    const struct unseen_key key = key_of(i);
    uint8_t verdict = 9;
    CHECK_EQ(unseen_set_add_keys(set, &key, 1, &verdict, NULL), UNSEEN_OK);
    return verdict;
}

static uint8_t take(struct unseen_set *set, uint64_t i)
{
    return one(unseen_set_remove_keys, set, key_of(i));
}

static uint8_t ask(const struct unseen_set *set, uint64_t i)
{
    const struct unseen_key key = key_of(i);
    uint8_t verdict = 9;
    CHECK_EQ(unseen_set_contains_keys(set, &key, 1, &verdict, NULL), UNSEEN_OK);
    return verdict;
}

static struct unseen_set_stats stats_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK_EQ(unseen_set_stats(set, &stats), UNSEEN_OK);
    return stats;
}

/* ---- the model ---- */

/* A counter is a byte; places as counting.h describes them, without its code. */
struct model {
    uint8_t *counters;
    uint64_t nblocks;
    unsigned k;
    bool is_wide;
};

static unsigned places_of(const struct model *m, struct unseen_key key, size_t *places)
{
    static const uint32_t multipliers[16] = {BLOCKS_MULTIPLIERS};
    const size_t cells = m->is_wide ? 256 : 128;
    const size_t block = (size_t)mul_high(key.hi, m->nblocks);
    unsigned n = 0;
    for (unsigned i = 0; i < m->k; i++) {
        const uint32_t h = (uint32_t)key.lo * multipliers[i] + (uint32_t)(key.lo >> 32);
        const size_t place = block * cells + (h >> 25) + (m->is_wide && i % 2 ? 128 : 0);
        bool is_new = true;
        for (unsigned j = 0; j < n; j++) {
            is_new = is_new && places[j] != place;
        }
        if (is_new) {
            places[n++] = place;
        }
    }
    return n;
}

enum action {
    ADD,
    ASK,
    TAKE
};

static uint8_t model_do(struct model *m, enum action action, struct unseen_key key)
{
    size_t places[16];
    const unsigned n = places_of(m, key, places);
    bool seen = true;
    for (unsigned i = 0; i < n; i++) {
        seen = seen && m->counters[places[i]] > 0;
    }
    for (unsigned i = 0; i < n; i++) {
        uint8_t *counter = &m->counters[places[i]];
        if (action == ADD && *counter < 15) {
            ++*counter;
        } else if (action == TAKE && seen && *counter < 15) {
            --*counter;
        }
    }
    return seen ? UNSEEN_SEEN : UNSEEN_NEW;
}

/* Counters as the filter has them. */
static size_t count_differences(const struct unseen__filter *filter, const struct model *m)
{
    const struct blocks *c = (const struct blocks *)(const void *)filter;
    const size_t ncells = (size_t)m->nblocks * (m->is_wide ? 256 : 128);
    size_t wrong = 0;
    uint64_t nset = 0;
    for (size_t i = 0; i < ncells; i++) {
        wrong += (c->bytes[i / 2] >> i % 2 * 4 & 15) != m->counters[i];
        nset += m->counters[i] > 0;
    }
    return wrong + (nset != c->nset);
}

/* Batches of random length over few keys, so that counters fill up, against the model. */
static void test_model(double fpr, uint64_t capacity, uint64_t nkeys)
{
    const struct unseen__filter_ops *ops = unseen__filter_find("counting", false);
    struct unseen__filter *filter = NULL;
    const struct unseen__filter_params params = {
        .fpr = fpr, .capacity = capacity, .cpu = test_cpu, .allocator = unseen__allocator(NULL)};
    CHECK_EQ(ops->create(&filter, &params), UNSEEN_OK);
    const struct blocks *c = (const struct blocks *)(const void *)filter;
    struct model m = {.nblocks = c->nblocks, .k = c->k, .is_wide = c->two_lines};
    m.counters = calloc((size_t)m.nblocks * 256, 1);
    uint64_t state = 5;
    size_t wrong = 0;
    for (uint64_t round = 0; round < 3000 * test_scale(); round++) {
        struct unseen_key keys[100];
        uint8_t verdicts[100];
        const size_t n = test_random(&state) % 100;
        const enum action action = test_random(&state) % 16 < 7   ? ADD
                                   : test_random(&state) % 4 == 0 ? ASK
                                                                  : TAKE;
        for (size_t i = 0; i < n; i++) {
            keys[i] = key_of(test_random(&state) % nkeys);
        }
        size_t ndone = n;
        if (action == ADD) {
            CHECK_EQ(ops->add(filter, keys, n, verdicts, &ndone), UNSEEN_OK);
        } else if (action == ASK) {
            ops->contains(filter, keys, n, verdicts);
        } else {
            ops->remove(filter, keys, n, verdicts);
        }
        CHECK_EQ(ndone, n);
        for (size_t i = 0; i < n; i++) {
            wrong += model_do(&m, action, keys[i]) != verdicts[i];
        }
        if (round % 500 == 499) {
            wrong += count_differences(filter, &m);
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(count_differences(filter, &m), 0);
    /* A planted fault is noticed. */
    m.counters[3] ^= 1;
    CHECK(count_differences(filter, &m) > 0);
    ops->free(filter);
    free(m.counters);
}

/* ---- a bag ---- */

/* As many removes as adds, in any order: nothing that is left is ever denied, and at the end there
 * is nothing. */
static void test_bag(double fpr)
{
    enum {
        N = 5000
    };
    static uint8_t times[N];
    struct unseen_set *set = fresh(N, fpr);
    uint64_t state = 6;
    memset(times, 0, sizeof(times));
    for (int round = 0; round < 60000; round++) {
        const uint64_t i = test_random(&state) % N;
        if (test_random(&state) % 2 && times[i] < 4) {
            const uint8_t verdict = add(set, i);
            CHECK(!times[i] || verdict == UNSEEN_SEEN);
            times[i]++;
        } else if (times[i] > 0) {
            CHECK_EQ(take(set, i), UNSEEN_SEEN);
            times[i]--;
        }
    }
    for (uint64_t i = 0; i < N; i++) {
        CHECK(!times[i] || ask(set, i) == UNSEEN_SEEN);
    }
    for (uint64_t i = 0; i < N; i++) {
        for (; times[i] > 0; times[i]--) {
            CHECK_EQ(take(set, i), UNSEEN_SEEN);
        }
    }
    /* But for the counters that got full. */
    const struct blocks *c = (const struct blocks *)(const void *)set->shards[0].filter;
    uint64_t nfull = 0;
    for (size_t i = 0; i < c->array.nlines * UNSEEN__LINE; i++) {
        const unsigned low = c->bytes[i] & 15;
        const unsigned high = c->bytes[i] >> 4;
        CHECK((low == 0 || low == 15) && (high == 0 || high == 15));
        nfull += (uint64_t)(low == 15) + (high == 15);
    }
    CHECK_EQ(c->nset, nfull);
    CHECK(nfull < 20);
    unseen_set_free(set);
}

static void test_absent_and_full(void)
{
    enum {
        N = 10000
    };
    struct unseen_set *set = fresh(N, 1e-3);
    for (uint64_t i = 0; i < N; i++) {
        (void)add(set, i);
    }
    struct unseen_set *copy = fresh(N, 1e-3);
    for (uint64_t i = 0; i < N; i++) {
        (void)add(copy, i);
    }
    /* What was never added and shows it is refused, and nothing has changed. */
    uint64_t nrefused = 0;
    for (uint64_t i = N; i < 2 * N; i++) {
        if (ask(set, i) == UNSEEN_NEW) {
            CHECK_EQ(take(set, i), UNSEEN_NEW);
            nrefused++;
        }
    }
    CHECK(nrefused > N - 40);
    CHECK(test_same_export(set, copy));
    unseen_set_free(copy);
    /* Counts: never less than what was added. */
    const struct unseen_key x = unseen_set_identity_key(set, "x", 1);
    uint64_t times = 0;
    for (unsigned n = 1; n <= 14; n++) {
        CHECK_EQ(test_set_add(set, "x", 1, &(enum unseen_verdict){0}), UNSEEN_OK);
        CHECK_EQ(unseen_set_count_keys(set, &x, 1, &times), UNSEEN_OK);
        CHECK(times >= n && times <= n + 3);
    }
    for (int n = 0; n < 20; n++) {
        CHECK_EQ(test_set_add(set, "x", 1, &(enum unseen_verdict){0}), UNSEEN_OK);
    }
    CHECK_EQ(unseen_set_count_keys(set, &x, 1, &times), UNSEEN_OK);
    CHECK_EQ(times, UNSEEN_COUNT_MAX);
    /* Full counters stay: the key cannot be removed any more. */
    for (int n = 0; n < 40; n++) {
        enum unseen_verdict verdict = UNSEEN_NEW;
        CHECK_EQ(test_set_remove(set, "x", 1, &verdict), UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
    }
    CHECK_EQ(unseen_set_count_keys(set, &x, 1, &times), UNSEEN_OK);
    CHECK_EQ(times, UNSEEN_COUNT_MAX);
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(ask(set, i), UNSEEN_SEEN);
    }
    unseen_set_free(set);
    CHECK_EQ(unseen_set_create(&set, NULL, NULL), UNSEEN_OK);
    CHECK_EQ(unseen_set_count_keys(set, &x, 1, &times), UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
}

/* ---- rates ---- */

/* The rate at 10, 50, 100 and 200 % of the load, within 3 sigma of the formula; and the promise. */
static void test_rate(double fpr, uint64_t capacity)
{
    static const double loads[] = {0.1, 0.5, 1, 2};
    struct unseen_plan plan = {
        .size = sizeof(plan), .filter = "counting", .fpr = fpr, .capacity = capacity};
    CHECK_EQ(unseen_plan(&plan), UNSEEN_OK);
    CHECK(unseen_plan_rate(&plan, (double)capacity) <= fpr * 1.001);
    struct unseen_set *set = fresh(capacity, fpr);
    uint64_t nkeys = 0;
    for (int at = 0; at < 4; at++) {
        uint8_t verdicts[512];
        struct unseen_key keys[512];
        while (nkeys < (uint64_t)((double)capacity * loads[at])) {
            for (int i = 0; i < 500; i++) {
                keys[i] = key_of(nkeys++);
            }
            CHECK_EQ(unseen_set_add_keys(set, keys, 500, verdicts, NULL), UNSEEN_OK);
        }
        const uint64_t nquestions = 1000000;
        uint64_t wrong = 0;
        for (uint64_t q = 0; q < nquestions; q += 500) {
            for (uint64_t i = 0; i < 500; i++) {
                keys[i] = key_of((uint64_t)1 << 40 | (q + i));
            }
            CHECK_EQ(unseen_set_contains_keys(set, keys, 500, verdicts, NULL), UNSEEN_OK);
            for (int i = 0; i < 500; i++) {
                wrong += verdicts[i] == UNSEEN_SEEN;
            }
        }
        const double expected = unseen_plan_rate(&plan, (double)nkeys) * (double)nquestions;
        const double sigma = sqrt(expected);
        CHECK(fabs((double)wrong - expected) <= 3 * sigma + 1);
        const double estimate = stats_of(set).fpr_estimate * (double)nquestions;
        CHECK(fabs((double)wrong - estimate) <= 4 * sigma + 1);
        CHECK(fabs(stats_of(set).nkeys_estimate / (double)nkeys - 1) < 0.02);
        printf("fpr %g, %llu keys (%3.0f %%): %llu wrong of 10^6, formula %.1f\n", fpr,
               (unsigned long long)nkeys, loads[at] * 100, (unsigned long long)wrong, expected);
    }
    unseen_set_free(set);
}

/* ---- whole sets ---- */

static void fill(struct unseen_set *set, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        (void)add(set, i);
    }
}

static void test_merge(void)
{
    struct unseen_set *a = fresh(20000, 1e-3);
    struct unseen_set *b = fresh_at(test_cpu, 20000, 1e-3, 4, NULL);
    struct unseen_set *both = fresh(20000, 1e-3);
    fill(a, 0, 10000);
    fill(b, 5000, 15000);
    for (int i = 0; i < 10; i++) {
        fill(a, 3, 4);
        fill(b, 3, 4);
        fill(both, 3, 4);
        fill(both, 3, 4);
    }
    fill(both, 0, 10000);
    fill(both, 5000, 15000);
    CHECK_EQ(unseen_set_merge(a, b, NULL, NULL), UNSEEN_OK);
    CHECK(fabs((double)stats_of(a).nkeys / (double)stats_of(both).nkeys - 1) < 0.05);
    for (uint64_t i = 0; i < 15000; i++) {
        CHECK_EQ(ask(a, i), UNSEEN_SEEN);
        CHECK_EQ(take(a, i), take(both, i));
    }
    struct unseen_set *other = fresh(30000, 1e-3);
    CHECK_EQ(unseen_set_merge(a, other, NULL, NULL), UNSEEN_ERR_MISMATCH);
    unseen_set_free(other);
    unseen_set_free(both);
    unseen_set_free(b);
    unseen_set_free(a);
}

/* Each pair of counters in an even and in an odd place: the sum, or 15 where it is more. */
static void test_sums(void)
{
    enum {
        NPAIRS = 256
    };
    struct unseen_set *a = fresh(20000, 1e-3);
    struct unseen_set *b = fresh(20000, 1e-3);
    const struct blocks *x = (const struct blocks *)(const void *)a->shards[0].filter;
    const struct blocks *y = (const struct blocks *)(const void *)b->shards[0].filter;
    for (unsigned i = 0; i < 2 * NPAIRS; i++) {
        const unsigned pair = (i + i / NPAIRS) % NPAIRS;
        x->bytes[i / 2] |= (uint8_t)(pair / 16 << i % 2 * 4);
        y->bytes[i / 2] |= (uint8_t)(pair % 16 << i % 2 * 4);
    }
    CHECK_EQ(unseen_set_merge(a, b, NULL, NULL), UNSEEN_OK);
    for (unsigned i = 0; i < 2 * NPAIRS; i++) {
        const unsigned pair = (i + i / NPAIRS) % NPAIRS;
        const unsigned sum = pair / 16 + pair % 16;
        CHECK_EQ(x->bytes[i / 2] >> i % 2 * 4 & 15, sum < 15 ? sum : 15);
        CHECK_EQ(y->bytes[i / 2] >> i % 2 * 4 & 15, pair % 16);
    }
    CHECK_EQ(x->nset, 2 * NPAIRS - 2);
    unseen_set_free(b);
    unseen_set_free(a);
}

static void test_chunks(double fpr)
{
    struct unseen_set *set = fresh(20000, fpr);
    fill(set, 0, 20000);
    struct test_image image = test_export(set);
    for (unsigned threads = 1; threads <= 8; threads *= 8) {
        struct unseen_set *back = test_import_set(&image, threads);
        CHECK(back != NULL);
        CHECK(threads > 1 || test_same_export(set, back));
        for (uint64_t i = 0; back && i < 20000; i++) {
            CHECK_EQ(ask(back, i), UNSEEN_SEEN);
        }
        CHECK(stats_of(back).nkeys == stats_of(set).nkeys && stats_of(back).fill > 0.1);
        unseen_set_free(back);
    }
    /* Some bits of the parameters, right checksums: the set's own checks. */
    test_flips_refused(&image, 97, 4);
    test_image_free(&image);
    unseen_set_free(set);
}

/* Every level leaves the same bytes. */
static void test_levels(double fpr)
{
    struct unseen_set *a = fresh(3000, fpr);
    struct unseen_set *b = fresh_at(UNSEEN_CPU_PORTABLE, 3000, fpr, 1, NULL);
    uint64_t state = 9;
    for (int i = 0; i < 40000; i++) {
        const uint64_t key = test_random(&state) % 1500;
        if (test_random(&state) % 2) {
            CHECK_EQ(add(a, key), add(b, key));
        } else {
            CHECK_EQ(take(a, key), take(b, key));
        }
    }
    CHECK(test_same_export(a, b));
    unseen_set_free(a);
    unseen_set_free(b);
}

static void test_errors(void)
{
    struct unseen_set *set = NULL;
    struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .filter = "counting"};
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_ERR_ARGUMENT);
    options.capacity = 1000;
    options.fpr = 1e-9;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_ERR_FPR);
    options.fpr = 1e-3;
    options.capacity = UINT64_MAX;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_ERR_NOMEM);
    for (unsigned long fail_at = 1;; fail_at++) {
        struct test_allocator counter = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
        set = fresh_at(test_cpu, 100000, 1e-3, 2, &allocator);
        const bool done = set != NULL;
        CHECK(done || counter.nallocs >= fail_at);
        if (done) {
            fill(set, 0, 1000);
            CHECK_EQ(stats_of(set).memory > counter.bytes / 2, 1);
        }
        unseen_set_free(set);
        CHECK_EQ(counter.nlive, 0);
        if (done) {
            CHECK(fail_at > 3);
            break;
        }
    }
}

int main(void)
{
    test_start();
    test_model(1e-2, 2000, 1500);
    test_model(1e-4, 2000, 1500);
    test_model(1e-4, 1, 20);
    test_bag(1e-2);
    test_bag(1e-4);
    test_absent_and_full();
    test_rate(1e-2, 100000 * (test_scale() > 1 ? 100 : 1));
    test_rate(1e-4, 100000 * (test_scale() > 1 ? 100 : 1));
    test_merge();
    test_sums();
    test_chunks(1e-2);
    test_chunks(1e-5);
    test_levels(1e-2);
    test_levels(1e-4);
    test_errors();
    return test_end();
}
