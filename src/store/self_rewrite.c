/* SPDX-License-Identifier: MIT
 *
 * A store that adds and removes rewrites itself, so that its log does not grow for ever: when more
 * than half of the log, and more than 1 MiB, is dead. A key that was removed is dead, and so is its
 * removal. The new log is written and renamed as by unseen_store_rewrite, so a crash leaves the old
 * log or the new, and a reader that has the old one open goes on with it.
 *
 * Each rewrite copies less than has been written since the last, so all of them together cost no
 * more than the writing did. */
#include "base/error.h"
#include "set/set.h"
#include "store/rewrite.h"

enum {
    DEAD_LEAST = 1 << 20 /* bytes that are worth a new log */
};

/* The bytes of a log that are dead if nlive of its changes are live keys. */
static uint64_t dead_bytes(const struct unseen_store *store, uint64_t nlive, uint64_t log_end)
{
    const struct unseen__log_head *head = &store->log.header.head;
    const uint64_t nchanges = store->nchanges - head->nchanges;
    const uint64_t nbefore = store->cannot_punch ? head->offset - UNSEEN__RECORDS_OFFSET : 0;
    if (nlive >= nchanges || log_end <= head->offset) {
        return nbefore;
    }
    const double share = (double)(nchanges - nlive) / (double)nchanges;
    return nbefore + (uint64_t)(share * (double)(log_end - head->offset));
}

static bool can_be_dead(const struct unseen_store *store)
{
    return !store->keys_only && (store->set->ops->abilities & UNSEEN_CAN_REMOVE) &&
           !(store->log.header.read_features & UNSEEN__FEATURE_NO_LOG);
}

/* Changes that wait are in the set, and not in the log. */
uint64_t unseen__store_dead(const struct unseen_store *store, uint64_t log_end)
{
    if (!can_be_dead(store)) {
        return 0;
    }
    const struct unseen__changes *waiting = &store->committer.waiting;
    uint64_t nlive = unseen__set_nkeys(store->set);
    uint64_t nadded = 0;
    for (size_t i = 0; i < waiting->n; i++) {
        const bool removed = waiting->removed[waiting->start + i];
        nlive += removed;
        nadded += !removed;
    }
    return dead_bytes(store, nlive > nadded ? nlive - nadded : 0, log_end);
}

/* Half of the log. Where what has left a window cannot be given back otherwise, a fifth is enough.
 * An event loop waits for the new log, so it has to be worth more. */
static bool is_mostly(const struct unseen_store *store, uint64_t dead, uint64_t kept,
                      uint64_t log_end)
{
    const bool waits = store->committer.is_running && store->committer.notify_fd > 0;
    dead = dead > kept ? dead - kept : 0;
    const uint64_t len = log_end - (store->cannot_punch ? 0 : store->log.header.head.offset);
    const uint64_t least = waits ? len / 4 * 3 : len / (store->cannot_punch ? 5 : 2);
    return dead > DEAD_LEAST && dead > least;
}

/* What the last rewrite had to keep, as long as the next one must. */
static uint64_t kept_dead(struct unseen_store *store)
{
    const uint64_t window = store->log.header.window;
    const uint64_t told = unseen__horizon(window, unseen__store_log_time(store));
    return told < store->kept_horizon ? store->kept_dead : 0;
}

/* The changes that wait are looked at only if they can matter. */
bool unseen__store_is_mostly_dead(struct unseen_store *store, uint64_t log_end)
{
    if (!can_be_dead(store)) {
        return false;
    }
    const uint64_t kept = kept_dead(store);
    const uint64_t nkeys = unseen__set_nkeys(store->set);
    const uint64_t nwaiting = store->committer.waiting.n;
    const uint64_t least = nkeys > nwaiting ? nkeys - nwaiting : 0;
    return is_mostly(store, dead_bytes(store, least, log_end), kept, log_end) &&
           is_mostly(store, unseen__store_dead(store, log_end), kept, log_end);
}

enum unseen_status unseen__store_take_log(struct unseen_store *store, struct unseen__log *log,
                                          struct unseen_error *error)
{
    struct unseen__reading reading = {.log = &store->log};
    if (!store->is_draft) {
        (void)unseen__image_remove(log, NULL); /* it belongs to the old log, and is not used */
    }
    unseen__leaving_restart(store);
    unseen__log_release(&store->log);
    store->log = *log;
    store->is_rewritten = true;
    enum unseen_status status = unseen__read_all(&reading, error);
    if (status == UNSEEN_OK) {
        status = unseen__error_status(
            error, unseen__leaving_keep_waiting(store, reading.health.nadded), store->log.path);
    }
    store->nchanges = reading.health.nadded;
    store->image_nchanges = 0;
    store->output = reading.output;
    store->info.image_bytes = 0;
    store->info.image_covers = 0;
    store->kept_dead = unseen__store_dead(store, store->log.end);
    store->kept_horizon = store->leaving.horizon;
    return status;
}

enum unseen_status unseen__store_rewrite_self(struct unseen_store *store,
                                              struct unseen_error *error)
{
    struct unseen__log log;
    struct unseen__log_header header = store->log.header;
    struct unseen__reading reading = {.log = &store->log};
    enum unseen_status status =
        unseen__error_status(error, unseen__log_new_id(header.id), store->log.path);
    if (status == UNSEEN_OK) {
        status = unseen__store_settle(store, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__read_intact(&reading, error);
        /* What has left at a time that no durable record tells is not gone after a crash. */
        reading.horizon = unseen__horizon(header.window, store->log.time);
    }
    if (status == UNSEEN_OK) {
        status = unseen__log_write_anew(&log, &store->log, &header, &reading, false, error);
    }
    unseen__secret_forget(&header.secret);
    if (status != UNSEEN_OK) {
        return status;
    }
    return unseen__store_take_log(store, &log, error);
}

enum unseen_status unseen__store_reload(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__log_head *head = &store->log.header.head;
    unseen_set_free(store->set);
    store->set = NULL;
    store->nchanges = head->nchanges;
    store->log.time = head->time;
    unseen__leaving_restart(store);
    unseen__stash_release(&store->leaving.removed, &store->allocator);
    const enum unseen_status status =
        unseen__store_set_make(store, store->log.end, store->log.end, true, error);
    return status == UNSEEN_OK
               ? unseen__replay(store, head->offset, head->number, UINT64_MAX, error)
               : status;
}
