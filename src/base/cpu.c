/* SPDX-License-Identifier: MIT
 *
 * The features of the processor, and the names of the levels. */
#include "base/cpu.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/macros.h"

static enum unseen_cpu best_level(void)
{
#if UNSEEN_X86
    __builtin_cpu_init();
    /* Every feature that a target attribute of a kernel names, except lzcnt: clang 14 cannot ask
     * for it, and every processor with bmi2 has it. */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt")) {
        return UNSEEN_CPU_PORTABLE;
    }
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return avx512 ? UNSEEN_CPU_AVX512 : UNSEEN_CPU_AVX2;
#else
    return UNSEEN_CPU_PORTABLE;
#endif
}

static const char *const level_names[] = {"auto", "portable", "avx2", "avx512"};

enum unseen_status unseen__cpu_select(enum unseen_cpu request, enum unseen_cpu *level_out,
                                      struct unseen_error *error)
{
    if ((int)request < UNSEEN_CPU_AUTO || request > UNSEEN_CPU_AVX512) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_CPU,
                                     "%d is not a processor level", (int)request);
    }
    enum unseen_cpu best = best_level();
    if (request > best) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_CPU,
                                     "this build or processor has no %s", level_names[request]);
    }
    *level_out = request == UNSEEN_CPU_AUTO ? best : request;
    return UNSEEN_OK;
}

const char *unseen__cpu_name(enum unseen_cpu level)
{
    return level_names[level];
}

enum unseen_status unseen_cpu_parse(const char *name, enum unseen_cpu *cpu_out)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *cpu_out = (enum unseen_cpu)i;
            return UNSEEN_OK;
        }
    }
    return UNSEEN_ERR_NAME;
}
