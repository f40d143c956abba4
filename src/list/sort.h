/* SPDX-License-Identifier: MIT
 *
 * Sorting the keys of a part: hash values, whose top bits but for the part's say nearly all. */
#ifndef UNSEEN_LIST_SORT_H
#define UNSEEN_LIST_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts keys[0..n), which agree in their top prefix_bits bits, with room for n more in other.
 * Returns how many different ones there are: they are then the first of keys. */
size_t unseen__sort_distinct(uint64_t *keys, uint64_t *other, size_t n, unsigned prefix_bits);

#endif
