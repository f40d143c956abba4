/* SPDX-License-Identifier: MIT
 *
 * Plans: any sufficient numbers of a filter give the others, and what a plan says is what a set so
 * made is. */
#include "filter_check.h"

#include <unseen_list.h>

static struct unseen_plan plan_of(const char *filter)
{
    return (struct unseen_plan){.size = sizeof(struct unseen_plan), .filter = filter};
}

static bool is_close(double a, double b, double slack)
{
    return fabs(a - b) <= slack * fmax(fabs(a), fabs(b));
}

/* The textbook's numbers. */
static void check_textbook(void)
{
    struct unseen_plan plan = plan_of("bloom");
    plan.bits_per_key = 20;
    plan.hashes = 10;
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    CHECK(is_close(plan.fpr, 8.89e-5, 1e-3));
    CHECK(plan.capacity == 0 && plan.bits == 0 && unseen_plan_rate(&plan, 100) == 0);
    plan = plan_of("bloom");
    plan.capacity = 1000000;
    plan.fpr = 0.01;
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    CHECK(plan.hashes == 7 && plan.bits / 8 > 1190000 && plan.bits / 8 < 1210000);
}

/* Too few bits: the rate is 1, and stays 1. */
static void check_overfull(void)
{
    static const char *const filters[] = {"bloom", "block", "counting"};
    for (size_t i = 0; i < 3; i++) {
        struct unseen_plan plan = plan_of(filters[i]);
        plan.capacity = 1000000000;
        plan.bits = UINT64_C(8) << 20;
        CHECK(unseen_plan(&plan) == UNSEEN_OK);
        CHECK(plan.fpr >= 1 && unseen_plan_rate(&plan, 1e9) >= 1 - 1e-9);
        CHECK(unseen_plan_rate(&plan, 2e9) >= 1 - 1e-9);
        plan.fpr = 1;
        plan.bits_per_key = 0;
        CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT); /* nobody asks for it */
    }
}

static void check_lists(void)
{
    uint64_t nbytes = 0;
    double fpr = 0;
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-4, 100000000, &nbytes, &fpr) == UNSEEN_OK);
    CHECK(is_close((double)nbytes, 13.54 / 8 * 1e8, 0.01) && fpr <= 1e-4 && fpr > 5e-5);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-4, 10, &nbytes, &fpr) == UNSEEN_OK);
    CHECK(nbytes == 8192 + 80 && fpr < 1e-17);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-9, 1000, &nbytes, &fpr) == UNSEEN_OK);
    CHECK(unseen_list_plan(UNSEEN_KIND_MAIL, 1e-9, 1000, &nbytes, &fpr) == UNSEEN_ERR_FPR);
    /* 10^13 keys at 1e-4 are 4.1e9 pages; at 1e-9 they would be more than 2^32. */
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-4, 10000000000000, &nbytes, &fpr) == UNSEEN_OK);
    CHECK(nbytes > 16000000000000);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-9, 10000000000000, &nbytes, &fpr) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 0.3, 1000, &nbytes, &fpr) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 0, 1000, &nbytes, &fpr) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_plan((enum unseen_kind)99, 1e-4, 1, &nbytes, &fpr) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_plan(UNSEEN_KIND_URL, 1e-4, UINT64_MAX, &nbytes, &fpr) ==
          UNSEEN_ERR_ARGUMENT);
}

/* Of capacity, rate, bits, bits per key and hashes, each sufficient subset gives the rest. */
static void check_subsets(const char *filter, uint64_t capacity, double fpr)
{
    struct unseen_plan whole = plan_of(filter);
    whole.capacity = capacity;
    whole.fpr = fpr;
    CHECK(unseen_plan(&whole) == UNSEEN_OK);
    CHECK(whole.hashes > 0 &&
          is_close((double)whole.bits, whole.bits_per_key * (double)capacity, 1e-6));
    CHECK(unseen_plan_rate(&whole, (double)capacity) <= fpr);
    CHECK(unseen_plan_rate(&whole, (double)capacity) >= fpr * 0.85);
    for (unsigned has = 1; has < 32; has++) {
        struct unseen_plan plan = plan_of(filter);
        plan.capacity = has & 1 ? whole.capacity : 0;
        plan.fpr = has & 2 ? whole.fpr : 0;
        plan.bits = has & 4 ? whole.bits : 0;
        plan.bits_per_key = has & 8 ? whole.bits_per_key : 0;
        plan.hashes = has & 16 ? whole.hashes : 0;
        const bool has_size = has & 8 || (has & 5) == 5;
        if (!(has & 2) && !has_size) {
            plan.hashes = 0; /* too few for the default rate */
            CHECK(unseen_plan(&plan) == UNSEEN_OK && plan.fpr == UNSEEN_FPR_DEFAULT);
            continue;
        }
        if (!CHECK(unseen_plan(&plan) == UNSEEN_OK)) {
            printf("%s, rate %g, given %x\n", filter, fpr, has);
        }
        CHECK(is_close(plan.fpr, fpr, 0.15) && plan.fpr <= fpr);
        CHECK(is_close(plan.bits_per_key, whole.bits_per_key, 0.02));
        CHECK_EQ(plan.hashes, whole.hashes);
        CHECK_EQ(plan.lines, whole.lines);
        CHECK(has & 5 ? is_close((double)plan.capacity, (double)capacity, 0.02)
                      : plan.capacity == 0);
        CHECK(has & 5 ? is_close((double)plan.bits, (double)whole.bits, 0.02) : plan.bits == 0);
    }
}

/* A set has the numbers of its plan, and can do what it says. */
static void check_set(const char *filter, double fpr, uint64_t capacity)
{
    struct unseen_plan plan = plan_of(filter);
    plan.capacity = capacity;
    plan.fpr = fpr;
    CHECK(unseen_plan(&plan) == UNSEEN_OK);
    CHECK(strcmp(plan.filter, filter) == 0 && plan.fpr == fpr && plan.capacity == capacity);
    const struct unseen_set_options options = filter_options(filter, fpr, capacity, 1);
    struct unseen_set *set = filter_make(&options);
    const struct unseen_set_stats stats = filter_stats(set);
    CHECK_EQ(stats.abilities, plan.abilities);
    CHECK(stats.fpr_promise <= fpr);
    if (!(plan.abilities & UNSEEN_CAN_GROW)) {
        CHECK_EQ(stats.hashes, plan.hashes);
        CHECK_EQ(stats.capacity, capacity);
        CHECK((double)stats.memory * 8 < (double)plan.bits * 1.01 + 100000);
        CHECK((double)stats.memory * 8 >= (double)plan.bits);
    }
    const struct unseen__filter_ops *ops =
        unseen__filter_find(plan.served_by, strcmp(filter, "scalable-count") == 0);
    CHECK((ops->remove != NULL) == ((plan.abilities & UNSEEN_CAN_REMOVE) != 0));
    CHECK((ops->merge_piece != NULL) == ((plan.abilities & UNSEEN_CAN_MERGE) != 0));
    filter_end(set);
    double before = 0;
    for (double load = 0.1; load < 3; load *= 2) {
        const double rate = unseen_plan_rate(&plan, load * (double)capacity);
        CHECK(rate >= before && rate <= 1);
        CHECK(load > 1 && !(plan.abilities & UNSEEN_CAN_GROW) ? true : rate <= fpr * 1.0001);
        before = rate;
    }
}

static void check_errors(void)
{
    struct unseen_plan plan = plan_of("no such filter");
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_NAME);
    plan = plan_of("bloom");
    plan.size = 8;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_SIZE);
    for (int i = 0; i < 7; i++) {
        plan = plan_of("bloom");
        plan.fpr = i == 0 ? 1 : i == 1 ? -1 : i == 2 ? NAN : 0.01;
        plan.hashes = i == 3 ? 65 : 0;
        plan.bits_per_key = i == 4 ? 2e6 : i == 5 ? -1 : i == 6 ? 4 : 0;
        const struct unseen_plan before = plan;
        CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT);
        CHECK(memcmp(&plan, &before, sizeof(plan)) == 0);
    }
    plan = plan_of("bloom");
    plan.capacity = 1000;
    plan.bits = 20000;
    plan.bits_per_key = 21;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT);
    plan = plan_of(NULL);
    plan.fpr = 1e-13;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_FPR);
    plan = plan_of(NULL);
    CHECK(unseen_plan(&plan) == UNSEEN_OK && strcmp(plan.filter, "compact") == 0);
    CHECK(plan.fpr == UNSEEN_FPR_DEFAULT);
    plan = plan_of("counting");
    plan.lines = 3;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT && plan.lines == 3);
    /* What a filter has not cannot be chosen. */
    static const struct {
        const char *filter;
        bool has_hashes;
        bool has_lines;
        bool has_bits;
    } filters[] = {{"compact", false, false, true},        {"exact", false, false, true},
                   {"bloom", true, false, true},           {"block", true, true, true},
                   {"counting", true, true, true},         {"scalable", false, false, true},
                   {"scalable-bloom", false, false, true}, {"scalable-count", false, false, true}};
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        for (int what = 0; what < 4; what++) {
            const bool has = what == 0 || (what == 1   ? filters[i].has_hashes
                                           : what == 2 ? filters[i].has_lines
                                                       : filters[i].has_bits);
            plan = plan_of(filters[i].filter);
            plan.capacity = 1000000;
            plan.hashes = what == 1 ? 6 : 0;
            plan.lines = what == 2 ? 1 : 0;
            plan.bits_per_key = what == 3 ? 100 : 0;
            const enum unseen_status status = unseen_plan(&plan);
            if (!CHECK((status != UNSEEN_ERR_UNSUPPORTED) == has)) {
                fprintf(stderr, "%s %d\n", filters[i].filter, what);
            }
        }
    }
}

/* A plan of another version of the header, and one that nobody planned. */
static void check_foreign(void)
{
    struct unseen_plan plan = plan_of("block");
    plan.capacity = 1000000;
    plan.fpr = 1e-4;
    plan.size = offsetof(struct unseen_plan, abilities);
    plan.abilities = 12345;
    CHECK(unseen_plan(&plan) == UNSEEN_OK && plan.hashes > 0 && plan.lines == 2);
    CHECK(plan.abilities == 12345); /* beyond what it has */
    CHECK(is_close(unseen_plan_rate(&plan, 1e6), 1e-4, 0.05));
    plan.size = sizeof(plan) + 8;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_SIZE && unseen_plan_rate(&plan, 1e6) == 0);
    plan.size = sizeof(plan);
    for (int i = 0; i < 6; i++) {
        struct unseen_plan other = plan;
        other.hashes = i == 0 ? 17 : i == 1 ? 4000000000 : i == 2 ? 0 : plan.hashes;
        other.lines = i == 3 ? 0 : i == 4 ? 3 : plan.lines;
        other.bits = i == 5 ? 0 : plan.bits;
        CHECK(unseen_plan_rate(&other, 1e6) == 0);
    }
    CHECK(unseen_plan_rate(&plan, 0) == 0 && unseen_plan_rate(&plan, -1) == 0);
    CHECK(unseen_plan_rate(&plan, NAN) == 0);
}

/* Numbers larger than anyone has are refused, or give numbers that mean something. */
static void check_large(const char *filter)
{
    for (double capacity = 1e13; capacity < 1.5e18; capacity *= 10) {
        struct unseen_plan plan = plan_of(filter);
        plan.capacity = (uint64_t)capacity;
        plan.fpr = 1e-4;
        const enum unseen_status status = unseen_plan(&plan);
        CHECK(status == UNSEEN_OK || status == UNSEEN_ERR_ARGUMENT);
        if (status != UNSEEN_OK) {
            CHECK(capacity > 1e14);
            continue;
        }
        CHECK(plan.bits > 0 && (double)plan.bits <= 1e18 && plan.bits_per_key > 13);
        CHECK(is_close((double)plan.bits, plan.bits_per_key * capacity, 1e-6));
        const double rate = unseen_plan_rate(&plan, 2 * capacity);
        CHECK(rate > 0 && rate <= 1);
    }
    struct unseen_plan plan = plan_of(filter);
    plan.capacity = 1000000000000000000;
    plan.bits_per_key = 1000;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT);
    plan = plan_of(filter);
    plan.bits = 1000000000000000000;
    plan.bits_per_key = 1e-3;
    CHECK(unseen_plan(&plan) == UNSEEN_ERR_ARGUMENT);
}

int main(void)
{
    test_start();
    check_textbook();
    check_overfull();
    check_lists();
    check_errors();
    check_foreign();
    for (double fpr = 0.1; fpr > 1e-6; fpr /= 10) {
        check_subsets("bloom", 1000000, fpr);
        check_subsets("block", 1000000, fpr);
    }
    const char *name;
    size_t n = 0;
    for (; (name = unseen_filter_name(n)) != NULL; n++) {
        CHECK(strlen(name) < 16); /* as the header of an export has it */
        check_set(name, 1e-3, 20000);
        check_set(name, 1e-4, 100000);
        check_large(name);
    }
    CHECK(n >= 6);
    return test_end();
}
