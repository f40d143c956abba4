/* SPDX-License-Identifier: MIT
 *
 * bench_growth orders: the same keys in different orders. Each row is an order; time and memory are
 * given as ratios to random order, and the goal is 1.5 times the time and 1.1 times the memory. The
 * allocator gives memory in large blocks, so the pages in use are compared, too, by their slots.
 *
 * The last rows are other keys, such as only someone makes who knows the seed: with a long prefix
 * in common, and for the same few lines. Their only goal is that the time does not explode. */
#ifndef UNSEEN_BENCH_GROWTH_ORDERS_H
#define UNSEEN_BENCH_GROWTH_ORDERS_H

#include "bench.h"

static const double order_time_goal = 1.5;
static const double order_memory_goal = 1.1;

/* Counts what an allocator of the C library hands out. */
struct order_memory {
    size_t live;
    size_t peak;
};

static void *order_alloc(void *context, size_t size, size_t align)
{
    struct order_memory *m = context;
    align = align < sizeof(void *) ? sizeof(void *) : align;
    void *block = NULL;
    if (posix_memalign(&block, align, size) != 0) {
        return NULL;
    }
    m->live += size;
    m->peak = m->live > m->peak ? m->live : m->peak;
    return block;
}

static void order_free(void *context, void *ptr, size_t size)
{
    struct order_memory *m = context;
    m->live -= size;
    free(ptr);
}

/* ---- orders ---- */

static int order_compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct unseen_key *)a)->hi;
    const uint64_t y = ((const struct unseen_key *)b)->hi;
    return (x > y) - (x < y);
}

static size_t order_digit(uint64_t word, unsigned first, unsigned bits)
{
    return (size_t)(word << first >> (64 - bits));
}

/* Stable, by bits first to first + bits - 1 of a word, counted from the top. */
static void order_by_bits(struct unseen_key *to, const struct unseen_key *from, size_t n, bool lo,
                          unsigned first, unsigned bits)
{
    size_t *at = calloc(((size_t)1 << bits) + 1, sizeof(*at));
    if (!at) {
        bench_die("calloc");
    }
    for (size_t i = 0; i < n; i++) {
        at[order_digit(lo ? from[i].lo : from[i].hi, first, bits) + 1]++;
    }
    for (size_t d = 0; d < (size_t)1 << bits; d++) {
        at[d + 1] += at[d];
    }
    for (size_t i = 0; i < n; i++) {
        to[at[order_digit(lo ? from[i].lo : from[i].hi, first, bits)]++] = from[i];
    }
    free(at);
}

static void order_sorted(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    memcpy(to, from, n * sizeof(*to));
    qsort(to, n, sizeof(*to), order_compare);
}

static void order_reversed(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    order_sorted(to, from, n);
    for (size_t i = 0; i < n / 2; i++) {
        const struct unseen_key key = to[i];
        to[i] = to[n - 1 - i];
        to[n - 1 - i] = key;
    }
}

/* Seven stores, each sorted, one after the other. */
static void order_merged(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    for (size_t part = 0; part < 7; part++) {
        const size_t first = n * part / 7;
        order_sorted(to + first, from + first, n * (part + 1) / 7 - first);
    }
}

/* Sixteen ranges of keys, not in order, each in random order. */
static void order_ranges(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    size_t done = 0;
    for (size_t part = 0; part < 16; part++) {
        for (size_t i = 0; i < n; i++) {
            if (from[i].hi >> 60 == (part * 7 + 3) % 16) {
                to[done++] = from[i];
            }
        }
    }
}

static void order_prefix_14(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct unseen_key){from[i].lo, from[i].hi >> 14};
    }
}

static void order_prefix_30(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct unseen_key){from[i].lo, from[i].hi >> 30};
    }
}

static void order_one_place(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct unseen_key){0x1234, from[i].hi};
    }
}

static void order_16_places(struct unseen_key *to, const struct unseen_key *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct unseen_key){0x1234 + from[i].lo % 16 * 256, from[i].hi};
    }
}

static const struct order {
    const char *name;
    void (*make)(struct unseen_key *to, const struct unseen_key *from, size_t n);
    bool lo;
    unsigned first;
    unsigned bits;
    bool is_hostile;
} orders[] = {
    {.name = "random"},
    {.name = "sorted", .make = order_sorted},
    {.name = "reversed", .make = order_reversed},
    {.name = "by the top bit", .bits = 1},
    {.name = "by the top 4 bits", .bits = 4},
    {.name = "by the top 8 bits", .bits = 8},
    {.name = "by the top 16 bits", .bits = 16},
    {.name = "16 ranges, mixed", .make = order_ranges},
    {.name = "7 sorted stores", .make = order_merged},
    {.name = "by the low 16 bits", .first = 48, .bits = 16},
    {.name = "by lo's low 17 bits", .lo = true, .first = 47, .bits = 17},
    {.name = "prefix of 14 bits", .make = order_prefix_14, .is_hostile = true},
    {.name = "prefix of 30 bits", .make = order_prefix_30, .is_hostile = true},
    {.name = "16 los", .make = order_16_places, .is_hostile = true},
    {.name = "one lo", .make = order_one_place, .is_hostile = true},
};

enum {
    NORDERS = sizeof(orders) / sizeof(*orders)
};

static void order_make(const struct order *order, struct unseen_key *to,
                       const struct unseen_key *from, size_t n)
{
    if (order->make) {
        order->make(to, from, n);
    } else if (order->bits) {
        order_by_bits(to, from, n, order->lo, order->first, order->bits);
    } else {
        memcpy(to, from, n * sizeof(*to));
    }
}

/* ---- growths ---- */

static const struct order_filter {
    const char *label;
    const char *name;
    double fpr;
} order_filters[] = {
    {"compact", "compact", 0},
    {"compact, small", "compact", 2e-6},
    {"compact, low", "compact", 1e-12},
};

struct order_result {
    double times[BENCH_ROUNDS];
    struct unseen_set_stats stats;
    size_t peak;
};

static void order_grow(const struct order_filter *filter, unsigned threads,
                       const struct unseen_key *keys, size_t n, int round,
                       struct order_result *result)
{
    struct order_memory memory = {0};
    const struct unseen_allocator allocator = {order_alloc, order_free, &memory};
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = filter->name,
                                               .fpr = filter->fpr,
                                               .threads = threads,
                                               .allocator = &allocator};
    struct unseen_set *set;
    uint8_t verdicts[BENCH_BATCH];
    const double start = bench_cpu();
    bench_check(unseen_set_create(&set, &options, NULL));
    for (size_t i = 0; i < n; i += BENCH_BATCH) {
        const size_t batch = n - i < BENCH_BATCH ? n - i : BENCH_BATCH;
        bench_check(unseen_set_add_keys(set, keys + i, batch, verdicts, NULL));
    }
    result->times[round] = (bench_cpu() - start) / (double)n * 1e9;
    result->stats = bench_stats(set);
    result->peak = memory.peak;
    unseen_set_free(set);
}

static void bench_orders_of(const struct order_filter *filter, unsigned threads,
                            struct unseen_key *const *keys, size_t n)
{
    struct order_result results[NORDERS] = {0};
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        for (size_t o = 0; o < NORDERS; o++) {
            order_grow(filter, threads, keys[o], n, round, &results[o]);
        }
    }
    printf("\n%s, %zu keys, %u thread%s\n", filter->label, n, threads, threads == 1 ? "" : "s");
    printf("  %-20s %8s %7s %9s %7s %7s %7s\n", "order", "ns/key", "ratio", "MiB", "ratio", "peak",
           "slots");
    double random_time = 0;
    const struct order_result *random = &results[0];
    for (size_t o = 0; o < NORDERS; o++) {
        const struct order_result *r = &results[o];
        const double time = bench_median(results[o].times, BENCH_ROUNDS);
        random_time = o == 0 ? time : random_time;
        const double memory = (double)r->stats.memory / (double)random->stats.memory;
        const double slots = (double)r->stats.nslots / (double)random->stats.nslots;
        const bool is_slow = time / random_time > order_time_goal;
        const bool is_large = memory > order_memory_goal || slots > order_memory_goal;
        printf("  %-20s %8.1f %7.2f %9.2f %7.3f %7.3f %7.3f%s%s%s\n", orders[o].name, time,
               time / random_time, (double)r->stats.memory / (1 << 20), memory,
               (double)r->peak / (double)random->peak, slots,
               is_slow && !orders[o].is_hostile ? "  TIME" : "",
               is_large && !orders[o].is_hostile ? "  MEMORY" : "",
               orders[o].is_hostile ? "  other keys" : "");
    }
    fflush(stdout);
}

/* Every growing filter, or those whose name begins with only. */
static void bench_orders(size_t n, const char *only, unsigned threads, uint64_t seed)
{
    struct unseen_key *keys[NORDERS];
    for (size_t o = 0; o < NORDERS; o++) {
        keys[o] = malloc(n * sizeof(*keys[o]));
        if (!keys[o]) {
            bench_die("malloc");
        }
    }
    bench_keys(keys[0], 0, n, seed);
    for (size_t o = 1; o < NORDERS; o++) {
        order_make(&orders[o], keys[o], keys[0], n);
    }
    printf("the same keys in other orders, medians of %d; goal: %.1f x the time and %.1f x the "
           "memory of random order; rows that miss it say so\n",
           BENCH_ROUNDS, order_time_goal, order_memory_goal);
    for (size_t f = 0; f < sizeof(order_filters) / sizeof(*order_filters); f++) {
        if (strncmp(order_filters[f].label, only, strlen(only)) == 0) {
            bench_orders_of(&order_filters[f], threads, keys, n);
        }
    }
    for (size_t o = 0; o < NORDERS; o++) {
        free(keys[o]);
    }
}

#endif
