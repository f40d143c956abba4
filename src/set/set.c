/* SPDX-License-Identifier: MIT
 *
 * A set: bytes -> identity -> key -> filter -> verdict. unseen__set_run (set.h) takes the last
 * step. */
#include "set/set.h"

#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "bits/bits.h"
#include "bits/rate.h"
#include "set/window.h"
#include "tags/compact.h"
#include "url/url.h"

static const char NO_PROFILE[] = "none/1";

enum {
    IDENTITY_BUF = 16384, /* a canonical form that fits needs no allocation */
    KEYS_BATCH = 256      /* keys made at a time from bytes */
};

/* What a reservation adds to the generation, so that chunks of exports before and after do not fit
 * together. */
#define RESERVED 3

/* ---- creation ---- */

enum unseen_status unseen__shape_check(double fpr, double bits_per_key, struct unseen_error *error)
{
    if (!(bits_per_key >= 0 && bits_per_key <= UNSEEN__BITS_PER_KEY_MAX)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY,
                                     "%g bits per key are not above 0 and at most %g", bits_per_key,
                                     UNSEEN__BITS_PER_KEY_MAX);
    }
    if (bits_per_key > 0 && fpr != 0) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY,
                                     "the rate follows from the bits per key, and the bits per key "
                                     "from the rate: give one");
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__set_options(const struct unseen_set_options *given,
                                       struct unseen_set_options *options_out,
                                       struct unseen_error *error)
{
    struct unseen_set_options options = {.size = sizeof(options)};
    enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_set_options", error);
    if (status == UNSEEN_OK) {
        status = unseen__shape_check(options.fpr, options.bits_per_key, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    if (options.fpr == 0 && options.bits_per_key == 0) {
        options.fpr = UNSEEN_FPR_DEFAULT;
    }
    if (!options.filter) {
        options.filter = "compact";
    }
    unseen__filter_resolve(&options.filter, &options.counts, &options.fpr);
    if (options.key_bits == 0) {
        options.key_bits =
            options.window
                ? unseen__window_key_bits(unseen__filter_find(options.filter, false), options.fpr)
                : 128;
    }
    if (options.bits_per_key == 0 && !(options.fpr > 0 && options.fpr < 1)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
                                     "a rate of %g is not above 0 and below 1", options.fpr);
    }
    if (!unseen__key_bits_are_valid(options.key_bits)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_KEY_BITS,
                                     "keys have 64, 96 or 128 bits, not %u", options.key_bits);
    }
    *options_out = options;
    return UNSEEN_OK;
}

enum unseen_status unseen__filter_named(const char *name, bool counts,
                                        const struct unseen__filter_ops **ops_out,
                                        struct unseen_error *error)
{
    *ops_out = unseen__filter_find(name, counts);
    if (!*ops_out && unseen__filter_find(name, false)) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
                                     "the filter %s does not count, compact does", name);
    }
    return *ops_out ? UNSEEN_OK
                    : unseen__error_setting(error, UNSEEN_ERR_NAME, UNSEEN_SETTING_FILTER,
                                            "there is no filter \"%s\"", name);
}

/* A filter that grows promises its rate up to 10^10 keys, and so many keys of 64 bits are alike at
 * a rate of 5.5e-10. Other filters have the number of keys that they were made for. */
unsigned unseen__key_bits_for(const struct unseen__filter_ops *ops, double fpr)
{
    return (ops->abilities & UNSEEN_CAN_GROW) && fpr < unseen__lowest_rate(64) ? 96 : 64;
}

double unseen__lowest_rate(unsigned key_bits)
{
    return key_bits < 96 ? 5.5e-10 : 1e-12;
}

/* The number of filters that so many threads share well, as a power of two. */
static unsigned wanted_shard_bits(unsigned threads)
{
    unsigned bits = 0;
    /* With 8 filters for each thread, two threads seldom want the same filter. */
    while (threads > 1 && bits < UNSEEN__SHARD_BITS_MAX && (1u << bits) / 8 < threads) {
        bits++;
    }
    return bits;
}

static void free_shards(struct unseen_set *set, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        set->ops->free(set->shards[i].filter);
        pthread_mutex_destroy(&set->shards[i].lock);
    }
    unseen__free(&set->allocator, set->shards, sizeof(*set->shards) << set->shard_bits);
}

static enum unseen_status create_shards(struct unseen_set *set,
                                        const struct unseen_set_options *options,
                                        const struct unseen__saved *saved)
{
    size_t nshards = unseen__set_nshards(set);
    set->shards = unseen__alloc(&set->allocator, nshards * sizeof(*set->shards),
                                _Alignof(struct unseen__shard));
    if (!set->shards) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < nshards; i++) {
        struct unseen__filter_params params = {
            .fpr = options->fpr,
            .capacity = options->capacity,
            .bits_per_key = options->bits_per_key,
            .hashes = options->hashes,
            .prefix_bits = set->shard_bits,
            .prefix = i,
            .first = i ? set->shards[0].filter : NULL,
            .saved = saved ? saved->params : NULL,
            .saved_nkeys = saved ? saved->nkeys : 0,
            .saved_max = saved ? saved->nbytes_max : 0,
            .cpu = set->cpu,
            .allocator = set->allocator,
        };
        set->shards[i].generation = 0;
        enum unseen_status status = set->ops->create(&set->shards[i].filter, &params);
        if (status == UNSEEN_OK && pthread_mutex_init(&set->shards[i].lock, NULL) != 0) {
            set->ops->free(set->shards[i].filter);
            status = UNSEEN_ERR_NOMEM;
        }
        if (status != UNSEEN_OK) {
            free_shards(set, i);
            return status;
        }
    }
    return UNSEEN_OK;
}

/* Chooses the number of filters, as a power of two, for options->threads and as the filter
 * allows. */
static enum unseen_status choose_shard_bits(const struct unseen__filter_ops *ops,
                                            const struct unseen_set_options *options,
                                            const struct unseen__saved *saved,
                                            unsigned *shard_bits_out)
{
    struct unseen__filter_params params = {
        .fpr = options->fpr, .capacity = options->capacity, .saved = saved ? saved->params : NULL};
    *shard_bits_out = wanted_shard_bits(options->threads);
    return ops->shard_bits ? ops->shard_bits(&params, *shard_bits_out, shard_bits_out) : UNSEEN_OK;
}

/* Says why a filter could not be made. */
static enum unseen_status filter_error(struct unseen_error *error, enum unseen_status status,
                                       const struct unseen_set_options *options)
{
    if (status == UNSEEN_ERR_FPR) {
        return unseen__error_setting(error, UNSEEN_ERR_FPR, UNSEEN_SETTING_FPR,
                                     "the filter %s promises no rate as low as %g", options->filter,
                                     options->fpr);
    }
    if (status == UNSEEN_ERR_ARGUMENT && options->bits_per_key > 0) {
        return unseen__error_setting(
            error, status, UNSEEN_SETTING_BITS_PER_KEY,
            "the filter %s would answer \"seen\" to every key, with so few "
            "bits per key as %g",
            options->filter, options->bits_per_key);
    }
    if (status == UNSEEN_ERR_ARGUMENT) {
        return unseen__error_setting(error, status, UNSEEN_SETTING_CAPACITY,
                                     "the filter %s cannot have the capacity %llu", options->filter,
                                     (unsigned long long)options->capacity);
    }
    return unseen__error_plain(error, status);
}

/* Checks bits per key and hashes against the filter. */
static enum unseen_status check_shape(const struct unseen__filter_ops *ops,
                                      const struct unseen_set_options *options,
                                      struct unseen_error *error)
{
    const bool has_bits = options->bits_per_key > 0;
    if ((has_bits || options->hashes) && ops != &unseen__bloom_ops) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED,
                                     has_bits ? UNSEEN_SETTING_BITS_PER_KEY : UNSEEN_SETTING_HASHES,
                                     "the filter %s takes no %s, bloom does", ops->name,
                                     has_bits ? "bits per key" : "number of hashes");
    }
    if (options->hashes > UNSEEN__HASHES_MAX) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_HASHES,
                                     "the filter %s has at most %d hashes, not %u", ops->name,
                                     UNSEEN__HASHES_MAX, options->hashes);
    }
    return UNSEEN_OK;
}

/* Checks shape, window, capacity and key bits against the filter. */
static enum unseen_status check_options(const struct unseen__filter_ops *ops,
                                        const struct unseen_set_options *options,
                                        struct unseen_error *error)
{
    enum unseen_status status = check_shape(ops, options, error);
    if (status == UNSEEN_OK) {
        status = unseen__window_check(ops, options, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    if (options->capacity == 0 && !(ops->abilities & UNSEEN_CAN_GROW)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_CAPACITY,
                                     "the filter %s needs a capacity", ops->name);
    }
    if (options->bits_per_key == 0 && options->key_bits < unseen__key_bits_for(ops, options->fpr)) {
        return unseen__error_setting(error, UNSEEN_ERR_FPR, UNSEEN_SETTING_KEY_BITS,
                                     "keys of %u bits allow no rate as low as %g",
                                     options->key_bits, options->fpr);
    }
    return UNSEEN_OK;
}

static enum unseen_status create_set(struct unseen_set **set_out,
                                     const struct unseen_set_options *options,
                                     const struct unseen_url *url,
                                     const struct unseen__secret *secret,
                                     const struct unseen__saved *saved, struct unseen_error *error)
{
    const struct unseen__filter_ops *ops;
    unsigned shard_bits;
    enum unseen_cpu cpu;
    enum unseen_status status = unseen__filter_named(options->filter, options->counts, &ops, error);
    if (status == UNSEEN_OK && !saved) {
        status = check_options(ops, options, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__cpu_select(options->cpu, &cpu, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = choose_shard_bits(ops, options, saved, &shard_bits);
    if (status != UNSEEN_OK) {
        return filter_error(error, status, options);
    }
    const struct unseen_allocator allocator = unseen__allocator(options->allocator);
    struct unseen_set *set = unseen__alloc(&allocator, sizeof(*set), _Alignof(struct unseen_set));
    if (!set) {
        return filter_error(error, UNSEEN_ERR_NOMEM, options);
    }
    *set = (struct unseen_set){
        .ops = ops,
        .shard_bits = shard_bits,
        .threads = options->threads,
        .shared = options->threads > 1 || shard_bits > 0,
        .key_bits = options->key_bits,
        .url = url,
        .cpu = cpu,
        .allocator = allocator,
    };
    status = create_shards(set, options, saved);
    if (status == UNSEEN_OK && options->window > 0) {
        status = unseen__window_create(set, options->window);
        if (status != UNSEEN_OK) {
            free_shards(set, unseen__set_nshards(set));
        }
    }
    if (status != UNSEEN_OK) {
        unseen__free(&allocator, set, sizeof(*set));
        return filter_error(error, status, options);
    }
    unseen__hasher_init(&set->hasher, secret, cpu);
    *set_out = set;
    return UNSEEN_OK;
}

enum unseen_status unseen__set_create(struct unseen_set **set_out,
                                      const struct unseen_set_options *given,
                                      const struct unseen_url *url,
                                      const struct unseen__secret *secret,
                                      const struct unseen__saved *saved, struct unseen_error *error)
{
    struct unseen_set_options options;
    const enum unseen_status status = unseen__set_options(given, &options, error);
    return status == UNSEEN_OK ? create_set(set_out, &options, url, secret, saved, error) : status;
}

const char *unseen__profile_of(const struct unseen_url *url)
{
    return url ? unseen_url_id(url) : NO_PROFILE;
}

enum unseen_status unseen__set_url_make(struct unseen_url **url_out, const char *profile,
                                        enum unseen_cpu cpu,
                                        const struct unseen_allocator *allocator,
                                        struct unseen_error *error)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .cpu = cpu, .allocator = allocator};
    struct unseen_url *url;
    const enum unseen_status status = unseen_url_create(&url, &options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (strcmp(unseen_url_id(url), NO_PROFILE) == 0) {
        unseen_url_free(url);
        url = NULL;
    }
    *url_out = url;
    return UNSEEN_OK;
}

/* Makes the canonicaliser and the set that owns it. */
static enum unseen_status create_with_profile(struct unseen_set **set_out,
                                              const struct unseen_set_options *options,
                                              const struct unseen__secret *secret,
                                              struct unseen_error *error)
{
    struct unseen_url *url = NULL;
    enum unseen_status status =
        unseen__set_url_make(&url, options->profile, options->cpu, options->allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = create_set(set_out, options, url, secret, NULL, error);
    if (status != UNSEEN_OK) {
        unseen_url_free(url);
        return status;
    }
    (*set_out)->own_url = url;
    return UNSEEN_OK;
}

enum unseen_status unseen_set_create(struct unseen_set **set_out,
                                     const struct unseen_set_options *given,
                                     struct unseen_error *error)
{
    struct unseen_set_options options;
    const struct unseen__filter_ops *ops;
    struct unseen__secret secret;
    enum unseen_status status = unseen__set_options(given, &options, error);
    if (status == UNSEEN_OK) {
        status = unseen__filter_named(options.filter, options.counts, &ops, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__secret_make(options.seed, options.seed_len, &secret, error);
    }
    if (status == UNSEEN_OK) {
        status = create_with_profile(set_out, &options, &secret, error);
    }
    unseen__secret_forget(&secret);
    return status;
}

void unseen_set_free(struct unseen_set *set)
{
    if (!set) {
        return;
    }
    unseen__window_free(set);
    unseen_set_free(set->recent);
    free_shards(set, unseen__set_nshards(set));
    unseen__set_forget_allowed(set);
    unseen__hasher_release(&set->hasher);
    unseen_url_free(set->own_url);
    struct unseen_allocator allocator = set->allocator;
    unseen__free(&allocator, set, sizeof(*set));
}

void unseen__set_swap_filters(struct unseen_set *a, struct unseen_set *b)
{
    const struct unseen__filter_ops *ops = a->ops;
    struct unseen__shard *shards = a->shards;
    const unsigned shard_bits = a->shard_bits;
    const bool shared = a->shared;
    const bool fetches = a->fetches;
    const bool is_lost = a->is_lost;
    struct unseen_set *recent = a->recent;
    struct unseen__stash *allowed = a->allowed;
    a->ops = b->ops;
    a->shards = b->shards;
    a->shard_bits = b->shard_bits;
    a->shared = b->shared;
    a->fetches = b->fetches;
    a->is_lost = b->is_lost;
    a->recent = b->recent;
    a->allowed = b->allowed;
    b->ops = ops;
    b->shards = shards;
    b->shard_bits = shard_bits;
    b->shared = shared;
    b->fetches = fetches;
    b->is_lost = is_lost;
    b->recent = recent;
    b->allowed = allowed;
}

/* ---- bytes -> key ---- */

/* Reads the identity of an item into lane i of a batch; its canonical form goes into buf. */
UNSEEN_INLINE enum unseen_status put_item(const struct unseen_set *set,
                                          struct unseen__key_batch *batch, size_t i,
                                          struct unseen_bytes item, char *buf, size_t cap,
                                          enum unseen_url_form *form_out)
{
    struct unseen_canon canon;
    if (set->url) {
        const enum unseen_status status =
            unseen__url_canon(set->url, item.data, item.len, buf, cap, &canon);
        if (status != UNSEEN_OK) {
            return status;
        }
    } else {
        canon = (struct unseen_canon){UNSEEN_URL_UNCHANGED, item};
    }
    unseen__key_batch_put(&set->hasher, batch, i, canon.bytes.data, canon.bytes.len);
    *form_out = canon.form;
    return UNSEEN_OK;
}

/* As put_item, for a URL that is too long for the buffer on the stack. */
static UNSEEN_NOINLINE enum unseen_status put_long(const struct unseen_set *set,
                                                   struct unseen__key_batch *batch, size_t i,
                                                   struct unseen_bytes item,
                                                   enum unseen_url_form *form_out)
{
    size_t cap = unseen_url_bound(item.len, 0);
    char *buf = cap ? unseen__alloc(&set->allocator, cap, 1) : NULL;
    if (!buf) {
        return UNSEEN_ERR_NOMEM;
    }
    enum unseen_status status = put_item(set, batch, i, item, buf, cap, form_out);
    unseen__free(&set->allocator, buf, cap);
    return status;
}

enum unseen_status unseen_set_keys(const struct unseen_set *set, const struct unseen_bytes *items,
                                   size_t n, struct unseen_key *keys, uint8_t *forms)
{
    struct unseen__key_batch batch;
    char buf[IDENTITY_BUF];
    for (size_t at = 0; at < n; at += UNSEEN__KEY_LANES) {
        const size_t count = n - at < UNSEEN__KEY_LANES ? n - at : UNSEEN__KEY_LANES;
        batch.is_whole = 0;
        for (size_t i = 0; i < count; i++) {
            enum unseen_url_form form;
            enum unseen_status status =
                put_item(set, &batch, i, items[at + i], buf, sizeof(buf), &form);
            if (status == UNSEEN_ERR_SPACE) {
                status = put_long(set, &batch, i, items[at + i], &form);
            }
            if (status != UNSEEN_OK) {
                return status;
            }
            if (forms) {
                forms[at + i] = (uint8_t)form;
            }
        }
        unseen__key_batch_make(&set->hasher, &batch, count, set->key_bits, keys + at);
    }
    return UNSEEN_OK;
}

struct unseen_key unseen_set_identity_key(const struct unseen_set *set, const void *data,
                                          size_t len)
{
    return unseen__key(&set->hasher, data, len, set->key_bits);
}

/* ---- bytes and keys -> verdicts ---- */

/* Does what unseen_set_add does, for each operation. */
static enum unseen_status run_items(const struct unseen_set *set, enum unseen__operation operation,
                                    const struct unseen_bytes *items, size_t n, uint8_t *verdicts,
                                    size_t *ndone_out)
{
    struct unseen_key keys[KEYS_BATCH];
    size_t done = 0;
    enum unseen_status status = UNSEEN_OK;
    while (done < n && status == UNSEEN_OK) {
        size_t count = n - done < KEYS_BATCH ? n - done : KEYS_BATCH;
        size_t batch_done = 0;
        status = unseen_set_keys(set, items + done, count, keys, NULL);
        if (status == UNSEEN_OK) {
            status = unseen__set_run(set, operation, keys, count, verdicts + done, &batch_done);
        }
        done += batch_done;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_set_add(struct unseen_set *set, const struct unseen_bytes *items,
                                  size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return run_items(set, UNSEEN__ADD, items, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains(const struct unseen_set *set,
                                       const struct unseen_bytes *items, size_t n,
                                       uint8_t *verdicts, size_t *ndone_out)
{
    return run_items(set, UNSEEN__CONTAINS, items, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_remove(struct unseen_set *set, const struct unseen_bytes *items,
                                     size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return run_items(set, UNSEEN__REMOVE, items, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_add_keys(struct unseen_set *set, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return unseen__set_run(set, UNSEEN__ADD, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains_keys(const struct unseen_set *set,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts, size_t *ndone_out)
{
    return unseen__set_run(set, UNSEEN__CONTAINS, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_remove_keys(struct unseen_set *set, const struct unseen_key *keys,
                                          size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return unseen__set_run(set, UNSEEN__REMOVE, keys, n, verdicts, ndone_out);
}

/* ---- what only a compact filter does ---- */

enum unseen_status unseen__set_fetch_keys(const struct unseen_set *set,
                                          const struct unseen_key *keys, size_t n, bool asks_only)
{
    struct unseen__shard *shard = &set->shards[0];
    if (unseen__compact_has_groups(shard->filter, keys, n)) {
        return UNSEEN_OK;
    }
    pthread_mutex_lock(&shard->lock);
    const enum unseen_status status = unseen__compact_fetch(shard->filter, keys, n, asks_only);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

enum unseen_status unseen_set_reserve(struct unseen_set *set, uint64_t nkeys)
{
    if (set->ops != &unseen__compact_ops && set->ops != &unseen__compact_count_ops) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    enum unseen_status status = unseen__set_fetch_all(set);
    for (size_t i = 0; i < unseen__set_nshards(set) && status == UNSEEN_OK; i++) {
        struct unseen__shard *shard = &set->shards[i];
        pthread_mutex_lock(&shard->lock);
        status = unseen__compact_reserve(shard->filter, nkeys);
        shard->generation += RESERVED;
        pthread_mutex_unlock(&shard->lock);
    }
    return status;
}

/* ---- parts ---- */

static bool has_parts(const struct unseen_set *set)
{
    return set->ops == &unseen__compact_ops && !set->shared && !set->window;
}

unsigned unseen_set_part_bits(const struct unseen_set *set)
{
    uint8_t params[UNSEEN__PARAMS_LEN] = {0};
    if (!has_parts(set)) {
        return 0;
    }
    set->ops->save_params(set->shards[0].filter, params);
    return unseen__compact_saved_depth(params);
}

enum unseen_status unseen_set_drop_part(struct unseen_set *set, unsigned bits, uint64_t part)
{
    const struct unseen__part dropped = {set, bits, part};
    if (!has_parts(set)) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    return bits >= 1 && bits <= COMPACT_DEPTH_MAX && part >> bits == 0
               ? unseen__set_drop_part(&dropped)
               : UNSEEN_ERR_ARGUMENT;
}

static uint64_t path_of(const struct unseen__part *part)
{
    return part->index << (64 - part->bits);
}

enum unseen_status unseen__set_load_part(const struct unseen__part *part)
{
    return unseen__compact_fetch_part(part->set->shards[0].filter, path_of(part), part->bits);
}

enum unseen_status unseen__set_keep_part(const struct unseen__part *part)
{
    return unseen__compact_save_part(part->set->shards[0].filter, path_of(part), part->bits);
}

enum unseen_status unseen__set_drop_part(const struct unseen__part *part)
{
    return unseen__compact_drop(part->set->shards[0].filter, path_of(part), part->bits);
}

/* ---- numbers ---- */

enum unseen_status unseen_set_stats(const struct unseen_set *set,
                                    struct unseen_set_stats *stats_out)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    size_t nshards = unseen__set_nshards(set);
    struct unseen__tally tally = {0};
    for (size_t i = 0; i < nshards; i++) {
        pthread_mutex_lock(&set->shards[i].lock);
        set->ops->stats(set->shards[i].filter, &stats);
        if (set->ops->tally) {
            set->ops->tally(set->shards[i].filter, &tally);
        }
        pthread_mutex_unlock(&set->shards[i].lock);
    }
    if (set->ops->tally) {
        unseen__tally_estimate(&tally, &stats);
    }
    if (set->window) {
        unseen__window_stats(set, &stats);
    }
    stats.memory += sizeof(*set) + nshards * sizeof(*set->shards);
    stats.memory += set->allowed ? sizeof(*set->allowed) + unseen__stash_memory(set->allowed) : 0;
    if (set->recent) {
        struct unseen_set_stats recent = {.size = sizeof(recent)};
        (void)unseen_set_stats(set->recent, &recent);
        stats.nkeys += recent.nkeys;
        stats.memory += recent.memory;
        stats.fpr_estimate += recent.fpr_estimate;
    }
    stats.fill /= (double)stats.nslots;
    stats.abilities = set->ops->abilities;
    stats.filter = set->ops->name;
    stats.counts = set->ops->multiplicity != NULL;
    stats.cpu = unseen__cpu_name(set->cpu);
    return unseen__sized_give(stats_out, &stats, sizeof(stats));
}

const char *unseen_set_profile(const struct unseen_set *set)
{
    return unseen__profile_of(set->url);
}
