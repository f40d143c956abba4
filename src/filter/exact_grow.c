/* SPDX-License-Identifier: MIT
 *
 * The exact filter makes room. While a group is less than 95 % full, tags move aside for a key with
 * two full lines, each tag to its own other line. A search from line to line, nearest first, finds
 * the shortest row of moves that ends at a free slot (cuckoo hashing [Pagh04], with lines of 9 to
 * 12 slots [Dietzfelbinger07]). Nothing is moved before the end of the row is known.
 *
 * A fuller group is written anew, with two pages more or as two groups. The old group stays until
 * the new groups are complete, so that a failure leaves everything as it was.
 *
 * Keys need not come in random order. The keys of a sorted file may all go to one of the two
 * groups, which then gets as many pages as the old group; the other group stays empty until its
 * keys come. */
#include "filter/exact.h"

#include "base/memory.h"

enum {
    SEARCH_LINES = 64,      /* lines that the search for a slot looks at */
    STEP_PAGES = 2,         /* by which a group grows */
    LOAD_GROUPS = 32,       /* groups while loading, for so few keys that */
    LOAD_GROUP_KEYS = 1024, /* there is not one group for each so many */
    BITMAP_WORDS = EXACT_LINES_MAX / 64
};

/* The share of its slots up to which a group is filled, in 256ths. */
enum {
    LIMIT_256 = 243
};

/* ---- groups ---- */

static void exact_shape(struct exact_group *group)
{
    static const struct {
        unsigned known;
        unsigned slots;
        unsigned field_bits;
    } shapes[] = {{13, 12, 10}, {9, 11, 14}, {4, 10, 19}, {0, 9, 24}};
    unsigned i = 0;
    while (group->known < shapes[i].known) {
        i++;
    }
    group->slots = shapes[i].slots;
    group->field_bits = shapes[i].field_bits;
    group->top_mask =
        group->known < EXACT_TOP_BITS ? ((uint32_t)1 << (EXACT_TOP_BITS - group->known)) - 1 : 0;
    group->nlines = group->npages * EXACT_PAGE_LINES;
    group->inverse = (65536 + group->npages - 1) / group->npages;
    group->reciprocal = (uint32_t)((((uint64_t)1 << 32) + group->npages - 1) / group->npages);
    group->limit = group->nlines * group->slots * LIMIT_256 / 256;
}

/* Pages of lower words. */
static size_t nlow_of(const struct exact_group *group)
{
    const size_t n = (size_t)group->nlines * group->slots;
    return (n + EXACT_LOW_PAGE - 1) / EXACT_LOW_PAGE;
}

static void free_low(struct exact *e, struct exact_group *group)
{
    const size_t n = nlow_of(group);
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
    const size_t n = nlow_of(group);
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
    exact_shape(group);
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

/* The line a of a tag in this line. It is unpredictable whether that is this line, so there is no
 * branch. */
static uint32_t home_line(const struct exact_group *group, uint32_t line, uint32_t word,
                          uint32_t field)
{
    const uint32_t offset = exact_offset(word, group->nlines) & (0 - (field & 1));
    const uint32_t wraps = 0 - (uint32_t)(line < offset);
    return line - offset + (group->nlines & wraps);
}

static uint64_t key_of(const struct exact_group *group, uint32_t line, uint32_t word,
                       uint32_t field)
{
    const uint32_t a = home_line(group, line, word, field);
    /* The least x of line a is 1024 a / npages, rounded up. The rest is added to it. */
    const uint32_t least =
        (uint32_t)((uint64_t)(a * 1024 + group->npages - 1) * group->reciprocal >> 32);
    const uint32_t x = least + (field >> 1 & ((1u << EXACT_REST_BITS) - 1));
    const uint64_t top = field >> (1 + EXACT_REST_BITS);
    return group->prefix | top << (EXACT_X_BITS + EXACT_WORD_BITS) |
           (uint64_t)word << EXACT_X_BITS | x;
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

/* The first free slot of a line, or `slots` if there is none. No early exit: a vector loop. */
static unsigned free_slot(const struct exact_group *group, uint32_t line)
{
    static const uint16_t bits[16] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                      1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                      1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const uint8_t *bytes = exact_line(group, line);
    uint32_t free = 0;
    for (unsigned i = 0; i < 16; i++) {
        free |= exact_word(bytes, i) ? 0 : bits[i];
    }
    return (unsigned)__builtin_ctz(free | 1u << group->slots);
}

/* Reaches a line, unless the search has been there. Returns a free slot of the line, or `slots`. */
static unsigned reach(const struct exact_group *group, struct search *s, uint32_t line,
                      unsigned from, unsigned slot)
{
    const uint64_t bit = (uint64_t)1 << line % 64;
    if (s->reached[line / 64] & bit) {
        return group->slots;
    }
    s->reached[line / 64] |= bit;
    s->steps[s->n++] = (struct step){line, (uint16_t)from, (uint16_t)slot};
    return free_slot(group, line);
}

/* The other line of a tag. */
static uint32_t other_line(const struct exact_group *group, uint32_t line, unsigned slot)
{
    const uint8_t *bytes = exact_line(group, line);
    const uint32_t word = exact_word(bytes, slot);
    const uint32_t field = exact_field(group, bytes, slot);
    if (field & 1) {
        return home_line(group, line, word, field);
    }
    const uint32_t other = line + exact_offset(word, group->nlines);
    return other < group->nlines ? other : other - group->nlines;
}

/* Moves a tag to its other line. */
static void move_tag(struct exact_group *group, uint32_t from, unsigned from_slot, uint32_t to,
                     unsigned to_slot)
{
    uint8_t *bytes = exact_line(group, from);
    const uint32_t word = exact_word(bytes, from_slot);
    const uint32_t field = exact_field(group, bytes, from_slot);
    exact_put(group, exact_line(group, to), to_slot, word, field ^ 1);
    exact_put(group, bytes, from_slot, 0, 0);
    if (group->low) {
        *exact_low(group, to, to_slot) = *exact_low(group, from, from_slot);
    }
}

/* Moves tags along the row of steps that ends at the last step, whose line has the free slot
 * `slot`. Returns the slot that is then free in the first line of the row, which is *line_out. */
static unsigned move_row(struct exact_group *group, const struct search *s, unsigned slot,
                         uint32_t *line_out)
{
    const struct step *to = &s->steps[s->n - 1];
    while (to - s->steps > 1) {
        const struct step *from = &s->steps[to->from];
        move_tag(group, from->line, to->slot, to->line, slot);
        slot = to->slot;
        to = from;
    }
    *line_out = to->line;
    return slot;
}

/* Searches up to nlines lines. Returns a free slot in the line of the last step, or `slots` if
 * there is none. Steps 0 and 1 are the two lines of the key. */
static unsigned search_from(const struct exact_group *group, struct search *s, uint32_t a,
                            uint32_t b, size_t nlines)
{
    s->n = 0;
    memset(s->reached, 0, sizeof(s->reached));
    unsigned found = reach(group, s, a, 0, 0);
    if (found == group->slots) {
        found = reach(group, s, b, 1, 0);
    }
    for (unsigned i = 0; found == group->slots && i < s->n; i++) {
        const uint32_t line = s->steps[i].line;
        for (unsigned slot = 0; slot < group->slots && s->n < nlines; slot++) {
            found = reach(group, s, other_line(group, line, slot), i, slot);
            if (found < group->slots) {
                break;
            }
        }
    }
    return found;
}

/* Adds a key and moves tags aside for it; *fuller_out is the line that then has one tag more.
 * Subtracts the lines that it looks at, 2 and more, from *nlines. Returns false if it found no
 * slot. */
static bool place(struct exact_group *group, struct unseen_key key, size_t *nlines,
                  uint32_t *fuller_out)
{
    struct search s;
    uint32_t a;
    uint32_t b;
    uint32_t word;
    uint32_t field;
    exact_place(group, key.hi, &a, &b, &word, &field);
    const size_t most = *nlines < EXACT_LINES_MAX ? *nlines : EXACT_LINES_MAX;
    unsigned slot = search_from(group, &s, a, b, most);
    *nlines -= s.n < *nlines ? s.n : *nlines;
    if (slot == group->slots) {
        return false;
    }
    uint32_t line;
    *fuller_out = s.steps[s.n - 1].line;
    slot = move_row(group, &s, slot, &line);
    exact_put(group, exact_line(group, line), slot, word, field | (line != a));
    if (group->low) {
        *exact_low(group, line, slot) = key.lo;
    }
    group->nkeys++;
    return true;
}

/* ---- growing ---- */

/* One more bit for the directory. */
static bool double_directory(struct exact *e)
{
    const size_t n = (size_t)1 << e->dir_bits;
    struct exact_group **directory =
        unseen__alloc(&e->pages.allocator, 2 * n * sizeof(struct exact_group *), EXACT_LINE);
    if (!directory) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        directory[2 * i] = e->directory[i];
        directory[2 * i + 1] = e->directory[i];
    }
    unseen__free(&e->pages.allocator, e->directory, n * sizeof(struct exact_group *));
    e->memory += n * sizeof(struct exact_group *);
    e->directory = directory;
    e->dir_bits++;
    return true;
}

/* Makes the entries of a group's prefix point to it. */
static void install(struct exact *e, struct exact_group *group)
{
    const unsigned depth = group->known - e->prefix_bits;
    const size_t n = (size_t)1 << (e->dir_bits - depth);
    const size_t first = (size_t)(group->prefix << e->prefix_bits >> (64 - e->dir_bits));
    for (size_t i = 0; i < n; i++) {
        e->directory[first + i] = group;
    }
}

/* Puts keys into one of two groups, by their next bit, or into the only group. Most keys find room
 * in the emptier of their lines. Tags lie without gaps, so the number of tags in a line is its next
 * free slot. A half that gets nearly all keys is nearly full, and its keys come in the order of
 * their lines, not at random. So some keys need a long search: all keys together may look at
 * SEARCH_LINES lines for each key. */
static bool put_all(struct exact_group *const *groups, const uint64_t *keys, const uint64_t *lows,
                    size_t n)
{
    uint8_t used[2][EXACT_LINES_MAX] = {{0}};
    const uint64_t bit = groups[1] ? (uint64_t)1 << (64 - groups[1]->known) : 0;
    size_t nlines = SEARCH_LINES * n;
    for (size_t i = 0; i < n; i++) {
        const unsigned which = (keys[i] & bit) != 0;
        struct exact_group *group = groups[which];
        uint32_t a;
        uint32_t b;
        uint32_t word;
        uint32_t field;
        exact_place(group, keys[i], &a, &b, &word, &field);
        const bool take_b = used[which][b] < used[which][a];
        const uint32_t line = take_b ? b : a;
        if (used[which][line] < group->slots) {
            const unsigned slot = used[which][line]++;
            exact_put(group, exact_line(group, line), slot, word, field | take_b);
            if (lows) {
                *exact_low(group, line, slot) = lows[i];
            }
            group->nkeys++;
        } else {
            const struct unseen_key key = {lows ? lows[i] : 0, keys[i]};
            uint32_t fuller;
            if (!place(group, key, &nlines, &fuller)) {
                return false;
            }
            used[which][fuller]++;
        }
    }
    return true;
}

/* True if a group grows by pages; else it becomes two groups. */
static bool may_widen(const struct exact_group *group)
{
    return group->npages + STEP_PAGES <= EXACT_PAGES_MAX;
}

/* The fewest pages whose limit is not below nkeys. */
static unsigned exact_pages_for(unsigned known, size_t nkeys)
{
    struct exact_group group = {.known = known, .npages = EXACT_PAGES_MIN};
    for (exact_shape(&group); group.limit < nkeys && group.npages < EXACT_PAGES_MAX;
         exact_shape(&group)) {
        group.npages++;
    }
    return group.npages;
}

static size_t count_upper(const uint64_t *keys, size_t n, uint64_t bit)
{
    size_t nupper = 0;
    for (size_t i = 0; i < n; i++) {
        nupper += (keys[i] & bit) != 0;
    }
    return nupper;
}

/* One group of npages pages in place of the old group; 0: two groups, of min_pages pages at least. */
static bool create_successors(struct exact *e, const struct exact_group *old, unsigned npages,
                              unsigned min_pages, const uint64_t *keys, size_t n,
                              struct exact_group **groups)
{
    if (npages > 0) {
        groups[0] = unseen__exact_group_create(e, old->prefix, old->known, npages);
        return groups[0] != NULL;
    }
    const uint64_t bit = (uint64_t)1 << (63 - old->known);
    const unsigned known = old->known + 1;
    if (old->known - e->prefix_bits == e->dir_bits && !double_directory(e)) {
        return false;
    }
    const size_t nupper = count_upper(keys, n, bit);
    for (unsigned i = 0; i < 2; i++) {
        const unsigned least = exact_pages_for(known, i ? nupper : n - nupper);
        groups[i] = unseen__exact_group_create(e, old->prefix | (i ? bit : 0), known,
                                               least > min_pages ? least : min_pages);
        if (!groups[i]) {
            return false;
        }
    }
    return true;
}

static void replace(struct exact *e, struct exact_group *old, struct exact_group *const *groups)
{
    e->nlines -= old->nlines;
    e->nslots -= (uint64_t)old->nlines * old->slots;
    e->ngroups--;
    for (unsigned i = 0; i < 2 && groups[i]; i++) {
        install(e, groups[i]);
        e->nlines += groups[i]->nlines;
        e->nslots += (uint64_t)groups[i]->nlines * groups[i]->slots;
        e->ngroups++;
    }
    unseen__exact_group_free(e, old);
}

static void free_groups(struct exact *e, struct exact_group *const *groups)
{
    for (unsigned i = 0; i < 2; i++) {
        if (groups[i]) {
            unseen__exact_group_free(e, groups[i]);
        }
    }
}

/* Random keys lead to groups of about the same depth. A group that is much deeper has keys that
 * were made to collide, and splitting it further would only make the directory huge. */
static unsigned depth_limit(const struct exact *e)
{
    const unsigned usual = 63 - (unsigned)__builtin_clzll(e->ngroups);
    return usual + 12 < EXACT_DEPTH_MAX ? usual + 12 : EXACT_DEPTH_MAX;
}

/* Replaces a group as create_successors says. *stuck_out is set, and the old group stays, if the keys do
 * not spread. */
static enum unseen_status replace_group(struct exact *e, struct exact_group *old, unsigned npages,
                                        unsigned min_pages, bool *stuck_out)
{
    struct exact_group *groups[2] = {NULL, NULL};
    const size_t nwords = (size_t)EXACT_GROUP_MAX + 1;
    const size_t size = (e->full_keys ? 2 : 1) * nwords * sizeof(uint64_t);
    uint64_t *keys = unseen__alloc(&e->pages.allocator, size, sizeof(*keys));
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    *stuck_out = false;
    if (keys) {
        uint64_t *lows = e->full_keys ? keys + nwords : NULL;
        const size_t n = unseen__exact_keys(old, 0, EXACT_PAGES_MAX, keys, lows);
        e->work += n;
        if (create_successors(e, old, npages, min_pages, keys, n, groups)) {
            status = UNSEEN_OK;
            *stuck_out = !put_all(groups, keys, lows, n);
        }
    }
    unseen__free(&e->pages.allocator, keys, size);
    if (status == UNSEEN_OK && !*stuck_out) {
        replace(e, old, groups);
        return UNSEEN_OK;
    }
    free_groups(e, groups);
    return status;
}

/* Replaces a group by a larger group, or by two. *stuck_out is set if the keys do not spread, so
 * that a larger group would be of no use. */
static enum unseen_status grow_group(struct exact *e, struct exact_group *old, bool *stuck_out)
{
    if (may_widen(old)) {
        return replace_group(e, old, old->npages + STEP_PAGES, 0, stuck_out);
    }
    *stuck_out = old->known - e->prefix_bits >= depth_limit(e);
    return *stuck_out ? UNSEEN_OK : replace_group(e, old, 0, EXACT_PAGES_MIN, stuck_out);
}

/* The group after this one in the directory. */
static size_t next_entry(const struct exact *e, size_t i)
{
    return i + ((size_t)1 << (e->dir_bits - (e->directory[i]->known - e->prefix_bits)));
}

enum unseen_status unseen__exact_grow_to(struct exact *e, unsigned known, unsigned npages)
{
    enum unseen_status status = UNSEEN_OK;
    bool stuck;
    /* Level by level, so that no group is ever much deeper than the others. */
    for (unsigned level = e->prefix_bits + 1; level <= known; level++) {
        const unsigned least = level < known ? EXACT_PAGES_MIN : npages;
        for (size_t i = 0; i < (size_t)1 << e->dir_bits && status == UNSEEN_OK;) {
            struct exact_group *group = e->directory[i];
            if (group->known < level) {
                const unsigned dir_bits = e->dir_bits;
                status = replace_group(e, group, 0, least, &stuck);
                i <<= e->dir_bits - dir_bits;
            }
            i = next_entry(e, i);
        }
    }
    for (size_t i = 0; i < (size_t)1 << e->dir_bits && status == UNSEEN_OK; i = next_entry(e, i)) {
        struct exact_group *group = e->directory[i];
        if (group->known == known && group->npages < npages) {
            status = replace_group(e, group, npages, 0, &stuck);
        }
    }
    return status;
}

/* So many groups may there be while few keys are loaded. More are worth their pages only if keys come
 * for them: the number of keys in the header of an export may be a lie. */
static bool may_part(const struct exact *e)
{
    return e->ngroups < LOAD_GROUPS + e->nkeys / LOAD_GROUP_KEYS;
}

enum unseen_status unseen__exact_part_empty(struct exact *e, uint64_t key)
{
    for (;;) {
        struct exact_group *groups[2] = {NULL, NULL};
        struct exact_group *old = exact_find(e, key);
        if (old->nkeys > 0 || old->known >= e->load_known || !may_part(e)) {
            return UNSEEN_OK;
        }
        const uint64_t bit = (uint64_t)1 << (63 - old->known);
        const unsigned known = old->known + 1;
        const unsigned npages = known == e->load_known ? e->load_npages : EXACT_PAGES_MIN;
        if (old->known - e->prefix_bits == e->dir_bits && !double_directory(e)) {
            return UNSEEN_ERR_NOMEM;
        }
        for (unsigned i = 0; i < 2; i++) {
            groups[i] = unseen__exact_group_create(e, old->prefix | (i ? bit : 0), known, npages);
        }
        if (!groups[0] || !groups[1]) {
            free_groups(e, groups);
            return UNSEEN_ERR_NOMEM;
        }
        replace(e, old, groups);
    }
}

static enum unseen_status add_to_stash(struct exact *e, struct unseen_key key)
{
    const enum unseen_status status =
        unseen__stash_add(&e->stash, exact_whole(e, key), &e->pages.allocator);
    e->nkeys += status == UNSEEN_OK;
    return status;
}

/* After growing failed, a group tries again only when there are an eighth more keys. */
static bool may_grow(const struct exact *e, const struct exact_group *group)
{
    const uint64_t nkeys = group->nkeys + e->stash.nkeys;
    return !group->stuck || nkeys > group->stuck + group->stuck / 8;
}

enum unseen_status unseen__exact_add_slowly(struct exact *e, struct unseen_key key, bool *moved_out)
{
    *moved_out = false;
    if ((uint32_t)(key.hi >> EXACT_X_BITS) == 0) {
        return add_to_stash(e, key);
    }
    for (;;) {
        uint32_t fuller;
        size_t nlines = SEARCH_LINES;
        struct exact_group *group = exact_find(e, key.hi);
        if ((group->nkeys < group->limit || *moved_out) && place(group, key, &nlines, &fuller)) {
            e->nkeys++;
            return UNSEEN_OK;
        }
        if (group->nkeys < group->limit / 2) { /* keys made to collide: more room would not help */
            return add_to_stash(e, key);
        }
        bool stuck = !may_grow(e, group);
        if (!stuck) {
            const enum unseen_status status = grow_group(e, group, &stuck);
            if (status != UNSEEN_OK) {
                return status;
            }
            *moved_out = *moved_out || !stuck;
        }
        if (stuck) {
            if (may_grow(e, group)) {
                const uint64_t nkeys = group->nkeys + e->stash.nkeys + 1;
                group->stuck = nkeys < UINT32_MAX ? (uint32_t)nkeys : UINT32_MAX;
            }
            nlines = SEARCH_LINES;
            if (place(group, key, &nlines, &fuller)) {
                e->nkeys++;
                return UNSEEN_OK;
            }
            return add_to_stash(e, key);
        }
    }
}
