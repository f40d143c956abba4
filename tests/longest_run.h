/* SPDX-License-Identifier: MIT
 *
 * How long a search in a table with linear probing can be. */
#ifndef UNSEEN_TESTS_LONGEST_RUN_H
#define UNSEEN_TESTS_LONGEST_RUN_H

#include <stddef.h>
#include <stdint.h>

/* The longest run of slots that are in use, not 0; the slots are a circle. */
static inline size_t longest_run(const uint32_t *slots, size_t nslots)
{
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < 2 * nslots; i++) {
        run = slots[i % nslots] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

#endif
