/* SPDX-License-Identifier: MIT
 *
 * The set's operations at a given size: CPU time per key of add (new and repeated), contains (hit
 * and miss) and remove, in batches and one at a time, for all widths and every SIMD level, and
 * the same of a textbook Bloom filter, of libbloom, and of the bare memory accesses ("memory":
 * make the key, fetch two lines of one page, read both, write one) in the same run. The sets of all
 * levels and the memory are measured by turns, and printed with their ratio to the memory and the
 * goal.
 *
 *     bench_set [MIB [small-pages]]       MIB (512): the set's memory; keys for 88 % of it
 *
 * On a processor with three levels it takes 5.5 times that memory.
 *
 * A key is made where it is used (about 2 ns, in every figure, the peers' too). Each figure is the
 * median of 5 rounds of 2^22 operations (2^20 of single calls of the set); a round adds, asks, and
 * removes what it added. */
#include "bench.h"

#include "textbook_bloom.h"

#ifdef HAVE_LIBBLOOM
#include <bloom.h>
#endif

enum {
    OPS = 1 << 22,
    SEED = 1
};

enum operation {
    ADD_NEW,
    ADD_REPEAT,
    HIT,
    MISS,
    REMOVE,
    NOPERATIONS
};

/* Key numbers: members are 0 .. nmembers - 1; a round's new keys and the absent ones are far
 * away from them. */
static const uint64_t new_keys = (uint64_t)1 << 40;
static const uint64_t absent_keys = (uint64_t)1 << 41;

/* What repeat, hit, miss and remove may take against the memory. */
static const double GOAL_BATCH = 1.5;
static const double GOAL_SINGLE = 2;

/* Runs one operation on n keys from number first on, batch at a time; how many were seen. */
typedef uint64_t (*run_function)(void *object, enum operation operation, uint64_t first, uint64_t n,
                                 size_t batch);

static uint64_t run_set(void *object, enum operation operation, uint64_t first, uint64_t n,
                        size_t batch)
{
    struct unseen_set *set = object;
    struct unseen_key keys[BENCH_BATCH];
    uint8_t verdicts[BENCH_BATCH];
    uint64_t nseen = 0;
    for (uint64_t done = 0; done < n; done += batch) {
        bench_keys(keys, first + done, batch, SEED);
        switch (operation) {
        case ADD_NEW:
        case ADD_REPEAT:
            bench_check(unseen_set_add_keys(set, keys, batch, verdicts, NULL));
            break;
        case REMOVE:
            bench_check(unseen_set_remove_keys(set, keys, batch, verdicts, NULL));
            break;
        default:
            bench_check(unseen_set_contains_keys(set, keys, batch, verdicts, NULL));
        }
        for (size_t i = 0; i < batch; i++) {
            nseen += verdicts[i] == UNSEEN_SEEN;
        }
    }
    return nseen;
}

static uint64_t run_textbook(void *object, enum operation operation, uint64_t first, uint64_t n,
                             size_t batch)
{
    (void)batch;
    struct textbook_bloom *bloom = object;
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct unseen_key key;
        bench_keys(&key, first + i, 1, SEED);
        nseen += operation <= ADD_REPEAT ? textbook_bloom_add(bloom, key.lo, key.hi)
                                         : textbook_bloom_contains(bloom, key.lo, key.hi);
    }
    return nseen;
}

#ifdef HAVE_LIBBLOOM
static uint64_t run_libbloom(void *object, enum operation operation, uint64_t first, uint64_t n,
                             size_t batch)
{
    (void)batch;
    struct bloom *bloom = object;
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct unseen_key key;
        bench_keys(&key, first + i, 1, SEED);
        nseen += (uint64_t)(operation <= ADD_REPEAT ? bloom_add(bloom, &key, sizeof(key))
                                                    : bloom_check(bloom, &key, sizeof(key)));
    }
    return nseen;
}
#endif

/* What the memory itself allows: for every key two lines of one random page are fetched ahead and
 * read, and one of them is written where the set would write. */
struct memory_probe {
    uint64_t *words;
    uint64_t npages;
};

static uint64_t run_memory(void *object, enum operation operation, uint64_t first, uint64_t n,
                           size_t batch)
{
    struct memory_probe *probe = object;
    struct unseen_key keys[BENCH_BATCH];
    uint64_t *lines[BENCH_BATCH][2];
    uint64_t sum = 0;
    for (uint64_t done = 0; done < n; done += batch) {
        bench_keys(keys, first + done, batch, SEED);
        for (size_t i = 0; i < batch; i++) {
            uint64_t page = (uint64_t)((unsigned __int128)keys[i].hi * probe->npages >> 64);
            for (int k = 0; k < 2; k++) {
                lines[i][k] = probe->words + page * 512 + (keys[i].lo >> 6 * k) % 64 * 8;
                __builtin_prefetch(lines[i][k], 1);
            }
        }
        for (size_t i = 0; i < batch; i++) {
            sum += *lines[i][0] + *lines[i][1];
            if (operation == ADD_NEW || operation == REMOVE) {
                lines[i][0][1]++;
            }
        }
    }
    probe->words[0] = sum;
    return operation == ADD_NEW || operation == MISS ? 0 : n;
}

/* What is measured. */
struct subject {
    run_function run;
    void *object;
    const char *name;
    const char *level;
    uint64_t nmembers; /* keys that it holds */
    bool removes;
    double ns[NOPERATIONS]; /* the result */
};

enum {
    SUBJECTS_MAX = 4 /* a set at each level, and the memory */
};

/* Measures all operations on all subjects by turns, so that a slow minute of the machine hits all
 * of them. wrong counts the wrong answers of operations with more of them than false positives
 * explain: of new keys at most 1 in 1000 may be taken for seen, and as removing such a key takes
 * another one away, few members may be missing. */
static void measure(struct subject *subjects, size_t nsubjects, size_t batch, uint64_t *wrong)
{
    double times[SUBJECTS_MAX][NOPERATIONS][BENCH_ROUNDS];
    for (size_t turn = 0; turn < (size_t)NOPERATIONS * BENCH_ROUNDS * nsubjects; turn++) {
        /* Every subject is the first of a round now and then. */
        const size_t round = turn / nsubjects / NOPERATIONS;
        const int op = (int)(turn / nsubjects % NOPERATIONS);
        const size_t i = (turn + round) % nsubjects;
        const struct subject *s = &subjects[i];
        const uint64_t nops = s->removes && batch == 1 ? OPS / 4 : OPS;
        const uint64_t fresh = new_keys + (uint64_t)round * nops;
        const uint64_t known = bench_mix((uint64_t)round) % (s->nmembers - nops);
        const uint64_t first[NOPERATIONS] = {fresh, known, known, absent_keys + fresh, fresh};
        const bool present[NOPERATIONS] = {false, true, true, false, true};
        times[i][op][round] = 0;
        if (op == REMOVE && !s->removes) {
            continue;
        }
        const double start = bench_cpu();
        const uint64_t nseen = s->run(s->object, (enum operation)op, first[op], nops, batch);
        times[i][op][round] = (bench_cpu() - start) / (double)nops * 1e9;
        if (present[op]) {
            *wrong += nops - nseen > nops / 100000 ? nops - nseen : 0;
        } else if (nseen > nops / 1000) {
            *wrong += nseen;
        }
    }
    for (size_t i = 0; i < nsubjects; i++) {
        for (int op = 0; op < NOPERATIONS; op++) {
            subjects[i].ns[op] = bench_median(times[i][op], BENCH_ROUNDS);
        }
    }
}

/* A row. With `memory`: also the most that an operation other than adding new keys takes against
 * the memory, and the goal. */
static void print_row(const struct subject *s, const char *calls, const double *yardstick,
                      const double *memory)
{
    printf("%-9s %-9s %-7s", s->name, s->level, calls);
    for (int op = 0; op < NOPERATIONS; op++) {
        if (s->ns[op] > 0) {
            printf(" %8.1f", s->ns[op]);
        } else {
            printf(" %8s", "-");
        }
    }
    printf("   %5.1fx", yardstick[ADD_NEW] / s->ns[ADD_NEW]);
    double most = 0;
    for (int op = ADD_REPEAT; memory && op < NOPERATIONS; op++) {
        most = s->ns[op] / memory[op] > most ? s->ns[op] / memory[op] : most;
    }
    if (memory) {
        const double goal = strcmp(calls, "256") == 0 ? GOAL_BATCH : GOAL_SINGLE;
        printf("   %5.2fx; goal %.1f: %s", most, goal, most <= goal ? "met" : "MISSED");
    }
    printf("\n");
    fflush(stdout);
}

/* Adds members until 88 % of the slots are used; how many. A set that grows before it is that full
 * stops at as many keys as 88 % of the slots asked for. */
static uint64_t fill(struct unseen_set *set, uint64_t slots)
{
    const uint64_t step = 1 << 18;
    uint64_t nmembers = 0;
    for (struct unseen_set_stats stats; nmembers < slots / 100 * 88; nmembers += step) {
        stats = bench_stats(set);
        if ((double)stats.nkeys >= 0.88 * (double)stats.nslots) {
            break;
        }
        run_set(set, ADD_NEW, nmembers, step, BENCH_BATCH);
    }
    return nmembers;
}

static struct unseen_set *create_full(enum unseen_cpu level, double fpr, uint64_t slots,
                                      const struct unseen_allocator *allocator,
                                      uint64_t *nmembers_out)
{
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .fpr = fpr,
                                         .capacity = slots / 100 * 78,
                                         .cpu = level,
                                         .allocator = allocator};
    struct unseen_set *set;
    bench_check(unseen_set_create(&set, &options, NULL));
    *nmembers_out = fill(set, slots);
    return set;
}

/* The set of one width at all levels of the processor, beside the memory. */
static void bench_width(const struct bench_width *width, size_t bytes, struct bench_memory *memory,
                        const double *yardstick, uint64_t *wrong)
{
    bench_memory_reset(memory);
    struct memory_probe probe = {bench_alloc(memory, bytes, 4096), bytes / 4096};
    if (!probe.words) {
        bench_die("memory");
    }
    struct subject subjects[SUBJECTS_MAX] = {{.run = run_memory,
                                              .object = &probe,
                                              .name = "memory",
                                              .level = "-",
                                              .nmembers = bytes,
                                              .removes = true}};
    size_t n = 1;
    /* 13 tags of 39 bits or 16 of 32 bits in a line of 64 bytes. */
    const uint64_t slots = bytes / 64 * (width->fpr > 0 ? 16 : 13);
    const struct unseen_allocator allocator = bench_allocator(memory);
    for (int cpu = UNSEEN_CPU_AVX512; cpu >= UNSEEN_CPU_PORTABLE; cpu--) {
        enum unseen_cpu level;
        if (unseen__cpu_select((enum unseen_cpu)cpu, &level, NULL) == UNSEEN_OK) {
            struct subject *s = &subjects[n++];
            *s = (struct subject){.run = run_set, .name = width->name, .removes = true};
            s->object = create_full(level, width->fpr, slots, &allocator, &s->nmembers);
            s->level = bench_stats(s->object).cpu;
        }
    }
    for (int single = 0; single < 2; single++) {
        measure(subjects, n, single ? 1 : BENCH_BATCH, wrong);
        for (size_t i = 0; i < n; i++) {
            print_row(&subjects[i], single ? "single" : "256", yardstick,
                      i > 0 ? subjects[0].ns : NULL);
        }
    }
    const struct unseen_set_stats stats = bench_stats(subjects[1].object);
    printf("          (%.0f MiB, load %.1f %%, %.2f bytes per key)\n",
           (double)stats.memory / (1 << 20), 100 * (double)stats.nkeys / (double)stats.nslots,
           (double)stats.memory / (double)stats.nkeys);
    for (size_t i = 1; i < n; i++) {
        unseen_set_free(subjects[i].object);
    }
}

/* The peers cannot remove: they are filled so that the last round ends at the nominal number of
 * keys. */
static uint64_t peer_members(uint64_t nkeys)
{
    return nkeys - (uint64_t)BENCH_ROUNDS * OPS;
}

static void bench_textbook(uint64_t nkeys, struct bench_memory *memory, double *ns, uint64_t *wrong)
{
    struct textbook_bloom bloom = {.m = nkeys * 20, .k = 10};
    size_t bytes = (size_t)(bloom.m / 64 + 1) * 8;
    bloom.words = bench_alloc(memory, bytes, 4096);
    if (!bloom.words) {
        bench_die("textbook filter");
    }
    memset(bloom.words, 0, bytes);
    run_textbook(&bloom, ADD_NEW, 0, peer_members(nkeys), 1);
    struct subject subject = {.run = run_textbook,
                              .object = &bloom,
                              .name = "textbook",
                              .level = "-",
                              .nmembers = peer_members(nkeys)};
    measure(&subject, 1, 1, wrong);
    memcpy(ns, subject.ns, sizeof(subject.ns));
    print_row(&subject, "single", ns, NULL);
}

static void bench_libbloom(uint64_t nkeys, const double *yardstick, uint64_t *wrong)
{
#ifdef HAVE_LIBBLOOM
    struct bloom bloom;
    if (bloom_init(&bloom, (int)nkeys, 1e-4) != 0) {
        bench_die("bloom_init");
    }
    run_libbloom(&bloom, ADD_NEW, 0, peer_members(nkeys), 1);
    struct subject subject = {.run = run_libbloom,
                              .object = &bloom,
                              .name = "libbloom",
                              .level = "-",
                              .nmembers = peer_members(nkeys)};
    measure(&subject, 1, 1, wrong);
    print_row(&subject, "single", yardstick, NULL);
    bloom_free(&bloom);
#else
    (void)nkeys;
    (void)yardstick;
    (void)wrong;
    printf("libbloom was not there when this was built (package libbloom-dev)\n");
#endif
}

/* How many levels the processor has. */
static size_t nlevels(void)
{
    size_t n = 0;
    for (int cpu = UNSEEN_CPU_PORTABLE; cpu <= UNSEEN_CPU_AVX512; cpu++) {
        enum unseen_cpu level;
        n += unseen__cpu_select((enum unseen_cpu)cpu, &level, NULL) == UNSEEN_OK;
    }
    return n;
}

int main(int argc, char **argv)
{
    uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 512;
    bool huge = argc < 3 || strcmp(argv[2], "small-pages") != 0;
    if (mib < 256 || mib > 900) {
        fprintf(stderr, "usage: bench_set [MIB [small-pages]]   (256 to 900; libbloom counts bits "
                        "in an int)\n");
        return 2;
    }
    size_t bytes = (size_t)mib << 20;
    uint64_t nkeys = bytes / 64 * 13 / 100 * 88;
    uint64_t wrong = 0;
    struct bench_memory memory;
    /* The memory probe, and for each level a set, which may take half as much again as it was made
     * for. */
    bench_memory_init(&memory, bytes + nlevels() * (bytes + bytes / 2), huge);

    bench_heading("set operations", SEED);
    printf("%llu MiB in %s pages, filled ahead; textbook and libbloom: %llu keys; %d rounds of %d "
           "operations\n\n",
           (unsigned long long)mib, huge ? "huge" : "4 KiB", (unsigned long long)nkeys,
           BENCH_ROUNDS, OPS);
    printf("%-9s %-9s %-7s %8s %8s %8s %8s %8s   %s\n", "ns/key", "level", "calls", "add new",
           "repeat", "hit", "miss", "remove",
           "textbook's add / this; most of repeat to remove / memory");
    double yardstick[NOPERATIONS];
    bench_textbook(nkeys, &memory, yardstick, &wrong);
    bench_libbloom(nkeys, yardstick, &wrong);
    for (size_t w = 0; w < sizeof(bench_widths) / sizeof(*bench_widths); w++) {
        bench_width(&bench_widths[w], bytes, &memory, yardstick, &wrong);
    }
    printf("wrong answers: %llu\n", (unsigned long long)wrong);
    return wrong != 0;
}
