/* SPDX-License-Identifier: MIT
 *
 * What the estimates of a Bloom filter are made from: how many of its cells are in use. All filters of
 * a set are counted together, so the formulas, which take microseconds, are asked once for the set
 * and not once for each of up to 256 filters. A chain has a part for each of its links. */
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
    unsigned nfilters; /* that have it */
};

struct unseen__tally {
    unsigned nfilters; /* of the set */
    struct unseen__tally_part parts[UNSEEN__TALLY_PARTS];
};

/* Adds one filter's cells to a part: the same kind of cells, lines and k from each. */
void unseen__tally_add(struct unseen__tally_part *part, uint64_t nset, uint64_t ncells);

/* Sets nkeys_estimate and fpr_estimate: a question is answered wrong if any part does. */
void unseen__tally_estimate(const struct unseen__tally *tally, struct unseen_set_stats *stats);

#endif
