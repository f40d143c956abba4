/* SPDX-License-Identifier: MIT
 *
 * The filter "chain", from empty and with a capacity, and small sets that grow into sets. Keys
 * that were added stay, the rate stays below the promise while the set grows past its first part,
 * and exports come back byte for byte. */
#include "filter_check.h"

#include <math.h>
#include <unseen.h>
#include <unseen_small.h>

#include "base/bytes.h"
#include "set/chain.h"
#include "set/set.h"

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
static void check_grow_of(double fpr, uint64_t capacity, uint64_t nsmall, uint64_t nkeys,
                          unsigned threads)
{
    const struct unseen_small_options with = {
        .size = sizeof(with), .fpr = fpr, .capacity = capacity, .allocator = &filter_allocator};
    const struct unseen_set_options options = filter_options("exact", 0, 77, threads);
    struct unseen_set *set = NULL;
    struct unseen_set *copy = NULL;
    void *value = NULL;
    CHECK(unseen_small_create_with(&value, &with) == UNSEEN_OK);
    CHECK(unseen_small_set_mark(&value, 9, &filter_allocator) == UNSEEN_OK); /* left behind */
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
    CHECK(strcmp(filter_stats(set).filter, fpr < 1e-5 && !capacity ? "compact" : "chain") == 0);
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

static void check_grow(double fpr, uint64_t nsmall, uint64_t nkeys, unsigned threads)
{
    check_grow_of(fpr, 0, nsmall, nkeys, threads);
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

/* A set that counts, of prefixes: each key was added once, and is removed by one removal. */
static void check_counts(double fpr, uint64_t n)
{
    struct unseen_set_options options = filter_options("compact", fpr, 0, 1);
    options.counts = true;
    struct unseen_set *set = NULL;
    void *value = NULL;
    CHECK(unseen_small_create(&value, fpr, &filter_allocator) == UNSEEN_OK);
    CHECK(unseen_small_set_mark(&value, 1, &filter_allocator) == UNSEEN_OK);
    add_small(&value, 0, n);
    CHECK(unseen_small_grow(&set, value, &options, NULL) == UNSEEN_OK);
    CHECK(strcmp(filter_stats(set).filter, "compact") == 0 && filter_stats(set).counts);
    CHECK_EQ(filter_stats(set).nkeys, n);
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_key key = key_of(i);
        uint64_t count = 0;
        uint8_t verdict;
        for (uint64_t k = 0; k < i % 9; k++) {
            CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
        CHECK(unseen_set_count_keys(set, &key, 1, &count) == UNSEEN_OK);
        CHECK_EQ(count, 1 + i % 9);
    }
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict;
        for (uint64_t k = 0; k < 1 + i % 9; k++) {
            CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK(verdict == UNSEEN_SEEN);
        }
    }
    CHECK_EQ(filter_stats(set).nkeys, 0);
    CHECK_EQ(filter_seen(set, 0, n), 0);
    unseen_small_free(value, &filter_allocator);
    filter_end(set);
}

static void check_errors(void)
{
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
    CHECK(unseen_small_grow(&set, value, NULL, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(error.setting == UNSEEN_SETTING_SEED);
    unseen_small_free(value, &filter_allocator);

    options = filter_options("chain", 4e-7, 0, 1);
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_FPR);
    options = filter_options("chain", 9e-6, 5000, 1);
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_FPR);
    CHECK_EQ(filter_counting.nlive, 0);
    /* It is found by its name, but not among the names to choose from. */
    const char *name;
    for (size_t i = 0; (name = unseen_filter_name(i)) != NULL; i++) {
        CHECK(strcmp(name, "chain") != 0);
    }
}

/* The block filter of a sized set leaves its share of the rate to the compact set behind it: it is
 * as large as one for the rest of the rate. */
static void check_sized_rate(double fpr)
{
    const struct unseen_set_options options = filter_options("chain", fpr, 50000, 1);
    struct unseen_plan plan = {
        .size = sizeof(plan), .filter = "block", .capacity = 50000, .fpr = fpr - 1.5e-6};
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    struct unseen_set *set = filter_make(&options);
    CHECK(filter_stats(set).memory >= plan.bits / 8);
    CHECK(filter_stats(set).memory <= plan.bits / 8 + 2048);
    (void)filter_add(set, 0, 100000);
    CHECK(filter_stats(set).fpr_estimate <= fpr);
    filter_end(set);
}

/* Loads the pieces of a set into a new filter; those of this part say `more` keys more. */
static enum unseen_status load_lying(const struct unseen_set *set, unsigned part, uint64_t more)
{
    const struct unseen__filter *from = set->shards[0].filter;
    uint8_t params[UNSEEN__PARAMS_LEN] = {0};
    static uint8_t piece[UNSEEN_CHUNK_MAX];
    struct unseen__filter *to = NULL;
    unseen__chain_ops.save_params(from, params);
    const struct unseen__filter_params given = {.cpu = UNSEEN_CPU_PORTABLE,
                                                .allocator = filter_allocator,
                                                .saved = params,
                                                .saved_nkeys = filter_stats(set).nkeys,
                                                .saved_max = UINT64_C(1) << 30};
    enum unseen_status status = unseen__chain_ops.create(&to, &given);
    uint64_t position = 0;
    for (size_t len; status == UNSEEN_OK &&
                     (len = unseen__chain_ops.save_piece(from, &position, piece)) != 0;) {
        store_le64(piece + 16, load_le64(piece + 16) + (piece[1] == part ? more : 0));
        status = unseen__chain_ops.load_piece(to, piece, len);
    }
    status = status == UNSEEN_OK ? unseen__chain_ops.load_finish(to) : status;
    unseen__chain_ops.free(to);
    return status;
}

/* A part that has fewer keys than its pieces say is refused when the load ends. */
static void check_counts_of_parts(void)
{
    const struct unseen_set_options options = filter_options("chain", 0.01, 1000, 1);
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, 5000);
    CHECK(load_lying(set, 2, 0) == UNSEEN_OK);
    CHECK(load_lying(set, 2, 1) == UNSEEN_ERR_CORRUPT);
    filter_end(set);
}

static enum unseen_status add_one(struct unseen_set *set, uint64_t i, uint8_t *verdict_out)
{
    const struct unseen_key key = key_of(i);
    return unseen_set_add_keys(set, &key, 1, verdict_out, NULL);
}

/* A set at `fpr` that has grown out of a full small set, in a server that reserved `unit` keys. */
static struct unseen_set *grown(double fpr, uint64_t unit, uint64_t nkeys)
{
    const struct unseen_set_options options = filter_options(NULL, 0, unit, 1);
    struct unseen_set *set = NULL;
    void *value = NULL;
    CHECK(unseen_small_create(&value, fpr, &filter_allocator) == UNSEEN_OK);
    add_small(&value, 0, 21000);
    CHECK(unseen_small_grow(&set, value, &options, NULL) == UNSEEN_OK);
    unseen_small_free(value, &filter_allocator);
    (void)filter_add(set, 21000, nkeys);
    return set;
}

/* The bits of a key in RedisBloom's chain: links double, and each has half of the rate before. */
static double bits_in_peer(double fpr, double unit, double nkeys)
{
    double bits = 0;
    double room = 0;
    for (; room < nkeys; room += unit, unit *= 2) {
        fpr /= 2;
        bits += unit * -log(fpr) / (log(2) * log(2));
    }
    return bits / nkeys;
}

/* A chain: at each size it has fewer bits for a key than the chain it is compared with, no key is
 * lost, and the rate holds. Just before a link is needed is where that is hardest. */
static void check_chain(double fpr, uint64_t unit)
{
    struct unseen_set *set = grown(fpr, unit, 23000);
    uint64_t done = 23000;
    for (double n = 23000; n < 900000; n *= 1.07) {
        const uint64_t to = (uint64_t)n;
        (void)filter_add(set, done, to);
        done = to;
        const double bits = 8 * (double)filter_stats(set).memory / (double)done;
        CHECK(bits < bits_in_peer(fpr, (double)unit, (double)filter_stats(set).nkeys));
        CHECK(filter_stats(set).fpr_estimate <= fpr);
    }
    CHECK_EQ(filter_seen(set, 0, done), done);
    const double wrong = (double)filter_seen(set, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 400000);
    const double expected = 400000 * filter_stats(set).fpr_estimate;
    CHECK(fabs(wrong - expected) <= 5 * sqrt(expected));
    filter_end(set);
}

/* From which rate on a chain is behind the small set. */
static void check_choice(void)
{
    static const struct {
        double fpr;
        bool has_chain;
    } rates[] = {{0.3, true}, {1e-3, true}, {9e-4, false}, {8.3e-4, false}, {1e-4, false}};
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        struct unseen_set *set = grown(rates[i].fpr, 100, rates[i].fpr > 0.1 ? 60000 : 25400);
        static uint8_t piece[UNSEEN_CHUNK_MAX];
        const struct unseen__filter *filter = set->shards[0].filter;
        uint64_t position = 0;
        unsigned last = 0;
        while (unseen__chain_ops.save_piece(filter, &position, piece) != 0) {
            last = piece[1];
        }
        CHECK((last >= 3) == rates[i].has_chain);
        CHECK(filter_stats(set).fpr_promise <= rates[i].fpr);
        CHECK(filter_stats(set).fpr_promise >= rates[i].fpr * 0.85);
        filter_end(set);
    }
}

/* No memory for a link, when it would be cleared and when it is needed: nothing is lost, and the
 * digest, which a replica has, is that of a set that had the memory. */
static void check_link_nomem(void)
{
    struct unseen_set *set = grown(0.01, 100, 23000);
    struct unseen_set *same = grown(0.01, 100, 23000);
    uint64_t n = 23000;
    uint64_t nrefused = 0;
    uint8_t verdict;
    for (; n < 60000; n++) {
        const uint64_t digest = unseen_set_digest(set);
        const bool is_checked = n % 1000 == 0;
        filter_counting.nallocs = 0;
        filter_counting.fail_at = 1;
        const enum unseen_status status = add_one(set, n, &verdict);
        filter_counting.fail_at = 0;
        if (status != UNSEEN_OK) {
            CHECK(status == UNSEEN_ERR_NOMEM && unseen_set_digest(set) == digest);
            CHECK(add_one(set, 0, &verdict) == UNSEEN_OK && verdict == UNSEEN_SEEN);
            CHECK(unseen_set_digest(set) == digest);
            CHECK(add_one(set, n, &verdict) == UNSEEN_OK && verdict == UNSEEN_NEW);
            nrefused++;
        }
        CHECK(add_one(same, n, &verdict) == UNSEEN_OK);
        CHECK(!is_checked || unseen_set_digest(set) == unseen_set_digest(same));
    }
    CHECK_EQ(nrefused, 2); /* the links for 51,100 and for 102,300 keys */
    CHECK_EQ(unseen_set_digest(set), unseen_set_digest(same));
    CHECK_EQ(filter_seen(set, 0, n), n);
    unseen_set_free(same);
    filter_end(set);
}

/* A link that lies about what it is for, or has next to no bits for it, is refused. */
static void check_links_lie(void)
{
    struct unseen_set *set = grown(0.01, 100, 60000);
    CHECK(load_lying(set, 3, 0) == UNSEEN_OK);
    static uint8_t piece[UNSEEN_CHUNK_MAX];
    const struct unseen__filter *from = set->shards[0].filter;
    for (unsigned lie = 0; lie < 5; lie++) {
        uint8_t params[UNSEEN__PARAMS_LEN] = {0};
        struct unseen__filter *to = NULL;
        uint64_t position = 0;
        unseen__chain_ops.save_params(from, params);
        if (lie == 1) {
            store_le64(params + 8, 101); /* the unit */
        }
        const struct unseen__filter_params given = {.cpu = UNSEEN_CPU_PORTABLE,
                                                    .allocator = filter_allocator,
                                                    .saved = params,
                                                    .saved_nkeys = 60000,
                                                    .saved_max = UINT64_C(1) << 30};
        CHECK(unseen__chain_ops.create(&to, &given) == UNSEEN_OK);
        enum unseen_status status = UNSEEN_OK;
        for (size_t len; status == UNSEEN_OK &&
                         (len = unseen__chain_ops.save_piece(from, &position, piece)) != 0;) {
            if (lie == 2 && piece[1] == 3) {
                store_le64(piece + 48, load_le64(piece + 48) + 1); /* the capacity of link 0 */
            }
            if (lie == 3 && piece[1] == 4) {
                continue; /* a link in the middle is missing */
            }
            if (lie == 4 && piece[1] == 3) {
                piece[1] = 2; /* a compact filter, in a set that has a chain */
            }
            status = unseen__chain_ops.load_piece(to, piece, len);
        }
        status = status == UNSEEN_OK ? unseen__chain_ops.load_finish(to) : status;
        CHECK(status == (lie ? UNSEEN_ERR_CORRUPT : UNSEEN_OK));
        unseen__chain_ops.free(to);
    }
    filter_end(set);
}

/* A set whose first part is full: a key that it has, and a key that there is no memory for, change
 * nothing. A replica, which hears of neither, has the same bytes. */
static void check_full_first_part(void)
{
    const uint64_t capacity = 1000;
    const struct unseen_set_options options = filter_options("chain", 0.01, capacity, 1);
    struct unseen_set *set = filter_make(&options);
    uint64_t n = 0;
    uint8_t verdict;
    while (filter_stats(set).nkeys < capacity) {
        (void)filter_add(set, n, n + 1);
        n++;
    }
    const uint64_t digest = unseen_set_digest(set);
    const uint64_t memory = filter_stats(set).memory;
    const long nlive = filter_counting.nlive;
    CHECK(add_one(set, 0, &verdict) == UNSEEN_OK && verdict == UNSEEN_SEEN);
    CHECK_EQ(filter_stats(set).memory, memory);
    CHECK_EQ(unseen_set_digest(set), digest);
    while (filter_seen(set, n, n + 1) == 1) {
        n++;
    }
    unsigned long fail_at = 0;
    enum unseen_status status;
    do {
        filter_counting.nallocs = 0;
        filter_counting.fail_at = ++fail_at;
        status = add_one(set, n, &verdict);
        filter_counting.fail_at = 0;
        CHECK(status == UNSEEN_OK || unseen_set_digest(set) == digest);
        CHECK(status == UNSEEN_OK || filter_counting.nlive == nlive);
    } while (status == UNSEEN_ERR_NOMEM && fail_at < 100);
    CHECK(fail_at > 1 && status == UNSEEN_OK && verdict == UNSEEN_NEW);
    CHECK(unseen_set_digest(set) != digest);
    filter_end(set);
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

/* A small set that counts, grown: behind it a compact set that counts. No key has fewer adds than
 * it was given, whatever was added, repeated and removed, in the small set, its layers, behind it,
 * and in the stash; and an export comes back the same. */
static void check_multiset(uint64_t capacity, uint64_t nkeys)
{
    const struct unseen_small_options small = {.size = sizeof(small),
                                               .fpr = 0.005,
                                               .capacity = capacity,
                                               .counts = true,
                                               .allocator = &filter_allocator};
    const struct unseen_set_options options = filter_options("compact", 0, 0, 1);
    struct unseen_set *set = NULL;
    struct unseen_set *copy = NULL;
    void *value = NULL;
    uint32_t *counts = calloc(nkeys, sizeof(*counts));
    uint64_t total = 50;
    uint64_t state = 3;
    CHECK(unseen_small_create_with(&value, &small) == UNSEEN_OK);
    add_small(&value, 0, 50);
    for (uint64_t i = 0; i < 50; i++) {
        counts[i] = 1;
    }
    CHECK(unseen_small_grow(&set, value, &options, NULL) == UNSEEN_OK);
    unseen_small_free(value, &filter_allocator);
    CHECK(strcmp(filter_stats(set).filter, "chain") == 0 && filter_stats(set).counts);
    for (uint64_t step = 0; step < 6 * nkeys; step++) {
        const uint64_t random = test_random(&state);
        /* All keys at first, and then few of them often. */
        const uint64_t i = step < nkeys ? step : (random >> 8) % (step & 1 ? nkeys : nkeys / 50);
        const struct unseen_key key = key_of(i);
        uint8_t verdict = 9;
        if (step < nkeys || (random & 7) < 4) {
            CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK(verdict == UNSEEN_SEEN || counts[i] == 0);
            counts[i]++;
            total++;
        } else if (counts[i] > 0) {
            CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
            counts[i]--;
            total--;
        }
    }
    CHECK_EQ(filter_stats(set).nkeys, total);
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK);
    CHECK_EQ(unseen_set_digest(copy), unseen_set_digest(set));
    uint64_t nlarger = 0;
    for (uint64_t i = 0; i < nkeys; i++) {
        const struct unseen_key key = key_of(i);
        uint64_t count = 0;
        CHECK(unseen_set_count_keys(copy, &key, 1, &count) == UNSEEN_OK);
        CHECK(count >= counts[i]);
        nlarger += count > counts[i];
    }
    CHECK((double)nlarger <= 0.02 * (double)nkeys + 4);
    for (uint64_t i = 0; i < nkeys; i++) {
        const struct unseen_key key = key_of(i);
        for (; counts[i] > 0; counts[i]--) {
            uint8_t verdict = 9;
            CHECK(unseen_set_remove_keys(copy, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
        }
    }
    CHECK_EQ(filter_stats(copy).nkeys, 0);
    CHECK_EQ(filter_seen(copy, 0, nkeys), 0);
    free(counts);
    unseen_set_free(copy);
    filter_end(set);
}

int main(void)
{
    test_start();
    check_multiset(0, 30000);
    check_multiset(1024, 60000);

    check_grow(0.01, 20000, 200000, 1);
    check_grow(1e-3, 30, 100000, 3);
    check_grow(1e-4, 21000, 100000, 1);
    check_grow(1e-5, 21000, 100000, 1);
    check_grow(2e-6, 6000, 50000, 1);
    check_grow_of(2e-6, 100, 3000, 60000, 1);
    check_grow_of(5e-7, 10000, 15000, 60000, 1);
    check_grow_of(0.01, 10000, 30000, 200000, 1);
    check_replay(2e-6, 6900);
    check_replay(0, 6900);
    check_replay(0, 100);
    check_counts(2e-6, 6900);
    check_counts(2e-6, 30);
    check_sized_rate(0.01);
    check_sized_rate(1e-5);
    check_counts_of_parts();
    check_chain(0.01, 100);
    check_chain(1e-3, 100);
    check_choice();
    check_link_nomem();
    check_links_lie();
    check_full_first_part();
    check_errors();
    check_nomem(0.01, 500);
    check_nomem(0, 500);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        filter_check_round("chain", 0, 100, threads, 1, 128);
        filter_check_round("chain", 0, 40000, threads, 4, 128);
        filter_check_round("chain", 30000, 20000, threads, 1, 64);
        filter_check_nomem("chain", 0, 30000, threads);
        filter_check_nomem("chain", 20000, 30000, threads);
    }
    filter_check_order("chain", 0, 50000);
    filter_check_order("chain", 100000, 150000);
    filter_check_lies("chain", 0, 25000, 250);
    filter_check_lies("chain", 5000, 10000, 250);
    return test_end();
}
