/* SPDX-License-Identifier: MIT
 *
 * The names of filters. */
#ifndef UNSEEN_SET_FILTERS_H
#define UNSEEN_SET_FILTERS_H

#include "filter/filter.h"

/* Some names are served by another filter (filters.c). Replaces such a name in the options of a set
 * or store by that filter's, and adds what the name says: that the filter counts, and the highest
 * rate. A rate of 0 that is not given stays 0 if the name says none. *name may be NULL. */
void unseen__filter_resolve(const char **name, bool *counts, double *fpr);

/* The filter with this name that counts, or that need not count; NULL: there is none. */
const struct unseen__filter_ops *unseen__filter_find(const char *name, bool counts);

/* The i'th name that a user may choose, or NULL after the last. */
const char *unseen__filter_name_at(size_t i);

#endif
