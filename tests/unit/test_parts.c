/* SPDX-License-Identifier: MIT
 *
 * The parts of a set: keys that are added part after part, each part dropped behind its last key,
 * get the answers and leave the figures of the same keys in their first order, with every width of
 * tags. Many of the keys are there twice, and tags are cut short so that some answers are wrong:
 * these must be the same ones. And a set whose parts are read one by one from the pages of another
 * one, get their keys and are saved, leaves the bytes of a set that had all of them at once. */
#include "pages_check.h"

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

/* Appends the pages of the part. */
static void save_part(const struct unseen__part *part, struct test_image *saved)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    uint64_t cursor = 0;
    size_t len = 0;
    do {
        CHECK(unseen__set_next_of_part(part, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK);
        saved->bytes = realloc(saved->bytes, saved->len + len + 1);
        CHECK(saved->bytes != NULL);
        memcpy(saved->bytes + saved->len, buf, len);
        saved->len += len;
    } while (len > 0);
    CHECK(unseen__set_keep_part(part) == UNSEEN_OK);
}

/* Adds the keys from NWHOLE on part after part. With saved, each part is read before and saved
 * behind. */
static void add_parts(struct unseen_set *set, const struct unseen_key *keys, uint8_t *verdicts,
                      unsigned bits, struct test_image *saved)
{
    struct unseen_key *of_part = malloc(NKEYS * sizeof(*of_part));
    uint32_t *index = malloc(NKEYS * sizeof(*index));
    uint8_t *answers = malloc(NKEYS);
    CHECK(of_part && index && answers);
    for (uint64_t part = 0; part < (uint64_t)1 << bits; part++) {
        const struct unseen__part loaded = {set, bits, part};
        size_t n = 0;
        CHECK(!saved || unseen__set_load_part(&loaded) == UNSEEN_OK);
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
        if (saved) {
            save_part(&loaded, saved);
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
    add_parts(b, keys, parted, bits, NULL);
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

/* The first keys are in a file. The parts are read from there, and saved. */
static void check_saved(double fpr)
{
    struct unseen_key *keys = malloc(NKEYS * sizeof(*keys));
    uint8_t *whole = malloc(NKEYS);
    uint8_t *parted = malloc(NKEYS);
    struct test_pages before;
    struct test_pages after;
    struct test_image saved = {0};
    struct unseen_set *b = NULL;
    uint64_t random = 5;
    CHECK(keys && whole && parted);
    for (size_t i = 0; i < NKEYS; i++) {
        keys[i] = i % 3 == 2 ? keys[test_random(&random) % i] : test_key(i);
        keys[i].hi >>= i % 3 == 1 ? 3 : 0; /* groups of different depths */
    }
    struct unseen_set *a = make(fpr);
    add(a, keys, NWHOLE, whole);
    test_pages_make(&before, a);
    before.is_late = true;
    const uint64_t memory = figures(a).memory;
    add(a, keys + NWHOLE, NKEYS - NWHOLE, whole + NWHOLE);
    test_pages_make(&after, a);

    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = test_cpu};
    CHECK(test_pages_open(&before, &options, &b) == UNSEEN_OK);
    CHECK(figures(b).memory < memory / 4); /* nothing of a page */
    const unsigned bits = unseen_set_part_bits(b);
    add_parts(b, keys, parted, bits, &saved);
    CHECK(memcmp(whole + NWHOLE, parted + NWHOLE, NKEYS - NWHOLE) == 0);
    CHECK(before.nread == before.pages.len / COMPACT_PAGE);
    CHECK(figures(b).memory < figures(a).memory);
    CHECK(saved.len == after.pages.len && memcmp(saved.bytes, after.pages.bytes, saved.len) == 0);
    struct test_image rest = test_export_by(unseen__set_next_rest, b);
    CHECK(test_same_image(&rest, &after.rest));
    uint8_t *table = malloc(after.table_len);
    CHECK(table && unseen__set_table_len(b) == after.table_len);
    unseen__set_save_table(b, table);
    CHECK(memcmp(table, after.table, after.table_len) == 0);

    /* A part that cannot be read: nothing of it is there, and it can be read later. */
    unseen_set_free(b);
    CHECK(test_pages_open(&before, &options, &b) == UNSEEN_OK);
    const struct unseen__part last = {b, bits, ((uint64_t)1 << bits) - 1};
    before.readable -= COMPACT_PAGE;
    CHECK(unseen__set_load_part(&last) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen__set_load_part(&last) == UNSEEN_ERR_CORRUPT);
    before.readable += COMPACT_PAGE;
    before.nread = 0;
    CHECK(unseen__set_load_part(&last) == UNSEEN_OK && before.nread > 0);
    before.nread = 0;
    CHECK(unseen__set_load_part(&last) == UNSEEN_OK && before.nread == 0);
    size_t nseen = 0;
    for (size_t i = 0; i < NWHOLE; i++) {
        uint8_t verdict = UNSEEN_NEW;
        CHECK(unseen_set_contains_keys(b, &keys[i], 1, &verdict, NULL) == UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nseen, NWHOLE);
    unseen_set_free(a);
    unseen_set_free(b);
    test_pages_free(&before);
    test_pages_free(&after);
    test_image_free(&saved);
    test_image_free(&rest);
    free(table);
    free(keys);
    free(whole);
    free(parted);
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
        check_saved(test_fprs[i]);
    }
    CHECK(nwrong > 0);
    check_refused();
    return test_end();
}
