/* SPDX-License-Identifier: MIT
 *
 * Preloaded: lets the allocation number FAIL_AT fail (with FAIL_ON=after: and all later ones),
 * wherever it comes from, and leaves the file FAIL_MARK when it has.
 *
 * FAIL_CENSUS=FILE: lists all allocations in the file instead, one on a line: its number, and how
 * often its call stack had allocated before. Allocations with the same stack are the same statement
 * of the program on the same way there, so that few of them have to fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t align, size_t size);

static int started;
static int all_later;
static long fail_at;
static long count;

/* ---- the census ---- */

enum {
    DEPTH = 24,
    STACKS = 1 << 14 /* a power of two */
};

static struct {
    uint64_t hash; /* 0: free */
    unsigned n;
} stacks[STACKS];
static int census = -1;
static __thread int in_census;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t stack_hash(void)
{
    void *frames[DEPTH];
    const int n = backtrace(frames, DEPTH);
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++) {
        hash = (hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash | 1;
}

static void note(void)
{
    char line[48];
    if (in_census) {
        return;
    }
    in_census = 1; /* backtrace may allocate */
    const uint64_t hash = stack_hash();
    pthread_mutex_lock(&lock);
    size_t i = hash & (STACKS - 1);
    for (size_t tries = 0; stacks[i].hash != 0 && stacks[i].hash != hash && tries < STACKS;
         tries++) {
        i = (i + 1) & (STACKS - 1);
    }
    stacks[i].hash = hash;
    const int len = snprintf(line, sizeof(line), "%ld %u\n", ++count, stacks[i].n++);
    if (write(census, line, (size_t)len) != len) {
        abort();
    }
    pthread_mutex_unlock(&lock);
    in_census = 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAIL_AT");
    const char *on = getenv("FAIL_ON");
    const char *list = getenv("FAIL_CENSUS");
    fail_at = at ? atol(at) : 0;
    all_later = on && strcmp(on, "after") == 0;
    if (list) {
        void *frame;
        census = open(list, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        (void)backtrace(&frame, 1); /* it loads a library at its first call */
    }
    started = 1;
}

static int fails(void)
{
    if (started && census >= 0) {
        note();
        return 0;
    }
    if (!started || fail_at <= 0) {
        return 0;
    }
    long n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (n != fail_at && !(all_later && n > fail_at)) {
        return 0;
    }
    const char *mark = getenv("FAIL_MARK");
    if (n == fail_at && mark) {
        close(open(mark, O_WRONLY | O_CREAT, 0666));
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __libc_realloc(ptr, size);
}

int posix_memalign(void **ptr, size_t align, size_t size)
{
    void *p = fails() ? NULL : __libc_memalign(align, size);
    if (!p) {
        return ENOMEM;
    }
    *ptr = p;
    return 0;
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __libc_memalign(align, size);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    }
    if ((flags & MAP_ANONYMOUS) && fails()) {
        return MAP_FAILED;
    }
    return real(addr, len, prot, flags, fd, offset);
}
