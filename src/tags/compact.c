/* SPDX-License-Identifier: MIT
 *
 * The compact filter: creation, numbers, plan, and the table of operations. compact.h explains the
 * structure. */
#include "tags/compact.h"

#include <math.h>

#include "base/cpu.h"
#include "base/memory.h"

/* Half of the page numbers: 8 TiB of pages. */
#define PLANNED_PAGES_MAX ((uint64_t)1 << 31)

/* The layout with the shortest tags that are good enough for a rate; NULL if there is none. */
static const struct compact_layout *layout_for(double fpr)
{
    const struct compact_layout *layout = unseen__compact_layouts;
    while (layout < unseen__compact_layouts + COMPACT_WIDTHS && fpr < layout->promise) {
        layout++;
    }
    return layout < unseen__compact_layouts + COMPACT_WIDTHS ? layout : NULL;
}

static const struct compact_kernel *compact_select_kernel(enum compact_width width,
                                                          enum unseen_cpu cpu)
{
    static const struct compact_kernel *const portable[] = {
        &unseen__compact_32_portable, &unseen__compact_39_portable, &unseen__compact_51_portable};
#if UNSEEN_X86
    static const struct compact_kernel *const avx512[] = {
        &unseen__compact_32_avx512, &unseen__compact_39_avx512, &unseen__compact_51_avx512};
    static const struct compact_kernel *const avx2[] = {
        &unseen__compact_32_avx2, &unseen__compact_39_avx2, &unseen__compact_51_avx2};
    if (cpu == UNSEEN_CPU_AVX512) {
        return avx512[width];
    }
    if (cpu == UNSEEN_CPU_AVX2) {
        return avx2[width];
    }
#else
    (void)cpu;
#endif
    return portable[width];
}

/* ---- creation ---- */

/* The geometry that holds capacity keys without growing: 2^depth groups of npages pages. Random
 * keys fill the pages of a group to 7/8 before its first page is too full. */
static void compact_plan_groups(const struct compact *c, uint64_t capacity, unsigned *depth_out,
                                unsigned *npages_out)
{
    double page_keys = 0.875 * COMPACT_LINES * c->layout->slots;
    double pages = ceil((double)capacity / page_keys);
    unsigned depth = 0;
    while (ldexp(COMPACT_PAGES_MAX, (int)depth) < pages && depth < 32) {
        depth++;
    }
    double npages = ceil(ldexp(pages, -(int)depth));
    *depth_out = depth;
    *npages_out = npages < COMPACT_PAGES_MIN ? COMPACT_PAGES_MIN : (unsigned)npages;
}

/* An empty group. Its pages must be in reserve. */
static struct compact_group fresh_group(struct compact *c, unsigned depth, unsigned npages)
{
    struct compact_group group = {.npages = (uint8_t)npages, .depth = (uint8_t)depth};
    for (unsigned p = 0; p < npages; p++) {
        group.page[p] = unseen__compact_page_take(c);
        memset(compact_page(c, group.page[p]), 0, COMPACT_PAGE);
        *compact_full(c, group.page[p]) = 0;
    }
    return group;
}

/* The first filter of a set asks for the memory of all filters, because all get the same
 * capacity. */
static bool compact_is_possible(const struct compact *c, uint64_t npages)
{
    size_t size;
    return npages <= PLANNED_PAGES_MAX &&
           size_mul((size_t)npages, (size_t)COMPACT_PAGE << c->prefix_bits, &size) &&
           (c->prefix != 0 || unseen__memory_is_plausible(&c->allocator, size));
}

/* This filter's part of the geometry for the capacity of a set. False if no memory is large
 * enough. */
static bool plan_part(const struct compact *c, uint64_t whole_capacity, unsigned *depth_out,
                      unsigned *npages_out)
{
    const uint64_t capacity = (whole_capacity >> c->prefix_bits) +
                              ((whole_capacity & (((uint64_t)1 << c->prefix_bits) - 1)) != 0);
    compact_plan_groups(c, capacity, depth_out, npages_out);
    return compact_is_possible(c, (uint64_t)*npages_out << *depth_out);
}

static enum unseen_status compact_create_groups(struct compact *c, uint64_t whole_capacity)
{
    unsigned depth;
    unsigned npages;
    if (!plan_part(c, whole_capacity, &depth, &npages)) {
        return UNSEEN_ERR_NOMEM;
    }
    size_t ngroups = (size_t)1 << depth;
    struct compact_group *groups =
        unseen__alloc(&c->allocator, ngroups * sizeof(*groups), sizeof(*groups));
    if (!groups) {
        return UNSEEN_ERR_NOMEM;
    }
    enum unseen_status status = unseen__compact_pages_reserve(c, ngroups * npages);
    if (status == UNSEEN_OK) {
        for (size_t i = 0; i < ngroups; i++) {
            groups[i] = fresh_group(c, depth, npages);
        }
        status = unseen__compact_directory_init(c, depth, groups);
    }
    unseen__free(&c->allocator, groups, ngroups * sizeof(*groups));
    c->ngroups = ngroups;
    c->npages = ngroups * npages;
    return status;
}

static void compact_free(struct unseen__filter *filter)
{
    struct compact *c = compact_from(filter);
    if (!c) {
        return;
    }
    unseen__compact_directory_release(c);
    unseen__compact_pages_release(c);
    unseen__compact_load_release(c);
    unseen__compact_unread_release(c);
    unseen__compact_saved_release(c);
    unseen__stash_release(&c->stash, &c->allocator);
    struct unseen_allocator allocator = c->allocator;
    unseen__free(&allocator, c, sizeof(*c));
}

static enum unseen_status create_with(struct unseen__filter **filter_out,
                                      const struct unseen__filter_params *params,
                                      const struct compact_layout *layout, unsigned cut,
                                      uint64_t capacity)
{
    struct compact *c =
        unseen__alloc_zero(&params->allocator, sizeof(*c), _Alignof(struct compact));
    if (!c) {
        return UNSEEN_ERR_NOMEM;
    }
    c->filter.ops = &unseen__compact_ops;
    c->allocator = params->allocator;
    c->is_mapped = unseen__memory_is_mapped(&c->allocator);
    c->memory = sizeof(*c);
    c->prefix_bits = params->prefix_bits;
    c->prefix = params->prefix;
    c->layout = layout;
    c->mark = 1u << cut;
    c->kernel = compact_select_kernel(layout->width, params->cpu);
    const enum unseen_status status = compact_create_groups(c, capacity);
    if (status != UNSEEN_OK) {
        compact_free(&c->filter);
        return status;
    }
    *filter_out = &c->filter;
    return UNSEEN_OK;
}

enum unseen_status unseen__compact_create_cut(struct unseen__filter **filter_out,
                                              const struct unseen__filter_params *params,
                                              unsigned cut)
{
    const struct compact_layout *layout = layout_for(params->fpr);
    return layout ? create_with(filter_out, params, layout, cut, params->capacity) : UNSEEN_ERR_FPR;
}

/* An empty filter without groups, which are loaded. */
static enum unseen_status create_saved(struct unseen__filter **filter_out,
                                       const struct unseen__filter_params *params)
{
    const struct compact_layout *layout;
    unsigned cut;
    enum unseen_status status = unseen__compact_read_params(params->saved, &layout, &cut);
    if (status == UNSEEN_OK) {
        status = create_with(filter_out, params, layout, cut, 0);
    }
    if (status == UNSEEN_OK) {
        unseen__compact_load_start(*filter_out);
    }
    return status;
}

static enum unseen_status compact_create(struct unseen__filter **filter_out,
                                         const struct unseen__filter_params *params)
{
    return params->saved ? create_saved(filter_out, params)
                         : unseen__compact_create_cut(filter_out, params, 0);
}

static enum unseen_status compact_count_create(struct unseen__filter **filter_out,
                                               const struct unseen__filter_params *params)
{
    const enum unseen_status status = compact_create(filter_out, params);
    if (status == UNSEEN_OK) {
        (*filter_out)->ops = &unseen__compact_count_ops;
        compact_from(*filter_out)->counts = true;
    }
    return status;
}

/* A group of an export must not span two filters. */
static enum unseen_status compact_shard_bits(const struct unseen__filter_params *params,
                                             unsigned wanted, unsigned *shard_bits_out)
{
    const unsigned limit = params->saved ? unseen__compact_saved_depth(params->saved) : wanted;
    *shard_bits_out = wanted < limit ? wanted : limit;
    return UNSEEN_OK;
}

/* ---- operations ---- */

static enum unseen_status compact_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                      size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct compact *c = compact_from(filter);
    return c->kernel->add(c, keys, n, verdicts, ndone_out);
}

static void compact_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                             size_t n, uint8_t *verdicts)
{
    const struct compact *c = compact_from_const(filter);
    c->kernel->contains(c, keys, n, verdicts);
}

/* A key that is not in the set meets a tag by chance when it has the tag's home and low (3 +
 * low_bits bits), its line or that line's partner (2 of 64), and agrees in all known bits
 * of the tag's path. */
static double estimate_rate(const struct compact *c)
{
    double sum = 0;
    for (unsigned known = 0; known < COMPACT_GENERATIONS; known++) {
        sum += ldexp((double)c->generations[known], -(int)known);
    }
    return ldexp(sum, 1 - 6 - 3 - (int)c->layout->low_bits);
}

enum unseen_status unseen__compact_reserve(struct unseen__filter *filter, uint64_t capacity)
{
    struct compact *c = compact_from(filter);
    unsigned depth;
    unsigned npages;
    return plan_part(c, capacity, &depth, &npages) ? unseen__compact_grow_to(c, depth, npages)
                                                   : UNSEEN_ERR_NOMEM;
}

static uint64_t compact_nkeys(const struct unseen__filter *filter)
{
    return compact_from_const(filter)->nkeys;
}

static void compact_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct compact *c = compact_from_const(filter);
    stats->nkeys += c->nkeys;
    stats->nslots += c->npages * COMPACT_LINES * c->layout->slots;
    stats->memory += c->memory + unseen__stash_memory(&c->stash);
    for (unsigned known = 0; known < COMPACT_GENERATIONS; known++) {
        stats->fill += (double)c->generations[known];
    }
    stats->nkeys_estimate += (double)c->nkeys;
    stats->fpr_promise = c->layout->promise;
    stats->fpr_estimate += ldexp(estimate_rate(c), -(int)c->prefix_bits);
}

/* ---- the plan ---- */

static enum unseen_status compact_plan(struct unseen_plan *plan)
{
    if (plan->hashes || plan->lines) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (plan->fpr == 0) {
        unsigned width = COMPACT_WIDTHS - 1;
        while (width > 0 && plan->bits_per_key < unseen__compact_layouts[width].mean_bits) {
            width--;
        }
        plan->fpr = unseen__compact_layouts[width].promise;
    }
    const struct compact_layout *layout = layout_for(plan->fpr);
    if (!layout) {
        return UNSEEN_ERR_FPR;
    }
    const double bits = layout->mean_bits;
    if (plan->bits_per_key > 0 && plan->bits_per_key < bits) {
        return UNSEEN_ERR_ARGUMENT;
    }
    plan->bits_per_key = plan->bits_per_key > 0 ? plan->bits_per_key : bits;
    return UNSEEN_OK;
}

/* A tag knows the bits of its path to its group at the time when it was added, and the bits of v. A
 * group has about group_keys keys. So all n tags know the same number of bits until there are
 * several groups; from then on the rate grows with the logarithm of n. */
static double compact_plan_rate(const struct unseen_plan *plan, double nkeys)
{
    const struct compact_layout *layout = layout_for(plan->fpr);
    const double group_keys = 11.5 * COMPACT_LINES * layout->slots * 0.85;
    const double known = nkeys < group_keys ? nkeys : group_keys * (1 + log(nkeys / group_keys));
    return ldexp(known, 2 - 6 - 3 - (int)layout->low_bits - (int)layout->v_bits);
}

const struct unseen__filter_ops unseen__compact_ops = {
    .name = "compact",
    .abilities = UNSEEN_CAN_REMOVE | UNSEEN_CAN_MERGE | UNSEEN_CAN_GROW,
    .shard_bits = compact_shard_bits,
    .create = compact_create,
    .free = compact_free,
    .add = compact_add,
    .contains = compact_contains,
    .remove = unseen__compact_remove,
    .nkeys = compact_nkeys,
    .stats = compact_stats,
    .save_params = unseen__compact_save_params,
    .save_piece = unseen__compact_save_piece,
    .owns_piece = unseen__compact_owns_piece,
    .load_piece = unseen__compact_load_piece,
    .load_finish = unseen__compact_load_finish,
    .is_same_shape = unseen__compact_is_same_shape,
    .merge_piece = unseen__compact_merge_piece,
    .merge_finish = unseen__compact_merge_finish,
    .plan = compact_plan,
    .plan_rate = compact_plan_rate,
};

const struct unseen__filter_ops unseen__compact_count_ops = {
    .name = "compact",
    .abilities = UNSEEN_CAN_REMOVE | UNSEEN_CAN_GROW,
    .shard_bits = compact_shard_bits,
    .create = compact_count_create,
    .free = compact_free,
    .add = unseen__compact_count_add,
    .add_absent = compact_add,
    .contains = compact_contains,
    .remove = unseen__compact_remove,
    .multiplicity = unseen__compact_count,
    .nkeys = compact_nkeys,
    .stats = compact_stats,
    .save_params = unseen__compact_save_params,
    .save_piece = unseen__compact_save_piece,
    .owns_piece = unseen__compact_owns_piece,
    .load_piece = unseen__compact_load_piece,
    .load_finish = unseen__compact_load_finish,
    .plan = compact_plan,
    .plan_rate = compact_plan_rate,
};
