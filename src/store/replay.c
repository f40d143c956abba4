/* SPDX-License-Identifier: MIT
 *
 * Replay: applies the records of a log to a set.
 *
 * Added keys are collected and sorted by the top bits of hi before they go to the set. Keys that
 * are neighbours in that order are neighbours in a compact set, so a large set is touched on fewer
 * pages at a time. Before a removal, all collected keys go to the set. docs/decisions/store.md has
 * the measurements.
 *
 * A key that the log adds was absent then, so a filter that counts must count it, whatever the
 * order in which keys come now: replay adds with unseen_set_add_keys, not as unseen_store_add. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "set/set.h"
#include "store/store.h"

enum {
    REGION_BITS = 9,
    NREGIONS = 1 << REGION_BITS,
    KEYS_MAX = 1 << 18,   /* keys collected at a time */
    SORT_FROM = 16 << 20, /* bytes of memory of the set */
    TORN_SHORT = 1 << 20  /* bytes of a torn end that may be read again at each refresh */
};

struct replay {
    struct unseen_store *store;
    struct unseen_set *set;
    const struct unseen_allocator *allocator;
    struct unseen_key *keys;
    struct unseen_key *sorted;
    uint8_t *verdicts;
    size_t n;
    size_t cap;
    uint64_t horizon;              /* keys of this time and before are not added */
    struct unseen__search removed; /* in a store with a window: the keys that are removed */
    struct unseen__gone gone;
    enum unseen_status status;
};

/* ---- records ---- */

static bool is_removed(const uint8_t *bits, size_t i)
{
    return bits && (bits[i / 8] >> i % 8 & 1);
}

size_t unseen__record_next(const struct unseen__scan *scan, struct unseen__place *place,
                           struct unseen_key keys[UNSEEN__UNPACK], enum unseen__change *change_out)
{
    const struct unseen__record *record = &scan->record;
    const unsigned key_bits = scan->log->header.key_bits;
    const uint32_t first = place->next;
    uint32_t i = first;
    if (!unseen__record_has_keys(record) || i == record->n) {
        return 0;
    }
    if (i == place->run.end) {
        place->run = unseen__record_run(record, scan->runs, place->nruns++);
    }
    const bool removed = is_removed(scan->bits, i);
    while (i < place->run.end && i - first < UNSEEN__UNPACK &&
           is_removed(scan->bits, i) == removed) {
        i++;
    }
    unseen__keys_unpack(scan->payload + first * unseen__key_bytes(key_bits), i - first, key_bits,
                        keys);
    place->next = i;
    *change_out = record->kind == UNSEEN__RECORD_ALLOWED ? UNSEEN__ALLOWED
                  : removed                              ? UNSEEN__REMOVED
                                                         : UNSEEN__ADDED;
    return i - first;
}

bool unseen__record_each(const struct unseen__scan *scan, unseen__take_keys *each, void *context)
{
    struct unseen_key keys[UNSEEN__UNPACK];
    struct unseen__place place = {0};
    enum unseen__change change = UNSEEN__ADDED;
    size_t n = 0;
    while ((n = unseen__record_next(scan, &place, keys, &change)) > 0) {
        if (!each(context, keys, n, change, place.run.time)) {
            return false;
        }
    }
    return true;
}

enum unseen_status unseen__check_length(const struct unseen__log *log, struct unseen_error *error)
{
    return log->cut_short ? unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__HEADER_LEN,
                                          "%s is damaged: it is cut short", log->path)
                          : UNSEEN_OK;
}

enum unseen_status unseen__damaged(struct unseen_error *error, const struct unseen__log *log,
                                   uint64_t offset, uint64_t next)
{
    return unseen__error(error, UNSEEN_ERR_CORRUPT, offset, "%s is damaged: bytes %llu to %llu",
                         log->path, (unsigned long long)offset, (unsigned long long)next);
}

enum unseen_status unseen__goes_back(struct unseen_error *error, const struct unseen__scan *scan)
{
    return unseen__error(error, UNSEEN_ERR_CORRUPT, scan->record.offset,
                         "%s is damaged: the record at byte %llu is older than one before it",
                         scan->log->path, (unsigned long long)scan->record.offset);
}

/* ---- adding ---- */

static enum unseen_status replay_init(struct replay *r, struct unseen_store *store, uint64_t nbytes)
{
    const uint64_t most = nbytes / unseen__key_bytes(store->log.header.key_bits) + UNSEEN__UNPACK;
    const size_t cap = most < KEYS_MAX ? (size_t)most : KEYS_MAX;
    *r = (struct replay){.store = store,
                         .set = store->set->recent ? store->set->recent : store->set,
                         .allocator = &store->allocator,
                         .removed.allocator = store->allocator};
    r->gone = (struct unseen__gone){.removed = &r->removed, .allocator = &store->allocator};
    r->cap = cap;
    r->keys = unseen__alloc(r->allocator, cap * sizeof(*r->keys), 64);
    r->sorted = unseen__alloc(r->allocator, cap * sizeof(*r->sorted), 64);
    r->verdicts = unseen__alloc(r->allocator, cap, 64);
    return r->keys && r->sorted && r->verdicts ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

static void replay_release(struct replay *r)
{
    unseen__search_release(&r->removed);
    unseen__stash_release(&r->gone.keys, r->allocator);
    unseen__free(r->allocator, r->keys, r->cap * sizeof(*r->keys));
    unseen__free(r->allocator, r->sorted, r->cap * sizeof(*r->sorted));
    unseen__free(r->allocator, r->verdicts, r->cap);
}

static size_t region_of(struct unseen_key key)
{
    return (size_t)(key.hi >> (64 - REGION_BITS));
}

/* Small sets take keys in the order of the log: a set that fits into the cache gains nothing from
 * sorting. */
static bool is_worth_sorting(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    return unseen_set_stats(set, &stats) == UNSEEN_OK && stats.memory >= SORT_FROM;
}

static void sort_by_region(struct replay *r)
{
    uint32_t next[NREGIONS] = {0}; /* where the next key of each region goes */
    uint32_t start = 0;
    for (size_t i = 0; i < r->n; i++) {
        next[region_of(r->keys[i])]++;
    }
    for (size_t i = 0; i < NREGIONS; i++) {
        const uint32_t count = next[i];
        next[i] = start;
        start += count;
    }
    for (size_t i = 0; i < r->n; i++) {
        r->sorted[next[region_of(r->keys[i])]++] = r->keys[i];
    }
}

static enum unseen_status add_collected(struct replay *r)
{
    const size_t n = r->n;
    const bool sort = n >= NREGIONS && is_worth_sorting(r->set);
    if (sort) {
        sort_by_region(r);
    }
    r->n = 0;
    return unseen_set_add_keys(r->set, sort ? r->sorted : r->keys, n, r->verdicts, NULL);
}

static bool replay_apply(struct replay *r, const struct unseen_key *keys, size_t n,
                         enum unseen__change change)
{
    if (change == UNSEEN__REMOVED || r->n + n > r->cap) {
        r->status = add_collected(r);
    }
    if (r->status != UNSEEN_OK) {
        return false;
    }
    if (change == UNSEEN__REMOVED) {
        uint8_t verdicts[UNSEEN__UNPACK];
        r->status = unseen_set_remove_keys(r->set, keys, n, verdicts, NULL);
    } else if (change == UNSEEN__ALLOWED) {
        for (size_t i = 0; i < n && r->status == UNSEEN_OK; i++) {
            r->status = unseen__set_allow(r->set, keys[i]);
        }
    } else {
        memcpy(r->keys + r->n, keys, n * sizeof(*keys));
        r->n += n;
    }
    return r->status == UNSEEN_OK;
}

/* A key of a store with a window, where some are removed. A key that has left was never in the set,
 * or was taken out: there is nothing to remove. */
static bool replay_key(struct replay *r, struct unseen_key key, enum unseen__change change,
                       uint64_t time)
{
    const bool has_left = change == UNSEEN__ADDED && time <= r->horizon;
    if (change == UNSEEN__ALLOWED) {
        return replay_apply(r, &key, 1, change);
    }
    if (unseen__stash_remove(&r->gone.keys, key) && change == UNSEEN__REMOVED) {
        return true;
    }
    if (change == UNSEEN__REMOVED) {
        r->status = unseen__leaving_note(r->store, key);
    } else if (has_left && unseen__search_wants(&r->removed, key)) {
        r->status = unseen__stash_add(&r->gone.keys, key, r->allocator);
    }
    return r->status == UNSEEN_OK && (has_left || replay_apply(r, &key, 1, change));
}

static bool replay_keys(void *context, const struct unseen_key *keys, size_t n,
                        enum unseen__change change, uint64_t time)
{
    struct replay *r = context;
    struct unseen_key chosen[UNSEEN__UNPACK];
    bool ok = true;
    if (r->store->keys_only) {
        r->store->nallowed += change == UNSEEN__ALLOWED ? n : 0;
        return true;
    }
    if (r->store->sweep.replayed.bits > 0) {
        n = unseen__range_choose(&r->store->sweep.replayed, keys, n, chosen);
        keys = chosen;
    }
    r->store->sweep.is_refused = r->store->sweep.is_refused || change != UNSEEN__ADDED;
    if (r->store->sweep.in_parts) {
        if (change != UNSEEN__ADDED || !r->store->set->recent) {
            return true; /* a sweep takes them (sweep.c) */
        }
    }
    if (r->removed.wanted.nkeys == 0) {
        const bool has_left = change == UNSEEN__ADDED && r->horizon > 0 && time <= r->horizon;
        return has_left || replay_apply(r, keys, n, change);
    }
    for (size_t i = 0; ok && i < n; i++) {
        ok = replay_key(r, keys[i], change, time);
    }
    return ok;
}

/* ---- records of a store with a window ----
 *
 * What the last record says has left need not be added before. So the records are read twice: for
 * the last time and the removed keys, and then to apply them. */

struct ahead {
    struct replay *r;
    uint64_t earliest; /* removal */
};

static bool look_at_removals(void *context, const struct unseen_key *keys, size_t n,
                             enum unseen__change change, uint64_t time)
{
    struct ahead *ahead = context;
    const bool removed = change == UNSEEN__REMOVED;
    struct replay *r = ahead->r;
    for (size_t i = 0; removed && i < n && r->status == UNSEEN_OK; i++) {
        r->status = unseen__search_want(&r->removed, keys[i]);
    }
    ahead->earliest = removed && time < ahead->earliest ? time : ahead->earliest;
    return r->status == UNSEEN_OK;
}

/* Finds the time of the last record from where `scan` begins, and the keys that are removed. */
static enum unseen_status look_ahead(struct unseen__scan scan, struct ahead *ahead, uint64_t *time,
                                     struct unseen_error *error)
{
    enum unseen__scan_state state = UNSEEN__SCAN_RECORD;
    enum unseen_status status = UNSEEN_OK;
    while (state == UNSEEN__SCAN_RECORD) {
        status = unseen__scan_next(&scan, &state, error);
        if (status != UNSEEN_OK || state != UNSEEN__SCAN_RECORD) {
            break;
        }
        *time = scan.time;
        if (scan.goes_back) {
            status = unseen__goes_back(error, &scan);
            break;
        }
        if (scan.bits && !unseen__record_each(&scan, look_at_removals, ahead)) {
            status = unseen__error_status(error, ahead->r->status, scan.log->path);
            break;
        }
    }
    unseen__scan_release(&scan);
    return status;
}

/* Lets leave what the records ahead say, of the records before them. */
static enum unseen_status let_leave(struct replay *r, const struct unseen__scan *scan,
                                    struct unseen_error *error)
{
    struct unseen_store *store = r->store;
    const uint64_t window = store->log.header.window;
    struct ahead ahead = {.r = r, .earliest = UINT64_MAX};
    uint64_t time = scan->time;
    bool all_left = false;
    if (window == 0) {
        return UNSEEN_OK;
    }
    enum unseen_status status = look_ahead(*scan, &ahead, &time, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const bool goes_on = scan->offset > store->log.header.head.offset;
    if (goes_on && unseen__horizon(window, ahead.earliest) < store->leaving.horizon) {
        /* This process was told a later time than the writer, and the key may have left here. */
        store->is_partial = true;
        return unseen__error(error, UNSEEN_ERR_CORRUPT, scan->offset,
                             "%s removes keys at a time before the horizon", store->log.path);
    }
    r->horizon = unseen__horizon(window, time);
    r->horizon = r->horizon > store->leaving.horizon ? r->horizon : store->leaving.horizon;
    if (goes_on) {
        status =
            unseen__leave(store, scan->offset, r->horizon, SIZE_MAX, &r->gone, &all_left, error);
        /* The writer may have given the place back to the disk since. */
        store->is_partial = store->is_partial || status != UNSEEN_OK;
    }
    /* The head may stand between a key that has left and its removal. */
    for (size_t i = 0; !goes_on && i < r->removed.wanted.nkeys && status == UNSEEN_OK; i++) {
        status = unseen__error_status(
            error, unseen__stash_add(&r->gone.keys, r->removed.wanted.keys[i], r->allocator),
            store->log.path);
    }
    if (status == UNSEEN_OK) {
        store->leaving.horizon = r->horizon;
        store->leaving.left = r->horizon;
    }
    return status;
}

static enum unseen_status read_records(struct unseen_store *store, struct unseen__scan *scan,
                                       struct replay *r, struct unseen_error *error)
{
    for (;;) {
        enum unseen__scan_state state;
        const enum unseen_status status = unseen__scan_next(scan, &state, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (state == UNSEEN__SCAN_DAMAGED) {
            return unseen__damaged(error, &store->log, scan->offset, scan->next);
        }
        if (state == UNSEEN__SCAN_RECORD && scan->goes_back) {
            return unseen__goes_back(error, scan);
        }
        if (state != UNSEEN__SCAN_RECORD) {
            const uint64_t ntorn = state == UNSEEN__SCAN_TORN ? scan->size - scan->offset : 0;
            store->info.torn_bytes = ntorn;
            store->log.torn = ntorn > TORN_SHORT ? scan->file : (struct unseen__file_stamp){0};
            return UNSEEN_OK;
        }
        if (!unseen__record_each(scan, replay_keys, r)) {
            return unseen__error_status(error, r->status, store->log.path);
        }
        if (scan->record.kind == UNSEEN__RECORD_CHANGES) {
            store->nchanges += scan->record.n;
        }
        unseen__output_follow(&store->output, &scan->record, scan->payload);
        store->log.last_offset = scan->record.offset;
        store->log.record_checksum = scan->record_checksum;
        store->log.time = scan->time;
    }
}

enum unseen_status unseen__replay(struct unseen_store *store, uint64_t offset, uint64_t number,
                                  uint64_t end, struct unseen_error *error)
{
    struct unseen__scan scan;
    struct replay r;
    const uint64_t nbefore = store->nchanges;
    enum unseen_status status = unseen__scan_init(&scan, &store->log, offset, number, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    scan.size = end < scan.size ? end : scan.size;
    scan.time = store->log.time;
    status = replay_init(&r, store, scan.size > offset ? scan.size - offset : 0);
    if (status != UNSEEN_OK) {
        status = unseen__error_status(error, status, store->log.path);
    } else {
        status = let_leave(&r, &scan, error);
    }
    if (status == UNSEEN_OK) {
        status = read_records(store, &scan, &r, error);
    }
    /* The records before an error are whole commits, so their keys are added. */
    if (r.status == UNSEEN_OK && r.n > 0) {
        r.status = add_collected(&r);
        status =
            status == UNSEEN_OK ? unseen__error_status(error, r.status, store->log.path) : status;
    }
    store->is_partial = store->is_partial || r.status != UNSEEN_OK;
    store->leaving.due = 0; /* there may be keys now */
    store->leaving.is_done = false;
    store->clock = store->log.time > store->clock ? store->log.time : store->clock;
    store->log.end = scan.offset;
    store->log.number = scan.number;
    store->info.replayed = store->nchanges - nbefore;
    replay_release(&r);
    unseen__scan_release(&scan);
    return status;
}
