/* SPDX-License-Identifier: MIT
 *
 * A heap sort [Williams64] with the parameters of qsort. qsort of the C library may take memory
 * that is not the allocator's; this function takes none, and n log n steps on any input. It is
 * inlined, so that the compiler knows the size of an item and the comparison. Equal items come in
 * any order. */
#ifndef UNSEEN_BASE_HEAPSORT_H
#define UNSEEN_BASE_HEAPSORT_H

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

enum {
    HEAP_ITEM_MAX = 128 /* bytes of an item, at most */
};

typedef int heap_compare_fn(const void *a, const void *b);

/* Moves items[at] down until no child in the heap items[0..n) is greater. */
UNSEEN_INLINE void heap_sift_down(char *items, size_t at, size_t n, size_t size,
                                  heap_compare_fn *compare)
{
    char moved[HEAP_ITEM_MAX];
    memcpy(moved, items + at * size, size);
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(items + child * size, items + (child + 1) * size) < 0) {
            child++;
        }
        if (compare(moved, items + child * size) >= 0) {
            break;
        }
        memcpy(items + at * size, items + child * size, size);
    }
    memcpy(items + at * size, moved, size);
}

/* Sorts n items of `size` bytes each, the least first. items may be NULL if n is 0. */
UNSEEN_INLINE void heap_sort(void *items, size_t n, size_t size, heap_compare_fn *compare)
{
    char *const first = items;
    for (size_t i = n / 2; i-- > 0;) {
        heap_sift_down(first, i, n, size, compare);
    }
    while (n > 1) {
        char last[HEAP_ITEM_MAX];
        n--;
        memcpy(last, first + n * size, size);
        memcpy(first + n * size, first, size);
        memcpy(first, last, size);
        heap_sift_down(first, 0, n, size, compare);
    }
}

#endif
