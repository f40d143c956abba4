/* SPDX-License-Identifier: MIT
 *
 * The filters that are arrays of bits or counters, for a number of keys that is known. */
#ifndef UNSEEN_BITS_BITS_H
#define UNSEEN_BITS_BITS_H

#include "filter/filter.h"

extern const struct unseen__filter_ops unseen__bloom_ops;
extern const struct unseen__filter_ops unseen__block_ops;
extern const struct unseen__filter_ops unseen__counting_ops;

#endif
