/* SPDX-License-Identifier: MIT
 *
 * Room in advance: a set that got some keys, then room, then the other keys, against a set that was
 * made for all of them. Keys at random, sorted and crowded; every growing filter that can; tags
 * without a bit left; and a failing allocator at every step. */
#include "set_check.h"

#include <unseen.h>

enum order {
    RANDOM_KEYS,
    SORTED_KEYS, /* all in a sixteenth of the groups */
    CROWDED_KEYS /* a fourth of them belong in two lines of one group, which cannot grow */
};

enum {
    BATCH = 250
};

static const uint64_t seed = 7;

static struct unseen_key key_of(enum order order, uint64_t number)
{
    struct unseen_key key = test_key(number);
    if (order == SORTED_KEYS) {
        key.hi = key.hi >> 4 | (uint64_t)5 << 60;
    } else if (order == CROWDED_KEYS && number % 4 == 0) {
        key.lo &= ~(uint64_t)0xfffff;
        key.hi >>= 20;
    }
    return key;
}

static struct unseen_set *create(const char *filter, double fpr, unsigned threads,
                                 uint64_t capacity, enum unseen_cpu cpu,
                                 const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = filter,
                                               .fpr = fpr,
                                               .capacity = capacity,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .threads = threads,
                                               .cpu = cpu,
                                               .allocator = allocator};
    struct unseen_set *set = NULL;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_OK);
    return set;
}

static struct unseen_set_stats stats_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK_EQ(unseen_set_stats(set, &stats), UNSEEN_OK);
    return stats;
}

/* Adds the keys first to end; returns how many were new. */
static uint64_t add(struct unseen_set *set, enum order order, uint64_t first, uint64_t end)
{
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    uint64_t nnew = 0;
    for (uint64_t i = first; i < end; i += BATCH) {
        const size_t n = end - i < BATCH ? (size_t)(end - i) : BATCH;
        for (size_t k = 0; k < n; k++) {
            keys[k] = key_of(order, i + k);
        }
        CHECK_EQ(unseen_set_add_keys(set, keys, n, verdicts, NULL), UNSEEN_OK);
        for (size_t k = 0; k < n; k++) {
            nnew += verdicts[k] == UNSEEN_NEW;
        }
    }
    return nnew;
}

static uint64_t count_seen(const struct unseen_set *set, enum order order, uint64_t n)
{
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_key key = key_of(order, i);
        uint8_t verdict = UNSEEN_NEW;
        CHECK_EQ(unseen_set_contains_keys(set, &key, 1, &verdict, NULL), UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen;
}

/* What growing has read so far. */
static uint64_t work_of(const struct unseen_set *set)
{
    uint64_t work = 0;
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        work += test_compact(set, i)->work;
    }
    return work;
}

/* An import takes the export of the set, and has the same keys. */
static void check_export(const struct unseen_set *set, enum order order, uint64_t n)
{
    struct test_image image = test_export(set);
    struct unseen_set *copy = test_import_set(&image, set->threads);
    if (CHECK(copy != NULL)) {
        CHECK_EQ(count_seen(copy, order, n), n);
        unseen_set_free(copy);
    }
    test_image_free(&image);
}

static void check_room(const char *filter, double fpr, unsigned threads, enum order order,
                       uint64_t nbefore, uint64_t nkeys)
{
    struct unseen_set *set = create(filter, fpr, threads, 0, test_cpu, NULL);
    struct unseen_set *made = create(filter, fpr, threads, nkeys, test_cpu, NULL);
    struct unseen_set *plain = create(filter, fpr, threads, 0, UNSEEN_CPU_PORTABLE, NULL);
    uint64_t nnew = add(set, order, 0, nbefore);
    CHECK_EQ(add(plain, order, 0, nbefore), nnew);
    const uint64_t digest = unseen_set_digest(set);
    const struct unseen_set_stats grown = stats_of(set);
    CHECK_EQ(unseen_set_reserve(set, nkeys), UNSEEN_OK);
    CHECK_EQ(unseen_set_reserve(plain, nkeys), UNSEEN_OK);
    const struct unseen_set_stats roomy = stats_of(set);
    CHECK_EQ(roomy.nkeys, grown.nkeys);
    CHECK(test_set_sound(set));
    CHECK_EQ(count_seen(set, order, nbefore), nbefore);
    check_export(set, order, nbefore);
    const uint64_t work = work_of(set);
    nnew += add(set, order, nbefore, nkeys);
    (void)add(plain, order, nbefore, nkeys);
    if (order == RANDOM_KEYS) {
        /* The geometry of the made set, and then nothing was left to grow. */
        const uint64_t nslots = stats_of(made).nslots;
        CHECK_EQ(roomy.nslots, grown.nslots > nslots ? grown.nslots : nslots);
        CHECK_EQ(work_of(set), work);
    }
    CHECK(nnew >= nkeys - 4 || order == CROWDED_KEYS); /* of which some match each other's tags */
    CHECK(test_set_sound(set));
    CHECK_EQ(count_seen(set, order, nkeys), nkeys);
    check_export(set, order, nkeys);
    /* Every level leaves the same bytes. */
    CHECK_EQ(unseen_set_digest(set), unseen_set_digest(plain));
    /* Room that is there already changes nothing but the generation: chunks of before do not
     * fit. */
    const uint64_t full = unseen_set_digest(set);
    const uint64_t memory = stats_of(set).memory;
    CHECK_EQ(unseen_set_reserve(set, nkeys / 4), UNSEEN_OK);
    CHECK_EQ(unseen_set_digest(set), full);
    CHECK_EQ(stats_of(set).memory, memory);
    CHECK(digest != full);
    unseen_set_free(set);
    unseen_set_free(made);
    unseen_set_free(plain);
}

/* Chunks of before and after do not make one set. */
static void check_chunks(void)
{
    enum {
        NKEYS = 30000
    };
    struct unseen_set *set = create("compact", 2e-6, 1, 0, test_cpu, NULL);
    struct unseen_import *import = NULL;
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = test_cpu};
    (void)add(set, RANDOM_KEYS, 0, NKEYS);
    struct test_image before = test_export(set);
    CHECK_EQ(unseen_set_reserve(set, NKEYS), UNSEEN_OK);
    struct test_image after = test_export(set);
    CHECK_EQ(unseen_import_create(&import, &options, NULL), UNSEEN_OK);
    CHECK_EQ(test_import_chunk(import, &before, 0), UNSEEN_OK);
    CHECK(test_import_chunk(import, &after, 1) != UNSEEN_OK);
    unseen_import_free(import);
    test_image_free(&before);
    test_image_free(&after);
    unseen_set_free(set);
}

/* Tags that have no bit left belong to both halves of a group that splits. */
static void check_void(double fpr)
{
    enum {
        NKEYS = 3000
    };
    const struct unseen__filter_params params = {
        .fpr = fpr,
        .cpu = test_cpu,
        .allocator = {test_alloc, test_free, &(struct test_allocator){0}}};
    struct unseen__filter *filter = NULL;
    const unsigned cut = fpr < 1e-6 ? 27 : 19; /* tags of four bits */
    CHECK_EQ(unseen__compact_create_cut(&filter, &params, cut), UNSEEN_OK);
    for (uint64_t i = 0; i < NKEYS; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict;
        size_t ndone;
        CHECK_EQ(filter->ops->add(filter, &key, 1, &verdict, &ndone), UNSEEN_OK);
    }
    CHECK_EQ(unseen__compact_reserve(filter, (uint64_t)1 << 19), UNSEEN_OK);
    const struct compact *c = (const struct compact *)(const void *)filter;
    CHECK(c->ngroups > 32);
    CHECK(test_compact_sound(c));
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict;
        filter->ops->contains(filter, &key, 1, &verdict);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nseen, NKEYS);
    filter->ops->free(filter);
}

/* Whichever allocation fails, the set keeps its keys and goes on. */
static void check_memory(const char *filter, double fpr)
{
    enum {
        NBEFORE = 12000,
        NKEYS = 400000
    };
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    unsigned long nfailed = 0;
    for (unsigned long fail_at = 1; status != UNSEEN_OK; fail_at += 1 + fail_at / 8) {
        struct test_allocator a = {0};
        const struct unseen_allocator allocator = {test_alloc, test_free, &a};
        struct unseen_set *set = create(filter, fpr, 1, 0, test_cpu, &allocator);
        const uint64_t nnew = add(set, RANDOM_KEYS, 0, NBEFORE);
        a.fail_at = a.nallocs + fail_at;
        status = unseen_set_reserve(set, NKEYS);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM);
        a.fail_at = 0;
        nfailed += status != UNSEEN_OK;
        CHECK(test_set_sound(set));
        CHECK_EQ(stats_of(set).nkeys, nnew);
        CHECK_EQ(count_seen(set, RANDOM_KEYS, NBEFORE), NBEFORE);
        check_export(set, RANDOM_KEYS, NBEFORE);
        CHECK_EQ(unseen_set_reserve(set, NKEYS), UNSEEN_OK);
        (void)add(set, RANDOM_KEYS, NBEFORE, NKEYS / 8);
        CHECK_EQ(count_seen(set, RANDOM_KEYS, NKEYS / 8), NKEYS / 8);
        unseen_set_free(set);
        CHECK_EQ(a.nlive, 0);
    }
    CHECK(nfailed >= 10);
}

int main(void)
{
    test_start();
    static const struct {
        const char *filter;
        double fpr;
    } filters[] = {{"compact", UNSEEN_FPR_DEFAULT},
                   {"compact", 2e-6},
                   {"scalable-count", 2e-6},
                   {"compact", 1e-12}};
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        const char *filter = filters[i].filter;
        const double fpr = filters[i].fpr;
        check_room(filter, fpr, 1, RANDOM_KEYS, 0, 40000);
        check_room(filter, fpr, 1, RANDOM_KEYS, 5000, 8000); /* one group of more pages */
        check_room(filter, fpr, 1, RANDOM_KEYS, 20000, 150000);
        check_room(filter, fpr, 2, RANDOM_KEYS, 20000, 300000);
        check_room(filter, fpr, 1, SORTED_KEYS, 20000, 100000);
        check_room(filter, fpr, 1, CROWDED_KEYS, 8000, 30000);
        check_memory(filter, fpr);
    }
    check_chunks();
    check_void(UNSEEN_FPR_DEFAULT);
    check_void(2e-6);
    struct unseen_set *set = create("bloom", 0.01, 1, 1000, test_cpu, NULL);
    CHECK_EQ(unseen_set_reserve(set, 2000), UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
    set = create("compact", 2e-6, 1, 0, test_cpu, NULL);
    CHECK_EQ(unseen_set_reserve(set, UINT64_MAX), UNSEEN_ERR_NOMEM);
    unseen_set_free(set);
    return test_end();
}
