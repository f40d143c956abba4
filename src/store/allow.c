/* SPDX-License-Identifier: MIT
 *
 * The allowlist of a store: keys that its filter takes for present by error. The log has them in
 * records of their own, and the set answers them (set/allowed.c).
 *
 * A key is allowed only while the log does not have it. So the order of the log decides: an add
 * that follows makes the key SEEN. A change that waits has no place in the log yet, so nothing may
 * wait. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "set/set.h"
#include "store/store.h"

enum {
    RECORD_KEYS = 1 << 14 /* keys in a record, if more are allowed at once */
};

/* ---- keys and records ---- */

struct found {
    struct unseen__stash *keys;
    const struct unseen_allocator *allocator;
    unsigned key_bits;
    enum unseen_status status;
};

static bool find_keys(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    (void)time;
    struct found *f = context;
    for (size_t i = 0; i < n && f->status == UNSEEN_OK; i++) {
        struct unseen_key key = keys[i];
        unseen__key_narrow(f->key_bits, &key);
        if (!unseen__stash_contains(f->keys, key)) {
            f->status = unseen__stash_add(f->keys, key, f->allocator);
        }
    }
    return f->status == UNSEEN_OK;
}

enum unseen_status unseen__allowed_find(const struct unseen__log *log, uint64_t end,
                                        bool skip_damage, unsigned key_bits,
                                        struct unseen__stash *keys_out, struct unseen_error *error)
{
    struct found f = {.keys = keys_out, .allocator = &log->allocator, .key_bits = key_bits};
    const enum unseen_status status =
        unseen__allowed_each(log, end, skip_damage, find_keys, &f, error);
    return status == UNSEEN_OK ? unseen__error_status(error, f.status, log->path) : status;
}

enum unseen_status unseen__allowed_append(struct unseen__log *log, const struct unseen_key *keys,
                                          size_t n, uint64_t time, bool sync,
                                          struct unseen_error *error)
{
    const unsigned key_bits = log->header.key_bits;
    const size_t most = n < RECORD_KEYS ? n : RECORD_KEYS;
    const size_t size = most * unseen__key_bytes(key_bits);
    enum unseen_status status = UNSEEN_OK;
    uint8_t *payload = size > 0 ? unseen__alloc(&log->allocator, size, 8) : NULL;
    if (size > 0 && !payload) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    for (size_t done = 0; status == UNSEEN_OK && done < n;) {
        const size_t count = n - done < most ? n - done : most;
        const struct unseen__record record = {.kind = UNSEEN__RECORD_ALLOWED,
                                              .n = (uint32_t)count,
                                              .time = time,
                                              .output_len = UNSEEN__NO_OUTPUT};
        unseen__keys_pack(keys + done, count, key_bits, payload);
        done += count;
        status = unseen__log_append(log, record, payload, NULL, NULL, sync, error);
    }
    unseen__free(&log->allocator, payload, size);
    return status;
}

/* ---- allowing ---- */

static enum unseen_status check_allowing(const struct unseen_store *store,
                                         const struct unseen_key *keys, size_t n,
                                         struct unseen_error *error)
{
    const char *path = store->log.path;
    if (!store->log.writable) {
        return unseen__store_not_writable(store, error);
    }
    if (store->log.header.read_features & UNSEEN__FEATURE_NO_LOG) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             "%s has no log: nobody knows which lines it was given", path);
    }
    if (store->sweep.in_parts || unseen__sweep_has_begun(store)) {
        return unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                             "%s is larger than the memory for it", path);
    }
    if (store->committer.waiting.n > 0) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s has changes that wait: commit them first", path);
    }
    if (n > 0 && !unseen__store_is_narrow(store, keys[0])) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "%s has keys of another width", path);
    }
    return UNSEEN_OK;
}

/* Puts those of the keys into search->surviving that the log has, of those that the set has. */
static enum unseen_status find_held(struct unseen_store *store, struct unseen__search *search,
                                    const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                    struct unseen_error *error)
{
    enum unseen_status status = unseen__store_settle(store, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen_set_contains_keys(store->set, keys, n, verdicts, NULL);
    if (status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_IO) {
        (void)unseen__store_stop_unread(store, status);
        return unseen__committer_poll(&store->committer, false, NULL, error);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = verdicts[i] == UNSEEN_SEEN ? unseen__search_want(search, keys[i]) : UNSEEN_OK;
    }
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, store->log.path);
    }
    return search->wanted.nkeys > 0 ? unseen__search_log(search, &store->log, store->log.end,
                                                         store->leaving.horizon, error)
                                    : UNSEEN_OK;
}

/* Makes the allowed keys durable that stand in the set from `nbefore` on. The record says what time
 * it is: one of the keys may have been there until it left. */
static enum unseen_status keep_allowed(struct unseen_store *store, size_t nbefore,
                                       struct unseen_error *error)
{
    const struct unseen__stash *allowed = store->set->allowed;
    struct unseen_error trouble;
    if (!allowed || allowed->nkeys == nbefore) {
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        unseen__allowed_append(&store->log, allowed->keys + nbefore, allowed->nkeys - nbefore,
                               store->clock, true, &trouble);
    if (status == UNSEEN_OK) {
        unseen__committer_appended(&store->committer);
        return UNSEEN_OK;
    }
    unseen__committer_fail(&store->committer, &trouble);
    if (error) {
        *error = trouble;
    }
    return status;
}

static enum unseen_status allow(struct unseen_store *store, const struct unseen_key *keys, size_t n,
                                bool all, uint8_t *verdicts, struct unseen_error *error)
{
    struct unseen__search search = {.allocator = store->allocator};
    const size_t nbefore = store->set->allowed ? store->set->allowed->nkeys : 0;
    enum unseen_status status = check_allowing(store, keys, n, error);
    if (status == UNSEEN_OK) {
        status = unseen__committer_poll(&store->committer, true, NULL, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = find_held(store, &search, keys, n, verdicts, error);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        const bool is_held = unseen__stash_contains(&search.surviving, keys[i]);
        if (!is_held && (all || verdicts[i] == UNSEEN_SEEN)) {
            status = unseen__error_status(error, unseen__set_allow(store->set, keys[i]),
                                          store->log.path);
        }
        verdicts[i] = is_held ? UNSEEN_SEEN : UNSEEN_NEW;
    }
    status = status == UNSEEN_OK ? keep_allowed(store, nbefore, error) : status;
    struct unseen__stash *allowed = store->set->allowed;
    while (status != UNSEEN_OK && allowed && allowed->nkeys > nbefore) {
        (void)unseen__stash_remove(allowed, allowed->keys[allowed->nkeys - 1]);
    }
    unseen__search_release(&search);
    return status;
}

enum unseen_status unseen_store_allow(struct unseen_store *store, const struct unseen_key *keys,
                                      size_t n, uint8_t *verdicts, struct unseen_error *error)
{
    return allow(store, keys, n, false, verdicts, error);
}

enum unseen_status unseen__store_allow_all(struct unseen_store *store,
                                           const struct unseen_key *keys, size_t n,
                                           struct unseen_error *error)
{
    uint8_t *verdicts = unseen__alloc(&store->allocator, n, 1);
    if (!verdicts) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, store->log.path);
    }
    const enum unseen_status status = allow(store, keys, n, true, verdicts, error);
    unseen__free(&store->allocator, verdicts, n);
    return status;
}
