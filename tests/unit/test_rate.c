/* SPDX-License-Identifier: MIT
 *
 * The formulas of the rates, against the plainest way to get the same numbers: throw by throw, how
 * many cells are taken with what probability. */
#include "test.h"

#include <math.h>

#include "bits/rate.h"

enum {
    CELLS_MAX = 512,
    KEYS_MAX = 140
};

static bool is_close(double a, double b, double slack)
{
    return fabs(a - b) <= slack * fmax(fabs(a), fabs(b));
}

/* wrong[j]: the probability that k random cells of a part are all taken after j keys took k
 * each. */
static void wrong_by_keys(unsigned cells, unsigned k, double *wrong)
{
    static double taken[CELLS_MAX + 1];
    memset(taken, 0, sizeof(taken));
    taken[0] = 1;
    for (unsigned j = 0; j < KEYS_MAX; j++) {
        wrong[j] = 0;
        for (unsigned x = 0; x <= cells; x++) {
            wrong[j] += taken[x] * pow((double)x / cells, k);
        }
        for (unsigned throw = 0; throw < k; throw ++) {
            for (unsigned x = cells; x > 0; x--) {
                taken[x] = (taken[x] * x + taken[x - 1] * (cells - (x - 1))) / cells;
            }
            taken[0] = 0;
        }
    }
}

static void check_blocked(unsigned cells, unsigned parts, unsigned k)
{
    static double first[KEYS_MAX];
    static double second[KEYS_MAX];
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, cells, parts, k);
    wrong_by_keys(cells, parts == 2 ? k - k / 2 : k, first);
    wrong_by_keys(cells, parts == 2 ? k / 2 : 0, second);
    for (double load = 0.5; load < 60; load *= 2) {
        double rate = 0;
        double poisson = exp(-load);
        for (unsigned j = 0; j < KEYS_MAX; j++) {
            rate += poisson * first[j] * second[j];
            poisson *= load / (j + 1);
        }
        const double formula = unseen__blocked_rate(&blocked, load);
        CHECK(is_close(formula, rate, 1e-10));
        const double fill = unseen__blocked_fill(&blocked, load);
        CHECK(is_close(unseen__blocked_load(&blocked, fill), load, 1e-6));
        /* The classic formula for the same fill promises too much. */
        CHECK(k == 1 || rate > pow(fill, k));
    }
    CHECK(unseen__blocked_rate(&blocked, 0) == 0);
    CHECK(unseen__blocked_fill(&blocked, 0) == 0);
}

/* The same where a key comes to one of few blocks: their loads are binomially distributed. */
static void check_few_blocks(unsigned cells, unsigned k, unsigned nblocks)
{
    static double wrong[KEYS_MAX];
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, cells, 1, k);
    wrong_by_keys(cells, k, wrong);
    for (unsigned n = 1; n < KEYS_MAX; n += 17) {
        double rate = 0;
        for (unsigned j = 0; j <= n; j++) {
            const double log_ways = lgamma(n + 1.0) - lgamma(j + 1.0) - lgamma(n - j + 1.0);
            const double others = log1p(-1.0 / nblocks) * (n - j);
            rate += exp(log_ways - log((double)nblocks) * j + others) * wrong[j];
        }
        const double formula = unseen__blocked_rate_of(&blocked, n, nblocks);
        CHECK(is_close(formula, rate, 1e-10));
    }
    const double many = unseen__blocked_rate_of(&blocked, 3e9, 1e8);
    CHECK(is_close(many, unseen__blocked_rate(&blocked, 30), 1e-6));
}

static void check_classic(void)
{
    /* The textbook's figures: k = 10 and m = 20 n; 1 % in 1.2 MB for a million. */
    CHECK(is_close(unseen__bloom_rate(20e6, 10, 1e6), 8.89e-5, 1e-3));
    CHECK(is_close(unseen__bloom_rate(9.6e6, 7, 1e6), 0.01, 0.01));
    CHECK(unseen__bloom_rate(1e6, 3, 0) == 0);
    CHECK(is_close(unseen__bloom_rate(1e6, 1, 1), 1e-6, 1e-6));
    for (double n = 1; n < 3e6; n *= 7) {
        const double m = 8e6;
        const double nset = m * -expm1(5 * n * log1p(-1 / m));
        CHECK(is_close(unseen__bloom_keys(m, 5, nset), n, 1e-6));
    }
    CHECK(unseen__bloom_keys(1000, 2, 1000) > unseen__bloom_keys(1000, 2, 998));
    CHECK(isfinite(unseen__bloom_keys(1000, 2, 1000)));
    CHECK(unseen__bloom_keys(1000, 2, 0) == 0);
}

/* From a rate to the fewest bits and back. */
static void check_solve(const struct unseen__rate_model *model)
{
    for (double fpr = 0.5; fpr > 1e-8; fpr /= 3) {
        struct unseen_plan plan = {.fpr = fpr};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_OK);
        const double bits = plan.bits_per_key;
        const unsigned k = plan.hashes;
        CHECK(plan.fpr == fpr && k >= 1 && k <= model->k_max);
        CHECK(bits * 64 == floor(bits * 64));
        CHECK(unseen__model_rate(model, k, bits) <= fpr);
        CHECK(unseen__model_rate(model, k, bits - model->cell_bits / 32.0) > fpr);
        for (unsigned other = 1; other <= model->k_max; other++) {
            CHECK(unseen__model_rate(model, other, bits - model->cell_bits / 32.0) > fpr);
        }
        plan = (struct unseen_plan){.bits_per_key = bits};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_OK);
        CHECK(plan.fpr <= fpr && plan.fpr > fpr * 0.9);
        plan = (struct unseen_plan){.bits_per_key = bits, .hashes = k};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_OK && plan.hashes == k);
        plan = (struct unseen_plan){.fpr = fpr, .hashes = k};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_OK && plan.bits_per_key == bits);
        plan = (struct unseen_plan){.fpr = fpr, .bits_per_key = bits * 0.9};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_ERR_ARGUMENT);
        plan = (struct unseen_plan){.fpr = fpr, .bits_per_key = bits * 1.1};
        CHECK(unseen__rate_solve(model, &plan) == UNSEEN_OK && plan.fpr == fpr);
    }
    struct unseen_plan plan = {.fpr = model->fpr_min / 2};
    CHECK(unseen__rate_solve(model, &plan) == UNSEEN_ERR_FPR);
    plan = (struct unseen_plan){.fpr = 0.1, .hashes = model->k_max + 1};
    CHECK(unseen__rate_solve(model, &plan) == UNSEEN_ERR_ARGUMENT);
}

int main(void)
{
    static const struct unseen__rate_model models[] = {
        {.cell_bits = 1, .k_max = 64, .fpr_min = 1e-15},
        {.cells = 512, .parts = 1, .cell_bits = 1, .k_max = 16, .fpr_min = 1e-12},
        {.cells = 512, .parts = 2, .cell_bits = 1, .k_max = 16, .fpr_min = 1e-12},
        {.cells = 128, .parts = 2, .cell_bits = 4, .k_max = 16, .fpr_min = 1e-12},
    };
    test_start();
    check_classic();
    for (unsigned k = 1; k <= 16; k += k < 4 ? 1 : 3) {
        check_blocked(512, 1, k);
        check_blocked(512, 2, k);
        check_blocked(128, 1, k);
        check_blocked(128, 2, k);
        check_few_blocks(512, k, 2);
        check_few_blocks(128, k, 3);
        check_few_blocks(512, k, 20);
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        check_solve(&models[i]);
    }
    return test_end();
}
