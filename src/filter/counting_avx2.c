/* SPDX-License-Identifier: MIT
 *
 * The counting filter's operations with the instructions of AVX2. */
#include "base/macros.h"

#if UNSEEN_X86
#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET UNSEEN_TARGET("avx2,bmi,bmi2,popcnt")

#include "filter/counting_words.h"

#include "filter/counting_kernel.h"
#else
typedef int counting_avx2_is_empty; /* ISO C wants a declaration */
#endif
