/* SPDX-License-Identifier: MIT
 *
 * A store with an image that is so large that it has a table: it opens without reading the image,
 * and what is damaged or gone is found when it is needed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "hash/checksum.h"
#include "hash/key.h"
#include "log/log_format.h"
#include "set/set.h"

enum {
    NKEYS = 1600000, /* more than 8 MiB */
    BATCH = 4000,
    STEP = 97, /* one key of so many is asked */
    PATH_LEN = 300
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];

static struct unseen_error error;

static struct unseen_key key_of(uint64_t i)
{
    uint64_t state = i;
    struct unseen_key key = {0, test_random(&state)};
    unseen__key_narrow(64, &key);
    return key;
}

static enum unseen_status try_open(enum unseen_store_mode mode, struct unseen_store **store_out)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .cpu = test_cpu};
    return unseen_store_open(store_out, path, &options, &error);
}

static struct unseen_store *open_store(enum unseen_store_mode mode)
{
    struct unseen_store *store = NULL;
    if (!CHECK(try_open(mode, &store) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return store;
}

static void add_keys(struct unseen_store *store, uint64_t first, uint64_t end)
{
    static struct unseen_key keys[BATCH];
    static uint8_t verdicts[BATCH];
    for (uint64_t i = first; i < end; i += BATCH) {
        const size_t n = end - i < BATCH ? (size_t)(end - i) : BATCH;
        for (size_t k = 0; k < n; k++) {
            keys[k] = key_of(i + k);
        }
        CHECK(unseen_store_add_keys(store, keys, n, verdicts, NULL) == UNSEEN_OK);
        CHECK(unseen_store_commit_begin(store, UINT64_MAX, 0, &error) == UNSEEN_OK);
    }
}

/* How many of the keys are seen, and how many are refused as CORRUPT. */
struct answers {
    uint64_t nasked;
    uint64_t nseen;
    uint64_t nrefused;
};

static struct answers ask_keys(const struct unseen_store *store, uint64_t first, uint64_t end)
{
    struct answers a = {0, 0, 0};
    for (uint64_t i = first; i < end; i += STEP) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict = UNSEEN_NEW;
        const enum unseen_status status =
            unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_CORRUPT);
        a.nasked++;
        a.nseen += status == UNSEEN_OK && verdict == UNSEEN_SEEN;
        a.nrefused += status != UNSEEN_OK;
    }
    return a;
}

static void check_all_seen(const struct unseen_store *store, uint64_t first, uint64_t end)
{
    const struct answers a = ask_keys(store, first, end);
    CHECK_EQ(a.nseen, a.nasked);
}

/* ---- files ---- */

static uint64_t size_of(const char *name)
{
    struct stat st;
    CHECK(stat(name, &st) == 0);
    return (uint64_t)st.st_size;
}

static void read_file(const char *name, uint64_t offset, void *buf, size_t len)
{
    const int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, buf, len, (off_t)offset) == (ssize_t)len && close(fd) == 0);
}

static void write_file(const char *name, uint64_t offset, const void *buf, size_t len)
{
    const int fd = open(name, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, buf, len, (off_t)offset) == (ssize_t)len && close(fd) == 0);
}

static uint64_t get_le64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) {
        v = v << 8 | p[i];
    }
    return v;
}

static void put_le64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

/* The header of the image: version at 8, length of the chunks in front of the table at 48, length
 * of the table at 104, its checksum at 112, number of pages at 152. */
static uint8_t header[UNSEEN__IMAGE_HEADER_LEN];

static void read_header(void)
{
    read_file(image, 0, header, sizeof(header));
}

static void write_header(void)
{
    put_le64(header + 4088, unseen__checksum(header, 4088));
    write_file(image, 0, header, sizeof(header));
}

static char *save_image(size_t *len_out)
{
    *len_out = (size_t)size_of(image);
    char *bytes = malloc(*len_out);
    CHECK(bytes != NULL);
    read_file(image, 0, bytes, *len_out);
    return bytes;
}

static void restore_image(char *bytes, size_t len)
{
    CHECK(truncate(image, (off_t)len) == 0);
    write_file(image, 0, bytes, len);
    free(bytes);
}

/* ---- tests ---- */

static void test_open(void)
{
    struct unseen_store *store = open_store(UNSEEN_STORE_CREATE);
    add_keys(store, 0, NKEYS);
    test_store_close(store);
    read_header();
    CHECK_EQ(header[8], 1);
    CHECK(get_le64(header + 104) > 0);

    store = open_store(UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).replayed, 0);
    check_all_seen(store, 0, NKEYS);
    const struct answers a = ask_keys(store, NKEYS, 2 * NKEYS);
    CHECK(a.nseen < 3 && a.nrefused == 0);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);

    /* A few changes do not need the rest of the image. */
    store = open_store(UNSEEN_STORE_WRITE);
    add_keys(store, NKEYS, NKEYS + 50);
    const struct unseen_key key = key_of(0);
    uint8_t verdict = UNSEEN_NEW;
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(verdict == UNSEEN_SEEN);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    store = open_store(UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).replayed, 51);
    check_all_seen(store, STEP, NKEYS + 50);
    CHECK_EQ(ask_keys(store, 0, 1).nseen, 0);
    test_store_close(store);
}

static void test_cut_short(void)
{
    size_t len;
    struct unseen_store *store = open_store(UNSEEN_STORE_READ);
    char *bytes = save_image(&len);
    check_all_seen(store, STEP, STEP + 1);
    CHECK(truncate(image, 1 << 20) == 0);
    const struct answers a = ask_keys(store, STEP, NKEYS);
    CHECK(a.nrefused > a.nasked / 2 && a.nseen + a.nrefused == a.nasked);
    test_store_close(store);
    /* Opened anew, the image is not used. */
    store = open_store(UNSEEN_STORE_READ);
    CHECK(test_store_info(store).image_damaged && test_store_info(store).replayed > NKEYS);
    check_all_seen(store, STEP, NKEYS);
    test_store_close(store);
    restore_image(bytes, len);
}

/* The writer that meets damage stops with a sentence. Repair makes the store whole. */
static void test_damage(void)
{
    struct unseen_store *store = NULL;
    const struct unseen_key known = key_of(STEP);
    uint8_t verdict = UNSEEN_NEW;
    uint64_t nbefore = 0;
    test_file_flip(image, size_of(image) / 2);
    store = open_store(UNSEEN_STORE_WRITE);
    CHECK(!test_store_info(store).image_damaged);
    const uint64_t log_bytes = test_store_info(store).log_bytes;
    enum unseen_status status = UNSEEN_OK;
    while (status == UNSEEN_OK && nbefore < NKEYS) {
        const struct unseen_key key = key_of(3 * (uint64_t)NKEYS + nbefore++);
        status = unseen_store_add_keys(store, &key, 1, &verdict, NULL);
    }
    CHECK(status == UNSEEN_ERR_STOPPED);
    CHECK(unseen_store_add_keys(store, &known, 1, &verdict, NULL) == UNSEEN_ERR_STOPPED);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, image) && strstr(error.text, "is damaged"));
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, image) != NULL);

    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    store = open_store(UNSEEN_STORE_WRITE);
    CHECK(test_store_info(store).replayed > NKEYS && test_store_info(store).log_bytes == log_bytes);
    check_all_seen(store, STEP, NKEYS + 50);
    CHECK(ask_keys(store, 3 * (uint64_t)NKEYS, 4 * (uint64_t)NKEYS).nseen < 3);
    add_keys(store, NKEYS + 50, NKEYS + 100);
    test_store_close(store);
}

/* An image that cannot be written, because the old one is damaged: the log has everything. */
static void test_save(void)
{
    enum {
        MORE = NKEYS / 8
    };
    uint64_t n = NKEYS + 100;
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE);
    add_keys(store, n, n + MORE);
    test_store_close(store); /* writes an image */
    n += MORE;
    store = open_store(UNSEEN_STORE_WRITE);
    CHECK_EQ(test_store_info(store).replayed, 0);
    /* All keys of one half of the path: the groups of the other half are not read. */
    for (uint64_t i = n; i < n + 3 * MORE; i++) {
        struct unseen_key key = key_of(i);
        uint8_t verdict;
        if (key.hi >> 63) {
            CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_file_flip(image, 1 << 19);
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, image) && strstr(error.text, "is damaged"));
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    store = open_store(UNSEEN_STORE_WRITE);
    check_all_seen(store, STEP, n);
    add_keys(store, n, n + MORE);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
}

/* The table: damaged, and of another image under right checksums; too few pages. */
static void test_table(void)
{
    size_t len;
    read_header();
    const uint64_t table_len = get_le64(header + 104);
    const uint64_t pages_len = get_le64(header + 152) * 4096;
    const uint64_t table = UNSEEN__IMAGE_HEADER_LEN + pages_len + get_le64(header + 48);
    char *bytes = save_image(&len);
    test_file_flip(image, table + 800);
    struct unseen_store *store = open_store(UNSEEN_STORE_READ);
    CHECK(test_store_info(store).image_damaged && test_store_info(store).replayed > NKEYS);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);

    /* One key of a generation is in the next one: nothing of it shows before all is read. */
    uint8_t *all = malloc((size_t)table_len);
    CHECK(all != NULL);
    test_file_flip(image, table + 800);
    read_file(image, table, all, (size_t)table_len);
    for (size_t i = 8; i < 8 + 8 * 96; i += 8) {
        if (get_le64(all + i) > 0) {
            put_le64(all + i, get_le64(all + i) - 1);
            put_le64(all + i + 8, get_le64(all + i + 8) + 1);
            break;
        }
    }
    write_file(image, table, all, (size_t)table_len);
    put_le64(header + 112, unseen__checksum(all, (size_t)table_len));
    write_header();
    free(all);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    store = open_store(UNSEEN_STORE_READ);
    CHECK(!test_store_info(store).image_damaged);
    CHECK(ask_keys(store, STEP, NKEYS).nrefused + ask_keys(store, STEP / 2, NKEYS).nrefused > 0);
    test_store_close(store);

    /* A table and no pages, and fewer pages than the table has. */
    restore_image(bytes, len);
    for (unsigned i = 0; i < 2; i++) {
        bytes = save_image(&len);
        read_header();
        const uint64_t npages = i ? get_le64(header + 152) - 1 : 0;
        put_le64(header + 152, npages);
        const size_t nbefore = UNSEEN__IMAGE_HEADER_LEN + (size_t)npages * 4096;
        char *behind = bytes + UNSEEN__IMAGE_HEADER_LEN + pages_len;
        CHECK(truncate(image, (off_t)(len - pages_len + npages * 4096)) == 0);
        write_file(image, nbefore, (const uint8_t *)behind,
                   len - UNSEEN__IMAGE_HEADER_LEN - (size_t)pages_len);
        write_header();
        store = open_store(UNSEEN_STORE_READ);
        CHECK(test_store_info(store).image_damaged);
        check_all_seen(store, STEP, NKEYS);
        test_store_close(store);
        restore_image(bytes, len);
    }
    CHECK(unlink(image) == 0);
}

/* A reader follows while pages are unread, and takes over the pages of a store that was
 * replaced. */
static void test_follow(void)
{
    struct unseen_store *writer = open_store(UNSEEN_STORE_WRITE);
    add_keys(writer, 5 * (uint64_t)NKEYS, 5 * (uint64_t)NKEYS + NKEYS / 4);
    test_store_close(writer); /* writes an image */
    struct unseen_store *reader = open_store(UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(reader).replayed, 0);
    check_all_seen(reader, STEP, NKEYS / 8);
    writer = open_store(UNSEEN_STORE_WRITE);
    add_keys(writer, 6 * (uint64_t)NKEYS, 6 * (uint64_t)NKEYS + 1000);
    test_store_close(writer);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    CHECK_EQ(test_store_info(reader).replayed, 1000);
    check_all_seen(reader, 6 * (uint64_t)NKEYS, 6 * (uint64_t)NKEYS + 1000);

    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    writer = open_store(UNSEEN_STORE_WRITE);
    add_keys(writer, 7 * (uint64_t)NKEYS, 7 * (uint64_t)NKEYS + NKEYS / 4);
    test_store_close(writer);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    check_all_seen(reader, STEP, NKEYS);
    check_all_seen(reader, 7 * (uint64_t)NKEYS, 7 * (uint64_t)NKEYS + NKEYS / 4);
    test_store_close(reader);
}

/* A key leaves also if what the image has of it could not be read when it was due. */
static void test_leave(void)
{
    enum {
        WINDOW = 20000
    };
    const uint64_t now = UINT64_C(1700000000000);
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_CREATE,
                                                 .profile = "none",
                                                 .cpu = test_cpu,
                                                 .window = WINDOW};
    size_t len = 0;
    test_folder_clear(dir);
    struct unseen_store *store = test_store_open(path, &options);
    CHECK(unseen_store_expire(store, now, 0, NULL) == UNSEEN_OK);
    add_keys(store, 0, NKEYS);
    test_store_close(store);
    char *bytes = save_image(&len);
    store = open_store(UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).replayed, 0);
    CHECK(truncate(image, 1 << 20) == 0);
    CHECK(unseen_store_expire(store, now + WINDOW + 1000, SIZE_MAX, NULL) == UNSEEN_ERR_CORRUPT);
    restore_image(bytes, len);
    CHECK(unseen_store_expire(store, now + WINDOW + 1000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK_EQ(unseen__set_nkeys(unseen_store_set(store)), 0);
    test_store_close(store);
}

int main(void)
{
    test_start();
    test_folder_make(dir, sizeof(dir), "fetch");
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    test_open();
    test_cut_short();
    test_damage();
    test_save();
    test_table();
    test_follow();
    test_leave();
    test_folder_remove(dir);
    return test_end();
}
