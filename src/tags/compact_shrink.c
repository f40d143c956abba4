/* SPDX-License-Identifier: MIT
 *
 * How the compact filter removes keys, and gives memory back: the steps of compact_grow.c, the
 * other way round.
 *
 *   rebuild  a group with few tags gets fewer pages
 *   join     the two halves of a path become one group again
 *   drain    the pages of the last chunk move to free pages of other chunks, and the chunk goes
 *
 * No one counts the tags of a group. One removed key in 2^SAMPLE_BITS has its page counted; if that
 * page has room, so has perhaps the group. Which keys these are follows from the keys, so the same
 * keys in the same order leave the same bytes, however they come in batches. There is no list of
 * what is left to do: each group is looked at again as long as its keys go. If there is no memory
 * for the new pages, the group stays as it is. */
#include "tags/compact_build.h"
#include "tags/compact_ops.h"

enum {
    SAMPLE_BITS = 8,
    /* In percent of the slots: */
    PAGE_LOW = 58,   /* a page with fewer tags has its group counted, */
    GROUP_LOW = 62,  /* a group with fewer tags shrinks, */
    LOAD_AFTER = 80, /* to pages that are then so full */
    SPARE_SHARE = 16 /* of the pages in use may be free */
};

static size_t slots_of(const struct compact *c, unsigned npages)
{
    return (size_t)npages * COMPACT_LINES * c->layout->slots;
}

static bool is_low(const struct compact *c, size_t ntags, unsigned npages, unsigned percent)
{
    return ntags * 100 < slots_of(c, npages) * percent;
}

static unsigned pages_after(const struct compact *c, size_t ntags)
{
    const unsigned npages = (unsigned)(ntags * 100 / (slots_of(c, 1) * LOAD_AFTER)) + 1;
    return npages > COMPACT_PAGES_MIN ? npages : COMPACT_PAGES_MIN;
}

static size_t count_page(const struct compact *c, uint32_t number)
{
    struct compact_places places;
    compact_collect(c, compact_page(c, number), &places);
    return places.n;
}

static size_t count_group(const struct compact *c, const struct compact_group *group)
{
    size_t ntags = 0;
    for (unsigned p = 0; p < group->npages; p++) {
        ntags += count_page(c, group->page[p]);
    }
    return ntags;
}

/* Whether no group is deeper than an import allows when there is one group less. */
static bool depths_allow_join(struct compact *c)
{
    const unsigned limit = unseen__compact_depth_limit(c);
    c->ngroups--;
    const unsigned limit_then = unseen__compact_depth_limit(c);
    c->ngroups++;
    unsigned deepest = 0;
    uint64_t path = 0;
    if (limit_then == limit) {
        return true;
    }
    do {
        const unsigned depth = compact_find(c, path)->depth;
        deepest = depth > deepest ? depth : deepest;
        path = compact_next_path(path, depth);
    } while (path != 0);
    return deepest <= limit_then;
}

/* The other half of the group's path, if it is one group. */
static const struct compact_group *sibling_of(const struct compact *c, uint64_t path,
                                              const struct compact_group *group)
{
    if (group->depth == 0) {
        return NULL;
    }
    const struct compact_group *sibling =
        compact_find(c, path ^ (uint64_t)1 << (64 - group->depth));
    return sibling->depth == group->depth ? sibling : NULL;
}

/* Puts the group of a build in the place of both halves. */
static void install_joined(struct compact *c, uint64_t path, const struct compact_group *halves,
                           const struct compact_build *b)
{
    const unsigned known = halves[0].depth + compact_v_len(c, c->mark);
    for (unsigned half = 0; half < 2; half++) {
        size_t copies;
        struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
        for (size_t i = 0; i < copies; i++) {
            entries[i] = b->group[0];
        }
        unseen__compact_give_pages(c, &halves[half]);
        path ^= (uint64_t)1 << (64 - halves[0].depth);
    }
    c->npages += (uint64_t)b->group[0].npages - halves[0].npages - halves[1].npages;
    c->ngroups--;
    c->generations[known] -= b->nshortened;
    c->generations[known - 1] += b->nshortened;
    unseen__compact_directory_flatten(c, path);
}

/* Joins the group of a path, which has ntags tags, with its sibling. False if it stays. */
static bool join(struct compact *c, uint64_t path, size_t ntags)
{
    const struct compact_group *group = compact_find(c, path);
    const struct compact_group *sibling = sibling_of(c, path, group);
    if (!sibling) {
        return false;
    }
    ntags += count_group(c, sibling);
    if (!is_low(c, ntags, 2 * COMPACT_PAGES_MIN, GROUP_LOW) || !depths_allow_join(c) ||
        unseen__compact_pages_reserve(c, COMPACT_PAGES_MAX) != UNSEEN_OK) {
        return false;
    }
    const bool is_second = (path >> (64 - group->depth) & 1) != 0;
    const struct compact_group halves[2] = {is_second ? *sibling : *group,
                                            is_second ? *group : *sibling};
    struct compact_build b;
    unseen__compact_build_init(&b, &halves[0], 1);
    b.group[0].depth--;
    if (!unseen__compact_build_joined(c, halves, &b, pages_after(c, ntags))) {
        return false;
    }
    install_joined(c, path, halves, &b);
    return true;
}

/* Gives the group of a path, which has ntags tags, fewer pages. False if it has as many as before,
 * because its tags are uneven. */
static bool narrow(struct compact *c, uint64_t path, size_t ntags)
{
    size_t copies;
    struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
    const unsigned npages = entries->npages;
    return is_low(c, ntags, npages, GROUP_LOW) && pages_after(c, ntags) < npages &&
           unseen__compact_pages_reserve(c, COMPACT_PAGES_MAX) == UNSEEN_OK &&
           unseen__compact_rebuild(c, entries, copies, pages_after(c, ntags)) &&
           entries->npages < npages;
}

/* Moves the pages of a group that have these numbers or higher ones. */
static void move_pages(struct compact *c, struct compact_group *entries, size_t copies,
                       uint32_t from)
{
    for (unsigned p = 0; p < entries->npages; p++) {
        const uint32_t old = entries->page[p];
        if (old < from) {
            continue;
        }
        const uint32_t number = unseen__compact_page_take(c);
        memcpy(compact_page(c, number), compact_page(c, old), COMPACT_PAGE);
        *compact_full(c, number) = *compact_full(c, old);
        for (size_t i = 0; i < copies; i++) {
            entries[i].page[p] = number;
        }
    }
}

/* Gives the last chunks back whose pages have room in others, and leaves a few pages free. Each
 * takes a walk through all groups, after as many pages became free as it has. */
static void drain(struct compact *c)
{
    uint32_t from;
    while ((from = unseen__compact_pages_close_chunk(c, (size_t)(c->npages / SPARE_SHARE))) != 0) {
        uint64_t path = 0;
        do {
            size_t copies;
            struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
            move_pages(c, entries, copies, from);
            path = compact_next_path(path, entries->depth);
        } while (path != 0);
        unseen__compact_pages_drop_chunk(c);
    }
}

static void shrink(struct compact *c, uint64_t path)
{
    bool is_smaller = false;
    for (;;) {
        const struct compact_group *group = compact_find(c, path);
        if (group->npages == COMPACT_PAGES_MIN && !sibling_of(c, path, group)) {
            break;
        }
        const size_t ntags = count_group(c, group);
        if (!is_low(c, ntags, group->npages, GROUP_LOW) ||
            !(join(c, path, ntags) || narrow(c, path, ntags))) {
            break;
        }
        is_smaller = true;
    }
    if (is_smaller) {
        drain(c);
    }
}

/* Looks at the page of a key that was removed. */
static void look(struct compact *c, struct unseen_key key)
{
    const uint64_t path = compact_path(c, key);
    struct compact_probe probe;
    if (!unseen__compact_has_groups(&c->filter, NULL, 0)) {
        return; /* the pages of a group that was not read yet must stay where they are */
    }
    compact_locate(c, c->layout->width, key, compact_find(c, path), &probe);
    if (is_low(c, count_page(c, probe.page), 1, PAGE_LOW)) {
        shrink(c, path);
    }
}

/* Whether a key is one of those whose page is looked at. */
static bool is_sample(struct unseen_key key)
{
    return key.lo >> (64 - SAMPLE_BITS) == 0;
}

void unseen__compact_remove(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                            uint8_t *verdicts)
{
    struct compact *c = compact_from(filter);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (UNSEEN_UNLIKELY(is_sample(keys[i]))) {
            c->kernel->remove(c, keys + at, i + 1 - at, verdicts + at);
            at = i + 1;
            if (verdicts[i] == UNSEEN_SEEN) {
                look(c, keys[i]);
            }
        }
    }
    c->kernel->remove(c, keys + at, n - at, verdicts + at);
}
