/* SPDX-License-Identifier: MIT
 *
 * A store: a set in memory whose changes go to a log.
 *
 * Opening takes the set from the image and reads what the log has more; without a usable image it
 * reads all of the log. Changes are made in memory at once and wait. When the caller has handed over
 * what they stand for, it begins their commit, and the committer's thread makes them durable. What
 * was never begun is undone before an image is written: an image must hold nothing that the log does
 * not, or URLs that nobody has seen would be taken for seen. */
#include "store/store.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "hash/key.h"
#include "set/set.h"

enum {
    SLICE = 1024,          /* changes made in memory at a time */
    IMAGE_AFTER = 1 << 16, /* an image is written after this many changes, */
    IMAGE_SHARE = 16,      /* and after one for each so many that it covers */
    READ_SLACK = 1 << 20 /* a filter that cannot grow, opened to read, is made for so many keys more
                              than the log has */
};

/* Rights of a file. It holds the secret, so others have none unless they are given some. */
static const unsigned OWNER_MAY = 0600;
static const unsigned OTHERS_MAY = 0066;

static const char NO_PROFILE[] = "none/1";

/* ---- settings ---- */

enum unseen_status unseen__store_options(const struct unseen_store_options *given,
                                         struct unseen_store_options *options_out,
                                         struct unseen_error *error)
{
    struct unseen_store_options options = {.size = sizeof(options)};
    const enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_store_options", error);
    if (status != UNSEEN_OK) {
        return status;
    }
    *options_out = options;
    if (options.mode != UNSEEN_STORE_READ && options.mode != UNSEEN_STORE_WRITE &&
        options.mode != UNSEEN_STORE_CREATE) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_MODE,
                                     "%d is not a mode of a store", (int)options.mode);
    }
    if (options.key_bits != 0 && !unseen__key_bits_are_valid(options.key_bits)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_KEY_BITS,
                                     "keys have 64, 96 or 128 bits, not %u", options.key_bits);
    }
    if (!(options.fpr >= 0 && options.fpr < 1)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
                                     "a rate of %g is not above 0 and below 1", options.fpr);
    }
    if (options.file_mode != 0 && (options.file_mode & ~OTHERS_MAY) != OWNER_MAY) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FILE_MODE,
                                     "a file mode of %03o is not 0600 and some of 0066",
                                     options.file_mode);
    }
    return UNSEEN_OK;
}

/* The id of the identity that options ask for. */
static enum unseen_status profile_id(const char *profile, char *id,
                                     const struct unseen_allocator *allocator,
                                     struct unseen_error *error)
{
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .allocator = allocator};
    const enum unseen_status status = unseen_url_create(&url, &options, error);
    if (status == UNSEEN_OK) {
        const size_t len = strlen(unseen_url_id(url));
        memcpy(id, unseen_url_id(url), len < UNSEEN__PROFILE_LEN ? len + 1 : UNSEEN__PROFILE_LEN);
        id[UNSEEN__PROFILE_LEN - 1] = '\0';
        unseen_url_free(url);
    }
    return status;
}

enum unseen_status unseen__header_make(struct unseen__log_header *header_out,
                                       const struct unseen_store_options *options,
                                       const struct unseen_allocator *allocator, const char *path,
                                       struct unseen_error *error)
{
    struct unseen__log_header h = {.key_bits = 64, .fpr = UNSEEN_FPR_DEFAULT, .filter = "compact"};
    uint8_t id[UNSEEN__ID_LEN];
    enum unseen_status status = unseen__log_new_id(id);
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, path);
    }
    if (options->like) {
        h = options->like->log.header;
        h.read_features = 0;
        h.write_features = 0;
    } else {
        status = unseen__secret_make(options->seed, options->seed_len, &h.secret, error);
    }
    memcpy(h.id, id, sizeof(h.id));
    if (status == UNSEEN_OK && (options->profile || !options->like)) {
        status = profile_id(options->profile, h.profile, allocator, error);
    }
    const struct unseen__filter_ops *ops = NULL;
    if (status == UNSEEN_OK) {
        status = unseen__filter_named(options->filter ? options->filter : h.filter, &ops, error);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    memset(h.filter, 0, sizeof(h.filter));
    memcpy(h.filter, ops->name, strlen(ops->name));
    h.fpr = options->fpr > 0 ? options->fpr : h.fpr;
    h.key_bits = options->key_bits ? options->key_bits : h.key_bits;
    h.capacity = options->capacity ? options->capacity : h.capacity;
    if (!options->like && options->key_bits == 0 && ops->key_bits) {
        h.key_bits = ops->key_bits(h.fpr);
    }
    h.read_features |= options->no_log ? UNSEEN__FEATURE_NO_LOG : 0;
    *header_out = h;
    return UNSEEN_OK;
}

#define differs(error, setting, ...)                                                               \
    unseen__error_setting(error, UNSEEN_ERR_MISMATCH, setting, __VA_ARGS__)

/* Of the settings, those that decide whether two stores have the same keys. */
static enum unseen_status check_secret(const struct unseen_store *store,
                                       const struct unseen_store_options *options,
                                       struct unseen_error *error)
{
    const struct unseen__log_header *h = &store->log.header;
    const struct unseen__log_header *like = options->like ? &options->like->log.header : NULL;
    if (options->seed) {
        struct unseen__secret secret;
        const enum unseen_status status =
            unseen__secret_make(options->seed, options->seed_len, &secret, error);
        const bool same = status == UNSEEN_OK && unseen__secret_equals(&secret, &h->secret);
        unseen__secret_forget(&secret);
        if (!same) {
            return status != UNSEEN_OK ? status
                                       : differs(error, UNSEEN_SETTING_SEED,
                                                 "%s was made with another seed", store->log.path);
        }
    }
    if (like && (!unseen__secret_equals(&like->secret, &h->secret) ||
                 like->key_bits != h->key_bits || strcmp(like->profile, h->profile) != 0)) {
        return differs(error, UNSEEN_SETTING_SEED,
                       "%s exists and is not made like %s: seed, profile or key bits differ",
                       store->log.path, options->like->log.path);
    }
    return UNSEEN_OK;
}

/* An existing store has its own settings: whoever asks for others is told. */
static enum unseen_status check_settings(const struct unseen_store *store,
                                         const struct unseen_store_options *options,
                                         struct unseen_error *error)
{
    const struct unseen__log_header *h = &store->log.header;
    const char *path = store->log.path;
    char id[UNSEEN__PROFILE_LEN] = "";
    if (options->profile) {
        const enum unseen_status status =
            profile_id(options->profile, id, &store->allocator, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (strcmp(id, h->profile) != 0) {
            return differs(error, UNSEEN_SETTING_PROFILE, "%s has the profile %s, not %s", path,
                           h->profile, id);
        }
    }
    if (options->filter && strcmp(options->filter, h->filter) != 0) {
        return differs(error, UNSEEN_SETTING_FILTER, "%s has the filter %s, not %s", path,
                       h->filter, options->filter);
    }
    if (options->fpr > 0 && (options->fpr < h->fpr || options->fpr > h->fpr)) {
        return differs(error, UNSEEN_SETTING_FPR, "%s was made for the rate %g, not %g", path,
                       h->fpr, options->fpr);
    }
    if (options->key_bits && options->key_bits != h->key_bits) {
        return differs(error, UNSEEN_SETTING_KEY_BITS, "%s has keys of %u bits, not %u", path,
                       h->key_bits, options->key_bits);
    }
    const enum unseen_status status = check_secret(store, options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (options->no_log && !(h->read_features & UNSEEN__FEATURE_NO_LOG)) {
        return differs(error, UNSEEN_SETTING_NO_LOG, "%s has a log", path);
    }
    struct stat st;
    if (options->file_mode && fstat(store->log.fd, &st) != 0) {
        return unseen__error_io(error, "read", path, errno);
    }
    if (options->file_mode && (st.st_mode & 0777) != options->file_mode) {
        return differs(error, UNSEEN_SETTING_FILE_MODE, "%s has the mode %03o, not %03o", path,
                       st.st_mode & 0777u, options->file_mode);
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__store_url_make(struct unseen_store *store, struct unseen_error *error)
{
    const char *id = store->log.header.profile;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = id, .cpu = store->cpu, .allocator = &store->allocator};
    if (strcmp(id, NO_PROFILE) == 0) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = unseen_url_create(&store->url, &options, error);
    return status == UNSEEN_ERR_NAME || status == UNSEEN_ERR_ARGUMENT ||
                   status == UNSEEN_ERR_VERSION
               ? unseen__error_setting(
                     error, UNSEEN_ERR_VERSION, UNSEEN_SETTING_PROFILE,
                     "%s has the profile %s, which this version of unseen does not know",
                     store->log.path, id)
               : status;
}

/* ---- opening ---- */

/* The most keys that a log of this length can have. */
static uint64_t keys_in(const struct unseen_store *store, uint64_t len)
{
    return len > UNSEEN__RECORDS_OFFSET
               ? (len - UNSEEN__RECORDS_OFFSET) / unseen__key_bytes(store->log.header.key_bits)
               : 0;
}

/* A set for the keys of a log of len bytes, of which the disk has ndisk: a file may be longer than
 * what it takes of the disk, and must not take memory for that. */
static enum unseen_status make_set(struct unseen_store *store, uint64_t len, uint64_t ndisk,
                                   struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    const uint64_t nkeys = keys_in(store, len < ndisk ? len : ndisk);
    const uint64_t nkeys_max = keys_in(store, len);
    struct unseen_set_options options = {
        .size = sizeof(options),
        .fpr = header->fpr,
        .capacity = header->capacity > nkeys ? header->capacity : nkeys,
        .filter = header->filter,
        .key_bits = header->key_bits,
        .url = store->url,
        .cpu = store->cpu,
        .allocator = &store->allocator,
    };
    const struct unseen__filter_ops *ops = unseen__filter_find(header->filter);
    const bool grows = ops && (ops->abilities & UNSEEN_CAN_GROW);
    if (!grows) {
        const bool is_roomy = header->capacity > nkeys_max + READ_SLACK;
        options.capacity =
            is_roomy && !store->log.writable ? nkeys_max + READ_SLACK : header->capacity;
    } else if (!store->log.writable) {
        options.capacity = nkeys; /* nothing will be added */
    }
    enum unseen_status status =
        unseen__set_create(&store->set, &options, &header->secret, NULL, error);
    if (status == UNSEEN_ERR_NOMEM && options.capacity > header->capacity) {
        options.capacity = header->capacity; /* the log may be shorter than it looks */
        status = unseen__set_create(&store->set, &options, &header->secret, NULL, error);
    }
    return status;
}

/* Settings that make no set must not make a file. */
static enum unseen_status try_settings(struct unseen_store *store,
                                       const struct unseen__log_header *header, const char *path,
                                       struct unseen_error *error)
{
    store->log.header = *header;
    store->log.writable = true;
    const enum unseen_status status = make_set(store, 0, 0, error);
    if (status == UNSEEN_OK && (header->read_features & UNSEEN__FEATURE_NO_LOG) &&
        !(store->set->ops->abilities & UNSEEN_CAN_REMOVE)) {
        /* What was not committed could not be taken out of the image. */
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
                                     "%s: without a log, the filter must be one that can remove",
                                     path);
    }
    unseen_set_free(store->set);
    store->set = NULL;
    return unseen__error_prefix(error, status, path);
}

static enum unseen_status open_log(struct unseen_store *store, const char *path,
                                   const struct unseen_store_options *options,
                                   struct unseen_error *error)
{
    const bool writable = options->mode != UNSEEN_STORE_READ;
    struct unseen__log_header header;
    for (int tries = 0; tries < 3; tries++) {
        enum unseen_status status =
            unseen__log_open(&store->log, path, writable, &store->allocator, error);
        if (status == UNSEEN_OK) {
            status = unseen__check_length(&store->log, error);
            return status == UNSEEN_OK ? check_settings(store, options, error) : status;
        }
        if (status != UNSEEN_ERR_MISSING || options->mode != UNSEEN_STORE_CREATE) {
            return status;
        }
        bool exists = false;
        status = unseen__header_make(&header, options, &store->allocator, path, error);
        if (status == UNSEEN_OK) {
            status = try_settings(store, &header, path, error);
        }
        if (status == UNSEEN_OK) {
            status = unseen__log_create(&store->log, path, &header,
                                        options->file_mode ? options->file_mode : OWNER_MAY,
                                        &store->allocator, &exists, error);
        }
        if (status != UNSEEN_OK || !exists) {
            return status;
        }
    }
    /* A name that is there but leads nowhere, such as a symbolic link. */
    return unseen__error(error, UNSEEN_ERR_MISSING, UNSEEN__NO_OFFSET,
                         "cannot open %s: it leads to no file", path);
}

/* Takes the set and the place in the log from the image. False if that is not possible, and the log
 * must do; *status_out says what stands in the way even of that. */
static bool use_image(struct unseen_store *store, enum unseen_status *status_out,
                      struct unseen_error *error)
{
    struct unseen__image image;
    struct unseen_error trouble = {.status = UNSEEN_OK};
    bool log_is_damaged = false;
    enum unseen_status status =
        unseen__image_find(store, &image, &store->output, &log_is_damaged, &trouble);
    if (status == UNSEEN_OK) {
        const struct unseen__image_header header = image.header;
        status = unseen__image_load(store, &image, &store->set, &trouble);
        store->info.image_bytes = image.size;
        unseen__image_release(&image);
        if (status == UNSEEN_OK) {
            store->info.image_covers = header.log_end;
            store->nchanges = header.nchanges;
            store->nkept = header.nchanges;
            store->log.end = header.log_end;
            store->log.last_offset = header.last_offset;
            store->log.number = header.number;
            store->log.record_checksum = header.record_checksum;
        }
    }
    *status_out = log_is_damaged || status == UNSEEN_ERR_NOMEM ? status : UNSEEN_OK;
    if (*status_out != UNSEEN_OK && error) {
        *error = trouble;
    }
    store->info.image_damaged =
        status != UNSEEN_OK && status != UNSEEN_ERR_MISSING && status != UNSEEN_ERR_VERSION;
    if (status != UNSEEN_OK) {
        store->output = (struct unseen__output){0};
    }
    return status == UNSEEN_OK;
}

static enum unseen_status load(struct unseen_store *store, struct unseen_error *error)
{
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    enum unseen_status status = UNSEEN_OK;
    struct stat st;
    if (fstat(store->log.fd, &st) != 0) {
        return unseen__error_io(error, "read", store->log.path, errno);
    }
    if (!use_image(store, &status, error)) {
        if (status == UNSEEN_OK && no_log && st.st_size > UNSEEN__RECORDS_OFFSET) {
            status =
                unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                              "%s has no log, and its image is damaged or gone", store->log.path);
        }
        if (status == UNSEEN_OK) {
            status = make_set(store, (uint64_t)st.st_size, (uint64_t)st.st_blocks * 512, error);
            status = unseen__error_prefix(error, status, store->log.path);
        }
    }
    if (status == UNSEEN_OK) {
        status = unseen__replay(store, store->log.end, store->log.number, error);
    }
    return status;
}

/* A writer starts from a log that is durable up to its end, has nothing behind it, and will be found
 * under its name: what a killed writer had written may still be on its way to the disk. */
static enum unseen_status start_writing(struct unseen_store *store, struct unseen_error *error)
{
    const enum unseen_status status = unseen__log_settle(&store->log, error);
    return status == UNSEEN_OK ? unseen__committer_start(&store->committer, &store->log, error)
                               : status;
}

static void release(struct unseen_store *store)
{
    const struct unseen_allocator allocator = store->allocator;
    (void)unseen__committer_stop(&store->committer, NULL); /* an error has been told already */
    unseen__committer_release(&store->committer);
    unseen__log_release(&store->log);
    unseen_set_free(store->set);
    unseen_url_free(store->url);
    unseen__free(&allocator, store, sizeof(*store));
}

enum unseen_status unseen_store_open(struct unseen_store **store_out, const char *path,
                                     const struct unseen_store_options *given,
                                     struct unseen_error *error)
{
    struct unseen_store_options options;
    enum unseen_status status = unseen__store_options(given, &options, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_store *store =
        unseen__alloc_zero(&allocator, sizeof(*store), _Alignof(struct unseen_store));
    if (!store) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    store->allocator = allocator;
    store->cpu = options.cpu;
    store->log.allocator = allocator;
    store->log.fd = -1;
    status = open_log(store, path, &options, error);
    if (status == UNSEEN_OK) {
        status = unseen__store_url_make(store, error);
    }
    if (status == UNSEEN_OK) {
        status = load(store, error);
    }
    if (status == UNSEEN_OK && options.mode != UNSEEN_STORE_READ) {
        status = start_writing(store, error);
    }
    if (status != UNSEEN_OK) {
        release(store);
        return status;
    }
    *store_out = store;
    return UNSEEN_OK;
}

/* ---- asking and changing ---- */

/* Keys of another width would be others after the next opening. One shows it for all. */
static bool is_narrow(const struct unseen_store *store, struct unseen_key key)
{
    struct unseen_key narrow = key;
    unseen__key_narrow(store->log.header.key_bits, &narrow);
    return narrow.lo == key.lo;
}

const struct unseen_set *unseen_store_set(const struct unseen_store *store)
{
    return store->set;
}

const struct unseen_url *unseen_store_url(const struct unseen_store *store)
{
    return store->url;
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
    status = unseen__set_run(store->set, operation, keys, n, verdicts, ndone_out);
    for (size_t i = 0; i < *ndone_out; i++) {
        if (verdicts[i] == change) {
            unseen__committer_note(&store->committer, keys[i], removed);
        }
    }
    return status;
}

static enum unseen_status check_changeable(struct unseen_store *store)
{
    return store->log.writable ? unseen__committer_status(&store->committer) : UNSEEN_ERR_READONLY;
}

/* Of items, or of keys: the other is NULL. */
static enum unseen_status change(struct unseen_store *store, enum unseen__operation operation,
                                 const struct unseen_bytes *items, const struct unseen_key *keys,
                                 size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct unseen_key made[SLICE];
    size_t done = 0;
    enum unseen_status status = check_changeable(store);
    if (status == UNSEEN_OK && keys && n > 0 && !is_narrow(store, keys[0])) {
        status = UNSEEN_ERR_ARGUMENT;
    }
    while (status == UNSEEN_OK && done < n) {
        const size_t slice = n - done < SLICE ? n - done : SLICE;
        size_t ndone = 0;
        if (items) {
            status = unseen_set_keys(store->set, items + done, slice, made, NULL);
        }
        if (status == UNSEEN_OK) {
            status = change_slice(store, operation, items ? made : keys + done, slice,
                                  verdicts + done, &ndone);
        }
        done += ndone;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}

enum unseen_status unseen_store_add(struct unseen_store *store, const struct unseen_bytes *items,
                                    size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__ADD, items, NULL, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_remove(struct unseen_store *store, const struct unseen_bytes *items,
                                       size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__REMOVE, items, NULL, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_add_keys(struct unseen_store *store, const struct unseen_key *keys,
                                         size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__ADD, NULL, keys, n, verdicts, ndone_out);
}

enum unseen_status unseen_store_remove_keys(struct unseen_store *store,
                                            const struct unseen_key *keys, size_t n,
                                            uint8_t *verdicts, size_t *ndone_out)
{
    return change(store, UNSEEN__REMOVE, NULL, keys, n, verdicts, ndone_out);
}

/* ---- committing ---- */

static enum unseen_status not_writable(const struct unseen_store *store, struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_READONLY, UNSEEN__NO_OFFSET,
                         "%s was opened to be read only", store->log.path);
}

static enum unseen_status begin(struct unseen_store *store, uint64_t n, uint64_t output_len,
                                struct unseen_error *error)
{
    const size_t waiting = store->committer.waiting.n;
    const size_t count = n < waiting ? (size_t)n : waiting;
    if (store->committer.output_name && output_len < store->committer.output_len) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, output_len,
                             "%s: an output does not become shorter", store->log.path);
    }
    const enum unseen_status status =
        unseen__committer_begin(&store->committer, count, output_len, error);
    if (status == UNSEEN_OK && count > 0) {
        store->nchanges += count;
        store->is_changed = true;
    }
    return status;
}

enum unseen_status unseen_store_commit_begin(struct unseen_store *store, uint64_t nchanges,
                                             uint64_t output_len, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    if (!store->log.writable) {
        return not_writable(store, error);
    }
    /* Without an output whose length goes with them, changes may be divided. */
    while (!store->committer.output_name && nchanges > UNSEEN__RECORD_KEYS_MAX &&
           store->committer.waiting.n > UNSEEN__RECORD_KEYS_MAX && status == UNSEEN_OK) {
        status = begin(store, UNSEEN__RECORD_KEYS_MAX, output_len, error);
        nchanges -= UNSEEN__RECORD_KEYS_MAX;
    }
    return status == UNSEEN_OK ? begin(store, nchanges, output_len, error) : status;
}

enum unseen_status unseen_store_commit_wait(struct unseen_store *store, struct unseen_error *error)
{
    return store->log.writable ? unseen__committer_wait(&store->committer, error)
                               : not_writable(store, error);
}

enum unseen_status unseen__commit_begin_all(struct unseen_store *store, struct unseen_error *error)
{
    uint64_t len = 0;
    const int code =
        store->committer.output_name ? unseen__file_size(store->committer.output_fd, &len) : 0;
    return code ? unseen__error_io(error, "read", store->committer.output_name, code)
                : unseen_store_commit_begin(store, UINT64_MAX, len, error);
}

enum unseen_status unseen_store_commit(struct unseen_store *store, struct unseen_error *error)
{
    const enum unseen_status status = unseen__commit_begin_all(store, error);
    return status == UNSEEN_OK ? unseen_store_commit_wait(store, error) : status;
}

/* ---- closing ---- */

/* Takes what was not committed out of the set again; false if the set cannot do that. */
static bool undo_waiting(struct unseen_store *store)
{
    struct unseen_key key;
    bool removed = false;
    uint8_t verdict = 0;
    bool done = true;
    while (done && unseen__committer_take_back(&store->committer, &key, &removed)) {
        const enum unseen_status status =
            removed ? unseen_set_add_keys(store->set, &key, 1, &verdict, NULL)
                    : unseen_set_remove_keys(store->set, &key, 1, &verdict, NULL);
        done = status == UNSEEN_OK;
    }
    return done;
}

/* Says in the log that the output was left in order, if it was. */
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
        return UNSEEN_OK; /* more was written than committed: the next run cuts it */
    }
    code = code ? code : unseen__file_sync(c->output_fd);
    code = code ? code : unseen__output_checksum(c->output_fd, size, &record.output_checksum);
    if (code != 0) {
        return unseen__error_io(error, "write", c->output_name, code);
    }
    const enum unseen_status status =
        unseen__log_append(&store->log, record, NULL, NULL, true, error);
    if (status == UNSEEN_OK) {
        unseen__output_follow(&store->output, &record, NULL);
    }
    return status;
}

static bool image_is_worthwhile(const struct unseen_store *store)
{
    const uint64_t nmore = store->nchanges - store->nkept;
    return nmore > IMAGE_AFTER && nmore > store->nkept / IMAGE_SHARE;
}

/* The image is the store: it comes first, then the mark that there must be one. */
static enum unseen_status save_without_log(struct unseen_store *store, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    const struct unseen__record mark = {.kind = UNSEEN__RECORD_CHANGES,
                                        .output_len = UNSEEN__NO_OUTPUT};
    if (store->is_changed) {
        status = unseen__image_save(store, error);
    }
    if (status == UNSEEN_OK && store->is_changed && store->log.number == 0) {
        status = unseen__log_append(&store->log, mark, NULL, NULL, true, error);
    }
    return status;
}

/* Not that of the keys: they are in the log. */
static enum unseen_status image_failed(struct unseen_error *error)
{
    if (error) {
        error->status = UNSEEN_ERR_IMAGE;
    }
    return UNSEEN_ERR_IMAGE;
}

static enum unseen_status finish(struct unseen_store *store, struct unseen_error *error)
{
    const bool all_committed = store->committer.waiting.n == 0;
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    enum unseen_status status = unseen__committer_stop(&store->committer, error);
    if (status == UNSEEN_OK) {
        status = close_output(store, all_committed, error);
    }
    if (status != UNSEEN_OK || !undo_waiting(store)) {
        return status;
    }
    if (!unseen__log_has_name(&store->log)) {
        return UNSEEN_OK; /* it was moved away: the image beside the name is not ours */
    }
    if (no_log) {
        return save_without_log(store, error);
    }
    status = image_is_worthwhile(store) ? unseen__image_save(store, error) : UNSEEN_OK;
    return status == UNSEEN_OK ? UNSEEN_OK : image_failed(error);
}

enum unseen_status unseen_store_close(struct unseen_store *store, struct unseen_error *error)
{
    if (!store) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = store->log.writable ? finish(store, error) : UNSEEN_OK;
    release(store);
    return status;
}

/* ---- numbers ---- */

enum unseen_status unseen_store_info(struct unseen_store *store, struct unseen_store_info *info_out)
{
    struct unseen_store_info info = store->info;
    const struct unseen__log_header *header = &store->log.header;
    info.log_bytes =
        store->committer.is_running ? unseen__committer_log_end(&store->committer) : store->log.end;
    info.header_damaged = store->log.header_damaged;
    info.no_log = header->read_features & UNSEEN__FEATURE_NO_LOG;
    info.key_bits = header->key_bits;
    info.fpr = header->fpr;
    info.seed_id = unseen__secret_id(&header->secret);
    memcpy(info.id, header->id, sizeof(info.id));
    return unseen__sized_give(info_out, &info, sizeof(info));
}
