/* SPDX-License-Identifier: MIT
 *
 * The union of compact sets, tag by tag, against the union of their key numbers; and the copy and
 * the digest of a set with each filter. */
#include "set_check.h"

#include <unseen.h>

static struct test_allocator counting;
static const uint64_t seeds[2] = {5, 6};

static struct unseen_set *make(const char *filter, double fpr, unsigned threads, int seed)
{
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = filter,
                                               .fpr = fpr,
                                               .capacity = filter ? 40000 : 0,
                                               .seed = &seeds[seed],
                                               .seed_len = sizeof(seeds[seed]),
                                               .threads = threads,
                                               .cpu = test_cpu,
                                               .allocator = &allocator};
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    return set;
}

static void add_range(struct unseen_set *set, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
}

static uint64_t count_seen(const struct unseen_set *set, uint64_t first, uint64_t end)
{
    uint64_t nseen = 0;
    for (uint64_t i = first; i < end; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict = 9;
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen;
}

static uint64_t nkeys_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats.nkeys;
}

static void set_cut(struct unseen_set *set, unsigned cut)
{
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        test_compact(set, i)->mark = 1u << cut;
    }
}

/* One set has the keys 0 to na - 1, the other the keys from - to from + nb - 1. With a cut, keys
 * are taken for others; without, every answer is exact. */
static void check_union(double fpr, unsigned threads_a, unsigned threads_b, uint64_t na,
                        uint64_t from, uint64_t nb, unsigned cut)
{
    struct unseen_set *a = make(NULL, fpr, threads_a, 0);
    struct unseen_set *b = make(NULL, fpr, threads_b, 0);
    const uint64_t end = from + nb > na ? from + nb : na;
    set_cut(a, cut);
    set_cut(b, cut);
    add_range(a, 0, na);
    add_range(b, from, from + nb);
    CHECK(unseen_set_merge(a, b, NULL, NULL) == UNSEEN_OK);
    CHECK(test_set_sound(a));
    CHECK_EQ(count_seen(a, 0, na), na);
    CHECK_EQ(count_seen(a, from, from + nb), nb);
    const uint64_t nkeys = nkeys_of(a);
    /* Everything is there already. */
    CHECK(unseen_set_merge(a, b, NULL, NULL) == UNSEEN_OK);
    CHECK(cut ? nkeys_of(a) <= nkeys + nkeys / 10 : nkeys_of(a) == nkeys);
    if (cut == 0) {
        const uint64_t nboth = from < na ? (from + nb < na ? nb : na - from) : 0;
        CHECK_EQ(nkeys, na + nb - nboth);
        CHECK_EQ(count_seen(a, end, end + 20000), 0);
        uint64_t nwrong = 0;
        for (uint64_t i = 0; i < na + nb; i++) {
            const uint64_t number = i < na ? i : from + i - na;
            const struct unseen_key key = test_key(number);
            uint8_t verdict = 9;
            CHECK(unseen_set_remove_keys(a, &key, 1, &verdict, NULL) == UNSEEN_OK);
            /* A common key is there once, and comes twice here. */
            const bool again = i >= na && number < na;
            nwrong += verdict != (again ? UNSEEN_NEW : UNSEEN_SEEN);
        }
        CHECK_EQ(nwrong, 0);
        CHECK_EQ(nkeys_of(a), 0);
        CHECK(test_set_sound(a));
    }
    unseen_set_free(a);
    unseen_set_free(b);
    CHECK_EQ(counting.nlive, 0);
}

/* Keys with equal beginnings, some of which find no room in the lines and are kept whole. */
static struct unseen_key whole_key(uint64_t i)
{
    struct unseen_key key = test_key(1000000 + i);
    key.lo &= ~(uint64_t)0xfffffff;
    key.hi >>= 20;
    return key;
}

static void add_wholes(struct unseen_set *set)
{
    for (uint64_t i = 0; i < 300; i++) {
        const struct unseen_key key = whole_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
}

static bool are_wholes_seen(const struct unseen_set *set)
{
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < 300; i++) {
        const struct unseen_key key = whole_key(i);
        uint8_t verdict = 9;
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen == 300;
}

/* A union in steps, with adds and removals in both sets between the steps. What the other set has
 * all the time is merged, and a replica that takes the same steps has the same bytes. */
static void check_steps(double fpr, unsigned threads_b, uint64_t n)
{
    enum {
        NSETS = 4 /* a and b, and their replicas */
    };
    struct unseen_set *sets[NSETS] = {make(NULL, fpr, 1, 0), make(NULL, fpr, threads_b, 0)};
    uint64_t cursors[2] = {0, 0};
    uint64_t nsteps = 0;
    add_range(sets[0], 0, n / 3);
    add_range(sets[1], n / 4, n);
    add_wholes(sets[1]);
    for (int i = 0; i < 2; i++) {
        CHECK(unseen_set_copy(&sets[2 + i], sets[i], NULL) == UNSEEN_OK);
    }
    while (cursors[0] != UNSEEN_MERGE_DONE) {
        for (int i = 0; i < 2; i++) {
            struct unseen_set *a = sets[2 * i];
            struct unseen_set *b = sets[2 * i + 1];
            CHECK(unseen_set_merge(a, b, &cursors[i], NULL) == UNSEEN_OK);
            add_range(b, n + nsteps * 400, n + nsteps * 400 + 400); /* its groups split */
            add_range(a, 2 * n + nsteps * 30, 2 * n + nsteps * 30 + 30);
            const struct unseen_key key = test_key(n + nsteps * 200);
            uint8_t verdict;
            CHECK(unseen_set_remove_keys(b, &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
        CHECK_EQ(cursors[0], cursors[1]);
        nsteps++;
    }
    CHECK(nsteps > n / 10000);
    CHECK(test_set_sound(sets[0]));
    CHECK_EQ(count_seen(sets[0], 0, n), n);
    CHECK(are_wholes_seen(sets[0]));
    CHECK_EQ(unseen_set_digest(sets[0]), unseen_set_digest(sets[2]));
    /* A cursor of no merge. */
    CHECK(unseen_set_merge(sets[0], sets[1], &cursors[0], NULL) == UNSEEN_ERR_ARGUMENT);
    uint64_t start = 0;
    CHECK(unseen_set_merge(sets[0], sets[0], &start, NULL) == UNSEEN_ERR_ARGUMENT);
    for (int i = 0; i < NSETS; i++) {
        unseen_set_free(sets[i]);
    }
    CHECK_EQ(counting.nlive, 0);
}

/* Crowds that do not fit into the lines of a group which cannot grow. */
static void check_crowd(double fpr)
{
    enum {
        N = 3000
    };
    struct unseen_set *sets[2] = {make(NULL, fpr, 1, 0), make(NULL, fpr, 1, 0)};
    for (uint64_t i = 0; i < N; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        key.lo &= ~(uint64_t)0xfffffff;
        key.hi >>= 20;
        CHECK(unseen_set_add_keys(sets[i % 2], &key, 1, &verdict, NULL) == UNSEEN_OK);
        if (i % 5 == 0) {
            CHECK(unseen_set_add_keys(sets[1 - i % 2], &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
    }
    CHECK(unseen_set_merge(sets[0], sets[1], NULL, NULL) == UNSEEN_OK);
    CHECK(test_set_sound(sets[0]));
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict = 9;
        key.lo &= ~(uint64_t)0xfffffff;
        key.hi >>= 20;
        CHECK(unseen_set_contains_keys(sets[0], &key, 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nseen, N);
    unseen_set_free(sets[0]);
    unseen_set_free(sets[1]);
    CHECK_EQ(counting.nlive, 0);
}

static void add_crowd(struct unseen_set *set, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        key.hi >>= 20;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
}

/* Keys that only the secret can make: 20 bits that choose the group are the same. One set keeps
 * most of them whole, but two sets cannot be joined. That is no lack of memory, and no key is
 * lost. */
static void check_large_crowds(void)
{
    enum {
        N = 100000
    };
    struct unseen_error error;
    struct unseen_set *a = make(NULL, 2e-6, 1, 0);
    struct unseen_set *b = make(NULL, 2e-6, 1, 0);
    struct unseen_set *copy = NULL;
    add_crowd(a, 0, N);
    add_crowd(b, N, 2 * N);
    const uint64_t digest = unseen_set_digest(a);
    CHECK(unseen_set_copy(&copy, a, NULL) == UNSEEN_OK);
    CHECK(unseen_set_merge(copy, b, NULL, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "crowd") != NULL);
    CHECK(test_set_sound(copy));
    CHECK(unseen_set_digest(a) == digest && unseen_set_digest(copy) != digest);
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict = 9;
        key.hi >>= 20;
        CHECK(unseen_set_contains_keys(copy, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nseen, N);
    unseen_set_free(copy);
    unseen_set_free(a);
    unseen_set_free(b);
    CHECK_EQ(counting.nlive, 0);
}

/* Sets of random keys merge at any size into an empty one, also where their groups are full. */
static void check_sizes(double fpr)
{
    enum {
        STEP = 800,
        END = 60000
    };
    struct unseen_set *from = make(NULL, fpr, 1, 0);
    for (uint64_t n = 0; n < END; n += STEP) {
        add_range(from, n, n + STEP);
        if (n >= 16000) {
            struct unseen_set *to = make(NULL, fpr, 1, 0);
            CHECK(unseen_set_merge(to, from, NULL, NULL) == UNSEEN_OK);
            CHECK_EQ(count_seen(to, n, n + STEP), STEP);
            unseen_set_free(to);
        }
    }
    unseen_set_free(from);
}

static void check_refusals(void)
{
    struct unseen_set *a = make(NULL, UNSEEN_FPR_DEFAULT, 1, 0);
    struct unseen_set *small = make(NULL, 2e-6, 1, 0);
    struct unseen_set *other = make(NULL, UNSEEN_FPR_DEFAULT, 1, 1);
    struct unseen_set *low = make("exact", UNSEEN_FPR_DEFAULT, 1, 0);
    struct unseen_set *counts = make("scalable-count", UNSEEN_FPR_DEFAULT, 1, 0);
    struct unseen_error error;
    CHECK(unseen_set_merge(a, a, NULL, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_set_merge(a, small, NULL, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(error.setting == UNSEEN_SETTING_CAPACITY);
    CHECK(unseen_set_merge(a, other, NULL, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(error.setting == UNSEEN_SETTING_SEED);
    CHECK(unseen_set_merge(a, low, NULL, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(error.setting == UNSEEN_SETTING_CAPACITY);
    CHECK(unseen_set_merge(a, counts, NULL, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(error.setting == UNSEEN_SETTING_FILTER);
    CHECK(unseen_set_merge(counts, a, NULL, &error) == UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(a);
    unseen_set_free(small);
    unseen_set_free(other);
    unseen_set_free(low);
    unseen_set_free(counts);
}

/* The nth allocation fails: a second union completes the first. */
static void check_nomem(void)
{
    struct unseen_set *b = make(NULL, 2e-6, 1, 0);
    add_range(b, 5000, 60000);
    unsigned nfailed = 0;
    for (unsigned long nth = 1; nth < 12; nth++) {
        struct unseen_set *a = make(NULL, 2e-6, 1, 0);
        add_range(a, 0, 10000);
        counting.fail_at = counting.nallocs + nth;
        const enum unseen_status status = unseen_set_merge(a, b, NULL, NULL);
        counting.fail_at = 0;
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM);
        nfailed += status != UNSEEN_OK;
        CHECK(test_set_sound(a));
        CHECK_EQ(count_seen(a, 0, 10000), 10000);
        CHECK(unseen_set_merge(a, b, NULL, NULL) == UNSEEN_OK);
        CHECK_EQ(count_seen(a, 0, 60000), 60000);
        unseen_set_free(a);
    }
    CHECK(nfailed > 2);
    unseen_set_free(b);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- copy and digest ---- */

static void check_copy(const char *filter, double fpr, unsigned threads)
{
    struct unseen_set *set = make(filter, fpr, threads, 0);
    struct unseen_set *copy = NULL;
    add_range(set, 0, 20000);
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK);
    CHECK(copy && copy->shard_bits == set->shard_bits);
    CHECK_EQ(unseen_set_digest(copy), unseen_set_digest(set));
    CHECK_EQ(count_seen(copy, 0, 40000), count_seen(set, 0, 40000));
    /* One key makes a difference, until the other has it, too. */
    uint64_t extra = 50000;
    while (count_seen(set, extra, extra + 1)) {
        extra++;
    }
    add_range(copy, extra, extra + 1);
    CHECK(unseen_set_digest(copy) != unseen_set_digest(set));
    CHECK_EQ(count_seen(set, extra, extra + 1), 0);
    add_range(set, extra, extra + 1);
    CHECK_EQ(unseen_set_digest(copy), unseen_set_digest(set));
    unseen_set_free(set);
    unseen_set_free(copy);

    /* Sets with other secrets have other digests, also when they are empty. */
    set = make(filter, fpr, threads, 0);
    copy = make(filter, fpr, threads, 1);
    CHECK(unseen_set_digest(copy) != unseen_set_digest(set));
    unseen_set_free(set);
    unseen_set_free(copy);
    CHECK_EQ(counting.nlive, 0);
}

static void check_copy_nomem(void)
{
    struct unseen_set *set = make(NULL, UNSEEN_FPR_DEFAULT, 2, 0);
    add_range(set, 0, 20000);
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    unsigned nfailed = 0;
    for (unsigned long nth = 1; status != UNSEEN_OK; nth += 3) {
        struct unseen_set *copy = NULL;
        const long nlive = counting.nlive;
        counting.fail_at = counting.nallocs + nth;
        status = unseen_set_copy(&copy, set, NULL);
        counting.fail_at = 0;
        CHECK((status == UNSEEN_OK) == (copy != NULL));
        CHECK(status == UNSEEN_OK || (status == UNSEEN_ERR_NOMEM && counting.nlive == nlive));
        nfailed += status != UNSEEN_OK;
        unseen_set_free(copy);
    }
    CHECK(nfailed > 5);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

int main(void)
{
    static const char *const filters[] = {"compact", "exact", "scalable-count",
                                          "bloom",   "block", "counting"};
    test_start();
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        const double fpr = test_fprs[width];
        check_union(fpr, 1, 1, 0, 0, 0, 0);
        check_union(fpr, 1, 1, 0, 0, 30000, 0);
        check_union(fpr, 1, 1, 30000, 0, 0, 0);
        check_union(fpr, 1, 1, 40000, 20000, 40000, 0);
        check_union(fpr, 1, 1, 500, 0, 100000, 0);
        check_union(fpr, 1, 1, 100000, 99000, 2000, 0);
        check_union(fpr, 2, 1, 3000, 2000, 50000, 0);
        check_union(fpr, 1, 2, 50000, 2000, 3000, 0);
        check_union(fpr, 8, 2, 20000, 10000, 20000, 0);
        /* Short tags, and tags with no bit left. */
        check_union(fpr, 1, 1, 40000, 20000, 40000, width ? 20 : 12);
        check_union(fpr, 1, 1, 500, 0, 60000, width ? 28 : 20);
        check_union(fpr, 1, 1, 60000, 0, 500, width ? 28 : 20);
        check_union(fpr, 1, 1, 60000, 100000, 500, width ? 29 : 21);
        check_union(fpr, 2, 1, 30000, 20000, 30000, width ? 28 : 20);
        check_steps(1.5e-6, 1, 60000);
        check_steps(5e-9, 1, 60000);
        check_steps(5e-9, 3, 60000);
        check_crowd(fpr);
        if (!test_brief()) {
            check_sizes(fpr);
        }
    }
    check_large_crowds();
    check_refusals();
    check_nomem();
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        check_copy(filters[i], 1e-4, 1);
        check_copy(filters[i], 1e-4, 2);
    }
    check_copy_nomem();
    return test_end();
}
