/* SPDX-License-Identifier: MIT
 *
 * The filters of blocks: plans, creation, numbers, pieces, and the tables of their operations.
 * blocks.h explains what they share. */
#include "bits/blocks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bits/bits.h"
#include "bits/block.h"
#include "bits/counting.h"

enum {
    SAVED_KIND = 1,
    SHARD_BITS_MAX = 8,
    LINE_BITS = 8 * UNSEEN__LINE
};

/* One line is good enough if it needs at most this many times the bits of two lines. */
#define LINE_WORTH 1.05

/* ---- the plan ---- */

static struct unseen__rate_model model_of(const struct blocks_kind *kind, unsigned lines)
{
    return (struct unseen__rate_model){.cells = kind->cells,
                                       .parts = lines,
                                       .cell_bits = kind->cell_bits,
                                       .k_max = UNSEEN__BLOCKED_HASHES,
                                       .fpr_min = kind->fpr_min};
}

/* The number of parts, as a power of two, that nblocks can be cut into; each part has at least
 * 64. */
static unsigned parts_bits(uint64_t nblocks)
{
    unsigned bits = 0;
    while (bits < SHARD_BITS_MAX && nblocks >> (bits + 7)) {
        bits++;
    }
    return bits;
}

/* The blocks of a whole set, a multiple of the number of parts. */
static double nblocks_for(const struct unseen_plan *plan)
{
    const double block_bits = (double)plan->lines * LINE_BITS;
    const double least = ceil((double)plan->capacity * plan->bits_per_key / block_bits);
    const double part = least < 1e15 ? ldexp(1, (int)parts_bits((uint64_t)least)) : 1;
    return ceil(least / part) * part;
}

/* True if one line is good enough. */
static bool one_is_enough(const struct unseen__rate_model *wide, const struct unseen_plan *one,
                          const struct unseen_plan *two)
{
    struct unseen_plan same = {.fpr = one->fpr};
    if (one->fpr == two->fpr) {
        return one->bits_per_key <= two->bits_per_key * LINE_WORTH;
    }
    /* The bits were given: compare with the bits that two lines need for the rate of one line. */
    return unseen__rate_solve(wide, &same) == UNSEEN_OK &&
           one->bits_per_key <= same.bits_per_key * LINE_WORTH;
}

/* Solves the plan for one line and for two lines, and takes the better solution. */
static enum unseen_status blocks_plan(const struct blocks_kind *kind, struct unseen_plan *plan)
{
    const struct unseen__rate_model models[2] = {model_of(kind, 1), model_of(kind, 2)};
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
        is_one = with_one == UNSEEN_OK &&
                 (with_two != UNSEEN_OK || one_is_enough(&models[1], &one, &two));
    }
    *plan = is_one ? one : two;
    plan->lines = is_one ? 1 : 2;
    if (is_size_free) {
        const double bits = nblocks_for(plan) * plan->lines * LINE_BITS;
        plan->bits = bits < 1e18 ? (uint64_t)bits : 0;
        plan->bits_per_key = bits / (double)plan->capacity;
    }
    return is_one ? with_one : with_two;
}

static double blocks_plan_rate(const struct blocks_kind *kind, const struct unseen_plan *plan,
                               double nkeys)
{
    struct unseen__blocked blocked;
    if (plan->lines < 1 || plan->lines > 2 || plan->hashes < 1 ||
        plan->hashes > UNSEEN__BLOCKED_HASHES || plan->bits == 0) {
        return 0;
    }
    unseen__blocked_init(&blocked, kind->cells, plan->lines, plan->hashes);
    const double nblocks = (double)plan->bits / (plan->lines * LINE_BITS);
    return unseen__blocked_rate_of(&blocked, nkeys, nblocks);
}

/* ---- the geometry of a whole set: k, two_lines, and the blocks of all filters ---- */

static enum unseen_status blocks_shape_for(struct blocks *b, double fpr, uint64_t capacity)
{
    struct unseen_plan p = {.fpr = fpr, .capacity = capacity};
    const enum unseen_status status = blocks_plan(b->kind, &p);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (p.bits == 0) {
        return UNSEEN_ERR_NOMEM;
    }
    b->k = p.hashes;
    b->two_lines = p.lines == 2;
    b->nblocks = p.bits / (p.lines * LINE_BITS);
    b->fpr = fpr;
    b->capacity = capacity;
    return UNSEEN_OK;
}

static void blocks_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct blocks *b = blocks_from_const(filter);
    params[0] = SAVED_KIND;
    params[1] = (uint8_t)b->k;
    params[2] = b->two_lines ? 2 : 1;
    store_le64(params + 8, b->nblocks << b->prefix_bits);
    store_le64(params + 16, b->capacity);
    store_le_double(params + 24, b->fpr);
}

static enum unseen_status blocks_shape_from(struct blocks *b, const uint8_t *saved)
{
    b->k = saved[1];
    b->two_lines = saved[2] == 2;
    b->nblocks = load_le64(saved + 8);
    b->capacity = load_le64(saved + 16);
    b->fpr = load_le_double(saved + 24);
    const uint64_t part = (uint64_t)1 << parts_bits(b->nblocks);
    const bool ok = saved[0] == SAVED_KIND && b->k >= 1 && b->k <= UNSEEN__BLOCKED_HASHES &&
                    (saved[2] == 1 || saved[2] == 2) && load_le64(saved) >> 24 == 0 &&
                    b->nblocks > 0 && b->nblocks % part == 0 && b->nblocks >> 50 == 0 &&
                    b->capacity > 0 && b->fpr > 0 && b->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status blocks_shape(struct blocks *b, const struct unseen__filter_params *params)
{
    if (params->first) {
        const struct blocks *first = blocks_from_const(params->first);
        b->k = first->k;
        b->two_lines = first->two_lines;
        b->nblocks = first->nblocks << first->prefix_bits;
        b->fpr = first->fpr;
        b->capacity = first->capacity;
        return UNSEEN_OK;
    }
    return params->saved ? blocks_shape_from(b, params->saved)
                         : blocks_shape_for(b, params->fpr, params->capacity);
}

static enum unseen_status blocks_shard_bits(const struct blocks_kind *kind,
                                            const struct unseen__filter_params *params,
                                            unsigned wanted, unsigned *shard_bits_out)
{
    struct blocks b = {.kind = kind};
    if (wanted == 0) {
        *shard_bits_out = 0; /* create looks at the parameters */
        return UNSEEN_OK;
    }
    const enum unseen_status status = blocks_shape(&b, params);
    if (status == UNSEEN_OK) {
        const unsigned limit = parts_bits(b.nblocks);
        *shard_bits_out = wanted < limit ? wanted : limit;
    }
    return status;
}

/* ---- creation ---- */

static const struct blocks_kernel *blocks_select_kernel(const struct blocks_kind *kind,
                                                        bool two_lines, enum unseen_cpu cpu)
{
    if (cpu == UNSEEN_CPU_AVX512 && kind->avx512) {
        return &kind->avx512[two_lines];
    }
    if (cpu == UNSEEN_CPU_AVX2 && kind->avx2) {
        return &kind->avx2[two_lines];
    }
    return &kind->portable[two_lines];
}

static enum unseen_status blocks_init(struct blocks *b, const struct unseen__filter_params *params)
{
    enum unseen_status status = blocks_shape(b, params);
    if (status != UNSEEN_OK) {
        return status;
    }
    b->nblocks >>= params->prefix_bits;
    b->prefix_bits = params->prefix_bits;
    b->kernel = blocks_select_kernel(b->kind, b->two_lines, params->cpu);
    b->nkeys = params->saved && params->prefix == 0 ? params->saved_nkeys : 0;
    status = unseen__line_array_init(&b->array, b->nblocks << b->two_lines, params->prefix_bits,
                                     params->prefix, params->saved ? params->saved_max : 0,
                                     params->clears_later, &b->allocator);
    b->bytes = b->array.bytes;
    b->ncleared = params->clears_later ? 0 : b->array.nbytes;
    return status;
}

void unseen__blocks_clear(struct unseen__filter *filter, double share)
{
    struct blocks *b = blocks_from(filter);
    const size_t nbytes = b->array.nbytes;
    const size_t goal = share < 1 ? (size_t)((double)nbytes * share) : nbytes;
    if (goal > b->ncleared) {
        memset(b->bytes + b->ncleared, 0, goal - b->ncleared);
        b->ncleared = goal;
    }
}

static enum unseen_status blocks_create(const struct unseen__filter_ops *ops,
                                        const struct blocks_kind *kind,
                                        struct unseen__filter **filter_out,
                                        const struct unseen__filter_params *params)
{
    struct blocks *b = unseen__alloc(&params->allocator, sizeof(*b), _Alignof(struct blocks));
    if (!b) {
        return UNSEEN_ERR_NOMEM;
    }
    *b = (struct blocks){.filter.ops = ops, .kind = kind, .allocator = params->allocator};
    const enum unseen_status status = blocks_init(b, params);
    if (status != UNSEEN_OK) {
        unseen__free(&params->allocator, b, sizeof(*b));
        return status;
    }
    *filter_out = &b->filter;
    return UNSEEN_OK;
}

static void blocks_free(struct unseen__filter *filter)
{
    struct blocks *b = blocks_from(filter);
    struct unseen_allocator allocator = b->allocator;
    unseen__line_array_release(&b->array, &allocator);
    unseen__free(&allocator, b, sizeof(*b));
}

/* ---- keys ---- */

static enum unseen_status blocks_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                     size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct blocks *b = blocks_from(filter);
    b->kernel->add(b, keys, n, verdicts);
    *ndone_out = n;
    return UNSEEN_OK;
}

static enum unseen_status blocks_add_absent(struct unseen__filter *filter,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts, size_t *ndone_out)
{
    struct blocks *b = blocks_from(filter);
    b->kernel->add_absent(b, keys, n, verdicts);
    *ndone_out = n;
    return UNSEEN_OK;
}

static void blocks_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                            size_t n, uint8_t *verdicts)
{
    const struct blocks *b = blocks_from_const(filter);
    b->kernel->contains(b, keys, n, verdicts);
}

static void blocks_remove(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                          uint8_t *verdicts)
{
    struct blocks *b = blocks_from(filter);
    b->kernel->remove(b, keys, n, verdicts);
}

/* ---- numbers ---- */

static unsigned lines_of(const struct blocks *b)
{
    return b->two_lines ? 2 : 1;
}

static uint64_t ncells_of(const struct blocks *b)
{
    return b->array.nlines * b->kind->cells;
}

double unseen__blocks_load(const struct blocks *b, uint64_t nset)
{
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, b->kind->cells, lines_of(b), b->k);
    return unseen__blocked_load(&blocked, (double)nset / (double)ncells_of(b));
}

static uint64_t blocks_nkeys(const struct unseen__filter *filter)
{
    return blocks_from_const(filter)->nkeys;
}

static void blocks_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct blocks *b = blocks_from_const(filter);
    stats->nkeys += b->nkeys;
    stats->nslots += ncells_of(b);
    stats->memory += sizeof(*b) + unseen__line_array_memory(&b->array);
    stats->fill += (double)b->nset;
    stats->fpr_promise = b->fpr;
    stats->capacity = b->capacity;
    stats->hashes = b->k;
}

static void blocks_tally(const struct unseen__filter *filter, struct unseen__tally *tally)
{
    const struct blocks *b = blocks_from_const(filter);
    tally->cells = b->kind->cells;
    tally->lines = lines_of(b);
    tally->k = b->k;
    tally->nset += (double)b->nset;
    tally->ncells += (double)ncells_of(b);
}

/* ---- pieces ---- */

static size_t blocks_save_piece(const struct unseen__filter *filter, uint64_t *position,
                                uint8_t *buf)
{
    return unseen__line_array_save_piece(&blocks_from_const(filter)->array, position, buf);
}

static bool blocks_owns_piece(const struct unseen__filter *filter, const uint8_t *piece, size_t len)
{
    return unseen__line_array_owns_piece(&blocks_from_const(filter)->array, piece, len);
}

static enum unseen_status blocks_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                            size_t len)
{
    struct blocks *b = blocks_from(filter);
    const uint8_t *bytes;
    size_t offset;
    const enum unseen_status status =
        unseen__line_array_load_piece(&b->array, piece, len, &b->allocator);
    if (status == UNSEEN_OK) {
        /* Counted piece by piece: at the end, a server would stand still while all is read
         * again. */
        const size_t n = unseen__line_array_overlap(&b->array, piece, len, &bytes, &offset);
        b->nset += b->kind->count(bytes, n);
    }
    return status;
}

static enum unseen_status blocks_load_finish(struct unseen__filter *filter)
{
    struct blocks *b = blocks_from(filter);
    return unseen__line_array_load_finish(&b->array, &b->allocator);
}

static bool blocks_is_same_shape(const struct unseen__filter *filter,
                                 const struct unseen__filter *other)
{
    const struct blocks *b = blocks_from_const(filter);
    const struct blocks *o = blocks_from_const(other);
    return b->nblocks << b->prefix_bits == o->nblocks << o->prefix_bits && b->k == o->k &&
           b->two_lines == o->two_lines && b->capacity == o->capacity && b->fpr == o->fpr;
}

/* ---- the operations of each filter ---- */

#define BLOCKS_FILTER(name_, abilities_, remove_, count_, add_absent_)                             \
    static enum unseen_status name_##_plan(struct unseen_plan *plan)                               \
    {                                                                                              \
        return blocks_plan(&unseen__##name_##_kind, plan);                                         \
    }                                                                                              \
    static double name_##_plan_rate(const struct unseen_plan *plan, double nkeys)                  \
    {                                                                                              \
        return blocks_plan_rate(&unseen__##name_##_kind, plan, nkeys);                             \
    }                                                                                              \
    static enum unseen_status name_##_shard_bits(const struct unseen__filter_params *params,       \
                                                 unsigned wanted, unsigned *shard_bits_out)        \
    {                                                                                              \
        return blocks_shard_bits(&unseen__##name_##_kind, params, wanted, shard_bits_out);         \
    }                                                                                              \
    static enum unseen_status name_##_create(struct unseen__filter **filter_out,                   \
                                             const struct unseen__filter_params *params)           \
    {                                                                                              \
        return blocks_create(&unseen__##name_##_ops, &unseen__##name_##_kind, filter_out, params); \
    }                                                                                              \
    const struct unseen__filter_ops unseen__##name_##_ops = {                                      \
        .name = #name_,                                                                            \
        .abilities = abilities_,                                                                   \
        .shard_bits = name_##_shard_bits,                                                          \
        .create = name_##_create,                                                                  \
        .free = blocks_free,                                                                       \
        .add = blocks_add,                                                                         \
        .add_absent = add_absent_,                                                                 \
        .contains = blocks_contains,                                                               \
        .remove = remove_,                                                                         \
        .multiplicity = count_,                                                                    \
        .nkeys = blocks_nkeys,                                                                     \
        .stats = blocks_stats,                                                                     \
        .tally = blocks_tally,                                                                     \
        .save_params = blocks_save_params,                                                         \
        .save_piece = blocks_save_piece,                                                           \
        .owns_piece = blocks_owns_piece,                                                           \
        .load_piece = blocks_load_piece,                                                           \
        .load_finish = blocks_load_finish,                                                         \
        .is_same_shape = blocks_is_same_shape,                                                     \
        .merge_piece = unseen__##name_##_merge_piece,                                              \
        .merge_finish = unseen__##name_##_merge_finish,                                            \
        .plan = name_##_plan,                                                                      \
        .plan_rate = name_##_plan_rate,                                                            \
    };

BLOCKS_FILTER(block, UNSEEN_CAN_MERGE, NULL, NULL, NULL)
BLOCKS_FILTER(counting, UNSEEN_CAN_REMOVE | UNSEEN_CAN_MERGE, blocks_remove, unseen__counting_count,
              blocks_add_absent)
