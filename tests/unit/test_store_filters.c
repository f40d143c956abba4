/* SPDX-License-Identifier: MIT
 *
 * A store is a set, whatever its filter. Each filter that a store can have goes through repeated
 * additions and removals, beside a sorted array, and through restarts with the image and without
 * it. The rates are so low that no answer may differ from the array.
 *
 * At a high rate, many keys are taken for others. A removal must take away no other key; memory,
 * image and log must agree; and verify must find no damage. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "log/log_format.h"

enum {
    MANY = 70000, /* changes that make an image */
    NIDS = 80000, /* ids above MANY are never added at first */
    BATCH = 1000,
    PATH_LEN = 300
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char image[PATH_LEN + 16];
static struct unseen_error error;

static const struct test_store_kind kinds[] = {
    {"compact", 0, 0, true},        {"compact", 0, 100000, true},
    {"exact", 0, 0, true},          {"counting", 2e-7, 100000, true},
    {"bloom", 1e-9, 100000, false}, {"block", 1e-8, 100000, false},
};

/* ---- the model: a sorted array of ids ---- */

struct model {
    uint32_t ids[NIDS];
    size_t n;
};

/* The index of the first id that is not below `id`. */
static size_t model_find(const struct model *model, uint32_t id)
{
    size_t low = 0;
    size_t high = model->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool model_has(const struct model *model, uint32_t id)
{
    const size_t at = model_find(model, id);
    return at < model->n && model->ids[at] == id;
}

static bool model_add(struct model *model, uint32_t id)
{
    const size_t at = model_find(model, id);
    if (at < model->n && model->ids[at] == id) {
        return false;
    }
    memmove(&model->ids[at + 1], &model->ids[at], (model->n - at) * sizeof(*model->ids));
    model->ids[at] = id;
    model->n++;
    return true;
}

static bool model_remove(struct model *model, uint32_t id)
{
    const size_t at = model_find(model, id);
    if (at == model->n || model->ids[at] != id) {
        return false;
    }
    model->n--;
    memmove(&model->ids[at], &model->ids[at + 1], (model->n - at) * sizeof(*model->ids));
    return true;
}

/* ---- stores ---- */

static struct unseen_store *open_store(const struct test_store_kind *kind,
                                       enum unseen_store_mode mode)
{
    const struct unseen_store_options options = test_store_options(kind, mode);
    return test_store_open(path, &options);
}

static void commit(struct unseen_store *store)
{
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
}

static void check_verify(const char *what)
{
    if (!CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s: %s\n", what, error.text);
    }
}

static bool add(struct unseen_store *store, uint32_t id)
{
    enum unseen_verdict verdict = UNSEEN_SEEN;
    CHECK(test_store_add(store, &id, sizeof(id), &verdict) == UNSEEN_OK);
    return verdict == UNSEEN_NEW;
}

static bool take_out(struct unseen_store *store, uint32_t id)
{
    enum unseen_verdict verdict = UNSEEN_NEW;
    CHECK(test_store_remove(store, &id, sizeof(id), &verdict) == UNSEEN_OK);
    return verdict == UNSEEN_SEEN;
}

static bool contains(struct unseen_store *store, uint32_t id)
{
    enum unseen_verdict verdict = UNSEEN_NEW;
    CHECK(test_set_contains(unseen_store_set(store), &id, sizeof(id), &verdict) == UNSEEN_OK);
    return verdict == UNSEEN_SEEN;
}

/* Adds the ids from first to end, a batch at a time. Returns how many are new. */
static size_t add_range(struct unseen_store *store, uint32_t first, uint32_t end)
{
    static uint32_t ids[BATCH];
    static struct unseen_bytes items[BATCH];
    static uint8_t verdicts[BATCH];
    size_t nnew = 0;
    for (uint32_t i = first; i < end;) {
        size_t n = 0;
        for (; n < BATCH && i < end; n++, i++) {
            ids[n] = i;
            items[n] = (struct unseen_bytes){(const char *)&ids[n], sizeof(ids[n])};
        }
        CHECK(unseen_store_add(store, items, n, verdicts, NULL) == UNSEEN_OK);
        for (size_t j = 0; j < n; j++) {
            nnew += verdicts[j] == UNSEEN_NEW;
        }
    }
    return nnew;
}

/* Removes the ids from first to end, many at a time. Returns how many were there. */
static size_t take_out_range(struct unseen_store *store, uint32_t first, uint32_t end)
{
    static uint32_t ids[NIDS];
    static struct unseen_bytes items[NIDS];
    static uint8_t verdicts[NIDS];
    const size_t n = end - first;
    size_t nthere = 0;
    size_t ndone = 0;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = first + i;
        items[i] = (struct unseen_bytes){(const char *)&ids[i], sizeof(ids[i])};
    }
    CHECK(unseen_store_remove(store, items, n, verdicts, &ndone) == UNSEEN_OK && ndone == n);
    for (size_t i = 0; i < n; i++) {
        nthere += verdicts[i] == UNSEEN_SEEN;
    }
    return nthere;
}

/* ---- the array and the store ---- */

static bool count_keys(void *context, const struct unseen_key *keys, size_t n)
{
    (void)keys;
    *(size_t *)context += n;
    return true;
}

static void compare(struct unseen_store *store, const struct model *model, const char *what)
{
    size_t wrong = 0;
    size_t nkeys = 0;
    for (uint32_t id = 0; id < NIDS; id++) {
        wrong += contains(store, id) != model_has(model, id);
    }
    if (!CHECK_EQ(wrong, 0)) {
        fprintf(stderr, "%s\n", what);
    }
    CHECK(unseen_store_keys(store, count_keys, &nkeys, &error) == UNSEEN_OK);
    CHECK_EQ(nkeys, model->n);
}

/* One key added, added, removed and asked for, in one session. */
static void add_add_remove(struct unseen_store *store, struct model *model, uint32_t id)
{
    CHECK_EQ(add(store, id), model_add(model, id));
    CHECK(!add(store, id));
    commit(store);
    CHECK(!add(store, id));
    CHECK(contains(store, id));
    CHECK(take_out(store, id));
    CHECK(model_remove(model, id));
    CHECK(!contains(store, id));
    CHECK(!take_out(store, id));
}

/* Random changes, of ids that repeat within the steps. */
static void change(struct unseen_store *store, struct model *model,
                   const struct test_store_kind *kind, uint64_t *random)
{
    const uint32_t base = (uint32_t)(test_random(random) % (NIDS - 500));
    for (int step = 0; step < 2000; step++) {
        const uint32_t id = base + (uint32_t)(test_random(random) % 500);
        if (kind->removes && test_random(random) % 3 == 0) {
            CHECK_EQ(take_out(store, id), model_remove(model, id));
        } else {
            CHECK_EQ(add(store, id), model_add(model, id));
        }
    }
}

static void test_model(const struct test_store_kind *kind)
{
    static struct model model;
    uint64_t random = 7;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    for (uint32_t i = 0; i < MANY; i++) {
        model.ids[i] = i;
    }
    model.n = MANY;
    CHECK_EQ(add_range(store, 0, MANY), MANY);
    CHECK_EQ(add_range(store, 0, MANY), 0);
    commit(store);
    CHECK_EQ(add_range(store, 0, MANY), 0);
    commit(store);
    test_store_close(store);
    check_verify(kind->filter);
    for (int round = 0; round < 8; round++) {
        store = open_store(kind, round % 4 == 3 ? UNSEEN_STORE_READ : UNSEEN_STORE_WRITE);
        CHECK_EQ(test_store_info(store).image_covers > 0, round < 5);
        compare(store, &model, kind->filter);
        if (round % 4 != 3) {
            if (kind->removes) {
                add_add_remove(store, &model, (uint32_t)(test_random(&random) % NIDS));
            }
            change(store, &model, kind, &random);
            commit(store);
            compare(store, &model, kind->filter);
        }
        test_store_close(store);
        check_verify(kind->filter);
        if (round >= 4) {
            (void)unlink(image);
        }
    }
    if (!kind->removes) {
        enum unseen_verdict verdict;
        store = open_store(kind, UNSEEN_STORE_WRITE);
        CHECK(test_store_remove(store, "x", 1, &verdict) == UNSEEN_ERR_UNSUPPORTED);
        test_store_close(store);
    }
}

/* A change that no commit was begun for is forgotten, in memory that counts, too. */
static void test_uncommitted(const struct test_store_kind *kind)
{
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    CHECK_EQ(add_range(store, 0, MANY), MANY);
    commit(store);
    CHECK(take_out(store, 1));
    CHECK(!add(store, 2));
    CHECK(take_out(store, 2));
    CHECK(add(store, 2));
    CHECK(add(store, MANY + 1));
    test_store_close(store);
    store = open_store(kind, UNSEEN_STORE_WRITE);
    CHECK(test_store_info(store).image_covers > 0);
    for (uint32_t id = 1; id < 3; id++) {
        CHECK(contains(store, id));
        CHECK(take_out(store, id));
        CHECK(!contains(store, id));
    }
    CHECK(!contains(store, MANY + 1));
    test_store_close(store);
}

/* ---- rewrite ---- */

static uint64_t log_size(void)
{
    struct stat st;
    return CHECK(stat(path, &st) == 0) ? (uint64_t)st.st_size : 0;
}

/* Rounds of keys that are added and removed leave a small log, whether the store is closed in
 * between or not. Readers that were open go on with what they had. */
static void test_churn(const struct test_store_kind *kind, bool closes)
{
    enum {
        KEPT = 100
    };
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    CHECK_EQ(add_range(store, MANY, MANY + KEPT), KEPT);
    commit(store);
    struct unseen_store *early = open_store(kind, UNSEEN_STORE_READ);
    for (int round = 0; round < 3; round++) {
        CHECK_EQ(add_range(store, 0, MANY), MANY);
        commit(store);
        struct unseen_store *reader = open_store(kind, UNSEEN_STORE_READ);
        CHECK_EQ(take_out_range(store, 0, MANY), MANY);
        commit(store);
        CHECK(test_store_info(store).dead_bytes > 0);
        if (closes) {
            test_store_close(store);
            check_verify(kind->filter);
            store = open_store(kind, UNSEEN_STORE_WRITE);
            CHECK_EQ(test_store_info(store).dead_bytes, 0);
        }
        CHECK(contains(reader, 0) && contains(reader, MANY - 1) && contains(reader, MANY));
        size_t nkeys = 0;
        CHECK(unseen_store_keys(reader, count_keys, &nkeys, &error) == UNSEEN_OK);
        CHECK_EQ(nkeys, MANY + KEPT);
        test_store_close(reader);
    }
    CHECK_EQ(add_range(store, 0, MANY + KEPT), MANY); /* a commit that may compact */
    commit(store);
    CHECK(log_size() < UNSEEN__RECORDS_OFFSET + 2 * 17 * (uint64_t)MANY);
    CHECK_EQ(take_out_range(store, 0, MANY), MANY);
    commit(store);
    test_store_close(store);
    CHECK(log_size() < UNSEEN__RECORDS_OFFSET + 17 * KEPT + 1000);
    check_verify(kind->filter);
    CHECK(contains(early, MANY) && !contains(early, 1));
    test_store_close(early);
    store = open_store(kind, UNSEEN_STORE_READ);
    for (uint32_t id = 0; id < MANY + KEPT; id++) {
        CHECK_EQ(contains(store, id), id >= MANY);
    }
    test_store_close(store);
}

/* A log that was written anew is no copy: an equal file of the same name, in another folder, is not
 * taken for the output. */
static void check_no_copy(const struct test_store_kind *kind, const char *name)
{
    char folder[PATH_LEN];
    char copied[PATH_LEN + 300];
    uint64_t len = 0;
    snprintf(folder, sizeof(folder), "%s/.copy", dir);
    snprintf(copied, sizeof(copied), "%s%s", folder, strrchr(name, '/'));
    CHECK(mkdir(folder, 0700) == 0);
    const int fd = open(copied, O_RDWR | O_CREAT, 0600);
    CHECK(write(fd, "012345678901234567890123456789lost", 34) == 34);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_WRITE);
    CHECK(unseen_store_output(store, fd, copied, &len, &error) == UNSEEN_ERR_STOPPED);
    test_store_close(store);
    CHECK(close(fd) == 0 && unlink(copied) == 0 && rmdir(folder) == 0);
}

/* The output of a store that rewrites itself keeps each line once, also if the process is killed
 * and the output renamed. */
static void test_churn_output(void)
{
    const struct test_store_kind *kind = &kinds[0];
    char name[PATH_LEN + 16];
    char moved[PATH_LEN + 16];
    uint64_t len = 0;
    test_folder_clear(dir);
    snprintf(name, sizeof(name), "%s.out", path);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    const pid_t pid = fork();
    if (pid == 0) {
        struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
        CHECK(unseen_store_output(store, fd, name, &len, &error) == UNSEEN_OK);
        for (int round = 0; round < 3; round++) {
            CHECK_EQ(add_range(store, 0, MANY), MANY);
            CHECK(pwrite(fd, "0123456789", 10, (off_t)len) == 10);
            len += 10;
            CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
            CHECK_EQ(take_out_range(store, 0, MANY), MANY);
            CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
        }
        CHECK(add(store, MANY));
        CHECK(unseen_store_commit_begin(store, UINT64_MAX, len, &error) == UNSEEN_OK);
        CHECK(unseen_store_commit_poll(store, true, NULL, &error) == UNSEEN_OK);
        CHECK(log_size() < UNSEEN__RECORDS_OFFSET + 17 * (uint64_t)MANY);
        CHECK(pwrite(fd, "lost", 4, (off_t)len) == 4);
        _exit(test_end() == 0 ? 7 : 1);
    }
    int wstatus = 0;
    CHECK(pid > 0 && waitpid(pid, &wstatus, 0) == pid);
    CHECK(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 7);
    check_no_copy(kind, name);
    snprintf(moved, sizeof(moved), "%s.moved", path);
    CHECK(rename(name, moved) == 0);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_WRITE);
    CHECK(contains(store, MANY) && !contains(store, 0));
    CHECK(unseen_store_output(store, fd, moved, &len, &error) == UNSEEN_OK);
    CHECK_EQ(len, 30);
    test_store_close(store);
    CHECK(close(fd) == 0);
    check_verify("an output");
}

/* A draft takes its name only when it is published: it is not rewritten before. */
static void test_churn_draft(const struct test_store_kind *kind, bool exists, bool publishes)
{
    enum {
        KEPT = 100
    };
    struct stat before = {0};
    struct stat after = {0};
    test_folder_clear(dir);
    if (exists) {
        struct unseen_store *old = open_store(kind, UNSEEN_STORE_CREATE);
        CHECK_EQ(add_range(old, MANY, MANY + KEPT), KEPT);
        commit(old);
        test_store_close(old);
        CHECK(stat(path, &before) == 0);
    }
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_DRAFT);
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(add_range(store, 0, MANY), MANY);
        commit(store);
        CHECK_EQ(take_out_range(store, 0, MANY), MANY);
        commit(store);
    }
    CHECK(add(store, 0));
    commit(store);
    CHECK(test_store_info(store).dead_bytes > 1 << 20);
    if (!publishes) {
        test_store_close(store);
        CHECK(stat(path, &after) == (exists ? 0 : -1));
        CHECK(after.st_ino == before.st_ino && after.st_size == before.st_size);
        return;
    }
    CHECK(unseen_store_publish(store, &error) == UNSEEN_OK);
    test_store_close(store); /* here it is rewritten */
    CHECK(log_size() < UNSEEN__RECORDS_OFFSET + 17 * KEPT + 1000);
    check_verify("a draft");
    store = open_store(kind, UNSEEN_STORE_READ);
    for (uint32_t id = 0; id < MANY + KEPT; id++) {
        CHECK_EQ(contains(store, id), id == 0 || (exists && id >= MANY));
    }
    test_store_close(store);
}

/* ---- a high rate ---- */

static void ask_all(struct unseen_store *store, uint8_t *answers)
{
    for (uint32_t id = 0; id < NIDS; id++) {
        answers[id] = contains(store, id);
    }
}

/* Many lines are wrongly taken for seen. To remove them takes nothing away, whether the keys of the
 * other lines are in the log or wait for it. The next process must answer as this one, with the
 * image and without it. */
static void test_wrong_answers(const struct test_store_kind *kind)
{
    static bool was_added[NIDS];
    static uint8_t before[NIDS];
    static uint8_t after[NIDS];
    size_t nwrong = 0;
    size_t nlost = 0;
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    for (uint32_t id = 0; id < MANY; id++) {
        was_added[id] = add(store, id);
        nwrong += !was_added[id]; /* and not in the log */
        if (id % 10000 == 0) {
            commit(store);
        }
    }
    CHECK(nwrong > 100);
    for (uint32_t id = MANY; id < NIDS; id++) {
        nwrong += contains(store, id);
    }
    CHECK(nwrong > 500);
    CHECK_EQ(take_out_range(store, MANY, NIDS), 0);
    commit(store);
    CHECK_EQ(take_out_range(store, MANY, NIDS), 0);
    for (uint32_t id = 0; id < MANY; id += 701) {
        CHECK_EQ(take_out(store, id), was_added[id]);
        CHECK(!take_out(store, id)); /* this one waits */
        was_added[id] = false;
    }
    const size_t nthere = take_out_range(store, 0, 1000);
    for (uint32_t id = 0; id < 1000; id++) {
        nlost += was_added[id];
        was_added[id] = false;
    }
    CHECK_EQ(nthere, nlost);
    nlost = 0;
    for (uint32_t id = 0; id < MANY; id++) {
        nlost += was_added[id] && !contains(store, id);
    }
    CHECK_EQ(nlost, 0);
    for (uint32_t id = 0; id < MANY; id += 7) {
        (void)add(store, id);
    }
    commit(store);
    ask_all(store, before);
    test_store_close(store);
    check_verify(kind->filter);
    for (int run = 0; run < 2; run++) {
        store = open_store(kind, UNSEEN_STORE_WRITE);
        CHECK_EQ(test_store_info(store).image_covers > 0, run == 0);
        ask_all(store, after);
        CHECK(memcmp(before, after, sizeof(before)) == 0);
        test_store_close(store);
        CHECK(unlink(image) == 0);
    }
}

/* A key that differs in one bit from `key`, and that the filter takes for it. */
static struct unseen_key find_alike(struct unseen_store *store, struct unseen_key key)
{
    struct unseen_key other = key;
    uint8_t verdict = UNSEEN_NEW;
    CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_NEW);
    for (int i = 0; i < 64 && verdict == UNSEEN_NEW; i++) {
        other.hi = key.hi ^ UINT64_C(1) << i;
        unseen__key_narrow(64, &other);
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &other, 1, &verdict, NULL) ==
              UNSEEN_OK);
    }
    CHECK_EQ(verdict, UNSEEN_SEEN);
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_SEEN);
    return other;
}

/* Two keys that the filter cannot tell apart: the log can. One of them, twice in a call, is removed
 * once. */
static void test_alike(const struct test_store_kind *kind)
{
    uint8_t verdicts[4] = {0};
    test_folder_clear(dir);
    struct unseen_store *store = open_store(kind, UNSEEN_STORE_CREATE);
    CHECK_EQ(add_range(store, 0, BATCH), BATCH);
    const struct unseen_key key = unseen_set_identity_key(unseen_store_set(store), "new", 3);
    const struct unseen_key other = find_alike(store, key);
    const struct unseen_key twice[4] = {other, key, key, other};
    for (int run = 0; run < 3; run++) { /* the key waits, is in the log, is in a log that is read */
        CHECK(unseen_store_add_keys(store, &key, 1, verdicts, NULL) == UNSEEN_OK);
        CHECK_EQ(verdicts[0], UNSEEN_NEW);
        if (run > 0) {
            commit(store);
        }
        if (run > 1) {
            test_store_close(store);
            store = open_store(kind, UNSEEN_STORE_WRITE);
        }
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &other, 1, verdicts, NULL) ==
              UNSEEN_OK);
        CHECK_EQ(verdicts[0], UNSEEN_SEEN);
        CHECK(unseen_store_remove_keys(store, &other, 1, verdicts, NULL) == UNSEEN_OK);
        CHECK_EQ(verdicts[0], UNSEEN_NEW);
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, verdicts, NULL) ==
              UNSEEN_OK);
        CHECK_EQ(verdicts[0], UNSEEN_SEEN);
        CHECK(unseen_store_remove_keys(store, twice, 4, verdicts, NULL) == UNSEEN_OK);
        CHECK(verdicts[0] == UNSEEN_NEW && verdicts[1] == UNSEEN_SEEN &&
              verdicts[2] == UNSEEN_NEW && verdicts[3] == UNSEEN_NEW);
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, verdicts, NULL) ==
              UNSEEN_OK);
        CHECK_EQ(verdicts[0], UNSEEN_NEW);
    }
    test_store_close(store);
}

int main(void)
{
    test_start();
    test_folder_make(dir, sizeof(dir), "filters");
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        test_model(&kinds[i]);
        if (kinds[i].removes) {
            test_uncommitted(&kinds[i]);
            if (!test_brief()) {
                test_churn(&kinds[i], false);
            }
            test_churn(&kinds[i], true);
        }
    }
    test_churn_output();
    for (int i = 0; i < 4; i++) {
        test_churn_draft(&kinds[0], i & 1, i & 2);
    }
    test_wrong_answers(&(struct test_store_kind){"counting", 0.1, 60000, true});
    test_alike(&kinds[0]);
    test_folder_remove(dir);
    return test_end();
}
