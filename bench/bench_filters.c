/* SPDX-License-Identifier: MIT
 *
 * Every filter of the library in one run: how fast it is at a size, and whether its rate of wrong
 * answers is what its formula says.
 *
 *     bench_filters speed [-f FILTER] [-s SEED] [-o SVG] [MIB]...      sizes (256)
 *     bench_filters rates [-f FILTER] [-s SEED] [-o SVG] [NKEYS]...    capacities (1e5 1e7)
 *
 * Speed: CPU time per key of adding new keys, of adding and asking in one step where half of the
 * keys are new, of asking for keys that are there and for some that are not, and of removing, in
 * batches of 256 under one seed. Each filter is made for a rate of 1e-4 and as many keys as fit,
 * and has 95 % of them. Beside them the textbook's Bloom filter and counting filter, one key at a
 * time as textbooks have it, and the memory itself: one random line, or two adjacent ones, fetched
 * ahead, read, and written where a filter would write. The textbook Bloom filter is filled with
 * random bits, as full as keys would make it, and the counters start at 0: neither changes what an
 * operation costs. A figure is the median of 5 rounds of 2^20 keys, 2 ns of making a key included.
 *
 * Rates: each filter gets 10, 50, 100 and 200 % of its capacity, and 10^7 questions about keys that
 * are not there. z is the difference to unseen_plan_rate in standard deviations, z own that to the
 * rate that the filter itself tells from what is stored (unseen_set_stats). The deviation is that of
 * the answers and that of the filters: chance fills some blocks more than others. Up to 10^6 keys 64
 * filters are made, with other seeds, and the deviation is that among them. A large filter is made
 * once, and how much such filters differ is taken from 64 small ones: the variance falls with the
 * number of blocks, but for a chain, whose first links are the same few dozen blocks however long it
 * gets. Filters that grow get no capacity: their formula is that of a set which did not know its
 * size. Ends with status 1 if one |z| is above 4, and says how many are above 3: of a hundred rows
 * chance brings one there every fourth time. */
#include "bench.h"

#include <math.h>

#include "../cli/print/chart.h"
#include "textbook_bloom.h"
#include "textbook_counting.h"

enum {
    OPS = 1 << 20,
    SETS = 64,
    SETS_KEYS_MAX = 1000000, /* above, one filter is made */
    SMALL_KEYS = 10000
};

#define FPR 1e-4

/* Key numbers: members are 0 .. nmembers - 1; the others are far away. */
static const uint64_t new_keys = (uint64_t)1 << 40;
static const uint64_t absent_keys = (uint64_t)1 << 41;

static struct chart chart;
static const char *only; /* NULL: all filters */
static uint64_t seed = 1;

static double drawn; /* the capacity whose rates are drawn */

static bool is_wanted(const char *name)
{
    return !only || strcmp(name, only) == 0;
}

static void write_chart(const char *path)
{
    const struct chart *const charts[] = {&chart};
    FILE *to = fopen(path, "w");
    if (!to) {
        bench_die(path);
    }
    chart_svg(to, charts, 1);
    if (ferror(to) || fclose(to) != 0) {
        bench_die(path);
    }
}

/* The series of this name, made if there is none. */
static struct chart_series *series_of(const char *name, bool is_points)
{
    for (size_t i = 0; i < chart.nseries; i++) {
        if (strcmp(chart.series[i].name, name) == 0) {
            return &chart.series[i];
        }
    }
    if (chart.nseries == CHART_SERIES) {
        return NULL;
    }
    struct chart_series *s = &chart.series[chart.nseries++];
    snprintf(s->name, sizeof(s->name), "%s", name);
    s->is_points = is_points;
    return s;
}

static void add_point(struct chart_series *s, double x, double y)
{
    if (s && s->npoints < CHART_POINTS) {
        s->x[s->npoints] = x;
        s->y[s->npoints++] = y;
    }
}

/* ---- Speed: what is measured ------------------------------------------------------------------ */

enum operation {
    ADD_NEW,
    ADD_HALF, /* every other key is known */
    HIT,
    MISS,
    REMOVE,
    NOPERATIONS
};

static const char *const operation_names[] = {"add new", "add half", "hit", "miss", "remove"};

struct subject {
    const char *name;
    void *object;
    bool removes;
    /* Handles n keys, at most BENCH_BATCH; how many were seen. */
    uint64_t (*run)(void *object, enum operation operation, const struct unseen_key *keys,
                    size_t n);
    uint64_t nops; /* keys in a round, a multiple of BENCH_BATCH */
};

static uint64_t run_set(void *object, enum operation operation, const struct unseen_key *keys,
                        size_t n)
{
    struct unseen_set *set = object;
    uint8_t verdicts[BENCH_BATCH];
    uint64_t nseen = n;
    if (operation <= ADD_HALF) {
        bench_check(unseen_set_add_keys(set, keys, n, verdicts, NULL));
    } else if (operation == REMOVE) {
        bench_check(unseen_set_remove_keys(set, keys, n, verdicts, NULL));
    } else {
        bench_check(unseen_set_contains_keys(set, keys, n, verdicts, NULL));
    }
    for (size_t i = 0; i < n; i++) {
        nseen -= verdicts[i];
    }
    return nseen;
}

static uint64_t run_bloom(void *object, enum operation operation, const struct unseen_key *keys,
                          size_t n)
{
    uint64_t nseen = 0;
    for (size_t i = 0; i < n; i++) {
        nseen += operation <= ADD_HALF ? textbook_bloom_add(object, keys[i].lo, keys[i].hi)
                                       : textbook_bloom_contains(object, keys[i].lo, keys[i].hi);
    }
    return nseen;
}

static uint64_t run_counting(void *object, enum operation operation, const struct unseen_key *keys,
                             size_t n)
{
    uint64_t nseen = 0;
    for (size_t i = 0; i < n; i++) {
        if (operation <= ADD_HALF) {
            nseen += textbook_counting_add(object, keys[i].lo, keys[i].hi);
        } else if (operation == REMOVE) {
            nseen += textbook_counting_remove(object, keys[i].lo, keys[i].hi);
        } else {
            nseen += textbook_counting_contains(object, keys[i].lo, keys[i].hi);
        }
    }
    return nseen;
}

/* The bare accesses. */
struct memory_probe {
    char *base;
    uint64_t nlines;
    unsigned width; /* lines for each key */
    uint64_t sum;
};

static uint64_t run_memory(void *object, enum operation operation, const struct unseen_key *keys,
                           size_t n)
{
    struct memory_probe *probe = object;
    uint64_t *lines[BENCH_BATCH];
    for (size_t i = 0; i < n; i++) {
        const uint64_t block = probe->nlines / probe->width;
        const uint64_t at = (uint64_t)((unsigned __int128)keys[i].hi * block >> 64);
        lines[i] = (uint64_t *)(void *)(probe->base + at * 64 * probe->width);
        for (unsigned w = 0; w < probe->width; w++) {
            __builtin_prefetch(lines[i] + 8 * w, 0, 2);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (unsigned w = 0; w < probe->width; w++) {
            probe->sum += lines[i][8 * w];
            if (operation != HIT && operation != MISS) {
                lines[i][8 * w]++;
            }
        }
    }
    return 0;
}

/* ---- Speed: measuring -------------------------------------------------------------------------- */

/* Runs a round of keys from number first on; of every other one the number is from other on. */
static uint64_t run_all(const struct subject *s, enum operation operation, uint64_t first,
                        uint64_t other, double *ns)
{
    struct unseen_key keys[BENCH_BATCH];
    uint64_t nseen = 0;
    const double start = bench_cpu();
    for (uint64_t done = 0; done < s->nops; done += BENCH_BATCH) {
        bench_keys(keys, first + done, BENCH_BATCH, seed);
        for (size_t i = 1; other && i < BENCH_BATCH; i += 2) {
            bench_keys(&keys[i], other + done + i, 1, seed);
        }
        nseen += s->run(s->object, operation, keys, BENCH_BATCH);
    }
    *ns = (bench_cpu() - start) / (double)s->nops * 1e9;
    return nseen;
}

/* Adds the members 0 .. n - 1. */
static void add_known(const struct subject *s, uint64_t n)
{
    struct unseen_key keys[BENCH_BATCH];
    for (uint64_t done = 0; done < n; done += BENCH_BATCH) {
        const size_t count = n - done < BENCH_BATCH ? (size_t)(n - done) : BENCH_BATCH;
        bench_keys(keys, done, count, seed);
        s->run(s->object, ADD_NEW, keys, count);
    }
}

/* Members are known[0..nmembers). Wrong answers are counted where they cannot be. */
static void measure(const struct subject *s, uint64_t nmembers, double *ns, uint64_t *wrong)
{
    double times[NOPERATIONS][BENCH_ROUNDS];
    memset(times, 0, sizeof(times));
    for (uint64_t round = 0; round < BENCH_ROUNDS; round++) {
        const uint64_t fresh = new_keys + 2 * round * s->nops;
        const uint64_t known = nmembers > s->nops ? bench_mix(round) % (nmembers - s->nops) : 0;
        double *const t[] = {&times[0][round], &times[1][round], &times[2][round], &times[3][round],
                             &times[4][round]};
        run_all(s, ADD_NEW, fresh, 0, t[ADD_NEW]);
        run_all(s, ADD_HALF, fresh + s->nops, known, t[ADD_HALF]);
        *wrong += s->nops - run_all(s, HIT, known, 0, t[HIT]);
        run_all(s, MISS, absent_keys + fresh, 0, t[MISS]);
        if (s->removes) {
            *wrong += s->nops - run_all(s, REMOVE, fresh, 0, t[REMOVE]);
        }
    }
    for (int op = 0; op < NOPERATIONS; op++) {
        ns[op] = bench_median(times[op], BENCH_ROUNDS);
    }
}

struct yardsticks {
    double classic; /* adding half, ns */
    double memory;  /* one line */
};

static void print_row(const char *name, double mib, double bits, const double *ns,
                      const struct yardsticks *y)
{
    char bits_text[16] = "-";
    if (bits > 0) {
        snprintf(bits_text, sizeof(bits_text), "%.2f", bits);
    }
    printf("%-16s %7.0f %8s", name, mib, bits_text);
    for (int op = 0; op < NOPERATIONS; op++) {
        if (ns[op] > 0) {
            printf(" %8.1f", ns[op]);
        } else {
            printf(" %8s", "-");
        }
    }
    printf("  %6.1fx %6.2fx\n", y->classic / ns[ADD_HALF], ns[ADD_HALF] / y->memory);
    fflush(stdout);
    add_point(series_of(name, false), mib, ns[ADD_HALF]);
}

static void *take(struct bench_memory *memory, size_t bytes)
{
    bench_memory_reset(memory);
    void *base = bench_alloc(memory, bytes, 4096);
    if (!base) {
        bench_die("memory");
    }
    memset(base, 0, bytes);
    return base;
}

static void bench_lines(size_t bytes, unsigned width, struct bench_memory *memory,
                        struct yardsticks *y)
{
    struct memory_probe probe = {take(memory, bytes), bytes / 64, width, 0};
    const struct subject s = {"", &probe, true, run_memory, OPS};
    double ns[NOPERATIONS];
    uint64_t ignored = 0;
    measure(&s, UINT64_MAX / 2, ns, &ignored);
    if (width == 1) {
        y->memory = ns[ADD_HALF];
    }
    if (y->classic == 0) {
        y->classic = ns[ADD_HALF];
    }
    if (probe.sum == 1) {
        printf(" ");
    }
    print_row(width == 1 ? "memory, a line" : "memory, a pair", (double)bytes / (1 << 20), 0, ns,
              y);
}

/* Two fifths of all bits are set, as by m / 20 keys with 10 bits each. */
static void bench_classic(size_t bytes, struct bench_memory *memory, struct yardsticks *y,
                          uint64_t *wrong)
{
    struct textbook_bloom bloom = {take(memory, bytes), bytes * 8, 10};
    uint64_t state = 1;
    for (size_t i = 0; i < bytes / 8; i++) {
        const uint64_t a = test_random(&state);
        bloom.words[i] = a & (test_random(&state) | test_random(&state));
    }
    const struct subject s = {"", &bloom, false, run_bloom, OPS};
    double ns[NOPERATIONS];
    const uint64_t nmembers = 2 * OPS;
    add_known(&s, nmembers);
    measure(&s, nmembers, ns, wrong);
    y->classic = ns[ADD_HALF];
    print_row("textbook bloom", (double)bytes / (1 << 20), 20, ns, y);
}

/* They would not fit into the memory of most machines. */
static bool has_counters(size_t bytes)
{
    return is_wanted("counting") && bytes <= (size_t)512 << 20;
}

/* As many counters and as many of them for a key as counting has, of 32 bits: 8 times its memory. */
static void bench_counters(size_t bytes, unsigned k, double bits, struct bench_memory *memory,
                           const struct yardsticks *y, uint64_t *wrong)
{
    struct textbook_counting counting = {take(memory, 8 * bytes), bytes * 2, k};
    const struct subject s = {"", &counting, true, run_counting, OPS};
    double ns[NOPERATIONS];
    const uint64_t nmembers = 2 * OPS;
    add_known(&s, nmembers);
    measure(&s, nmembers, ns, wrong);
    print_row("textbook 32-bit", (double)bytes / (1 << 20) * 8, 8 * bits, ns, y);
}

/* The largest number of keys whose filter is planned to fit. */
static uint64_t keys_for(const char *name, double fpr, size_t bytes)
{
    struct unseen_plan plan = {.size = sizeof(plan), .filter = name, .fpr = fpr};
    uint64_t low = 1;
    uint64_t high = (uint64_t)bytes * 8;
    while (high - low > low / 10000 + 1) {
        struct unseen_plan p = plan;
        p.capacity = low + (high - low) / 2;
        if (unseen_plan(&p) == UNSEEN_OK && p.bits / 8 <= bytes) {
            low = p.capacity;
        } else {
            high = p.capacity;
        }
    }
    return low;
}

/* So many that all rounds fit into the last twentieth of the capacity. */
static uint64_t round_of(uint64_t capacity)
{
    const uint64_t n = capacity / 20 / BENCH_ROUNDS / 2 / BENCH_BATCH * BENCH_BATCH;
    return n > OPS ? OPS : n < BENCH_BATCH ? BENCH_BATCH : n;
}

static struct unseen_plan plan_of(const char *name, double fpr, uint64_t capacity)
{
    struct unseen_plan plan = {
        .size = sizeof(plan), .filter = name, .fpr = fpr, .capacity = capacity};
    if (unseen_plan(&plan) != UNSEEN_OK) {
        plan.size = 0;
    }
    return plan;
}

static void bench_filter(const char *name, size_t bytes, struct bench_memory *memory,
                         const struct yardsticks *y, uint64_t *wrong)
{
    const uint64_t capacity = keys_for(name, FPR, bytes);
    bench_memory_reset(memory);
    struct unseen_allocator allocator = bench_allocator(memory);
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = name,
                                               .fpr = FPR,
                                               .capacity = capacity,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .allocator = &allocator};
    struct unseen_set *set;
    const enum unseen_status status = unseen_set_create(&set, &options, NULL);
    if (status != UNSEEN_OK) {
        printf("%-16s %s\n", name, unseen_status_string(status));
        return;
    }
    const bool removes = bench_stats(set).abilities & UNSEEN_CAN_REMOVE;
    const struct subject s = {name, set, removes, run_set, round_of(capacity)};
    double ns[NOPERATIONS];
    const uint64_t nmembers = capacity / 20 * 19;
    add_known(&s, nmembers);
    measure(&s, nmembers, ns, wrong);
    const struct unseen_set_stats stats = bench_stats(set);
    print_row(name, (double)stats.memory / (1 << 20), 8 * (double)stats.memory / (double)capacity,
              ns, y);
    unseen_set_free(set);
    const struct unseen_plan plan = plan_of(name, FPR, capacity);
    if (strcmp(name, "counting") == 0 && plan.size && has_counters(bytes)) {
        bench_counters(bytes, plan.hashes, plan.bits_per_key, memory, y, wrong);
    }
}

static int speed(char **sizes, int nsizes, const char *svg)
{
    static char *standard[] = {"256"};
    const char *name = NULL;
    uint64_t wrong = 0;
    if (nsizes == 0) {
        sizes = standard;
        nsizes = 1;
    }
    bench_heading("speed of filters", seed);
    printf("ns per key, batches of %d, huge pages that were filled ahead, a rate of %g; %d rounds "
           "of %d keys\n"
           "ratios are of \"add half\": how often textbook bloom's time this is faster, and how "
           "many times the memory's time it takes\n",
           BENCH_BATCH, FPR, BENCH_ROUNDS, OPS);
    snprintf(chart.title, sizeof(chart.title), "Add and ask in one step, half of the keys new");
    chart.x = (struct chart_axis){"MiB of memory", 1, 4096, true};
    chart.y = (struct chart_axis){"ns per key", 1, 1000, true};
    for (int i = 0; i < nsizes; i++) {
        const size_t bytes = (size_t)strtoull(sizes[i], NULL, 10) << 20;
        struct bench_memory memory;
        struct yardsticks y = {0, 0};
        /* A growing filter holds the old and the new for a while; the counters take 8 times. */
        bench_memory_init(&memory, (has_counters(bytes) ? 8 * bytes : 2 * bytes) + bytes / 2, true);
        printf("\n%-16s %7s %8s", "filter", "MiB", "bits/key");
        for (int op = 0; op < NOPERATIONS; op++) {
            printf(" %8s", operation_names[op]);
        }
        printf("  %7s %7s\n", "classic", "memory");
        bench_lines(bytes, 1, &memory, &y);
        bench_lines(bytes, 2, &memory, &y);
        bench_classic(bytes, &memory, &y, &wrong);
        for (size_t f = 0; (name = unseen_filter_name(f)); f++) {
            if (is_wanted(name)) {
                bench_filter(name, bytes, &memory, &y, &wrong);
            }
        }
        munmap(memory.base, memory.size);
    }
    printf("keys that were there and not found: %llu\n", (unsigned long long)wrong);
    if (svg) {
        write_chart(svg);
    }
    return wrong != 0;
}

/* ---- Rates ------------------------------------------------------------------------------------- */

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
    const bool is_chain = plan->abilities & UNSEEN_CAN_GROW;
    const uint64_t nquestions = 1 << 20;
    const struct unseen_plan small = plan_of(plan->filter, plan->fpr, SMALL_KEYS);
    double most = 0;
    memset(chance, 0, NLOADS * sizeof(*chance));
    if (plan->hashes == 0 || (!plan->lines && !is_chain) || !small.size ||
        !count_all(&small, SETS, nquestions, nwrong, own)) {
        return;
    }
    for (size_t l = 0; l < NLOADS; l++) {
        double mean;
        const double among = variance(nwrong, l, SETS, (double)nquestions, &mean);
        const double sets = fmax(0, among - mean * (1 - mean) / (double)nquestions);
        most = fmax(most, sets);
        chance[l] = sets * SMALL_KEYS / (double)plan->capacity;
    }
    for (size_t l = 0; is_chain && l < NLOADS; l++) {
        chance[l] = most;
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
    const bool is_drawn = (double)capacity == drawn && fpr == 1e-2 && !strchr(name, '-');
    if (is_drawn) {
        draw_formula(&plan);
    }
    for (size_t l = 0; l < NLOADS; l++) {
        double rate = 0;
        const double formula = unseen_plan_rate(&plan, loads[l] * (double)capacity);
        const double z_own = z_of(&sample, l, own[l], &rate);
        const double z = z_of(&sample, l, formula, &rate);
        printf("%-14s %10.0f %6g %5.0f%% %12.4g %12.4g %10.3g %7.2f %7.2f\n", name,
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

static int check_rates(char **capacities, int ncapacities, const char *svg)
{
    static char *standard[] = {"1e5", "1e7"};
    const char *name = NULL;
    struct tally tally = {0};
    if (ncapacities == 0) {
        capacities = standard;
        ncapacities = 2;
    }
    bench_heading("rates of wrong answers against the formulas", seed);
    printf("\n%-14s %10s %6s %6s %12s %12s %10s %7s %7s\n", "filter", "capacity", "asked", "load",
           "formula", "measured", "questions", "z", "z own");
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

int main(int argc, char **argv)
{
    const char *svg = NULL;
    const bool is_speed = argc > 1 && strcmp(argv[1], "speed") == 0;
    const bool is_rates = argc > 1 && strcmp(argv[1], "rates") == 0;
    int option = is_speed || is_rates ? 0 : '?';
    argc--;
    argv++;
    while (option != '?' && argc > 0 && (option = getopt(argc, argv, "f:o:s:")) != -1) {
        if (option == 'f') {
            only = optarg;
        } else if (option == 'o') {
            svg = optarg;
        } else if (option == 's') {
            seed = strtoull(optarg, NULL, 10);
        }
    }
    if (option == '?') {
        fprintf(stderr, "usage: bench_filters speed [-f FILTER] [-s SEED] [-o SVG] [MIB]...\n"
                        "       bench_filters rates [-f FILTER] [-s SEED] [-o SVG] [NKEYS]...\n");
        return 2;
    }
    return (is_speed ? speed : check_rates)(argv + optind, argc - optind, svg);
}
