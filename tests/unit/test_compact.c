/* SPDX-License-Identifier: MIT
 *
 * The compact filter: the table of moves, a model, the structure after each kind of growth, the
 * rate, tags that run out of bits, and the same bytes at every level. Shortened tags
 * (unseen__compact_create_cut) make the rate high enough to be measured.
 *
 * Label: kernels */
#include "set_check.h"

#include <math.h>

static struct test_allocator counting;

static const char *const names[COMPACT_WIDTHS] = {"32", "39", "51"};

static struct unseen__filter_params params_of(enum compact_width width)
{
    return (struct unseen__filter_params){
        .fpr = test_fprs[width],
        .cpu = test_cpu,
        .allocator = {test_alloc, test_free, &counting},
    };
}

static struct unseen__filter *make(enum compact_width width, unsigned cut)
{
    struct unseen__filter_params params = params_of(width);
    struct unseen__filter *filter = NULL;
    if (unseen__compact_create_cut(&filter, &params, cut) != UNSEEN_OK) {
        fprintf(stderr, "no filter\n");
        exit(2);
    }
    return filter;
}

static struct compact *inside(struct unseen__filter *filter)
{
    return (struct compact *)(void *)filter;
}

static double estimate(struct unseen__filter *filter)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    filter->ops->stats(filter, &stats);
    return stats.fpr_estimate;
}

/* ---- compact_moves.h ---- */

/* Homes of one remainder are on different pages; from m to m + 1 pages at most one of them moves,
 * and only to the new page; home_of is the inverse of page_of. */
static bool moves_are_sound(const struct compact *c, unsigned r)
{
    bool ok = true;
    for (unsigned m = COMPACT_PAGES_MIN; m <= COMPACT_PAGES_MAX; m++) {
        unsigned pages = 0;
        unsigned nmoved = 0;
        for (unsigned home = 0; home < 8; home++) {
            unsigned page = compact_page_of(c->layout, m, home, r);
            ok = ok && page < m && !(pages >> page & 1) &&
                 compact_home_of(c->layout, m, page, r) == home;
            pages |= 1u << page;
            if (m < COMPACT_PAGES_MAX && compact_page_of(c->layout, m + 1, home, r) != page) {
                ok = ok && compact_page_of(c->layout, m + 1, home, r) == m;
                nmoved++;
            }
        }
        for (unsigned page = 0; page < m; page++) {
            bool has = compact_home_of(c->layout, m, page, r) != COMPACT_NO_HOME;
            ok = ok && has == (pages >> page & 1);
        }
        ok = ok && nmoved <= 1;
    }
    return ok;
}

/* Every page has the same share of all (home, r), plus or minus one. */
static bool shares_are_equal(const struct compact *c, unsigned m)
{
    unsigned share[COMPACT_PAGES_MAX] = {0};
    for (unsigned r = 0; r < 1u << c->layout->r_bits; r++) {
        for (unsigned home = 0; home < 8; home++) {
            share[compact_page_of(c->layout, m, home, r)]++;
        }
    }
    unsigned least = UINT32_MAX;
    unsigned most = 0;
    for (unsigned page = 0; page < m; page++) {
        least = share[page] < least ? share[page] : least;
        most = share[page] > most ? share[page] : most;
    }
    return most - least <= 1;
}

/* A page's interval holds a remainder of it if and only if that one moves to the new page. */
static bool interval_is_exact(const struct compact *c, unsigned m, unsigned page,
                              const uint8_t interval[2])
{
    bool ok = true;
    for (unsigned r = 0; r < 1u << c->layout->r_bits; r++) {
        unsigned home = compact_home_of(c->layout, m, page, r);
        bool in = ((r - interval[0]) & ((1u << c->layout->r_bits) - 1)) < interval[1];
        if (home != COMPACT_NO_HOME) {
            ok = ok && in == (compact_page_of(c->layout, m + 1, home, r) != page);
        }
    }
    return ok;
}

static void check_moves(enum compact_width width)
{
    struct unseen__filter *filter = make(width, 0);
    const struct compact *c = inside(filter);
    for (unsigned r = 0; r < 1u << c->layout->r_bits; r++) {
        CHECK(moves_are_sound(c, r));
    }
    for (unsigned m = COMPACT_PAGES_MIN; m <= COMPACT_PAGES_MAX; m++) {
        CHECK(shares_are_equal(c, m));
        for (unsigned page = 0; m < COMPACT_PAGES_MAX && page < m; page++) {
            const uint8_t *interval = c->layout->leaving[m - COMPACT_PAGES_MIN][page];
            CHECK(interval_is_exact(c, m, page, interval));
        }
    }
    /* Planted: an interval that ends one too early is noticed. */
    const uint8_t *first = c->layout->leaving[0][0];
    const uint8_t shorter[2] = {first[0], (uint8_t)(first[1] - 1)};
    CHECK(!interval_is_exact(c, COMPACT_PAGES_MIN, 0, shorter));
    filter->ops->free(filter);
}

/* ---- model ---- */

enum {
    BATCH_MAX = 300
};

/* The dumbest correct set: one byte for each key number. Only the first question about a number
 * counts for the rate: a key that is taken for another stays so when it is asked again. */
struct model {
    struct unseen__filter *filter;
    uint8_t *present;
    uint8_t *asked;
    uint64_t universe; /* a prime */
    uint64_t npresent;
    uint64_t random;
    uint64_t false_seen;
    double false_expected;
    double estimate;
};

static void count_false(struct model *m, uint64_t number, uint8_t verdict)
{
    if (!m->asked[number]) {
        m->asked[number] = 1;
        m->false_expected += m->estimate;
        m->false_seen += verdict == UNSEEN_SEEN;
    }
}

static void add_some(struct model *m, size_t n)
{
    struct unseen_key keys[BATCH_MAX];
    uint64_t number[BATCH_MAX];
    uint8_t verdicts[BATCH_MAX];
    size_t ndone = 0;
    for (size_t i = 0; i < n; i++) {
        number[i] = test_random(&m->random) % m->universe;
        keys[i] = test_key(number[i]);
    }
    CHECK(m->filter->ops->add(m->filter, keys, n, verdicts, &ndone) == UNSEEN_OK);
    CHECK_EQ(ndone, n);
    for (size_t i = 0; i < n; i++) {
        if (m->present[number[i]]) {
            CHECK(verdicts[i] == UNSEEN_SEEN);
            continue;
        }
        count_false(m, number[i], verdicts[i]);
        m->present[number[i]] = verdicts[i] == UNSEEN_NEW;
        m->npresent += verdicts[i] == UNSEEN_NEW;
    }
}

/* Different numbers, at a random stride. */
static void some_numbers(struct model *m, size_t n, uint64_t *number, struct unseen_key *keys)
{
    uint64_t at = test_random(&m->random) % m->universe;
    uint64_t stride = 1 + test_random(&m->random) % (m->universe - 1);
    for (size_t i = 0; i < n; i++) {
        number[i] = at;
        keys[i] = test_key(at);
        at = (at + stride) % m->universe;
    }
}

static void ask_some(struct model *m, size_t n)
{
    struct unseen_key keys[BATCH_MAX];
    uint64_t number[BATCH_MAX];
    uint8_t verdicts[BATCH_MAX];
    some_numbers(m, n, number, keys);
    m->filter->ops->contains(m->filter, keys, n, verdicts);
    for (size_t i = 0; i < n; i++) {
        if (m->present[number[i]]) {
            CHECK(verdicts[i] == UNSEEN_SEEN);
        } else {
            count_false(m, number[i], verdicts[i]);
        }
    }
}

/* Removes what is present, and what is absent and answered so: each must be exact. */
static void remove_some(struct model *m, size_t n)
{
    struct unseen_key keys[BATCH_MAX];
    uint64_t number[BATCH_MAX];
    uint8_t verdicts[BATCH_MAX];
    some_numbers(m, n, number, keys);
    m->filter->ops->contains(m->filter, keys, n, verdicts);
    size_t nkept = 0;
    for (size_t i = 0; i < n; i++) {
        if (m->present[number[i]] || verdicts[i] == UNSEEN_NEW) {
            number[nkept] = number[i];
            keys[nkept++] = keys[i];
        }
    }
    m->filter->ops->remove(m->filter, keys, nkept, verdicts);
    for (size_t i = 0; i < nkept; i++) {
        CHECK_EQ(verdicts[i], m->present[number[i]] ? UNSEEN_SEEN : UNSEEN_NEW);
        m->npresent -= m->present[number[i]];
        m->present[number[i]] = 0;
    }
}

static void run_operations(struct model *m, uint64_t noperations, unsigned adds, unsigned removes)
{
    for (uint64_t done = 0; done < noperations;) {
        size_t n = 1 + test_random(&m->random) % BATCH_MAX;
        unsigned choice = (unsigned)(test_random(&m->random) % 100);
        m->estimate = estimate(m->filter);
        if (choice < adds) {
            add_some(m, n);
        } else if (choice < adds + removes) {
            remove_some(m, n);
        } else {
            ask_some(m, n);
        }
        done += n;
    }
}

/* The count that chance exceeds less than once in 10^4 runs, for a Poisson mean. */
static double highest(double mean)
{
    return mean + 4 * sqrt(mean) + 4;
}

/* Present keys match one tag each, and the set is as it must be. Where groups were joined, tags
 * lost a bit, and now and then another one matches, too. */
static void check_state(const struct model *m)
{
    const struct compact *c = inside(m->filter);
    uint64_t nlost = 0;
    uint64_t nmore = 0;
    for (uint64_t i = 0; i < m->universe; i++) {
        const size_t nmatches = m->present[i] ? test_matches(c, test_key(i)) : 1;
        nlost += nmatches == 0;
        nmore += nmatches > 1;
    }
    CHECK_EQ(nlost, 0);
    CHECK((double)nmore <= highest((double)m->npresent * m->estimate));
    CHECK_EQ(c->nkeys, m->npresent);
    CHECK_EQ(c->stash.nkeys, 0);
    CHECK(test_compact_sound(c));
}

static void check_empty(const struct compact *c)
{
    uint64_t ntags = 0;
    uint64_t path = 0;
    do {
        const struct compact_group *group = compact_find(c, path);
        for (unsigned p = 0; p < group->npages; p++) {
            const uint8_t *page = compact_page(c, group->page[p]);
            for (unsigned line = 0; line < COMPACT_LINES; line++) {
                for (unsigned slot = 0; slot < c->layout->slots; slot++) {
                    ntags += compact_word(page + (size_t)line * COMPACT_LINE, slot) != 0;
                }
            }
        }
        path += group->depth ? (uint64_t)1 << (64 - group->depth) : 0;
    } while (path);
    CHECK_EQ(ntags, 0);
    CHECK_EQ(c->nkeys, 0);
}

/* Detects, when planted in the filter: a match that ignores r, a kick that forgets the r of a width
 * tag, a split that shifts v twice or drops a page, a full map not cleared on removal, probes not
 * renewed after growth. */
static void check_model(enum compact_width width, unsigned cut, uint64_t noperations,
                        uint64_t universe)
{
    struct model m = {.filter = make(width, cut), .universe = universe, .random = 7 + cut};
    m.present = calloc(universe, 1);
    m.asked = calloc(universe, 1);
    if (!m.present || !m.asked) {
        exit(2);
    }
    run_operations(&m, noperations * 4 / 10, 80, 5);
    check_state(&m);
    run_operations(&m, noperations * 2 / 10, 30, 40);
    check_state(&m);
    run_operations(&m, noperations * 2 / 10, 60, 20);
    check_state(&m);
    run_operations(&m, noperations * 2 / 10, 30, 30);
    check_state(&m);
    CHECK((double)m.false_seen <= highest(m.false_expected));
    CHECK(highest((double)m.false_seen) >= m.false_expected);
    printf("model, %s, %u bits cut: %llu keys, %llu wrong of %.1f expected\n", names[width], cut,
           (unsigned long long)m.npresent, (unsigned long long)m.false_seen, m.false_expected);
    for (uint64_t i = 0; i < universe; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        if (m.present[i]) {
            m.filter->ops->remove(m.filter, &key, 1, &verdict);
            CHECK(verdict == UNSEEN_SEEN);
        }
    }
    check_empty(inside(m.filter));
    CHECK(test_compact_sound(inside(m.filter)));
    m.filter->ops->free(m.filter);
    free(m.present);
    free(m.asked);
}

/* The checks above can fail: a lost bit, a moved tag and a wrong count are noticed. */
static void check_checks(enum compact_width width)
{
    struct unseen__filter *filter = make(width, 0);
    struct compact *c = inside(filter);
    struct unseen_key key = test_key(1);
    uint8_t verdict;
    size_t ndone;
    CHECK(filter->ops->add(filter, &key, 1, &verdict, &ndone) == UNSEEN_OK);
    CHECK(test_compact_sound(c) && test_matches(c, key) == 1);
    struct test_place place = test_place_of(c, key);
    uint8_t *line = (uint8_t *)(uintptr_t)place.page + (size_t)place.line[0] * COMPACT_LINE;
    uint32_t word = compact_word(line, 0);
    store_le32(line, word ^ 1u << 20);
    CHECK(test_matches(c, key) == 0);
    store_le32(line, 0);
    CHECK(!test_compact_sound(c));
    store_le32(line, word);
    CHECK(test_compact_sound(c));
    c->nkeys++;
    CHECK(!test_compact_sound(c));
    c->nkeys--;
    uint64_t *full;
    uint64_t i = 2;
    do {
        key = test_key(i++);
        CHECK(filter->ops->add(filter, &key, 1, &verdict, &ndone) == UNSEEN_OK);
        full = compact_full(c, compact_find(c, 0)->page[0]);
    } while (!*full && i < 100000);
    CHECK(test_compact_sound(c) && *full != 0);
    *full &= *full - 1;
    CHECK(!test_compact_sound(c));
    filter->ops->free(filter);
}

/* ---- rate ---- */

/* A rate of 1e-12 cannot be measured. So all keys agree in the 12 bits that a tag of 51 bits has
 * and a tag of 39 has not: 2^12 times as many answers are wrong. check_bits shows that each of
 * these bits tells keys apart. */
enum {
    EQUAL_BITS = 12
};

static struct unseen_key rate_key(enum compact_width width, uint64_t i)
{
    struct unseen_key key = test_key(i);
    if (width == COMPACT_51) {
        key.lo &= ~((((uint64_t)1 << EQUAL_BITS) - 1) << 13);
    }
    return key;
}

/* The measured rate is the estimated one, and stays below the promise; the promise and what the
 * estimate must be below are scaled by 2^cut, and by the bits in which all keys agree. */
static void check_rate(enum compact_width width, unsigned cut, uint64_t nkeys_max,
                       uint64_t nquestions)
{
    struct unseen__filter *filter = make(width, cut);
    const int scale = (int)cut + (width == COMPACT_51 ? EQUAL_BITS : 0);
    const double promise = ldexp(inside(filter)->layout->promise, scale);
    const uint64_t absent = (uint64_t)1 << 40;
    uint64_t asked = 0;
    double worst = 0;
    uint64_t n = 0;
    for (uint64_t target = 1000; target <= nkeys_max; target *= 10) {
        for (; n < target; n++) {
            struct unseen_key key = rate_key(width, n);
            uint8_t verdict;
            size_t ndone;
            (void)filter->ops->add(filter, &key, 1, &verdict, &ndone);
            if (n % 1000 == 999) {
                double now = ldexp(estimate(filter), scale - (int)cut);
                worst = now > worst ? now : worst;
            }
        }
        uint64_t nseen = 0;
        for (uint64_t i = 0; i < nquestions; i++) {
            struct unseen_key key = rate_key(width, absent + asked++);
            uint8_t verdict;
            filter->ops->contains(filter, &key, 1, &verdict);
            nseen += verdict == UNSEEN_SEEN;
        }
        double expected = ldexp(estimate(filter), scale - (int)cut) * (double)nquestions;
        CHECK((double)nseen <= expected + 4 * sqrt(expected) + 2);
        CHECK((double)nseen >= expected - 4 * sqrt(expected) - 2);
        CHECK((double)nseen <= promise * (double)nquestions);
        printf("rate, %s: %8llu keys: %.3g measured, %.3g estimated, %.3g promised\n", names[width],
               (unsigned long long)n, ldexp((double)nseen / (double)nquestions, -scale),
               ldexp(expected / (double)nquestions, -scale), ldexp(promise, -scale));
    }
    CHECK(worst > 0 && worst <= promise);
    filter->ops->free(filter);
}

/* Each bit that a tag tells, by its contents or by its page, tells keys apart: a key that differs
 * from a member in one of them is not in the set. (The number of the line alone does not: a line
 * and its partner are one pair.) */
static void check_bits(enum compact_width width)
{
    enum {
        N = 20000
    };
    struct unseen__filter *filter = make(width, 0);
    const struct compact *c = inside(filter);
    const unsigned lo_bits = 6 + c->layout->low_bits + 3;
    uint8_t verdict;
    size_t ndone;
    for (uint64_t i = 0; i < N; i++) {
        const struct unseen_key key = test_key(i);
        CHECK(filter->ops->add(filter, &key, 1, &verdict, &ndone) == UNSEEN_OK);
    }
    const unsigned hi_bits = c->layout->v_bits - 1;
    uint64_t nseen = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        for (unsigned bit = 6; bit < lo_bits + hi_bits; bit++) {
            struct unseen_key key = test_key(i);
            key.lo ^= bit < lo_bits ? (uint64_t)1 << bit : 0;
            key.hi ^= bit < lo_bits ? 0 : (uint64_t)1 << (63 - (bit - lo_bits));
            filter->ops->contains(filter, &key, 1, &verdict);
            nseen += verdict == UNSEEN_SEEN;
        }
    }
    /* 2,000 questions to a bit: a bit that did not count would be seen in all of them. */
    CHECK(nseen <= (width == COMPACT_32 ? 10 : 0));
    filter->ops->free(filter);
}

/* ---- void tags ---- */

/* v runs out after three doublings: tags are copied to both halves, and nothing is lost. Removing
 * is not exact any more; the structure still is. */
static void check_void(enum compact_width width, uint64_t nkeys)
{
    struct unseen__filter *filter = make(width, width ? 28 : 20);
    struct compact *c = inside(filter);
    uint64_t nnew = 0;
    uint64_t nlost = 0;
    uint8_t *is_new = calloc(nkeys, 1);
    if (!is_new) {
        exit(2);
    }
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        size_t ndone;
        CHECK(filter->ops->add(filter, &key, 1, &verdict, &ndone) == UNSEEN_OK);
        is_new[i] = verdict;
        nnew += verdict;
    }
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        filter->ops->contains(filter, &key, 1, &verdict);
        nlost += verdict == UNSEEN_NEW;
        nlost += test_matches(c, key) == 0;
    }
    CHECK_EQ(nlost, 0);
    CHECK(c->nkeys > nnew); /* there were copies */
    CHECK(test_compact_sound(c));
    for (uint64_t i = 0; i < nkeys; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        if (is_new[i]) {
            filter->ops->remove(filter, &key, 1, &verdict);
            nlost += verdict == UNSEEN_NEW;
        }
    }
    CHECK_EQ(nlost, 0);
    CHECK(test_compact_sound(c));
    free(is_new);
    filter->ops->free(filter);
}

/* ---- levels and batches ---- */

static bool same_bytes(struct unseen__filter *x, struct unseen__filter *y)
{
    static uint8_t a[UNSEEN_CHUNK_MAX];
    static uint8_t b[UNSEEN_CHUNK_MAX];
    uint64_t at_x = 0;
    uint64_t at_y = 0;
    for (;;) {
        size_t len_x = x->ops->save_piece(x, &at_x, a);
        size_t len_y = y->ops->save_piece(y, &at_y, b);
        if (len_x != len_y || at_x != at_y || memcmp(a, b, len_x) != 0) {
            return false;
        }
        if (len_x == 0) {
            return true;
        }
    }
}

/* Adds keys, some of them twice, and removes some. */
static void load(struct unseen__filter *filter, uint64_t nkeys, size_t batch)
{
    struct unseen_key *keys = malloc(batch * sizeof(*keys));
    uint8_t *verdicts = malloc(batch);
    if (!keys || !verdicts) {
        exit(2);
    }
    for (int pass = 0; pass < 3; pass++) {
        for (uint64_t i = 0; i < nkeys; i += batch) {
            size_t n = nkeys - i < batch ? (size_t)(nkeys - i) : batch;
            size_t ndone = 0;
            for (size_t k = 0; k < n; k++) {
                keys[k] = test_key(pass == 1 ? (i + k) * 3 : (i + k) * 7 / 8);
            }
            if (pass == 1) {
                filter->ops->remove(filter, keys, n, verdicts);
            } else {
                CHECK(filter->ops->add(filter, keys, n, verdicts, &ndone) == UNSEEN_OK);
            }
        }
    }
    free(keys);
    free(verdicts);
}

/* The same keys in the same order leave the same bytes as one by one in portable C. */
static void check_levels(enum compact_width width, unsigned cut, uint64_t nkeys)
{
    static const size_t batches[] = {1, 2, 31, 32, 33, 255, 256, 257, 5000};
    struct unseen__filter_params params = params_of(width);
    struct unseen__filter *specification = NULL;
    params.cpu = UNSEEN_CPU_PORTABLE;
    CHECK(unseen__compact_create_cut(&specification, &params, cut) == UNSEEN_OK);
    load(specification, nkeys, 1);
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        struct unseen__filter *filter = make(width, cut);
        load(filter, nkeys, batches[i]);
        CHECK(same_bytes(filter, specification));
        CHECK(test_compact_sound(inside(filter)));
        if (i == 0) {
            struct unseen_key key = test_key(UINT64_MAX);
            uint8_t verdict;
            size_t ndone;
            (void)filter->ops->add(filter, &key, 1, &verdict, &ndone);
            CHECK(!same_bytes(filter, specification));
        }
        filter->ops->free(filter);
    }
    specification->ops->free(specification);
}

/* A capacity makes room at once: no growth up to it. */
static void check_capacity(enum compact_width width, uint64_t capacity)
{
    struct unseen__filter_params params = params_of(width);
    struct unseen__filter *filter = NULL;
    params.capacity = capacity;
    CHECK(params.capacity == capacity && unseen__compact_ops.create(&filter, &params) == UNSEEN_OK);
    const struct compact *c = inside(filter);
    uint64_t npages = c->npages;
    for (uint64_t i = 0; i < capacity; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        size_t ndone;
        (void)filter->ops->add(filter, &key, 1, &verdict, &ndone);
    }
    CHECK(test_compact_sound(c));
    /* A few of many random groups may need a page more. */
    CHECK(c->npages <= npages + npages / 50);
    filter->ops->free(filter);
}

/* The numbers from *first on that were added and answered NEW, until there are n of them; removes
 * those before. A window that moves on. */
static void move_window(struct unseen__filter *filter, uint8_t *is_new, uint64_t *first,
                        uint64_t *end, uint64_t n, uint64_t new_end)
{
    struct unseen_key key;
    uint8_t verdict;
    size_t ndone;
    while (*end < new_end || *end - *first > n) {
        if (*end < new_end) {
            key = test_key(*end);
            CHECK(filter->ops->add(filter, &key, 1, &is_new[(*end)++], &ndone) == UNSEEN_OK);
        }
        for (int i = 0; i < 2 && *end - *first > n; i++) {
            key = test_key(*first);
            if (is_new[(*first)++]) {
                filter->ops->remove(filter, &key, 1, &verdict);
                CHECK(verdict == UNSEEN_SEEN);
            }
        }
    }
}

static uint64_t memory_of(struct unseen__filter *filter)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    filter->ops->stats(filter, &stats);
    return stats.memory;
}

/* After a burst a filter takes what a new one takes for the keys that are left, and keeps each of
 * them and its rate. */
static void check_shrinking(enum compact_width width, unsigned cut, uint64_t few, uint64_t many)
{
    struct unseen__filter *filter = make(width, cut);
    struct unseen__filter *fresh = make(width, cut);
    uint64_t first = 0;
    uint64_t end = 0;
    uint64_t most;
    uint64_t nlost = 0;
    uint64_t nfalse = 0;
    uint8_t *is_new = malloc(2 * many + 2 * few);
    if (!is_new) {
        exit(2);
    }
    move_window(filter, is_new, &first, &end, many, 2 * many);
    most = memory_of(filter);
    move_window(filter, is_new, &first, &end, few, 2 * many + 2 * few);
    for (uint64_t i = first; i < end; i++) {
        struct unseen_key key = test_key(i);
        uint8_t verdict;
        size_t ndone;
        (void)fresh->ops->add(fresh, &key, 1, &verdict, &ndone);
        filter->ops->contains(filter, &key, 1, &verdict);
        nlost += verdict == UNSEEN_NEW;
        key = test_key(i + ((uint64_t)1 << 40));
        filter->ops->contains(filter, &key, 1, &verdict);
        nfalse += verdict == UNSEEN_SEEN;
    }
    CHECK_EQ(nlost, 0);
    CHECK(test_compact_sound(inside(filter)));
    CHECK((double)nfalse <= highest((double)(end - first) * estimate(filter)));
    CHECK(estimate(filter) <= 1.01 * estimate(fresh));
    CHECK((double)memory_of(filter) <= 1.5 * (double)memory_of(fresh));
    printf("shrunk, %s, %u bits cut: %llu keys: %.3g bytes, fresh %.3g, at most %.3g; rate %.3g, "
           "%.3g\n",
           names[width], cut, (unsigned long long)(end - first), (double)memory_of(filter),
           (double)memory_of(fresh), (double)most, estimate(filter), estimate(fresh));
    move_window(filter, is_new, &first, &end, 0, end);
    check_empty(inside(filter));
    CHECK(test_compact_sound(inside(filter)));
    fresh->ops->free(fresh);
    fresh = make(width, cut);
    CHECK(memory_of(filter) <= 2 * memory_of(fresh));
    filter->ops->free(filter);
    fresh->ops->free(fresh);
    free(is_new);
}

int main(void)
{
    test_start();
    const uint64_t scale = test_scale();
    for (enum compact_width width = 0; width < COMPACT_WIDTHS; width++) {
        check_moves(width);
        check_checks(width);
        check_model(width, 0, 500000 * scale, scale == 1 ? 300007 : 20000003);
        check_model(width, width ? 21 : 13, 500000 * scale, scale == 1 ? 200003 : 2000003);
        if (scale == 1) {
            check_rate(width, width ? 21 : 13, 1000000, 300000);
        } else {
            check_rate(width, width ? 18 : 10, 100000000, 20000000);
        }
        check_bits(width);
        check_void(width, 200000);
        check_levels(width, 0, 60000);
        check_levels(width, width ? 28 : 20, 60000);
        check_shrinking(width, 0, 20000 * scale, 200000 * scale);
        check_shrinking(width, width ? 21 : 13, 2000 * scale, 200000 * scale);
        check_capacity(width, 1000);
        check_capacity(width, 100000);
        check_capacity(width, 400000);
    }
    CHECK_EQ(counting.nlive, 0);
    return test_end();
}
