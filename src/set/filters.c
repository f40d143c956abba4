/* SPDX-License-Identifier: MIT
 *
 * The names of filters. A new filter is a file, or a few of one prefix, and a line in each
 * table here.
 *
 * Some names of well-known structures are served by a filter that does the same better: the compact
 * filter grows, removes, counts and takes a rate as low as 1e-12 (docs/decisions/compact.md). Files
 * hold the name of the filter, and never such a name. */
#include "set/filters.h"

#include <string.h>

#include "bits/bits.h"
#include "set/chain.h"
#include "tags/compact.h"

/* A filter that counts stands behind the filter of the same name that does not. The last one has no
 * name that a user chooses (chain.c says how a set gets it). */
static const struct unseen__filter_ops *const filters[] = {
    &unseen__compact_ops,     &unseen__compact_count_ops, &unseen__bloom_ops,
    &unseen__counting_ops,    &unseen__block_ops,         &unseen__chain_ops,
    &unseen__chain_count_ops,
};

static const struct {
    const char *name;
    const char *served_by;
    bool counts;
    double fpr; /* the highest; 0: any */
} names[] = {
    {"compact", "compact", false, 0},        {"bloom", "bloom", false, 0},
    {"counting", "counting", false, 0},      {"block", "block", false, 0},
    {"exact", "compact", false, 1e-12},      {"scalable", "compact", false, 0},
    {"scalable-bloom", "compact", false, 0}, {"scalable-count", "compact", true, 0},
};

const char *unseen__filter_name_at(size_t i)
{
    return i < sizeof(names) / sizeof(names[0]) ? names[i].name : NULL;
}

void unseen__filter_resolve(const char **name, bool *counts, double *fpr)
{
    for (size_t i = 0; *name && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, *name) == 0) {
            *name = names[i].served_by;
            *counts = *counts || names[i].counts;
            *fpr = names[i].fpr > 0 && (*fpr <= 0 || *fpr > names[i].fpr) ? names[i].fpr : *fpr;
            return;
        }
    }
}

const struct unseen__filter_ops *unseen__filter_find(const char *name, bool counts)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (strcmp(filters[i]->name, name) == 0 && (!counts || filters[i]->multiplicity)) {
            return filters[i];
        }
    }
    return NULL;
}
