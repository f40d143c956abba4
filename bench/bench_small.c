/* SPDX-License-Identifier: MIT
 *
 * Small sets: bytes of a value against the goals, the measured rate with its confidence interval,
 * and CPU time of an add and of a question; then static sets beside LevelDB's Bloom filter.
 *
 *     bench_small [NVALUES]
 *
 * NVALUES (1,000) values of each kind up to 1,000 keys, a tenth of them with more keys.
 *
 * "bytes" is the length of a value; "block" is what the allocator is asked for; "jemalloc" is the
 * block as the allocator of a server rounds it (four sizes in each power of two, steps of 16 below
 * 128).
 * RedisBloom is a chain grown from capacity 100, computed from its structs
 * (docs/decisions/small.md). */
#include "bench.h"

#include <math.h>
#include <unseen_small.h>

enum {
    SEED = 1,
    NRATES = 3,
    NSIZES = 6,
    NASKED = 1 << 20
};

static const double rates[NRATES] = {1e-2, 1e-3, 1e-4};
static const size_t sizes[NSIZES] = {1, 10, 50, 200, 1000, 10000};
static const double goals[NRATES][NSIZES] = {{16, 32, 64, 300, 1700, 20000},
                                             {16, 32, 96, 380, 2100, 25000},
                                             {16, 32, 112, 460, 2500, 29000}};
static const double redisbloom[NRATES][NSIZES] = {{240, 240, 240, 616, 2976, 29600},
                                                  {296, 296, 296, 792, 3872, 37200},
                                                  {360, 360, 360, 976, 4776, 44800}};

static void *make(double fpr, size_t n, uint64_t first)
{
    void *value;
    bench_check(unseen_small_create(&value, fpr, NULL));
    for (size_t done = 0; done < n;) {
        struct unseen_key keys[BENCH_BATCH];
        uint8_t verdicts[BENCH_BATCH];
        const size_t count = n - done < BENCH_BATCH ? n - done : BENCH_BATCH;
        bench_keys(keys, first + done, count, SEED);
        bench_check(unseen_small_add(&value, keys, count, verdicts, NULL, NULL));
        done += count;
    }
    return value;
}

/* The block as jemalloc gives it. */
static double size_class(double bytes)
{
    double step = 16;
    while (bytes > step * 8) {
        step *= 2;
    }
    return ceil(bytes / step) * step;
}

static void report_bytes(size_t nvalues)
{
    printf("\n%-8s %7s %9s %9s %9s %9s %7s %10s %7s\n", "rate", "keys", "bytes", "block",
           "jemalloc", "goal", "ratio", "RedisBloom", "ratio");
    for (unsigned r = 0; r < NRATES; r++) {
        for (unsigned s = 0; s < NSIZES; s++) {
            const size_t count = sizes[s] > 1000 ? nvalues / 10 : nvalues;
            double bytes = 0;
            double block = 0;
            double rounded = 0;
            for (size_t v = 0; v < count; v++) {
                void *value = make(rates[r], sizes[s], (uint64_t)v << 20);
                struct unseen_small_stats stats = {.size = sizeof(stats)};
                bench_check(unseen_small_stats(value, &stats));
                bytes += (double)stats.len;
                block += (double)stats.memory;
                rounded += size_class((double)stats.memory);
                unseen_small_free(value, NULL);
            }
            const double n = (double)count;
            printf("%-8g %7zu %9.1f %9.1f %9.1f %9.0f %7.2f %10.0f %7.2f\n", rates[r], sizes[s],
                   bytes / n, block / n, rounded / n, goals[r][s], bytes / n / goals[r][s],
                   redisbloom[r][s], rounded / n / redisbloom[r][s]);
        }
    }
}

/* The measured rate, and the interval in which the true rate lies with a probability of 95 %. */
static void report_rate(double fpr, size_t n, size_t nvalues, size_t nasked)
{
    uint64_t nseen = 0;
    double estimate = 0;
    for (size_t v = 0; v < nvalues; v++) {
        void *value = make(fpr, n, (uint64_t)v << 20);
        struct unseen_small_stats stats = {.size = sizeof(stats)};
        bench_check(unseen_small_stats(value, &stats));
        estimate += stats.fpr_estimate;
        for (size_t done = 0; done < nasked; done += BENCH_BATCH) {
            struct unseen_key keys[BENCH_BATCH];
            uint8_t verdicts[BENCH_BATCH];
            bench_keys(keys, (UINT64_C(1) << 50) + ((uint64_t)v << 20) + done, BENCH_BATCH, SEED);
            unseen_small_contains(value, keys, BENCH_BATCH, verdicts);
            for (size_t i = 0; i < BENCH_BATCH; i++) {
                nseen += verdicts[i] == UNSEEN_SEEN;
            }
        }
        unseen_small_free(value, NULL);
    }
    const double asked = (double)nvalues * ceil((double)nasked / BENCH_BATCH) * BENCH_BATCH;
    const double rate = (double)nseen / asked;
    const double half = 1.96 * sqrt(rate / asked);
    printf("%-8g %7zu %12.0f %11.3g %11.3g .. %-10.3g %10.3g %7.2f\n", fpr, n, asked, rate,
           fmax(rate - half, 0), rate + half, estimate / (double)nvalues, rate / fpr);
}

static void report_rates(size_t nvalues)
{
    printf("\n%-8s %7s %12s %11s %25s %10s %7s\n", "promise", "keys", "asked", "rate",
           "95 % interval", "estimate", "ratio");
    for (unsigned r = 0; r < NRATES; r++) {
        for (unsigned s = 2; s < NSIZES; s++) {
            const size_t count = sizes[s] > 1000 ? nvalues / 100 + 1 : nvalues;
            report_rate(rates[r], sizes[s], count, sizes[s] > 1000 ? 1 << 20 : 1 << 13);
        }
    }
}

/* ns for each key: adds one at a time to values with n keys; questions for absent and for present
 * keys, in batches of 1 and of 256; and a set of the same bytes in a sorted array. */
static void report_speed(double fpr, size_t n)
{
    enum {
        ROUNDS = BENCH_ROUNDS,
        NSAME = 64
    };
    double add[ROUNDS];
    double absent[ROUNDS];
    double present[ROUNDS];
    double batch[ROUNDS];
    static struct unseen_key keys[NASKED / 16];
    static uint8_t verdicts[NASKED / 16];
    const size_t nasked = NASKED / 16;
    for (unsigned round = 0; round < ROUNDS; round++) {
        void *values[NSAME];
        double start;
        double empty = 0;
        for (size_t v = 0; v < NSAME; v++) {
            values[v] = make(fpr, n, (uint64_t)v << 20);
        }
        /* Each value gets a tenth of its keys more, one at a time. */
        const size_t more = n / 10 + 1;
        for (size_t v = 0; v < NSAME; v++) {
            bench_keys(keys, ((uint64_t)v << 20) + n, more, SEED);
            start = bench_cpu();
            for (size_t i = 0; i < more; i++) {
                bench_check(unseen_small_add(&values[v], &keys[i], 1, verdicts, NULL, NULL));
            }
            empty += bench_cpu() - start;
        }
        add[round] = empty / (double)(more * NSAME) * 1e9;
        bench_keys(keys, UINT64_C(1) << 50, nasked, SEED);
        start = bench_cpu();
        for (size_t i = 0; i < nasked; i++) {
            unseen_small_contains(values[i % NSAME], &keys[i], 1, &verdicts[i]);
        }
        absent[round] = (bench_cpu() - start) / (double)nasked * 1e9;
        start = bench_cpu();
        for (size_t i = 0; i + BENCH_BATCH <= nasked; i += BENCH_BATCH) {
            unseen_small_contains(values[i / BENCH_BATCH % NSAME], keys + i, BENCH_BATCH, verdicts);
        }
        batch[round] = (bench_cpu() - start) / (double)nasked * 1e9;
        for (size_t i = 0; i < nasked; i++) {
            bench_keys(&keys[i], ((uint64_t)(i % NSAME) << 20) + bench_mix(i) % n, 1, SEED);
        }
        start = bench_cpu();
        for (size_t i = 0; i < nasked; i++) {
            unseen_small_contains(values[i % NSAME], &keys[i], 1, &verdicts[i]);
        }
        present[round] = (bench_cpu() - start) / (double)nasked * 1e9;
        for (size_t v = 0; v < NSAME; v++) {
            unseen_small_free(values[v], NULL);
        }
    }
    printf("%-8g %7zu %9.0f %9.0f %9.0f %9.0f\n", fpr, n, bench_median(add, ROUNDS),
           bench_median(absent, ROUNDS), bench_median(present, ROUNDS),
           bench_median(batch, ROUNDS));
}

static void report_speeds(void)
{
    printf("\n%-8s %7s %9s %9s %9s %9s   (CPU ns for each key)\n", "rate", "keys", "add", "absent",
           "present", "batch");
    for (unsigned s = 1; s < NSIZES; s++) {
        report_speed(1e-2, sizes[s]);
    }
    report_speed(1e-4, 50);
    report_speed(1e-4, 10000);
    report_speed(1.5e-6, 1000);
}

/* LevelDB's Bloom filter with b bits for a key: its bytes, and its formula of the rate. */
static double leveldb_bytes(double n, double bits)
{
    return ceil(fmax(n * bits, 64) / 8) + 1;
}

static void report_static(size_t nvalues)
{
    static const size_t counts[] = {12, 20, 30, 60, 90, 200, 1000, 10000};
    const double k = floor(10 * 0.69);
    const double fpr = pow(1 - exp(-k / 10), k);
    printf("\n%-8s %7s %9s %9s %11s %7s %9s %9s %9s\n", "rate", "keys", "bytes", "bits/key",
           "Bloom 10", "ratio", "measured", "build ns", "ask ns");
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        const size_t n = counts[c];
        const size_t count = nvalues * 20 / n + 20;
        const size_t nasked = 1 << 12;
        static struct unseen_key keys[10000];
        static struct unseen_key absent[1 << 12];
        static uint8_t buf[1 << 16];
        double bytes = 0;
        double building = 0;
        double asking = 0;
        double nseen = 0;
        for (size_t v = 0; v < count; v++) {
            size_t len = 0;
            bench_keys(keys, (uint64_t)v << 20, n, SEED);
            bench_keys(absent, (UINT64_C(1) << 50) + ((uint64_t)v << 20), nasked, SEED);
            double start = bench_cpu();
            bench_check(unseen_static_build(keys, n, fpr, buf, sizeof(buf), &len));
            building += bench_cpu() - start;
            start = bench_cpu();
            for (size_t i = 0; i < nasked; i++) {
                nseen += unseen_static_contains(buf, len, absent[i]);
            }
            asking += bench_cpu() - start;
            bytes += (double)len;
        }
        const double values = (double)count;
        printf("%-8.3g %7zu %9.1f %9.2f %11.0f %7.2f %9.2e %9.0f %9.0f\n", fpr, n, bytes / values,
               bytes / values * 8 / (double)n, leveldb_bytes((double)n, 10),
               bytes / values / leveldb_bytes((double)n, 10), nseen / values / (double)nasked,
               building / values / (double)n * 1e9, asking / values / (double)nasked * 1e9);
    }
}

int main(int argc, char **argv)
{
    const size_t nvalues = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1000;
    test_start();
    if (nvalues < 10) {
        fprintf(stderr, "usage: bench_small [NVALUES, at least 10]\n");
        return 2;
    }
    bench_heading("small sets", SEED);
    report_bytes(nvalues);
    report_rates(nvalues);
    report_speeds();
    report_static(nvalues);
    return 0;
}
