/* SPDX-License-Identifier: MIT
 *
 * Lists: what building one costs, how large it is, how often it is wrong, and what questions cost.
 *
 *     bench_list build [NKEYS [FPR [THREADS [MIB [PATH [NASKED]]]]]]   (1e7 1e-4 1 1024 bench.list)
 *     bench_list ask PATH [map|COPIES]
 *     bench_list cold PATH
 *
 * build makes a list from 64-bit keys and asks for NASKED of them, from first to last, and for as
 * many others: for all of them and for 10^8 others (as many as it has keys, if those are more), if
 * NASKED is not given. What it has written is the list and its work file together.
 *
 * ask measures a list that is there, at each SIMD level: keys that are listed (they must come from
 * build) and others, in batches of 1024 and one at a time, and beside that the memory: the same
 * lines fetched ahead and one word read of each, and nothing else; one by one, a line at a place
 * that the one before says. The pages are read into memory of their own, in huge pages; with map
 * they are the file's. With COPIES they are there so many times, and first places are spread over
 * all of them: then only others can be asked for, and cost what they do in a list of that size.
 *
 * cold drops the file from the system's cache, asks 2,000 questions, and counts the major
 * faults. */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unseen_list.h>

#include "base/memory.h"
#include "list_keys.h"

enum {
    LIST_BATCH = 1024,
    OPS = 1 << 22,
    COLD = 2000,
    NLEVELS = 3,
    SEED = 1
};

static const enum unseen_cpu levels[NLEVELS] = {UNSEEN_CPU_PORTABLE, UNSEEN_CPU_AVX2,
                                                UNSEEN_CPU_AVX512};

static const double GOAL_HIT = 1.6; /* a hit in a batch against the memory, of a list of 1 GiB */

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

static uint64_t count_listed(const struct unseen_list *list, uint64_t first, uint64_t step,
                             uint64_t n)
{
    uint64_t nlisted = 0;
    for (uint64_t at = 0; at < n; at += LIST_BATCH) {
        uint64_t keys[LIST_BATCH];
        uint8_t verdicts[LIST_BATCH];
        const size_t count = n - at < LIST_BATCH ? (size_t)(n - at) : LIST_BATCH;
        make_keys(keys, first + at * step, step, count);
        list_contains_keys(list, keys, count, verdicts);
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
                                                      .seed_len = sizeof(seed),
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
    printf("wall %.1f s, peak memory %.0f MiB, written %.2f bytes per key\n", wall_done - wall,
           (double)usage.ru_maxrss / 1024, (double)usage.ru_oublock * 512 / (double)n);
    fflush(stdout);
}

/* Into memory if the file takes no more than half of it: beside it stand the cached pages. */
static enum unseen_list_access access_for(const char *path)
{
    struct stat st;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return stat(path, &st) == 0 && (double)st.st_size <= memory / 2 ? UNSEEN_LIST_READ
                                                                    : UNSEEN_LIST_MAP_PREFETCH;
}

static void report_list(const char *path, uint64_t n, uint64_t nasked)
{
    struct unseen_error error;
    struct unseen_list *list = open_list(path, access_for(path), test_cpu);
    const struct unseen_list_info info = info_of(list);
    const double bits = (double)info.bytes * 8 / (double)info.nkeys;
    const uint64_t nmembers = nasked && nasked < n ? nasked : n;
    const uint64_t nothers = nasked ? nasked : n < 100000000 ? 100000000 : n;
    const uint64_t nlisted = count_listed(list, 0, n / nmembers, nmembers);
    const double wrong = (double)count_listed(list, others, 1, nothers);
    const double rate = wrong / (double)nothers;
    printf("%llu bytes, %.4f bits per key, %u layers, bumped %.4f, key bits %u\n",
           (unsigned long long)info.bytes, bits, info.nlayers,
           (double)info.nbumped / (double)info.nkeys, info.key_bits);
    printf("keys missing: %llu of %.3g\n", (unsigned long long)(nmembers - nlisted),
           (double)nmembers);
    printf("others listed: %.0f of %.3g = %.4g +- %.1g, by the formula %.4g\n", wrong,
           (double)nothers, rate, sqrt(wrong) / (double)nothers, info.rate);
    printf("bits / log2(1 / measured rate): %.4f\n", rate > 0 ? bits / -log2(rate) : 0);
    check(unseen_list_verify(list, &error), &error);
    unseen_list_close(list);
    if (nlisted != nmembers) {
        exit(1);
    }
}

/* ---- ask ---- */

/* What is asked: a list, or, if there is none, a view of copies. */
struct target {
    struct unseen_list *list;
    const struct unseen__list_view *view;
    unseen__list_asker *asker;
    uint64_t nkeys; /* that may be asked for */
};

static void ask_keys(const struct target *t, const uint64_t *keys, size_t n, uint8_t *verdicts)
{
    if (t->list) {
        list_contains_keys(t->list, keys, n, verdicts);
    } else {
        unseen__list_contains_batch(t->view, t->asker, keys, n, verdicts);
        for (size_t i = 0; i < n; i++) {
            verdicts[i] = verdicts[i] == UNSEEN__LIST_YES ? UNSEEN_SEEN : UNSEEN_NEW;
        }
    }
}

/* CPU time of a question in one round: listed ones in no order of pages, or others. */
static double ask_once(const struct target *t, bool listed, bool single, unsigned round)
{
    const size_t nops = single ? OPS / 8 : OPS;
    uint64_t *keys = malloc(nops * sizeof(*keys));
    uint8_t *verdicts = malloc(nops);
    if (!keys || !verdicts) {
        bench_die("malloc");
    }
    for (size_t i = 0; i < nops; i++) {
        const uint64_t number = round * nops + i;
        keys[i] = bench_mix(listed ? bench_mix(number) % t->nkeys : others + number);
        verdicts[i] = UNSEEN_NEW;
    }
    const double start = bench_cpu();
    const size_t step = single ? 1 : nops;
    for (size_t i = 0; i < nops; i += step) {
        ask_keys(t, keys + i, step, verdicts + i);
    }
    const double time = (bench_cpu() - start) * 1e9 / (double)nops;
    uint64_t nlisted = 0;
    for (size_t i = 0; i < nops; i++) {
        nlisted += verdicts[i] == UNSEEN_SEEN;
    }
    if (listed && nlisted != nops) {
        fprintf(stderr, "error: a key is missing\n");
        exit(1);
    }
    free(keys);
    free(verdicts);
    return time;
}

static double ask(const struct target *t, bool listed, bool single)
{
    double times[BENCH_ROUNDS];
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        times[round] = ask_once(t, listed, single, round);
    }
    return bench_median(times, BENCH_ROUNDS);
}

/* What the memory takes: two lines of group 0, and of a hit the rest, fetched ahead. */
static double touch_once(const struct unseen__list_view *view, uint64_t npages, bool rest,
                         unsigned round)
{
    const struct unseen__list_geometry *s = &view->geometry;
    enum {
        AHEAD = 192
    };
    const uint8_t *lines[AHEAD];
    const uint8_t *rests[AHEAD];
    uint64_t sum = 0;
    memset(lines, 0, sizeof(lines));
    const double start = bench_cpu();
    for (size_t i = 0; i < OPS + AHEAD; i++) {
        const size_t slot = i % AHEAD;
        if (i >= AHEAD) {
            sum += *lines[slot] + lines[slot][64];
            sum += rest ? rests[slot][0] + rests[slot][64] : 0u;
        }
        const uint64_t x = bench_mix(round * (uint64_t)OPS + i);
        const uint64_t page = (x >> 32) * npages >> 32;
        const unsigned block = (unsigned)((x & UINT32_MAX) * (s->blocks - 1) >> 32);
        lines[slot] = view->pages + page * UNSEEN__LIST_PAGE + 64 * (uint64_t)block;
        rests[slot] = view->pages + page * UNSEEN__LIST_PAGE + s->rest[block];
        __builtin_prefetch(lines[slot], 0, 2);
        __builtin_prefetch(lines[slot] + 64, 0, 2);
        if (rest) {
            __builtin_prefetch(rests[slot], 0, 2);
            __builtin_prefetch(rests[slot] + 64, 0, 2);
        }
    }
    __asm__ volatile("" : : "r"(sum));
    return (bench_cpu() - start) * 1e9 / OPS;
}

static double touch(const struct unseen__list_view *view, uint64_t npages, bool rest)
{
    double times[BENCH_ROUNDS];
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        times[round] = touch_once(view, npages, rest, round);
    }
    return bench_median(times, BENCH_ROUNDS);
}

/* One line after the other, each at a place that the one before says. */
static double wait_for_memory(const struct unseen__list_view *view, uint64_t npages)
{
    double times[BENCH_ROUNDS];
    uint64_t last = 0;
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        const double start = bench_cpu();
        for (uint64_t i = 0; i < OPS / 8; i++) {
            const uint64_t x = bench_mix(round * (uint64_t)OPS + i + last);
            last = view->pages[((x >> 32) * npages >> 32) * UNSEEN__LIST_PAGE + 64 * (x & 31)];
        }
        times[round] = (bench_cpu() - start) * 1e9 / (OPS / 8);
    }
    __asm__ volatile("" : : "r"(last));
    return bench_median(times, BENCH_ROUNDS);
}

/* Puts the pages there several times, and lets keys of the first layer begin in any of them. */
static void copy_pages(struct unseen__list_file *file, unsigned ncopies)
{
    const size_t len = (size_t)file->offsets.npages * UNSEEN__LIST_PAGE;
    const size_t all = (ncopies * len / UNSEEN__HUGE_PAGE + 1) * UNSEEN__HUGE_PAGE;
    uint8_t *pages = unseen__alloc(&file->allocator, all, UNSEEN__LIST_PAGE);
    if (!pages) {
        bench_die("memory");
    }
    unseen__memory_large(&file->allocator, pages, all);
    for (unsigned i = 0; i < ncopies; i++) {
        memcpy(pages + i * len, file->view.pages, len);
    }
    file->view.pages = pages; /* for the rest of this process */
    for (size_t k = 0; k >> file->view.layers[0].shard_bits == 0; k++) {
        file->shards[k] =
            ((file->shards[k] & UINT32_MAX) * ncopies) | (file->shards[k] >> 32) * ncopies << 32;
    }
}

/* Prints what a hit in a batch takes against the memory at each level: the median of rounds in
 * which the levels and the memory take turns. */
static void print_hits(const struct unseen__list_file *file)
{
    double ratios[NLEVELS][BENCH_ROUNDS];
    struct target t = {.view = &file->view, .nkeys = file->header.ndistinct};
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        const double memory = touch_once(&file->view, file->offsets.npages, true, round);
        for (size_t i = 0; i < NLEVELS; i++) {
            enum unseen_cpu level = levels[i];
            if (unseen__cpu_select(levels[i], &level, NULL) == UNSEEN_OK) {
                t.asker = unseen__list_asker_for(level);
                ratios[i][round] = ask_once(&t, true, false, round) / memory;
            }
        }
    }
    printf("hits against the memory:");
    for (size_t i = 0; i < NLEVELS; i++) {
        enum unseen_cpu level = levels[i];
        if (unseen__cpu_select(levels[i], &level, NULL) == UNSEEN_OK) {
            printf(" %s %.2f,", unseen__cpu_name(level), bench_median(ratios[i], BENCH_ROUNDS));
        }
    }
    printf(" goal %.1f\n", GOAL_HIT);
}

static void ask_all(const char *path, bool mapped, unsigned ncopies)
{
    const enum unseen_list_access access = mapped ? UNSEEN_LIST_MAP_PREFETCH : UNSEEN_LIST_READ;
    struct unseen__list_file file;
    struct unseen_error error;
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    check(unseen__list_file_open(&file, path, access, UNSEEN_CPU_PORTABLE, &allocator, &error),
          &error);
    if (ncopies > 1) {
        copy_pages(&file, ncopies);
    }
    const uint64_t npages = file.offsets.npages * ncopies;
    printf("%.0f MiB of pages\n", (double)npages * UNSEEN__LIST_PAGE / (1 << 20));
    printf("ns per question     miss    hit   miss, single   hit, single\n");
    for (size_t i = 0; i < NLEVELS; i++) {
        struct target t = {.view = &file.view, .nkeys = file.header.ndistinct};
        enum unseen_cpu level = levels[i];
        if (unseen__cpu_select(levels[i], &level, NULL) != UNSEEN_OK) {
            continue;
        }
        t.asker = unseen__list_asker_for(level);
        t.list = ncopies > 1 ? NULL : open_list(path, access, level);
        if (t.list) {
            printf("%-16s %7.1f %6.1f %14.1f %13.1f\n", unseen__cpu_name(level),
                   ask(&t, false, false), ask(&t, true, false), ask(&t, false, true),
                   ask(&t, true, true));
        } else {
            printf("%-16s %7.1f %6s %14.1f\n", unseen__cpu_name(level), ask(&t, false, false), "",
                   ask(&t, false, true));
        }
        unseen_list_close(t.list);
    }
    printf("%-16s %7.1f %6.1f %14.1f\n", "memory", touch(&file.view, npages, false),
           touch(&file.view, npages, true), wait_for_memory(&file.view, npages));
    if (ncopies <= 1) {
        print_hits(&file);
    }
    file.view.pages = NULL; /* copies are left to the end of the process */
    unseen__list_file_release(&file);
}

static void ask_cold(const char *path)
{
    struct unseen_list *list = open_list(path, UNSEEN_LIST_MAP, test_cpu);
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
        list_contains_keys(list, &key, 1, &verdict);
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
        const bool mapped = argc > 3 && strcmp(argv[3], "map") == 0;
        const unsigned ncopies = argc > 3 && !mapped ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
        ask_all(argv[2], mapped, ncopies);
    } else if (argc > 2 && strcmp(argv[1], "cold") == 0) {
        ask_cold(argv[2]);
    } else if (argc > 1 && strcmp(argv[1], "build") == 0) {
        const uint64_t n = argc > 2 ? (uint64_t)strtod(argv[2], NULL) : 10000000;
        const double fpr = argc > 3 ? strtod(argv[3], NULL) : 1e-4;
        const unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
        const uint64_t mib = argc > 5 ? strtoull(argv[5], NULL, 10) : 1024;
        const char *path = argc > 6 ? argv[6] : "bench.list";
        build(n, fpr, threads, mib << 20, path);
        report_list(path, n, argc > 7 ? (uint64_t)strtod(argv[7], NULL) : 0);
    } else {
        fprintf(stderr, "usage: bench_list build [NKEYS [FPR [THREADS [MIB [PATH [NASKED]]]]]] | "
                        "ask PATH [map|COPIES] | cold PATH\n");
        return 2;
    }
    return 0;
}
