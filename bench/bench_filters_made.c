/* SPDX-License-Identifier: MIT
 *
 * A filter filled from empty with the memory that the library itself takes: bytes per key when it has
 * all keys, and CPU time per key, page faults included.
 *
 *     bench_filters_made [-c LEVEL] FILTER [RATE [NKEYS]...]       (1e8)
 *
 * LEVEL is auto, avx512, avx2 or portable. RATE 0 is the library's own. Each number of keys is measured twice: made for it, and grown from
 * nothing where the filter can. Of the keys 2^22, or a quarter if that is less, are then added once
 * more, asked for, as many absent ones asked for, and the first removed, where the filter can, in
 * batches of 256; making a key takes 2 ns of it. */
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

/* Returns how many keys were there and not found. */
static uint64_t measure(const char *filter, double fpr, uint64_t n, bool is_made)
{
    const struct unseen_set_options options = {.size = sizeof(options),
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
    const enum unseen_status status = unseen_set_create(&set, &options, NULL);
    if (status != UNSEEN_OK) {
        printf("%-6s %s\n", is_made ? "made" : "grown", unseen_status_string(status));
        return 0;
    }
    const double add = run(set, ADD, 0, n, &nseen);
    const struct unseen_set_stats stats = bench_stats(set);
    const double known = run(set, ADD, n / 2, nops, &nseen);
    wrong += nops - nseen;
    const double hit = run(set, ASK, n / 4, nops, &nseen);
    wrong += nops - nseen;
    const double miss = run(set, ASK, absent_keys, nops, &nseen);
    double removal = 0;
    if (stats.abilities & UNSEEN_CAN_REMOVE) {
        removal = run(set, REMOVE, 0, nops, &nseen);
        wrong += nops - nseen;
    }
    printf("%-6s %10.0f %9.3f %8.1f %8.1f %8.1f %8.1f %8.1f\n", is_made ? "made" : "grown",
           (double)n, (double)stats.memory / (double)n, add, known, hit, miss, removal);
    fflush(stdout);
    unseen_set_free(set);
    return wrong;
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
        wrong += measure(argv[0], fpr, (uint64_t)nkeys, true);
        wrong += measure(argv[0], fpr, (uint64_t)nkeys, false);
    }
    printf("keys that were there and not found: %llu\n", (unsigned long long)wrong);
    return wrong != 0;
}
