/* SPDX-License-Identifier: MIT
 *
 * Compact that counts against the dumbest correct multiset: a number for each key. Counts are exact
 * with whole tags, and never too small with tags so short that keys are often taken for others.
 * One item that comes a million times takes no more memory than a few.
 *
 * Label: kernels */
#include "set_check.h"

enum {
    NNUMBERS = 20000,
    BATCH_MAX = 100,
    CUT_SMALL = 12, /* v of small tags has 11 bits then: many false matches */
    CUT_WIDE = 20
};

static struct test_allocator counting;

static struct unseen_set_options options_of(double fpr, unsigned threads)
{
    static const uint64_t seed = 5;
    static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .counts = true,
                                       .fpr = fpr,
                                       .seed = &seed,
                                       .seed_len = sizeof(seed),
                                       .threads = threads,
                                       .cpu = test_cpu,
                                       .allocator = &allocator};
}

static struct unseen_set *make(double fpr, unsigned threads)
{
    const struct unseen_set_options options = options_of(fpr, threads);
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    return set;
}

static uint64_t count_of(const struct unseen_set *set, uint64_t number)
{
    return unseen__set_count_key(set, test_key(number));
}

struct model {
    struct unseen_set *set;
    uint32_t *times; /* how often each number is in the set */
    uint64_t ntotal;
    uint64_t random;
    bool is_exact; /* no key is taken for another */
};

/* Small numbers come often. */
static uint64_t some_number(struct model *m)
{
    const uint64_t spread = test_random(&m->random) % 4 == 0 ? 20 : NNUMBERS;
    return test_random(&m->random) % spread;
}

static void add_some(struct model *m, size_t n)
{
    struct unseen_key keys[BATCH_MAX];
    uint64_t numbers[BATCH_MAX];
    uint8_t verdicts[BATCH_MAX];
    for (size_t i = 0; i < n; i++) {
        numbers[i] = some_number(m);
        keys[i] = test_key(numbers[i]);
    }
    CHECK(unseen_set_add_keys(m->set, keys, n, verdicts, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        const bool was_there = m->times[numbers[i]]++ > 0;
        CHECK(verdicts[i] == UNSEEN_SEEN || !was_there);
        CHECK(verdicts[i] == UNSEEN_NEW || was_there || !m->is_exact);
    }
    m->ntotal += n;
}

static void remove_some(struct model *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = some_number(m);
        const struct unseen_key key = test_key(number);
        uint8_t verdict = 9;
        if (m->times[number] > 0) {
            CHECK(unseen_set_remove_keys(m->set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
            m->times[number]--;
            m->ntotal--;
        }
    }
}

static void check_counts(const struct model *m)
{
    uint64_t nwrong = 0;
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    for (uint64_t i = 0; i < NNUMBERS; i++) {
        const uint64_t count = count_of(m->set, i);
        nwrong += m->is_exact ? count != m->times[i] : count < m->times[i];
    }
    CHECK_EQ(nwrong, 0);
    CHECK(unseen_set_stats(m->set, &stats) == UNSEEN_OK);
    CHECK_EQ(stats.nkeys, m->ntotal);
}

static void check_soundness(const struct unseen_set *set)
{
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        CHECK(test_compact_sound(test_compact(set, i)));
    }
}

static struct unseen_set *copy_of(const struct unseen_set *set, double fpr, unsigned threads)
{
    const struct unseen_set_options options = options_of(fpr, threads);
    struct unseen_set *copy = NULL;
    CHECK(test_copy(set, &options, &copy) == UNSEEN_OK);
    struct test_image x = test_export(set);
    struct test_image y = test_export(copy);
    CHECK(test_same_image(&x, &y));
    test_image_free(&x);
    test_image_free(&y);
    return copy;
}

/* Random changes; now and then a copy takes the place of the set. A cut makes tags shorter. */
static void check_model(double fpr, unsigned threads, unsigned cut)
{
    struct model m = {.set = make(fpr, threads),
                      .times = calloc(NNUMBERS, sizeof(uint32_t)),
                      .random = 17 + cut,
                      .is_exact = cut == 0};
    if (cut) {
        test_compact(m.set, 0)->mark = 1u << cut;
    }
    for (unsigned round = 0; m.times && round < 1500; round++) {
        const size_t n = 1 + test_random(&m.random) % BATCH_MAX;
        if (test_random(&m.random) % 5 < 3) {
            add_some(&m, n);
        } else {
            remove_some(&m, n);
        }
        if (round % 250 == 249) {
            check_counts(&m);
            check_soundness(m.set);
            struct unseen_set *copy = copy_of(m.set, fpr, threads);
            unseen_set_free(m.set);
            m.set = copy;
        }
    }
    for (uint64_t i = 0; m.times && i < NNUMBERS; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict = 9;
        for (; m.times[i] > 0; m.times[i]--, m.ntotal--) {
            CHECK(unseen_set_remove_keys(m.set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
        }
    }
    CHECK_EQ(m.ntotal, 0);
    check_counts(&m);
    free(m.times);
    unseen_set_free(m.set);
    CHECK_EQ(counting.nlive, 0);
}

static uint64_t memory_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats.memory;
}

/* One item, a million times, among others. */
static void check_one_item(double fpr)
{
    enum {
        TIMES = 1000000,
        OTHERS = 1000
    };
    struct unseen_set *set = make(fpr, 1);
    const struct unseen_key hot = test_key(77777);
    uint8_t verdict = 9;
    for (uint64_t i = 0; i < OTHERS; i++) {
        const struct unseen_key key = test_key(i);
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    const uint64_t memory = memory_of(set);
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < TIMES; i++) {
        CHECK(unseen_set_add_keys(set, &hot, 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nseen, TIMES - 1);
    CHECK_EQ(count_of(set, 77777), TIMES);
    CHECK(memory_of(set) <= memory + 4096);
    struct unseen_set *copy = copy_of(set, fpr, 1);
    for (uint64_t i = 0; i < TIMES; i++) {
        CHECK(unseen_set_remove_keys(copy, &hot, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK_EQ(verdict, UNSEEN_SEEN);
    CHECK_EQ(count_of(copy, 77777), 0);
    CHECK(unseen_set_contains_keys(copy, &hot, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_NEW);
    CHECK_EQ(count_of(copy, 5), 1);
    unseen_set_free(copy);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

/* A key whose first tag is short, because it was added early, and a key that matches that tag. The
 * removal of either leaves the other. */
static void check_shared_tag(void)
{
    struct unseen_set *set = make(UNSEEN_FPR_DEFAULT, 1);
    struct compact *c = test_compact(set, 0);
    const struct unseen_key early = {0x123456, UINT64_C(0xaaaa000000000000)};
    const struct unseen_key late = {0x123456, UINT64_C(0xaaaaffff00000000)};
    for (int removed = 0; removed < 2; removed++) {
        uint8_t verdict = 9;
        c->mark = 1u << 20; /* 11 bits are kept, which both keys have */
        CHECK(unseen_set_add_keys(set, &early, 1, &verdict, NULL) == UNSEEN_OK);
        c->mark = 1;
        CHECK(unseen_set_add_keys(set, &late, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
        CHECK_EQ(unseen__set_count_key(set, late), 2);
        CHECK_EQ(unseen__set_count_key(set, early), 1);
        const struct unseen_key *other = removed ? &early : &late;
        CHECK(unseen_set_remove_keys(set, removed ? &late : &early, 1, &verdict, NULL) ==
              UNSEEN_OK);
        CHECK(unseen_set_contains_keys(set, other, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
        CHECK(unseen_set_remove_keys(set, other, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
        CHECK_EQ(c->nkeys, 0);
    }
    unseen_set_free(set);
}

/* The nth allocation fails: the add that needed it is not done, and nothing else is lost. */
static void check_nomem(void)
{
    for (size_t nth = 1; nth < 40; nth++) {
        struct unseen_set *set = make(UNSEEN_FPR_DEFAULT, 1);
        uint64_t ndone = 0;
        counting.fail_at = counting.nallocs + nth;
        for (uint64_t i = 0; i < 20000; i++) {
            const struct unseen_key key = test_key(i % 500);
            uint8_t verdict = 9;
            const enum unseen_status status = unseen_set_add_keys(set, &key, 1, &verdict, NULL);
            CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM);
            if (status == UNSEEN_ERR_NOMEM) {
                CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            }
            ndone++;
        }
        counting.fail_at = 0;
        for (uint64_t i = 0; i < 500; i++) {
            CHECK_EQ(count_of(set, i), ndone / 500);
        }
        check_soundness(set);
        unseen_set_free(set);
        CHECK_EQ(counting.nlive, 0);
    }
}

/* The same with batches of a set for threads: one filter fails, and what the others have counted
 * behind it is taken back, so that the rest can be added again. */
static void check_nomem_batches(void)
{
    enum {
        KEYS = 60000,
        BATCH = 500
    };
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    size_t nfailures = 0;
    struct unseen_set *set = make(UNSEEN_FPR_DEFAULT, 2);
    for (uint64_t first = 0; first < KEYS; first += BATCH / 2) {
        size_t ndone = 0;
        for (uint64_t i = 0; i < BATCH; i++) { /* the half of them are there */
            keys[i] = test_key((first + i * 7 % BATCH) % KEYS);
        }
        counting.fail_at = counting.nallocs + 1;
        counting.fail_after = true;
        if (unseen_set_add_keys(set, keys, BATCH, verdicts, &ndone) != UNSEEN_OK) {
            nfailures++;
            counting.fail_at = 0;
            CHECK(unseen_set_add_keys(set, keys + ndone, BATCH - ndone, verdicts, NULL) ==
                  UNSEEN_OK);
        }
    }
    counting.fail_at = 0;
    counting.fail_after = false;
    CHECK(nfailures >= 5);
    for (uint64_t i = 0; i < KEYS; i++) {
        CHECK_EQ(count_of(set, i), 2);
    }
    check_soundness(set);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

int main(void)
{
    test_start();
    for (int wide = 0; wide < 2; wide++) {
        const double fpr = wide ? UNSEEN_FPR_DEFAULT : 2e-6;
        check_model(fpr, 1, 0);
        check_model(fpr, 2, 0);
        check_model(fpr, 1, wide ? CUT_WIDE : CUT_SMALL);
        check_one_item(fpr);
    }
    check_shared_tag();
    check_nomem();
    check_nomem_batches();
    return test_end();
}
