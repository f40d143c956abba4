/* SPDX-License-Identifier: MIT
 *
 * Replicas: a set and its copy get the same changes, and must stay equal to the last byte. The copy
 * is made by export and import at each re-sync, as a server makes it for a replica. State that
 * steers later changes but is missing from an export shows here: the two sets drift apart. */
#include "set_check.h"

#include <unseen.h>

enum {
    ROUND = 10000, /* changes between two re-syncs */
    BATCH_MAX = 200
};

/* What the keys of a run are like. */
enum keys {
    RANDOM_KEYS,
    CROWDED_KEYS /* a fourth of them belong in two lines of one group, which cannot grow */
};

static const uint64_t seed = 7;

static struct unseen_set_options options_of(const char *filter, double fpr, unsigned threads)
{
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .filter = filter,
                                       .fpr = fpr,
                                       .capacity = 1000,
                                       .seed = &seed,
                                       .seed_len = sizeof(seed),
                                       .threads = threads,
                                       .cpu = test_cpu};
}

static struct unseen_key key_of(enum keys kind, uint64_t number)
{
    struct unseen_key key = test_key(number);
    if (kind == CROWDED_KEYS && number % 4 == 0) {
        key.lo &= ~(uint64_t)0xfffff;
        key.hi >>= 20;
    }
    return key;
}

/* One batch of changes to both sets. They give the same answers. */
static void change(struct unseen_set *sets[2], enum keys kind, bool removes, uint64_t nnumbers,
                   size_t n, uint64_t *random)
{
    struct unseen_key keys[BATCH_MAX];
    uint8_t verdicts[2][BATCH_MAX];
    for (size_t i = 0; i < n; i++) {
        keys[i] = key_of(kind, test_random(random) % nnumbers);
    }
    for (int i = 0; i < 2; i++) {
        /* The replica may cut a batch elsewhere, if one filter takes all keys in their order. */
        const size_t cut = i && sets[0]->shard_bits == 0 ? n / 3 : 0;
        CHECK(removes ? unseen_set_remove_keys(sets[i], keys, cut, verdicts[i], NULL) == UNSEEN_OK
                      : unseen_set_add_keys(sets[i], keys, cut, verdicts[i], NULL) == UNSEEN_OK);
        CHECK(removes ? unseen_set_remove_keys(sets[i], keys + cut, n - cut, verdicts[i] + cut,
                                               NULL) == UNSEEN_OK
                      : unseen_set_add_keys(sets[i], keys + cut, n - cut, verdicts[i] + cut,
                                            NULL) == UNSEEN_OK);
    }
    CHECK(memcmp(verdicts[0], verdicts[1], n) == 0);
}

static bool are_equal(const struct unseen_set *a, const struct unseen_set *b)
{
    if (unseen_set_digest(a) != unseen_set_digest(b)) {
        return false;
    }
    struct test_image x = test_export(a);
    struct test_image y = test_export(b);
    const bool equal = test_same_image(&x, &y);
    test_image_free(&x);
    test_image_free(&y);
    return equal;
}

/* Removals are a third of the changes, if the filter can. The numbers of keys grow, so the set
 * grows, too. */
static void check_replica(const char *filter, double fpr, unsigned threads, enum keys kind,
                          unsigned nrounds)
{
    const struct unseen_set_options options = options_of(filter, fpr, threads);
    struct unseen_set *sets[2] = {NULL, NULL};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    uint64_t random = 3;
    CHECK(unseen_set_create(&sets[0], &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_stats(sets[0], &stats) == UNSEEN_OK);
    const bool can_remove = stats.abilities & UNSEEN_CAN_REMOVE;
    unsigned nequal = 0;
    for (unsigned round = 0; round < nrounds; round++) {
        unseen_set_free(sets[1]);
        CHECK(test_copy(sets[0], &options, &sets[1]) == UNSEEN_OK);
        nequal += are_equal(sets[0], sets[1]);
        for (size_t done = 0, n = 0; done < ROUND; done += n) {
            n = 1 + test_random(&random) % BATCH_MAX;
            const bool removes = can_remove && test_random(&random) % 3 == 0;
            change(sets, kind, removes, (round + 1) * (uint64_t)ROUND, n, &random);
        }
        nequal += are_equal(sets[0], sets[1]);
    }
    if (!CHECK_EQ(nequal, 2 * nrounds)) {
        fprintf(stderr, "%s at %g, %u threads\n", filter, fpr, threads);
    }
    unseen_set_free(sets[0]);
    unseen_set_free(sets[1]);
}

/* Packed keys are as many bytes as a set keeps, and come back as the same keys; counts of keys are
 * those of the items. */
static void check_packed_keys(unsigned key_bits)
{
    enum {
        NKEYS = 100
    };
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .counts = true,
                                               .fpr = 1e-4,
                                               .seed = "s",
                                               .seed_len = 1,
                                               .key_bits = key_bits};
    struct unseen_set *set;
    struct unseen_key keys[NKEYS];
    struct unseen_key back[NKEYS];
    uint8_t packed[NKEYS * 16];
    uint8_t verdicts[NKEYS];
    uint64_t counts[NKEYS];
    size_t n;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_OK);
    for (uint64_t i = 0; i < NKEYS; i++) {
        keys[i] = unseen_set_identity_key(set, &i, sizeof(i));
    }
    const size_t len = unseen_set_pack_keys(set, keys, NKEYS, packed);
    CHECK_EQ(len, NKEYS * key_bits / 8);
    CHECK_EQ(unseen_set_unpack_keys(set, packed, len, back, NKEYS, &n), UNSEEN_OK);
    CHECK_EQ(n, NKEYS);
    CHECK_EQ(memcmp(keys, back, sizeof(keys)), 0);
    CHECK_EQ(unseen_set_unpack_keys(set, packed, len - 1, back, NKEYS, &n), UNSEEN_ERR_CORRUPT);
    CHECK_EQ(unseen_set_unpack_keys(set, packed, len, back, NKEYS - 1, &n), UNSEEN_ERR_SPACE);
    CHECK_EQ(unseen_set_add_keys(set, back, NKEYS, verdicts, NULL), UNSEEN_OK);
    CHECK_EQ(unseen_set_add_keys(set, keys, 7, verdicts, NULL), UNSEEN_OK);
    CHECK_EQ(unseen_set_count_keys(set, keys, NKEYS, counts), UNSEEN_OK);
    for (size_t i = 0; i < NKEYS; i++) {
        CHECK_EQ(counts[i], i < 7 ? 2 : 1);
    }
    unseen_set_free(set);
    const struct unseen_set_options plain = {.size = sizeof(plain), .profile = "none", .fpr = 1e-4};
    CHECK_EQ(unseen_set_create(&set, &plain, NULL), UNSEEN_OK);
    CHECK_EQ(unseen_set_count_keys(set, keys, NKEYS, counts), UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
}

int main(void)
{
    test_start();
    check_packed_keys(64);
    check_packed_keys(96);
    check_packed_keys(128);
    for (unsigned threads = 1; threads <= 2; threads++) {
        check_replica("compact", UNSEEN_FPR_DEFAULT, threads, RANDOM_KEYS, 20);
        check_replica("compact", 2e-6, threads, RANDOM_KEYS, 20);
        check_replica("compact", UNSEEN_FPR_DEFAULT, threads, CROWDED_KEYS, 6);
        check_replica("compact", 2e-6, threads, CROWDED_KEYS, 6);
        check_replica("scalable-count", UNSEEN_FPR_DEFAULT, threads, RANDOM_KEYS, 8);
        check_replica("scalable-count", 2e-6, threads, CROWDED_KEYS, 4);
        check_replica("compact", 1e-12, threads, RANDOM_KEYS, 8);
        check_replica("compact", 1e-12, threads, CROWDED_KEYS, 4);
        check_replica("bloom", 0.01, threads, RANDOM_KEYS, 2);
        check_replica("block", 0.01, threads, RANDOM_KEYS, 2);
        check_replica("counting", 0.01, threads, RANDOM_KEYS, 2);
    }
    return test_end();
}
