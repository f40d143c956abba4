/* SPDX-License-Identifier: MIT
 *
 * The operations of a set against a model that knows every key: adds, questions, removals, failing
 * allocations and moves through an export. Byte 0 chooses the tags, the threads, the level, the
 * sort of keys, and how full the set is at first; byte 1 how many bits of v are cut; byte 2 where
 * keys differ. Each 4 bytes that follow are an operation on a run of keys. A wrong answer is
 * allowed only if a tag explains it. */
#include "set_check.h"

#include "pool.h"
#include "target.h"

/* Byte 0 as bits. Two threads have 16 filters, which take long: not every second input. */
enum {
    WIDE = 1,
    LOW = 128, /* with WIDE: the tags of the lowest rate */
    PORTABLE = 4,
    RANDOM = 8,
    FULL = 16,
    THREADS = 2 | 32 | 64
};

enum {
    NUMBERS = 1 << 14,
    OPERATIONS_MAX = 100,
    WORK_MAX = 500,  /* of an input: a key is 1 */
    WORK_MOVED = 10, /* a page that goes through an export */
    WORK_MADE = 100, /* a page that is made: all pages of its group are written anew */
};

/* Keys that the first pages just hold. */
static const uint32_t full[COMPACT_WIDTHS] = {7000, 5600, 4200};

struct state {
    struct unseen_set *set;
    struct test_allocator counting;
    uint64_t present[NUMBERS / 64];
    bool random_keys;
    size_t work_left;
    uint32_t nfull; /* keys that were there at first */
    unsigned shift;
};

static bool is_present(const struct state *s, uint32_t number)
{
    return s->present[number / 64] >> number % 64 & 1;
}

static void set_present(struct state *s, uint32_t number, bool present)
{
    uint64_t bit = (uint64_t)1 << number % 64;
    s->present[number / 64] = (s->present[number / 64] & ~bit) | (present ? bit : 0);
}

/* Random, or with few different lines and pages and 12 bits somewhere in the path. */
static struct unseen_key key_of(const struct state *s, uint32_t number)
{
    if (s->random_keys) {
        return test_key(number);
    }
    return (struct unseen_key){(number & 3) * 0x10u + (number >> 2 & 3) * 0x4c41u,
                               (uint64_t)(number >> 4) << s->shift};
}

static struct compact *filter_of(const struct state *s, struct unseen_key key)
{
    return test_compact(s->set, (size_t)((key.hi >> 1) >> (63 - s->set->shard_bits)));
}

static bool explained(const struct state *s, struct unseen_key key)
{
    const struct compact *c = filter_of(s, key);
    return test_matches(c, key) > 0 || unseen__stash_contains(&c->stash, key);
}

static enum compact_width width_of(const uint8_t *head)
{
    return !(head[0] & WIDE) ? COMPACT_32 : head[0] & LOW ? COMPACT_51 : COMPACT_39;
}

static void create(struct state *s, const uint8_t *head)
{
    static const uint64_t seed = 1;
    const struct unseen_allocator allocator = {pool_alloc, pool_free, &s->counting};
    const enum compact_width width = width_of(head);
    struct unseen_set_options options = {
        .size = sizeof(options),
        .profile = "none",
        .fpr = test_fprs[width],
        .seed = &seed,
        .seed_len = sizeof(seed),
        .threads = (head[0] & THREADS) == THREADS ? 2 : 1,
        .cpu = head[0] & PORTABLE ? UNSEEN_CPU_PORTABLE : UNSEEN_CPU_AUTO,
        .allocator = &allocator,
    };
    require(unseen_set_create(&s->set, &options, NULL) == UNSEEN_OK);
    unsigned cut = head[1] % (width ? 31u : 23u);
    for (size_t i = 0; cut && i < (size_t)1 << s->set->shard_bits; i++) {
        struct unseen__filter_params params = {
            .fpr = options.fpr,
            .prefix_bits = s->set->shard_bits,
            .prefix = i,
            .cpu = s->set->cpu,
            .allocator = allocator,
        };
        s->set->ops->free(s->set->shards[i].filter);
        require(unseen__compact_create_cut(&s->set->shards[i].filter, &params, cut) == UNSEEN_OK);
    }
    s->random_keys = (head[0] & RANDOM) != 0;
    s->shift = head[2] % 53;
}

/* A run of numbers, in single calls or as a batch. */
struct run {
    uint32_t first;
    size_t n;
    bool batch;
    struct unseen_key keys[256];
    uint8_t verdicts[256];
};

static uint32_t number_at(const struct run *run, size_t i)
{
    return (run->first + (uint32_t)i) % NUMBERS;
}

static void add(struct state *s, struct run *run)
{
    size_t step = run->batch ? run->n : 1;
    for (size_t at = 0; at < run->n; at += step) {
        size_t ndone = 777;
        bool was_explained = step > 1 || explained(s, run->keys[at]);
        enum unseen_status status =
            unseen_set_add_keys(s->set, run->keys + at, step, run->verdicts, &ndone);
        require(status == UNSEEN_OK ? ndone == step : status == UNSEEN_ERR_NOMEM && ndone < step);
        for (size_t i = 0; i < ndone; i++) {
            uint32_t number = number_at(run, at + i);
            require(run->verdicts[i] <= UNSEEN_NEW);
            require(!is_present(s, number) || run->verdicts[i] == UNSEEN_SEEN);
            require(was_explained || run->verdicts[i] == UNSEEN_NEW);
            require(explained(s, run->keys[at + i]));
            if (run->verdicts[i] == UNSEEN_NEW) {
                set_present(s, number, true);
            }
        }
    }
}

static void ask(const struct state *s, struct run *run)
{
    require(unseen_set_contains_keys(s->set, run->keys, run->n, run->verdicts, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < run->n; i++) {
        require(!is_present(s, number_at(run, i)) || run->verdicts[i] == UNSEEN_SEEN);
        require((run->verdicts[i] == UNSEEN_SEEN) == explained(s, run->keys[i]));
    }
}

/* Removes keys that are present, and keys that the set says are absent. */
static void take(struct state *s, struct run *run)
{
    for (size_t i = 0; i < run->n; i++) {
        uint8_t verdict;
        bool present = is_present(s, number_at(run, i));
        if (!present && explained(s, run->keys[i])) {
            continue;
        }
        require(unseen_set_remove_keys(s->set, &run->keys[i], 1, &verdict, NULL) == UNSEEN_OK);
        require(verdict == (present ? UNSEEN_SEEN : UNSEEN_NEW));
        set_present(s, number_at(run, i), false);
    }
}

/* The set goes on as its own copy. */
static void move(struct state *s, unsigned threads)
{
    const struct unseen_allocator allocator = {pool_alloc, pool_free, &s->counting};
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .threads = threads,
                                               .cpu = s->set->cpu,
                                               .allocator = &allocator};
    struct unseen_set *copy;
    const enum unseen_status status = test_copy(s->set, &options, &copy);
    require(status == UNSEEN_OK || (status == UNSEEN_ERR_NOMEM && s->counting.fail_at));
    require((status == UNSEEN_OK) == (copy != NULL));
    if (copy) {
        unseen_set_free(s->set);
        s->set = copy;
    }
}

static size_t count_pages(const struct state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < (size_t)1 << s->set->shard_bits; i++) {
        n += test_compact(s->set, i)->npages;
    }
    return n;
}

/* So that no input takes long, however its keys collide. */
static void spend(struct state *s, size_t work)
{
    s->work_left -= work < s->work_left ? work : s->work_left;
}

static void run_operation(struct state *s, const uint8_t *code)
{
    static struct run run;
    run.first = load_le16(code + 1);
    run.n = (size_t)code[3] + 1;
    run.n = run.n < s->work_left ? run.n : s->work_left;
    const size_t npages = count_pages(s);
    spend(s, run.n);
    run.batch = code[0] & 8;
    for (size_t i = 0; i < run.n; i++) {
        run.keys[i] = key_of(s, number_at(&run, i));
    }
    switch (code[0] & 7) {
    case 0:
    case 1:
    case 2:
        add(s, &run);
        break;
    case 3:
        ask(s, &run);
        break;
    case 4:
    case 5:
        take(s, &run);
        break;
    case 6:
        s->counting.fail_at = s->counting.nallocs + 1 + code[3] % 8;
        break;
    default:
        spend(s, npages * WORK_MOVED);
        move(s, code[3] % 8 == 7 ? 2 : 1);
        s->counting.fail_at = 0;
    }
    const size_t npages_now = count_pages(s);
    spend(s, npages_now > npages ? (npages_now - npages) * WORK_MADE : 0);
}

/* Removes the keys that are present among 64 numbers, in one batch. Each key must have exactly one
 * tag; of the keys that a full set starts with, only every eighth is checked. */
static void take_word(struct state *s, uint32_t word)
{
    struct unseen_key keys[64];
    uint8_t verdicts[64];
    size_t n = 0;
    for (uint64_t bits = s->present[word]; bits; bits &= bits - 1) {
        const uint32_t number = 64 * word + (uint32_t)__builtin_ctzll(bits);
        const struct unseen_key key = key_of(s, number);
        const struct compact *c = filter_of(s, key);
        require((number < s->nfull && number % 8 != 0) || test_matches(c, key) == 1 ||
                unseen__stash_contains(&c->stash, key));
        keys[n++] = key;
    }
    require(n == 0 || unseen_set_remove_keys(s->set, keys, n, verdicts, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        require(verdicts[i] == UNSEEN_SEEN);
    }
}

static void check_end(struct state *s)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    require(test_set_sound(s->set));
    require(unseen_set_stats(s->set, &stats) == UNSEEN_OK);
    require(stats.memory == s->counting.bytes);
    for (uint32_t word = 0; word < NUMBERS / 64; word++) {
        take_word(s, word);
    }
    require(test_set_sound(s->set));
    unseen_set_free(s->set);
    require(s->counting.nlive == 0);
}

/* Starts from a set that is nearly as full as its first pages can be, so that a few more keys make
 * it grow. The keys are added once for each width, and imported then. */
static void fill(struct state *s, enum compact_width width)
{
    static struct test_image images[COMPACT_WIDTHS];
    struct test_image *image = &images[width];
    const uint32_t nkeys = full[width];
    if (s->set->shard_bits > 0 || filter_of(s, test_key(0))->mark != 1) {
        return; /* many pages, or another kind of tags */
    }
    for (uint32_t i = 0; i < nkeys; i++) {
        const struct unseen_key key = test_key(i);
        uint8_t verdict;
        set_present(s, i, true);
        if (!image->n) {
            require(unseen_set_add_keys(s->set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            require(verdict == UNSEEN_NEW);
        }
    }
    s->random_keys = true;
    s->nfull = nkeys;
    if (!image->n) {
        *image = test_export(s->set);
        return;
    }
    const struct unseen_allocator allocator = {pool_alloc, pool_free, &s->counting};
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = s->set->cpu, .allocator = &allocator};
    unseen_set_free(s->set);
    require(test_import(image, &options, &s->set) == UNSEEN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state s;
    if (size < 3) {
        return 0;
    }
    s = (struct state){.work_left = WORK_MAX};
    create(&s, data);
    if (data[0] & FULL) {
        fill(&s, width_of(data));
    }
    for (size_t at = 3, n = 0; at + 4 <= size && n < OPERATIONS_MAX && s.work_left > 0;
         at += 4, n++) {
        run_operation(&s, data + at);
    }
    check_end(&s);
    return 0;
}
