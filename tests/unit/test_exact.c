/* SPDX-License-Identifier: MIT
 *
 * The exact filter against the dumbest correct set: a flag for each of some numbered keys. As every
 * key can be read back, the whole contents are compared, not only the answers. Also keys made to
 * collide, pieces and damage to them, every SIMD level, and a failing allocator at every step.
 *
 * Label: kernels */
#include "set_check.h"

#include "base/memory.h"
#include "filter/exact.h"
#include "set/set.h"

enum {
    NKEYS = 400000
};

static bool is_wide; /* keys of 128 bits */

/* The upper word of key number i, below a prefix of 12 bits if there is one. */
static uint64_t key_of(uint64_t i, unsigned prefix_bits)
{
    uint64_t state = i;
    const uint64_t key = test_random(&state);
    return prefix_bits ? key >> 12 | (uint64_t)0xa5a << 52 : key;
}

static struct unseen_key whole(uint64_t key)
{
    return (struct unseen_key){key * 3, key}; /* the low word must not matter */
}

/* Key number i. If all of it matters, four have the same upper word. */
static struct unseen_key numbered(uint64_t i, unsigned prefix_bits)
{
    if (is_wide) {
        uint64_t state = ~i;
        return (struct unseen_key){test_random(&state), key_of(i / 4, prefix_bits)};
    }
    return whole(key_of(i, prefix_bits));
}

static struct unseen__filter *fresh(unsigned prefix_bits, uint64_t capacity,
                                    const struct unseen_allocator *allocator)
{
    const struct unseen__filter_ops *ops = unseen__filter_find("exact");
    struct unseen__filter *filter = NULL;
    const struct unseen__filter_params params = {.fpr = is_wide ? 5e-20 : 5e-9,
                                                 .capacity = capacity,
                                                 .prefix_bits = prefix_bits,
                                                 .prefix = prefix_bits ? 0xa5a : 0,
                                                 .cpu = test_cpu,
                                                 .allocator = unseen__allocator(allocator)};
    return ops->create(&filter, &params) == UNSEEN_OK ? filter : NULL;
}

static const struct exact *inside(const struct unseen__filter *filter)
{
    return (const struct exact *)(const void *)filter;
}

static int compare(const void *x, const void *y)
{
    const struct unseen_key *a = x;
    const struct unseen_key *b = y;
    const int by_lo = (a->lo > b->lo) - (a->lo < b->lo);
    return a->hi == b->hi ? by_lo : a->hi > b->hi ? 1 : -1;
}

/* All keys of a filter, sorted; the lower words are 0 where they do not matter. */
static size_t list(const struct unseen__filter *filter, struct unseen_key *keys)
{
    static uint64_t his[EXACT_GROUP_MAX + 1];
    static uint64_t los[EXACT_GROUP_MAX + 1];
    const struct exact *e = inside(filter);
    size_t n = 0;
    const size_t nentries = (size_t)1 << e->dir_bits;
    for (size_t i = 0; i < nentries; i++) {
        if (i == 0 || e->directory[i] != e->directory[i - 1]) {
            const size_t ngroup =
                unseen__exact_keys(e->directory[i], 0, EXACT_PAGES_MAX, his, is_wide ? los : NULL);
            CHECK_EQ(ngroup, e->directory[i]->nkeys);
            for (size_t j = 0; j < ngroup; j++) {
                keys[n++] = (struct unseen_key){los[j], his[j]};
            }
        }
    }
    for (size_t i = 0; i < e->stash.nkeys; i++) {
        const struct unseen_key key = e->stash.keys[i];
        keys[n++] = (struct unseen_key){is_wide ? key.lo : 0, key.hi};
    }
    qsort(keys, n, sizeof(*keys), compare);
    return n;
}

/* How many keys are in only one of the filter and the model. */
static size_t differences(const struct unseen__filter *filter, const uint8_t *has,
                          unsigned prefix_bits)
{
    struct unseen_key *got = malloc((NKEYS + 1) * sizeof(*got));
    struct unseen_key *want = malloc(NKEYS * sizeof(*want));
    size_t nwant = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        if (has[i]) {
            want[nwant] = numbered(i, prefix_bits);
            want[nwant++].lo *= is_wide;
        }
    }
    qsort(want, nwant, sizeof(*want), compare);
    const size_t ngot = list(filter, got);
    size_t wrong = (size_t)(ngot != nwant) + (inside(filter)->nkeys != nwant);
    for (size_t i = 0; i < ngot && i < nwant; i++) {
        wrong += got[i].hi != want[i].hi || got[i].lo != want[i].lo;
    }
    free(got);
    free(want);
    return wrong;
}

/* A batch of adds (0), questions (1) or removes (2) of keys below limit, checked. */
static size_t batch(struct unseen__filter *filter, uint8_t *has, uint64_t *state, int action,
                    uint64_t limit, unsigned prefix_bits)
{
    struct unseen_key keys[256];
    uint8_t verdicts[256];
    uint8_t expected[256];
    const size_t n = test_random(state) % 257;
    size_t ndone = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = test_random(state) % limit;
        keys[i] = numbered(number, prefix_bits);
        expected[i] = has[number] ? UNSEEN_SEEN : UNSEEN_NEW;
        has[number] = action == 1 ? has[number] : action == 0;
    }
    if (action == 0) {
        CHECK_EQ(filter->ops->add(filter, keys, n, verdicts, &ndone), UNSEEN_OK);
        CHECK_EQ(ndone, n);
    } else if (action == 1) {
        filter->ops->contains(filter, keys, n, verdicts);
    } else {
        filter->ops->remove(filter, keys, n, verdicts);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong += verdicts[i] != expected[i];
    }
    return wrong;
}

/* About 10^6 operations: growing from nothing through every width of tags, then with many removes.
 * Behind a prefix of 12 bits groups begin where they get with 3 * 10^7 keys. */
static void test_model(unsigned prefix_bits, uint64_t capacity)
{
    static uint8_t has[NKEYS];
    struct unseen__filter *filter = fresh(prefix_bits, capacity, NULL);
    uint64_t state = 1 + prefix_bits;
    size_t wrong = 0;
    unsigned widths = 0;
    memset(has, 0, sizeof(has));
    const uint64_t rounds = 4000 * test_scale();
    for (uint64_t round = 0; round < rounds; round++) {
        const uint64_t r = test_random(&state) % 8;
        const bool late = round > rounds / 2;
        const int action = r < (late ? 3u : 6u) ? 0 : r == 7 ? 1 : 2;
        wrong += batch(filter, has, &state, action, NKEYS, prefix_bits);
        widths |= 1u << inside(filter)->directory[0]->slots;
        if (round % 1000 == 999) {
            wrong += differences(filter, has, prefix_bits);
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(inside(filter)->stash.nkeys == 0);
    CHECK(widths == (prefix_bits ? 1u << 11 | 1u << 12 : 1u << 9 | 1u << 10) || capacity > 0);
    /* A planted fault is noticed. */
    has[7] ^= 1;
    CHECK(differences(filter, has, prefix_bits) > 0);
    filter->ops->free(filter);
}

static uint8_t do_one(struct unseen__filter *filter, int action, uint64_t key)
{
    const struct unseen_key keys[1] = {whole(key)};
    uint8_t verdict = 9;
    size_t ndone = 0;
    if (action == 0) {
        CHECK_EQ(filter->ops->add(filter, keys, 1, &verdict, &ndone), UNSEEN_OK);
    } else if (action == 1) {
        filter->ops->contains(filter, keys, 1, &verdict);
    } else {
        filter->ops->remove(filter, keys, 1, &verdict);
    }
    return verdict;
}

/* Keys that no splitting tells apart, with words of 0, with equal words, with the least and the
 * greatest x; and neighbours of each, which must not be taken for it. */
static uint64_t hostile_key(int kind, uint64_t i)
{
    switch (kind) {
    case 0:
        return i << 48 | UINT64_C(0x123456781234); /* x and word the same */
    case 1:
        return i; /* the top and most of the word 0 */
    case 2:
        return i << 48 | (i & 0xffff); /* words of 0 */
    case 3:
        return i << 16; /* x 0 */
    default:
        return ~(i << 16); /* x 0xffff */
    }
}

static void test_hostile(int kind)
{
    enum {
        N = 20000
    };
    struct unseen__filter *filter = fresh(0, 0, NULL);
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(do_one(filter, 0, hostile_key(kind, i)), UNSEEN_NEW);
    }
    CHECK_EQ(inside(filter)->nkeys, N);
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(do_one(filter, 0, hostile_key(kind, i)), UNSEEN_SEEN);
        CHECK_EQ(do_one(filter, 1, hostile_key(kind, i) ^ (uint64_t)1 << 63), UNSEEN_NEW);
    }
    /* Memory stays in proportion: colliding keys do not make the directory or the groups huge. */
    CHECK(inside(filter)->pages.memory + inside(filter)->memory < (size_t)N * 8000);
    for (uint64_t i = 0; i < N; i += 2) {
        CHECK_EQ(do_one(filter, 2, hostile_key(kind, i)), UNSEEN_SEEN);
    }
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(do_one(filter, 1, hostile_key(kind, i)), i % 2 ? UNSEEN_SEEN : UNSEEN_NEW);
    }
    CHECK_EQ(inside(filter)->nkeys, N / 2);
    filter->ops->free(filter);
}

/* One key in a group of every shape comes back as it was. */
static void test_shapes(void)
{
    struct unseen__filter *filter = fresh(0, 0, NULL);
    struct exact *e = (struct exact *)(void *)filter;
    uint64_t state = 3;
    unsigned nsame = 0;
    for (unsigned known = 0; known <= 20; known++) {
        for (unsigned npages = EXACT_PAGES_MIN; npages <= EXACT_PAGES_MAX; npages++) {
            for (int i = 0; i < 40; i++) {
                uint64_t key = test_random(&state);
                key = i < 4 ? key | 0xffff : i < 8 ? key & ~(uint64_t)0xffff : key;
                const uint64_t prefix = known ? key >> (64 - known) << (64 - known) : 0;
                struct exact_group *group = unseen__exact_group_create(e, prefix, known, npages);
                uint32_t line[2];
                uint32_t word;
                uint32_t field;
                uint64_t back[2] = {0};
                exact_place(group, key, &line[0], &line[1], &word, &field);
                CHECK(line[0] < group->nlines && line[1] < group->nlines);
                nsame += line[0] == line[1];
                CHECK(field >> group->field_bits == 0 && !(field & 1));
                const unsigned slot = (unsigned)i % group->slots;
                exact_put(group, exact_line(group, line[i % 2]), slot, word,
                          field ^ (i % 2 ? exact_flip(word) : 0));
                CHECK_EQ(unseen__exact_keys(group, 0, EXACT_PAGES_MAX, back, NULL), 1);
                CHECK_EQ(back[0], key);
                unseen__exact_group_free(e, group);
            }
        }
    }
    CHECK(nsame < 21 * 16 * 40 / 100);
    filter->ops->free(filter);
}

/* ---- memory ---- */

static void test_memory(void)
{
    struct test_allocator counter = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
    struct unseen__filter *filter = fresh(0, 300000, &allocator);
    const size_t before = counter.bytes;
    for (uint64_t i = 0; i < 300000; i++) {
        CHECK_EQ(do_one(filter, 0, key_of(i, 0)), UNSEEN_NEW);
    }
    CHECK_EQ(counter.bytes, before);
    struct unseen_set_stats stats = {0};
    filter->ops->stats(filter, &stats);
    CHECK_EQ(stats.memory, counter.bytes);
    CHECK_EQ(stats.nkeys, 300000);
    CHECK(stats.memory < 300000 * (is_wide ? 23 : 15));
    filter->ops->free(filter);
    CHECK_EQ(counter.nlive, 0);
}

/* Made for no number of keys: groups become two, and the directory doubles, again and again. */
static void test_growth(void)
{
    enum {
        N = 300000
    };
    struct test_allocator counter = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
    struct unseen__filter *filter = fresh(0, 0, &allocator);
    uint64_t nwrong = 0;
    for (uint64_t i = 0; i < N; i++) {
        nwrong += do_one(filter, 0, key_of(i, 0)) != UNSEEN_NEW;
    }
    CHECK_EQ(nwrong, 0);
    CHECK(inside(filter)->dir_bits >= 4);
    CHECK_EQ(inside(filter)->stash.nkeys, 0);
    for (uint64_t i = 0; i < N; i++) {
        nwrong += do_one(filter, 1, key_of(i, 0)) != UNSEEN_SEEN;
    }
    CHECK_EQ(nwrong, 0);
    CHECK_EQ(inside(filter)->nkeys, N);
    CHECK(counter.bytes < N * (is_wide ? 28 : 18));
    filter->ops->free(filter);
    CHECK_EQ(counter.nlive, 0);
}

/* Of a group of 30 pages: keys with one home line and one offset, whose rests put them on different
 * pages. In the halves, of 16 pages each, all meet in one pair of lines. */
static struct unseen_key meeting_key(unsigned i)
{
    static uint32_t word = 1;
    const unsigned rest = ((3 - i % 14) & 15) * 4 + 3;
    do {
        word++;
    } while (exact_offset(word) != 77);
    uint64_t state = word;
    const uint64_t x = (test_random(&state) & 0x7fff) | 0x8000;
    return whole(x << 48 | (uint64_t)word << 16 | 3 << 12 | 9 << 6 | rest);
}

/* The keys that find no slot when their group becomes two go to the stash. If the group stayed as
 * it was, all later keys would go there. */
static void test_meeting(void)
{
    enum {
        N = 400000,
        NMEETING = 60
    };
    struct unseen__filter *filter = fresh(0, 0, NULL);
    struct unseen_key meeting[NMEETING];
    uint8_t verdicts[NMEETING];
    size_t nmeeting = 0;
    size_t wrong = 0;
    for (uint64_t i = 0; i < N; i++) {
        if (nmeeting == 0 && inside(filter)->directory[0]->npages == 30) {
            for (; nmeeting < NMEETING; nmeeting++) {
                meeting[nmeeting] = meeting_key((unsigned)nmeeting);
                wrong += do_one(filter, 0, meeting[nmeeting].hi) != UNSEEN_NEW;
            }
            CHECK_EQ(inside(filter)->ngroups, 1);
        }
        wrong += do_one(filter, 0, key_of(i, 0)) != UNSEEN_NEW;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(nmeeting, NMEETING);
    CHECK(inside(filter)->ngroups >= 16);
    CHECK(inside(filter)->stash.nkeys <= NMEETING);
    filter->ops->contains(filter, meeting, NMEETING, verdicts);
    for (size_t i = 0; i < NMEETING; i++) {
        CHECK_EQ(verdicts[i], UNSEEN_SEEN);
    }
    for (uint64_t i = 0; i < N; i++) {
        wrong += do_one(filter, 1, key_of(i, 0)) != UNSEEN_SEEN;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(inside(filter)->nkeys, N + NMEETING);
    filter->ops->free(filter);
}

/* Keys come and go while groups are nearly full: lines that removed keys have left are found again,
 * so nothing grows. */
static void test_churn(void)
{
    enum {
        N = 8790, /* of the 9,216 slots of a group of 16 pages */
        ROUND = 900
    };
    struct unseen__filter *filter = fresh(0, 0, NULL);
    size_t wrong = 0;
    for (uint64_t i = 0; i < N; i++) {
        wrong += do_one(filter, 0, key_of(i, 0)) != UNSEEN_NEW;
    }
    CHECK_EQ(inside(filter)->nlines, EXACT_HOME_LINES);
    for (uint64_t i = 0; i < (uint64_t)ROUND * 40; i++) {
        wrong += do_one(filter, 2, key_of(i, 0)) != UNSEEN_SEEN;
        if (i % ROUND == ROUND - 1) {
            for (uint64_t j = i + 1 - ROUND; j <= i; j++) {
                wrong += do_one(filter, 0, key_of(N + j, 0)) != UNSEEN_NEW;
            }
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(inside(filter)->nkeys, N);
    CHECK_EQ(inside(filter)->nlines, EXACT_HOME_LINES);
    CHECK_EQ(inside(filter)->stash.nkeys, 0);
    filter->ops->free(filter);
}

/* The n-th allocation fails, or all from the n-th on: the filter is as it was, and goes on. */
static void test_no_memory(void)
{
    enum {
        N = 20000
    };
    bool done = false;
    unsigned long fail_at = 0;
    while (!done) {
        fail_at++;
        struct test_allocator counter = {.fail_at = fail_at, .fail_after = fail_at % 2};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
        struct unseen__filter *filter = fresh(0, 0, &allocator);
        uint64_t i = 0;
        bool failed = !filter;
        for (; filter && i < N && !failed; i++) {
            const struct unseen_key key = whole(key_of(i, 0));
            uint8_t verdict;
            size_t ndone;
            const enum unseen_status status = filter->ops->add(filter, &key, 1, &verdict, &ndone);
            failed = status != UNSEEN_OK;
            CHECK(!failed || (status == UNSEEN_ERR_NOMEM && ndone == 0));
            CHECK(failed || verdict == UNSEEN_NEW);
        }
        done = !failed;
        if (filter) {
            const uint64_t nadded = failed ? i - 1 : i;
            size_t wrong = 0;
            counter.fail_at = 0;
            CHECK_EQ(inside(filter)->nkeys, nadded);
            for (uint64_t j = 0; j < nadded; j += 7) {
                wrong += do_one(filter, 1, key_of(j, 0)) != UNSEEN_SEEN;
            }
            CHECK_EQ(wrong, 0);
            if (failed) {
                CHECK_EQ(do_one(filter, 0, key_of(nadded, 0)), UNSEEN_NEW);
            }
            filter->ops->free(filter);
        }
        CHECK_EQ(counter.nlive, 0);
    }
    CHECK(fail_at > 15);
}

/* ---- whole sets ---- */

static struct unseen_set *fresh_set(enum unseen_cpu cpu, unsigned threads)
{
    const uint64_t seed = 1;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = "exact",
                                               .fpr = is_wide ? 1e-12 : 0,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .key_bits = is_wide ? 128 : 64,
                                               .threads = threads,
                                               .cpu = cpu};
    struct unseen_set *set = NULL;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_OK);
    return set;
}

static void fill_set(struct unseen_set *set, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        enum unseen_verdict verdict = UNSEEN_ALLOWED;
        CHECK_EQ(test_set_add(set, &i, sizeof(i), &verdict), UNSEEN_OK);
    }
}

static size_t count_seen(const struct unseen_set *set, uint64_t first, uint64_t end)
{
    size_t nseen = 0;
    for (uint64_t i = first; i < end; i++) {
        enum unseen_verdict verdict = UNSEEN_NEW;
        CHECK_EQ(test_set_contains(set, &i, sizeof(i), &verdict), UNSEEN_OK);
        nseen += verdict == UNSEEN_SEEN;
    }
    return nseen;
}

static void test_chunks(unsigned threads)
{
    struct unseen_set *set = fresh_set(test_cpu, threads);
    fill_set(set, 0, 30000);
    struct test_image image = test_export(set);
    for (unsigned to = 1; to <= 4; to *= 4) {
        struct unseen_set *back = test_import_set(&image, to);
        CHECK(back != NULL);
        CHECK_EQ(count_seen(back, 0, 30000), 30000);
        CHECK_EQ(count_seen(back, 30000, 60000), 0);
        unseen_set_free(back);
    }
    test_flips_refused(&image, 997, 16);
    test_image_free(&image);
    unseen_set_free(set);
}

/* Every level leaves the same bytes. */
static void test_levels(void)
{
    struct unseen_set *sets[2] = {fresh_set(test_cpu, 1), fresh_set(UNSEEN_CPU_PORTABLE, 1)};
    for (int i = 0; i < 2; i++) {
        fill_set(sets[i], 0, 60000);
        for (uint64_t j = 0; j < 60000; j += 3) {
            enum unseen_verdict verdict = UNSEEN_ALLOWED;
            CHECK_EQ(test_set_remove(sets[i], &j, sizeof(j), &verdict), UNSEEN_OK);
            CHECK_EQ(verdict, UNSEEN_SEEN);
        }
        fill_set(sets[i], 50000, 90000);
    }
    CHECK(test_same_export(sets[0], sets[1]));
    for (int i = 0; i < 2; i++) {
        unseen_set_free(sets[i]);
    }
}

/* Pieces with wrong contents. */
static void test_pieces(void)
{
    struct unseen__filter *filter = fresh(0, 0, NULL);
    const struct unseen__filter_ops *ops = filter->ops;
    uint8_t piece[8 + 8 * 300];
    memset(piece, 0, sizeof(piece));
    store_le32(piece, 1);
    store_le32(piece + 4, 300);
    for (uint64_t i = 0; i < 300; i++) {
        store_le64(piece + 8 + 8 * i, key_of(i, 0));
    }
    for (size_t len = 0; len < sizeof(piece); len++) {
        CHECK(!ops->owns_piece(filter, piece, len));
        CHECK_EQ(ops->load_piece(filter, piece, len), UNSEEN_ERR_CORRUPT);
    }
    CHECK_EQ(inside(filter)->nkeys, 0);
    CHECK_EQ(ops->load_piece(filter, piece, sizeof(piece)), UNSEEN_OK);
    CHECK_EQ(inside(filter)->nkeys, 300);
    /* A key twice. */
    store_le32(piece + 4, 1);
    CHECK_EQ(ops->load_piece(filter, piece, 16), UNSEEN_ERR_CORRUPT);
    store_le32(piece, 2);
    CHECK_EQ(ops->load_piece(filter, piece, 16), UNSEEN_ERR_CORRUPT);
    ops->free(filter);
}

/* Where keys lie in the list is random; what is written is not. */
static void check_listed_bytes(void)
{
    struct test_image images[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t seed = 1;
        const struct unseen_set_options options = {.size = sizeof(options),
                                                   .filter = "exact",
                                                   .seed = &seed,
                                                   .seed_len = sizeof(seed),
                                                   .cpu = test_cpu};
        struct unseen_set *set = NULL;
        CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
        for (uint64_t j = 0; j < 500; j++) {
            const struct unseen_key key = {0, j << 48 | j * 7 % 501};
            uint8_t verdict;
            CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
            CHECK(verdict == UNSEEN_NEW);
        }
        images[i] = test_export(set);
        unseen_set_free(set);
    }
    CHECK(test_same_image(&images[0], &images[1]));
    test_image_free(&images[0]);
    test_image_free(&images[1]);
}

/* Whole keys: the same upper word is not the same key, not even in the list, where also the key of
 * zeros is; all of them are exported and come back. */
static void test_wide_keys(void)
{
    enum {
        N = 600
    };
    const uint64_t his[] = {0, 1, (uint64_t)7 << 40};
    const uint64_t seed = 1;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = "exact",
                                               .fpr = 1e-20,
                                               .seed = &seed,
                                               .seed_len = sizeof(seed),
                                               .cpu = test_cpu};
    struct unseen_set *set = NULL;
    uint8_t verdict;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_OK);
    for (uint64_t i = 0; i < 3 * N; i++) {
        const struct unseen_key key = {i / 3, his[i % 3]};
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_NEW);
        CHECK(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, UNSEEN_SEEN);
    }
    struct test_image image = test_export(set);
    struct unseen_set *back = test_import_set(&image, 1);
    CHECK(back != NULL);
    for (uint64_t i = 0; back && i < 4 * N; i++) {
        const struct unseen_key key = {i / 3, his[i % 3]};
        CHECK(unseen_set_remove_keys(back, &key, 1, &verdict, NULL) == UNSEEN_OK);
        CHECK_EQ(verdict, i < 3 * N ? UNSEEN_SEEN : UNSEEN_NEW);
    }
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    CHECK(stats.nkeys == 3 * N && stats.fpr_promise < 1e-28 && stats.fpr_estimate < 1e-34);
    test_image_free(&image);
    unseen_set_free(back);
    unseen_set_free(set);
}

/* Which keys a rate takes, and what no keys promise. */
static void test_widths(void)
{
    static const struct {
        double fpr;
        enum unseen_status status;
        bool is_wide;
    } cases[] = {{0.5, UNSEEN_OK, false},
                 {6e-10, UNSEEN_OK, false},
                 {5e-10, UNSEEN_OK, true},
                 {4e-29, UNSEEN_OK, true},
                 {1e-30, UNSEEN_ERR_FPR, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct unseen_set_options options = {
            .size = sizeof(options), .filter = "exact", .fpr = cases[i].fpr, .cpu = test_cpu};
        struct unseen_plan plan = {.size = sizeof(plan), .filter = "exact", .fpr = cases[i].fpr};
        struct unseen_set_stats stats = {.size = sizeof(stats)};
        struct unseen_set *set = NULL;
        CHECK_EQ(unseen_set_create(&set, &options, NULL), cases[i].status);
        CHECK_EQ(unseen_plan(&plan), cases[i].status);
        if (set) {
            CHECK_EQ(unseen_set_stats(set, &stats), UNSEEN_OK);
            CHECK(stats.fpr_promise <= cases[i].fpr);
            CHECK((stats.fpr_promise < 1e-20) == cases[i].is_wide);
            CHECK((plan.bits_per_key > 100) == cases[i].is_wide);
        }
        unseen_set_free(set);
    }
    /* The filter cannot promise what the keys do not hold. */
    for (unsigned key_bits = 64; key_bits < 128; key_bits += 32) {
        const struct unseen_set_options options = {.size = sizeof(options),
                                                   .filter = "exact",
                                                   .fpr = 1e-20,
                                                   .key_bits = key_bits,
                                                   .cpu = test_cpu};
        struct unseen_set *set = NULL;
        CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_ERR_FPR);
    }
}

/* Keys of one upper word, a few of each, as a forged import has them: room is not made for them. */
static void test_same_upper_word(void)
{
    enum {
        NWORDS = 100,
        NSAME = 40
    };
    const struct unseen_set_options options = {
        .size = sizeof(options), .filter = "exact", .fpr = 1e-20, .cpu = test_cpu};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    struct unseen_set *set = NULL;
    uint64_t state = 5;
    CHECK_EQ(unseen_set_create(&set, &options, NULL), UNSEEN_OK);
    for (unsigned word = 0; word < NWORDS; word++) {
        struct unseen_key keys[NSAME];
        uint8_t verdicts[NSAME];
        const uint64_t hi = test_random(&state);
        for (unsigned i = 0; i < NSAME; i++) {
            keys[i] = (struct unseen_key){test_random(&state), hi};
        }
        CHECK_EQ(unseen_set_add_keys(set, keys, NSAME, verdicts, NULL), UNSEEN_OK);
        CHECK(!memchr(verdicts, UNSEEN_SEEN, NSAME));
        CHECK_EQ(unseen_set_contains_keys(set, keys, NSAME, verdicts, NULL), UNSEEN_OK);
        CHECK(!memchr(verdicts, UNSEEN_NEW, NSAME));
    }
    CHECK_EQ(unseen_set_stats(set, &stats), UNSEEN_OK);
    CHECK_EQ(stats.nkeys, NWORDS * NSAME);
    CHECK(stats.memory < (8 << 20));
    unseen_set_free(set);
}

/* For keys of both widths. */
/* An import puts the keys where they stay: it takes no more memory than a set that was made for as
 * many, and reads hardly a key again. A header that claims many keys gets no memory for them. */
static void test_load(void)
{
    enum {
        MANY = 400000
    };
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .filter = "exact",
        .fpr = is_wide ? 1e-12 : 0,
        .capacity = MANY,
        .cpu = test_cpu,
    };
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    fill_set(set, 0, MANY);
    struct test_image image = test_export(set);
    struct unseen_set *back = test_import_set(&image, 1);
    if (CHECK(back != NULL)) {
        const struct exact *e = (const struct exact *)(const void *)back->shards[0].filter;
        struct unseen_set_stats made = {.size = sizeof(made)};
        struct unseen_set_stats loaded = {.size = sizeof(loaded)};
        CHECK(unseen_set_stats(set, &made) == UNSEEN_OK);
        CHECK(unseen_set_stats(back, &loaded) == UNSEEN_OK);
        CHECK_EQ(loaded.nkeys, MANY);
        CHECK(loaded.memory < made.memory + made.memory / 10);
        CHECK(e->work < MANY / 2);
    }
    unseen_set_free(back);
    unseen_set_free(set);
    test_image_free(&image);
}

/* Hostile pieces of few keys, each far from the others, for a set that is said to be huge. */
static void test_load_few(void)
{
    uint8_t params[UNSEEN__PARAMS_LEN] = {is_wide ? 2 : 1};
    const struct unseen__filter_params p = {
        .saved = params,
        .saved_nkeys = (uint64_t)1 << 36,
        .saved_max = UINT64_MAX,
        .cpu = test_cpu,
        .allocator = unseen__allocator(NULL),
    };
    struct unseen__filter *filter = NULL;
    uint8_t piece[24] = {1, 0, 0, 0, 1};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    CHECK(unseen__exact_ops.create(&filter, &p) == UNSEEN_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        store_le64(piece + 8, (i * 0x9e3779b97f4a7c15u) | 1 << 20);
        CHECK(unseen__exact_ops.load_piece(filter, piece, is_wide ? 24 : 16) == UNSEEN_OK);
    }
    unseen__exact_ops.stats(filter, &stats);
    CHECK_EQ(stats.nkeys, 1000);
    CHECK(stats.memory < 16 << 20);
    unseen__exact_ops.free(filter);
}

static void test_all(void)
{
    test_load();
    test_load_few();

    test_model(0, 0);
    test_model(12, 0);
    test_model(0, 250000);
    test_memory();
    test_growth();
    test_churn();
    test_no_memory();
    test_chunks(1);
    test_chunks(4);
    test_levels();
}

int main(void)
{
    test_start();
    test_shapes();
    test_all();
    is_wide = true;
    test_all();
    test_wide_keys();
    is_wide = false;
    test_widths();
    test_same_upper_word();
    test_meeting();
    for (int kind = 0; kind < 5; kind++) {
        test_hostile(kind);
    }
    test_pieces();
    check_listed_bytes();
    return test_end();
}
