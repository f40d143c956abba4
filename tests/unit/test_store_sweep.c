/* SPDX-License-Identifier: MIT
 *
 * A store larger than the memory for it: its set is read part by part, gets the new keys of each,
 * and goes to a new image. It says and keeps what a store in memory would; a process that dies on
 * the way leaves what it committed, and nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hash/key.h"

enum {
    NKEYS = 1600000, /* more than 8 MiB: pages in the image */
    NTAIL = 20000,   /* in the log only */
    NNEW = 60000,
    NMORE = 400000,
    NOLD = 30000, /* repeats among the new ones */
    BATCH = 4000,
    COMMIT = 15000,
    STEP = 97,
    PATH_LEN = 300
};

#define LIMIT      ((uint64_t)8 << 20)
#define MEMORY_MIN ((uint64_t)1 << 20)

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];
static char new_image[PATH_LEN + 32];

static struct unseen_error error;

static struct unseen_key key_of(uint64_t i)
{
    uint64_t state = i;
    struct unseen_key key = {0, test_random(&state)};
    unseen__key_narrow(64, &key);
    return key;
}

static enum unseen_status try_open(enum unseen_store_mode mode, uint64_t memory,
                                   struct unseen_store **store_out)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .cpu = test_cpu, .memory = memory};
    return unseen_store_open(store_out, path, &options, &error);
}

static struct unseen_store *open_store(enum unseen_store_mode mode, uint64_t memory)
{
    struct unseen_store *store = NULL;
    if (!CHECK(try_open(mode, memory, &store) == UNSEEN_OK)) {
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
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
}

static uint64_t count_seen(const struct unseen_store *store, uint64_t first, uint64_t end,
                           uint64_t step)
{
    uint64_t nseen = 0;
    for (uint64_t i = first; i < end; i += step) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict = UNSEEN_NEW;
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL) ==
              UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen;
}

/* A copy of the file at path, at path.SUFFIX, and back. */
static void copy_file(const char *from, const char *to)
{
    static char buf[1 << 20];
    const int in = open(from, O_RDONLY);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n;
    CHECK(in >= 0 && out >= 0);
    while ((n = read(in, buf, sizeof(buf))) > 0) {
        CHECK(write(out, buf, (size_t)n) == n);
    }
    CHECK(n == 0 && close(in) == 0 && close(out) == 0);
}

static void keep(bool back)
{
    const char *const names[] = {path, image};
    for (size_t i = 0; i < 2; i++) {
        char kept[PATH_LEN + 32];
        (void)snprintf(kept, sizeof(kept), "%s/kept%zu", dir, i);
        copy_file(back ? kept : names[i], back ? names[i] : kept);
    }
}

/* ---- a sweep ---- */

/* Where the process dies. */
enum stage {
    NOWHERE,
    IN_PARTS,    /* half of them are saved */
    BEFORE_LOG,  /* all of them */
    IN_LOG,      /* half of the new keys are committed */
    NOT_HANDED,  /* the same, but the store is closed in order */
    NOT_BEGUN,   /* closed in order, too: all are handed to the store, and none is committed */
    BEFORE_CLOSE /* all are committed */
};

struct sweep {
    struct unseen_store *store;
    unsigned bits;
    struct unseen_key *keys;
    uint8_t *verdicts;
    size_t n;
};

static void die(void)
{
    (void)raise(SIGKILL);
}

static void sweep_part(struct sweep *s, uint64_t part)
{
    CHECK(unseen_store_load_part(s->store, s->bits, part, &error) == UNSEEN_OK);
    for (size_t i = 0; i < s->n; i++) {
        if (s->keys[i].hi >> (64 - s->bits) == part) {
            CHECK(unseen_store_add_to_part(s->store, &s->keys[i], 1, &s->verdicts[i]) == UNSEEN_OK);
        }
    }
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(unseen_store_set(s->store), &stats) == UNSEEN_OK);
    CHECK(!test_store_info(s->store).in_parts || stats.memory < LIMIT / 2);
    CHECK(unseen_store_save_part(s->store, s->bits, part, &error) == UNSEEN_OK);
}

/* Adds NNEW keys, of which the store has some. Returns how many were new. */
static size_t sweep(uint64_t limit, enum stage stage)
{
    struct sweep s = {.store = open_store(UNSEEN_STORE_WRITE, limit),
                      .keys = malloc(NNEW * sizeof(*s.keys)),
                      .verdicts = calloc(NNEW, 1)};
    size_t nnew = 0;
    CHECK(s.keys && s.verdicts);
    CHECK(test_store_info(s.store).in_parts == (limit == LIMIT));
    for (uint64_t i = 0; i < NNEW; i++) {
        s.keys[s.n++] = key_of(i % 2 ? NKEYS + NTAIL - NOLD / 2 + i / 2 : NKEYS + NTAIL + i / 2);
    }
    s.bits = unseen_set_part_bits(unseen_store_set(s.store));
    CHECK(s.bits >= 4);
    const uint64_t nparts = (uint64_t)1 << s.bits;
    for (uint64_t part = 0; part < nparts; part++) {
        sweep_part(&s, part);
        if (stage == IN_PARTS && part == nparts / 2) {
            die();
        }
    }
    if (stage == BEFORE_LOG) {
        die();
    }
    for (size_t i = 0; i < s.n; i++) {
        if (s.verdicts[i] == UNSEEN_NEW) {
            if (nnew == NNEW / 4 && stage == NOT_HANDED) {
                break;
            }
            nnew++;
            CHECK(unseen_store_note_keys(s.store, &s.keys[i], 1) == UNSEEN_OK);
        }
        if (nnew % COMMIT == 0 && stage != NOT_BEGUN && s.verdicts[i] == UNSEEN_NEW) {
            CHECK(unseen_store_commit(s.store, &error) == UNSEEN_OK);
        }
        if (nnew == NNEW / 4 && stage == IN_LOG) {
            die();
        }
    }
    if (stage != NOT_BEGUN) {
        CHECK(unseen_store_commit(s.store, &error) == UNSEEN_OK);
    }
    if (stage == BEFORE_CLOSE) {
        die();
    }
    CHECK(unseen_store_close(s.store, &error) == UNSEEN_OK);
    free(s.keys);
    free(s.verdicts);
    return nnew;
}

/* The store has its first keys and nnew others, and says so from its image as from its log. */
static void check_store(size_t nnew, bool has_image_of_all)
{
    for (int i = 0; i < 2; i++) {
        struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, 0);
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
        CHECK_EQ(stats.nkeys, NKEYS + NTAIL + nnew);
        CHECK_EQ(test_store_info(store).image_damaged, false);
        CHECK(i > 0 || (test_store_info(store).replayed == 0) == has_image_of_all);
        CHECK_EQ(count_seen(store, 0, NKEYS + NTAIL, STEP), (NKEYS + NTAIL) / STEP + 1);
        const uint64_t nseen = count_seen(store, NKEYS + NTAIL, NKEYS + NTAIL + NNEW, 1);
        CHECK(nseen >= nnew && nseen < nnew + 5);
        test_store_close(store);
        CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
        CHECK(i > 0 || unlink(image) == 0);
    }
}

/* ---- tests ---- */

static void make_store(void)
{
    struct unseen_store *store = open_store(UNSEEN_STORE_CREATE, 0);
    add_keys(store, 0, NKEYS);
    test_store_close(store); /* writes an image */
    store = open_store(UNSEEN_STORE_WRITE, 0);
    CHECK_EQ(test_store_info(store).replayed, 0);
    add_keys(store, NKEYS, NKEYS + NTAIL);
    test_store_close(store);
    keep(false);
}

/* The keys that are new are those of a store in memory. */
static void test_same(size_t *nnew_out)
{
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, 0);
    size_t nnew = 0;
    for (uint64_t i = 0; i < NNEW; i++) {
        const struct unseen_key key =
            key_of(i % 2 ? NKEYS + NTAIL - NOLD / 2 + i / 2 : NKEYS + NTAIL + i / 2);
        uint8_t verdict = UNSEEN_SEEN;
        CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
        nnew += verdict == UNSEEN_NEW;
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    *nnew_out = nnew;
    /* With its image, with the log alone, and with enough memory. */
    for (int i = 0; i < 3; i++) {
        keep(true);
        if (i == 1) {
            CHECK(unlink(image) == 0);
        }
        CHECK_EQ(sweep(i < 2 ? LIMIT : (uint64_t)1 << 40, NOWHERE), nnew);
        check_store(nnew, true);
    }
}

static void test_death(size_t nnew, enum stage stage)
{
    const bool is_closed = stage == NOT_HANDED || stage == NOT_BEGUN;
    keep(true);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)sweep(LIMIT, stage);
        _exit(is_closed ? 0 : 1);
    }
    int status = 0;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(is_closed ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                    : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQ(access(new_image, F_OK) == 0, !is_closed);
    const size_t ncommitted = stage == BEFORE_CLOSE                    ? nnew
                              : stage == IN_LOG || stage == NOT_HANDED ? NNEW / 4
                                                                       : 0;
    if (stage == IN_LOG) { /* the same again has the rest */
        CHECK_EQ(sweep(LIMIT, NOWHERE), nnew - ncommitted);
        check_store(nnew, true);
        CHECK(access(new_image, F_OK) != 0);
    } else {
        check_store(ncommitted, false);
    }
}

/* Keys that are known, new and repeated, in one call. */
static void check_mixed(struct unseen_store *store)
{
    static struct unseen_key keys[BATCH];
    static uint8_t verdicts[BATCH];
    size_t nwrong = 0;
    size_t ndone = 0;
    for (uint64_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(i % 3 ? i * STEP : UINT32_MAX + i / 6);
    }
    CHECK(unseen_store_add_keys(store, keys, BATCH, verdicts, &ndone) == UNSEEN_OK);
    CHECK_EQ(ndone, BATCH);
    for (uint64_t i = 0; i < BATCH; i++) {
        nwrong += (verdicts[i] == UNSEEN_NEW) != (i % 6 == 0);
    }
    CHECK(nwrong < 3); /* short tags may match */
    CHECK(unseen_set_contains_keys(unseen_store_set(store), keys, BATCH, verdicts, NULL) ==
          UNSEEN_OK);
    CHECK(!memchr(verdicts, UNSEEN_NEW, BATCH));
}

static double estimate_rate(const struct unseen_store *store)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
    return stats.fpr_estimate;
}

/* A store in parts is asked as any other one, one page for a question, and by a reader, too. */
static void test_asked(size_t nnew)
{
    keep(true);
    for (int i = 0; i < 2; i++) {
        struct unseen_store *store = open_store(i ? UNSEEN_STORE_WRITE : UNSEEN_STORE_READ, LIMIT);
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        CHECK(test_store_info(store).in_parts);
        CHECK_EQ(count_seen(store, 0, NKEYS + NTAIL, STEP), (NKEYS + NTAIL) / STEP + 1);
        CHECK(count_seen(store, NKEYS + NTAIL, NKEYS + NTAIL + NNEW, 1) < 5);
        CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
        CHECK_EQ(stats.nkeys, NKEYS + NTAIL);
        CHECK(stats.memory < LIMIT / 4);
        test_store_close(store);
    }
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    struct unseen_store *reader = open_store(UNSEEN_STORE_READ, LIMIT);
    const double rate = estimate_rate(store);
    size_t n = 0;
    for (uint64_t i = 0; i < NNEW; i++) {
        const struct unseen_key key =
            key_of(i % 2 ? NKEYS + NTAIL - NOLD / 2 + i / 2 : NKEYS + NTAIL + i / 2);
        uint8_t verdict = UNSEEN_SEEN;
        CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
        n += verdict == UNSEEN_NEW;
    }
    CHECK_EQ(n, nnew);
    CHECK(rate > 0 && estimate_rate(store) < 1.01 * rate); /* of two sets */
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    CHECK(count_seen(reader, NKEYS + NTAIL, NKEYS + NTAIL + NNEW, 1) >= nnew);
    test_store_close(reader);
    test_store_close(store);
    check_store(nnew, false);
    store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    check_mixed(store);
    test_store_close(store);
}

/* A store that gets too many keys one by one sweeps itself, whether it was in parts before or not,
 * and however many keys wait for a commit. */
static void test_itself(bool is_new)
{
    const uint64_t first = is_new ? 0 : NKEYS + NTAIL;
    const uint64_t end = is_new ? NKEYS : NKEYS + NTAIL + NMORE;
    keep(true);
    if (is_new) {
        CHECK(unlink(path) == 0 && unlink(image) == 0);
    }
    struct unseen_store *store = open_store(UNSEEN_STORE_CREATE, LIMIT);
    struct unseen_store *reader = NULL;
    CHECK_EQ(test_store_info(store).in_parts, !is_new);
    const uint64_t covers = test_store_info(store).image_covers;
    for (uint64_t i = first, nwait = 0; i < end; i++) {
        const struct unseen_key key = key_of(i);
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        uint8_t verdict = UNSEEN_SEEN;
        CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
        if (++nwait == COMMIT) { /* some go on waiting */
            nwait = COMMIT / 3;
            CHECK(unseen_store_commit_begin(store, COMMIT - nwait, 0, &error) == UNSEEN_OK);
            CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
            CHECK(stats.memory < LIMIT / 4 * 3);
            CHECK(stats.nkeys > i + 1 - 9 && stats.nkeys <= i + 1);
            /* Each question reads a page: all of them at each tenth commit. */
            const uint64_t step = i / COMMIT % 10 == 0 ? 1 : COMMIT / 150;
            CHECK_EQ(count_seen(store, i + 1 - COMMIT, i + 1, step), COMMIT / step);
        }
        if (i == end - COMMIT * 2) { /* it has read another image than the last one */
            reader = open_store(UNSEEN_STORE_READ, LIMIT * 2);
        }
    }
    CHECK(test_store_info(store).in_parts);
    CHECK(test_store_info(store).image_covers > covers);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    CHECK_EQ(count_seen(reader, first, end, STEP), (end - 1 - first) / STEP + 1);
    CHECK_EQ(count_seen(store, first, end, STEP), (end - 1 - first) / STEP + 1);
    test_store_close(reader);
    test_store_close(store);
    store = open_store(UNSEEN_STORE_WRITE, 0);
    CHECK_EQ(count_seen(store, 0, end, STEP), (end - 1) / STEP + 1);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
}

/* Removed keys are not in parts: a store in memory that has some stays there, and a reader in parts
 * says so. A reader whose log is replaced goes on with the new one, in parts again. */
static void test_removed(void)
{
    const struct unseen_key key = key_of(STEP);
    uint8_t verdict;
    keep(true);
    CHECK(unlink(path) == 0 && unlink(image) == 0);
    struct unseen_store *store = open_store(UNSEEN_STORE_CREATE, LIMIT);
    add_keys(store, 0, BATCH);
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    add_keys(store, BATCH, NKEYS);
    CHECK(!test_store_info(store).in_parts);
    CHECK_EQ(count_seen(store, STEP, STEP + 1, 1), 0);
    test_store_close(store);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);

    struct unseen_store *reader = open_store(UNSEEN_STORE_READ, LIMIT);
    CHECK(test_store_info(reader).in_parts);
    CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
    test_store_close(open_store(UNSEEN_STORE_WRITE, 0)); /* writes an image */
    store = open_store(UNSEEN_STORE_WRITE, 0);
    add_keys(store, NKEYS, NKEYS + BATCH);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    CHECK(test_store_info(reader).in_parts);
    CHECK_EQ(count_seen(reader, NKEYS, NKEYS + BATCH, 1), BATCH);
    add_keys(store, NKEYS + BATCH, NKEYS + 2 * BATCH);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_OK);
    CHECK_EQ(count_seen(reader, NKEYS, NKEYS + 2 * BATCH, 1), 2 * BATCH);
    const struct unseen_key other = key_of(STEP + 1);
    CHECK(unseen_store_remove_keys(store, &other, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    CHECK(unseen_store_refresh(reader, &error) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "removed"));
    test_store_close(reader);
    test_store_close(store);
}

/* A store that sweeps itself while it writes an output, which is then interrupted: the next run
 * cuts the output to its last commit, and not to what it was when the run began. */
static void test_output(void)
{
    char name[PATH_LEN + 8];
    uint64_t len = 0;
    const uint64_t end = NKEYS + NTAIL + NMORE / 2;
    keep(true);
    (void)snprintf(name, sizeof(name), "%s.out", path);
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    CHECK(unseen_store_output(store, fd, name, &len, &error) == UNSEEN_OK && len == 0);
    const uint64_t covers = test_store_info(store).image_covers;
    for (uint64_t i = NKEYS + NTAIL; i < end; i++) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict = UNSEEN_SEEN;
        CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK(write(fd, "line\n", 5) == 5);
        if (i % COMMIT == 0) {
            len = (i + 1 - NKEYS - NTAIL) * 5;
            CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
        }
    }
    test_store_close(store); /* some lines are not committed */
    store = open_store(UNSEEN_STORE_READ, LIMIT);
    CHECK(test_store_info(store).image_covers > covers);
    CHECK_EQ(test_store_info(store).replayed, 0);
    CHECK(test_store_info(store).output_interrupted);
    CHECK_EQ(test_store_info(store).output_len, len);
    test_store_close(store);
    store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    uint64_t cut = 0;
    CHECK(unseen_store_output(store, fd, name, &cut, &error) == UNSEEN_OK && cut == len);
    test_store_close(store);
    CHECK(close(fd) == 0 && unlink(name) == 0);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
}

static enum unseen_status verify(uint64_t memory, struct unseen_store_health *health)
{
    *health = (struct unseen_store_health){.size = sizeof(*health), .memory = memory};
    return unseen_store_verify(path, health, NULL, NULL, &error);
}

/* verify finds the same in parts as in memory: nothing in a good store, also after removals, a
 * damaged page, and an image, well sealed, that has a key too few or too many. */
static void test_verify(void)
{
    static const char *const kinds[] = {"good", "removed", "damaged", "lacks", "more"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const bool differs = strcmp(kinds[i], "lacks") == 0 || strcmp(kinds[i], "more") == 0;
        struct unseen_store_health found[3];
        uint8_t verdict;
        keep(true);
        if (i > 0) {
            struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, 0);
            const struct unseen_key key = key_of(STEP);
            CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
            add_keys(store, NKEYS + NTAIL, NKEYS + NTAIL + NMORE); /* enough for a new image */
            struct unseen_set *set = (struct unseen_set *)(uintptr_t)unseen_store_set(store);
            const struct unseen_key other = key_of(differs && kinds[i][0] == 'm' ? NKEYS * 3 : 5);
            if (differs) { /* behind the store's back */
                CHECK((kinds[i][0] == 'm' ? unseen_set_add_keys : unseen_set_remove_keys)(
                          set, &other, 1, &verdict, NULL) == UNSEEN_OK);
            }
            test_store_close(store);
        }
        if (strcmp(kinds[i], "damaged") == 0) {
            test_file_flip(image, (uint64_t)NKEYS * 3);
        }
        const enum unseen_status want = i < 2 ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
        for (size_t k = 0; k < 3; k++) {
            CHECK(verify(k * LIMIT / 2, &found[k]) == want);
            found[k].memory = 0;
            CHECK(memcmp(&found[k], &found[0], sizeof(found[0])) == 0);
        }
    }
}

static bool count_listed(void *context, const struct unseen_key *keys, size_t n)
{
    uint64_t *nlisted = context;
    (void)keys;
    *nlisted += n;
    return true;
}

/* A store that is opened for its keys takes no memory for them, with an image and without, and
 * answers nothing. It follows its log, and is merged. */
static void test_keys_only(void)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .cpu = test_cpu, .memory = MEMORY_MIN, .keys_only = true};
    const struct unseen_key key = key_of(0);
    uint8_t verdict = UNSEEN_NEW;
    keep(true);
    for (uint64_t i = 0; i < 2; i++) {
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        struct unseen_store *store = NULL;
        uint64_t nlisted = 0;
        CHECK(unseen_store_open(&store, path, &options, &error) == UNSEEN_OK);
        CHECK(unseen_set_stats(unseen_store_set(store), &stats) == UNSEEN_OK);
        CHECK(stats.memory < 1 << 16 && stats.nkeys == 0);
        CHECK(unseen_store_keys(store, count_listed, &nlisted, &error) == UNSEEN_OK);
        CHECK_EQ(nlisted, NKEYS + NTAIL + i * BATCH);
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL) ==
              UNSEEN_ERR_STOPPED);
        CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_ERR_READONLY);
        CHECK_EQ(test_store_info(store).dead_bytes, 0);
        struct unseen_store *writer = open_store(UNSEEN_STORE_WRITE, 0);
        add_keys(writer, NKEYS + NTAIL + i * BATCH, NKEYS + NTAIL + (i + 1) * BATCH);
        test_store_close(writer);
        nlisted = 0;
        CHECK(unseen_store_refresh(store, &error) == UNSEEN_OK);
        CHECK(unseen_store_keys(store, count_listed, &nlisted, &error) == UNSEEN_OK);
        CHECK_EQ(nlisted, NKEYS + NTAIL + (i + 1) * BATCH);
        CHECK(i > 0 || unlink(image) == 0);
        test_store_close(store);
    }
}

/* A store that must be there as a whole says so. */
static void test_refused(void)
{
    struct unseen_store *store = NULL;
    const struct unseen_key key = key_of(0);
    const struct unseen_key other = key_of(UINT32_MAX);
    const struct unseen_bytes item = {"x", 1};
    uint8_t verdict;
    keep(true);
    CHECK(unlink(image) == 0);
    CHECK(try_open(UNSEEN_STORE_READ, LIMIT, &store) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, "too many lines"));
    CHECK(try_open(UNSEEN_STORE_READ, MEMORY_MIN - 1, &store) == UNSEEN_ERR_ARGUMENT);
    CHECK(strstr(error.text, path) && strstr(error.text, "is below 1 MiB"));
    keep(true);
    store = open_store(UNSEEN_STORE_READ, LIMIT);
    CHECK(unseen_store_load_part(store, 4, 0, &error) == UNSEEN_ERR_READONLY);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_store_reserve(store, NKEYS) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_store_add_keys(store, &other, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(unseen_store_load_part(store, 4, 0, &error) == UNSEEN_ERR_ARGUMENT); /* one waits */
    test_store_close(store);
    store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    const unsigned bits = unseen_set_part_bits(unseen_store_set(store));
    CHECK(unseen_store_load_part(store, 0, 0, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_load_part(store, bits + 1, 0, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_load_part(store, bits, 1, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_save_part(store, bits, 0, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_load_part(store, bits, 0, &error) == UNSEEN_OK);
    CHECK(unseen_store_load_part(store, bits, 0, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_add_keys(store, &other, 1, &verdict, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_store_contains(store, &item, 1, &verdict, NULL) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(unseen_store_save_part(store, bits, 1, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_store_save_part(store, bits, 0, &error) == UNSEEN_OK);
    CHECK(unseen_store_save_part(store, bits, 1, &error) == UNSEEN_ERR_ARGUMENT); /* not loaded */
    test_store_close(store);
    check_store(0, false);

    /* Removed since the image was written. */
    keep(true);
    store = open_store(UNSEEN_STORE_WRITE, 0);
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    test_store_close(store);
    CHECK(try_open(UNSEEN_STORE_WRITE, LIMIT, &store) == UNSEEN_ERR_UNSUPPORTED);
    CHECK(strstr(error.text, path) && strstr(error.text, "removed"));
}

/* An image that is damaged in the middle of a sweep. */
static void test_damage(void)
{
    struct stat st;
    keep(true);
    CHECK(stat(image, &st) == 0);
    test_file_flip(image, (uint64_t)st.st_size / 2);
    enum unseen_status status = UNSEEN_OK;
    struct unseen_store *store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    for (uint64_t i = 0; i < NKEYS && status == UNSEEN_OK; i++) { /* some have that page */
        const struct unseen_key key = key_of(i);
        uint8_t verdict = UNSEEN_SEEN;
        status = unseen_store_add_keys(store, &key, 1, &verdict, NULL);
        CHECK(status != UNSEEN_OK || verdict == UNSEEN_SEEN);
    }
    CHECK(status == UNSEEN_ERR_STOPPED);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, image) && strstr(error.text, "is damaged"));
    CHECK(unseen_store_close(store, &error) == UNSEEN_ERR_CORRUPT);
    store = open_store(UNSEEN_STORE_WRITE, LIMIT);
    const unsigned bits = unseen_set_part_bits(unseen_store_set(store));
    status = UNSEEN_OK;
    for (uint64_t part = 0; part >> bits == 0 && status == UNSEEN_OK; part++) {
        status = unseen_store_load_part(store, bits, part, &error);
        if (status == UNSEEN_OK) {
            CHECK(unseen_store_save_part(store, bits, part, &error) == UNSEEN_OK);
        }
    }
    CHECK(status == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, image) && strstr(error.text, "is damaged"));
    const struct unseen_key key = key_of(0);
    uint8_t verdict = UNSEEN_NEW;
    CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL) ==
          UNSEEN_ERR_STOPPED);
    test_store_close(store);
    CHECK(access(new_image, F_OK) != 0);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
}

int main(void)
{
    size_t nnew = 0;
    test_start();
    test_folder_make(dir, sizeof(dir), "sweep");
    (void)snprintf(path, sizeof(path), "%s/s", dir);
    (void)snprintf(image, sizeof(image), "%s.image", path);
    (void)snprintf(new_image, sizeof(new_image), "%s.unseen-new", image);
    make_store();
    test_same(&nnew);
    for (enum stage stage = IN_PARTS; stage <= BEFORE_CLOSE; stage++) {
        if (!test_brief() || stage == IN_LOG) {
            test_death(nnew, stage);
        }
    }
    test_asked(nnew);
    test_itself(false);
    test_itself(true);
    test_removed();
    test_output();
    test_verify();
    test_keys_only();
    test_refused();
    test_damage();
    test_folder_remove(dir);
    return test_end();
}
