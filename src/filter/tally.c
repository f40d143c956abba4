/* SPDX-License-Identifier: MIT
 *
 * Estimates the number of keys and the rate of a set from its number of cells in use (tally.h). */
#include "filter/tally.h"

#include <math.h>

#include "filter/rate.h"

void unseen__tally_add(struct unseen__tally_part *part, uint64_t nset, uint64_t ncells)
{
    part->nset += (double)nset;
    part->ncells += (double)ncells;
    part->nfilters++;
}

/* Returns the rate of a part; *nkeys_out is the estimated number of its keys. */
static double rate_of(const struct unseen__tally_part *part, double *nkeys_out)
{
    const double fill = part->nset / part->ncells;
    if (part->cells == 0) {
        *nkeys_out = unseen__bloom_keys(part->ncells, part->k, part->nset);
        return pow(fill, part->k);
    }
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, part->cells, part->lines, part->k);
    const double load = unseen__blocked_load(&blocked, fill);
    *nkeys_out = load * part->ncells / (part->cells * part->lines);
    return unseen__blocked_rate(&blocked, load);
}

void unseen__tally_estimate(const struct unseen__tally *tally, struct unseen_set_stats *stats)
{
    double log_right = 0; /* of the probability that no part answers wrong */
    stats->nkeys_estimate = 0;
    for (unsigned i = 0; i < UNSEEN__TALLY_PARTS; i++) {
        if (tally->parts[i].ncells > 0) {
            /* A question goes to one filter, and not every chain has this link. */
            const double share = (double)tally->parts[i].nfilters / tally->nfilters;
            double nkeys;
            log_right += log1p(-share * rate_of(&tally->parts[i], &nkeys));
            stats->nkeys_estimate += nkeys;
        }
    }
    stats->fpr_estimate = 0 - expm1(log_right); /* never -0, which would be printed */
}
