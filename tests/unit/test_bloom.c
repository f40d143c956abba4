/* SPDX-License-Identifier: MIT
 *
 * The textbook Bloom filter: bit for bit an array of flags, its rate the textbook's, unions, and
 * all that holds for the family. */
#include "filter_check.h"

static uint64_t high_word(uint64_t a, uint64_t b)
{
    const uint64_t a1 = a >> 32;
    const uint64_t a0 = a & UINT32_MAX;
    const uint64_t b1 = b >> 32;
    const uint64_t b0 = b & UINT32_MAX;
    const uint64_t low = a0 * b0 >> 32;
    const uint64_t x = a1 * b0 + low;
    const uint64_t y = a0 * b1 + (x & UINT32_MAX);
    return a1 * b1 + (x >> 32) + (y >> 32);
}

/* One flag a bit, places by long multiplication in halves, as docs/format.md says. */
static bool model_add(struct filter_model *model, struct unseen_key key, bool only_ask)
{
    bool seen = true;
    uint64_t h = key.hi;
    for (unsigned i = 0; i < model->k; i++) {
        h = h * UINT64_C(0xd1342543de82ef95) + key.lo;
        uint8_t *flag = &model->flags[high_word(h, model->nflags)];
        seen = seen && *flag;
        *flag = *flag || !only_ask;
    }
    return seen;
}

/* Few bits, so that many answers are wrong: the model is wrong in the same places. The keys of a
 * shared set are added by prefix: there a wrong answer may move. */
static void check_model_of(const struct unseen_set_options *options)
{
    filter_check_model(options, model_add, false);
}

static void check_model(double fpr, uint64_t capacity, unsigned threads)
{
    const struct unseen_set_options options = filter_options("bloom", fpr, capacity, threads);
    check_model_of(&options);
}

/* The bits and hashes are those that were asked for, the rate is the formula's, and an export keeps
 * them. */
static void check_shape(double bits_per_key, unsigned hashes, double fpr)
{
    struct unseen_set_options options = filter_options("bloom", 0, 10000, 1);
    options.bits_per_key = bits_per_key;
    options.hashes = hashes;
    struct unseen_set *set = filter_make(&options);
    const struct unseen_set_stats stats = filter_stats(set);
    const double m = ceil(bits_per_key * 10000 / 512) * 512;
    CHECK_EQ(stats.nslots, (uint64_t)m);
    CHECK_EQ(stats.hashes, hashes);
    CHECK_EQ(stats.capacity, 10000);
    CHECK(fabs(stats.fpr_promise - fpr) < 1e-3 * fpr);
    CHECK(fabs(pow(-expm1(-(double)hashes / bits_per_key), hashes) - fpr) < 1e-3 * fpr);
    filter_end(set);
    check_model_of(&options);
}

int main(void)
{
    test_start();
    for (unsigned threads = 1; threads <= 8; threads *= 8) {
        check_model(0.1, 5000, threads);
        check_model(1e-4, 30000, threads);
    }
    check_model(0.9, 100, 1);
    check_shape(20, 10, 8.8942e-5);
    check_shape(8, 1, 0.117503);
    check_shape(3.5, 7, 0.361355);
    const uint64_t scale = test_scale();
    for (double fpr = 0.1; fpr > 5e-5; fpr /= 10) {
        filter_check_rate("bloom", fpr, 100000 * scale, 8, 200000 * scale, 128);
    }
    filter_check_rate("bloom", 1e-2, 100000, 8, 200000, 64);
    filter_check_rate("bloom", 1e-2, 100000, 8, 200000, 96);
    filter_check_round("bloom", 100000, 50000, 1, 1, 128);
    filter_check_round("bloom", 100000, 50000, 1, 8, 64);
    filter_check_round("bloom", 100000, 50000, 8, 1, 96);
    filter_check_round("bloom", 1, 1, 8, 2, 128);
    filter_check_order("bloom", 100000, 50000);
    filter_check_lies("bloom", 10000, 5000, 400);
    filter_check_nomem("bloom", 10000, 10240, 1);
    filter_check_nomem("bloom", 10000, 10240, 4);
    filter_check_levels("bloom", 1e-4, 100000, 100000);
    filter_check_merge("bloom", 60000, 1, 1);
    filter_check_merge("bloom", 60000, 1, 4);
    filter_check_merge("bloom", 60000, 4, 1);
    filter_check_mismatch("bloom");
    filter_check_unsupported("bloom", 1000);
    return test_end();
}
