/* SPDX-License-Identifier: MIT
 *
 * The set as its users see it: options, any bytes, single calls and batches of all shapes, seeds,
 * numbers, URL identity, and memory that runs out.
 *
 * Label: kernels */
#include "set_check.h"

#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <unseen.h>

static struct unseen_set *make(const struct unseen_set_options *options)
{
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, options, NULL) != UNSEEN_OK) {
        fprintf(stderr, "no set\n");
        exit(2);
    }
    return set;
}

static const uint64_t seed_1 = 1;

static struct unseen_set_options options_of(double fpr, unsigned threads)
{
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .fpr = fpr,
                                       .seed = &seed_1,
                                       .seed_len = sizeof(seed_1),
                                       .threads = threads,
                                       .cpu = test_cpu};
}

static enum unseen_verdict add(struct unseen_set *set, const void *data, size_t len)
{
    enum unseen_verdict verdict = (enum unseen_verdict)77;
    CHECK(test_set_add(set, data, len, &verdict) == UNSEEN_OK);
    return verdict;
}

static enum unseen_verdict ask(const struct unseen_set *set, const void *data, size_t len)
{
    enum unseen_verdict verdict = (enum unseen_verdict)77;
    CHECK(test_set_contains(set, data, len, &verdict) == UNSEEN_OK);
    return verdict;
}

static enum unseen_verdict take(struct unseen_set *set, const void *data, size_t len)
{
    enum unseen_verdict verdict = (enum unseen_verdict)77;
    CHECK(test_set_remove(set, data, len, &verdict) == UNSEEN_OK);
    return verdict;
}

static struct unseen_set_stats stats_of(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats;
}

/* ---- options ---- */

static enum unseen_status try_fpr(double fpr)
{
    struct unseen_set_options options = options_of(fpr, 1);
    struct unseen_set *set = NULL;
    enum unseen_status status = unseen_set_create(&set, &options, NULL);
    CHECK((status == UNSEEN_OK) == (set != NULL));
    unseen_set_free(set);
    return status;
}

/* The rate chooses the tags: a set's promise is never above what was asked for. */
static void check_fpr(void)
{
    static const struct {
        double fpr;
        enum compact_width width;
    } choices[] = {{1e-12, COMPACT_51},     {4.9999e-9, COMPACT_51}, {0, COMPACT_39},
                   {5e-9, COMPACT_39},      {1e-8, COMPACT_39},      {1e-6, COMPACT_39},
                   {1.4999e-6, COMPACT_39}, {1.5e-6, COMPACT_32},    {2e-6, COMPACT_32},
                   {1e-4, COMPACT_32},      {0.999, COMPACT_32}};
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct unseen_set_options options = options_of(choices[i].fpr, 1);
        struct unseen_set *set = make(&options);
        struct unseen_set_stats stats = stats_of(set);
        CHECK(stats.fpr_promise <= (choices[i].fpr > 0 ? choices[i].fpr : UNSEEN_FPR_DEFAULT));
        CHECK_EQ(test_compact(set, 0)->layout->width, choices[i].width);
        CHECK(stats.fpr_estimate == 0);
        unseen_set_free(set);
    }
    CHECK(try_fpr(0.9999e-12) == UNSEEN_ERR_FPR);
    CHECK(try_fpr(1e-300) == UNSEEN_ERR_FPR);
    CHECK(try_fpr(1.0) == UNSEEN_ERR_ARGUMENT);
    CHECK(try_fpr(-1e-3) == UNSEEN_ERR_ARGUMENT);
    CHECK(try_fpr((double)NAN) == UNSEEN_ERR_ARGUMENT);
    CHECK(try_fpr((double)INFINITY) == UNSEEN_ERR_ARGUMENT);
}

static void check_options(void)
{
    struct unseen_set *set = NULL;
    struct unseen_set_options options = options_of(0, 1);
    CHECK(unseen_set_create(&set, NULL, NULL) == UNSEEN_OK);
    CHECK(strcmp(stats_of(set).filter, "compact") == 0);
    CHECK(strcmp(unseen_set_profile(set), "crawl/1") == 0);
    unseen_set_free(set);
    set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(strcmp(unseen_set_profile(set), "none/1") == 0);
    unseen_set_free(set);
    set = NULL;
    options.profile = "crawler";
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NAME && !set);
    options.profile = "none";
    options.size = 0;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_SIZE);
    options.size = sizeof(options) + 1;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_SIZE);
    /* An older caller's struct ends earlier: what it lacks has its default. */
    options.size = offsetof(struct unseen_set_options, filter);
    options.filter = "no such filter";
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    unseen_set_free(set);
    set = NULL;
    options.size = sizeof(options);
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NAME);
    options = options_of(0, 1);
    options.capacity = UINT64_MAX;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NOMEM);
    options.threads = 8;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NOMEM);
    /* Small blocks would be promised until the memory is full: refused before the first of them.
     * More pages than can be numbered; more bytes than can be addressed. */
    options = options_of(0, 1);
    options.capacity = 2000000000000;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NOMEM);
    options = options_of(0, 32);
    options.capacity = 300000000000000;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_NOMEM);
    CHECK(set == NULL);
    unseen_set_free(NULL);
}

static void check_seed(void)
{
    struct unseen_set_options options = options_of(0, 1);
    struct unseen_set *a = make(&options);
    struct unseen_set *b = make(&options);
    options.seed = NULL;
    options.seed_len = 0;
    struct unseen_set *c = make(&options);
    struct unseen_set *d = make(&options);
    const struct unseen_set *sets[4] = {a, b, c, d};
    struct unseen_key keys[4];
    for (int i = 0; i < 4; i++) {
        struct unseen_bytes item = {"http://example.org/", 19};
        uint8_t form = 77;
        struct unseen_key again;
        CHECK(test_set_key(sets[i], item.data, item.len, &keys[i]) == UNSEEN_OK);
        CHECK(unseen_set_keys(sets[i], &item, 1, &again, &form) == UNSEEN_OK);
        CHECK(memcmp(&again, &keys[i], sizeof(again)) == 0 && form == UNSEEN_URL_UNCHANGED);
        again = unseen_set_identity_key(sets[i], item.data, item.len);
        CHECK(memcmp(&again, &keys[i], sizeof(again)) == 0);
    }
    CHECK(keys[0].lo == keys[1].lo && keys[0].hi == keys[1].hi);
    CHECK(keys[0].lo != keys[2].lo && keys[2].lo != keys[3].lo);
    unseen_set_free(a);
    unseen_set_free(b);
    unseen_set_free(c);
    unseen_set_free(d);
}

/* ---- bytes ---- */

/* Any bytes of any length, each at the end of a page that has no next one. */
static void check_bytes(unsigned threads)
{
    static char big[65536];
    static const size_t lens[] = {0,   1,   2,   3,   4,    8,    9,    16,   17,    32,    128,
                                  129, 240, 241, 512, 1023, 1024, 4095, 4096, 16384, 65535, 65536};
    struct unseen_set_options options = options_of(0, threads);
    struct unseen_set *set = make(&options);
    uint64_t random = 9;
    for (size_t i = 0; i < sizeof(big); i++) {
        big[i] = (char)test_random(&random);
    }
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        const char *data = test_guarded(big, lens[i]);
        CHECK(ask(set, data, lens[i]) == UNSEEN_NEW);
        CHECK(add(set, data, lens[i]) == UNSEEN_NEW);
        CHECK(add(set, big, lens[i]) == UNSEEN_SEEN);
        CHECK(ask(set, data, lens[i]) == UNSEEN_SEEN);
    }
    CHECK(ask(set, NULL, 0) == UNSEEN_SEEN);
    CHECK(take(set, NULL, 0) == UNSEEN_SEEN);
    CHECK(ask(set, big, 0) == UNSEEN_NEW);
    CHECK(take(set, "", 0) == UNSEEN_NEW);
    /* NUL is a byte as any other. */
    CHECK(add(set, "a\0b", 3) == UNSEEN_NEW);
    CHECK(ask(set, "a\0c", 3) == UNSEEN_NEW);
    CHECK(ask(set, "a", 1) == UNSEEN_NEW);
    CHECK(add(set, "\xff\x80", 2) == UNSEEN_NEW);
    CHECK(ask(set, "\xff\x81", 2) == UNSEEN_NEW);
    unseen_set_free(set);
}

/* ---- batches ---- */

enum {
    NITEMS = 5000,
    ITEM_MAX = 24
};

static char texts[NITEMS * ITEM_MAX];
static struct unseen_bytes items[NITEMS];
static size_t total;

/* Two thirds different texts in random order, the empty one among them. */
static void make_items(void)
{
    uint64_t random = 4;
    for (size_t i = 0; i < NITEMS; i++) {
        int n = snprintf(texts + total, ITEM_MAX, "http://e.com/%u",
                         (unsigned)(test_random(&random) % (NITEMS * 2 / 3)));
        items[i] = (struct unseen_bytes){texts + total, i % 1000 == 77 ? 0 : (size_t)n};
        total += items[i].len;
    }
}

enum shape {
    ITEMS,
    KEYS
};

static void run_batch(struct unseen_set *set, enum shape shape, size_t at, size_t n, bool adding,
                      uint8_t *verdicts)
{
    struct unseen_key *keys = malloc((n ? n : 1) * sizeof(*keys));
    enum unseen_status status = UNSEEN_OK;
    size_t ndone = adding ? n + 1 : n;
    if (!keys) {
        exit(2);
    }
    switch (shape) {
    case ITEMS:
        status = adding ? unseen_set_add(set, items + at, n, verdicts, &ndone)
                        : unseen_set_contains(set, items + at, n, verdicts, NULL);
        break;
    case KEYS:
        CHECK(unseen_set_keys(set, items + at, n, keys, NULL) == UNSEEN_OK);
        status = adding ? unseen_set_add_keys(set, keys, n, verdicts, &ndone)
                        : unseen_set_contains_keys(set, keys, n, verdicts, NULL);
        break;
    }
    CHECK(status == UNSEEN_OK);
    CHECK_EQ(ndone, n);
    free(keys);
}

/* A batch of any size and shape gives the answers, and leaves the bytes, of single calls. */
static void check_batches(double fpr, unsigned threads)
{
    static const size_t sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, NITEMS};
    static uint8_t single[NITEMS];
    static uint8_t batch[NITEMS + 1];
    struct unseen_set_options options = options_of(fpr, threads);
    struct unseen_set *set = make(&options);
    for (size_t i = 0; i < NITEMS; i++) {
        single[i] = (uint8_t)add(set, items[i].data, items[i].len);
    }
    struct test_image image = test_export(set);
    unseen_set_free(set);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (enum shape shape = ITEMS; shape <= KEYS; shape++) {
            set = make(&options);
            memset(batch, 0x5A, sizeof(batch));
            for (size_t at = 0; at < NITEMS; at += sizes[s]) {
                size_t n = NITEMS - at < sizes[s] ? NITEMS - at : sizes[s];
                run_batch(set, shape, at, n, true, batch + at);
            }
            CHECK(memcmp(batch, single, NITEMS) == 0);
            CHECK(batch[NITEMS] == 0x5A);
            struct test_image other = test_export(set);
            CHECK(test_same_image(&image, &other));
            test_image_free(&other);
            run_batch(set, shape, 0, NITEMS, false, batch);
            CHECK(memchr(batch, UNSEEN_NEW, NITEMS) == NULL);
            run_batch(set, shape, 0, 0, true, NULL);
            run_batch(set, shape, 0, 0, false, NULL);
            unseen_set_free(set);
        }
    }
    test_image_free(&image);
}

/* Removing in a batch: of two equal items the first is there, the second is not. */
static void check_remove_batch(unsigned threads)
{
    static uint8_t added[NITEMS];
    static uint8_t removed[NITEMS];
    struct unseen_set_options options = options_of(0, threads);
    struct unseen_set *set = make(&options);
    CHECK(unseen_set_add(set, items, NITEMS, added, NULL) == UNSEEN_OK);
    CHECK(unseen_set_remove(set, items, NITEMS, removed, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < NITEMS; i++) {
        CHECK(added[i] != removed[i]); /* NEW when added, SEEN when removed */
    }
    CHECK_EQ(stats_of(set).nkeys, 0);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
}

/* Every member of the family counts its items, for items and for keys. */
static void check_family(unsigned threads)
{
    struct unseen_set_options options = options_of(0, threads);
    struct unseen_set *set = make(&options);
    const struct unseen_bytes some[3] = {{"a", 1}, {"b", 1}, {"a", 1}};
    struct unseen_key keys[3];
    uint8_t v[3];
    uint64_t counts[3];
    size_t ndone = 0;
    CHECK(unseen_set_add(set, some, 3, v, &ndone) == UNSEEN_OK && ndone == 3);
    CHECK(v[0] == UNSEEN_NEW && v[1] == UNSEEN_NEW && v[2] == UNSEEN_SEEN);
    ndone = 0;
    CHECK(unseen_set_contains(set, some, 3, v, &ndone) == UNSEEN_OK && ndone == 3);
    CHECK(v[0] == UNSEEN_SEEN && v[1] == UNSEEN_SEEN && v[2] == UNSEEN_SEEN);
    ndone = 0;
    CHECK(unseen_set_remove(set, some, 3, v, &ndone) == UNSEEN_OK && ndone == 3);
    CHECK(v[0] == UNSEEN_SEEN && v[1] == UNSEEN_SEEN && v[2] == UNSEEN_NEW);
    CHECK(unseen_set_keys(set, some, 3, keys, NULL) == UNSEEN_OK);
    ndone = 0;
    CHECK(unseen_set_contains_keys(set, keys, 3, v, &ndone) == UNSEEN_OK && ndone == 3);
    CHECK(v[0] == UNSEEN_NEW && v[1] == UNSEEN_NEW && v[2] == UNSEEN_NEW);
    ndone = 0;
    CHECK(unseen_set_remove_keys(set, keys, 3, v, &ndone) == UNSEEN_OK && ndone == 3);
    CHECK(unseen_set_count_keys(set, keys, 3, counts) == UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
}

/* ---- numbers ---- */

static void check_stats(double fpr, unsigned threads)
{
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_of(fpr, threads);
    options.allocator = &allocator;
    struct unseen_set *set = make(&options);
    struct unseen_set_stats before = stats_of(set);
    static uint8_t verdicts[256];
    struct unseen_key keys[256];
    CHECK_EQ(before.nkeys, 0);
    CHECK_EQ(before.memory, counting.bytes);
    for (uint64_t i = 0; i < 100096; i += 256) {
        for (size_t k = 0; k < 256; k++) {
            keys[k] = test_key(i + k);
        }
        CHECK(unseen_set_add_keys(set, keys, 256, verdicts, NULL) == UNSEEN_OK);
        CHECK_EQ(stats_of(set).memory, counting.bytes);
    }
    struct unseen_set_stats after = stats_of(set);
    CHECK_EQ(after.nkeys, 100096);
    CHECK(after.nslots >= after.nkeys && after.nslots * 4 <= after.memory);
    CHECK(after.fpr_estimate > 0 && after.fpr_estimate < after.fpr_promise);
    /* The first chunk of pages doubles: at worst half of it is not used yet. */
    CHECK(threads > 1 || after.memory < after.nkeys * 12);
    /* An older caller's struct gets its own part only. */
    for (size_t size = sizeof(size_t); size <= sizeof(after); size++) {
        struct unseen_set_stats part;
        memset(&part, 0x5A, sizeof(part));
        part.size = size;
        CHECK(unseen_set_stats(set, &part) == UNSEEN_OK);
        CHECK(part.size == size);
        const unsigned char *bytes = (const unsigned char *)&part;
        for (size_t i = size; i < sizeof(part); i++) {
            CHECK(bytes[i] == 0x5A);
        }
    }
    after.size = sizeof(size_t) - 1;
    CHECK(unseen_set_stats(set, &after) == UNSEEN_ERR_SIZE);
    after.size = sizeof(after) + 1;
    CHECK(unseen_set_stats(set, &after) == UNSEEN_ERR_SIZE);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
    CHECK_EQ(counting.bytes, 0);
}

static void check_capacity(double fpr, unsigned threads)
{
    enum {
        CAPACITY = 300000
    };
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_of(fpr, threads);
    options.allocator = &allocator;
    options.capacity = CAPACITY;
    struct unseen_set *set = make(&options);
    struct unseen_set_stats before = stats_of(set);
    CHECK(before.nslots >= CAPACITY);
    for (uint64_t i = 0; i < CAPACITY; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    struct unseen_set_stats after = stats_of(set);
    /* A group that gets more than its share may grow. */
    CHECK(after.nslots <= before.nslots + before.nslots / 20);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- identity ---- */

static void check_url(unsigned threads)
{
    struct unseen_set_options options = options_of(0, threads);
    options.profile = NULL;
    struct unseen_set *set = make(&options);
    CHECK(strcmp(unseen_set_profile(set), "crawl/1") == 0);
    static const char first[] = "HTTP://Example.COM:80/a/../b#c";
    static const char same[] = "http://example.com/b";
    static const char other[] = "http://example.com/c";
    CHECK(add(set, first, strlen(first)) == UNSEEN_NEW);
    CHECK(add(set, same, strlen(same)) == UNSEEN_SEEN);
    CHECK(add(set, other, strlen(other)) == UNSEEN_NEW);
    struct unseen_bytes three[3] = {
        {first, strlen(first)}, {same, strlen(same)}, {"\x01 no url", 8}};
    struct unseen_key keys[3];
    uint8_t forms[3];
    CHECK(unseen_set_keys(set, three, 3, keys, forms) == UNSEEN_OK);
    CHECK(forms[0] == UNSEEN_URL_REWRITTEN && forms[1] == UNSEEN_URL_UNCHANGED &&
          forms[2] == UNSEEN_URL_FAILED);
    struct unseen_key key = unseen_set_identity_key(set, same, strlen(same));
    CHECK(memcmp(&keys[0], &key, sizeof(key)) == 0 && memcmp(&keys[1], &key, sizeof(key)) == 0);
    /* Longer than any buffer on the stack. */
    enum {
        LONG = 100000
    };
    char *text = malloc(LONG);
    if (!text) {
        exit(2);
    }
    memset(text, 'A', LONG);
    memcpy(text, "HTTP://e.com/\xc3\xa9?", 16);
    CHECK(add(set, text, LONG) == UNSEEN_NEW);
    memcpy(text, "http://E.com/\xc3\xa9?", 16);
    CHECK(add(set, text, LONG) == UNSEEN_SEEN);
    text[LONG - 1] = 'B';
    CHECK(add(set, text, LONG) == UNSEEN_NEW);
    free(text);
    unseen_set_free(set);
}

/* ---- memory that runs out ---- */

enum {
    SWEEP_KEYS = 60000,
    SWEEP_KEYS_SHARED = 150000, /* so that each of the 16 filters grows */
    SWEEP_BATCH = 1100,         /* more than a set for threads sorts at a time */
    SWEEP_ON = 10 * SWEEP_BATCH /* keys with memory again */
};

/* Adds keys while the allocation number fail_at fails, and goes on where it stopped: every key that
 * was answered is there, the others are not, and nothing is lost after memory is back. Detects a
 * growth step that changes the group before its last allocation, and a
 * batch over several filters that keeps what was added behind the first key without an answer. */
static bool sweep_one(double fpr, unsigned threads, unsigned long fail_at, bool fail_after)
{
    struct test_allocator counting = {.fail_at = fail_at, .fail_after = fail_after};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_of(fpr, threads);
    options.allocator = &allocator;
    struct unseen_set *set = NULL;
    enum unseen_status status = unseen_set_create(&set, &options, NULL);
    if (status != UNSEEN_OK) {
        CHECK(status == UNSEEN_ERR_NOMEM && set == NULL);
        CHECK_EQ(counting.nlive, 0);
        return true;
    }
    bool failed = false;
    uint64_t nkeys = threads > 1 ? SWEEP_KEYS_SHARED : SWEEP_KEYS;
    struct unseen_key keys[SWEEP_BATCH];
    uint8_t verdicts[SWEEP_BATCH];
    for (uint64_t at = 0; at < nkeys;) {
        size_t n = nkeys - at < SWEEP_BATCH ? (size_t)(nkeys - at) : SWEEP_BATCH;
        size_t ndone = 77777;
        for (size_t i = 0; i < n; i++) {
            keys[i] = test_key(at + i);
        }
        memset(verdicts, 0x5A, sizeof(verdicts));
        status = unseen_set_add_keys(set, keys, n, verdicts, &ndone);
        CHECK(ndone <= n && (status == UNSEEN_OK) == (ndone == n));
        for (size_t i = 0; i < n; i++) {
            CHECK_EQ(verdicts[i], i < ndone ? UNSEEN_NEW : 0x5A);
        }
        at += ndone;
        if (status != UNSEEN_OK) {
            CHECK(status == UNSEEN_ERR_NOMEM);
            CHECK(test_set_sound(set));
            CHECK_EQ(stats_of(set).nkeys, at);
            CHECK_EQ(stats_of(set).memory, counting.bytes);
            CHECK(unseen_set_contains_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK);
            for (size_t i = 0; i < n; i++) {
                CHECK_EQ(verdicts[i], i < ndone ? UNSEEN_SEEN : UNSEEN_NEW);
            }
            failed = true;
            counting.fail_at = 0;
            nkeys = at + SWEEP_ON < nkeys ? at + SWEEP_ON : nkeys;
        }
    }
    uint64_t nlost = 0;
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nlost += verdict != UNSEEN_SEEN;
    }
    CHECK_EQ(nlost, 0);
    CHECK_EQ(stats_of(set).nkeys, 0);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
    CHECK_EQ(counting.bytes, 0);
    return failed;
}

static void check_sweep(double fpr, unsigned threads)
{
    unsigned long nfailed = 0;
    for (int after = 0; after < 2; after++) {
        unsigned long step = 1;
        for (unsigned long n = 1; sweep_one(fpr, threads, n, after); n += step) {
            nfailed++;
            step = n > 40 ? 13 : 1;
        }
    }
    CHECK(nfailed > 20);
}

/* With a capacity: every allocation of a creation fails once. */
static void check_create_sweep(double fpr, unsigned threads)
{
    struct unseen_set *set = NULL;
    unsigned long n = 0;
    while (!set) {
        struct test_allocator counting = {.fail_at = ++n};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        struct unseen_set_options options = options_of(fpr, threads);
        options.allocator = &allocator;
        options.capacity = 2000000;
        enum unseen_status status = unseen_set_create(&set, &options, NULL);
        CHECK(status == (set ? UNSEEN_OK : UNSEEN_ERR_NOMEM));
        CHECK(set || counting.nlive == 0);
        if (set) {
            unseen_set_free(set);
            CHECK_EQ(counting.nlive, 0);
            break;
        }
    }
    CHECK(n > 8);
}

/* A long URL needs memory for its canonical form. */
static void check_url_nomem(void)
{
    enum {
        LONG = 100000
    };
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_of(0, 1);
    options.profile = "crawl";
    options.allocator = &allocator;
    struct unseen_set *set = make(&options);
    char *text = malloc(LONG);
    if (!text) {
        exit(2);
    }
    memset(text, ' ', LONG);
    memcpy(text, "HTTP://E.com/a?b", 16);
    text[LONG - 1] = 'c';
    struct unseen_bytes three[3] = {{"http://e.com/1", 14}, {text, LONG}, {"http://e.com/2", 14}};
    uint8_t verdicts[3] = {0x5A, 0x5A, 0x5A};
    size_t ndone = 77;
    enum unseen_verdict verdict = (enum unseen_verdict)77;
    counting.fail_at = counting.nallocs + 1;
    counting.fail_after = true;
    CHECK(test_set_add(set, text, LONG, &verdict) == UNSEEN_ERR_NOMEM);
    CHECK((int)verdict == 77);
    CHECK(unseen_set_add(set, three, 3, verdicts, &ndone) == UNSEEN_ERR_NOMEM);
    for (size_t i = 0; i < 3; i++) {
        CHECK((verdicts[i] == 0x5A) == (i >= ndone));
        CHECK(i == 1 ||
              ask(set, three[i].data, three[i].len) == (i < ndone ? UNSEEN_SEEN : UNSEEN_NEW));
    }
    counting.fail_at = 0;
    CHECK(add(set, text, LONG) == UNSEEN_NEW);
    free(text);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

int main(void)
{
    test_start();
#ifdef __GLIBC__
    /* Freed memory stays here: thousands of sets are made, in pages that the system clears. */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 25);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
    make_items();
    check_fpr();
    check_options();
    check_seed();
    check_url_nomem();
    for (unsigned threads = 1; threads <= 2; threads++) {
        check_bytes(threads);
        check_remove_batch(threads);
        check_family(threads);
        check_url(threads);
        for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
            const double fpr = test_fprs[width];
            check_batches(fpr, threads);
            check_stats(fpr, threads);
            check_capacity(fpr, threads);
            check_sweep(fpr, threads);
            check_create_sweep(fpr, threads);
        }
    }
    return test_end();
}
