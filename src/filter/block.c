/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter as one of the filters: its size, its numbers, its pieces. block.h
 * explains the structure. */
#include "filter/block.h"

#include <math.h>

#include "base/memory.h"

enum {
    SAVED_KIND = 1,
    SHARD_BITS_MAX = 8
};

/* One line is good enough while two would need at most this much less. */
#define LINE_WORTH 1.05

static const struct unseen__rate_model models[2] = {
    {.cells = 512, .parts = 1, .cell_bits = 1, .k_max = UNSEEN__BLOCKED_HASHES, .fpr_min = 1e-12},
    {.cells = 512, .parts = 2, .cell_bits = 1, .k_max = UNSEEN__BLOCKED_HASHES, .fpr_min = 1e-12},
};

static struct block *from_filter(struct unseen__filter *filter)
{
    return (struct block *)(void *)filter;
}

static const struct block *from_const_filter(const struct unseen__filter *filter)
{
    return (const struct block *)(const void *)filter;
}

static unsigned cells_of(unsigned lines)
{
    return lines * 8 * UNSEEN__LINE;
}

/* ---- the plan ---- */

/* Into how many parts so many blocks can be cut: each has at least 64. */
static unsigned parts_bits(uint64_t nblocks)
{
    unsigned bits = 0;
    while (bits < SHARD_BITS_MAX && nblocks >> (bits + 7)) {
        bits++;
    }
    return bits;
}

/* The blocks of a whole set: as many as can be cut. */
static double nblocks_for(const struct unseen_plan *plan)
{
    const double least = ceil((double)plan->capacity * plan->bits_per_key / cells_of(plan->lines));
    const double part = least < 1e15 ? ldexp(1, (int)parts_bits((uint64_t)least)) : 1;
    return ceil(least / part) * part;
}

/* Whether one line is good enough, of two ways to have the same rate. */
static bool one_is_enough(const struct unseen_plan *one, const struct unseen_plan *two)
{
    struct unseen_plan same = {.fpr = one->fpr};
    if (one->fpr == two->fpr) {
        return one->bits_per_key <= two->bits_per_key * LINE_WORTH;
    }
    /* The bits were given: how many would two lines need for the rate that one has? */
    return unseen__rate_solve(&models[1], &same) == UNSEEN_OK &&
           one->bits_per_key <= same.bits_per_key * LINE_WORTH;
}

/* Solves the plan for one line, and for two. */
static enum unseen_status plan(struct unseen_plan *plan)
{
    struct unseen_plan one = *plan;
    struct unseen_plan two = *plan;
    const enum unseen_status with_one = unseen__rate_solve(&models[0], &one);
    const enum unseen_status with_two = unseen__rate_solve(&models[1], &two);
    const bool is_size_free = plan->bits_per_key == 0 && plan->capacity > 0;
    bool is_one = plan->lines == 1;
    if (plan->lines > 2) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (plan->lines == 0) {
        is_one = with_one == UNSEEN_OK && (with_two != UNSEEN_OK || one_is_enough(&one, &two));
    }
    *plan = is_one ? one : two;
    plan->lines = is_one ? 1 : 2;
    if (is_size_free) {
        const double bits = nblocks_for(plan) * cells_of(plan->lines);
        plan->bits = bits < 1e18 ? (uint64_t)bits : 0;
        plan->bits_per_key = bits / (double)plan->capacity;
    }
    return is_one ? with_one : with_two;
}

static double plan_rate(const struct unseen_plan *plan, double nkeys)
{
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, 512, plan->lines, plan->hashes);
    return unseen__blocked_rate_of(&blocked, nkeys, (double)plan->bits / cells_of(plan->lines));
}

/* The shape of a whole set: k, is_wide, and as nblocks all its blocks. */
static enum unseen_status shape_for(struct block *b, double fpr, uint64_t capacity)
{
    struct unseen_plan p = {.fpr = fpr, .capacity = capacity};
    enum unseen_status status = plan(&p);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (p.bits == 0) {
        return UNSEEN_ERR_NOMEM;
    }
    b->k = p.hashes;
    b->is_wide = p.lines == 2;
    b->nblocks = p.bits / cells_of(p.lines);
    b->fpr = fpr;
    b->capacity = capacity;
    return UNSEEN_OK;
}

static void save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct block *b = from_const_filter(filter);
    params[0] = SAVED_KIND;
    params[1] = (uint8_t)b->k;
    params[2] = b->is_wide ? 2 : 1;
    store_le64(params + 8, b->nblocks << b->prefix_bits);
    store_le64(params + 16, b->capacity);
    store_le_double(params + 24, b->fpr);
}

static enum unseen_status shape_from(struct block *b, const uint8_t *saved)
{
    b->k = saved[1];
    b->is_wide = saved[2] == 2;
    b->nblocks = load_le64(saved + 8);
    b->capacity = load_le64(saved + 16);
    b->fpr = load_le_double(saved + 24);
    const uint64_t part = (uint64_t)1 << parts_bits(b->nblocks);
    bool ok = saved[0] == SAVED_KIND && b->k >= 1 && b->k <= UNSEEN__BLOCKED_HASHES &&
              (saved[2] == 1 || saved[2] == 2) && load_le64(saved) >> 24 == 0 && b->nblocks > 0 &&
              b->nblocks % part == 0 && b->nblocks >> 50 == 0 && b->capacity > 0 && b->fpr > 0 &&
              b->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status shape(struct block *b, const struct unseen__filter_params *params)
{
    if (params->first) {
        const struct block *first = from_const_filter(params->first);
        b->k = first->k;
        b->is_wide = first->is_wide;
        b->nblocks = first->nblocks << first->prefix_bits;
        b->fpr = first->fpr;
        b->capacity = first->capacity;
        return UNSEEN_OK;
    }
    return params->saved ? shape_from(b, params->saved)
                         : shape_for(b, params->fpr, params->capacity);
}

static enum unseen_status shard_bits(const struct unseen__filter_params *params, unsigned wanted,
                                     unsigned *shard_bits_out)
{
    struct block b;
    if (wanted == 0) {
        *shard_bits_out = 0; /* create looks at the parameters */
        return UNSEEN_OK;
    }
    enum unseen_status status = shape(&b, params);
    if (status == UNSEEN_OK) {
        const unsigned limit = parts_bits(b.nblocks);
        *shard_bits_out = wanted < limit ? wanted : limit;
    }
    return status;
}

/* ---- creation ---- */

static const struct block_kernel *select_kernel(bool is_wide, enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX512) {
        return &unseen__block_avx512[is_wide];
    }
    if (cpu == UNSEEN_CPU_AVX2) {
        return &unseen__block_avx2[is_wide];
    }
#else
    (void)cpu;
#endif
    return &unseen__block_portable[is_wide];
}

static enum unseen_status init(struct block *b, const struct unseen__filter_params *params)
{
    enum unseen_status status = shape(b, params);
    if (status != UNSEEN_OK) {
        return status;
    }
    b->nblocks >>= params->prefix_bits;
    b->prefix_bits = params->prefix_bits;
    b->kernel = select_kernel(b->is_wide, params->cpu);
    b->nkeys = params->saved && params->prefix == 0 ? params->saved_nkeys : 0;
    status = unseen__array_init(&b->array, b->nblocks << b->is_wide, params->prefix_bits,
                                params->prefix, params->saved != NULL, &b->allocator);
    b->bytes = b->array.bytes;
    return status;
}

static enum unseen_status create(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params)
{
    struct block *b = unseen__alloc(&params->allocator, sizeof(*b), _Alignof(struct block));
    if (!b) {
        return UNSEEN_ERR_NOMEM;
    }
    *b = (struct block){.filter.ops = &unseen__block_ops, .allocator = params->allocator};
    enum unseen_status status = init(b, params);
    if (status != UNSEEN_OK) {
        unseen__free(&params->allocator, b, sizeof(*b));
        return status;
    }
    *filter_out = &b->filter;
    return UNSEEN_OK;
}

static void free_block(struct unseen__filter *filter)
{
    struct block *b = from_filter(filter);
    struct unseen_allocator allocator = b->allocator;
    unseen__array_release(&b->array, &allocator);
    unseen__free(&allocator, b, sizeof(*b));
}

/* ---- operations ---- */

static enum unseen_status add(struct unseen__filter *filter, const struct unseen_key *keys,
                              size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct block *b = from_filter(filter);
    b->kernel->add(b, keys, n, verdicts);
    *ndone_out = n;
    return UNSEEN_OK;
}

static void contains(const struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts)
{
    const struct block *b = from_const_filter(filter);
    b->kernel->contains(b, keys, n, verdicts);
}

static double ncells_of(const struct block *b)
{
    return (double)b->nblocks * cells_of(b->is_wide ? 2 : 1);
}

/* The mean number of keys in a block that explains so many set bits. */
static double load_of(const struct block *b, const struct unseen__blocked *blocked, uint64_t nset)
{
    return unseen__blocked_load(blocked, (double)nset / ncells_of(b));
}

static uint64_t nkeys(const struct unseen__filter *filter)
{
    return from_const_filter(filter)->nkeys;
}

static void stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct block *b = from_const_filter(filter);
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, 512, b->is_wide ? 2 : 1, b->k);
    const double load = load_of(b, &blocked, b->nset);
    stats->nkeys += b->nkeys;
    stats->nslots += b->array.nlines * 8 * UNSEEN__LINE;
    stats->memory += sizeof(*b) + unseen__array_memory(&b->array);
    stats->fpr_promise = b->fpr;
    stats->fpr_estimate += ldexp(unseen__blocked_rate(&blocked, load), -(int)b->prefix_bits);
    stats->fill += (double)b->nset;
    stats->nkeys_estimate += load * (double)b->nblocks;
    stats->capacity = b->capacity;
    stats->hashes = b->k;
}

/* ---- pieces ---- */

static size_t save_piece(const struct unseen__filter *filter, uint64_t *position, uint8_t *buf)
{
    return unseen__array_save_piece(&from_const_filter(filter)->array, position, buf);
}

static bool owns_piece(const struct unseen__filter *filter, const uint8_t *piece, size_t len)
{
    return unseen__array_owns_piece(&from_const_filter(filter)->array, piece, len);
}

static enum unseen_status load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                     size_t len)
{
    return unseen__array_load_piece(&from_filter(filter)->array, piece, len);
}

static enum unseen_status load_finish(struct unseen__filter *filter)
{
    struct block *b = from_filter(filter);
    enum unseen_status status = unseen__array_load_finish(&b->array, &b->allocator);
    if (status == UNSEEN_OK) {
        b->nset = unseen__count_bits(b->bytes, (size_t)b->array.nlines * UNSEEN__LINE);
    }
    return status;
}

/* ---- union and intersection ---- */

static bool is_same_shape(const struct unseen__filter *filter, const struct unseen__filter *other)
{
    const struct block *b = from_const_filter(filter);
    const struct block *o = from_const_filter(other);
    return b->nblocks << b->prefix_bits == o->nblocks << o->prefix_bits && b->k == o->k &&
           b->is_wide == o->is_wide && b->capacity == o->capacity && b->fpr == o->fpr;
}

static void combine_piece(struct unseen__filter *filter, enum unseen__combination combination,
                          const uint8_t *piece, size_t len)
{
    struct block *b = from_filter(filter);
    unseen__array_combine(&b->array, combination, piece, len, &b->combined);
}

static void combine_finish(struct unseen__filter *filter, enum unseen__combination combination)
{
    struct block *b = from_filter(filter);
    const struct unseen__combined *c = &b->combined;
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, 512, b->is_wide ? 2 : 1, b->k);
    double load = load_of(b, &blocked, c->either);
    b->nset = c->either;
    if (combination == UNSEEN__INTERSECTION) {
        load = fmax(0, load_of(b, &blocked, c->own) + load_of(b, &blocked, c->other) - load);
        b->nset = c->own + c->other - c->either;
    }
    b->nkeys = (uint64_t)llround(load * (double)b->nblocks);
    b->combined = (struct unseen__combined){0};
}

const struct unseen__filter_ops unseen__block_ops = {
    .name = "block",
    .abilities = UNSEEN_CAN_MERGE | UNSEEN_CAN_INTERSECT,
    .shard_bits = shard_bits,
    .create = create,
    .free = free_block,
    .add = add,
    .contains = contains,
    .nkeys = nkeys,
    .stats = stats,
    .save_params = save_params,
    .save_piece = save_piece,
    .owns_piece = owns_piece,
    .load_piece = load_piece,
    .load_finish = load_finish,
    .is_same_shape = is_same_shape,
    .combine_piece = combine_piece,
    .combine_finish = combine_finish,
    .plan = plan,
    .plan_rate = plan_rate,
};
