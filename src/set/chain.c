/* SPDX-License-Identifier: MIT
 *
 * The filter "chain": parts, one behind the other. The first part is as small as its few keys
 * allow, and takes keys until it is full. From then on it is frozen, and what is behind it takes
 * the other keys. The first part is one of two:
 *
 *     capacity 0    a small set (small/small.h): five layers of sorted hashes, some 21,800 keys
 *     capacity n    a block filter for n keys
 *
 * What is behind it is made when the first key comes that the full part does not have:
 *
 *     a small set from SMALL_LINKS_MIN on    block filters, the links; together they have
 *                                            SMALL_LINKS_SHARE of the rate
 *     else                                   a compact filter, which grows by itself, and has
 *                                            SMALL_REST of the rate (small_rest_of) at any number
 *                                            of keys
 *
 * The keys of the first part stay there: its hashes of 14 bits could not become tags of 40.
 *
 * With each link the set is for unit * (2^k - 1) keys, with the next k. These are the sizes of
 * RedisBloom's filters after a first one for `unit` keys, so a set never has a new link, nearly
 * empty, where they are full. Link i has 0.15 * 0.85^i of the links' rate: of 0.8, 0.85, 0.9
 * and 0.95 this takes the fewest bits from 10^5 to 10^7 keys.
 *
 * To clear a large link takes milliseconds. So a link has room for a 64th more keys. They come in
 * while the next link is cleared, piece by piece.
 *
 * All parts are asked about an absent key. In a set that is much larger than its small set, an
 * outline of the small set (small/outline.h) answers nearly all of these questions. Keys cannot be
 * removed, because nothing says which of the parts has a key.
 *
 * A chain that counts is a small set that counts, and behind it a compact filter that does. As in
 * the layers of the small set, a key that the small set has is added there once more and nowhere
 * else, so the small set has the key if it has its hash. When it has no room for a repeat, the
 * stash of the compact filter takes the whole key; these repeats leave first.
 *
 * This filter is not in the list of names. A set gets it when it is made of a small set with layers
 * (unseen_small.h), or when a server makes a set of a given size. */
#include "set/chain.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/memory.h"
#include "bits/bits.h"
#include "bits/blocks.h"
#include "bits/rate.h"
#include "small/outline.h"
#include "small/small.h"
#include "tags/compact.h"

enum {
    BATCH = 256,
    SAVED_KIND = 2,
    PIECE_PART = 2,
    LINKS_MAX = 40,
    PART_SMALL = 0,
    PART_BLOCK = 1,
    PART_COMPACT = 2,
    PART_LINK = 3, /* the first link */
    NPARTS = PART_LINK + LINKS_MAX,
    PART_HEAD = 64,
    LINK_MIN = 1024, /* keys of a link; more than a batch */
    SPARE_PART = 64, /* of a link: its room for keys that come while the next link is cleared */
    LINK_POSITION_BITS = 43,
    LONG_FROM = 131072 /* keys in the newest part: from then on the outline is the long one */
};

/* In a position: the parts behind the first. Of these, a link has LINK_POSITION_BITS. */
#define POSITION_REST ((uint64_t)1 << 49)

/* No set has so many keys. */
#define KEYS_MAX ((uint64_t)1 << 56)

static const double tightening = 0.85;

struct chain {
    struct unseen__filter filter;
    void *small;      /* NULL if there is a capacity */
    uint8_t *outline; /* of `small`; NULL: not made */
    unsigned outline_bits;
    struct unseen__filter *filters[NPARTS]; /* from BLOCK on; NULL: not there */
    unsigned nlinks;                        /* that have keys; one more may be made */
    uint64_t newest_capacity;               /* of the newest link, without its spare room */
    double fpr;
    bool counts;
    uint64_t capacity;
    uint64_t unit; /* of the chain behind a small set */
    uint64_t saved_max;
    uint8_t (*loaded)[PART_HEAD]; /* while loading: the head of the first piece of each part */
    enum unseen_cpu cpu;
    struct unseen_allocator allocator;
};

static struct chain *chain_from(struct unseen__filter *filter)
{
    return (struct chain *)(void *)filter;
}

static const struct chain *chain_from_const(const struct unseen__filter *filter)
{
    return (const struct chain *)(const void *)filter;
}

static bool has_links(const struct chain *l)
{
    return l->capacity == 0 && l->fpr >= SMALL_LINKS_MIN && !l->counts;
}

/* The part to which keys are added. */
static unsigned newest_part(const struct chain *l)
{
    if (l->nlinks > 0) {
        return PART_LINK + l->nlinks - 1;
    }
    if (l->filters[PART_COMPACT]) {
        return PART_COMPACT;
    }
    return l->small ? PART_SMALL : PART_BLOCK;
}

/* ---- create ---- */

static void release_loaded(struct chain *l)
{
    if (l->loaded) {
        unseen__free(&l->allocator, l->loaded, NPARTS * sizeof(*l->loaded));
        l->loaded = NULL;
    }
}

static void chain_free(struct unseen__filter *filter)
{
    struct chain *l = chain_from(filter);
    struct unseen_allocator allocator = l->allocator;
    for (unsigned i = 0; i < NPARTS; i++) {
        if (l->filters[i]) {
            l->filters[i]->ops->free(l->filters[i]);
        }
    }
    unseen_small_free(l->small, &allocator);
    if (l->outline) {
        unseen__free(&allocator, l->outline, outline_len(l->outline_bits));
    }
    release_loaded(l);
    unseen__free(&allocator, l, sizeof(*l));
}

static struct unseen__filter_params part_params(const struct chain *l)
{
    return (struct unseen__filter_params){.cpu = l->cpu, .allocator = l->allocator};
}

static const struct unseen__filter_ops *chain_ops_of(const struct chain *l, unsigned part)
{
    const struct unseen__filter_ops *compact =
        l->counts ? &unseen__compact_count_ops : &unseen__compact_ops;
    return part == PART_COMPACT ? compact : &unseen__block_ops;
}

static enum unseen_status chain_make_first(struct chain *l)
{
    if (l->capacity == 0) {
        const struct unseen_small_options options = {.size = sizeof(options),
                                                     .fpr = l->fpr,
                                                     .capacity = 1, /* layers at any rate */
                                                     .counts = l->counts,
                                                     .allocator = &l->allocator};
        return unseen_small_create_with(&l->small, &options);
    }
    struct unseen__filter_params params = part_params(l);
    params.fpr = l->fpr - SMALL_REST;
    params.capacity = l->capacity;
    return unseen__block_ops.create(&l->filters[PART_BLOCK], &params);
}

/* The promise of a small set is up to 6 % below the rate that was asked for. */
static double lowest_rate(const struct chain *l)
{
    return l->capacity ? SMALL_LAYERED_RATE_MIN : 0.9 * SMALL_SIZED_RATE_MIN;
}

static enum unseen_status chain_load_params(struct chain *l,
                                            const struct unseen__filter_params *params)
{
    const uint8_t *saved = params->saved;
    l->unit = load_le64(saved + 8);
    l->fpr = load_le_double(saved + 16);
    l->capacity = load_le64(saved + 24);
    l->saved_max = params->saved_max;
    if (load_le64(saved) != SAVED_KIND || !(l->fpr >= lowest_rate(l) && l->fpr < 1) ||
        l->unit > SMALL_ROOM || (l->unit > 0) != has_links(l) || (l->counts && l->capacity)) {
        return UNSEEN_ERR_CORRUPT;
    }
    l->loaded = unseen__alloc_zero(&l->allocator, NPARTS * sizeof(*l->loaded), _Alignof(uint64_t));
    return l->loaded ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

static enum unseen_status chain_start(struct chain *l, const struct unseen__filter_params *params)
{
    if (params->saved) {
        return chain_load_params(l, params);
    }
    l->fpr = params->fpr;
    l->capacity = l->counts ? 0 : params->capacity;
    if (l->fpr < lowest_rate(l)) {
        return UNSEEN_ERR_FPR;
    }
    l->unit = has_links(l) ? SMALL_ROOM : 0;
    return chain_make_first(l);
}

static enum unseen_status create(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params,
                                 const struct unseen__filter_ops *ops)
{
    struct chain *l = unseen__alloc(&params->allocator, sizeof(*l), _Alignof(struct chain));
    if (!l) {
        return UNSEEN_ERR_NOMEM;
    }
    *l = (struct chain){.filter.ops = ops,
                        .counts = ops->multiplicity != NULL,
                        .cpu = params->cpu,
                        .allocator = params->allocator};
    const enum unseen_status status = chain_start(l, params);
    if (status != UNSEEN_OK) {
        chain_free(&l->filter);
        return status;
    }
    *filter_out = &l->filter;
    return UNSEEN_OK;
}

static enum unseen_status chain_create(struct unseen__filter **filter_out,
                                       const struct unseen__filter_params *params)
{
    return create(filter_out, params, &unseen__chain_ops);
}

static enum unseen_status chain_count_create(struct unseen__filter **filter_out,
                                             const struct unseen__filter_params *params)
{
    return create(filter_out, params, &unseen__chain_count_ops);
}

/* The first part cannot be cut: the set is one filter, for any number of threads. */
static enum unseen_status chain_shard_bits(const struct unseen__filter_params *params,
                                           unsigned wanted, unsigned *shard_bits_out)
{
    (void)params;
    (void)wanted;
    *shard_bits_out = 0;
    return UNSEEN_OK;
}

enum unseen_status unseen__chain_adopt(struct unseen__filter *filter, const void *value,
                                       uint64_t unit)
{
    struct chain *l = chain_from(filter);
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    (void)unseen_small_stats(value, &stats); /* fails for a wrong size only */
    const size_t memory = (size_t)stats.memory;
    void *copy = unseen__alloc(&l->allocator, memory, UNSEEN_SMALL_ALIGN);
    if (!copy) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(copy, value, memory);
    const enum unseen_status status = unseen_small_set_mark(&copy, 0, &l->allocator);
    if (status != UNSEEN_OK) {
        unseen_small_free(copy, &l->allocator);
        return status;
    }
    unseen_small_free(l->small, &l->allocator);
    l->small = copy;
    if (has_links(l) && unit > 0 && unit < SMALL_ROOM) {
        l->unit = unit;
    }
    return UNSEEN_OK;
}

/* ---- what is behind the first part ---- */

/* The keys of the first part, when it is full and frozen: those of five full layers, or what a
 * small set of another size holds. */
static uint64_t keys_of_first(const struct chain *l)
{
    struct small small;
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    unseen__small_read(&small, l->small);
    (void)unseen_small_stats(l->small, &stats); /* fails for a wrong size only */
    return small.form == SMALL_SIZED ? stats.nkeys : SMALL_ROOM;
}

/* The keys that a set with n links is for. */
static uint64_t keys_of_links(const struct chain *l, unsigned n)
{
    const uint64_t first = keys_of_first(l);
    uint64_t keys = l->unit;
    if (n == 0) {
        return first;
    }
    while (keys < KEYS_MAX && (keys < first + LINK_MIN || --n > 0)) {
        keys = 2 * keys + l->unit;
    }
    return keys;
}

/* The keys that link i is for, without its spare room. */
static uint64_t link_capacity(const struct chain *l, unsigned i)
{
    return keys_of_links(l, i + 1) - keys_of_links(l, i);
}

static uint64_t with_spare_room(uint64_t capacity)
{
    return capacity + capacity / SPARE_PART;
}

/* pow() is not the same to the last bit in every library, and replicas must be. */
static double power(double base, unsigned exponent)
{
    double result = 1;
    while (exponent-- > 0) {
        result *= base;
    }
    return result;
}

/* Makes the next link, unless it is made. */
static enum unseen_status make_link(struct chain *l)
{
    const unsigned i = l->nlinks;
    struct unseen__filter_params params = part_params(l);
    if (i == LINKS_MAX || l->filters[PART_LINK + i]) {
        return i == LINKS_MAX ? UNSEEN_ERR_NOMEM : UNSEEN_OK;
    }
    params.fpr = l->fpr * SMALL_LINKS_SHARE * (1 - tightening) * power(tightening, i);
    params.capacity = with_spare_room(link_capacity(l, i));
    params.clears_later = true;
    return keys_of_links(l, i + 1) < KEYS_MAX
               ? unseen__block_ops.create(&l->filters[PART_LINK + i], &params)
               : UNSEEN_ERR_NOMEM;
}

static uint64_t nkeys_of_newest(const struct chain *l)
{
    const struct unseen__filter *newest = l->filters[newest_part(l)];
    return newest ? newest->ops->nkeys(newest) : 0;
}

/* The keys for which what is behind the first part has room. */
static uint64_t room_of_rest(const struct chain *l)
{
    if (l->nlinks == 0) {
        return l->filters[PART_COMPACT] ? UINT64_MAX : 0;
    }
    const uint64_t nkeys = nkeys_of_newest(l);
    const uint64_t capacity = with_spare_room(l->newest_capacity);
    return nkeys < capacity ? capacity - nkeys : 0;
}

/* Clears as much of the next link as there are keys in the spare room of the newest. If there is no
 * memory for it, it is made when it is needed. */
static void prepare_link(struct chain *l)
{
    const uint64_t spare = l->newest_capacity / SPARE_PART;
    const uint64_t nkeys = nkeys_of_newest(l);
    if (l->nlinks > 0 && nkeys > l->newest_capacity && make_link(l) == UNSEEN_OK) {
        unseen__blocks_clear(l->filters[PART_LINK + l->nlinks],
                             (double)(nkeys - l->newest_capacity) / (double)spare);
    }
}

/* Makes room for a key that no part has. */
static enum unseen_status make_rest(struct chain *l)
{
    struct unseen__filter_params params = part_params(l);
    params.fpr = small_rest_of(l->fpr);
    if (!has_links(l)) {
        return chain_ops_of(l, PART_COMPACT)->create(&l->filters[PART_COMPACT], &params);
    }
    const enum unseen_status status = make_link(l);
    if (status == UNSEEN_OK) {
        unseen__blocks_clear(l->filters[PART_LINK + l->nlinks], 1);
        l->newest_capacity = link_capacity(l, l->nlinks);
        l->nlinks++;
    }
    return status;
}

/* Frees the compact filter if the key that it was made for did not come in. A replica that never
 * saw the key has no compact filter, and replicas must have the same bytes. (A link takes every
 * key.) */
static void drop_empty_rest(struct chain *l)
{
    struct unseen__filter *rest = l->filters[PART_COMPACT];
    if (rest && rest->ops->nkeys(rest) == 0) {
        rest->ops->free(rest);
        l->filters[PART_COMPACT] = NULL;
    }
}

/* ---- keys ---- */

/* Asks the small set about the keys that its outline lets through. */
static void ask_outlined(const struct chain *l, const struct unseen_key *keys, size_t n,
                         uint8_t *verdicts)
{
    struct small small;
    unseen__small_read(&small, l->small);
    for (size_t i = 0; i < n; i++) {
        const bool has = outline_may_have(l->outline, l->outline_bits, keys[i]) &&
                         unseen__small_has(&small, keys[i]);
        verdicts[i] = has ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

/* Makes the outline of the full small set: a short one, 16 KB, and a long one, 64 KB, when that is
 * little beside the memory of the set. Without memory the set works as before. */
static void make_outline(struct chain *l)
{
    const uint64_t nkeys = nkeys_of_newest(l);
    const unsigned bits = nkeys < LONG_FROM ? OUTLINE_SHORT : OUTLINE_LONG;
    struct small small;
    if (!l->small || l->counts || nkeys == 0 || bits <= l->outline_bits) {
        return;
    }
    uint8_t *outline = unseen__alloc(&l->allocator, outline_len(bits), 1);
    if (!outline) {
        return;
    }
    unseen__small_read(&small, l->small);
    unseen__outline_make(outline, bits, &small);
    if (l->outline) {
        unseen__free(&l->allocator, l->outline, outline_len(l->outline_bits));
    }
    l->outline = outline;
    l->outline_bits = bits;
}

static void ask_part(const struct chain *l, unsigned part, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts)
{
    if (part != PART_SMALL) {
        l->filters[part]->ops->contains(l->filters[part], keys, n, verdicts);
    } else if (l->outline) {
        ask_outlined(l, keys, n, verdicts);
    } else {
        unseen_small_contains(l->small, keys, n, verdicts);
    }
}

/* The keys of a batch that no part has yet. A part is asked about all of them at once, so that its
 * memory is fetched ahead. */
struct open_keys {
    struct unseen_key keys[BATCH];
    uint16_t at[BATCH];      /* the index of each key in the batch */
    uint8_t verdicts[BATCH]; /* of the part that was asked last */
    size_t n;
};

static void open_begin(struct open_keys *open, const struct unseen_key *keys, size_t n)
{
    memcpy(open->keys, keys, n * sizeof(*keys));
    for (size_t i = 0; i < n; i++) {
        open->at[i] = (uint16_t)i;
    }
    open->n = n;
}

/* Takes the verdicts of the part that was asked: the keys that it has are closed. */
static void close_open(struct open_keys *open, uint8_t *verdicts)
{
    size_t left = 0;
    for (size_t i = 0; i < open->n; i++) {
        verdicts[open->at[i]] = open->verdicts[i];
        open->keys[left] = open->keys[i];
        open->at[left] = open->at[i];
        left += open->verdicts[i] == UNSEEN_NEW;
    }
    open->n = left;
}

/* Asks the parts from `part` down to the first about a batch. Keys that one has are answered; the
 * others stay open. The newest part has half of the keys, or more. */
static void ask_parts(const struct chain *l, unsigned part, struct open_keys *open,
                      uint8_t *verdicts)
{
    for (part++; part-- > PART_SMALL && open->n > 0;) {
        if (part == PART_SMALL ? l->small != NULL : l->filters[part] != NULL) {
            ask_part(l, part, open->keys, open->n, open->verdicts);
            close_open(open, verdicts);
        }
    }
}

static void chain_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                           size_t n, uint8_t *verdicts)
{
    const struct chain *l = chain_from_const(filter);
    struct open_keys open;
    for (size_t done = 0; done < n; done += BATCH) {
        open_begin(&open, keys + done, n - done < BATCH ? n - done : BATCH);
        ask_parts(l, newest_part(l), &open, verdicts + done);
    }
}

/* Adds keys to the first part, as many as it has room for. SPACE: it is full. */
static enum unseen_status add_first(struct chain *l, const struct unseen_key *keys, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen__filter *block = l->filters[PART_BLOCK];
    if (!block) {
        return unseen_small_add(&l->small, keys, n, verdicts, ndone_out, &l->allocator);
    }
    const uint64_t nkeys = block->ops->nkeys(block);
    *ndone_out = 0;
    if (nkeys >= l->capacity) {
        return UNSEEN_ERR_SPACE;
    }
    const uint64_t room = l->capacity - nkeys;
    return block->ops->add(block, keys, n < room ? n : (size_t)room, verdicts, ndone_out);
}

/* Adds a batch behind the first part, which is full, or as much of it as the newest link has room
 * for. A new link is made for a key that no part has, and for no other: a replica hears of no
 * other. */
static enum unseen_status add_rest(struct chain *l, const struct unseen_key *keys, size_t n,
                                   uint8_t *verdicts, size_t *ndone_out)
{
    const unsigned newest = newest_part(l);
    const uint64_t room = room_of_rest(l);
    enum unseen_status status = UNSEEN_OK;
    struct open_keys open;
    size_t nadded = 0;
    n = room > 0 && room < n ? (size_t)room : n;
    open_begin(&open, keys, n);
    ask_parts(l, room > 0 ? newest - 1 : newest, &open, verdicts);
    if (open.n > 0) {
        status = room > 0 ? UNSEEN_OK : make_rest(l);
    }
    if (open.n > 0 && status == UNSEEN_OK) {
        struct unseen__filter *to = l->filters[newest_part(l)];
        status = to->ops->add(to, open.keys, open.n, open.verdicts, &nadded);
    }
    for (size_t i = 0; i < nadded; i++) {
        verdicts[open.at[i]] = open.verdicts[i];
    }
    *ndone_out = nadded < open.n ? open.at[nadded] : n;
    if (status != UNSEEN_OK) {
        drop_empty_rest(l);
    }
    return status;
}

static enum unseen_status chain_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct chain *l = chain_from(filter);
    enum unseen_status status = UNSEEN_OK;
    bool is_full = newest_part(l) >= PART_COMPACT;
    size_t done = 0;
    while (done < n && status == UNSEEN_OK) {
        const size_t count = n - done < BATCH ? n - done : BATCH;
        size_t batch_done;
        if (is_full) {
            status = add_rest(l, keys + done, count, verdicts + done, &batch_done);
        } else {
            status = add_first(l, keys + done, count, verdicts + done, &batch_done);
            is_full = status == UNSEEN_ERR_SPACE;
            status = is_full ? UNSEEN_OK : status;
        }
        done += batch_done;
    }
    prepare_link(l);
    make_outline(l);
    *ndone_out = done;
    return status;
}

/* ---- a chain that counts ---- */

static bool small_has(const struct chain *l, struct unseen_key key)
{
    uint8_t verdict;
    unseen_small_contains(l->small, &key, 1, &verdict);
    return verdict == UNSEEN_SEEN;
}

static uint64_t stashed_repeats(const struct chain *l, struct unseen_key key)
{
    const struct unseen__filter *rest = l->filters[PART_COMPACT];
    return rest ? unseen__compact_repeats(rest, key) : 0;
}

/* Adds a key that the small set has once more. */
static enum unseen_status add_again(struct chain *l, struct unseen_key key)
{
    enum unseen_status status = UNSEEN_ERR_SPACE;
    uint8_t verdict;
    if (stashed_repeats(l, key) == 0) {
        status = unseen_small_add(&l->small, &key, 1, &verdict, NULL, &l->allocator);
    }
    if (status == UNSEEN_ERR_SPACE) {
        status = l->filters[PART_COMPACT] ? UNSEEN_OK : make_rest(l);
        status =
            status == UNSEEN_OK ? unseen__compact_repeat(l->filters[PART_COMPACT], key) : status;
    }
    return status;
}

static enum unseen_status add_first_time(struct chain *l, struct unseen_key key, uint8_t *verdict)
{
    enum unseen_status status = UNSEEN_ERR_SPACE;
    size_t ndone;
    if (!l->filters[PART_COMPACT]) {
        status = unseen_small_add(&l->small, &key, 1, verdict, &ndone, &l->allocator);
    }
    if (status == UNSEEN_ERR_SPACE) {
        status = l->filters[PART_COMPACT] ? UNSEEN_OK : make_rest(l);
        if (status == UNSEEN_OK) {
            struct unseen__filter *rest = l->filters[PART_COMPACT];
            status = rest->ops->add(rest, &key, 1, verdict, &ndone);
        }
    }
    return status;
}

static enum unseen_status chain_count_add(struct unseen__filter *filter,
                                          const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts, size_t *ndone_out)
{
    struct chain *l = chain_from(filter);
    enum unseen_status status = UNSEEN_OK;
    for (*ndone_out = 0; *ndone_out < n && status == UNSEEN_OK;) {
        const struct unseen_key key = keys[*ndone_out];
        if (small_has(l, key)) {
            verdicts[*ndone_out] = UNSEEN_SEEN;
            status = add_again(l, key);
        } else {
            status = add_first_time(l, key, &verdicts[*ndone_out]);
        }
        *ndone_out += status == UNSEEN_OK;
    }
    if (status != UNSEEN_OK) {
        drop_empty_rest(l);
    }
    return status;
}

static enum unseen_status chain_count_add_absent(struct unseen__filter *filter,
                                                 const struct unseen_key *keys, size_t n,
                                                 uint8_t *verdicts, size_t *ndone_out)
{
    enum unseen_status status = UNSEEN_OK;
    for (*ndone_out = 0; *ndone_out < n && status == UNSEEN_OK;) {
        uint8_t *verdict = &verdicts[*ndone_out];
        size_t nmore = 1;
        chain_contains(filter, &keys[*ndone_out], 1, verdict);
        if (*verdict == UNSEEN_NEW) {
            status = chain_count_add(filter, &keys[*ndone_out], 1, verdict, &nmore);
        }
        *ndone_out += nmore;
    }
    return status;
}

/* Without memory for the smaller block that takes the place of a small set, the key stays, and the
 * verdict says that nothing was removed: no key is lost, and no count is too small. */
static void chain_count_remove(struct unseen__filter *filter, const struct unseen_key *keys,
                               size_t n, uint8_t *verdicts)
{
    struct chain *l = chain_from(filter);
    for (size_t i = 0; i < n; i++) {
        struct unseen__filter *rest = l->filters[PART_COMPACT];
        verdicts[i] = UNSEEN_NEW;
        if (stashed_repeats(l, keys[i]) == 0 && small_has(l, keys[i])) {
            (void)unseen_small_remove(&l->small, keys[i], &verdicts[i], &l->allocator);
        } else if (rest) {
            rest->ops->remove(rest, &keys[i], 1, &verdicts[i]);
            drop_empty_rest(l);
        }
    }
}

static uint64_t chain_multiplicity(const struct unseen__filter *filter, struct unseen_key key)
{
    const struct chain *l = chain_from_const(filter);
    const struct unseen__filter *rest = l->filters[PART_COMPACT];
    if (small_has(l, key)) {
        return unseen_small_count(l->small, key) + stashed_repeats(l, key);
    }
    return rest ? rest->ops->multiplicity(rest, key) : 0;
}

/* ---- numbers ---- */

static struct unseen_small_stats small_stats(const void *small)
{
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    (void)unseen_small_stats(small, &stats);
    return stats;
}

static uint64_t nkeys_of_part(const struct chain *l, unsigned part)
{
    if (part == PART_SMALL) {
        return l->small ? small_stats(l->small).nkeys : 0;
    }
    return l->filters[part] ? l->filters[part]->ops->nkeys(l->filters[part]) : 0;
}

static uint64_t nkeys_of_rest(const struct chain *l)
{
    uint64_t n = nkeys_of_part(l, PART_COMPACT);
    for (unsigned i = 0; i < l->nlinks; i++) {
        n += nkeys_of_part(l, PART_LINK + i);
    }
    return n;
}

static uint64_t chain_nkeys(const struct unseen__filter *filter)
{
    const struct chain *l = chain_from_const(filter);
    return nkeys_of_part(l, PART_SMALL) + nkeys_of_part(l, PART_BLOCK) + nkeys_of_rest(l);
}

static void add_stats(const struct unseen__filter *part, struct unseen_set_stats *stats)
{
    struct unseen_set_stats numbers = {0};
    struct unseen__tally tally = {0};
    part->ops->stats(part, &numbers);
    if (part->ops->tally) {
        part->ops->tally(part, &tally);
        unseen__tally_estimate(&tally, &numbers);
    }
    stats->nkeys += numbers.nkeys;
    stats->nslots += numbers.nslots;
    stats->memory += numbers.memory;
    stats->fill += numbers.fill;
    stats->nkeys_estimate += numbers.nkeys_estimate;
    stats->fpr_estimate += numbers.fpr_estimate;
}

static void chain_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct chain *l = chain_from_const(filter);
    stats->memory += sizeof(*l) + (l->outline ? outline_len(l->outline_bits) : 0);
    stats->fpr_promise = l->fpr;
    if (l->small) {
        const struct unseen_small_stats small = small_stats(l->small);
        stats->nkeys += small.nkeys;
        stats->nslots += SMALL_ROOM;
        stats->memory += small.memory;
        stats->fill += (double)small.nkeys;
        stats->nkeys_estimate += (double)small.nkeys;
        stats->fpr_estimate += small.fpr_estimate;
    }
    for (unsigned part = PART_BLOCK; part < PART_LINK + l->nlinks; part++) {
        if (l->filters[part]) {
            add_stats(l->filters[part], stats);
        }
    }
    if (l->nlinks < LINKS_MAX && l->filters[PART_LINK + l->nlinks]) {
        struct unseen_set_stats next = {0};
        unseen__block_ops.stats(l->filters[PART_LINK + l->nlinks], &next);
        stats->memory += next.memory;
    }
}

/* ---- pieces ----
 *
 * A piece of a part, after a head with the parameters of the part. The value of a small set is one
 * piece.
 *
 *     0  1  kind: 2                       16  8  keys in the part
 *     1  1  part: 0 small, 1 block,       24  8  reserved: 0
 *           2 compact, 3 + i link i       32 32  the part's parameters; 0 of a small set
 *     2 14  reserved: 0                   64     a piece of the part, or the value */

_Static_assert(UNSEEN_SMALL_LEN_MAX + PART_HEAD <= UNSEEN__PIECE_MAX, "a value is a piece");

static void chain_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct chain *l = chain_from_const(filter);
    store_le64(params, SAVED_KIND);
    store_le64(params + 8, l->unit);
    store_le_double(params + 16, l->fpr);
    store_le64(params + 24, l->capacity);
}

static size_t chain_put_piece(const struct chain *l, unsigned part, uint64_t *at, uint8_t *buf)
{
    const struct unseen__filter *filter = l->filters[part];
    size_t len = 0;
    memset(buf, 0, PART_HEAD);
    if (filter) {
        len = filter->ops->save_piece(filter, at, buf + PART_HEAD);
        filter->ops->save_params(filter, buf + 32);
    } else if (part == PART_SMALL && *at == 0) {
        len = unseen_small_len(l->small);
        memcpy(buf + PART_HEAD, l->small, len);
        *at = 1;
    }
    buf[0] = PIECE_PART;
    buf[1] = (uint8_t)part;
    store_le64(buf + 16, nkeys_of_part(l, part));
    return len ? PART_HEAD + len : 0;
}

static size_t chain_save_piece(const struct unseen__filter *filter, uint64_t *position,
                               uint8_t *buf)
{
    const struct chain *l = chain_from_const(filter);
    if (*position < POSITION_REST) {
        const size_t len = chain_put_piece(l, l->small ? PART_SMALL : PART_BLOCK, position, buf);
        if (len) {
            return len;
        }
        *position = POSITION_REST;
    }
    uint64_t at = *position - POSITION_REST;
    size_t len = 0;
    if (!has_links(l)) {
        len = chain_put_piece(l, PART_COMPACT, &at, buf);
        *position = POSITION_REST + at;
        return len;
    }
    uint64_t link = at >> LINK_POSITION_BITS;
    at &= ((uint64_t)1 << LINK_POSITION_BITS) - 1;
    for (; link < l->nlinks && len == 0; link += len == 0) {
        len = chain_put_piece(l, PART_LINK + (unsigned)link, &at, buf);
        at = len ? at : 0;
    }
    *position = POSITION_REST + (link << LINK_POSITION_BITS | at);
    return len;
}

static bool chain_owns_piece(const struct unseen__filter *filter, const uint8_t *piece, size_t len)
{
    (void)filter;
    (void)piece;
    return len > PART_HEAD;
}

static enum unseen_status load_small(struct chain *l, const uint8_t *bytes, size_t len)
{
    static const uint8_t no_params[UNSEEN__PARAMS_LEN];
    if (l->capacity || l->small || memcmp(bytes + 32, no_params, sizeof(no_params)) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status =
        unseen_small_load(&l->small, bytes + PART_HEAD, len - PART_HEAD, &l->allocator);
    if (status != UNSEEN_OK) {
        return status == UNSEEN_ERR_NOMEM ? status : UNSEEN_ERR_CORRUPT;
    }
    struct small small;
    unseen__small_read(&small, l->small);
    const struct unseen_small_stats stats = small_stats(l->small);
    return (small.form == SMALL_LAYERED || small.form == SMALL_SIZED) &&
                   small.counts == l->counts && stats.fpr_promise <= l->fpr * 1.000001 &&
                   stats.nkeys == load_le64(bytes + 16)
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status load_part(struct chain *l, unsigned part, const uint8_t *bytes,
                                    size_t len)
{
    struct unseen__filter_params params = part_params(l);
    params.saved = bytes + 32;
    params.saved_nkeys = load_le64(bytes + 16);
    params.saved_max = l->saved_max;
    if (part == PART_BLOCK ? l->capacity == 0 : has_links(l) != (part >= PART_LINK)) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (!l->filters[part]) {
        const enum unseen_status status = chain_ops_of(l, part)->create(&l->filters[part], &params);
        if (status != UNSEEN_OK) {
            return status;
        }
        memcpy(l->loaded[part], bytes, PART_HEAD);
        l->nlinks = part >= PART_LINK + l->nlinks ? part - PART_LINK + 1 : l->nlinks;
    }
    struct unseen__filter *filter = l->filters[part];
    const bool is_same = memcmp(l->loaded[part], bytes, PART_HEAD) == 0;
    bytes += PART_HEAD;
    len -= PART_HEAD;
    return is_same && filter->ops->owns_piece(filter, bytes, len)
               ? filter->ops->load_piece(filter, bytes, len)
               : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status chain_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                           size_t len)
{
    struct chain *l = chain_from(filter);
    const unsigned part = piece[1];
    if (piece[0] != PIECE_PART || part >= NPARTS || load_le64(piece) >> 16 != 0 ||
        load_le64(piece + 8) != 0 || load_le64(piece + 24) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    return part == PART_SMALL ? load_small(l, piece, len) : load_part(l, part, piece, len);
}

/* A link is for as many keys as it must be, and has at least a byte for each: the next link is made
 * for twice as many. */
static bool is_link(const struct chain *l, unsigned part)
{
    struct unseen_set_stats numbers = {0};
    l->filters[part]->ops->stats(l->filters[part], &numbers);
    return keys_of_links(l, part - PART_LINK + 1) < KEYS_MAX &&
           numbers.capacity == with_spare_room(link_capacity(l, part - PART_LINK)) &&
           numbers.nslots / 8 >= numbers.capacity;
}

static enum unseen_status finish_part(struct chain *l, unsigned part)
{
    struct unseen__filter *inner = l->filters[part];
    if (!inner) {
        return part < PART_LINK ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = inner->ops->load_finish(inner);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (part >= PART_LINK && !is_link(l, part)) {
        return UNSEEN_ERR_CORRUPT;
    }
    return inner->ops->nkeys(inner) == load_le64(l->loaded[part] + 16) ? UNSEEN_OK
                                                                       : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status chain_load_finish(struct unseen__filter *filter)
{
    struct chain *l = chain_from(filter);
    if (!l->small && !l->filters[PART_BLOCK]) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned part = PART_BLOCK; part < PART_LINK + l->nlinks; part++) {
        const enum unseen_status status = finish_part(l, part);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    l->newest_capacity = l->nlinks ? link_capacity(l, l->nlinks - 1) : 0;
    release_loaded(l);
    make_outline(l);
    prepare_link(l);
    return UNSEEN_OK;
}

const struct unseen__filter_ops unseen__chain_ops = {
    .name = "chain",
    .abilities = UNSEEN_CAN_GROW,
    .shard_bits = chain_shard_bits,
    .create = chain_create,
    .free = chain_free,
    .add = chain_add,
    .contains = chain_contains,
    .nkeys = chain_nkeys,
    .stats = chain_stats,
    .save_params = chain_save_params,
    .save_piece = chain_save_piece,
    .owns_piece = chain_owns_piece,
    .load_piece = chain_load_piece,
    .load_finish = chain_load_finish,
};

const struct unseen__filter_ops unseen__chain_count_ops = {
    .name = "chain",
    .abilities = UNSEEN_CAN_GROW | UNSEEN_CAN_REMOVE,
    .shard_bits = chain_shard_bits,
    .create = chain_count_create,
    .free = chain_free,
    .add = chain_count_add,
    .add_absent = chain_count_add_absent,
    .contains = chain_contains,
    .remove = chain_count_remove,
    .multiplicity = chain_multiplicity,
    .nkeys = chain_nkeys,
    .stats = chain_stats,
    .save_params = chain_save_params,
    .save_piece = chain_save_piece,
    .owns_piece = chain_owns_piece,
    .load_piece = chain_load_piece,
    .load_finish = chain_load_finish,
};
