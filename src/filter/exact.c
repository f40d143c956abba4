/* SPDX-License-Identifier: MIT
 *
 * The exact filter: creation, numbers, plan, pieces, and the table of operations. exact.h explains
 * the structure.
 *
 * A piece is a list of keys, from any group. To load a piece is to add its keys: no structure comes
 * from outside that could be wrong. */
#include "filter/exact.h"

#include <math.h>

#include "base/memory.h"
#include "hash/checksum.h"

enum {
    PLANNED_DEPTH_MAX = 28,
    LOADED_DEPTH_MAX = 20, /* of a directory of 8 MiB, which an import makes at its first key */
    SAVED_KIND = 1,        /* keys of 64 bits; 2: of 128 */
    PIECE_KEYS = 1,
    PIECE_HEAD = 8,
    PIECE_BYTES = 49152, /* of keys, at most: the keys of 8 pages, or of 4 pages with lower words */
    PIECE_MAX_KEYS = PIECE_BYTES / 8,
    LOAD_BATCH = 256,
    LOAD_ROUND = 192
};

/* Positions of pieces: POSITIONS for each directory entry; from POSITION_STASH on, indexes of the
 * stash. */
enum {
    POSITIONS = 8
};
#define POSITION_STASH ((uint64_t)1 << 40)

/* 10^10 / 2^64 and 10^10 / 2^128. A rate below PROMISE takes keys of 128 bits. */
#define PROMISE      5.5e-10
#define PROMISE_FULL 3e-29

/* The share of the slots in use in a filter made for its capacity; and the mean factor that
 * rounding up to whole pages costs. */
#define PLANNED_FILL 0.935
#define MEAN_FILL    0.978

_Static_assert(PIECE_HEAD + PIECE_BYTES <= UNSEEN__PIECE_MAX, "a piece fits into a chunk");
_Static_assert(PIECE_BYTES == 8 * 8 * EXACT_PAGE_LINES * EXACT_SLOTS_MAX, "8 pages are a piece");

static struct exact *exact_from(struct unseen__filter *filter)
{
    return (struct exact *)(void *)filter;
}

static const struct exact *exact_from_const(const struct unseen__filter *filter)
{
    return (const struct exact *)(const void *)filter;
}

/* ---- creation ---- */

static const struct exact_kernel *exact_select_kernel(enum unseen_cpu cpu)
{
#if UNSEEN_X86
    if (cpu >= UNSEEN_CPU_AVX2) {
        return &unseen__exact_avx2;
    }
#else
    (void)cpu;
#endif
    return &unseen__exact_portable;
}

/* The geometry that has room for capacity keys: 2^depth groups of npages pages. */
static void exact_plan_groups(double capacity, unsigned prefix_bits, unsigned *depth_out,
                              unsigned *npages_out)
{
    unsigned depth = 0;
    double npages = 0;
    for (;; depth++) {
        const double page_keys =
            exact_shape_of(depth + prefix_bits)->slots * EXACT_PAGE_LINES * PLANNED_FILL;
        npages = ceil(ldexp(capacity, -(int)(depth + prefix_bits)) / page_keys);
        if (npages <= EXACT_PAGES_MAX || depth == PLANNED_DEPTH_MAX) {
            break;
        }
    }
    *depth_out = depth;
    *npages_out = npages < EXACT_PAGES_MIN   ? EXACT_PAGES_MIN
                  : npages > EXACT_PAGES_MAX ? EXACT_PAGES_MAX
                                             : (unsigned)npages;
}

static void exact_free(struct unseen__filter *filter)
{
    struct exact *e = exact_from(filter);
    if (!e) {
        return;
    }
    const struct unseen_allocator allocator = e->pages.allocator;
    const size_t n = e->directory ? (size_t)1 << e->dir_bits : 0;
    for (size_t i = 0; i < n; i++) {
        struct exact_group *group = e->directory[i];
        if (group && (i == 0 || group != e->directory[i - 1])) {
            unseen__exact_group_free(e, group);
        }
    }
    unseen__free(&allocator, e->directory, n * sizeof(struct exact_group *));
    unseen__pages_release(&e->pages);
    unseen__stash_release(&e->stash, &allocator);
    unseen__free(&allocator, e, sizeof(*e));
}

/* 2^depth groups, and a directory of at least one bit. The entries of a group are neighbours. */
static enum unseen_status exact_create_groups(struct exact *e, unsigned depth, unsigned npages)
{
    const size_t ngroups = (size_t)1 << depth;
    e->dir_bits = depth ? depth : 1;
    const size_t n = (size_t)1 << e->dir_bits;
    e->directory =
        unseen__alloc_zero(&e->pages.allocator, n * sizeof(struct exact_group *), EXACT_LINE);
    if (!e->directory) {
        return UNSEEN_ERR_NOMEM;
    }
    e->memory += n * sizeof(struct exact_group *);
    const unsigned known = depth + e->prefix_bits;
    const uint64_t high = e->prefix_bits ? e->prefix << (64 - e->prefix_bits) : 0;
    for (size_t i = 0; i < ngroups; i++) {
        const uint64_t prefix = high | (known ? (uint64_t)i << (64 - known) : 0);
        struct exact_group *group = unseen__exact_group_create(e, prefix, known, npages);
        if (!group) {
            return UNSEEN_ERR_NOMEM;
        }
        for (size_t j = i * (n / ngroups); j < (i + 1) * (n / ngroups); j++) {
            e->directory[j] = group;
        }
        e->ngroups++;
        e->nlines += group->nlines;
        e->nslots += (uint64_t)group->nlines * group->slots;
    }
    return UNSEEN_OK;
}

/* The first filter of a set asks for the memory of all filters, because all get the same
 * capacity. */
static bool exact_is_possible(const struct exact *e, unsigned depth, unsigned npages)
{
    size_t size;
    const size_t low =
        e->full_keys ? 8 * EXACT_PAGE_LINES * (size_t)exact_shape_of(depth + e->prefix_bits)->slots
                     : 0;
    return depth < PLANNED_DEPTH_MAX &&
           size_mul((size_t)npages << depth, (UNSEEN__PAGE + low) << e->prefix_bits, &size) &&
           (e->prefix != 0 || unseen__memory_is_plausible(&e->pages.allocator, size));
}

static unsigned key_bits_for(double fpr)
{
    return fpr < PROMISE ? 128 : 64;
}

static size_t key_bytes(const struct exact *e)
{
    return e->full_keys ? 16 : 8;
}

/* The geometry that the saved keys will have. It is not made before keys come (may_part). */
static void plan_load(struct exact *e, const struct unseen__filter_params *params)
{
    const uint64_t most = params->saved_max / key_bytes(e);
    const uint64_t nkeys = params->saved_nkeys < most ? params->saved_nkeys : most;
    unsigned depth;
    exact_plan_groups((double)nkeys, e->prefix_bits, &depth, &e->load_npages);
    depth = depth < LOADED_DEPTH_MAX ? depth : LOADED_DEPTH_MAX;
    e->load_known = depth + e->prefix_bits;
}

static enum unseen_status exact_create(struct unseen__filter **filter_out,
                                       const struct unseen__filter_params *params)
{
    const uint8_t *saved = params->saved;
    if (saved && saved[0] != SAVED_KIND && saved[0] != SAVED_KIND + 1) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (!saved && params->fpr < PROMISE_FULL) {
        return UNSEEN_ERR_FPR;
    }
    struct exact *e = unseen__alloc_zero(&params->allocator, sizeof(*e), _Alignof(struct exact));
    if (!e) {
        return UNSEEN_ERR_NOMEM;
    }
    e->filter.ops = &unseen__exact_ops;
    e->kernel = exact_select_kernel(params->cpu);
    e->full_keys = saved ? saved[0] == SAVED_KIND + 1 : key_bits_for(params->fpr) > 64;
    e->prefix_bits = params->prefix_bits;
    e->prefix = params->prefix;
    e->pages.allocator = params->allocator;
    unsigned depth;
    unsigned npages;
    exact_plan_groups(saved ? 0 : (double)params->capacity, e->prefix_bits, &depth, &npages);
    if (saved) {
        plan_load(e, params);
    }
    const enum unseen_status status = exact_is_possible(e, depth, npages)
                                          ? exact_create_groups(e, depth, npages)
                                          : UNSEEN_ERR_NOMEM;
    if (status != UNSEEN_OK) {
        exact_free(&e->filter);
        return status;
    }
    *filter_out = &e->filter;
    return UNSEEN_OK;
}

/* ---- operations ---- */

static enum unseen_status exact_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct exact *e = exact_from(filter);
    return e->kernel->add(e, keys, n, verdicts, ndone_out);
}

static void exact_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                           size_t n, uint8_t *verdicts)
{
    const struct exact *e = exact_from_const(filter);
    e->kernel->contains(e, keys, n, verdicts);
}

static void exact_remove(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                         uint8_t *verdicts)
{
    struct exact *e = exact_from(filter);
    e->kernel->remove(e, keys, n, verdicts);
}

static enum unseen_status exact_reserve(struct unseen__filter *filter, uint64_t capacity)
{
    struct exact *e = exact_from(filter);
    unsigned depth;
    unsigned npages;
    exact_plan_groups((double)capacity, e->prefix_bits, &depth, &npages);
    return exact_is_possible(e, depth, npages)
               ? unseen__exact_grow_to(e, depth + e->prefix_bits, npages)
               : UNSEEN_ERR_NOMEM;
}

static uint64_t exact_nkeys(const struct unseen__filter *filter)
{
    return exact_from_const(filter)->nkeys;
}

static void exact_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct exact *e = exact_from_const(filter);
    stats->nkeys += e->nkeys;
    stats->nslots += e->nslots;
    stats->memory += sizeof(*e) + e->memory + e->pages.memory + unseen__stash_memory(&e->stash);
    stats->fill += (double)e->nkeys;
    stats->nkeys_estimate += (double)e->nkeys;
    stats->fpr_promise = e->full_keys ? PROMISE_FULL : PROMISE;
    stats->fpr_estimate += ldexp((double)e->nkeys, e->full_keys ? -128 : -64);
}

/* ---- the plan ---- */

/* Bits per key in a filter made for its capacity. A filter that grows by itself takes a tenth
 * more. */
static double bits_per_key(uint64_t capacity, bool full_keys)
{
    unsigned depth;
    unsigned npages;
    exact_plan_groups((double)capacity, 0, &depth, &npages);
    const double slots = exact_shape_of(capacity ? depth : EXACT_TOP_BITS)->slots;
    const double line_bits = 8.0 * EXACT_LINE + (full_keys ? 64 * slots : 0);
    return line_bits / (slots * PLANNED_FILL * MEAN_FILL);
}

static enum unseen_status exact_plan(struct unseen_plan *plan)
{
    if (plan->hashes || plan->lines) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (plan->fpr == 0) {
        plan->fpr = PROMISE;
    }
    const double bits = bits_per_key(plan->capacity, plan->fpr < PROMISE);
    if (plan->bits_per_key > 0 && plan->bits_per_key < bits) {
        return UNSEEN_ERR_ARGUMENT;
    }
    plan->bits_per_key = plan->bits_per_key > 0 ? plan->bits_per_key : bits;
    return plan->fpr < PROMISE_FULL ? UNSEEN_ERR_FPR : UNSEEN_OK;
}

static double exact_plan_rate(const struct unseen_plan *plan, double nkeys)
{
    return ldexp(nkeys, plan->fpr < PROMISE ? -128 : -64);
}

/* ---- pieces ---- */

static void exact_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    params[0] = (uint8_t)(SAVED_KIND + exact_from_const(filter)->full_keys);
}

/* Keys on their way into a piece. */
struct piece_keys {
    uint64_t keys[PIECE_MAX_KEYS + 1];
    uint64_t lows[PIECE_MAX_KEYS / 2 + 1];
};

static size_t make_piece(const struct exact *e, uint8_t *buf, const struct piece_keys *listed,
                         size_t n)
{
    store_le32(buf, PIECE_KEYS);
    store_le32(buf + 4, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *p = buf + PIECE_HEAD + key_bytes(e) * i;
        store_le64(p, listed->keys[i]);
        if (e->full_keys) {
            store_le64(p + 8, listed->lows[i]);
        }
    }
    return PIECE_HEAD + key_bytes(e) * n;
}

static bool is_before(struct unseen_key a, struct unseen_key b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

/* Inserts a key into n sorted keys. */
static void exact_insert(const struct exact *e, struct piece_keys *listed, size_t n,
                         struct unseen_key key)
{
    uint64_t *keys = listed->keys;
    uint64_t *lows = listed->lows;
    for (; n > 0; n--) {
        const struct unseen_key last = {e->full_keys ? lows[n - 1] : 0, keys[n - 1]};
        if (!is_before(key, last)) {
            break;
        }
        keys[n] = last.hi;
        if (e->full_keys) {
            lows[n] = last.lo;
        }
    }
    keys[n] = key.hi;
    if (e->full_keys) {
        lows[n] = key.lo;
    }
}

/* Takes keys of the stash from *position on, in increasing order. */
static size_t save_stash(const struct exact *e, uint64_t *position, struct piece_keys *listed)
{
    size_t i = (size_t)(*position - POSITION_STASH);
    size_t n = 0;
    for (; i < e->stash.nkeys && n < PIECE_BYTES / key_bytes(e); i++) {
        exact_insert(e, listed, n++, e->stash.keys[i]);
    }
    *position = POSITION_STASH + i;
    return n;
}

/* Takes the keys of the next pages that have any, from *position on. */
static size_t exact_save_group(const struct exact *e, uint64_t *position, struct piece_keys *listed)
{
    const uint64_t end = (uint64_t)POSITIONS << e->dir_bits;
    const unsigned npages = e->full_keys ? 4 : 8;
    while (*position < end) {
        const size_t entry = (size_t)(*position / POSITIONS);
        const struct exact_group *group = e->directory[entry];
        const size_t nentries = (size_t)1 << (e->dir_bits - (group->known - e->prefix_bits));
        const unsigned first = (unsigned)(*position % POSITIONS) * npages;
        const bool is_last = first + npages >= group->npages;
        *position = is_last ? POSITIONS * (entry + nentries) : *position + 1;
        const size_t n = unseen__exact_keys(group, first, first + npages, listed->keys,
                                            e->full_keys ? listed->lows : NULL);
        if (n > 0) {
            return n;
        }
    }
    *position = POSITION_STASH;
    return 0;
}

static size_t exact_save_piece(const struct unseen__filter *filter, uint64_t *position,
                               uint8_t *buf)
{
    const struct exact *e = exact_from_const(filter);
    struct piece_keys listed;
    size_t n = *position < POSITION_STASH ? exact_save_group(e, position, &listed) : 0;
    if (n == 0 && *position >= POSITION_STASH) {
        n = save_stash(e, position, &listed);
    }
    return n ? make_piece(e, buf, &listed, n) : 0;
}

static bool exact_is_piece(const struct exact *e, const uint8_t *piece, size_t len)
{
    return len > PIECE_HEAD && load_le32(piece) == PIECE_KEYS &&
           load_le32(piece + 4) <= PIECE_BYTES / key_bytes(e) &&
           len == PIECE_HEAD + key_bytes(e) * (size_t)load_le32(piece + 4);
}

static bool owns_key(const struct exact *e, uint64_t key)
{
    return e->prefix_bits == 0 || key >> (64 - e->prefix_bits) == e->prefix;
}

static bool exact_owns_piece(const struct unseen__filter *filter, const uint8_t *piece, size_t len)
{
    const struct exact *e = exact_from_const(filter);
    if (!exact_is_piece(e, piece, len)) {
        return false;
    }
    for (size_t at = PIECE_HEAD; at < len; at += key_bytes(e)) {
        if (owns_key(e, load_le64(piece + at))) {
            return true;
        }
    }
    return false;
}

/* Adds keys; CORRUPT if one of them was present. */
static enum unseen_status load_batch(struct exact *e, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[LOAD_BATCH];
    size_t ndone;
    const enum unseen_status status = e->kernel->add(e, keys, n, verdicts, &ndone);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        if (verdicts[i] == UNSEEN_SEEN) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    return status;
}

/* The keys of a piece come line by line. They are taken in rounds of LOAD_ROUND keys from all
 * over the piece: a line whose last key is still on its way to the cache would be waited for. */
static enum unseen_status exact_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                           size_t len)
{
    struct exact *e = exact_from(filter);
    struct unseen_key keys[LOAD_BATCH];
    size_t n = 0;
    if (!exact_is_piece(e, piece, len)) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = UNSEEN_OK;
    const size_t step = key_bytes(e);
    const size_t nrounds = 1 + (len - PIECE_HEAD) / step / LOAD_ROUND;
    for (size_t round = 0; round < nrounds; round++) {
        for (size_t at = PIECE_HEAD + round * step; at < len; at += nrounds * step) {
            const uint64_t key = load_le64(piece + at);
            if (!owns_key(e, key)) {
                continue;
            }
            keys[n++] = (struct unseen_key){e->full_keys ? load_le64(piece + at + 8) : 0, key};
            status = unseen__exact_part_empty(e, key);
            if (status == UNSEEN_OK && n == LOAD_BATCH) {
                status = load_batch(e, keys, n);
                n = 0;
            }
            if (status != UNSEEN_OK) {
                return status;
            }
        }
    }
    return load_batch(e, keys, n);
}

/* A loaded filter has another shape, and so other pieces. */
static uint64_t exact_digest_piece(const struct unseen__filter *filter, const uint8_t *piece,
                                   size_t len)
{
    const size_t step = key_bytes(exact_from_const(filter));
    uint64_t sum = 0;
    for (size_t at = PIECE_HEAD; at < len; at += step) {
        sum += unseen__checksum(piece + at, step);
    }
    return sum;
}

static enum unseen_status exact_load_finish(struct unseen__filter *filter)
{
    (void)filter; /* load_piece checked every piece, and src/set counts the keys */
    return UNSEEN_OK;
}

const struct unseen__filter_ops unseen__exact_ops = {
    .name = "exact",
    .abilities = UNSEEN_CAN_REMOVE | UNSEEN_CAN_GROW,
    .key_bits = key_bits_for,
    .create = exact_create,
    .free = exact_free,
    .add = exact_add,
    .contains = exact_contains,
    .remove = exact_remove,
    .reserve = exact_reserve,
    .nkeys = exact_nkeys,
    .stats = exact_stats,
    .save_params = exact_save_params,
    .save_piece = exact_save_piece,
    .digest_piece = exact_digest_piece,
    .owns_piece = exact_owns_piece,
    .load_piece = exact_load_piece,
    .load_finish = exact_load_finish,
    .plan = exact_plan,
    .plan_rate = exact_plan_rate,
};
