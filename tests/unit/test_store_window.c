/* SPDX-License-Identifier: MIT
 *
 * A store with a window against the dumbest model: for each key, whether it is there and when it
 * came. The clock is the test's: it runs, stands, jumps and goes back. Meanwhile keys are added and
 * removed, the store is closed, killed, rewritten and gets images, and a reader follows. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "store/store.h"

enum {
    PATH_LEN = 300,
    NKEYS = 30000,
    BATCH = 600,
    NSTEPS = 2500,
    NREMOVED = 25,
    LATE = 1000 /* milliseconds, of both windows */
};

#define START  UINT64_C(1700000000000)
#define WINDOW UINT64_C(20000)

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];
static struct unseen_error error;

struct entry {
    bool is_there;
    uint64_t time;
};

static struct {
    struct entry now[NKEYS];
    struct entry committed[NKEYS];
    struct unseen_key keys[NKEYS];
    uint64_t window;
    uint64_t clock; /* the latest that was told */
    uint64_t random;
    struct unseen_store *store;
    struct unseen_store *reader;
    size_t nleft; /* keys that were there, and were new again */
} m;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)(test_random(&m.random) % n);
}

static struct unseen_store_options options_of(enum unseen_store_mode mode)
{
    return (struct unseen_store_options){.size = sizeof(struct unseen_store_options),
                                         .mode = mode,
                                         .profile = "none",
                                         .seed = "window",
                                         .seed_len = 6,
                                         .cpu = test_cpu,
                                         .window = m.window};
}

static void open_writer(void)
{
    const struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    m.store = test_store_open(path, &options);
}

static void make_keys(void)
{
    for (uint32_t i = 0; i < NKEYS; i++) {
        char text[32];
        const struct unseen_bytes item = {text, (size_t)snprintf(text, sizeof(text), "key %u", i)};
        CHECK(unseen_set_keys(unseen_store_set(m.store), &item, 1, &m.keys[i], NULL) == UNSEEN_OK);
    }
}

/* What the store may say of a key: certainly there, certainly not, or both, at the end of its
 * window. */
static bool is_right(const struct entry *entry, uint8_t verdict)
{
    const uint64_t window = m.window ? m.window : UINT64_MAX / 2;
    if (!entry->is_there || m.clock >= entry->time + window + LATE) {
        return verdict == UNSEEN_NEW;
    }
    return m.clock >= entry->time + window || verdict == UNSEEN_SEEN;
}

static void check_all(const struct unseen_store *store, const struct entry *entries,
                      const char *where)
{
    static uint8_t verdicts[NKEYS];
    size_t nwrong = 0;
    CHECK(unseen_set_contains_keys(unseen_store_set(store), m.keys, NKEYS, verdicts, NULL) ==
          UNSEEN_OK);
    for (size_t i = 0; i < NKEYS; i++) {
        if (!is_right(&entries[i], verdicts[i]) && nwrong++ == 0) {
            fprintf(stderr, "%s: key %zu of %llu is %u at %llu\n", where, i,
                    (unsigned long long)(entries[i].is_there ? entries[i].time : 0), verdicts[i],
                    (unsigned long long)m.clock);
        }
    }
    CHECK_EQ(nwrong, 0);
}

static void expire(struct unseen_store *store, size_t max)
{
    CHECK(unseen_store_expire(store, m.clock, max, NULL) == UNSEEN_OK);
}

static void add_some(uint32_t first)
{
    static struct unseen_key keys[BATCH];
    uint32_t ids[BATCH];
    uint8_t verdicts[BATCH];
    for (uint32_t i = 0; i < BATCH; i++) {
        ids[i] = (first + pick(4 * BATCH)) % NKEYS;
        keys[i] = m.keys[ids[i]];
    }
    CHECK(unseen_store_add_keys(m.store, keys, BATCH, verdicts, NULL) == UNSEEN_OK);
    for (uint32_t i = 0; i < BATCH; i++) {
        struct entry *entry = &m.now[ids[i]];
        CHECK(is_right(&m.now[ids[i]], verdicts[i]));
        if (verdicts[i] == UNSEEN_NEW) {
            m.nleft += entry->is_there;
            *entry = (struct entry){true, m.clock};
        }
    }
}

static void remove_some(void)
{
    struct unseen_key keys[NREMOVED];
    uint32_t ids[NREMOVED];
    uint8_t verdicts[NREMOVED];
    const uint32_t first = pick(NKEYS);
    for (uint32_t i = 0; i < NREMOVED; i++) {
        ids[i] = (first + i) % NKEYS;
        keys[i] = m.keys[ids[i]];
    }
    CHECK(unseen_store_remove_keys(m.store, keys, NREMOVED, verdicts, NULL) == UNSEEN_OK);
    for (uint32_t i = 0; i < NREMOVED; i++) {
        CHECK(is_right(&m.now[ids[i]], verdicts[i]));
        m.now[ids[i]].is_there = false;
    }
}

static void commit(void)
{
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    memcpy(m.committed, m.now, sizeof(m.now));
}

static void verify(void)
{
    if (!CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
}

static void close_and_open(void)
{
    test_store_close(m.store);
    memcpy(m.now, m.committed, sizeof(m.now)); /* what was not committed is undone */
    verify();
    open_writer();
    expire(m.store, SIZE_MAX);
    check_all(m.store, m.now, "opened");
}

/* The files as they are while the store is open are what a killed process leaves. */
static void kill_and_open(void)
{
    size_t len = 0;
    size_t image_len = 0;
    const bool has_image = access(image, F_OK) == 0;
    uint8_t *log = test_file_read(path, &len);
    uint8_t *bytes = has_image ? test_file_read(image, &image_len) : NULL;
    test_store_close(m.store);
    test_file_write(path, log, len);
    if (has_image) {
        test_file_write(image, bytes, image_len);
    } else {
        (void)unlink(image);
    }
    free(log);
    free(bytes);
    memcpy(m.now, m.committed, sizeof(m.now));
    verify();
    open_writer();
    expire(m.store, SIZE_MAX);
    check_all(m.store, m.now, "killed");
}

static void rewrite(uint64_t window)
{
    test_store_close(m.store);
    memcpy(m.now, m.committed, sizeof(m.now));
    struct unseen_store_options options = {
        .size = sizeof(options), .window = window, .now = m.clock};
    if (!CHECK(unseen_store_rewrite(path, &options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
    /* What has left the window before stays new. */
    for (size_t i = 0; i < NKEYS; i++) {
        if (m.clock >= m.now[i].time + m.window + LATE) {
            m.now[i].is_there = false;
        }
    }
    m.window = window;
    verify();
    open_writer();
    expire(m.store, SIZE_MAX);
    memcpy(m.committed, m.now, sizeof(m.now));
}

static bool note_key(void *context, const struct unseen_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(unseen__stash_add(context, keys[i], &m.store->allocator) == UNSEEN_OK);
    }
    return true;
}

/* The keys that a reader lists are those that it answers. */
static void check_list(struct unseen_store *reader, const struct entry *entries)
{
    struct unseen__stash listed = {0};
    size_t nwrong = 0;
    if (!CHECK(unseen_store_keys(reader, note_key, &listed, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
    for (size_t i = 0; i < NKEYS; i++) {
        const bool is_there = unseen__stash_contains(&listed, m.keys[i]);
        nwrong += !is_right(&entries[i], is_there ? UNSEEN_SEEN : UNSEEN_NEW);
    }
    CHECK_EQ(nwrong, 0);
    unseen__stash_release(&listed, &m.store->allocator);
}

static void follow(void)
{
    if (!m.reader || pick(8) == 0) {
        const struct unseen_store_options options = {.size = sizeof(options), .cpu = test_cpu};
        test_store_close(m.reader);
        m.reader = test_store_open(path, &options);
    } else if (!CHECK(unseen_store_refresh(m.reader, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
    expire(m.reader, SIZE_MAX);
    check_all(m.reader, m.committed, "followed");
    if (pick(4) == 0) {
        check_list(m.reader, m.committed);
    }
}

static void run_clock(void)
{
    const uint32_t how = pick(200);
    m.clock += how == 0   ? WINDOW + pick(WINDOW)
               : how < 10 ? pick(WINDOW / 2)
               : how < 60 ? 0
                          : pick(WINDOW / 100);
    const uint64_t back = pick(20) == 0 ? pick(5000) : 0; /* the latest time counts */
    expire(m.store, pick(2) ? SIZE_MAX : 300);
    CHECK(unseen_store_expire(m.store, m.clock - back, 300, NULL) == UNSEEN_OK);
}

static void step(uint32_t i)
{
    run_clock();
    add_some(i * 17 % NKEYS);
    if (pick(6) == 0) {
        remove_some();
        add_some(pick(NKEYS));
    }
    if (pick(10) > 0) {
        commit();
    }
    switch (pick(120)) {
    case 0:
    case 1:
        close_and_open();
        break;
    case 2:
    case 3:
        kill_and_open();
        break;
    case 4:
    case 5:
    case 6:
        commit();
        CHECK(unseen__image_save(m.store, &error) == UNSEEN_OK);
        break;
    case 7:
        rewrite(WINDOW);
        break;
    default:
        break;
    }
    if (pick(5) == 0) {
        check_all(m.store, m.now, "going on");
        follow();
    }
}

static uint64_t disk_of(const char *file)
{
    struct stat st = {.st_size = 0};
    CHECK(stat(file, &st) == 0);
    return (uint64_t)st.st_blocks * 512;
}

static void start(uint64_t window)
{
    test_folder_clear(dir);
    memset(m.now, 0, sizeof(m.now));
    memset(m.committed, 0, sizeof(m.committed));
    m.window = window;
    m.clock = START;
    open_writer();
    make_keys();
}

static void finish(void)
{
    test_store_close(m.reader);
    m.reader = NULL;
    test_store_close(m.store);
    verify();
}

static void test_model(uint64_t seed)
{
    m.random = seed;
    m.nleft = 0;
    start(WINDOW);
    for (uint32_t i = 0; i < NSTEPS; i++) {
        step(i);
    }
    CHECK(m.nleft > NKEYS);
    finish();
}

/* ---- one thing at a time --------------------------------------------------------------------- */

/* Adds the keys from..to-1 at a time; the number that were new. */
static size_t add_at(uint64_t now, uint32_t from, uint32_t to)
{
    static uint8_t verdicts[NKEYS];
    size_t nnew = 0;
    CHECK(unseen_store_expire(m.store, now, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK(unseen_store_add_keys(m.store, m.keys + from, to - from, verdicts, NULL) == UNSEEN_OK);
    for (uint32_t i = 0; i < to - from; i++) {
        nnew += verdicts[i] == UNSEEN_NEW;
    }
    return nnew;
}

static void reopen(void)
{
    test_store_close(m.store);
    open_writer();
}

/* Keys of one commit that came at different times leave one after the other, also when the log is
 * read again. */
static void test_runs(void)
{
    for (int reopens = 0; reopens < 2; reopens++) {
        start(WINDOW);
        for (uint32_t i = 0; i < 10; i++) {
            CHECK_EQ(add_at(START + i * 1000, 10 * i, 10 * i + 10), 10);
        }
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        CHECK_EQ(m.store->log.number, 1);
        for (uint32_t i = 0; i < 10; i++) {
            CHECK_EQ(add_at(START + i * 1000 + WINDOW - 1, 10 * i, 10 * i + 10), 0);
            CHECK_EQ(add_at(START + i * 1000 + WINDOW + 500, 10 * i, 10 * i + 10), 10);
            if (reopens) {
                CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
                reopen();
            }
        }
        test_store_close(m.store);
    }
}

/* A window that turns over takes little more than its live keys, whether the file system takes
 * bytes out of a file or not. */
static void test_disk(void)
{
    enum {
        TURNS = 100,
        PARTS = 20
    };
    const uint32_t turns = test_brief() ? TURNS / 4 : TURNS;
    for (int punches = 0; punches < 2; punches++) {
        uint64_t most = 0;
        start(WINDOW);
        for (uint32_t i = 0; i < turns * PARTS; i++) {
            const uint32_t first = i % PARTS * (NKEYS / PARTS);
            const uint64_t now = START + i * (WINDOW + 1000) / PARTS;
            m.store->cannot_punch = !punches;
            CHECK_EQ(add_at(now, first, first + NKEYS / PARTS), NKEYS / PARTS);
            CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
            const uint64_t disk = punches ? disk_of(path) : test_store_info(m.store).log_bytes;
            most = disk > most ? disk : most;
        }
        const uint64_t live = UINT64_C(8) * NKEYS;
        CHECK(most < (punches ? 3 * live / 2 : (UINT64_C(1) << 20) + 2 * live));
        CHECK(most > live);
        reopen();
        CHECK(m.store->nchanges - m.store->log.header.head.nchanges < 2 * NKEYS);
        CHECK_EQ(add_at(START + (turns - 1) * (WINDOW + 1000), 0, NKEYS), 0);
        test_store_close(m.store);
        verify();
    }
}

/* The power fails while the head is moved: one copy of the header is old, or torn. */
static void test_head(void)
{
    size_t len = 0;
    start(WINDOW);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_EQ(add_at(START + i * 1000, 1000 * i, 1000 * i + 1000), 1000);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    }
    uint8_t *before = test_file_read(path, &len);
    CHECK_EQ(add_at(START + 15 * 1000 + WINDOW, 25000, 25001), 1);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    /* A crash before that commit would have brought back the time before it, and what was seen. */
    CHECK_EQ(m.store->log.header.head.offset, UNSEEN__RECORDS_OFFSET);
    CHECK_EQ(add_at(START + 15 * 1000 + WINDOW, 25001, 25002), 1);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(m.store->log.header.head.offset > UNSEEN__RECORDS_OFFSET);
    test_store_close(m.store);
    uint8_t *after = test_file_read(path, &len);
    for (int copy = 0; copy < 2; copy++) {
        for (int torn = 0; torn < 2; torn++) {
            uint8_t *mixed = after + copy * UNSEEN__HEADER_LEN;
            uint8_t kept[UNSEEN__HEADER_LEN];
            memcpy(kept, mixed, sizeof(kept));
            memcpy(mixed, before, torn ? 512 : sizeof(kept));
            test_file_write(path, after, len);
            memcpy(mixed, kept, sizeof(kept));
            open_writer();
            CHECK_EQ(add_at(START + 15 * 1000 + WINDOW, 16000, 20000), 0);
            CHECK_EQ(add_at(START + 15 * 1000 + WINDOW, 0, 10), 10);
            test_store_close(m.store);
            verify();
            open_writer();
            CHECK(!test_store_info(m.store).header_damaged);
            test_store_close(m.store);
        }
    }
    /* A head without a record is damage, and not an end that is torn. */
    memset(after + UNSEEN__RECORDS_OFFSET, 0, len - UNSEEN__RECORDS_OFFSET);
    test_file_write(path, after, len);
    CHECK(unseen_store_open(&m.store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    test_file_write(path, after, UNSEEN__RECORDS_OFFSET);
    CHECK(unseen_store_open(&m.store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    free(before);
    free(after);
}

/* Output and note are known when the records that say them have left. */
static void test_output(void)
{
    char name[PATH_LEN + 16];
    uint64_t output_len = 0;
    start(WINDOW);
    snprintf(name, sizeof(name), "%s.out", path);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "line\nlost\n", 10) == 10);
    CHECK(unseen_store_note(m.store, 77, &error) == UNSEEN_OK);
    CHECK(unseen_store_output(m.store, fd, name, &output_len, &error) == UNSEEN_OK);
    for (uint32_t i = 0; i < 40; i++) {
        CHECK_EQ(add_at(START + i * 2000, 500 * i, 500 * i + 500), 500);
        CHECK(unseen_store_commit_begin(m.store, UINT64_MAX, 10, &error) == UNSEEN_OK);
        CHECK(unseen_store_commit_poll(m.store, true, NULL, &error) == UNSEEN_OK);
    }
    CHECK(m.store->log.header.head.output_offset > 0);
    size_t len = 0;
    uint8_t *log = test_file_read(path, &len);
    test_store_close(m.store);
    test_file_write(path, log, len); /* it was killed */
    CHECK(write(fd, "more\n", 5) == 5 && close(fd) == 0);
    verify();
    open_writer();
    const struct unseen_store_info info = test_store_info(m.store);
    CHECK(info.output && strcmp(info.output, name) == 0 && info.output_len == 10);
    CHECK(info.output_interrupted && info.note == 77);
    test_store_close(m.store);
    free(log);
}

static void rewrite_to(uint64_t window, uint64_t now, enum unseen_status expected)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .window = window, .now = now};
    CHECK(unseen_store_rewrite(path, &options, &error) == expected);
    m.window = window;
}

/* A store gets a window, another one, and none. */
static void test_rewrite(void)
{
    static uint8_t verdicts[10];
    start(0);
    CHECK(unseen_store_add_keys(m.store, m.keys, 10, verdicts, NULL) == UNSEEN_OK); /* no time */
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    test_store_close(m.store);
    rewrite_to(WINDOW, 0, UNSEEN_ERR_ARGUMENT);
    m.window = 0;
    open_writer();
    CHECK_EQ(add_at(START, 10, 20), 10);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + WINDOW, 20, 30), 10);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    test_store_close(m.store);
    rewrite_to(WINDOW, START + WINDOW, UNSEEN_OK);
    verify();
    open_writer();
    CHECK_EQ(add_at(START + WINDOW, 0, 30), 0);
    CHECK_EQ(add_at(START + WINDOW + 1000, 0, 30),
             20); /* the first ten have the time of the next */
    test_store_close(m.store);
    rewrite_to(2 * WINDOW, START + WINDOW + 1000, UNSEEN_OK); /* what has left stays out */
    open_writer();
    CHECK_EQ(add_at(START + WINDOW + 1000, 0, 30), 20);
    CHECK_EQ(add_at(START + 3 * WINDOW - 1, 20, 30), 0);
    test_store_close(m.store);
    rewrite_to(WINDOW, START + 3 * WINDOW - 1, UNSEEN_OK); /* at once */
    open_writer();
    CHECK_EQ(unseen_store_expire(m.store, START + 3 * WINDOW - 1, 0, NULL), UNSEEN_OK);
    CHECK_EQ(add_at(START + 3 * WINDOW - 1, 20, 30), 10);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    test_store_close(m.store);
    rewrite_to(UNSEEN_NO_WINDOW, 0, UNSEEN_OK);
    m.window = 0;
    open_writer();
    CHECK_EQ(add_at(START + 100 * WINDOW, 20, 30), 0);
    test_store_close(m.store);
    verify();
}

static void test_settings(void)
{
    struct unseen_store *other = NULL;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    uint8_t verdict = 0;
    uint64_t next = 0;
    start(WINDOW);
    CHECK(unseen_store_add_keys(m.store, m.keys, 1, &verdict, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_expire(m.store, 0, 1, &next) == UNSEEN_OK && next == 500);
    CHECK(unseen_store_expire(m.store, START + 100, 1, &next) == UNSEEN_OK);
    CHECK_EQ(next, START + 250);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_expire(m.store, START + WINDOW + 500, 60, &next) == UNSEEN_OK);
    CHECK_EQ(next, 0);
    CHECK(unseen_store_expire(m.store, START + WINDOW + 500, 60, &next) == UNSEEN_OK);
    CHECK_EQ(next, START + WINDOW + 750);
    CHECK_EQ(add_at(START + 2 * WINDOW, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_leaving(m.store, &next, &error) == UNSEEN_ERR_UNSUPPORTED);
    test_store_close(m.store);
    other = test_store_open(path, &(struct unseen_store_options){.size = sizeof(options)});
    CHECK(unseen_store_expire(other, START + 2 * WINDOW, 0, NULL) == UNSEEN_OK);
    CHECK_EQ(test_store_info(other).window, WINDOW);
    CHECK_EQ(test_store_info(other).oldest, START + 2 * WINDOW);
    CHECK(unseen_store_leaving(other, &next, &error) == UNSEEN_OK);
    CHECK_EQ(next, 0);
    CHECK(unseen_store_expire(other, START + 3 * WINDOW - 1000, 0, NULL) == UNSEEN_OK);
    CHECK(unseen_store_leaving(other, &next, &error) == UNSEEN_OK);
    CHECK_EQ(next, 100);
    test_store_close(other);
    options.window = 2 * WINDOW;
    CHECK(unseen_store_open(&other, path, &options, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(error.setting == UNSEEN_SETTING_WINDOW);
    test_folder_clear(dir);
    options.window = 999;
    CHECK(unseen_store_open(&other, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    options.window = WINDOW;
    options.no_log = true;
    CHECK(unseen_store_open(&other, path, &options, &error) == UNSEEN_ERR_UNSUPPORTED);
    options.no_log = false;
    options.filter = "block";
    options.capacity = 1000;
    CHECK(unseen_store_open(&other, path, &options, &error) == UNSEEN_ERR_UNSUPPORTED);
}

/* A session that replays nothing behind the image goes on with the time of the last record. */
static void test_image_time(void)
{
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen__image_save(m.store, &error) == UNSEEN_OK);
    reopen();
    CHECK_EQ(m.store->log.time, START);
    CHECK(unseen_store_note(m.store, 1, &error) == UNSEEN_OK);
    test_store_close(m.store);
    verify();
}

/* A rewrite keeps what has left at a time that no record tells: after a crash the lines of that
 * time come once more. */
static void test_rewrite_ahead(void)
{
    static uint8_t verdicts[100];
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK_EQ(add_at(START + WINDOW / 2, 100, 200), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_expire(m.store, START + WINDOW + 500, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK(unseen__store_rewrite_self(m.store, &error) == UNSEEN_OK);
    struct unseen_store *crashed = test_store_open(
        path, &(struct unseen_store_options){.size = sizeof(struct unseen_store_options)});
    CHECK(unseen_set_contains_keys(unseen_store_set(crashed), m.keys, 100, verdicts, NULL) ==
          UNSEEN_OK);
    CHECK_EQ(verdicts[0], UNSEEN_SEEN);
    test_store_close(crashed);
    unseen__committer_appended(&m.store->committer);
    CHECK_EQ(add_at(START + WINDOW + 500, 0, 200), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + WINDOW + WINDOW / 2, 0, 200), 0);
    CHECK_EQ(add_at(START + WINDOW + WINDOW / 2 + 500, 0, 200), 100);
    test_store_close(m.store);
    verify();
}

/* A key that has left is allowed, and no damage. */
static void test_allowed(void)
{
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_expire(m.store, START + WINDOW + 500, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK(unseen__store_allow_all(m.store, m.keys, 10, &error) == UNSEEN_OK);
    reopen();
    verify();
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK_EQ(add_at(START + WINDOW, 0, 100), 0);
    test_store_close(m.store);
}

/* A window that began before 1970, and how long windows are said. */
static void test_long(void)
{
    const uint64_t month = UINT64_C(30) * 86400 * 1000;
    start(800 * month);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + 1000, 0, 100), 0);
    CHECK_EQ(test_store_info(m.store).oldest, START);
    test_store_close(m.store);
    struct unseen_store_options options = options_of(UNSEEN_STORE_READ);
    options.window = month + 1500;
    CHECK(unseen_store_open(&m.store, path, &options, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(strstr(error.text, "has a window of 2073600000 s, not of 2592001.5 s") != NULL);
}

/* A record of the future in the middle of the log lets nothing leave that is there, and a repair
 * loses no key. */
static void test_forged(void)
{
    size_t len = 0;
    start(WINDOW);
    struct unseen_store *reader = NULL;
    uint8_t verdicts[100];
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(add_at(START + i * 1000, 100 * i, 100 * i + 100), 100);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        reader = reader ? reader
                        : test_store_open(path, &(struct unseen_store_options){
                                                    .size = sizeof(struct unseen_store_options)});
    }
    uint8_t id[UNSEEN__ID_LEN];
    memcpy(id, m.store->log.header.id, sizeof(id));
    test_store_close(m.store);
    uint8_t *log = test_file_read(path, &len);
    uint8_t *second =
        log + UNSEEN__RECORDS_OFFSET + UNSEEN__RECORD_HEAD + 800 + UNSEEN__RECORD_TAIL;
    const size_t record_len = UNSEEN__RECORD_HEAD + 800 + UNSEEN__RECORD_TAIL;
    store_le64(second + 48, START + 10 * WINDOW);
    store_le64(second + record_len - 8, unseen__record_checksum(second, record_len, id));
    test_file_write(path, log, len);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_set_contains_keys(unseen_store_set(reader), m.keys, 100, verdicts, NULL) ==
          UNSEEN_OK);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK(verdicts[i] == UNSEEN_SEEN);
    }
    CHECK(unseen_store_open(&m.store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "older than one before it") != NULL);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    open_writer();
    CHECK_EQ(add_at(START + 2000, 0, 300), 0);
    test_store_close(m.store);
    test_store_close(reader);
    free(log);
}

/* A key whose change waited for longer than the window leaves, also when the log was written anew
 * before the change came into it. */
static void test_waits_long(void)
{
    enum {
        REST = 100
    };
    static uint8_t verdicts[NKEYS];
    const uint64_t late = START + WINDOW + 2000;
    for (int rewrites = 0; rewrites < 2; rewrites++) {
        start(WINDOW);
        m.store->cannot_punch = true;
        for (uint32_t i = 0; i < 6; i++) {
            CHECK_EQ(add_at(START, 0, NKEYS - REST), NKEYS - REST);
            CHECK(unseen_store_remove_keys(m.store, m.keys, NKEYS - REST, verdicts, NULL) ==
                  UNSEEN_OK);
            CHECK((rewrites ? unseen_store_commit(m.store, &error) : UNSEEN_OK) == UNSEEN_OK);
        }
        CHECK_EQ(add_at(START + 1000, NKEYS - REST, NKEYS), REST);
        CHECK(unseen_store_expire(m.store, late, SIZE_MAX, NULL) == UNSEEN_OK);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        CHECK_EQ(m.store->is_rewritten, rewrites);
        CHECK_EQ(add_at(late + 1000, NKEYS - REST, NKEYS), REST);
        test_store_close(m.store);
        verify();
    }
}

/* The last record is known to have a time when the image covers it, too: the next one is not
 * older. */
static void test_image_covers_all(void)
{
    static const uint64_t windows[] = {0, WINDOW};
    for (size_t i = 0; i < 2; i++) {
        start(windows[i]);
        CHECK_EQ(add_at(WINDOW, 0, 100), 100); /* nothing has left since 1970 */
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        CHECK(unseen__image_save(m.store, &error) == UNSEEN_OK);
        m.store->log.ends_open = false; /* the power fails before the record behind the image */
        reopen();
        CHECK_EQ(test_store_info(m.store).replayed, 0);
        CHECK_EQ(add_at(WINDOW - 1000, 100, 200), 100);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        test_store_close(m.store);
        verify();
    }
}

/* The disk at the head that a reader knows is given back. */
static void test_behind(void)
{
    enum {
        NREADERS = 3
    };
    const struct unseen_store_options options = {.size = sizeof(options), .cpu = test_cpu};
    struct unseen_store *readers[NREADERS];
    start(WINDOW);
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t first = i % 10 * 3000;
        m.clock = START + i * 2500;
        CHECK_EQ(add_at(m.clock, first, first + 3000), 3000);
        for (uint32_t k = 0; k < 3000; k++) {
            m.committed[first + k] = (struct entry){true, m.clock};
        }
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        for (size_t k = 0; i == 1 && k < NREADERS; k++) {
            readers[k] = test_store_open(path, &options);
        }
        if (i > 0) { /* this one follows all the time */
            CHECK(unseen_store_refresh(readers[0], &error) == UNSEEN_OK);
        }
    }
    CHECK(m.store->log.header.head.offset > 10 * UNSEEN__RECORDS_OFFSET);
    check_list(readers[0], m.committed);
    check_list(readers[1], m.committed); /* never did */
    CHECK(unseen_store_expire(readers[2], m.clock, SIZE_MAX, NULL) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_refresh(readers[2], &error) == UNSEEN_OK);
    for (size_t k = 0; k < NREADERS; k++) {
        CHECK(unseen_store_expire(readers[k], m.clock, SIZE_MAX, NULL) == UNSEEN_OK);
        check_all(readers[k], m.committed, "behind");
        test_store_close(readers[k]);
    }
    test_store_close(m.store);
}

/* An event loop waits for a rewrite, but not for ever: the log does not grow without end where the
 * file system takes no bytes out of a file. */
static void test_event_loop(void)
{
    int ends[2];
    uint64_t most = 0;
    test_folder_clear(dir);
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    m.window = WINDOW;
    struct unseen_store_options options = options_of(UNSEEN_STORE_CREATE);
    options.notify_fd = ends[1];
    m.store = test_store_open(path, &options);
    for (uint32_t i = 0; i < 400; i++) {
        char bytes[64];
        const uint32_t first = i % 10 * 3000;
        m.store->cannot_punch = true;
        CHECK_EQ(add_at(START + i * 2500, first, first + 3000), 3000);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
        const uint64_t len = test_store_info(m.store).log_bytes;
        most = len > most ? len : most;
        while (read(ends[0], bytes, sizeof(bytes)) > 0) {
        }
    }
    CHECK(m.store->is_rewritten);
    CHECK(most > (UINT64_C(1) << 20) && most < 3 * (UINT64_C(1) << 20) / 2);
    test_store_close(m.store);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    verify();
}

/* What has left at the time of changes that are undone is there again: their lines come once
 * more. */
static void test_undone(void)
{
    static uint8_t verdicts[NKEYS];
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, NKEYS), NKEYS);
    CHECK(unseen_store_remove_keys(m.store, m.keys, NKEYS, verdicts, NULL) == UNSEEN_OK);
    CHECK_EQ(add_at(START, 0, NKEYS), NKEYS); /* so many changes that an image is written */
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + WINDOW + 1000, 0, 1), 1);
    reopen();
    CHECK_EQ(add_at(START + WINDOW - 1000, 0, NKEYS), 0);
    test_store_close(m.store);
}

/* ---- merging --------------------------------------------------------------------------------- */

enum {
    MERGED_STEPS = 40
};

/* Lets the store at `path` live for a while. */
static void live(uint64_t clock, uint64_t window)
{
    m.clock = clock;
    m.window = window;
    memset(m.now, 0, sizeof(m.now));
    open_writer();
    for (int i = 0; i < MERGED_STEPS; i++) {
        m.clock += pick(WINDOW / 8);
        expire(m.store, SIZE_MAX);
        add_some(pick(4 * BATCH));
        if (pick(3) == 0) {
            remove_some();
        }
        commit();
    }
    if (pick(2)) {
        CHECK(unseen__image_save(m.store, &error) == UNSEEN_OK);
    }
    test_store_close(m.store);
    verify();
}

/* What two stores say together: the later time counts. */
static void merge_models(const struct entry *other)
{
    for (size_t i = 0; i < NKEYS; i++) {
        if (other[i].is_there && (!m.now[i].is_there || m.now[i].time < other[i].time)) {
            m.now[i] = other[i];
        }
    }
    memcpy(m.committed, m.now, sizeof(m.now));
}

/* Merges the store `other` into the one at `path`: as it is, as a draft, or into a new one. */
static void merge(const char *other, int how)
{
    char target[PATH_LEN + 16];
    uint64_t nnew = 0;
    struct unseen_store *from = test_store_open(other, NULL);
    struct unseen_store *like = how == 2 ? test_store_open(path, NULL) : NULL;
    struct unseen_store_options options =
        options_of(how == 0 ? UNSEEN_STORE_WRITE : UNSEEN_STORE_DRAFT);
    snprintf(target, sizeof(target), "%s%s", path, how == 2 ? ".merged" : "");
    options.like = like;
    options.seed = like ? NULL : options.seed;
    options.seed_len = like ? 0 : options.seed_len;
    m.store = test_store_open(target, &options);
    const struct unseen_set *set = unseen_store_set(m.store);
    CHECK(!like || unseen_store_merge(m.store, like, &nnew, NULL, NULL, &error) == UNSEEN_OK);
    if (!CHECK(unseen_store_merge(m.store, from, &nnew, NULL, NULL, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
    CHECK(unseen_store_set(m.store) == set);
    check_all(m.store, m.now, "merged");
    CHECK(unseen_store_publish(m.store, &error) == UNSEEN_OK);
    add_some(pick(4 * BATCH));
    commit();
    test_store_close(m.store);
    test_store_close(from);
    test_store_close(like);
    if (like) {
        CHECK(rename(target, path) == 0);
        snprintf(target, sizeof(target), "%s.merged.image", path);
        CHECK(rename(target, image) == 0 || unlink(image) == 0 || errno == ENOENT);
    }
}

static void test_merge(uint64_t seed)
{
    char other[PATH_LEN + 16];
    static struct entry entries[NKEYS];
    m.random = seed;
    snprintf(other, sizeof(other), "%s.other", path);
    for (int how = 0; how < 6; how++) {
        start(WINDOW);
        test_store_close(m.store);
        CHECK(unlink(path) == 0);
        live(START + pick(WINDOW), how < 3 ? WINDOW : 0);
        const uint64_t clock = m.clock;
        memcpy(entries, m.now, sizeof(entries));
        CHECK(rename(path, other) == 0);
        (void)unlink(image);
        live(START + pick(WINDOW), WINDOW);
        m.clock = m.clock > clock ? m.clock : clock;
        merge_models(entries);
        merge(other, how % 3);
        verify();
        open_writer();
        CHECK(m.store->log.time >= m.clock - UNSEEN__TIME_STEP);
        for (int i = 0; i < 30; i++) {
            check_all(m.store, m.now, "after a merge");
            m.clock += WINDOW / 20;
            expire(m.store, SIZE_MAX);
            if (i % 3 == 0) {
                add_some(pick(NKEYS));
                remove_some();
                commit();
                follow();
            }
        }
        finish();
    }
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void reset_clock(uint64_t now, bool resets)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .now = now, .resets_clock = resets};
    test_store_close(m.store);
    CHECK(unseen_store_rewrite(path, &options, &error) == UNSEEN_OK);
    verify();
    open_writer();
}

/* A store that was told a time of the far future gets its clock back. */
static void test_reset_clock(void)
{
    const uint64_t far = UNSEEN__TIME_MAX;
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK_EQ(add_at(START + 5000, 100, 200), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    reset_clock(START + 2000, false); /* it does not go back without being asked */
    CHECK_EQ(test_store_info(m.store).clock, START + 5000);
    reset_clock(START + 2000, true);
    CHECK_EQ(test_store_info(m.store).clock, START + 2000);
    CHECK_EQ(add_at(START + WINDOW - 1, 0, 200), 0);
    CHECK_EQ(add_at(START + WINDOW + 500, 0, 100), 100);
    CHECK_EQ(add_at(START + WINDOW + 2000 - 1, 100, 200), 0);
    CHECK_EQ(add_at(START + WINDOW + 2500, 100, 200), 100);
    CHECK_EQ(add_at(UINT64_MAX, 200, 300), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    reset_clock(START + 2 * WINDOW, false);
    CHECK_EQ(test_store_info(m.store).clock, far);
    CHECK_EQ(add_at(START + 2 * WINDOW, 0, 200), 200); /* what is forgotten stays new */
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    const struct unseen_store_options asks = options_of(UNSEEN_STORE_READ);
    struct unseen_store *reader = test_store_open(path, &asks);
    uint8_t verdicts[200];
    reset_clock(START + 3 * WINDOW, true);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK); /* takes the clock, too */
    CHECK(unseen_store_expire(reader, START + 3 * WINDOW + 1000, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK(unseen_set_contains_keys(unseen_store_set(reader), m.keys, 200, verdicts, NULL) ==
          UNSEEN_OK);
    CHECK(!memchr(verdicts, UNSEEN_NEW, 200));
    test_store_close(reader);
    CHECK_EQ(test_store_info(m.store).clock, START + 3 * WINDOW);
    CHECK_EQ(add_at(START + 4 * WINDOW - 1, 0, 300), 0);
    CHECK_EQ(add_at(START + 4 * WINDOW + 500, 0, 300), 300);
    test_store_close(m.store);
    verify();
}

/* A rewrite does not let the clock go back, though the keys of the last record are gone. */
static void test_rewritten_clock(void)
{
    uint8_t verdicts[100];
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK_EQ(add_at(START + 5000, 100, 200), 100);
    CHECK(unseen_store_remove_keys(m.store, m.keys + 100, 100, verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    reset_clock(START, false);
    CHECK_EQ(test_store_info(m.store).clock, START + 5000);
    /* Nor if no key is left, and so no record but the one that says the time. */
    CHECK(unseen_store_remove_keys(m.store, m.keys, 100, verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    reset_clock(START, false);
    CHECK_EQ(test_store_info(m.store).clock, START + 5000);
    test_store_close(m.store);
}

/* A key was removed and came again, and the record of the removal is lost: the later time is the
 * one that never forgets early. */
static void test_repair_keeps_later(void)
{
    size_t len = 0;
    uint8_t verdicts[100];
    start(WINDOW);
    CHECK_EQ(add_at(START, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_remove_keys(m.store, m.keys, 100, verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + 5000, 0, 100), 100);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    test_store_close(m.store);
    uint8_t *log = test_file_read(path, &len);
    log[UNSEEN__RECORDS_OFFSET + UNSEEN__RECORD_HEAD + 800 + UNSEEN__RECORD_TAIL + 100] ^= 1;
    test_file_write(path, log, len);
    free(log);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    verify();
    open_writer();
    CHECK_EQ(add_at(START + 5000 + WINDOW - 1, 0, 100), 0);
    CHECK_EQ(add_at(START + 5000 + WINDOW + 500, 0, 100), 100);
    test_store_close(m.store);
}

/* A rewrite has to keep what has left at a time that no record tells. That is no reason to rewrite
 * again at each commit. */
static void test_rewrites_once(void)
{
    enum {
        BULK = 7 * NKEYS,
        WAITING = 20
    };
    static struct unseen_key keys[BULK];
    static uint8_t verdicts[BULK];
    uint8_t id[UNSEEN__ID_LEN];
    size_t nrewrites = 0;
    uint64_t random = 5;
    start(WINDOW);
    m.store->cannot_punch = true;
    for (size_t i = 0; i < BULK; i++) {
        keys[i] = (struct unseen_key){.hi = test_random(&random)};
        unseen__key_narrow(64, &keys[i]);
    }
    CHECK(unseen_store_expire(m.store, START, SIZE_MAX, NULL) == UNSEEN_OK);
    CHECK(unseen_store_add_keys(m.store, keys, BULK, verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK_EQ(add_at(START + 1000, 0, WAITING), WAITING);
    CHECK(unseen_store_expire(m.store, START + WINDOW + 500, SIZE_MAX, NULL) == UNSEEN_OK);
    for (int i = 0; i < WAITING; i++) {
        memcpy(id, m.store->log.header.id, sizeof(id));
        CHECK(unseen_store_commit_begin(m.store, 1, 0, &error) == UNSEEN_OK);
        CHECK(unseen_store_commit_poll(m.store, true, NULL, &error) == UNSEEN_OK);
        nrewrites += memcmp(id, m.store->log.header.id, sizeof(id)) != 0;
    }
    CHECK_EQ(nrewrites, 1);
    CHECK_EQ(add_at(START + WINDOW + 750, 100, 101), 1); /* a record tells it */
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    CHECK(m.store->nchanges < NKEYS);
    test_store_close(m.store);
    verify();
}

/* A head that was led past keys which have not left, and an image of another time: with right
 * checksums. */
static void test_forged_places(void)
{
    const uint64_t record_len = UNSEEN__RECORD_HEAD + 800 + UNSEEN__RECORD_TAIL;
    uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN];
    struct unseen__image_header header;
    size_t len = 0;
    start(WINDOW);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(add_at(START + i * 1000, 100 * i, 100 * i + 100), 100);
        CHECK(unseen_store_commit(m.store, &error) == UNSEEN_OK);
    }
    CHECK(unseen__image_save(m.store, &error) == UNSEEN_OK);
    struct unseen__log_header forged = m.store->log.header;
    test_store_close(m.store);
    verify();
    uint8_t *made = test_file_read(image, &len);
    memcpy(bytes, made, sizeof(bytes));
    CHECK(unseen__image_header_decode(bytes, &header) == UNSEEN_OK);
    header.horizon = START + 1000;
    unseen__image_header_encode(&header, bytes);
    memcpy(made, bytes, sizeof(bytes));
    test_file_write(image, made, len);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unlink(image) == 0);
    verify();
    uint8_t *log = test_file_read(path, &len);
    forged.head = (struct unseen__log_head){.offset = UNSEEN__RECORDS_OFFSET + 2 * record_len,
                                            .number = 2,
                                            .nchanges = 200,
                                            .time = START + 1000};
    unseen__header_encode(&forged, log);
    unseen__header_encode(&forged, log + UNSEEN__HEADER_LEN);
    test_file_write(path, log, len);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    verify();
    open_writer();
    CHECK_EQ(add_at(START + 2000, 200, 300), 0);
    test_store_close(m.store);
    free(made);
    free(log);
}

#ifdef PLANTS
/* ---- planted faults: crash/window/PLANT (ld --wrap) ---- */

static const char *plant = "";

uint64_t __wrap_unseen__committer_log_time(struct unseen__committer *c);
enum unseen_status __real_unseen__leaving_note(struct unseen_store *store, struct unseen_key key);
enum unseen_status __wrap_unseen__leaving_note(struct unseen_store *store, struct unseen_key key);
enum unseen_status __real_unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                             const uint8_t *payload, const uint8_t *bits,
                                             const struct unseen__run *runs, bool sync,
                                             struct unseen_error *err);
enum unseen_status __wrap_unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                             const uint8_t *payload, const uint8_t *bits,
                                             const struct unseen__run *runs, bool sync,
                                             struct unseen_error *err);

/* early: the head is led past what has left before a durable record says so. */
uint64_t __wrap_unseen__committer_log_time(struct unseen__committer *c)
{
    return strcmp(plant, "early") == 0 ? UNSEEN__TIME_MAX : c->log_time;
}

/* twice: a removed key leaves once more at the end of its window. */
enum unseen_status __wrap_unseen__leaving_note(struct unseen_store *store, struct unseen_key key)
{
    return strcmp(plant, "twice") == 0 ? UNSEEN_OK : __real_unseen__leaving_note(store, key);
}

/* torn-time: a half of the time of a record is missing. time-back: it is that of an earlier one. */
enum unseen_status __wrap_unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                             const uint8_t *payload, const uint8_t *bits,
                                             const struct unseen__run *runs, bool sync,
                                             struct unseen_error *err)
{
    const bool is_torn = strcmp(plant, "torn-time") == 0;
    const bool goes_back = strcmp(plant, "time-back") == 0;
    if ((is_torn || goes_back) && record.nruns == 0 && record.n > 0 && log->number % 16 == 15) {
        record.time = is_torn ? record.time & UINT32_MAX : record.time - 60000;
        log->time = 0; /* or the record would get a later time */
    }
    return __real_unseen__log_append(log, record, payload, bits, runs, sync, err);
}

static void plant_fault(int argc, char **argv)
{
    plant = argc > 1 ? argv[1] : "";
}
#else
static void plant_fault(int argc, char **argv)
{
    (void)argc;
    (void)argv;
}
#endif

int main(int argc, char **argv)
{
    plant_fault(argc, argv);
    test_start();
    test_folder_make(dir, sizeof(dir), "window");
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    test_model(1);
    if (!test_brief()) {
        test_model(2);
    }
    test_runs();
    test_disk();
    test_head();
    test_output();
    test_rewrite();
    test_settings();
    test_image_time();
    test_rewrite_ahead();
    test_allowed();
    test_long();
    test_forged();
    test_waits_long();
    test_image_covers_all();
    test_behind();
    test_event_loop();
    test_undone();
    test_merge(3);
    test_merge(4);
    test_reset_clock();
    test_rewritten_clock();
    test_repair_keeps_later();
    test_rewrites_once();
    test_forged_places();
    test_folder_remove(dir);
    return test_end();
}
