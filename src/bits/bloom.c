/* SPDX-License-Identifier: MIT
 *
 * The Bloom filter of the textbooks [Bloom70]: an array of m bits, of which a key sets k, anywhere.
 * It is the only filter here whose questions cost k cache lines. It is for users who want the
 * formula they know, for unions, and for comparison with the other filters.
 *
 * The k places of a key come from its two words. h starts as the word hi. For each place, h is
 * multiplied by an odd constant and the word lo is added; the place is the high word of h * m. The
 * multiplication carries the low bits of h up to the bits that choose the place. With h1 + i h2
 * [Kirsch06] the places of a key are an arithmetic progression, and two progressions share more
 * places than chance allows.
 *
 * The filters of a set that threads share use one array, which the first filter owns. Each filter
 * has the keys of one prefix and a lock of its own, so that the question and the answer about a key
 * are one step. But any filter may set any bit of the array: bits are set by atomic operations. */
#include <math.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/memory.h"
#include "bits/bits.h"
#include "bits/line_array.h"
#include "bits/rate.h"

enum {
    AHEAD = 32,       /* keys whose places are fetched at a time */
    FIRST_PLACES = 3, /* of a key, fetched first: they answer for most absent keys */
    SAVED_KIND = 1
};

static const struct unseen__rate_model model = {
    .cells = 0, .cell_bits = 1, .k_max = UNSEEN__HASHES_MAX, .fpr_min = 1e-15};

struct bloom {
    struct unseen__filter filter;
    struct bloom *first; /* the filter with the array; itself if it is the first */
    uint8_t *bits;
    uint64_t m;
    unsigned k;
    bool is_shared; /* with other filters, and so with other threads */
    uint64_t nkeys; /* of this prefix; after loading or merging, the first filter counts all keys */
    uint64_t nset;  /* bits set by this filter */
    double fpr;
    uint64_t capacity;
    uint64_t nmerged; /* set bits, while merging */
    struct unseen__line_array array;
    struct unseen_allocator allocator;
};

static struct bloom *bloom_from(struct unseen__filter *filter)
{
    return (struct bloom *)(void *)filter;
}

static const struct bloom *bloom_from_const(const struct unseen__filter *filter)
{
    return (const struct bloom *)(const void *)filter;
}

/* ---- creation ---- */

/* The cache lines that hold the bits of so many keys. */
static double lines_for(uint64_t capacity, double bits_per_key)
{
    return ceil((double)capacity * bits_per_key / 512);
}

static uint64_t bloom_bits_of(double lines)
{
    return lines < 1e15 ? (uint64_t)lines * 512 : 0;
}

static enum unseen_status bloom_plan(struct unseen_plan *plan)
{
    const bool is_size_free = plan->bits_per_key == 0 && plan->capacity > 0;
    if (plan->lines) {
        return UNSEEN_ERR_UNSUPPORTED; /* its bits are anywhere */
    }
    enum unseen_status status = unseen__rate_solve(&model, plan);
    const double lines = lines_for(plan->capacity, plan->bits_per_key);
    if (status == UNSEEN_OK && is_size_free) {
        plan->bits = bloom_bits_of(lines);
        plan->bits_per_key = lines * 512 / (double)plan->capacity;
    }
    return status;
}

static double bloom_plan_rate(const struct unseen_plan *plan, double nkeys)
{
    const bool is_planned = plan->bits > 0 && plan->hashes > 0;
    return is_planned ? unseen__bloom_rate((double)plan->bits, plan->hashes, nkeys) : 0;
}

static enum unseen_status bloom_shape_for(struct bloom *b,
                                          const struct unseen__filter_params *params)
{
    struct unseen_plan p = {.fpr = params->fpr,
                            .capacity = params->capacity,
                            .bits_per_key = params->bits_per_key,
                            .hashes = params->hashes};
    const enum unseen_status status = bloom_plan(&p);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (p.fpr >= 1) {
        return UNSEEN_ERR_ARGUMENT;
    }
    b->k = p.hashes;
    b->m = bloom_bits_of(lines_for(p.capacity, p.bits_per_key));
    b->fpr = fmax(p.fpr, model.fpr_min); /* no key is long enough to promise less */
    b->capacity = p.capacity;
    return b->m > 0 ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

static void bloom_save_params(const struct unseen__filter *filter, uint8_t *params)
{
    const struct bloom *b = bloom_from_const(filter);
    params[0] = SAVED_KIND;
    params[1] = (uint8_t)b->k;
    store_le64(params + 8, b->m);
    store_le64(params + 16, b->capacity);
    store_le_double(params + 24, b->fpr);
}

static enum unseen_status bloom_shape_from(struct bloom *b, const uint8_t *saved)
{
    b->k = saved[1];
    b->m = load_le64(saved + 8);
    b->capacity = load_le64(saved + 16);
    b->fpr = load_le_double(saved + 24);
    bool ok = saved[0] == SAVED_KIND && b->k >= 1 && b->k <= UNSEEN__HASHES_MAX &&
              (load_le64(saved) >> 16) == 0 && b->m > 0 && b->m % 512 == 0 && b->capacity > 0 &&
              b->fpr > 0 && b->fpr < 1;
    return ok ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static enum unseen_status bloom_make_first(struct bloom *b,
                                           const struct unseen__filter_params *params)
{
    enum unseen_status status =
        params->saved ? bloom_shape_from(b, params->saved) : bloom_shape_for(b, params);
    if (status != UNSEEN_OK) {
        return status;
    }
    b->nkeys = params->saved ? params->saved_nkeys : 0;
    status = unseen__line_array_init(&b->array, b->m / 512, 0, 0,
                                     params->saved ? params->saved_max : 0, false, &b->allocator);
    b->bits = b->array.bytes;
    b->first = b;
    return status;
}

static void join_first(struct bloom *b, struct bloom *first)
{
    b->first = first;
    b->bits = first->bits;
    b->m = first->m;
    b->k = first->k;
    b->fpr = first->fpr;
    b->capacity = first->capacity;
}

static enum unseen_status bloom_create(struct unseen__filter **filter_out,
                                       const struct unseen__filter_params *params)
{
    struct bloom *b = unseen__alloc(&params->allocator, sizeof(*b), _Alignof(struct bloom));
    if (!b) {
        return UNSEEN_ERR_NOMEM;
    }
    *b = (struct bloom){.filter.ops = &unseen__bloom_ops,
                        .is_shared = params->prefix_bits > 0,
                        .allocator = params->allocator};
    enum unseen_status status = UNSEEN_OK;
    if (params->first) {
        join_first(b, bloom_from(params->first));
    } else {
        status = bloom_make_first(b, params);
    }
    if (status != UNSEEN_OK) {
        unseen__free(&params->allocator, b, sizeof(*b));
        return status;
    }
    *filter_out = &b->filter;
    return UNSEEN_OK;
}

static void bloom_free(struct unseen__filter *filter)
{
    struct bloom *b = bloom_from(filter);
    struct unseen_allocator allocator = b->allocator;
    unseen__line_array_release(&b->array, &allocator);
    unseen__free(&allocator, b, sizeof(*b));
}

/* ---- keys ---- */

/* The generator of a key's places. After the first multiplication, the top bits of h depend on all
 * bits of hi, not only on the prefix, which all keys of a filter share. */
struct places {
    uint64_t h;
    uint64_t step;
};

UNSEEN_INLINE struct places places_of(struct unseen_key key)
{
    return (struct places){key.hi, key.lo};
}

UNSEEN_INLINE uint64_t next_place(struct places *p, uint64_t m)
{
    p->h = p->h * UINT64_C(0xd1342543de82ef95) + p->step;
    return mul_high(p->h, m);
}

UNSEEN_INLINE bool has_bit(const uint8_t *bits, uint64_t place)
{
    return __atomic_load_n(&bits[place / 8], __ATOMIC_RELAXED) >> place % 8 & 1;
}

/* Sets a bit; returns true if it was 0. */
UNSEEN_INLINE bool set_bit(bool is_shared, uint8_t *bits, uint64_t place)
{
    const uint8_t bit = (uint8_t)(1u << place % 8);
    if (has_bit(bits, place)) {
        return false;
    }
    if (is_shared) {
        return !(__atomic_fetch_or(&bits[place / 8], bit, __ATOMIC_RELAXED) & bit);
    }
    bits[place / 8] |= bit;
    return true;
}

/* Finds the k places of each of n keys, and fetches the first nfetched places of each key. */
static void find_places(const struct bloom *b, const struct unseen_key *keys, size_t n,
                        unsigned nfetched, uint64_t *places)
{
    const unsigned k = b->k;
    for (size_t i = 0; i < n; i++) {
        struct places p = places_of(keys[i]);
        for (unsigned j = 0; j < k; j++) {
            places[i * k + j] = next_place(&p, b->m);
        }
        for (unsigned j = 0; j < nfetched; j++) {
            UNSEEN_PREFETCH_L2(b->bits + places[i * k + j] / 8);
        }
    }
}

UNSEEN_INLINE void add_group(struct bloom *b, bool is_shared, const uint64_t *places, size_t n,
                             uint8_t *verdicts)
{
    const unsigned k = b->k;
    for (size_t i = 0; i < n; i++) {
        unsigned nnew = 0;
        for (unsigned j = 0; j < k; j++) {
            nnew += set_bit(is_shared, b->bits, places[i * k + j]);
        }
        verdicts[i] = nnew ? UNSEEN_NEW : UNSEEN_SEEN;
        b->nkeys += nnew > 0;
        b->nset += nnew;
    }
}

static enum unseen_status bloom_add(struct unseen__filter *filter, const struct unseen_key *keys,
                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct bloom *b = bloom_from(filter);
    uint64_t places[AHEAD * UNSEEN__HASHES_MAX];
    for (size_t done = 0; done < n; done += AHEAD) {
        const size_t count = n - done < AHEAD ? n - done : AHEAD;
        find_places(b, keys + done, count, b->k, places);
        if (b->is_shared) {
            add_group(b, true, places, count, verdicts + done);
        } else {
            add_group(b, false, places, count, verdicts + done);
        }
    }
    *ndone_out = n;
    return UNSEEN_OK;
}

/* True if the bits at places from..to - 1 of a key are all set. */
static bool has_bits(const struct bloom *b, const uint64_t *places, unsigned from, unsigned to)
{
    for (unsigned j = from; j < to; j++) {
        if (!has_bit(b->bits, places[j])) {
            return false;
        }
    }
    return true;
}

static void ask_group(const struct bloom *b, const uint64_t *places, unsigned first, size_t n,
                      uint8_t *verdicts)
{
    const unsigned k = b->k;
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = has_bits(b, places + i * k, 0, first) ? UNSEEN_SEEN : UNSEEN_NEW;
        for (unsigned j = first; verdicts[i] == UNSEEN_SEEN && j < k; j++) {
            UNSEEN_PREFETCH_L2(b->bits + places[i * k + j] / 8);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == UNSEEN_SEEN && !has_bits(b, places + i * k, first, k)) {
            verdicts[i] = UNSEEN_NEW;
        }
    }
}

static void bloom_contains(const struct unseen__filter *filter, const struct unseen_key *keys,
                           size_t n, uint8_t *verdicts)
{
    const struct bloom *b = bloom_from_const(filter);
    const unsigned first = b->k < FIRST_PLACES ? b->k : FIRST_PLACES;
    uint64_t places[AHEAD * UNSEEN__HASHES_MAX];
    for (size_t done = 0; done < n; done += AHEAD) {
        const size_t count = n - done < AHEAD ? n - done : AHEAD;
        find_places(b, keys + done, count, first, places);
        ask_group(b, places, first, count, verdicts + done);
    }
}

/* ---- numbers ---- */

static uint64_t bloom_nkeys(const struct unseen__filter *filter)
{
    return bloom_from_const(filter)->nkeys;
}

/* Each filter counts the bits that it set, under its own lock; the sum is the number of set bits.
 * Only the first filter has the array and its size. */
static void bloom_stats(const struct unseen__filter *filter, struct unseen_set_stats *stats)
{
    const struct bloom *b = bloom_from_const(filter);
    stats->nkeys += b->nkeys;
    stats->memory += sizeof(*b) + unseen__line_array_memory(&b->array);
    stats->nslots += b->array.nlines * 512;
    stats->fill += (double)b->nset;
    stats->fpr_promise = b->fpr;
    stats->capacity = b->capacity;
    stats->hashes = b->k;
}

static void bloom_tally(const struct unseen__filter *filter, struct unseen__tally *tally)
{
    const struct bloom *b = bloom_from_const(filter);
    tally->k = b->k;
    tally->nset += (double)b->nset;
    tally->ncells += (double)b->array.nlines * 512;
}

/* ---- pieces ---- */

static size_t bloom_save_piece(const struct unseen__filter *filter, uint64_t *position,
                               uint8_t *buf)
{
    return unseen__line_array_save_piece(&bloom_from_const(filter)->array, position, buf);
}

static bool bloom_owns_piece(const struct unseen__filter *filter, const uint8_t *piece, size_t len)
{
    return unseen__line_array_owns_piece(&bloom_from_const(filter)->array, piece, len);
}

static enum unseen_status bloom_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                           size_t len)
{
    struct bloom *b = bloom_from(filter);
    return unseen__line_array_load_piece(&b->array, piece, len, &b->allocator);
}

static enum unseen_status bloom_load_finish(struct unseen__filter *filter)
{
    struct bloom *b = bloom_from(filter);
    if (b->first != b) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__line_array_load_finish(&b->array, &b->allocator);
    if (status == UNSEEN_OK) {
        b->nset = popcount_bytes(b->bits, (size_t)(b->m / 8));
    }
    return status;
}

/* ---- union ---- */

static bool bloom_is_same_shape(const struct unseen__filter *filter,
                                const struct unseen__filter *other)
{
    const struct bloom *b = bloom_from_const(filter);
    const struct bloom *o = bloom_from_const(other);
    return b->m == o->m && b->k == o->k && b->capacity == o->capacity && b->fpr == o->fpr;
}

static enum unseen_status bloom_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                            size_t len)
{
    struct bloom *b = bloom_from(filter);
    b->nmerged += unseen__line_array_merge(&b->array, piece, len);
    return UNSEEN_OK;
}

/* From here on the first filter counts for all. */
static void bloom_merge_finish(struct unseen__filter *filter)
{
    struct bloom *b = bloom_from(filter);
    if (b->first != b) {
        b->nset = 0;
        b->nkeys = 0;
        return;
    }
    b->nset = b->nmerged;
    b->nkeys = (uint64_t)llround(unseen__bloom_keys((double)b->m, b->k, (double)b->nset));
    b->nmerged = 0;
}

const struct unseen__filter_ops unseen__bloom_ops = {
    .name = "bloom",
    .abilities = UNSEEN_CAN_MERGE,
    .create = bloom_create,
    .free = bloom_free,
    .add = bloom_add,
    .contains = bloom_contains,
    .nkeys = bloom_nkeys,
    .stats = bloom_stats,
    .tally = bloom_tally,
    .save_params = bloom_save_params,
    .save_piece = bloom_save_piece,
    .owns_piece = bloom_owns_piece,
    .load_piece = bloom_load_piece,
    .load_finish = bloom_load_finish,
    .is_same_shape = bloom_is_same_shape,
    .merge_piece = bloom_merge_piece,
    .merge_finish = bloom_merge_finish,
    .plan = bloom_plan,
    .plan_rate = bloom_plan_rate,
};
