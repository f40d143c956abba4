/* SPDX-License-Identifier: MIT
 *
 * Union of two compact filters whose keys were made with one secret. No key is needed: a tag knows
 * the page, the two lines and some bits of the path of its key, in any group.
 *
 * A tag of the other filter and a tag of this one match if they agree in all bits that both know.
 * Then both may be of one key, and the shorter stays: it is a tag of both keys, should they differ.
 * So no key is lost. If they do differ, which has the probability of a false positive, a removal
 * of one key takes the tag of the other.
 *
 * A tag whose known bits are fewer than the depth of a group here belongs to all groups under it,
 * as a void tag that a split copies. */
#include "tags/compact_ops.h"

#include "base/macros.h"

/* A tag of the other filter, in terms of this one. */
struct merge_tag {
    uint64_t path; /* below this filter's prefix; 0 behind the known bits */
    unsigned known;
    unsigned home;
    unsigned low;
    unsigned line;
};

static uint32_t mark_of(uint32_t word)
{
    return word & (0 - word);
}

/* The end mark of the tag in a group of this depth. */
static uint32_t mark_in(const struct compact *c, const struct merge_tag *tag, unsigned depth)
{
    const unsigned known = tag->known > depth ? tag->known - depth : 0;
    const unsigned most = c->layout->v_bits - 1 - (unsigned)__builtin_ctz(c->mark);
    return 1u << (c->layout->v_bits - 1 - (known < most ? known : most));
}

/* The lines of the tag in the group that a path leads to. */
static void locate(const struct compact *c, const struct merge_tag *tag, uint64_t path,
                   struct compact_probe *probe)
{
    const unsigned low_bits = c->layout->low_bits;
    /* The filter's own prefix does not matter: a path comes without it. */
    const struct unseen_key key = {(uint64_t)tag->home << (6 + low_bits) | tag->low << 6 |
                                       tag->line,
                                   tag->path >> c->prefix_bits};
    compact_locate(c, c->layout->width, key, compact_find(c, path), probe);
}

/* Looks in a line for a tag that matches; *slot_out is its slot. */
static bool find_match(const struct compact *c, const struct compact_probe *probe, uint32_t mark,
                       const uint8_t *line, unsigned *slot_out)
{
    for (unsigned slot = 0; slot < c->layout->slots; slot++) {
        const uint32_t word = compact_word(line, slot);
        const uint32_t shorter = mark_of(word) > mark ? mark_of(word) : mark;
        if (word && compact_low(c->layout->width, line, slot) == probe->low &&
            ((word ^ probe->v) & ~(2 * shorter - 1) & compact_v_mask(c->layout->width)) == 0) {
            *slot_out = slot;
            return true;
        }
    }
    return false;
}

/* Shortens a tag so that its end mark is at this bit. */
static void shorten(struct compact *c, const struct compact_probe *probe, uint8_t *line,
                    unsigned slot, uint32_t mark)
{
    const uint32_t word = compact_word(line, slot);
    if (mark > mark_of(word)) {
        store_le32(line + (size_t)4 * slot, (word & ~(2 * mark - 1)) | mark);
        c->generations[probe->depth + compact_v_len(c, word)]--;
        c->generations[probe->depth + compact_v_len(c, mark)]++;
    }
}

/* If a tag in one of the lines matches, the shorter of both stays. */
static bool join_match(struct compact *c, const struct compact_probe *probe, uint32_t mark)
{
    for (int side = 0; side < 2; side++) {
        uint8_t *line = side ? probe->b : probe->a;
        unsigned slot;
        if (find_match(c, probe, mark, line, &slot)) {
            shorten(c, probe, line, slot, mark);
            return true;
        }
    }
    return false;
}

/* For a group that cannot grow, because somebody who knows the secret made its keys: shortens the
 * tag that has most bits in common with this one, until it is a tag of both keys. Returns false if
 * no tag in the lines has the same low: then nothing can stand for the tag, because the stash
 * takes whole keys. */
static bool join_nearest(struct compact *c, const struct compact_probe *probe)
{
    uint8_t *best = NULL;
    unsigned best_slot = 0;
    uint32_t best_differ = 0;
    for (int side = 0; side < 2; side++) {
        uint8_t *line = side ? probe->b : probe->a;
        for (unsigned slot = 0; slot < c->layout->slots; slot++) {
            const uint32_t differ =
                (compact_word(line, slot) ^ probe->v) & compact_v_mask(c->layout->width);
            if (compact_low(c->layout->width, line, slot) == probe->low &&
                (!best || differ < best_differ)) {
                best = line;
                best_slot = slot;
                best_differ = differ;
            }
        }
    }
    if (best) {
        const uint32_t mark =
            best_differ ? 1u << (31 - (unsigned)__builtin_clz(best_differ)) : c->mark;
        shorten(c, probe, best, best_slot, mark);
    }
    return best != NULL;
}

/* Adds the tag to the group that a path leads to. */
static enum unseen_status add_to_group(struct compact *c, const struct merge_tag *tag,
                                       uint64_t path)
{
    for (;;) {
        struct compact_probe probe;
        locate(c, tag, path, &probe);
        const uint32_t mark = mark_in(c, tag, probe.depth);
        if (join_match(c, &probe, mark) || unseen__compact_add_plain(c, &probe, mark) ||
            unseen__compact_add_by_kick(c, &probe, mark)) {
            return UNSEEN_OK;
        }
        bool stuck;
        const enum unseen_status status = unseen__compact_grow(c, path, &stuck);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (stuck) {
            return join_nearest(c, &probe) ? UNSEEN_OK : UNSEEN_ERR_UNSUPPORTED;
        }
    }
}

/* Adds the tag to all groups whose keys it may be of: to one, unless it is void there. */
static enum unseen_status add_tag(struct compact *c, const struct merge_tag *tag)
{
    const uint64_t last = tag->known ? tag->path + (UINT64_MAX >> tag->known) : UINT64_MAX;
    uint64_t path = tag->path;
    for (;;) {
        const enum unseen_status status = add_to_group(c, tag, path);
        const unsigned depth = compact_find(c, path)->depth;
        if (status != UNSEEN_OK || depth == 0) {
            return status;
        }
        const uint64_t end = path | UINT64_MAX >> depth; /* of the group */
        if (end >= last) {
            return UNSEEN_OK;
        }
        path = end + 1;
    }
}

/* Reads slot `slot` of a line of the piece. Returns false if the tag is of another filter of the
 * set. The group has this depth and prefix, which include the prefix of the other filter. */
static bool read_tag(const struct compact *c, uint32_t word, unsigned depth, uint64_t prefix,
                     struct merge_tag *tag)
{
    const uint32_t v = word & compact_v_mask(c->layout->width);
    const uint64_t bits = (uint64_t)(v & (v - 1)) << (64 - c->layout->v_bits);
    const unsigned known = depth + compact_v_len(c, word);
    const uint64_t hi = prefix | (depth < 64 ? bits >> depth : 0);
    const unsigned common = known < c->prefix_bits ? known : c->prefix_bits;
    if (common && (hi ^ c->prefix << (64 - c->prefix_bits)) >> (64 - common) != 0) {
        return false;
    }
    tag->path = known > c->prefix_bits ? hi << c->prefix_bits : 0;
    tag->known = (known < 63 ? known : 63) - common;
    return true;
}

enum unseen_status unseen__compact_add_prefix(struct unseen__filter *filter, struct unseen_key key)
{
    struct compact *c = compact_from(filter);
    const unsigned low_bits = c->layout->low_bits;
    const struct merge_tag tag = {
        .path = compact_path(c, key),
        .known = compact_v_len(c, c->mark),
        .home = (unsigned)(key.lo >> (6 + low_bits) & 7),
        .low = (unsigned)(key.lo >> 6) & ((1u << low_bits) - 1),
        .line = (unsigned)(key.lo % COMPACT_LINES),
    };
    return add_tag(c, &tag);
}

/* Merges a line of a page. */
static enum unseen_status merge_line(struct compact *c, const uint8_t *piece, unsigned page,
                                     unsigned number)
{
    const enum compact_width width = c->layout->width;
    const uint8_t *line =
        piece + COMPACT_PIECE_HEAD + (size_t)page * COMPACT_PAGE + (size_t)number * COMPACT_LINE;
    for (unsigned slot = 0; slot < c->layout->slots; slot++) {
        struct merge_tag tag = {.line = number};
        const uint32_t word = compact_word(line, slot);
        if (word == 0 || !read_tag(c, word, piece[1], load_le64(piece + 8), &tag)) {
            continue;
        }
        tag.low = compact_low(width, line, slot);
        tag.home = compact_home_of(c->layout, piece[2], page, compact_r(width, tag.low));
        const enum unseen_status status = add_tag(c, &tag);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status merge_keys(struct compact *c, const uint8_t *piece)
{
    const size_t n = load_le32(piece + 4);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = piece + COMPACT_PIECE_HEAD + i * 16;
        const struct unseen_key key = {load_le64(p), load_le64(p + 8)};
        uint8_t verdict;
        size_t ndone;
        if (c->prefix_bits && key.hi >> (64 - c->prefix_bits) != c->prefix) {
            continue;
        }
        const enum unseen_status status = c->kernel->add(c, &key, 1, &verdict, &ndone);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

bool unseen__compact_is_same_shape(const struct unseen__filter *filter,
                                   const struct unseen__filter *other)
{
    const struct compact *c = compact_from_const(filter);
    const struct compact *o = compact_from_const(other);
    return c->layout == o->layout && c->mark == o->mark;
}

/* Takes a line of each page in turn, so that the pages here fill evenly, as with random keys. All
 * tags of one page may belong to one page here: they would fill it while the group is so empty that
 * its keys seem to crowd, and it would not split. */
enum unseen_status unseen__compact_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                               size_t len)
{
    struct compact *c = compact_from(filter);
    enum unseen_status status = UNSEEN_OK;
    (void)len;
    if (!unseen__compact_is_group(piece)) {
        return merge_keys(c, piece);
    }
    for (unsigned line = 0; line < COMPACT_LINES; line++) {
        for (unsigned page = 0; page < piece[2] && status == UNSEEN_OK; page++) {
            status = merge_line(c, piece, page, line);
        }
    }
    return status;
}

/* A whole key that a tag of the other filter stands for, too, would have to be removed twice. */
void unseen__compact_merge_finish(struct unseen__filter *filter)
{
    struct compact *c = compact_from(filter);
    for (size_t i = c->stash.nkeys; i-- > 0;) {
        const struct unseen_key key = c->stash.keys[i];
        struct compact_probe probe;
        unsigned slot;
        compact_locate(c, c->layout->width, key, compact_find(c, compact_path(c, key)), &probe);
        if ((find_match(c, &probe, c->mark, probe.a, &slot) ||
             find_match(c, &probe, c->mark, probe.b, &slot)) &&
            unseen__stash_remove(&c->stash, key)) {
            c->nkeys--;
        }
    }
}
