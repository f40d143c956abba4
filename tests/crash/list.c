/* SPDX-License-Identifier: MIT
 *
 * Building a list in place of an older one, with interruptions. Wherever a build is interrupted,
 * the name has the older list or the new one, whole; and the next build makes the new one, byte for
 * byte, and leaves nothing else:
 *
 *     kill     at random times, again and again until a build comes through
 *     call     at each call that changes the disk: killed before it, or after half of a write; or
 *              the call fails (EIO, ENOSPC; a sync that fails loses what was not synced), or is
 *              interrupted or does half (EINTR, SHORT), which must not show
 *     power    at each such call the power fails: of what no sync has covered, bytes and names, any
 *              part is undone; then it fails once more in the build after that
 *
 *     crash_list [PLANT]
 *
 * The library's calls come here first (ld --wrap). Plants, each of which must be noticed:
 * `in-place` (the list is written under its own name), `lost-write` (a write of the list
 * reports success and does nothing), `lost-rename` (the rename of the list does so),
 * `no-list-sync` and `no-dir-sync` (the sync of the list, and of its folder, does nothing). */
#include "crash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <unseen_list.h>

enum {
    KILLS_CI = 60,
    NKEYS_KILLED = 900000, /* when killed at random times; some of the keys go to a file */
    NKEYS = 24000,
    NKEYS_OLD = 5000,
    BATCH = 500,
    SECTOR = 512,
    OPS_MAX = 4096,
    FILES_MAX = 256,
    EXIT_ERROR = 2,
    SHOWN = 10
};

/* ---- The disk, as the library's calls come by ------------------------------------------------ */

enum action {
    NOTHING,
    KILL,      /* instead of the call */
    KILL_HALF, /* after half of it, if it is a write */
    FAIL_EIO,
    FAIL_ENOSPC,
    INTERRUPT,
    SHORT,
    POWER_CUT
};

static const char *const action_names[] = {"nothing", "kill",  "kill half", "EIO",
                                           "ENOSPC",  "EINTR", "short",     "power cut"};

enum op_kind {
    OP_BYTES,
    OP_CREATE,
    OP_RENAME,
    OP_UNLINK
};

/* What a call did and no sync has covered: bytes of a file (write, cut), or a name. */
struct op {
    enum op_kind kind;
    size_t file; /* of bytes */
    uint64_t at;
    char *old; /* bytes that were there, or of the file that lost its name; NULL: there was none */
    size_t old_len;
    size_t len;                /* that were written; what is beyond old_len was not there */
    char from[CRASH_PATH_MAX]; /* the name; of a rename, the first */
    char to[CRASH_PATH_MAX];
};

struct file {
    ino_t inode;
    int shadow; /* a descriptor of ours */
    bool is_list;
};

static struct {
    bool on; /* in a child */
    enum action action;
    unsigned long at; /* the call at which it is done, from 1; 0: none */
    const char *plant;
    uint64_t random;
    struct op ops[OPS_MAX];
    size_t nops;
    struct file files[FILES_MAX];
    size_t nfiles;
} disk;

static char list_path[CRASH_PATH_MAX];

/* What a child says to its parent. */
static struct {
    unsigned long ncalls; /* seen */
    bool done;            /* the list was said to be finished */
} * seen;

int __real_openat64(int folder, const char *name, int flags, mode_t mode);
ssize_t __real_pwrite64(int fd, const void *data, size_t len, off_t at);
int __real_fdatasync(int fd);
int __real_fsync(int fd);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_openat64(int folder, const char *name, int flags, ...);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_unlinkat(int folder, const char *name, int flags);

static bool planted(const char *what)
{
    return disk.plant && strcmp(disk.plant, what) == 0;
}

/* The file behind a descriptor; FILES_MAX if it is none of the build's. */
static size_t file_of(int fd)
{
    struct stat st;
    size_t i = 0;
    crash_require(fstat(fd, &st) == 0, "fstat");
    while (i < disk.nfiles && disk.files[i].inode != st.st_ino) {
        i++;
    }
    return i < disk.nfiles ? i : FILES_MAX;
}

static struct op *new_op(void)
{
    crash_require(disk.nops < OPS_MAX, "fewer calls without a sync");
    struct op *op = &disk.ops[disk.nops++];
    *op = (struct op){0};
    return op;
}

/* Remembers len bytes of a file from `at` on that are about to change. */
static void note_bytes(size_t file, uint64_t at, size_t len)
{
    struct op *op = new_op();
    op->kind = OP_BYTES;
    op->file = file;
    op->at = at;
    op->len = len;
    op->old = malloc(len + 1);
    const ssize_t n = op->old ? pread(disk.files[file].shadow, op->old, len, (off_t)at) : -1;
    crash_require(n >= 0, "pread");
    op->old_len = (size_t)n;
}

/* Remembers a name that is about to change, with what the file has that loses it. */
static void note_name(enum op_kind kind, const char *from, const char *to)
{
    struct op *op = new_op();
    op->kind = kind;
    snprintf(op->from, sizeof(op->from), "%s", from);
    snprintf(op->to, sizeof(op->to), "%s", to);
    op->old = kind == OP_CREATE ? NULL : crash_read(kind == OP_RENAME ? to : from, &op->old_len);
}

static void restore_file(const char *path, const struct op *op)
{
    (void)unlink(path); /* another inode: the old one may still be open */
    if (op->old) {
        crash_write(path, op->old, op->old_len);
    }
}

/* Puts back bytes: all of them, or those of some sectors. */
static void undo_bytes(const struct op *op)
{
    const int fd = disk.files[op->file].shadow;
    const bool torn = crash_random(&disk.random) % 3 == 0;
    for (size_t at = 0; at < op->len;) {
        size_t n = SECTOR - (op->at + at) % SECTOR;
        n = n < op->len - at ? n : op->len - at;
        if (!torn || crash_random(&disk.random) % 2) {
            char sector[SECTOR] = {0};
            const size_t there = op->old_len > at ? op->old_len - at : 0;
            memcpy(sector, op->old + at, there < n ? there : n);
            crash_require(__real_pwrite64(fd, sector, n, (off_t)(op->at + at)) == (ssize_t)n,
                          "pwrite");
        }
        at += n;
    }
}

static void undo(const struct op *op)
{
    switch (op->kind) {
    case OP_BYTES:
        undo_bytes(op);
        break;
    case OP_CREATE:
        (void)unlink(op->from); /* unless it has another name by now */
        break;
    case OP_RENAME:
        if (rename(op->to, op->from) == 0) {
            restore_file(op->to, op);
        }
        break;
    case OP_UNLINK:
        restore_file(op->from, op);
        break;
    }
}

/* The power fails: undoes any part of what was not synced, in one of three cases all of it. */
static void cut_power(void)
{
    const bool all = crash_random(&disk.random) % 3 == 0;
    while (disk.nops > 0) {
        const struct op *op = &disk.ops[--disk.nops];
        if (all || crash_random(&disk.random) % 2) {
            undo(op);
        }
    }
    (void)kill(getpid(), SIGKILL);
}

/* A sync has covered these. */
static void settle(bool names, size_t file)
{
    size_t n = 0;
    for (size_t i = 0; i < disk.nops; i++) {
        const bool is_name = disk.ops[i].kind != OP_BYTES;
        if (is_name ? names : !names && disk.ops[i].file == file) {
            free(disk.ops[i].old);
        } else {
            disk.ops[n++] = disk.ops[i];
        }
    }
    disk.nops = n;
}

/* A sync has failed: what it should have covered is lost. */
static void lose(size_t file)
{
    for (size_t i = disk.nops; i-- > 0;) {
        if (disk.ops[i].kind == OP_BYTES && disk.ops[i].file == file) {
            undo_bytes(&disk.ops[i]);
        }
    }
    settle(false, file);
}

/* Counts a call, and ends the process there if that is wanted. Otherwise what is to become of
 * it. */
static enum action next_call(void)
{
    if (++seen->ncalls != disk.at) {
        return NOTHING;
    }
    if (disk.action == KILL) {
        (void)kill(getpid(), SIGKILL);
    }
    if (disk.action == POWER_CUT) {
        cut_power();
    }
    return disk.action;
}

/* Whether the call is to fail; errno is set. */
static bool fails(enum action action)
{
    errno = action == FAIL_EIO ? EIO : action == FAIL_ENOSPC ? ENOSPC : EINTR;
    return action == FAIL_EIO || action == FAIL_ENOSPC || action == INTERRUPT;
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* The keys go to a file that loses its name at once: a power cut leaves nothing of it. */
static bool is_keys(const char *path)
{
    return strstr(path, ".spill") != NULL;
}

static void track(int fd, const char *path)
{
    struct stat st;
    crash_require(disk.nfiles < FILES_MAX && fstat(fd, &st) == 0, "fewer files");
    const int shadow = open(path, O_RDWR | O_CLOEXEC);
    crash_require(shadow >= 0, "open");
    disk.files[disk.nfiles++] =
        (struct file){.inode = st.st_ino, .shadow = shadow, .is_list = !is_keys(path)};
}

/* The path of a name in an open folder. */
static const char *path_in(int folder, const char *name, char path[CRASH_PATH_MAX])
{
    char link[64];
    if (folder == AT_FDCWD || name[0] == '/') {
        return name;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    const ssize_t n = readlink(link, path, CRASH_PATH_MAX);
    const size_t name_len = strlen(name);
    crash_require(n > 0 && (size_t)n + name_len + 2 <= CRASH_PATH_MAX, "readlink");
    path[n] = '/';
    memcpy(path + n + 1, name, name_len + 1);
    return path;
}

int __wrap_openat64(int folder, const char *name, int flags, ...)
{
    char buf[CRASH_PATH_MAX];
    va_list args;
    va_start(args, flags);
    const mode_t mode = va_arg(args, mode_t);
    va_end(args);
    if (!disk.on || !(flags & (O_RDWR | O_WRONLY))) {
        return __real_openat64(folder, name, flags, mode);
    }
    const char *path = path_in(folder, name, buf);
    const bool is_new = !crash_exists(path);
    if (fails(next_call())) {
        return -1;
    }
    if (is_new && flags & O_CREAT && !is_keys(path)) {
        note_name(OP_CREATE, path, "");
    }
    const int fd = __real_openat64(folder, name, flags, mode);
    if (fd >= 0 && file_of(fd) == FILES_MAX) {
        track(fd, path);
    }
    if (fd >= 0 && planted("in-place") && !is_keys(path)) {
        crash_require(rename(path, list_path) == 0, "rename");
    }
    return fd;
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at)
{
    const size_t file = disk.on ? file_of(fd) : FILES_MAX;
    if (file == FILES_MAX) {
        return __real_pwrite64(fd, data, len, at);
    }
    const enum action action = next_call();
    if (fails(action)) {
        return -1;
    }
    if (planted("lost-write") && disk.files[file].is_list && crash_random(&disk.random) % 20 == 0) {
        return (ssize_t)len;
    }
    const bool half = len > 1 && (action == KILL_HALF || action == SHORT);
    len = half ? len / 2 : len;
    if (disk.files[file].is_list) {
        note_bytes(file, (uint64_t)at, len);
    }
    const ssize_t n = __real_pwrite64(fd, data, len, at);
    if (action == KILL_HALF) {
        (void)kill(getpid(), SIGKILL);
    }
    return n;
}

int __wrap_fdatasync(int fd)
{
    const size_t file = disk.on ? file_of(fd) : FILES_MAX;
    if (file == FILES_MAX) {
        return __real_fdatasync(fd);
    }
    const enum action action = next_call();
    if (fails(action)) {
        if (action != INTERRUPT) {
            lose(file);
        }
        return -1;
    }
    if (!planted("no-list-sync")) {
        settle(false, file);
    }
    return 0;
}

/* Of a folder. */
int __wrap_fsync(int fd)
{
    if (!disk.on) {
        return __real_fsync(fd);
    }
    if (fails(next_call())) {
        return -1;
    }
    if (!planted("no-dir-sync")) {
        settle(true, 0);
    }
    return 0;
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    char from_buf[CRASH_PATH_MAX];
    char to_buf[CRASH_PATH_MAX];
    if (disk.on) {
        const enum action action = next_call();
        if (action != INTERRUPT && fails(action)) {
            return -1;
        }
        if (planted("lost-rename") || planted("in-place")) {
            return 0;
        }
        note_name(OP_RENAME, path_in(from_folder, from, from_buf), path_in(to_folder, to, to_buf));
    }
    return __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
    char buf[CRASH_PATH_MAX];
    const char *path = disk.on ? path_in(folder, name, buf) : name;
    if (disk.on && crash_exists(path)) {
        const enum action action = next_call();
        if (action != INTERRUPT && fails(action)) {
            return -1;
        }
        if (!is_keys(path)) {
            note_name(OP_UNLINK, path, "");
        }
    }
    return __real_unlinkat(folder, name, flags);
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Few of the parts have keys, so that there are few calls, or all have. */
static uint64_t key(uint64_t number, bool everywhere)
{
    uint64_t state = number;
    const uint64_t random = crash_random(&state);
    return everywhere ? random : random & ~(UINT64_C(0x7f) << 54);
}

struct job {
    uint64_t n;
    bool everywhere;
};

static enum unseen_status add(struct unseen_list_build *b, const struct job *job,
                              struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    for (uint64_t at = 0; at < job->n && status == UNSEEN_OK;) {
        uint64_t keys[BATCH];
        size_t n = 0;
        while (n < BATCH && at < job->n) {
            keys[n++] = key(at++, job->everywhere);
        }
        status = unseen_list_build_add_keys(b, keys, n, error);
    }
    return status;
}

static enum unseen_status build(const struct job *job, struct unseen_error *error)
{
    const uint64_t seed = 5;
    struct unseen_list_build *b = NULL;
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .memory = 1 << 20,
                                                      .threads = job->everywhere ? 2 : 1,
                                                      .seed = &seed,
                                                      .seed_len = sizeof(seed)};
    enum unseen_status status = unseen_list_build_create(&b, list_path, &options, error);
    if (status == UNSEEN_OK) {
        status = add(b, job, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen_list_build_finish(b, NULL, NULL, error);
    }
    unseen_list_build_free(b);
    return status;
}

enum outcome {
    DONE,
    KILLED,
    ERROR
};

static pid_t start(const struct job *job, enum action action, unsigned long at, uint64_t random)
{
    seen->ncalls = 0;
    seen->done = false;
    const pid_t pid = fork();
    crash_require(pid >= 0, "fork");
    if (pid == 0) {
        struct unseen_error error = {.text = ""};
        disk.on = !job->everywhere; /* with several threads, calls are not in order */
        disk.action = action;
        disk.at = at;
        disk.random = random;
        const enum unseen_status status = build(job, &error);
        crash_write(crash_path("_error"), error.text, strlen(error.text));
        seen->done = status == UNSEEN_OK;
        if (action == POWER_CUT) {
            cut_power();
        }
        _exit(status == UNSEEN_OK ? 0 : EXIT_ERROR);
    }
    return pid;
}

static enum outcome wait_for(pid_t pid)
{
    int status = 0;
    crash_require(waitpid(pid, &status, 0) == pid, "waitpid");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        return KILLED;
    }
    crash_require(WIFEXITED(status) &&
                      (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == EXIT_ERROR),
                  "a run that does not crash");
    return WEXITSTATUS(status) == 0 ? DONE : ERROR;
}

/* ---- What must hold -------------------------------------------------------------------------- */

struct whole {
    char *bytes;
    size_t len;
};

static struct {
    const char *plant;
    struct whole old;  /* the list that is there before */
    struct whole made; /* the list as it must be */
    unsigned long nkills;
    unsigned long ncases;
    unsigned long nwrong;
} result;

static void complain(const char *what, enum action action, unsigned long at)
{
    if (result.nwrong++ < SHOWN && !result.plant) {
        size_t len = 0;
        char *text = crash_read(crash_path("_error"), &len);
        fprintf(stderr, "%s at call %lu: %s: %.*s\n", action_names[action], at, what, (int)len,
                text ? text : "");
        free(text);
    }
}

static bool is_list(const struct whole *list)
{
    size_t len = 0;
    char *bytes = crash_read(list_path, &len);
    const bool is = bytes && len == list->len && memcmp(bytes, list->bytes, len) == 0;
    free(bytes);
    return is;
}

/* After an interruption: the old list or the new one, and the new one if it was said to be
 * there. */
static void check_interrupted(enum action action, unsigned long at)
{
    if (!is_list(&result.made) && (seen->done || !is_list(&result.old))) {
        complain(seen->done ? "it said that it was done" : "neither list", action, at);
    }
}

/* The new list is there, and nothing else is left. */
static void check_made(enum action action, unsigned long at)
{
    result.ncases++;
    if (!is_list(&result.made)) {
        complain("not the new list", action, at);
    } else if (crash_exists(crash_path("a.list.new"))) {
        complain("something is left", action, at);
    }
    crash_clear();
}

static void put_old(void)
{
    crash_write(list_path, result.old.bytes, result.old.len);
}

static void make_whole(const struct job *job, struct whole *list)
{
    struct unseen_error error = {.text = ""};
    free(list->bytes);
    if (build(job, &error) != UNSEEN_OK) {
        crash_die("%s", error.text);
    }
    list->bytes = crash_read(list_path, &list->len);
    crash_clear();
}

static void make_lists(const struct job *job)
{
    const struct job old = {NKEYS_OLD, true};
    make_whole(&old, &result.old);
    make_whole(job, &result.made);
}

/* ---- Kills at random times ------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    crash_require(clock_gettime(CLOCK_MONOTONIC, &t) == 0, "clock_gettime");
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_kills(uint64_t *random)
{
    const struct job job = {NKEYS_KILLED, true};
    const unsigned long nkills = crash_scaled(KILLS_CI);
    make_lists(&job);
    const double begin = now();
    enum outcome outcome = wait_for(start(&job, NOTHING, 0, 0));
    const double length = now() - begin;
    if (outcome != DONE) {
        complain("failed undisturbed", NOTHING, 0);
    }
    check_made(NOTHING, 0);
    while (result.nkills < nkills && !(result.plant && result.nwrong)) {
        put_old();
        do {
            const pid_t pid = start(&job, NOTHING, 0, crash_random(random));
            const double wait = (double)(crash_random(random) % 1000) / 1000 * length;
            const struct timespec time = {(time_t)wait,
                                          (long)((wait - (double)(time_t)wait) * 1e9)};
            (void)nanosleep(&time, NULL);
            (void)kill(pid, SIGKILL);
            outcome = wait_for(pid);
            result.nkills += outcome == KILLED;
            check_interrupted(KILL, 0);
        } while (outcome == KILLED && crash_random(random) % 4 > 0);
        if (outcome == KILLED) {
            outcome = wait_for(start(&job, NOTHING, 0, 0));
        }
        if (outcome == ERROR) {
            complain("failed after a kill", KILL, 0);
        }
        check_made(KILL, 0);
    }
}

/* ---- At each call ---------------------------------------------------------------------------- */

/* Runs until the list is there; at its first call number `again` the power fails once more. */
static void recover(const struct job *job, enum action action, unsigned long at,
                    unsigned long again, uint64_t random)
{
    enum outcome outcome = wait_for(start(job, again ? POWER_CUT : NOTHING, again, random));
    check_interrupted(action, at);
    if (outcome == KILLED) {
        outcome = wait_for(start(job, NOTHING, 0, random));
    }
    if (outcome != DONE) {
        complain("the next build fails", action, at);
    }
    check_made(action, at);
}

static void test_calls(uint64_t *random)
{
    const struct job job = {NKEYS, false};
    make_lists(&job);
    put_old();
    if (wait_for(start(&job, NOTHING, 0, 0)) != DONE) {
        complain("failed undisturbed", NOTHING, 0);
    }
    const unsigned long total = seen->ncalls + 1; /* the last one is after the end */
    check_made(NOTHING, 0);
    crash_require(total > 50, "the library's calls of the disk");
    for (enum action action = KILL; action <= POWER_CUT; action++) {
        const unsigned long nseeds = action == POWER_CUT ? crash_scaled(4) : 1;
        for (unsigned long i = 0; i < total * nseeds && !(result.plant && result.nwrong); i++) {
            const unsigned long at = i % total + 1;
            const bool transparent = action == INTERRUPT || action == SHORT;
            put_old();
            const enum outcome outcome = wait_for(start(&job, action, at, crash_random(random)));
            if (transparent && outcome != DONE) {
                complain("shows", action, at);
            }
            check_interrupted(action, at);
            const unsigned long again = action == POWER_CUT && i >= total
                                            ? 1 + (unsigned long)(crash_random(random) % total)
                                            : 0;
            recover(&job, action, at, again, crash_random(random));
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t random = crash_setting("UNSEEN_CRASH_SEED", 1);
    const uint64_t seed = random;
    result.plant = argc > 1 ? argv[1] : NULL;
    disk.plant = result.plant;
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    crash_require(seen != MAP_FAILED, "mmap");
    snprintf(list_path, sizeof(list_path), "%s", crash_path("a.list"));
    if (!result.plant) {
        test_kills(&random);
    }
    test_calls(&random);
    printf("list: %lu kills, %lu lists made in spite of interruptions, %lu wrong, seed %llu\n",
           result.nkills, result.ncases, result.nwrong, (unsigned long long)seed);
    return crash_status(result.plant, result.nwrong);
}
