/* SPDX-License-Identifier: MIT
 *
 * The test harness: checks that always count, a seeded generator, the SIMD level under test,
 * buffers that end at a guard page, and an allocator that fails on demand. A program that uses more
 * than the generator is linked with test.c.
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

/* ThreadSanitizer finds nothing where one thread works. */
enum {
#ifdef __SANITIZE_THREAD__
    TEST_THREADS_ONLY = 1
#else
    TEST_THREADS_ONLY = 0
#endif
};

/* The level under test, from test_start on. */
extern enum unseen_cpu test_cpu;

/* How many checks failed. */
extern unsigned long test_nfailed;

/* Counts a check; prints the first 20 that fail. */
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)

/* The same, with the two numbers. */
#define CHECK_EQ(a, b) test_check_eq((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)

/* Returns ok. Any thread may call it. */
bool test_check(bool ok, const char *file, int line, const char *what);
bool test_check_eq(uint64_t a, uint64_t b, const char *file, int line, const char *what);

/* Reads UNSEEN_CPU. If the processor lacks that level, ends the program as skipped (77). */
void test_start(void);

/* Says that a part of the test is skipped, and why. A test with no other part is skipped (77). */
void test_skip(const char *lacking);

/* Prints how many checks failed. Returns the status with which the program ends. */
int test_end(void);

/* splitmix64 [Steele14]: the generator of every test and benchmark. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Puts the path of a file in tests/ of the checkout into path. ctest says where that is in TESTS;
 * otherwise it is the folder of test.c. */
bool test_path(char *path, size_t cap, const char *name);

/* The factor of the long run: 1, or the number in UNSEEN_TEST_SCALE. */
uint64_t test_scale(void);

/* True in the usual run of tools/test.sh, if this build has a sanitizer or is for another
 * processor. Sizes and long random runs are the same there: the release build has them all, and so
 * has `all` here. */
bool test_brief(void);

/* Copies len bytes so that the byte behind the last cannot be read. Never freed. */
char *test_guarded(const void *data, size_t len);

/* An allocator that counts, and fails the allocation number fail_at (from 1; 0: never). */
struct test_allocator {
    unsigned long nallocs;
    unsigned long fail_at;
    bool fail_after; /* fail every later one, too */
    long nlive;
    size_t bytes;
};

void *test_alloc(void *context, size_t size, size_t align);
void test_free(void *context, void *ptr, size_t size);

#endif
