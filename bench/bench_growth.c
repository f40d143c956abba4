/* SPDX-License-Identifier: MIT
 *
 * Growing from empty without a declared capacity: CPU time per key, the longest single add, the
 * peak of memory against its final size, and bytes per key on the way; and the same for orders of
 * keys that are not random (growth_orders.h).
 *
 *     bench_growth [NKEYS [default|small|low|all [huge|4k|fresh]]]
 *     bench_growth orders [NKEYS [THREADS [FILTER]]]
 *     bench_growth made [NKEYS]
 *
 * made: growing from empty against adding the same keys to a set that was made for them, by turns,
 * with the library's own allocator; and against a set that gets room for all when it has an eighth
 * of them. The ratio is that of the least times, as a busy machine only adds to them.
 *
 * NKEYS is 10^8, and all widths are measured. huge (the default) and 4k: memory filled ahead in
 * pages of that size; fresh: the library's own allocator, page faults included.
 *
 * The longest add. On a virtual machine any instruction may take milliseconds. But the work of an
 * add is the same each time the same keys come in the same order, so three passes are made and an
 * add counts with its shortest time: what is left is the set's own doing. */
#include "bench.h"
#include "growth_orders.h"

#include <math.h>

#include <unseen.h>

enum {
    SEED = 1,
    PASSES = 3,
    SLOW_MAX = 1 << 20
};

/* Adds shorter than this are not looked at one by one. */
static const double slow_seconds = 20e-6;

struct slow_add {
    uint64_t number;
    double seconds;
};

struct slow_adds {
    struct slow_add *adds;
    size_t n;
};

static struct unseen_set *create_set(const struct bench_width *width,
                                     struct unseen_allocator *allocator)
{
    struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .fpr = width->fpr, .allocator = allocator};
    struct unseen_set *set;
    bench_check(unseen_set_create(&set, &options, NULL));
    return set;
}

/* Bytes per key, sampled each time the number of keys has grown by 1 %, so that the plain mean is
 * the mean over log n; over the last four doublings. */
struct footprint {
    double sum;
    double worst;
    unsigned n;
};

static void sample_footprint(struct footprint *footprint, const struct unseen_set *set)
{
    struct unseen_set_stats stats = bench_stats(set);
    double bytes = (double)stats.memory / (double)stats.nkeys;
    footprint->sum += bytes;
    footprint->worst = fmax(footprint->worst, bytes);
    footprint->n++;
}

/* One growth in batches; CPU ns per key. */
static double grow(struct unseen_set *set, uint64_t nkeys, struct footprint *footprint)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    double sample_at = (double)nkeys / 16;
    double start = bench_cpu();
    for (uint64_t i = 0; i < nkeys; i += BENCH_BATCH) {
        size_t n = nkeys - i < BENCH_BATCH ? (size_t)(nkeys - i) : BENCH_BATCH;
        bench_keys(keys, i, n, SEED);
        bench_check(unseen_set_add_keys(set, keys, n, verdicts, NULL));
        if ((double)(i + n) >= sample_at) {
            sample_footprint(footprint, set);
            sample_at *= 1.01;
        }
    }
    return (bench_cpu() - start) / (double)nkeys * 1e9;
}

/* One growth, one key at a time, each timed; the slow ones in order. */
static void grow_timed(struct unseen_set *set, uint64_t nkeys, struct slow_adds *slow)
{
    slow->n = 0;
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key;
        uint8_t verdict;
        bench_keys(&key, i, 1, SEED);
        double start = bench_seconds(CLOCK_MONOTONIC);
        bench_check(unseen_set_add_keys(set, &key, 1, &verdict, NULL));
        double seconds = bench_seconds(CLOCK_MONOTONIC) - start;
        if (seconds > slow_seconds && slow->n < SLOW_MAX) {
            slow->adds[slow->n++] = (struct slow_add){i, seconds};
        }
    }
}

/* Keeps in a the adds that are slow in b, too, with the shorter of their times. */
static void keep_common(struct slow_adds *a, const struct slow_adds *b)
{
    size_t kept = 0;
    size_t j = 0;
    for (size_t i = 0; i < a->n; i++) {
        while (j < b->n && b->adds[j].number < a->adds[i].number) {
            j++;
        }
        if (j < b->n && b->adds[j].number == a->adds[i].number) {
            struct slow_add common = a->adds[i];
            common.seconds = fmin(common.seconds, b->adds[j].seconds);
            a->adds[kept++] = common;
        }
    }
    a->n = kept;
}

static void print_slow(const struct slow_adds *slow)
{
    static const double limits[] = {50e-6, 100e-6, 350e-6, 1e-3};
    double longest = 0;
    uint64_t number = 0;
    unsigned long above[sizeof(limits) / sizeof(*limits)] = {0};
    for (size_t i = 0; i < slow->n; i++) {
        for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++) {
            above[k] += slow->adds[i].seconds > limits[k];
        }
        if (slow->adds[i].seconds > longest) {
            longest = slow->adds[i].seconds;
            number = slow->adds[i].number;
        }
    }
    if (slow->n == 0) {
        printf("  longest add: below %.0f us\n", slow_seconds * 1e6);
        return;
    }
    printf("  longest add: %.0f us (key %llu); adds over 50 us: %lu, 100 us: %lu, 350 us: %lu, "
           "1 ms: %lu\n",
           longest * 1e6, (unsigned long long)number, above[0], above[1], above[2], above[3]);
}

static void bench_width(const struct bench_width *width, uint64_t nkeys,
                        struct bench_memory *memory)
{
    struct unseen_allocator filled =
        memory ? bench_allocator(memory) : (struct unseen_allocator){0};
    struct unseen_allocator *allocator = memory ? &filled : NULL;
    double times[BENCH_ROUNDS];
    struct footprint footprint = {0};
    struct unseen_set_stats stats = {0};
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        if (memory) {
            bench_memory_reset(memory);
        }
        struct unseen_set *set = create_set(width, allocator);
        footprint = (struct footprint){0};
        times[round] = grow(set, nkeys, &footprint);
        stats = bench_stats(set);
        if (memory && round == 0) {
            printf("%s: peak / final memory %.4f\n", width->name,
                   (double)memory->peak / (double)memory->live);
        }
        unseen_set_free(set);
    }
    printf("%s: %.1f ns per key; at the end %llu keys (%llu taken for seen), %.1f MiB\n",
           width->name, bench_median(times, BENCH_ROUNDS), (unsigned long long)stats.nkeys,
           (unsigned long long)(nkeys - stats.nkeys), (double)stats.memory / (1 << 20));
    double mean = footprint.sum / footprint.n;
    printf("  bytes per key over the last 4 doublings: %.3f mean, %.3f worst (%.1f, %.1f bits)\n",
           mean, footprint.worst, 8 * mean, 8 * footprint.worst);
    fflush(stdout);

    struct slow_adds slow = {malloc(SLOW_MAX * sizeof(struct slow_add)), 0};
    struct slow_adds pass = {malloc(SLOW_MAX * sizeof(struct slow_add)), 0};
    if (!slow.adds || !pass.adds) {
        bench_die("malloc");
    }
    for (int i = 0; i < PASSES; i++) {
        if (memory) {
            bench_memory_reset(memory);
        }
        struct unseen_set *set = create_set(width, allocator);
        grow_timed(set, nkeys, i == 0 ? &slow : &pass);
        unseen_set_free(set);
        if (i > 0) {
            keep_common(&slow, &pass);
        }
    }
    print_slow(&slow);
    fflush(stdout);
    free(slow.adds);
    free(pass.adds);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static bool is_width(const char *word)
{
    bool found = strcmp(word, "all") == 0;
    for (size_t w = 0; w < sizeof(bench_widths) / sizeof(*bench_widths); w++) {
        found = found || strcmp(word, bench_widths[w].name) == 0;
    }
    return found;
}

static int main_orders(int argc, char **argv)
{
    const double nkeys = argc > 2 ? strtod(argv[2], NULL) : 1e6;
    const unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    if (nkeys < 1000 || threads == 0) {
        fprintf(stderr, "usage: bench_growth orders [NKEYS [THREADS [FILTER]]]\n");
        return 2;
    }
    bench_heading("growth from empty, in any order", SEED);
    bench_orders((size_t)nkeys, argc > 4 ? argv[4] : "", threads, SEED);
    return 0;
}

/* One set with this capacity, 0: it grows; CPU ns per key, creation included. When it has
 * reserve_at keys, it gets room for all; 0: never. */
static double add_all(const struct bench_width *width, uint64_t nkeys, uint64_t capacity,
                      uint64_t reserve_at)
{
    struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .fpr = width->fpr, .capacity = capacity};
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    struct unseen_set *set;
    const double start = bench_cpu();
    bench_check(unseen_set_create(&set, &options, NULL));
    for (uint64_t i = 0; i < nkeys; i += BENCH_BATCH) {
        const size_t n = nkeys - i < BENCH_BATCH ? (size_t)(nkeys - i) : BENCH_BATCH;
        if (reserve_at > 0 && i >= reserve_at) {
            bench_check(unseen_set_reserve(set, nkeys));
            reserve_at = 0;
        }
        bench_keys(keys, i, n, SEED);
        bench_check(unseen_set_add_keys(set, keys, n, verdicts, NULL));
    }
    const double seconds = bench_cpu() - start;
    unseen_set_free(set);
    return seconds / (double)nkeys * 1e9;
}

static int main_made(int argc, char **argv)
{
    const double nkeys = argc > 2 ? strtod(argv[2], NULL) : 1e7;
    if (nkeys < 1000) {
        fprintf(stderr, "usage: bench_growth made [NKEYS]\n");
        return 2;
    }
    bench_heading("growth against a set made for its keys", SEED);
    for (size_t w = 0; w < sizeof(bench_widths) / sizeof(*bench_widths); w++) {
        const uint64_t n = (uint64_t)nkeys;
        double grown = INFINITY;
        double reserved = INFINITY;
        double made = INFINITY;
        for (int round = 0; round < 2 * BENCH_ROUNDS; round++) {
            grown = fmin(grown, add_all(&bench_widths[w], n, 0, 0));
            reserved = fmin(reserved, add_all(&bench_widths[w], n, 0, n / 8));
            made = fmin(made, add_all(&bench_widths[w], n, n, 0));
        }
        printf("%s: %.0f keys: grown %.1f ns, made %.1f ns: %.2f; with room for all at an eighth "
               "%.1f ns: %.2f; goal 1.35\n",
               bench_widths[w].name, nkeys, grown, made, grown / made, reserved, reserved / made);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "orders") == 0) {
        return main_orders(argc, argv);
    }
    if (argc > 1 && strcmp(argv[1], "made") == 0) {
        return main_made(argc, argv);
    }
    uint64_t nkeys = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 100000000;
    const char *only = argc > 2 ? argv[2] : "all";
    const char *pages = argc > 3 ? argv[3] : "huge";
    if (nkeys < 1000 || !is_width(only) || !is_one_of(pages, "huge", "4k", "fresh")) {
        fprintf(stderr, "usage: bench_growth [NKEYS [default|small|low|all [huge|4k|fresh]]]\n"
                        "       bench_growth orders [NKEYS [THREADS [FILTER]]]\n"
                        "       bench_growth made [NKEYS]\n");
        return 2;
    }
    bench_heading("growth from empty", SEED);
    printf("%llu keys in batches of %d; memory: %s; medians of %d\n\n", (unsigned long long)nkeys,
           BENCH_BATCH, pages, BENCH_ROUNDS);
    bool fresh = strcmp(pages, "fresh") == 0;
    struct bench_memory memory;
    if (!fresh) {
        bench_memory_init(&memory, nkeys * 10 + ((size_t)64 << 20), strcmp(pages, "huge") == 0);
    }
    for (size_t w = 0; w < sizeof(bench_widths) / sizeof(*bench_widths); w++) {
        if (strcmp(only, "all") == 0 || strcmp(only, bench_widths[w].name) == 0) {
            bench_width(&bench_widths[w], nkeys, fresh ? NULL : &memory);
        }
    }
    return 0;
}
