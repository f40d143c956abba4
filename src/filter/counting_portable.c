/* SPDX-License-Identifier: MIT
 *
 * The counting filter's operations for every processor. */
#define KERNEL(name) name##_portable
#define KERNEL_TARGET

#include "filter/counting_words.h"

#include "filter/counting_kernel.h"
