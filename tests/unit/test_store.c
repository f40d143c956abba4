/* SPDX-License-Identifier: MIT
 *
 * A store against the dumbest model: an array that says what is in it. Commits run in a thread.
 *
 * Label: threads */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hash/key.h"
#include "log/log_format.h"
#include <unseen.h>

enum {
    NKEYS = 4000,
    PATH_LEN = 300,
    END_LEN = UNSEEN__RECORD_HEAD + UNSEEN__RECORD_TAIL /* the record that ends a log */
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];
static char other[PATH_LEN];
static char output[PATH_LEN];

static struct unseen_error error;

/* ---- files ---- */

static uint64_t size_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* ---- stores ---- */

/* The keys of all stores are made with one secret: of the millions of lines that are new, one in
 * 10^9 would be seen, and each run has the same ones. */
static struct unseen_store_options options_of(enum unseen_store_mode mode)
{
    static const uint8_t seed[] = "test_store";
    const bool makes = mode == UNSEEN_STORE_CREATE || mode == UNSEEN_STORE_DRAFT;
    return (struct unseen_store_options){.size = sizeof(struct unseen_store_options),
                                         .mode = mode,
                                         .profile = NULL,
                                         .seed = makes ? seed : NULL,
                                         .seed_len = makes ? sizeof(seed) : 0,
                                         .cpu = test_cpu};
}

static struct unseen_store *open_store(const char *name, enum unseen_store_mode mode)
{
    const struct unseen_store_options options = options_of(mode);
    return test_store_open(name, &options);
}

static size_t item(char *text, uint64_t i)
{
    return (size_t)snprintf(text, 64, "http://e.com/%llu", (unsigned long long)i);
}

static bool add(struct unseen_store *store, uint64_t i)
{
    char text[64];
    enum unseen_verdict verdict = UNSEEN_SEEN;
    CHECK(test_store_add(store, text, item(text, i), &verdict) == UNSEEN_OK);
    return verdict == UNSEEN_NEW;
}

static bool contains(struct unseen_store *store, uint64_t i)
{
    char text[64];
    enum unseen_verdict verdict = UNSEEN_NEW;
    CHECK(test_set_contains(unseen_store_set(store), text, item(text, i), &verdict) == UNSEEN_OK);
    return verdict == UNSEEN_SEEN;
}

static void add_range(struct unseen_store *store, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        CHECK(add(store, i));
    }
}

static uint64_t count(struct unseen_store *store, uint64_t first, uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t i = first; i < end; i++) {
        n += contains(store, i);
    }
    return n;
}

/* ---- the model ---- */

struct listing {
    struct unseen_store *store;
    uint64_t nkeys;
};

/* Every key that is listed is in the set. */
static bool list_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct listing *listing = context;
    for (size_t i = 0; i < n; i++) {
        uint8_t verdict = UNSEEN_NEW;
        CHECK(unseen_set_contains_keys(unseen_store_set(listing->store), &keys[i], 1, &verdict,
                                       NULL) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_SEEN);
    }
    listing->nkeys += n;
    return true;
}

static uint64_t nkeys_of(const uint8_t *model)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        n += model[i];
    }
    return n;
}

/* The keys of the log are those of the model, each once. */
static void check_listing(struct unseen_store *store, const uint8_t *model)
{
    struct listing listing = {.store = store};
    CHECK(unseen_store_keys(store, list_keys, &listing, &error) == UNSEEN_OK);
    CHECK_EQ(listing.nkeys, nkeys_of(model));
}

/* What a merge says of its progress. It is to end after some calls. */
struct merge_progress {
    uint64_t calls_left;
    uint64_t ndone;
    uint64_t nnew;
};

static bool note_merge(void *context, uint64_t ndone, uint64_t nnew)
{
    struct merge_progress *p = context;
    CHECK(ndone > p->ndone && nnew >= p->nnew && nnew <= ndone);
    p->ndone = ndone;
    p->nnew = nnew;
    return --p->calls_left > 0;
}

static void compare_with_model(struct unseen_store *store, const uint8_t *model)
{
    size_t wrong = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        wrong += contains(store, i) != (model[i] != 0);
    }
    CHECK_EQ(wrong, 0);
}

/* Random changes, of which only the begun ones count; the store is opened again and again, with and
 * without its image, written anew, and at the end merged. */
static void test_model(unsigned key_bits)
{
    uint8_t now[NKEYS] = {0};       /* in memory */
    uint8_t committed[NKEYS] = {0}; /* in the log */
    uint64_t random = key_bits;
    struct unseen_store *store = NULL;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    test_folder_clear(dir);
    options.key_bits = key_bits;
    for (int round = 0; round < 40; round++) {
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
        CHECK_EQ(test_store_info(store).key_bits, key_bits);
        memcpy(now, committed, sizeof(now));
        compare_with_model(store, now);
        check_listing(store, now);
        for (int step = 0; step < 300; step++) {
            const uint64_t i = test_random(&random) % NKEYS;
            char text[64];
            const size_t len = item(text, i);
            enum unseen_verdict verdict = UNSEEN_SEEN;
            if (test_random(&random) % 3 == 0) {
                CHECK(test_store_remove(store, text, len, &verdict) == UNSEEN_OK);
                CHECK((verdict == UNSEEN_SEEN) == (now[i] != 0));
                now[i] = 0;
            } else {
                CHECK(test_store_add(store, text, len, &verdict) == UNSEEN_OK);
                CHECK((verdict == UNSEEN_NEW) == (now[i] == 0));
                now[i] = 1;
            }
            if (test_random(&random) % 50 == 0) {
                CHECK(unseen_store_commit_begin(store, UINT64_MAX, 0, &error) == UNSEEN_OK);
                memcpy(committed, now, sizeof(now));
            }
        }
        test_store_close(store);
        if (round % 3 == 0) {
            unlink(image);
        }
        if (round % 7 == 6) {
            const uint64_t before = size_of(path);
            CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
            CHECK(size_of(path) < before);
        }
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    }
    struct unseen_store *from = open_store(path, UNSEEN_STORE_READ);
    struct unseen_store *to = NULL;
    struct unseen_store_options like = options_of(UNSEEN_STORE_CREATE);
    uint64_t nnew = 0;
    like.like = from;
    CHECK(unseen_store_open(&to, other, &like, &error) == UNSEEN_OK);
    struct merge_progress part = {.calls_left = 2};
    struct merge_progress rest = {.calls_left = UINT64_MAX};
    CHECK(unseen_store_merge(to, from, &nnew, note_merge, &part, &error) == UNSEEN_ERR_STOPPED);
    CHECK(error.status == UNSEEN_ERR_STOPPED && nnew == 0);
    CHECK(part.nnew == part.ndone);
    CHECK(unseen_store_merge(to, from, &nnew, note_merge, &rest, &error) == UNSEEN_OK);
    CHECK(rest.nnew == nnew && part.nnew + nnew == rest.ndone);
    CHECK_EQ(rest.ndone, nkeys_of(committed));
    compare_with_model(to, committed);
    test_store_close(to);
    test_store_close(from);
    to = open_store(other, UNSEEN_STORE_READ);
    compare_with_model(to, committed);
    test_store_close(to);
}

/* ---- a large one: images, replays ---- */

static void test_image(void)
{
    enum {
        MANY = 200000
    };
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add_range(store, 0, MANY);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(test_store_info(store).log_bytes < UNSEEN__RECORDS_OFFSET + 9 * MANY);
    test_store_close(store);
    CHECK(size_of(image) > MANY * 4);

    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK_EQ(test_store_info(store).replayed, 0);
    CHECK_EQ(test_store_info(store).image_covers, size_of(path) - END_LEN);
    CHECK_EQ(count(store, 0, MANY), MANY);
    add_range(store, MANY, MANY + 100);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    add_range(store, MANY + 100, MANY + 200); /* not committed */
    test_store_close(store);

    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).replayed, 100);
    CHECK_EQ(count(store, 0, MANY + 200), MANY + 100);
    test_store_close(store);

    test_file_flip(image, size_of(image) / 2);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK(test_store_info(store).image_damaged);
    CHECK_EQ(test_store_info(store).replayed, MANY + 100);
    CHECK_EQ(count(store, 0, MANY + 200), MANY + 100);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(size_of(image), 0);
}

/* Changes that were never begun must not get into an image. */
static void test_image_holds_no_more(void)
{
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add_range(store, 0, 100000);
    CHECK(unseen_store_commit_begin(store, 90000, 0, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(size_of(image) > 0);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).replayed, 0);
    CHECK_EQ(count(store, 0, 90000), 90000);
    CHECK_EQ(count(store, 90000, 100000), 0);
    test_store_close(store);
}

/* An image that has a key more than the log, or lacks one, is damaged however well it is sealed:
 * opening believes it, so verify must not. */
static void test_image_differs(void)
{
    enum {
        MANY = 70000
    };
    for (unsigned lacks = 0; lacks < 2; lacks++) {
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        char text[64];
        test_folder_clear(dir);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
        add_range(store, 0, MANY);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        /* Behind the store's back. */
        struct unseen_set *set = (struct unseen_set *)(uintptr_t)unseen_store_set(store);
        const size_t len = item(text, lacks ? 7 : MANY);
        CHECK((lacks ? test_set_remove(set, text, len, &verdict)
                     : test_set_add(set, text, len, &verdict)) == UNSEEN_OK);
        test_store_close(store);
        CHECK(size_of(image) > 0);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, MANY + 1), MANY);
        test_store_close(store);
    }
}

/* A commit of more than a record has room for commits as much as it was told, and no more. */
static void test_divided_commit(void)
{
    enum {
        FULL = UNSEEN__RECORD_KEYS_MAX
    };
    static const uint64_t counts[] = {FULL, FULL + 10, 2 * FULL + 3};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        test_folder_clear(dir);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
        add_range(store, 0, 2 * FULL + 1000);
        CHECK(unseen_store_commit_begin(store, counts[i], 0, &error) == UNSEEN_OK);
        CHECK(unseen_store_commit_poll(store, true, NULL, &error) == UNSEEN_OK);
        test_store_close(store);
        CHECK(unlink(image) == 0);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(test_store_info(store).replayed, counts[i]);
        CHECK_EQ(count(store, counts[i] - 5, 2 * FULL + 1000), 5);
        test_store_close(store);
    }
}

/* ---- damage ---- */

/* 10 commits of 10 keys; *ends: the place behind each. */
static void make_commits(uint64_t ends[10])
{
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    for (uint64_t i = 0; i < 10; i++) {
        add_range(store, 10 * i, 10 * i + 10);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        ends[i] = test_store_info(store).log_bytes;
    }
    test_store_close(store);
}

static void test_torn_end(void)
{
    uint64_t ends[10];
    make_commits(ends);
    for (uint64_t cut = 1; cut < ends[9] - ends[8]; cut += 7) {
        CHECK(truncate(path, (off_t)(ends[9] - cut)) == 0);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, 100), 90);
        CHECK_EQ(test_store_info(store).torn_bytes, ends[9] - cut - ends[8]);
        test_store_close(store);
        store = open_store(path, UNSEEN_STORE_WRITE);
        CHECK_EQ(size_of(path), ends[8]);
        add_range(store, 90, 100);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        CHECK_EQ(size_of(path), ends[9]);
        test_store_close(store);
    }
}

static void note(void *context, const struct unseen_error *damage)
{
    CHECK(damage->status == UNSEEN_ERR_CORRUPT && damage->text[0]);
    ++*(unsigned *)context;
}

static void test_damage(void)
{
    uint64_t ends[10];
    for (uint64_t i = 0; i < 10; i++) {
        struct unseen_store *store = NULL;
        const struct unseen_store_options options = options_of(UNSEEN_STORE_WRITE);
        struct unseen_store_health health = {.size = sizeof(health)};
        unsigned ndamages = 0;
        make_commits(ends);
        test_file_flip(path, ends[i] - 20);
        CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(strstr(error.text, path) != NULL);
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(unseen_store_verify(path, &health, note, &ndamages, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(ndamages == 1 && health.ndamages == 1 && health.nadded == 90);
        CHECK(unseen_store_repair(path, &health, NULL, NULL, &error) == UNSEEN_OK);
        CHECK_EQ(health.lost_bytes, ends[i] - (i ? ends[i - 1] : UNSEEN__RECORDS_OFFSET));
        store = open_store(path, UNSEEN_STORE_WRITE);
        CHECK_EQ(count(store, 0, 100), 90);
        CHECK_EQ(count(store, 10 * i, 10 * i + 10), 0);
        add_range(store, 10 * i, 10 * i + 10);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        test_store_close(store);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        snprintf(other, sizeof(other), "%s/store.damaged", dir);
        CHECK_EQ(size_of(other), ends[9] + END_LEN);
    }
    snprintf(other, sizeof(other), "%s/other", dir);
}

static void check_note(uint64_t wanted)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).note, wanted);
    test_store_close(store);
    CHECK(unseen_store_verify(path, &health, NULL, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(health.note, wanted);
}

/* The note stays, whatever becomes of the store: with its image, rewritten, and repaired. */
static void test_note(void)
{
    uint64_t ends[10];
    make_commits(ends);
    check_note(0);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
    CHECK(unseen_store_note(store, 1, &error) == UNSEEN_ERR_READONLY);
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK(unseen_store_note(store, 1, &error) == UNSEEN_OK);
    CHECK(unseen_store_note(store, 7, &error) == UNSEEN_OK);
    CHECK_EQ(test_store_info(store).note, 7);
    add_range(store, 100, 200000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(size_of(image) > 0);
    check_note(7);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    check_note(7);
    test_file_flip(path, UNSEEN__RECORDS_OFFSET + 100);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    check_note(7);
    const struct unseen_store_options draft = options_of(UNSEEN_STORE_DRAFT);
    CHECK(unseen_store_open(&store, path, &draft, &error) == UNSEEN_OK);
    CHECK(unseen_store_note(store, 1, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_store_publish(store, &error) == UNSEEN_OK);
    test_store_close(store);
    check_note(7);
    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK(unseen_store_note(store, 0, &error) == UNSEEN_OK);
    test_store_close(store);
    check_note(0);
}

/* The record behind a damaged one is found wherever it begins: the search looks at windows of 512
 * KiB. */
static void test_damage_before_window(void)
{
    enum {
        WINDOW = 1 << 19
    };
    const uint64_t around = UNSEEN__RECORD_HEAD + UNSEEN__RECORD_TAIL;
    for (uint64_t window = 1; window <= 2; window++) {
        for (uint64_t begin = WINDOW * window - 24; begin <= WINDOW * window + 24; begin += 8) {
            struct unseen_store *store = NULL;
            struct unseen_store_health health = {.size = sizeof(health)};
            const uint64_t n = (begin - around) / 8;
            test_folder_clear(dir);
            store = open_store(path, UNSEEN_STORE_CREATE);
            add_range(store, 0, n);
            CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
            CHECK_EQ(test_store_info(store).log_bytes, UNSEEN__RECORDS_OFFSET + begin);
            add_range(store, n, n + 10);
            CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
            test_store_close(store);
            (void)unlink(image);
            const uint64_t size = size_of(path);
            test_file_flip(path, UNSEEN__RECORDS_OFFSET + 9);
            const struct unseen_store_options options = options_of(UNSEEN_STORE_WRITE);
            CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
            CHECK_EQ(size_of(path), size);
            CHECK(unseen_store_verify(path, &health, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
            CHECK_EQ(health.nadded, 10);
            CHECK_EQ(health.lost_bytes, begin);
        }
    }
}

/* An image that covers more than the log has: bytes that were cut off are damage. Nothing but a
 * repair goes on with what is left, and it says what is lost. */
static void test_cut_off(void)
{
    enum {
        MANY = 70000
    };
    static const uint64_t cuts[] = {8, 2000, 100000};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct unseen_store *store = NULL;
        const struct unseen_store_options options = options_of(UNSEEN_STORE_WRITE);
        struct unseen_store_health health = {.size = sizeof(health)};
        test_folder_clear(dir);
        store = open_store(path, UNSEEN_STORE_CREATE);
        add_range(store, 0, MANY / 2);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        add_range(store, MANY / 2, MANY);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        test_store_close(store);
        const uint64_t end = size_of(path) - END_LEN; /* of what the image covers */
        const uint64_t size = end - cuts[i];
        CHECK(size_of(image) > 0 && truncate(path, (off_t)size) == 0);
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(size_of(path) == size && size_of(image) > 0);
        CHECK(unseen_store_verify(path, &health, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(health.torn_bytes == 0 && health.lost_bytes > cuts[i]);
        CHECK(unseen_store_repair(path, &health, NULL, NULL, &error) == UNSEEN_OK);
        CHECK_EQ(UNSEEN__RECORDS_OFFSET + 8 * health.nadded + health.lost_bytes +
                     health.nrecords * END_LEN,
                 end);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, MANY), health.nadded);
        test_store_close(store);
        snprintf(other, sizeof(other), "%s/store.damaged", dir);
        CHECK_EQ(size_of(other), size);
    }
    snprintf(other, sizeof(other), "%s/other", dir);
}

/* A commit is damaged while the store is open. The rewrite at close refuses the log. */
static void test_damage_meanwhile(void)
{
    enum {
        MANY = 200000,
        REMOVED = 100000
    };
    uint8_t verdict;
    char text[64];
    struct unseen_store *store = NULL;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    options.notify_fd = eventfd(0, EFD_NONBLOCK); /* it is rewritten at close */
    test_folder_clear(dir);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    add_range(store, 0, MANY);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    for (uint64_t i = 0; i < REMOVED; i++) {
        const struct unseen_bytes removed = {text, item(text, i)};
        CHECK(unseen_store_remove(store, &removed, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    add_range(store, MANY, MANY + 1000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    const uint64_t end = test_store_info(store).log_bytes;
    test_file_flip(path, end - 100);
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "is damaged") != NULL);
    CHECK_EQ(size_of(path), end + END_LEN);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
    test_file_flip(path, end - 100);
    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK_EQ(count(store, 0, MANY + 1000), MANY - REMOVED + 1000);
    test_store_close(store);
    CHECK(close(options.notify_fd) == 0);
}

/* Merges while it is told of the first damage. */
static void merge_once(void *context, const struct unseen_error *damage)
{
    bool *is_merged = context;
    struct unseen_store *store = NULL;
    (void)damage;
    if (*is_merged) {
        return;
    }
    *is_merged = true;
    const struct unseen_store_options options = options_of(UNSEEN_STORE_DRAFT);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    add_range(store, 70000, 150000);
    CHECK(unseen_store_publish(store, &error) == UNSEEN_OK);
    test_store_close(store);
}

/* Who verifies takes no lock. An image of a log that has replaced the one that is read is no
 * damage. */
static void test_verify_beside_merge(void)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    bool is_merged = false;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add_range(store, 0, 70000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    test_file_flip(path, UNSEEN__HEADER_LEN + 500);
    CHECK(unseen_store_verify(path, &health, merge_once, &is_merged, &error) == UNSEEN_OK);
    CHECK(is_merged);
    CHECK(health.ndamages == 0 && health.nadded == 150000);
}

/* Lets another process do something at one of its allocations. */
struct acting_allocator {
    uint64_t nallocs; /* so far */
    uint64_t act_at;
    void (*act)(void);
    bool has_acted;
};

static void *acting_alloc(void *context, size_t size, size_t align)
{
    struct acting_allocator *a = context;
    if (++a->nallocs == a->act_at) {
        a->has_acted = true;
        a->act();
    }
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void acting_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static void merge(void)
{
    bool is_merged = false;
    merge_once(&is_merged, NULL);
}

static void make_few(void)
{
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add_range(store, 0, 70000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
}

/* Cuts the end off and goes on, with records that begin where there was the middle of that one. */
static void go_on_with_torn(void)
{
    static const uint64_t ends[] = {210000, 220000, 330000};
    struct unseen_store *store = open_store(path, UNSEEN_STORE_WRITE);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        add_range(store, i == 0 ? 70000 : ends[i - 1], ends[i]);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    }
    test_store_close(store);
}

/* As a writer leaves a store that is killed in the middle of a long record. */
static void make_torn(void)
{
    make_few();
    struct unseen_store *store = open_store(path, UNSEEN_STORE_WRITE);
    add_range(store, 70000, 270000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    const uint64_t end = test_store_info(store).log_bytes;
    test_store_close(store);
    CHECK(truncate(path, (off_t)end) == 0 && unlink(image) == 0);
    test_file_flip(path, end - 100);
}

/* Opens a store to read, and acts at one of the allocations (0: at none). Returns how many there
 * were. */
static uint64_t open_and_act(void (*make)(void), void (*act)(void), uint64_t act_at,
                             uint64_t nafter)
{
    struct acting_allocator a = {.act_at = act_at, .act = act};
    const struct unseen_allocator allocator = {acting_alloc, acting_free, &a};
    struct unseen_store_options options = options_of(UNSEEN_STORE_READ);
    options.allocator = &allocator;
    test_folder_clear(dir);
    make();
    struct unseen_store *store = test_store_open(path, &options);
    const uint64_t nallocs = a.nallocs;
    const uint64_t nkeys = count(store, 0, nafter);
    CHECK(a.has_acted == (act_at > 0));
    CHECK(nkeys == 70000 || (a.has_acted && nkeys > 70000 && nkeys <= nafter));
    test_store_close(store);
    return nallocs;
}

/* Who only reads takes no lock. What a writer does, at whatever moment of the opening, is no
 * damage: the reader has the keys of before, and maybe of commits since then. */
static void test_open_beside_writer(void (*make)(void), void (*act)(void), uint64_t step,
                                    uint64_t nafter)
{
    const uint64_t nallocs = open_and_act(make, act, 0, nafter);
    CHECK(nallocs > 10);
    step *= test_brief() ? 4 : 1;
    for (uint64_t before_end = 0; before_end < nallocs; before_end += step) {
        (void)open_and_act(make, act, nallocs - before_end, nafter);
    }
}

/* Adds or removes the item 1, and returns where the log ends then. */
static uint64_t change_one(const struct unseen_store_options *options, bool removes)
{
    struct unseen_store *store = NULL;
    char text[64];
    const struct unseen_bytes one = {text, item(text, 1)};
    uint8_t verdict;
    CHECK(unseen_store_open(&store, path, options, &error) == UNSEEN_OK);
    if (removes) {
        CHECK(unseen_store_remove(store, &one, 1, &verdict, NULL) == UNSEEN_OK);
    } else {
        add_range(store, 1, 2);
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    const uint64_t end = test_store_info(store).log_bytes;
    test_store_close(store);
    return end;
}

/* A key whose removal is damaged is in the log twice. It counts once in the repaired store, so one
 * removal makes it NEW again. */
static void test_counts_once(const char *filter, unsigned key_bits)
{
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    options.filter = filter;
    options.key_bits = key_bits;
    options.fpr = 1e-5;
    options.capacity = 1000;
    test_folder_clear(dir);
    (void)change_one(&options, false);
    const uint64_t end = change_one(&options, true);
    (void)change_one(&options, false);
    test_file_flip(path, end - 20);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    (void)change_one(&options, true);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 1, 2), 0);
    test_store_close(store);
}

/* Keys that agree in all bits by which a rewrite takes a key for a repeat are written all the
 * same; a key that is there already is not. */
static void test_counts_alike(void)
{
    enum {
        N = 5
    };
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    struct unseen_key keys[N];
    uint8_t verdicts[N];
    size_t ndone;
    options.filter = "counting";
    options.key_bits = 128;
    options.fpr = 1e-5;
    options.capacity = 1000;
    for (size_t i = 0; i < N; i++) {
        keys[i] = (struct unseen_key){(uint64_t)i << 57, 9};
    }
    test_folder_clear(dir);
    struct unseen_store *store = test_store_open(path, &options);
    CHECK(unseen_store_add_keys(store, keys, N, verdicts, &ndone) == UNSEEN_OK);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK(unseen_set_contains_keys(unseen_store_set(store), keys, N, verdicts, &ndone) ==
          UNSEEN_OK);
    for (size_t i = 0; i < N; i++) {
        CHECK_EQ(verdicts[i], UNSEEN_SEEN);
    }
    CHECK_EQ(test_store_info(store).replayed, N);
    test_store_close(store);
}

static void test_headers(void)
{
    uint64_t ends[10];
    struct unseen_store *store = NULL;
    make_commits(ends);
    for (uint64_t offset = 0; offset < UNSEEN__HEADER_LEN; offset += 61) {
        const uint64_t at = offset + (offset & 1 ? UNSEEN__HEADER_LEN : 0);
        test_file_flip(path, at);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK(test_store_info(store).header_damaged);
        CHECK_EQ(count(store, 0, 100), 100);
        test_store_close(store);
        test_store_close(open_store(path, UNSEEN_STORE_WRITE)); /* mends it */
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK(!test_store_info(store).header_damaged);
        test_store_close(store);
    }
    CHECK(truncate(path, UNSEEN__HEADER_LEN + 7) == 0); /* no crash leaves that */
    const struct unseen_store_options options = options_of(UNSEEN_STORE_WRITE);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    test_file_flip(path, 100);
    test_file_flip(path, UNSEEN__HEADER_LEN + 100);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    test_file_flip(path, 3);
    test_file_flip(path, UNSEEN__HEADER_LEN + 3);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_FOREIGN);
}

/* ---- settings ---- */

/* What a header says under a right checksum is looked at, too. */
static void test_header_fields(void)
{
    enum field {
        RIGHT,
        KEY_BITS_0,
        KEY_BITS_63,
        KEY_BITS_80,
        KEY_BITS_160,
        FPR_0,
        FPR_1,
        FPR_BELOW_0,
        FPR_NAN,
        FILTER_WITHOUT_END,
        PROFILE_WITHOUT_END,
        WINDOW_SHORT,
        WINDOW_LONG,
        HEAD_WITHOUT_WINDOW,
        HEAD_WITHOUT_NUMBER,
        HEAD_UNEVEN,
        HEAD_IN_HEADERS,
        OUTPUT_BEHIND_HEAD,
        NFIELDS
    };
    for (int field = RIGHT; field < NFIELDS; field++) {
        uint8_t bytes[UNSEEN__HEADER_LEN];
        struct unseen__log_header back = {0};
        struct unseen__log_header header = {
            .key_bits = 96,
            .fpr = 0.5,
            .capacity = 7,
            .window = field == WINDOW_SHORT          ? UNSEEN__LOG_WINDOW_MIN - 1
                      : field == WINDOW_LONG         ? UNSEEN__LOG_WINDOW_MAX + 1
                      : field == HEAD_WITHOUT_WINDOW ? 0
                                                     : UNSEEN__LOG_WINDOW_MIN,
            .head = {.offset = field == HEAD_UNEVEN       ? UNSEEN__RECORDS_OFFSET + 12
                               : field == HEAD_IN_HEADERS ? 16
                                                          : UNSEEN__RECORDS_OFFSET + 64,
                     .number = field != HEAD_WITHOUT_NUMBER,
                     .nchanges = 4,
                     .time = 250,
                     .output_offset =
                         UNSEEN__RECORDS_OFFSET + (field == OUTPUT_BEHIND_HEAD ? 64 : 0),
                     .output_len = 5,
                     .output_checksum = 6,
                     .note = 7,
                     .output_closed = true}};
        /* as long as can be */
        memset(header.filter, 'f', sizeof(header.filter) - 1);
        memset(header.profile, 'p', sizeof(header.profile) - 1);
        header.key_bits = field == KEY_BITS_0     ? 0
                          : field == KEY_BITS_63  ? 63
                          : field == KEY_BITS_80  ? 80
                          : field == KEY_BITS_160 ? 160
                                                  : header.key_bits;
        header.fpr = field == FPR_0         ? 0
                     : field == FPR_1       ? 1
                     : field == FPR_BELOW_0 ? -0.5
                     : field == FPR_NAN     ? NAN
                                            : header.fpr;
        header.filter[sizeof(header.filter) - 1] = field == FILTER_WITHOUT_END ? 'f' : '\0';
        header.profile[sizeof(header.profile) - 1] = field == PROFILE_WITHOUT_END ? 'p' : '\0';
        unseen__header_encode(&header, bytes);
        CHECK(unseen__header_decode(bytes, &back) ==
              (field == RIGHT ? UNSEEN_OK : UNSEEN_ERR_CORRUPT));
        CHECK(field != RIGHT ||
              (back.key_bits == 96 && back.capacity == 7 && back.window == header.window &&
               memcmp(&back.head, &header.head, sizeof(back.head)) == 0 &&
               strcmp(back.filter, header.filter) == 0 &&
               strcmp(back.profile, header.profile) == 0));
    }
}

static void test_settings(void)
{
    struct unseen_store *store = NULL;
    const uint64_t seed = 7;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    test_folder_clear(dir);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_MISSING);
    options.profile = "aggressive/1";
    options.fpr = 1e-5;
    options.key_bits = 96;
    options.seed = &seed;
    options.seed_len = sizeof(seed);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    CHECK(strcmp(unseen_set_profile(unseen_store_set(store)), "aggressive/1") == 0);
    struct unseen_store *second = NULL;
    CHECK(unseen_store_open(&second, path, &options, &error) == UNSEEN_ERR_BUSY);
    char pid[32];
    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    CHECK(strstr(error.text, pid) != NULL);
    test_store_close(store);
    options.profile = "aggressive";
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    CHECK(strcmp(unseen_set_profile(unseen_store_set(store)), "aggressive/1") == 0);
    test_store_close(store);
    options.profile = "aggressive-strip-www";
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(strstr(error.text, "has the profile aggressive/1, not aggressive/1-strip-www") != NULL);

    const struct unseen_store_options good = options_of(UNSEEN_STORE_WRITE);
    const uint64_t another_seed = 8;
    struct unseen_store_options wrong[5] = {good, good, good, good, good};
    wrong[0].profile = "crawl";
    wrong[1].fpr = 1e-6;
    wrong[2].key_bits = 64;
    wrong[3].seed = &another_seed;
    wrong[3].seed_len = sizeof(another_seed);
    wrong[4].no_log = true;
    for (size_t i = 0; i < 5; i++) {
        CHECK(unseen_store_open(&store, path, &wrong[i], &error) == UNSEEN_ERR_MISMATCH);
    }
    struct unseen_store_options rewritten = options_of(UNSEEN_STORE_WRITE);
    rewritten.fpr = 1e-6;
    rewritten.key_bits = 64;
    CHECK(unseen_store_rewrite(path, &rewritten, &error) == UNSEEN_OK);
    rewritten.key_bits = 128;
    CHECK(unseen_store_rewrite(path, &rewritten, &error) == UNSEEN_ERR_MISMATCH);
    rewritten.fpr = 1e-15;
    rewritten.key_bits = 0;
    CHECK(unseen_store_rewrite(path, &rewritten, &error) == UNSEEN_ERR_FPR);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK(test_store_info(store).key_bits == 64 && test_store_info(store).fpr > 0.9e-6);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_ERR_READONLY);
    test_store_close(store);
}

static void test_foreign(void)
{
    struct unseen_store *store = NULL;
    const struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    test_folder_clear(dir);
    const int fd = open(path, O_CREAT | O_RDWR, 0666);
    CHECK(fd >= 0);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_FOREIGN); /* empty */
    CHECK_EQ(size_of(path), 0);
    for (int round = 0; round < 2; round++) { /* short, long */
        for (int i = 0; i < (round == 0 ? 1 : 2000); i++) {
            CHECK(write(fd, "http://e.com/a\n", 15) == 15);
        }
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_FOREIGN);
    }
    CHECK(close(fd) == 0);
    CHECK_EQ(size_of(path), 15 * 2001);
    CHECK(unseen_store_open(&store, dir, &options, &error) == UNSEEN_ERR_FOREIGN);
    CHECK(unseen_store_open(&store, "/dev/null", &options, &error) == UNSEEN_ERR_FOREIGN);
    CHECK(unlink(path) == 0 && mkfifo(path, 0666) == 0);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_FOREIGN);
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_FOREIGN);
    CHECK(unlink(path) == 0 && symlink("/nowhere/at/all", path) == 0);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_MISSING);
}

/* ---- names and neighbours ---- */

static void write_text(const char *name, const char *text)
{
    const int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0666);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

/* What lies beside a store and is not its own stays as it is. */
static void test_neighbours(void)
{
    char name[PATH_LEN + 32];
    test_folder_clear(dir);
    write_text(image, "a text\n");
    snprintf(name, sizeof(name), "%s.new", path);
    write_text(name, "another\n");
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    CHECK(test_store_info(store).image_damaged);
    add_range(store, 0, 70000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_IMAGE);
    CHECK(size_of(image) == 7 && strstr(error.text, image));
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(size_of(name), 8);
    snprintf(name, sizeof(name), "%s.damaged", image);
    CHECK_EQ(size_of(name), 7);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 70000), 70000);
    test_store_close(store);
}

/* A symbolic link stays one, and nobody can read more than before. */
static void test_link_and_mode(void)
{
    struct stat st;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(other, UNSEEN_STORE_CREATE);
    add_range(store, 0, 70000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(chmod(other, 0600) == 0 && symlink(other, path) == 0);
    test_store_close(store);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(other, &st) == 0 && (st.st_mode & 0777) == 0600);
    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK(add(store, 70000));
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    add_range(store, 70001, 140000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    char name[PATH_LEN + 16];
    snprintf(name, sizeof(name), "%s.image", other);
    CHECK(stat(name, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_EQ(size_of(image), 0);
}

/* A store stays where it was opened: also if the process goes to another folder, or if the link
 * that led to the store leads to another one by now. A rewrite that asked anew would put the new
 * log there. */
static void test_stays_where_it_is(bool is_new, bool is_link)
{
    enum {
        MANY = 200000,
        REMOVED = 100000
    };
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    char elsewhere[PATH_LEN];
    char image_of_other[PATH_LEN + 16];
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", dir);
    snprintf(image_of_other, sizeof(image_of_other), "%s.image", other);
    const char *const name = is_link ? path : "other";
    test_folder_clear(dir);
    CHECK(mkdir(elsewhere, 0700) == 0);
    if (!is_new) {
        test_store_close(open_store(other, UNSEEN_STORE_CREATE));
    }
    CHECK(symlink(other, path) == 0 && chdir(dir) == 0);
    struct unseen_store *store = open_store(name, UNSEEN_STORE_CREATE);
    if (is_link) {
        test_store_close(open_store(output, UNSEEN_STORE_CREATE));
        CHECK(unlink(path) == 0 && symlink(output, path) == 0);
    } else {
        CHECK(chdir(elsewhere) == 0);
    }
    add_range(store, 0, MANY);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    const uint64_t size = size_of(other);
    for (uint64_t i = 0; i < REMOVED; i++) {
        char text[64];
        uint8_t verdict;
        const struct unseen_bytes removed = {text, item(text, i)};
        CHECK(unseen_store_remove(store, &removed, 1, &verdict, NULL) == UNSEEN_OK);
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    add_range(store, MANY, MANY + 80000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(fchdir(here) == 0 && rmdir(elsewhere) == 0);
    CHECK(size_of(other) < size && size_of(image_of_other) > 0); /* rewritten */
    store = open_store(other, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, MANY + 80000), MANY - REMOVED + 80000);
    test_store_close(store);
    if (is_link) {
        store = open_store(output, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, 1000), 0);
        test_store_close(store);
    }
    CHECK(close(here) == 0);
}

/* Two headers that are good and say different things: neither is believed. */
static void test_two_headers(void)
{
    uint8_t bytes[UNSEEN__HEADER_LEN];
    struct unseen__log_header header;
    uint64_t ends[10];
    struct unseen_store *store = NULL;
    make_commits(ends);
    const int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
    CHECK(unseen__header_decode(bytes, &header) == UNSEEN_OK);
    header.secret.bytes[0] ^= 1;
    unseen__header_encode(&header, bytes);
    CHECK(pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "differ") != NULL);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(pwrite(fd, bytes, sizeof(bytes), UNSEEN__HEADER_LEN) == (ssize_t)sizeof(bytes));
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(close(fd) == 0);
}

/* An image that claims another end of the log, under a right checksum, cuts nothing. */
static void test_forged_image(void)
{
    uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN];
    struct unseen__image_header good;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    add_range(store, 0, 70000);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    const uint64_t size = size_of(path);
    const int fd = open(image, O_RDWR);
    CHECK(fd >= 0 && pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
    CHECK(unseen__image_header_decode(bytes, &good) == UNSEEN_OK);
    for (int round = 0; round < 10; round++) {
        struct unseen__image_header forged = good;
        const struct unseen_store_options options = options_of(UNSEEN_STORE_WRITE);
        forged.log_end -= round == 0 ? 4096 : 0;
        forged.log_end += round == 1 ? 4096 : 0;
        forged.number += round == 2;
        forged.last_offset += round == 3 ? 8 : 0;
        forged.record_checksum ^= round == 4;
        forged.output_offset = round == 5 ? good.last_offset : 0;
        if (round >= 6) { /* of an empty log, but for one field */
            forged.log_end = UNSEEN__RECORDS_OFFSET;
            forged.last_offset = round == 6 ? good.last_offset : 0;
            forged.number = round == 7;
            forged.output_offset = round == 8 ? good.last_offset : 0;
            forged.record_checksum = round == 9;
        }
        unseen__image_header_encode(&forged, bytes);
        CHECK(pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
        CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
        CHECK_EQ(size_of(path), size);
    }
    CHECK(close(fd) == 0);
    struct unseen_store_health health = {.size = sizeof(health)};
    CHECK(unseen_store_repair(path, &health, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(health.is_rewritten);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 70000), 70000);
    test_store_close(store);
}

/* Keys of another width would be taken back wrongly, and others found after the next opening. */
static void test_wide_keys(void)
{
    const struct unseen_key wide = {1, 2};
    uint8_t verdict = UNSEEN_SEEN;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    CHECK(unseen_store_add_keys(store, &wide, 1, &verdict, NULL) == UNSEEN_ERR_ARGUMENT);
    test_store_close(store);
}

/* ---- without a log ---- */

static void test_no_log(void)
{
    struct unseen_store *store = NULL;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    test_folder_clear(dir);
    options.no_log = true;
    for (uint64_t round = 0; round < 3; round++) {
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
        CHECK_EQ(count(store, 0, 1000), 100 * round);
        add_range(store, 100 * round, 100 * round + 100);
        CHECK(unseen_store_commit_begin(store, UINT64_MAX, 0, &error) == UNSEEN_OK);
        add_range(store, 500, 600); /* not committed */
        test_store_close(store);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    }
    CHECK(size_of(path) < UNSEEN__RECORDS_OFFSET + 208);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_ERR_UNSUPPORTED);
    /* A repair of the log goes on with the image, which is all there is. */
    for (uint64_t size = UNSEEN__HEADER_LEN; size < UNSEEN__RECORDS_OFFSET; size += 1000) {
        CHECK(truncate(path, (off_t)size) == 0);
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        CHECK_EQ(size_of(path), UNSEEN__RECORDS_OFFSET + END_LEN);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, 1000), 300);
        test_store_close(store);
    }
    test_file_flip(image, size_of(image) / 2);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unlink(image) == 0);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
    /* Even a mark that is not complete tells that there was an image. */
    CHECK(truncate(path, (off_t)size_of(path) - 8) == 0);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(truncate(path, UNSEEN__HEADER_LEN + 500) == 0);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
}

/* ---- drafts ---- */

static void test_draft(void)
{
    struct unseen_store *store = NULL;
    struct unseen_store *second = NULL;
    const struct unseen_store_options draft = {.size = sizeof(draft), .mode = UNSEEN_STORE_DRAFT};
    uint64_t len = 0;
    for (int exists = 0; exists < 2; exists++) {
        test_folder_clear(dir);
        if (exists) {
            store = open_store(path, UNSEEN_STORE_CREATE);
            CHECK(add(store, 1000));
            CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
            test_store_close(store);
        }
        for (int publish = 0; publish < 2; publish++) {
            CHECK(unseen_store_open(&store, path, &draft, &error) == UNSEEN_OK);
            CHECK_EQ(count(store, 1000, 1001), (uint64_t)exists);
            for (uint64_t i = 0; i < 100; i++) {
                CHECK(add(store, i));
            }
            CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
            /* Nobody else sees it or writes meanwhile, and it keeps no output. */
            CHECK(unseen_store_open(&second, path, &draft, &error) == UNSEEN_ERR_BUSY);
            CHECK(unseen_store_open(&second, path, NULL, &error) ==
                  (exists ? UNSEEN_OK : UNSEEN_ERR_MISSING));
            if (exists) {
                CHECK_EQ(count(second, 0, 100), 0);
                test_store_close(second);
            }
            CHECK(unseen_store_output(store, 0, output, &len, &error) == UNSEEN_ERR_ARGUMENT);
            if (publish) {
                CHECK(add(store, 100));
                CHECK(unseen_store_publish(store, &error) == UNSEEN_OK);
                CHECK(unseen_store_publish(store, &error) == UNSEEN_OK);
                CHECK(add(store, 101));
                CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
            }
            test_store_close(store);
            if (!publish && !exists) {
                CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_MISSING);
                continue;
            }
            store = open_store(path, UNSEEN_STORE_READ);
            CHECK_EQ(count(store, 0, 2000), (exists ? 1u : 0u) + (publish ? 102u : 0u));
            test_store_close(store);
        }
    }
    /* Another process has made the store meanwhile. */
    test_folder_clear(dir);
    CHECK(unseen_store_open(&store, path, &draft, &error) == UNSEEN_OK);
    CHECK(add(store, 1));
    second = open_store(path, UNSEEN_STORE_CREATE);
    CHECK(add(second, 2));
    CHECK(unseen_store_commit(second, &error) == UNSEEN_OK);
    test_store_close(second);
    CHECK(unseen_store_publish(store, &error) == UNSEEN_ERR_BUSY);
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 10), 1);
    test_store_close(store);
    /* The store was moved away, and another process has made one in its place. */
    test_folder_clear(dir);
    store = open_store(path, UNSEEN_STORE_CREATE);
    CHECK(add(store, 1));
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(unseen_store_open(&store, path, &draft, &error) == UNSEEN_OK);
    CHECK(add(store, 2));
    CHECK(rename(path, other) == 0);
    second = open_store(path, UNSEEN_STORE_CREATE);
    CHECK(add(second, 3));
    CHECK(unseen_store_commit(second, &error) == UNSEEN_OK);
    CHECK(unseen_store_publish(store, &error) == UNSEEN_ERR_BUSY);
    CHECK(add(second, 4));
    CHECK(unseen_store_commit(second, &error) == UNSEEN_OK);
    test_store_close(second);
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 10), 2);
    test_store_close(store);
    CHECK(unseen_store_open(&store, "/nowhere/s.unseen", &draft, &error) == UNSEEN_ERR_MISSING);
}

/* Filters that cannot remove are kept as they are. A run that leaves changes without a commit is
 * forgotten, and so is one that is killed: the last image stays. */
static void test_no_log_bits(const char *filter)
{
    struct unseen_store *store = NULL;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    options.no_log = true;
    options.filter = filter;
    options.fpr = 1e-5;
    options.capacity = 4000;
    test_folder_clear(dir);
    for (uint64_t round = 0; round < 3; round++) {
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
        CHECK_EQ(count(store, 0, 1000), 100 * round);
        add_range(store, 100 * round, 100 * round + 100);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        test_store_close(store);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    }
    CHECK(size_of(path) < UNSEEN__RECORDS_OFFSET + 208);
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    add_range(store, 300, 400);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    add_range(store, 400, 500); /* not committed */
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "keeps nothing of this run") && strstr(error.text, filter));
    const pid_t pid = fork();
    if (pid == 0) { /* a process that is killed */
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
        add_range(store, 300, 600);
        CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
        raise(SIGKILL);
    }
    int wstatus = 0;
    CHECK(pid > 0 && waitpid(pid, &wstatus, 0) == pid && WIFSIGNALED(wstatus));
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    CHECK_EQ(count(store, 0, 1000), 300);
    add_range(store, 900, 901); /* nothing was committed, so there is nothing to forget */
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 1000), 300);
    test_store_close(store);
}

/* ---- the output ---- */

/* Appends the lines first..end to the file and commits the first `committed` of them. */
static void write_lines(struct unseen_store *store, int fd, uint64_t len, uint64_t first,
                        uint64_t end, uint64_t committed)
{
    for (uint64_t i = first; i < end; i++) {
        char text[64];
        if (add(store, i)) {
            const size_t n = item(text, i);
            text[n] = '\n';
            CHECK(pwrite(fd, text, n + 1, (off_t)len) == (ssize_t)n + 1);
            len += n + 1;
        }
        if (i + 1 == first + committed) {
            CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
        }
    }
}

static uint64_t open_output(struct unseen_store *store, int *fd)
{
    uint64_t len = 0;
    *fd = open(output, O_RDWR | O_CREAT, 0666);
    CHECK(*fd >= 0);
    CHECK(unseen_store_output(store, *fd, output, &len, &error) == UNSEEN_OK);
    return len;
}

static void test_output(void)
{
    int fd = -1;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    uint64_t len = open_output(store, &fd);
    CHECK_EQ(len, 0);
    write_lines(store, fd, len, 0, 100, 60);
    test_store_close(store);
    CHECK(close(fd) == 0);
    const uint64_t longer = size_of(output);

    store = open_store(path, UNSEEN_STORE_WRITE);
    len = open_output(store, &fd);
    CHECK(len < longer && len == size_of(output));
    write_lines(store, fd, len, 0, 100, 100);
    test_store_close(store);
    CHECK(close(fd) == 0);
    CHECK_EQ(size_of(output), longer);

    /* Left in order: somebody may append to it, or take it away. */
    const int append = open(output, O_WRONLY | O_APPEND);
    CHECK(append >= 0 && write(append, "by hand\n", 8) == 8 && close(append) == 0);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    store = open_store(path, UNSEEN_STORE_WRITE);
    len = open_output(store, &fd);
    CHECK_EQ(len, longer + 8);
    write_lines(store, fd, len, 100, 200, 50);
    CHECK(unseen_store_commit_poll(store, true, NULL, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(close(fd) == 0);

    /* A commit without a length takes that of the file; a smaller one is no length. */
    store = open_store(path, UNSEEN_STORE_WRITE);
    len = open_output(store, &fd);
    write_lines(store, fd, len, 300, 310, 0);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(add(store, 310));
    CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_ERR_ARGUMENT);
    test_store_close(store);
    CHECK(close(fd) == 0);
    const uint64_t whole = size_of(output);
    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK_EQ(open_output(store, &fd), whole);
    len = whole;
    write_lines(store, fd, len, 400, 410, 5);
    test_store_close(store);
    CHECK(close(fd) == 0);

    /* Interrupted and changed: nothing is cut. */
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    const uint64_t interrupted = size_of(output);
    test_file_flip(output, longer + 10);
    store = open_store(path, UNSEEN_STORE_WRITE);
    fd = open(output, O_RDWR);
    CHECK(unseen_store_output(store, fd, output, &len, &error) == UNSEEN_ERR_CORRUPT);
    CHECK_EQ(size_of(output), interrupted);
    test_file_flip(output, longer + 10);
    CHECK(unseen_store_output(store, fd, output, &len, &error) == UNSEEN_OK);
    CHECK(len < interrupted && size_of(output) == len);
    char cut[PATH_LEN + 8];
    snprintf(cut, sizeof(cut), "%s.cut", output);
    CHECK(size_of(cut) >= interrupted - len);
    test_store_close(store);
    CHECK(close(fd) == 0 && unlink(output) == 0);

    store = open_store(path, UNSEEN_STORE_WRITE);
    CHECK_EQ(open_output(store, &fd), 0);
    test_store_close(store);
    CHECK(close(fd) == 0);
}

/* The descriptor becomes readable after each commit, and after one that fails. */
static void wait_for_notice(int fd)
{
    uint64_t n = 0;
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    CHECK(poll(&pfd, 1, 60000) == 1);
    CHECK(read(fd, &n, sizeof(n)) == sizeof(n) && n > 0);
}

static void test_commit_poll(void)
{
    uint64_t ndurable = 0;
    uint64_t before = 0;
    const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CHECK(fd > 0);
    test_folder_clear(dir);
    struct unseen_store_options options = {
        .size = sizeof(options), .mode = UNSEEN_STORE_CREATE, .notify_fd = fd};
    struct unseen_store *store = NULL;
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    CHECK(unseen_store_commit_poll(store, false, &ndurable, &error) == UNSEEN_OK && ndurable == 0);
    add_range(store, 0, 1000);
    CHECK(unseen_store_commit_poll(store, false, &ndurable, &error) == UNSEEN_OK && ndurable == 0);
    CHECK(unseen_store_commit_begin(store, 400, 0, &error) == UNSEEN_OK);
    CHECK(unseen_store_commit_begin(store, 200, 0, &error) == UNSEEN_OK);
    while (ndurable < 600) {
        wait_for_notice(fd);
        CHECK(unseen_store_commit_poll(store, false, &ndurable, &error) == UNSEEN_OK);
        CHECK(ndurable > before && (ndurable == 400 || ndurable == 600));
        before = ndurable;
    }
    CHECK(unseen_store_commit_begin(store, 100, 0, &error) == UNSEEN_OK);
    CHECK(unseen_store_commit_poll(store, true, &ndurable, &error) == UNSEEN_OK && ndurable == 700);
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, 1000), 700);
    CHECK(unseen_store_commit_poll(store, false, &ndurable, &error) == UNSEEN_ERR_READONLY);
    test_store_close(store);

    /* A commit that fails: the output is shorter than what was handed over. The notice of the
     * second commit may still be there, if the poll after the first told of both. */
    uint64_t left = 0;
    CHECK(read(fd, &left, sizeof(left)) == sizeof(left) || errno == EAGAIN);
    test_folder_clear(dir);
    int out = -1;
    CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
    const uint64_t len = open_output(store, &out);
    add_range(store, 0, 10);
    CHECK(unseen_store_commit_begin(store, UINT64_MAX, len + 100, &error) == UNSEEN_OK);
    wait_for_notice(fd);
    CHECK(unseen_store_commit_poll(store, false, &ndurable, &error) == UNSEEN_ERR_IO &&
          ndurable == 0);
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_IO);
    CHECK(close(out) == 0 && close(fd) == 0);
}

/* A run of many changes ends without the last line of its output committed: the next run cuts that
 * line, and no other. */
static void test_interrupted_output(void)
{
    enum {
        MANY = 70000 /* enough for an image */
    };
    int fd = -1;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    uint64_t len = open_output(store, &fd);
    write_lines(store, fd, len, 0, MANY + 1, MANY);
    const uint64_t whole = size_of(output);
    char text[64];
    test_store_close(store);
    CHECK(close(fd) == 0);
    for (int run = 0; run < 2; run++) {
        store = open_store(path, UNSEEN_STORE_WRITE);
        len = open_output(store, &fd);
        CHECK_EQ(len, whole - item(text, MANY) - 1);
        CHECK_EQ(size_of(output), len);
        CHECK_EQ(count(store, 0, MANY + 1), MANY);
        test_store_close(store);
        CHECK(close(fd) == 0);
    }
}

/* An output that has become shorter than the length given for it: what was handed over is not
 * there, so nothing is committed, and the store stops. */
static void test_shortened_output(void)
{
    for (uint64_t missing = 1; missing <= 5000; missing += missing == 1 ? 4998 : 1) {
        int fd = -1;
        test_folder_clear(dir);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
        uint64_t len = open_output(store, &fd);
        write_lines(store, fd, len, 0, 400, 0);
        len = size_of(output);
        CHECK(len > 5000 && ftruncate(fd, (off_t)(len - missing)) == 0);
        CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
        CHECK(unseen_store_commit_poll(store, true, NULL, &error) == UNSEEN_ERR_IO);
        CHECK(strstr(error.text, output) != NULL);
        CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_IO);
        CHECK(close(fd) == 0);
        store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, 400), 0);
        test_store_close(store);
    }
}

/* Names of all lengths are read back; those next to the limit leave no room for the ids of files,
 * as in records that have none. */
static void test_output_names(void)
{
    static char name[UNSEEN__OUTPUT_NAME_MAX + 2];
    memset(name, 'n', sizeof(name) - 1);
    for (size_t len = UNSEEN__OUTPUT_NAME_MAX + 1; len >= UNSEEN__OUTPUT_NAME_MAX - 20; len--) {
        uint64_t start = 0;
        test_folder_clear(dir);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
        CHECK(test_store_info(store).output == NULL);
        const int fd = open(output, O_RDWR | O_CREAT, 0666);
        name[len] = '\0';
        if (len > UNSEEN__OUTPUT_NAME_MAX) {
            CHECK(unseen_store_output(store, fd, name, &start, &error) == UNSEEN_ERR_ARGUMENT);
        } else {
            CHECK(unseen_store_output(store, fd, name, &start, &error) == UNSEEN_OK);
            CHECK(strcmp(test_store_info(store).output, name) == 0);
            write_lines(store, fd, 0, 0, 10, 5);
            test_store_close(store);
            CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
            store = open_store(path, UNSEEN_STORE_WRITE);
            CHECK(strcmp(test_store_info(store).output, name) == 0);
            CHECK(test_store_info(store).output_interrupted);
            CHECK(test_store_info(store).output_len > 0 &&
                  test_store_info(store).output_len < size_of(output));
        }
        test_store_close(store);
        CHECK(close(fd) == 0);
    }
}

/* ---- memory ---- */

struct locked_allocator {
    struct test_allocator inner;
    int busy;
};

static void *locked_alloc(void *context, size_t size, size_t align)
{
    struct locked_allocator *a = context;
    while (__atomic_exchange_n(&a->busy, 1, __ATOMIC_ACQUIRE)) {
    }
    void *ptr = test_alloc(&a->inner, size, align);
    __atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
    return ptr;
}

static void locked_free(void *context, void *ptr, size_t size)
{
    struct locked_allocator *a = context;
    while (__atomic_exchange_n(&a->busy, 1, __ATOMIC_ACQUIRE)) {
    }
    test_free(&a->inner, ptr, size);
    __atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
}

/* Adds 0..n to a store as far as memory goes; true if nothing failed. */
static bool run_with(struct locked_allocator *a, uint64_t n)
{
    const struct unseen_allocator allocator = {locked_alloc, locked_free, a};
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    struct unseen_store *store = NULL;
    options.allocator = &allocator;
    enum unseen_status status = unseen_store_open(&store, path, &options, &error);
    if (status != UNSEEN_OK) {
        CHECK(status == UNSEEN_ERR_NOMEM);
        return false;
    }
    for (uint64_t i = 0; i < n && status == UNSEEN_OK; i++) {
        char text[64];
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        status = test_store_add(store, text, item(text, i), &verdict);
        if (status == UNSEEN_OK && i % 1000 == 999) {
            status = unseen_store_commit_begin(store, UINT64_MAX, 0, &error);
        }
    }
    CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM || status == UNSEEN_ERR_STOPPED);
    const enum unseen_status closed = unseen_store_close(store, &error);
    /* IMAGE: everything is committed, there was no memory for the image alone. */
    CHECK(closed == UNSEEN_OK || closed == UNSEEN_ERR_NOMEM || closed == UNSEEN_ERR_IMAGE);
    return status == UNSEEN_OK && closed == UNSEEN_OK;
}

static void test_failing_memory(void)
{
    enum {
        MANY = 70000 /* enough for an image */
    };
    const unsigned long step = test_brief() ? 97 : 23;
    bool whole = false;
    for (unsigned long fail_at = 1; !whole; fail_at += fail_at < 40 ? 1 : step) {
        struct locked_allocator a = {.inner = {.fail_at = fail_at, .fail_after = fail_at % 2}};
        test_folder_clear(dir);
        whole = run_with(&a, MANY) && a.inner.nallocs < fail_at;
        CHECK_EQ(a.inner.nlive, 0);
        struct locked_allocator good = {.busy = 0};
        CHECK(run_with(&good, MANY)); /* what was committed is there, the rest is new */
        CHECK_EQ(good.inner.nlive, 0);
        struct unseen_store *store = open_store(path, UNSEEN_STORE_READ);
        CHECK_EQ(count(store, 0, MANY), MANY);
        test_store_close(store);
        good.inner.fail_at = 3 + fail_at % 30; /* a failing open of a store with an image */
        good.inner.nallocs = 0;
        (void)run_with(&good, MANY);
        CHECK_EQ(good.inner.nlive, 0);
    }
}

/* Room is for the set in memory: the file does not tell of it. */
static void test_room(void)
{
    enum {
        FEW = 20000,
        MANY = 120000
    };
    test_folder_clear(dir);
    struct unseen_store *store = open_store(path, UNSEEN_STORE_CREATE);
    struct unseen_set_stats before = {.size = sizeof(before)};
    struct unseen_set_stats after = {.size = sizeof(after)};
    add_range(store, 0, FEW);
    CHECK_EQ(unseen_set_stats(unseen_store_set(store), &before), UNSEEN_OK);
    CHECK_EQ(unseen_store_reserve(store, MANY), UNSEEN_OK);
    CHECK_EQ(unseen_set_stats(unseen_store_set(store), &after), UNSEEN_OK);
    CHECK_EQ(after.nkeys, before.nkeys);
    CHECK(after.nslots > MANY);
    CHECK_EQ(count(store, 0, FEW), FEW);
    add_range(store, FEW, MANY);
    CHECK_EQ(unseen_set_stats(unseen_store_set(store), &before), UNSEEN_OK);
    CHECK_EQ(before.nslots, after.nslots);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    store = open_store(path, UNSEEN_STORE_READ);
    CHECK_EQ(count(store, 0, MANY), MANY);
    CHECK_EQ(unseen_store_reserve(store, 2 * MANY), UNSEEN_ERR_READONLY);
    test_store_close(store);
}

int main(void)
{
    test_start();
    test_folder_make(dir, sizeof(dir), "store");
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    snprintf(other, sizeof(other), "%s/other", dir);
    snprintf(output, sizeof(output), "%s/output", dir);
    test_model(64);
    test_model(96);
    test_model(128);
    test_image();
    test_image_holds_no_more();
    test_image_differs();
    test_divided_commit();
    test_torn_end();
    test_damage();
    test_note();
    test_damage_before_window();
    test_cut_off();
    test_damage_meanwhile();
    test_verify_beside_merge();
    test_open_beside_writer(make_few, merge, 3, 150000);
    test_open_beside_writer(make_torn, go_on_with_torn, 8, 330000);
    for (unsigned key_bits = 64; key_bits <= 128; key_bits += 32) {
        test_counts_once("counting", key_bits);
    }
    test_counts_alike();
    test_headers();
    test_two_headers();
    test_header_fields();
    test_settings();
    test_foreign();
    test_neighbours();
    test_link_and_mode();
    test_stays_where_it_is(false, false);
    test_stays_where_it_is(true, false);
    test_stays_where_it_is(false, true);
    test_forged_image();
    test_wide_keys();
    test_no_log();
    test_no_log_bits("bloom");
    test_no_log_bits("block");
    test_output();
    test_commit_poll();
    test_interrupted_output();
    test_shortened_output();
    test_output_names();
    test_draft();
    test_failing_memory();
    test_room();
    test_folder_remove(dir);
    return test_end();
}
