/* SPDX-License-Identifier: MIT
 *
 * The exact filter makes room: a full group gets two pages more, to which some of its tags move, or
 * is written anew as two groups. All memory is taken before a tag moves, and the old group stays
 * until two groups are complete. So a failure leaves everything as it was.
 *
 * Keys need not come in random order. The keys of a sorted file may all go to one of the two
 * groups, which then gets as many pages as the old group; the other group stays empty until its
 * keys come. */
#include "filter/exact.h"

#include "base/memory.h"

enum {
    SEARCH_LINES = 64,              /* lines that the search for a slot looks at */
    STEP_PAGES = 2,                 /* by which a group grows */
    LOAD_GROUPS = 32,               /* groups while loading, for so few keys that */
    LOAD_GROUP_KEYS = 1024,         /* there is not one group for each so many */
    SPARE_MAX = EXACT_GROUP_MAX / 4 /* keys that find their line full while a group grows */
};

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

/* Keys whose line in a new group was full. One of 15 keys is, when a group becomes two. */
struct spare_keys {
    uint64_t *keys;
    uint64_t *lows; /* NULL if keys have 64 bits */
    size_t n;
};

/* Takes the key of a tag that found its new line full. Returns false if there are too many. */
static bool spare_key(struct spare_keys *spare, const struct exact_group *from, uint32_t line,
                      unsigned slot)
{
    if (spare->n == SPARE_MAX) {
        return false;
    }
    spare->keys[spare->n] = unseen__exact_key(from, line, slot);
    if (spare->lows) {
        spare->lows[spare->n] = *exact_low(from, line, slot);
    }
    spare->n++;
    return true;
}

/* Places the spare keys in one of two groups, by their next bit, or in the only group. A half that
 * gets nearly all keys is nearly full, so some keys need a long search: all keys together may look
 * at SEARCH_LINES lines for each key. Keys that find no slot go to the stash, which has room for
 * all spare keys. Returns how many these are. */
static size_t place_spare(struct exact *e, struct exact_group *const *groups,
                          const struct spare_keys *spare)
{
    const uint64_t bit = groups[1] ? (uint64_t)1 << (64 - groups[1]->known) : 0;
    size_t nlines = SEARCH_LINES * spare->n;
    size_t nstashed = 0;
    for (size_t i = 0; i < spare->n; i++) {
        const struct unseen_key key = {spare->lows ? spare->lows[i] : 0, spare->keys[i]};
        if (!unseen__exact_group_add(groups[(key.hi & bit) != 0], key, &nlines)) {
            (void)unseen__stash_add(&e->stash, exact_whole(e, key), &e->pages.allocator);
            nstashed++;
        }
    }
    return nstashed;
}

/* The rests whose keys leave this home page when a group gets as many pages as `wider` has. */
static uint64_t leaving_rests(const struct exact_group *group, const struct exact_group *wider,
                              uint32_t home)
{
    uint64_t leaving = 0;
    for (uint32_t p = group->npages - EXACT_PAGES_MIN; p < wider->npages - EXACT_PAGES_MIN; p++) {
        for (uint32_t kind = p / EXACT_CLASS_PAGES + 1; kind < EXACT_CLASSES; kind++) {
            const uint32_t rest = (home - p) % EXACT_PAGES_MIN * EXACT_CLASSES + kind;
            leaving |= (uint64_t)1 << rest;
        }
    }
    return leaving;
}

/* The slots of a line with one of these rests, as bits; a slot may be empty. The numbers of the
 * shape are constants, so that the loop has few instructions for each slot. */
UNSEEN_INLINE uint32_t leaving_shape(const uint8_t *line, uint64_t leaving, unsigned slots,
                                     unsigned field_bits)
{
    uint32_t tags = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        const unsigned bit = 32 * slots + field_bits * slot + 1;
        const uint32_t rest = (uint32_t)load_le16(line + bit / 8) >> bit % 8 & EXACT_REST_MASK;
        tags |= (uint32_t)(leaving >> rest & 1) << slot;
    }
    return tags;
}

UNSEEN_INLINE uint32_t leaving_slots(const uint8_t *line, uint64_t leaving, unsigned slots)
{
    const struct exact_shape *s = exact_shapes;
    return slots == s[0].slots   ? leaving_shape(line, leaving, s[0].slots, s[0].field_bits)
           : slots == s[1].slots ? leaving_shape(line, leaving, s[1].slots, s[1].field_bits)
           : slots == s[2].slots ? leaving_shape(line, leaving, s[2].slots, s[2].field_bits)
                                 : leaving_shape(line, leaving, s[3].slots, s[3].field_bits);
}

/* Copies the tags that leave their home pages to the new pages of `wider`, and notes their slots.
 * Returns false if too many find their line full. */
static bool copy_leaving(const struct exact_group *group, struct exact_group *wider,
                         uint16_t *left_slots, struct spare_keys *spare)
{
    uint8_t used[EXACT_LINES_MAX] = {0};
    for (uint32_t home = 0; home < EXACT_PAGES_MIN; home++) {
        const uint64_t leaving = leaving_rests(group, wider, home);
        for (uint32_t i = 0; i < EXACT_PAGE_LINES; i++) {
            const uint32_t line = home * EXACT_PAGE_LINES + i;
            const uint8_t *bytes = exact_line(group, line);
            const uint32_t left = leaving_slots(bytes, leaving, group->slots);
            UNSEEN_PREFETCH(exact_line(wider, line + EXACT_PAGE_LINES));
            left_slots[line] = (uint16_t)left;
            for (uint32_t slots = left; slots; slots &= slots - 1) {
                const unsigned slot = (unsigned)__builtin_ctz(slots);
                const uint32_t word = exact_word(bytes, slot);
                const uint32_t field = exact_field(group, bytes, slot);
                const uint32_t to =
                    exact_page(wider, home, exact_rest(field)) * EXACT_PAGE_LINES + i;
                const unsigned to_slot = used[to];
                if (!word) {
                    continue;
                }
                if (to_slot < group->slots) {
                    used[to]++;
                    exact_put(group, exact_line(wider, to), to_slot, word, field);
                    if (group->low) {
                        *exact_low(wider, to, to_slot) = *exact_low(group, line, slot);
                    }
                } else if (!spare_key(spare, group, line, slot)) {
                    return false;
                }
            }
        }
    }
    for (uint32_t line = group->nlines; line < wider->nlines; line++) {
        wider->full[line / EXACT_PAGE_LINES] |= (uint64_t)(used[line] == group->slots)
                                                << line % EXACT_PAGE_LINES;
    }
    return true;
}

/* Takes out the tags that copy_leaving has copied. */
static void clear_left(struct exact_group *group, const uint16_t *left_slots)
{
    for (uint32_t line = 0; line < EXACT_HOME_LINES; line++) {
        uint8_t *bytes = exact_line(group, line);
        uint32_t tags = 0;
        for (uint32_t slots = left_slots[line]; slots; slots &= slots - 1) {
            const unsigned slot = (unsigned)__builtin_ctz(slots);
            tags |= exact_word(bytes, slot);
            store_le32(bytes + (size_t)4 * slot, 0);
        }
        group->full[line / EXACT_PAGE_LINES] &= ~((uint64_t)(tags != 0) << line % EXACT_PAGE_LINES);
    }
}

/* Takes the pages that `wider` has and the group does not have. Returns false without memory. */
static bool take_pages(struct exact *e, const struct exact_group *group, struct exact_group *wider)
{
    const size_t nlow = exact_low_pages(group);
    const size_t nlow_wider = exact_low_pages(wider);
    bool ok = true;
    for (unsigned i = group->npages; ok && i < wider->npages; i++) {
        wider->page[i] = unseen__page_take(&e->pages);
        ok = wider->page[i] != NULL;
    }
    if (group->low) {
        wider->low =
            unseen__alloc_zero(&e->pages.allocator, nlow_wider * sizeof(*wider->low), EXACT_LINE);
        ok = ok && wider->low;
        if (wider->low) {
            memcpy(wider->low, group->low, nlow * sizeof(*wider->low));
        }
    }
    for (size_t i = nlow; ok && wider->low && i < nlow_wider; i++) {
        wider->low[i] = unseen__page_take(&e->pages);
        ok = wider->low[i] != NULL;
    }
    return ok;
}

/* Gives back what take_pages has taken. */
static void give_pages(struct exact *e, const struct exact_group *group,
                       const struct exact_group *wider)
{
    const size_t nlow = exact_low_pages(wider);
    for (unsigned i = group->npages; i < wider->npages && wider->page[i]; i++) {
        unseen__page_give(&e->pages, wider->page[i]);
    }
    for (size_t i = exact_low_pages(group); wider->low && i < nlow && wider->low[i]; i++) {
        unseen__page_give(&e->pages, wider->low[i]);
    }
    unseen__free(&e->pages.allocator, wider->low, nlow * sizeof(*wider->low));
}

/* The lines that the tags of line i of all pages of a group go to when the group becomes two: line
 * i of all pages of both. They are written when they are complete. */
struct column {
    uint32_t words[2][EXACT_PAGES_MAX][EXACT_SLOTS_MAX];
    uint32_t fields[2][EXACT_PAGES_MAX][EXACT_SLOTS_MAX];
    uint8_t used[2][EXACT_PAGES_MAX];
};

/* Writes n tags to a line of zeros. */
static void write_line(const struct exact_group *group, uint8_t *line, const uint32_t *words,
                       const uint32_t *fields, unsigned n)
{
    uint8_t *to = line + (size_t)4 * group->slots;
    uint64_t bits = 0;
    unsigned nbits = 0;
    for (unsigned i = 0; i < n; i++) {
        store_le32(line + (size_t)4 * i, words[i]);
        bits |= (uint64_t)fields[i] << nbits;
        nbits += group->field_bits;
        if (nbits >= 32) {
            store_le32(to, (uint32_t)bits);
            to += 4;
            bits >>= 32;
            nbits -= 32;
        }
    }
    if (nbits > 0) {
        store_le32(to, (uint32_t)bits);
    }
}

static void write_column(struct exact_group *const *groups, const struct column *column, uint32_t i)
{
    for (unsigned which = 0; which < 2; which++) {
        struct exact_group *group = groups[which];
        for (uint32_t page = 0; page < group->npages; page++) {
            const unsigned n = column->used[which][page];
            write_line(group, exact_line(group, page * EXACT_PAGE_LINES + i),
                       column->words[which][page], column->fields[which][page], n);
            group->full[page] |= (uint64_t)(n == group->slots) << i;
            group->nkeys += n;
        }
    }
}

/* The next bit of a key, after the prefix of its group. */
static unsigned next_bit(const struct exact_group *group, uint32_t word, uint32_t field)
{
    const uint32_t top = field >> (1 + EXACT_REST_BITS);
    return group->known < EXACT_TOP_BITS ? top >> (EXACT_TOP_BITS - 1 - group->known) & 1
                                         : word >> (EXACT_TOP_BITS + 31 - group->known) & 1;
}

/* Copies the tags of a group to two groups that know one bit more. */
static bool copy_split(const struct exact_group *old, struct exact_group *const *groups,
                       struct spare_keys *spare)
{
    /* Constant copies, as in unseen__exact_keys. */
    const struct exact_group from = *old;
    const struct exact_group shapes[2] = {*groups[0], *groups[1]};
    const uint32_t field_mask = ((shapes[0].top_mask + 1) << (1 + EXACT_REST_BITS)) - 1;
    struct column column = {0};
    for (uint32_t i = 0; i < EXACT_PAGE_LINES; i++) {
        memset(column.used, 0, sizeof(column.used));
        for (uint32_t page = 0; page < from.npages; page++) {
            const uint32_t line = page * EXACT_PAGE_LINES + i;
            const uint8_t *bytes = exact_line(&from, line);
            UNSEEN_PREFETCH(from.page[page] + (i + 4) % EXACT_PAGE_LINES * EXACT_LINE);
            for (unsigned slot = 0; slot < from.slots; slot++) {
                const uint32_t word = exact_word(bytes, slot);
                const uint32_t field = exact_field(&from, bytes, slot);
                if (!word) {
                    continue;
                }
                const unsigned which = next_bit(&from, word, field);
                const uint32_t rest = exact_rest(field);
                const uint32_t to = exact_page(&shapes[which], exact_home(page, rest), rest);
                const unsigned to_slot = column.used[which][to];
                if (to_slot < shapes[0].slots) {
                    column.used[which][to]++;
                    column.words[which][to][to_slot] = word;
                    column.fields[which][to][to_slot] = field & field_mask;
                    if (from.low) {
                        *exact_low(&shapes[which], to * EXACT_PAGE_LINES + i, to_slot) =
                            *exact_low(&from, line, slot);
                    }
                } else if (!spare_key(spare, old, line, slot)) {
                    return false;
                }
            }
        }
        write_column(groups, &column, i);
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
    for (unseen__exact_group_shape(&group); group.limit < nkeys && group.npages < EXACT_PAGES_MAX;
         unseen__exact_group_shape(&group)) {
        group.npages++;
    }
    return group.npages;
}

/* How many keys of a group have the next bit set. No branch for each slot. */
static size_t count_upper(const struct exact_group *group)
{
    const struct exact_group g = *group; /* as in unseen__exact_keys */
    size_t nupper = 0;
    for (uint32_t line = 0; line < g.nlines; line++) {
        const uint8_t *bytes = exact_line(&g, line);
        UNSEEN_PREFETCH(exact_line(&g, (line + EXACT_PAGE_LINES) % g.nlines));
        for (unsigned slot = 0; slot < g.slots; slot++) {
            const uint32_t word = exact_word(bytes, slot);
            nupper += next_bit(&g, word, exact_field(&g, bytes, slot)) & (word != 0);
        }
    }
    return nupper;
}

static void free_groups(struct exact *e, struct exact_group *const *groups)
{
    for (unsigned i = 0; i < 2; i++) {
        if (groups[i]) {
            unseen__exact_group_free(e, groups[i]);
        }
    }
}

/* Creates the two groups that replace the old group. Each has min_pages pages at least. Returns
 * false, and creates no group, if memory fails. */
static bool create_halves(struct exact *e, const struct exact_group *old, unsigned min_pages,
                          struct exact_group **groups)
{
    const uint64_t bit = (uint64_t)1 << (63 - old->known);
    const unsigned known = old->known + 1;
    if (old->known - e->prefix_bits == e->dir_bits && !double_directory(e)) {
        return false;
    }
    const size_t nupper = old->nkeys > 0 ? count_upper(old) : 0;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned least = exact_pages_for(known, i ? nupper : old->nkeys - nupper);
        groups[i] = unseen__exact_group_create(e, old->prefix | (i ? bit : 0), known,
                                               least > min_pages ? least : min_pages);
    }
    if (groups[0] && groups[1]) {
        return true;
    }
    free_groups(e, groups);
    groups[0] = groups[1] = NULL;
    return false;
}

static void replace(struct exact *e, struct exact_group *old, struct exact_group *const *groups)
{
    e->nlines -= old->nlines;
    e->nslots -= (uint64_t)old->nlines * old->slots;
    e->ngroups--;
    for (unsigned i = 0; i < 2; i++) {
        install(e, groups[i]);
        e->nlines += groups[i]->nlines;
        e->nslots += (uint64_t)groups[i]->nlines * groups[i]->slots;
        e->ngroups++;
    }
    unseen__exact_group_free(e, old);
}

/* Random keys lead to groups of about the same depth. A group that is much deeper has keys that
 * were made to collide, and splitting it further would only make the directory huge. */
static unsigned depth_limit(const struct exact *e)
{
    const unsigned usual = 63 - (unsigned)__builtin_clzll(e->ngroups);
    return usual + 12 < EXACT_DEPTH_MAX ? usual + 12 : EXACT_DEPTH_MAX;
}

static size_t spare_size(const struct exact *e)
{
    return (e->full_keys ? 2u : 1u) * SPARE_MAX * sizeof(uint64_t);
}

static bool create_spare(struct exact *e, struct spare_keys *spare)
{
    spare->keys = unseen__alloc(&e->pages.allocator, spare_size(e), sizeof(uint64_t));
    spare->lows = e->full_keys && spare->keys ? spare->keys + SPARE_MAX : NULL;
    return spare->keys != NULL;
}

/* Frees what growing has taken on the way: the room for spare keys, and a stash that got none. */
static void end_growing(struct exact *e, struct spare_keys *spare)
{
    unseen__free(&e->pages.allocator, spare->keys, spare_size(e));
    if (e->stash.nkeys == 0) {
        unseen__stash_release(&e->stash, &e->pages.allocator);
    }
}

/* Replaces a group by two. Spare keys that find no slot go to the stash. *stuck_out is set, and the
 * old group stays, if there are too many spare keys. */
static enum unseen_status split_group(struct exact *e, struct exact_group *old, unsigned min_pages,
                                      bool *stuck_out)
{
    struct exact_group *groups[2] = {NULL, NULL};
    struct spare_keys spare = {.n = 0};
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    *stuck_out = false;
    if (create_spare(e, &spare) && create_halves(e, old, min_pages, groups)) {
        e->work += old->nkeys;
        *stuck_out = !copy_split(old, groups, &spare);
        status =
            *stuck_out ? UNSEEN_OK : unseen__stash_reserve(&e->stash, spare.n, &e->pages.allocator);
    }
    if (status == UNSEEN_OK && !*stuck_out) {
        (void)place_spare(e, groups, &spare);
        replace(e, old, groups);
    } else {
        free_groups(e, groups);
    }
    end_growing(e, &spare);
    return status;
}

/* Gives a group more pages. All memory that may be needed is taken before a tag moves. *stuck_out
 * is set if some keys found no slot: they are in the stash then, or, if too many found their line
 * full, the group has stayed as it was. */
static enum unseen_status widen_group(struct exact *e, struct exact_group *group, unsigned npages,
                                      bool *stuck_out)
{
    struct exact_group wider = *group;
    struct exact_group *const groups[2] = {group, NULL};
    struct spare_keys spare = {.n = 0};
    uint16_t left_slots[EXACT_HOME_LINES];
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    *stuck_out = false;
    wider.npages = npages;
    wider.low = NULL;
    unseen__exact_group_shape(&wider);
    if (create_spare(e, &spare) && take_pages(e, group, &wider)) {
        e->work += group->nkeys;
        *stuck_out = !copy_leaving(group, &wider, left_slots, &spare);
        status =
            *stuck_out ? UNSEEN_OK : unseen__stash_reserve(&e->stash, spare.n, &e->pages.allocator);
    }
    if (status == UNSEEN_OK && !*stuck_out) {
        const size_t nlow = exact_low_pages(group);
        clear_left(&wider, left_slots);
        e->memory += group->low ? (exact_low_pages(&wider) - nlow) * sizeof(*group->low) : 0;
        e->nlines += wider.nlines - group->nlines;
        e->nslots += (uint64_t)(wider.nlines - group->nlines) * group->slots;
        unseen__free(&e->pages.allocator, group->low, nlow * sizeof(*group->low));
        *group = wider;
        group->nkeys -= (uint32_t)spare.n;
        *stuck_out = place_spare(e, groups, &spare) > 0;
    } else {
        give_pages(e, group, &wider);
    }
    end_growing(e, &spare);
    return status;
}

/* Makes room: more pages for a group, or two groups instead. *stuck_out is set if the keys do not
 * spread: growing once more would be of no use. Errors: NOMEM, RANDOM. */
static enum unseen_status grow_group(struct exact *e, struct exact_group *old, bool *stuck_out)
{
    if (may_widen(old)) {
        return widen_group(e, old, old->npages + STEP_PAGES, stuck_out);
    }
    *stuck_out = old->known - e->prefix_bits >= depth_limit(e);
    return *stuck_out ? UNSEEN_OK : split_group(e, old, EXACT_PAGES_MIN, stuck_out);
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
                status = split_group(e, group, least, &stuck);
                i <<= e->dir_bits - dir_bits;
            }
            i = next_entry(e, i);
        }
    }
    for (size_t i = 0; i < (size_t)1 << e->dir_bits && status == UNSEEN_OK; i = next_entry(e, i)) {
        struct exact_group *group = e->directory[i];
        if (group->known == known && group->npages < npages) {
            status = widen_group(e, group, npages, &stuck);
        }
    }
    return status;
}

/* So many groups may there be while few keys are loaded. More are worth their pages only if keys
 * come for them: the number of keys in the header of an export may be a lie. */
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
        const unsigned npages = old->known + 1 == e->load_known ? e->load_npages : EXACT_PAGES_MIN;
        if (!create_halves(e, old, npages, groups)) {
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
        size_t nlines = SEARCH_LINES;
        struct exact_group *group = exact_find(e, key.hi);
        if ((group->nkeys < group->limit || *moved_out) &&
            unseen__exact_group_add(group, key, &nlines)) {
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
            *moved_out = true;
        }
        if (stuck) {
            if (may_grow(e, group)) {
                const uint64_t nkeys = group->nkeys + e->stash.nkeys + 1;
                group->stuck = nkeys < UINT32_MAX ? (uint32_t)nkeys : UINT32_MAX;
            }
            nlines = SEARCH_LINES;
            if (unseen__exact_group_add(group, key, &nlines)) {
                e->nkeys++;
                return UNSEEN_OK;
            }
            return add_to_stash(e, key);
        }
    }
}
