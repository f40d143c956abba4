/* SPDX-License-Identifier: MIT
 *
 * A set that forgets by time, beside what people use instead: two Bloom filters that rotate. The
 * stream is an event a millisecond. Half of the events are new; the others come again after a while
 * that is uniform up to one and a half windows. A list of all times says what is right.
 *
 *     bench_window [NLIVE]          CPU, memory, wrong answers; NLIVE new keys come in 1.5 windows
 *     bench_window longest [NLIVE]  the longest calls in a steady state of keys that are all new,
 *                                   and then, when no more come. Each call does the same in each
 *                                   of three passes: its shortest time counts
 *     bench_window steady [NLIVE]   for callgrind: keys that are all new, with a window
 *     bench_window grow [NLIVE]     the same without one */
#include "bench.h"

#include "textbook_bloom.h"

enum {
    BATCH = 512,
    LEAVING = 4 * BATCH,
    NWINDOWS = 4,
    PASSES = 3
};

static const uint64_t seed = 1;

struct stream {
    uint64_t window;
    uint64_t n;
    struct unseen_key *keys;
    uint8_t *answers; /* the right ones */
};

struct result {
    double cpu;
    double memory;
    uint64_t nlost;  /* were new, and were answered seen */
    uint64_t nagain; /* were seen, and were answered new */
};

static struct unseen_set *make_set(uint64_t window, const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .key_bits = 64,
                                               .allocator = allocator,
                                               .window = window};
    struct unseen_set *set;
    bench_check(unseen_set_create(&set, &options, NULL));
    return set;
}

static void *take_memory(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory) {
        bench_die("memory");
    }
    return memory;
}

/* A new event comes every other millisecond, and nearly every third of those that come again has
 * left the window. */
static void make_stream(struct stream *s, uint64_t nlive)
{
    struct unseen_set *set = make_set(0, NULL);
    uint64_t random = 1;
    uint32_t nids = 0;
    s->window = nlive * 3 / 2;
    s->n = s->window * NWINDOWS;
    s->keys = take_memory(s->n, sizeof(*s->keys));
    s->answers = take_memory(s->n, 1);
    uint32_t *ids = take_memory(s->n, sizeof(*ids));
    uint64_t *since = take_memory(s->n, sizeof(*since)); /* for each id, when it was last new */
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t x = test_random(&random);
        const uint64_t age = (x >> 8) % (s->window * 3 / 2) + 1;
        const uint32_t id = (x & 1) && age <= i ? ids[i - age] : nids++;
        ids[i] = id;
        s->keys[i] = unseen_set_identity_key(set, &id, sizeof(id));
        s->answers[i] = since[id] == 0 || i + 1 - since[id] >= s->window;
        since[id] = s->answers[i] ? i + 1 : since[id];
    }
    free(ids);
    free(since);
    unseen_set_free(set);
}

static size_t batch_at(const struct stream *s, uint64_t i)
{
    return s->n - i < BATCH ? (size_t)(s->n - i) : BATCH;
}

static void count(struct result *r, const struct stream *s, uint64_t i, const uint8_t *verdicts,
                  size_t n)
{
    for (size_t k = 0; k < n; k++) {
        r->nlost += s->answers[i + k] && verdicts[k] == UNSEEN_SEEN;
        r->nagain += !s->answers[i + k] && verdicts[k] == UNSEEN_NEW;
    }
}

/* The set of a window; without one (0) the same set, which forgets nothing. */
static struct result run_set(const struct stream *s, uint64_t window)
{
    struct result r = {0};
    struct unseen_set *set = make_set(window, NULL);
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    const double start = bench_cpu();
    for (uint64_t i = 0; i < s->n; i += BATCH) {
        uint8_t verdicts[BATCH];
        const size_t n = batch_at(s, i);
        if (window > 0) {
            bench_check(unseen_set_expire(set, i + n, LEAVING, NULL));
        }
        bench_check(unseen_set_add_keys(set, s->keys + i, n, verdicts, NULL));
        count(&r, s, i, verdicts, n);
    }
    r.cpu = bench_cpu() - start;
    bench_check(unseen_set_stats(set, &stats));
    r.memory = (double)stats.memory;
    unseen_set_free(set);
    return r;
}

/* Two filters, each for the keys of a window. A key that only the older one has is put into the
 * younger, or not, which makes two ways. Once a window the older one is emptied and becomes the
 * younger. */
static struct result run_rotating(const struct stream *s, unsigned nbits)
{
    struct result r = {0};
    struct textbook_bloom blooms[2];
    for (size_t i = 0; i < 2; i++) {
        blooms[i].m = s->window * nbits;
        blooms[i].k = nbits / 2;
        blooms[i].words = take_memory(blooms[i].m / 64 + 1, 8);
    }
    r.memory = 2.0 * (double)(blooms[0].m / 8);
    const double start = bench_cpu();
    uint64_t turn = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t h1 = s->keys[i].hi;
        const uint64_t h2 = s->keys[i].lo | 1;
        if (i / s->window != turn) {
            turn = i / s->window;
            memset(blooms[turn % 2].words, 0, (blooms[0].m / 64 + 1) * 8);
        }
        const bool seen = textbook_bloom_contains(&blooms[(turn + 1) % 2], h1, h2) ||
                          textbook_bloom_add(&blooms[turn % 2], h1, h2);
        const uint8_t verdict = seen ? UNSEEN_SEEN : UNSEEN_NEW;
        count(&r, s, i, &verdict, 1);
    }
    r.cpu = bench_cpu() - start;
    free(blooms[0].words);
    free(blooms[1].words);
    return r;
}

static void print_row(const char *name, const struct stream *s, struct result *rounds)
{
    double cpu[BENCH_ROUNDS];
    uint64_t nnew = 0;
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        cpu[i] = rounds[i].cpu;
    }
    for (uint64_t i = 0; i < s->n; i++) {
        nnew += s->answers[i];
    }
    printf("%-34s %6.0f ns %6.1f MiB %8.4f %% lost %8.4f %% again\n", name,
           bench_median(cpu, BENCH_ROUNDS) / (double)s->n * 1e9, rounds[0].memory / 1048576,
           100.0 * (double)rounds[0].nlost / (double)nnew,
           100.0 * (double)rounds[0].nagain / (double)(s->n - nnew));
}

static void compare(uint64_t nlive)
{
    struct stream s;
    struct result rounds[4][BENCH_ROUNDS];
    make_stream(&s, nlive);
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        rounds[0][i] = run_set(&s, s.window);
        rounds[1][i] = run_set(&s, 0);
        rounds[2][i] = run_rotating(&s, 20);
        rounds[3][i] = run_rotating(&s, 40);
    }
    print_row("unseen, a window", &s, rounds[0]);
    print_row("unseen, no window (grows)", &s, rounds[1]);
    print_row("two Bloom filters, 20 bits a key", &s, rounds[2]);
    print_row("two Bloom filters, 40 bits a key", &s, rounds[3]);
    free(s.keys);
    free(s.answers);
}

/* The shortest times of a batch, of all passes. */
struct batch_times {
    float expire;
    float add;
};

static void note_time(float *shortest, double seconds)
{
    *shortest = *shortest == 0 || seconds < (double)*shortest ? (float)seconds : *shortest;
}

/* New keys only. With a window of NLIVE: fills it, and then each key that comes makes one leave.
 * times: those of the batches behind the first NLIVE keys, and then as many without keys; or NULL:
 * without these. */
static void steady(uint64_t nlive, bool has_window, struct batch_times *times)
{
    static struct bench_memory memory; /* of all passes */
    if (!memory.base) {
        bench_memory_init(&memory, (has_window ? 18 : 16) * nlive + ((size_t)64 << 20), true);
    }
    bench_memory_reset(&memory);
    const struct unseen_allocator allocator = bench_allocator(&memory);
    struct unseen_set *set = make_set(has_window ? nlive : 0, &allocator);
    for (uint64_t i = 0; i < (times ? 3 : 2) * nlive; i += BATCH) {
        struct unseen_key keys[BATCH];
        uint8_t verdicts[BATCH];
        const size_t n = i < 2 * nlive ? BATCH : 0;
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t id = i + k;
            keys[k] = unseen_set_identity_key(set, &id, sizeof(id));
        }
        const double start = times ? bench_seconds(CLOCK_THREAD_CPUTIME_ID) : 0;
        if (has_window) {
            bench_check(unseen_set_expire(set, i + BATCH, LEAVING, NULL));
        }
        const double middle = times ? bench_seconds(CLOCK_THREAD_CPUTIME_ID) : 0;
        bench_check(unseen_set_add_keys(set, keys, n, verdicts, NULL));
        if (times && i >= nlive) {
            struct batch_times *batch = &times[(i - nlive) / BATCH];
            note_time(&batch->expire, middle - start);
            note_time(&batch->add, bench_seconds(CLOCK_THREAD_CPUTIME_ID) - middle);
        }
    }
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    bench_check(unseen_set_stats(set, &stats));
    printf("%llu keys, %.2f bytes for each\n", (unsigned long long)stats.nkeys,
           (double)stats.memory / (double)stats.nkeys);
    unseen_set_free(set);
}

static void print_longest(const char *what, const struct batch_times *times, uint64_t nbatches)
{
    double most[3] = {0};
    uint64_t nlong = 0;
    for (uint64_t i = 0; i < nbatches; i++) {
        const double both[3] = {times[i].expire, times[i].add,
                                (double)times[i].expire + (double)times[i].add};
        for (int k = 0; k < 3; k++) {
            most[k] = both[k] > most[k] ? both[k] : most[k];
        }
        nlong += both[2] > 1e-3;
    }
    printf("%s, longest, ms: expire %.3f, add of %d %.3f, both %.3f; over 1 ms: %llu of %llu\n",
           what, most[0] * 1e3, BATCH, most[1] * 1e3, most[2] * 1e3, (unsigned long long)nlong,
           (unsigned long long)nbatches);
}

static void longest(uint64_t nlive)
{
    const uint64_t nbatches = nlive / BATCH;
    struct batch_times *times = take_memory(2 * nbatches + 3, sizeof(*times));
    for (int i = 0; i < PASSES; i++) {
        steady(nlive, true, times);
    }
    print_longest("steady", times, nbatches);
    print_longest("no more keys", times + nbatches, nbatches);
    free(times);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const bool is_number = word[0] >= '0' && word[0] <= '9';
    const char *number = is_number ? word : argc > 2 ? argv[2] : "1e6";
    const uint64_t nlive = (uint64_t)strtod(number, NULL);
    if (strcmp(word, "longest") == 0) {
        longest(nlive);
    } else if (strcmp(word, "steady") == 0 || strcmp(word, "grow") == 0) {
        steady(nlive, word[0] == 's', NULL);
    } else {
        compare(nlive);
    }
    return 0;
}
