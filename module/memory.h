/* SPDX-License-Identifier: MIT
 *
 * Memory for one value, from the server's allocator: counted, and limited on request. A value counts
 * from the lazy-free thread, too. */
#ifndef UNSEEN_MODULE_MEMORY_H
#define UNSEEN_MODULE_MEMORY_H

#include <stdbool.h>

#include <unseen.h>

struct memory {
    _Atomic uint64_t used;
    uint64_t limit; /* 0: none */
    bool refused;   /* an allocation failed because of the limit */
};

/* Finds out how the server's allocator aligns large blocks. Call it once, before all others. */
void memory_probe(void);

void memory_init(struct memory *memory, uint64_t limit);

/* An allocator for sets. memory must outlive them, at the same address. */
struct unseen_allocator memory_allocator(struct memory *memory);

/* The bytes of all values. Threads: any. */
uint64_t memory_total(void);

#endif
