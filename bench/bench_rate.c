/* SPDX-License-Identifier: MIT
 *
 * The false-positive rate, measured: a set grows from empty, and at every power of ten many
 * absent keys are asked for.
 *
 *     bench_rate [NKEYS [NQUESTIONS]]        10^8 and 10^8
 *
 * "at most" is the one-sided 95 % bound of a Poisson count (Byar's approximation). Ends with
 * status 1 if a count is too high for the promise (probability of that below 10^-3 per line if
 * the rate were just the promised one), or if a member is denied. */
#include "bench.h"

#include <math.h>

enum {
    SEED = 1
};

static const uint64_t absent_keys = (uint64_t)1 << 41;

static uint64_t count_seen(const struct unseen_set *set, uint64_t first, uint64_t n)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < n; i += BENCH_BATCH) {
        size_t batch = n - i < BENCH_BATCH ? (size_t)(n - i) : BENCH_BATCH;
        bench_keys(keys, first + i, batch, SEED);
        bench_check(unseen_set_contains_keys(set, keys, batch, verdicts, NULL));
        for (size_t k = 0; k < batch; k++) {
            nseen += verdicts[k] == UNSEEN_SEEN;
        }
    }
    return nseen;
}

static void add(struct unseen_set *set, uint64_t first, uint64_t n)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    for (uint64_t i = 0; i < n; i += BENCH_BATCH) {
        size_t batch = n - i < BENCH_BATCH ? (size_t)(n - i) : BENCH_BATCH;
        bench_keys(keys, first + i, batch, SEED);
        bench_check(unseen_set_add_keys(set, keys, batch, verdicts, NULL));
    }
}

/* The mean that a count exceeds with probability 5 % only (z = 1.645). */
static double upper_bound(double count)
{
    double c = count + 1;
    return c * pow(1 - 1 / (9 * c) + 1.645 / (3 * sqrt(c)), 3);
}

/* The count that a Poisson variable of this mean exceeds with probability below 10^-3: the same
 * cube-root approximation the other way round (z = 3.09), plus one for its error at small means. */
static double highest_count(double mean)
{
    double c = mean + 1;
    return c * pow(1 - 1 / (9 * c) + 3.09 / (3 * sqrt(c)), 3) + 1;
}

/* One line of the report; false if it breaks the promise. */
static bool report(const struct unseen_set *set, uint64_t nadded, uint64_t nquestions)
{
    uint64_t nwrong = count_seen(set, absent_keys, nquestions);
    uint64_t ndenied = nadded - count_seen(set, 0, nadded);
    struct unseen_set_stats stats = bench_stats(set);
    double questions = (double)nquestions;
    printf("%12llu %12llu %10llu %10.2e %10.2e %10.2e %10.2e %8llu\n", (unsigned long long)nadded,
           (unsigned long long)(nadded - stats.nkeys), (unsigned long long)nwrong,
           (double)nwrong / questions, upper_bound((double)nwrong) / questions, stats.fpr_estimate,
           stats.fpr_promise, (unsigned long long)ndenied);
    fflush(stdout);
    return (double)nwrong <= highest_count(stats.fpr_promise * questions) && ndenied == 0;
}

int main(int argc, char **argv)
{
    uint64_t nkeys = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 100000000;
    uint64_t nquestions = argc > 2 ? (uint64_t)strtod(argv[2], NULL) : 100000000;
    if (nkeys < 1000 || nquestions < 1000) {
        fprintf(stderr, "usage: bench_rate [NKEYS [NQUESTIONS]]   (each at least 1000)\n");
        return 2;
    }
    bench_heading("false-positive rate while growing", SEED);
    printf("%llu questions about absent keys at each power of ten\n",
           (unsigned long long)nquestions);
    bool kept = true;
    for (size_t w = 0; w < sizeof(bench_widths) / sizeof(*bench_widths); w++) {
        struct unseen_set_options options = {
            .size = sizeof(options), .profile = "none", .fpr = bench_widths[w].fpr};
        struct unseen_set *set;
        bench_check(unseen_set_create(&set, &options, NULL));
        printf("\n%s\n%12s %12s %10s %10s %10s %10s %10s %8s\n", bench_widths[w].name, "added",
               "lost", "wrong", "rate", "at most", "estimated", "promised", "denied");
        uint64_t nadded = 0;
        for (uint64_t decade = 1000; decade <= nkeys; decade *= 10) {
            add(set, nadded, decade - nadded);
            nadded = decade;
            kept = report(set, nadded, nquestions) && kept;
        }
        unseen_set_free(set);
    }
    printf("\n%s\n", kept ? "every promise kept" : "A PROMISE IS BROKEN");
    return !kept;
}
