/* SPDX-License-Identifier: MIT
 *
 * Memory for one value, from the server's allocator: counted, and limited on request. A value
 * counts from the lazy-free thread, too. */
#ifndef UNSEEN_MODULE_MEMORY_H
#define UNSEEN_MODULE_MEMORY_H

#include <stdbool.h>

#include <unseen.h>

/* What a value may take. */
struct budget {
    uint64_t limit;       /* of the value's memory; 0: none */
    uint64_t block_limit; /* of one block; 0: none */
    bool refused;         /* an allocation failed because of a limit */
};

struct memory {
    _Atomic uint64_t used;
    struct budget budget;
};

/* Finds out how the server's allocator aligns large blocks. Call it once, before all others. */
void memory_probe(void);

void memory_init(struct memory *memory);

/* An allocator for sets. memory must outlive them, at the same address. */
struct unseen_allocator memory_allocator(struct memory *memory);

/* An allocator for small sets: blocks as the server gives them, which it may move. budget is used
 * while memory is allocated. Each small set is one block, so its size is its memory. */
struct unseen_allocator memory_small_allocator(struct budget *budget);

/* An allocator for the module itself: the memory counts for no value. */
struct unseen_allocator memory_own_allocator(void);

/* The bytes of all values. Threads: any. */
uint64_t memory_total(void);

#endif
