/* SPDX-License-Identifier: MIT
 *
 * The filter "layered", from empty and with a capacity, and small sets that grow into sets. Keys that
 * were added stay, the rate stays below the promise while the set grows past its first part, and
 * exports come back byte for byte. */
#include "filter_check.h"

#include <math.h>
#include <unseen_replica.h>
#include <unseen_small.h>

static struct unseen_key key_of(uint64_t i)
{
    return test_key(i);
}

static void add_small(void **value, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict;
        CHECK(unseen_small_add(value, &key, 1, &verdict, NULL, &filter_allocator) == UNSEEN_OK);
    }
}

/* A set from a small set has all its keys, and goes on: at each size the rate is what is estimated,
 * and below the promise. */
static void check_grow(double fpr, uint64_t nsmall, uint64_t nkeys, unsigned threads)
{
    const struct unseen_set_options options = filter_options("exact", 0, 77, threads);
    struct unseen_set *set = NULL;
    struct unseen_set *copy = NULL;
    void *value = NULL;
    CHECK(unseen_small_create(&value, fpr, &filter_allocator) == UNSEEN_OK);
    add_small(&value, 0, nsmall);
    struct unseen_error error = {0};
    if (!CHECK(unseen_small_grow(&set, value, &options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%g: %s\n", fpr, error.text);
        exit(2);
    }
    struct unseen_small_stats small = {.size = sizeof(small)};
    CHECK(unseen_small_stats(value, &small) == UNSEEN_OK);
    unseen_small_free(value, &filter_allocator);
    CHECK_EQ(filter_stats(set).nkeys, small.nkeys);
    CHECK(strcmp(filter_stats(set).filter, fpr < 1e-5 ? "compact" : "layered") == 0);
    for (uint64_t n = nsmall; n < nkeys; n *= 2) {
        const uint64_t nseen = filter_seen(set, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 200000);
        const double estimate = filter_stats(set).fpr_estimate * 200000;
        CHECK(fabs((double)nseen - estimate) <= 4 * sqrt(estimate) + 2);
        CHECK((double)nseen <= 200000 * fpr + 4 * sqrt(200000 * fpr));
        CHECK(filter_stats(set).fpr_promise <= fpr && filter_stats(set).fpr_estimate <= fpr);
        (void)filter_add(set, n, 2 * n);
        CHECK_EQ(filter_seen(set, 0, 2 * n), 2 * n);
    }
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK);
    CHECK_EQ(unseen_set_digest(copy), unseen_set_digest(set));
    unseen_set_free(copy);
    filter_end(set);
}

/* A compact set of prefixes is the set of the keys. */
static void check_replay(double fpr, uint64_t n)
{
    struct unseen_set_options options = filter_options(NULL, fpr, 0, 1);
    struct unseen_set *grown = NULL;
    struct unseen_set *direct = filter_make(&options);
    void *value = NULL;
    CHECK(unseen_small_create(&value, fpr, &filter_allocator) == UNSEEN_OK);
    add_small(&value, 0, n);
    CHECK(unseen_small_grow(&grown, value, &options, NULL) == UNSEEN_OK);
    /* The same keys, whole, in the order of the prefixes. */
    struct unseen_key *keys = malloc(n * sizeof(*keys));
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_key key = key_of(i);
        uint64_t at = i;
        for (; at > 0 && keys[at - 1].hi > key.hi; at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint8_t verdict;
        CHECK(unseen_set_add_keys(direct, &keys[i], 1, &verdict, NULL) == UNSEEN_OK);
    }
    free(keys);
    CHECK_EQ(unseen_set_digest(grown), unseen_set_digest(direct));
    CHECK_EQ(filter_add(grown, 0, 4 * n) + n, 4 * n);
    CHECK_EQ(filter_seen(grown, 0, 4 * n), 4 * n);
    unseen_small_free(value, &filter_allocator);
    unseen_set_free(grown);
    filter_end(direct);
}

static void check_errors(void)
{
    static const uint8_t seed[UNSEEN_SMALL_SEED_LEN] = "0123456789abcdef";
    struct unseen_set_options options = filter_options(NULL, 0, 0, 4);
    struct unseen_error error;
    struct unseen_set *set = NULL;
    void *value = NULL;
    CHECK(unseen_small_create(&value, 0, &filter_allocator) == UNSEEN_OK);
    CHECK(unseen_small_grow(&set, value, &options, &error) == UNSEEN_ERR_UNSUPPORTED);
    options.threads = 1;
    options.seed = NULL;
    options.seed_len = 0;
    CHECK(unseen_small_grow(&set, value, &options, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(error.setting == UNSEEN_SETTING_SEED);
    /* The seed that the value keeps. */
    CHECK(unseen_small_keep_seed(&value, seed, &filter_allocator) == UNSEEN_OK);
    CHECK(unseen_small_grow(&set, value, &options, &error) == UNSEEN_OK);
    options.seed = seed;
    options.seed_len = sizeof(seed);
    struct unseen_set *same = filter_make(&options);
    const struct unseen_key a = unseen_set_identity_key(set, "x", 1);
    const struct unseen_key b = unseen_set_identity_key(same, "x", 1);
    CHECK(a.lo == b.lo && a.hi == b.hi);
    unseen_set_free(same);
    unseen_set_free(set);
    unseen_small_free(value, &filter_allocator);

    options = filter_options("layered", 9e-6, 0, 1);
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_FPR);
    CHECK_EQ(filter_counting.nlive, 0);
    /* It is found by its name, but not among the names to choose from. */
    const char *name;
    for (size_t i = 0; (name = unseen_filter_name(i)) != NULL; i++) {
        CHECK(strcmp(name, "layered") != 0);
    }
}

/* Each allocation of a growth fails once. */
static void check_nomem(double fpr, uint64_t n)
{
    const struct unseen_set_options options = filter_options(NULL, 0, 0, 1);
    struct unseen_set *set = NULL;
    void *value = NULL;
    CHECK(unseen_small_create(&value, fpr, &filter_allocator) == UNSEEN_OK);
    add_small(&value, 0, n);
    const long nlive = filter_counting.nlive;
    for (unsigned long fail_at = 1; !set && fail_at < 100; fail_at++) {
        filter_counting.nallocs = 0;
        filter_counting.fail_at = fail_at;
        const enum unseen_status status = unseen_small_grow(&set, value, &options, NULL);
        filter_counting.fail_at = 0;
        CHECK(status == (set ? UNSEEN_OK : UNSEEN_ERR_NOMEM));
        CHECK(set || filter_counting.nlive == nlive);
    }
    CHECK(set && filter_seen(set, 0, n) == n);
    unseen_small_free(value, &filter_allocator);
    filter_end(set);
}

int main(void)
{
    test_start();
    check_grow(0.01, 20000, 200000, 1);
    check_grow(1e-3, 30, 100000, 3);
    check_grow(1e-5, 21000, 100000, 1);
    check_grow(2e-6, 6000, 50000, 1);
    check_replay(2e-6, 6900);
    check_replay(0, 6900);
    check_replay(0, 100);
    check_errors();
    check_nomem(0.01, 500);
    check_nomem(0, 500);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        filter_check_round("layered", 0, 100, threads, 1, 128);
        filter_check_round("layered", 0, 40000, threads, 4, 128);
        filter_check_round("layered", 30000, 20000, threads, 1, 64);
        filter_check_nomem("layered", 0, 30000, threads);
        filter_check_nomem("layered", 20000, 30000, threads);
    }
    filter_check_order("layered", 0, 50000);
    filter_check_order("layered", 100000, 150000);
    filter_check_lies("layered", 0, 25000, 250);
    filter_check_lies("layered", 5000, 10000, 250);
    return test_end();
}
