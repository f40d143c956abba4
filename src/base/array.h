/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow. The caller keeps a pointer to the first element, the number of elements in use
 * and the capacity; a function here moves the elements to a larger block when the capacity is used
 * up. On failure (no memory, or a size that does not fit into a size_t) nothing has changed.
 *
 *     struct item *items = NULL;
 *     size_t n = 0, cap = 0;
 *     if (!array_grow(&allocator, &items, &cap, n + 1, 16, sizeof(*items))) {
 *         return UNSEEN_ERR_NOMEM;
 *     }
 *     items[n++] = item;
 *     ...
 *     array_free(&allocator, &items, &cap, sizeof(*items)); */
#ifndef UNSEEN_BASE_ARRAY_H
#define UNSEEN_BASE_ARRAY_H

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

enum {
    ARRAY_ALIGN = 64 /* bytes: a cache line */
};

/* Moves the elements to a block with a capacity of exactly new_cap elements. Does nothing if the
 * capacity is at least new_cap. `array` is the address of the pointer to the elements, whatever
 * their type. */
static inline bool array_resize(const struct unseen_allocator *allocator, void *array, size_t *cap,
                                size_t new_cap, size_t element)
{
    size_t size;
    if (new_cap <= *cap) {
        return true;
    }
    void *grown =
        size_mul(new_cap, element, &size) ? unseen__alloc(allocator, size, ARRAY_ALIGN) : NULL;
    if (!grown) {
        return false;
    }
    void *old;
    memcpy(&old, array, sizeof(old));
    if (old) {
        memcpy(grown, old, *cap * element);
    }
    unseen__free(allocator, old, *cap * element);
    memcpy(array, &grown, sizeof(grown));
    *cap = new_cap;
    return true;
}

/* Makes room for `wanted` elements: doubles the capacity until it is enough. A capacity of 0 starts
 * as `first`, which is at least 1. */
static inline bool array_grow(const struct unseen_allocator *allocator, void *array, size_t *cap,
                              size_t wanted, size_t first, size_t element)
{
    if (wanted <= *cap) {
        return true;
    }
    size_t new_cap = *cap ? *cap : first;
    while (new_cap < wanted) {
        if (new_cap > SIZE_MAX / 2) {
            return false;
        }
        new_cap *= 2;
    }
    return array_resize(allocator, array, cap, new_cap, element);
}

/* Frees the elements; the pointer becomes NULL and the capacity 0. */
static inline void array_free(const struct unseen_allocator *allocator, void *array, size_t *cap,
                              size_t element)
{
    void *old;
    void *const none = NULL;
    memcpy(&old, array, sizeof(old));
    unseen__free(allocator, old, *cap * element);
    memcpy(array, &none, sizeof(none));
    *cap = 0;
}

#endif
