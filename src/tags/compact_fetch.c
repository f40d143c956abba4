/* SPDX-License-Identifier: MIT
 *
 * Groups that are read when they are first needed. An image of 10^8 keys has 545 MB, and a program
 * that asks for one URL needs one group of it: 60 KB.
 *
 * The table of an export has the depth and the number of pages of every group. Groups stand in the
 * export by their path, and have no gaps between them, so their paths and offsets follow
 * (docs/format.md, "Table"). From the table alone the whole directory is made, and every group gets
 * its pages, which nobody touches before they are read. So no address changes when a group is read,
 * and other threads may ask other groups meanwhile. A bit for each region, which is all paths with
 * the same top bits, says that a group of it has not been read: readers see the bit go after the
 * pages of the group are complete. There are some 8 regions to a group, so the bits stay in the
 * first-level cache. In a set of hostile keys, groups may be so deep that a region has several:
 * these are read together.
 *
 * The numbers of keys and of generations are those of the table, until the last group is read. By
 * then they have been compared with the tags that are there. */
#include "tags/compact.h"

#include "hash/chunk.h"

enum {
    TABLE_HEAD = 8 + 8 * COMPACT_GENERATIONS,
    TABLE_GROUP = 2 /* bytes for each group */
};

static size_t table_len(uint64_t ngroups)
{
    return TABLE_HEAD + (((size_t)ngroups * TABLE_GROUP + 7) & ~(size_t)7);
}

/* ---- the table ---- */

size_t unseen__compact_table_len(const struct unseen__filter *filter)
{
    return table_len(compact_from_const(filter)->ngroups);
}

void unseen__compact_save_table(const struct unseen__filter *filter, uint8_t *table)
{
    const struct compact *c = compact_from_const(filter);
    uint8_t *p = table + TABLE_HEAD;
    uint64_t path = 0;
    memset(table, 0, table_len(c->ngroups));
    store_le64(table, c->ngroups);
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        store_le64(table + 8 + 8 * i, c->generations[i]);
    }
    do {
        const struct compact_group *group = compact_find(c, path);
        *p++ = group->depth;
        *p++ = group->npages;
        path = compact_next_path(path, group->depth);
    } while (path);
}

/* Adds the groups of the table, without their contents, to the loaded ones. */
static enum unseen_status load_groups(struct compact *c, const uint8_t *p, uint64_t *end_out)
{
    struct compact_unread *u = c->unread;
    uint64_t path = 0;
    uint64_t offset = u->pieces.start;
    for (size_t i = 0; i < u->nplaces; i++, p += TABLE_GROUP) {
        struct compact_group *group;
        const size_t len = CHUNK_HEAD + compact_piece_len(p[1]) + CHUNK_TAIL;
        if (p[0] > COMPACT_DEPTH_MAX || p[1] < COMPACT_PAGES_MIN || p[1] > COMPACT_PAGES_MAX ||
            len > u->pieces.end - offset) {
            return UNSEEN_ERR_CORRUPT;
        }
        const enum unseen_status status = unseen__compact_load_empty(c, path, p[0], p[1], &group);
        if (status != UNSEEN_OK) {
            return status;
        }
        u->places[i] = (struct compact_place){path, offset, p[0], false};
        path = compact_next_path(path, p[0]);
        offset += len;
    }
    *end_out = offset;
    return UNSEEN_OK;
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
    u->bits = unseen__compact_alloc(c, size, _Alignof(uint64_t));
    if (!u->bits) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(u->bits, 0xff, size);
    u->nleft = u->nplaces;
    return UNSEEN_OK;
}

static enum unseen_status make_unread(struct compact *c, const struct unseen__pieces *pieces,
                                      size_t nplaces)
{
    struct compact_unread *u =
        unseen__compact_alloc(c, sizeof(*u), _Alignof(struct compact_unread));
    if (!u) {
        return UNSEEN_ERR_NOMEM;
    }
    *u = (struct compact_unread){.pieces = *pieces, .nplaces = nplaces};
    u->pieces.release = NULL; /* until nothing can fail any more */
    c->unread = u;
    u->places =
        unseen__compact_alloc(c, nplaces * sizeof(*u->places), _Alignof(struct compact_place));
    u->buf = unseen__compact_alloc(c, UNSEEN_CHUNK_MAX, 64);
    return u->places && u->buf ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
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
                                              const struct unseen__pieces *pieces,
                                              const uint8_t *table, size_t len, uint64_t *end_out)
{
    struct compact *c = compact_from(filter);
    const uint64_t ngroups = len >= TABLE_HEAD ? load_le64(table) : 0;
    if (c->prefix_bits > 0 || c->unread || c->nloaded > 0) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (ngroups == 0 || ngroups > len / TABLE_GROUP || len != table_len(ngroups)) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = make_unread(c, pieces, (size_t)ngroups);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = load_groups(c, table + TABLE_HEAD, end_out);
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
    c->unread->pieces.release = pieces->release;
    return UNSEEN_OK;
}

void unseen__compact_unread_release(struct compact *c)
{
    struct compact_unread *u = c->unread;
    if (!u) {
        return;
    }
    if (u->pieces.release) {
        u->pieces.release(u->pieces.context);
    }
    unseen__compact_free(c, u->places, u->nplaces * sizeof(*u->places));
    unseen__compact_free(c, u->bits, nwords_of(u) * sizeof(*u->bits));
    unseen__compact_free(c, u->buf, UNSEEN_CHUNK_MAX);
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

bool unseen__compact_has_pieces(const struct unseen__filter *filter, const struct unseen_key *keys,
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

/* Subtracts the tags of a group from those that are still to come. The last group must bring the
 * rest. */
static bool take_tags(struct compact_unread *u, const uint64_t generations[COMPACT_GENERATIONS])
{
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        if (u->nleft == 1 ? generations[i] != u->generations[i]
                          : generations[i] > u->generations[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < COMPACT_GENERATIONS; i++) {
        u->generations[i] -= generations[i];
    }
    return true;
}

static bool is_piece_of(const struct compact *c, const uint8_t *piece, size_t len, uint64_t path,
                        const struct compact_group *group)
{
    return unseen__compact_is_group(piece) && unseen__compact_is_sound_group(c, piece, len) &&
           piece[1] == group->depth && piece[2] == group->npages && load_le64(piece + 8) == path;
}

static enum unseen_status fetch_group(struct compact *c, struct compact_place *place)
{
    struct compact_unread *u = c->unread;
    size_t copies;
    if (place->is_read) {
        return UNSEEN_OK;
    }
    struct compact_group *entries = unseen__compact_directory_find(c, place->path, &copies);
    const size_t piece_len = compact_piece_len(entries->npages);
    const size_t len = CHUNK_HEAD + piece_len + CHUNK_TAIL;
    struct chunk chunk;
    uint64_t generations[COMPACT_GENERATIONS] = {0};
    uint64_t ntags = 0;
    enum unseen_status status = u->pieces.read(u->pieces.context, place->offset, u->buf, len);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!chunk_open(&chunk, u->buf, len) || chunk.kind != u->pieces.kind ||
        chunk.id != u->pieces.id ||
        !is_piece_of(c, chunk.payload, chunk.len, place->path, entries)) {
        return UNSEEN_ERR_CORRUPT;
    }
    status = unseen__compact_load_pages(c, chunk.payload, entries, generations, &ntags);
    if (status != UNSEEN_OK || !take_tags(u, generations)) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (size_t i = 0; i < copies; i++) {
        entries[i].stuck = load_le16(chunk.payload + 4);
    }
    place->is_read = true;
    (void)__atomic_fetch_sub(&u->nleft, 1, __ATOMIC_RELEASE);
    return UNSEEN_OK;
}

/* Says that nothing of n regions is missing any more. */
static void clear_bits(struct compact_unread *u, uint64_t region, uint64_t n)
{
    for (const uint64_t end = region + n; region < end; region++) {
        (void)__atomic_fetch_and(&u->bits[region / 64], ~((uint64_t)1 << region % 64),
                                 __ATOMIC_RELEASE);
    }
}

/* Reads the group of this path, which has one region or more. If the region has several groups,
 * reads all of them. */
static enum unseen_status fetch_region(struct compact *c, uint64_t path)
{
    struct compact_unread *u = c->unread;
    const uint64_t region = region_of(u, path);
    struct compact_place *place = &u->places[place_of(u, path)];
    enum unseen_status status = UNSEEN_OK;
    if (place->depth <= u->region_bits) {
        status = fetch_group(c, place);
        if (status == UNSEEN_OK) {
            clear_bits(u, region_of(u, place->path),
                       (uint64_t)1 << (u->region_bits - place->depth));
        }
        return status;
    }
    for (size_t i = place_of(u, region << (64 - u->region_bits));
         status == UNSEEN_OK && i < u->nplaces && region_of(u, u->places[i].path) == region; i++) {
        status = fetch_group(c, &u->places[i]);
    }
    if (status == UNSEEN_OK) {
        clear_bits(u, region, 1);
    }
    return status;
}

enum unseen_status unseen__compact_fetch(struct unseen__filter *filter,
                                         const struct unseen_key *keys, size_t n)
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
        status = is_unread(u, path) ? fetch_region(c, path) : UNSEEN_OK;
    }
    return status;
}
