/* SPDX-License-Identifier: MIT
 *
 * A stable merge sort of numbers, such as the offsets of pieces of a text. It takes n log n steps
 * on any input, and goes through memory in order, where a heap sort jumps. It is inlined, so that
 * the compiler knows the comparison. */
#ifndef UNSEEN_BASE_MERGESORT_H
#define UNSEEN_BASE_MERGESORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/* True if what b stands for comes before what a stands for. */
typedef bool merge_before_fn(const void *context, uint32_t b, uint32_t a);

/* Merges the sorted runs items[0..middle) and items[middle..n) into out. */
UNSEEN_INLINE void merge_runs(const uint32_t *items, size_t middle, size_t n, uint32_t *out,
                              merge_before_fn *before, const void *context)
{
    size_t i = 0;
    size_t j = middle;
    for (size_t k = 0; k < n; k++) {
        const bool second = j < n && (i == middle || before(context, items[j], items[i]));
        out[k] = items[second ? j++ : i++];
    }
}

/* Sorts n items, the first one first. spare has room for n items. Returns the sorted items, which
 * are in items or in spare. */
UNSEEN_INLINE const uint32_t *merge_sort(uint32_t *items, uint32_t *spare, size_t n,
                                         merge_before_fn *before, const void *context)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            const size_t left = n - i;
            merge_runs(items + i, left < run ? left : run, left < 2 * run ? left : 2 * run,
                       spare + i, before, context);
        }
        uint32_t *const sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

#endif
