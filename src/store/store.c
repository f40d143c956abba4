/* SPDX-License-Identifier: MIT
 *
 * A store: a set in memory whose changes go to a log.
 *
 * A change is made in memory at once, and then it waits. When the caller has handed over the line
 * that the change stands for, it begins the commit, and the committer's thread makes the change
 * durable. Changes that were never begun are undone before an image is written. Otherwise the image
 * would hold keys that the log does not have, and URLs that nobody has seen would be taken for
 * seen. */
#include "store/store.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "set/set.h"

enum {
    SLICE = 1024,          /* changes made in memory at a time */
    SEARCHED = 1 << 16,    /* keys to remove that the log is read for at a time */
    MEMBERS_MAX = 1 << 20, /* keys that are kept in memory for removals, at 24 bytes each */
    IMAGE_AFTER = 1 << 16, /* an image is written after more changes than this, */
    SWEEP_SHARE = 4,       /* of the limit of memory: more recent keys are swept, */
    CLOSE_SHARE = 8,       /* and when the store is closed */
    IMAGE_SHARE = 16       /* and than a 16th of the changes that the last image has */
};

/* ---- asking and changing ---- */

bool unseen__store_is_narrow(const struct unseen_store *store, struct unseen_key key)
{
    struct unseen_key narrow = key;
    unseen__key_narrow(store->log.header.key_bits, &narrow);
    return narrow.lo == key.lo;
}

const struct unseen_set *unseen_store_set(const struct unseen_store *store)
{
    return store->set;
}

enum unseen_status unseen__store_stop(struct unseen_store *store, enum unseen_status status,
                                      const struct unseen_error *error)
{
    if (status == UNSEEN_ERR_NOMEM || !store->log.writable) {
        return status;
    }
    if (unseen__committer_poll(&store->committer, true, NULL, NULL) == UNSEEN_OK) {
        unseen__committer_fail(&store->committer, error);
    }
    return UNSEEN_ERR_STOPPED;
}

enum unseen_status unseen__store_stop_unread(struct unseen_store *store, enum unseen_status cause)
{
    struct unseen_error error;
    unseen__image_report_unread(store, cause, &error);
    return unseen__store_stop(store, cause, &error);
}

/* Without memory they are looked for again. */
void unseen__store_follow_member(struct unseen_store *store, struct unseen_key key, bool removed)
{
    if (!store->has_members) {
        return;
    }
    if (removed) {
        (void)unseen__stash_remove(&store->members, key);
    } else if (!unseen__stash_contains(&store->members, key) &&
               (store->members.nkeys == MEMBERS_MAX ||
                unseen__stash_add(&store->members, key, &store->allocator) != UNSEEN_OK)) {
        unseen__store_forget_members(store);
    }
}

/* Notes keys that are about to be removed: all or none. */
static enum unseen_status note_removals(struct unseen_store *store, const struct unseen_key *keys,
                                        size_t n)
{
    enum unseen_status status = UNSEEN_OK;
    size_t i = 0;
    while (i < n && (status = unseen__leaving_note(store, keys[i])) == UNSEEN_OK) {
        i++;
    }
    while (status != UNSEEN_OK && i > 0) {
        (void)unseen__leaving_take_note(store, keys[--i]);
    }
    return status;
}

static enum unseen_status change_slice(struct unseen_store *store, enum unseen__operation operation,
                                       const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                       size_t *ndone_out)
{
    const bool removed = operation == UNSEEN__REMOVE;
    const uint8_t change = removed ? UNSEEN_SEEN : UNSEEN_NEW;
    *ndone_out = 0;
    enum unseen_status status = unseen__committer_reserve(&store->committer, n);
    if (status != UNSEEN_OK) {
        return status;
    }
    store->sweep.is_refused = store->sweep.is_refused || removed;
    if (removed && store->log.header.window > 0) {
        status = note_removals(store, keys, n);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__set_run(store->set, operation, keys, n, verdicts, ndone_out);
    for (size_t i = *ndone_out; removed && i < n; i++) {
        (void)unseen__leaving_take_note(store, keys[i]);
    }
    for (size_t i = 0; i < *ndone_out; i++) {
        if (verdicts[i] == change) {
            unseen__committer_note(&store->committer, keys[i], removed, store->clock);
            unseen__store_follow_member(store, keys[i], removed);
        }
    }
    return status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO
               ? unseen__store_stop_unread(store, status)
               : status;
}

static enum unseen_status check_changeable(struct unseen_store *store)
{
    const enum unseen_status status =
        store->log.writable ? unseen__committer_status(&store->committer) : UNSEEN_ERR_READONLY;
    return status == UNSEEN_OK && unseen__sweep_has_begun(store) ? UNSEEN_ERR_UNSUPPORTED : status;
}

/* ---- removing ----
 *
 * The filter takes some absent keys for present, and to remove such a key from it would take away
 * another one. So only keys are removed that the log, or a change that waits for it, has. A store
 * of a few keys keeps them all from the first removal on; otherwise each call reads the log. */

/* Looks for the keys that were asked for, or for all. Waits until all that was begun is in the
 * log. */
static enum unseen_status look_up(struct unseen_store *store, struct unseen__search *search)
{
    struct unseen_error error;
    const struct unseen__changes *waiting = &store->committer.waiting;
    const unsigned key_bits = store->log.header.key_bits;
    const size_t step = unseen__key_bytes(key_bits);
    if (unseen__committer_poll(&store->committer, true, NULL, NULL) != UNSEEN_OK) {
        return UNSEEN_ERR_STOPPED;
    }
    enum unseen_status status = unseen__search_log(
        search, &store->log, unseen__store_log_end(store), store->leaving.horizon, &error);
    if (status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO) {
        return unseen__store_stop(store, status, &error);
    }
    for (size_t i = waiting->start; i < waiting->start + waiting->n && status == UNSEEN_OK; i++) {
        struct unseen_key key;
        unseen__keys_unpack(waiting->keys + i * step, 1, key_bits, &key);
        const bool has_left = !waiting->removed[i] && store->log.header.window > 0 &&
                              waiting->times[i] <= store->leaving.horizon;
        if (!has_left) {
            status = unseen__search_take(search, key,
                                         waiting->removed[i] ? UNSEEN__REMOVED : UNSEEN__ADDED);
        }
    }
    return status;
}

/* Fills store->members, if there are not too many keys, and if there is memory. */
static enum unseen_status find_members(struct unseen_store *store)
{
    struct unseen__search all = {.allocator = store->allocator, .wants_all = true};
    if (store->has_members || unseen__set_nkeys(store->set) > MEMBERS_MAX ||
        store->nchanges - store->log.header.head.nchanges > MEMBERS_MAX * 2) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = look_up(store, &all);
    store->has_members = status == UNSEEN_OK;
    if (store->has_members) {
        store->members = all.surviving;
    } else {
        unseen__search_release(&all);
    }
    return status == UNSEEN_ERR_NOMEM ? UNSEEN_OK : status;
}

/* Removes the surviving keys, each once, and says NEW of the others. */
static enum unseen_status remove_surviving(struct unseen_store *store,
                                           struct unseen__stash *surviving,
                                           const struct unseen_key *keys, size_t n,
                                           uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_key some[SLICE];
    uint8_t answers[SLICE];
    enum unseen_status status = UNSEEN_OK;
    while (*ndone_out < n && status == UNSEEN_OK) {
        const size_t first = *ndone_out;
        const size_t end = n - first < SLICE ? n : first + SLICE;
        size_t nsome = 0;
        size_t ndone = 0;
        for (size_t i = first; i < end; i++) {
            verdicts[i] = unseen__stash_remove(surviving, keys[i]) ? UNSEEN_SEEN : UNSEEN_NEW;
            some[nsome] = keys[i];
            nsome += verdicts[i] == UNSEEN_SEEN;
        }
        status = change_slice(store, UNSEEN__REMOVE, some, nsome, answers, &ndone);
        if (status == UNSEEN_OK) {
            *ndone_out = end;
        } else {
            unseen__store_forget_members(store); /* some may be back in the set */
        }
    }
    return status;
}

/* Only a key that has not left can be removed: the removal has the time of now. */
static enum unseen_status settle(struct unseen_store *store)
{
    struct unseen_error error;
    const enum unseen_status status = unseen__store_settle(store, &error);
    return status == UNSEEN_OK ? UNSEEN_OK : unseen__store_stop(store, status, &error);
}

static enum unseen_status remove_keys(struct unseen_store *store, const struct unseen_key *keys,
                                      size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen__search some = {.allocator = store->allocator};
    enum unseen_status status = UNSEEN_ERR_UNSUPPORTED;
    if (store->set->ops->remove) {
        status = settle(store);
    }
    if (status == UNSEEN_OK) {
        status = unseen_set_contains_keys(store->set, keys, n, verdicts, NULL);
    }
    if (status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO) {
        return unseen__store_stop_unread(store, status);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = verdicts[i] == UNSEEN_SEEN ? unseen__search_want(&some, keys[i]) : UNSEEN_OK;
    }
    const bool is_there = some.wanted.nkeys > 0;
    if (status == UNSEEN_OK && is_there) {
        status = find_members(store);
    }
    if (status == UNSEEN_OK && is_there && !store->has_members) {
        status = look_up(store, &some);
    }
    if (status == UNSEEN_OK) {
        const bool has_all = is_there && store->has_members;
        status = remove_surviving(store, has_all ? &store->members : &some.surviving, keys, n,
                                  verdicts, ndone_out);
    }
    unseen__search_release(&some);
    return status;
}

/* ---- adding and removing ---- */

/* Adds or removes n items or n keys; the other pointer is NULL. Without a log nobody knows which
 * keys were added. */
static enum unseen_status change(struct unseen_store *store, enum unseen__operation operation,
                                 const struct unseen_bytes *items, const struct unseen_key *keys,
                                 size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    const bool searches = operation == UNSEEN__REMOVE && !no_log;
    const size_t most = searches ? SEARCHED : SLICE;
    const size_t cap = n < most ? n : most;
    struct unseen_key few[SLICE];
    struct unseen_key *made = few;
    size_t done = 0;
    enum unseen_status status = check_changeable(store);
    if (status == UNSEEN_OK && operation == UNSEEN__REMOVE && store->sweep.in_parts) {
        status = UNSEEN_ERR_UNSUPPORTED;
    }
    if (status == UNSEEN_OK && ((keys && n > 0 && !unseen__store_is_narrow(store, keys[0])) ||
                                (store->log.header.window > 0 && store->clock == 0))) {
        status = UNSEEN_ERR_ARGUMENT;
    }
    if (status == UNSEEN_OK && items && cap > SLICE) {
        made = unseen__alloc(&store->allocator, cap * sizeof(*made), 16);
        status = made ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
    }
    n = items || keys ? n : 0; /* both may be NULL only if n is 0 */
    while (status == UNSEEN_OK && done < n) {
        const size_t slice = n - done < cap ? n - done : cap;
        const struct unseen_key *some = made;
        size_t ndone = 0;
        if (items) {
            status = unseen_set_keys(store->set, items + done, slice, made, NULL);
        } else {
            some = keys + done;
        }
        if (status == UNSEEN_OK && searches) {
            status = remove_keys(store, some, slice, verdicts + done, &ndone);
        } else if (status == UNSEEN_OK) {
            status = change_slice(store, operation, some, slice, verdicts + done, &ndone);
        }
        done += ndone;
    }
    if (made != few) {
        unseen__free(&store->allocator, made, cap * sizeof(*made));
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_store_add(struct unseen_store *store, const struct unseen_bytes *items,
                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__ADD_ABSENT, items, NULL, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_remove(struct unseen_store *store, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__REMOVE, items, NULL, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_contains(const struct unseen_store *store,
                                         const struct unseen_bytes *items, size_t n,
                                         uint8_t *verdicts, size_t *ndone_out)
{
    return store->sweep.nparts > 0 && !store->sweep.is_broken
               ? UNSEEN_ERR_UNSUPPORTED
               : unseen_set_contains(store->set, items, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_add_keys(struct unseen_store *store, const struct unseen_key *keys,
                                         size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__ADD_ABSENT, NULL, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_remove_keys(struct unseen_store *store,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__REMOVE, NULL, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_reserve(struct unseen_store *store, uint64_t nkeys)
{
    enum unseen_status status = check_changeable(store);
    if (status == UNSEEN_OK) {
        status = unseen_set_reserve(store->set, nkeys);
    }
    return status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO
               ? unseen__store_stop_unread(store, status)
               : status;
}

/* ---- committing ---- */

enum unseen_status unseen__store_not_writable(const struct unseen_store *store,
                                              struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_READONLY, UNSEEN__NO_OFFSET,
                         "%s was opened to be read only", store->log.path);
}

static enum unseen_status begin_commit(struct unseen_store *store, uint64_t n, uint64_t output_len,
                                       struct unseen_error *error)
{
    const size_t waiting = store->committer.waiting.n;
    const size_t count = n < waiting ? (size_t)n : waiting;
    const struct unseen__changes *changes = &store->committer.waiting;
    const uint64_t time = count > 0 ? changes->times[changes->start] : 0;
    if (store->committer.output_name && output_len < store->committer.output_len) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, output_len,
                             "%s: the output became shorter", store->log.path);
    }
    const enum unseen_status status =
        unseen__committer_begin(&store->committer, count, output_len, error);
    if (status == UNSEEN_OK && count > 0) {
        store->leaving.begun = store->leaving.begun ? store->leaving.begun : time;
        store->nchanges += count;
        store->is_changed = true;
    }
    return status;
}

/* Rewrites the store if that is due: the log is the caller's once all that was begun is durable. A
 * draft or a log that was moved away has no name that a new log could take. A failure leaves the
 * log as it was and loses nothing, so the session goes on. If the new log has taken the name all
 * the same, it may not last, and the old one must get no more records. */
static enum unseen_status rewrite_if_due(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__committer *c = &store->committer;
    if (store->is_draft || store->rewrite_failed || store->sweep.in_parts ||
        unseen__sweep_has_begun(store) ||
        !unseen__store_is_mostly_dead(store, unseen__committer_log_end(c)) ||
        !unseen__log_has_name(&store->log)) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__committer_poll(c, true, NULL, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen_error trouble;
    status = unseen__store_rewrite_self(store, &trouble);
    store->rewrite_failed = status != UNSEEN_OK;
    unseen__committer_appended(c);
    if (status == UNSEEN_OK || unseen__log_has_name(&store->log)) {
        return UNSEEN_OK;
    }
    unseen__committer_fail(c, &trouble);
    if (error) {
        *error = trouble;
    }
    return status;
}

/* Sweeps the keys since the image if the set takes too much memory. */
static enum unseen_status sweep_if_due(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__committer *c = &store->committer;
    struct unseen_error trouble;
    if (store->sweep.memory == 0 || !unseen__sweep_is_full(store, SWEEP_SHARE) ||
        !unseen__log_has_name(&store->log)) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__committer_poll(c, true, NULL, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__sweep_self(store, &trouble);
    if (status != UNSEEN_OK) {
        unseen__committer_fail(c, &trouble);
        if (error) {
            *error = trouble;
        }
    }
    return status;
}

/* If the header could not be written, nobody knows what it says. */
static enum unseen_status give_back(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen_error trouble;
    const enum unseen_status status = unseen__store_give_back(store, &trouble);
    if (status != UNSEEN_OK) {
        unseen__committer_fail(&store->committer, &trouble);
        if (error) {
            *error = trouble;
        }
    }
    return status;
}

enum unseen_status unseen_store_commit_begin(struct unseen_store *store, uint64_t nchanges,
                                             uint64_t output_len, struct unseen_error *error)
{
    if (!store->log.writable) {
        return unseen__store_not_writable(store, error);
    }
    enum unseen_status status = rewrite_if_due(store, error);
    if (status == UNSEEN_OK) {
        status = sweep_if_due(store, error);
    }
    if (status == UNSEEN_OK) {
        status = give_back(store, error);
    }
    /* A record holds a limited number of changes. With a named output they must be one record: its
     * output_len is true only when all of them are committed. */
    while (!store->committer.output_name && nchanges > UNSEEN__RECORD_KEYS_MAX &&
           store->committer.waiting.n > UNSEEN__RECORD_KEYS_MAX && status == UNSEEN_OK) {
        status = begin_commit(store, UNSEEN__RECORD_KEYS_MAX, output_len, error);
        nchanges -= UNSEEN__RECORD_KEYS_MAX;
    }
    return status == UNSEEN_OK ? begin_commit(store, nchanges, output_len, error) : status;
}

enum unseen_status unseen_store_commit_poll(struct unseen_store *store, bool wait,
                                            uint64_t *ndurable_out, struct unseen_error *error)
{
    if (ndurable_out) {
        *ndurable_out = 0;
    }
    return store->log.writable
               ? unseen__committer_poll(&store->committer, wait, ndurable_out, error)
               : unseen__store_not_writable(store, error);
}

/* Begins to commit all waiting changes, with the output's length as it is now. */
static enum unseen_status commit_begin_all(struct unseen_store *store, struct unseen_error *error)
{
    uint64_t len = 0;
    const int code =
        store->committer.output_name ? unseen__file_size(store->committer.output_fd, &len) : 0;
    return code ? unseen__error_io(error, "read", store->committer.output_name, code)
                : unseen_store_commit_begin(store, UINT64_MAX, len, error);
}

enum unseen_status unseen_store_commit(struct unseen_store *store, struct unseen_error *error)
{
    const enum unseen_status status = commit_begin_all(store, error);
    return status == UNSEEN_OK ? unseen_store_commit_poll(store, true, NULL, error) : status;
}

enum unseen_status unseen_store_note(struct unseen_store *store, uint64_t note,
                                     struct unseen_error *error)
{
    struct unseen__committer *c = &store->committer;
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    if (!store->log.writable) {
        return unseen__store_not_writable(store, error);
    }
    if (no_log || store->is_draft) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             "%s cannot keep a note%s", store->log.path,
                             no_log ? ": it has no log" : "");
    }
    enum unseen_status status = unseen__committer_poll(c, true, NULL, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen__output noted = {.note = note};
    struct unseen_error trouble;
    status = unseen__note_append(&noted, &store->log, true, &trouble);
    if (status != UNSEEN_OK) {
        unseen__committer_fail(c, &trouble);
        if (error) {
            *error = trouble;
        }
        return status;
    }
    store->output.note = note;
    unseen__committer_appended(c);
    return UNSEEN_OK;
}

enum unseen_status unseen_store_publish(struct unseen_store *store, struct unseen_error *error)
{
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    enum unseen_status status = unseen_store_commit(store, error);
    if (status != UNSEEN_OK || !store->is_draft) {
        return status;
    }
    /* The committer has nothing to do, so the log may be touched. */
    if (!no_log) {
        status = unseen__log_append_end(&store->log, error);
    }
    if (status == UNSEEN_OK && (store->log.new_path || !no_log)) {
        status =
            unseen__log_publish_draft(&store->log, store->old.fd >= 0 ? &store->old : NULL, error);
    }
    if (status == UNSEEN_OK) {
        store->is_draft = false;
        if (store->old.fd >= 0 &&
            memcmp(store->old.header.id, store->log.header.id, UNSEEN__ID_LEN) != 0) {
            (void)unseen__image_remove(&store->old, NULL); /* that of another log is not used */
        }
        unseen__log_release(&store->old);
        store->old.fd = -1;
    }
    return status;
}

/* ---- closing ---- */

/* Undoes the changes that wait; false if the set cannot do that. */
static bool undo_waiting(struct unseen_store *store)
{
    struct unseen_key key;
    bool removed = false;
    uint8_t verdict = 0;
    bool done = true;
    while (done && unseen__committer_take_back(&store->committer, &key, &removed)) {
        enum unseen_status status = UNSEEN_OK;
        const uint64_t index = store->nchanges + store->committer.waiting.n;
        if (!removed && index >= store->leaving.done) {
            status = unseen_set_remove_keys(store->set, &key, 1, &verdict, NULL);
        } else if (removed &&
                   (store->log.header.window == 0 || unseen__leaving_take_note(store, key))) {
            status = unseen_set_add_keys(store->set, &key, 1, &verdict, NULL);
        } /* else the key has left meanwhile */
        done = status == UNSEEN_OK;
    }
    return done;
}

/* If the output is as long as the last commit says, appends a record that marks it as closed. */
static enum unseen_status close_output(struct unseen_store *store, bool all_committed,
                                       struct unseen_error *error)
{
    struct unseen__committer *c = &store->committer;
    uint64_t size = 0;
    if (!c->output_name || !all_committed) {
        return UNSEEN_OK;
    }
    struct unseen__record record = {
        .kind = UNSEEN__RECORD_CHANGES,
        .flags = UNSEEN__FLAG_CLOSED,
        .output_len = c->output_len,
    };
    int code = unseen__file_size(c->output_fd, &size);
    if (code == 0 && size != c->output_len) {
        return UNSEEN_OK; /* the lines that were not committed are cut off by the next run */
    }
    code = code ? code : unseen__file_sync(c->output_fd);
    code = code ? code : unseen__output_checksum(c->output_fd, size, &record.output_checksum);
    if (code != 0) {
        return unseen__error_io(error, "write", c->output_name, code);
    }
    const enum unseen_status status =
        unseen__log_append(&store->log, record, NULL, NULL, NULL, true, error);
    if (status == UNSEEN_OK) {
        unseen__output_follow(&store->output, &record, NULL);
    }
    return status;
}

/* An image says how long the output is. After a run that did not close the output only the log
 * knows that: store->output is as the run found it. If changes were undone, their lines come once
 * more, and keys may have left at a time that only they told. */
static bool image_is_worthwhile(const struct unseen_store *store, bool all_committed)
{
    const uint64_t nbefore = store->log.header.head.nchanges;
    const uint64_t nmore = store->nchanges - store->image_nchanges;
    const uint64_t nknown = store->image_nchanges > nbefore ? store->image_nchanges - nbefore : 0;
    const bool knows_output = !store->committer.output_name || store->output.closed;
    const bool is_told =
        all_committed ||
        store->leaving.horizon <= unseen__horizon(store->log.header.window, store->log.time);
    return knows_output && is_told && nmore > IMAGE_AFTER && nmore > nknown / IMAGE_SHARE;
}

/* After a rewrite the image must be of a set that was made from the new log: a removal may have
 * hit other keys in memory, and the new log has no such removal. */
static enum unseen_status save_image(struct unseen_store *store, struct unseen_error *error)
{
    const enum unseen_status status =
        store->is_rewritten ? unseen__store_reload(store, error) : UNSEEN_OK;
    return status == UNSEEN_OK ? unseen__image_save(store, error) : status;
}

/* Writes the image, which is all that the store has, and then a record without keys. The record
 * says that there must be an image. */
static enum unseen_status save_without_log(struct unseen_store *store, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    if (store->is_changed) {
        status = unseen__image_save(store, error);
    }
    if (status == UNSEEN_OK && store->is_changed && store->log.number == 0) {
        status = unseen__log_append_empty(&store->log, true, error);
    }
    return status;
}

/* The image could not be written, or the log not be written anew. No key is lost: all of them are
 * in the log. Damage that was met is still there. */
static enum unseen_status image_failed(enum unseen_status cause, struct unseen_error *error)
{
    const enum unseen_status status = cause == UNSEEN_ERR_CORRUPT ? cause : UNSEEN_ERR_IMAGE;
    if (error) {
        error->status = status;
    }
    return status;
}

/* The set has changes that were not handed over, and its filter cannot take them back. An image of
 * it would hide lines that nobody has received. So the last image stays, and what this process
 * committed is forgotten with the rest. */
static enum unseen_status cannot_save(const struct unseen_store *store, struct unseen_error *error)
{
    return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
                                 "%s keeps nothing of this run: it has no log, not all lines were "
                                 "handed over, and the filter %s cannot take lines back",
                                 store->log.path, store->log.header.filter);
}

static enum unseen_status finish_parts(struct unseen_store *store, bool all_committed,
                                       struct unseen_error *error)
{
    if (unseen__sweep_has_begun(store)) {
        return unseen__sweep_finish(store, all_committed, error);
    }
    return unseen__sweep_is_full(store, CLOSE_SHARE) ? unseen__sweep_self(store, error) : UNSEEN_OK;
}

static enum unseen_status store_finish(struct unseen_store *store, struct unseen_error *error)
{
    const bool all_committed = store->committer.waiting.n == 0;
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    enum unseen_status status = unseen__committer_stop(&store->committer, error);
    if (status == UNSEEN_OK) {
        status = close_output(store, all_committed, error);
    }
    if (status != UNSEEN_OK || store->is_draft) {
        return status; /* a draft that is not published is forgotten */
    }
    const bool has_name = unseen__log_has_name(&store->log);
    if (store->sweep.in_parts || unseen__sweep_has_begun(store)) {
        status = has_name ? finish_parts(store, all_committed, error) : UNSEEN_OK;
        const enum unseen_status ended =
            unseen__log_append_end(&store->log, status == UNSEEN_OK ? error : NULL);
        status = status == UNSEEN_OK ? ended : status;
        return status == UNSEEN_OK ? UNSEEN_OK : image_failed(status, error);
    }
    if (has_name && unseen__store_is_mostly_dead(store, store->log.end)) {
        status = unseen__store_rewrite_self(store, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__store_give_back(store, error);
    }
    if (status != UNSEEN_OK) {
        (void)unseen__log_append_end(&store->log, NULL); /* what was committed goes on counting */
        return image_failed(status, error);
    }
    if (!store->is_rewritten && !undo_waiting(store)) {
        return no_log && store->is_changed ? cannot_save(store, error) : UNSEEN_OK;
    }
    if (!has_name) {
        return UNSEEN_OK; /* the log was moved away: an image of its name is not ours */
    }
    if (no_log) {
        return save_without_log(store, error);
    }
    status = image_is_worthwhile(store, all_committed) ? save_image(store, error) : UNSEEN_OK;
    if (status == UNSEEN_OK) {
        /* Behind the image, which must not cover a record that is not synced. */
        status = unseen__log_append_end(&store->log, error);
    }
    return status == UNSEEN_OK ? UNSEEN_OK : image_failed(status, error);
}

enum unseen_status unseen_store_close(struct unseen_store *store, struct unseen_error *error)
{
    if (!store) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = store->log.writable ? store_finish(store, error) : UNSEEN_OK;
    unseen__store_release(store);
    return status;
}

/* ---- numbers ---- */

uint64_t unseen__store_log_end(struct unseen_store *store)
{
    return store->committer.is_running ? unseen__committer_log_end(&store->committer)
                                       : store->log.end;
}

uint64_t unseen__store_log_time(struct unseen_store *store)
{
    return store->committer.is_running ? unseen__committer_log_time(&store->committer)
                                       : store->log.time;
}

enum unseen_status unseen_store_info(struct unseen_store *store, struct unseen_store_info *info_out)
{
    struct unseen_store_info info = store->info;
    const struct unseen__log_header *header = &store->log.header;
    info.log_bytes = unseen__store_log_end(store);
    info.dead_bytes = unseen__store_dead(store, info.log_bytes);
    info.header_damaged = store->log.header_damaged;
    info.no_log = header->read_features & UNSEEN__FEATURE_NO_LOG;
    info.key_bits = header->key_bits;
    info.fpr = header->fpr;
    info.url = store->url;
    info.bits_per_key = header->bits_per_key;
    info.hashes = header->hashes;
    info.seed_id = unseen__secret_id(&header->secret);
    memcpy(info.id, header->id, sizeof(info.id));
    info.note = store->output.note;
    info.nallowed = store->keys_only ? store->nallowed : unseen__set_nallowed(store->set);
    info.window = header->window;
    info.oldest = unseen__leaving_oldest(store);
    info.clock = store->clock;
    if (store->output.name_offset != 0) {
        info.output = store->output.name;
        info.output_len = store->output.len;
        info.output_interrupted = !store->output.closed;
    }
    return unseen__sized_give(info_out, &info, sizeof(info));
}
