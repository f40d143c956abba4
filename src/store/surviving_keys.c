/* SPDX-License-Identifier: MIT
 *
 * The keys of a log that survive: a key survives if it was added after it was last removed.
 *
 * Removals are few. So the first pass over the log collects them in memory and sorts them, and the
 * second pass looks up every addition among them. To find out which of some given keys survive, one
 * pass is enough: it looks up every change among these keys. */
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/heapsort.h"
#include "store/store.h"

enum {
    LEAST = 256 /* removals to make room for at first */
};

/* A removed key, and how many changes came before its removal. */
struct removal {
    struct unseen_key key;
    uint64_t index;
};

struct removals {
    struct unseen_allocator allocator;
    struct removal *items;
    size_t n;
    size_t cap;
};

static int compare_keys(struct unseen_key a, struct unseen_key b)
{
    if (a.hi != b.hi) {
        return a.hi < b.hi ? -1 : 1;
    }
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

static int compare_changes(const void *a_item, const void *b_item)
{
    const struct removal *a = a_item;
    const struct removal *b = b_item;
    const int order = compare_keys(a->key, b->key);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static enum unseen_status removals_add(struct removals *removals, struct unseen_key key,
                                       uint64_t index)
{
    if (!array_grow(&removals->allocator, &removals->items, &removals->cap, removals->n + 1, LEAST,
                    sizeof(*removals->items))) {
        return UNSEEN_ERR_NOMEM;
    }
    removals->items[removals->n++] = (struct removal){key, index};
    return UNSEEN_OK;
}

/* True if the key, which was added by the change number `index`, was removed later. */
static bool was_removed_after(const struct removals *removals, struct unseen_key key,
                              uint64_t index)
{
    size_t low = 0;
    size_t high = removals->n;
    const struct removal wanted = {key, index};
    while (low < high) { /* find the first removal of the key behind the index */
        const size_t middle = low + (high - low) / 2;
        if (compare_changes(&removals->items[middle], &wanted) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < removals->n && compare_keys(removals->items[low].key, key) == 0;
}

/* ---- reading the log twice ---- */

struct pass {
    struct removals removals;
    uint64_t index; /* changes so far */
    uint64_t horizon;
    struct unseen__search *search;
    bool (*each)(void *context, const struct unseen_key *keys, size_t n, uint64_t time);
    void *context;
    enum unseen_status status;
};

static bool note_removals(void *context, const struct unseen_key *keys, size_t n,
                          enum unseen__change change, uint64_t time)
{
    struct pass *p = context;
    (void)time;
    for (size_t i = 0; change == UNSEEN__REMOVED && i < n && p->status == UNSEEN_OK; i++) {
        p->status = removals_add(&p->removals, keys[i], p->index + i);
    }
    p->index += n;
    return p->status == UNSEEN_OK;
}

static bool show_allowed(void *context, const struct unseen_key *keys, size_t n,
                         enum unseen__change change, uint64_t time)
{
    struct pass *p = context;
    return change != UNSEEN__ALLOWED || p->each(p->context, keys, n, time);
}

/* Begins at the head of the log. */
static enum unseen_status start_scan(struct unseen__scan *scan, const struct unseen__log *log,
                                     uint64_t end, struct unseen_error *error)
{
    const struct unseen__log_head *head = &log->header.head;
    const enum unseen_status status =
        unseen__scan_init(scan, log, head->offset, head->number, error);
    scan->size = end < scan->size ? end : scan->size;
    return status;
}

/* *is_record_out: there is another record. */
static enum unseen_status next_record(struct unseen__scan *scan, bool skip_damage,
                                      bool *is_record_out, struct unseen_error *error)
{
    enum unseen__scan_state state = UNSEEN__SCAN_DAMAGED;
    enum unseen_status status = UNSEEN_OK;
    while (status == UNSEEN_OK && state == UNSEEN__SCAN_DAMAGED) {
        status = unseen__scan_next(scan, &state, error);
        if (status != UNSEEN_OK || state != UNSEEN__SCAN_DAMAGED) {
            break;
        }
        if (skip_damage) {
            unseen__scan_skip(scan);
        } else {
            status = unseen__damaged(error, scan->log, scan->offset, scan->next);
        }
    }
    *is_record_out = status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD;
    return status;
}

static enum unseen_status run_pass(struct pass *p, const struct unseen__log *log, uint64_t end,
                                   bool skip_damage, unseen__take_keys *each,
                                   struct unseen_error *error)
{
    struct unseen__scan scan;
    const bool is_first = each == note_removals; /* skips records without removals */
    enum unseen_status status = start_scan(&scan, log, end, error);
    p->index = 0;
    while (status == UNSEEN_OK) {
        bool is_record = false;
        status = next_record(&scan, skip_damage, &is_record, error);
        if (!is_record) {
            break;
        }
        if (is_first && !scan.bits) {
            p->index += unseen__record_has_keys(&scan.record) ? scan.record.n : 0;
            continue;
        }
        if (!unseen__record_each(&scan, each, p)) {
            status = unseen__error_status(error, p->status, log->path);
            break; /* p->status is OK if the caller asked to stop */
        }
    }
    unseen__scan_release(&scan);
    return status;
}

/* The second pass over a log, which stands at the next survivors. */
struct survivors {
    const struct unseen__source *source;
    struct pass first;
    struct unseen__scan scan;
    struct unseen__place place;
    bool has_record;
    uint64_t index; /* changes so far */
    struct unseen_key keys[UNSEEN__UNPACK];
    size_t n; /* 0: there are no more */
    uint64_t time;
};

static enum unseen_status survivors_start(struct survivors *s, const struct unseen__source *source,
                                          bool skip_damage, struct unseen_error *error)
{
    *s = (struct survivors){.source = source,
                            .first.removals.allocator = source->log->allocator,
                            .scan.log = source->log};
    struct removals *removals = &s->first.removals;
    const enum unseen_status status =
        run_pass(&s->first, source->log, source->end, skip_damage, note_removals, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    heap_sort(removals->items, removals->n, sizeof(*removals->items), compare_changes);
    return start_scan(&s->scan, source->log, source->end, error);
}

static void survivors_release(struct survivors *s)
{
    struct removals *removals = &s->first.removals;
    array_free(&removals->allocator, &removals->items, &removals->cap, sizeof(*removals->items));
    unseen__scan_release(&s->scan);
}

/* Keeps those of the n keys, which were unpacked, that survive. */
static void choose_survivors(struct survivors *s, size_t n, enum unseen__change change)
{
    const uint64_t first = s->index;
    const uint64_t time = s->place.run.time;
    s->index += n;
    s->n = 0;
    if (change != UNSEEN__ADDED || (time > 0 && time <= s->source->horizon)) {
        return;
    }
    s->time = time > 0 ? time : s->source->unknown;
    if (s->first.removals.n == 0) {
        s->n = n;
    }
    for (size_t i = 0; s->first.removals.n > 0 && i < n; i++) {
        if (!was_removed_after(&s->first.removals, s->keys[i], first + i)) {
            s->keys[s->n++] = s->keys[i];
        }
    }
}

static enum unseen_status survivors_next(struct survivors *s, bool skip_damage,
                                         struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    enum unseen__change change = UNSEEN__ADDED;
    s->n = 0;
    while (status == UNSEEN_OK && s->n == 0) {
        const size_t n =
            s->has_record ? unseen__record_next(&s->scan, &s->place, s->keys, &change) : 0;
        if (n > 0) {
            choose_survivors(s, n, change);
            continue;
        }
        status = next_record(&s->scan, skip_damage, &s->has_record, error);
        s->place = (struct unseen__place){0};
        if (!s->has_record) {
            break;
        }
    }
    return status;
}

enum unseen_status unseen__surviving_of(const struct unseen__source *sources, size_t nsources,
                                        bool skip_damage,
                                        bool (*each)(void *context, const struct unseen_key *keys,
                                                     size_t n, uint64_t time),
                                        void *context, struct unseen_error *error)
{
    struct survivors all[2];
    enum unseen_status status = UNSEEN_OK;
    size_t nstarted = 0;
    for (; nstarted < nsources && status == UNSEEN_OK; nstarted++) {
        status = survivors_start(&all[nstarted], &sources[nstarted], skip_damage, error);
        if (status == UNSEEN_OK) {
            status = survivors_next(&all[nstarted], skip_damage, error);
        }
    }
    while (status == UNSEEN_OK) {
        struct survivors *next = &all[0];
        if (nsources > 1 && all[1].n > 0 && (next->n == 0 || all[1].time < next->time)) {
            next = &all[1];
        }
        if (next->n == 0 || !each(context, next->keys, next->n, next->time)) {
            break;
        }
        status = survivors_next(next, skip_damage, error);
    }
    while (nstarted > 0) {
        survivors_release(&all[--nstarted]);
    }
    return status;
}

enum unseen_status unseen__surviving_each(const struct unseen__log *log, uint64_t end,
                                          uint64_t horizon, bool skip_damage,
                                          bool (*each)(void *context, const struct unseen_key *keys,
                                                       size_t n, uint64_t time),
                                          void *context, struct unseen_error *error)
{
    const struct unseen__source source = {.log = log, .end = end, .horizon = horizon};
    return unseen__surviving_of(&source, 1, skip_damage, each, context, error);
}

enum unseen_status unseen__allowed_each(const struct unseen__log *log, uint64_t end,
                                        bool skip_damage,
                                        bool (*each)(void *context, const struct unseen_key *keys,
                                                     size_t n, uint64_t time),
                                        void *context, struct unseen_error *error)
{
    struct pass p = {.each = each, .context = context};
    return run_pass(&p, log, end, skip_damage, show_allowed, error);
}

/* ---- looking for given keys ---- */

static size_t mark_of(struct unseen_key key)
{
    return (size_t)(key.hi >> 48);
}

enum unseen_status unseen__search_want(struct unseen__search *search, struct unseen_key key)
{
    search->marks[mark_of(key) / 8] |= (uint8_t)(1 << mark_of(key) % 8);
    return unseen__stash_contains(&search->wanted, key)
               ? UNSEEN_OK
               : unseen__stash_add(&search->wanted, key, &search->allocator);
}

bool unseen__search_wants(const struct unseen__search *search, struct unseen_key key)
{
    return search->wants_all || ((search->marks[mark_of(key) / 8] >> mark_of(key) % 8 & 1) &&
                                 unseen__stash_contains(&search->wanted, key));
}

enum unseen_status unseen__search_take(struct unseen__search *search, struct unseen_key key,
                                       enum unseen__change change)
{
    if (!unseen__search_wants(search, key)) {
        return UNSEEN_OK;
    }
    if (change == UNSEEN__REMOVED) {
        (void)unseen__stash_remove(&search->surviving, key);
        return UNSEEN_OK;
    }
    const bool survives = unseen__stash_contains(&search->surviving, key);
    if (change == UNSEEN__ALLOWED) {
        search->nheld += survives;
        return UNSEEN_OK;
    }
    return survives ? UNSEEN_OK : unseen__stash_add(&search->surviving, key, &search->allocator);
}

static bool search_changes(void *context, const struct unseen_key *keys, size_t n,
                           enum unseen__change change, uint64_t time)
{
    struct pass *p = context;
    const bool has_left = time > 0 && time <= p->horizon && change == UNSEEN__ADDED;
    for (size_t i = 0; !has_left && i < n && p->status == UNSEEN_OK; i++) {
        p->status = unseen__search_take(p->search, keys[i], change);
    }
    return p->status == UNSEEN_OK;
}

enum unseen_status unseen__search_log(struct unseen__search *search, const struct unseen__log *log,
                                      uint64_t end, uint64_t horizon, struct unseen_error *error)
{
    struct pass p = {.search = search, .horizon = horizon};
    return run_pass(&p, log, end, false, search_changes, error);
}

/* ---- removed keys that have not left ---- */

static bool want_removed(void *context, const struct unseen_key *keys, size_t n,
                         enum unseen__change change, uint64_t time)
{
    struct pass *p = context;
    (void)time;
    for (size_t i = 0; change == UNSEEN__REMOVED && i < n && p->status == UNSEEN_OK; i++) {
        p->status = unseen__search_want(p->search, keys[i]);
    }
    return p->status == UNSEEN_OK;
}

static bool note_removed(void *context, const struct unseen_key *keys, size_t n,
                         enum unseen__change change, uint64_t time)
{
    struct pass *p = context;
    for (size_t i = 0; i < n && p->status == UNSEEN_OK; i++) {
        if (change == UNSEEN__REMOVED && unseen__stash_contains(&p->search->surviving, keys[i])) {
            p->status = unseen__leaving_note(p->context, keys[i]);
        }
    }
    return p->status == UNSEEN_OK && search_changes(context, keys, n, change, time);
}

enum unseen_status unseen__leaving_find_notes(struct unseen_store *store, uint64_t end,
                                              struct unseen_error *error)
{
    struct unseen__search search = {.allocator = store->allocator};
    struct pass p = {.search = &search, .horizon = store->leaving.horizon, .context = store};
    enum unseen_status status = run_pass(&p, &store->log, end, false, want_removed, error);
    if (status == UNSEEN_OK) {
        status = run_pass(&p, &store->log, end, false, note_removed, error);
    }
    unseen__search_release(&search);
    return status;
}

void unseen__store_forget_members(struct unseen_store *store)
{
    unseen__stash_release(&store->members, &store->allocator);
    store->has_members = false;
}

void unseen__search_release(struct unseen__search *search)
{
    unseen__stash_release(&search->wanted, &search->allocator);
    unseen__stash_release(&search->surviving, &search->allocator);
}
