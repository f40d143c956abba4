/* SPDX-License-Identifier: MIT
 *
 * A set that forgets by time (docs/decisions/window.md). A key that was new goes into the queue of
 * its filter. Once the clock of the caller is far enough, it comes out and is removed from the
 * filter.
 *
 * The clock is read and set without a lock: an add reads it under the lock of its filter, so the
 * times in a queue never fall. */
#include "set/window.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "hash/key.h"

enum {
    PARTS = 2000,      /* a window has so many steps */
    LATE_SHARE = 1000, /* a key leaves at most this share of the window late, */
    LATE_MIN = 1000,   /* or so many milliseconds, if that is more */
    LEAVING = 512      /* keys that are removed from a filter at once */
};

static size_t window_size(const struct unseen_set *set)
{
    return sizeof(*set->window) + unseen__set_nshards(set) * sizeof(set->window->queues[0]);
}

/* ---- creation ---- */

unsigned unseen__window_key_bits(const struct unseen__filter_ops *ops, double fpr)
{
    return ops && fpr > 0 ? unseen__key_bits_for(ops, fpr) : 64;
}

enum unseen_status unseen__window_check(const struct unseen__filter_ops *ops,
                                        const struct unseen_set_options *options,
                                        struct unseen_error *error)
{
    if (options->window > UNSEEN__WINDOW_MAX) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_WINDOW,
                                     "a window of %llu ms is longer than 100 years",
                                     (unsigned long long)options->window);
    }
    if (options->window > 0 && !(ops->abilities & UNSEEN_CAN_REMOVE)) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                     "the filter %s cannot remove, so it has no window; compact "
                                     "and counting have",
                                     ops->name);
    }
    if (options->window > 0 && options->counts) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                     "a set that counts has no window: a key that was added twice "
                                     "has no one time");
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__window_create(struct unseen_set *set, uint64_t length)
{
    struct unseen__window *w =
        unseen__alloc_zero(&set->allocator, window_size(set), _Alignof(struct unseen__window));
    if (!w || pthread_mutex_init(&w->lock, NULL) != 0) {
        unseen__free(&set->allocator, w, window_size(set));
        return UNSEEN_ERR_NOMEM;
    }
    const uint64_t late = length / LATE_SHARE > LATE_MIN ? length / LATE_SHARE : LATE_MIN;
    w->length = length;
    w->step = (length + PARTS - 1) / PARTS;
    w->slack = late - w->step;
    set->window = w;
    return UNSEEN_OK;
}

void unseen__window_free(struct unseen_set *set)
{
    for (size_t i = 0; set->window && i < unseen__set_nshards(set); i++) {
        unseen__queue_release(&set->window->queues[i], &set->allocator);
    }
    if (set->window) {
        pthread_mutex_destroy(&set->window->lock);
        unseen__free(&set->allocator, set->window, window_size(set));
    }
}

enum unseen_status unseen__window_refuse(const struct unseen_set *set, const char *what,
                                         struct unseen_error *error)
{
    return set->window && set->shared
               ? unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                       "a set with a window for several threads cannot be %s: it "
                                       "has several queues",
                                       what)
               : UNSEEN_OK;
}

/* ---- keys come and go ---- */

static struct unseen__queue *queue_of(const struct unseen_set *set,
                                      const struct unseen__shard *shard)
{
    return &set->window->queues[shard - set->shards];
}

/* Adds at most UNSEEN__QUEUE_RUN keys. The room comes first: no key is added that would never
 * leave. */
static enum unseen_status add_some(const struct unseen_set *set, struct unseen__shard *shard,
                                   const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                   size_t *ndone)
{
    struct unseen__queue *q = queue_of(set, shard);
    struct unseen_key fresh[UNSEEN__QUEUE_RUN];
    size_t nfresh = 0;
    enum unseen_status status =
        unseen__queue_reserve(q, n, unseen__key_bytes(set->key_bits), &set->allocator);
    *ndone = 0;
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__set_run_plain(set, shard, UNSEEN__ADD_ABSENT, keys, n, verdicts, ndone);
    for (size_t i = 0; i < *ndone; i++) {
        fresh[nfresh] = keys[i];
        nfresh += verdicts[i] == UNSEEN_NEW;
    }
    unseen__queue_append(q, fresh, nfresh, set->key_bits,
                         __atomic_load_n(&set->window->clock, __ATOMIC_RELAXED), set->window->step);
    return status;
}

static enum unseen_status add_all(const struct unseen_set *set, struct unseen__shard *shard,
                                  const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                  size_t *ndone)
{
    enum unseen_status status = UNSEEN_OK;
    for (*ndone = 0; *ndone < n && status == UNSEEN_OK;) {
        const size_t count = n - *ndone < UNSEEN__QUEUE_RUN ? n - *ndone : UNSEEN__QUEUE_RUN;
        size_t some;
        status = add_some(set, shard, keys + *ndone, count, verdicts + *ndone, &some);
        *ndone += some;
    }
    return status;
}

/* Notes a key that was removed. Without memory for a note, its entry goes now. */
static void note_removed(const struct unseen_set *set, struct unseen__queue *q,
                         struct unseen_key key)
{
    unseen__key_narrow(set->key_bits, &key); /* as it comes out of the queue */
    if (q->nkeys > 0 &&
        unseen__stash_add_again(&q->removed, key, 1, &set->allocator) != UNSEEN_OK) {
        unseen__queue_cut(q, key, set->key_bits, &set->allocator);
    }
}

enum unseen_status unseen__window_run(const struct unseen_set *set, struct unseen__shard *shard,
                                      enum unseen__operation operation,
                                      const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                      size_t *ndone)
{
    if (operation == UNSEEN__ADD || operation == UNSEEN__ADD_ABSENT) {
        return add_all(set, shard, keys, n, verdicts, ndone);
    }
    const enum unseen_status status =
        unseen__set_run_plain(set, shard, operation, keys, n, verdicts, ndone);
    for (size_t i = 0; operation == UNSEEN__REMOVE && i < *ndone; i++) {
        if (verdicts[i] == UNSEEN_SEEN) {
            note_removed(set, queue_of(set, shard), keys[i]);
        }
    }
    return status;
}

/* Takes n keys of the first part out of the queue, and those that have not been removed out of the
 * filter. */
static void let_go(const struct unseen_set *set, struct unseen__shard *shard, size_t n)
{
    struct unseen__queue *q = queue_of(set, shard);
    struct unseen_key keys[LEAVING];
    uint8_t verdicts[LEAVING];
    size_t nleft = n;
    unseen__queue_take(q, keys, n, set->key_bits, &set->allocator);
    if (q->removed.nkeys > 0) {
        nleft = 0;
        for (size_t i = 0; i < n; i++) {
            keys[nleft] = keys[i];
            nleft += !unseen__stash_remove(&q->removed, keys[i]);
        }
    }
    (void)unseen__set_run_plain(set, shard, UNSEEN__REMOVE, keys, nleft, verdicts, &n);
}

/* ---- time ---- */

/* Ends the step of the clock before: its keys have its latest time, whether the last of them came
 * then or earlier. So the times of keys do not depend on how many are added by a call. */
static void end_step(const struct unseen__window *w, struct unseen__queue *q, uint64_t before)
{
    struct unseen__queue_part *last = unseen__queue_last(q);
    if (last && last->time == 0) {
        last->time = __atomic_load_n(&w->clock, __ATOMIC_RELAXED); /* keys before the clock */
    } else if (last && last->time < before && last->time / w->step == before / w->step) {
        last->time = before;
    }
}

/* Removes the keys of one filter that are due, at most *max_left of them but all that are late.
 * Returns when the next are due; 0: now. */
static uint64_t expire_shard(const struct unseen_set *set, struct unseen__shard *shard,
                             uint64_t now, size_t *max_left)
{
    const struct unseen__window *w = set->window;
    struct unseen__queue *q = queue_of(set, shard);
    for (struct unseen__queue_part *first; (first = unseen__queue_first(q)) != NULL;) {
        if (now < first->time || now - first->time < w->length) {
            return first->time + w->length;
        }
        size_t n = first->nkeys < LEAVING ? (size_t)first->nkeys : LEAVING;
        if (now - first->time < w->length + w->slack && n > *max_left) {
            n = *max_left;
            if (n == 0) {
                return 0;
            }
        }
        *max_left -= n < *max_left ? n : *max_left;
        let_go(set, shard, n);
    }
    unseen__queue_release(q, &set->allocator);
    return UINT64_MAX;
}

/* Sets the clock to `now` unless it is later. Returns the clock before. */
static uint64_t set_clock(struct unseen__window *w, uint64_t now)
{
    uint64_t before = __atomic_load_n(&w->clock, __ATOMIC_RELAXED);
    while (before < now && !__atomic_compare_exchange_n(&w->clock, &before, now, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before;
}

static void expire_all(struct unseen_set *set, uint64_t before, size_t max)
{
    struct unseen__window *w = set->window;
    const uint64_t now = __atomic_load_n(&w->clock, __ATOMIC_RELAXED);
    uint64_t next = now - now % w->step + w->step;
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        struct unseen__shard *shard = &set->shards[i];
        pthread_mutex_lock(&shard->lock);
        end_step(w, &w->queues[i], before);
        const uint64_t due = expire_shard(set, shard, now, &max);
        pthread_mutex_unlock(&shard->lock);
        next = due < next ? due : next;
    }
    __atomic_store_n(&w->next, next, __ATOMIC_RELAXED);
}

enum unseen_status unseen_set_expire(struct unseen_set *set, uint64_t now, size_t max,
                                     uint64_t *next_out)
{
    struct unseen__window *w = set->window;
    if (!w) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    now = now < UNSEEN__TIME_MAX ? now : UNSEEN__TIME_MAX;
    if (now >= __atomic_load_n(&w->next, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&w->lock);
        expire_all(set, set_clock(w, now), max);
        pthread_mutex_unlock(&w->lock);
    } else {
        (void)set_clock(w, now);
    }
    if (next_out) {
        *next_out = __atomic_load_n(&w->next, __ATOMIC_RELAXED);
    }
    return UNSEEN_OK;
}

uint64_t unseen_set_due(const struct unseen_set *set)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; set->window && i < unseen__set_nshards(set); i++) {
        pthread_mutex_lock(&set->shards[i].lock);
        const struct unseen__queue_part *first = unseen__queue_first(&set->window->queues[i]);
        if (first && first->time + set->window->length < due) {
            due = first->time + set->window->length;
        }
        pthread_mutex_unlock(&set->shards[i].lock);
    }
    return due;
}

/* ---- text ---- */

/* Reads digits, at most n of them that count. Returns behind them. */
static const char *read_digits(const char *text, unsigned n, uint64_t *value, uint64_t *scale)
{
    for (; *text >= '0' && *text <= '9'; text++) {
        if (n > 0) {
            *value = *value * 10 + (uint64_t)(*text - '0');
            *scale *= 10;
            n--;
        }
    }
    return text;
}

/* By hand: the decimal point of strtod is that of the locale. */
enum unseen_status unseen_window_parse(const char *text, uint64_t *ms_out)
{
    static const char units[] = "smhdwy";
    static const uint64_t lengths[] = {1000,     60000,     3600000,
                                       86400000, 604800000, UINT64_C(31536000000)};
    uint64_t whole = 0;
    uint64_t part = 0;
    uint64_t scale = 1;
    const char *at = read_digits(text, 11, &whole, &scale);
    const bool is_short = at > text && at - text <= 11;
    scale = 1;
    if (*at == '.') {
        const char *const first = ++at;
        at = read_digits(at, 7, &part, &scale);
        text = at > first ? text : at; /* digits are missing */
    }
    const char *unit = *at ? strchr(units, *at) : units;
    if (!is_short || text == at || !unit || (*at && at[1])) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const uint64_t length = lengths[unit - units];
    const uint64_t most = 100 * lengths[sizeof(units) - 2];
    if (whole > most / length) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const uint64_t ms = whole * length + part * length / scale;
    if (ms < 1000 || ms > most) {
        return UNSEEN_ERR_ARGUMENT;
    }
    *ms_out = ms;
    return UNSEEN_OK;
}

/* ---- numbers ---- */

void unseen__window_stats(const struct unseen_set *set, struct unseen_set_stats *stats)
{
    const struct unseen__window *w = set->window;
    const uint64_t now = __atomic_load_n(&w->clock, __ATOMIC_RELAXED);
    stats->window = w->length;
    stats->memory += window_size(set);
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        pthread_mutex_lock(&set->shards[i].lock);
        const struct unseen__queue *q = &w->queues[i];
        const struct unseen__queue_part *part = unseen__queue_first(q);
        stats->memory += q->memory + unseen__stash_memory(&q->removed);
        if (part && (stats->oldest == 0 || part->time < stats->oldest)) {
            stats->oldest = part->time;
        }
        for (size_t k = 0; k < q->nparts && part[k].time + w->length <= now + w->length / 10; k++) {
            stats->nleaving += part[k].nkeys;
        }
        pthread_mutex_unlock(&set->shards[i].lock);
    }
}
