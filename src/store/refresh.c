/* SPDX-License-Identifier: MIT
 *
 * Refresh: a store that is only read takes over what other processes have committed.
 *
 * A log grows record by record, and a record is a commit. So the reader goes on behind the last
 * record that it has read, and reads no byte twice. A writer may be in the middle of a record, or
 * be killed there: a record without its end is not read, and a long one is not looked at again
 * before the file changes.
 *
 * In three cases the reader cannot go on, opens the store anew, and takes over its filters:
 *
 *   - another file has the log's name;
 *   - the last record is no longer where it was, because a commit failed and was cut off, or
 *     because the file was overwritten;
 *   - the set has no room for more keys.
 *
 * A store without a log has its keys in the image, and is opened anew when the image covers other
 * changes. */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "set/set.h"
#include "store/store.h"

enum {
    TRIES = 3,
    REOPEN_SHARE = 4 /* of the limit of memory, for keys since the image */
};

/* ---- opening anew ---- */

/* MISMATCH if keys of the one store mean nothing in the other. */
static enum unseen_status check_replacement(const struct unseen_store *store,
                                            const struct unseen_store *fresh,
                                            struct unseen_error *error)
{
    const struct unseen__log_header *was = &store->log.header;
    const struct unseen__log_header *is = &fresh->log.header;
    const char *path = store->log.path;
    if (strcmp(was->profile, is->profile) != 0) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_PROFILE,
                                     "%s has been replaced: it has the profile %s now, not %s",
                                     path, is->profile, was->profile);
    }
    if (!unseen__secret_equals(&was->secret, &is->secret)) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_SEED,
                                     "%s has been replaced by a store with another seed", path);
    }
    if (was->key_bits != is->key_bits) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_KEY_BITS,
                                     "%s has been replaced: it has keys of %u bits now, not %u",
                                     path, is->key_bits, was->key_bits);
    }
    return UNSEEN_OK;
}

/* Moves the log, the filters and the figures of `fresh`, the store as opened anew, to the store,
 * and frees what is left. The set and the URL identity stay the objects that the caller knows. */
static void take_over(struct unseen_store *store, struct unseen_store *fresh)
{
    const struct unseen__log log = store->log;
    unseen__set_swap_filters(store->set, fresh->set);
    store->log = fresh->log;
    fresh->log = log;
    fresh->log.path = store->log.path; /* messages name the log as the caller did */
    store->log.path = log.path;
    unseen__leaving_release(store);
    store->leaving = fresh->leaving;
    store->leaving.scan.log = fresh->leaving.scan.log ? &store->log : NULL;
    fresh->leaving = (struct unseen__leaving){0};
    store->output = fresh->output;
    store->nchanges = fresh->nchanges;
    store->image_nchanges = fresh->image_nchanges;
    store->room = fresh->room;
    store->nallowed = fresh->nallowed;
    store->clock = fresh->clock; /* the old one may have been wrong, and was set back */
    store->is_partial = fresh->is_partial;
    store->info = fresh->info;
    store->sweep = fresh->sweep; /* a reader sweeps nothing */
    fresh->sweep = (struct unseen__sweep){0};
    unseen__store_release(fresh);
}

static enum unseen_status open_anew(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen_store *fresh = NULL;
    enum unseen_status status = unseen__store_open_to_follow(&fresh, store, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = check_replacement(store, fresh, error);
    if (status == UNSEEN_OK) {
        take_over(store, fresh);
    } else {
        unseen__store_release(fresh);
    }
    return status;
}

/* ---- going on ---- */

/* Whether the log still has the last record that was read, so that it goes on behind it. A log
 * without records goes on with nothing. */
static enum unseen_status check_last(const struct unseen__log *log, uint64_t size,
                                     bool *goes_on_out, struct unseen_error *error)
{
    uint8_t tail[UNSEEN__RECORD_TAIL] = {0};
    size_t len = 0;
    *goes_on_out = size == log->end;
    if (log->last_offset == 0) {
        return UNSEEN_OK;
    }
    const int code = unseen__file_read(log->fd, log->end - sizeof(tail), tail, sizeof(tail), &len);
    *goes_on_out = len == sizeof(tail) && load_le64(tail) == log->record_checksum;
    return code ? unseen__error_io(error, "read", log->path, code) : UNSEEN_OK;
}

/* Whether the image is another one than that of the set. */
static enum unseen_status check_image(const struct unseen_store *store, bool *differs_out,
                                      struct unseen_error *error)
{
    struct unseen__image image;
    const enum unseen_status status = unseen__image_open(&image, &store->log, error);
    if (status == UNSEEN_OK) {
        *differs_out = image.header.nchanges != store->image_nchanges;
        unseen__image_release(&image);
        return UNSEEN_OK;
    }
    /* Opening anew says what is wrong with a store that had an image. */
    *differs_out = status != UNSEEN_ERR_MISSING || store->image_nchanges > 0;
    return status == UNSEEN_ERR_NOMEM ? status : UNSEEN_OK;
}

/* True if the set cannot take the keys that these bytes of the log may have. */
static bool is_too_small(const struct unseen_store *store, uint64_t nbytes)
{
    const uint64_t nmore = nbytes / unseen__key_bytes(store->log.header.key_bits);
    return store->nchanges + nmore > store->room;
}

/* *is_as_before_out: the log ends in the long torn end that was found last time. Searching it again
 * would find nothing new. */
static enum unseen_status look(const struct unseen_store *store, bool *is_anew_out,
                               bool *is_as_before_out, struct unseen_error *error)
{
    const struct unseen__log *log = &store->log;
    bool goes_on = false;
    struct unseen__file_stamp file;
    *is_anew_out = true;
    *is_as_before_out = false;
    if (store->is_partial || !unseen__log_has_name(log)) {
        return UNSEEN_OK;
    }
    if (log->header.read_features & UNSEEN__FEATURE_NO_LOG) {
        return check_image(store, is_anew_out, error);
    }
    const int code = unseen__file_stamp(log->fd, &file);
    if (code != 0) {
        return unseen__error_io(error, "read", log->path, code);
    }
    *is_as_before_out = unseen__file_stamp_equals(&file, &log->torn);
    if (*is_as_before_out) {
        *is_anew_out = false;
        return UNSEEN_OK;
    }
    enum unseen_status status = check_last(log, file.size, &goes_on, error);
    if (status == UNSEEN_OK && goes_on && unseen__sweep_is_full(store, REOPEN_SHARE)) {
        return check_image(store, is_anew_out, error); /* a new one has the recent keys */
    }
    *is_anew_out = !goes_on || is_too_small(store, file.size > log->end ? file.size - log->end : 0);
    return status;
}

static enum unseen_status refresh(struct unseen_store *store, struct unseen_error *error)
{
    bool is_anew = false;
    bool is_as_before = false;
    const enum unseen_status status = look(store, &is_anew, &is_as_before, error);
    if (status != UNSEEN_OK || is_as_before) {
        return status;
    }
    if (is_anew) {
        return open_anew(store, error);
    }
    const enum unseen_status replayed =
        unseen__replay(store, store->log.end, store->log.number, UINT64_MAX, error);
    unseen__leaving_follow_head(store);
    return replayed == UNSEEN_OK && store->sweep.in_parts ? unseen__sweep_check(store, error)
                                                          : replayed;
}

/* A writer that cuts off the end of a killed one and goes on there changes bytes while they are
 * read. That looks like damage, but not for long. */
enum unseen_status unseen_store_refresh(struct unseen_store *store, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    store->info.replayed = 0;
    if (store->log.writable) {
        return UNSEEN_OK;
    }
    for (int i = 0; i < TRIES; i++) {
        status = refresh(store, error);
        if (status != UNSEEN_ERR_CORRUPT) {
            return status;
        }
    }
    return status;
}
