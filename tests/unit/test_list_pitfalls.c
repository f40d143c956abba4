/* SPDX-License-Identifier: MIT
 *
 * What once went wrong with lists, or nearly did, each as a test:
 *
 *   levels in a line of their own, twice the time of a miss       test_miss_lines
 *   a word read that was not needed                               test_miss_lines
 *   the last threshold, 256, in a byte became 0                   test_thresholds
 *   thresholds with a highest one that does not bump all          test_thresholds
 *   a page that could not be built: dependent rows                test_dependent,
 *                                                                 test_all_dependent
 *   carried rows that depend on each other, seen a block late     test_carried, test_far_back
 *   more equations carried than a block has rows                  test_crowded
 *   a page with 140 % of its keys, 300 %                          test_overload
 *   a shard so small that whole pages are too coarse              test_tiny
 *   duplicates, which count as rows when levels are chosen        unit/list (thrice_key, same_key)
 *   stores of a whole word behind the end of a chunk              unit/list_parts (test_spill)
 *   a query that does not cut its key as the spill did            unit/list (sizes with a capacity)
 *   another result on another processor                           unit/list_page (test_bytes),
 *                                                                 and solve here
 *
 * Chance does not make these pages within a year, so the equations are injected: the solver gets a
 * kernel whose keys have coefficients of the test's choice. */
#include "test.h"

#include "base/memory.h"
#include "list/layout.h"
#include "list/page.h"
#include "list/solve.h"

enum {
    KEYS = 3 * 64 * UNSEEN__LIST_BLOCKS_MAX,
    QUESTIONS = 4000
};

static struct unseen__list_geometry geometry;
static struct unseen__list_solver *solver;
static struct unseen__list_kernel kernel;
static struct unseen__list_solver *portable_solver;
static struct unseen__list_kernel portable;

/* The keys of a page, in the order of their blocks. */
static struct unseen__list_row rows[KEYS];
static size_t nrows;
static uint64_t random_state = 7;

static void hash_chosen(const uint64_t *hashes, size_t n, const struct unseen__list_keys *keys)
{
    (void)hashes;
    for (size_t i = 0; i < n; i++) {
        keys->c0[i] = rows[i].c0;
        keys->c1[i] = rows[i].c1;
        keys->fingerprint[i] = rows[i].fingerprint;
        keys->bump[i] = rows[i].bump;
    }
}

static struct unseen__list_solver *make_solver(enum unseen_cpu cpu,
                                               struct unseen__list_kernel *chosen)
{
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__list_solver *made = NULL;
    CHECK(unseen__list_solver_create(&made, &geometry, KEYS, cpu, &allocator) == UNSEEN_OK);
    *chosen = *unseen__list_kernel_for(cpu);
    chosen->hash = hash_chosen;
    unseen__list_solver_replace(made, chosen);
    return made;
}

static void start(double fpr)
{
    CHECK(unseen__list_geometry_for(fpr, &geometry) == UNSEEN_OK);
    solver = make_solver(test_cpu, &kernel);
    portable_solver = make_solver(UNSEEN_CPU_PORTABLE, &portable);
    nrows = 0;
}

static void end(void)
{
    unseen__list_solver_free(solver);
    unseen__list_solver_free(portable_solver);
    solver = NULL;
    portable_solver = NULL;
}

static void add(unsigned block, uint64_t c0, uint64_t c1, uint32_t fingerprint, unsigned bump)
{
    const bool is_last = block + 1 == geometry.blocks;
    const uint32_t bits = geometry.columns + unseen__list_is_extended(&geometry, block);
    rows[nrows] =
        (struct unseen__list_row){.block = block,
                                  .c0 = c0,
                                  .c1 = is_last ? 0 : c1,
                                  .fingerprint = fingerprint & ((UINT32_C(1) << bits) - 1),
                                  .bump = (uint8_t)bump};
    nrows++;
}

static void add_random(unsigned block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = test_random(&random_state);
        add(block, test_random(&random_state), test_random(&random_state), (uint32_t)x,
            (unsigned)(x >> 56));
    }
}

/* Solves the page: each key is in it or bumped, and if it is said to be bumped, the page says so,
 * too. Portable code makes the same page. How many are bumped. */
static size_t solve(uint8_t page[UNSEEN__LIST_PAGE])
{
    uint8_t portable_page[UNSEEN__LIST_PAGE];
    static uint64_t hashes[KEYS];
    static uint32_t bumped[KEYS + 1];
    uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
    size_t at = 0;
    size_t nbumped = 0;
    size_t nwrong = 0;
    for (unsigned i = 0; i < geometry.blocks; i++) {
        while (at < nrows && rows[at].block == i) {
            at++;
        }
        ends[i] = (uint32_t)at;
    }
    CHECK_EQ(at, nrows);
    unseen__list_solve(portable_solver, hashes, ends, portable_page, bumped, &nbumped);
    unseen__list_solve(solver, hashes, ends, page, bumped, &nbumped);
    CHECK(memcmp(page, portable_page, UNSEEN__LIST_PAGE) == 0);
    at = 0;
    for (size_t i = 0; i < nrows; i++) {
        const bool is_bumped = at < nbumped && bumped[at] == i;
        at += is_bumped;
        nwrong += unseen__list_page_ask(&geometry, page, &rows[i]) !=
                  (is_bumped ? UNSEEN__LIST_BUMPED : UNSEEN__LIST_YES);
    }
    CHECK_EQ(nwrong, 0);
    CHECK_EQ(at, nbumped);
    return nbumped;
}

static unsigned level_of(const uint8_t *page, unsigned block)
{
    return page[unseen__list_word_offset(&geometry, block, geometry.group0 - 1) + 7] >> 6;
}

/* Two keys of one block with the same coefficients and another fingerprint: they contradict each
 * other until one is bumped. */
static void test_dependent(void)
{
    const unsigned bumps[][3] = {{0, 255, 1}, {100, 255, 2}, {200, 255, 3}, {255, 255, 3}};
    for (size_t i = 0; i < 4; i++) {
        uint8_t page[UNSEEN__LIST_PAGE];
        start(1e-4);
        for (unsigned block = 0; block < geometry.blocks; block++) {
            add_random(block, 30);
            if (block == 9) {
                add(block, 5, 6, 1, bumps[i][0]);
                add(block, 5, 6, 2, bumps[i][1]);
            }
        }
        (void)solve(page);
        CHECK_EQ(level_of(page, 9), bumps[i][2]);
        CHECK_EQ(level_of(page, 8) + level_of(page, 10), 0); /* and nothing else is bumped */
        end();
    }
}

/* Every key of the page has the same coefficients, or none at all. */
static void test_all_dependent(void)
{
    const double rates[] = {1e-2, 1e-4, 1e-9};
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t c = 0; c < 3; c++) {
            uint8_t page[UNSEEN__LIST_PAGE];
            start(rates[i]);
            for (unsigned block = 0; block < geometry.blocks; block++) {
                for (uint32_t k = 0; k < 66; k++) {
                    add(block, c, c > 1 ? c : 0, k, k * 3);
                }
            }
            const size_t nbumped = solve(page);
            CHECK(nbumped >= nrows - 2 * (size_t)geometry.blocks);
            CHECK(unseen__list_solver_counts(solver).nretries >= geometry.blocks);
            end();
        }
    }
}

/* Adds four keys, each pair of which leaves u over the next block with another right side. What
 * they leave is carried, and only there contradicts itself. */
static void add_clash(unsigned block, uint64_t u)
{
    add(block, 1, 16, 3, 130); /* bumped from level 3 on only */
    add(block, 1, 16 ^ u, 3, 140);
    add(block, 2, 16, 5, 150);
    add(block, 2, 16 ^ u, 6, 160);
}

static void test_carried(void)
{
    uint8_t page[UNSEEN__LIST_PAGE];
    start(1e-4);
    for (unsigned block = 0; block < geometry.blocks; block++) {
        if (block == 20) {
            add_clash(block, 8);
        } else {
            add_random(block, 40);
        }
    }
    CHECK_EQ(solve(page), 4);
    CHECK(unseen__list_solver_counts(solver).nreturns > 0);
    /* the block at fault is bumped; the one that noticed got its keys back */
    CHECK_EQ(level_of(page, 20), 3);
    CHECK_EQ(level_of(page, 21), 0);
    end();
}

/* A contradiction that goes on through blocks without keys of their own: keys of block 0 leave
 * equations whose contradiction shows in block 1, which has to go to the highest level first; in
 * the last block, too, which has nowhere to carry to. */
static void test_far_back(void)
{
    const unsigned last = 36; /* of 38 at 1e-4 */
    const unsigned at[] = {0, 1, last - 1, last};
    for (size_t i = 0; i < 4; i++) {
        uint8_t page[UNSEEN__LIST_PAGE];
        start(1e-4);
        CHECK_EQ(geometry.blocks, 38);
        for (unsigned block = 0; block < geometry.blocks; block++) {
            if (block == at[i]) {
                add_clash(block, UINT64_C(1) << 63);
            } else if (block == at[i] + 1) {
                for (unsigned k = 0; k < 40; k++) { /* each contradicts what is carried */
                    add(block, UINT64_C(1) << 63, 0, 100 + k, 6 * k);
                }
            }
        }
        (void)solve(page);
        CHECK_EQ(level_of(page, at[i]), 3);
        CHECK(unseen__list_solver_counts(solver).nreturns > 0);
        end();
    }
}

/* 122 keys of a block that have one coefficient in it: all but one would be carried. */
static void test_crowded(void)
{
    uint8_t page[UNSEEN__LIST_PAGE];
    start(1e-4);
    for (unsigned block = 0; block < geometry.blocks; block++) {
        for (unsigned k = 0; block == 5 && k < 122; k++) {
            add(block, 4, test_random(&random_state), k, 2 * k);
        }
        add_random(block, block == 5 ? 0 : 60);
    }
    const size_t nbumped = solve(page);
    CHECK(level_of(page, 5) > 0 && nbumped < 300);
    end();
}

/* Random pages with up to three times what they can hold. */
static void test_overload(void)
{
    const unsigned loads[] = {100, 120, 140, 170, 200, 300}; /* percent */
    for (size_t i = 0; i < 6; i++) {
        uint8_t page[UNSEEN__LIST_PAGE];
        start(1e-4);
        for (unsigned block = 0; block < geometry.blocks; block++) {
            add_random(block, 64 * loads[i] / 100);
        }
        const size_t nbumped = solve(page);
        /* what is there is not thrown away, either: up to twice its keys, half of its rows are
         * used */
        CHECK(loads[i] > 200 || nrows - nbumped > 32 * (size_t)geometry.blocks);
        end();
    }
}

/* A shard's number of pages is rounded, so its pages may have any load up to 150 %. */
static void test_tiny(void)
{
    start(1e-4);
    const unsigned full = 64 * geometry.blocks * 1045 / 1000;
    for (unsigned n = 0; n <= full * 3 / 2; n += 13) {
        uint8_t page[UNSEEN__LIST_PAGE];
        nrows = 0;
        for (unsigned block = 0; block < geometry.blocks; block++) {
            add_random(block, n * (block + 1) / geometry.blocks - n * block / geometry.blocks);
        }
        const size_t nbumped = solve(page);
        CHECK(nbumped * 100 <= (n <= full * 3 / 4 ? 0 : (size_t)n * 65));
    }
    end();
}

static void test_thresholds(void)
{
    CHECK_EQ(unseen__list_thresholds[0], 0);
    CHECK_EQ(unseen__list_thresholds[3], 256);
    uint8_t page[UNSEEN__LIST_PAGE];
    start(1e-4);
    for (unsigned block = 0; block < geometry.blocks; block++) {
        for (unsigned k = 0; k < 3; k++) { /* of any two, one must go: at level 3, both */
            add(block, 0, 0, k + 1, 255);
        }
    }
    CHECK_EQ(solve(page), nrows);
    end();
}

/* What is neither listed nor bumped is told by two neighbouring lines of the page: any change of
 * all other bytes leaves the answer as it is. A bumped key is told by them, too. */
static void test_miss_lines(void)
{
    const double rates[] = {1e-2, 1e-3, 1e-4, 1e-6, 1e-9};
    for (size_t i = 0; i < 5; i++) {
        uint8_t page[UNSEEN__LIST_PAGE];
        uint8_t other[UNSEEN__LIST_PAGE];
        size_t ntold = 0;
        size_t nwrong = 0;
        CHECK(unseen__list_geometry_for(rates[i], &geometry) == UNSEEN_OK);
        for (size_t k = 0; k < sizeof(page); k++) {
            page[k] = (uint8_t)(test_random(&random_state) >> 56);
        }
        for (unsigned k = 0; k < QUESTIONS; k++) {
            const unsigned at = (unsigned)(test_random(&random_state) % (64 * geometry.blocks));
            const struct unseen__list_row row =
                unseen__list_row_of(&geometry, test_random(&random_state), at);
            const unsigned len = 8 * geometry.group0;
            const unsigned first = unseen__list_word_offset(&geometry, row.block, 0);
            CHECK(len <= 64 && first % len == 0 && (len < 64 || first % 64 == 0));
            for (size_t b = 0; b < sizeof(page); b++) {
                other[b] = (uint8_t)~page[b];
            }
            memcpy(other + first, page + first, 2 * len);
            const enum unseen__list_answer answer = unseen__list_page_ask(&geometry, page, &row);
            const enum unseen__list_answer again = unseen__list_page_ask(&geometry, other, &row);
            /* the 1 in 2^(group0 - 1) that goes on may end either way */
            const bool told = answer == again && answer != UNSEEN__LIST_YES;
            ntold += told;
            nwrong += (answer == UNSEEN__LIST_BUMPED) != (again == UNSEEN__LIST_BUMPED);
        }
        CHECK_EQ(nwrong, 0);
        CHECK(ntold + 2 * ((size_t)QUESTIONS >> (geometry.group0 - 1)) + 60 > QUESTIONS);
    }
}

int main(void)
{
    test_start();
    test_dependent();
    test_all_dependent();
    test_carried();
    test_far_back();
    test_crowded();
    test_overload();
    test_tiny();
    test_thresholds();
    test_miss_lines();
    return test_end();
}
