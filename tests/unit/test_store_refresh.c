/* SPDX-License-Identifier: MIT
 *
 * A store that is only read follows what others write. Commit c adds the ids of block c and, if the
 * filter can remove, takes out those of block c - 3. So the state after each commit is known, and
 * the reader must be in one of these states, never between two of them.
 *
 * The log comes to the reader cut at any byte; a writer process commits, is killed, and rewrites
 * beside it; the log is replaced, damaged, cut back and overwritten; allocations fail. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "hash/key.h"
#include "log/log_format.h"

enum {
    KEPT = 3,      /* blocks that are there at a time, if the filter can remove */
    SMALL = 50,    /* ids in a block */
    LARGE = 2000,  /* the same where the log is to grow */
    NCOMMITS = 40, /* in a log that comes in pieces */
    NLIVE = 25,    /* in a session of the writer process */
    NSESSIONS = 5,
    AHEAD = 8,  /* commits that the writer may be ahead of the reader */
    SLACK = 72, /* bytes: 8 of the last record, and digits of what Linux tells */
    WRONG = 2,  /* ids of a block that a filter may wrongly have */
    PATH_LEN = 300
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];
static struct unseen_error error;

static const struct test_store_kind kinds[] = {
    {"compact", 0, 0, true},         {"compact", 0, 100000, true},
    {"compact", 2e-6, 0, true},      {"counting", 2e-7, 2000000, true},
    {"bloom", 1e-9, 1000000, false}, {"block", 1e-8, 1000000, false},
};

/* ---- stores ---------------------------------------------------------------------------------- */

static struct unseen_store *open_store(const struct test_store_kind *kind,
                                       enum unseen_store_mode mode)
{
    const struct unseen_store_options options = test_store_options(kind, mode);
    return test_store_open(path, &options);
}

static void refresh(struct unseen_store *store)
{
    if (!CHECK(unseen_store_refresh(store, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
}

/* ---- blocks of ids --------------------------------------------------------------------------- */

struct block {
    uint64_t ids[LARGE];
    struct unseen_bytes items[LARGE];
    uint8_t verdicts[LARGE];
};

static struct block block;

/* Block c; the ids of stream 1 are others than those of stream 0. */
static void fill_block(int c, size_t n, uint64_t stream)
{
    for (size_t i = 0; i < n; i++) {
        block.ids[i] = stream << 60 | (uint64_t)c << 32 | i;
        block.items[i] = (struct unseen_bytes){(const char *)&block.ids[i], sizeof(block.ids[i])};
    }
}

/* How many of the ids the store has. */
static size_t count_block(struct unseen_store *store, int c, size_t n, uint64_t stream)
{
    size_t count = 0;
    fill_block(c, n, stream);
    CHECK(unseen_store_contains(store, block.items, n, block.verdicts, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        count += block.verdicts[i] == UNSEEN_SEEN;
    }
    return count;
}

static bool is_there(const struct test_store_kind *kind, int block_number, int state)
{
    return block_number <= state && (!kind->removes || block_number > state - KEPT);
}

/* Whether the store is in the state after commit c. Looks at the blocks near c, and at some
 * others. */
static bool check_state(struct unseen_store *store, const struct test_store_kind *kind, int c,
                        size_t n)
{
    bool ok = true;
    for (int b = 1; b <= c + 2; b += b < c - 2 * KEPT ? KEPT : 1) {
        const size_t count = count_block(store, b, n, 0);
        ok = CHECK(is_there(kind, b, c) ? count == n : count <= WRONG);
        if (!ok) {
            fprintf(stderr, "%s: block %d after commit %d\n", kind->filter, b, c);
            break;
        }
    }
    return ok;
}

static enum unseen_status change_block(struct unseen_store *store,
                                       const struct test_store_kind *kind, int c, size_t n)
{
    enum unseen_status status = UNSEEN_OK;
    fill_block(c, n, 0);
    status = unseen_store_add(store, block.items, n, block.verdicts, NULL);
    if (status == UNSEEN_OK && kind->removes && c > KEPT) {
        fill_block(c - KEPT, n, 0);
        status = unseen_store_remove(store, block.items, n, block.verdicts, NULL);
    }
    return status == UNSEEN_OK ? unseen_store_commit(store, &error) : status;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t len;
};

static struct bytes read_file(const char *name)
{
    struct bytes b = {0};
    b.data = test_file_read(name, &b.len);
    return b;
}

/* Writes bytes [from, to) of b in place; the file is as long as before, or ends at `to`. */
static void put_bytes(const struct bytes *b, size_t from, size_t to, bool cuts)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && pwrite(fd, b->data + from, to - from, (off_t)from) == (ssize_t)(to - from));
    CHECK(!cuts || ftruncate(fd, (off_t)to) == 0);
    CHECK(close(fd) == 0);
}

/* A log of NCOMMITS commits, and where each of them ends. */
static struct bytes make_log(const struct test_store_kind *kind, size_t ends[NCOMMITS + 1])
{
    struct stat st;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    for (int c = 0; c <= NCOMMITS; c++) {
        CHECK(c == 0 || change_block(store, kind, c, SMALL) == UNSEEN_OK);
        CHECK(stat(path, &st) == 0);
        ends[c] = (size_t)st.st_size;
    }
    test_store_close(store);
    struct bytes log = read_file(path);
    CHECK(log.len == ends[NCOMMITS] + UNSEEN__RECORD_HEAD + UNSEEN__RECORD_TAIL);
    log.len = ends[NCOMMITS]; /* as if the log was not closed */
    return log;
}

/* ---- a log that comes in pieces -------------------------------------------------------------- */

static void test_pieces(const struct test_store_kind *kind)
{
    size_t ends[NCOMMITS + 1];
    struct bytes log = make_log(kind, ends);
    uint64_t random = 5;
    test_folder_clear(dir);
    put_bytes(&log, 0, ends[0], true);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    const struct unseen_set *set = unseen_store_set(store);
    size_t at = ends[0];
    int state = 0;
    while (at < log.len) {
        const size_t record = ends[state + 1] - ends[state];
        const size_t sizes[] = {1, 47, ends[state + 1] - at - 1, ends[state + 1] - at,
                                test_random(&random) % (3 * record)};
        const size_t piece = sizes[test_random(&random) % 5];
        const size_t to = piece < log.len - at ? at + piece : log.len;
        const int before = state;
        put_bytes(&log, at, to, true);
        for (at = to; state < NCOMMITS && ends[state + 1] <= at;) {
            state++;
        }
        refresh(store);
        CHECK_EQ(test_store_info(store).replayed > 0, state > before);
        if (!check_state(store, kind, state, SMALL)) {
            break;
        }
    }
    CHECK(unseen_store_set(store) == set);
    refresh(store);
    CHECK_EQ(test_store_info(store).replayed, 0);
    test_store_close(store);
    free(log.data);
}

/* ---- what is read ---------------------------------------------------------------------------- */

/* Bytes that this process has read, as Linux counts them. False: it does not tell. */
static bool bytes_read(uint64_t *n_out)
{
    FILE *f = fopen("/proc/self/io", "r");
    unsigned long long n = 0;
    const bool known = f && fscanf(f, "rchar: %llu", &n) == 1;
    if (f) {
        (void)fclose(f);
    }
    *n_out = n;
    return known;
}

/* A refresh reads what was added, 8 bytes of the last record, and nothing else. */
static void test_cost(void)
{
    const struct test_store_kind *kind = &kinds[0];
    uint64_t before = 0;
    uint64_t after = 0;
    uint64_t base = 0;
    test_folder_clear(dir);
    struct unseen_store *writer = open_store(kind, UNSEEN_STORE_CREATE);
    for (int c = 1; c <= 100; c++) {
        CHECK(change_block(writer, kind, c, LARGE) == UNSEEN_OK);
    }
    struct unseen_store *reader = open_store(kind, UNSEEN_STORE_READ);
    if (!bytes_read(&before) || !bytes_read(&after)) {
        test_skip("/proc/self/io");
    }
    base = after - before; /* of asking */
    (void)bytes_read(&before);
    refresh(reader);
    (void)bytes_read(&after);
    CHECK(after - before <= base + SLACK);
    for (int c = 101; c < 111; c++) {
        const uint64_t from = test_store_info(writer).log_bytes;
        CHECK(change_block(writer, kind, c, SMALL) == UNSEEN_OK);
        const uint64_t added = test_store_info(writer).log_bytes - from;
        (void)bytes_read(&before);
        refresh(reader);
        (void)bytes_read(&after);
        CHECK(after - before <= base + added + SLACK);
        CHECK_EQ(test_store_info(reader).replayed, 2 * SMALL);
    }
    test_store_close(reader);
    test_store_close(writer);
}

/* A long torn end is searched once, not at each refresh; what takes its place is read. */
static void test_torn(void)
{
    enum {
        NTORN = 40 << 20
    };
    const struct test_store_kind *kind = &kinds[0];
    size_t ends[NCOMMITS + 1];
    struct bytes log = make_log(kind, ends);
    uint64_t before = 0;
    uint64_t after = 0;
    struct stat st;
    test_folder_clear(dir);
    put_bytes(&log, 0, ends[5], true);
    CHECK(truncate(path, (off_t)(ends[5] + NTORN)) == 0);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    CHECK_EQ(test_store_info(store).torn_bytes, NTORN);
    if (bytes_read(&before)) {
        for (int i = 0; i < 3; i++) {
            refresh(store);
        }
        CHECK(bytes_read(&after) && after - before < NTORN / 8);
    }
    CHECK_EQ(test_store_info(store).torn_bytes, NTORN);
    CHECK(check_state(store, kind, 5, SMALL));
    /* The next writer has cut the end off and committed. The file is as long as before, and is
     * changed later than one tick of its clock. */
    CHECK(stat(path, &st) == 0);
    put_bytes(&log, ends[5], ends[6], false);
    const struct timespec later[2] = {st.st_mtim, {st.st_mtim.tv_sec + 1, st.st_mtim.tv_nsec}};
    CHECK(utimensat(AT_FDCWD, path, later, 0) == 0);
    refresh(store);
    CHECK(check_state(store, kind, 6, SMALL));
    put_bytes(&log, ends[6], ends[7], true);
    refresh(store);
    CHECK(check_state(store, kind, 7, SMALL));
    CHECK_EQ(test_store_info(store).torn_bytes, 0);
    test_store_close(store);
    free(log.data);
}

/* ---- another log of the same name ------------------------------------------------------------ */

static void rewrite(const struct unseen_store_options *options)
{
    if (!CHECK(unseen_store_rewrite(path, options, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
}

/* The answers stay until a log with the same keys has the name. */
static void check_refused(struct unseen_store *store, enum unseen_status status,
                          enum unseen_setting setting, const char *sentence)
{
    char wanted[1000];
    const struct test_store_kind *kind = &kinds[0];
    snprintf(wanted, sizeof(wanted), sentence, path);
    CHECK(unseen_store_refresh(store, &error) == status);
    CHECK(error.status == status && error.setting == setting);
    if (!CHECK(strcmp(error.text, wanted) == 0)) {
        fprintf(stderr, "%s\n", error.text);
    }
    CHECK(check_state(store, kind, 5, SMALL));
}

static void test_replaced(void)
{
    const struct test_store_kind *kind = &kinds[0];
    char aside[PATH_LEN + 16];
    size_t ends[NCOMMITS + 1];
    snprintf(aside, sizeof(aside), "%s.aside", path);
    struct bytes log = make_log(kind, ends);
    put_bytes(&log, 0, ends[5], true);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    CHECK(check_state(store, kind, 5, SMALL));

    CHECK(rename(path, aside) == 0);
    check_refused(store, UNSEEN_ERR_MISSING, UNSEEN_SETTING_NONE,
                  "cannot open %s: No such file or directory");
    struct unseen_store_options other = test_store_options(kind, UNSEEN_STORE_CREATE);
    other.seed = "other";
    test_store_close(test_store_open(path, &other));
    check_refused(store, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_SEED,
                  "%s has been replaced by a store with another seed");
    CHECK(unlink(path) == 0);
    other = test_store_options(kind, UNSEEN_STORE_CREATE);
    other.profile = "crawl/1";
    test_store_close(test_store_open(path, &other));
    check_refused(store, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_PROFILE,
                  "%s has been replaced: it has the profile crawl/1 now, not none/1");
    CHECK(unlink(path) == 0);
    other = test_store_options(kind, UNSEEN_STORE_CREATE);
    other.key_bits = 96;
    test_store_close(test_store_open(path, &other));
    check_refused(store, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_KEY_BITS,
                  "%s has been replaced: it has keys of 96 bits now, not 64");
    CHECK(rename(aside, path) == 0);
    refresh(store);
    CHECK_EQ(test_store_info(store).replayed, 0);

    /* Each filter takes the place of each. */
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const struct unseen_store_options to = {.size = sizeof(to),
                                                .filter = kinds[i].filter,
                                                .fpr = kinds[i].fpr < 1e-19 ? 0 : kinds[i].fpr,
                                                .capacity = kinds[i].capacity};
        rewrite(&to);
        refresh(store);
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
        CHECK(strcmp(stats.filter, kinds[i].filter) == 0);
        CHECK(check_state(store, kind, 5, SMALL));
    }
    test_store_close(store);
    free(log.data);
}

/* ---- damage, and commits that were cut off --------------------------------------------------- */

static void test_damage(const struct test_store_kind *kind)
{
    size_t ends[NCOMMITS + 1];
    char wanted[600];
    struct bytes log = make_log(kind, ends);
    put_bytes(&log, 0, ends[5], true);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    /* In a record that follows: the commits before it are taken over. */
    log.data[ends[6] + 100] ^= 1;
    put_bytes(&log, 0, ends[9], true);
    snprintf(wanted, sizeof(wanted), "%s is damaged: bytes %zu to %zu", path, ends[6], ends[7]);
    for (int i = 0; i < 2; i++) {
        CHECK(unseen_store_refresh(store, &error) == UNSEEN_ERR_CORRUPT);
        CHECK(error.offset == ends[6] && strcmp(error.text, wanted) == 0);
        CHECK(check_state(store, kind, 6, SMALL));
    }
    log.data[ends[6] + 100] ^= 1;
    put_bytes(&log, 0, ends[9], true);
    refresh(store);
    CHECK(check_state(store, kind, 9, SMALL));
    /* In the last record that was read: nothing says whether the rest is as it was. */
    log.data[ends[9] - 1] ^= 1;
    put_bytes(&log, 0, ends[12], true);
    CHECK(unseen_store_refresh(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(check_state(store, kind, 9, SMALL));
    log.data[ends[9] - 1] ^= 1;
    put_bytes(&log, 0, ends[12], true);
    refresh(store);
    CHECK(check_state(store, kind, 12, SMALL));
    test_store_close(store);
    free(log.data);
}

/* A commit that was written and not synced is cut off, and another takes its place. */
static void test_cut_back(const struct test_store_kind *kind)
{
    size_t ends[NCOMMITS + 1];
    struct bytes log = make_log(kind, ends);
    put_bytes(&log, 0, ends[3], true);
    (void)unlink(image);
    struct unseen_store *writer = open_store(kind, UNSEEN_STORE_WRITE);
    fill_block(4, SMALL, 1);
    CHECK(unseen_store_add(writer, block.items, SMALL, block.verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(writer, &error) == UNSEEN_OK);
    test_store_close(writer);
    struct bytes other = read_file(path);
    for (size_t end = ends[3]; end <= ends[5]; end += ends[5] - ends[3]) {
        put_bytes(&log, 0, ends[5], true);
        struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
        CHECK(check_state(store, kind, 5, SMALL));
        put_bytes(&other, 0, other.len, true);
        refresh(store);
        CHECK(check_state(store, kind, 3, SMALL));
        CHECK_EQ(count_block(store, 4, SMALL, 1), SMALL);
        put_bytes(&log, 0, end, true);
        refresh(store);
        CHECK(check_state(store, kind, end == ends[3] ? 3 : 5, SMALL));
        CHECK_EQ(count_block(store, 4, SMALL, 1), 0);
        test_store_close(store);
    }
    free(other.data);
    free(log.data);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A set that cannot grow, and is only read, is made for the keys of the log and some more. */
static void test_room(const char *filter)
{
    enum {
        BATCH = 10000,
        NBATCHES = 300
    };
    static struct unseen_key keys[BATCH];
    static uint8_t verdicts[BATCH];
    const struct test_store_kind kind = {filter, 1e-3, 4000000, false};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    uint64_t random = 1;
    int nlarger = 0;
    uint64_t memory = 0;
    test_folder_clear(dir);
    struct unseen_store *writer = open_store(&kind, UNSEEN_STORE_CREATE);
    struct unseen_store *reader = open_store(&kind, UNSEEN_STORE_READ);
    for (int i = 0; i < NBATCHES; i++) {
        for (size_t k = 0; k < BATCH; k++) {
            keys[k] = (struct unseen_key){.hi = test_random(&random)};
            unseen__key_narrow(64, &keys[k]);
        }
        CHECK(unseen_store_add_keys(writer, keys, BATCH, verdicts, NULL) == UNSEEN_OK);
        if (i % 20 == 19) {
            CHECK(unseen_store_commit(writer, &error) == UNSEEN_OK);
            refresh(reader);
            CHECK(unseen_set_stats(unseen_store_set(reader), &stats) == UNSEEN_OK);
            CHECK(stats.fpr_estimate <= kind.fpr);
            nlarger += stats.memory > memory;
            memory = stats.memory;
        }
    }
    CHECK(nlarger == 2); /* for 1.4 and 4 million keys */
    CHECK(unseen_set_contains_keys(unseen_store_set(reader), keys, BATCH, verdicts, NULL) ==
          UNSEEN_OK);
    for (size_t k = 0; k < BATCH; k++) {
        CHECK(verdicts[k] == UNSEEN_SEEN);
    }
    test_store_close(reader);
    test_store_close(writer);
}

/* ---- without a log --------------------------------------------------------------------------- */

static void test_no_log(const struct test_store_kind *kind)
{
    test_folder_clear(dir);
    struct unseen_store_options options = test_store_options(kind, UNSEEN_STORE_CREATE);
    options.no_log = true;
    test_store_close(test_store_open(path, &options));
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    for (int c = 1; c < 6; c++) {
        struct unseen_store *writer = open_store(kind, UNSEEN_STORE_WRITE);
        CHECK(change_block(writer, kind, c, SMALL) == UNSEEN_OK);
        refresh(store);
        CHECK(check_state(store, kind, c - 1, SMALL));
        test_store_close(writer);
        refresh(store);
        CHECK(check_state(store, kind, c, SMALL));
    }
    CHECK(rename(image, path) == 0 || errno == ENOENT);
    CHECK(unseen_store_refresh(store, &error) == UNSEEN_ERR_FOREIGN);
    CHECK(check_state(store, kind, 5, SMALL));
    test_store_close(store);
}

/* ---- allocations that fail ------------------------------------------------------------------- */

static void test_no_memory(const struct test_store_kind *kind)
{
    size_t ends[NCOMMITS + 1];
    struct bytes log = make_log(kind, ends);
    struct test_allocator counting = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
    struct unseen_store_options options = test_store_options(kind, UNSEEN_STORE_READ);
    options.allocator = &allocator;
    (void)unlink(image);
    for (int replaced = 0; replaced < 2; replaced++) {
        bool done = false;
        int nfailed = 0;
        for (unsigned long at = 1; !done; at++) {
            put_bytes(&log, 0, ends[5], true);
            struct unseen_store *store = test_store_open(path, &options);
            if (replaced) {
                CHECK(unlink(path) == 0);
            }
            put_bytes(&log, 0, log.len, true);
            counting.nallocs = 0;
            counting.fail_at = at;
            const enum unseen_status status = unseen_store_refresh(store, &error);
            done = counting.nallocs < at;
            counting.fail_at = 0;
            if (status != UNSEEN_OK) { /* an image that cannot be read is not needed */
                CHECK(!done && status == UNSEEN_ERR_NOMEM && error.status == status);
                CHECK(strstr(error.text, path) != NULL);
                nfailed++;
                refresh(store);
            }
            CHECK(check_state(store, kind, NCOMMITS, SMALL));
            test_store_close(store);
            CHECK_EQ(counting.nlive, 0);
        }
        CHECK(nfailed >= 4); /* 3 for the keys, 1 for the scan */
    }
    free(log.data);
}

/* ---- a writer process ------------------------------------------------------------------------ */

struct shared {
    int begun;   /* commits that may be there */
    int durable; /* commits that must be there */
    int seen;    /* the commit that the reader has followed up to */
};

static struct shared *shared;

static int load(const int *from)
{
    return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

static void store_int(int *to, int value)
{
    __atomic_store_n(to, value, __ATOMIC_SEQ_CST);
}

/* The reader is to see many states, on a busy machine, too. */
static void wait_for_reader(int c)
{
    for (int i = 0; i < 10000 && load(&shared->seen) + AHEAD < c; i++) {
        (void)nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    }
}

/* Goes on where the last writer ended. */
static void write_session(const struct test_store_kind *kind)
{
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    int c = load(&shared->durable);
    c += count_block(store, c + 1, LARGE, 0) >
         WRONG; /* the last commit of a writer that was killed */
    store_int(&shared->durable, c);
    for (int end = c + NLIVE; c < end; c++) {
        store_int(&shared->begun, c + 1);
        if (change_block(store, kind, c + 1, LARGE) != UNSEEN_OK) {
            _exit(1);
        }
        store_int(&shared->durable, c + 1);
        wait_for_reader(c + 1);
    }
    _exit(unseen_store_close(store, &error) == UNSEEN_OK ? 0 : 1);
}

/* Returns the commit after which the reader is. */
static int follow(struct unseen_store *store, const struct test_store_kind *kind)
{
    const int least = load(&shared->durable);
    refresh(store);
    const int most = load(&shared->begun);
    int c = most;
    while (c > least && count_block(store, c, LARGE, 0) <= WRONG) {
        c--;
    }
    (void)check_state(store, kind, c, LARGE);
    store_int(&shared->seen, c);
    return c;
}

/* A quarter of the sessions end in the middle of a record. */
static void tear(uint64_t *random)
{
    struct stat st;
    char junk[1000] = "UNSR\1";
    const int fd = open(path, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    memcpy(junk + 8, &(uint64_t){(uint64_t)st.st_size}, 8);
    junk[24] = (char)200;
    CHECK(write(fd, junk, 1 + test_random(random) % sizeof(junk)) > 0 && close(fd) == 0);
}

static void test_processes(const struct test_store_kind *kind)
{
    uint64_t random = 3;
    int nstates = 0;
    int nlogs = 0;
    int last = 0;
    uint8_t id[16] = {0};
    test_folder_clear(dir);
    *shared = (struct shared){0, 0, 0};
    test_store_close(open_store(kind, UNSEEN_STORE_CREATE));
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_READ);
    for (int session = 0; session < NSESSIONS; session++) {
        const bool is_killed = session % 2 == 1;
        const int until = load(&shared->durable) + 1 + (int)(test_random(&random) % NLIVE);
        int status = 0;
        const pid_t pid = fork();
        if (pid == 0) {
            write_session(kind);
        }
        CHECK(pid > 0);
        while (waitpid(pid, &status, WNOHANG) == 0) {
            const int c = follow(store, kind);
            nstates += c != last;
            last = c;
            const struct unseen_store_info info = test_store_info(store);
            nlogs += memcmp(id, info.id, sizeof(id)) != 0;
            memcpy(id, info.id, sizeof(id));
            if (is_killed && c >= until) {
                CHECK(kill(pid, SIGKILL) == 0);
            }
            (void)nanosleep(&(struct timespec){0, 200 * 1000}, NULL);
        }
        CHECK(is_killed ? WIFSIGNALED(status) || status == 0 : status == 0);
        (void)follow(store, kind);
        if (session % 4 == 1) {
            tear(&random);
            (void)follow(store, kind);
        }
        if (session == 2) {
            rewrite(NULL);
            (void)follow(store, kind);
        }
    }
    CHECK(nstates > 2 * NSESSIONS); /* the reader saw many states */
    CHECK(nlogs >= (kind->removes ? 3 : 2));
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    test_store_close(store);
}

int main(void)
{
    test_start();
    test_folder_make(dir, sizeof(dir), "refresh");
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(shared != MAP_FAILED)) {
        return test_end();
    }
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        test_pieces(&kinds[i]);
        test_damage(&kinds[i]);
        test_cut_back(&kinds[i]);
        test_no_memory(&kinds[i]);
        test_processes(&kinds[i]);
    }
    test_cost();
    test_torn();
    test_replaced();
    if (!test_brief()) {
        test_room("bloom");
    }
    test_room("block");
    test_no_log(&(struct test_store_kind){"bloom", 1e-9, 100000, false});
    test_no_log(&(struct test_store_kind){"block", 1e-8, 100000, false});
    test_folder_remove(dir);
    return test_end();
}
