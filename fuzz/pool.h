/* SPDX-License-Identifier: MIT
 *
 * The allocator of the targets that make large objects for each input. A block of 16 KB to
 * 2 MB is kept for the next input when it is freed: mapping, clearing and unmapping such blocks
 * took longer than everything done with them. AddressSanitizer still guards both ends of a block,
 * and the whole block while it is free. */
#ifndef UNSEEN_FUZZ_POOL_H
#define UNSEEN_FUZZ_POOL_H

#include <pthread.h>

#include "test.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(ptr, size)   ((void)(ptr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#endif

enum {
    POOL_FROM = 1 << 14,
    POOL_UPTO = 1 << 21,
    POOL_BLOCKS = 64
};

/* The free blocks, the one that has been free longest first. */
static struct pool_block {
    void *ptr;
    size_t size;
    size_t align;
} pool_blocks[POOL_BLOCKS];
static size_t pool_nblocks;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static inline struct pool_block pool_take(size_t i)
{
    const struct pool_block block = pool_blocks[i];
    ASAN_UNPOISON_MEMORY_REGION(block.ptr, block.size);
    pool_nblocks--;
    memmove(pool_blocks + i, pool_blocks + i + 1, (pool_nblocks - i) * sizeof(*pool_blocks));
    return block;
}

/* Memory of exactly that size; NULL if there is none. */
static inline void *pool_get(size_t size, size_t align)
{
    for (size_t i = 0; i < pool_nblocks && size >= POOL_FROM && size <= POOL_UPTO; i++) {
        if (pool_blocks[i].size == size && pool_blocks[i].align >= align) {
            return pool_take(i).ptr;
        }
    }
    void *ptr = NULL;
    return posix_memalign(&ptr, align, size ? size : 1) == 0 ? ptr : NULL;
}

static inline void pool_put(void *ptr, size_t size, size_t align)
{
    if (!ptr || size < POOL_FROM || size > POOL_UPTO) {
        free(ptr);
        return;
    }
    if (pool_nblocks == POOL_BLOCKS) {
        free(pool_take(0).ptr);
    }
    pool_blocks[pool_nblocks++] = (struct pool_block){ptr, size, align};
    ASAN_POISON_MEMORY_REGION(ptr, size);
}

enum {
    POOL_ALIGN = 4096 /* of every large block: the free function is not told which one it was */
};

/* The functions of an unseen_allocator whose context is a struct test_allocator. Threads may share
 * it. */
static inline void *pool_alloc(void *context, size_t size, size_t align)
{
    struct test_allocator *a = context;
    const size_t least = size >= POOL_FROM ? POOL_ALIGN : sizeof(void *);
    void *ptr = NULL;
    pthread_mutex_lock(&pool_lock);
    a->nallocs++;
    if (!a->fail_at || (a->nallocs != a->fail_at && !(a->fail_after && a->nallocs > a->fail_at))) {
        ptr = pool_get(size, align < least ? least : align);
    }
    if (ptr) {
        a->nlive++;
        a->bytes += size;
    }
    pthread_mutex_unlock(&pool_lock);
    return ptr ? memset(ptr, 0xA5, size < POOL_UPTO ? size : POOL_UPTO) : NULL;
}

static inline void pool_free(void *context, void *ptr, size_t size)
{
    struct test_allocator *a = context;
    pthread_mutex_lock(&pool_lock);
    a->nlive--;
    a->bytes -= size;
    pool_put(ptr, size, POOL_ALIGN);
    pthread_mutex_unlock(&pool_lock);
}

#endif
