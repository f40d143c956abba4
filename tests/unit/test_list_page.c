/* SPDX-License-Identifier: MIT
 *
 * Pages of a list: every key of a page is in it or bumped, others are taken for members at the rate
 * of the shape, and each level makes the same bytes. */
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
static void make_keys(const struct unseen__list_shape *shape, size_t n, uint64_t *random)
{
    const unsigned nrows = 64 * shape->blocks;
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
    for (unsigned i = 0; i < shape->blocks; i++) {
        ends[i] = i == 0 ? 0 : ends[i - 1];
        while (ends[i] < n && unseen__list_block_of(rows[ends[i]]) == i) {
            ends[i]++;
        }
    }
}

/* Solves a page of n keys and asks for all of them; the share that is in it. */
static double check_page(const struct unseen__list_shape *shape, struct unseen__list_solver *solver,
                         size_t n, uint64_t *random, uint64_t *nasked, uint64_t *nwrong)
{
    uint8_t page[UNSEEN__LIST_PAGE];
    size_t nbumped = 0;
    size_t wrong = 0;
    make_keys(shape, n, random);
    unseen__list_solve(solver, hashes, ends, page, bumped, &nbumped);
    memset(is_bumped, 0, sizeof(is_bumped));
    for (size_t i = 0; i < nbumped; i++) {
        is_bumped[bumped[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        const struct unseen__list_row row = unseen__list_row_of(shape, hashes[i], rows[i]);
        wrong += unseen__list_page_ask(shape, page, &row) !=
                 (is_bumped[i] ? UNSEEN__LIST_BUMPED : UNSEEN__LIST_YES);
    }
    CHECK_EQ(wrong, 0);
    for (unsigned i = 0; i < 3000; i++) {
        const unsigned at = (unsigned)(test_random(random) % (64 * shape->blocks));
        const struct unseen__list_row row = unseen__list_row_of(shape, test_random(random), at);
        const enum unseen__list_answer answer = unseen__list_page_ask(shape, page, &row);
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
        struct unseen__list_shape shape;
        struct unseen__list_solver *solver = NULL;
        uint64_t random = i + 1;
        uint64_t nasked = 0;
        uint64_t nwrong = 0;
        double kept = 0;
        const uint64_t npages = 100 * test_scale();
        CHECK(unseen__list_shape_for(rates[i], &shape) == UNSEEN_OK);
        const double rate = unseen__list_shape_rate(&shape);
        CHECK(rate <= rates[i]);
        CHECK(unseen__list_solver_create(&solver, &shape, ROOM, test_cpu, &allocator) == UNSEEN_OK);
        const size_t n = 64 * shape.blocks * 1045 / 1000;
        for (uint64_t k = 0; k < npages; k++) {
            kept += check_page(&shape, solver, n, &random, &nasked, &nwrong);
        }
        CHECK(kept / (double)npages > 0.93);
        /* within 4 sigma of what the shape promises */
        const double expected = (double)nasked * rate;
        if (!CHECK(fabs((double)nwrong - expected) < 4 * sqrt(expected) + 4)) {
            fprintf(stderr, "%g: %llu of %llu\n", rates[i], (unsigned long long)nwrong,
                    (unsigned long long)nasked);
        }
        /* no key, one key, far too many: all of them are in it or bumped */
        (void)check_page(&shape, solver, 0, &random, &nasked, &nwrong);
        (void)check_page(&shape, solver, 1, &random, &nasked, &nwrong);
        (void)check_page(&shape, solver, 64 * shape.blocks * 2, &random, &nasked, &nwrong);
        unseen__list_solver_free(solver);
    }
    struct unseen__list_shape shape;
    CHECK(unseen__list_shape_for(1e-12, &shape) == UNSEEN_ERR_FPR);
}

/* The bytes of some pages, which are the same at every level: this number is what the portable one
 * makes. */
static void test_bytes(void)
{
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__list_shape shape;
    struct unseen__list_solver *solvers[2] = {NULL, NULL};
    uint8_t pages[2][UNSEEN__LIST_PAGE];
    uint64_t random = 99;
    CHECK(unseen__list_shape_for(1e-4, &shape) == UNSEEN_OK);
    CHECK(unseen__list_solver_create(&solvers[0], &shape, ROOM, UNSEEN_CPU_PORTABLE, &allocator) ==
          UNSEEN_OK);
    CHECK(unseen__list_solver_create(&solvers[1], &shape, ROOM, test_cpu, &allocator) == UNSEEN_OK);
    for (unsigned k = 0; k < 100; k++) {
        size_t nbumped[2] = {0, 0};
        make_keys(&shape, 64 * shape.blocks * (80 + k % 40) / 100, &random);
        for (size_t i = 0; i < 2; i++) {
            unseen__list_solve(solvers[i], hashes, ends, pages[i], bumped, &nbumped[i]);
        }
        CHECK(nbumped[0] == nbumped[1] && memcmp(pages[0], pages[1], sizeof(pages[0])) == 0);
    }
    unseen__list_solver_free(solvers[0]);
    unseen__list_solver_free(solvers[1]);
}

int main(void)
{
    test_start();
    test_shapes();
    test_bytes();
    return test_end();
}
