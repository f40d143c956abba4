/* SPDX-License-Identifier: MIT
 *
 * Sorts the keys of a part, for the builder. The keys are hash values: behind the bits that all
 * keys of the part share, a few bits nearly decide the order. */
#ifndef UNSEEN_LIST_SORT_H
#define UNSEEN_LIST_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts keys[0..n), which agree in their top prefix_bits bits; other has room for n keys. Returns
 * the number of different keys, which are then the first of keys. */
size_t unseen__sort_distinct(uint64_t *keys, uint64_t *other, size_t n, unsigned prefix_bits);

#endif
