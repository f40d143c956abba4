/* SPDX-License-Identifier: MIT
 *
 * A group of the exact filter: its geometry and memory, its keys read back, and a slot for a key
 * whose two lines are full.
 *
 * While a group is less than 95.7 % full, tags move aside for such a key, each tag to its own other
 * line. A search from line to line, nearest first, finds the shortest row of moves that ends at a
 * free slot (cuckoo hashing [Pagh04], with lines of 9 to 12 slots [Dietzfelbinger07]). Nothing is
 * moved before the end of the row is known. */
#include "filter/exact.h"

#include "base/memory.h"

enum {
    BITMAP_WORDS = EXACT_LINES_MAX / 64,
    LIMIT_256 = 245 /* the share of its slots up to which a group is filled, in 256ths */
};

/* ---- groups ---- */

void unseen__exact_group_shape(struct exact_group *group)
{
    const struct exact_shape *shape = exact_shape_of(group->known);
    group->slots = shape->slots;
    group->field_bits = shape->field_bits;
    group->top_mask =
        group->known < EXACT_TOP_BITS ? ((uint32_t)1 << (EXACT_TOP_BITS - group->known)) - 1 : 0;
    group->nlines = group->npages * EXACT_PAGE_LINES;
    group->limits = 0;
    for (uint32_t kind = 0; kind < EXACT_CLASSES; kind++) {
        const uint32_t most = EXACT_CLASS_PAGES * kind;
        const uint32_t more = group->npages - EXACT_PAGES_MIN;
        group->limits |= (more < most ? more : most) << 8 * kind;
    }
    group->limit = group->nlines * group->slots * LIMIT_256 / 256;
}

static void free_low(struct exact *e, struct exact_group *group)
{
    const size_t n = exact_low_pages(group);
    for (size_t i = 0; group->low && i < n; i++) {
        if (group->low[i]) {
            unseen__page_give(&e->pages, group->low[i]);
        }
    }
    e->memory -= group->low ? n * sizeof(*group->low) : 0;
    unseen__free(&e->pages.allocator, group->low, n * sizeof(*group->low));
}

static bool create_low(struct exact *e, struct exact_group *group)
{
    const size_t n = exact_low_pages(group);
    group->low = unseen__alloc_zero(&e->pages.allocator, n * sizeof(*group->low), EXACT_LINE);
    e->memory += group->low ? n * sizeof(*group->low) : 0;
    for (size_t i = 0; group->low && i < n; i++) {
        group->low[i] = unseen__page_take(&e->pages);
        if (!group->low[i]) {
            return false;
        }
    }
    return group->low != NULL;
}

void unseen__exact_group_free(struct exact *e, struct exact_group *group)
{
    free_low(e, group);
    for (unsigned i = 0; i < EXACT_PAGES_MAX; i++) {
        if (group->page[i]) {
            unseen__page_give(&e->pages, group->page[i]);
        }
    }
    unseen__free(&e->pages.allocator, group, sizeof(*group));
    e->memory -= sizeof(*group);
}

struct exact_group *unseen__exact_group_create(struct exact *e, uint64_t prefix, unsigned known,
                                               unsigned npages)
{
    struct exact_group *group = unseen__alloc_zero(&e->pages.allocator, sizeof(*group), EXACT_LINE);
    if (!group) {
        return NULL;
    }
    e->memory += sizeof(*group);
    group->prefix = prefix;
    group->known = known;
    group->npages = npages;
    unseen__exact_group_shape(group);
    for (unsigned i = 0; i < npages; i++) {
        group->page[i] = unseen__page_take(&e->pages);
        if (!group->page[i]) {
            unseen__exact_group_free(e, group);
            return NULL;
        }
    }
    if (e->full_keys && !create_low(e, group)) {
        unseen__exact_group_free(e, group);
        return NULL;
    }
    return group;
}

/* ---- reading keys back ---- */

/* The line of the home page of a tag in this line. */
static uint32_t home_line(uint32_t line, uint32_t field)
{
    return exact_home(line / EXACT_PAGE_LINES, exact_rest(field)) * EXACT_PAGE_LINES +
           line % EXACT_PAGE_LINES;
}

/* The key of a tag, or its upper word. A processor cannot predict whether a tag is in line a or in
 * line b, so the code has no branch for it. */
UNSEEN_INLINE uint64_t key_of(const struct exact_group *group, uint32_t line, uint32_t word,
                              uint32_t field)
{
    const uint32_t in_b = 0 - (field & 1);
    const uint32_t a = (home_line(line, field) - (exact_offset(word) & in_b)) % EXACT_HOME_LINES;
    const uint32_t rest = exact_rest(field) ^ (word & EXACT_REST_MASK & in_b);
    const uint64_t top = field >> (1 + EXACT_REST_BITS);
    return group->prefix | top << (EXACT_X_BITS + EXACT_WORD_BITS) |
           (uint64_t)word << EXACT_X_BITS | a << EXACT_REST_BITS | rest;
}

size_t unseen__exact_keys(const struct exact_group *group, unsigned first, unsigned end,
                          uint64_t *keys, uint64_t *lows)
{
    const struct exact_group g =
        *group; /* a constant copy, so that its numbers can be in registers */
    size_t n = 0;
    end = end < g.npages ? end : g.npages;
    for (uint32_t line = first * EXACT_PAGE_LINES; line < end * EXACT_PAGE_LINES; line++) {
        const uint8_t *bytes = exact_line(&g, line);
        for (unsigned slot = 0; slot < g.slots; slot++) {
            const uint32_t word = exact_word(bytes, slot);
            keys[n] = key_of(&g, line, word, exact_field(&g, bytes, slot));
            if (lows) {
                lows[n] = *exact_low(&g, line, slot);
            }
            n += word != 0;
        }
    }
    return n;
}

uint64_t unseen__exact_key(const struct exact_group *group, uint32_t line, unsigned slot)
{
    const uint8_t *bytes = exact_line(group, line);
    return key_of(group, line, exact_word(bytes, slot), exact_field(group, bytes, slot));
}

/* ---- placing a key ---- */

/* A line that the search has reached, and the tag that would move to it. */
struct step {
    uint32_t line;
    uint16_t from; /* the step whose line has that tag */
    uint16_t slot;
};

struct search {
    struct step steps[EXACT_LINES_MAX];
    unsigned n;
    uint64_t reached[BITMAP_WORDS];
};

/* The free slots of a line, as bits. No early exit: a vector loop. */
static uint32_t free_slots(const struct exact_group *group, uint32_t line)
{
    static const uint16_t bits[16] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                      1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                      1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const uint8_t *bytes = exact_line(group, line);
    uint32_t free = 0;
    for (unsigned i = 0; i < 16; i++) {
        free |= exact_word(bytes, i) ? 0 : bits[i];
    }
    return free & (((uint32_t)1 << group->slots) - 1);
}

static bool is_full(const struct exact_group *group, uint32_t line)
{
    return group->full[line / EXACT_PAGE_LINES] >> line % EXACT_PAGE_LINES & 1;
}

/* Reaches a line, unless the search has been there. Returns true if the line has a free slot. */
static bool reach(const struct exact_group *group, struct search *s, uint32_t line, unsigned from,
                  unsigned slot)
{
    const uint64_t bit = (uint64_t)1 << line % 64;
    if (s->reached[line / 64] & bit) {
        return false;
    }
    s->reached[line / 64] |= bit;
    s->steps[s->n++] = (struct step){line, (uint16_t)from, (uint16_t)slot};
    return !is_full(group, line);
}

/* The other line of a tag. */
static uint32_t other_line(const struct exact_group *group, uint32_t line, unsigned slot)
{
    const uint8_t *bytes = exact_line(group, line);
    const uint32_t word = exact_word(bytes, slot);
    const uint32_t field = exact_field(group, bytes, slot);
    const uint32_t offset = exact_offset(word);
    const uint32_t other = home_line(line, field) + (field & 1 ? 0 - offset : offset);
    return exact_line_of(group, other % EXACT_HOME_LINES,
                         exact_rest(field) ^ (word & EXACT_REST_MASK));
}

/* Puts a tag into a line that has room. */
static void put_tag(struct exact_group *group, uint32_t line, uint32_t word, uint32_t field,
                    uint64_t low)
{
    const uint32_t free = free_slots(group, line);
    const unsigned slot = (unsigned)__builtin_ctz(free);
    exact_put(group, exact_line(group, line), slot, word, field);
    if (group->low) {
        *exact_low(group, line, slot) = low;
    }
    if ((free & (free - 1)) == 0) {
        exact_set_full(group, line);
    }
}

/* Moves a tag to its other line, which has room. */
static void move_tag(struct exact_group *group, uint32_t from, unsigned slot, uint32_t to)
{
    uint8_t *bytes = exact_line(group, from);
    const uint32_t word = exact_word(bytes, slot);
    const uint32_t field = exact_field(group, bytes, slot);
    put_tag(group, to, word, field ^ exact_flip(word),
            group->low ? *exact_low(group, from, slot) : 0);
    exact_put(group, bytes, slot, 0, 0);
}

/* Moves tags along the row of steps that ends at the last step, whose line has a free slot. Returns
 * the first line of the row, which then has a free slot. */
static uint32_t move_row(struct exact_group *group, const struct search *s)
{
    const struct step *to = &s->steps[s->n - 1];
    for (const struct step *from = &s->steps[to->from]; from != to; from = &s->steps[to->from]) {
        move_tag(group, from->line, to->slot, to->line);
        to = from;
    }
    return to->line;
}

/* Searches up to nlines lines. Returns true if the line of the last step has a free slot. Steps 0
 * and 1 are the two lines of the key, which come from themselves; if both are one line, there is no
 * such step 1. */
static bool search_from(const struct exact_group *group, struct search *s, uint32_t a, uint32_t b,
                        size_t nlines)
{
    s->n = 0;
    memset(s->reached, 0, sizeof(s->reached));
    bool found = reach(group, s, a, 0, 0) || reach(group, s, b, 1, 0);
    for (unsigned i = 0; !found && i < s->n; i++) {
        const uint32_t line = s->steps[i].line;
        for (unsigned slot = 0; !found && slot < group->slots && s->n < nlines; slot++) {
            found = reach(group, s, other_line(group, line, slot), i, slot);
        }
    }
    return found;
}

/* Makes the full map anew: lines from which a tag was removed have room again. Returns true if the
 * map has changed. */
static bool refresh_full(struct exact_group *group)
{
    bool changed = false;
    if (!group->is_stale) {
        return false;
    }
    group->is_stale = false;
    for (uint32_t page = 0; page < group->npages; page++) {
        uint64_t full = 0;
        for (uint32_t i = 0; i < EXACT_PAGE_LINES; i++) {
            const bool is = free_slots(group, page * EXACT_PAGE_LINES + i) == 0;
            full |= (uint64_t)is << i;
        }
        changed = changed || full != group->full[page];
        group->full[page] = full;
    }
    return changed;
}

bool unseen__exact_group_add(struct exact_group *group, struct unseen_key key, size_t *nlines)
{
    struct search s;
    uint32_t a;
    uint32_t b;
    uint32_t word;
    uint32_t field;
    exact_place(group, key.hi, &a, &b, &word, &field);
    const size_t most = *nlines < EXACT_LINES_MAX ? *nlines : EXACT_LINES_MAX;
    bool found = search_from(group, &s, a, b, most);
    *nlines -= s.n < *nlines ? s.n : *nlines;
    if (!found && refresh_full(group)) {
        found = search_from(group, &s, a, b, most);
    }
    if (!found) {
        return false;
    }
    const uint32_t line = move_row(group, &s);
    put_tag(group, line, word, field ^ (line != a ? exact_flip(word) : 0), key.lo);
    group->nkeys++;
    return true;
}

/* ---- kicks ---- */

bool unseen__exact_kick_out(const struct exact_probe *probe, struct unseen_key key,
                            struct exact_kicked *kicked)
{
    struct exact_group *group = probe->group;
    uint32_t lines[2];
    uint32_t word;
    uint32_t field;
    if (group->nkeys >= group->limit) {
        return false;
    }
    for (unsigned page = 0; page < EXACT_PAGES_MAX; page += 8) {
        UNSEEN_PREFETCH(&group->full[page]);
    }
    exact_place(group, key.hi, &lines[0], &lines[1], &word, &field);
    for (unsigned side = 0; side < 2; side++) {
        uint8_t *line = exact_line(group, lines[side]);
        for (unsigned slot = 0; slot < group->slots; slot++) {
            const uint32_t other = other_line(group, lines[side], slot);
            if (is_full(group, other)) {
                continue;
            }
            UNSEEN_PREFETCH(exact_line(group, other));
            kicked->group = group;
            kicked->line = other;
            kicked->word = exact_word(line, slot);
            kicked->field = exact_field(group, line, slot) ^ exact_flip(kicked->word);
            exact_put(group, line, slot, word, field ^ (side ? exact_flip(word) : 0));
            if (group->low) {
                uint64_t *low = exact_low(group, lines[side], slot);
                kicked->low = *low;
                *low = key.lo;
            }
            group->nkeys++;
            return true;
        }
    }
    return false;
}

void unseen__exact_kick_in(struct exact_kicked *kicked)
{
    if (kicked->group) {
        put_tag(kicked->group, kicked->line, kicked->word, kicked->field, kicked->low);
        kicked->group = NULL;
    }
}
