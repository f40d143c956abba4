/* SPDX-License-Identifier: MIT
 *
 * The bitmap against the dumbest correct one: a byte for each integer of a few windows, among them
 * one at the very end. Also ranges and algebra against the same bytes, listing, counting, chunks
 * and damage to them, and a failing allocator at every step. */

#include "folder_check.h"

#include "base/bytes.h"
#include "bitmap/bitmap.h"
#include "hash/checksum.h"
#include <unseen_bitmap.h>

enum {
    WINDOW = 3 << 15,
    NWINDOWS = 4,
    NBYTES = NWINDOWS * WINDOW
};

/* Windows begin inside a page, at a leaf's border, far away, and end at the last integer. */
static const uint64_t starts[NWINDOWS] = {100, ((uint64_t)5 << 24) - WINDOW / 2,
                                          ((uint64_t)1 << 39) + 12345, UNSEEN_BITMAP_END - WINDOW};

struct model {
    uint8_t has[NBYTES];
};

static uint64_t value_of(size_t i)
{
    return starts[i / WINDOW] + i % WINDOW;
}

static struct unseen_bitmap *fresh(const struct unseen_allocator *allocator)
{
    const struct unseen_bitmap_options options = {
        .size = sizeof(options), .cpu = test_cpu, .allocator = allocator};
    struct unseen_bitmap *b = NULL;
    return unseen_bitmap_create(&b, &options, NULL) == UNSEEN_OK ? b : NULL;
}

/* How often one of the ways of reading disagrees with the model. */
static size_t differences(const struct unseen_bitmap *b, const struct model *m)
{
    static uint64_t values[NBYTES];
    static uint64_t listed[NBYTES + 1];
    static uint8_t verdicts[NBYTES];
    size_t n = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < NBYTES; i++) {
        values[i] = value_of(i);
    }
    unseen_bitmap_get(b, values, NBYTES, verdicts);
    for (size_t i = 0; i < NBYTES; i++) {
        wrong += (verdicts[i] == UNSEEN_SEEN) != m->has[i];
        n += m->has[i];
    }
    wrong += unseen_bitmap_count(b, 0, UNSEEN_BITMAP_END) != n;
    wrong += unseen_bitmap_count(b, 1, UINT64_MAX) != n;
    /* In one call, and in calls of 1 to 200. */
    wrong += unseen_bitmap_next(b, 0, listed, NBYTES + 1) != n;
    size_t at = 0;
    for (size_t i = 0; i < NBYTES; i++) {
        if (m->has[i]) {
            wrong += listed[at++] != values[i];
        }
    }
    uint64_t from = 0;
    uint64_t state = n;
    at = 0;
    for (;;) {
        uint64_t part[200];
        const size_t max = 1 + test_random(&state) % 200;
        const size_t got = unseen_bitmap_next(b, from, part, max);
        wrong += got > n - at || memcmp(part, listed + at, got * sizeof(*part)) != 0;
        at += got;
        if (got < max) {
            break;
        }
        from = part[got - 1] + 1;
    }
    return wrong + (at != n);
}

static void check_all(const struct unseen_bitmap *b, const struct model *m)
{
    CHECK_EQ(differences(b, m), 0);
}

/* Random integers, mostly in some pages, so that pages of every kind come and go. */
static size_t random_place(uint64_t *state)
{
    const uint64_t r = test_random(state);
    if (r % 3 == 0) {
        return (size_t)(r >> 8) % NBYTES;
    }
    return ((size_t)(r >> 8) % NWINDOWS * WINDOW + (size_t)(r >> 16) % (r % 3 == 1 ? 6000 : 150));
}

static void one_batch(struct unseen_bitmap *b, struct model *m, uint64_t *state, bool add)
{
    uint64_t values[300];
    uint8_t verdicts[300];
    uint8_t expected[300];
    const size_t n = test_random(state) % 300;
    size_t ndone = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t place = random_place(state);
        values[i] = value_of(place);
        expected[i] = m->has[place] ? UNSEEN_SEEN : UNSEEN_NEW;
        m->has[place] = add;
    }
    enum unseen_status status = add ? unseen_bitmap_set(b, values, n, verdicts, &ndone)
                                    : unseen_bitmap_clear(b, values, n, verdicts, &ndone);
    CHECK_EQ(status, UNSEEN_OK);
    CHECK_EQ(ndone, n);
    CHECK(memcmp(verdicts, expected, n) == 0);
}

static void test_model(void)
{
    static struct model m;
    struct unseen_bitmap *b = fresh(NULL);
    uint64_t state = 1;
    memset(&m, 0, sizeof(m));
    const uint64_t rounds = 1500 * test_scale();
    for (uint64_t round = 0; round < rounds; round++) {
        const uint64_t phase = round / 250 % 2;
        one_batch(b, &m, &state, test_random(&state) % 4 >= 1 + phase);
        if (round % 250 == 249) {
            check_all(b, &m);
        }
    }
    /* A planted fault is noticed. */
    m.has[NBYTES - 1] ^= 1;
    CHECK(differences(b, &m) > 0);
    unseen_bitmap_free(b);

    struct test_allocator counter = {0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
    b = fresh(&allocator);
    uint64_t value = value_of(7);
    CHECK_EQ(unseen_bitmap_set(b, &value, 1, NULL, NULL), UNSEEN_OK);
    CHECK_EQ(unseen_bitmap_memory(b), counter.bytes);
    unseen_bitmap_free(b);
    CHECK_EQ(counter.nlive, 0);
}

static void test_ranges(void)
{
    static struct model m;
    struct unseen_bitmap *b = fresh(NULL);
    uint64_t state = 2;
    memset(&m, 0, sizeof(m));
    for (int round = 0; round < 400; round++) {
        const size_t window = test_random(&state) % NWINDOWS;
        const size_t longest = round % 3 == 0 ? 100 : WINDOW;
        const size_t first = test_random(&state) % WINDOW;
        size_t end = first + test_random(&state) % (longest + 1);
        end = end < WINDOW ? end : WINDOW;
        const uint64_t from = starts[window] + first;
        const uint64_t to = starts[window] + end;
        size_t n = 0;
        for (size_t i = first; i < end; i++) {
            n += m.has[window * WINDOW + i];
        }
        CHECK_EQ(unseen_bitmap_count(b, from, to), n);
        if (round % 5 == 4) {
            one_batch(b, &m, &state, true);
        }
        const bool add = test_random(&state) % 2;
        CHECK_EQ(unseen_bitmap_set_range(b, from, to, add), UNSEEN_OK);
        memset(m.has + window * WINDOW + first, add, end - first);
        if (round % 80 == 79) {
            check_all(b, &m);
        }
    }
    CHECK_EQ(unseen_bitmap_set_range(b, 2, 1, true), UNSEEN_ERR_ARGUMENT);
    CHECK_EQ(unseen_bitmap_set_range(b, 0, UNSEEN_BITMAP_END + 1, true), UNSEEN_ERR_ARGUMENT);
    CHECK_EQ(unseen_bitmap_set_range(b, 2, 1, false), UNSEEN_ERR_ARGUMENT);
    CHECK_EQ(unseen_bitmap_set_range(b, UNSEEN_BITMAP_END, UNSEEN_BITMAP_END, true), UNSEEN_OK);
    CHECK_EQ(unseen_bitmap_set_range(b, 0, UNSEEN_BITMAP_END, false), UNSEEN_OK);
    memset(&m, 0, sizeof(m));
    check_all(b, &m);
    unseen_bitmap_free(b);
}

static void fill(struct unseen_bitmap *b, struct model *m, uint64_t *state, int nbatches)
{
    memset(m, 0, sizeof(*m));
    for (int i = 0; i < nbatches; i++) {
        one_batch(b, m, state, i % 7 != 6);
    }
}

static void test_algebra(void)
{
    static struct model x;
    static struct model y;
    static struct model z;
    uint64_t state = 3;
    for (int round = 0; round < 24; round++) {
        struct unseen_bitmap *a = fresh(NULL);
        struct unseen_bitmap *b = fresh(NULL);
        fill(a, &x, &state, (int)(test_random(&state) % 120));
        fill(b, &y, &state, (int)(test_random(&state) % 120));
        for (size_t i = 0; i < NBYTES; i++) {
            z.has[i] = round % 3 == 0   ? x.has[i] & y.has[i]
                       : round % 3 == 1 ? x.has[i] | y.has[i]
                                        : x.has[i] & !y.has[i];
        }
        const enum unseen_bitmap_operation operation = round % 3 == 0   ? UNSEEN_BITMAP_AND
                                                       : round % 3 == 1 ? UNSEEN_BITMAP_OR
                                                                        : UNSEEN_BITMAP_ANDNOT;
        CHECK_EQ(unseen_bitmap_combine(a, operation, b), UNSEEN_OK);
        check_all(a, &z);
        check_all(b, &y);
        CHECK_EQ(unseen_bitmap_combine(b, UNSEEN_BITMAP_AND, b), UNSEEN_OK);
        CHECK_EQ(unseen_bitmap_combine(b, UNSEEN_BITMAP_OR, b), UNSEEN_OK);
        CHECK_EQ(unseen_bitmap_combine(b, (enum unseen_bitmap_operation)3, a), UNSEEN_ERR_ARGUMENT);
        check_all(b, &y);
        CHECK_EQ(unseen_bitmap_combine(b, UNSEEN_BITMAP_ANDNOT, b), UNSEEN_OK);
        memset(&y, 0, sizeof(y));
        check_all(b, &y);
        unseen_bitmap_free(a);
        unseen_bitmap_free(b);
    }
}

static void test_edges(void)
{
    struct unseen_bitmap *b = NULL;
    struct unseen_bitmap_options options = {.size = sizeof(options) + 1};
    CHECK_EQ(unseen_bitmap_create(&b, &options, NULL), UNSEEN_ERR_SIZE);
    CHECK_EQ(unseen_bitmap_create(&b, NULL, NULL), UNSEEN_OK);
    const uint64_t values[] = {5, UNSEEN_BITMAP_END - 1, UNSEEN_BITMAP_END, 6};
    uint8_t verdicts[4] = {9, 9, 9, 9};
    size_t ndone = 9;
    CHECK_EQ(unseen_bitmap_set(b, values, 4, verdicts, &ndone), UNSEEN_ERR_ARGUMENT);
    CHECK_EQ(ndone, 2);
    CHECK(verdicts[0] == UNSEEN_NEW && verdicts[1] == UNSEEN_NEW && verdicts[2] == 9);
    CHECK_EQ(unseen_bitmap_set(b, values, 4, NULL, NULL), UNSEEN_ERR_ARGUMENT);
    unseen_bitmap_get(b, values, 4, verdicts);
    CHECK(verdicts[0] == UNSEEN_SEEN && verdicts[1] == UNSEEN_SEEN && verdicts[2] == UNSEEN_NEW &&
          verdicts[3] == UNSEEN_NEW);
    CHECK_EQ(unseen_bitmap_clear(b, values, 4, verdicts, &ndone), UNSEEN_ERR_ARGUMENT);
    CHECK_EQ(ndone, 2);
    CHECK(verdicts[0] == UNSEEN_SEEN);
    CHECK_EQ(unseen_bitmap_count(b, 0, UNSEEN_BITMAP_END), 0);
    CHECK_EQ(unseen_bitmap_set(b, NULL, 0, NULL, &ndone), UNSEEN_OK);
    uint64_t out[1];
    CHECK_EQ(unseen_bitmap_next(b, UINT64_MAX, out, 1), 0);
    CHECK_EQ(unseen_bitmap_next(b, 0, NULL, 0), 0);
    unseen_bitmap_free(b);
    unseen_bitmap_free(NULL);
}

/* What was sparse leaves no hole when it becomes dense, and what is cleared is used again. */
static void test_memory(void)
{
    enum {
        N = 1 << 20
    };
    struct unseen_bitmap *b = fresh(NULL);
    uint64_t state = 4;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            const uint64_t value = test_random(&state) % ((uint64_t)64 * BITMAP_ENTRIES_PER_PAGE);
            CHECK_EQ(unseen_bitmap_set(b, &value, 1, NULL, NULL), UNSEEN_OK);
        }
        /* 64 dense pages and a leaf: the chunks of 16 + 32 + 64 pages hold them and some slabs. */
        CHECK(unseen_bitmap_memory(b) < 127 * UNSEEN__PAGE + 2048);
        CHECK_EQ(unseen_bitmap_set_range(b, 0, UNSEEN_BITMAP_END, false), UNSEEN_OK);
    }
    /* 10^5 integers spread thinly: 16 bytes each, and their leaves. */
    unseen_bitmap_free(b);
    b = fresh(NULL);
    for (int i = 0; i < 100000; i++) {
        const uint64_t value = (uint64_t)i * 40000;
        CHECK_EQ(unseen_bitmap_set(b, &value, 1, NULL, NULL), UNSEEN_OK);
    }
    CHECK(unseen_bitmap_memory(b) < 2 * (100000 * 16 + 240 * UNSEEN__PAGE));
    unseen_bitmap_free(b);
}

/* ---- chunks ---- */

struct chunks {
    uint8_t *data[64];
    size_t len[64];
    size_t n;
};

static void export_all(const struct unseen_bitmap *b, struct chunks *c)
{
    static uint8_t buf[UNSEEN_CHUNK_MAX];
    uint64_t cursor = 0;
    size_t len = 0;
    c->n = 0;
    while (unseen__bitmap_next_chunk(b, &cursor, buf, sizeof(buf), &len) == UNSEEN_OK && len > 0 &&
           c->n < 64) {
        c->data[c->n] = malloc(len);
        memcpy(c->data[c->n], buf, len);
        c->len[c->n++] = len;
    }
    CHECK_EQ(len, 0);
    CHECK_EQ(unseen__bitmap_next_chunk(b, &cursor, buf, sizeof(buf) - 1, &len), UNSEEN_ERR_SPACE);
    cursor = UINT64_MAX - 1;
    CHECK_EQ(unseen__bitmap_next_chunk(b, &cursor, buf, sizeof(buf), &len), UNSEEN_ERR_ARGUMENT);
}

static void free_chunks(struct chunks *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->data[i]);
    }
}

/* Imports in a given rotation of the chunks behind the header. */
static enum unseen_status import_all(struct unseen_bitmap *b, const struct chunks *c, size_t turn,
                                     bool *complete)
{
    *complete = false;
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < c->n && status == UNSEEN_OK; i++) {
        const size_t at = i == 0 ? 0 : 1 + (i - 1 + turn) % (c->n - 1);
        CHECK(!*complete);
        char *chunk = test_guarded(c->data[at], c->len[at]);
        status = unseen__bitmap_take_chunk(b, chunk, c->len[at], complete);
    }
    return status;
}

static void test_chunks(void)
{
    static struct model m;
    struct unseen_bitmap *b = fresh(NULL);
    uint64_t state = 5;
    struct chunks first;
    struct chunks second;
    bool complete;
    fill(b, &m, &state, 300);
    CHECK_EQ(unseen_bitmap_set_range(b, starts[2], starts[2] + 40000, true), UNSEEN_OK);
    memset(m.has + 2 * WINDOW, 1, 40000);
    export_all(b, &first);
    CHECK(first.n >= 3);
    for (size_t turn = 0; turn < first.n - 1; turn++) {
        struct unseen_bitmap *back = fresh(NULL);
        CHECK_EQ(import_all(back, &first, turn, &complete), UNSEEN_OK);
        CHECK(complete);
        check_all(back, &m);
        /* However it came to be, the same integers give the same bytes. */
        export_all(back, &second);
        CHECK_EQ(second.n, first.n);
        for (size_t i = 0; i < first.n; i++) {
            CHECK(first.len[i] == second.len[i] &&
                  memcmp(first.data[i], second.data[i], first.len[i]) == 0);
        }
        free_chunks(&second);
        /* A chunk that comes twice. */
        for (size_t i = 0; i < first.n; i++) {
            CHECK(unseen__bitmap_take_chunk(back, first.data[i], first.len[i], &complete) !=
                  UNSEEN_OK);
        }
        CHECK(unseen__bitmap_take_chunk(back, first.data[first.n - 1], first.len[first.n - 1],
                                        &complete) == UNSEEN_ERR_CORRUPT);
        unseen_bitmap_free(back);
    }
    /* Not into what is there already, and not without a header. */
    CHECK_EQ(unseen__bitmap_take_chunk(b, first.data[0], first.len[0], &complete),
             UNSEEN_ERR_ARGUMENT);
    struct unseen_bitmap *other = fresh(NULL);
    CHECK_EQ(unseen__bitmap_take_chunk(other, first.data[1], first.len[1], &complete),
             UNSEEN_ERR_CORRUPT);
    unseen_bitmap_free(other);
    /* A missing chunk is noticed. */
    first.n--;
    other = fresh(NULL);
    CHECK_EQ(import_all(other, &first, 0, &complete), UNSEEN_OK);
    CHECK(!complete);
    unseen_bitmap_free(other);
    first.n++;
    free_chunks(&first);
    /* Nothing at all is an export, too. */
    other = fresh(NULL);
    export_all(other, &first);
    CHECK_EQ(first.n, 2);
    struct unseen_bitmap *back = fresh(NULL);
    CHECK_EQ(import_all(back, &first, 0, &complete), UNSEEN_OK);
    CHECK(complete && unseen_bitmap_count(back, 0, UINT64_MAX) == 0);
    unseen_bitmap_free(back);
    unseen_bitmap_free(other);
    free_chunks(&first);
    unseen_bitmap_free(b);
}

/* Whether the chunks are refused, at the latest at the end. */
static bool is_refused(const struct chunks *c)
{
    struct unseen_bitmap *b = fresh(NULL);
    bool complete;
    const enum unseen_status status = import_all(b, c, 0, &complete);
    unseen_bitmap_free(b);
    return status != UNSEEN_OK || !complete;
}

static void reseal(struct chunks *c, size_t i)
{
    store_le64(c->data[i] + c->len[i] - 8, unseen__checksum(c->data[i], c->len[i] - 8));
}

/* Every bit flipped, every length, and wrong contents under a right checksum. */
static void test_damage(void)
{
    struct unseen_bitmap *b = fresh(NULL);
    const uint64_t values[] = {3, 9, 70000, UNSEEN_BITMAP_END - 1};
    struct chunks c;
    CHECK_EQ(unseen_bitmap_set(b, values, 4, NULL, NULL), UNSEEN_OK);
    export_all(b, &c);
    CHECK_EQ(c.n, 3);
    CHECK(!is_refused(&c));
    for (size_t i = 0; i < c.n; i++) {
        for (size_t bit = 0; bit < 8 * c.len[i]; bit++) {
            c.data[i][bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK(is_refused(&c));
            c.data[i][bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        const size_t len = c.len[i];
        for (c.len[i] = 0; c.len[i] < len; c.len[i]++) {
            CHECK(is_refused(&c));
        }
        c.len[i] = len;
    }
    for (size_t i = 0; i < c.n; i++) { /* the reserved bytes of a frame */
        c.data[i][16] = 1;
        reseal(&c, i);
        CHECK(is_refused(&c));
        c.data[i][16] = 0;
        reseal(&c, i);
    }
    /* The piece: pages 0 {3, 9}, 2 {4464}, the last {32767}; each change must be refused. */
    const struct {
        size_t place;
        uint8_t value;
    } lies[] = {
        {0, 2}, /* page 0 becomes 2, which comes again */
        {3, 2}, /* a page above the last */
        {4, 0}, /* no integers */
        {4, 1}, /* fewer than there are */
        {5, 0x90} /* more than a page has */,
        {6, 1}, /* a reserved byte */
        {8, 9}, /* 9 twice */
        {9, 0x80} /* a low part of 2^15 and more */,
        {8, 10}, /* not in order */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        uint8_t *byte = c.data[1] + 24 + lies[i].place;
        const uint8_t before = *byte;
        *byte = lies[i].value;
        reseal(&c, 1);
        CHECK(is_refused(&c));
        *byte = before;
        reseal(&c, 1);
    }
    CHECK(!is_refused(&c));
    /* An end mark with another number is damage, not a mark that is still to come. */
    for (int by = -1; by <= 1; by++) {
        struct unseen_bitmap *back = fresh(NULL);
        bool complete = false;
        c.data[2][24] = (uint8_t)(c.data[2][24] + by);
        reseal(&c, 2);
        CHECK(import_all(back, &c, 0, &complete) == (by ? UNSEEN_ERR_CORRUPT : UNSEEN_OK));
        c.data[2][24] = (uint8_t)(c.data[2][24] - by);
        reseal(&c, 2);
        unseen_bitmap_free(back);
    }
    free_chunks(&c);
    unseen_bitmap_free(b);
}

/* ---- failing memory ---- */

/* Some of everything; false as soon as something has failed, and then b and m still agree. */
static bool work(struct unseen_bitmap *b, struct model *m, const struct unseen_bitmap *other)
{
    uint64_t state = 6;
    for (int round = 0; round < 40; round++) {
        uint64_t values[200];
        uint8_t verdicts[200];
        size_t places[200];
        size_t ndone = 0;
        for (size_t i = 0; i < 200; i++) {
            places[i] = random_place(&state);
            values[i] = value_of(places[i]);
        }
        const enum unseen_status status = unseen_bitmap_set(b, values, 200, verdicts, &ndone);
        for (size_t i = 0; i < ndone; i++) {
            m->has[places[i]] = 1;
        }
        if (status != UNSEEN_OK) {
            CHECK_EQ(status, UNSEEN_ERR_NOMEM);
            return false;
        }
    }
    const uint64_t end = starts[1] + 50000;
    if (unseen_bitmap_set_range(b, starts[1], end, true) != UNSEEN_OK ||
        unseen_bitmap_combine(b, UNSEEN_BITMAP_OR, other) != UNSEEN_OK) {
        /* Some may have been added: take over which. */
        for (size_t i = 0; i < NBYTES; i++) {
            const uint64_t value = value_of(i);
            uint8_t verdict;
            unseen_bitmap_get(b, &value, 1, &verdict);
            CHECK(verdict == UNSEEN_SEEN || !m->has[i]);
            m->has[i] = verdict == UNSEEN_SEEN;
        }
        return false;
    }
    memset(m->has + WINDOW, 1, 50000);
    return true;
}

static void test_no_memory(void)
{
    static struct model m;
    static struct model y;
    uint64_t state = 7;
    struct unseen_bitmap *other = fresh(NULL);
    fill(other, &y, &state, 30);
    unsigned long fail_at = 0;
    bool done = false;
    while (!done) {
        fail_at++;
        struct test_allocator counter = {.fail_at = fail_at, .fail_after = fail_at % 2};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counter};
        struct unseen_bitmap *b = fresh(&allocator);
        memset(&m, 0, sizeof(m));
        if (b) {
            done = work(b, &m, other);
            for (size_t i = 0; done && i < NBYTES; i++) {
                m.has[i] |= y.has[i];
            }
            check_all(b, &m);
            counter.fail_at = 0;
            CHECK(work(b, &m, other));
        }
        unseen_bitmap_free(b);
        CHECK_EQ(counter.nlive, 0);
    }
    CHECK(fail_at > 5);
    unseen_bitmap_free(other);
}

/* ---- files ---- */

static bool edit_file(const char *path, const struct unseen_allocator *allocator)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .allocator = allocator};
    const uint64_t values[] = {1, 5, 70000, UNSEEN_BITMAP_END - 1};
    struct unseen_bitmap *b = NULL;
    const bool done =
        unseen_bitmap_open(&b, path, UNSEEN_BITMAP_EDIT, &options, NULL) == UNSEEN_OK &&
        unseen_bitmap_set(b, values, 4, NULL, NULL) == UNSEEN_OK &&
        unseen_bitmap_save(b, NULL) == UNSEEN_OK;
    unseen_bitmap_free(b);
    return done;
}

static void test_files(void)
{
    char folder[200];
    char path[sizeof(folder) + 8];
    char fresh[sizeof(path) + 16];
    struct unseen_error error;
    struct unseen_bitmap *b = NULL;
    struct unseen_bitmap *c = NULL;
    test_folder_make(folder, sizeof(folder), "bitmap");
    snprintf(path, sizeof(path), "%s/bits", folder);
    snprintf(fresh, sizeof(fresh), "%s.unseen-new", path);
    struct unseen_bitmap *kept;
    CHECK(unseen_bitmap_create(&kept, NULL, NULL) == UNSEEN_OK);
    b = kept; /* as it is after a failure */
    CHECK(unseen_bitmap_open(&b, path, UNSEEN_BITMAP_READ, NULL, &error) == UNSEEN_ERR_MISSING);
    CHECK(b == kept && error.text[0] != '\0');
    unseen_bitmap_free(kept);
    /* Every allocation fails in turn: the file has all integers or does not exist. */
    bool done = false;
    for (unsigned long i = 1; !done && i < 100; i++) {
        struct test_allocator t = {.fail_at = i};
        const struct unseen_allocator a = {test_alloc, test_free, &t};
        done = edit_file(path, &a);
        CHECK(t.nlive == 0 && access(fresh, F_OK) != 0);
        CHECK(done == (access(path, F_OK) == 0));
    }
    CHECK(done);
    CHECK(unseen_bitmap_open(&b, path, UNSEEN_BITMAP_READ, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(unseen_bitmap_count(b, 0, UNSEEN_BITMAP_END), 4);
    CHECK(unseen_bitmap_save(b, &error) == UNSEEN_ERR_ARGUMENT);
    unseen_bitmap_free(b);
    CHECK(unseen_bitmap_open(&b, path, UNSEEN_BITMAP_EDIT, NULL, &error) == UNSEEN_OK);
    /* An edit that is not saved leaves the file, and the lock. */
    CHECK(unseen_bitmap_set_range(b, 0, 100, true) == UNSEEN_OK);
    unseen_bitmap_free(b);
    CHECK(unseen_bitmap_open(&b, path, UNSEEN_BITMAP_EDIT, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(unseen_bitmap_count(b, 0, UNSEEN_BITMAP_END), 4);
    CHECK(unseen_bitmap_open(&c, path, UNSEEN_BITMAP_READ, NULL, &error) == UNSEEN_OK);
    unseen_bitmap_free(c);
    CHECK(unseen_bitmap_save(b, &error) == UNSEEN_OK);
    CHECK(unseen_bitmap_save(b, &error) == UNSEEN_ERR_ARGUMENT);
    unseen_bitmap_free(b);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

/* Eight bits take three pages, not sixteen. */
static void test_small(void)
{
    struct unseen_bitmap *b = fresh(NULL);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK(unseen_bitmap_set(b, &i, 1, NULL, NULL) == UNSEEN_OK);
    }
    CHECK(unseen_bitmap_memory(b) < 13000);
    unseen_bitmap_free(b);
}

int main(void)
{
    test_start();
    test_model();
    test_ranges();
    test_algebra();
    test_edges();
    test_memory();
    test_chunks();
    test_damage();
    test_no_memory();
    test_files();
    test_small();
    return test_end();
}
