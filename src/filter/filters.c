/* SPDX-License-Identifier: MIT
 *
 * The list of filters. A new filter is one file and one line here. */
#include "filter/filter.h"

#include <string.h>

static const struct unseen__filter_ops *const filters[] = {
    &unseen__compact_ops,
};

const struct unseen__filter_ops *unseen__filter_find(const char *name)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (strcmp(filters[i]->name, name) == 0) {
            return filters[i];
        }
    }
    return NULL;
}
