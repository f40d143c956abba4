/* SPDX-License-Identifier: MIT
 *
 * The processor level: names, what a request gives, and that a set says which one it uses. */
#include "test.h"

static const struct {
    const char *name;
    enum unseen_cpu cpu;
} levels[] = {{"auto", UNSEEN_CPU_AUTO},
              {"portable", UNSEEN_CPU_PORTABLE},
              {"avx2", UNSEEN_CPU_AVX2},
              {"avx512", UNSEEN_CPU_AVX512}};

static void check_names(void)
{
    static const char *const wrong[] = {"", "AVX2", "avx", "avx5120", "auto ", "sse2"};
    enum unseen_cpu cpu;
    for (int i = 0; i < 4; i++) {
        CHECK(unseen_cpu_parse(levels[i].name, &cpu) == UNSEEN_OK && cpu == levels[i].cpu);
        CHECK(strcmp(unseen__cpu_name(levels[i].cpu), levels[i].name) == 0);
    }
    cpu = UNSEEN_CPU_AVX2;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(unseen_cpu_parse(wrong[i], &cpu) == UNSEEN_ERR_NAME && cpu == UNSEEN_CPU_AVX2);
    }
}

/* Levels up to the best are there, those above are refused, and AUTO is the best. */
static void check_select(void)
{
    enum unseen_cpu best = UNSEEN_CPU_AUTO;
    enum unseen_cpu level = UNSEEN_CPU_AUTO;
    CHECK(unseen__cpu_select(UNSEEN_CPU_AUTO, &best, NULL) == UNSEEN_OK);
    CHECK(best >= UNSEEN_CPU_PORTABLE && best <= UNSEEN_CPU_AVX512 && best >= test_cpu);
    for (int i = UNSEEN_CPU_PORTABLE; i <= UNSEEN_CPU_AVX512; i++) {
        enum unseen_status status = unseen__cpu_select((enum unseen_cpu)i, &level, NULL);
        CHECK(status == (i <= (int)best ? UNSEEN_OK : UNSEEN_ERR_UNSUPPORTED));
        CHECK((int)level == (i <= (int)best ? i : (int)best));
    }
    CHECK(unseen__cpu_select((enum unseen_cpu)4, &level, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen__cpu_select((enum unseen_cpu) - 1, &level, NULL) == UNSEEN_ERR_ARGUMENT);
}

static void check_set(void)
{
    struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = test_cpu};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    struct unseen_set *set = NULL;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    CHECK(unseen_set_stats(set, &stats) == UNSEEN_OK);
    CHECK(strcmp(stats.cpu, unseen__cpu_name(test_cpu)) == 0);
    unseen_set_free(set);
    options.cpu = (enum unseen_cpu)17;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_ERR_ARGUMENT);
}

int main(void)
{
    test_start();
    check_names();
    check_select();
    check_set();
    return test_end();
}
