/* SPDX-License-Identifier: MIT
 *
 * Lists the filters, and finds a filter by its name. A new filter is a file, or a few of one
 * prefix, and one line here. */
#include "filter/filter.h"

#include <string.h>

static const struct unseen__filter_ops *const filters[] = {
    &unseen__compact_ops,        &unseen__bloom_ops,
    &unseen__counting_ops,       &unseen__exact_ops,
    &unseen__block_ops,          &unseen__scalable_ops,
    &unseen__scalable_bloom_ops, &unseen__scalable_counting_ops,
    &unseen__compact_count_ops,
};

/* Found by its name, but not listed: no user chooses it (layered.c says how a set gets it). */
static const struct unseen__filter_ops *const unlisted = &unseen__layered_ops;

const struct unseen__filter_ops *unseen__filter_at(size_t i)
{
    return i < sizeof(filters) / sizeof(filters[0]) ? filters[i] : NULL;
}

const struct unseen__filter_ops *unseen__filter_find(const char *name)
{
    const struct unseen__filter_ops *ops;
    for (size_t i = 0; (ops = unseen__filter_at(i)) != NULL; i++) {
        if (strcmp(ops->name, name) == 0) {
            return ops;
        }
    }
    return strcmp(unlisted->name, name) == 0 ? unlisted : NULL;
}
