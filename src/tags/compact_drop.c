/* SPDX-License-Identifier: MIT
 *
 * Drops the groups of a path that will not be asked for again. Groups of different paths share
 * nothing: a key is compared only with tags of its own group, and only its own group grows. So
 * whoever has sorted keys by path can ask for one path after the other, and needs the pages of one
 * path at a time.
 *
 * The pages go to the next groups that grow. The counts of keys, tags and pages stay, as they are
 * about all keys that were ever added. */
#include "tags/compact.h"

enum unseen_status unseen__compact_drop(struct unseen__filter *filter, uint64_t path,
                                        unsigned depth)
{
    struct compact *c = compact_from(filter);
    const struct compact_group nothing = {.npages = COMPACT_PAGES_MIN, .depth = (uint8_t)depth};
    const uint64_t end = compact_next_path(path, depth);
    do {
        size_t copies;
        struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
        const unsigned group_depth = entries->depth;
        const enum unseen_status status = unseen__compact_pages_reserve(c, 0); /* list of pages */
        if (status != UNSEEN_OK) {
            return status;
        }
        unseen__compact_give_pages(c, entries);
        for (size_t i = 0; i < copies; i++) {
            entries[i] = nothing;
        }
        unseen__compact_directory_flatten(c, path);
        path = compact_next_path(path, group_depth);
    } while (path != end);
    return UNSEEN_OK;
}
