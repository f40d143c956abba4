/* SPDX-License-Identifier: MIT
 *
 * Chains of Bloom filters: the compound rate stays below the promise while they grow, a key is in
 * one link only, links come when the one before is full, and all that holds for the family. */
#include "filter_check.h"

#include "base/bytes.h"
#include "filter/filter.h"
#include "set/set.h"

/* The rate at every size on the way, far below and at the end. Questions cost a look at each
 * link. */
static void check_promise(const char *filter, double fpr, uint64_t nkeys, uint64_t nquestions)
{
    const struct unseen_set_options options = filter_options(filter, fpr, 0, 1);
    struct unseen_set *set = filter_make(&options);
    struct unseen_plan plan = {.size = sizeof(plan), .filter = filter, .fpr = fpr};
    plan.capacity = nkeys;
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    uint64_t at = 0;
    for (uint64_t n = 1000; n <= nkeys; n *= 10) {
        (void)filter_add(set, at, n);
        at = n;
        const uint64_t first = (uint64_t)1 << 40;
        const double wrong = (double)filter_seen(set, first + n, first + n + nquestions);
        const double asked = (double)nquestions;
        const double expected = asked * unseen_plan_rate(&plan, (double)n);
        /* The first links have a few dozen blocks, which chance can fill unevenly. */
        CHECK(wrong <= asked * fpr);
        CHECK(fabs(wrong - expected) <= 3 * sqrt(expected) + 0.35 * expected + 1);
        CHECK(fabs(wrong - asked * filter_stats(set).fpr_estimate) <=
              3 * sqrt(expected) + 0.35 * expected + 1);
        CHECK(expected <= asked * fpr && filter_stats(set).fpr_estimate <= fpr);
        CHECK(n > 1000000 || filter_seen(set, 0, n) == n);
        if (getenv("UNSEEN_TEST_SCALE")) {
            const struct unseen_set_stats stats = filter_stats(set);
            printf("%s fpr %g, %llu keys: %.0f wrong of %.0f, formula %.1f, promise %.1f, %.2f "
                   "bits per key\n",
                   filter, fpr, (unsigned long long)n, wrong, asked, expected, asked * fpr,
                   8 * (double)stats.memory / (double)n);
        }
    }
    filter_end(set);
}

/* At a rate this high older links keep many keys from the newest. The mean of many chains against
 * the formula. */
static void check_formula(const char *filter)
{
    enum {
        CHAINS = 48,
        ASKED = 20000
    };
    const uint64_t sizes[] = {3000, 20000};
    struct unseen_plan plan = {.size = sizeof(plan), .filter = filter, .fpr = 0.3};
    double sum[2] = {0};
    double squares[2] = {0};
    plan.capacity = sizes[1];
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    for (uint64_t chain = 0; chain < CHAINS; chain++) {
        const struct unseen_set_options options = filter_options(filter, 0.3, 0, 1);
        struct unseen_set *set = filter_make(&options);
        const uint64_t base = chain << 32;
        for (int i = 0; i < 2; i++) {
            (void)filter_add(set, base + (i ? sizes[0] : 0), base + sizes[i]);
            const uint64_t asked = base + (1 << 30);
            const double rate = (double)filter_seen(set, asked, asked + ASKED) / ASKED;
            sum[i] += rate;
            squares[i] += rate * rate;
        }
        filter_end(set);
    }
    for (int i = 0; i < 2; i++) {
        const double mean = sum[i] / CHAINS;
        const double deviation = sqrt((squares[i] / CHAINS - mean * mean) / (CHAINS - 1));
        CHECK(deviation < 0.01 * mean);
        CHECK(fabs(mean - unseen_plan_rate(&plan, (double)sizes[i])) <= 3.5 * deviation);
    }
}

/* A list of links, each a list of keys: who is new, and when links come. Rates so low that no
 * answer is wrong. */
static void check_model(const char *filter, double fpr, unsigned threads)
{
    enum {
        NUMBERS = 40000
    };
    const struct unseen_set_options options = filter_options(filter, fpr, 0, threads);
    struct unseen_set *set = filter_make(&options);
    static uint8_t present[NUMBERS];
    struct unseen_key keys[700];
    uint64_t numbers[700];
    uint8_t verdicts[700];
    uint64_t random = 4;
    uint64_t nkeys = 0;
    memset(present, 0, sizeof(present));
    for (int round = 0; round < 300; round++) {
        const size_t n = 1 + test_random(&random) % 700;
        const bool only_ask = test_random(&random) % 4 == 0;
        for (size_t i = 0; i < n; i++) {
            numbers[i] = test_random(&random) % NUMBERS;
            keys[i] = test_key(numbers[i]);
        }
        CHECK(only_ask ? unseen_set_contains_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK
                       : unseen_set_add_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < n; i++) {
            CHECK_EQ(verdicts[i], present[numbers[i]] ? UNSEEN_SEEN : UNSEEN_NEW);
            nkeys += !only_ask && !present[numbers[i]];
            present[numbers[i]] |= !only_ask;
        }
        CHECK_EQ(filter_stats(set).nkeys, nkeys);
    }
    filter_end(set);
}

/* How many links an export has, and that each but the last is full; by docs/format.md. */
static void check_links(const char *filter)
{
    const struct unseen_set_options options = filter_options(filter, 1e-4, 0, 1);
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, 20000);
    struct test_image image = test_export(set);
    uint64_t nkeys[16] = {0};
    uint64_t capacity[16] = {0};
    double fpr[16] = {0};
    for (size_t i = 1; i + 1 < image.n; i++) {
        size_t len;
        const uint8_t *piece = test_chunk(&image, i, &len) + 24;
        CHECK(piece[0] == 1 && piece[1] < 16 && load_le64(piece + 8) == 0);
        nkeys[piece[1] % 16] = load_le64(piece + 16);
        capacity[piece[1] % 16] = load_le64(piece + 32 + 16);
        fpr[piece[1] % 16] = load_le_double(piece + 32 + 24);
    }
    uint64_t sum = 0;
    double rates = 0;
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(capacity[i], UINT64_C(1024) << i);
        CHECK(i == 4 ? nkeys[i] < capacity[i] : nkeys[i] == capacity[i]);
        CHECK(fabs(fpr[i] - 0.9e-5 * pow(0.9, i)) < 1e-12);
        sum += nkeys[i];
        rates += fpr[i];
    }
    CHECK(capacity[5] == 0 && rates < 1e-4);
    CHECK_EQ(sum, filter_stats(set).nkeys);
    test_image_free(&image);
    filter_end(set);
}

/* What counting links can do besides: a key added is gone when it was removed as often. */
static void check_remove(unsigned threads)
{
    const struct unseen_set_options options = filter_options("scalable-count", 1e-5, 0, threads);
    struct unseen_set *set = filter_make(&options);
    struct unseen_key keys[FILTER_BATCH];
    uint8_t verdicts[FILTER_BATCH];
    const uint64_t n = 20480;
    CHECK_EQ(filter_add(set, 0, n), n);
    CHECK_EQ(filter_add(set, 0, n / 4), 0); /* twice */
    for (int round = 0; round < 2; round++) {
        for (uint64_t at = 0; at < n / 2; at += FILTER_BATCH) {
            for (size_t i = 0; i < FILTER_BATCH; i++) {
                keys[i] = test_key(at + i);
            }
            CHECK(unseen_set_remove_keys(set, keys, FILTER_BATCH, verdicts, NULL) == UNSEEN_OK);
            const bool is_there = round == 0 || at < n / 4;
            for (size_t i = 0; i < FILTER_BATCH; i++) {
                CHECK_EQ(verdicts[i], is_there ? UNSEEN_SEEN : UNSEEN_NEW);
            }
        }
        CHECK_EQ(filter_seen(set, 0, n / 4), round == 0 ? n / 4 : 0);
        CHECK_EQ(filter_seen(set, n / 4, n / 2), 0);
        CHECK_EQ(filter_seen(set, n / 2, n), n / 2);
    }
    CHECK_EQ(filter_stats(set).nkeys, n / 2);
    filter_end(set);
}

/* With a rate this high links take each other's keys for theirs. Whatever is removed, what was
 * added and not removed is found. */
static void check_remove_shared(void)
{
    const struct unseen_set_options options = filter_options("scalable-count", 0.3, 0, 1);
    struct unseen_set *set = filter_make(&options);
    struct unseen_key key;
    uint8_t verdict;
    const uint64_t n = 30000;
    (void)filter_add(set, 0, n);
    for (uint64_t i = 0; i < n; i += 2) {
        key = test_key(i);
        CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
    }
    uint64_t nlost = 0;
    uint64_t nleft = 0;
    for (uint64_t i = 0; i < n; i++) {
        key = test_key(i);
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nlost += i % 2 && verdict == UNSEEN_NEW;
        nleft += i % 2 == 0 && verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nlost, 0);
    CHECK(nleft < n / 4);
    filter_end(set);
}

/* A link whose capacity its bits could not hold is refused. The link after it would be made for
 * twice that capacity. */
static void check_links_lie(const char *filter)
{
    const struct unseen_set_options options = filter_options(filter, 0.01, 0, 1);
    struct unseen_set *set = filter_make(&options);
    static uint8_t piece[UNSEEN_CHUNK_MAX];
    (void)filter_add(set, 0, 5000);
    const struct unseen__filter *from = set->shards[0].filter;
    for (unsigned lie = 0; lie < 4; lie++) {
        uint8_t params[UNSEEN__PARAMS_LEN] = {0};
        struct unseen__filter *to = NULL;
        uint64_t position = 0;
        from->ops->save_params(from, params);
        const struct unseen__filter_params given = {.cpu = UNSEEN_CPU_PORTABLE,
                                                    .allocator = filter_allocator,
                                                    .saved = params,
                                                    .saved_nkeys = 5000,
                                                    .saved_max = UINT64_C(1) << 30};
        CHECK(from->ops->create(&to, &given) == UNSEEN_OK);
        enum unseen_status status = UNSEEN_OK;
        for (size_t len;
             status == UNSEEN_OK && (len = from->ops->save_piece(from, &position, piece)) != 0;) {
            const uint64_t capacity = load_le64(piece + 48);
            if (lie == 1 && piece[1] == 0) {
                store_le64(piece + 48, 4 * capacity);
            }
            if (lie == 2 && piece[1] == 2) {
                store_le64(piece + 48, 1000000000);
            }
            if (lie == 3 && piece[1] == 1) {
                store_le64(piece + 48, UINT64_MAX);
            }
            status = from->ops->load_piece(to, piece, len);
        }
        status = status == UNSEEN_OK ? from->ops->load_finish(to) : status;
        CHECK(status == (lie ? UNSEEN_ERR_CORRUPT : UNSEEN_OK));
        from->ops->free(to);
    }
    filter_end(set);
}

/* A rate that the links of a chain for 10^9 keys cannot have is refused before the first key, by a
 * set and by a plan: an add would fail in the midst of the keys. */
static void check_lowest_rate(const char *name, double link_min)
{
    /* With 20 links a chain has room for 10^9 keys. */
    const double least = link_min / (0.1 * pow(0.9, 20));
    for (int i = 0; i < 4; i++) {
        const double fpr = least * (i % 2 ? 1.001 : 0.999);
        const uint64_t capacity = i < 2 ? 0 : 1000;
        const struct unseen_set_options options = filter_options(name, fpr, capacity, 1);
        const enum unseen_status expected = i % 2 ? UNSEEN_OK : UNSEEN_ERR_FPR;
        struct unseen_plan plan = {
            .size = sizeof(plan), .filter = name, .fpr = fpr, .capacity = capacity};
        struct unseen_set *set = NULL;
        CHECK_EQ(unseen_set_create(&set, &options, NULL), expected);
        CHECK_EQ(unseen_plan(&plan), expected);
        if (!set) {
            /* Stores with such a rate, made before it was refused, are opened. */
            const struct unseen__secret secret = {{0}};
            CHECK_EQ(unseen__set_create(&set, &options, &secret, NULL, NULL), UNSEEN_OK);
        }
        CHECK(filter_add(set, 0, 100000) >= 99990);
        filter_end(set);
    }
}

/* No capacity counts as none because it is too large. */
static void check_largest_capacity(const char *name)
{
    const struct unseen_set_options options = filter_options(name, 1e-3, UINT64_MAX, 1);
    struct unseen_set *set = NULL;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_ERR_NOMEM);
    unseen_set_free(set);
}

int main(void)
{
    static const char *const names[] = {"scalable", "scalable-bloom", "scalable-count"};
    const uint64_t scale = test_scale();
    test_start();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = names[i];
        check_promise(name, 1e-2, 100000 * scale, 100000);
        check_promise(name, 1e-4, 1000000 * scale, 1000000);
        check_formula(name);
        /* "counting" promises nothing below 1e-7, and a chain of it nothing below 82 times that. */
        const double low = i == 2 ? 8.3e-6 : 1e-7;
        check_model(name, low, 1);
        check_model(name, low, 4);
        check_largest_capacity(name);
        check_links(name);
        check_links_lie(name);
        filter_check_round(name, 0, 30000, 1, 1, 128);
        filter_check_round(name, 0, 30000, 1, 8, 64);
        filter_check_round(name, 50000, 30000, 2, 1, 96);
        filter_check_order(name, 0, 20000);
        filter_check_lies(name, 0, 5000, 400);
        filter_check_nomem(name, 0, 20480, 1);
        filter_check_nomem(name, 0, 102400, 2);
        filter_check_levels(name, 1e-4, 0, 30000);
    }
    check_lowest_rate("scalable", 1e-12);
    check_lowest_rate("scalable-bloom", 1e-15);
    check_lowest_rate("scalable-count", 1e-7);
    check_remove(1);
    check_remove(2);
    check_remove_shared();
    filter_check_unsupported("scalable", 0);
    filter_check_unsupported("scalable-bloom", 0);
    return test_end();
}
