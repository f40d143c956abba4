/* SPDX-License-Identifier: MIT
 *
 * Writes a new log from an old one: without removed keys and in large records, for another filter,
 * or (repair) without damaged bytes. The new log is made beside the old one, whose lock is held,
 * and takes its name in one step. */
#include "base/posix.h"

#include "store/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/filename.h"
#include "base/memory.h"
#include "hash/key.h"
#include "set/set.h"

enum {
    RECORD_KEYS = 1 << 16 /* keys in each new record */
};

/* ---- collecting keys to records ---- */

struct writer {
    struct unseen__log *log;
    uint8_t *payload;
    uint32_t n;
    struct unseen_error *error;
    enum unseen_status status;
};

static bool flush_record(struct writer *w)
{
    const struct unseen__record record = {
        .kind = UNSEEN__RECORD_CHANGES, .n = w->n, .output_len = UNSEEN__NO_OUTPUT};
    if (w->n > 0) {
        w->status = unseen__log_append(w->log, record, w->payload, NULL, false, w->error);
        w->n = 0;
    }
    return w->status == UNSEEN_OK;
}

static bool rewrite_keys(void *context, const struct unseen_key *keys, size_t n)
{
    struct writer *w = context;
    const unsigned key_bits = w->log->header.key_bits;
    for (size_t i = 0; i < n; i++) {
        unseen__key_pack(keys[i], key_bits, w->payload + w->n * unseen__key_bytes(key_bits));
        if (++w->n == RECORD_KEYS && !flush_record(w)) {
            return false;
        }
    }
    return true;
}

/* Copies what the old log says about the output file. The new log takes the place of the old one:
 * if the old one is still the file that named the output, the new one is it from now on. */
static enum unseen_status append_output(const struct unseen__log *from, struct unseen__log *to,
                                        const struct unseen__output *output,
                                        struct unseen_error *error)
{
    struct unseen__output copied = *output;
    if (output->name_offset == 0) {
        return UNSEEN_OK;
    }
    if (copied.log_id == unseen__file_id(from->fd)) {
        copied.log_id = unseen__file_id(to->fd);
    }
    enum unseen_status status = unseen__output_append(&copied, to, false, error);
    if (status == UNSEEN_OK && output->closed) {
        const struct unseen__record closed = {
            .kind = UNSEEN__RECORD_CHANGES,
            .flags = UNSEEN__FLAG_CLOSED,
            .output_len = output->len,
            .output_checksum = output->checksum,
        };
        status = unseen__log_append(to, closed, NULL, NULL, false, error);
    }
    return status;
}

static enum unseen_status write_survivors(const struct unseen__log *from, struct unseen__log *to,
                                          const struct unseen__output *output, bool skip_damage,
                                          struct unseen_error *error)
{
    const size_t size = RECORD_KEYS * unseen__key_bytes(to->header.key_bits);
    struct writer w = {.log = to, .error = error};
    w.payload = unseen__alloc(&to->allocator, size, 8);
    if (!w.payload) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, to->path);
    }
    enum unseen_status status =
        unseen__surviving_each(from, UINT64_MAX, skip_damage, rewrite_keys, &w, error);
    if (status == UNSEEN_OK && w.status == UNSEEN_OK) {
        (void)flush_record(&w);
    }
    unseen__free(&to->allocator, w.payload, size);
    status = status == UNSEEN_OK ? w.status : status;
    if (status == UNSEEN_OK) {
        status = append_output(from, to, output, error);
    }
    return status == UNSEEN_OK ? unseen__log_append_end(to, error) : status;
}

/* ---- keeping the old one ---- */

/* Gives the old log a second name: PATH.damaged, or PATH.damaged.1 and so on if that is taken. */
static enum unseen_status keep_old(const struct unseen__log *log, struct unseen_error *error)
{
    char suffix[32];
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(suffix, sizeof(suffix), i == 0 ? ".damaged" : ".damaged.%u", i);
        char *name = unseen__path_with(&log->allocator, log->file, suffix);
        if (!name) {
            return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
        }
        const int code = link(log->file, name) == 0 ? 0 : errno;
        const enum unseen_status status =
            code == 0 || code == EEXIST ? UNSEEN_OK : unseen__error_io(error, "create", name, code);
        unseen__path_free(&log->allocator, name);
        if (code != EEXIST) {
            return status;
        }
    }
    return unseen__error(error, UNSEEN_ERR_IO, UNSEEN__NO_OFFSET,
                         "%s.damaged and 99 more exist already", log->path);
}

enum unseen_status unseen__log_write_anew(struct unseen__log *to_out,
                                          const struct unseen__log *from,
                                          const struct unseen__log_header *header,
                                          const struct unseen__output *output, bool is_repair,
                                          struct unseen_error *error)
{
    enum unseen_status status = unseen__log_start_new(to_out, from, header, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = write_survivors(from, to_out, output, is_repair, error);
    if (status == UNSEEN_OK && is_repair) {
        status = keep_old(from, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__log_publish(to_out, error);
    }
    if (status != UNSEEN_OK) {
        unseen__log_release(to_out);
    }
    return status;
}

enum unseen_status unseen__log_rewrite(const struct unseen__log *from,
                                       const struct unseen__log_header *header,
                                       const struct unseen__output *output, bool is_repair,
                                       struct unseen_error *error)
{
    struct unseen__log to;
    enum unseen_status status = unseen__log_write_anew(&to, from, header, output, is_repair, error);
    if (status == UNSEEN_OK) {
        status = unseen__image_remove(from, error); /* it belongs to the old log */
        unseen__log_release(&to);
    }
    return status;
}

/* ---- with other settings ---- */

/* Checks that a set can be made from the header, and takes its rate. */
static enum unseen_status try_set(struct unseen__log_header *header, const char *path,
                                  const struct unseen_allocator *allocator,
                                  struct unseen_error *error)
{
    struct unseen_set *set = NULL;
    struct unseen_set_options options = unseen__header_set_options(header);
    options.allocator = allocator;
    const enum unseen_status status =
        unseen__set_create(&set, &options, &header->secret, NULL, error);
    if (status == UNSEEN_OK) {
        unseen__header_take_rate(header, set);
    }
    unseen_set_free(set);
    return unseen__error_prefix(error, status, path);
}

static enum unseen_status change_header(struct unseen__log_header *header,
                                        const struct unseen_store_options *options,
                                        const char *path, struct unseen_error *error)
{
    const struct unseen__filter_ops *ops = NULL;
    if (options->key_bits > header->key_bits) {
        return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, UNSEEN_SETTING_KEY_BITS,
                                     "%s has keys of %u bits: they cannot be made longer", path,
                                     header->key_bits);
    }
    const enum unseen_status status = unseen__header_change(header, options, &ops, error);
    return status == UNSEEN_OK ? unseen__error_status(error, unseen__log_new_id(header->id), path)
                               : unseen__error_prefix(error, status, path);
}

enum unseen_status unseen_store_rewrite(const char *path, const struct unseen_store_options *given,
                                        struct unseen_error *error)
{
    struct unseen_store_options options;
    struct unseen__log log;
    enum unseen_status status = unseen__store_options(given, &options, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    status = unseen__log_open(&log, path, true, &allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__log_header header = log.header;
    struct unseen__reading reading = {.log = &log};
    status = unseen__check_length(&log, error);
    if (status == UNSEEN_OK && (header.read_features & UNSEEN__FEATURE_NO_LOG)) {
        status = unseen__error(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN__NO_OFFSET,
                               "%s has no log that could be rewritten", path);
    }
    if (status == UNSEEN_OK) {
        status = change_header(&header, &options, path, error);
    }
    if (status == UNSEEN_OK) {
        status = try_set(&header, path, &allocator, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__read_all(&reading, error);
    }
    if (status == UNSEEN_OK && reading.health.ndamages > 0) {
        status = unseen__damaged(error, &log, reading.damaged_offset, reading.damaged_end);
    }
    if (status == UNSEEN_OK) {
        status = unseen__log_rewrite(&log, &header, &reading.output, false, error);
    }
    unseen__secret_forget(&header.secret);
    unseen__log_release(&log);
    return status;
}
