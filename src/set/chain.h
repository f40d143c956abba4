/* SPDX-License-Identifier: MIT
 *
 * The filter "chain", and how a small set becomes one. */
#ifndef UNSEEN_SET_CHAIN_H
#define UNSEEN_SET_CHAIN_H

#include "filter/filter.h"

extern const struct unseen__filter_ops unseen__chain_ops;
extern const struct unseen__filter_ops unseen__chain_count_ops;

/* Takes a copy of a small set with layers in place of the empty first part of a chain
 * without a capacity. If links are to follow, they are full at unit * (2^k - 1) keys; 0:
 * where the set has doubled. Errors: NOMEM. */
enum unseen_status unseen__chain_adopt(struct unseen__filter *filter, const void *value,
                                       uint64_t unit);

#endif
