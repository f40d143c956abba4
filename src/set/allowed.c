/* SPDX-License-Identifier: MIT
 *
 * The allowed keys of a set (set.h). Such a key goes into the filter in its own right when it is
 * added, although the filter takes it for present: a filter that counts counts it, and compact
 * keeps the whole key. So no removal of the key that it was taken for takes it away. */
#include "set/set.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "tags/compact.h"

enum unseen_status unseen__set_allow(struct unseen_set *set, struct unseen_key key)
{
    if (!set->allowed) {
        set->allowed = unseen__alloc_zero(&set->allocator, sizeof(*set->allowed),
                                          _Alignof(struct unseen__stash));
    }
    if (!set->allowed) {
        return UNSEEN_ERR_NOMEM;
    }
    return unseen__stash_contains(set->allowed, key)
               ? UNSEEN_OK
               : unseen__stash_add(set->allowed, key, &set->allocator);
}

void unseen__set_forget_allowed(struct unseen_set *set)
{
    if (set->allowed) {
        unseen__stash_release(set->allowed, &set->allocator);
        unseen__free(&set->allocator, set->allowed, sizeof(*set->allowed));
    }
}

void unseen__set_save_allowed(const struct unseen_set *set, uint8_t *bytes)
{
    const struct unseen__stash *allowed = set->allowed;
    for (size_t i = 0; i < allowed->nkeys; i++, bytes += 24) {
        store_le64(bytes, allowed->keys[i].lo);
        store_le64(bytes + 8, allowed->keys[i].hi);
        store_le64(bytes + 16, allowed->counts ? allowed->counts[i] : UNSEEN__ALLOWED_ABSENT);
    }
}

enum unseen_status unseen__set_load_allowed(struct unseen_set *set, const uint8_t *bytes, size_t n)
{
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++, bytes += 24) {
        const struct unseen_key key = {.lo = load_le64(bytes), .hi = load_le64(bytes + 8)};
        const uint64_t count = load_le64(bytes + 16);
        if (count < UNSEEN__ALLOWED_ABSENT || count > UNSEEN__ALLOWED_ADDED ||
            (set->allowed && unseen__stash_contains(set->allowed, key))) {
            return UNSEEN_ERR_CORRUPT;
        }
        status = unseen__set_allow(set, key);
        if (status == UNSEEN_OK && count == UNSEEN__ALLOWED_ADDED) {
            status = unseen__stash_add_again(set->allowed, key, 1, &set->allocator);
        }
    }
    return status;
}

uint64_t unseen__set_nallowed(const struct unseen_set *set)
{
    uint64_t n = 0;
    for (size_t i = 0; set->allowed && i < set->allowed->nkeys; i++) {
        n += !set->allowed->counts || set->allowed->counts[i] == UNSEEN__ALLOWED_ABSENT;
    }
    return n;
}

/* The table grows first: behind a failure nothing has changed. */
static enum unseen_status add_allowed(const struct unseen_set *set, struct unseen_key key,
                                      uint8_t *verdict)
{
    struct unseen__shard *shard = &set->shards[0];
    size_t ndone = 0;
    enum unseen_status status = unseen__stash_add_again(set->allowed, key, 1, &set->allocator);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (set->ops == &unseen__compact_ops) {
        status = unseen__compact_add_whole(shard->filter, key);
        *verdict = UNSEEN_NEW;
        unseen__set_changed(shard, 1, UNSEEN_NEW, &key, status == UNSEEN_OK, verdict);
    } else {
        status = unseen__set_run_shard(set, shard, UNSEEN__ADD, &key, 1, verdict, &ndone);
        *verdict = UNSEEN_NEW;
    }
    if (status != UNSEEN_OK) {
        (void)unseen__stash_remove(set->allowed, key);
    }
    return status;
}

/* The operation for one key of the table. */
static enum unseen_status run_one(const struct unseen_set *set, enum unseen__operation operation,
                                  struct unseen_key key, uint8_t *verdict)
{
    const bool is_absent = unseen__stash_count(set->allowed, key) == UNSEEN__ALLOWED_ABSENT;
    if (operation != UNSEEN__REMOVE) {
        *verdict = UNSEEN_SEEN;
        return is_absent ? add_allowed(set, key, verdict) : UNSEEN_OK;
    }
    if (is_absent) {
        *verdict = UNSEEN_NEW;
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        unseen__set_run_filters(set, UNSEEN__REMOVE, &key, 1, verdict, NULL);
    if (status == UNSEEN_OK) {
        (void)unseen__stash_remove(set->allowed, key);
        *verdict = UNSEEN_SEEN;
    }
    return status;
}

static void answer_absent(const struct unseen_set *set, const struct unseen_key *keys, size_t n,
                          uint8_t *verdicts)
{
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == UNSEEN_SEEN &&
            unseen__stash_count(set->allowed, keys[i]) == UNSEEN__ALLOWED_ABSENT) {
            verdicts[i] = UNSEEN_NEW;
        }
    }
}

enum unseen_status unseen__set_run_allowed(const struct unseen_set *set,
                                           enum unseen__operation operation,
                                           const struct unseen_key *keys, size_t n,
                                           uint8_t *verdicts, size_t *ndone_out)
{
    size_t done = 0;
    enum unseen_status status = UNSEEN_OK;
    if (operation == UNSEEN__CONTAINS) {
        status = unseen__set_run_filters(set, operation, keys, n, verdicts, &done);
        answer_absent(set, keys, done, verdicts);
    }
    while (status == UNSEEN_OK && done < n) {
        size_t end = done;
        size_t ndone = 0;
        while (end < n && !unseen__stash_contains(set->allowed, keys[end])) {
            end++;
        }
        if (end > done) {
            status = unseen__set_run_filters(set, operation, keys + done, end - done,
                                             verdicts + done, &ndone);
        } else {
            status = run_one(set, operation, keys[done], &verdicts[done]);
            ndone = status == UNSEEN_OK;
        }
        done += ndone;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}
