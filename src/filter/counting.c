/* SPDX-License-Identifier: MIT
 *
 * The counting filter as one of the filters: its size, its numbers, its pieces. counting.h explains
 * the structure. */
#include "filter/counting.h"

#include <math.h>

#include "base/memory.h"

enum {
    SAVED_KIND = 1,
    SHARD_BITS_MAX = 8
};

/* One line is good enough while two would need at most this much less. */
#define LINE_WORTH 1.05

static const struct unseen__rate_model models[2] = {
    {.cells = COUNTING_CELLS,
     .parts = 1,
     .cell_bits = 4,
     .k_max = UNSEEN__BLOCKED_HASHES,
     .fpr_min = 1e-7},
    {.cells = COUNTING_CELLS,
     .parts = 2,
     .cell_bits = 4,
     .k_max = UNSEEN__BLOCKED_HASHES,
     .fpr_min = 1e-7},
};

static struct counting *from_filter(struct unseen__filter *filter)
{
    return (struct counting *)(void *)filter;
}

static const struct counting *from_const_filter(const struct unseen__filter *filter)
{
    return (const struct counting *)(const void *)filter;
}

/* ---- the plan ---- */

enum {
    LINE_BITS = 8 * UNSEEN__LINE
};

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
    const double block_bits = (double)plan->lines * LINE_BITS;
    const double least = ceil((double)plan->capacity * plan->bits_per_key / block_bits);
    const double part = least < 1e15 ? ldexp(1, (int)parts_bits((uint64_t)least)) : 1;
    return ceil(least / part) * part;
}

/* Solves the plan for one line, and for two; takes what is the better of them. */
static enum unseen_status plan(struct unseen_plan *plan)
{
    struct unseen_plan one = *plan;
    struct unseen_plan two = *plan;
    if (plan->lines > 2) {
        return UNSEEN_ERR_ARGUMENT;
    }
    one.lines = 1;
    two.lines = 2;
    const enum unseen_status with_one = unseen__rate_solve(&models[0], &one);
    const enum unseen_status with_two = unseen__rate_solve(&models[1], &two);
    if (with_two != UNSEEN_OK) {
        return with_two;
    }
    bool is_one = with_one == UNSEEN_OK && one.bits_per_key <= two.bits_per_key * LINE_WORTH;
    if (is_one && plan->bits_per_key > 0) {
        /* The bits are given: how many would two lines need for the rate that one line has? */
        struct unseen_plan same = {.fpr = one.fpr};
        is_one = unseen__rate_solve(&models[1], &same) == UNSEEN_OK &&
                 one.bits_per_key <= same.bits_per_key * LINE_WORTH;
    }
    if (plan->lines) {
        is_one = plan->lines == 1;
    }
    const bool is_size_free = plan->bits_per_key == 0 && plan->capacity > 0;
    *plan = is_one ? one : two;
    if (is_size_free) {
        const double bits = nblocks_for(plan) * plan->lines * LINE_BITS;
        plan->bits = bits < 1e18 ? (uint64_t)bits : 0;
        plan->bits_per_key = bits / (double)plan->capacity;
    }
    return is_one ? with_one : with_two;
}

static double plan_rate(const struct unseen_plan *plan, double nkeys)
{
    struct unseen__blocked blocked;
    unseen__blocked_init(&blocked, COUNTING_CELLS, plan->lines, plan->hashes);
    const double nblocks = (double)plan->bits / (plan->lines * LINE_BITS);
    return unseen__blocked_rate_of(&blocked, nkeys, nblocks);
}

/* The shape of a whole set: k, is_wide, and as nblocks all its blocks. */
static enum unseen_status shape_for(struct counting *c, double fpr, uint64_t capacity)
{
    struct unseen_plan p = {.fpr = fpr, .capacity = capacity};
    const enum unseen_status status = plan(&p);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (p.bits == 0) {
        return UNSEEN_ERR_NOMEM;
    }
    c->k = p.hashes;
    c->is_wide = p.lines == 2;
    c->nblocks = p.bits / (p.lines * LINE_BITS);
    c->fpr = fpr;
    c->capacity = capacity;
    return UNSEEN_OK;
}

static void save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct counting *c = from_const_filter(filter);
    params[0] = SAVED_KIND;
    params[1] = (uint8_t)c->k;
    params[2] = c->is_wide ? 2 : 1;
    store_le64(params + 8, c->nblocks << c->prefix_bits);
    store_le64(params + 16, c->capacity);
    store_le_double(params + 24, c->fpr);
}

static enum unseen_status shape_from(struct counting *c, const uint8_t *saved)
{
    c->k = saved[1];
    c->is_wide = saved[2] == 2;
    c->nblocks = load_le64(saved + 8);
    c->capacity = load_le64(saved + 16);
    c->fpr = load_le_double(saved + 24);
    const uint64_t part = (uint64_t)1 << parts_bits(c->nblocks);
    const bool ok = saved[0] == SAVED_KIND && c->k >= 1 && c->k <= UNSEEN__BLOCKED_HASHES &&
                    (saved[2] == 1 || saved[2] == 2) && load_le64(saved) >> 24 == 0 &&
                    c->nblocks > 0 && c->nblocks % part == 0 && c->nblocks >> 50 == 0 &&
                    c->capacity > 0 && c->fpr > 0 && c->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status shape(struct counting *c, const struct unseen__filter_params *params)
{
    return params->saved ? shape_from(c, params->saved)
                         : shape_for(c, params->fpr, params->capacity);
}

static enum unseen_status shard_bits(const struct unseen__filter_params *params, unsigned wanted,
                                     unsigned *shard_bits_out)
{
    struct counting c;
    const enum unseen_status status = shape(&c, params);
    if (status == UNSEEN_OK) {
        const unsigned limit = parts_bits(c.nblocks);
        *shard_bits_out = wanted < limit ? wanted : limit;
    }
    return status;
}

/* ---- creation ---- */

static const struct counting_kernel *select_kernel(bool is_wide, enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu == UNSEEN_CPU_AVX512) {
        return &unseen__counting_avx512[is_wide];
    }
    if (cpu == UNSEEN_CPU_AVX2) {
        return &unseen__counting_avx2[is_wide];
    }
#else
    (void)cpu;
#endif
    return &unseen__counting_portable[is_wide];
}

static enum unseen_status init(struct counting *c, const struct unseen__filter_params *params)
{
    enum unseen_status status = shape(c, params);
    if (status != UNSEEN_OK) {
        return status;
    }
    c->nblocks >>= params->prefix_bits;
    c->prefix_bits = params->prefix_bits;
    c->kernel = select_kernel(c->is_wide, params->cpu);
    c->nkeys = params->saved && params->prefix == 0 ? params->saved_nkeys : 0;
    status = unseen__array_init(&c->array, c->nblocks << c->is_wide, params->prefix_bits,
                                params->prefix, params->saved != NULL, &c->allocator);
    c->bytes = c->array.bytes;
    return status;
}

static enum unseen_status create(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params)
{
    struct counting *c = unseen__alloc(&params->allocator, sizeof(*c), _Alignof(struct counting));
    if (!c) {
        return UNSEEN_ERR_NOMEM;
    }
    *c = (struct counting){.filter.ops = &unseen__counting_ops, .allocator = params->allocator};
    const enum unseen_status status = init(c, params);
    if (status != UNSEEN_OK) {
        unseen__free(&params->allocator, c, sizeof(*c));
        return status;
    }
    *filter_out = &c->filter;
    return UNSEEN_OK;
}

static void free_counting(struct unseen__filter *filter)
{
    struct counting *c = from_filter(filter);
    struct unseen_allocator allocator = c->allocator;
    unseen__array_release(&c->array, &allocator);
    unseen__free(&allocator, c, sizeof(*c));
}

/* ---- operations ---- */

static enum unseen_status add(struct unseen__filter *filter, const struct unseen_key *keys,
                              size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct counting *c = from_filter(filter);
    c->kernel->add(c, keys, n, verdicts);
    *ndone_out = n;
    return UNSEEN_OK;
}

static void contains(const struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts)
{
    const struct counting *c = from_const_filter(filter);
    c->kernel->contains(c, keys, n, verdicts);
}

static void remove_keys(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                        uint8_t *verdicts)
{
    struct counting *c = from_filter(filter);
    c->kernel->remove(c, keys, n, verdicts);
}

/* The least of the key's counters. */
static unsigned multiplicity(const struct unseen__filter *filter, struct unseen_key key)
{
    static const uint32_t multipliers[UNSEEN__BLOCKED_HASHES] = {COUNTING_MULTIPLIERS};
    const struct counting *c = from_const_filter(filter);
    const uint8_t *block = counting_block(c, c->is_wide, key);
    unsigned least = UNSEEN_MULTIPLICITY_MAX;
    for (unsigned i = 0; i < c->k; i++) {
        const unsigned place = counting_place(c->is_wide, i, key.lo, multipliers[i]);
        const unsigned count = block[place / 2] >> place % 2 * 4 & 15u;
        least = count < least ? count : least;
    }
    return least;
}

/* The mean number of keys in a block that explains the counters above 0. */
static double load_of(const struct counting *c, struct unseen__blocked *blocked)
{
    unseen__blocked_init(blocked, COUNTING_CELLS, c->is_wide ? 2 : 1, c->k);
    const double ncells = (double)c->array.nlines * COUNTING_CELLS;
    return unseen__blocked_load(blocked, (double)c->nset / ncells);
}

static uint64_t nkeys(const struct unseen__filter *filter)
{
    return from_const_filter(filter)->nkeys;
}

static void stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct counting *c = from_const_filter(filter);
    struct unseen__blocked blocked;
    const double load = load_of(c, &blocked);
    stats->nkeys += c->nkeys;
    stats->nslots += c->array.nlines * COUNTING_CELLS;
    stats->memory += sizeof(*c) + unseen__array_memory(&c->array);
    stats->fpr_promise = c->fpr;
    stats->fpr_estimate += ldexp(unseen__blocked_rate(&blocked, load), -(int)c->prefix_bits);
    stats->fill += (double)c->nset;
    stats->nkeys_estimate += load * (double)c->nblocks;
    stats->capacity = c->capacity;
    stats->hashes = c->k;
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

static uint64_t count_used(const struct counting *c)
{
    uint64_t sum = 0;
    const size_t nbytes = (size_t)c->array.nlines * UNSEEN__LINE;
    for (size_t at = 0; at < nbytes; at += 8) {
        sum += counting_sum(counting_used(load_le64(c->bytes + at)));
    }
    return sum;
}

static enum unseen_status load_finish(struct unseen__filter *filter)
{
    struct counting *c = from_filter(filter);
    const enum unseen_status status = unseen__array_load_finish(&c->array, &c->allocator);
    if (status == UNSEEN_OK) {
        c->nset = count_used(c);
    }
    return status;
}

/* ---- union ---- */

static bool is_same_shape(const struct unseen__filter *filter, const struct unseen__filter *other)
{
    const struct counting *c = from_const_filter(filter);
    const struct counting *o = from_const_filter(other);
    return c->nblocks << c->prefix_bits == o->nblocks << o->prefix_bits && c->k == o->k &&
           c->is_wide == o->is_wide && c->capacity == o->capacity && c->fpr == o->fpr;
}

/* The sums of 16 counters each, 15 where that is too much: even and odd counters apart, in bytes. */
static uint64_t add_counters(uint64_t x, uint64_t y)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t sums[2] = {(x & low) + (y & low), (x >> 4 & low) + (y >> 4 & low)};
    for (int i = 0; i < 2; i++) {
        const uint64_t carry = sums[i] >> 4 & UINT64_C(0x0101010101010101);
        sums[i] = (sums[i] & low) | carry * 15;
    }
    return sums[0] | sums[1] << 4;
}

static void combine_piece(struct unseen__filter *filter, enum unseen__combination combination,
                          const uint8_t *piece, size_t len)
{
    struct counting *c = from_filter(filter);
    const uint8_t *other;
    size_t place;
    const size_t n = unseen__array_overlap(&c->array, piece, len, &other, &place);
    (void)combination; /* a union: there is no intersection of bags here */
    for (size_t i = 0; i < n; i += 8) {
        uint8_t *p = c->bytes + place + i;
        store_le64(p, add_counters(load_le64(p), load_le64(other + i)));
    }
}

static void combine_finish(struct unseen__filter *filter, enum unseen__combination combination)
{
    struct counting *c = from_filter(filter);
    (void)combination;
    c->nset = count_used(c);
    struct unseen__blocked blocked;
    c->nkeys = (uint64_t)llround(load_of(c, &blocked) * (double)c->nblocks);
}

const struct unseen__filter_ops unseen__counting_ops = {
    .name = "counting",
    .abilities = UNSEEN_CAN_REMOVE | UNSEEN_CAN_MERGE,
    .shard_bits = shard_bits,
    .create = create,
    .free = free_counting,
    .add = add,
    .contains = contains,
    .remove = remove_keys,
    .multiplicity = multiplicity,
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
