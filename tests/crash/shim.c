/* SPDX-License-Identifier: MIT
 *
 * Stands between the tool and the C library (LD_PRELOAD): records what the tool does to the disk,
 * makes one chosen call fail, and plants faults that a harness must notice. The library under test
 * knows nothing of it. trace.h has the interface.
 *
 * Kinds of a fault: EIO, ENOSPC and EINTR (the call fails with it), SHORT (half of the bytes are
 * read or written), KILL (the call is done, of a write one half, and then the process dies), DIE
 * (the process dies in place of the call). A sync that fails with EIO also loses what was not
 * synced: a kernel drops the pages it could not write, and a second sync of them succeeds. LOST (of
 * a sync) is EIO from a kernel that keeps these pages to be read, as most do, and never writes
 * them.
 *
 * Plants: no-output-sync, no-log-sync, no-leases-sync, no-new-leases-sync (of the file that is to
 * be the leases), no-dir-sync (such a sync does nothing), no-lease-marks (the head of the
 * leases does not say how much of them is on the disk), no-head-sync (of the log behind a write to
 * its header), far-punch (a hole in the log goes a block beyond its head), by-name (a symbolic link
 * leads to no other name), no-rename (a new log does not take its name), no-output-cut (the output
 * file is not cut, but written on at its end), persist-first (what is written to the output arrives
 * there after the next sync of the log only), swallow-errors (a write or sync that is made to fail
 * reports success), swallow-full (a write that finds no space reports success).
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace.h"

enum {
    FDS_MAX = 256,
    HEADERS_LEN = 16384,
    HEAD_AT = 144, /* in the header: where the log begins */
    BLOCK = 4096
};

enum role {
    ROLE_NONE = 0, /* not in the folder */
    ROLE_LOG,
    ROLE_LEASES,
    ROLE_NEW_LEASES,
    ROLE_OUTPUT,
    ROLE_DIR,
    ROLE_OTHER,
    ROLE_INPUT /* the harness's own: faults, but no trace */
};

struct tracked {
    enum role role;
    bool append;
    bool wrote_header; /* the last write to the log */
    off_t synced_len;
    char name[64];
};

static struct {
    int (*openat)(int, const char *, int, ...);
    int (*close)(int);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*pread)(int, void *, size_t, off_t);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    int (*ftruncate)(int, off_t);
    int (*fallocate)(int, int, off_t, off_t);
    int (*fsync)(int);
    int (*fdatasync)(int);
    int (*renameat)(int, const char *, int, const char *);
    int (*linkat)(int, const char *, int, const char *, int);
    int (*unlinkat)(int, const char *, int);
    char *(*realpath)(const char *, char *);
    int (*flock)(int, int);
    int (*fstat)(int, struct stat *);
    off_t (*lseek)(int, off_t, int);
    int (*getentropy)(void *, size_t);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
} real;

static struct {
    bool ready;
    char dir[PATH_MAX];
    size_t dir_len;
    int trace_fd;
    useconds_t slow;
    unsigned long ncalls;
    unsigned long fault_at;
    char fault_call[16]; /* if not empty, only such calls count, ... */
    char fault_name[48]; /* ... on this file */
    const char *fault;
    const char *report;
    const char *plant;
    char *held; /* output that has not arrived yet (persist-first) */
    size_t held_len;
    struct tracked fds[FDS_MAX];
} shim = {.trace_fd = -1};

/* One call at a time: the order of the trace is the order of the calls. Not held in a sync. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what)
{
    static const char head[] = "shim: ";
    if (real.write(STDERR_FILENO, head, sizeof(head) - 1) >= 0 &&
        real.write(STDERR_FILENO, what, strlen(what)) >= 0) {
        (void)real.write(STDERR_FILENO, "\n", 1);
    }
    _exit(99);
}

static bool planted(const char *what)
{
    return shim.plant && strcmp(shim.plant, what) == 0;
}

/* The name inside the folder; NULL for what is elsewhere. */
static const char *inside(const char *path)
{
    if (shim.dir_len == 0 || strncmp(path, shim.dir, shim.dir_len) != 0) {
        return NULL;
    }
    if (path[shim.dir_len] == 0) {
        return ".";
    }
    return path[shim.dir_len] == '/' ? path + shim.dir_len + 1 : NULL;
}

static enum role role_of(const char *name)
{
    if (strcmp(name, "s.leases") == 0 || strcmp(name, "s.leases.new") == 0) {
        return name[strlen("s.leases")] ? ROLE_NEW_LEASES : ROLE_LEASES;
    }
    if (strcmp(name, "s") == 0 || (strstr(name, "new") && !strstr(name, "image"))) {
        return ROLE_LOG; /* or one in the making */
    }
    if (strcmp(name, "out") == 0) {
        return ROLE_OUTPUT;
    }
    return strcmp(name, ".") == 0 ? ROLE_DIR : name[0] == '_' ? ROLE_INPUT : ROLE_OTHER;
}

static const char *absolute(int dirfd, const char *path, char buf[static 2 * PATH_MAX])
{
    if (path[0] == '/') {
        return path;
    }
    char link[64];
    snprintf(link, sizeof(link), dirfd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dirfd);
    ssize_t n = readlink(link, buf, PATH_MAX);
    if (n < 0) {
        return path;
    }
    snprintf(buf + n, PATH_MAX, "/%s", path);
    return strcmp(path, ".") == 0 ? (buf[n] = 0, buf) : buf;
}

/* ---- Trace ----------------------------------------------------------------------------------- */

/* In one call: a harness may append to the trace, too. */
static void put(struct iovec *pieces, int n)
{
    size_t len = 0;
    for (int i = 0; i < n; i++) {
        len += pieces[i].iov_len;
    }
    if (writev(shim.trace_fd, pieces, n) != (ssize_t)len) {
        die("cannot write the trace");
    }
}

static void trace(enum trace_kind kind, int fd, uint64_t at, const char *name, const char *name2,
                  const void *data, size_t len, uint32_t value)
{
    if (shim.trace_fd < 0) {
        return;
    }
    struct trace_op op = {.kind = kind,
                          .fd = fd,
                          .pid = getpid(),
                          .at = at,
                          .len = len,
                          .value = value,
                          .name_len = (uint16_t)strlen(name),
                          .name2_len = (uint16_t)strlen(name2)};
    put((struct iovec[]){{&op, sizeof(op)},
                         {(char *)(uintptr_t)name, op.name_len},
                         {(char *)(uintptr_t)name2, op.name2_len},
                         {(void *)(uintptr_t)data, len}},
        4);
}

/* ---- Start and end --------------------------------------------------------------------------- */

static void track(int fd, const char *name, int flags)
{
    if (fd < 0 || fd >= FDS_MAX || strlen(name) >= sizeof(shim.fds[0].name)) {
        die("a descriptor or a name beyond what the shim keeps");
    }
    struct tracked *t = &shim.fds[fd];
    struct stat st;
    t->role = role_of(name);
    t->append = (flags & O_APPEND) != 0;
    t->wrote_header = false;
    t->synced_len = real.fstat(fd, &st) == 0 ? st.st_size : 0;
    snprintf(t->name, sizeof(t->name), "%s", name);
    if (t->role != ROLE_INPUT) {
        trace(TRACE_OPEN, fd, 0, name, "", "", 0, (flags & O_TRUNC) != 0);
    }
}

static void inherit(int fd)
{
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n > 0) {
        path[n] = 0;
        const char *name = inside(path);
        if (name) {
            track(fd, name, fcntl(fd, F_GETFL));
        }
    }
}

static void start(void)
{
    if (shim.ready) {
        return;
    }
    shim.ready = true;
    *(void **)&real.openat = dlsym(RTLD_NEXT, "openat");
    *(void **)&real.close = dlsym(RTLD_NEXT, "close");
    *(void **)&real.read = dlsym(RTLD_NEXT, "read");
    *(void **)&real.pread = dlsym(RTLD_NEXT, "pread");
    *(void **)&real.write = dlsym(RTLD_NEXT, "write");
    *(void **)&real.pwrite = dlsym(RTLD_NEXT, "pwrite");
    *(void **)&real.ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    *(void **)&real.fallocate = dlsym(RTLD_NEXT, "fallocate");
    *(void **)&real.fsync = dlsym(RTLD_NEXT, "fsync");
    *(void **)&real.fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    *(void **)&real.renameat = dlsym(RTLD_NEXT, "renameat");
    *(void **)&real.linkat = dlsym(RTLD_NEXT, "linkat");
    *(void **)&real.unlinkat = dlsym(RTLD_NEXT, "unlinkat");
    *(void **)&real.realpath = dlsym(RTLD_NEXT, "realpath");
    *(void **)&real.flock = dlsym(RTLD_NEXT, "flock");
    *(void **)&real.fstat = dlsym(RTLD_NEXT, "fstat");
    *(void **)&real.lseek = dlsym(RTLD_NEXT, "lseek");
    *(void **)&real.getentropy = dlsym(RTLD_NEXT, "getentropy");
    *(void **)&real.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&real.mmap = dlsym(RTLD_NEXT, "mmap");
    const char *dir = getenv("UNSEEN_CRASH_DIR");
    const char *slow = getenv("UNSEEN_CRASH_SLOW");
    const char *trace_path = getenv("UNSEEN_CRASH_TRACE");
    const char *fault = getenv("UNSEEN_CRASH_FAULT");
    if (dir) {
        shim.dir_len = (size_t)snprintf(shim.dir, sizeof(shim.dir), "%s", dir);
    }
    shim.slow = slow ? (useconds_t)strtoul(slow, NULL, 10) : 0;
    shim.plant = getenv("UNSEEN_CRASH_PLANT");
    shim.report = getenv("UNSEEN_CRASH_REPORT");
    if (fault) {
        int len = 0;
        if (sscanf(fault, "%15[a-z] %47[^ ] %n", shim.fault_call, shim.fault_name, &len) == 2) {
            fault += len;
        }
        char *end;
        shim.fault_at = strtoul(fault, &end, 10);
        shim.fault = end + 1;
    }
    if (trace_path) {
        shim.trace_fd =
            real.openat(AT_FDCWD, trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (shim.trace_fd < 0) {
            die("cannot open the trace");
        }
    }
    inherit(STDIN_FILENO);
    inherit(STDOUT_FILENO);
}

__attribute__((constructor)) static void at_start(void)
{
    start();
}

static void arrive(void);

__attribute__((destructor)) static void at_end(void)
{
    arrive();
}

static struct tracked *tracked(int fd)
{
    start();
    return fd >= 0 && fd < FDS_MAX && shim.fds[fd].role != ROLE_NONE ? &shim.fds[fd] : NULL;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

enum fault {
    FAULT_NONE = 0,
    FAULT_ERROR, /* with errno */
    FAULT_SHORT,
    FAULT_KILL
};

/* What an errno may come from; "x" is any of them. */
static bool plausible(const char *call, const char *kind)
{
    if (strcmp(kind, "ENOSPC") == 0) {
        return strstr("open write pwrite ftruncate fallocate fsync fdatasync rename link", call) !=
               NULL;
    }
    if (strcmp(kind, "SHORT") == 0) {
        return strstr("read pread write pwrite", call) != NULL;
    }
    if (strcmp(kind, "LOST") == 0) {
        return strstr("fsync fdatasync", call) != NULL;
    }
    if (strcmp(kind, "EINTR") == 0) {
        return strstr(
                   "open read pread write pwrite ftruncate fallocate flock fsync fdatasync close",
                   call) != NULL;
    }
    return true;
}

__attribute__((noreturn)) static void die_here(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause();
    }
}

static bool fault_means(const char *call, const char *name)
{
    return !shim.fault_call[0] ||
           (strcmp(call, shim.fault_call) == 0 &&
            (strcmp(shim.fault_name, "*") == 0 || strcmp(name, shim.fault_name) == 0));
}

/* Counts a call; says what is to happen to it. Under the lock. */
static enum fault strike(const char *call, const char *name)
{
    if (!shim.fault || !fault_means(call, name) || ++shim.ncalls != shim.fault_at) {
        return FAULT_NONE;
    }
    const bool applies = plausible(call, shim.fault);
    if (shim.report) {
        char line[256];
        int n = snprintf(line, sizeof(line), "%s %s %s\n", applies ? shim.fault : "-", call, name);
        int fd = real.openat(AT_FDCWD, shim.report, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (fd < 0 || real.write(fd, line, (size_t)n) != n || real.close(fd) != 0) {
            die("cannot write the report");
        }
    }
    if (!applies) {
        return FAULT_NONE;
    }
    if (strcmp(shim.fault, "SHORT") == 0) {
        return FAULT_SHORT;
    }
    if (strcmp(shim.fault, "KILL") == 0) {
        return FAULT_KILL;
    }
    if (strcmp(shim.fault, "DIE") == 0) {
        die_here();
    }
    errno = strcmp(shim.fault, "ENOSPC") == 0  ? ENOSPC
            : strcmp(shim.fault, "EINTR") == 0 ? EINTR
                                               : EIO;
    return FAULT_ERROR;
}

static void killed(enum fault fault)
{
    if (fault == FAULT_KILL) {
        die_here();
    }
}

/* What a write that has returned done says, of n. */
static ssize_t reported(enum fault fault, ssize_t done, size_t n)
{
    if (fault != FAULT_NONE && planted("swallow-errors")) {
        return (ssize_t)n;
    }
    return done < 0 && errno == ENOSPC && planted("swallow-full") ? (ssize_t)n : done;
}

static bool swallowed(enum fault fault)
{
    return fault != FAULT_NONE && planted("swallow-errors");
}

static size_t part(enum fault fault, size_t n)
{
    return fault == FAULT_NONE || n < 2 ? n : n / 2;
}

/* The pages that a failed sync could not write are gone: they read as zeros. */
static void lose_unsynced(int fd, const struct tracked *t)
{
    static const char zeros[4096];
    struct stat st;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = t->role == ROLE_DIR ? -1 : real.openat(AT_FDCWD, path, O_WRONLY);
    if (again < 0 || real.fstat(again, &st) != 0) {
        return;
    }
    for (off_t at = t->synced_len; at < st.st_size; at += (off_t)sizeof(zeros)) {
        off_t rest = st.st_size - at;
        size_t n = rest < (off_t)sizeof(zeros) ? (size_t)rest : sizeof(zeros);
        if (real.pwrite(again, zeros, n, at) != (ssize_t)n) {
            die("cannot lose pages");
        }
    }
    (void)real.close(again);
}

/* ---- Output that is late (persist-first) ----------------------------------------------------- */

static void arrive(void)
{
    const char *p = shim.held;
    while (shim.held_len > 0) {
        ssize_t n = real.write(STDOUT_FILENO, p, shim.held_len);
        if (n < 0) {
            _exit(99);
        }
        if (tracked(STDOUT_FILENO)) {
            off_t end = real.lseek(STDOUT_FILENO, 0, SEEK_CUR);
            trace(TRACE_WRITE, STDOUT_FILENO, (uint64_t)(end - n), "", "", p, (size_t)n, 0);
        }
        p += n;
        shim.held_len -= (size_t)n;
    }
    free(shim.held);
    shim.held = NULL;
}

static ssize_t hold(const void *buf, size_t n)
{
    char *held = realloc(shim.held, shim.held_len + n + 1);
    if (!held) {
        die("out of memory");
    }
    memcpy(held + shim.held_len, buf, n);
    shim.held = held;
    shim.held_len += n;
    return (ssize_t)n;
}

/* ---- The calls ------------------------------------------------------------------------------- */

static int open_any(int dirfd, const char *path, int flags, mode_t mode)
{
    start();
    char buf[2 * PATH_MAX];
    const char *name = inside(absolute(dirfd, path, buf));
    if (!name) {
        return real.openat(dirfd, path, flags, mode);
    }
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        die("O_TMPFILE is not simulated");
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("open", name);
    int fd = fault == FAULT_ERROR ? -1 : real.openat(dirfd, path, flags, mode);
    if (fd >= 0) {
        track(fd, name, flags);
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int dirfd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_any(dirfd, path, flags, mode);
}

int openat64(int dirfd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_any(dirfd, path, flags, mode);
}

int close(int fd)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.close(fd);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("close", t->name);
    int saved = errno;
    if (t->role == ROLE_OUTPUT && fd == STDOUT_FILENO) {
        arrive();
    }
    if (t->role != ROLE_INPUT) {
        trace(TRACE_CLOSE, fd, 0, "", "", "", 0, 0);
    }
    t->role = ROLE_NONE;
    int rc = real.close(fd); /* a close that fails has closed, too */
    killed(fault);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return fault == FAULT_ERROR ? -1 : rc;
}

ssize_t read(int fd, void *buf, size_t n)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.read(fd, buf, n);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("read", t->name);
    ssize_t got = fault == FAULT_ERROR ? -1 : real.read(fd, buf, part(fault, n));
    killed(fault);
    pthread_mutex_unlock(&lock);
    return got;
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.pread(fd, buf, n, at);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("pread", t->name);
    ssize_t got = fault == FAULT_ERROR ? -1 : real.pread(fd, buf, part(fault, n), at);
    killed(fault);
    pthread_mutex_unlock(&lock);
    return got;
}

ssize_t pread64(int fd, void *buf, size_t n, off64_t at)
{
    return pread(fd, buf, n, at);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    struct tracked *t = tracked(fd);
    const bool late = fd == STDOUT_FILENO && planted("persist-first");
    if (!t && !late) {
        return real.write(fd, buf, n);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("write", t ? t->name : "out");
    ssize_t done = -1;
    if (late) {
        done = hold(buf, n);
    } else if (fault != FAULT_ERROR) {
        done = real.write(fd, buf, part(fault, n));
        off_t end = real.lseek(fd, 0, SEEK_CUR);
        if (done > 0) {
            trace(TRACE_WRITE, fd, (uint64_t)(end - done), "", "", buf, (size_t)done, 0);
        }
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return reported(fault, done, n);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.pwrite(fd, buf, n, at);
    }
    pthread_mutex_lock(&lock);
    if (t->append) {
        die("pwrite with O_APPEND is not simulated");
    }
    enum fault fault = strike("pwrite", t->name);
    if (planted("no-lease-marks") && n == 48 && at <= 48 &&
        (t->role == ROLE_LEASES || t->role == ROLE_NEW_LEASES)) {
        pthread_mutex_unlock(&lock);
        return (ssize_t)n;
    }
    ssize_t done = fault == FAULT_ERROR ? -1 : real.pwrite(fd, buf, part(fault, n), at);
    t->wrote_header = t->role == ROLE_LOG && at < HEADERS_LEN;
    if (done > 0) {
        trace(TRACE_WRITE, fd, (uint64_t)at, "", "", buf, (size_t)done, 0);
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return reported(fault, done, n);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
    return pwrite(fd, buf, n, at);
}

int ftruncate(int fd, off_t len)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.ftruncate(fd, len);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("ftruncate", t->name);
    int rc = -1;
    if (t->role == ROLE_OUTPUT && planted("no-output-cut")) {
        rc = 0;
    } else if (fault != FAULT_ERROR) {
        rc = real.ftruncate(fd, len);
        if (rc == 0) {
            trace(TRACE_TRUNCATE, fd, (uint64_t)len, "", "", "", 0, 0);
        }
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

int ftruncate64(int fd, off64_t len)
{
    return ftruncate(fd, len);
}

/* What a hole planted too far would take: a block behind the head, which is still read. */
static off_t far_punch(int fd, off_t at)
{
    uint64_t head = 0;
    if (real.pread(fd, &head, sizeof(head), HEAD_AT) != (ssize_t)sizeof(head)) {
        die("cannot read the head");
    }
    return (off_t)(head / BLOCK + 2) * BLOCK - at;
}

/* A hole is traced as zeros that are written. */
int fallocate(int fd, int mode, off_t at, off_t len)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.fallocate(fd, mode, at, len);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("fallocate", t->name);
    if (mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)) {
        die("fallocate for anything but holes is not simulated");
    }
    len = planted("far-punch") ? far_punch(fd, at) : len;
    int rc = fault == FAULT_ERROR ? -1 : real.fallocate(fd, mode, at, len);
    if (rc == 0) {
        void *zeros = calloc(1, (size_t)len);
        if (!zeros) {
            die("out of memory");
        }
        trace(TRACE_WRITE, fd, (uint64_t)at, "", "", zeros, (size_t)len, 1);
        free(zeros);
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

int fallocate64(int fd, int mode, off64_t at, off64_t len)
{
    return fallocate(fd, mode, at, len);
}

static bool sync_is_planted_away(const struct tracked *t)
{
    const enum role role = t->role;
    return (role == ROLE_OUTPUT && planted("no-output-sync")) ||
           (role == ROLE_LOG && planted("no-log-sync")) ||
           (t->wrote_header && t->synced_len > HEADERS_LEN && planted("no-head-sync")) ||
           (role == ROLE_LEASES && planted("no-leases-sync")) ||
           (role == ROLE_NEW_LEASES && planted("no-new-leases-sync")) ||
           (role == ROLE_DIR && planted("no-dir-sync"));
}

static int sync_any(int fd, const char *call, int (*sync)(int))
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return sync(fd);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike(call, t->name);
    const int saved = errno;
    struct stat st;
    off_t len = real.fstat(fd, &st) == 0 ? st.st_size : 0;
    if (fault == FAULT_ERROR && strcmp(shim.fault, "LOST") == 0) {
        trace(TRACE_LOST, fd, 0, "", "", "", 0, 0);
    } else if (fault == FAULT_ERROR && saved == EIO) {
        lose_unsynced(fd, t);
    }
    if (fault == FAULT_ERROR || sync_is_planted_away(t)) {
        pthread_mutex_unlock(&lock);
        errno = saved;
        return fault == FAULT_ERROR && !swallowed(fault) ? -1 : 0;
    }
    trace(TRACE_SYNC_BEGIN, fd, 0, "", "", "", 0, 0);
    pthread_mutex_unlock(&lock);
    if (shim.slow) {
        usleep(shim.slow);
    }
    int rc = sync(fd);
    pthread_mutex_lock(&lock);
    if (rc == 0) {
        t->synced_len = len;
        trace(TRACE_SYNC_END, fd, 0, "", "", "", 0, 0);
    }
    killed(fault);
    if (t->role == ROLE_LOG && shim.held_len > 0) {
        usleep(shim.slow);
        arrive();
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int fsync(int fd)
{
    start();
    return sync_any(fd, "fsync", real.fsync);
}

int fdatasync(int fd)
{
    start();
    return sync_any(fd, "fdatasync", real.fdatasync);
}

/* A call on one or two names, which are both in the folder or both elsewhere. */
static int names_any(enum trace_kind kind, int fd, const char *path, int fd2, const char *path2,
                     int flags)
{
    start();
    char buf[2 * PATH_MAX];
    char buf2[2 * PATH_MAX];
    const char *name = inside(absolute(fd, path, buf));
    const char *name2 = path2 ? inside(absolute(fd2, path2, buf2)) : "";
    static const char *const calls[] = {
        [TRACE_RENAME] = "rename", [TRACE_LINK] = "link", [TRACE_UNLINK] = "unlink"};
    pthread_mutex_lock(&lock);
    enum fault fault = name ? strike(calls[kind], name) : FAULT_NONE;
    int rc = -1;
    if (kind != TRACE_UNLINK && name && role_of(name) == ROLE_LOG && planted("no-rename")) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    if (fault != FAULT_ERROR) {
        rc = kind == TRACE_RENAME ? real.renameat(fd, path, fd2, path2)
             : kind == TRACE_LINK ? real.linkat(fd, path, fd2, path2, flags)
                                  : real.unlinkat(fd, path, flags);
    }
    if (rc == 0 && (name || (name2 && *name2))) {
        if (!name || !name2) {
            die("a name leaves the folder");
        }
        trace(kind, -1, 0, name, name2, "", 0, 0);
    }
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

int rename(const char *from, const char *to)
{
    return names_any(TRACE_RENAME, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int fromfd, const char *from, int tofd, const char *to)
{
    return names_any(TRACE_RENAME, fromfd, from, tofd, to, 0);
}

int link(const char *from, const char *to)
{
    return names_any(TRACE_LINK, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
    return names_any(TRACE_LINK, fromfd, from, tofd, to, flags);
}

int unlink(const char *path)
{
    return names_any(TRACE_UNLINK, AT_FDCWD, path, 0, NULL, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
    return names_any(TRACE_UNLINK, dirfd, path, 0, NULL, flags);
}

char *realpath(const char *path, char *resolved)
{
    start();
    if (!planted("by-name")) {
        return real.realpath(path, resolved);
    }
    return resolved ? strcpy(resolved, path) : strdup(path);
}

int flock(int fd, int operation)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.flock(fd, operation);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("flock", t->name);
    int rc = fault == FAULT_ERROR ? -1 : real.flock(fd, operation);
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

void *mmap(void *addr, size_t len, int protection, int flags, int fd, off_t at)
{
    if (tracked(fd) && (flags & MAP_SHARED) && (protection & PROT_WRITE)) {
        die("a writable shared mapping is not simulated");
    }
    return real.mmap(addr, len, protection, flags, fd, at);
}

int fstat(int fd, struct stat *st)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.fstat(fd, st);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("fstat", t->name);
    int rc = fault == FAULT_ERROR ? -1 : real.fstat(fd, st);
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* The same structure where off_t has 64 bits anyway. */
int fstat64(int fd, struct stat64 *st)
{
    _Static_assert(sizeof(struct stat) == sizeof(struct stat64), "a 64-bit system");
    return fstat(fd, (struct stat *)st);
}

off_t lseek(int fd, off_t at, int whence)
{
    struct tracked *t = tracked(fd);
    if (!t) {
        return real.lseek(fd, at, whence);
    }
    pthread_mutex_lock(&lock);
    enum fault fault = strike("lseek", t->name);
    if (t->role == ROLE_OUTPUT && planted("no-output-cut") && whence == SEEK_SET) {
        at = 0;
        whence = SEEK_END;
    }
    off_t rc = fault == FAULT_ERROR ? -1 : real.lseek(fd, at, whence);
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

off64_t lseek64(int fd, off64_t at, int whence)
{
    return lseek(fd, at, whence);
}

int getentropy(void *buf, size_t n)
{
    start();
    pthread_mutex_lock(&lock);
    enum fault fault = shim.dir_len ? strike("getentropy", "-") : FAULT_NONE;
    int rc = fault == FAULT_ERROR ? -1 : real.getentropy(buf, n);
    killed(fault);
    pthread_mutex_unlock(&lock);
    return rc;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
                   void *arg)
{
    start();
    pthread_mutex_lock(&lock);
    enum fault fault = shim.dir_len ? strike("pthread_create", "-") : FAULT_NONE;
    killed(fault);
    pthread_mutex_unlock(&lock);
    return fault == FAULT_ERROR ? EAGAIN : real.pthread_create(thread, attr, function, arg);
}
