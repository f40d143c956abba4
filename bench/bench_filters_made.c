/* SPDX-License-Identifier: MIT
 *
 * A filter filled from empty with the memory that the library itself takes: bytes per key when it
 * has all keys, and CPU time per key, page faults included.
 *
 *     bench_filters_made [-c LEVEL] FILTER [RATE [NKEYS]...]       (1e8)
 *
 * LEVEL is auto, avx512, avx2 or portable. RATE 0 is the library's own. Each number of keys is
 * measured twice, made for it, and grown from nothing where the filter can: medians of five rounds
 * by turns, and the median of their ratios beside the goal. Of the keys 2^22, or a quarter if that
 * is less, are then added once more, asked for, as many absent ones asked for, and the first
 * removed, where the filter can, in batches of 256; making a key takes 2 ns of it. */
#include "bench.h"

enum {
    OPS = 1 << 22
};

enum operation {
    ADD,
    ASK,
    REMOVE
};

static const uint64_t seed = 1;
static const uint64_t absent_keys = (uint64_t)1 << 41;

static enum unseen_cpu cpu = UNSEEN_CPU_AUTO;

/* n keys from number first on; ns per key. *nseen_out: how many were there. */
static double run(struct unseen_set *set, enum operation operation, uint64_t first, uint64_t n,
                  uint64_t *nseen_out)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    const double start = bench_cpu();
    *nseen_out = n;
    for (uint64_t done = 0; done < n; done += BENCH_BATCH) {
        const size_t count = n - done < BENCH_BATCH ? (size_t)(n - done) : BENCH_BATCH;
        bench_keys(keys, first + done, count, seed);
        bench_check(operation == ADD   ? unseen_set_add_keys(set, keys, count, verdicts, NULL)
                    : operation == ASK ? unseen_set_contains_keys(set, keys, count, verdicts, NULL)
                                       : unseen_set_remove_keys(set, keys, count, verdicts, NULL));
        for (size_t i = 0; i < count; i++) {
            *nseen_out -= verdicts[i];
        }
    }
    return (bench_cpu() - start) / (double)n * 1e9;
}

/* The columns of a row. */
enum column {
    ADD_NEW,
    ADD_KNOWN,
    HIT,
    MISS,
    REMOVAL,
    NCOLUMNS
};

/* One row in each round, by turns with the other row. */
struct row {
    double ns[NCOLUMNS][BENCH_ROUNDS];
    struct unseen_set_stats stats;
    enum unseen_status status;
};

/* One round. Returns how many keys were there and not found. */
static uint64_t measure(const char *filter, double fpr, uint64_t n, bool is_made, int round,
                        struct row *row)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .filter = filter,
                                               .fpr = fpr,
                                               .capacity = is_made ? n : 0,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .cpu = cpu};
    struct unseen_set *set;
    const uint64_t nops = n / 4 < OPS ? n / 4 : OPS;
    uint64_t nseen;
    uint64_t wrong = 0;
    row->status = unseen_set_create(&set, &options, NULL);
    if (row->status != UNSEEN_OK) {
        return 0;
    }
    row->ns[ADD_NEW][round] = run(set, ADD, 0, n, &nseen);
    row->stats = bench_stats(set);
    row->ns[ADD_KNOWN][round] = run(set, ADD, n / 2, nops, &nseen);
    wrong += nops - nseen;
    row->ns[HIT][round] = run(set, ASK, n / 4, nops, &nseen);
    wrong += nops - nseen;
    row->ns[MISS][round] = run(set, ASK, absent_keys, nops, &nseen);
    row->ns[REMOVAL][round] = 0;
    if (row->stats.abilities & UNSEEN_CAN_REMOVE) {
        row->ns[REMOVAL][round] = run(set, REMOVE, 0, nops, &nseen);
        wrong += nops - nseen;
    }
    unseen_set_free(set);
    return wrong;
}

static void print_made_row(const char *name, uint64_t n, const struct row *row)
{
    if (row->status != UNSEEN_OK) {
        printf("%-6s %s\n", name, unseen_status_string(row->status));
        return;
    }
    printf("%-6s %10.0f %9.3f", name, (double)n, (double)row->stats.memory / (double)n);
    for (int column = 0; column < NCOLUMNS; column++) {
        double ns[BENCH_ROUNDS];
        memcpy(ns, row->ns[column], sizeof(ns));
        printf(" %8.1f", bench_median(ns, BENCH_ROUNDS));
    }
    printf("\n");
}

/* The filters that a goal for growing names, against one that was made for the keys. */
static void print_growth(const char *filter, const struct row *grown, const struct row *made)
{
    static const struct {
        const char *filter;
        double goal;
    } goals[] = {{"compact", 1.35}};
    double ratios[BENCH_ROUNDS];
    if (grown->status != UNSEEN_OK || made->status != UNSEEN_OK) {
        return;
    }
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        ratios[round] = grown->ns[ADD_NEW][round] / made->ns[ADD_NEW][round];
    }
    const double ratio = bench_median(ratios, BENCH_ROUNDS);
    for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
        if (strcmp(filter, goals[i].filter) == 0) {
            bench_print_goal("add, grown against made", ratio, goals[i].goal);
            return;
        }
    }
    printf("%-60s %6.2f\n", "add, grown against made", ratio);
}

int main(int argc, char **argv)
{
    static char *standard[] = {"1e8"};
    int option;
    while ((option = getopt(argc, argv, "c:")) == 'c') {
        bench_check(unseen_cpu_parse(optarg, &cpu));
    }
    argc -= optind;
    argv += optind;
    if (option != -1 || argc < 1) {
        fprintf(stderr, "usage: bench_filters_made [-c LEVEL] FILTER [RATE [NKEYS]...]\n");
        return 2;
    }
    const double fpr = argc > 1 ? strtod(argv[1], NULL) : 0;
    char **numbers = argc > 2 ? argv + 2 : standard;
    const int n = argc > 2 ? argc - 2 : 1;
    uint64_t wrong = 0;
    bench_heading(argv[0], seed);
    printf("%-6s %10s %9s %8s %8s %8s %8s %8s\n", "", "keys", "bytes/key", "add", "known", "hit",
           "miss", "remove");
    for (int i = 0; i < n; i++) {
        const double nkeys = strtod(numbers[i], NULL);
        if (!(nkeys >= 1000 && nkeys <= 1e12)) {
            fprintf(stderr, "error: %s is not a number of keys from 1000 on\n", numbers[i]);
            return 2;
        }
        struct row made = {.status = UNSEEN_OK};
        struct row grown = {.status = UNSEEN_OK};
        for (int round = 0; round < BENCH_ROUNDS; round++) {
            wrong += measure(argv[0], fpr, (uint64_t)nkeys, true, round, &made);
            wrong += measure(argv[0], fpr, (uint64_t)nkeys, false, round, &grown);
        }
        print_made_row("made", (uint64_t)nkeys, &made);
        print_made_row("grown", (uint64_t)nkeys, &grown);
        print_growth(argv[0], &grown, &made);
        fflush(stdout);
    }
    printf("keys that were there and not found: %llu\n", (unsigned long long)wrong);
    return wrong != 0;
}
