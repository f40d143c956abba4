/* SPDX-License-Identifier: MIT
 *
 * Files that are made to take memory: stores whose header asks for a huge filter, images of
 * huge sets without their pieces. Memory is the highest resident size of this process, which
 * ThreadSanitizer makes many times larger: this is no test for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "folder_check.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "hash/key.h"
#include "log/image_file.h"
#include "log/log.h"
#include "set/set.h"

enum {
    PATH_LEN = 300,
    MIB = 1 << 20
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static struct unseen_error error;

/* ---- memory ---- */

/* The highest resident size so far. */
static uint64_t resident(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* The largest block that was asked for; blocks above 64 MiB are refused. */
struct meter {
    uint64_t largest;
};

static void *meter_alloc(void *context, size_t size, size_t align)
{
    struct meter *m = context;
    void *ptr = NULL;
    m->largest = size > m->largest ? size : m->largest;
    align = align < sizeof(void *) ? sizeof(void *) : align;
    return size <= 64 * MIB && posix_memalign(&ptr, align, size) == 0 ? ptr : NULL;
}

static void meter_free(void *context, void *ptr, size_t size)
{
    (void)context;
    (void)size;
    free(ptr);
}

struct shape {
    const char *filter;
    double fpr;
    uint64_t capacity;
};

/* 3.8 GB, 2.3 GB and 6.7 GB if all of it were touched. */
static const struct shape shapes[] = {
    {"bloom", 1e-6, (uint64_t)1 << 30},
    {"block", 1e-6, (uint64_t)1 << 29},
    {"counting", 1e-6, (uint64_t)1 << 28},
};

enum {
    NSHAPES = sizeof(shapes) / sizeof(shapes[0])
};

/* A log of two headers, as whoever forges one writes it: no set is made for it. */
static void forge_log(const struct shape *shape)
{
    struct unseen__log log = {.fd = -1};
    struct unseen__log_header header = {
        .key_bits = 64, .fpr = shape->fpr, .capacity = shape->capacity, .profile = "none/1"};
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    bool exists = false;
    test_folder_clear(dir);
    snprintf(header.filter, sizeof(header.filter), "%s", shape->filter);
    CHECK(unseen__log_new_id(header.id) == UNSEEN_OK);
    CHECK(unseen__log_create(&log, path, &header, 0600, &allocator, &exists, &error) == UNSEEN_OK);
    unseen__log_release(&log);
}

static struct unseen_store *open_store(enum unseen_store_mode mode,
                                       const struct unseen_allocator *allocator)
{
    struct unseen_store *store = NULL;
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .cpu = test_cpu, .allocator = allocator};
    if (!CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return store;
}

static size_t item(char *text, uint64_t i)
{
    return (size_t)snprintf(text, 64, "http://e.com/%llu", (unsigned long long)i);
}

static void add(struct unseen_store *store, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        char text[64];
        enum unseen_verdict verdict = UNSEEN_SEEN;
        CHECK(test_store_add(store, text, item(text, i), &verdict) == UNSEEN_OK);
        CHECK(verdict == UNSEEN_NEW);
    }
}

static uint64_t count(const struct unseen_store *store, uint64_t from, uint64_t to)
{
    uint64_t nseen = 0;
    for (uint64_t i = from; i < to; i++) {
        char text[64];
        enum unseen_verdict verdict = UNSEEN_NEW;
        CHECK(test_set_contains(unseen_store_set(store), text, item(text, i), &verdict) ==
              UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen;
}

/* Such a store is opened, asked, verified and written to: it may be the store of somebody who has
 * only just begun. Reading takes memory for the keys that are there, from any allocator. */
static void test_empty_store(const struct shape *shape)
{
    struct meter meter = {0};
    const struct unseen_allocator metered = {meter_alloc, meter_free, &meter};
    const uint64_t before = resident();
    struct unseen_store_health health = {.size = sizeof(health)};
    forge_log(shape);
    struct unseen_store *store = open_store(UNSEEN_STORE_READ, NULL);
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
    CHECK_EQ(stats.nkeys, 0);
    CHECK(stats.memory < 64 * MIB);
    CHECK_EQ(count(store, 0, 100), 0);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_verify(path, &health, NULL, NULL, &error) == UNSEEN_OK);
    store = open_store(UNSEEN_STORE_READ, &metered);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(meter.largest < 64 * MIB);

    store = open_store(UNSEEN_STORE_WRITE, NULL);
    CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
    CHECK_EQ(stats.capacity, shape->capacity);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(resident() < before + 64 * MIB);
}

/* The memory of a writer is touched where the keys are: it may have huge pages. */
static void test_few_keys(const struct shape *shape)
{
    enum {
        FEW = 3,
        MANY = 20000
    };
    forge_log(shape);
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, NULL);
    add(store, FEW);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    store = open_store(UNSEEN_STORE_READ, NULL);
    CHECK_EQ(count(store, 0, 1000), FEW);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);

    /* Many keys, from a writer that is not as large. */
    const struct shape small = {shape->filter, shape->fpr, MANY};
    forge_log(&small);
    store = open_store(UNSEEN_STORE_WRITE, NULL);
    add(store, MANY);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    struct unseen__log_header header;
    uint8_t bytes[UNSEEN__HEADER_LEN];
    const int fd = open(path, O_RDWR);
    CHECK(pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
    CHECK(unseen__header_decode(bytes, &header) == UNSEEN_OK);
    header.capacity = shape->capacity;
    unseen__header_encode(&header, bytes);
    CHECK(pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
    CHECK(pwrite(fd, bytes, sizeof(bytes), sizeof(bytes)) == (ssize_t)sizeof(bytes));
    CHECK(close(fd) == 0);
    const uint64_t before = resident();
    store = open_store(UNSEEN_STORE_READ, NULL);
    CHECK_EQ(count(store, 0, 2 * MANY), MANY);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(resident() < before + 64 * MIB);
}

/* A filter that grows is made for the keys of the log, whatever capacity the header names. */
static void test_growing(void)
{
    const struct shape shape = {"compact", 1e-4, (uint64_t)1 << 40};
    struct meter meter = {0};
    const struct unseen_allocator metered = {meter_alloc, meter_free, &meter};
    const uint64_t before = resident();
    forge_log(&shape);
    struct unseen_store *store = open_store(UNSEEN_STORE_READ, &metered);
    CHECK_EQ(count(store, 0, 100), 0);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(meter.largest < 64 * MIB);
    CHECK(resident() < before + 64 * MIB);
}

/* ---- exports ---- */

struct chunks {
    struct unseen_set *set;
    unsigned *n;
};

/* The header of a huge set, its first pieces and its end. */
static enum unseen_status next_chunk(const void *object, uint64_t *cursor, void *buf, size_t cap,
                                     size_t *len_out)
{
    enum {
        FEW = 4
    };
    const struct chunks *c = object;
    if (++*c->n == FEW) {
        do {
            CHECK(unseen_set_export(c->set, cursor, buf, cap, len_out) == UNSEEN_OK);
            *cursor = *cursor < UINT64_MAX ? (uint64_t)1 << 49 : *cursor;
        } while (*cursor != UINT64_MAX);
        return UNSEEN_OK;
    }
    return unseen_set_export(c->set, cursor, buf, cap, len_out);
}

static struct unseen_set *make_set(const struct shape *shape, const struct unseen__secret *secret)
{
    struct unseen_set *set = NULL;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = shape->filter,
                                               .fpr = shape->fpr,
                                               .capacity = shape->capacity,
                                               .key_bits = 64,
                                               .cpu = test_cpu};
    CHECK(unseen__set_create(&set, &options, NULL, secret, NULL, NULL) == UNSEEN_OK);
    return set;
}

/* An empty set of any capacity takes no memory, and an export without its pieces is refused without
 * looking for them. */
static void test_export(const struct shape *shape)
{
    const uint64_t before = resident();
    uint8_t *chunk = malloc(UNSEEN_CHUNK_MAX);
    struct unseen_import *import = NULL;
    struct unseen_set *set = NULL;
    const struct unseen__secret secret = {{1}};
    unsigned n = 0;
    uint64_t cursor = 0;
    const struct chunks c = {.set = make_set(shape, &secret), .n = &n};
    size_t len = 0;
    CHECK(unseen_import_create(&import, NULL, NULL) == UNSEEN_OK);
    while (next_chunk(&c, &cursor, chunk, UNSEEN_CHUNK_MAX, &len) == UNSEEN_OK && len > 0) {
        CHECK(unseen_import_chunk(import, chunk, len) == UNSEEN_OK);
    }
    CHECK(unseen_import_finish(import, &set) == UNSEEN_ERR_CORRUPT);
    unseen_set_free(c.set);
    free(chunk);
    CHECK(resident() < before + 64 * MIB);
}

/* An image that is shorter than the set it claims to have is damaged before memory is asked for. */
static void test_image(const struct shape *shape)
{
    struct unseen__log log = {.fd = -1};
    struct unseen__image_header header = {
        .log_end = UNSEEN__RECORDS_OFFSET,
    };
    struct meter meter = {0};
    const struct unseen_allocator metered = {meter_alloc, meter_free, &meter};
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    const uint64_t before = resident();
    forge_log(shape);
    CHECK(unseen__log_open(&log, path, true, &allocator, &error) == UNSEEN_OK);
    unsigned n = 0;
    const struct chunks c = {.set = make_set(shape, &log.header.secret), .n = &n};
    memcpy(header.id, log.header.id, sizeof(header.id));
    const struct unseen__image_parts parts = {.object = &c, .next = next_chunk};
    struct unseen__image_writer writer = {.allocator = allocator};
    CHECK(unseen__image_start(&writer, &log, &error) == UNSEEN_OK);
    CHECK(unseen__image_finish(&writer, header, &parts, &error) == UNSEEN_OK);
    unseen_set_free(c.set);
    unseen__log_release(&log);
    struct unseen_store *store = open_store(UNSEEN_STORE_READ, &metered);
    struct unseen_store_info info = {.size = sizeof(info)};
    CHECK(unseen_store_info(store, &info) == UNSEEN_OK);
    CHECK(info.image_damaged);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(meter.largest < 64 * MIB);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(resident() < before + 64 * MIB);
}

int main(void)
{
    test_start();
    test_folder_make(dir, sizeof(dir), "limits");
    snprintf(path, sizeof(path), "%s/store", dir);
    for (size_t i = 0; i < NSHAPES; i++) {
        test_empty_store(&shapes[i]);
        test_export(&shapes[i]);
        test_image(&shapes[i]);
    }
    test_growing();
    for (size_t i = 0; i < NSHAPES; i++) {
        test_few_keys(&shapes[i]);
    }
    test_folder_remove(dir);
    return test_end();
}
