/* SPDX-License-Identifier: MIT
 *
 * Pages that are read when they are first needed: the set answers as one that was read at once,
 * reads only what it needs, and refuses what is damaged or forged.
 *
 * Label: threads */
#include "pages_check.h"

#include <pthread.h>
#include <unseen.h>

enum {
    NKEYS = 60000,
    NQUESTIONS = 20000,
    BATCH = 500,
    NTHREADS = 4,
    TABLE_HEAD = 8 + 8 * COMPACT_GENERATIONS,
    TABLE_GROUP = 4,
    TABLE_PAGE = 16
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

static struct unseen_set *open_pages(struct test_pages *p)
{
    const struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    CHECK(test_pages_open(p, &options, &set) == UNSEEN_OK);
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

/* A question reads one page, a change its group. Changes go on as in the other set, to the byte. */
static void test_same(double fpr, uint64_t table_checksum)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(fpr, NKEYS);
    test_pages_make(&p, whole);
    CHECK_EQ(unseen__checksum(p.table, p.table_len), table_checksum); /* the format stays */
    struct unseen_set *set = open_pages(&p);
    const struct unseen_key key = test_key(5);
    uint8_t verdict = UNSEEN_NEW;
    CHECK_EQ(p.nreads, 0);
    CHECK_EQ(test_compact(set, 0)->nkeys, NKEYS);
    for (int i = 0; i < 2; i++) {
        CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_SEEN);
    }
    CHECK_EQ(p.nread, 1);
    CHECK(unseen_set_remove_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(unseen_set_remove_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(p.nreads <= 3 && p.nread >= COMPACT_PAGES_MIN && p.nread <= COMPACT_PAGES_MAX);
    check_answers(set, whole);
    CHECK_EQ(p.nread, p.pages.len / COMPACT_PAGE);
    CHECK(unseen__compact_has_groups(set->shards[0].filter, &key, 1));
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    CHECK_EQ(p.nreleased, 1);

    /* Adds that split groups while others have not been read. */
    p.nread = 0;
    set = open_pages(&p);
    CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    for (uint64_t i = NKEYS; i < NKEYS + 400000; i++) {
        struct unseen_key low = test_key(i);
        uint8_t wanted;
        low.hi >>= 3;
        CHECK(unseen_set_add_keys(set, &low, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(unseen_set_add_keys(whole, &low, 1, &wanted, NULL) == UNSEEN_OK);
        CHECK(verdict == wanted);
    }
    CHECK(p.nread < p.pages.len / COMPACT_PAGE);
    CHECK(!unseen__compact_has_groups(set->shards[0].filter, NULL, 0));
    check_answers(set, whole);
    CHECK(test_set_sound(set));
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* Export, copy, digest and union need all pages. */
static void test_all_pages(void)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pages_make(&p, whole);
    struct unseen_set *set = open_pages(&p);
    CHECK(test_same_export(set, whole));
    unseen_set_free(set);

    set = open_pages(&p);
    CHECK(unseen_set_digest(set) == unseen_set_digest(whole));
    unseen_set_free(set);

    set = open_pages(&p);
    struct unseen_set *copy = NULL;
    CHECK(unseen_set_copy(&copy, set, NULL) == UNSEEN_OK && test_same_export(copy, whole));
    unseen_set_free(copy);
    unseen_set_free(set);

    for (int into = 0; into < 2; into++) {
        struct unseen_set *few = make_set(0, 10);
        set = open_pages(&p);
        CHECK(unseen_set_merge(into ? set : few, into ? few : set, NULL, NULL) == UNSEEN_OK);
        check_answers(into ? set : few, whole);
        unseen_set_free(set);
        unseen_set_free(few);
    }

    /* A table made of what was read is the same. */
    set = open_pages(&p);
    CHECK(unseen__set_fetch_all(set) == UNSEEN_OK);
    uint8_t *table = malloc(p.table_len);
    CHECK(table && unseen__set_table_len(set) == p.table_len);
    unseen__set_save_table(set, table);
    CHECK(memcmp(table, p.table, p.table_len) == 0);
    free(table);
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* Keys that agree in most bits: deep groups, and keys that stand behind the groups. */
static void test_crowded(void)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(0, 3000);
    for (uint64_t i = 0; i < 4000; i++) {
        const struct unseen_key key = {0x1234, (uint64_t)0x5B << 56 | i << 30};
        uint8_t verdict;
        CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK(test_compact(whole, 0)->stash.nkeys > 0);
    test_pages_make(&p, whole);
    struct unseen_set *set = open_pages(&p);
    CHECK(test_compact(set, 0)->nkeys == test_compact(whole, 0)->nkeys);
    CHECK(test_same_export(set, whole) && test_set_sound(set));
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* Keys with 11 bits in common: groups so deep that several are in one region, which a change reads
 * together. A damaged one is refused with its neighbours, which are not counted twice when it is
 * intact again. */
static void test_deep(void)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(0, 0);
    for (uint64_t i = 0; i < NKEYS; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        key.hi >>= 11;
        CHECK(unseen_set_add_keys(whole, &key, 1, &verdict, NULL) == UNSEEN_OK);
    }
    test_pages_make(&p, whole);
    struct unseen_set *set = open_pages(&p);
    struct unseen_key key = test_key(0);
    uint8_t verdict = UNSEEN_NEW;
    key.hi >>= 11;
    const struct compact_unread *u = test_compact(set, 0)->unread;
    CHECK(u->region_bits < 11);
    size_t last = 0; /* the last group of the region of all these keys */
    while (u->places[last + 1].path >> (64 - u->region_bits) == 0) {
        last++;
    }
    CHECK(last > 2);
    uint8_t *byte = p.pages.bytes + (size_t)u->places[last].first * COMPACT_PAGE + 100;
    *byte ^= 1;
    CHECK(unseen_set_contains_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(verdict == UNSEEN_SEEN && p.nread == 1);
    CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK(p.nreads > 2);
    *byte ^= 1;
    CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(verdict == UNSEEN_SEEN);
    CHECK(!unseen__compact_has_groups(set->shards[0].filter, NULL, 0));
    CHECK(test_same_export(set, whole) && test_set_sound(set));
    unseen_set_free(set);

    /* Whichever group of a region is needed first, none of them is forgotten. */
    for (uint64_t i = 1; i < 20; i++) {
        key = test_key(i);
        key.hi >>= 11;
        set = open_pages(&p);
        CHECK((i & 1 ? unseen_set_contains_keys(set, &key, 1, &verdict, NULL)
                     : unseen_set_add_keys(set, &key, 1, &verdict, NULL)) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_SEEN && test_same_export(set, whole));
        unseen_set_free(set);
    }
    unseen_set_free(whole);
    test_pages_free(&p);
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
    struct test_pages p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pages_make(&p, whole);
    struct unseen_set *set = open_pages(&p);
    pthread_t threads[NTHREADS];
    for (size_t i = 0; i < NTHREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, ask, set) == 0);
    }
    for (size_t i = 0; i < NTHREADS; i++) {
        void *nmissing = &p;
        CHECK(pthread_join(threads[i], &nmissing) == 0 && nmissing == NULL);
    }
    CHECK_EQ(p.nread, p.pages.len / COMPACT_PAGE);
    CHECK(p.nreads < 4 * test_compact(set, 0)->ngroups);
    unseen_set_free(set);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* ---- damage ---- */

/* Asks for all keys one by one: each is seen, or its page is refused. Returns how many were
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
    struct test_pages p;
    struct unseen_set *whole = make_set(0, NKEYS);
    const uint64_t npages = test_compact(whole, 0)->npages;
    test_pages_make(&p, whole);

    /* One page is damaged: its keys are refused each time, the others are there. */
    struct unseen_set *set = open_pages(&p);
    p.pages.bytes[5000] ^= 1;
    const unsigned long nrefused = count_refused(set);
    CHECK(nrefused > 100 && nrefused < 2 * NKEYS / npages);
    CHECK_EQ(count_refused(set), nrefused);
    CHECK(unseen_set_digest(set) == 0);
    struct unseen_set *few = make_set(0, 10);
    CHECK(unseen_set_merge(few, set, NULL, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_set_merge(set, few, NULL, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK_EQ(test_compact(few, 0)->nkeys, 10);
    unseen_set_free(few);
    /* An intact page is taken the next time. */
    p.pages.bytes[5000] ^= 1;
    CHECK_EQ(count_refused(set), 0);
    CHECK(test_same_export(set, whole));
    unseen_set_free(set);

    /* Cut short. */
    set = open_pages(&p);
    p.readable = p.pages.len / 4;
    CHECK(count_refused(set) > NKEYS / 2);
    p.readable = p.pages.len;
    unseen_set_free(set);

    /* The pages of another set. */
    struct unseen_set *other = make_set(0, NKEYS + 1);
    struct test_pages q;
    test_pages_make(&q, other);
    set = open_pages(&p);
    const struct test_image pages = p.pages;
    p.pages = q.pages;
    CHECK(count_refused(set) > 0);
    p.pages = pages;
    unseen_set_free(set);
    unseen_set_free(other);
    test_pages_free(&q);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* What the set does with a forged page under a right checksum, or with a forged table: it is
 * refused when it is opened, or its page when it is read. */
static bool is_refused(struct test_pages *p)
{
    const struct unseen_set_options options = options_for(0);
    struct unseen_set *set = NULL;
    const unsigned long nreleased = p->nreleased;
    const enum unseen_status status = test_pages_open(p, &options, &set);
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

/* What the table says of page i. */
static uint8_t *note_of(const struct test_pages *p, size_t i)
{
    return p->table + p->table_len - p->pages.len / COMPACT_PAGE * TABLE_PAGE + i * TABLE_PAGE;
}

static void test_forged(void)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(0, NKEYS);
    test_pages_make(&p, whole);
    uint8_t *group = p.table + TABLE_HEAD;
    CHECK(!is_refused(&p));

    /* Every bit of the table counts, but for those that fill it up. A line may be called full that
     * is not, but not the reverse. Stuck is any number up to its limit. */
    const size_t used = TABLE_HEAD + TABLE_GROUP * (size_t)load_le64(p.table);
    for (size_t i = 0; i < p.table_len; i++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            const bool is_note = i >= (size_t)(note_of(&p, 0) - p.table);
            const bool is_full = is_note && (p.table_len - 1 - i) / 8 % 2 == 1;
            const size_t at = (i - TABLE_HEAD) % TABLE_GROUP;
            const bool is_stuck = i >= TABLE_HEAD && i < used && (at == 2 || (at == 3 && bit == 0));
            const bool is_free =
                (!is_note && i >= used) || is_stuck || (is_full && !(p.table[i] >> bit & 1));
            p.table[i] ^= (uint8_t)(1u << bit);
            if (!is_free && (i < used || i % 13 == 0) && !CHECK(is_refused(&p))) {
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
    CHECK(test_pages_open(&p, &options, &set) == UNSEEN_ERR_CORRUPT);
    store_le64(p.table + 8, first);
    store_le64(p.table + 16, second);
    for (int by = -1; by <= 1; by += 2) {
        group[1] = (uint8_t)(group[1] + by);
        group[1 + TABLE_GROUP] = (uint8_t)(group[1 + TABLE_GROUP] - by);
        CHECK(is_refused(&p));
        group[1] = (uint8_t)(group[1] - by);
        group[1 + TABLE_GROUP] = (uint8_t)(group[1 + TABLE_GROUP] + by);
    }
    CHECK(!is_refused(&p));

    /* A tag less, a tag that cannot be where it is, and two pages that have changed places. */
    uint8_t *word = p.pages.bytes;
    while (load_le32(word) == 0) {
        word += 4;
    }
    const uint32_t tag = load_le32(word);
    static const uint32_t forged[] = {0, 1u << 22};
    for (size_t i = 0; i < 2; i++) {
        store_le32(word, forged[i]);
        store_le64(note_of(&p, 0) + 8, unseen__checksum(p.pages.bytes, COMPACT_PAGE));
        CHECK(is_refused(&p));
    }
    store_le32(word, tag);
    store_le64(note_of(&p, 0) + 8, unseen__checksum(p.pages.bytes, COMPACT_PAGE));
    CHECK(!is_refused(&p));
    for (unsigned i = 0; i < 2; i++) {
        uint8_t other[COMPACT_PAGE];
        uint8_t note[TABLE_PAGE];
        memcpy(other, p.pages.bytes, COMPACT_PAGE);
        memmove(p.pages.bytes, p.pages.bytes + COMPACT_PAGE, COMPACT_PAGE);
        memcpy(p.pages.bytes + COMPACT_PAGE, other, COMPACT_PAGE);
        memcpy(note, note_of(&p, 0), TABLE_PAGE);
        memmove(note_of(&p, 0), note_of(&p, 1), TABLE_PAGE);
        memcpy(note_of(&p, 1), note, TABLE_PAGE);
        CHECK(is_refused(&p) == (i == 0));
    }
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* A table makes no set of more memory than the pages have bytes. */
static void test_bounded(void)
{
    struct test_pages p;
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_for(0);
    struct unseen_set *whole = make_set(0, 1000);
    struct unseen_set *set = NULL;
    options.allocator = &allocator;
    test_pages_make(&p, whole);
    free(p.table);
    p.table_len = TABLE_HEAD + TABLE_GROUP * 65536 + p.pages.len / COMPACT_PAGE * TABLE_PAGE;
    p.table = calloc(1, p.table_len);
    CHECK(p.table != NULL);
    store_le64(p.table, 65536);
    for (size_t i = 0; i < 65536; i++) {
        p.table[TABLE_HEAD + TABLE_GROUP * i] = 16;
        p.table[TABLE_HEAD + TABLE_GROUP * i + 1] = COMPACT_PAGES_MAX;
    }
    CHECK(test_pages_open(&p, &options, &set) == UNSEEN_ERR_CORRUPT);
    CHECK(counting.nallocs < 100 && counting.nlive == 0);
    unseen_set_free(whole);
    test_pages_free(&p);
}

/* Without memory nothing is opened, nothing is released, and nothing leaks. Reading takes none. */
static void test_memory(void)
{
    struct test_pages p;
    struct unseen_set *whole = make_set(0, NKEYS);
    struct unseen_set *set = NULL;
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_set_options options = options_for(0);
    options.allocator = &allocator;
    test_pages_make(&p, whole);
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    for (unsigned long i = 1; status == UNSEEN_ERR_NOMEM; i++) {
        counting = (struct test_allocator){.fail_at = i};
        status = test_pages_open(&p, &options, &set);
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
    test_pages_free(&p);
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
    test_same(0, 0x5001139714fa4482);
    test_same(2e-6, 0x53806fea02d6c0be);
    test_all_pages();
    test_crowded();
    test_deep();
    test_damage();
    test_forged();
    test_bounded();
    test_memory();
    test_others();
    return test_end();
}
