/* SPDX-License-Identifier: MIT
 *
 * The parts of a set: keys that are added part after part, each part dropped behind its last key,
 * get the answers and leave the figures of the same keys in their first order, with every width of
 * tags. Many of the keys are there twice, and tags are cut short so that some answers are wrong:
 * these must be the same ones. */
#include "set_check.h"

#include <unseen.h>

enum {
    NKEYS = 600000,
    NWHOLE = 200000, /* are added before the keys are parted */
    BATCH = 512,
    CUT = 12 /* bits that a tag lacks */
};

static const uint64_t seed = 7;

static struct unseen_set *make(double fpr)
{
    struct unseen_set *set = NULL;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .fpr = fpr,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .cpu = test_cpu};
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    test_compact(set, 0)->mark = 1u << CUT;
    return set;
}

static void add(struct unseen_set *set, const struct unseen_key *keys, size_t n, uint8_t *verdicts)
{
    for (size_t at = 0; at < n; at += BATCH) {
        const size_t count = n - at < BATCH ? n - at : BATCH;
        CHECK(unseen_set_add_keys(set, keys + at, count, verdicts + at, NULL) == UNSEEN_OK);
    }
}

/* Adds the keys from NWHOLE on part after part. */
static void add_parts(struct unseen_set *set, const struct unseen_key *keys, uint8_t *verdicts,
                      unsigned bits)
{
    struct unseen_key *of_part = malloc(NKEYS * sizeof(*of_part));
    uint32_t *index = malloc(NKEYS * sizeof(*index));
    uint8_t *answers = malloc(NKEYS);
    CHECK(of_part && index && answers);
    for (uint64_t part = 0; part < (uint64_t)1 << bits; part++) {
        size_t n = 0;
        for (uint32_t i = NWHOLE; i < NKEYS; i++) {
            if (keys[i].hi >> (64 - bits) == part) {
                of_part[n] = keys[i];
                index[n++] = i;
            }
        }
        add(set, of_part, n, answers);
        for (size_t i = 0; i < n; i++) {
            verdicts[index[i]] = answers[i];
        }
        CHECK(unseen_set_drop_part(set, bits, part) == UNSEEN_OK);
    }
    free(of_part);
    free(index);
    free(answers);
}

static struct unseen_set_stats figures(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    return stats;
}

/* Returns the number of wrong answers. */
static size_t check_width(double fpr)
{
    struct unseen_key *keys = malloc(NKEYS * sizeof(*keys));
    uint8_t *whole = malloc(NKEYS);
    uint8_t *parted = malloc(NKEYS);
    uint64_t random = 5;
    size_t nwrong = 0;
    CHECK(keys && whole && parted);
    for (size_t i = 0; i < NKEYS; i++) {
        keys[i] = i % 3 == 2 ? keys[test_random(&random) % i] : test_key(i);
    }
    struct unseen_set *a = make(fpr);
    struct unseen_set *b = make(fpr);
    CHECK(unseen_set_part_bits(a) == 0);
    add(a, keys, NKEYS, whole);
    add(b, keys, NWHOLE, parted);
    const unsigned bits = unseen_set_part_bits(b);
    const uint64_t memory = figures(b).memory;
    CHECK(bits >= 3 && bits <= unseen_set_part_bits(a));
    add_parts(b, keys, parted, bits);
    CHECK(memcmp(whole, parted, NKEYS) == 0);
    for (size_t i = 0; i < NKEYS; i++) {
        nwrong += i % 3 != 2 && whole[i] == UNSEEN_SEEN;
    }
    CHECK(figures(a).nkeys == figures(b).nkeys);
    CHECK(figures(a).nslots == figures(b).nslots);
    CHECK(figures(a).fpr_estimate == figures(b).fpr_estimate);
    /* A part has a few percent of the keys, and its pages are used again. */
    CHECK(figures(b).memory < memory + memory / 2 && memory * 2 < figures(a).memory);
    unseen_set_free(a);
    unseen_set_free(b);
    free(keys);
    free(whole);
    free(parted);
    return nwrong;
}

/* What has no parts. */
static void check_refused(void)
{
    struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .seed = &seed, .seed_len = sizeof(seed)};
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_drop_part(set, 0, 0) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_set_drop_part(set, 49, 0) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_set_drop_part(set, 3, 8) == UNSEEN_ERR_ARGUMENT);
    unseen_set_free(set);
    options.threads = 2;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_part_bits(set) == 0);
    CHECK(unseen_set_drop_part(set, 1, 0) == UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
    options.threads = 1;
    options.window = 1000;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_part_bits(set) == 0);
    unseen_set_free(set);
    options.window = 0;
    options.filter = "block";
    options.capacity = 1000;
    options.fpr = 1e-3;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_part_bits(set) == 0);
    CHECK(unseen_set_drop_part(set, 1, 0) == UNSEEN_ERR_UNSUPPORTED);
    unseen_set_free(set);
}

int main(void)
{
    size_t nwrong = 0;
    test_start();
    for (size_t i = 0; i < COMPACT_WIDTHS; i++) {
        nwrong += check_width(test_fprs[i]);
    }
    CHECK(nwrong > 0);
    check_refused();
    return test_end();
}
