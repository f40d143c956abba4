/* SPDX-License-Identifier: MIT
 *
 * The layered filter: two filters, one behind the other. The first filter is as small as its few
 * keys allow, and takes keys until it is full. From then on it is frozen, and a compact filter,
 * which grows by itself, takes the other keys. The first filter is one of two:
 *
 *     capacity 0    a small set (small/small.h): five layers of sorted hashes, some 21,800 keys
 *     capacity n    a block filter for n keys
 *
 * The rate of the first filter is the promise less SMALL_REST, which is the rate of the compact
 * filter at any number of keys. The compact filter is made when the first key comes that the full
 * filter does not have. The keys of the first filter stay there: its hashes of 14 bits could not
 * become tags of 40.
 *
 * Both filters are asked about an absent key. In a set that is much larger than its small set, an
 * outline of the small set (small/outline.h) answers nearly all of these questions. Keys cannot be
 * removed, because nothing says which of the two filters has a key.
 *
 * This filter is not in the list of names. A set gets it when it is made of a small set with layers
 * (unseen_small.h), or when a server makes a set of a given size. */
#include "filter/layered.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/memory.h"
#include "filter/tally.h"
#include "small/outline.h"
#include "small/small.h"

enum {
    BATCH = 256,
    SAVED_KIND = 1,
    PIECE_LAYERED = 1,
    PART_SMALL = 0,
    PART_BLOCK = 1,
    PART_REST = 2,
    NPARTS = 3,
    PART_HEAD = 64,
    OUTLINE_FROM =
        65536 /* keys in the rest; its memory is 400 KB then, and the outline 64 KB more */
};

/* In a position: the part behind the first. */
#define POSITION_REST ((uint64_t)1 << 49)

struct layered {
    struct unseen__filter filter;
    void *small;                            /* NULL if there is a capacity */
    uint8_t *outline;                       /* of `small`; NULL: not made */
    struct unseen__filter *filters[NPARTS]; /* of BLOCK and REST; NULL: not there */
    uint8_t loaded[NPARTS][PART_HEAD];      /* while loading: the head of the first piece */
    double fpr;
    uint64_t capacity;
    uint64_t saved_max;
    enum unseen_cpu cpu;
    struct unseen_allocator allocator;
};

static struct layered *layered_from(struct unseen__filter *filter)
{
    return (struct layered *)(void *)filter;
}

static const struct layered *layered_from_const(const struct unseen__filter *filter)
{
    return (const struct layered *)(const void *)filter;
}

/* ---- create ---- */

static void layered_free(struct unseen__filter *filter)
{
    struct layered *l = layered_from(filter);
    struct unseen_allocator allocator = l->allocator;
    for (unsigned i = 0; i < NPARTS; i++) {
        if (l->filters[i]) {
            l->filters[i]->ops->free(l->filters[i]);
        }
    }
    unseen_small_free(l->small, &allocator);
    if (l->outline) {
        unseen__free(&allocator, l->outline, OUTLINE_LEN);
    }
    unseen__free(&allocator, l, sizeof(*l));
}

static struct unseen__filter_params part_params(const struct layered *l)
{
    return (struct unseen__filter_params){.cpu = l->cpu, .allocator = l->allocator};
}

static const struct unseen__filter_ops *layered_ops_of(unsigned part)
{
    return part == PART_BLOCK ? &unseen__block_ops : &unseen__compact_ops;
}

static enum unseen_status layered_make_first(struct layered *l)
{
    if (l->capacity == 0) {
        return unseen_small_create(&l->small, l->fpr, &l->allocator);
    }
    struct unseen__filter_params params = part_params(l);
    params.fpr = l->fpr - SMALL_REST;
    params.capacity = l->capacity;
    return unseen__block_ops.create(&l->filters[PART_BLOCK], &params);
}

static enum unseen_status make_rest(struct layered *l)
{
    struct unseen__filter_params params = part_params(l);
    params.fpr = SMALL_REST;
    return l->filters[PART_REST] ? UNSEEN_OK
                                 : unseen__compact_ops.create(&l->filters[PART_REST], &params);
}

static enum unseen_status layered_load_params(struct layered *l,
                                              const struct unseen__filter_params *params)
{
    const uint8_t *saved = params->saved;
    l->fpr = load_le_double(saved + 16);
    l->capacity = load_le64(saved + 24);
    l->saved_max = params->saved_max;
    const bool ok = load_le64(saved) == SAVED_KIND && load_le64(saved + 8) == 0 &&
                    l->fpr >= SMALL_LAYERED_RATE_MIN && l->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status layered_start(struct layered *l,
                                        const struct unseen__filter_params *params)
{
    if (params->saved) {
        return layered_load_params(l, params);
    }
    if (params->fpr < SMALL_LAYERED_RATE_MIN) {
        return UNSEEN_ERR_FPR;
    }
    l->fpr = params->fpr;
    l->capacity = params->capacity;
    return layered_make_first(l);
}

static enum unseen_status layered_create(struct unseen__filter **filter_out,
                                         const struct unseen__filter_params *params)
{
    struct layered *l = unseen__alloc(&params->allocator, sizeof(*l), _Alignof(struct layered));
    if (!l) {
        return UNSEEN_ERR_NOMEM;
    }
    *l = (struct layered){
        .filter.ops = &unseen__layered_ops, .cpu = params->cpu, .allocator = params->allocator};
    const enum unseen_status status = layered_start(l, params);
    if (status != UNSEEN_OK) {
        layered_free(&l->filter);
        return status;
    }
    *filter_out = &l->filter;
    return UNSEEN_OK;
}

/* The first part cannot be cut: the set is one filter, for any number of threads. */
static enum unseen_status layered_shard_bits(const struct unseen__filter_params *params,
                                             unsigned wanted, unsigned *shard_bits_out)
{
    (void)params;
    (void)wanted;
    *shard_bits_out = 0;
    return UNSEEN_OK;
}

enum unseen_status unseen__layered_adopt(struct unseen__filter *filter, const void *value)
{
    struct layered *l = layered_from(filter);
    const size_t memory = unseen_small_memory(value);
    void *copy = unseen__alloc(&l->allocator, memory, UNSEEN_SMALL_ALIGN);
    if (!copy) {
        return UNSEEN_ERR_NOMEM;
    }
    memcpy(copy, value, memory);
    enum unseen_status status = unseen_small_keep_seed(&copy, NULL, &l->allocator);
    status = status == UNSEEN_OK ? unseen_small_set_mark(&copy, 0, &l->allocator) : status;
    if (status != UNSEEN_OK) {
        unseen_small_free(copy, &l->allocator);
        return status;
    }
    unseen_small_free(l->small, &l->allocator);
    l->small = copy;
    return UNSEEN_OK;
}

/* ---- keys ---- */

/* The keys of a batch that the first part does not have. */
struct open_keys {
    struct unseen_key keys[BATCH];
    uint16_t at[BATCH]; /* the index of each key in the batch */
    uint8_t verdicts[BATCH];
    size_t n;
};

/* Asks the small set about the keys that its outline lets through. */
static void ask_outlined(const struct layered *l, const struct unseen_key *keys, size_t n,
                         uint8_t *verdicts)
{
    struct small small;
    unseen__small_read(&small, l->small);
    for (size_t i = 0; i < n; i++) {
        const bool has =
            outline_may_have(l->outline, keys[i]) && unseen__small_has(&small, keys[i]);
        verdicts[i] = has ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

/* Makes the outline when it has become worth its memory. Without memory the set works as before. */
static void make_outline(struct layered *l)
{
    const struct unseen__filter *rest = l->filters[PART_REST];
    struct small small;
    if (l->outline || !l->small || !rest || rest->ops->nkeys(rest) < OUTLINE_FROM) {
        return;
    }
    l->outline = unseen__alloc(&l->allocator, OUTLINE_LEN, 1);
    if (l->outline) {
        unseen__small_read(&small, l->small);
        unseen__outline_make(l->outline, &small);
    }
}

/* Asks the first part about a batch. */
static void ask_first(const struct layered *l, const struct unseen_key *keys, size_t n,
                      uint8_t *verdicts, struct open_keys *open)
{
    const struct unseen__filter *block = l->filters[PART_BLOCK];
    if (block) {
        block->ops->contains(block, keys, n, verdicts);
    } else if (l->outline) {
        ask_outlined(l, keys, n, verdicts);
    } else {
        unseen_small_contains(l->small, keys, n, verdicts);
    }
    open->n = 0;
    for (size_t i = 0; i < n; i++) {
        open->keys[open->n] = keys[i];
        open->at[open->n] = (uint16_t)i;
        open->n += verdicts[i] == UNSEEN_NEW;
    }
}

static void layered_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                             size_t n, uint8_t *verdicts)
{
    const struct layered *l = layered_from_const(filter);
    const struct unseen__filter *rest = l->filters[PART_REST];
    struct open_keys open;
    for (size_t done = 0; done < n; done += BATCH) {
        ask_first(l, keys + done, n - done < BATCH ? n - done : BATCH, verdicts + done, &open);
        if (rest && open.n > 0) {
            rest->ops->contains(rest, open.keys, open.n, open.verdicts);
            for (size_t i = 0; i < open.n; i++) {
                verdicts[done + open.at[i]] = open.verdicts[i];
            }
        }
    }
}

/* Adds keys to the first part, as many as it has room for. SPACE: it is full. */
static enum unseen_status add_first(struct layered *l, const struct unseen_key *keys, size_t n,
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

/* Frees the compact filter if the key that it was made for did not come in. A replica that never
 * saw the key has no compact filter, and replicas must have the same bytes. */
static void drop_empty_rest(struct layered *l)
{
    struct unseen__filter *rest = l->filters[PART_REST];
    if (rest && rest->ops->nkeys(rest) == 0) {
        rest->ops->free(rest);
        l->filters[PART_REST] = NULL;
    }
}

/* Adds to the rest the keys of a batch that the first part does not have. */
static enum unseen_status add_rest(struct layered *l, const struct unseen_key *keys, size_t n,
                                   uint8_t *verdicts, size_t *ndone_out)
{
    struct open_keys open;
    size_t nadded = 0;
    ask_first(l, keys, n, verdicts, &open);
    enum unseen_status status = open.n > 0 ? make_rest(l) : UNSEEN_OK;
    if (status == UNSEEN_OK && open.n > 0) {
        struct unseen__filter *rest = l->filters[PART_REST];
        status = rest->ops->add(rest, open.keys, open.n, open.verdicts, &nadded);
    }
    for (size_t i = 0; i < nadded; i++) {
        verdicts[open.at[i]] = open.verdicts[i];
    }
    *ndone_out = nadded < open.n ? open.at[nadded] : n;
    if (status != UNSEEN_OK) {
        drop_empty_rest(l);
    }
    make_outline(l);
    return status;
}

static enum unseen_status layered_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                      size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct layered *l = layered_from(filter);
    enum unseen_status status = UNSEEN_OK;
    bool is_full = l->filters[PART_REST] != NULL;
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
    *ndone_out = done;
    return status;
}

/* ---- numbers ---- */

static struct unseen_small_stats small_stats(const void *small)
{
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    (void)unseen_small_stats(small, &stats);
    return stats;
}

static uint64_t nkeys_of_part(const struct layered *l, unsigned part)
{
    if (part == PART_SMALL) {
        return l->small ? small_stats(l->small).nkeys : 0;
    }
    return l->filters[part] ? l->filters[part]->ops->nkeys(l->filters[part]) : 0;
}

static uint64_t layered_nkeys(const struct unseen__filter *filter)
{
    const struct layered *l = layered_from_const(filter);
    return nkeys_of_part(l, PART_SMALL) + nkeys_of_part(l, PART_BLOCK) +
           nkeys_of_part(l, PART_REST);
}

static void add_stats(const struct unseen__filter *part, struct unseen_set_stats *stats)
{
    struct unseen_set_stats numbers = {0};
    struct unseen__tally tally = {.nfilters = 1};
    part->ops->stats(part, &numbers);
    if (part->ops->tally) {
        part->ops->tally(part, tally.parts);
        unseen__tally_estimate(&tally, &numbers);
    }
    stats->nkeys += numbers.nkeys;
    stats->nslots += numbers.nslots;
    stats->memory += numbers.memory;
    stats->fill += numbers.fill;
    stats->nkeys_estimate += numbers.nkeys_estimate;
    stats->fpr_estimate += numbers.fpr_estimate;
}

static void layered_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct layered *l = layered_from_const(filter);
    stats->memory += sizeof(*l) + (l->outline ? OUTLINE_LEN : 0);
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
    for (unsigned part = PART_BLOCK; part < NPARTS; part++) {
        if (l->filters[part]) {
            add_stats(l->filters[part], stats);
        }
    }
}

/* ---- pieces ----
 *
 * A piece of a part, after a head with the parameters of the part. The value of a small set is one
 * piece.
 *
 *     0  1  kind: 1                       16  8  keys in the part
 *     1  1  part: 0 small, 1 block,       24  8  reserved: 0
 *           2 compact                     32 32  the part's parameters; 0 of a small set
 *     2 14  reserved: 0                   64     a piece of the part, or the value */

_Static_assert(UNSEEN_SMALL_LEN_MAX + PART_HEAD <= UNSEEN__PIECE_MAX, "a value is a piece");

static void layered_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct layered *l = layered_from_const(filter);
    store_le64(params, SAVED_KIND);
    store_le_double(params + 16, l->fpr);
    store_le64(params + 24, l->capacity);
}

static size_t layered_put_piece(const struct layered *l, unsigned part, uint64_t *at, uint8_t *buf)
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
    buf[0] = PIECE_LAYERED;
    buf[1] = (uint8_t)part;
    store_le64(buf + 16, nkeys_of_part(l, part));
    return len ? PART_HEAD + len : 0;
}

static size_t layered_save_piece(const struct unseen__filter *filter, uint64_t *position,
                                 uint8_t *buf)
{
    const struct layered *l = layered_from_const(filter);
    if (*position < POSITION_REST) {
        const size_t len = layered_put_piece(l, l->small ? PART_SMALL : PART_BLOCK, position, buf);
        if (len) {
            return len;
        }
        *position = POSITION_REST;
    }
    uint64_t at = *position - POSITION_REST;
    const size_t len = layered_put_piece(l, PART_REST, &at, buf);
    *position = POSITION_REST + at;
    return len;
}

static bool layered_owns_piece(const struct unseen__filter *filter, const uint8_t *piece,
                               size_t len)
{
    (void)filter;
    (void)piece;
    return len > PART_HEAD;
}

static enum unseen_status load_small(struct layered *l, const uint8_t *bytes, size_t len)
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
    return small.form == SMALL_LAYERED && !small.seed && stats.fpr_promise <= l->fpr * 1.000001 &&
                   stats.nkeys == load_le64(bytes + 16)
               ? UNSEEN_OK
               : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status load_part(struct layered *l, unsigned part, const uint8_t *bytes,
                                    size_t len)
{
    struct unseen__filter_params params = part_params(l);
    params.saved = bytes + 32;
    params.saved_nkeys = load_le64(bytes + 16);
    params.saved_max = l->saved_max;
    if (part == PART_BLOCK && l->capacity == 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (!l->filters[part]) {
        const enum unseen_status status = layered_ops_of(part)->create(&l->filters[part], &params);
        if (status != UNSEEN_OK) {
            return status;
        }
        memcpy(l->loaded[part], bytes, PART_HEAD);
    }
    struct unseen__filter *filter = l->filters[part];
    const bool is_same = memcmp(l->loaded[part], bytes, PART_HEAD) == 0;
    bytes += PART_HEAD;
    len -= PART_HEAD;
    return is_same && filter->ops->owns_piece(filter, bytes, len)
               ? filter->ops->load_piece(filter, bytes, len)
               : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status layered_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                             size_t len)
{
    struct layered *l = layered_from(filter);
    const unsigned part = piece[1];
    if (piece[0] != PIECE_LAYERED || part >= NPARTS || load_le64(piece) >> 16 != 0 ||
        load_le64(piece + 8) != 0 || load_le64(piece + 24) != 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    return part == PART_SMALL ? load_small(l, piece, len) : load_part(l, part, piece, len);
}

static enum unseen_status layered_load_finish(struct unseen__filter *filter)
{
    struct layered *l = layered_from(filter);
    if (!l->small && !l->filters[PART_BLOCK]) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (unsigned part = PART_BLOCK; part < NPARTS; part++) {
        struct unseen__filter *inner = l->filters[part];
        const enum unseen_status status = inner ? inner->ops->load_finish(inner) : UNSEEN_OK;
        if (status != UNSEEN_OK) {
            return status;
        }
        if (inner && inner->ops->nkeys(inner) != load_le64(l->loaded[part] + 16)) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    make_outline(l);
    return UNSEEN_OK;
}

const struct unseen__filter_ops unseen__layered_ops = {
    .name = "layered",
    .abilities = UNSEEN_CAN_GROW,
    .shard_bits = layered_shard_bits,
    .create = layered_create,
    .free = layered_free,
    .add = layered_add,
    .contains = layered_contains,
    .nkeys = layered_nkeys,
    .stats = layered_stats,
    .save_params = layered_save_params,
    .save_piece = layered_save_piece,
    .owns_piece = layered_owns_piece,
    .load_piece = layered_load_piece,
    .load_finish = layered_load_finish,
};
