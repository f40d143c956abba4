/* SPDX-License-Identifier: MIT
 *
 * Goes through the keys of a store, which its log has, and merges one store into another. */
#include <string.h>

#include "base/error.h"
#include "set/set.h"
#include "store/store.h"

enum {
    KEYS_MAX = 512,
    COMMIT_AFTER = 1 << 16 /* changes that wait */
};

static enum unseen_status check_log(const struct unseen_store *store, struct unseen_error *error)
{
    return store->log.header.read_features & UNSEEN__FEATURE_NO_LOG
               ? unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                               "%s has no log: its keys cannot be listed", store->log.path)
               : UNSEEN_OK;
}

struct caller {
    bool (*each)(void *context, const struct unseen_key *keys, size_t n);
    void *context;
};

static bool call_each(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    const struct caller *caller = context;
    (void)time;
    return caller->each(caller->context, keys, n);
}

enum unseen_status unseen_store_keys(struct unseen_store *store,
                                     bool (*each)(void *context, const struct unseen_key *keys,
                                                  size_t n),
                                     void *context, struct unseen_error *error)
{
    struct caller caller = {.each = each, .context = context};
    enum unseen_status status = check_log(store, error);
    if (status == UNSEEN_OK && store->log.header.window > 0) {
        /* The head that a reader knows may be one of which the disk was given back. */
        status = unseen_store_refresh(store, error);
    }
    return status == UNSEEN_OK ? unseen__surviving_each(&store->log, unseen__store_log_end(store),
                                                        unseen__store_horizon(store), false,
                                                        call_each, &caller, error)
                               : status;
}

struct merge {
    struct unseen_store *to;
    struct unseen_error *error;
    enum unseen_status status;
    uint64_t ndone;
    uint64_t nnew;
    bool (*progress)(void *context, uint64_t ndone, uint64_t nnew);
    void *context;
};

static bool merge_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct merge *m = context;
    struct unseen_key narrow[KEYS_MAX];
    uint8_t verdicts[KEYS_MAX];
    for (size_t done = 0; done < n && m->status == UNSEEN_OK;) {
        const size_t count = n - done < KEYS_MAX ? n - done : KEYS_MAX;
        memcpy(narrow, keys + done, count * sizeof(*keys));
        for (size_t i = 0; i < count; i++) {
            unseen__key_narrow(m->to->log.header.key_bits, &narrow[i]);
        }
        m->status = unseen_store_add_keys(m->to, narrow, count, verdicts, NULL);
        if (m->status != UNSEEN_OK) {
            (void)unseen__error_status(m->error, m->status, m->to->log.path);
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            m->nnew += verdicts[i] == UNSEEN_NEW;
        }
        if (m->to->committer.waiting.n >= COMMIT_AFTER) {
            m->status =
                unseen_store_commit_begin(m->to, UINT64_MAX, m->to->committer.output_len, m->error);
        }
        done += count;
        m->ndone += count;
        if (m->status == UNSEEN_OK && m->progress && !m->progress(m->context, m->ndone, m->nnew)) {
            m->status = unseen__error_plain(m->error, UNSEEN_ERR_STOPPED);
        }
    }
    return m->status == UNSEEN_OK;
}

/* What `from` allows is allowed before its keys are added, so that an add of such a key is exact. A
 * store without a log has no allowlist. */
static enum unseen_status merge_allowed(struct unseen_store *store, struct unseen_store *from,
                                        struct unseen_error *error)
{
    const struct unseen__log_header *to = &store->log.header;
    struct unseen__stash allowed = {0};
    if (to->read_features & UNSEEN__FEATURE_NO_LOG) {
        return UNSEEN_OK;
    }
    enum unseen_status status = unseen__allowed_find(&from->log, unseen__store_log_end(from), false,
                                                     to->key_bits, &allowed, error);
    if (status == UNSEEN_OK && allowed.nkeys > 0) {
        status = unseen_store_commit(store, error);
    }
    if (status == UNSEEN_OK && allowed.nkeys > 0) {
        status = unseen__store_allow_all(store, allowed.keys, allowed.nkeys, error);
    }
    unseen__stash_release(&allowed, &from->log.allocator);
    return status;
}

static enum unseen_status check_mergeable(const struct unseen_store *a,
                                          const struct unseen_store *b, struct unseen_error *error)
{
    const struct unseen__log_header *to = &a->log.header;
    const struct unseen__log_header *from = &b->log.header;
    if (strcmp(to->profile, from->profile) != 0) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_PROFILE,
                                     "%s has the profile %s, %s has %s", b->log.path, from->profile,
                                     a->log.path, to->profile);
    }
    if (!unseen__secret_equals(&to->secret, &from->secret)) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_SEED,
                                     "%s has the seed id %016llx, %s has %016llx", b->log.path,
                                     (unsigned long long)unseen__secret_id(&from->secret),
                                     a->log.path,
                                     (unsigned long long)unseen__secret_id(&to->secret));
    }
    if (from->window > 0 || to->window > 0) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                     "%s has a window: its keys cannot be merged by their times",
                                     from->window > 0 ? b->log.path : a->log.path);
    }
    if (from->key_bits < to->key_bits) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_KEY_BITS,
                                     "%s keeps %u bits of each key, %s keeps %u", b->log.path,
                                     from->key_bits, a->log.path, to->key_bits);
    }
    return UNSEEN_OK;
}

enum unseen_status
unseen_store_merge(struct unseen_store *store, struct unseen_store *from, uint64_t *nnew_out,
                   bool (*progress)(void *context, uint64_t ndone, uint64_t nnew), void *context,
                   struct unseen_error *error)
{
    struct merge m = {.to = store, .error = error, .progress = progress, .context = context};
    enum unseen_status status = check_mergeable(store, from, error);
    if (status == UNSEEN_OK) {
        status = check_log(from, error);
    }
    if (status == UNSEEN_OK) {
        status = merge_allowed(store, from, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen_store_keys(from, merge_keys, &m, error);
    if (status == UNSEEN_OK) {
        status = m.status == UNSEEN_OK ? unseen_store_commit(store, error) : m.status;
    }
    if (status == UNSEEN_OK) {
        *nnew_out = m.nnew;
    }
    return status;
}
