/* SPDX-License-Identifier: MIT
 *
 * Estimates the number of keys and the false-positive rate of a set of Bloom filters, from the
 * number of cells in use. The cells of all filters of a set are added up first, so that the
 * formulas, which take microseconds, run once for the set and not for each of up to 256 filters. A
 * chain (scalable.c) has one part for each of its links. */
#ifndef UNSEEN_FILTER_TALLY_H
#define UNSEEN_FILTER_TALLY_H

#include "filter/filter.h"

enum {
    UNSEEN__TALLY_PARTS = 48
};

struct unseen__tally_part {
    unsigned cells; /* of a line; 0: classic, a key's cells are anywhere */
    unsigned lines; /* of a block */
    unsigned k;
    double nset;
    double ncells;
    unsigned nfilters; /* that have this part */
};

struct unseen__tally {
    unsigned nfilters; /* of the set */
    struct unseen__tally_part parts[UNSEEN__TALLY_PARTS];
};

/* Adds one filter's cells to a part. All filters of a part have the same cells, lines and k. */
void unseen__tally_add(struct unseen__tally_part *part, uint64_t nset, uint64_t ncells);

/* Sets nkeys_estimate and fpr_estimate. A question is answered wrong if any part answers it
 * wrong. */
void unseen__tally_estimate(const struct unseen__tally *tally, struct unseen_set_stats *stats);

#endif
