/* SPDX-License-Identifier: MIT
 *
 * A store that forgets by time. Its log has the keys in the order of their times, so the queue of
 * the keys that will leave is a place in the log, and what leaves is read there once more
 * (docs/decisions/window.md).
 *
 * Nothing is written when keys leave: a later record says by its time which keys have left before
 * it. Now and then the header of the log is led past the records that have left, and their bytes
 * are given back to the disk.
 *
 * A removed key stays in the log. The note that it was removed stays in memory until it would
 * leave: by then it may have been added again. */
#include <string.h>

#include "base/error.h"
#include "set/set.h"
#include "store/store.h"

enum {
    AT_ONCE = 512,        /* keys that leave the set in one call */
    LATE_SHARE = 1000,    /* a key leaves at most this share of the window late, */
    LATE_LEAST = 1000,    /* or so many milliseconds */
    GIVE_SHARE = 8,       /* of the bytes that are still needed: so many are worth a new head, */
    GIVE_LEAST = 1 << 15, /* but not fewer than these */
    LEAVING_SHARE = 10    /* of the window: which keys unseen_store_info counts */
};

uint64_t unseen__time_cut(uint64_t ms)
{
    ms = ms < UNSEEN__TIME_MAX ? ms : UNSEEN__TIME_MAX;
    return ms < UNSEEN__TIME_STEP ? UNSEEN__TIME_STEP : ms - ms % UNSEEN__TIME_STEP;
}

uint64_t unseen__horizon(uint64_t window, uint64_t time)
{
    const uint64_t age = window + UNSEEN__TIME_STEP;
    return window > 0 && time > age ? time - age : 0;
}

uint64_t unseen__store_horizon(const struct unseen_store *store)
{
    const uint64_t due = unseen__horizon(store->log.header.window, store->clock);
    return due > store->leaving.horizon ? due : store->leaving.horizon;
}

/* ---- the queue ---- */

void unseen__leaving_release(struct unseen_store *store)
{
    struct unseen__leaving *l = &store->leaving;
    if (l->scan.log) {
        unseen__scan_release(&l->scan);
    }
    unseen__stash_release(&l->removed, &store->allocator);
}

/* Begins at the head of the log. What has left until now has been taken out before. */
static enum unseen_status begin(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    const struct unseen__log_head *head = &store->log.header.head;
    enum unseen_status status = unseen__output_load(&store->log, head, &l->output, error);
    if (status == UNSEEN_OK) {
        status = unseen__scan_init(&l->scan, &store->log, head->offset, head->number, error);
    }
    l->scan.log = status == UNSEEN_OK ? &store->log : NULL;
    l->has_record = false;
    l->left = l->horizon;
    l->nchanges = head->nchanges;
    l->time = head->time;
    return status;
}

void unseen__leaving_restart(struct unseen_store *store)
{
    struct unseen__leaving *l = &store->leaving;
    if (l->scan.log) {
        unseen__scan_release(&l->scan);
    }
    l->scan.log = NULL;
    l->has_record = false;
    l->next_head.offset = 0;
}

/* Goes on to the next record before `end`; *is_last_out: there is none yet. */
static enum unseen_status next_record(struct unseen_store *store, uint64_t end, bool *is_last_out,
                                      struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    enum unseen__scan_state state = UNSEEN__SCAN_END;
    *is_last_out = l->scan.offset >= end;
    if (*is_last_out) {
        return UNSEEN_OK;
    }
    if (l->has_record) {
        unseen__output_follow(&l->output, &l->scan.record, l->scan.payload);
        l->nchanges += l->nkeys;
        l->time = l->scan.record.time;
    }
    l->has_record = false;
    l->scan.size = end;
    const uint64_t offset = l->scan.offset;
    const enum unseen_status status = unseen__scan_next(&l->scan, &state, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (state != UNSEEN__SCAN_RECORD) { /* it was intact when it was read before */
        return unseen__damaged(error, &store->log, offset,
                               state == UNSEEN__SCAN_DAMAGED ? l->scan.next : end);
    }
    l->has_record = true;
    l->nkeys = l->scan.record.kind == UNSEEN__RECORD_CHANGES ? l->scan.record.n : 0;
    l->next = 0;
    l->run = 0;
    return UNSEEN_OK;
}

/* Notes a key that leaves, if one of the records that are read removes it. */
static enum unseen_status gone_take(struct unseen__gone *gone, struct unseen_key key)
{
    return !unseen__search_wants(gone->removed, key) || unseen__stash_contains(&gone->keys, key)
               ? UNSEEN_OK
               : unseen__stash_add(&gone->keys, key, gone->allocator);
}

/* Reads what the set has of these keys, so that they can be taken out of it. What leaves the queue
 * otherwise would be seen for ever. */
static enum unseen_status fetch(const struct unseen_store *store, const struct unseen_key *keys,
                                size_t n, struct unseen_error *error)
{
    const enum unseen_status status =
        store->set->fetches ? unseen__set_fetch_keys(store->set, keys, n, false) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        unseen__image_report_unread(store, status, error);
    }
    return status;
}

/* Takes n keys out of the set, which has all of them in memory: nothing can fail. */
static void take_out(struct unseen_store *store, const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[AT_ONCE];
    for (size_t i = 0; i < n; i++) {
        unseen__store_follow_member(store, keys[i], true);
    }
    (void)unseen_set_remove_keys(store->set, keys, n, verdicts, NULL);
}

/* The same from `next` on; but not a key that was removed before. */
static enum unseen_status let_go(struct unseen_store *store, uint32_t n, struct unseen__gone *gone,
                                 struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    const unsigned key_bits = store->log.header.key_bits;
    struct unseen_key keys[AT_ONCE];
    size_t count = 0;
    unseen__keys_unpack(l->scan.payload + l->next * unseen__key_bytes(key_bits), n, key_bits, keys);
    enum unseen_status status = fetch(store, keys, n, error);
    for (uint32_t i = 0; i < n && status == UNSEEN_OK; i++) {
        const uint32_t at = l->next + i;
        const bool is_removal = l->scan.bits && (l->scan.bits[at / 8] >> at % 8 & 1);
        if (is_removal || unseen__stash_remove(&l->removed, keys[i])) {
            continue;
        }
        status = gone ? unseen__error_status(error, gone_take(gone, keys[i]), store->log.path)
                      : UNSEEN_OK;
        keys[count++] = keys[i];
    }
    if (status == UNSEEN_OK) {
        l->next += n;
        take_out(store, keys, count);
    }
    return status;
}

enum unseen_status unseen__leave(struct unseen_store *store, uint64_t end, uint64_t horizon,
                                 size_t max, struct unseen__gone *gone, bool *all_left_out,
                                 struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    enum unseen_status status = l->scan.log ? UNSEEN_OK : begin(store, error);
    *all_left_out = false;
    l->due = 0;
    while (status == UNSEEN_OK) {
        bool is_last = false;
        if (!l->has_record || l->next == l->nkeys) {
            status = next_record(store, end, &is_last, error);
            if (is_last) {
                break;
            }
            continue;
        }
        const struct unseen__run run = unseen__record_run(&l->scan.record, l->scan.runs, l->run);
        if (l->next == run.end) {
            l->run++;
            continue;
        }
        if (run.time <= l->left) {
            l->next = run.end;
            continue;
        }
        if (l->nchanges + l->next < l->done) {
            const uint64_t ndone = l->done - l->nchanges;
            l->next = ndone < run.end ? (uint32_t)ndone : run.end;
            continue;
        }
        if (run.time > horizon || max == 0) {
            l->due = run.time;
            break;
        }
        size_t n = run.end - l->next < AT_ONCE ? run.end - l->next : AT_ONCE;
        n = n < max ? n : max;
        max -= n;
        status = let_go(store, (uint32_t)n, gone, error);
    }
    *all_left_out = status == UNSEEN_OK && (l->due == 0 || l->due > horizon);
    l->horizon = *all_left_out && horizon > l->horizon ? horizon : l->horizon;
    return status;
}

/* ---- changes that are not in the log yet ----
 *
 * A program that takes the time from its lines may add keys and be past their window before it has
 * committed them. */

/* Waits until what is begun and due is in the log. */
static enum unseen_status wait_for_begun(struct unseen_store *store, uint64_t horizon)
{
    struct unseen__leaving *l = &store->leaving;
    if (l->begun == 0 || l->begun > horizon) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__committer_poll(&store->committer, true, NULL, NULL);
    l->begun = status == UNSEEN_OK ? 0 : l->begun;
    return status == UNSEEN_OK ? UNSEEN_OK : UNSEEN_ERR_STOPPED;
}

/* Lets leave those that wait, behind all that are begun. */
static enum unseen_status leave_waiting(struct unseen_store *store, uint64_t horizon, size_t max,
                                        bool *all_left_out, struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    const struct unseen__changes *waiting = &store->committer.waiting;
    const unsigned key_bits = store->log.header.key_bits;
    size_t i = l->done > store->nchanges ? (size_t)(l->done - store->nchanges) : 0;
    enum unseen_status status = UNSEEN_OK;
    for (; i < waiting->n && max > 0; i++) {
        const size_t at = waiting->start + i;
        struct unseen_key key;
        if (waiting->times[at] > horizon) {
            break;
        }
        unseen__keys_unpack(waiting->keys + at * unseen__key_bytes(key_bits), 1, key_bits, &key);
        status = fetch(store, &key, 1, error);
        if (status != UNSEEN_OK) {
            break;
        }
        if (!waiting->removed[at] && !unseen__leaving_take_note(store, key)) {
            take_out(store, &key, 1);
            max--;
        }
    }
    l->done = i > 0 ? store->nchanges + i : l->done;
    *all_left_out = i == waiting->n || waiting->times[waiting->start + i] > horizon;
    return status;
}

/* ---- notes of removed keys ---- */

enum unseen_status unseen__leaving_note(struct unseen_store *store, struct unseen_key key)
{
    return unseen__stash_add_again(&store->leaving.removed, key, 1, &store->allocator);
}

bool unseen__leaving_take_note(struct unseen_store *store, struct unseen_key key)
{
    return unseen__stash_remove(&store->leaving.removed, key);
}

/* The new log has no removed key. What waits to be removed is in it, or will come. */
enum unseen_status unseen__leaving_keep_waiting(struct unseen_store *store, uint64_t nchanges)
{
    struct unseen__leaving *l = &store->leaving;
    const struct unseen__changes *waiting = &store->committer.waiting;
    const unsigned key_bits = store->log.header.key_bits;
    struct unseen__stash kept = {0};
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = waiting->start; i < waiting->start + waiting->n && status == UNSEEN_OK; i++) {
        struct unseen_key key;
        unseen__keys_unpack(waiting->keys + i * unseen__key_bytes(key_bits), 1, key_bits, &key);
        if (waiting->removed[i] && unseen__leaving_take_note(store, key)) {
            status = unseen__stash_add_again(&kept, key, 1, &store->allocator);
        }
    }
    l->done = l->done > store->nchanges ? nchanges + (l->done - store->nchanges) : 0;
    unseen__stash_release(&l->removed, &store->allocator);
    l->removed = kept;
    return status;
}

/* ---- time ---- */

static uint64_t most_late(uint64_t window)
{
    const uint64_t late = window / LATE_SHARE;
    return late > LATE_LEAST ? late : LATE_LEAST;
}

/* unseen__leave, and also of the changes that are not in the log yet. */
static enum unseen_status leave_all(struct unseen_store *store, uint64_t horizon, size_t max,
                                    bool *all_left_out, struct unseen_error *error)
{
    const struct unseen__leaving *l = &store->leaving;
    const bool has_thread = store->committer.is_running;
    enum unseen_status status = has_thread ? wait_for_begun(store, horizon) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, store->log.path);
    }
    status =
        unseen__leave(store, unseen__store_log_end(store), horizon, max, NULL, all_left_out, error);
    if (status == UNSEEN_OK && l->due == 0 && has_thread) {
        status = leave_waiting(store, horizon, max, all_left_out, error);
    }
    return status;
}

enum unseen_status unseen__store_settle(struct unseen_store *store, struct unseen_error *error)
{
    bool all_left = false;
    const uint64_t horizon = unseen__store_horizon(store);
    return horizon > 0 ? leave_all(store, horizon, SIZE_MAX, &all_left, error) : UNSEEN_OK;
}

static enum unseen_status expire(struct unseen_store *store, size_t max, bool *all_left_out)
{
    struct unseen_error error;
    const uint64_t window = store->log.header.window;
    const uint64_t horizon = unseen__horizon(window, store->clock);
    const uint64_t slack = most_late(window) - 2 * UNSEEN__TIME_STEP;
    const uint64_t late = horizon > slack ? horizon - slack : 0;
    *all_left_out = true;
    if (window == 0 || store->leaving.due > horizon) {
        store->leaving.horizon =
            horizon > store->leaving.horizon ? horizon : store->leaving.horizon;
        return UNSEEN_OK;
    }
    enum unseen_status status = leave_all(store, late, SIZE_MAX, all_left_out, &error);
    if (status == UNSEEN_OK) {
        status = leave_all(store, horizon, max, all_left_out, &error);
    }
    if (status != UNSEEN_OK) {
        store->is_partial = true; /* a reader is opened anew by the next refresh */
        return unseen__store_stop(store, status, &error);
    }
    return UNSEEN_OK;
}

enum unseen_status unseen_store_expire(struct unseen_store *store, uint64_t now, size_t max,
                                       uint64_t *next_out)
{
    bool all_left = true;
    const uint64_t step = unseen__time_cut(now);
    enum unseen_status status =
        store->log.writable ? unseen__committer_status(&store->committer) : UNSEEN_OK;
    if (status == UNSEEN_OK && (step > store->clock || !store->leaving.is_done)) {
        store->clock = step > store->clock ? step : store->clock;
        status = expire(store, max, &all_left);
        store->leaving.is_done = all_left;
    }
    if (next_out) {
        *next_out = all_left ? store->clock + UNSEEN__TIME_STEP : 0;
    }
    return status;
}

/* ---- giving the disk back ---- */

/* The head of a log that has nothing before the record that the queue is at. */
static struct unseen__log_head head_of_queue(const struct unseen__leaving *l)
{
    return (struct unseen__log_head){.offset = l->scan.record.offset,
                                     .number = l->scan.record.number - 1,
                                     .nchanges = l->nchanges,
                                     .time = l->time,
                                     .output_offset = l->output.name_offset,
                                     .output_len = l->output.len,
                                     .output_checksum = l->output.checksum,
                                     .note = l->output.note,
                                     .output_closed = l->output.closed};
}

void unseen__leaving_follow_head(struct unseen_store *store)
{
    const struct unseen__leaving *l = &store->leaving;
    if (l->has_record && !store->set->allowed) { /* allowed keys stand before the queue, too */
        store->log.header.head = head_of_queue(l);
    }
}

enum unseen_status unseen__store_give_back(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__leaving *l = &store->leaving;
    struct unseen__log *log = &store->log;
    const struct unseen__log_head old = log->header.head;
    if (!l->has_record || store->is_draft) {
        return UNSEEN_OK;
    }
    if (store->set->allowed) { /* the records that allow keys stay: only a rewrite copies them */
        store->cannot_punch = true;
        return UNSEEN_OK;
    }
    const struct unseen__log_head head = head_of_queue(l);
    const uint64_t nleft = head.offset - old.offset;
    const uint64_t nstaying = unseen__store_log_end(store) - head.offset;
    if (l->next_head.offset == 0 && nleft >= GIVE_LEAST && nleft >= nstaying / GIVE_SHARE) {
        l->next_head = head;
    }
    /* What has left at a time that no durable record tells is not gone after a crash: the lines of
     * that time may come once more. */
    if (l->next_head.offset == 0 ||
        l->next_head.time > unseen__horizon(log->header.window, unseen__store_log_time(store))) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen__log_move_head(log, &l->next_head, error);
    l->next_head.offset = 0;
    if (status == UNSEEN_OK && !unseen__log_punch(log, old.offset)) {
        store->cannot_punch = true;
    }
    return status;
}

/* ---- numbers ---- */

/* A change that came after its time was told is behind what the queue has looked at. */
uint64_t unseen__leaving_oldest(struct unseen_store *store)
{
    const struct unseen__leaving *l = &store->leaving;
    const struct unseen__changes *waiting = &store->committer.waiting;
    const size_t nleft = l->done > store->nchanges ? (size_t)(l->done - store->nchanges) : 0;
    bool all_left = false;
    if (store->log.header.window > 0 && l->due == 0) {
        (void)unseen__leave(store, unseen__store_log_end(store), l->horizon, 0, NULL, &all_left,
                            NULL); /* an expire meets the same error */
    }
    if (l->due > 0 || l->begun > 0 || store->log.header.window == 0) {
        return l->due > 0 ? l->due : l->begun;
    }
    return nleft < waiting->n ? waiting->times[waiting->start + nleft] : 0;
}

/* The keys of the record shown that leave until a time; removed keys do not. */
static uint64_t count_until(const struct unseen_store *store, const struct unseen__scan *scan,
                            uint64_t until)
{
    const unsigned key_bits = store->log.header.key_bits;
    const uint32_t n = scan->record.kind == UNSEEN__RECORD_CHANGES ? scan->record.n : 0;
    uint64_t count = 0;
    struct unseen__run run = {0};
    for (uint32_t i = 0, r = 0; i < n; i++) {
        struct unseen_key key;
        if (i == run.end) {
            run = unseen__record_run(&scan->record, scan->runs, r++);
        }
        if (run.time <= store->leaving.horizon || run.time > until ||
            (scan->bits && (scan->bits[i / 8] >> i % 8 & 1))) {
            continue;
        }
        unseen__keys_unpack(scan->payload + i * unseen__key_bytes(key_bits), 1, key_bits, &key);
        count += !unseen__stash_contains(&store->leaving.removed, key);
    }
    return count;
}

enum unseen_status unseen_store_leaving(struct unseen_store *store, uint64_t *nkeys_out,
                                        struct unseen_error *error)
{
    const struct unseen__leaving *l = &store->leaving;
    const uint64_t window = store->log.header.window;
    const uint64_t until = unseen__horizon(window, store->clock + window / LEAVING_SHARE);
    struct unseen__scan scan;
    enum unseen__scan_state state = UNSEEN__SCAN_RECORD;
    *nkeys_out = 0;
    if (window == 0 || store->log.writable) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             window == 0 ? "%s has no window"
                                         : "%s is open to write: the keys that leave are counted "
                                           "for readers only",
                             store->log.path);
    }
    if (l->due == 0) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__scan_init(&scan, &store->log, l->scan.record.offset,
                                                  l->scan.record.number - 1, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    scan.size = store->log.end;
    while ((status = unseen__scan_next(&scan, &state, error)) == UNSEEN_OK &&
           state == UNSEEN__SCAN_RECORD &&
           unseen__record_run(&scan.record, scan.runs, 0).time <= until) {
        *nkeys_out += count_until(store, &scan, until);
    }
    if (status == UNSEEN_OK && state != UNSEEN__SCAN_RECORD && state != UNSEEN__SCAN_END) {
        status = unseen__damaged(error, &store->log, scan.offset, store->log.end);
    }
    unseen__scan_release(&scan);
    return status;
}
