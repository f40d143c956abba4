/* SPDX-License-Identifier: MIT
 *
 * Pages of a list: every key of a page is in it or bumped, others are taken for members at the rate
 * of the geometry, and each level makes the same bytes.
 *
 * Label: kernels */
#include "test.h"

#include <math.h>

#include "base/memory.h"
#include "list/page.h"

enum {
    ROOM = 3 * 64 * UNSEEN__LIST_BLOCKS_MAX
};

static uint64_t hashes[ROOM];
static uint16_t rows[ROOM];
static uint32_t ends[UNSEEN__LIST_BLOCKS_MAX];
static uint32_t bumped[ROOM + 1];
static bool is_bumped[ROOM];

/* n keys in the order of rows, and where those of each block end. */
static void make_keys(const struct unseen__list_geometry *geometry, size_t n, uint64_t *random)
{
    const unsigned nrows = 64 * geometry->blocks;
    for (size_t i = 0; i < n; i++) {
        rows[i] = (uint16_t)(i * nrows / (n ? n : 1));
        hashes[i] = test_random(random);
    }
    for (size_t i = 0; i < n; i++) { /* some disorder of the counts, in the same order */
        const unsigned row = rows[i] + (unsigned)(test_random(random) % 40);
        rows[i] = (uint16_t)(row < nrows ? row : nrows - 1);
    }
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i; k > 0 && rows[k - 1] > rows[k]; k--) {
            const uint16_t row = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = row;
        }
    }
    for (unsigned i = 0; i < geometry->blocks; i++) {
        ends[i] = i == 0 ? 0 : ends[i - 1];
        while (ends[i] < n && unseen__list_block_of(rows[ends[i]]) == i) {
            ends[i]++;
        }
    }
}

/* Solves a page of n keys and asks for all of them; the share that is in it. */
static double check_page(const struct unseen__list_geometry *geometry,
                         struct unseen__list_solver *solver, size_t n, uint64_t *random,
                         uint64_t *nasked, uint64_t *nwrong)
{
    uint8_t page[UNSEEN__LIST_PAGE];
    size_t nbumped = 0;
    size_t wrong = 0;
    make_keys(geometry, n, random);
    unseen__list_solve(solver, hashes, ends, page, bumped, &nbumped);
    memset(is_bumped, 0, sizeof(is_bumped));
    for (size_t i = 0; i < nbumped; i++) {
        is_bumped[bumped[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        const struct unseen__list_row row = unseen__list_row_of(geometry, hashes[i], rows[i]);
        wrong += unseen__list_page_ask(geometry, page, &row) !=
                 (is_bumped[i] ? UNSEEN__LIST_BUMPED : UNSEEN__LIST_YES);
    }
    CHECK_EQ(wrong, 0);
    for (unsigned i = 0; i < 3000; i++) {
        const unsigned at = (unsigned)(test_random(random) % (64 * geometry->blocks));
        const struct unseen__list_row row = unseen__list_row_of(geometry, test_random(random), at);
        const enum unseen__list_answer answer = unseen__list_page_ask(geometry, page, &row);
        *nasked += answer != UNSEEN__LIST_BUMPED;
        *nwrong += answer == UNSEEN__LIST_YES;
    }
    return n ? 1 - (double)nbumped / (double)n : 1;
}

static void test_shapes(void)
{
    const double rates[] = {0.25, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9};
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct unseen__list_geometry geometry;
        struct unseen__list_solver *solver = NULL;
        uint64_t random = i + 1;
        uint64_t nasked = 0;
        uint64_t nwrong = 0;
        double kept = 0;
        const uint64_t npages = 100 * test_scale();
        CHECK(unseen__list_geometry_for(rates[i], &geometry) == UNSEEN_OK);
        const double rate = unseen__list_geometry_rate(&geometry);
        CHECK(rate <= rates[i]);
        CHECK(unseen__list_solver_create(&solver, &geometry, ROOM, test_cpu, &allocator) ==
              UNSEEN_OK);
        const size_t n = 64 * geometry.blocks * 1045 / 1000;
        for (uint64_t k = 0; k < npages; k++) {
            kept += check_page(&geometry, solver, n, &random, &nasked, &nwrong);
        }
        CHECK(kept / (double)npages > 0.93);
        /* within 4 sigma of what the geometry promises */
        const double expected = (double)nasked * rate;
        if (!CHECK(fabs((double)nwrong - expected) < 4 * sqrt(expected) + 4)) {
            fprintf(stderr, "%g: %llu of %llu\n", rates[i], (unsigned long long)nwrong,
                    (unsigned long long)nasked);
        }
        /* no key, one key, far too many: all of them are in it or bumped */
        (void)check_page(&geometry, solver, 0, &random, &nasked, &nwrong);
        (void)check_page(&geometry, solver, 1, &random, &nasked, &nwrong);
        (void)check_page(&geometry, solver, 64 * geometry.blocks * 2, &random, &nasked, &nwrong);
        unseen__list_solver_free(solver);
    }
    struct unseen__list_geometry geometry;
    CHECK(unseen__list_geometry_for(1e-12, &geometry) == UNSEEN_ERR_FPR);
}

/* The bytes of some pages, which are the same at every level. */
static void test_bytes(void)
{
    const double rates[] = {0.25, 1e-2, 1e-4, 1e-6, 1e-9};
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    uint64_t random = 99;
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        struct unseen__list_geometry geometry;
        struct unseen__list_solver *solvers[2] = {NULL, NULL};
        uint8_t pages[2][UNSEEN__LIST_PAGE];
        CHECK(unseen__list_geometry_for(rates[r], &geometry) == UNSEEN_OK);
        CHECK(unseen__list_solver_create(&solvers[0], &geometry, ROOM, UNSEEN_CPU_PORTABLE,
                                         &allocator) == UNSEEN_OK);
        CHECK(unseen__list_solver_create(&solvers[1], &geometry, ROOM, test_cpu, &allocator) ==
              UNSEEN_OK);
        for (unsigned k = 0; k < 40; k++) {
            size_t nbumped[2] = {0, 0};
            make_keys(&geometry, 64 * geometry.blocks * (80 + k) / 100, &random);
            for (size_t i = 0; i < 2; i++) {
                unseen__list_solve(solvers[i], hashes, ends, pages[i], bumped, &nbumped[i]);
            }
            CHECK(nbumped[0] == nbumped[1] && memcmp(pages[0], pages[1], sizeof(pages[0])) == 0);
        }
        unseen__list_solver_free(solvers[0]);
        unseen__list_solver_free(solvers[1]);
    }
}

int main(void)
{
    test_start();
    test_shapes();
    test_bytes();
    return test_end();
}
