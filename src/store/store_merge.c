/* SPDX-License-Identifier: MIT
 *
 * Goes through the keys of a store, which its log has, and merges one store into another. */
#include <string.h>

#include "base/error.h"
#include "set/set.h"
#include "store/rewrite.h"

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

/* ---- by time ----
 *
 * The log of a store with a window is in the order of time, so keys that are merged into it come
 * between those that are there: the log is written anew. A key that both stores have stays for as
 * long as the one that would keep it longer. */

struct common {
    struct merge *m;
    struct unseen__stash keys; /* that both may have */
};

static bool find_common(void *context, const struct unseen_key *keys, size_t n, uint64_t time)
{
    struct common *c = context;
    struct merge *m = c->m;
    struct unseen_key narrow[UNSEEN__UNPACK];
    uint8_t verdicts[UNSEEN__UNPACK];
    (void)time;
    memcpy(narrow, keys, n * sizeof(*keys));
    for (size_t i = 0; i < n; i++) {
        unseen__key_narrow(m->to->log.header.key_bits, &narrow[i]);
    }
    m->status = unseen_set_contains_keys(m->to->set, narrow, n, verdicts, NULL);
    if (m->status == UNSEEN_ERR_CORRUPT || m->status == UNSEEN_ERR_IO) {
        m->status = unseen__store_stop_unread(m->to, m->status);
    }
    for (size_t i = 0; i < n && m->status == UNSEEN_OK; i++) {
        m->nnew += verdicts[i] == UNSEEN_NEW;
        m->status = verdicts[i] == UNSEEN_SEEN && !unseen__stash_contains(&c->keys, narrow[i])
                        ? unseen__stash_add(&c->keys, narrow[i], &m->to->allocator)
                        : UNSEEN_OK;
    }
    (void)unseen__error_status(m->error, m->status, m->to->log.path);
    m->ndone += n;
    if (m->status == UNSEEN_OK && m->progress && !m->progress(m->context, m->ndone, m->nnew)) {
        m->status = unseen__error_plain(m->error, UNSEEN_ERR_STOPPED);
    }
    return m->status == UNSEEN_OK;
}

/* Takes over a new log, and makes the set anew; it stays the object that the caller knows. */
static enum unseen_status take_merged(struct unseen_store *store, struct unseen__log *log,
                                      struct unseen_error *error)
{
    struct unseen_set *set = store->set;
    enum unseen_status status = unseen__store_take_log(store, log, error);
    store->set = NULL;
    unseen__store_forget_members(store);
    if (status == UNSEEN_OK) {
        status = unseen__store_reload(store, error);
    }
    if (status == UNSEEN_OK) {
        unseen__set_swap_filters(set, store->set);
        store->is_rewritten = false; /* the set is that of the log */
    }
    unseen_set_free(store->set);
    store->set = set;
    unseen__committer_appended(&store->committer);
    return status;
}

/* After an error the log may have lost its name, or the set its keys: the store stops. */
static enum unseen_status write_merged(struct unseen_store *store,
                                       const struct unseen__reading *reading,
                                       struct unseen_error *error)
{
    struct unseen__log log;
    struct unseen_error trouble;
    struct unseen__log_header header = store->log.header;
    enum unseen_status status =
        unseen__error_status(&trouble, unseen__log_new_id(header.id), store->log.path);
    if (status == UNSEEN_OK) {
        status = unseen__log_write_anew(&log, &store->log, &header, reading, false, &trouble);
    }
    unseen__secret_forget(&header.secret);
    if (status == UNSEEN_OK) {
        status = take_merged(store, &log, &trouble);
    }
    if (status != UNSEEN_OK) {
        unseen__committer_fail(&store->committer, &trouble);
        if (error) {
            *error = trouble;
        }
    }
    return status;
}

/* The keys that are left out have left by the later of both clocks, or their own store before. */
static enum unseen_status merge_logs(struct unseen_store *store, struct unseen_store *from,
                                     const struct unseen__reading *to, struct common *common,
                                     struct unseen_error *error)
{
    const uint64_t window = store->log.header.window;
    struct unseen__reading other = {.log = &from->log};
    struct unseen__source source = {.log = &from->log, .end = unseen__store_log_end(from)};
    enum unseen_status status = unseen__read_all(&other, error);
    if (status == UNSEEN_OK && other.health.ndamages > 0) {
        status = unseen__damaged(error, &from->log, other.damaged_offset, other.damaged_end);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    source.horizon = unseen__store_horizon(from);
    source.horizon = source.horizon > unseen__horizon(window, store->clock)
                         ? source.horizon
                         : unseen__horizon(window, store->clock);
    source.unknown = other.first_time ? other.first_time : store->clock;
    status = unseen__surviving_of(&source, 1, false, find_common, common, error);
    status = status == UNSEEN_OK ? common->m->status : status;
    struct unseen__reading both = *to;
    both.horizon = unseen__store_horizon(store);
    both.time = to->first_time ? to->first_time : store->clock;
    both.last_time = store->clock;
    both.other = &source;
    both.common = &common->keys;
    return status == UNSEEN_OK ? write_merged(store, &both, error) : status;
}

static enum unseen_status merge_by_time(struct merge *m, struct unseen_store *from)
{
    struct unseen_store *store = m->to;
    struct common common = {.m = m};
    struct unseen__reading to = {.log = &store->log};
    enum unseen_status status = unseen_store_commit(store, m->error);
    if (status == UNSEEN_OK) {
        status = unseen_store_refresh(from, m->error); /* as in unseen_store_keys */
    }
    store->clock = store->clock > from->clock ? store->clock : from->clock;
    if (status == UNSEEN_OK && store->clock == 0 && from->nchanges > 0) {
        return unseen__error_setting(m->error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_WINDOW,
                                     "%s does not know when its keys came, and nobody has said "
                                     "what time it is",
                                     from->log.path);
    }
    if (status == UNSEEN_OK) {
        status = unseen__store_settle(store, m->error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__read_intact(&to, m->error);
    }
    if (status == UNSEEN_OK) {
        status = merge_logs(store, from, &to, &common, m->error);
    }
    unseen__stash_release(&common.keys, &store->allocator);
    return status;
}

/* ---- without a window ---- */

static enum unseen_status merge_behind(struct merge *m, struct unseen_store *from)
{
    enum unseen_status status = merge_allowed(m->to, from, m->error);
    if (status == UNSEEN_OK) {
        status = unseen_store_keys(from, merge_keys, m, m->error);
    }
    if (status == UNSEEN_OK) {
        status = m->status == UNSEEN_OK ? unseen_store_commit(m->to, m->error) : m->status;
    }
    return status;
}

/* ---- both ---- */

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
        status = store->log.header.window > 0 ? merge_by_time(&m, from) : merge_behind(&m, from);
    }
    if (status == UNSEEN_ERR_STOPPED) { /* by `progress`, or by a fault of the store: which one */
        const enum unseen_status cause =
            unseen__committer_poll(&store->committer, true, NULL, error);
        status = cause == UNSEEN_OK ? status : cause;
    }
    if (status == UNSEEN_OK) {
        *nnew_out = m.nnew;
    }
    return status;
}
