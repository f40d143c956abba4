/* SPDX-License-Identifier: MIT
 *
 * Keys: nanoseconds for each, beside XXH3-128 with a seed, which is faster and can be foreseen. One
 * by one, and in batches at each level, for inputs of random lengths around a mean. All in one run
 * on one core; each figure is the least of ROUNDS rounds over 4,096 inputs in the cache.
 *
 *     bench_key [MEAN]... */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bench.h"

#include "hash/key.h"

enum {
    N = 4096,
    ROUNDS = 200,
    SEED = 1,
    LEVELS = 3
};

static struct unseen_bytes inputs[N];
static struct unseen_key keys[N];
static struct unseen__hasher hashers[LEVELS];

static void run_xxh3(void)
{
    for (size_t i = 0; i < N; i++) {
        const XXH128_hash_t hash = XXH3_128bits_withSeed(inputs[i].data, inputs[i].len, SEED);
        keys[i] = (struct unseen_key){.lo = hash.low64, .hi = hash.high64};
    }
}

static void run_single(void)
{
    for (size_t i = 0; i < N; i++) {
        keys[i] = unseen__key(&hashers[0], inputs[i].data, inputs[i].len, 128);
    }
}

static void run_batches(const struct unseen__hasher *hasher)
{
    for (size_t at = 0; at < N; at += UNSEEN__KEY_LANES) {
        struct unseen__key_batch batch;
        batch.is_whole = 0;
        for (size_t i = 0; i < UNSEEN__KEY_LANES; i++) {
            unseen__key_batch_put(hasher, &batch, i, inputs[at + i].data, inputs[at + i].len);
        }
        unseen__key_batch_make(hasher, &batch, UNSEEN__KEY_LANES, 128, keys + at);
    }
}

static void run(unsigned which)
{
    switch (which) {
    case 0:
        run_xxh3();
        return;
    case 1:
        run_single();
        return;
    default:
        run_batches(&hashers[which - 2]);
    }
}

static void measure(unsigned mean, unsigned nlevels)
{
    static char text[1 << 25];
    uint64_t random = mean;
    size_t used = 0;
    double least[2 + LEVELS];
    for (size_t i = 0; i < N; i++) {
        const size_t len = mean / 2 + test_random(&random) % mean;
        inputs[i] = (struct unseen_bytes){text + used, len};
        used += len;
    }
    for (size_t i = 0; i < used; i++) {
        text[i] = (char)test_random(&random);
    }
    for (unsigned which = 0; which < 2 + LEVELS; which++) {
        least[which] = 1e9;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned which = 0; which < 2 + nlevels; which++) {
            const double start = bench_cpu();
            run(which);
            const double took = bench_cpu() - start;
            least[which] = took < least[which] ? took : least[which];
        }
    }
    printf("%5u", mean);
    for (unsigned which = 0; which < 2 + nlevels; which++) {
        printf(" %9.1f", 1e9 * least[which] / N);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const unsigned means[] = {12, 30, 60, 93, 120, 260, 1000, 4000};
    struct unseen__secret secret;
    enum unseen_cpu best;
    bench_heading("Keys, ns each", SEED);
    bench_check(unseen__secret_make("1", 1, &secret, NULL));
    bench_check(unseen__cpu_select(UNSEEN_CPU_AUTO, &best, NULL));
    const unsigned nlevels = (unsigned)best;
    for (unsigned i = 0; i < nlevels; i++) {
        unseen__hasher_init(&hashers[i], &secret, (enum unseen_cpu)(i + 1));
    }
    printf(" mean      xxh3    single  portable      avx2    avx512\n");
    for (int i = 1; i < argc; i++) {
        const unsigned long mean = strtoul(argv[i], NULL, 10);
        if (mean > 0 && mean < 4000) {
            measure((unsigned)mean, nlevels);
        }
    }
    for (size_t i = 0; argc == 1 && i < 8; i++) {
        measure(means[i], nlevels);
    }
    return 0;
}
