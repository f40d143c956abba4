/* SPDX-License-Identifier: MIT
 *
 * A key by itself: it goes into one of its two lines. If they are full, a tag of these lines moves
 * aside (a kick), or the group grows, or the key goes to the stash. */
#include "tags/compact_ops.h"

static uint32_t free_slots(const struct compact *c, const uint8_t *line)
{
    return c->kernel->compare(line, 0).empty & ((1u << c->layout->slots) - 1);
}

bool unseen__compact_add_plain(struct compact *c, const struct compact_probe *probe, uint32_t mark)
{
    uint32_t free_a = free_slots(c, probe->a);
    uint32_t free_b = free_slots(c, probe->b);
    bool take_b = __builtin_popcount(free_b) > __builtin_popcount(free_a);
    uint32_t free = take_b ? free_b : free_a;
    if (!free) {
        return false;
    }
    compact_fill_slot(c, c->layout->width, probe, mark, take_b ? probe->b : probe->a, free);
    return true;
}

/* ---- a key whose lines are full ---- */

void unseen__compact_kick_in(struct compact *c, struct compact_kicked *kicked)
{
    if (kicked->page == COMPACT_NO_PAGE) {
        return;
    }
    uint8_t *line = compact_page(c, kicked->page) + (size_t)kicked->to * COMPACT_LINE;
    uint32_t free = free_slots(c, line);
    compact_put(c->layout->width, line, (unsigned)__builtin_ctz(free), kicked->word, kicked->low);
    if ((free & (free - 1)) == 0) {
        *compact_full(c, kicked->page) |= (uint64_t)1 << kicked->to;
    }
    kicked->page = COMPACT_NO_PAGE;
}

/* The full map says which lines have room without looking at them. */
bool unseen__compact_kick_out(struct compact *c, const struct compact_probe *probe, uint32_t mark,
                              struct compact_kicked *kicked)
{
    const enum compact_width width = c->layout->width;
    const uint64_t full = *compact_full(c, probe->page);
    for (int side = 0; side < 2; side++) {
        uint8_t *line = side ? probe->b : probe->a;
        unsigned from = compact_line_number(c, probe, line);
        for (unsigned slot = 0; slot < c->layout->slots; slot++) {
            const unsigned low = compact_low(width, line, slot);
            const unsigned to = from ^ compact_offset(compact_r(width, low), c->layout->r_bits);
            if (full >> to & 1) {
                continue;
            }
            UNSEEN_PREFETCH(compact_start(c, probe) + (size_t)to * COMPACT_LINE);
            *kicked =
                (struct compact_kicked){probe->page, compact_word(line, slot), low, (uint8_t)to};
            compact_fill_slot(c, width, probe, mark, line, 1u << slot);
            return true;
        }
    }
    return false;
}

static bool kick(struct compact *c, const struct compact_probe *probe, uint32_t mark)
{
    struct compact_kicked kicked = {.page = COMPACT_NO_PAGE};
    const bool done = unseen__compact_kick_out(c, probe, mark, &kicked);
    unseen__compact_kick_in(c, &kicked);
    return done;
}

/* Computes the full map of a page anew: lines from which a tag was removed have room again. Returns
 * true if the map changed. */
static bool refresh_full(struct compact *c, const struct compact_probe *probe)
{
    const uint8_t *start = compact_start(c, probe);
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        full |= (uint64_t)(free_slots(c, start + (size_t)line * COMPACT_LINE) == 0) << line;
    }
    bool changed = full != *compact_full(c, probe->page);
    *compact_full(c, probe->page) = full;
    return changed;
}

enum unseen_status unseen__compact_add_whole(struct unseen__filter *filter, struct unseen_key key)
{
    struct compact *c = compact_from(filter);
    if (unseen__stash_contains(&c->stash, key)) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__stash_add(&c->stash, key, &c->allocator);
    c->nkeys += status == UNSEEN_OK;
    return status;
}

bool unseen__compact_add_by_kick(struct compact *c, const struct compact_probe *probe,
                                 uint32_t mark)
{
    return kick(c, probe, mark) || (refresh_full(c, probe) && kick(c, probe, mark));
}

enum unseen_status unseen__compact_add_full(struct compact *c, struct unseen_key key,
                                            struct compact_probe *probe, bool *moved_out)
{
    while (!unseen__compact_add_by_kick(c, probe, c->mark)) {
        bool stuck;
        enum unseen_status status = unseen__compact_grow(c, compact_path(c, key), &stuck);
        *moved_out = true;
        if (status != UNSEEN_OK) {
            return status;
        }
        if (stuck) {
            return unseen__compact_add_whole(&c->filter, key);
        }
        compact_locate(c, c->layout->width, key, compact_find(c, compact_path(c, key)), probe);
        if (unseen__compact_add_plain(c, probe, c->mark)) {
            return UNSEEN_OK;
        }
    }
    return UNSEEN_OK;
}
