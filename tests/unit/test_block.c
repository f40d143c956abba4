/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter: bit for bit an array of flags, its rate the exact formula's with one
 * line and with two, the bits it promises to need, unions, and all that holds for the family.
 *
 * Label: kernels */
#include "filter_check.h"

#include "bits/block.h"

/* One flag a bit, places one after the other, as docs/format.md says. */
static bool model_add(struct filter_model *model, struct unseen_key key, bool only_ask)
{
    static const uint32_t multiplier[16] = {BLOCKS_MULTIPLIERS};
    const struct blocks *blocks = (const void *)model->set->shards[0].filter;
    const unsigned lines = blocks->two_lines ? 2 : 1;
    const uint64_t nblocks = model->nflags / 512 / lines;
    const uint64_t block = (key.hi >> 32) * nblocks + ((key.hi & UINT32_MAX) * nblocks >> 32);
    const unsigned second = lines == 2 ? model->k / 2 : 0;
    bool seen = true;
    for (unsigned i = 0; i < model->k; i++) {
        const bool is_second = i >= model->k - second;
        const uint32_t m = multiplier[is_second ? 8 + i - (model->k - second) : i];
        const uint32_t place = (uint32_t)((uint32_t)key.lo * m + (uint32_t)(key.lo >> 32)) >> 23;
        uint8_t *flag = &model->flags[((block >> 32) * lines + is_second) * 512 + place];
        seen = seen && *flag;
        *flag = *flag || !only_ask;
    }
    return seen;
}

/* A block is one filter's, and its keys stay in order: no answer differs. */
static void check_model(double fpr, uint64_t capacity, unsigned threads)
{
    const struct unseen_set_options options = filter_options("block", fpr, capacity, threads);
    filter_check_model(&options, model_add, true);
}

/* The figures of block.h and of issue and README: bits per key for a rate. */
static void check_bits(void)
{
    static const struct {
        double fpr;
        unsigned lines;
        double bits;
    } rows[] = {
        {1e-2, 1, 9.95}, {1e-3, 1, 15.6}, {1e-4, 2, 20.7}, {1e-4, 1, 22.05}, {1e-6, 2, 34.0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct unseen_plan plan = {
            .size = sizeof(plan), .filter = "block", .fpr = rows[i].fpr, .lines = rows[i].lines};
        CHECK(unseen_plan(&plan) == UNSEEN_OK);
        CHECK(plan.bits_per_key <= rows[i].bits && plan.bits_per_key > rows[i].bits - 0.1);
        plan = (struct unseen_plan){.size = sizeof(plan), .filter = "block", .fpr = rows[i].fpr};
        CHECK(unseen_plan(&plan) == UNSEEN_OK);
        CHECK_EQ(plan.lines, rows[i].fpr > 5e-4 ? 1 : 2);
    }
}

int main(void)
{
    test_start();
    check_bits();
    for (unsigned threads = 1; threads <= 8; threads *= 8) {
        check_model(0.1, 5000, threads);
        check_model(1e-3, 60000, threads);
        check_model(1e-4, 30000, threads);
        check_model(5e-9, 10000, threads);
    }
    check_model(0.9, 100, 1);
    check_model(1e-5, 1, 8);
    const uint64_t scale = test_scale();
    for (double fpr = 0.1; fpr > 5e-5; fpr /= 10) {
        filter_check_rate("block", fpr, 100000 * scale, 16, 200000 * scale, 128);
    }
    filter_check_rate("block", 1e-2, 100000, 16, 200000, 64);
    filter_check_rate("block", 1e-4, 100000, 16, 200000, 64);
    filter_check_rate("block", 1e-2, 100000, 16, 200000, 96);
    filter_check_round("block", 100000, 50000, 1, 1, 128);
    filter_check_round("block", 100000, 50000, 1, 8, 64);
    filter_check_round("block", 100000, 50000, 8, 1, 96);
    filter_check_round("block", 100000, 50000, 2, 32, 128);
    filter_check_round("block", 1, 1, 8, 2, 128);
    filter_check_order("block", 100000, 50000);
    filter_check_lies("block", 10000, 5000, 400);
    filter_check_nomem("block", 10000, 10240, 1);
    filter_check_nomem("block", 10000, 10240, 4);
    filter_check_levels("block", 1e-2, 100000, 100000);
    filter_check_levels("block", 1e-4, 100000, 100000);
    filter_check_merge("block", 60000, 1, 1);
    filter_check_merge("block", 60000, 1, 4);
    filter_check_merge("block", 60000, 4, 1);
    filter_check_mismatch("block");
    filter_check_unsupported("block", 1000);
    return test_end();
}
