/* SPDX-License-Identifier: MIT
 *
 * Files of sets: a set that was saved and loaded is the set, with its URL identity; files that are
 * damaged, cut, joined or of something else; disks that are full, and memory that runs out. A save
 * that fails leaves the old file, and nothing beside it. */
#include "folder_check.h"
#include "set_check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "hash/checksum.h"

enum {
    NKEYS = 3000,
    HEADER_VERSION = 24 + 8 /* in the first chunk */
};

static char folder[200];
static char path[sizeof(folder) + 16];

/* ---- saved and loaded ---- */

static struct unseen_set *make(const char *filter, const char *profile, unsigned threads,
                               const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = filter,
                                               .capacity = 2 * NKEYS,
                                               .profile = profile,
                                               .seed = "s",
                                               .seed_len = 1,
                                               .threads = threads,
                                               .allocator = allocator,
                                               .cpu = test_cpu};
    struct unseen_set *set = NULL;
    return unseen_set_create(&set, &options, NULL) == UNSEEN_OK ? set : NULL;
}

static struct unseen_bytes item(char text[40], unsigned i)
{
    return (struct unseen_bytes){text, (size_t)snprintf(text, 40, "http://E.com/%u", i)};
}

static bool fill(struct unseen_set *set, unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n; i++) {
        char text[40];
        uint8_t verdict;
        const struct unseen_bytes bytes = item(text, i);
        if (unseen_set_add(set, &bytes, 1, &verdict, NULL) != UNSEEN_OK) {
            return false;
        }
    }
    return true;
}

/* Both sets have n keys and give the same answers, also as they go on. */
static void check_same(struct unseen_set *a, struct unseen_set *b, unsigned n)
{
    struct unseen_set *sets[] = {a, b};
    CHECK_EQ(unseen_set_digest(a), unseen_set_digest(b));
    CHECK(strcmp(unseen_set_profile(a), unseen_set_profile(b)) == 0);
    for (unsigned i = 0; i < 2 * NKEYS; i++) {
        char text[40];
        const struct unseen_bytes bytes = item(text, i);
        uint8_t verdicts[2][2];
        for (unsigned s = 0; s < 2; s++) {
            CHECK(unseen_set_contains(sets[s], &bytes, 1, verdicts[s], NULL) == UNSEEN_OK);
            CHECK(unseen_set_add(sets[s], &bytes, 1, verdicts[s] + 1, NULL) == UNSEEN_OK);
        }
        CHECK(memcmp(verdicts[0], verdicts[1], 2) == 0);
        CHECK(i >= n || verdicts[0][0] == UNSEEN_SEEN);
    }
}

static void check_round(const char *filter, const char *profile, unsigned threads)
{
    struct unseen_set *set = make(filter, profile, 1, NULL);
    struct unseen_set *loaded = NULL;
    struct unseen_set *copy = NULL;
    const struct unseen_set_options options = {
        .size = sizeof(options), .threads = threads, .cpu = test_cpu};
    struct stat st;
    CHECK(fill(set, 0, NKEYS));
    CHECK(unseen_set_save(set, path, NULL) == UNSEEN_OK);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_EQ(test_folder_count(folder), 1);
    CHECK(unseen_set_load(&loaded, path, &options, NULL) == UNSEEN_OK);
    /* The copy of a set outlives the set. */
    CHECK(unseen_set_copy(&copy, loaded, NULL) == UNSEEN_OK);
    if (threads == 1) {
        check_same(set, loaded, NKEYS);
        unseen_set_free(set);
        set = make(filter, profile, 1, NULL);
        CHECK(fill(set, 0, NKEYS));
    } else {
        CHECK(fill(loaded, 0, NKEYS));
    }
    unseen_set_free(loaded);
    if (threads == 1) {
        check_same(set, copy, NKEYS);
    }
    unseen_set_free(copy);
    unseen_set_free(set);
    CHECK(unlink(path) == 0);
}

static void test_rounds(void)
{
    static const char *const filters[] = {"compact", "block", "bloom"};
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            check_round(filters[i], "none", threads);
            check_round(filters[i], "aggressive", threads);
        }
    }
}

/* A URL identity that is given is a check. A failure leaves the pointer as it is. */
static void test_identity(void)
{
    struct unseen_set *set = make("compact", "crawl", 1, NULL);
    struct unseen_set *const kept = set;
    struct unseen_set *loaded = kept;
    struct unseen_set_options options = {.size = sizeof(options), .profile = "scrapy"};
    struct unseen_error error;
    CHECK(fill(set, 0, 10) && unseen_set_save(set, path, NULL) == UNSEEN_OK);
    CHECK(unseen_set_load(&loaded, path, &options, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(loaded == kept && error.setting == UNSEEN_SETTING_PROFILE);
    CHECK(strstr(error.text, path) && strstr(error.text, "scrapy/1"));
    options.profile = "none";
    CHECK(unseen_set_load(&loaded, path, &options, &error) == UNSEEN_ERR_MISMATCH);
    options.profile = "crawl";
    CHECK(unseen_set_load(&loaded, path, &options, &error) == UNSEEN_OK);
    check_same(set, loaded, 10);
    unseen_set_free(loaded);
    unseen_set_free(set);
}

/* ---- damage ---- */

/* The bytes of a saved set, for free. */
static uint8_t *saved(size_t *len_out)
{
    struct unseen_set *set = make("block", "crawl", 1, NULL);
    CHECK(fill(set, 0, 200) && unseen_set_save(set, path, NULL) == UNSEEN_OK);
    unseen_set_free(set);
    return test_file_read(path, len_out);
}

static void check_refused(const void *data, size_t len, enum unseen_status wanted)
{
    struct unseen_error error = {.text = ""};
    struct unseen_set *loaded = NULL;
    test_file_write(path, data, len);
    CHECK_EQ(unseen_set_load(&loaded, path, NULL, &error), wanted);
    CHECK(loaded == NULL && error.status == wanted && strstr(error.text, path));
}

/* Puts the right checksum behind the first chunk. */
static void seal_header(uint8_t *file)
{
    const size_t body = 24 + load_le32(file + 4);
    store_le64(file + body, unseen__checksum(file, body));
}

static void test_damage(void)
{
    struct unseen_error error;
    struct unseen_set *loaded = NULL;
    size_t len;
    uint64_t state = 1;
    uint8_t *file = saved(&len);
    uint8_t *twice = malloc(2 * len);
    for (unsigned i = 0; i < 600; i++) {
        const size_t at = i < 300 ? i : test_random(&state) % len;
        const uint8_t old = file[at];
        file[at] ^= (uint8_t)(1u << test_random(&state) % 8);
        test_file_write(path, file, len);
        const enum unseen_status status = unseen_set_load(&loaded, path, NULL, &error);
        CHECK(status == (at < 4 ? UNSEEN_ERR_FOREIGN : UNSEEN_ERR_CORRUPT));
        CHECK(loaded == NULL && strstr(error.text, path));
        file[at] = old;
    }
    for (unsigned i = 0; i < 200; i++) {
        const size_t cut = i < 100 ? i : test_random(&state) % len;
        check_refused(file, cut, cut < 4 ? UNSEEN_ERR_FOREIGN : UNSEEN_ERR_CORRUPT);
    }
    memcpy(twice, file, len);
    memcpy(twice + len, file, len);
    check_refused(twice, len + 1, UNSEEN_ERR_CORRUPT);
    check_refused(twice, 2 * len, UNSEEN_ERR_CORRUPT);
    free(twice);
    check_refused("http://e.com/\n", 14, UNSEEN_ERR_FOREIGN);
    store_le32(file + HEADER_VERSION, 77);
    seal_header(file);
    check_refused(file, len, UNSEEN_ERR_VERSION);
    free(file);
    CHECK(unlink(path) == 0);
    CHECK(unseen_set_load(&loaded, path, NULL, &error) == UNSEEN_ERR_MISSING);
    CHECK(unseen_set_load(&loaded, folder, NULL, &error) == UNSEEN_ERR_IO);
}

/* A profile of a later version, under a checksum that is right, and an id that no canonicaliser
 * gives. */
static void test_later_profile(void)
{
    size_t len;
    uint8_t *file = saved(&len);
    const size_t end = 24 + load_le32(file + 4); /* of the header: the id is its end */
    CHECK(memcmp(file + end - 7, "crawl/", 6) == 0);
    file[end - 1] = '9';
    seal_header(file);
    check_refused(file, len, UNSEEN_ERR_VERSION);
    file[end - 1] = '\0';
    seal_header(file);
    check_refused(file, len, UNSEEN_ERR_VERSION);
    free(file);
}

/* ---- full disks, and memory ---- */

/* A disk that takes only so many bytes. */
static void test_full_disk(void)
{
    size_t len;
    struct rlimit old;
    uint8_t *file = saved(&len);
    struct unseen_set *set = make("compact", NULL, 1, NULL);
    struct unseen_error error;
    CHECK(fill(set, 0, NKEYS));
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (rlim_t limit = 0; limit < 20000; limit += 1237) {
        const struct rlimit full = {.rlim_cur = limit, .rlim_max = old.rlim_max};
        CHECK(setrlimit(RLIMIT_FSIZE, &full) == 0);
        const enum unseen_status status = unseen_set_save(set, path, &error);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        size_t now;
        uint8_t *kept = test_file_read(path, &now);
        CHECK(status == UNSEEN_ERR_IO && strstr(error.text, path));
        CHECK(now == len && memcmp(kept, file, len) == 0);
        CHECK_EQ(test_folder_count(folder), 1);
        free(kept);
    }
    char nowhere[sizeof(path) + 16];
    snprintf(nowhere, sizeof(nowhere), "%s/nowhere", path);
    CHECK(unseen_set_save(set, nowhere, &error) == UNSEEN_ERR_IO);
    CHECK(unseen_set_save(set, path, &error) == UNSEEN_OK);
    unseen_set_free(set);
    free(file);
}

static bool everything(const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options), .allocator = allocator};
    struct unseen_set *set = make("compact", NULL, 1, allocator);
    struct unseen_set *loaded = NULL;
    struct unseen_set *copy = NULL;
    struct unseen_error error = {.status = UNSEEN_ERR_NOMEM};
    const bool done = set && fill(set, 0, 100) && unseen_set_save(set, path, &error) == UNSEEN_OK &&
                      unseen_set_load(&loaded, path, &options, &error) == UNSEEN_OK &&
                      unseen_set_copy(&copy, loaded, &error) == UNSEEN_OK;
    CHECK(!set || done || error.status == UNSEEN_ERR_NOMEM);
    CHECK(!done || unseen_set_digest(copy) == unseen_set_digest(set));
    unseen_set_free(copy);
    unseen_set_free(loaded);
    unseen_set_free(set);
    return done;
}

static void test_memory(void)
{
    bool done = false;
    for (unsigned long i = 1; !done && i < 1000; i++) {
        struct test_allocator t = {.fail_at = i};
        const struct unseen_allocator allocator = {test_alloc, test_free, &t};
        done = everything(&allocator);
        CHECK_EQ(t.nlive, 0);
        CHECK(done || t.nallocs >= i);
    }
    CHECK(done);
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "set");
    snprintf(path, sizeof(path), "%s/file", folder);
    test_rounds();
    test_identity();
    test_damage();
    test_later_profile();
    test_full_disk();
    test_memory();
    test_folder_remove(folder);
    return test_end();
}
