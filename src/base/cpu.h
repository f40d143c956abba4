/* SPDX-License-Identifier: MIT
 *
 * Selects the SIMD level of a new object (set, list, bitmap, canonicaliser): the level that the
 * caller asks for, if the processor has it. */
#ifndef UNSEEN_BASE_CPU_H
#define UNSEEN_BASE_CPU_H

#include "unseen.h"

/* Sets *level_out to the requested level; for AUTO, to the best level that the processor and the
 * build have. Returns UNSEEN_ERR_UNSUPPORTED if the processor or the build lacks the level,
 * UNSEEN_ERR_ARGUMENT for a value that is not a level. Asks the processor at each call (CPUID, some
 * 100 ns), so that there is no global variable. */
enum unseen_status unseen__cpu_select(enum unseen_cpu request, enum unseen_cpu *level_out,
                                      struct unseen_error *error);

/* "portable", "avx2" or "avx512". */
const char *unseen__cpu_name(enum unseen_cpu level);

#endif
