/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <string.h>

#include <unseen_replica.h>

#include "server.h"

enum {
    BATCH = 256,
    BLOCK = 2 * 1024 * 1024
};

static _Atomic uint64_t nvalues;

static bool counts(const struct value *value)
{
    return value->plan->settings.kind == KIND_CUCKOO;
}

static struct unseen_set *last_layer(const struct value *value)
{
    return value->layers[value->nlayers - 1];
}

enum unseen_status value_begin(struct value **value_out, struct plan *plan)
{
    struct value *value = server.TryAlloc(sizeof(*value));
    if (!value) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(value, 0, sizeof(*value));
    memory_init(&value->memory, plan->settings.limit);
    plan_share(plan);
    value->plan = plan;
    nvalues++;
    *value_out = value;
    return UNSEEN_OK;
}

static enum unseen_status add_layer(struct value *value)
{
    const struct plan *plan = value->plan;
    const struct unseen_allocator allocator = memory_allocator(&value->memory);
    const bool is_sized = value->nlayers == 0 && plan->first_bytes > 0;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = plan->filters[value->nlayers],
                                               .fpr = plan->rates[value->nlayers],
                                               .capacity = is_sized ? plan->first_max : 0,
                                               .seed = plan->settings.seed,
                                               .seed_len = SEED_LEN,
                                               .key_bits = plan->key_bits,
                                               .allocator = &allocator};
    enum unseen_status status = unseen_set_create(&value->layers[value->nlayers], &options, NULL);
    value->nlayers += status == UNSEEN_OK;
    return status;
}

enum unseen_status value_create(struct value **value_out, struct plan *plan)
{
    struct value *value;
    enum unseen_status status = value_begin(&value, plan);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = add_layer(value);
    if (status != UNSEEN_OK) {
        value_free(value);
        return UNSEEN_ERR_NOMEM; /* the plan has checked everything else */
    }
    *value_out = value;
    return UNSEEN_OK;
}

void value_free(struct value *value)
{
    if (value) {
        for (unsigned i = 0; i < value->nlayers; i++) {
            unseen_set_free(value->layers[i]);
        }
        const struct unseen_allocator allocator = memory_allocator(&value->memory);
        leases_release(&value->leases, &allocator);
        plan_release(value->plan);
        server.Free(value);
        nvalues--;
    }
}

/* ---- changes ---- */

/* How many of n more keys the last layer takes. */
static size_t room(const struct value *value, size_t n)
{
    const struct plan *plan = value->plan;
    if (value->nlayers > 1 || plan->first_max == 0) {
        return n;
    }
    const uint64_t rest = value->nadded < plan->first_max ? plan->first_max - value->nadded : 0;
    return rest < n ? (size_t)rest : n;
}

/* Adds keys that older layers lack to the last layer, which has room for them. */
static enum unseen_status add_some(struct value *value, const struct unseen_key *keys, size_t n,
                                   uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_key rest[BATCH];
    uint8_t answers[BATCH];
    uint8_t places[BATCH] = {0};
    size_t nrest = 0;
    size_t ndone;
    if (value->nlayers == 1) {
        return unseen_set_add_keys(last_layer(value), keys, n, verdicts, ndone_out);
    }
    (void)unseen_set_contains_keys(value->layers[0], keys, n, verdicts, NULL);
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == UNSEEN_NEW) {
            rest[nrest] = keys[i];
            places[nrest++] = (uint8_t)i;
        }
    }
    const enum unseen_status status =
        unseen_set_add_keys(last_layer(value), rest, nrest, answers, &ndone);
    for (size_t i = 0; i < ndone; i++) {
        verdicts[places[i]] = answers[i];
    }
    *ndone_out = ndone < nrest ? places[ndone] : n;
    return status;
}

/* A full value still answers SEEN to what it has. */
static enum unseen_status add_to_full(struct value *value, struct unseen_key key, uint8_t *verdict,
                                      size_t *ndone_out)
{
    value_contains(value, &key, 1, verdict);
    *ndone_out = *verdict == UNSEEN_SEEN;
    return *ndone_out ? UNSEEN_OK : UNSEEN_ERR_SPACE;
}

static enum unseen_status add_batch(struct value *value, const struct unseen_key *keys, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out)
{
    const size_t nfit = room(value, n < BATCH ? n : BATCH);
    if (nfit > 0) {
        return add_some(value, keys, nfit, verdicts, ndone_out);
    }
    *ndone_out = 0;
    return value->plan->settings.is_fixed ? add_to_full(value, keys[0], verdicts, ndone_out)
                                          : add_layer(value);
}

enum unseen_status value_add(struct value *value, const struct unseen_key *keys, size_t n,
                             uint8_t *verdicts, size_t *ndone_out)
{
    enum unseen_status status = UNSEEN_OK;
    size_t ndone = 0;
    while (ndone < n && status == UNSEEN_OK) {
        size_t nmore;
        status = add_batch(value, keys + ndone, n - ndone, verdicts + ndone, &nmore);
        for (size_t i = ndone; i < ndone + nmore; i++) {
            value->nadded += verdicts[i] == UNSEEN_NEW || counts(value);
            leases_remove(&value->leases, keys[i]);
        }
        ndone += nmore;
    }
    *ndone_out = ndone;
    return status;
}

enum unseen_status value_add_absent(struct value *value, struct unseen_key key, uint8_t *verdict)
{
    size_t ndone;
    value_contains(value, &key, 1, verdict);
    return *verdict == UNSEEN_SEEN ? UNSEEN_OK : value_add(value, &key, 1, verdict, &ndone);
}

void value_contains(const struct value *value, const struct unseen_key *keys, size_t n,
                    uint8_t *verdicts)
{
    uint8_t more[BATCH];
    (void)unseen_set_contains_keys(value->layers[0], keys, n, verdicts, NULL);
    for (size_t i = 0; value->nlayers > 1 && i < n; i += BATCH) {
        const size_t nmore = n - i < BATCH ? n - i : BATCH;
        (void)unseen_set_contains_keys(value->layers[1], keys + i, nmore, more, NULL);
        for (size_t k = 0; k < nmore; k++) {
            verdicts[i + k] = verdicts[i + k] == UNSEEN_SEEN ? UNSEEN_SEEN : more[k];
        }
    }
}

enum unseen_status value_remove(struct value *value, struct unseen_key key, uint8_t *verdict)
{
    const enum unseen_status status =
        value->nlayers > 1 ? UNSEEN_ERR_UNSUPPORTED
                           : unseen_set_remove_keys(value->layers[0], &key, 1, verdict, NULL);
    value->nremoved += status == UNSEEN_OK && *verdict == UNSEEN_SEEN;
    return status;
}

enum unseen_status value_merge(struct value *value, const struct value *other)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    if (value->nlayers > 1 || other->nlayers > 1) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    const enum unseen_status status = unseen_set_merge(value->layers[0], other->layers[0], NULL);
    (void)unseen_set_stats(value->layers[0], &stats); /* fails for a wrong size only */
    value->nadded = stats.nkeys + value->nremoved;
    return status;
}

enum unseen_status value_lease(struct value *value, struct unseen_key key, int64_t now,
                               int64_t until)
{
    const struct unseen_allocator allocator = memory_allocator(&value->memory);
    return leases_put(&value->leases, &allocator, key, until, now);
}

enum unseen_status value_claim(struct value *value, struct unseen_key key, int64_t now,
                               int64_t until, enum claim *claim_out)
{
    uint8_t verdict;
    value_contains(value, &key, 1, &verdict);
    if (verdict == UNSEEN_SEEN || leases_until(&value->leases, key) > now) {
        *claim_out = verdict == UNSEEN_SEEN ? CLAIM_DONE : CLAIM_BUSY;
        return UNSEEN_OK;
    }
    *claim_out = CLAIM_YOURS;
    return value_lease(value, key, now, until);
}

bool value_renew(struct value *value, struct unseen_key key, int64_t now, int64_t until)
{
    return leases_until(&value->leases, key) > now &&
           value_lease(value, key, now, until) == UNSEEN_OK;
}

uint64_t value_count(const struct value *value, struct unseen_key key)
{
    uint64_t count = 0;
    (void)unseen_set_count_keys(value->layers[0], &key, 1, &count); /* 0 if it cannot */
    return count;
}

/* ---- the whole ---- */

uint64_t value_digest(const struct value *value)
{
    uint64_t digest = value->nlayers;
    for (unsigned i = 0; i < value->nlayers; i++) {
        digest = digest * UINT64_C(0x9e3779b97f4a7c15) + unseen_set_digest(value->layers[i]);
    }
    return digest;
}

uint64_t value_memory(const struct value *value)
{
    return sizeof(*value) + value->memory.used;
}

size_t value_effort(const struct value *value)
{
    return 1 + value->nlayers + (size_t)(value->memory.used / BLOCK);
}

uint64_t value_capacity(const struct value *value)
{
    const struct settings *s = &value->plan->settings;
    uint64_t capacity = s->capacity ? s->capacity : 1;
    const uint64_t factor = s->expansion > 1 ? s->expansion : 2;
    while (!s->is_fixed && capacity < value->nadded && capacity <= INT64_MAX / factor) {
        capacity *= factor;
    }
    return capacity;
}

uint64_t value_total(void)
{
    return nvalues;
}

bool value_fits(const struct value *value, const struct unseen_set *set)
{
    static const char probe[] = "one secret";
    const struct plan *plan = value->plan;
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    if (value->nlayers == plan->nlayers || unseen_set_stats(set, &stats) != UNSEEN_OK ||
        strcmp(stats.filter, plan->filters[value->nlayers]) != 0) {
        return false;
    }
    const struct unseen_key a = unseen_set_identity_key(plan->keyer, probe, sizeof(probe));
    const struct unseen_key b = unseen_set_identity_key(set, probe, sizeof(probe));
    return a.hi == b.hi && a.lo == b.lo;
}
