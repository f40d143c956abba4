/* SPDX-License-Identifier: MIT
 *
 * Between the set and the image file: an exported set, and where in the log it stands. */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/set.h"
#include "engine/store.h"

/* ---- finding ---- */

/* Whether the log is the one that the image was made from, up to the place it covers. */
static enum unseen_status check_place(const struct unseen_store *store,
                                      const struct unseen__image_header *header,
                                      bool *log_is_short_out, struct unseen_error *error)
{
    const struct unseen__log *log = &store->log;
    uint64_t size = 0;
    uint8_t bytes[8] = {0};
    size_t got = 0;
    int code = unseen__file_size(log->fd, &size);
    const bool at_start = header->place == UNSEEN__RECORDS_PLACE;
    if (code == 0 && !at_start && header->place <= size && header->place >= 8) {
        code = unseen__file_read(log->fd, header->place - 8, bytes, sizeof(bytes), &got);
    }
    if (code != 0) {
        return unseen__error_io(error, "read", log->path, code);
    }
    if (header->place > size || (!at_start && load_le64(bytes) != header->record_sum)) {
        *log_is_short_out = true;
        return unseen__error(error, UNSEEN_ERR_CORRUPT, size < header->place ? size : header->place,
                             "%s is damaged: its image knows more of it than there is", log->path);
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__image_find(const struct unseen_store *store, struct unseen__image *image,
                                      bool *log_is_short_out, struct unseen_error *error)
{
    *log_is_short_out = false;
    enum unseen_status status =
        unseen__image_open(image, store->log.path, &store->allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (memcmp(image->header.id, store->log.header.id, UNSEEN__ID_LEN) != 0) {
        status = UNSEEN_ERR_MISSING; /* of a log that was here before: as good as none */
    } else {
        status = check_place(store, &image->header, log_is_short_out, error);
    }
    if (status != UNSEEN_OK) {
        unseen__image_release(image);
    }
    return status;
}

/* ---- loading ---- */

static enum unseen_status import_chunks(struct unseen_import *import, struct unseen__image *image,
                                        struct unseen_error *error)
{
    for (;;) {
        const uint8_t *chunk = NULL;
        size_t len = 0;
        const uint64_t place = image->place;
        enum unseen_status status = unseen__image_next(image, &chunk, &len, error);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        status = unseen_import_chunk(import, chunk, len);
        if (status != UNSEEN_OK) {
            return unseen__error(error, status, place, "%s, byte %llu: %s", image->path,
                                 (unsigned long long)place, unseen_status_string(status));
        }
    }
}

enum unseen_status unseen__image_load(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen_set **set_out, struct unseen_error *error)
{
    const struct unseen__log_header *header = &store->log.header;
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .url = store->url,
        .cpu = store->cpu,
        .allocator = &store->allocator,
    };
    struct unseen_import *import = NULL;
    struct unseen_set *set = NULL;
    enum unseen_status status = unseen_import_create(&import, &options);
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, image->path);
    }
    status = import_chunks(import, image, error);
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    status = unseen_import_finish(import, &set);
    if (status == UNSEEN_OK && (set->seed != header->seed || set->key_bits != header->key_bits ||
                                strcmp(set->ops->name, header->filter) != 0)) {
        unseen_set_free(set);
        status = UNSEEN_ERR_CORRUPT;
    }
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, image->path);
    }
    *set_out = set;
    return UNSEEN_OK;
}

/* ---- saving ---- */

struct export
{
    const struct unseen_set *set;
    uint64_t cursor;
};

static enum unseen_status next_chunk(void *context, void *buf, size_t cap, size_t *len_out)
{
    struct export *e = context;
    return unseen_set_export(e->set, &e->cursor, buf, cap, len_out);
}

enum unseen_status unseen__image_save(struct unseen_store *store, struct unseen_error *error)
{
    const struct unseen__log *log = &store->log;
    const bool no_log = log->header.read_features & UNSEEN__FEATURE_NO_LOG;
    struct unseen__image_header header = {
        .place = no_log ? UNSEEN__RECORDS_PLACE : log->end,
        .number = no_log ? 0 : log->number,
        .nchanges = store->nchanges,
        .record_sum = no_log ? 0 : log->record_sum,
        .output_place = store->output.place,
        .output_len = store->output.len,
        .output_sum = store->output.sum,
        .output_closed = store->output.closed,
    };
    struct export e = {.set = store->set};
    memcpy(header.id, log->header.id, UNSEEN__ID_LEN);
    return unseen__image_write(log->path, header, next_chunk, &e, &store->allocator, error);
}
