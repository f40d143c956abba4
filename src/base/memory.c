/* SPDX-License-Identifier: MIT
 *
 * The default allocator takes small blocks from malloc and large ones straight from the kernel:
 * malloc would add a header page to every 2 MiB chunk, and could not give 2 MiB alignment without
 * wasting as much again. */
#include "base/posix.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *map(size_t size)
{
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

/* munmap fails only if it has to cut a mapping in two and the process has as many mappings as it
 * may. The range is then lost to the process; nothing can be done about it. */
static void unmap(void *ptr, size_t size)
{
    (void)munmap(ptr, size);
}

/* A mapping that begins at a huge page: maps too much and unmaps both ends. */
static void *map_aligned(size_t size)
{
    char *start = map(size + UNSEEN__HUGE_PAGE);
    if (!start) {
        return NULL;
    }
    size_t before = (UNSEEN__HUGE_PAGE - (uintptr_t)start % UNSEEN__HUGE_PAGE) % UNSEEN__HUGE_PAGE;
    if (before) {
        unmap(start, before);
    }
    unmap(start + before + size, UNSEEN__HUGE_PAGE - before);
    return start + before;
}

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
    return size % UNSEEN__HUGE_PAGE == 0 ? map_aligned(size) : map(size);
}

static void default_free(void *context, void *ptr, size_t size)
{
    (void)context;
    if (size < UNSEEN__MAPPING_MIN) {
        free(ptr);
    } else {
        unmap(ptr, size);
    }
}

struct unseen_allocator unseen__allocator(const struct unseen_allocator *allocator)
{
    if (allocator) {
        return *allocator;
    }
    return (struct unseen_allocator){default_alloc, default_free, NULL};
}

void unseen__memory_large(const struct unseen_allocator *allocator, void *ptr, size_t size)
{
#ifdef MADV_HUGEPAGE
    if (allocator->alloc == default_alloc) {
        /* Only advice: if the kernel does not follow it, the memory works and is slower. */
        (void)madvise(ptr, size, MADV_HUGEPAGE);
    }
#else
    (void)allocator;
    (void)ptr;
    (void)size;
#endif
}

bool unseen__memory_is_mapped(const struct unseen_allocator *allocator)
{
    return allocator->alloc == default_alloc;
}

bool unseen__memory_is_plausible(const struct unseen_allocator *allocator, size_t size)
{
    if (allocator->alloc != default_alloc) {
        return true;
    }
    void *ptr = map(size);
    if (ptr) {
        unmap(ptr, size);
    }
    return ptr != NULL;
}

void *unseen__alloc(const struct unseen_allocator *allocator, size_t size, size_t align)
{
    return allocator->alloc(allocator->context, size, align);
}

void *unseen__alloc_zero(const struct unseen_allocator *allocator, size_t size, size_t align)
{
    void *ptr = unseen__alloc(allocator, size, align);
    const bool is_fresh_mapping = allocator->alloc == default_alloc && size >= UNSEEN__MAPPING_MIN;
    if (ptr && !is_fresh_mapping) {
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
