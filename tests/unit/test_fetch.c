/* SPDX-License-Identifier: MIT
 *
 * Pieces that are read when they are first needed: the set answers as one that was read at once,
 * reads only what it needs, and refuses what is damaged or forged.
 *
 * Label: threads */
#include "pieces_check.h"

#include <pthread.h>
#include <unseen.h>

enum {
    NKEYS = 60000,
    NQUESTIONS = 20000,
    BATCH = 500,
    NTHREADS = 4,
    TABLE_HEAD = 8 + 8 * COMPACT_GENERATIONS,
    FRAME = 24
};

static const uint8_t seed[8] = {7};

static struct unseen_set_options options_for(double fpr)
{
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .profile = "none",
                                       .fpr = fpr,
                                       .seed = seed,
                                       .seed_len = sizeof(seed),
                                       .cpu = test_cpu};
}

static void add_keys(struct unseen_set *set, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict;
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
}

static struct unseen_set *make_set(double fpr, uint64_t nkeys)
{
    const struct unseen_set_options options = options_for(fpr);
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    add_keys(set, 0, nkeys);
    return set;
}

static struct unseen_set *open_pieces(struct test_pieces *p)
{
    const struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    CHECK(test_pieces_open(p, &options, &set) == UNSEEN_OK);
    return set;
}

/* ---- the same answers ---- */

static void check_answers(const struct unseen_set *set, const struct unseen_set *whole)
{
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    uint8_t wanted[BATCH];
    unsigned long ndifferent = 0;
    for (uint64_t i = NKEYS - NQUESTIONS; i < NKEYS + NQUESTIONS; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            keys[k] = test_key(i + k);
        }
        CHECK(unseen_set_contains_keys(set, keys, BATCH, verdicts, NULL) == UNSEEN_OK);
        CHECK(unseen_set_contains_keys(whole, keys, BATCH, wanted, NULL) == UNSEEN_OK);
        ndifferent += memcmp(verdicts, wanted, BATCH) != 0;
    }
    CHECK_EQ(ndifferent, 0);
}

/* A question reads one group; changes go on as in the other set, to the byte. */
static void test_same(double fpr, uint64_t table_checksum)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(fpr, NKEYS);
    test_pieces_make(&p, whole);
    CHECK_EQ(unseen__checksum(p.table, p.table_len), table_checksum); /* the format stays */
    struct unseen_set *set = open_pieces(&p);
    const struct unseen_key key = test_key(5);
    uint8_t verdict = UNSEEN_NEW;
    CHECK_EQ(p.nreads, 0);
    CHECK_EQ(test_compact(set, 0)->nkeys, NKEYS);
    for (int i = 0; i < 2; i++) {
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_SEEN);
    }
    CHECK_EQ(p.nreads, 1);
    CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(unseen_set_remove_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(p.nreads, 1);
    check_answers(set, whole);
    CHECK(p.nreads > 4);
    CHECK_EQ(p.nreads, test_compact(set, 0)->ngroups);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    CHECK_EQ(p.nreleased, 1);

    /* Adds that split groups while others have not been read. */
    set = open_pieces(&p);
    CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    for (uint64_t i = NKEYS; i < NKEYS + 400000; i++) {
        struct unseen_key low = test_key(i);
        uint8_t wanted;
        low.hi >>= 3;
        CHECK(unseen_set_add_keys(set, &low, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(whole, &low, 1, &wanted, NULL) == UNSEEN_OK);
        CHECK(verdict == wanted);
    }
    CHECK(p.nreads < 4 * test_compact(set, 0)->ngroups);
    CHECK(!unseen__compact_has_pieces(set->shards[0].filter, NULL, 0));
    check_answers(set, whole);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* Export, copy, digest and union need all pieces. */
static void test_all_pieces(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pieces_make(&p, whole);
    struct unseen_set *set = open_pieces(&p);
    CHECK(test_same_export(set, whole));
    unseen_set_free(set);

    set = open_pieces(&p);
    CHECK(unseen_set_digest(set) == unseen_set_digest(whole));
    unseen_set_free(set);

    set = open_pieces(&p);
    struct unseen_set *copy = NULL;
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK && test_same_export(copy, whole));
    unseen_set_free(copy);
    unseen_set_free(set);

    for (int into = 0; into < 2; into++) {
        struct unseen_set *few = make_set(0, 10);
        set = open_pieces(&p);
        CHECK(unseen_set_merge(into ? set : few, into ? few : set, NULL, NULL) == UNSEEN_OK);
        check_answers(into ? set : few, whole);
        unseen_set_free(set);
        unseen_set_free(few);
    }

    /* A table made while pieces are unread is the same. */
    set = open_pieces(&p);
    uint8_t *table = malloc(p.table_len);
    CHECK(table && unseen__set_table_len(set) == p.table_len);
    unseen__set_save_table(set, table);
    CHECK(memcmp(table, p.table, p.table_len) == 0);
    free(table);
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* Keys that agree in most bits: deep groups, and keys that stand behind the groups. */
static void test_crowded(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, 3000);
    for (uint64_t i = 0; i < 4000; i++) {
        const struct unseen_key key = {0x1234, (uint64_t)0x5B << 56 | i << 30};
        uint8_t verdict;
        CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK(test_compact(whole, 0)->stash.nkeys > 0);
    test_pieces_make(&p, whole);
    struct unseen_set *set = open_pieces(&p);
    CHECK(test_compact(set, 0)->nkeys == test_compact(whole, 0)->nkeys);
    CHECK(test_same_export(set, whole) && test_set_sound(set));
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* Keys with 11 bits in common: groups so deep that several are in one region, which are read
 * together. A damaged one is refused with its neighbours, which are not counted twice when it is
 * intact again. */
static void test_deep(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, 0);
    for (uint64_t i = 0; i < NKEYS; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        key.hi >>= 11;
        CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    test_pieces_make(&p, whole);
    struct unseen_set *set = open_pieces(&p);
    struct unseen_key key = test_key(0);
    uint8_t verdict = UNSEEN_NEW;
    key.hi >>= 11;
    CHECK(test_compact(set, 0)->unread->region_bits < 11);
    p.image.bytes[p.image.end[4] - 1] ^= 1;
    CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK(p.nreads > 1);
    p.image.bytes[p.image.end[4] - 1] ^= 1;
    CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(verdict == UNSEEN_SEEN && p.nreads > 3);
    CHECK(!unseen__compact_has_pieces(set->shards[0].filter, NULL, 0));
    CHECK(test_same_export(set, whole) && test_set_sound(set));
    unseen_set_free(set);

    /* Whichever group of a region is needed first, none of them is forgotten. */
    for (uint64_t i = 1; i < 20; i++) {
        key = test_key(i);
        key.hi >>= 11;
        set = open_pieces(&p);
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_SEEN && test_same_export(set, whole));
        unseen_set_free(set);
    }
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* ---- many threads ask ---- */

static void *ask(void *context)
{
    const struct unseen_set *set = context;
    struct unseen_key keys[BATCH];
    uint8_t verdicts[BATCH];
    uintptr_t nmissing = 0;
    for (uint64_t i = 0; i < NQUESTIONS; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            keys[k] = test_key(i + k);
        }
        const size_t n = i / BATCH % 3 == 0 ? 1 : BATCH;
        const bool done = unseen_set_contains_keys(set, keys, n, verdicts, NULL) == UNSEEN_OK;
        for (size_t k = 0; k < n; k++) {
            nmissing += !done || verdicts[k] != UNSEEN_SEEN;
        }
    }
    return (void *)nmissing;
}

static void test_threads(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pieces_make(&p, whole);
    struct unseen_set *set = open_pieces(&p);
    pthread_t threads[NTHREADS];
    for (size_t i = 0; i < NTHREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, ask, set) == 0);
    }
    for (size_t i = 0; i < NTHREADS; i++) {
        void *nmissing = &p;
        CHECK(pthread_join(threads[i], &nmissing) == 0 && nmissing == NULL);
    }
    CHECK_EQ(p.nreads, test_compact(set, 0)->ngroups);
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* ---- damage ---- */

/* Asks for all keys one by one: each is seen, or its piece is refused. Returns how many were
 * refused. */
static unsigned long count_refused(struct unseen_set *set)
{
    unsigned long nrefused = 0;
    unsigned long nwrong = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict = 0xEE;
        size_t ndone = 7;
        const enum unseen_status status = unseen_set_contains_keys(set, &key, 1, &verdict, &ndone);
        nrefused += status == UNSEEN_ERR_CORRUPT;
        nwrong += status == UNSEEN_OK ? verdict != UNSEEN_SEEN || ndone != 1
                                      : verdict != 0xEE || ndone != 0;
    }
    CHECK_EQ(nwrong, 0);
    return nrefused;
}

static void test_damage(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, NKEYS);
    const uint64_t ngroups = test_compact(whole, 0)->ngroups;
    test_pieces_make(&p, whole);

    /* One piece is damaged: its keys are refused each time, the others are there. */
    struct unseen_set *set = open_pieces(&p);
    p.image.bytes[p.image.end[1] + 5000] ^= 1;
    const unsigned long nrefused = count_refused(set);
    CHECK(nrefused > 100 && nrefused < 2 * NKEYS / ngroups);
    CHECK_EQ(count_refused(set), nrefused);
    CHECK(unseen_set_digest(set) == 0);
    struct unseen_set *few = make_set(0, 10);
    CHECK(unseen_set_merge(few, set, NULL, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_set_merge(set, few, NULL, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK_EQ(test_compact(few, 0)->nkeys, 10);
    unseen_set_free(few);
    /* An intact piece is taken the next time. */
    p.image.bytes[p.image.end[1] + 5000] ^= 1;
    CHECK_EQ(count_refused(set), 0);
    CHECK(test_same_export(set, whole));
    unseen_set_free(set);

    /* Cut short. */
    set = open_pieces(&p);
    p.readable = p.image.end[2];
    CHECK(count_refused(set) > NKEYS / 2);
    p.readable = p.image.len;
    unseen_set_free(set);

    /* A piece of another export, and one group in the place of another. */
    struct unseen_set *other = make_set(0, NKEYS + 1);
    struct test_pieces q;
    test_pieces_make(&q, other);
    set = open_pieces(&p);
    struct test_image image = p.image;
    p.image = q.image;
    CHECK(count_refused(set) > 0);
    p.image = image;
    unseen_set_free(set);
    unseen_set_free(other);
    test_pieces_free(&q);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* What the set does with a forged piece under a right checksum, or with a forged table: it is
 * refused when it is opened, or its piece when it is read. */
static bool is_refused(struct test_pieces *p)
{
    const struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    const unsigned long nreleased = p->nreleased;
    const enum unseen_status status = test_pieces_open(p, &options, &set);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_CORRUPT && p->nreleased <= nreleased + 1;
    }
    uint64_t cursor = 0;
    uint8_t buf[UNSEEN_CHUNK_MAX];
    size_t len;
    const bool refused =
        unseen_set_export(set, &cursor, buf, sizeof(buf), &len) == UNSEEN_ERR_CORRUPT;
    unseen_set_free(set);
    return refused && p->nreleased == nreleased + 1;
}

static void test_forged(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pieces_make(&p, whole);
    size_t len;
    uint8_t *chunk = test_chunk(&p.image, 2, &len);
    uint8_t *group = p.table + TABLE_HEAD;
    CHECK(!is_refused(&p));

    /* Every byte of the table counts, but for those that fill it up. */
    const size_t used = TABLE_HEAD + 2 * (size_t)load_le64(p.table);
    for (size_t i = 0; i < used; i++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            p.table[i] ^= (uint8_t)(1u << bit);
            if (!CHECK(is_refused(&p))) {
                fprintf(stderr, "byte %zu of the table, bit %u\n", i, bit);
            }
            p.table[i] ^= (uint8_t)(1u << bit);
        }
    }
    for (size_t cut = 1; cut <= p.table_len; cut += 7) {
        p.table_len -= cut;
        CHECK(is_refused(&p));
        p.table_len += cut;
    }
    /* Numbers whose sum is right, and a page more for one group than for the next. */
    for (size_t i = 8; i + 8 < TABLE_HEAD; i += 8) {
        const uint64_t a = load_le64(p.table + i);
        const uint64_t b = load_le64(p.table + i + 8);
        if (a != b) {
            store_le64(p.table + i, b);
            store_le64(p.table + i + 8, a);
            CHECK(is_refused(&p));
            store_le64(p.table + i, a);
            store_le64(p.table + i + 8, b);
        }
    }
    /* More tags than slots, with the right sum modulo 2^64: refused before anything is read. */
    const struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    const uint64_t first = load_le64(p.table + 8);
    const uint64_t second = load_le64(p.table + 16);
    store_le64(p.table + 8, first - (uint64_t)1000);
    store_le64(p.table + 16, second + (uint64_t)1000);
    CHECK(test_pieces_open(&p, &options, &set) == UNSEEN_ERR_CORRUPT);
    store_le64(p.table + 8, first);
    store_le64(p.table + 16, second);
    for (int by = -1; by <= 1; by += 2) {
        group[1] = (uint8_t)(group[1] + by);
        group[3] = (uint8_t)(group[3] - by);
        CHECK(is_refused(&p));
        group[1] = (uint8_t)(group[1] - by);
        group[3] = (uint8_t)(group[3] + by);
    }
    CHECK(!is_refused(&p));

    /* The head of a piece: kind, depth, pages, reserved, stuck, prefix; and the frame. */
    static const size_t heads[] = {0, 1, 2, 3, 5, 6, 7, 8, 15};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        chunk[FRAME + heads[i]] ^= 0x40;
        test_repair(chunk, len);
        CHECK(is_refused(&p));
        chunk[FRAME + heads[i]] ^= 0x40;
    }
    chunk[FRAME + 1]++; /* one bit deeper */
    test_repair(chunk, len);
    CHECK(is_refused(&p));
    chunk[FRAME + 1]--;
    static const size_t frames[] = {0, 4, 8, 15, 16};
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        chunk[frames[i]] ^= 1;
        test_repair(chunk, len);
        CHECK(is_refused(&p));
        chunk[frames[i]] ^= 1;
    }
    /* A tag less, and a tag that cannot be where it is. */
    uint8_t *word = chunk + FRAME + 16;
    while (load_le32(word) == 0) {
        word += 4;
    }
    const uint32_t tag = load_le32(word);
    store_le32(word, 0);
    test_repair(chunk, len);
    CHECK(is_refused(&p));
    store_le32(word, tag);
    test_repair(chunk, len);
    CHECK(!is_refused(&p));
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* A table makes no set of more memory than the pieces have bytes. */
static void test_bounded(void)
{
    struct test_pieces p;
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_for(0);
    struct unseen_set *whole = make_set(0, 1000);
    struct unseen_set *set = NULL;
    options.allocator = &allocator;
    test_pieces_make(&p, whole);
    free(p.table);
    p.table_len = TABLE_HEAD + 2 * 65536;
    p.table = calloc(1, p.table_len);
    CHECK(p.table != NULL);
    store_le64(p.table, 65536);
    for (size_t i = 0; i < 65536; i++) {
        p.table[TABLE_HEAD + 2 * i] = 16;
        p.table[TABLE_HEAD + 2 * i + 1] = COMPACT_PAGES_MAX;
    }
    CHECK(test_pieces_open(&p, &options, &set) == UNSEEN_ERR_CORRUPT);
    CHECK(counting.nallocs < 100 && counting.nlive == 0);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* Without memory nothing is opened, nothing is released, and nothing leaks. Reading takes none. */
static void test_memory(void)
{
    struct test_pieces p;
    struct unseen_set *whole = make_set(0, NKEYS);
    struct unseen_set *set = NULL;
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_for(0);
    options.allocator = &allocator;
    test_pieces_make(&p, whole);
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    for (unsigned long i = 1; status == UNSEEN_ERR_NOMEM; i++) {
        counting = (struct test_allocator){.fail_at = i};
        status = test_pieces_open(&p, &options, &set);
        CHECK(status == UNSEEN_OK || counting.nlive == 0);
    }
    CHECK(status == UNSEEN_OK);
    const unsigned long nallocs = counting.nallocs;
    CHECK_EQ(test_compact(set, 0)->memory + sizeof(*set) + sizeof(*set->shards), counting.bytes);
    CHECK_EQ(count_refused(set), 0);
    CHECK_EQ(counting.nallocs, nallocs);
    unseen_set_free(set);
    CHECK_EQ(counting.nlive, 0);
    unseen_set_free(whole);
    test_pieces_free(&p);
}

/* Sets of several filters, and filters without a table, have none. */
static void test_others(void)
{
    struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    options.threads = 2;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK_EQ(unseen__set_table_len(set), 0);
    unseen_set_free(set);
    options.threads = 0;
    options.counts = true;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK_EQ(unseen__set_table_len(set), 0);
    unseen_set_free(set);
}

int main(void)
{
    test_start();
    test_threads();
    if (TEST_THREADS_ONLY) {
        return test_end();
    }
    test_same(0, 0x9caf560b46780bf0);
    test_same(2e-6, 0x933c0f7dc3e9174a);
    test_all_pieces();
    test_crowded();
    test_deep();
    test_damage();
    test_forged();
    test_bounded();
    test_memory();
    test_others();
    return test_end();
}
