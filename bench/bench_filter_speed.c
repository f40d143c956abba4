/* SPDX-License-Identifier: MIT
 *
 * How fast every filter of the library is at a size.
 *
 *     bench_filter_speed [-f FILTER] [-s SEED] [-o SVG] [MIB]...      sizes (256)
 *
 * CPU time per key of adding new keys, of adding and asking in one step where half of the
 * keys are new, of asking for keys that are there and for some that are not, and of removing, in
 * batches of 256 under one seed. Each filter is made for a rate of 1e-4 and as many keys as fit,
 * and has 95 % of them. Beside them the textbook's Bloom filter and counting filter, one key at a
 * time as textbooks have it, and the memory itself: one random line, or two adjacent ones, fetched
 * ahead, read, and written where a filter would write. The textbook Bloom filter is filled with
 * random bits, as full as keys would make it, and the counters start at 0: neither changes what an
 * operation costs. A figure is the median of 5 rounds of 2^20 keys, 2 ns of making a key included.
 *
 * The fields of a row have tabs between them; the first is the size. */
#include "bench_filters.h"
#include "textbook_bloom.h"
#include "textbook_counting.h"

enum {
    OPS = 1 << 20
};

#define FPR 1e-4

static const uint64_t new_keys = (uint64_t)1 << 40;

static unsigned size_mib; /* of the filters that are measured */

/* ---- What is measured ------------------------------------------------------------------------ */

enum operation {
    ADD_NEW,
    ADD_HALF, /* every other key is known */
    HIT,
    MISS,
    REMOVE,
    NOPERATIONS
};

static const char *const operation_names[] = {"new", "half", "hit", "miss", "remove"};

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

/* ---- Measuring ------------------------------------------------------------------------------- */

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
    printf("%7u\t%-15s\t%7.0f\t%7s", size_mib, name, mib, bits_text);
    for (int op = 0; op < NOPERATIONS; op++) {
        if (ns[op] > 0) {
            printf("\t%7.1f", ns[op]);
        } else {
            printf("\t%7s", "-");
        }
    }
    printf("\t%6.1fx\t%6.2fx\n", y->classic / ns[ADD_HALF], ns[ADD_HALF] / y->memory);
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

/* As many counters and as many of them for a key as counting has, of 32 bits: 8 times its
 * memory. */
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

static void bench_filter(const char *name, size_t bytes, struct bench_memory *memory,
                         const struct yardsticks *y, uint64_t *wrong)
{
    const uint64_t capacity = keys_for(name, FPR, bytes);
    bench_memory_reset(memory);
    struct unseen_allocator allocator = bench_allocator(memory);
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
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

int main(int argc, char **argv)
{
    const char *svg = NULL;
    const int first = filters_options(
        argc, argv, "bench_filter_speed [-f FILTER] [-s SEED] [-o SVG] [MIB]...", &svg);
    char **sizes = argv + first;
    int nsizes = argc - first;
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
           "new: add new keys; half: add, half of the keys new; ratios are of half: how often "
           "textbook bloom's time this is faster, and how "
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
        size_mib = (unsigned)(bytes >> 20);
        printf("\n%7s\t%-15s\t%7s\t%7s", "size", "filter", "MiB", "bits");
        for (int op = 0; op < NOPERATIONS; op++) {
            printf("\t%7s", operation_names[op]);
        }
        printf("\t%7s\t%7s\n", "classic", "memory");
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
