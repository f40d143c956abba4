/* SPDX-License-Identifier: MIT
 *
 * The operations of a set against a model that knows every key: adds, questions, removals, failing
 * allocations and moves through an export. Byte 0 chooses the tags, the threads, the level and the
 * kind of keys, byte 1 how many bits of v are cut, byte 2 where keys differ; then 4 bytes are an
 * operation on a run of keys. Wrong answers are allowed only where a tag explains them. */
#include "set_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    NUMBERS = 1 << 14,
    OPERATIONS_MAX = 100,
    MOVES_MAX = 5 /* they take long */
};

struct state {
    struct unseen_set *set;
    struct test_allocator counting;
    uint64_t present[NUMBERS / 64];
    bool random_keys;
    unsigned nmoves;
    unsigned shift;
};

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

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
    return test_matches(c, key) > 0 || unseen__overflow_contains(&c->overflow, key);
}

static void create(struct state *s, const uint8_t *head)
{
    static const uint64_t seed = 1;
    const struct unseen_allocator allocator = {test_alloc, test_free, &s->counting};
    const bool wide = head[0] & 1;
    struct unseen_set_options options = {
        .size = sizeof(options),
        .fpr = wide ? UNSEEN_FPR_DEFAULT : 2e-6,
        .seed = &seed,
        .seed_len = sizeof(seed),
        .threads = head[0] & 2 ? 2 : 1,
        .cpu = head[0] & 4 ? UNSEEN_CPU_PORTABLE : UNSEEN_CPU_AUTO,
        .allocator = &allocator,
    };
    require(unseen_set_create(&s->set, &options) == UNSEEN_OK);
    unsigned cut = head[1] % (wide ? 31u : 23u);
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
    s->random_keys = (head[0] & 8) != 0;
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
    require(unseen_set_contains_keys(s->set, run->keys, run->n, run->verdicts) == UNSEEN_OK);
    for (size_t i = 0; i < run->n; i++) {
        require(!is_present(s, number_at(run, i)) || run->verdicts[i] == UNSEEN_SEEN);
        require((run->verdicts[i] == UNSEEN_SEEN) == explained(s, run->keys[i]));
    }
}

/* Removes what is present, and what is absent by its own answer. */
static void take(struct state *s, struct run *run)
{
    for (size_t i = 0; i < run->n; i++) {
        uint8_t verdict;
        bool present = is_present(s, number_at(run, i));
        if (!present && explained(s, run->keys[i])) {
            continue;
        }
        require(unseen_set_remove_keys(s->set, &run->keys[i], 1, &verdict) == UNSEEN_OK);
        require(verdict == (present ? UNSEEN_SEEN : UNSEEN_NEW));
        set_present(s, number_at(run, i), false);
    }
}

/* The set goes on as its own copy. */
static void move(struct state *s, unsigned threads)
{
    const struct unseen_allocator allocator = {test_alloc, test_free, &s->counting};
    struct unseen_set_options options = {
        .size = sizeof(options), .threads = threads, .cpu = s->set->cpu, .allocator = &allocator};
    struct unseen_set *copy = NULL;
    struct test_image image = test_export(s->set);
    enum unseen_status status = test_import(&image, &options, &copy);
    require(status == UNSEEN_OK || (status == UNSEEN_ERR_NOMEM && s->counting.fail_at));
    if (copy) {
        unseen_set_free(s->set);
        s->set = copy;
    }
    test_image_free(&image);
}

static void run_operation(struct state *s, const uint8_t *code)
{
    static struct run run;
    run.first = load_le16(code + 1);
    run.n = (size_t)code[3] + 1;
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
        if (s->nmoves++ < MOVES_MAX) {
            move(s, 1 + code[3] % 2);
        }
        s->counting.fail_at = 0;
    }
}

static void check_end(struct state *s)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    require(test_set_sound(s->set));
    require(unseen_set_stats(s->set, &stats) == UNSEEN_OK);
    require(stats.memory == s->counting.bytes);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        struct unseen_key key = key_of(s, i);
        uint8_t verdict;
        if (is_present(s, i)) {
            const struct compact *c = filter_of(s, key);
            require(test_matches(c, key) == 1 || unseen__overflow_contains(&c->overflow, key));
            require(unseen_set_remove_keys(s->set, &key, 1, &verdict) == UNSEEN_OK);
            require(verdict == UNSEEN_SEEN);
        }
    }
    require(test_set_sound(s->set));
    unseen_set_free(s->set);
    require(s->counting.nlive == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state s;
    if (size < 3) {
        return 0;
    }
    s = (struct state){0};
    create(&s, data);
    for (size_t at = 3, n = 0; at + 4 <= size && n < OPERATIONS_MAX; at += 4, n++) {
        run_operation(&s, data + at);
    }
    check_end(&s);
    return 0;
}
