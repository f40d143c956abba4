/* SPDX-License-Identifier: MIT
 *
 * The server's allocator gives 16 or 64 bytes of alignment. A block that needs more is made
 * larger, with the address of the whole in the 8 bytes in front of it. That would be dear for
 * the large blocks of a set: they have 2 MiB, and with 64 bytes more, jemalloc would take 2.5
 * MiB. So memory_probe tries how the allocator aligns large blocks, and where they are aligned
 * to 64 anyway, they are taken as they are. Should such a block come unaligned all the same, it
 * counts as "out of memory".
 *
 * Whoever frees a block knows its size but not its alignment, so the size alone decides. */
#include "server/memory.h"

#include <string.h>

#include "server/server.h"

enum {
    PLAIN_ALIGN = 16,
    LARGE = 16384,
    LARGE_ALIGN = 64,
    PROBES = 16
};

static bool large_are_aligned;
static _Atomic uint64_t total;

void memory_probe(void)
{
    void *blocks[PROBES];
    large_are_aligned = true;
    for (size_t i = 0; i < PROBES; i++) {
        blocks[i] = server.TryAlloc(i % 2 ? LARGE + i * 4096 : (size_t)LARGE << (i / 2));
        large_are_aligned = large_are_aligned && (uintptr_t)blocks[i] % LARGE_ALIGN == 0;
    }
    for (size_t i = 0; i < PROBES; i++) {
        server.Free(blocks[i]);
    }
}

static bool is_plain(size_t size)
{
    return size >= LARGE && large_are_aligned;
}

static bool is_refused(struct budget *budget, uint64_t used, size_t size)
{
    const bool refused = (budget->limit && (size > budget->limit || used > budget->limit - size)) ||
                         (budget->block_limit && size > budget->block_limit);
    budget->refused = budget->refused || refused;
    return refused;
}

static void *alloc_plain(size_t size, size_t align)
{
    void *ptr = server.TryAlloc(size);
    if ((uintptr_t)ptr % align != 0) {
        server.Free(ptr);
        return NULL;
    }
    return ptr;
}

static void *alloc_aligned(size_t size, size_t align)
{
    const size_t more = align < PLAIN_ALIGN ? PLAIN_ALIGN : align + sizeof(void *);
    char *whole = size > SIZE_MAX - more ? NULL : server.TryAlloc(size + more);
    if (!whole) {
        return NULL;
    }
    char *ptr = whole + sizeof(whole);
    ptr += (align - (uintptr_t)ptr % align) % align;
    memcpy(ptr - sizeof(whole), &whole, sizeof(whole));
    return ptr;
}

static void *alloc_own(void *context, size_t size, size_t align)
{
    (void)context;
    return is_plain(size) ? alloc_plain(size, align) : alloc_aligned(size, align);
}

static void release_own(void *context, void *ptr, size_t size)
{
    (void)context;
    if (!is_plain(size)) {
        memcpy(&ptr, (char *)ptr - sizeof(ptr), sizeof(ptr));
    }
    server.Free(ptr);
}

struct unseen_allocator memory_own_allocator(void)
{
    return (struct unseen_allocator){alloc_own, release_own, NULL};
}

static void *alloc(void *context, size_t size, size_t align)
{
    struct memory *memory = context;
    if (is_refused(&memory->budget, memory->used, size)) {
        return NULL;
    }
    void *ptr = alloc_own(NULL, size, align);
    memory->used += ptr ? size : 0;
    total += ptr ? size : 0;
    return ptr;
}

static void release(void *context, void *ptr, size_t size)
{
    struct memory *memory = context;
    memory->used -= size;
    total -= size;
    release_own(NULL, ptr, size);
}

void memory_init(struct memory *memory)
{
    memory->used = 0;
    memory->budget = (struct budget){0, 0, false};
}

struct unseen_allocator memory_allocator(struct memory *memory)
{
    return (struct unseen_allocator){alloc, release, memory};
}

/* The server aligns to 16 bytes, where small sets need 8. The block that a small set leaves is
 * freed behind its successor, and does not count. */
static void *alloc_small(void *context, size_t size, size_t align)
{
    void *ptr = is_refused(context, 0, size) ? NULL : alloc_plain(size, align);
    total += ptr ? size : 0;
    return ptr;
}

static void release_small(void *context, void *ptr, size_t size)
{
    (void)context;
    total -= size;
    server.Free(ptr);
}

struct unseen_allocator memory_small_allocator(struct budget *budget)
{
    return (struct unseen_allocator){alloc_small, release_small, budget};
}

uint64_t memory_total(void)
{
    return total;
}
