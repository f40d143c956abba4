/* SPDX-License-Identifier: MIT
 *
 * Pages that are read when they are first needed. An image of 10^8 keys has 545 MB, and a program
 * that asks for one URL needs one page of it: 4 KB.
 *
 * The table has the depth and the number of pages of every group, and the full map and the checksum
 * of every page. The pages stand in the file by the paths of their groups, without gaps, so paths
 * and offsets follow (docs/format.md, "Table"). From the table alone the whole directory is made,
 * and every group gets its pages, which nobody touches before they are read. So no address changes
 * when a page is read, and other threads may ask other pages meanwhile.
 *
 * A question needs the page of its key. The second question of a group reads the whole group, as a
 * run that asks much will need it. An add or a removal may move tags within the group, and needs
 * all of it. A bit for each region, which is all paths with the same top bits, says that a page
 * there has not been read: other threads see the bit go after the pages are complete. There are
 * some 8 regions to a group, so the bits stay in the first-level cache. In a set of hostile keys,
 * groups may be so deep that a region has several. Under the lock of the set, a bit for each page
 * says whether that page has been read.
 *
 * The numbers of keys and of generations are those of the table, until the last page is read. By
 * then they have been compared with the tags that are there. */
#include "tags/compact.h"

#include "hash/checksum.h"
#include "tags/compact_ops.h"

enum {
    TABLE_HEAD = 8 + 8 * COMPACT_GENERATIONS,
    TABLE_GROUP = 4, /* bytes for each group, */
    TABLE_PAGE = 16, /* and for each page */
    ASK_AHEAD = 64   /* pages that are asked for at a time */
};

static size_t groups_len(uint64_t ngroups)
{
    return ((size_t)ngroups * TABLE_GROUP + 7) & ~(size_t)7;
}

static size_t table_len(uint64_t ngroups, uint64_t npages)
{
    return TABLE_HEAD + groups_len(ngroups) + (size_t)npages * TABLE_PAGE;
}

/* ---- saving ---- */

size_t unseen__compact_table_len(const struct unseen__filter *filter)
{
    const struct compact *c = compact_from_const(filter);
    return table_len(c->ngroups, c->npages);
}

void unseen__compact_save_note(const struct compact *c, const struct compact_group *group,
                               uint8_t *row, uint8_t *notes)
{
    row[0] = group->depth;
    row[1] = group->npages;
    store_le16(row + 2, group->stuck);
    for (unsigned i = 0; i < group->npages; i++, notes += TABLE_PAGE) {
        store_le64(notes, *compact_full(c, group->page[i]));
        store_le64(notes + 8, unseen__checksum(compact_page(c, group->page[i]), COMPACT_PAGE));
    }
}

void unseen__compact_save_table(const struct unseen__filter *filter, uint8_t *table)
{
    const struct compact *c = compact_from_const(filter);
    uint8_t *p = table + TABLE_HEAD;
    uint8_t *notes = p + groups_len(c->ngroups);
    uint64_t path = 0;
    memset(table, 0, TABLE_HEAD + groups_len(c->ngroups));
    store_le64(table, c->ngroups);
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        store_le64(table + 8 + 8 * i, c->generations[i]);
    }
    if (c->saved.ngroups > 0) {
        memcpy(p, c->saved.groups, (size_t)c->ngroups * TABLE_GROUP);
        memcpy(notes, c->saved.notes, (size_t)c->npages * TABLE_PAGE);
        return;
    }
    do {
        const struct compact_group *group = compact_find(c, path);
        unseen__compact_save_note(c, group, p, notes);
        p += TABLE_GROUP;
        notes += (size_t)group->npages * TABLE_PAGE;
        path = compact_next_path(path, group->depth);
    } while (path);
}

size_t unseen__compact_save_pages(const struct unseen__filter *filter, uint64_t *position,
                                  uint8_t *buf)
{
    const struct compact *c = compact_from_const(filter);
    if (*position == COMPACT_POSITION_KEYS) {
        return 0;
    }
    const struct compact_group *group = compact_find(c, *position << 16);
    for (unsigned p = 0; p < group->npages; p++) {
        memcpy(buf + (size_t)p * COMPACT_PAGE, compact_page(c, group->page[p]), COMPACT_PAGE);
    }
    *position += COMPACT_POSITION_KEYS >> group->depth;
    return (size_t)group->npages * COMPACT_PAGE;
}

/* ---- the table ---- */

/* Adds the groups of the table, without their contents, to the loaded ones. */
static enum unseen_status load_groups(struct compact *c, const uint8_t *p)
{
    struct compact_unread *u = c->unread;
    uint64_t path = 0;
    uint64_t first = 0;
    for (size_t i = 0; i < u->nplaces; i++, p += TABLE_GROUP) {
        struct compact_group *group;
        if (p[0] > COMPACT_DEPTH_MAX || p[1] < COMPACT_PAGES_MIN || p[1] > COMPACT_PAGES_MAX ||
            load_le16(p + 2) > COMPACT_STUCK_MAX || p[1] > u->pages.n - first) {
            return UNSEEN_ERR_CORRUPT;
        }
        const enum unseen_status status =
            unseen__compact_load_empty(c, path, p[0], p[1], !u->pages.is_late, &group);
        if (status != UNSEEN_OK) {
            return status;
        }
        group->stuck = load_le16(p + 2);
        u->places[i] = (struct compact_place){path, (uint32_t)first, p[0]};
        path = compact_next_path(path, p[0]);
        first += p[1];
    }
    return first == u->pages.n ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static size_t nwords_of(const struct compact_unread *u)
{
    return ((size_t)1 << u->region_bits) / 64;
}

static enum unseen_status make_bits(struct compact *c)
{
    struct compact_unread *u = c->unread;
    u->region_bits = 6; /* one word */
    while ((uint64_t)1 << u->region_bits < 8 * (uint64_t)u->nplaces) {
        u->region_bits++;
    }
    const size_t size = nwords_of(u) * sizeof(*u->bits);
    u->npage_words = u->pages.is_late ? 1 : c->nchunks * (COMPACT_CHUNK_PAGES / 64);
    u->bits = unseen__compact_alloc(c, size, _Alignof(uint64_t));
    u->page_bits =
        unseen__compact_alloc(c, u->npage_words * sizeof(*u->page_bits), _Alignof(uint64_t));
    if (!u->bits || !u->page_bits) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(u->bits, 0xff, size);
    memset(u->page_bits, 0xff, u->npage_words * sizeof(*u->page_bits));
    if (u->pages.is_late) {
        u->page_bits[0] = 1; /* the number 0 */
    }
    u->nleft = (size_t)u->pages.n;
    return UNSEEN_OK;
}

static size_t notes_len(const struct compact_unread *u)
{
    return (size_t)u->pages.n * TABLE_PAGE;
}

static enum unseen_status make_unread(struct compact *c, const struct unseen__pages *pages,
                                      size_t nplaces, const uint8_t *notes)
{
    struct compact_unread *u =
        unseen__compact_alloc(c, sizeof(*u), _Alignof(struct compact_unread));
    if (!u) {
        return UNSEEN_ERR_NOMEM;
    }
    *u = (struct compact_unread){.pages = *pages, .nplaces = nplaces};
    u->pages.release = NULL; /* until nothing can fail any more */
    c->unread = u;
    u->places =
        unseen__compact_alloc(c, nplaces * sizeof(*u->places), _Alignof(struct compact_place));
    u->notes = unseen__compact_alloc(c, notes_len(u), _Alignof(uint64_t));
    u->buf = unseen__compact_alloc(c, (size_t)COMPACT_PAGES_MAX * COMPACT_PAGE, 64);
    if (!u->places || !u->notes || !u->buf) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(u->notes, notes, notes_len(u));
    return UNSEEN_OK;
}

/* Takes the numbers of tags. There cannot be more than slots. */
static enum unseen_status load_numbers(struct compact *c, const uint8_t *table)
{
    const uint64_t nslots = c->npages * COMPACT_LINES * c->layout->slots;
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        const uint64_t ntags = load_le64(table + 8 + 8 * i);
        if (ntags > nslots - c->nkeys) {
            return UNSEEN_ERR_CORRUPT;
        }
        c->generations[i] = c->unread->generations[i] = ntags;
        c->nkeys += ntags;
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__compact_load_table(struct unseen__filter *filter,
                                              const struct unseen__pages *pages,
                                              const uint8_t *table, size_t len)
{
    struct compact *c = compact_from(filter);
    const uint64_t ngroups = len >= TABLE_HEAD ? load_le64(table) : 0;
    if (c->prefix_bits > 0 || c->unread || c->nloaded > 0) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (ngroups == 0 || ngroups > len / TABLE_GROUP || pages->n > len / TABLE_PAGE ||
        len != table_len(ngroups, pages->n)) {
        return UNSEEN_ERR_CORRUPT;
    }
    const uint8_t *notes = table + TABLE_HEAD + groups_len(ngroups);
    enum unseen_status status = make_unread(c, pages, (size_t)ngroups, notes);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = load_groups(c, table + TABLE_HEAD);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = load_numbers(c, table);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = make_bits(c);
    if (status != UNSEEN_OK) {
        return status;
    }
    c->unread->pages.release = pages->release;
    return UNSEEN_OK;
}

void unseen__compact_unread_release(struct compact *c)
{
    struct compact_unread *u = c->unread;
    if (!u) {
        return;
    }
    if (u->pages.release) {
        u->pages.release(u->pages.context);
    }
    unseen__compact_free(c, u->places, u->nplaces * sizeof(*u->places));
    unseen__compact_free(c, u->notes, notes_len(u));
    unseen__compact_free(c, u->bits, nwords_of(u) * sizeof(*u->bits));
    unseen__compact_free(c, u->page_bits, u->npage_words * sizeof(*u->page_bits));
    unseen__compact_free(c, u->buf, (size_t)COMPACT_PAGES_MAX * COMPACT_PAGE);
    unseen__compact_free(c, u, sizeof(*u));
    c->unread = NULL;
}

/* ---- reading ---- */

static uint64_t region_of(const struct compact_unread *u, uint64_t path)
{
    return path >> (64 - u->region_bits);
}

UNSEEN_INLINE bool is_unread(const struct compact_unread *u, uint64_t path)
{
    const uint64_t region = region_of(u, path);
    return __atomic_load_n(&u->bits[region / 64], __ATOMIC_ACQUIRE) >> region % 64 & 1;
}

bool unseen__compact_has_groups(const struct unseen__filter *filter, const struct unseen_key *keys,
                                size_t n)
{
    const struct compact *c = compact_from_const(filter);
    const struct compact_unread *u = c->unread;
    bool has_all = true;
    if (!u || __atomic_load_n(&u->nleft, __ATOMIC_ACQUIRE) == 0) {
        return true;
    }
    for (size_t i = 0; keys && i < n; i++) {
        has_all &= !is_unread(u, compact_path(c, keys[i])); /* without a branch */
    }
    return keys && has_all;
}

/* The number of the group that has this path: the last one that does not begin behind it. */
static size_t place_of(const struct compact_unread *u, uint64_t path)
{
    size_t first = 0;
    size_t end = u->nplaces;
    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        if (u->places[middle].path <= path) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Whether a page has not been read. Pages that were taken later have numbers behind the bits, or
 * those of pages that have been read. */
static bool is_page_unread(const struct compact_unread *u, uint32_t number)
{
    return number / 64 < u->npage_words && (u->page_bits[number / 64] >> number % 64 & 1);
}

/* Subtracts the tags of n pages from those that are still to come. The last page must bring the
 * rest. */
static bool take_tags(struct compact_unread *u, const uint64_t generations[COMPACT_GENERATIONS],
                      unsigned n)
{
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        if (u->nleft == n ? generations[i] != u->generations[i]
                          : generations[i] > u->generations[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        u->generations[i] -= generations[i];
    }
    return true;
}

/* Reads n pages of a group, from `first` on. */
static enum unseen_status read_pages(struct compact *c, const struct compact_place *place,
                                     const struct compact_group *group, unsigned first, unsigned n)
{
    struct compact_unread *u = c->unread;
    const uint8_t *notes = u->notes + (size_t)TABLE_PAGE * (place->first + first);
    uint64_t full[COMPACT_PAGES_MAX];
    uint64_t generations[COMPACT_GENERATIONS] = {0};
    uint64_t ntags = 0;
    const enum unseen_status status =
        u->pages.read(u->pages.context, (uint64_t)COMPACT_PAGE * (place->first + first), u->buf,
                      (size_t)n * COMPACT_PAGE);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (unsigned i = 0; i < n; i++) {
        full[i] = load_le64(notes + (size_t)i * TABLE_PAGE);
        if (unseen__checksum(u->buf + (size_t)i * COMPACT_PAGE, COMPACT_PAGE) !=
            load_le64(notes + (size_t)i * TABLE_PAGE + 8)) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    if (!unseen__compact_load_pages(c, group, first, n, u->buf, full, generations, &ntags) ||
        !take_tags(u, generations, n)) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned p = first; p < first + n && !u->pages.is_late; p++) {
        u->page_bits[group->page[p] / 64] &= ~((uint64_t)1 << group->page[p] % 64);
    }
    (void)__atomic_fetch_sub(&u->nleft, n, __ATOMIC_RELEASE);
    return UNSEEN_OK;
}

/* Reads those of the pages [first, end) of a group that have not been read, as many at once as
 * stand together. */
static enum unseen_status fetch_pages(struct compact *c, const struct compact_place *place,
                                      const struct compact_group *group, unsigned first,
                                      unsigned end)
{
    enum unseen_status status = UNSEEN_OK;
    for (unsigned p = first; p < end && status == UNSEEN_OK; p++) {
        unsigned n = 0;
        while (p + n < end && is_page_unread(c->unread, group->page[p + n])) {
            n++;
        }
        status = n > 0 ? read_pages(c, place, group, p, n) : UNSEEN_OK;
        p += n;
    }
    return status;
}

/* Says that nothing of n regions is missing any more. */
static void clear_bits(struct compact_unread *u, uint64_t region, uint64_t n)
{
    for (const uint64_t end = region + n; region < end; region++) {
        (void)__atomic_fetch_and(&u->bits[region / 64], ~((uint64_t)1 << region % 64),
                                 __ATOMIC_RELEASE);
    }
}

/* Clears the bits of a group if its last page has been read, unless it shares its region. */
static void note_whole(struct compact *c, const struct compact_place *place,
                       const struct compact_group *group)
{
    struct compact_unread *u = c->unread;
    bool is_whole = place->depth <= u->region_bits;
    for (unsigned p = 0; p < group->npages; p++) {
        is_whole = is_whole && !is_page_unread(u, group->page[p]);
    }
    if (is_whole) {
        clear_bits(u, region_of(u, place->path), (uint64_t)1 << (u->region_bits - place->depth));
    }
}

/* Gives a group that has none its pages, and reads all of them. */
static enum unseen_status fetch_late(struct compact *c, const struct compact_place *place)
{
    size_t copies;
    struct compact_group *entries = unseen__compact_directory_find(c, place->path, &copies);
    struct compact_group group = *entries;
    if (group.page[0] != 0) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__compact_pages_reserve(c, group.npages);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (unsigned p = 0; p < group.npages; p++) {
        group.page[p] = unseen__compact_page_take(c);
    }
    status = read_pages(c, place, &group, 0, group.npages);
    if (status != UNSEEN_OK) {
        unseen__compact_give_pages(c, &group);
        return status;
    }
    for (size_t i = 0; i < copies; i++) {
        entries[i] = group;
    }
    return UNSEEN_OK;
}

/* Reads pages [first, end) of a group, or to its last page. */
static enum unseen_status fetch_group(struct compact *c, const struct compact_place *place,
                                      unsigned first, unsigned end)
{
    const struct compact_group *group = compact_find(c, place->path);
    const enum unseen_status status =
        c->unread->pages.is_late
            ? fetch_late(c, place)
            : fetch_pages(c, place, group, first, end < group->npages ? end : group->npages);
    if (status == UNSEEN_OK) {
        note_whole(c, place, group);
    }
    return status;
}

/* Reads the group of this path, which has one region or more. If the region has several groups,
 * reads all of them. */
static enum unseen_status fetch_region(struct compact *c, uint64_t path)
{
    struct compact_unread *u = c->unread;
    const uint64_t region = region_of(u, path);
    const struct compact_place *place = &u->places[place_of(u, path)];
    enum unseen_status status = UNSEEN_OK;
    if (place->depth <= u->region_bits) {
        return fetch_group(c, place, 0, COMPACT_PAGES_MAX);
    }
    for (size_t i = place_of(u, region << (64 - u->region_bits));
         status == UNSEEN_OK && i < u->nplaces && region_of(u, u->places[i].path) == region; i++) {
        status = fetch_group(c, &u->places[i], 0, COMPACT_PAGES_MAX);
    }
    if (status == UNSEEN_OK) {
        clear_bits(u, region, 1);
    }
    return status;
}

/* Reads the page of this key; if it is not the first one of its group, the others, too. A run that
 * asks much would need them anyway, and one read takes less time than ten. */
static enum unseen_status fetch_page(struct compact *c, struct unseen_key key)
{
    const struct compact_unread *u = c->unread;
    const uint64_t path = compact_path(c, key);
    const struct compact_group *group = compact_find(c, path);
    struct compact_probe probe;
    unsigned at = 0;
    bool is_first = true;
    compact_locate(c, c->layout->width, key, group, &probe);
    if (!is_page_unread(u, probe.page)) {
        return UNSEEN_OK;
    }
    for (unsigned p = 0; p < group->npages; p++) {
        at = group->page[p] == probe.page ? p : at;
        is_first = is_first && is_page_unread(u, group->page[p]);
    }
    const struct compact_place *place = &u->places[place_of(u, path)];
    /* If another page is damaged, this one may be intact. */
    return !is_first && fetch_group(c, place, 0, COMPACT_PAGES_MAX) == UNSEEN_OK
               ? UNSEEN_OK
               : fetch_group(c, place, at, at + 1);
}

enum unseen_status unseen__compact_fetch(struct unseen__filter *filter,
                                         const struct unseen_key *keys, size_t n, bool asks_only)
{
    struct compact *c = compact_from(filter);
    const struct compact_unread *u = c->unread;
    enum unseen_status status = UNSEEN_OK;
    if (!u) {
        return UNSEEN_OK;
    }
    const size_t count = keys ? n : u->nplaces;
    for (size_t i = 0; i < count && status == UNSEEN_OK && u->nleft > 0; i++) {
        const uint64_t path = keys ? compact_path(c, keys[i]) : u->places[i].path;
        if (is_unread(u, path)) {
            status = keys && asks_only && !u->pages.is_late ? fetch_page(c, keys[i])
                                                            : fetch_region(c, path);
        }
    }
    return status;
}

/* ---- asking without keeping ---- */

#define NOT_IN_FILE UINT64_MAX

/* The number in the file of the page of a key; NOT_IN_FILE if its group has been read. */
static uint64_t page_of(const struct compact *c, struct unseen_key key)
{
    const struct compact_unread *u = c->unread;
    const uint64_t path = compact_path(c, key);
    struct compact_group group = *compact_find(c, path);
    struct compact_probe probe;
    if (group.page[0] != 0) {
        return NOT_IN_FILE;
    }
    for (uint32_t p = 0; p < group.npages; p++) {
        group.page[p] = p;
    }
    compact_locate(c, c->layout->width, key, &group, &probe);
    return u->places[place_of(u, path)].first + probe.page;
}

static enum unseen_status read_scratch(const struct compact *c, uint64_t number)
{
    const struct compact_unread *u = c->unread;
    const uint8_t *notes = u->notes + (size_t)TABLE_PAGE * number;
    uint8_t *page = compact_page(c, u->scratch);
    const enum unseen_status status =
        u->pages.read(u->pages.context, COMPACT_PAGE * number, page, COMPACT_PAGE);
    *compact_full(c, u->scratch) = load_le64(notes);
    return status == UNSEEN_OK && unseen__checksum(page, COMPACT_PAGE) != load_le64(notes + 8)
               ? UNSEEN_ERR_CORRUPT
               : status;
}

/* For the time of the question the scratch page stands for all pages of the group: the key needs no
 * other one. */
static enum unseen_status ask_page(struct compact *c, struct unseen_key key, uint64_t number,
                                   uint8_t *verdict)
{
    const uint64_t path = compact_path(c, key);
    size_t copies;
    struct compact_group *entries = unseen__compact_directory_find(c, path, &copies);
    struct compact_group *entry = entries + (compact_find(c, path) - entries);
    const struct compact_group before = *entry;
    const enum unseen_status status = number == NOT_IN_FILE ? UNSEEN_OK : read_scratch(c, number);
    for (unsigned p = 0; number != NOT_IN_FILE && p < entry->npages; p++) {
        entry->page[p] = c->unread->scratch;
    }
    if (status == UNSEEN_OK) {
        c->kernel->contains(c, &key, 1, verdict);
    }
    *entry = before;
    return status;
}

enum unseen_status unseen__compact_ask(struct unseen__filter *filter, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts)
{
    struct compact *c = compact_from(filter);
    struct compact_unread *u = c->unread;
    uint64_t numbers[ASK_AHEAD];
    if (u->scratch == 0) {
        const enum unseen_status status = unseen__compact_pages_reserve(c, 1);
        if (status != UNSEEN_OK) {
            return status;
        }
        u->scratch = unseen__compact_page_take(c);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i; i % ASK_AHEAD == 0 && k < n && k < i + ASK_AHEAD; k++) {
            numbers[k - i] = page_of(c, keys[k]);
            if (u->pages.will_read && numbers[k - i] != NOT_IN_FILE) {
                u->pages.will_read(u->pages.context, COMPACT_PAGE * numbers[k - i], COMPACT_PAGE);
            }
        }
        const enum unseen_status status =
            ask_page(c, keys[i], numbers[i % ASK_AHEAD], &verdicts[i]);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

/* ---- parts ---- */

enum unseen_status unseen__compact_fetch_part(struct unseen__filter *filter, uint64_t path,
                                              unsigned depth)
{
    struct compact *c = compact_from(filter);
    const struct compact_unread *u = c->unread;
    enum unseen_status status = UNSEEN_OK;
    if (!u) {
        return UNSEEN_OK;
    }
    for (size_t i = place_of(u, path);
         i < u->nplaces && (u->places[i].path ^ path) >> (64 - depth) == 0 && status == UNSEEN_OK;
         i++) {
        if (is_unread(u, u->places[i].path)) {
            status = fetch_region(c, u->places[i].path);
        }
    }
    return status;
}
