/* SPDX-License-Identifier: MIT
 *
 * Opening a store. A new store is made as an empty set first, then as a file. An existing store
 * takes its set from the image and reads the rest of the log; without a usable image it reads all
 * of the log. */
#include "store/store.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/filename.h"
#include "base/memory.h"
#include "set/set.h"

enum {
    /* A filter that cannot grow and is only read has room for the keys of the log and so many more.
     * refresh.c makes a larger one when these have come. */
    READ_SLACK = 1 << 20,

    TRIES = 3 /* to open a store that others create, change or replace */
};

/* ---- the set ---- */

/* The most keys that a log of this length can have. */
static uint64_t keys_in(const struct unseen_store *store, uint64_t len)
{
    const uint64_t head = store->log.header.head.offset;
    return len > head ? (len - head) / unseen__key_bytes(store->log.header.key_bits) : 0;
}

/* The capacity of a set for the keys of a log. nkeys is how many keys the log can have on the disk,
 * nkeys_max how many its length allows. *room_out is how many changes the set can take. */
static uint64_t capacity_for(const struct unseen_store *store, uint64_t nkeys, uint64_t nkeys_max,
                             bool is_written, uint64_t *room_out)
{
    *room_out = UINT64_MAX;
    const uint64_t asked = store->log.header.capacity;
    const struct unseen__filter_ops *ops = unseen__filter_find(store->log.header.filter, false);
    const bool grows = ops && (ops->abilities & UNSEEN_CAN_GROW);
    if (grows) {
        return is_written && asked > nkeys ? asked : nkeys; /* a set to read grows with the log */
    }
    const uint64_t enough = nkeys_max + READ_SLACK + (store->follows ? nkeys_max : 0);
    if (is_written || asked <= enough) {
        return asked;
    }
    *room_out = enough;
    return enough;
}

/* Makes a set that makes keys, and answers nothing. */
static enum unseen_status make_no_set(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .fpr = UNSEEN_FPR_DEFAULT,
                                               .key_bits = header->key_bits,
                                               .cpu = store->cpu,
                                               .allocator = &store->allocator};
    struct unseen_set *set = NULL;
    const enum unseen_status status =
        unseen__set_create(&set, &options, store->url, &header->secret, NULL, error);
    if (set) {
        set->fetches = true;
        set->is_lost = true;
        store->set = set;
    }
    return status;
}

enum unseen_status unseen__store_set_make(struct unseen_store *store, uint64_t len, uint64_t ndisk,
                                          bool is_written, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    if (store->keys_only) {
        return make_no_set(store, error);
    }
    struct unseen_set_options options = unseen__header_set_options(header);
    options.capacity = capacity_for(store, keys_in(store, len < ndisk ? len : ndisk),
                                    keys_in(store, len), is_written, &store->room);
    const bool in_parts = store->sweep.in_parts || store->sweep.replayed.bits > 0;
    if (in_parts && options.capacity > unseen__sweep_capacity(store)) {
        options.capacity = unseen__sweep_capacity(store);
    }
    options.cpu = store->cpu;
    options.allocator = &store->allocator;
    enum unseen_status status =
        unseen__set_create(&store->set, &options, store->url, &header->secret, NULL, error);
    if (status == UNSEEN_ERR_NOMEM && options.capacity > header->capacity) {
        options.capacity = header->capacity; /* the log may be shorter than it looks */
        status =
            unseen__set_create(&store->set, &options, store->url, &header->secret, NULL, error);
    }
    return status;
}

/* ---- the log ---- */

/* Makes the settings, the URL identity and the set of a new store. This comes before the file:
 * settings that make no set must not make a file. */
static enum unseen_status prepare_new(struct unseen_store *store, const char *path,
                                      const struct unseen_store_options *options,
                                      struct unseen_error *error)
{
    store->log.writable = true;
    enum unseen_status status = unseen__store_header_make(store, options, error);
    if (status == UNSEEN_OK) {
        status = unseen__store_set_make(store, 0, 0, true, error);
    }
    if (status == UNSEEN_OK) {
        unseen__header_take_rate(&store->log.header, store->set);
    }
    return unseen__error_prefix(error, status, path);
}

/* *exists_out: another process has made the store meanwhile. */
static enum unseen_status create_log(struct unseen_store *store, const char *path,
                                     const struct unseen_store_options *options, bool *exists_out,
                                     struct unseen_error *error)
{
    const unsigned mode = options->file_mode ? options->file_mode : UNSEEN__STORE_FILE_MODE;
    enum unseen_status status = prepare_new(store, path, options, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__log_header header = store->log.header;
    if (options->mode == UNSEEN_STORE_DRAFT) {
        store->is_draft = true;
        status =
            unseen__log_start_draft(&store->log, path, &header, mode, &store->allocator, error);
    } else {
        status = unseen__log_create(&store->log, path, &header, mode, &store->allocator, exists_out,
                                    error);
    }
    unseen__secret_forget(&header.secret);
    store->info.is_new = status == UNSEEN_OK && !*exists_out;
    if (*exists_out) {
        unseen_set_free(store->set);
        unseen_url_free(store->url);
        store->set = NULL;
        store->url = NULL;
    }
    return status;
}

/* An empty file is in the way. MISSING: try again; FOREIGN: it stays, and *error as it is. */
static enum unseen_status make_room(struct unseen_store *store, const char *path,
                                    struct unseen_error *error)
{
    char *image = unseen__path_with(&store->allocator, path, UNSEEN__IMAGE_SUFFIX);
    if (!image) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    const enum unseen_status status = unseen__log_remove_empty(path, image, error);
    unseen__path_free(&store->allocator, image);
    return status;
}

static enum unseen_status open_log(struct unseen_store *store, const char *path,
                                   const struct unseen_store_options *options,
                                   struct unseen_error *error)
{
    const bool writable = options->mode != UNSEEN_STORE_READ;
    for (int tries = 0; tries < TRIES; tries++) {
        bool exists = false;
        enum unseen_status status =
            unseen__log_open(&store->log, path, writable, &store->allocator, error);
        if (status == UNSEEN_OK) {
            status = unseen__check_length(&store->log, error);
            return status == UNSEEN_OK ? unseen__store_check_settings(store, options, error)
                                       : status;
        }
        const bool creates =
            options->mode == UNSEEN_STORE_CREATE || options->mode == UNSEEN_STORE_DRAFT;
        if (status == UNSEEN_ERR_FOREIGN && store->log.is_empty && creates) {
            status = make_room(store, path, error);
        }
        if (status != UNSEEN_ERR_MISSING || !creates) {
            return status;
        }
        status = create_log(store, path, options, &exists, error);
        if (status != UNSEEN_OK || !exists) {
            return status;
        }
    }
    /* The name exists but leads nowhere: a symbolic link, for example. */
    return unseen__error(error, UNSEEN_ERR_MISSING, UNSEEN__NO_OFFSET,
                         "cannot open %s: it leads to no file", path);
}

/* ---- from the log to the set ---- */

/* What has left is in no set that is made from the log, or in its image. */
static enum unseen_status take_horizon(struct unseen_store *store,
                                       const struct unseen__image_header *header,
                                       struct unseen_error *error)
{
    const uint64_t window = store->log.header.window;
    store->leaving.horizon = window > 0 ? header->horizon : 0;
    store->clock =
        store->leaving.horizon > 0 ? store->leaving.horizon + window + UNSEEN__TIME_STEP : 0;
    return window > 0 && header->nremoved > 0
               ? unseen__leaving_find_notes(store, header->log_end, error)
               : UNSEEN_OK;
}

/* Takes the set from the image, and where the log goes on. MISSING if the log alone must do; any
 * other error means that the log cannot be used either. */
static enum unseen_status use_image(struct unseen_store *store, uint64_t log_bytes,
                                    struct unseen_error *error)
{
    struct unseen__image image;
    struct unseen_set *set = NULL;
    struct unseen_error trouble = {.status = UNSEEN_OK};
    bool log_is_damaged = false;
    enum unseen_status status =
        unseen__image_find(store, &image, &store->output, &log_is_damaged, &trouble);
    if (status == UNSEEN_OK) {
        const struct unseen__image_header header = image.header;
        const uint64_t time = image.log_time;
        store->sweep.in_parts = unseen__sweep_is_due(
            store, header.npages, log_bytes > header.log_end ? log_bytes - header.log_end : 0);
        status = store->keys_only ? unseen__store_set_make(store, 0, 0, false, &trouble)
                                  : unseen__image_load(store, &image, &set, &trouble);
        store->info.image_bytes = image.size;
        unseen__image_release(&image);
        if (status == UNSEEN_OK) {
            if (set) {
                unseen_set_free(store->set);
                store->set = set;
            }
            store->nallowed = header.nallowed;
            store->room = UINT64_MAX; /* it is as large as the writer made it */
            store->info.image_covers = header.log_end;
            store->nchanges = header.nchanges;
            store->image_nchanges = header.nchanges;
            store->log.end = header.log_end;
            store->log.last_offset = header.last_offset;
            store->log.number = header.number;
            store->log.record_checksum = header.record_checksum;
            store->log.time = time;
            return take_horizon(store, &header, error);
        }
    }
    store->info.image_damaged = status != UNSEEN_ERR_MISSING && status != UNSEEN_ERR_VERSION;
    store->output = (struct unseen__output){0};
    if (!log_is_damaged && status != UNSEEN_ERR_NOMEM) {
        return UNSEEN_ERR_MISSING;
    }
    if (error) {
        *error = trouble;
    }
    return status;
}

static enum unseen_status load(struct unseen_store *store, struct unseen_error *error)
{
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    struct stat st;
    if (fstat(store->log.fd, &st) != 0) {
        return unseen__error_io(error, "read", store->log.path, errno);
    }
    enum unseen_status status = use_image(store, (uint64_t)st.st_size, error);
    if (status == UNSEEN_ERR_MISSING) {
        store->sweep.in_parts = unseen__sweep_is_due(store, 0, (uint64_t)st.st_size);
        const struct unseen__log_head *head = &store->log.header.head;
        store->nchanges = head->nchanges;
        status = unseen__output_load(&store->log, head, &store->output, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (no_log && st.st_size > UNSEEN__RECORDS_OFFSET) {
            return unseen__error(error, UNSEEN_ERR_CORRUPT, UNSEEN__NO_OFFSET,
                                 "%s has no log, and its image is damaged or gone",
                                 store->log.path);
        }
        status = store->set ? UNSEEN_OK
                            : unseen__store_set_make(store, (uint64_t)st.st_size,
                                                     (uint64_t)st.st_blocks * 512,
                                                     store->log.writable, error);
        status = unseen__error_prefix(error, status, store->log.path);
    }
    status =
        status == UNSEEN_OK ? unseen__sweep_prepare(store, (uint64_t)st.st_size, error) : status;
    if (status == UNSEEN_OK) {
        status = unseen__replay(store, store->log.end, store->log.number, UINT64_MAX, error);
    }
    return status == UNSEEN_OK ? unseen__sweep_replayed(store, error) : status;
}

/* Makes a copy of the log, to write to. Without a log, nothing is on the disk before the store is
 * closed. */
static enum unseen_status start_draft(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__output *output = &store->output;
    struct unseen__log copy;
    enum unseen_status status = UNSEEN_OK;
    if (store->is_draft || store->log.header.read_features & UNSEEN__FEATURE_NO_LOG) {
        store->is_draft = true;
        return UNSEEN_OK;
    }
    status = unseen__log_copy(&copy, &store->log, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const uint64_t old_id = unseen__file_id(store->log.fd);
    store->old = store->log;
    store->log = copy;
    store->is_draft = true;
    if (output->name_offset != 0 && !output->closed && output->log_id == old_id) {
        output->log_id = unseen__file_id(store->log.fd); /* as in a rewrite */
        status = unseen__output_append(output, &store->log, false, error);
    }
    return status;
}

/* Makes the log durable before the first append: what a killed writer wrote may still be on its way
 * to the disk. */
static enum unseen_status start_writing(struct unseen_store *store,
                                        const struct unseen_store_options *options,
                                        struct unseen_error *error)
{
    enum unseen_status status =
        store->is_draft ? UNSEEN_OK : unseen__log_settle(&store->log, error);
    if (status == UNSEEN_OK && options->mode == UNSEEN_STORE_DRAFT) {
        status = start_draft(store, error);
    }
    return status == UNSEEN_OK
               ? unseen__committer_start(&store->committer, &store->log, options->notify_fd, error)
               : status;
}

void unseen__store_release(struct unseen_store *store)
{
    const struct unseen_allocator allocator = store->allocator;
    (void)unseen__committer_stop(&store->committer, NULL); /* its error was reported before */
    unseen__committer_release(&store->committer);
    unseen__leaving_release(store);
    unseen__sweep_release(store);
    unseen__log_release(&store->log);
    unseen__log_release(&store->old);
    unseen__store_forget_members(store);
    unseen_set_free(store->set);
    unseen_url_free(store->url);
    unseen__free(&allocator, store, sizeof(*store));
}

/* *has_changed_out: somebody has changed or replaced the log while it was read. */
static enum unseen_status open_store(struct unseen_store **store_out, const char *path,
                                     const struct unseen_store_options *options, bool follows,
                                     bool *has_changed_out, struct unseen_error *error)
{
    struct unseen__file_stamp file = {0};
    *has_changed_out = false;
    const struct unseen_allocator allocator = unseen__allocator(options->allocator);
    struct unseen_store *store =
        unseen__alloc_zero(&allocator, sizeof(*store), _Alignof(struct unseen_store));
    if (!store) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    store->allocator = allocator;
    store->cpu = options->cpu;
    store->follows = follows;
    store->log.allocator = allocator;
    store->log.fd = -1;
    store->old.allocator = allocator;
    store->old.fd = -1;
    enum unseen_status status = open_log(store, path, options, error);
    if (status == UNSEEN_OK) {
        status = unseen__store_url_make(store, error);
    }
    if (status == UNSEEN_OK) {
        store->keys_only = options->keys_only && options->mode == UNSEEN_STORE_READ &&
                           store->log.header.window == 0;
        store->sweep.memory = store->keys_only ? 0 : options->memory;
        (void)unseen__file_stamp(store->log.fd, &file); /* without it the log counts as changed */
        status = load(store, error);
    }
    if (status == UNSEEN_OK && options->mode != UNSEEN_STORE_READ) {
        status = start_writing(store, options, error);
    }
    if (status != UNSEEN_OK) {
        *has_changed_out = store->log.fd >= 0 && unseen__log_has_changed(&store->log, &file);
        unseen__store_release(store);
        return status;
    }
    *store_out = store;
    return UNSEEN_OK;
}

/* A reader takes no lock. If a merge replaces the log while it is read, the image is that of the
 * new log, and the old one looks damaged; so does a log from which a writer cuts off what a killed
 * one has left, and goes on there. Then the store is opened again. */
static enum unseen_status open_latest(struct unseen_store **store_out, const char *path,
                                      const struct unseen_store_options *options, bool follows,
                                      struct unseen_error *error)
{
    bool has_changed = false;
    enum unseen_status status;
    int tries = 0;
    do {
        status = open_store(store_out, path, options, follows, &has_changed, error);
    } while (status == UNSEEN_ERR_CORRUPT && has_changed && ++tries < TRIES);
    return status;
}

enum unseen_status unseen_store_open(struct unseen_store **store_out, const char *path,
                                     const struct unseen_store_options *given,
                                     struct unseen_error *error)
{
    struct unseen_store_options options;
    const enum unseen_status status = unseen__store_options(given, &options, error);
    return status == UNSEEN_OK ? open_latest(store_out, path, &options, false, error)
                               : unseen__error_prefix(error, status, path);
}

enum unseen_status unseen__store_open_to_follow(struct unseen_store **store_out,
                                                const struct unseen_store *old,
                                                struct unseen_error *error)
{
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_READ,
                                                 .cpu = old->cpu,
                                                 .memory = old->sweep.memory,
                                                 .keys_only = old->keys_only,
                                                 .allocator = &old->allocator};
    return open_latest(store_out, old->log.file, &options, true, error);
}
