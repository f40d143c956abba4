/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks of the library share: CPU time, medians, the heading every report has, keys,
 * and memory that is filled ahead. */
#ifndef UNSEEN_BENCH_BENCH_H
#define UNSEEN_BENCH_BENCH_H

#include "test.h"

#include <time.h>

enum {
    BENCH_BATCH = 256,
    BENCH_ROUNDS = 5
};

static inline _Noreturn void bench_die(const char *what)
{
    perror(what);
    exit(2);
}

/* Ends the program if a call of the library failed. */
static inline void bench_check(enum unseen_status status)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "error: %s\n", unseen_status_string(status));
        exit(2);
    }
}

static inline double bench_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time of the whole process, so that work given to another thread counts. */
static inline double bench_cpu(void)
{
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), bench_compare);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* The first line that a shell command prints. */
static inline void bench_print_line(const char *label, const char *command)
{
    char line[200] = "unknown\n";
    FILE *pipe = popen(command, "r");
    if (pipe) {
        if (!fgets(line, sizeof(line), pipe)) {
            strcpy(line, "unknown\n");
        }
        pclose(pipe);
    }
    printf("%s%s", label, line);
}

static inline void bench_heading(const char *what, uint64_t seed)
{
    printf("%s\n", what);
    bench_print_line("machine:  ", "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo");
#ifdef __clang__
    printf("compiler: %s\n", __VERSION__);
#else
    printf("compiler: gcc %s\n", __VERSION__);
#endif
    bench_print_line("commit:   ", "git rev-parse --short HEAD 2>/dev/null");
    printf("unseen %s, seed %llu, CPU time of the process\n", unseen_version(),
           (unsigned long long)seed);
}

/* A ratio or a time that must be at most the goal. */
static inline void bench_print_goal(const char *what, double value, double goal)
{
    printf("%-60s %6.2f   goal %.2f: %s\n", what, value, goal, value <= goal ? "met" : "MISSED");
}

static inline uint64_t bench_mix(uint64_t i)
{
    return test_random(&i);
}

/* n keys: numbers first, first + 1, ... of the sequence that seed gives. */
static inline void bench_keys(struct unseen_key *keys, uint64_t first, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        keys[i].lo = bench_mix(seed + 2 * (first + i));
        keys[i].hi = bench_mix(seed + 2 * (first + i) + 1);
    }
}

/* ---- Memory filled ahead ----------------------------------------------------------------------
 * One mapping, every page of it touched before the measurement, so that the figures are the
 * library's and not the kernel's page faults. Blocks are cut off its front; freed blocks wait in
 * a list for the next request of their size. Counts what is in use. */

struct bench_block {
    struct bench_block *next;
    size_t size;
};

struct bench_memory {
    char *base;
    size_t size;
    size_t used; /* cut off so far */
    size_t live; /* in use now */
    size_t peak;
    struct bench_block *freed;
};

static inline void *bench_alloc(void *context, size_t size, size_t align)
{
    struct bench_memory *m = context;
    size = (size + 63) & ~(size_t)63;
    for (struct bench_block **p = &m->freed; *p; p = &(*p)->next) {
        if ((*p)->size == size && (uintptr_t)*p % align == 0) {
            void *block = *p;
            *p = (*p)->next;
            m->live += size;
            m->peak = m->live > m->peak ? m->live : m->peak;
            return block;
        }
    }
    size_t start = (m->used + align - 1) / align * align;
    if (start + size > m->size) {
        return NULL;
    }
    m->used = start + size;
    m->live += size;
    m->peak = m->live > m->peak ? m->live : m->peak;
    return m->base + start;
}

static inline void bench_free(void *context, void *ptr, size_t size)
{
    struct bench_memory *m = context;
    struct bench_block *block = ptr;
    size = (size + 63) & ~(size_t)63;
    *block = (struct bench_block){m->freed, size};
    m->freed = block;
    m->live -= size;
}

/* Maps and fills size bytes, in huge pages if there are any and they are wanted. */
static inline void bench_memory_init(struct bench_memory *m, size_t size, bool huge)
{
    size_t align = (size_t)2 << 20;
    size = (size + align - 1) & ~(align - 1);
    char *base =
        mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        bench_die("mmap");
    }
    base += (align - (uintptr_t)base % align) % align;
    /* Refusal of the advice only means 4 KiB pages. */
    madvise(base, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(base, 0, size);
    *m = (struct bench_memory){.base = base, .size = size};
}

/* Everything free again. */
static inline void bench_memory_reset(struct bench_memory *m)
{
    *m = (struct bench_memory){.base = m->base, .size = m->size};
}

static inline struct unseen_allocator bench_allocator(struct bench_memory *m)
{
    return (struct unseen_allocator){bench_alloc, bench_free, m};
}

static inline struct unseen_set_stats bench_stats(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    bench_check(unseen_set_stats(set, &stats));
    return stats;
}

/* The widths of the compact filter, by the rate that asks for them. */
static const struct bench_width {
    const char *name;
    double fpr;
} bench_widths[] = {{"default", 0}, {"small", 2e-6}, {"low", 1e-12}};

#endif
