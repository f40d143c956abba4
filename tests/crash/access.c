/* SPDX-License-Identifier: MIT
 *
 * Who else uses the file, and what else it may be.
 *
 * Readers during writes: one process adds and commits, writes images and rewrites the store, while
 * another opens it, over and over, and a third follows it. Neither may fail, and each must show
 * everything that was committed before it began, and whole commits only. Then the same with a
 * window: keys leave by the time of the last commit that is seen. Then: a second writer, a folder
 * that cannot be written to, a file of a newer version, a file that is something else.
 *
 *     crash_access [PLANT]
 *
 * UNSEEN_CRASH_ONLY=window leaves out the readers of a store without one. With the plant `early`
 * the writer says that it has committed before it has, which the readers must notice. */
#include "crash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum {
    NREADERS = 2,
    BATCH = 50,
    BATCH_WINDOW = 400, /* so many that the log has a new head after every ten commits */
    NLIVE = 20,         /* commits in the window, with the last */
    COMMITS_CI = 300,
    REWRITE_EVERY = 40,
    IMAGE_EVERY = 15,
    FAILURES_SHOWN = 20
};

struct shared {
    uint32_t ncommitted; /* keys */
    bool ended;
    uint64_t nopens;
    uint64_t nwrong;
};

static struct shared *shared;
static uint64_t nchecks;
static uint32_t batch = BATCH; /* keys of a commit */

static void wrong(const char *what, const char *detail)
{
    if (__atomic_fetch_add(&shared->nwrong, 1, __ATOMIC_RELAXED) < FAILURES_SHOWN) {
        fprintf(stderr, "%s: %s\n", what, detail);
    }
}

static void check(bool ok, const char *what, const char *detail)
{
    nchecks++;
    if (!ok) {
        wrong(what, detail);
    }
}

static enum unseen_status open_as(struct unseen_store **store, enum unseen_store_mode mode,
                                  struct unseen_error *error)
{
    const struct unseen_store_options options = pair_options(mode);
    *error = (struct unseen_error){.status = UNSEEN_OK};
    return unseen_store_open(store, crash_path("s"), &options, error);
}

/* ---- Readers during writes ------------------------------------------------------------------- */

static void rewrite_it(struct unseen_store **store)
{
    const struct unseen_store_options options = {.size = sizeof(options)};
    struct unseen_error error;
    crash_require(unseen_store_close(*store, NULL) == UNSEEN_OK, "close");
    if (unseen_store_rewrite(crash_path("s"), &options, &error) != UNSEEN_OK) {
        wrong("rewrite", error.text);
    }
    crash_require(open_as(store, UNSEEN_STORE_WRITE, &error) == UNSEEN_OK, error.text);
}

static void write_on(uint64_t ncommits, bool early)
{
    struct unseen_store *store;
    struct unseen_error error;
    crash_require(open_as(&store, UNSEEN_STORE_WRITE, &error) == UNSEEN_OK, error.text);
    for (uint32_t commit = 1; commit <= ncommits; commit++) {
        char buf[32];
        crash_require(pair_tell_time(store, (int)commit) == UNSEEN_OK, "expire");
        for (uint32_t i = (commit - 1) * batch; i < commit * batch; i++) {
            const struct unseen_bytes item = pair_item(i, buf);
            enum unseen_verdict verdict = UNSEEN_ALLOWED;
            crash_require(test_store_add(store, item.data, item.len, &verdict) == UNSEEN_OK, "add");
        }
        if (early) {
            __atomic_store_n(&shared->ncommitted, commit * batch, __ATOMIC_RELEASE);
            usleep(2000);
        }
        crash_require(unseen_store_commit(store, &error) == UNSEEN_OK, error.text);
        __atomic_store_n(&shared->ncommitted, commit * batch, __ATOMIC_RELEASE);
        if (commit % IMAGE_EVERY == 0) {
            crash_require(unseen__image_save(store, &error) == UNSEEN_OK, error.text);
        }
        if (commit % REWRITE_EVERY == 0) {
            rewrite_it(&store);
        }
    }
    crash_require(unseen_store_close(store, &error) == UNSEEN_OK, error.text);
}

static bool has_key(const struct unseen_set *set, uint32_t i)
{
    char buf[32];
    enum unseen_verdict verdict = UNSEEN_NEW;
    const struct unseen_bytes item = pair_item(i, buf);
    crash_require(test_set_contains(set, item.data, item.len, &verdict) == UNSEEN_OK, "contains");
    return verdict == UNSEEN_SEEN;
}

/* The keys of a store are whole commits, and no less than were committed, but those that have
 * left. */
static void judge_keys(const struct unseen_set *set, uint32_t ncommitted, uint32_t nkeys)
{
    uint32_t first = ncommitted;
    uint32_t n = ncommitted;
    while (first > 0 && has_key(set, first - 1)) {
        first--;
    }
    while (first == n && n < nkeys && !has_key(set, n)) {
        first = ++n; /* all of those may have left by now */
    }
    n = first == nkeys ? 0 : n;
    while (n < nkeys && has_key(set, n)) {
        n++;
    }
    if (n < ncommitted) {
        wrong("a reader", "a committed key is not there");
    } else if (n % batch != 0) {
        wrong("a reader", "a commit is there in part");
    } else if (n > 0 && first != (pair_window > 0 && n > NLIVE * batch ? n - NLIVE * batch : 0)) {
        wrong("a reader", "a key is missing that has not left, or one is there that has");
    }
}

static void read_on(uint32_t nkeys, bool follows)
{
    struct unseen_store *store = NULL;
    while (!__atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE)) {
        struct unseen_error error;
        const uint32_t ncommitted = __atomic_load_n(&shared->ncommitted, __ATOMIC_ACQUIRE);
        const enum unseen_status status = store ? unseen_store_refresh(store, &error)
                                                : open_as(&store, UNSEEN_STORE_READ, &error);
        if (status != UNSEEN_OK) {
            wrong(store ? "a reader cannot follow" : "a reader cannot open it", error.text);
            continue;
        }
        judge_keys(unseen_store_set(store), ncommitted, nkeys);
        __atomic_fetch_add(&shared->nopens, 1, __ATOMIC_RELAXED);
        if (!follows) {
            crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
            store = NULL;
        }
    }
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
}

static void readers_during_writes(bool early)
{
    const uint64_t ncommits = crash_scaled(COMMITS_CI);
    struct unseen_store *store;
    struct unseen_error error;
    pid_t readers[NREADERS];
    const uint64_t nwrong = shared->nwrong;
    *shared = (struct shared){.nwrong = nwrong};
    crash_clear();
    crash_require(open_as(&store, UNSEEN_STORE_CREATE, &error) == UNSEEN_OK, error.text);
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
    for (int i = 0; i < NREADERS; i++) {
        readers[i] = fork();
        crash_require(readers[i] >= 0, "fork");
        if (readers[i] == 0) {
            read_on((uint32_t)ncommits * batch, i == 1);
            _exit(0);
        }
    }
    write_on(ncommits, early);
    __atomic_store_n(&shared->ended, true, __ATOMIC_RELEASE);
    for (int i = 0; i < NREADERS; i++) {
        int status;
        crash_require(waitpid(readers[i], &status, 0) == readers[i], "waitpid");
        check(status == 0, "a reader", "has ended otherwise");
    }
    check(shared->nopens > 0, "readers", "none has opened the store");
    printf("readers looked %llu times during %llu commits%s\n", (unsigned long long)shared->nopens,
           (unsigned long long)ncommits, pair_window > 0 ? ", with a window" : "");
}

/* ---- A second writer ------------------------------------------------------------------------- */

static void second_writer(void)
{
    struct unseen_store *store = NULL;
    struct unseen_error error;
    int ready[2];
    char byte;
    char number[32];
    crash_require(pipe(ready) == 0, "pipe");
    const pid_t first = fork();
    crash_require(first >= 0, "fork");
    if (first == 0) {
        crash_require(open_as(&store, UNSEEN_STORE_WRITE, &error) == UNSEEN_OK, error.text);
        crash_require(write(ready[1], "", 1) == 1, "write");
        for (;;) {
            (void)pause();
        }
    }
    crash_require(read(ready[0], &byte, 1) == 1, "read");
    snprintf(number, sizeof(number), "process %ld", (long)first);
    check(open_as(&store, UNSEEN_STORE_WRITE, &error) == UNSEEN_ERR_BUSY, "a second writer",
          "is not refused");
    check(strstr(error.text, number) && strstr(error.text, crash_path("s")), "a second writer",
          error.text);
    check(unseen_store_repair(crash_path("s"), NULL, NULL, NULL, &error) == UNSEEN_ERR_BUSY,
          "repair", "of what is being written to is not refused");
    check(unseen_store_rewrite(crash_path("s"), NULL, &error) == UNSEEN_ERR_BUSY, "rewrite",
          "of what is being written to is not refused");
    if (open_as(&store, UNSEEN_STORE_READ, &error) == UNSEEN_OK) {
        (void)unseen_store_close(store, NULL);
    } else {
        wrong("a reader beside a writer", error.text);
    }
    crash_require(kill(first, SIGKILL) == 0 && waitpid(first, NULL, 0) == first, "kill");
    if (open_as(&store, UNSEEN_STORE_WRITE, &error) == UNSEEN_OK) {
        (void)unseen_store_close(store, NULL);
    } else {
        wrong("a writer after one that was killed", error.text);
    }
    crash_require(close(ready[0]) == 0 && close(ready[1]) == 0, "close");
}

/* ---- A folder that cannot be written to ------------------------------------------------------ */

static void as_nobody(void)
{
    struct unseen_store *store = NULL;
    struct unseen_error error;
    const uint64_t nwrong = shared->nwrong;
    check(open_as(&store, UNSEEN_STORE_READ, &error) == UNSEEN_OK, "read only", error.text);
    (void)unseen_store_close(store, NULL);
    check(open_as(&store, UNSEEN_STORE_WRITE, &error) == UNSEEN_ERR_IO &&
              strstr(error.text, crash_path("s")),
          "writing where that is not allowed", error.text);
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_CREATE};
    check(unseen_store_open(&store, crash_path("other"), &options, &error) == UNSEEN_ERR_IO &&
              strstr(error.text, crash_path("other")),
          "making a store where that is not allowed", error.text);
    _exit(shared->nwrong == nwrong ? 0 : 1);
}

static void read_only_folder(void)
{
    crash_require(chmod(crash_folder(), 0555) == 0 && chmod(crash_path("s"), 0444) == 0, "chmod");
    const pid_t child = fork();
    crash_require(child >= 0, "fork");
    if (child == 0) {
        /* root may write anywhere */
        crash_require(getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0), "setuid");
        as_nobody();
    }
    int status;
    crash_require(waitpid(child, &status, 0) == child, "waitpid");
    check(status == 0, "a folder that cannot be written to", "see above");
    crash_require(chmod(crash_folder(), 0700) == 0 && chmod(crash_path("s"), 0600) == 0, "chmod");
}

/* ---- Newer versions -------------------------------------------------------------------------- */

enum {
    VERSION_OFFSET = 8,
    COMPATIBLE_OFFSET = 16,
    WRITE_OFFSET = 20,
    READ_OFFSET = 24
};

/* Changes a byte of both headers and makes their checksums right. */
static void write_newer(const struct pair *pair, size_t offset, uint8_t value)
{
    uint8_t *log = malloc(pair->log_len);
    crash_require(log != NULL, "malloc");
    memcpy(log, pair->log, pair->log_len);
    for (uint8_t *header = log; header < log + PAIR_RECORDS_OFFSET; header += PAIR_HEADER) {
        header[offset] = value;
        pair_seal_header(header, true);
    }
    crash_write(crash_path("s"), log, pair->log_len);
    free(log);
}

static void try_newer(const struct pair *pair, const char *what, size_t offset, uint8_t value,
                      enum unseen_status to_read, enum unseen_status to_write)
{
    static const enum unseen_store_mode modes[] = {UNSEEN_STORE_READ, UNSEEN_STORE_WRITE,
                                                   UNSEEN_STORE_CREATE};
    struct unseen_error error;
    size_t len = 0;
    size_t len_after = 0;
    write_newer(pair, offset, value);
    char *before = crash_read(crash_path("s"), &len);
    for (int i = 0; i < 3; i++) {
        struct unseen_store *store = NULL;
        const enum unseen_status wanted = i == 0 ? to_read : to_write;
        const enum unseen_status status = open_as(&store, modes[i], &error);
        check(status == wanted, what, unseen_status_string(status));
        check(status == UNSEEN_OK || strstr(error.text, crash_path("s")), what, error.text);
        (void)unseen_store_close(store, NULL);
    }
    const enum unseen_status repaired =
        unseen_store_repair(crash_path("s"), NULL, NULL, NULL, &error);
    check(repaired == to_write, what, "repair does something else");
    char *after = crash_read(crash_path("s"), &len_after);
    check(len == len_after && memcmp(before, after, len) == 0, what, "the file was changed");
    free(before);
    free(after);
}

static void newer_versions(void)
{
    struct pair pair;
    pair_make(&pair, crash_path("s"), 0);
    try_newer(&pair, "a compatible feature", COMPATIBLE_OFFSET, 1, UNSEEN_OK, UNSEEN_OK);
    try_newer(&pair, "a feature to write", WRITE_OFFSET, 1, UNSEEN_OK, UNSEEN_ERR_VERSION);
    for (uint8_t bit = 2; bit != 0; bit = (uint8_t)(bit << 1)) {
        try_newer(&pair, "a feature to read", READ_OFFSET, bit, UNSEEN_ERR_VERSION,
                  UNSEEN_ERR_VERSION);
    }
    try_newer(&pair, "version 2", VERSION_OFFSET, 2, UNSEEN_ERR_VERSION, UNSEEN_ERR_VERSION);
    pair_free(&pair);
}

/* ---- Something else -------------------------------------------------------------------------- */

/* Opens what is no store in every mode up to `last`. */
static void try_foreign(const char *what, enum unseen_store_mode last)
{
    for (int mode = UNSEEN_STORE_READ; mode <= (int)last; mode++) {
        struct unseen_store *store = NULL;
        struct unseen_error error;
        const enum unseen_status status = open_as(&store, (enum unseen_store_mode)mode, &error);
        check(status == UNSEEN_ERR_FOREIGN, what, unseen_status_string(status));
        check(strstr(error.text, crash_path("s")), what, error.text);
        (void)unseen_store_close(store, NULL);
    }
    struct unseen_error error;
    check(unseen_store_verify(crash_path("s"), NULL, NULL, NULL, &error) == UNSEEN_ERR_FOREIGN,
          what, "verify takes it");
    check(unseen_store_repair(crash_path("s"), NULL, NULL, NULL, &error) == UNSEEN_ERR_FOREIGN,
          what, "repair takes it");
}

static void something_else(void)
{
    static const char text[] = "http://a.example/\n";
    size_t len = 0;
    crash_clear();
    crash_write(crash_path("s"), text, sizeof(text) - 1);
    try_foreign("a text", UNSEEN_STORE_CREATE);
    char *after = crash_read(crash_path("s"), &len);
    check(len == sizeof(text) - 1 && memcmp(after, text, len) == 0, "a text", "was changed");
    free(after);
    crash_write(crash_path("s"), "", 0);
    try_foreign("an empty file", UNSEEN_STORE_WRITE);
    struct unseen_store *store = NULL;
    struct unseen_error error;
    check(open_as(&store, UNSEEN_STORE_CREATE, &error) == UNSEEN_OK, "an empty file",
          "does not become a store");
    check(unseen_store_close(store, &error) == UNSEEN_OK, "an empty file", "cannot be closed");
    crash_clear();
    crash_require(mkfifo(crash_path("s"), 0600) == 0, "mkfifo");
    try_foreign("a fifo", UNSEEN_STORE_CREATE);
    crash_clear();
    crash_require(symlink("/dev/null", crash_path("s")) == 0, "symlink");
    try_foreign("/dev/null", UNSEEN_STORE_CREATE);
    crash_clear();
    crash_require(symlink("/", crash_path("s")) == 0, "symlink");
    try_foreign("a folder", UNSEEN_STORE_CREATE);
}

int main(int argc, char **argv)
{
    const char *plant = argc > 1 ? argv[1] : NULL;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    crash_require(shared != MAP_FAILED, "mmap");
    const char *only = getenv("UNSEEN_CRASH_ONLY");
    if (!only || strcmp(only, "window") != 0) {
        readers_during_writes(plant != NULL);
    }
    if (!plant || only) {
        batch = BATCH_WINDOW;
        pair_window = (uint64_t)(NLIVE - 1) * PAIR_STEP;
        readers_during_writes(plant != NULL);
        pair_window = 0;
    }
    if (plant) {
        return crash_status(plant, shared->nwrong);
    }
    second_writer();
    read_only_folder();
    newer_versions();
    something_else();
    printf("%llu checks beside, %llu failed\n", (unsigned long long)nchecks,
           (unsigned long long)shared->nwrong);
    return crash_status(NULL, shared->nwrong);
}
