/* SPDX-License-Identifier: MIT */
#include "value/value.h"

#include <string.h>

#include <unseen.h>
#include <unseen_small.h>

#include "server/server.h"
#include "value/timed.h"

enum {
    BLOCK = 2 * 1024 * 1024,
    QUEUE_BLOCK = 64 * 1024, /* of a window, at most */
    TICK_CALLS = 4,
    IS_STRUCT = 0x80 /* in the first byte of a value: no small set has this bit there */
};

/* A value that is more than a small set. `small` or `set` is NULL. */
struct value {
    uint8_t head; /* IS_STRUCT */
    uint32_t serial;
    struct recipe *recipe;
    struct memory memory;
    uint64_t nadded;
    uint64_t nremoved;
    void *small;
    struct unseen_set *set;
    struct lease_table leases;
    struct timed timed; /* with a window */
};

static _Atomic uint64_t nvalues;
static _Atomic uint32_t nserials;

/* ---- the two forms ---- */

static bool is_block(const struct value *value)
{
    return !(*(const uint8_t *)value & IS_STRUCT);
}

const void *value_small(const struct value *value)
{
    return is_block(value) ? (const void *)value : value->small;
}

const struct unseen_set *value_set(const struct value *value)
{
    return is_block(value) ? NULL : value->set;
}

/* Where the pointer to the small set is. */
static void **small_of(struct value **value)
{
    return is_block(*value) ? (void **)value : &(*value)->small;
}

static struct unseen_small_stats small_stats(const void *small)
{
    struct unseen_small_stats stats = {.size = sizeof(stats)};
    (void)unseen_small_stats(small, &stats); /* fails for a wrong size only */
    return stats;
}

struct recipe *value_recipe(const struct value *value)
{
    return is_block(value) ? recipe_of_id(unseen_small_mark(value)) : value->recipe;
}

static const struct settings *settings_of(const struct value *value)
{
    return &value_recipe(value)->settings;
}

static bool has_window(const struct value *value)
{
    return settings_of(value)->window > 0;
}

static bool counts(const struct recipe *recipe)
{
    return recipe->settings.family == FAMILY_CUCKOO;
}

/* A small set counts itself. */
uint64_t value_nadded(const struct value *value)
{
    const void *small = value_small(value);
    return small ? small_stats(small).nkeys + small_stats(small).nremoved : value->nadded;
}

uint64_t value_nremoved(const struct value *value)
{
    const void *small = value_small(value);
    return small ? small_stats(small).nremoved : value->nremoved;
}

const struct lease_table *value_leases(const struct value *value)
{
    static const struct lease_table none = {0};
    return is_block(value) ? &none : &value->leases;
}

enum unseen_status value_begin(struct value **value_out, struct recipe *recipe)
{
    struct value *value = server.TryAlloc(sizeof(*value));
    if (!value) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(value, 0, sizeof(*value));
    value->head = IS_STRUCT;
    value->serial = ++nserials;
    memory_init(&value->memory);
    if (recipe->settings.window > 0 && timed_insert(&value->timed) != UNSEEN_OK) {
        server.Free(value);
        return UNSEEN_ERR_NOMEM;
    }
    recipe_share(recipe);
    value->recipe = recipe;
    nvalues++;
    *value_out = value;
    return UNSEEN_OK;
}

static void free_small(void *small)
{
    const struct unseen_allocator allocator = memory_small_allocator(NULL);
    unseen_small_free(small, &allocator);
}

/* Frees the struct, but not its small set. */
static void free_struct(struct value *value)
{
    const struct unseen_allocator allocator = memory_allocator(&value->memory);
    if (value->recipe->settings.window > 0) {
        timed_remove(&value->timed);
    }
    unseen_set_free(value->set);
    lease_table_release(&value->leases, &allocator);
    recipe_release(value->recipe);
    server.Free(value);
    nvalues--;
}

/* A block is also a user of its recipe, and counts as a value. */
static void end_block(struct recipe *recipe)
{
    recipe_release(recipe);
    nvalues--;
}

void value_free(struct value *value)
{
    if (!value) {
        return;
    }
    if (is_block(value)) {
        end_block(value_recipe(value));
        free_small(value);
    } else {
        free_small(value->small);
        free_struct(value);
    }
}

/* Makes a struct of a value. */
static enum unseen_status widen(struct value **value)
{
    struct value *block = *value;
    struct value *wide;
    if (!is_block(block)) {
        return UNSEEN_OK;
    }
    struct recipe *recipe = value_recipe(block);
    const enum unseen_status status = value_begin(&wide, recipe);
    if (status != UNSEEN_OK) {
        return status;
    }
    wide->small = block;
    end_block(recipe);
    *value = wide;
    return UNSEEN_OK;
}

/* Makes a block of a value that has nothing but a small set. The value stays a struct if there is
 * no memory for the mark, which the small set may lack. */
static void narrow(struct value **value)
{
    struct value *wide = *value;
    struct budget budget = {0, 0, false};
    const struct unseen_allocator allocator = memory_small_allocator(&budget);
    if (is_block(wide) || wide->set || wide->leases.nslots > 0 || wide->recipe->id == 0 ||
        unseen_small_set_mark(&wide->small, wide->recipe->id, &allocator) != UNSEEN_OK) {
        return;
    }
    *value = wide->small;
    recipe_share(wide->recipe);
    nvalues++;
    free_struct(wide);
}

static enum unseen_status make_small(void **small_out, const struct recipe *recipe)
{
    struct budget budget = {0, 0, false};
    const struct unseen_allocator allocator = memory_small_allocator(&budget);
    const struct unseen_small_options options = {.size = sizeof(options),
                                                 .fpr = recipe->rate,
                                                 .capacity = recipe->layer_capacity,
                                                 .counts = recipe->counts,
                                                 .allocator = &allocator};
    return unseen_small_create_with(small_out, &options);
}

static struct unseen_set_options set_options(const struct recipe *recipe,
                                             const struct unseen_allocator *allocator)
{
    return (struct unseen_set_options){.size = sizeof(struct unseen_set_options),
                                       .filter = recipe->filter,
                                       .counts = recipe->counts,
                                       .fpr = recipe->rate,
                                       .capacity = recipe->capacity,
                                       .seed = recipe->settings.seed,
                                       .seed_len = SEED_LEN,
                                       .key_bits = recipe->key_bits,
                                       .profile = "none", /* the recipe's keyer has it */
                                       .window = recipe->settings.window,
                                       .allocator = allocator};
}

static enum unseen_status make_set(struct value *value)
{
    const struct unseen_allocator allocator = memory_allocator(&value->memory);
    const struct unseen_set_options options = set_options(value->recipe, &allocator);
    value->memory.budget.limit = value->recipe->settings.limit;
    return unseen_set_create(&value->set, &options, NULL);
}

enum unseen_status value_create(struct value **value_out, struct recipe *recipe)
{
    struct value *value;
    enum unseen_status status = value_begin(&value, recipe);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = recipe->starts_small ? make_small(&value->small, recipe) : make_set(value);
    if (status != UNSEEN_OK) {
        value_free(value);
        return UNSEEN_ERR_NOMEM; /* the recipe has checked everything else */
    }
    narrow(&value);
    *value_out = value;
    return UNSEEN_OK;
}

/* ---- changes ---- */

/* The heap must know when the next key leaves. */
static void note_due(struct value *value)
{
    if (has_window(value)) {
        timed_update(&value->timed, unseen_set_due(value->set));
    }
}

/* How many of n more keys the set of a NONSCALING value takes. */
static size_t room(const struct value *value, size_t n)
{
    const struct settings *s = &value->recipe->settings;
    const uint64_t rest = value->nadded < s->capacity ? s->capacity - value->nadded : 0;
    return !s->is_fixed || rest > n ? n : (size_t)rest;
}

/* A full value still answers SEEN to what it has. */
static enum unseen_status add_to_full(struct value *value, struct unseen_key key, uint8_t *verdict,
                                      size_t *ndone_out)
{
    (void)unseen_set_contains_keys(value->set, &key, 1, verdict, NULL);
    *ndone_out = *verdict == UNSEEN_SEEN;
    return *ndone_out ? UNSEEN_OK : UNSEEN_ERR_SPACE;
}

static enum unseen_status add_to_set(struct value *value, const struct unseen_key *keys, size_t n,
                                     uint8_t *verdicts, size_t *ndone_out, struct budget *budget)
{
    enum unseen_status status = UNSEEN_OK;
    size_t done = 0;
    value->memory.budget = *budget;
    while (done < n && status == UNSEEN_OK) {
        const size_t nfit = room(value, n - done);
        size_t nmore;
        if (nfit > 0) {
            status = unseen_set_add_keys(value->set, keys + done, nfit, verdicts + done, &nmore);
        } else {
            status = add_to_full(value, keys[done], verdicts + done, &nmore);
        }
        for (size_t i = done; i < done + nmore; i++) {
            value->nadded += verdicts[i] == UNSEEN_NEW || counts(value->recipe);
        }
        done += nmore;
    }
    budget->refused = value->memory.budget.refused;
    *ndone_out = done;
    note_due(value);
    return status;
}

/* Makes a set of the small set, with the memory of this value. */
static enum unseen_status make_set_of(struct value *value, const void *small,
                                      struct unseen_set **set_out, struct budget *budget)
{
    const struct unseen_allocator allocator = memory_allocator(&value->memory);
    struct unseen_set_options options = set_options(value->recipe, &allocator);
    options.capacity = value->recipe->settings.capacity;
    value->memory.budget = *budget;
    const enum unseen_status status = unseen_small_grow(set_out, small, &options, NULL);
    budget->refused = value->memory.budget.refused;
    /* The recipe has checked everything else; a forged small set may have no room in any set. */
    return status == UNSEEN_OK ? status : UNSEEN_ERR_NOMEM;
}

/* Puts a set in the place of the small set, and adds keys to it. If none can be added, the value
 * stays as it was: a replica hears nothing of this. */
static enum unseen_status grow_and_add(struct value **value, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out,
                                       struct budget *budget)
{
    *ndone_out = 0;
    enum unseen_status status = widen(value);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct value *wide = *value;
    wide->nadded = value_nadded(wide);
    wide->nremoved = value_nremoved(wide);
    status = make_set_of(wide, wide->small, &wide->set, budget);
    if (status == UNSEEN_OK) {
        status = add_to_set(wide, keys, n, verdicts, ndone_out, budget);
    }
    if (status == UNSEEN_OK || *ndone_out > 0) {
        free_small(wide->small);
        wide->small = NULL;
    } else {
        unseen_set_free(wide->set);
        wide->set = NULL;
        narrow(value);
    }
    return status;
}

static enum unseen_status grow(struct value **value, struct budget *budget)
{
    size_t ndone;
    return value_small(*value) ? grow_and_add(value, NULL, 0, NULL, &ndone, budget) : UNSEEN_OK;
}

/* Adds one key to the small set of a NONSCALING value. UNSUPPORTED: it must grow first. SPACE: it
 * is full. */
static enum unseen_status add_one_small(void **small, const struct recipe *recipe,
                                        struct unseen_key key, uint8_t *verdict,
                                        const struct unseen_allocator *allocator)
{
    unseen_small_contains(*small, &key, 1, verdict);
    if (*verdict == UNSEEN_SEEN) {
        return UNSEEN_OK;
    }
    if (small_stats(*small).nkeys >= recipe->settings.capacity) {
        return UNSEEN_ERR_SPACE;
    }
    const enum unseen_status status = unseen_small_add(small, &key, 1, verdict, NULL, allocator);
    return status == UNSEEN_ERR_SPACE ? UNSEEN_ERR_UNSUPPORTED : status;
}

static enum unseen_status add_to_small(void **small, const struct recipe *recipe,
                                       const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                       size_t *ndone_out, struct budget *budget)
{
    const struct unseen_allocator allocator = memory_small_allocator(budget);
    enum unseen_status status = UNSEEN_OK;
    if (!recipe->settings.is_fixed) {
        status = unseen_small_add(small, keys, n, verdicts, ndone_out, &allocator);
        return status == UNSEEN_ERR_SPACE ? UNSEEN_ERR_UNSUPPORTED : status;
    }
    for (*ndone_out = 0; *ndone_out < n && status == UNSEEN_OK;) {
        status = add_one_small(small, recipe, keys[*ndone_out], &verdicts[*ndone_out], &allocator);
        *ndone_out += status == UNSEEN_OK;
    }
    return status;
}

/* Adds keys to a value with a small set, which grows when it must. */
static enum unseen_status add_to_value(struct value **value, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out,
                                       struct budget *budget)
{
    void **small = small_of(value);
    size_t nmore;
    enum unseen_status status =
        add_to_small(small, value_recipe(*value), keys, n, verdicts, ndone_out, budget);
    if (status == UNSEEN_ERR_UNSUPPORTED) {
        const size_t done = *ndone_out;
        status = grow_and_add(value, keys + done, n - done, verdicts + done, &nmore, budget);
        *ndone_out = done + nmore;
    }
    return status;
}

enum unseen_status value_add(struct value **value, const struct unseen_key *keys, size_t n,
                             uint8_t *verdicts, size_t *ndone_out, struct budget *budget)
{
    const enum unseen_status status =
        value_small(*value) ? add_to_value(value, keys, n, verdicts, ndone_out, budget)
                            : add_to_set(*value, keys, n, verdicts, ndone_out, budget);
    if (value_leases(*value)->n > 0) {
        for (size_t i = 0; i < *ndone_out; i++) {
            leases_remove(&(*value)->leases, keys[i]);
        }
    }
    return status;
}

enum unseen_status value_add_absent(struct value **value, struct unseen_key key, uint8_t *verdict,
                                    struct budget *budget)
{
    size_t ndone;
    value_contains(*value, &key, 1, verdict);
    return *verdict == UNSEEN_SEEN ? UNSEEN_OK : value_add(value, &key, 1, verdict, &ndone, budget);
}

void value_contains(const struct value *value, const struct unseen_key *keys, size_t n,
                    uint8_t *verdicts)
{
    const void *small = value_small(value);
    if (small) {
        unseen_small_contains(small, keys, n, verdicts);
    } else {
        (void)unseen_set_contains_keys(value->set, keys, n, verdicts, NULL);
    }
}

enum unseen_status value_remove(struct value **value, struct unseen_key key, uint8_t *verdict,
                                struct budget *budget)
{
    value_contains(*value, &key, 1, verdict);
    if (*verdict == UNSEEN_NEW) {
        return UNSEEN_OK;
    }
    if (value_small(*value)) {
        const struct unseen_allocator allocator = memory_small_allocator(budget);
        return unseen_small_remove(small_of(value), key, verdict, &allocator);
    }
    /* A removal may pass MAXBYTES for a moment: a note of a queue, or smaller blocks beside those
     * that they replace. Without room for them a set would be another one than its replica, which
     * has no limit, and a small set in a chain would keep the key. */
    (*value)->memory.budget = (struct budget){0, 0, false};
    const enum unseen_status status = unseen_set_remove_keys((*value)->set, &key, 1, verdict, NULL);
    (*value)->nremoved += status == UNSEEN_OK && *verdict == UNSEEN_SEEN;
    return status;
}

void value_expire(struct value *value, uint64_t now, size_t max)
{
    value->memory.budget = (struct budget){0, 0, false};
    (void)unseen_set_expire(value->set, now, max, NULL); /* fails without a window only */
    note_due(value);
}

/* The clock of the value moves from one due time to the next, so no key is ever late in it, and no
 * more than the given number leave, also after a server was down for long. */
static uint64_t tick(struct timed *timed, uint64_t upto)
{
    struct value *value = (struct value *)((char *)timed - offsetof(struct value, timed));
    uint64_t due = unseen_set_due(value->set);
    value->memory.budget = (struct budget){0, 0, false};
    for (int i = 0; i < TICK_CALLS && due <= upto; i++) {
        (void)unseen_set_expire(value->set, due, VALUE_TICK_KEYS / TICK_CALLS, NULL);
        due = unseen_set_due(value->set);
    }
    return due;
}

void value_tick_all(uint64_t upto)
{
    timed_run(upto, tick);
}

/* Merges a set that is made of the other's small set for that. */
static enum unseen_status merge_small(struct value *value, const void *small, struct budget *budget)
{
    struct unseen_set *other;
    enum unseen_status status = make_set_of(value, small, &other, budget);
    if (status == UNSEEN_OK) {
        status = unseen_set_merge(value->set, other, NULL, NULL);
        unseen_set_free(other);
    }
    return status;
}

enum unseen_status value_merge_step(struct value **value, const struct value *other,
                                    uint64_t *cursor, struct budget *budget)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    enum unseen_status status = grow(value, budget);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct value *to = *value;
    to->memory.budget = *budget;
    if (value_small(other)) {
        status = merge_small(to, value_small(other), budget);
        *cursor = UNSEEN_MERGE_DONE;
    } else {
        status = unseen_set_merge(to->set, other->set, cursor, NULL);
    }
    budget->refused = to->memory.budget.refused;
    (void)unseen_set_stats(to->set, &stats); /* fails for a wrong size only */
    to->nadded = stats.nkeys + to->nremoved;
    return status;
}

enum unseen_status value_lease(struct value **value, struct unseen_key key, int64_t now,
                               int64_t until, struct budget *budget)
{
    const enum unseen_status status = widen(value);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct value *wide = *value;
    const struct unseen_allocator allocator = memory_allocator(&wide->memory);
    wide->memory.budget = *budget;
    return leases_put(&wide->leases, &allocator, key, until, now);
}

enum unseen_status value_claim(struct value **value, struct unseen_key key, int64_t now,
                               int64_t until, enum claim *claim_out, struct budget *budget)
{
    uint8_t verdict;
    value_contains(*value, &key, 1, &verdict);
    if (verdict == UNSEEN_SEEN || leases_until(value_leases(*value), key) > now) {
        *claim_out = verdict == UNSEEN_SEEN ? CLAIM_DONE : CLAIM_BUSY;
        return UNSEEN_OK;
    }
    *claim_out = CLAIM_YOURS;
    return value_lease(value, key, now, until, budget);
}

bool value_renew(struct value **value, struct unseen_key key, int64_t now, int64_t until,
                 struct budget *budget)
{
    return leases_until(value_leases(*value), key) > now &&
           value_lease(value, key, now, until, budget) == UNSEEN_OK;
}

uint64_t value_count(const struct value *value, struct unseen_key key)
{
    uint64_t count = 0;
    if (value_small(value)) {
        return unseen_small_count(value_small(value), key);
    }
    (void)unseen_set_count_keys(value->set, &key, 1, &count); /* 0 if it cannot */
    return count;
}

/* ---- the whole ---- */

struct unseen_set_stats value_stats(const struct value *value)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    if (value_small(value)) {
        const struct unseen_small_stats small = small_stats(value_small(value));
        stats.filter = "small";
        stats.nkeys = small.nkeys;
        stats.nslots = small.nkeys;
        stats.memory = small.memory;
        stats.fpr_promise = small.fpr_promise;
        stats.fpr_estimate = small.fpr_estimate;
    } else {
        (void)unseen_set_stats(value->set, &stats); /* fails for a wrong size only */
    }
    return stats;
}

uint64_t value_nitems(const struct value *value)
{
    return has_window(value) ? value_stats(value).nkeys : value_nadded(value);
}

static uint64_t digest_small(const void *small)
{
    uint8_t bytes[UNSEEN_SMALL_LEN_MAX + sizeof(uint16_t)];
    const size_t len = unseen_small_save(small, bytes);
    uint64_t digest = len;
    for (size_t i = 0; i < len; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
    return digest;
}

uint64_t value_digest(const struct value *value)
{
    return value_small(value) ? digest_small(value_small(value)) : unseen_set_digest(value->set);
}

uint64_t value_memory(const struct value *value)
{
    const uint64_t small = value_small(value) ? small_stats(value_small(value)).memory : 0;
    return small + (is_block(value) ? 0 : sizeof(*value) + value->memory.used);
}

size_t value_effort(const struct value *value)
{
    if (is_block(value)) {
        return 1;
    }
    return 3 + (size_t)(value->memory.used / (has_window(value) ? QUEUE_BLOCK : BLOCK));
}

uint64_t value_capacity(const struct value *value, uint64_t *nfilters_out)
{
    const struct settings *s = settings_of(value);
    const uint64_t nadded = value_nitems(value);
    const uint64_t factor = s->expansion > 0 ? s->expansion : 2;
    uint64_t last = s->capacity ? s->capacity : 1;
    uint64_t capacity = last;
    *nfilters_out = 1;
    if (!s->is_fixed && factor == 1 && nadded > last) {
        *nfilters_out = nadded / last + (nadded % last > 0);
        return *nfilters_out * last;
    }
    while (!s->is_fixed && capacity < nadded && last <= INT64_MAX / 2 / factor) {
        last *= factor;
        capacity += last;
        ++*nfilters_out;
    }
    return capacity;
}

uint32_t value_serial(const struct value *value)
{
    return is_block(value) ? 0 : value->serial;
}

uint64_t value_total(void)
{
    return nvalues;
}

void **value_block(struct value **value)
{
    return value_small(*value) ? small_of(value) : NULL;
}

/* ---- loads ---- */

struct unseen_allocator value_allocator(struct value *value, uint64_t block_limit)
{
    value->memory.budget = (struct budget){0, block_limit, false};
    return memory_allocator(&value->memory);
}

/* Whether a small set is one that this recipe would have made: with its form and its rate. */
static bool is_of_recipe(const struct recipe *recipe, const void *small)
{
    const struct unseen_small_stats stats = small_stats(small);
    void *made;
    if (!recipe->starts_small || make_small(&made, recipe) != UNSEEN_OK) {
        return false;
    }
    /* Equal numbers, made in the same way of equal codes. */
    const double promise = small_stats(made).fpr_promise;
    free_small(made);
    return stats.fpr_promise <= promise && stats.fpr_promise >= promise &&
           stats.counts == recipe->counts;
}

enum unseen_status value_load_small(struct value *value, const void *data, size_t len)
{
    struct budget budget = {0, 0, false};
    const struct unseen_allocator allocator = memory_small_allocator(&budget);
    const enum unseen_status status = unseen_small_load(&value->small, data, len, &allocator);
    if (status != UNSEEN_OK) {
        return status;
    }
    return is_of_recipe(value->recipe, value->small) ? UNSEEN_OK : UNSEEN_ERR_CORRUPT;
}

static bool has_secret_of(const struct recipe *recipe, const struct unseen_set *set)
{
    static const char probe[] = "one secret";
    const struct unseen_key a = unseen_set_identity_key(recipe->keyer, probe, sizeof(probe));
    const struct unseen_key b = unseen_set_identity_key(set, probe, sizeof(probe));
    return a.hi == b.hi && a.lo == b.lo;
}

bool value_load_set(struct value *value, struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    const bool fits =
        unseen_set_stats(set, &stats) == UNSEEN_OK &&
        strcmp(stats.filter, value->recipe->filter) == 0 && stats.counts == value->recipe->counts &&
        stats.window == value->recipe->settings.window && has_secret_of(value->recipe, set);
    if (fits) {
        value->set = set;
    } else {
        unseen_set_free(set);
    }
    return fits;
}

bool value_finish(struct value **value, uint64_t nadded, uint64_t nremoved)
{
    struct value *wide = *value;
    if (wide->small && (nadded != value_nadded(wide) || nremoved != value_nremoved(wide))) {
        return false;
    }
    wide->nadded = nadded;
    wide->nremoved = nremoved;
    if (wide->set) {
        note_due(wide);
    }
    narrow(value);
    return true;
}
