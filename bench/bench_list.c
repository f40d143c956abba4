/* SPDX-License-Identifier: MIT
 *
 * Lists: what building one costs, how large it is, how often it is wrong, and what questions cost.
 *
 *     bench_list build [NKEYS [FPR [THREADS [MIB [PATH]]]]]     (1e7 1e-4 1 1024 bench.list)
 *     bench_list ask PATH [map]
 *     bench_list cold PATH
 *
 * build makes a list from 64-bit keys and asks for all of them and for 10^8 others (as many as it
 * has keys, if those are more). ask measures a list that is there, at each SIMD level: keys that
 * are listed (they must come from build) and others, in batches of 1024 and one at a time, and
 * beside that the memory: the same lines fetched ahead and one word read of each, and nothing else.
 * The pages are read into memory of their own, in huge pages; with map they are the file's. cold
 * drops the file from the system's cache, asks 2,000 questions, and counts the major faults. */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "list/open.h"

enum {
    LIST_BATCH = 1024,
    OPS = 1 << 22,
    COLD = 2000,
    SEED = 1
};

static const uint64_t others = UINT64_C(1) << 60; /* numbers of keys that are not listed */

static void check(enum unseen_status status, const struct unseen_error *error)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "error: %s\n", error->text);
        exit(2);
    }
}

static struct unseen_list *open_list(const char *path, enum unseen_list_access access,
                                     enum unseen_cpu cpu)
{
    struct unseen_error error;
    struct unseen_list *list = NULL;
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = access, .cpu = cpu};
    check(unseen_list_open(&list, path, &options, &error), &error);
    return list;
}

static struct unseen_list_info info_of(const struct unseen_list *list)
{
    struct unseen_list_info info = {.size = sizeof(info)};
    bench_check(unseen_list_info(list, &info));
    return info;
}

/* Keys first, first + step, ... */
static void make_keys(uint64_t *keys, uint64_t first, uint64_t step, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        keys[i] = bench_mix(first + i * step);
    }
}

static uint64_t count_listed(const struct unseen_list *list, uint64_t first, uint64_t n)
{
    uint64_t nlisted = 0;
    for (uint64_t at = 0; at < n; at += LIST_BATCH) {
        uint64_t keys[LIST_BATCH];
        uint8_t verdicts[LIST_BATCH];
        const size_t count = n - at < LIST_BATCH ? (size_t)(n - at) : LIST_BATCH;
        make_keys(keys, first + at, 1, count);
        unseen_list_contains_keys(list, keys, count, verdicts);
        for (size_t i = 0; i < count; i++) {
            nlisted += verdicts[i] == UNSEEN_SEEN;
        }
    }
    return nlisted;
}

/* ---- build ---- */

static void build(uint64_t n, double fpr, unsigned threads, uint64_t memory, const char *path)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    const uint64_t seed = SEED;
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .fpr = fpr,
                                                      .capacity = n,
                                                      .memory = memory,
                                                      .threads = threads,
                                                      .seed = &seed,
                                                      .cpu = test_cpu};
    uint64_t keys[LIST_BATCH];
    double start = bench_cpu();
    for (uint64_t at = 0; at < n; at += LIST_BATCH) {
        make_keys(keys, at, 1, LIST_BATCH);
        __asm__ volatile("" : : "r"(keys) : "memory");
    }
    const double making = bench_cpu() - start;
    const double wall = bench_seconds(CLOCK_MONOTONIC);
    start = bench_cpu();
    check(unseen_list_build_create(&b, path, &options, &error), &error);
    for (uint64_t at = 0; at < n; at += LIST_BATCH) {
        const size_t count = n - at < LIST_BATCH ? (size_t)(n - at) : LIST_BATCH;
        make_keys(keys, at, 1, count);
        check(unseen_list_build_add_keys(b, keys, count, &error), &error);
    }
    const double added = bench_cpu();
    check(unseen_list_build_finish(b, NULL, NULL, &error), &error);
    const double done = bench_cpu();
    const double wall_done = bench_seconds(CLOCK_MONOTONIC);
    unseen_list_build_free(b);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double each = 1e9 / (double)n;
    printf("%.3g keys, rate %g, %u threads, %llu MiB, %s\n", (double)n, fpr, threads,
           (unsigned long long)(memory >> 20), unseen__cpu_name(test_cpu));
    printf("CPU per key: add %.1f ns (%.1f of making it left out), finish %.1f ns, both %.1f ns\n",
           (added - start - making) * each, making * each, (done - added) * each,
           (done - start - making) * each);
    printf("wall %.1f s, peak memory %.0f MiB\n", wall_done - wall, (double)usage.ru_maxrss / 1024);
}

static void report_list(const char *path, uint64_t n)
{
    struct unseen_error error;
    struct unseen_list *list = open_list(path, UNSEEN_LIST_LOAD, test_cpu);
    const struct unseen_list_info info = info_of(list);
    const double bits = (double)info.bytes * 8 / (double)info.nkeys;
    const uint64_t nlisted = count_listed(list, 0, n);
    const uint64_t nasked = n < 100000000 ? 100000000 : n;
    const double wrong = (double)count_listed(list, others, nasked);
    const double rate = wrong / (double)nasked;
    printf("%llu bytes, %.4f bits per key, %u layers, bumped %.4f, key bits %u\n",
           (unsigned long long)info.bytes, bits, info.nlayers,
           (double)info.nbumped / (double)info.nkeys, info.key_bits);
    printf("keys missing: %llu; others listed: %.0f of %.3g = %.4g +- %.1g, by the formula %.4g\n",
           (unsigned long long)(n - nlisted), wrong, (double)nasked, rate,
           sqrt(wrong) / (double)nasked, info.rate);
    printf("bits / log2(1 / measured rate): %.4f\n", rate > 0 ? bits / -log2(rate) : 0);
    check(unseen_list_verify(list, &error), &error);
    unseen_list_close(list);
    if (nlisted != n) {
        exit(1);
    }
}

/* ---- ask ---- */

/* CPU time of a question: listed ones in no order of pages, or others. */
static double ask(const struct unseen_list *list, bool listed, bool single)
{
    double times[BENCH_ROUNDS];
    const uint64_t nkeys = info_of(list).nkeys;
    const size_t nops = single ? OPS / 8 : OPS;
    uint64_t *keys = malloc(nops * sizeof(*keys));
    uint8_t *verdicts = malloc(nops);
    if (!keys || !verdicts) {
        bench_die("malloc");
    }
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        for (size_t i = 0; i < nops; i++) {
            const uint64_t number = round * nops + i;
            keys[i] = bench_mix(listed ? bench_mix(number) % nkeys : others + number);
        }
        const double start = bench_cpu();
        if (single) {
            for (size_t i = 0; i < nops; i++) {
                unseen_list_contains_keys(list, keys + i, 1, verdicts + i);
            }
        } else {
            unseen_list_contains_keys(list, keys, nops, verdicts);
        }
        times[round] = (bench_cpu() - start) * 1e9 / (double)nops;
        uint64_t nlisted = 0;
        for (size_t i = 0; i < nops; i++) {
            nlisted += verdicts[i] == UNSEEN_SEEN;
        }
        if (listed && nlisted != nops) {
            fprintf(stderr, "error: a key is missing\n");
            exit(1);
        }
    }
    free(keys);
    free(verdicts);
    return bench_median(times, BENCH_ROUNDS);
}

/* CPU time of touching the lines of a question: two of group 0, and of a hit the rest. */
static double touch(const char *path, bool mapped, bool rest)
{
    struct unseen__list_file file;
    struct unseen_error error;
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    check(unseen__list_file_open(&file, path, mapped ? UNSEEN_LIST_WARM : UNSEEN_LIST_LOAD,
                                 &allocator, &error),
          &error);
    const uint8_t *pages = file.view.pages;
    const struct unseen__list_shape *s = &file.header.shape;
    enum {
        AHEAD = 192
    };
    const uint8_t *lines[AHEAD];
    const uint8_t *rests[AHEAD];
    double times[BENCH_ROUNDS];
    uint64_t sum = 0;
    memset(lines, 0, sizeof(lines));
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        const double start = bench_cpu();
        for (size_t i = 0; i < OPS + AHEAD; i++) {
            const size_t slot = i % AHEAD;
            if (i >= AHEAD) {
                sum += *lines[slot] + lines[slot][64];
                sum += rest ? rests[slot][0] + rests[slot][64] : 0u;
            }
            const uint64_t x = bench_mix(round * (uint64_t)OPS + i);
            const uint64_t page = (x >> 32) * file.places.npages >> 32;
            const unsigned block = (unsigned)((x & UINT32_MAX) * (s->blocks - 1) >> 32);
            lines[slot] = pages + page * UNSEEN__LIST_PAGE + 64 * (uint64_t)block;
            rests[slot] = pages + page * UNSEEN__LIST_PAGE + s->rest[block];
            __builtin_prefetch(lines[slot]);
            __builtin_prefetch(lines[slot] + 64);
            if (rest) {
                __builtin_prefetch(rests[slot]);
                __builtin_prefetch(rests[slot] + 64);
            }
        }
        times[round] = (bench_cpu() - start) * 1e9 / OPS;
    }
    __asm__ volatile("" : : "r"(sum));
    unseen__list_file_release(&file);
    return bench_median(times, BENCH_ROUNDS);
}

static void ask_all(const char *path, bool mapped)
{
    const enum unseen_cpu levels[] = {UNSEEN_CPU_PORTABLE, UNSEEN_CPU_AVX2, UNSEEN_CPU_AVX512};
    printf("ns per question     miss    hit   miss, single   hit, single\n");
    for (size_t i = 0; i < 3; i++) {
        enum unseen_cpu level = levels[i];
        if (unseen__cpu_select(levels[i], &level) != UNSEEN_OK) {
            continue;
        }
        struct unseen_list *list =
            open_list(path, mapped ? UNSEEN_LIST_WARM : UNSEEN_LIST_LOAD, level);
        printf("%-16s %7.1f %6.1f %14.1f %13.1f\n", unseen__cpu_name(level),
               ask(list, false, false), ask(list, true, false), ask(list, false, true),
               ask(list, true, true));
        unseen_list_close(list);
    }
    printf("%-16s %7.1f %6.1f\n", "memory", touch(path, mapped, false), touch(path, mapped, true));
}

static void ask_cold(const char *path)
{
    struct unseen_list *list = open_list(path, UNSEEN_LIST_COLD, test_cpu);
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fdatasync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) {
        bench_die(path);
    }
    close(fd);
    struct rusage before;
    struct rusage after;
    uint64_t nlisted = 0;
    getrusage(RUSAGE_SELF, &before);
    const double start = bench_seconds(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < COLD; i++) {
        const uint64_t key = bench_mix(others + i);
        uint8_t verdict;
        unseen_list_contains_keys(list, &key, 1, &verdict);
        nlisted += verdict == UNSEEN_SEEN;
    }
    const double wall = bench_seconds(CLOCK_MONOTONIC) - start;
    getrusage(RUSAGE_SELF, &after);
    printf("cold: %.3f major faults and %.1f us per question (%llu of %d listed)\n",
           (double)(after.ru_majflt - before.ru_majflt) / COLD, wall * 1e6 / COLD,
           (unsigned long long)nlisted, COLD);
    unseen_list_close(list);
}

int main(int argc, char **argv)
{
    test_start();
    bench_heading("lists", SEED);
    if (argc > 2 && strcmp(argv[1], "ask") == 0) {
        ask_all(argv[2], argc > 3);
    } else if (argc > 2 && strcmp(argv[1], "cold") == 0) {
        ask_cold(argv[2]);
    } else if (argc > 1 && strcmp(argv[1], "build") == 0) {
        const uint64_t n = argc > 2 ? (uint64_t)strtod(argv[2], NULL) : 10000000;
        const double fpr = argc > 3 ? strtod(argv[3], NULL) : 1e-4;
        const unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
        const uint64_t mib = argc > 5 ? strtoull(argv[5], NULL, 10) : 1024;
        const char *path = argc > 6 ? argv[6] : "bench.list";
        build(n, fpr, threads, mib << 20, path);
        report_list(path, n);
    } else {
        fprintf(stderr, "usage: bench_list build [NKEYS [FPR [THREADS [MIB [PATH]]]]] | "
                        "ask PATH [map] | cold PATH\n");
        return 2;
    }
    return 0;
}
