/* SPDX-License-Identifier: MIT
 *
 * Memory for every object of the library: from the caller's allocator, or from the default one. */
#ifndef UNSEEN_BASE_MEMORY_H
#define UNSEEN_BASE_MEMORY_H

#include <stdbool.h>

#include "unseen.h"

/* Blocks of this size and more come from private mappings in the default allocator. */
#define UNSEEN__MAPPING_MIN ((size_t)128 * 1024)

/* Blocks of a multiple of this size are aligned to it by the default allocator. */
#define UNSEEN__HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A copy of *allocator; the default allocator if it is NULL. */
struct unseen_allocator unseen__allocator(const struct unseen_allocator *allocator);

void *unseen__alloc(const struct unseen_allocator *allocator, size_t size, size_t align);

/* Zeroed memory. A block of UNSEEN__MAPPING_MIN bytes or more from the default allocator is a new
 * mapping: the kernel gives it memory, page by page, at the first touch of each page. */
void *unseen__alloc_zero(const struct unseen_allocator *allocator, size_t size, size_t align);

/* Asks for huge pages under a block, or under a part of one, that is a whole number of them. Does
 * nothing if the allocator is not the default one. */
void unseen__memory_large(const struct unseen_allocator *allocator, void *ptr, size_t size);

/* Whether large blocks are mappings, which take memory only where they are used: those of the
 * default allocator. */
bool unseen__memory_is_mapped(const struct unseen_allocator *allocator);

/* Returns false if the system does not have size bytes. Call it before size bytes are allocated in
 * many blocks: Linux grants small blocks beyond its memory and kills the program that uses them,
 * but refuses one block that is larger than its memory. Returns true if that cannot be known: for
 * another allocator, or on a system set to refuse nothing. */
bool unseen__memory_is_plausible(const struct unseen_allocator *allocator, size_t size);

/* ptr may be NULL. */
void unseen__free(const struct unseen_allocator *allocator, void *ptr, size_t size);

#endif
