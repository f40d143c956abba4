/* SPDX-License-Identifier: MIT
 *
 * Whether the rate of wrong answers of every filter of the library is what its formula says.
 *
 *     bench_filter_rates [-f FILTER] [-s SEED] [-o SVG] [NKEYS]...    capacities (1e5 1e7)
 *
 * Each filter gets 10, 50, 100 and 200 % of its capacity, and 10^7 questions about keys that
 * are not there. z is the difference to unseen_plan_rate in standard deviations, z own that to the
 * rate that the filter itself tells from what is stored (unseen_set_stats). The deviation is that
 * of the answers and that of the filters: chance fills some blocks more than others. Up to 10^6
 * keys 64 filters are made, with other seeds, and the deviation is that among them. A large filter
 * is made once, and how much such filters differ is taken from 64 small ones: the variance falls
 * with the number of blocks. Filters that grow get no capacity: their formula is that of a set
 * which did not know its size. Ends with status 1 if one |z| is above 4, and says how many are
 * above 3: of a hundred rows chance brings one there every fourth time.
 *
 * The fields of a row have tabs between them. */
#include "bench_filters.h"

enum {
    SETS = 64,
    SETS_KEYS_MAX = 1000000, /* above, one filter is made */
    SMALL_KEYS = 10000
};

static double drawn; /* the capacity whose rates are drawn */

enum {
    NLOADS = 4
};

static const double loads[NLOADS] = {0.1, 0.5, 1, 2};
static const double rates[] = {0.1, 1e-2, 1e-4};

static void add_keys(struct unseen_set *set, uint64_t first, uint64_t end, uint64_t key_seed)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    for (uint64_t i = first; i < end; i += BENCH_BATCH) {
        const size_t n = end - i < BENCH_BATCH ? (size_t)(end - i) : BENCH_BATCH;
        bench_keys(keys, i, n, key_seed);
        bench_check(unseen_set_add_keys(set, keys, n, verdicts, NULL));
    }
}

static uint64_t count_wrong(const struct unseen_set *set, uint64_t nquestions, uint64_t key_seed)
{
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    uint64_t nwrong = 0;
    for (uint64_t i = 0; i < nquestions; i += BENCH_BATCH) {
        bench_keys(keys, absent_keys + i, BENCH_BATCH, key_seed);
        bench_check(unseen_set_contains_keys(set, keys, BENCH_BATCH, verdicts, NULL));
        for (size_t j = 0; j < BENCH_BATCH; j++) {
            nwrong += verdicts[j] == UNSEEN_SEEN;
        }
    }
    return nwrong;
}

/* nwrong[set][load] of a filter made nsets times. False if it cannot be made. */
static bool count_all(const struct unseen_plan *plan, size_t nsets, uint64_t nquestions,
                      uint64_t nwrong[SETS][NLOADS], double own[NLOADS])
{
    const bool grows = plan->abilities & UNSEEN_CAN_GROW;
    for (uint64_t s = 0; s < nsets; s++) {
        const uint64_t set_seed = bench_mix(seed * SETS + s);
        struct unseen_set_options options = {.size = sizeof(options),
                                             .profile = "none",
                                             .filter = plan->filter,
                                             .fpr = plan->fpr,
                                             .capacity = grows ? 0 : plan->capacity,
                                             .seed = &set_seed,
                                             .seed_len = sizeof(set_seed)};
        struct unseen_set *set;
        if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
            return false;
        }
        uint64_t nkeys = 0;
        for (size_t l = 0; l < NLOADS; l++) {
            const uint64_t end = (uint64_t)(loads[l] * (double)plan->capacity);
            add_keys(set, nkeys, end, set_seed);
            nkeys = end;
            nwrong[s][l] = count_wrong(set, nquestions, set_seed);
            own[l] += bench_stats(set).fpr_estimate / (double)nsets;
        }
        unseen_set_free(set);
    }
    return true;
}

/* The variance among the rates of the sets. */
static double variance(uint64_t nwrong[SETS][NLOADS], size_t load, size_t nsets, double nquestions,
                       double *mean_out)
{
    double sum = 0;
    double squares = 0;
    for (size_t s = 0; s < nsets; s++) {
        sum += (double)nwrong[s][load] / nquestions;
    }
    *mean_out = sum / (double)nsets;
    for (size_t s = 0; s < nsets; s++) {
        const double off = (double)nwrong[s][load] / nquestions - *mean_out;
        squares += off * off;
    }
    return nsets > 1 ? squares / (double)(nsets - 1) : 0;
}

/* By how much the rate of one filter of this kind varies with its seed, as a variance: that among
 * small ones less that of the answers. Only what has blocks is worth a look. */
static void chance_of(const struct unseen_plan *plan, double chance[NLOADS])
{
    static uint64_t nwrong[SETS][NLOADS];
    double own[NLOADS] = {0};
    const uint64_t nquestions = 1 << 20;
    const struct unseen_plan small = plan_of(plan->filter, plan->fpr, SMALL_KEYS);
    memset(chance, 0, NLOADS * sizeof(*chance));
    if (!plan->lines || !small.size || !count_all(&small, SETS, nquestions, nwrong, own)) {
        return;
    }
    for (size_t l = 0; l < NLOADS; l++) {
        double mean;
        const double among = variance(nwrong, l, SETS, (double)nquestions, &mean);
        const double sets = fmax(0, among - mean * (1 - mean) / (double)nquestions);
        chance[l] = sets * SMALL_KEYS / (double)plan->capacity;
    }
}

struct sample {
    uint64_t (*nwrong)[NLOADS];
    size_t nsets;
    double nquestions; /* to each set */
    double chance[NLOADS];
};

/* How many standard deviations the counts are off. Few wrong answers are Poisson distributed, and
 * 2 sqrt(x + 3/8) of them is close to normal with deviation 1 [Anscombe48]. */
static double z_of(const struct sample *sample, size_t load, double expected, double *rate_out)
{
    const double among =
        variance(sample->nwrong, load, sample->nsets, sample->nquestions, rate_out) /
        (double)sample->nsets;
    const double n = sample->nquestions * (double)sample->nsets;
    if (expected * n < 100) {
        return 2 * (sqrt(*rate_out * n + 0.375) - sqrt(expected * n + 0.375));
    }
    const double one = expected * (1 - expected) / n + sample->chance[load];
    return (*rate_out - expected) / sqrt(fmax(among, one));
}

static void draw_formula(const struct unseen_plan *plan)
{
    struct chart_series *s = series_of(plan->filter, false);
    for (int i = 1; s && i <= 40; i++) {
        add_point(s, i * 5, unseen_plan_rate(plan, i * 0.05 * (double)plan->capacity));
    }
}

struct tally {
    unsigned ncompared;
    unsigned nabove3;
    double worst; /* |z| */
};

/* Compares a filter at a capacity and a rate. */
static void compare_rates(const char *name, double fpr, uint64_t capacity, struct tally *tally)
{
    static uint64_t nwrong[SETS][NLOADS];
    double own[NLOADS] = {0};
    const struct unseen_plan plan = plan_of(name, fpr, capacity);
    const bool is_small = capacity <= SETS_KEYS_MAX;
    const uint64_t nquestions = is_small ? 1 << 18 : 10 << 20;
    struct sample sample = {nwrong, is_small ? SETS : 1, (double)nquestions, {0}};
    if (!plan.size || !count_all(&plan, sample.nsets, nquestions, nwrong, own)) {
        return;
    }
    if (!is_small) {
        chance_of(&plan, sample.chance);
    }
    const bool is_drawn = (double)capacity == drawn && fpr == 1e-2;
    if (is_drawn) {
        draw_formula(&plan);
    }
    for (size_t l = 0; l < NLOADS; l++) {
        double rate = 0;
        const double formula = unseen_plan_rate(&plan, loads[l] * (double)capacity);
        const double z_own = z_of(&sample, l, own[l], &rate);
        const double z = z_of(&sample, l, formula, &rate);
        printf("%-15s\t%7.0f\t%7g\t%6.0f%%\t%7.4g\t%7.4g\t%7.3g\t%7.2f\t%7.2f\n", name,
               (double)capacity, fpr, 100 * loads[l], formula, rate,
               sample.nquestions * (double)sample.nsets, z, z_own);
        tally->ncompared++;
        tally->nabove3 += fabs(z) > 3;
        tally->worst = fmax(tally->worst, fabs(z));
        if (is_drawn && rate > 0) {
            add_point(series_of("measured", true), 100 * loads[l], rate);
        }
    }
    fflush(stdout);
}

/* The large take minutes: fewer rates of them. */
static bool is_feasible(double capacity, double rate)
{
    return capacity < 5e6 || rate == 1e-2 || (rate < 1e-2 && capacity < 5e7);
}

int main(int argc, char **argv)
{
    const char *svg = NULL;
    const int first = filters_options(
        argc, argv, "bench_filter_rates [-f FILTER] [-s SEED] [-o SVG] [NKEYS]...", &svg);
    char **capacities = argv + first;
    int ncapacities = argc - first;
    static char *standard[] = {"1e5", "1e7"};
    const char *name = NULL;
    struct tally tally = {0};
    if (ncapacities == 0) {
        capacities = standard;
        ncapacities = 2;
    }
    bench_heading("rates of wrong answers against the formulas", seed);
    printf("\n%-15s\t%7s\t%7s\t%7s\t%7s\t%7s\t%7s\t%7s\t%7s\n", "filter", "keys", "asked", "load",
           "formula", "wrong", "asks", "z", "z own");
    snprintf(chart.title, sizeof(chart.title),
             "Wrong answers by formula (lines) and measured (points); capacity %s, rate 0.01",
             capacities[ncapacities - 1]);
    chart.x = (struct chart_axis){"% of the capacity", 0, 200, false};
    chart.y = (struct chart_axis){"rate", 1e-8, 1, true};
    drawn = strtod(capacities[ncapacities - 1], NULL);
    for (int c = 0; c < ncapacities; c++) {
        const double capacity = strtod(capacities[c], NULL);
        for (size_t r = 0; r < sizeof(rates) / sizeof(*rates); r++) {
            for (size_t f = 0; (name = unseen_filter_name(f)); f++) {
                if (is_wanted(name) && is_feasible(capacity, rates[r])) {
                    compare_rates(name, rates[r], (uint64_t)capacity, &tally);
                }
            }
        }
    }
    printf("%u comparisons, %u with |z| above 3; the worst |z|: %.2f\n", tally.ncompared,
           tally.nabove3, tally.worst);
    if (svg) {
        write_chart(svg);
    }
    return tally.worst > 4;
}
