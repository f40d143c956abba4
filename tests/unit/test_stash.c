/* SPDX-License-Identifier: MIT
 *
 * Keys that find no slot. The stash alone against a sorted-array model; then keys made to
 * collide, as someone who knows the secret could make them: nothing is lost, each removal takes
 * away its own key only, and a set with such keys can be exported and imported with any number of
 * threads. */
#include "set_check.h"

static struct test_allocator counting;
static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};

/* ---- the stash alone ---- */

enum {
    NUMBERS = 700
};

/* Few different mixed values, and the zero key: long runs, and removals that must close gaps. */
static struct unseen_key stash_key(unsigned i)
{
    return (struct unseen_key){i % 7 ? i % 7 : 0, i / 7};
}

/* Detects a removal that leaves a gap in a run: a later key of the run is not found any more. */
static void check_stash(void)
{
    struct unseen__stash o = {0};
    bool present[NUMBERS] = {0};
    size_t nkeys = 0;
    uint64_t random = 3;
    CHECK(!unseen__stash_contains(&o, stash_key(5)));
    for (int step = 0; step < 60000; step++) {
        uint64_t x = test_random(&random);
        unsigned i = (unsigned)(x >> 8) % NUMBERS;
        CHECK(unseen__stash_contains(&o, stash_key(i)) == present[i]);
        if (!present[i] && x % 16 < 8) {
            CHECK(unseen__stash_add(&o, stash_key(i), &allocator) == UNSEEN_OK);
            present[i] = true;
            nkeys++;
        } else if (x % 16 >= 8) {
            CHECK(unseen__stash_remove(&o, stash_key(i)) == present[i]);
            nkeys -= present[i];
            present[i] = false;
        }
        CHECK_EQ(o.nkeys, nkeys);
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        CHECK(unseen__stash_contains(&o, stash_key(i)) == present[i]);
    }
    CHECK(unseen__stash_memory(&o) == counting.bytes);
    unseen__stash_release(&o, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

/* Each stash has a secret of its own, which stays with it when it grows. */
static void check_salts(void)
{
    struct unseen__stash stashes[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        CHECK(unseen__stash_add(&stashes[i], stash_key(1), &allocator) == UNSEEN_OK);
        const uint64_t salt = stashes[i].salt[0];
        CHECK(stashes[i].salt[0] != 0 && stashes[i].salt[1] != 0);
        for (unsigned k = 2; k < 200; k++) {
            CHECK(unseen__stash_add(&stashes[i], stash_key(k), &allocator) == UNSEEN_OK);
        }
        CHECK_EQ(stashes[i].salt[0], salt);
    }
    CHECK(stashes[0].salt[0] != stashes[1].salt[0] && stashes[0].salt[1] != stashes[1].salt[1]);
    for (int i = 0; i < 2; i++) {
        unseen__stash_release(&stashes[i], &allocator);
    }
    CHECK_EQ(counting.nlive, 0);
}

/* The longest run of slots in use. */
static size_t longest_run(const struct unseen__stash *o)
{
    size_t run = 0;
    size_t longest = 0;
    for (size_t i = 0; i < 2 * o->nslots; i++) {
        run = o->slots[i % o->nslots] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Keys that all had one slot when it followed from the key alone: the last multiplication undone
 * for the results 1 to n. An import of a few megabytes of them took hours. */
static void check_stash_made_to_collide(void)
{
    const uint64_t multiplier = 0xbf58476d1ce4e5b9u;
    uint64_t inverse = multiplier; /* right in 3 bits, and in twice as many with each step */
    for (int i = 0; i < 5; i++) {
        inverse *= 2 - multiplier * inverse;
    }
    struct unseen__stash o = {0};
    for (uint64_t i = 1; i <= 20000; i++) {
        const uint64_t hi = i * inverse;
        const struct unseen_key key = {hi << 32 | hi >> 32, hi};
        CHECK(unseen__stash_add(&o, key, &allocator) == UNSEEN_OK);
    }
    CHECK(longest_run(&o) < 1000);
    unseen__stash_release(&o, &allocator);
}

static void check_stash_nomem(void)
{
    struct unseen__stash o = {0};
    unsigned n = 0;
    while (n < 500) {
        counting.fail_at = counting.nallocs + 1;
        enum unseen_status status = unseen__stash_add(&o, stash_key(n), &allocator);
        counting.fail_at = 0;
        if (status == UNSEEN_ERR_NOMEM) {
            CHECK(!unseen__stash_contains(&o, stash_key(n)));
            CHECK(unseen__stash_add(&o, stash_key(n), &allocator) == UNSEEN_OK);
        }
        n++;
        CHECK_EQ(o.nkeys, n);
    }
    for (unsigned i = 0; i < n; i++) {
        CHECK(unseen__stash_contains(&o, stash_key(i)));
    }
    unseen__stash_release(&o, &allocator);
    CHECK_EQ(counting.nlive, 0);
}

/* ---- hostile keys in a set ---- */

/* Same lines, same page, and hi words that agree in the prefix of the filter and the top 17 bits of
 * the path: so many splits do not part them. The next 12 bits are those of i, of which a small tag
 * has 6 from the start, so that more than the 32 slots are wanted. The low 8 bits are below every
 * tag's end. */
static struct unseen_key hostile_key(const struct unseen_set *set, uint64_t i, uint64_t low)
{
    return (struct unseen_key){0x1234, (uint64_t)0x5BCD << 48 | i << (35 - set->shard_bits) | low};
}

enum {
    NHOSTILE = 3000,
    NRANDOM = 30000
};

static struct unseen_set *make_set(enum compact_width width, unsigned threads)
{
    static const uint8_t seed[8] = {1};
    struct unseen_set_options options = {
        .size = sizeof(options),
        .profile = "none",
        .fpr = test_fprs[width],
        .seed = seed,
        .seed_len = sizeof(seed),
        .threads = threads,
        .cpu = test_cpu,
        .allocator = &allocator,
    };
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
        exit(2);
    }
    return set;
}

static uint8_t add_key(struct unseen_set *set, struct unseen_key key)
{
    uint8_t verdict = 0xff;
    CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict;
}

static uint8_t ask_key(const struct unseen_set *set, struct unseen_key key)
{
    uint8_t verdict = 0xff;
    CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict;
}

static uint8_t remove_key(struct unseen_set *set, struct unseen_key key)
{
    uint8_t verdict = 0xff;
    CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict;
}

static size_t nstashed(const struct unseen_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        n += test_compact(set, i)->stash.nkeys;
    }
    return n;
}

/* Hostile keys among random ones. is_new says which of the hostile were new: they agree in so many
 * bits that some are taken for others. */
static void fill(struct unseen_set *set, uint8_t *is_new)
{
    for (uint64_t i = 0; i < NRANDOM; i++) {
        CHECK(add_key(set, test_key(i)) == UNSEEN_NEW);
        if (i < NHOSTILE) {
            is_new[i] = add_key(set, hostile_key(set, i, 0));
        }
    }
}

static void check_members(const struct unseen_set *set, const struct unseen_set *made_for,
                          const uint8_t *is_new)
{
    uint64_t nlost = 0;
    for (uint64_t i = 0; i < NRANDOM; i++) {
        nlost += ask_key(set, test_key(i)) != UNSEEN_SEEN;
        nlost +=
            i < NHOSTILE && is_new[i] && ask_key(set, hostile_key(made_for, i, 0)) != UNSEEN_SEEN;
    }
    CHECK_EQ(nlost, 0);
    CHECK(test_set_sound(set));
}

/* Two keys with equal tags, the first in the stash, the second in a line (a removal made room):
 * removing the first must not take the second's tag. Detects a removal that looks at tags first. */
static void check_twins(struct unseen_set *set, const uint8_t *is_new)
{
    struct compact *c = test_compact(set, 0);
    uint64_t twin = NHOSTILE;
    uint64_t place = NHOSTILE;
    for (uint64_t i = 0; i < NHOSTILE; i++) {
        bool inside = unseen__stash_contains(&c->stash, hostile_key(set, i, 0));
        if (inside && test_matches(c, hostile_key(set, i, 0)) == 0) {
            twin = i;
        } else if (is_new[i] && !inside) {
            place = i;
        }
    }
    CHECK(twin < NHOSTILE && place < NHOSTILE);
    CHECK(remove_key(set, hostile_key(set, place, 0)) == UNSEEN_SEEN);
    CHECK(add_key(set, hostile_key(set, twin, 1)) == UNSEEN_NEW);
    CHECK(test_matches(c, hostile_key(set, twin, 0)) == 1);
    CHECK(remove_key(set, hostile_key(set, twin, 0)) == UNSEEN_SEEN);
    CHECK(ask_key(set, hostile_key(set, twin, 1)) == UNSEEN_SEEN);
    CHECK(remove_key(set, hostile_key(set, twin, 1)) == UNSEEN_SEEN);
    CHECK(add_key(set, hostile_key(set, place, 0)) == UNSEEN_NEW);
    CHECK(add_key(set, hostile_key(set, twin, 0)) == UNSEEN_NEW);
}

static void check_hostile(enum compact_width width, unsigned threads)
{
    static uint8_t is_new[NHOSTILE];
    struct unseen_set *set = make_set(width, threads);
    fill(set, is_new);
    CHECK(nstashed(set) > 100);
    check_members(set, set, is_new);
    if (threads == 1) {
        check_twins(set, is_new);
        check_members(set, set, is_new);
    }
    /* Memory: the random keys, some 30 groups on the hostile path, and the stash. */
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    CHECK_EQ(stats.memory, counting.bytes);
    CHECK(stats.memory < ((uint64_t)16 << 20) + (threads > 1 ? (uint64_t)32 << 20 : 0));
    for (uint64_t i = 0; i < NHOSTILE; i++) {
        if (is_new[i]) {
            CHECK(remove_key(set, hostile_key(set, i, 0)) == UNSEEN_SEEN);
        }
    }
    for (uint64_t i = 0; i < NRANDOM; i++) {
        CHECK(remove_key(set, test_key(i)) == UNSEEN_SEEN);
    }
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    CHECK_EQ(stats.nkeys, 0);
    CHECK_EQ(nstashed(set), 0);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

/* From any number of threads to any other; the pieces of stash keys and the deep groups of the
 * hostile path must be accepted. */
static void check_export(enum compact_width width, unsigned from, unsigned to)
{
    static uint8_t is_new[NHOSTILE];
    struct unseen_set *set = make_set(width, from);
    fill(set, is_new);
    /* More stash keys than one piece holds, of every prefix, and the zero key. */
    for (uint64_t i = 0; i < 5000; i++) {
        struct unseen_key key = {i, i << 52 | i};
        size_t shard = (size_t)((key.hi >> 1) >> (63 - set->shard_bits));
        struct compact *c = test_compact(set, shard);
        CHECK(unseen__stash_add(&c->stash, key, &allocator) == UNSEEN_OK);
        c->nkeys++;
    }
    struct test_image image = test_export(set);
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .threads = to,
                                         .cpu = test_cpu,
                                         .allocator = &allocator};
    struct unseen_set *copy = NULL;
    if (CHECK(test_import(&image, &options, &copy) == UNSEEN_OK)) {
        check_members(copy, set, is_new);
        CHECK_EQ(nstashed(copy), nstashed(set));
        for (uint64_t i = 0; i < 5000; i++) {
            CHECK(ask_key(copy, (struct unseen_key){i, i << 52 | i}) == UNSEEN_SEEN);
        }
    }
    unseen_set_free(copy);
    test_image_free(&image);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
}

/* Replicas: the same calls give the same bytes, with keys in the stash and some removed from it. */
static void check_same_bytes(enum compact_width width)
{
    struct test_image images[2];
    for (int i = 0; i < 2; i++) {
        struct unseen_set *set = make_set(width, 1);
        for (uint64_t k = 0; k < NHOSTILE; k++) {
            (void)add_key(set, hostile_key(set, k % 4096, k / 4096));
            if (k % 3 == 0) {
                (void)remove_key(set, hostile_key(set, k / 2 % 4096, 0));
            }
        }
        images[i] = test_export(set);
        unseen_set_free(set);
    }
    CHECK_EQ(images[0].len, images[1].len);
    CHECK(memcmp(images[0].bytes, images[1].bytes, images[0].len) == 0);
    test_image_free(&images[0]);
    test_image_free(&images[1]);
}

int main(void)
{
    test_start();
    check_same_bytes(false);
    check_same_bytes(true);
    check_stash();
    check_stash_nomem();
    check_salts();
    check_stash_made_to_collide();
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        check_hostile(width, 1);
        check_hostile(width, 2);
        check_export(width, 1, 1);
        check_export(width, 1, 2);
        check_export(width, 2, 1);
        check_export(width, 2, 32);
        check_export(width, 32, 2);
    }
    return test_end();
}
