/* SPDX-License-Identifier: MIT
 *
 * A set: bytes -> identity -> key -> filter -> verdict.
 *
 * A set for one thread is one filter. A set for several is up to 256 filters, each behind its own
 * lock and each holding the keys of one hash prefix, so a key's add is one critical section and
 * exactly one thread is told that it was new. A batch is sorted by filter first, so that a lock is
 * taken once for all its keys. */
#include "set/set.h"

#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "filter/tally.h"

enum {
    IDENTITY_BUF = 16384, /* canonical forms up to here need no allocation */
    SHARED_BATCH = 1024,  /* keys sorted by filter at a time */
    KEYS_BATCH = 256,     /* keys made at a time from bytes */
    UNANSWERED = 0xff
};

/* ---- creation ---- */

enum unseen_status unseen__set_options(const struct unseen_set_options *given,
                                       struct unseen_set_options *options_out)
{
    struct unseen_set_options options = {.size = sizeof(options)};
    if (given) {
        if (given->size < offsetof(struct unseen_set_options, capacity) ||
            given->size > sizeof(options)) {
            return UNSEEN_ERR_ARGUMENT;
        }
        memcpy(&options, given, given->size);
    }
    if (options.fpr == 0) {
        options.fpr = UNSEEN_FPR_DEFAULT;
    }
    if (!options.filter) {
        options.filter = "compact";
    }
    if (options.key_bits == 0) {
        options.key_bits = 128;
    }
    *options_out = options;
    return options.fpr > 0 && options.fpr < 1 && unseen__key_bits_are_valid(options.key_bits)
               ? UNSEEN_OK
               : UNSEEN_ERR_ARGUMENT;
}

unsigned unseen__shard_bits(unsigned threads)
{
    unsigned bits = 0;
    /* 8 filters for each thread: two threads then seldom want the same one. */
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
    size_t nshards = (size_t)1 << set->shard_bits;
    set->shards = unseen__alloc(&set->allocator, nshards * sizeof(*set->shards),
                                _Alignof(struct unseen__shard));
    if (!set->shards) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < nshards; i++) {
        struct unseen__filter_params params = {
            .fpr = options->fpr,
            .capacity = options->capacity,
            .prefix_bits = set->shard_bits,
            .prefix = i,
            .first = i ? set->shards[0].filter : NULL,
            .saved = saved ? saved->params : NULL,
            .saved_nkeys = saved ? saved->nkeys : 0,
            .saved_max = saved ? saved->nbytes_max : 0,
            .cpu = set->cpu,
            .allocator = set->allocator,
        };
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

/* How many filters, as a power of two: for so many threads, as far as the filter allows. */
static enum unseen_status choose_shard_bits(const struct unseen__filter_ops *ops,
                                            const struct unseen_set_options *options,
                                            const struct unseen__saved *saved,
                                            unsigned *shard_bits_out)
{
    struct unseen__filter_params params = {
        .fpr = options->fpr, .capacity = options->capacity, .saved = saved ? saved->params : NULL};
    *shard_bits_out = unseen__shard_bits(options->threads);
    return ops->shard_bits ? ops->shard_bits(&params, *shard_bits_out, shard_bits_out) : UNSEEN_OK;
}

static enum unseen_status create_set(struct unseen_set **set_out,
                                     const struct unseen_set_options *options,
                                     const struct unseen__secret *secret,
                                     const struct unseen__saved *saved)
{
    const struct unseen__filter_ops *ops = unseen__filter_find(options->filter);
    unsigned shard_bits;
    if (!ops) {
        return UNSEEN_ERR_NAME;
    }
    if (!saved && options->capacity == 0 && !(ops->abilities & UNSEEN_CAN_GROW)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (!saved && ops->key_bits && options->key_bits < ops->key_bits(options->fpr)) {
        return UNSEEN_ERR_FPR;
    }
    enum unseen_status status = choose_shard_bits(ops, options, saved, &shard_bits);
    if (status != UNSEEN_OK) {
        return status;
    }
    enum unseen_cpu cpu;
    status = unseen__cpu_select(options->cpu, &cpu);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen_allocator allocator = unseen__allocator(options->allocator);
    struct unseen_set *set = unseen__alloc(&allocator, sizeof(*set), _Alignof(struct unseen_set));
    if (!set) {
        return UNSEEN_ERR_NOMEM;
    }
    *set = (struct unseen_set){
        .ops = ops,
        .shard_bits = shard_bits,
        .shared = options->threads > 1 || shard_bits > 0,
        .key_bits = options->key_bits,
        .url = options->url,
        .cpu = cpu,
        .allocator = allocator,
    };
    status = create_shards(set, options, saved);
    if (status != UNSEEN_OK) {
        unseen__free(&allocator, set, sizeof(*set));
        return status;
    }
    unseen__hasher_init(&set->hasher, secret, cpu);
    *set_out = set;
    return UNSEEN_OK;
}

enum unseen_status unseen__set_create(struct unseen_set **set_out,
                                      const struct unseen_set_options *given,
                                      const struct unseen__secret *secret,
                                      const struct unseen__saved *saved)
{
    struct unseen_set_options options;
    enum unseen_status status = unseen__set_options(given, &options);
    return status == UNSEEN_OK ? create_set(set_out, &options, secret, saved) : status;
}

enum unseen_status unseen_set_create(struct unseen_set **set_out,
                                     const struct unseen_set_options *given)
{
    struct unseen_set_options options;
    struct unseen__secret secret;
    enum unseen_status status = unseen__set_options(given, &options);
    if (status == UNSEEN_OK) {
        status = unseen__secret_make(options.seed, options.seed_len, &secret);
    }
    if (status == UNSEEN_OK) {
        status = create_set(set_out, &options, &secret, NULL);
    }
    unseen__secret_forget(&secret);
    return status;
}

void unseen_set_free(struct unseen_set *set)
{
    if (!set) {
        return;
    }
    free_shards(set, (size_t)1 << set->shard_bits);
    unseen__hasher_release(&set->hasher);
    struct unseen_allocator allocator = set->allocator;
    unseen__free(&allocator, set, sizeof(*set));
}

/* ---- bytes -> key ---- */

/* Reads the identity of an item into lane i of a batch; its canonical form goes into buf. */
UNSEEN_INLINE enum unseen_status put_canonical(const struct unseen_set *set,
                                               struct unseen__key_batch *batch, size_t i,
                                               struct unseen_bytes item, char *buf, size_t cap,
                                               enum unseen_url_form *form_out)
{
    struct unseen_canon canon;
    enum unseen_status status = unseen_url_canon(set->url, item.data, item.len, buf, cap, &canon);
    if (status == UNSEEN_OK) {
        unseen__key_batch_put(&set->hasher, batch, i, canon.bytes.data, canon.bytes.len);
        *form_out = canon.form;
    }
    return status;
}

/* A URL too long for the buffer on the stack. */
static UNSEEN_NOINLINE enum unseen_status put_long(const struct unseen_set *set,
                                                   struct unseen__key_batch *batch, size_t i,
                                                   struct unseen_bytes item,
                                                   enum unseen_url_form *form_out)
{
    size_t cap = unseen_url_bound(item.len);
    char *buf = cap ? unseen__alloc(&set->allocator, cap, 1) : NULL;
    if (!buf) {
        return UNSEEN_ERR_NOMEM;
    }
    enum unseen_status status = put_canonical(set, batch, i, item, buf, cap, form_out);
    unseen__free(&set->allocator, buf, cap);
    return status;
}

UNSEEN_INLINE enum unseen_status put_item(const struct unseen_set *set,
                                          struct unseen__key_batch *batch, size_t i,
                                          struct unseen_bytes item, enum unseen_url_form *form_out)
{
    if (!set->url) {
        unseen__key_batch_put(&set->hasher, batch, i, item.data, item.len);
        *form_out = UNSEEN_URL_UNCHANGED;
        return UNSEEN_OK;
    }
    char buf[IDENTITY_BUF];
    enum unseen_status status = put_canonical(set, batch, i, item, buf, sizeof(buf), form_out);
    return status == UNSEEN_ERR_SPACE ? put_long(set, batch, i, item, form_out) : status;
}

enum unseen_status unseen_set_keys(const struct unseen_set *set, const struct unseen_bytes *items,
                                   size_t n, struct unseen_key *keys, uint8_t *forms)
{
    struct unseen__key_batch batch;
    for (size_t at = 0; at < n; at += UNSEEN__KEY_LANES) {
        const size_t count = n - at < UNSEEN__KEY_LANES ? n - at : UNSEEN__KEY_LANES;
        batch.is_whole = 0;
        for (size_t i = 0; i < count; i++) {
            enum unseen_url_form form;
            enum unseen_status status = put_item(set, &batch, i, items[at + i], &form);
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

enum unseen_status unseen_set_key(const struct unseen_set *set, const void *data, size_t len,
                                  struct unseen_key *key_out)
{
    const struct unseen_bytes item = {data, len};
    return unseen_set_keys(set, &item, 1, key_out, NULL);
}

struct unseen_key unseen_set_identity_key(const struct unseen_set *set, const void *data,
                                          size_t len)
{
    return unseen__key(&set->hasher, data, len, set->key_bits);
}

/* ---- keys -> verdicts ---- */

enum operation {
    ADD,
    CONTAINS,
    REMOVE
};

static enum unseen_status run_filter(const struct unseen_set *set, struct unseen__filter *filter,
                                     enum operation operation, const struct unseen_key *keys,
                                     size_t n, uint8_t *verdicts, size_t *ndone)
{
    *ndone = n;
    switch (operation) {
    case ADD:
        return set->ops->add(filter, keys, n, verdicts, ndone);
    case CONTAINS:
        set->ops->contains(filter, keys, n, verdicts);
        return UNSEEN_OK;
    case REMOVE:
        set->ops->remove(filter, keys, n, verdicts);
        return UNSEEN_OK;
    }
    return UNSEEN_ERR_ARGUMENT;
}

static size_t shard_of(const struct unseen_set *set, struct unseen_key key)
{
    return (size_t)((key.hi >> 1) >> (63 - set->shard_bits));
}

static enum unseen_status run_locked(const struct unseen_set *set, size_t shard,
                                     enum operation operation, const struct unseen_key *keys,
                                     size_t n, uint8_t *verdicts, size_t *ndone)
{
    struct unseen__shard *s = &set->shards[shard];
    pthread_mutex_lock(&s->lock);
    enum unseen_status status = run_filter(set, s->filter, operation, keys, n, verdicts, ndone);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static enum unseen_status reserve_locked(const struct unseen_set *set, size_t shard, ptrdiff_t n)
{
    struct unseen__shard *s = &set->shards[shard];
    pthread_mutex_lock(&s->lock);
    enum unseen_status status = set->ops->reserve(s->filter, n);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Up to SHARED_BATCH keys in the order of their filters. */
struct sorted {
    struct unseen_key keys[SHARED_BATCH];
    uint8_t verdicts[SHARED_BATCH];
    uint16_t index[SHARED_BATCH];                      /* where each came from */
    uint16_t start[(1 << UNSEEN__SHARD_BITS_MAX) + 1]; /* the first of each filter */
};

static void sort_by_shard(const struct unseen_set *set, const struct unseen_key *keys, size_t n,
                          struct sorted *s)
{
    size_t nshards = (size_t)1 << set->shard_bits;
    memset(s->start, 0, sizeof(s->start));
    for (size_t i = 0; i < n; i++) {
        s->start[shard_of(set, keys[i]) + 1]++;
    }
    for (size_t k = 0; k < nshards; k++) {
        s->start[k + 1] = (uint16_t)(s->start[k + 1] + s->start[k]);
    }
    uint16_t next[1 << UNSEEN__SHARD_BITS_MAX];
    memcpy(next, s->start, nshards * sizeof(*next));
    for (size_t i = 0; i < n; i++) {
        uint16_t to = next[shard_of(set, keys[i])]++;
        s->keys[to] = keys[i];
        s->index[to] = (uint16_t)i;
    }
    memset(s->verdicts, UNANSWERED, n);
}

/* One filter ran out of memory: takes back what others added behind the first key without an
 * answer, so that the caller can try those again. */
static void take_back(const struct unseen_set *set, struct sorted *s, size_t n, size_t *ndone)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        if (s->verdicts[i] == UNANSWERED && s->index[i] < first) {
            first = s->index[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (s->verdicts[i] == UNSEEN_NEW && s->index[i] > first) {
            uint8_t verdict;
            size_t one;
            (void)run_locked(set, shard_of(set, s->keys[i]), REMOVE, &s->keys[i], 1, &verdict,
                             &one);
        }
    }
    *ndone = first;
}

/* Makes room for the keys of all filters, or for none. */
static enum unseen_status reserve(const struct unseen_set *set, const struct sorted *s)
{
    size_t nshards = (size_t)1 << set->shard_bits;
    enum unseen_status status = UNSEEN_OK;
    size_t k;
    for (k = 0; set->ops->reserve && k < nshards && status == UNSEEN_OK; k++) {
        ptrdiff_t count = s->start[k + 1] - s->start[k];
        status = count ? reserve_locked(set, k, count) : UNSEEN_OK;
    }
    for (k = status == UNSEEN_OK ? 0 : k - 1; k-- > 0;) {
        (void)reserve_locked(set, k, -(ptrdiff_t)(s->start[k + 1] - s->start[k]));
    }
    return status;
}

/* There is no room for all: adds until the first for which there is none. */
static enum unseen_status add_singly(const struct unseen_set *set, const struct unseen_key *keys,
                                     size_t n, uint8_t *verdicts, size_t *ndone)
{
    enum unseen_status status = UNSEEN_OK;
    size_t one;
    for (*ndone = 0; *ndone < n && status == UNSEEN_OK; *ndone += status == UNSEEN_OK) {
        size_t shard = shard_of(set, keys[*ndone]);
        status = reserve_locked(set, shard, 1);
        if (status == UNSEEN_OK) {
            status = run_locked(set, shard, ADD, &keys[*ndone], 1, verdicts + *ndone, &one);
        }
    }
    return status;
}

static enum unseen_status run_sorted(const struct unseen_set *set, enum operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone)
{
    struct sorted s;
    sort_by_shard(set, keys, n, &s);
    enum unseen_status result = operation == ADD ? reserve(set, &s) : UNSEEN_OK;
    if (result != UNSEEN_OK) {
        return add_singly(set, keys, n, verdicts, ndone);
    }
    for (size_t k = 0; k < (size_t)1 << set->shard_bits; k++) {
        size_t start = s.start[k];
        size_t count = s.start[k + 1] - start;
        size_t shard_done;
        if (count == 0) {
            continue;
        }
        enum unseen_status status =
            run_locked(set, k, operation, s.keys + start, count, s.verdicts + start, &shard_done);
        if (status != UNSEEN_OK) {
            result = status;
            memset(s.verdicts + start + shard_done, UNANSWERED, count - shard_done);
        }
    }
    *ndone = n;
    if (result != UNSEEN_OK) {
        take_back(set, &s, n, ndone);
    }
    for (size_t i = 0; i < n; i++) {
        if (s.index[i] < *ndone) {
            verdicts[s.index[i]] = s.verdicts[i];
        }
    }
    return result;
}

static enum unseen_status run_shared(const struct unseen_set *set, enum operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone)
{
    if (n == 1 && !(operation == ADD && set->ops->reserve)) {
        return run_locked(set, shard_of(set, keys[0]), operation, keys, n, verdicts, ndone);
    }
    for (size_t done = 0; done < n; done += SHARED_BATCH) {
        size_t count = n - done < SHARED_BATCH ? n - done : SHARED_BATCH;
        size_t batch_done;
        enum unseen_status status =
            run_sorted(set, operation, keys + done, count, verdicts + done, &batch_done);
        if (status != UNSEEN_OK) {
            *ndone = done + batch_done;
            return status;
        }
    }
    *ndone = n;
    return UNSEEN_OK;
}

static enum unseen_status run_keys(const struct unseen_set *set, enum operation operation,
                                   const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                   size_t *ndone_out)
{
    size_t ndone = 0;
    if (operation == REMOVE && !set->ops->remove) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    enum unseen_status status =
        set->shared ? run_shared(set, operation, keys, n, verdicts, &ndone)
                    : run_filter(set, set->shards[0].filter, operation, keys, n, verdicts, &ndone);
    if (ndone_out) {
        *ndone_out = ndone;
    }
    return status;
}

enum unseen_status unseen_set_add_keys(struct unseen_set *set, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return run_keys(set, ADD, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains_keys(const struct unseen_set *set,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts)
{
    return run_keys(set, CONTAINS, keys, n, verdicts, NULL);
}

enum unseen_status unseen_set_remove_keys(struct unseen_set *set, const struct unseen_key *keys,
                                          size_t n, uint8_t *verdicts)
{
    return run_keys(set, REMOVE, keys, n, verdicts, NULL);
}

/* ---- bytes -> verdicts ---- */

static enum unseen_status run_one(const struct unseen_set *set, enum operation operation,
                                  const void *data, size_t len, enum unseen_verdict *verdict_out)
{
    struct unseen_key key;
    enum unseen_status status = unseen_set_key(set, data, len, &key);
    uint8_t verdict = UNSEEN_SEEN;
    if (status == UNSEEN_OK) {
        status = run_keys(set, operation, &key, 1, &verdict, NULL);
    }
    if (status == UNSEEN_OK) {
        *verdict_out = (enum unseen_verdict)verdict;
    }
    return status;
}

enum unseen_status unseen_set_add(struct unseen_set *set, const void *data, size_t len,
                                  enum unseen_verdict *verdict_out)
{
    return run_one(set, ADD, data, len, verdict_out);
}

enum unseen_status unseen_set_contains(const struct unseen_set *set, const void *data, size_t len,
                                       enum unseen_verdict *verdict_out)
{
    return run_one(set, CONTAINS, data, len, verdict_out);
}

enum unseen_status unseen_set_remove(struct unseen_set *set, const void *data, size_t len,
                                     enum unseen_verdict *verdict_out)
{
    return run_one(set, REMOVE, data, len, verdict_out);
}

static enum unseen_status run_items(const struct unseen_set *set, enum operation operation,
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
            status = run_keys(set, operation, keys, count, verdicts + done, &batch_done);
        }
        done += batch_done;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_set_add_batch(struct unseen_set *set, const struct unseen_bytes *items,
                                        size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return run_items(set, ADD, items, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains_batch(const struct unseen_set *set,
                                             const struct unseen_bytes *items, size_t n,
                                             uint8_t *verdicts)
{
    return run_items(set, CONTAINS, items, n, verdicts, NULL);
}

enum unseen_status unseen_set_remove_batch(struct unseen_set *set, const struct unseen_bytes *items,
                                           size_t n, uint8_t *verdicts)
{
    return run_items(set, REMOVE, items, n, verdicts, NULL);
}

static enum unseen_status run_arrow(const struct unseen_set *set, enum operation operation,
                                    const void *data, const int64_t *offsets, size_t n,
                                    uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_bytes items[KEYS_BATCH];
    size_t done = 0;
    enum unseen_status status = UNSEEN_OK;
    while (done < n && status == UNSEEN_OK) {
        size_t count = n - done < KEYS_BATCH ? n - done : KEYS_BATCH;
        size_t batch_done = 0;
        for (size_t i = 0; i < count; i++) {
            const int64_t *offset = offsets + done + i;
            if (offset[0] < 0 || offset[1] < offset[0]) {
                status = UNSEEN_ERR_ARGUMENT;
                count = i;
                break;
            }
            items[i].data = data ? (const char *)data + offset[0] : NULL;
            items[i].len = (size_t)(offset[1] - offset[0]);
        }
        enum unseen_status run_status =
            run_items(set, operation, items, count, verdicts + done, &batch_done);
        status = run_status != UNSEEN_OK ? run_status : status;
        done += batch_done;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_set_add_arrow(struct unseen_set *set, const void *data,
                                        const int64_t *offsets, size_t n, uint8_t *verdicts,
                                        size_t *ndone_out)
{
    return run_arrow(set, ADD, data, offsets, n, verdicts, ndone_out);
}

enum unseen_status unseen_set_contains_arrow(const struct unseen_set *set, const void *data,
                                             const int64_t *offsets, size_t n, uint8_t *verdicts)
{
    return run_arrow(set, CONTAINS, data, offsets, n, verdicts, NULL);
}

/* ---- numbers ---- */

enum unseen_status unseen_set_stats(const struct unseen_set *set,
                                    struct unseen_set_stats *stats_out)
{
    struct unseen_set_stats stats = {.size = stats_out->size};
    if (stats_out->size < sizeof(size_t) || stats_out->size > sizeof(stats)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    size_t nshards = (size_t)1 << set->shard_bits;
    struct unseen__tally tally = {.nfilters = 1u << set->shard_bits};
    for (size_t i = 0; i < nshards; i++) {
        pthread_mutex_lock(&set->shards[i].lock);
        set->ops->stats(set->shards[i].filter, &stats);
        if (set->ops->tally) {
            set->ops->tally(set->shards[i].filter, tally.parts);
        }
        pthread_mutex_unlock(&set->shards[i].lock);
    }
    if (set->ops->tally) {
        unseen__tally_estimate(&tally, &stats);
    }
    stats.memory += sizeof(*set) + nshards * sizeof(*set->shards);
    stats.fill /= (double)stats.nslots;
    stats.abilities = set->ops->abilities;
    stats.filter = set->ops->name;
    stats.cpu = unseen__cpu_name(set->cpu);
    memcpy(stats_out, &stats, stats_out->size);
    return UNSEEN_OK;
}

const char *unseen_set_profile(const struct unseen_set *set)
{
    return set->url ? unseen_url_id(set->url) : "none/1";
}
