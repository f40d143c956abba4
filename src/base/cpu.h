/* SPDX-License-Identifier: MIT
 *
 * Which SIMD level a new object uses. */
#ifndef UNSEEN_BASE_CPU_H
#define UNSEEN_BASE_CPU_H

#include "unseen.h"

/* The level to use for a request: the best there is for AUTO, else the asked one. Returns
 * UNSEEN_ERR_UNSUPPORTED when the processor or the build lacks it, UNSEEN_ERR_ARGUMENT for a
 * value that is not a level. Asks the processor each time (CPUID, some 100 ns): no global. */
enum unseen_status unseen__cpu_select(enum unseen_cpu request, enum unseen_cpu *level_out,
                                      struct unseen_error *error);

/* "portable", "avx2" or "avx512". */
const char *unseen__cpu_name(enum unseen_cpu level);

#endif
