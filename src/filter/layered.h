/* SPDX-License-Identifier: MIT
 *
 * The layered filter, and how a small set becomes one. */
#ifndef UNSEEN_FILTER_LAYERED_H
#define UNSEEN_FILTER_LAYERED_H

#include "filter/filter.h"

/* Takes a copy of a small set with layers in place of the empty first part of a layered filter
 * without a capacity. If a chain is to follow, its links are full at unit * (2^k - 1) keys; 0:
 * where the set has doubled. Errors: NOMEM. */
enum unseen_status unseen__layered_adopt(struct unseen__filter *filter, const void *value,
                                         uint64_t unit);

#endif
