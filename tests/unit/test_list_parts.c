/* SPDX-License-Identifier: MIT
 *
 * The parts of building a list: keys through a spill, sorting, geometries and pages at their
 * limits. */
#include "test.h"

#include "base/memory.h"
#include "list/layout.h"
#include "list/page.h"
#include "list/sort.h"
#include "list/spill.h"

enum {
    NKEYS = 40000
};

static uint64_t keys[NKEYS + 1];
static uint64_t given[NKEYS + 1];
static uint64_t other[NKEYS + 1];

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted, and one of each. */
static size_t make_distinct(uint64_t *array, size_t n)
{
    qsort(array, n, sizeof(*array), compare);
    size_t ndistinct = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || array[i] != array[i - 1]) {
            array[ndistinct++] = array[i];
        }
    }
    return ndistinct;
}

/* Every record size and number of parts, with buffers so small that most keys go to the file: what
 * comes back is what went in, but for the bits that are dropped, and for repeats, of which there
 * are many only in records of one byte. The test allocator's blocks end where they end, so that
 * with a sanitizer a store of a whole word behind them shows. */
static void test_spill(void)
{
    struct unseen_error error;
    for (unsigned record = 1; record <= 8; record++) {
        const unsigned part_bits = record < 7 ? record : record == 7 ? 8 : 0;
        struct test_allocator counting = {0};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        struct unseen__spill *spill = NULL;
        uint64_t random = record;
        const unsigned key_bits = part_bits + 8 * record - record % 3; /* some bits are not kept */
        const uint64_t mask = ~UINT64_C(0) << (64 - key_bits);
        CHECK(unseen__spill_create(&spill, part_bits, key_bits, 1, 0, "/tmp", &allocator) ==
              UNSEEN_OK);
        for (size_t i = 0; i < NKEYS; i++) {
            given[i] = test_random(&random);
        }
        CHECK(unseen__spill_add(spill, given, 0, &error) == UNSEEN_OK);
        CHECK(unseen__spill_add(spill, given, 7777, &error) == UNSEEN_OK);
        CHECK(unseen__spill_add(spill, given + 7777, NKEYS - 7777, &error) == UNSEEN_OK);
        const size_t total = (size_t)unseen__spill_total(spill);
        CHECK(record == 1 ? total < NKEYS : total == NKEYS);
        size_t at = 0;
        for (size_t part = 0; part >> part_bits == 0; part++) {
            const uint64_t n = unseen__spill_count(spill, part);
            CHECK(unseen__spill_read(spill, part, keys + at, &error) == UNSEEN_OK);
            for (size_t i = at; i < at + n; i++) {
                CHECK(part_bits == 0 || keys[i] >> (64 - part_bits) == part);
            }
            at += (size_t)n;
        }
        CHECK_EQ(at, total);
        for (size_t i = 0; i < NKEYS; i++) {
            given[i] &= mask;
        }
        const size_t ndistinct = make_distinct(given, NKEYS);
        CHECK_EQ(make_distinct(keys, total), ndistinct);
        CHECK(memcmp(keys, given, sizeof(*keys) * ndistinct) == 0);
        CHECK_EQ(unseen__spill_total(spill), 0);
        unseen__spill_free(spill);
        CHECK_EQ(counting.nlive, 0);
    }
    struct unseen__spill *spill = NULL;
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    CHECK(unseen__spill_create(&spill, 0, 64, 1, 0, "/nonexistent/folder", &allocator) ==
          UNSEEN_OK);
    CHECK(unseen__spill_add(spill, given, NKEYS, &error) == UNSEEN_ERR_MISSING);
    CHECK(strstr(error.text, "/nonexistent/folder") != NULL);
    unseen__spill_free(spill);
}

/* Each allocation fails once; what has been made until then is freed. */
static void test_spill_memory(void)
{
    struct unseen_error error;
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    unsigned long fail_at = 0;
    while (status == UNSEEN_ERR_NOMEM) {
        struct test_allocator counting = {.fail_at = ++fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        struct unseen__spill *spill = NULL;
        status = unseen__spill_create(&spill, 1, 64, 1, 0, "/tmp", &allocator);
        if (status == UNSEEN_OK) {
            status = unseen__spill_add(spill, given, NKEYS, &error);
        }
        unseen__spill_free(spill);
        CHECK_EQ(counting.nlive, 0);
    }
    CHECK(status == UNSEEN_OK && fail_at == 7);
}

/* Sorting against qsort: hash values, and numbers that agree in most bits, each with repeats. */
static void test_sort(void)
{
    const size_t sizes[] = {0, 1, 2, 3, 100, 767, 770, 5000, NKEYS};
    for (unsigned kind = 0; kind < 6; kind++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            const size_t n = sizes[s];
            const unsigned prefix_bits = kind == 1 ? 10 : 0;
            uint64_t random = kind;
            for (size_t i = 0; i < n; i++) {
                const uint64_t x = test_random(&random);
                const uint64_t kinds[] = {x, x >> 10 | UINT64_C(5) << 54,     x % n, x << 50,
                                          7, x & UINT64_C(0xff000000000000ff)};
                keys[i] = kinds[kind];
                given[i] = keys[i];
            }
            qsort(given, n, sizeof(*given), compare);
            size_t ndistinct = 0;
            for (size_t i = 0; i < n; i++) {
                if (i == 0 || given[i] != given[i - 1]) {
                    given[ndistinct++] = given[i];
                }
            }
            CHECK_EQ(unseen__sort_distinct(keys, other, n, prefix_bits), ndistinct);
            CHECK(memcmp(keys, given, ndistinct * sizeof(*keys)) == 0);
        }
    }
}

/* In every geometry there is, no two bits of a page have one place, and none is outside. */
static void test_layout(void)
{
    struct unseen__list_geometry s;
    size_t nshapes = 0;
    for (unsigned columns = 1; columns <= UNSEEN__LIST_COLUMNS_MAX + 1; columns++) {
        for (unsigned blocks = 1; blocks <= UNSEEN__LIST_BLOCKS_MAX + 1; blocks++) {
            const unsigned extended[] = {0, 1, blocks / 2, blocks, blocks + 1};
            for (size_t e = 0; e < 5; e++) {
                if (!unseen__list_geometry_make(columns, blocks, extended[e], &s)) {
                    continue;
                }
                uint8_t used[UNSEEN__LIST_PAGE] = {0};
                nshapes++;
                for (unsigned i = 0; i < blocks; i++) {
                    const unsigned end = columns + (i < s.extended);
                    for (unsigned j = 0; j < end; j++) {
                        const unsigned place = unseen__list_word_offset(&s, i, j);
                        CHECK(place + 8 <= UNSEEN__LIST_PAGE);
                        for (unsigned k = 0; k < 8 && place + k < UNSEEN__LIST_PAGE; k++) {
                            used[place + k]++;
                        }
                    }
                    if (i % 4 == 0) {
                        CHECK(s.displaced[i / 4] < UNSEEN__LIST_PAGE);
                        used[s.displaced[i / 4] % UNSEEN__LIST_PAGE]++;
                    }
                }
                bool is_once = true;
                for (size_t k = 0; k < UNSEEN__LIST_PAGE; k++) {
                    is_once = is_once && used[k] <= 1;
                }
                CHECK(is_once);
            }
        }
    }
    CHECK(nshapes > 1000);
}

/* A page of the highest level bumps every key, whatever its bump byte and block: once the last
 * threshold was 256 in a byte, and bumped none. */
static void test_bump_all(void)
{
    struct unseen__list_geometry s;
    uint8_t page[UNSEEN__LIST_PAGE];
    CHECK(unseen__list_geometry_for(1e-4, &s) == UNSEEN_OK);
    unseen__list_page_bump_all(&s, page);
    for (unsigned block = 0; block < s.blocks; block++) {
        for (unsigned bump = 0; bump < 256; bump++) {
            const struct unseen__list_row row = {
                .block = block, .c0 = ~UINT64_C(0), .bump = (uint8_t)bump};
            CHECK(unseen__list_page_ask(&s, page, &row) == UNSEEN__LIST_BUMPED);
        }
    }
}

/* Each page's keys, block by block: every key is in the block of its own place. */
static void check_ends(const struct unseen__list_geometry *s, uint32_t npages, unsigned shard_bits)
{
    uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
    size_t at = 0;
    size_t nwrong = 0;
    while (at < NKEYS) {
        const uint32_t page = unseen__list_place_of(s, keys[at], 0, npages).page;
        const size_t rest = NKEYS - at;
        for (size_t i = 0; i < rest; i++) { /* the last shard of 2^shard_bits */
            other[i] = shard_bits ? ~(~keys[at + i] >> shard_bits) : keys[at + i];
        }
        unseen__list_part(s, other, npages > 500 && rest > 500 ? 500 : rest, shard_bits, npages,
                          page, ends);
        for (unsigned block = 0; block < s->blocks; block++) {
            for (size_t i = block ? ends[block - 1] : 0; i < ends[block]; i++) {
                const struct unseen__list_place place =
                    unseen__list_place_of(s, keys[at + i], 0, npages);
                nwrong += place.page != page || unseen__list_block_of(place.row) != block;
            }
        }
        at += ends[s->blocks - 1];
        nwrong += at < NKEYS && unseen__list_place_of(s, keys[at], 0, npages).page == page;
        if (!CHECK(ends[s->blocks - 1] > 0)) {
            return;
        }
    }
    CHECK_EQ(nwrong, 0);
}

/* The place of a key never decreases with it, and stays within the shard. */
static void test_places(void)
{
    struct unseen__list_geometry s;
    uint64_t random = 1;
    CHECK(unseen__list_geometry_for(1e-3, &s) == UNSEEN_OK);
    for (size_t i = 0; i < NKEYS; i++) {
        keys[i] = test_random(&random);
    }
    keys[0] = 0;
    keys[1] = ~UINT64_C(0);
    qsort(keys, NKEYS, sizeof(*keys), compare);
    const uint32_t npages[] = {1, 2, 401, 65537, UINT32_MAX};
    for (size_t p = 0; p < 5; p++) {
        uint64_t last = 0;
        for (size_t i = 0; i < NKEYS; i++) {
            const struct unseen__list_place at = unseen__list_place_of(&s, keys[i], 0, npages[p]);
            const uint64_t rows = UNSEEN__LIST_ROWS * (uint64_t)s.blocks;
            CHECK(at.page < npages[p] && at.row < rows && at.page * rows + at.row >= last);
            last = at.page * rows + at.row;
        }
        check_ends(&s, npages[p], (unsigned)p);
    }
}

/* Where each block's keys end, from their rows, which are in order. */
static void take_ends(const struct unseen__list_geometry *s, const uint16_t *rows, size_t n,
                      uint32_t *ends)
{
    size_t at = 0;
    for (unsigned i = 0; i < s->blocks; i++) {
        while (at < n && unseen__list_block_of(rows[at]) == i) {
            at++;
        }
        ends[i] = (uint32_t)at;
    }
}

/* Pages of all loads, with the solver's counts: every way to solve a block has been gone. Keys that
 * are alike but for one bit, and all in one block or at the page's end, are as good as others. */
static void test_solver(void)
{
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    static uint16_t rows[NKEYS];
    static uint32_t bumped[NKEYS + 1];
    uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
    struct unseen__list_geometry s;
    struct unseen__list_solver *solver = NULL;
    uint64_t random = 3;
    CHECK(unseen__list_geometry_for(1e-4, &s) == UNSEEN_OK);
    const unsigned nrows = UNSEEN__LIST_ROWS * s.blocks;
    CHECK(unseen__list_solver_create(&solver, &s, 2 * (size_t)nrows, test_cpu, &allocator) ==
          UNSEEN_OK);
    for (unsigned round = 0; round < 300; round++) {
        uint8_t page[UNSEEN__LIST_PAGE];
        const size_t n = nrows * (1 + round % 150) / 100;
        for (size_t i = 0; i < n; i++) {
            keys[i] = test_random(&random);
            const size_t spread[] = {i * nrows / n, 0, nrows - 1, i * 200 / n};
            rows[i] = (uint16_t)spread[round < 290 ? 0 : round % 4];
        }
        size_t nbumped = 0;
        size_t at = 0;
        size_t nwrong = 0;
        take_ends(&s, rows, n, ends);
        unseen__list_solve(solver, keys, ends, page, bumped, &nbumped);
        for (size_t i = 0; i < n; i++) {
            const struct unseen__list_row row = unseen__list_row_of(&s, keys[i], rows[i]);
            const bool is_bumped = at < nbumped && bumped[at] == i;
            at += is_bumped;
            nwrong += unseen__list_page_ask(&s, page, &row) !=
                      (is_bumped ? UNSEEN__LIST_BUMPED : UNSEEN__LIST_YES);
        }
        CHECK_EQ(nwrong, 0);
        CHECK_EQ(at, nbumped);
    }
    const struct unseen__list_solver_counts counts = unseen__list_solver_counts(solver);
    CHECK_EQ(counts.npages, 300);
    CHECK(counts.nretries > 0 && counts.nreturns > 0 && counts.nlevels[3] > 0);
    unseen__list_solver_free(solver);
}

int main(void)
{
    test_start();
    test_spill();
    test_spill_memory();
    test_sort();
    test_layout();
    test_bump_all();
    test_places();
    test_solver();
    return test_end();
}
