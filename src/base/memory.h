/* SPDX-License-Identifier: MIT
 *
 * Where objects get their memory: the caller's allocator or the default one. */
#ifndef UNSEEN_BASE_MEMORY_H
#define UNSEEN_BASE_MEMORY_H

#include <stdbool.h>

#include "unseen.h"

/* Blocks of this size and more come from private mappings in the default allocator. */
#define UNSEEN__MAPPING_MIN ((size_t)128 * 1024)

/* Blocks of a multiple of this size are aligned to it by the default allocator. */
#define UNSEEN__HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A usable copy of *allocator, or the default one for NULL. */
struct unseen_allocator unseen__allocator(const struct unseen_allocator *allocator);

void *unseen__alloc(const struct unseen_allocator *allocator, size_t size, size_t align);

/* Zeroed memory. A block of UNSEEN__MAPPING_MIN bytes or more from the default allocator is a new
 * mapping: the kernel gives it memory, page by page, at the first touch of each page. */
void *unseen__alloc_zero(const struct unseen_allocator *allocator, size_t size, size_t align);

/* Says that a block of UNSEEN__HUGE_PAGE bytes from the default allocator is part of a large
 * structure, so that huge pages are worth their first touch. Nothing for other allocators. */
void unseen__memory_large(const struct unseen_allocator *allocator, void *ptr);

/* Whether size bytes, to be asked for in many blocks, can be had at all. Linux promises small blocks
 * beyond what it has, and ends the program when they are used; a single one of more than it has it
 * refuses. True where that is not known: other allocators, a system set to refuse nothing. */
bool unseen__memory_is_plausible(const struct unseen_allocator *allocator, size_t size);

/* ptr may be NULL. */
void unseen__free(const struct unseen_allocator *allocator, void *ptr, size_t size);

#endif
