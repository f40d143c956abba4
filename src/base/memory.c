/* SPDX-License-Identifier: MIT
 *
 * The default allocator takes small blocks from malloc and large ones straight from the kernel:
 * malloc would add a header page to every 2 MiB chunk, and could not give 2 MiB alignment without
 * wasting as much again. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *default_alloc(void *context, size_t size, size_t align)
{
    (void)context;
    if (size < UNSEEN__MAPPING_MIN) {
        void *ptr = NULL;
        if (align < sizeof(void *)) {
            align = sizeof(void *);
        }
        return posix_memalign(&ptr, align, size) == 0 ? ptr : NULL;
    }
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

static void default_free(void *context, void *ptr, size_t size)
{
    (void)context;
    if (size < UNSEEN__MAPPING_MIN) {
        free(ptr);
    } else {
        munmap(ptr, size);
    }
}

struct unseen_allocator unseen__allocator(const struct unseen_allocator *allocator)
{
    if (allocator) {
        return *allocator;
    }
    return (struct unseen_allocator){default_alloc, default_free, NULL};
}

void *unseen__alloc(const struct unseen_allocator *allocator, size_t size, size_t align)
{
    return allocator->alloc(allocator->context, size, align);
}

void *unseen__alloc_zero(const struct unseen_allocator *allocator, size_t size, size_t align)
{
    void *ptr = unseen__alloc(allocator, size, align);
    if (ptr) {
        memset(ptr, 0, size);
    }
    return ptr;
}

void unseen__free(const struct unseen_allocator *allocator, void *ptr, size_t size)
{
    if (ptr) {
        allocator->free(allocator->context, ptr, size);
    }
}
