/* SPDX-License-Identifier: MIT
 *
 * What every fuzz target has. */
#ifndef UNSEEN_FUZZ_TARGET_H
#define UNSEEN_FUZZ_TARGET_H

/* For test.h, wherever it comes. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* assert, in every build. */
static inline void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

#endif
