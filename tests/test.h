/* SPDX-License-Identifier: MIT
 *
 * The test harness: checks that always count, a seeded generator, the SIMD level under test,
 * buffers that end at a guard page, and an allocator that fails on demand.
 *
 *     int main(void)
 *     {
 *         test_start();
 *         CHECK(1 + 1 == 2);
 *         return test_end();
 *     }
 */
#ifndef UNSEEN_TESTS_TEST_H
#define UNSEEN_TESTS_TEST_H

/* For mappings and guard pages; effective when this header comes first. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <unseen.h>

#include "one_item.h"

#include "base/cpu.h"

static unsigned long test_nchecks;
static unsigned long test_nfailed;
static unsigned long test_nskipped;
static enum unseen_cpu test_cpu;

/* Counts a check; prints the first 20 that fail. */
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)

/* The same, with the two numbers. */
#define CHECK_EQ(a, b) test_check_eq((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)

static inline bool test_check(bool ok, const char *file, int line, const char *what)
{
    __atomic_add_fetch(&test_nchecks, 1, __ATOMIC_RELAXED);
    if (!ok && __atomic_add_fetch(&test_nfailed, 1, __ATOMIC_RELAXED) <= 20) {
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
    return ok;
}

static inline bool test_check_eq(uint64_t a, uint64_t b, const char *file, int line,
                                 const char *what)
{
    if (a != b) {
        fprintf(stderr, "%s:%d: %llu and %llu: ", file, line, (unsigned long long)a,
                (unsigned long long)b);
    }
    return test_check(a == b, file, line, what);
}

/* Reads UNSEEN_CPU. If the processor lacks that level, ends the program as skipped (77). */
static inline void test_start(void)
{
    const char *name = getenv("UNSEEN_CPU");
    enum unseen_cpu request = UNSEEN_CPU_AUTO;
    if (name && unseen_cpu_parse(name, &request) != UNSEEN_OK) {
        fprintf(stderr, "UNSEEN_CPU=%s: no such level\n", name);
        exit(2);
    }
    if (unseen__cpu_select(request, &test_cpu, NULL) != UNSEEN_OK) {
        printf("skipped: this processor has no %s\n", name);
        exit(77);
    }
}

/* Says that a part of the test is skipped, and why. A test with no other part is skipped (77). */
static inline void test_skip(const char *lacking)
{
    printf("skipped: no %s\n", lacking);
    test_nskipped++;
}

static inline int test_end(void)
{
    printf("%lu checks, %lu failed (%s)\n", test_nchecks, test_nfailed, unseen__cpu_name(test_cpu));
    if (test_nskipped && !test_nchecks) {
        return 77;
    }
    return test_nfailed || !test_nchecks ? 1 : 0;
}

/* splitmix64 [Steele14]: the generator of every test and benchmark. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Puts the path of a file in tests/ of the checkout into path. ctest says where that is in TESTS;
 * otherwise it is the folder of this header. */
static inline bool test_path(char *path, size_t cap, const char *name)
{
    const char *folder = getenv("TESTS");
    const char *slash = strrchr(__FILE__, '/');
    const int n = folder  ? snprintf(path, cap, "%s/%s", folder, name)
                  : slash ? snprintf(path, cap, "%.*s/%s", (int)(slash - __FILE__), __FILE__, name)
                          : snprintf(path, cap, "%s", name);
    return n > 0 && (size_t)n < cap;
}

/* The factor of the long run: 1, or the number in UNSEEN_TEST_SCALE. */
static inline uint64_t test_scale(void)
{
    const char *text = getenv("UNSEEN_TEST_SCALE");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* Copies len bytes so that the byte behind the last cannot be read. Never freed. */
static inline char *test_guarded(const void *data, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (len + page - 1) / page * page;
    char *base =
        mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + body, page, PROT_NONE) != 0) {
        perror("test_guarded");
        exit(2);
    }
    if (len) {
        memcpy(base + body - len, data, len);
    }
    return base + body - len;
}

/* An allocator that counts, and fails the allocation number fail_at (from 1; 0: never). */
struct test_allocator {
    unsigned long nallocs;
    unsigned long fail_at;
    bool fail_after; /* fail every later one, too */
    long nlive;
    size_t bytes;
};

static inline void *test_alloc(void *context, size_t size, size_t align)
{
    struct test_allocator *a = context;
    a->nallocs++;
    if (a->fail_at && (a->nallocs == a->fail_at || (a->fail_after && a->nallocs > a->fail_at))) {
        return NULL;
    }
    void *ptr = NULL;
    if (posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) {
        return NULL;
    }
    a->nlive++;
    a->bytes += size;
    return memset(ptr, 0xA5, size);
}

static inline void test_free(void *context, void *ptr, size_t size)
{
    struct test_allocator *a = context;
    a->nlive--;
    a->bytes -= size;
    free(ptr);
}

#endif
