/* SPDX-License-Identifier: MIT
 *
 * The SIMD level of the run, from UNSEEN_CPU. Whether the processor has a level is found out by
 * making a set with it. */
#include <stdio.h>
#include <stdlib.h>

#include "options/options.h"
#include "print/message.h"

static const char *const levels[] = {"portable", "avx2", "avx512"};

enum {
    NLEVELS = sizeof(levels) / sizeof(levels[0])
};

/* Makes a set of this level. With `text` it gets the name of the level that the set has. */
static enum unseen_status try_level(enum unseen_cpu cpu, char *text, size_t cap)
{
    struct unseen_set *set = NULL;
    struct unseen_set_stats stats = {.size = sizeof(stats), .cpu = ""};
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .cpu = cpu};
    const enum unseen_status status = unseen_set_create(&set, &options, NULL);
    if (status == UNSEEN_OK && text) {
        (void)unseen_set_stats(set, &stats); /* fails for a wrong size only */
        snprintf(text, cap, "%s", stats.cpu);
    }
    unseen_set_free(set);
    return status;
}

bool cpu_from_environment(enum unseen_cpu *cpu)
{
    const char *name = getenv("UNSEEN_CPU");
    *cpu = UNSEEN_CPU_AUTO;
    if (!name) {
        return true;
    }
    if (unseen_cpu_parse(name, cpu) != UNSEEN_OK) {
        message_error("UNSEEN_CPU=%s: no such processor level", name);
        message_hint("UNSEEN_CPU=portable, avx2 or avx512");
        return false;
    }
    char best[32] = "auto";
    if (try_level(*cpu, NULL, 0) == UNSEEN_ERR_UNSUPPORTED) {
        (void)try_level(UNSEEN_CPU_AUTO, best, sizeof(best)); /* the text stays "auto" */
        message_error("UNSEEN_CPU=%s: this processor lacks that level", name);
        message_hint("UNSEEN_CPU=%s is its best level, and the default", best);
        return false;
    }
    return true;
}

void cpu_print(void)
{
    char best[32] = "";
    enum unseen_cpu cpu = UNSEEN_CPU_AUTO;
    const char *separator = "";
    (void)try_level(UNSEEN_CPU_AUTO, best, sizeof(best)); /* prints nothing without memory */
    printf("SIMD level: %s (this processor has ", best);
    for (size_t i = 0; i < NLEVELS; i++) {
        if (unseen_cpu_parse(levels[i], &cpu) == UNSEEN_OK &&
            try_level(cpu, NULL, 0) == UNSEEN_OK) {
            printf("%s%s", separator, levels[i]);
            separator = ", ";
        }
    }
    printf(")\n");
}
