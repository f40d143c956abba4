/* SPDX-License-Identifier: MIT
 *
 * The order of keys: every filter that grows takes the same keys in other orders (sorted, reversed,
 * by their top bits, range by range, merged stores) with the memory and the work of random order,
 * and answers right. Work is counted in pages or keys that growing has gone through, so that no
 * clock is asked. Then keys that only someone makes who knows the seed: a bounded cost for each. */
#include "set_check.h"

enum {
    BATCH = 256,
    METER_MAX = 64 << 20
};

/* ---- memory, with its peak ---- */

struct meter {
    struct test_allocator allocator;
    size_t peak;
};

static void *meter_alloc(void *context, size_t size, size_t align)
{
    struct meter *m = context;
    if (m->allocator.bytes + size > METER_MAX) {
        return NULL;
    }
    void *ptr = test_alloc(&m->allocator, size, align);
    m->peak = m->allocator.bytes > m->peak ? m->allocator.bytes : m->peak;
    return ptr;
}

static void meter_free(void *context, void *ptr, size_t size)
{
    struct meter *m = context;
    test_free(&m->allocator, ptr, size);
}

/* ---- orders ---- */

static int compare_keys(const void *a, const void *b)
{
    const struct unseen_key *x = a;
    const struct unseen_key *y = b;
    return x->hi != y->hi ? (x->hi > y->hi) - (x->hi < y->hi) : (x->lo > y->lo) - (x->lo < y->lo);
}

static void sort_keys(struct unseen_key *keys, size_t n)
{
    qsort(keys, n, sizeof(*keys), compare_keys);
}

/* The part of a key that an order goes by, from the top of 64 bits. Keys of the same part stay as
 * they come. */
static uint64_t by_top_bits(struct unseen_key key, unsigned bits)
{
    return key.hi >> (64 - bits);
}

static uint64_t by_low_bits(struct unseen_key key, unsigned bits)
{
    return key.hi & (((uint64_t)1 << bits) - 1);
}

static uint64_t by_place(struct unseen_key key, unsigned bits)
{
    return key.lo & (((uint64_t)1 << bits) - 1);
}

static uint64_t by_mixed_ranges(struct unseen_key key, unsigned bits)
{
    return (key.hi >> (64 - bits)) * 5 % ((uint64_t)1 << bits);
}

static const struct order {
    const char *name;
    uint64_t (*part)(struct unseen_key key, unsigned bits);
    unsigned bits;
    unsigned nstores; /* so many stores, each sorted, one after the other */
    bool is_reversed;
} orders[] = {
    {.name = "random"},
    {.name = "sorted", .nstores = 1},
    {.name = "reversed", .nstores = 1, .is_reversed = true},
    {.name = "3 sorted stores", .nstores = 3},
    {.name = "top bit", .part = by_top_bits, .bits = 1},
    {.name = "top 2 bits, reversed", .part = by_top_bits, .bits = 2, .is_reversed = true},
    {.name = "top 4 bits", .part = by_top_bits, .bits = 4},
    {.name = "top 8 bits", .part = by_top_bits, .bits = 8},
    {.name = "top 16 bits", .part = by_top_bits, .bits = 16},
    {.name = "16 ranges", .part = by_mixed_ranges, .bits = 4},
    {.name = "low 16 bits", .part = by_low_bits, .bits = 16},
    {.name = "low 17 bits of lo", .part = by_place, .bits = 17},
};

static size_t part_of(const struct order *order, struct unseen_key key)
{
    return (size_t)order->part(key, order->bits);
}

static void by_parts(const struct order *order, struct unseen_key *to,
                     const struct unseen_key *from, size_t n)
{
    size_t *at = calloc(((size_t)1 << order->bits) + 1, sizeof(*at));
    if (!at) {
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        at[part_of(order, from[i]) + 1]++;
    }
    for (size_t part = 0; part < (size_t)1 << order->bits; part++) {
        at[part + 1] += at[part];
    }
    for (size_t i = 0; i < n; i++) {
        to[at[part_of(order, from[i])]++] = from[i];
    }
    free(at);
}

static void put_in_order(const struct order *order, struct unseen_key *to,
                         const struct unseen_key *from, size_t n)
{
    if (order->part) {
        by_parts(order, to, from, n);
    } else {
        memcpy(to, from, n * sizeof(*to));
    }
    for (size_t store = 0; store < order->nstores; store++) {
        const size_t first = n * store / order->nstores;
        sort_keys(to + first, n * (store + 1) / order->nstores - first);
    }
    for (size_t i = 0; i < n / 2 && order->is_reversed; i++) {
        const struct unseen_key key = to[i];
        to[i] = to[n - 1 - i];
        to[n - 1 - i] = key;
    }
}

/* ---- one growth ---- */

struct growing {
    const char *name;
    const char *filter;
    double fpr;
    size_t nkeys;
};

/* What a set of these keys has become. */
struct outcome {
    uint64_t nnew;
    uint64_t nlost;
    uint64_t nlisted; /* keys in lists of whole keys */
    uint64_t work;
    uint64_t nslots;
    uint64_t memory;
    size_t peak;
    bool keeps_promise;
};

static void look_inside(const struct unseen_set *set, struct outcome *outcome)
{
    for (size_t i = 0; i < (size_t)1 << set->shard_bits; i++) {
        const struct compact *c = test_compact(set, i);
        outcome->work += c->work;
        outcome->nlisted += c->stash.nkeys;
        CHECK(test_compact_sound(c));
    }
}

static uint64_t add_all(struct unseen_set *set, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[BATCH];
    uint64_t nnew = 0;
    for (size_t i = 0; i < n; i += BATCH) {
        const size_t batch = n - i < BATCH ? n - i : BATCH;
        CHECK(unseen_set_add_keys(set, keys + i, batch, verdicts, NULL) == UNSEEN_OK);
        for (size_t k = 0; k < batch; k++) {
            nnew += verdicts[k] == UNSEEN_NEW;
        }
    }
    return nnew;
}

static uint64_t count_seen(const struct unseen_set *set, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[BATCH];
    uint64_t nseen = 0;
    for (size_t i = 0; i < n; i += BATCH) {
        const size_t batch = n - i < BATCH ? n - i : BATCH;
        CHECK(unseen_set_contains_keys(set, keys + i, batch, verdicts, NULL) == UNSEEN_OK);
        for (size_t k = 0; k < batch; k++) {
            nseen += verdicts[k] == UNSEEN_SEEN;
        }
    }
    return nseen;
}

/* What is asked of a set before it goes. */
typedef void (*last_check)(const struct unseen_set *set, const struct unseen_key *keys, size_t n);

static struct outcome grow(const struct growing *growing, unsigned threads,
                           const struct unseen_key *keys, size_t n, last_check last)
{
    struct meter meter = {0};
    struct outcome outcome = {0};
    struct unseen_allocator allocator = {meter_alloc, meter_free, &meter};
    struct unseen_set_options options = {.size = sizeof(options),
                                         .profile = "none",
                                         .filter = growing->filter,
                                         .fpr = growing->fpr,
                                         .threads = threads,
                                         .cpu = test_cpu,
                                         .allocator = &allocator};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    struct unseen_set *set = NULL;
    if (unseen_set_create(&set, &options, NULL) != UNSEEN_OK) {
        exit(2);
    }
    outcome.nnew = add_all(set, keys, n);
    outcome.nlost = n - count_seen(set, keys, n);
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    outcome.nslots = stats.nslots;
    outcome.memory = stats.memory;
    outcome.peak = meter.peak;
    outcome.keeps_promise = stats.fpr_estimate <= stats.fpr_promise;
    look_inside(set, &outcome);
    if (last) {
        last(set, keys, n);
    }
    unseen_set_free(set);
    CHECK_EQ(meter.allocator.nlive, 0);
    return outcome;
}

/* ---- orders against random order ---- */

static bool is_at_most(uint64_t value, double factor, uint64_t other)
{
    return (double)value <= factor * (double)other;
}

static void check_orders(const struct growing *growing, unsigned threads, size_t n)
{
    struct unseen_key *keys = malloc(n * sizeof(*keys));
    struct unseen_key *ordered = malloc(n * sizeof(*ordered));
    struct outcome random = {0};
    if (!keys || !ordered) {
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = test_key(i);
    }
    for (size_t o = 0; o < sizeof(orders) / sizeof(*orders); o++) {
        put_in_order(&orders[o], ordered, keys, n);
        const struct outcome x = grow(growing, threads, ordered, n, NULL);
        random = o == 0 ? x : random;
        CHECK_EQ(x.nlost, 0);
        CHECK(x.keeps_promise);
        bool ok = CHECK(is_at_most(x.memory, 1.1, random.memory));
        ok = CHECK(is_at_most(x.peak, 1.1, random.peak)) && ok;
        ok = CHECK(is_at_most(x.nslots, 1.1, random.nslots)) && ok;
        ok = CHECK(is_at_most(x.work, 1.5, random.work)) && ok;
        ok = CHECK(x.nlisted <= n / 1000) && ok;
        ok = CHECK(x.nnew <= n && (double)(n - x.nnew) <= 4 + 2 * growing->fpr * (double)n) && ok;
        if (!ok || getenv("UNSEEN_TEST_SCALE")) {
            printf("%s, %u threads, %zu keys, %s: work %.3f, slots %.3f, memory %.3f, peak %.3f, "
                   "%llu listed, %llu taken for seen\n",
                   growing->name, threads, n, orders[o].name,
                   (double)x.work / (double)(random.work ? random.work : 1),
                   (double)x.nslots / (double)random.nslots,
                   (double)x.memory / (double)random.memory, (double)x.peak / (double)random.peak,
                   (unsigned long long)x.nlisted, (unsigned long long)(n - x.nnew));
        }
    }
    free(keys);
    free(ordered);
}

/* ---- keys made by someone who knows the seed ---- */

enum hostile {
    PREFIX_14,
    PREFIX_40,
    ONE_LO,
    SIXTEEN_LOS,
    NHOSTILE
};

/* The bits that are not common to all are random: that the keys are new says nothing about
 * rates. */
static struct unseen_key hostile_key(enum hostile kind, uint64_t i)
{
    const struct unseen_key key = test_key(i);
    switch (kind) {
    case PREFIX_14:
        return (struct unseen_key){key.lo, key.hi >> 14};
    case PREFIX_40:
        return (struct unseen_key){key.lo, (uint64_t)0xabcdef1234 << 24 | key.hi >> 40};
    case ONE_LO:
        return (struct unseen_key){0x1234, key.hi};
    default:
        return (struct unseen_key){0x1234 + key.lo % 16 * 256, key.hi};
    }
}

/* No key of the same kind that was not added is there, and nothing is there twice. */
static void check_others(const struct unseen_set *set, const struct unseen_key *keys, size_t n)
{
    (void)keys;
    enum {
        NASKED = 20000
    };
    struct unseen_key *others = malloc(NASKED * sizeof(*others));
    if (!others) {
        exit(2);
    }
    for (uint64_t i = 0; i < NASKED; i++) {
        others[i] = test_key(n + i);
    }
    CHECK(count_seen(set, others, NASKED) <= 1);
    free(others);
}

/* Every key is there; for each at most 120 bytes, after what the first few groups take, and as
 * much work as growing takes for some 20 keys in random order. */
static void check_hostile(const struct growing *growing, enum hostile kind, size_t n)
{
    struct unseen_key *keys = malloc(n * sizeof(*keys));
    if (!keys) {
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = hostile_key(kind, i);
    }
    const struct outcome x = grow(growing, 1, keys, n, check_others);
    CHECK_EQ(x.nlost, 0);
    CHECK(x.keeps_promise);
    bool ok = CHECK(x.memory <= ((uint64_t)4 << 20) + 120 * n);
    ok = CHECK(x.work <= n / 5 + 2000) && ok;
    if (!ok || getenv("UNSEEN_TEST_SCALE")) {
        printf("%s, %zu keys, hostile %d: work %llu, memory %llu, %llu listed, %llu new\n",
               growing->name, n, (int)kind, (unsigned long long)x.work,
               (unsigned long long)x.memory, (unsigned long long)x.nlisted,
               (unsigned long long)x.nnew);
    }
    free(keys);
}

/* ---- the inside of the compact filter ---- */

static struct unseen__filter *make_filter(enum compact_width width, unsigned cut,
                                          enum unseen_cpu cpu, struct meter *meter)
{
    const struct unseen__filter_params params = {
        .fpr = test_fprs[width],
        .cpu = cpu,
        .allocator = {meter_alloc, meter_free, meter},
    };
    struct unseen__filter *filter = NULL;
    if (unseen__compact_create_cut(&filter, &params, cut) != UNSEEN_OK) {
        exit(2);
    }
    return filter;
}

static void add_in_batches(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                           size_t batch)
{
    uint8_t verdicts[BATCH];
    for (size_t i = 0; i < n; i += batch) {
        size_t ndone;
        const size_t count = n - i < batch ? n - i : batch;
        CHECK(filter->ops->add(filter, keys + i, count, verdicts, &ndone) == UNSEEN_OK);
    }
}

static bool same_pieces(const struct unseen__filter *x, const struct unseen__filter *y)
{
    static uint8_t a[UNSEEN_CHUNK_MAX];
    static uint8_t b[UNSEEN_CHUNK_MAX];
    uint64_t at_x = 0;
    uint64_t at_y = 0;
    size_t len;
    do {
        len = x->ops->save_piece(x, &at_x, a);
        if (y->ops->save_piece(y, &at_y, b) != len || memcmp(a, b, len) != 0) {
            return false;
        }
    } while (len);
    return true;
}

/* Keys of ever longer prefixes, so that at each split nearly all tags go to one half, of which some
 * have run out of bits (the shortened tags have 5) and belong to both. */
static struct unseen_key deeper_key(size_t i)
{
    const struct unseen_key key = test_key(i);
    return (struct unseen_key){key.lo, key.hi >> (i < 16000 ? 3 : i < 30000 ? 6 : 8)};
}

/* Where halves are uneven at every split, keys leave the same bytes at every level and with any
 * batch, and none is lost. */
static void check_inside(enum compact_width width, bool is_cut)
{
    enum {
        N = 60000
    };
    const unsigned cut = !is_cut ? 0 : width ? 26 : 18;
    struct meter meter = {0};
    struct unseen__filter *one = make_filter(width, cut, UNSEEN_CPU_PORTABLE, &meter);
    struct unseen__filter *other = make_filter(width, cut, test_cpu, &meter);
    struct unseen_key *keys = malloc(N * sizeof(*keys));
    if (!keys) {
        exit(2);
    }
    for (size_t i = 0; i < N; i++) {
        keys[i] = is_cut ? deeper_key(i) : test_key(i);
    }
    if (!is_cut) {
        sort_keys(keys, N);
    }
    add_in_batches(one, keys, N, 1);
    add_in_batches(other, keys, N, BATCH);
    CHECK(same_pieces(one, other));
    const struct compact *c = (const struct compact *)(const void *)other;
    CHECK(test_compact_sound(c));
    uint64_t nlost = 0;
    for (size_t i = 0; i < N; i++) {
        uint8_t verdict;
        other->ops->contains(other, &keys[i], 1, &verdict);
        nlost += verdict != UNSEEN_SEEN;
    }
    CHECK_EQ(nlost, 0);
    one->ops->free(one);
    other->ops->free(other);
    free(keys);
    CHECK_EQ(meter.allocator.nlive, 0);
}

/* A set with groups of very different depths goes through an export into one for more threads. */
static void check_export(const struct unseen_set *set, const struct unseen_key *keys, size_t n)
{
    for (unsigned threads = 1; threads <= 32; threads *= 32) {
        const struct unseen_set_options options = {
            .size = sizeof(options), .profile = "none", .threads = threads, .cpu = test_cpu};
        struct test_image image = test_export(set);
        struct unseen_set *copy = NULL;
        if (CHECK(test_import(&image, &options, &copy) == UNSEEN_OK)) {
            CHECK_EQ(count_seen(copy, keys, n), n);
            CHECK(test_set_sound(copy));
        }
        unseen_set_free(copy);
        test_image_free(&image);
    }
}

static void check_export_of(const struct growing *growing, size_t n)
{
    struct unseen_key *keys = malloc(n * sizeof(*keys));
    if (!keys) {
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = hostile_key(i % 2 ? PREFIX_14 : PREFIX_40, i);
    }
    const struct outcome x = grow(growing, 1, keys, n, check_export);
    CHECK_EQ(x.nlost, 0);
    free(keys);
}

int main(void)
{
    static const struct growing growing[] = {
        {"compact, small", "compact", 2e-6, 120000},
        {"compact", "compact", 0, 90000},
        {"compact, low", "compact", 1e-12, 69000},
        {"compact, counts", "scalable-count", 0, 90000},
    };
    test_start();
    for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++) {
        check_orders(&growing[i], 1, growing[i].nkeys);
        check_orders(&growing[i], 2, growing[i].nkeys / 2);
    }
    check_orders(&growing[1], 2, 250000); /* enough for each of the filters to split */
    for (size_t i = 0; i < 3; i++) {
        for (int kind = 0; kind < NHOSTILE; kind++) {
            check_hostile(&growing[i], (enum hostile)kind, 40000);
        }
    }
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        check_inside(width, false);
        check_inside(width, true);
        check_export_of(&growing[width], 40000);
    }
    return test_end();
}
