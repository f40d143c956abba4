/* SPDX-License-Identifier: MIT
 *
 * Parts of a compact filter. Groups of different paths share nothing: a key is compared only with
 * tags of its own group, and only its own group grows. So whoever has sorted keys by path can ask
 * for one path after the other, and needs the pages of one path at a time: reads the part, adds its
 * keys, saves it, and drops it.
 *
 * The pages of a part that was dropped go to the next groups that are read or grow. The counts of
 * keys, tags and pages stay, as they are about all keys that were ever added. */
#include "tags/compact.h"

#include "base/array.h"

enum {
    TABLE_GROUP = 4,
    TABLE_PAGE = 16,
    FIRST = 4096 /* bytes of each array */
};

/* Makes room for what the table has of one more group. */
static bool grow(struct compact *c, unsigned npages)
{
    struct compact_saved *s = &c->saved;
    const size_t before = s->groups_cap + s->notes_cap;
    const bool grown = array_grow(&c->allocator, &s->groups, &s->groups_cap,
                                  ((size_t)s->ngroups + 1) * TABLE_GROUP, FIRST, 1) &&
                       array_grow(&c->allocator, &s->notes, &s->notes_cap,
                                  ((size_t)s->npages + npages) * TABLE_PAGE, FIRST, 1);
    c->memory += s->groups_cap + s->notes_cap - before;
    return grown;
}

enum unseen_status unseen__compact_save_part(struct unseen__filter *filter, uint64_t path,
                                             unsigned depth)
{
    struct compact *c = compact_from(filter);
    struct compact_saved *s = &c->saved;
    const uint64_t end = compact_next_path(path, depth);
    do {
        const struct compact_group *group = compact_find(c, path);
        if (!grow(c, group->npages)) {
            return UNSEEN_ERR_NOMEM;
        }
        unseen__compact_save_note(c, group, s->groups + s->ngroups * TABLE_GROUP,
                                  s->notes + s->npages * TABLE_PAGE);
        s->least_depth =
            s->ngroups == 0 || group->depth < s->least_depth ? group->depth : s->least_depth;
        s->ngroups++;
        s->npages += group->npages;
        path = compact_next_path(path, group->depth);
    } while (path != end);
    return UNSEEN_OK;
}

void unseen__compact_saved_release(struct compact *c)
{
    struct compact_saved *s = &c->saved;
    c->memory -= s->groups_cap + s->notes_cap;
    array_free(&c->allocator, &s->groups, &s->groups_cap, 1);
    array_free(&c->allocator, &s->notes, &s->notes_cap, 1);
}

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
        if (entries->page[0] != 0) { /* else it was never read */
            unseen__compact_give_pages(c, entries);
        }
        for (size_t i = 0; i < copies; i++) {
            entries[i] = nothing;
        }
        unseen__compact_directory_flatten(c, path);
        path = compact_next_path(path, group_depth);
    } while (path != end);
    return UNSEEN_OK;
}
