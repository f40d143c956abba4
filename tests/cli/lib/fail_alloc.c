/* SPDX-License-Identifier: MIT
 *
 * Preloaded: lets the allocation number FAIL_AT fail (with FAIL_ON=after: and all later ones),
 * wherever it comes from, and leaves the file FAIL_MARK when it has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAIL_AT");
    const char *on = getenv("FAIL_ON");
    fail_at = at ? atol(at) : 0;
    all_later = on && strcmp(on, "after") == 0;
    started = 1;
}

static int fails(void)
{
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
