/* SPDX-License-Identifier: MIT */
#include "filter_check.h"

struct test_allocator filter_counting;

/* A forged chunk may ask for any size. */
static void *filter_alloc(void *context, size_t size, size_t align)
{
    return size > (size_t)1 << 26 ? NULL : test_alloc(context, size, align);
}

const struct unseen_allocator filter_allocator = {filter_alloc, test_free, &filter_counting};

struct unseen_set_options filter_options(const char *filter, double fpr, uint64_t capacity,
                                         unsigned threads)
{
    static const uint8_t seed[8] = {1};
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .fpr = fpr,
                                       .capacity = capacity,
                                       .filter = filter,
                                       .seed = seed,
                                       .seed_len = sizeof(seed),
                                       .threads = threads,
                                       .cpu = test_cpu,
                                       .allocator = &filter_allocator};
}

struct unseen_set *filter_make(const struct unseen_set_options *options)
{
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, options, NULL) != UNSEEN_OK) {
        fprintf(stderr, "no set\n");
        exit(2);
    }
    return set;
}

uint64_t filter_add(struct unseen_set *set, uint64_t first, uint64_t end)
{
    struct unseen_key keys[FILTER_BATCH];
    uint8_t verdicts[FILTER_BATCH];
    uint64_t nnew = 0;
    for (uint64_t at = first; at < end;) {
        size_t n = end - at < FILTER_BATCH ? (size_t)(end - at) : FILTER_BATCH;
        size_t ndone = 0;
        for (size_t i = 0; i < n; i++) {
            keys[i] = test_key(at + i);
        }
        CHECK(unseen_set_add_keys(set, keys, n, verdicts, &ndone) == UNSEEN_OK && ndone == n);
        for (size_t i = 0; i < n; i++) {
            nnew += verdicts[i] == UNSEEN_NEW;
        }
        at += n;
    }
    return nnew;
}

uint64_t filter_seen(const struct unseen_set *set, uint64_t first, uint64_t end)
{
    struct unseen_key keys[FILTER_BATCH];
    uint8_t verdicts[FILTER_BATCH];
    uint64_t nseen = 0;
    for (uint64_t at = first; at < end;) {
        size_t n = end - at < FILTER_BATCH ? (size_t)(end - at) : FILTER_BATCH;
        for (size_t i = 0; i < n; i++) {
            keys[i] = test_key(at + i);
        }
        CHECK(unseen_set_contains_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < n; i++) {
            nseen += verdicts[i] == UNSEEN_SEEN;
        }
        at += n;
    }
    return nseen;
}

struct unseen_set_stats filter_stats(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats;
}

void filter_end(struct unseen_set *set)
{
    unseen_set_free(set);
    CHECK_EQ(filter_counting.nlive, 0);
    CHECK_EQ(filter_counting.bytes, 0);
}

/* ---- the model ---- */

/* Checks that the bits of a set are the flags of the model. Returns how many are set. */
static uint64_t check_flags(const struct filter_model *model)
{
    uint64_t nset = 0;
    struct test_image image = test_export(model->set);
    for (size_t i = 1; i + 1 < image.n; i++) {
        size_t len;
        const uint8_t *piece = test_chunk(&image, i, &len) + 24;
        CHECK(piece[0] == 1);
        const uint64_t first = load_le64(piece + 8) * 512;
        for (size_t bit = 0; bit < (len - 32 - 16) * 8; bit++) {
            const bool is_set = piece[16 + bit / 8] >> bit % 8 & 1;
            CHECK_EQ(is_set, model->flags[first + bit]);
            nset += is_set;
        }
    }
    test_image_free(&image);
    return nset;
}

void filter_check_model(const struct unseen_set_options *options, filter_model_add *add,
                        bool keeps_order)
{
    struct unseen_set *set = filter_make(options);
    const struct unseen_set_stats stats = filter_stats(set);
    struct filter_model model = {set, calloc(stats.nslots, 1), stats.nslots, stats.hashes};
    struct unseen_key keys[300];
    uint8_t verdicts[300];
    uint64_t random = 9;
    uint64_t nnew = 0;
    if (!model.flags) {
        exit(2);
    }
    for (int round = 0; round < 200; round++) {
        const size_t n = 1 + test_random(&random) % 300;
        const bool only_ask = test_random(&random) % 3 == 0;
        for (size_t i = 0; i < n; i++) {
            keys[i] = test_key(test_random(&random) % (2 * options->capacity));
        }
        CHECK(only_ask ? unseen_set_contains_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK
                       : unseen_set_add_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < n; i++) {
            const bool seen = add(&model, keys[i], only_ask);
            CHECK((options->threads > 1 && !keeps_order) || (verdicts[i] == UNSEEN_SEEN) == seen);
            nnew += !only_ask && verdicts[i] == UNSEEN_NEW;
        }
    }
    const double fill = (double)check_flags(&model) / (double)model.nflags;
    CHECK(fabs(filter_stats(set).fill - fill) < 1e-12);
    CHECK_EQ(filter_stats(set).nkeys, nnew);
    free(model.flags);
    filter_end(set);
}

/* ---- the rate ---- */

void filter_check_rate(const char *filter, double fpr, uint64_t n, unsigned nfilters,
                       uint64_t nquestions, unsigned key_bits)
{
    static const double load[4] = {0.1, 0.5, 1, 2};
    double sum[4] = {0};
    double squares[4] = {0};
    double estimate[4] = {0};
    struct unseen_plan plan = {.size = sizeof(plan), .filter = filter, .fpr = fpr, .capacity = n};
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    if (test_brief()) { /* the answers are those of the release build */
        return;
    }
    for (unsigned f = 0; f < nfilters; f++) {
        struct unseen_set_options options = filter_options(filter, fpr, n, 1);
        options.key_bits = key_bits;
        struct unseen_set *set = filter_make(&options);
        const uint64_t start = (uint64_t)f << 36;
        uint64_t at = 0;
        for (int l = 0; l < 4; l++) {
            const uint64_t end = (uint64_t)(load[l] * (double)n);
            (void)filter_add(set, start + at, start + end);
            at = end;
            const uint64_t first = start + (((uint64_t)l + 1) << 32);
            const double wrong = (double)filter_seen(set, first, first + nquestions);
            CHECK(end > 100000 || filter_seen(set, start, start + end) == end);
            sum[l] += wrong;
            squares[l] += wrong * wrong;
            estimate[l] += filter_stats(set).fpr_estimate;
        }
        filter_end(set);
    }
    for (int l = 0; l < 4; l++) {
        const double asked = (double)nquestions * nfilters;
        const double expected = asked * unseen_plan_rate(&plan, load[l] * (double)n);
        const double variance = fmax(squares[l] - sum[l] * sum[l] / nfilters, expected);
        const bool ok = fabs(sum[l] - expected) <= 3 * sqrt(variance) + 1;
        if (!CHECK(ok) || getenv("UNSEEN_TEST_SCALE")) {
            printf("%s fpr %g, %llu keys, %u bits, load %g: %.0f wrong of %.0f, formula %.1f "
                   "(%+.2f sigma), estimates %.1f\n",
                   filter, fpr, (unsigned long long)n, key_bits, load[l], sum[l], asked, expected,
                   (sum[l] - expected) / sqrt(variance), asked * estimate[l] / nfilters);
        }
        /* From the fill of the filter itself: closer, but the deviation bounds it as well. */
        CHECK(fabs(sum[l] - asked * estimate[l] / nfilters) <= 3.5 * sqrt(variance) + 2);
    }
}

/* ---- export and import ---- */

void filter_check_round(const char *filter, uint64_t capacity, uint64_t nkeys, unsigned from,
                        unsigned to, unsigned key_bits)
{
    struct unseen_set_options options = filter_options(filter, 1e-3, capacity, from);
    options.key_bits = key_bits;
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, nkeys);
    struct test_image image = test_export(set);
    options = filter_options(NULL, 0, 0, to);
    options.seed = NULL;
    options.seed_len = 0;
    struct unseen_set *copy = NULL;
    if (CHECK(test_import(&image, &options, &copy) == UNSEEN_OK)) {
        const struct unseen_set_stats x = filter_stats(set);
        const struct unseen_set_stats y = filter_stats(copy);
        CHECK_EQ(x.nkeys, y.nkeys);
        CHECK_EQ(x.nslots, y.nslots);
        CHECK_EQ(x.capacity, y.capacity);
        CHECK(x.hashes == y.hashes && x.abilities == y.abilities && x.fill == y.fill);
        CHECK(x.fpr_promise == y.fpr_promise && strcmp(x.filter, y.filter) == 0);
        CHECK(fabs(x.fpr_estimate - y.fpr_estimate) <= 0.05 * x.fpr_estimate);
        CHECK(fabs(x.nkeys_estimate - y.nkeys_estimate) <= 0.01 * x.nkeys_estimate);
        CHECK_EQ(filter_seen(copy, 0, nkeys), nkeys);
        CHECK_EQ(filter_seen(copy, 1u << 30, (1u << 30) + 20000),
                 filter_seen(set, 1u << 30, (1u << 30) + 20000));
        CHECK_EQ(filter_add(copy, nkeys, 2 * nkeys), filter_add(set, nkeys, 2 * nkeys));
        struct test_image a = test_export(set);
        struct test_image b = test_export(copy);
        CHECK(set->shard_bits != copy->shard_bits || test_same_image(&a, &b));
        test_image_free(&a);
        test_image_free(&b);
    }
    unseen_set_free(copy);
    test_image_free(&image);
    filter_end(set);
}

/* Imports the chunks in this order, then uses and frees the set. */
static enum unseen_status filter_import(const struct test_image *image, const size_t *order,
                                        size_t n)
{
    struct unseen_set_options options = filter_options(NULL, 0, 0, 1 + (unsigned)(order[1] % 2));
    struct unseen_import *import = NULL;
    struct unseen_set *copy = NULL;
    enum unseen_status status = unseen_import_create(&import, &options, NULL);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = test_import_chunk(import, image, order[i]);
    }
    if (status == UNSEEN_OK) {
        status = unseen_import_finish(import, &copy);
    } else {
        unseen_import_free(import);
    }
    if (copy) {
        (void)filter_add(copy, 0, 2000);
        CHECK_EQ(filter_seen(copy, 0, 2000), 2000);
        (void)filter_stats(copy);
    }
    filter_end(copy);
    return status;
}

void filter_check_order(const char *filter, uint64_t capacity, uint64_t nkeys)
{
    enum {
        MAX = 200
    };
    size_t order[MAX];
    uint64_t random = 3;
    struct unseen_set_options options = filter_options(filter, 1e-3, capacity, 1);
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, nkeys);
    struct test_image image = test_export(set);
    filter_end(set);
    const size_t n = image.n;
    if (!CHECK(n >= 4 && n < MAX)) {
        return;
    }
    for (int round = 0; round < 10; round++) {
        for (size_t i = 0; i < n; i++) {
            order[i] = i;
        }
        for (size_t i = n - 1; i > 1; i--) {
            const size_t k = 1 + test_random(&random) % i;
            const size_t swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        CHECK(filter_import(&image, order, n) == UNSEEN_OK);
        for (size_t k = 2; k < n; k++) {
            /* A chunk in place of another chunk of the same length. */
            const size_t keep = order[1];
            size_t x;
            size_t y;
            (void)test_chunk(&image, order[k], &x);
            (void)test_chunk(&image, keep, &y);
            if (x == y) {
                order[1] = order[k];
                CHECK(filter_import(&image, order, n) == UNSEEN_ERR_CORRUPT);
                order[1] = keep;
                break;
            }
        }
        order[n] = order[1 + (size_t)round % (n - 1)];
        CHECK(filter_import(&image, order, n + 1) == UNSEEN_ERR_CORRUPT);
        order[1 + (size_t)round % (n - 1)] = order[n - 1];
        CHECK(filter_import(&image, order, n - 1) == UNSEEN_ERR_CORRUPT);
    }
    test_image_free(&image);
}

void filter_check_lies(const char *filter, uint64_t capacity, uint64_t nkeys, int nrounds)
{
    uint64_t random = 5;
    unsigned long nrefused = 0;
    unsigned long naccepted = 0;
    struct unseen_set_options options = filter_options(filter, 1e-3, capacity, 1);
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, nkeys);
    struct test_image image = test_export(set);
    size_t order[200];
    filter_end(set);
    if (!CHECK(image.n < 200)) {
        return;
    }
    for (size_t i = 0; i < image.n; i++) {
        order[i] = i;
    }
    for (int round = 0; round < nrounds; round++) {
        const uint64_t x = test_random(&random);
        size_t len;
        const size_t number = x % 3 ? (size_t)(x >> 8) % image.n : 0;
        uint8_t *chunk = test_chunk(&image, number, &len);
        uint8_t *keep = malloc(len);
        if (!keep) {
            exit(2);
        }
        memcpy(keep, chunk, len);
        const size_t range = len - 32 < 160 || x % 5 == 0 ? len - 32 : 160;
        size_t at = (size_t)(x >> 20) % range;
        if (number == 0 && x % 2) {
            at = 576 + (size_t)(x >> 20) % 32; /* the filter's parameters */
        }
        const uint8_t values[4] = {(uint8_t)(x >> 40), 0, 0xff, (uint8_t)(1u << (x >> 40) % 8)};
        chunk[24 + at] = x >> 50 & 1 ? values[x >> 52 & 3] : chunk[24 + at] ^ values[x >> 52 & 3];
        test_repair(chunk, len);
        const enum unseen_status status = filter_import(&image, order, image.n);
        naccepted += status == UNSEEN_OK;
        nrefused += status != UNSEEN_OK;
        memcpy(chunk, keep, len);
        free(keep);
    }
    CHECK(naccepted > 0 && nrefused > 0);
    test_image_free(&image);
}

/* ---- memory ---- */

void filter_check_nomem(const char *filter, uint64_t capacity, uint64_t nkeys, unsigned threads)
{
    const struct unseen_set_options options = filter_options(filter, 1e-3, capacity, threads);
    struct unseen_set *set = NULL;
    unsigned long fail_at = 0;
    while (!set) {
        filter_counting.nallocs = 0;
        filter_counting.fail_at = ++fail_at;
        enum unseen_status status = unseen_set_create(&set, &options, NULL);
        filter_counting.fail_at = 0;
        CHECK(status == (set ? UNSEEN_OK : UNSEEN_ERR_NOMEM));
        CHECK(set || filter_counting.nlive == 0);
        if (!CHECK(fail_at < 10000)) {
            return;
        }
    }
    /* Each call runs without memory first. Keys that it did not add are added with memory, and are
     * new then. */
    struct unseen_key keys[FILTER_BATCH];
    uint8_t verdicts[FILTER_BATCH];
    uint64_t nnew = 0;
    for (uint64_t at = 0; at < nkeys; at += FILTER_BATCH) {
        size_t ndone = 777;
        for (size_t i = 0; i < FILTER_BATCH; i++) {
            keys[i] = test_key(at + i);
        }
        filter_counting.nallocs = 0;
        filter_counting.fail_at = 1;
        filter_counting.fail_after = true;
        enum unseen_status status = unseen_set_add_keys(set, keys, FILTER_BATCH, verdicts, &ndone);
        filter_counting.fail_at = 0;
        CHECK(status == UNSEEN_OK ? ndone == FILTER_BATCH
                                  : status == UNSEEN_ERR_NOMEM && ndone < FILTER_BATCH);
        if (status != UNSEEN_OK) {
            size_t rest;
            CHECK(unseen_set_add_keys(set, keys + ndone, FILTER_BATCH - ndone, verdicts + ndone,
                                      &rest) == UNSEEN_OK);
            CHECK_EQ(rest, FILTER_BATCH - ndone);
        }
        for (size_t i = 0; i < FILTER_BATCH; i++) {
            nnew += verdicts[i] == UNSEEN_NEW;
        }
    }
    filter_counting.fail_after = false;
    CHECK(nnew >= nkeys - nkeys / 100);
    CHECK_EQ(filter_stats(set).nkeys, nnew);
    CHECK_EQ(filter_stats(set).memory, filter_counting.bytes);
    CHECK_EQ(filter_seen(set, 0, nkeys), nkeys);
    struct test_image image = test_export(set);
    filter_end(set);
    set = NULL;
    for (fail_at = 1; !set; fail_at++) {
        filter_counting.nallocs = 0;
        filter_counting.fail_at = fail_at;
        enum unseen_status status = test_import(&image, &options, &set);
        filter_counting.fail_at = 0;
        CHECK(status == (set ? UNSEEN_OK : UNSEEN_ERR_NOMEM));
        CHECK(set || filter_counting.nlive == 0);
        if (!CHECK(fail_at < 10000)) {
            return;
        }
    }
    CHECK_EQ(filter_seen(set, 0, nkeys), nkeys);
    test_image_free(&image);
    filter_end(set);
}

/* ---- the same on every processor ---- */

void filter_check_levels(const char *filter, double fpr, uint64_t capacity, uint64_t nkeys)
{
    struct unseen_set_options options = filter_options(filter, fpr, capacity, 1);
    struct unseen_set *set = filter_make(&options);
    options.cpu = UNSEEN_CPU_PORTABLE;
    struct unseen_set *plain = filter_make(&options);
    CHECK_EQ(filter_add(set, 0, nkeys), filter_add(plain, 0, nkeys));
    struct test_image a = test_export(set);
    struct test_image b = test_export(plain);
    CHECK(test_same_image(&a, &b));
    CHECK_EQ(filter_seen(set, 1u << 30, (1u << 30) + 100000),
             filter_seen(plain, 1u << 30, (1u << 30) + 100000));
    test_image_free(&a);
    test_image_free(&b);
    unseen_set_free(plain);
    filter_end(set);
}

/* ---- union ---- */

/* Checks that the pieces of two exports are the same; headers and order may differ. */
static bool filter_same_bits(const struct test_image *a, const struct test_image *b)
{
    bool same = a->n == b->n;
    for (size_t i = 1; same && i + 1 < a->n; i++) {
        size_t x;
        size_t y;
        const uint8_t *p = test_chunk(a, i, &x);
        const uint8_t *q = test_chunk(b, i, &y);
        same = x == y && memcmp(p + 24, q + 24, x - 32) == 0;
    }
    return same;
}

void filter_check_merge(const char *filter, uint64_t capacity, unsigned threads,
                        unsigned other_threads)
{
    struct unseen_set_options options = filter_options(filter, 1e-3, capacity, threads);
    const struct unseen_set_options other = filter_options(filter, 1e-3, capacity, other_threads);
    struct unseen_set *a = filter_make(&options);
    struct unseen_set *b = filter_make(&other);
    struct unseen_set *whole = filter_make(&options);
    const uint64_t n = capacity;
    (void)filter_add(a, 0, n / 2);
    (void)filter_add(b, n / 3, n);
    (void)filter_add(whole, 0, n);
    CHECK(unseen_set_merge(a, a, NULL, NULL) == UNSEEN_ERR_ARGUMENT);
    filter_counting.nallocs = 0;
    filter_counting.fail_at = 1;
    CHECK(unseen_set_merge(a, b, NULL, NULL) == UNSEEN_ERR_NOMEM);
    filter_counting.fail_at = 0;
    CHECK(filter_seen(a, n / 2, n) < n / 100);
    CHECK(unseen_set_merge(a, b, NULL, NULL) == UNSEEN_OK);
    struct test_image x = test_export(a);
    struct test_image y = test_export(whole);
    CHECK(filter_same_bits(&x, &y));
    CHECK_EQ(filter_seen(a, 0, n), n);
    const struct unseen_set_stats merged = filter_stats(a);
    CHECK(fabs((double)merged.nkeys - (double)n) < 0.02 * (double)n);
    CHECK(fabs(merged.nkeys_estimate - (double)merged.nkeys) <= 64);
    CHECK(merged.fill == filter_stats(whole).fill);
    test_image_free(&x);
    test_image_free(&y);
    unseen_set_free(whole);
    unseen_set_free(b);
    filter_end(a);
}

void filter_check_mismatch(const char *filter)
{
    static const uint8_t seed[8] = {2};
    const struct unseen_set_options options = filter_options(filter, 1e-3, 10000, 1);
    struct unseen_set *set = filter_make(&options);
    (void)filter_add(set, 0, 1000);
    struct test_image before = test_export(set);
    for (int i = 0; i < 5; i++) {
        struct unseen_set_options wrong = options;
        wrong.seed = i == 0 ? &seed : wrong.seed;
        wrong.seed_len = i == 0 ? sizeof(seed) : wrong.seed_len;
        wrong.fpr = i == 1 ? 1.1e-3 : wrong.fpr;
        wrong.capacity += i == 2;
        wrong.key_bits = i == 3 ? 64 : 128;
        wrong.filter = i == 4 ? "compact" : wrong.filter;
        struct unseen_set *other = filter_make(&wrong);
        (void)filter_add(other, 1000, 2000);
        CHECK(unseen_set_merge(set, other, NULL, NULL) == UNSEEN_ERR_MISMATCH);
        CHECK(i != 4 || unseen_set_merge(other, set, NULL, NULL) == UNSEEN_ERR_MISMATCH);
        unseen_set_free(other);
    }
    struct test_image after = test_export(set);
    CHECK(test_same_image(&before, &after));
    test_image_free(&before);
    test_image_free(&after);
    filter_end(set);
}

/* ---- unsupported operations ---- */

void filter_check_unsupported(const char *filter, uint64_t capacity)
{
    struct unseen_set_options options = filter_options(filter, 1e-3, capacity, 2);
    struct unseen_set *set = filter_make(&options);
    const struct unseen_key key = test_key(1);
    const struct unseen_bytes item = {"a", 1};
    enum unseen_verdict one = UNSEEN_NEW;
    uint8_t verdict = 77;
    CHECK(test_set_add(set, "a", 1, &one) == UNSEEN_OK && one == UNSEEN_NEW);
    one = UNSEEN_NEW;
    CHECK(test_set_remove(set, "a", 1, &one) == UNSEEN_ERR_UNSUPPORTED && one == UNSEEN_NEW);
    CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_set_remove(set, &item, 1, &verdict, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(test_set_contains(set, "a", 1, &one) == UNSEEN_OK && one == UNSEEN_SEEN);
    CHECK(!(filter_stats(set).abilities & UNSEEN_CAN_REMOVE));
    filter_end(set);
    set = NULL;
    options.capacity = 0;
    const enum unseen_status status = unseen_set_create(&set, &options, NULL);
    CHECK(status == (capacity ? UNSEEN_ERR_ARGUMENT : UNSEEN_OK));
    filter_end(set);
}
