/* SPDX-License-Identifier: MIT
 *
 * Saves a compact filter as pieces of bytes, and loads it from them (docs/format.md, "Compact
 * pieces"). A piece is one group with its pages, or a run of stash keys. Pages are the same bytes
 * in memory and in a piece on every processor. The directory is not saved: it follows from the
 * groups' prefixes. The full map and stuck are saved, because they decide where later keys go and
 * when groups grow: a loaded set must go on exactly as the saved set does.
 *
 *     position  0 .. 2^48 - 1   the group whose path starts with these 48 bits
 *               2^48 + i        stash keys from the i-th on */
#include "tags/compact.h"

#include "base/array.h"
#include "base/heapsort.h"

enum {
    PIECE_GROUP = 1,
    PIECE_KEYS = 2,
    PIECE_COUNTED = 3, /* as PIECE_KEYS, each key with the number of its adds */
    PIECE_HEAD = COMPACT_PIECE_HEAD,
    PIECE_KEYS_MAX = 2048
};

/* The most adds of one key in an export: later adds do not overflow. */
#define COUNT_MAX ((uint64_t)1 << 48)

static uint64_t group_prefix(const struct compact *c, uint64_t path)
{
    uint64_t own = c->prefix_bits ? c->prefix << (64 - c->prefix_bits) : 0;
    return own | path >> c->prefix_bits;
}

/* ---- save ---- */

static unsigned least_depth(const struct compact *c)
{
    unsigned least = COMPACT_DEPTH_MAX;
    uint64_t path = 0;
    if (c->saved.ngroups > 0) {
        return c->saved.least_depth; /* the groups have been dropped */
    }
    do {
        unsigned depth = compact_find(c, path)->depth;
        least = depth < least ? depth : least;
        path = compact_next_path(path, depth);
    } while (path);
    return least;
}

void unseen__compact_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct compact *c = compact_from_const(filter);
    const uint8_t depth = (uint8_t)(least_depth(c) + c->prefix_bits);
    const bool is_first = params[0] == 0;
    params[0] = (uint8_t)(1 + c->layout->width);
    params[1] = (uint8_t)__builtin_ctz(c->mark);
    params[2] = is_first || depth < params[2] ? depth : params[2];
}

unsigned unseen__compact_saved_depth(const uint8_t *params)
{
    return params[2];
}

static size_t compact_save_group(const struct compact *c, uint64_t *position, uint8_t *buf)
{
    uint64_t path = *position << 16;
    const struct compact_group *group = compact_find(c, path);
    memset(buf, 0, PIECE_HEAD);
    buf[0] = PIECE_GROUP;
    buf[1] = (uint8_t)(group->depth + c->prefix_bits);
    buf[2] = group->npages;
    store_le16(buf + 4, group->stuck);
    store_le64(buf + 8, group_prefix(c, path));
    uint8_t *full = buf + PIECE_HEAD + (size_t)group->npages * COMPACT_PAGE;
    for (unsigned p = 0; p < group->npages; p++) {
        memcpy(buf + PIECE_HEAD + (size_t)p * COMPACT_PAGE, compact_page(c, group->page[p]),
               COMPACT_PAGE);
        store_le64(full + (size_t)p * COMPACT_FULL_LEN, *compact_full(c, group->page[p]));
    }
    /* To the end of the group: it may have been two, and the position the start of its second half.
     */
    *position = ((*position >> (48 - group->depth)) + 1) << (48 - group->depth);
    return compact_piece_len(group->npages);
}

static size_t save_keys(const struct compact *c, uint64_t *position, uint8_t *buf)
{
    const struct unseen__stash *o = &c->stash;
    const size_t len = c->counts ? 24 : 16;
    size_t n = 0;
    size_t i = (size_t)(*position - COMPACT_POSITION_KEYS);
    for (; i < o->nkeys && n < PIECE_KEYS_MAX; i++, n++) {
        uint8_t *p = buf + PIECE_HEAD + n * len;
        store_le64(p, o->keys[i].lo);
        store_le64(p + 8, o->keys[i].hi);
        if (c->counts) {
            store_le64(p + 16, o->counts ? o->counts[i] : 1);
        }
    }
    *position = COMPACT_POSITION_KEYS + i;
    if (n == 0) {
        return 0;
    }
    memset(buf, 0, PIECE_HEAD);
    buf[0] = c->counts ? PIECE_COUNTED : PIECE_KEYS;
    store_le32(buf + 4, (uint32_t)n);
    return PIECE_HEAD + n * len;
}

size_t unseen__compact_save_piece(const struct unseen__filter *filter, uint64_t *position,
                                  uint8_t *buf)
{
    const struct compact *c = compact_from_const(filter);
    if (*position < COMPACT_POSITION_KEYS) {
        return compact_save_group(c, position, buf);
    }
    return save_keys(c, position, buf);
}

/* ---- load ---- */

void unseen__compact_load_release(struct compact *c)
{
    array_free(&c->allocator, &c->loaded, &c->loaded_cap, sizeof(*c->loaded));
    c->nloaded = 0;
}

enum unseen_status unseen__compact_read_params(const uint8_t *params,
                                               const struct compact_layout **layout_out,
                                               unsigned *cut_out)
{
    if (params[0] < 1 || params[0] > COMPACT_WIDTHS) {
        return UNSEEN_ERR_CORRUPT;
    }
    *layout_out = &unseen__compact_layouts[params[0] - 1];
    *cut_out = params[1];
    return params[1] + 1u < (*layout_out)->v_bits &&
                   params[2] <= COMPACT_DEPTH_MAX + COMPACT_PREFIX_MAX
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

/* The one group of the fresh filter goes: the loaded groups use its pages. */
void unseen__compact_load_start(struct unseen__filter *filter)
{
    struct compact *c = compact_from(filter);
    size_t copies;
    struct compact_group group = *unseen__compact_directory_find(c, 0, &copies);
    unseen__compact_directory_release(c);
    unseen__compact_give_pages(c, &group);
    c->ngroups = 0;
    c->npages = 0;
}

/* The checks of a group: every tag must have its end mark and must be on a page where its remainder
 * belongs. There are millions of lines, so tags are checked and counted without a branch. */
struct page_check {
    /* [page][r]: 1 if no key with remainder r can be on the page. */
    uint8_t misplaced[COMPACT_PAGES_MAX][256];
    /* The number of tags by the 0 bits below the end mark; tags without an end mark are last. Odd
     * and even slots are counted apart, because a count that was just written is slow to read
     * again. */
    uint32_t zeros[2][33];
    uint32_t nempty;
    uint32_t bad;
};

/* For pages [first, end) of a group. */
static void check_init(struct page_check *check, const struct compact *c, unsigned npages,
                       unsigned first, unsigned end)
{
    memset(check->zeros, 0, sizeof(check->zeros));
    check->nempty = 0;
    check->bad = 0;
    memset(check->misplaced[first], 1, (end - first) * sizeof(*check->misplaced));
    for (unsigned r = 0; r < 1u << c->layout->r_bits; r++) {
        for (unsigned home = 0; home < COMPACT_PAGES_MIN; home++) {
            const unsigned p = compact_page_of(c->layout, npages, home, r);
            if (p >= first && p < end) {
                check->misplaced[p][r] = 0;
            }
        }
    }
}

/* Returns whether the line is full. */
UNSEEN_INLINE bool check_line(struct page_check *check, enum compact_width width,
                              const uint8_t *misplaced, const uint8_t *line)
{
    const unsigned slots = compact_slots(width);
    const uint64_t low_39 = load_le64(line + 52);
    const uint64_t high_39 = load_le64(line + 56) >> 31; /* fields 9 to 12 */
    uint32_t nempty = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        uint32_t word = compact_word(line, slot);
        unsigned r =
            width != COMPACT_39
                ? compact_r(width, compact_low(width, line, slot))
                : (unsigned)(slot < 9 ? low_39 >> 7 * slot : high_39 >> 7 * (slot - 9)) & 127;
        uint32_t v = word & compact_v_mask(width);
        check->zeros[slot & 1][__builtin_ctzll((uint64_t)1 << 32 | v)]++;
        nempty += word == 0;
        check->bad |= misplaced[r] & (word != 0);
    }
    check->nempty += nempty;
    /* The unused bits. */
    check->bad |= width == COMPACT_39   ? line[COMPACT_LINE - 1] >> 3
                  : width == COMPACT_51 ? line[40] & 3u
                                        : 0u;
    return nempty == 0;
}

UNSEEN_INLINE uint64_t check_page(struct page_check *check, enum compact_width width, unsigned page,
                                  const uint8_t *lines)
{
    uint64_t full = 0;
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        full |= (uint64_t)check_line(check, width, check->misplaced[page],
                                     lines + (size_t)line * COMPACT_LINE)
                << line;
    }
    return full;
}

static uint64_t check_page_of(struct page_check *check, enum compact_width width, unsigned page,
                              const uint8_t *lines)
{
    switch (width) {
    case COMPACT_32:
        return check_page(check, COMPACT_32, page, lines);
    case COMPACT_39:
        return check_page(check, COMPACT_39, page, lines);
    default:
        return check_page(check, COMPACT_51, page, lines);
    }
}

static bool check_finish(const struct page_check *check, const struct compact *c, unsigned npages,
                         unsigned depth, uint64_t generations[COMPACT_GENERATIONS],
                         uint64_t *ntags_out)
{
    const unsigned v_bits = c->layout->v_bits;
    uint32_t ntags = npages * COMPACT_LINES * c->layout->slots - check->nempty;
    uint32_t nlong = 0;
    for (unsigned zeros = (unsigned)__builtin_ctz(c->mark); zeros < v_bits; zeros++) {
        uint32_t n = check->zeros[0][zeros] + check->zeros[1][zeros];
        generations[depth + v_bits - 1 - zeros] += n;
        nlong += n;
    }
    *ntags_out += ntags;
    return check->bad == 0 && nlong == ntags;
}

/* Whether a piece has the head and the length of a group of this filter. */
static bool is_sound_group(const struct compact *c, const uint8_t *piece, size_t len)
{
    const unsigned depth = piece[1];
    const unsigned npages = piece[2];
    const uint64_t prefix = load_le64(piece + 8);
    return depth >= c->prefix_bits && depth - c->prefix_bits <= COMPACT_DEPTH_MAX &&
           npages >= COMPACT_PAGES_MIN && npages <= COMPACT_PAGES_MAX && piece[3] == 0 &&
           load_le16(piece + 4) <= COMPACT_STUCK_MAX && load_le16(piece + 6) == 0 &&
           len == compact_piece_len(npages) && (depth >= 64 || prefix << depth == 0) &&
           (c->prefix_bits == 0 || prefix >> (64 - c->prefix_bits) == c->prefix);
}

/* The full map may call a line full from which a tag was removed, but never the reverse: a tag that
 * moves to another line must find a free slot there. */
bool unseen__compact_load_pages(struct compact *c, const struct compact_group *group,
                                unsigned first, unsigned n, const uint8_t *bytes,
                                const uint64_t *full, uint64_t generations[COMPACT_GENERATIONS],
                                uint64_t *ntags)
{
    struct page_check check;
    bool sound = true;
    check_init(&check, c, group->npages, first, first + n);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *page = bytes + (size_t)i * COMPACT_PAGE;
        const uint32_t number = group->page[first + i];
        sound = !(check_page_of(&check, c->layout->width, first + i, page) & ~full[i]) && sound;
        *compact_full(c, number) = full[i];
        memcpy(compact_page(c, number), page, COMPACT_PAGE);
    }
    return check_finish(&check, c, n, group->depth, generations, ntags) && sound;
}

enum unseen_status unseen__compact_load_empty(struct compact *c, uint64_t path, unsigned depth,
                                              unsigned npages, bool takes_pages,
                                              struct compact_group **group_out)
{
    if (!array_grow(&c->allocator, &c->loaded, &c->loaded_cap, c->nloaded + 1, 64,
                    sizeof(*c->loaded)) ||
        (takes_pages && unseen__compact_pages_reserve(c, npages) != UNSEEN_OK)) {
        return UNSEEN_ERR_NOMEM;
    }
    struct compact_loaded *loaded = &c->loaded[c->nloaded++];
    loaded->path = path;
    loaded->group = (struct compact_group){.npages = (uint8_t)npages, .depth = (uint8_t)depth};
    for (unsigned p = 0; takes_pages && p < npages; p++) {
        loaded->group.page[p] = unseen__compact_page_take(c);
    }
    c->ngroups++;
    c->npages += npages;
    *group_out = &loaded->group;
    return UNSEEN_OK;
}

static enum unseen_status load_group(struct compact *c, const uint8_t *piece, size_t len)
{
    struct compact_group *group;
    if (!is_sound_group(c, piece, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status =
        unseen__compact_load_empty(c, load_le64(piece + 8) << c->prefix_bits,
                                   piece[1] - c->prefix_bits, piece[2], true, &group);
    if (status != UNSEEN_OK) {
        return status;
    }
    group->stuck = load_le16(piece + 4);
    const uint8_t *maps = piece + PIECE_HEAD + (size_t)group->npages * COMPACT_PAGE;
    uint64_t full[COMPACT_PAGES_MAX];
    for (unsigned p = 0; p < group->npages; p++) {
        full[p] = load_le64(maps + (size_t)p * COMPACT_FULL_LEN);
    }
    return unseen__compact_load_pages(c, group, 0, group->npages, piece + PIECE_HEAD, full,
                                      c->generations, &c->nkeys)
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

/* Takes the keys with this filter's prefix. The other filters get the same piece and take
 * theirs. */
static enum unseen_status load_keys(struct compact *c, const uint8_t *piece, size_t len)
{
    const size_t key_len = c->counts ? 24 : 16;
    size_t n = load_le32(piece + 4);
    if (n == 0 || n > PIECE_KEYS_MAX || len != PIECE_HEAD + n * key_len || piece[1] != 0 ||
        piece[2] != 0 || piece[3] != 0 || load_le64(piece + 8) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = piece + PIECE_HEAD + i * key_len;
        const uint64_t count = c->counts ? load_le64(p + 16) : 1;
        struct unseen_key key = {load_le64(p), load_le64(p + 8)};
        if (c->prefix_bits && key.hi >> (64 - c->prefix_bits) != c->prefix) {
            continue;
        }
        if (count == 0 || count > COUNT_MAX || unseen__stash_contains(&c->stash, key)) {
            return UNSEEN_ERR_CORRUPT;
        }
        enum unseen_status status = unseen__stash_add_again(&c->stash, key, count, &c->allocator);
        if (status != UNSEEN_OK) {
            return status;
        }
        c->nkeys += count;
    }
    return UNSEEN_OK;
}

bool unseen__compact_is_group(const uint8_t *piece)
{
    return piece[0] == PIECE_GROUP;
}

/* A group of an export is in one filter, but a union may meet a group that spans several. */
bool unseen__compact_owns_piece(const struct unseen__filter *filter, const uint8_t *piece,
                                size_t len)
{
    const struct compact *c = compact_from_const(filter);
    if (len < PIECE_HEAD || piece[0] != PIECE_GROUP) {
        return len >= PIECE_HEAD;
    }
    const unsigned common = piece[1] < c->prefix_bits ? piece[1] : c->prefix_bits;
    return common == 0 ||
           (load_le64(piece + 8) ^ c->prefix << (64 - c->prefix_bits)) >> (64 - common) == 0;
}

enum unseen_status unseen__compact_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                              size_t len)
{
    struct compact *c = compact_from(filter);
    if (len < PIECE_HEAD) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (piece[0] == PIECE_GROUP) {
        return load_group(c, piece, len);
    }
    return piece[0] == (c->counts ? PIECE_COUNTED : PIECE_KEYS) ? load_keys(c, piece, len)
                                                                : UNSEEN_ERR_CORRUPT;
}

static int compare_paths(const void *a, const void *b)
{
    const uint64_t x = ((const struct compact_loaded *)a)->path;
    const uint64_t y = ((const struct compact_loaded *)b)->path;
    return x < y ? -1 : x > y;
}

/* The groups, sorted, must cover the path space without a gap or an overlap. */
static bool covers_all(const struct compact *c)
{
    uint64_t next = 0;
    for (size_t i = 0; i < c->nloaded; i++) {
        const struct compact_loaded *loaded = &c->loaded[i];
        if (loaded->path != next || (i > 0 && next == 0)) {
            return false;
        }
        if (loaded->group.depth == 0) {
            return c->nloaded == 1;
        }
        next += (uint64_t)1 << (64 - loaded->group.depth);
    }
    return c->nloaded > 0 && next == 0;
}

/* Builds the directory: starts with one entry and deepens it for each group in turn. Until then,
 * copies of the first group stand in for the groups to come. */
static enum unseen_status build_directory(struct compact *c)
{
    struct compact_group all = c->loaded[0].group;
    all.depth = 0;
    enum unseen_status status = unseen__compact_directory_init(c, 0, &all);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (size_t i = 0; i < c->nloaded; i++) {
        const struct compact_loaded *loaded = &c->loaded[i];
        size_t copies;
        struct compact_group *entries = unseen__compact_directory_find(c, loaded->path, &copies);
        while (entries->depth < loaded->group.depth) {
            status = unseen__compact_directory_deepen(c, loaded->path);
            if (status != UNSEEN_OK) {
                return status;
            }
            entries = unseen__compact_directory_find(c, loaded->path, &copies);
            for (size_t k = 0; k < copies; k++) {
                entries[k].depth++;
            }
            entries = unseen__compact_directory_find(c, loaded->path, &copies);
        }
        for (size_t k = 0; k < copies; k++) {
            entries[k] = loaded->group;
        }
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__compact_load_finish(struct unseen__filter *filter)
{
    struct compact *c = compact_from(filter);
    if (c->nloaded == 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    heap_sort(c->loaded, c->nloaded, sizeof(*c->loaded), compare_paths);
    if (!covers_all(c)) {
        return UNSEEN_ERR_CORRUPT;
    }
    /* If a group is deeper than this many groups can be, the directory would be huge.
     * COMPACT_PREFIX_MAX is added because the filter that wrote the group may have had a longer
     * prefix. */
    for (size_t i = 0; i < c->nloaded; i++) {
        if (c->loaded[i].group.depth > unseen__compact_depth_limit(c) + COMPACT_PREFIX_MAX) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    enum unseen_status status = build_directory(c);
    unseen__compact_load_release(c);
    return status;
}
