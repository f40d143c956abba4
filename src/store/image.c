/* SPDX-License-Identifier: MIT
 *
 * Loads the set of a store from the image file, and saves the set there. The image is an exported
 * set; its header says which records of the log it covers, so that a replay goes on behind them. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "set/set.h"
#include "store/store.h"

/* The image of a smaller set has no table. It is read at once, which takes a few milliseconds and
 * finds all damage while the log can still take its place. */
#define TABLE_FROM ((uint64_t)8 << 20)

/* ---- finding ---- */

/* Reads the record at `offset`; *found_out is false if there is no intact record. */
static enum unseen_status read_at(const struct unseen__log *log, uint64_t offset,
                                  struct unseen__scan *scan, bool *found_out,
                                  struct unseen_error *error)
{
    enum unseen__scan_state state = UNSEEN__SCAN_END;
    enum unseen_status status = unseen__scan_init(scan, log, offset, 0, error);
    if (status == UNSEEN_OK) {
        scan->skipped = true; /* accept any number */
        status = unseen__scan_next(scan, &state, error);
    }
    *found_out = status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD;
    return status;
}

/* Checks that the log has the record that the image names as the last one it covers. */
static enum unseen_status image_check_last(const struct unseen_store *store,
                                           struct unseen__image *image, bool *agrees_out,
                                           struct unseen_error *error)
{
    const struct unseen__image_header *header = &image->header;
    struct unseen__scan scan;
    image->log_time = 0;
    if (header->log_end == UNSEEN__RECORDS_OFFSET) {
        *agrees_out = header->last_offset == 0 && header->number == 0 &&
                      header->output_offset == 0 && header->record_checksum == 0;
        return UNSEEN_OK;
    }
    const enum unseen_status status =
        read_at(&store->log, header->last_offset, &scan, agrees_out, error);
    *agrees_out = *agrees_out && header->last_offset >= UNSEEN__RECORDS_OFFSET &&
                  scan.offset == header->log_end && scan.number == header->number &&
                  scan.record_checksum == header->record_checksum;
    image->log_time = scan.time;
    unseen__scan_release(&scan);
    return status;
}

/* The name of the output is in the log. */
static enum unseen_status read_output(const struct unseen__log *log,
                                      const struct unseen__log_head *place,
                                      struct unseen__output *output_out, bool *agrees_out,
                                      struct unseen_error *error)
{
    struct unseen__scan scan;
    output_out->note = place->note;
    if (place->output_offset == 0) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = read_at(log, place->output_offset, &scan, agrees_out, error);
    *agrees_out = *agrees_out && scan.record.kind == UNSEEN__RECORD_OUTPUT;
    if (*agrees_out) {
        unseen__output_follow(output_out, &scan.record, scan.payload);
        output_out->len = place->output_len;
        output_out->checksum = place->output_checksum;
        output_out->closed = place->output_closed;
    }
    unseen__scan_release(&scan);
    return status;
}

enum unseen_status unseen__output_load(const struct unseen__log *log,
                                       const struct unseen__log_head *head,
                                       struct unseen__output *output, struct unseen_error *error)
{
    bool agrees = true;
    *output = (struct unseen__output){0};
    const enum unseen_status status = read_output(log, head, output, &agrees, error);
    return status != UNSEEN_OK || agrees
               ? status
               : unseen__damaged(error, log, head->output_offset, head->offset);
}

/* What the image says about the output. */
static struct unseen__log_head place_of(const struct unseen__image_header *header)
{
    return (struct unseen__log_head){.output_offset = header->output_offset,
                                     .output_len = header->output_len,
                                     .output_checksum = header->output_checksum,
                                     .output_closed = header->output_closed,
                                     .note = header->note};
}

/* Checks that the image was made from this log. */
static enum unseen_status image_check_log(const struct unseen_store *store,
                                          struct unseen__image *image,
                                          struct unseen__output *output_out,
                                          bool *log_is_damaged_out, struct unseen_error *error)
{
    const struct unseen__image_header *header = &image->header;
    bool agrees = false;
    enum unseen_status status = image_check_last(store, image, &agrees, error);
    if (status == UNSEEN_OK && agrees) {
        const struct unseen__log_head place = place_of(header);
        status = read_output(&store->log, &place, output_out, &agrees, error);
    }
    *log_is_damaged_out = status != UNSEEN_OK || !agrees;
    return status != UNSEEN_OK || agrees
               ? status
               : unseen__error(error, UNSEEN_ERR_CORRUPT, header->last_offset,
                               "%s is damaged: its image was made when it ended otherwise",
                               store->log.path);
}

/* Whether the log has given away what the image goes on with. */
static bool is_before_head(const struct unseen__image_header *header,
                           const struct unseen__log_header *log)
{
    return log->head.offset > UNSEEN__RECORDS_OFFSET &&
           (header->log_end <= log->head.offset || header->horizon < log->head.time);
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
    const struct unseen__log_header *log = &store->log.header;
    if (memcmp(image->header.id, log->id, UNSEEN__ID_LEN) != 0 ||
        is_before_head(&image->header, log)) {
        /* it belongs to a log that was here before */
        status = unseen__error_status(error, UNSEEN_ERR_MISSING, image->path);
    } else {
        status = image_check_log(store, image, output_out, log_is_damaged_out, error);
    }
    if (status != UNSEEN_OK) {
        unseen__image_release(image);
    }
    return status;
}

/* ---- loading ---- */

/* The image that a set reads its pages from. */
struct source {
    struct unseen_allocator allocator;
    struct unseen__image image;
    uint64_t end; /* of what was read last */
    bool is_random;
    bool belongs_to_set;
};

/* For a page somewhere in the file the kernel would read 32 KB or more ahead. */
static enum unseen_status read_source(void *context, uint64_t offset, uint8_t *buf, size_t len)
{
    struct source *source = context;
    const uint64_t at = UNSEEN__IMAGE_HEADER_LEN + offset;
    const bool is_random = at != source->end;
    if (is_random != source->is_random) {
        unseen__file_jumps(source->image.fd, is_random);
        source->is_random = is_random;
    }
    source->end = at + len;
    return unseen__image_read(&source->image, at, buf, len);
}

static void will_read_source(void *context, uint64_t offset, size_t len)
{
    const struct source *source = context;
    unseen__file_will_read(source->image.fd, UNSEEN__IMAGE_HEADER_LEN + offset, len);
}

/* Before the set is complete, the source belongs to the loader. */
static void release_source(void *context)
{
    struct source *source = context;
    const struct unseen_allocator allocator = source->allocator;
    if (source->belongs_to_set) {
        unseen__image_release(&source->image);
        unseen__free(&allocator, source, sizeof(*source));
    }
}

static enum unseen_status import_error(struct unseen_error *error, enum unseen_status status,
                                       const struct unseen__image *image, uint64_t offset)
{
    return unseen__error(error, status, offset, "%s, byte %llu: %s", image->path,
                         (unsigned long long)offset, unseen_status_string(status));
}

/* Imports the next chunk; *len_out is 0 at the end. */
static enum unseen_status image_import_chunk(struct unseen_import *import,
                                             struct unseen__image *image, size_t *len_out,
                                             struct unseen_error *error)
{
    const uint8_t *chunk = NULL;
    const uint64_t offset = image->offset;
    enum unseen_status status = unseen__image_next(image, &chunk, len_out, error);
    if (status != UNSEEN_OK || *len_out == 0) {
        return status;
    }
    status = unseen_import_chunk(import, chunk, *len_out);
    return status == UNSEEN_OK ? UNSEEN_OK : import_error(error, status, image, offset);
}

static enum unseen_status import_chunks(struct unseen_import *import, struct unseen__image *image,
                                        struct unseen_error *error)
{
    size_t len = 0;
    enum unseen_status status;
    do {
        status = image_import_chunk(import, image, &len, error);
    } while (status == UNSEEN_OK && len > 0);
    return status;
}

/* Imports the chunk of the header, and gives the table and the pages to the set. */
static enum unseen_status import_table(const struct unseen_store *store,
                                       struct unseen_import *import, struct source *source,
                                       const uint8_t *table, struct unseen_error *error)
{
    struct unseen__image *image = &source->image;
    const struct unseen__pages pages = {.read = read_source,
                                        .will_read = will_read_source,
                                        .release = release_source,
                                        .context = source,
                                        .n = image->header.npages,
                                        .is_late = store->sweep.in_parts};
    size_t len = 0;
    enum unseen_status status = image_import_chunk(import, image, &len, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__import_table(import, &pages, table,
                                  (size_t)unseen__image_table_len(&image->header));
    return status == UNSEEN_OK ? status : import_error(error, status, image, image->end);
}

/* CORRUPT if the set is not one of this store; it is the caller's then, too. */
static enum unseen_status make_set(const struct unseen_store *store, struct unseen_import *import,
                                   struct unseen_set **set_out)
{
    const struct unseen__log_header *header = &store->log.header;
    const enum unseen_status status = unseen_import_finish(import, set_out);
    const struct unseen_set *set = *set_out;
    if (status == UNSEEN_OK &&
        (!unseen__secret_equals(&set->hasher.secret, &header->secret) ||
         set->key_bits != header->key_bits || strcmp(set->ops->name, header->filter) != 0)) {
        return UNSEEN_ERR_CORRUPT;
    }
    return status;
}

static enum unseen_status start_import(const struct unseen_store *store,
                                       const struct unseen__image *image,
                                       struct unseen_import **import_out,
                                       struct unseen_error *error)
{
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .cpu = store->cpu,
        .allocator = &store->allocator,
    };
    const enum unseen_status status = unseen_import_create(import_out, &options, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, image->path);
    }
    unseen__import_lend_url(*import_out, store->url);
    unseen__import_limit(*import_out, image->size);
    return UNSEEN_OK;
}

/* Reads the tail, NULL if it is empty. The caller frees it. */
static enum unseen_status read_tail(const struct unseen_store *store,
                                    const struct unseen__image *image, uint8_t **tail_out,
                                    struct unseen_error *error)
{
    const size_t len = (size_t)image->header.tail_len;
    *tail_out = len > 0 ? unseen__alloc(&store->allocator, len, 64) : NULL;
    if (len > 0 && !*tail_out) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, image->path);
    }
    return len > 0 ? unseen__image_read_tail(image, *tail_out, error) : UNSEEN_OK;
}

/* Makes the set from the chunks of the image, or with a source, from its table and the chunks. */
static enum unseen_status import_set(const struct unseen_store *store, struct unseen__image *image,
                                     struct source *source, const uint8_t *table,
                                     struct unseen_set **set_out, struct unseen_error *error)
{
    struct unseen_import *import = NULL;
    enum unseen_status status = start_import(store, image, &import, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = source ? import_table(store, import, source, table, error) : UNSEEN_OK;
    status = status == UNSEEN_OK ? import_chunks(import, image, error) : status;
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    status = make_set(store, import, set_out);
    return status == UNSEEN_OK ? UNSEEN_OK : unseen__error_status(error, status, image->path);
}

/* import_set, and the allowed keys. */
static enum unseen_status load_set(const struct unseen_store *store, struct unseen__image *image,
                                   struct source *source, struct unseen_set **set_out,
                                   struct unseen_error *error)
{
    const struct unseen__image_header header = image->header;
    const size_t table_len = (size_t)unseen__image_table_len(&header);
    uint8_t *tail = NULL;
    struct unseen_set *set = NULL;
    enum unseen_status status = read_tail(store, image, &tail, error);
    if (status == UNSEEN_OK) {
        status = import_set(store, image, source, tail, &set, error);
    }
    if (status == UNSEEN_OK) {
        status =
            unseen__set_load_allowed(set, tail ? tail + table_len : NULL, (size_t)header.nallowed);
        status = status == UNSEEN_OK ? status : import_error(error, status, image, image->end);
    }
    unseen__free(&store->allocator, tail, (size_t)header.tail_len);
    if (status != UNSEEN_OK) {
        unseen_set_free(set);
        return status;
    }
    *set_out = set;
    return UNSEEN_OK;
}

enum unseen_status unseen__image_load(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen_set **set_out, struct unseen_error *error)
{
    if (image->header.npages == 0) {
        return load_set(store, image, NULL, set_out, error);
    }
    struct source *source =
        unseen__alloc(&store->allocator, sizeof(*source), _Alignof(struct source));
    if (!source) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, image->path);
    }
    *source = (struct source){.allocator = store->allocator, .image = *image};
    const enum unseen_status status = load_set(store, &source->image, source, set_out, error);
    if (status != UNSEEN_OK) {
        *image = source->image;
        unseen__free(&store->allocator, source, sizeof(*source));
        return status;
    }
    unseen__image_end_chunks(&source->image);
    source->belongs_to_set = true;
    *image = source->image;
    image->fd = -1; /* the set has the file */
    source->image.path = NULL;
    return UNSEEN_OK;
}

/* ---- saving ---- */

void unseen__image_report_unread(const struct unseen_store *store, enum unseen_status cause,
                                 struct unseen_error *error)
{
    const char *path = store->log.path;
    if (cause == UNSEEN_ERR_CORRUPT) {
        (void)unseen__error(error, cause, UNSEEN__NO_OFFSET,
                            "%s" UNSEEN__IMAGE_SUFFIX
                            " is damaged: it was changed or cut short since it was written",
                            path);
    } else {
        (void)unseen__error(error, cause, UNSEEN__NO_OFFSET,
                            "cannot read %s" UNSEEN__IMAGE_SUFFIX ": %s", path,
                            unseen_status_string(cause));
    }
}

/* The image is about as large as the set. */
static size_t wanted_table_len(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    (void)unseen_set_stats(set, &stats); /* fails for a wrong size only */
    return stats.memory >= TABLE_FROM ? unseen__set_table_len(set) : 0;
}

/* What an image of the store says about the log. */
static struct unseen__image_header header_of(const struct unseen_store *store)
{
    const struct unseen__log *log = &store->log;
    const bool no_log = log->header.read_features & UNSEEN__FEATURE_NO_LOG;
    struct unseen__image_header header = {
        .log_end = no_log ? UNSEEN__RECORDS_OFFSET : log->end,
        .last_offset = no_log ? 0 : log->last_offset,
        .number = no_log ? 0 : log->number,
        .nchanges = store->nchanges,
        .record_checksum = no_log ? 0 : log->record_checksum,
        .output_offset = no_log ? 0 : store->output.name_offset,
        .output_len = store->output.len,
        .output_checksum = store->output.checksum,
        .output_closed = store->output.closed,
        .note = store->output.note,
        .horizon = store->leaving.horizon,
        .nremoved = store->leaving.removed.nkeys,
        .nallowed = store->set->allowed ? store->set->allowed->nkeys : 0,
    };
    memcpy(header.id, log->header.id, UNSEEN__ID_LEN);
    return header;
}

/* Writes the tail, and what is behind the pages, which are there. */
static enum unseen_status finish_image(struct unseen_store *store, struct unseen__image_writer *w,
                                       size_t table_len, struct unseen_error *error)
{
    const struct unseen__image_header header = header_of(store);
    const size_t len = table_len + (size_t)header.nallowed * UNSEEN__ALLOWED_LEN;
    uint8_t *tail = len > 0 ? unseen__alloc(&store->allocator, len, 64) : NULL;
    if (len > 0 && !tail) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, store->log.path);
    }
    if (table_len > 0) {
        unseen__set_save_table(store->set, tail);
    }
    if (header.nallowed > 0) {
        unseen__set_save_allowed(store->set, tail + table_len);
    }
    const struct unseen__image_parts parts = {
        .object = store->set,
        .next = table_len > 0 ? unseen__set_next_rest : unseen__set_next_chunk,
        .tail = tail,
        .tail_len = len,
    };
    const enum unseen_status status = unseen__image_finish(w, header, &parts, error);
    unseen__free(&store->allocator, tail, len);
    return status;
}

enum unseen_status unseen__image_save_swept(struct unseen_store *store, struct unseen_error *error)
{
    return finish_image(store, &store->sweep.image, unseen__set_table_len(store->set), error);
}

enum unseen_status unseen__image_save(struct unseen_store *store, struct unseen_error *error)
{
    struct unseen__image_writer w;
    enum unseen_status status = unseen__store_settle(store, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const enum unseen_status unread = unseen__set_fetch_all(store->set);
    if (unread == UNSEEN_ERR_CORRUPT || unread == UNSEEN_ERR_IO) {
        unseen__image_report_unread(store, unread, error);
        return unread;
    }
    const size_t table_len = wanted_table_len(store->set);
    status = unseen__image_start(&w, &store->log, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (table_len > 0) {
        status = unseen__image_put_pages(&w, unseen__set_next_pages, store->set, error);
    }
    if (status == UNSEEN_OK) {
        status = finish_image(store, &w, table_len, error);
    }
    unseen__image_abandon(&w);
    return status;
}
