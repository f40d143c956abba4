/* SPDX-License-Identifier: MIT
 *
 * From the image file to the set and back. The image is an exported set; its header says which
 * records of the log it covers, so that a replay goes on behind them. */
#include <string.h>

#include "base/error.h"
#include "filter/filter.h"
#include "set/set.h"
#include "store/store.h"

/* ---- finding ---- */

/* Reads the record at `offset`; *found_out is false if there is no intact record. */
static enum unseen_status read_at(const struct unseen_store *store, uint64_t offset,
                                  struct unseen__scan *scan, bool *found_out,
                                  struct unseen_error *error)
{
    enum unseen__scan_state state = UNSEEN__SCAN_END;
    enum unseen_status status = unseen__scan_init(scan, &store->log, offset, 0, error);
    if (status == UNSEEN_OK) {
        scan->skipped = true; /* accept any number */
        status = unseen__scan_next(scan, &state, error);
    }
    *found_out = status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD;
    return status;
}

/* Checks that the log has the record that the image names as the last one it covers. */
static enum unseen_status check_last(const struct unseen_store *store,
                                     const struct unseen__image_header *header, bool *agrees_out,
                                     struct unseen_error *error)
{
    struct unseen__scan scan;
    if (header->log_end == UNSEEN__RECORDS_OFFSET) {
        *agrees_out = header->last_offset == 0 && header->number == 0 &&
                      header->output_offset == 0 && header->record_checksum == 0;
        return UNSEEN_OK;
    }
    const enum unseen_status status = read_at(store, header->last_offset, &scan, agrees_out, error);
    *agrees_out = *agrees_out && header->last_offset >= UNSEEN__RECORDS_OFFSET &&
                  scan.offset == header->log_end && scan.number == header->number &&
                  scan.record_checksum == header->record_checksum;
    unseen__scan_release(&scan);
    return status;
}

/* Makes *output_out what the image says. The name of the output is in the log. */
static enum unseen_status read_output(const struct unseen_store *store,
                                      const struct unseen__image_header *header,
                                      struct unseen__output *output_out, bool *agrees_out,
                                      struct unseen_error *error)
{
    struct unseen__scan scan;
    if (header->output_offset == 0) {
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        read_at(store, header->output_offset, &scan, agrees_out, error);
    *agrees_out = *agrees_out && scan.record.kind == UNSEEN__RECORD_OUTPUT;
    if (*agrees_out) {
        unseen__output_follow(output_out, &scan.record, scan.payload);
        output_out->len = header->output_len;
        output_out->checksum = header->output_checksum;
        output_out->closed = header->output_closed;
    }
    unseen__scan_release(&scan);
    return status;
}

/* Checks that the image was made from this log. */
static enum unseen_status check_log(const struct unseen_store *store,
                                    const struct unseen__image_header *header,
                                    struct unseen__output *output_out, bool *log_is_damaged_out,
                                    struct unseen_error *error)
{
    bool agrees = false;
    enum unseen_status status = check_last(store, header, &agrees, error);
    if (status == UNSEEN_OK && agrees) {
        status = read_output(store, header, output_out, &agrees, error);
    }
    *log_is_damaged_out = status != UNSEEN_OK || !agrees;
    return status != UNSEEN_OK || agrees
               ? status
               : unseen__error(error, UNSEEN_ERR_CORRUPT, header->last_offset,
                               "%s is damaged: its image was made when it ended otherwise",
                               store->log.path);
}

/* The features that the image of this store must have. Without a log the image is all there is, and
 * is used in any case. */
static uint32_t wanted_features(const struct unseen_store *store)
{
    const struct unseen__filter_ops *ops = unseen__filter_find(store->log.header.filter);
    const bool no_log = store->log.header.read_features & UNSEEN__FEATURE_NO_LOG;
    return ops && ops->add_absent && !no_log ? UNSEEN__IMAGE_COUNTS_ONCE : 0;
}

enum unseen_status unseen__image_find(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen__output *output_out, bool *log_is_damaged_out,
                                      struct unseen_error *error)
{
    *log_is_damaged_out = false;
    enum unseen_status status = unseen__image_open(image, &store->log, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (memcmp(image->header.id, store->log.header.id, UNSEEN__ID_LEN) != 0) {
        status = UNSEEN_ERR_MISSING; /* it belongs to a log that was here before */
    } else if (image->header.read_features != wanted_features(store)) {
        status = UNSEEN_ERR_MISSING; /* it counts repeats, which the log does not have */
    } else {
        status = check_log(store, &image->header, output_out, log_is_damaged_out, error);
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
        const uint64_t offset = image->offset;
        enum unseen_status status = unseen__image_next(image, &chunk, &len, error);
        if (status != UNSEEN_OK || len == 0) {
            return status;
        }
        status = unseen_import_chunk(import, chunk, len);
        if (status != UNSEEN_OK) {
            return unseen__error(error, status, offset, "%s, byte %llu: %s", image->path,
                                 (unsigned long long)offset, unseen_status_string(status));
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
    enum unseen_status status = unseen_import_create(&import, &options, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, image->path);
    }
    unseen__import_limit(import, image->size);
    status = import_chunks(import, image, error);
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    status = unseen_import_finish(import, &set);
    if (status == UNSEEN_OK &&
        (!unseen__secret_equals(&set->hasher.secret, &header->secret) ||
         set->key_bits != header->key_bits || strcmp(set->ops->name, header->filter) != 0)) {
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
        .read_features = wanted_features(store),
        .log_end = no_log ? UNSEEN__RECORDS_OFFSET : log->end,
        .last_offset = no_log ? 0 : log->last_offset,
        .number = no_log ? 0 : log->number,
        .nchanges = store->nchanges,
        .record_checksum = no_log ? 0 : log->record_checksum,
        .output_offset = no_log ? 0 : store->output.name_offset,
        .output_len = store->output.len,
        .output_checksum = store->output.checksum,
        .output_closed = store->output.closed,
    };
    struct export e = {.set = store->set};
    memcpy(header.id, log->header.id, UNSEEN__ID_LEN);
    return unseen__image_write(log, header, next_chunk, &e, error);
}
