/* SPDX-License-Identifier: MIT
 *
 * A log is made at PATH.new, synced and renamed, so that it is whole or not there at all. Two
 * processes that make the same store at once take turns by a lock on the directory. A writer holds
 * a lock on the log, and whatever replaces the log is locked before it takes the name; so who has
 * waited for a lock looks whether the name still is that of the file it has locked. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "store/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "store/lock.h"

static const char NEW_SUFFIX[] = ".new";

/* ---- names ---- */

char *unseen__path_with(const struct unseen_allocator *allocator, const char *path,
                        const char *suffix)
{
    const size_t len = strlen(path);
    const size_t suffix_len = strlen(suffix);
    char *result = unseen__alloc(allocator, len + suffix_len + 1, 1);
    if (result) {
        memcpy(result, path, len);
        memcpy(result + len, suffix, suffix_len + 1);
    }
    return result;
}

void unseen__path_free(const struct unseen_allocator *allocator, char *path)
{
    if (path) {
        unseen__free(allocator, path, strlen(path) + 1);
    }
}

enum unseen_status unseen__log_new_id(uint8_t id[UNSEEN__ID_LEN])
{
    return getentropy(id, UNSEEN__ID_LEN) == 0 ? UNSEEN_OK : UNSEEN_ERR_UNSUPPORTED;
}

/* ---- opening ---- */

static enum unseen_status init(struct unseen__log *log, const char *path, bool writable,
                               const struct unseen_allocator *allocator, struct unseen_error *error)
{
    *log = (struct unseen__log){
        .allocator = *allocator,
        .fd = -1,
        .writable = writable,
        .end = UNSEEN__RECORDS_PLACE,
        .path = unseen__path_with(allocator, path, ""),
    };
    return log->path ? UNSEEN_OK : unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
}

static void remove_new(struct unseen__log *log)
{
    char *name = unseen__path_with(&log->allocator, log->path, NEW_SUFFIX);
    if (name) {
        (void)unlink(name); /* if that fails, or there is no memory, the next one removes it */
    }
    unseen__path_free(&log->allocator, name);
    log->unpublished = false;
}

void unseen__log_release(struct unseen__log *log)
{
    if (log->unpublished) {
        remove_new(log);
    }
    if (log->fd >= 0) {
        (void)close(log->fd); /* everything that matters has been synced */
        log->fd = -1;
    }
    unseen__path_free(&log->allocator, log->path);
    unseen__free(&log->allocator, log->buf, log->cap);
    log->path = NULL;
    log->buf = NULL;
    log->cap = 0;
}

static enum unseen_status open_file(struct unseen__log *log, struct unseen_error *error)
{
    struct stat st;
    const int code = unseen__file_open(log->path, log->writable ? O_RDWR : O_RDONLY, &log->fd);
    if (code != 0 && code != EISDIR && code != ENXIO) {
        return unseen__error_io(error, "open", log->path, code);
    }
    if (log->fd >= 0 && fstat(log->fd, &st) != 0) {
        return unseen__error_io(error, "read", log->path, errno);
    }
    if (log->fd < 0 || !S_ISREG(st.st_mode)) {
        return unseen__error(error, UNSEEN_ERR_FOREIGN, UNSEEN__NO_PLACE,
                             "%s is not a store: it is no regular file", log->path);
    }
    return UNSEEN_OK;
}

/* Whether the name still is that of the open file. */
static bool has_name(const struct unseen__log *log)
{
    struct stat by_name;
    struct stat open_one;
    return stat(log->path, &by_name) == 0 && fstat(log->fd, &open_one) == 0 &&
           by_name.st_dev == open_one.st_dev && by_name.st_ino == open_one.st_ino;
}

static enum unseen_status open_locked(struct unseen__log *log, struct unseen_error *error)
{
    for (;;) {
        enum unseen_status status = open_file(log, error);
        if (status == UNSEEN_OK && log->writable) {
            status = unseen__lock_take(log->fd, log->path, error);
        }
        if (status != UNSEEN_OK || !log->writable || has_name(log)) {
            return status;
        }
        (void)close(log->fd); /* replaced meanwhile: nothing was written to it */
        log->fd = -1;
    }
}

static enum unseen_status explain_header(const struct unseen__log *log, enum unseen_status status,
                                         size_t len, struct unseen_error *error)
{
    switch (status) {
    case UNSEEN_ERR_FOREIGN:
        return unseen__error(error, status, 0, "%s is not a store%s", log->path,
                             len == 0 ? ": it is empty" : "");
    case UNSEEN_ERR_VERSION:
        return unseen__error(error, status, 0, "%s was written by a newer version of unseen",
                             log->path);
    default:
        return unseen__error(error, status, 0, "both headers of %s are damaged", log->path);
    }
}

/* Either copy will do; the better of two answers says what is wrong with both. */
static enum unseen_status read_header(struct unseen__log *log, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_PLACE] = {0};
    size_t len = 0;
    const int code = unseen__file_read(log->fd, 0, bytes, sizeof(bytes), &len);
    if (code != 0) {
        return unseen__error_io(error, "read", log->path, code);
    }
    uint8_t *const second = bytes + UNSEEN__HEADER_LEN;
    struct unseen__log_header spare;
    const enum unseen_status a = unseen__header_decode(bytes, &log->header);
    const enum unseen_status b =
        unseen__header_decode(second, a == UNSEEN_OK ? &spare : &log->header);
    if (a != UNSEEN_OK && b != UNSEEN_OK) {
        const bool newer = a == UNSEEN_ERR_VERSION || b == UNSEEN_ERR_VERSION;
        const bool foreign = a == UNSEEN_ERR_FOREIGN && b == UNSEEN_ERR_FOREIGN;
        return explain_header(log,
                              newer     ? UNSEEN_ERR_VERSION
                              : foreign ? UNSEEN_ERR_FOREIGN
                                        : UNSEEN_ERR_CORRUPT,
                              len, error);
    }
    if (log->writable && log->header.write_features != 0) {
        return explain_header(log, UNSEEN_ERR_VERSION, len, error);
    }
    log->header_damaged = a != UNSEEN_OK || b != UNSEEN_OK;
    log->cut_short = len < sizeof(bytes);
    if (!log->header_damaged || log->cut_short || !log->writable) {
        return UNSEEN_OK;
    }
    const bool first_is_good = a == UNSEEN_OK;
    int failed = unseen__file_write(log->fd, first_is_good ? UNSEEN__HEADER_LEN : 0,
                                    first_is_good ? bytes : second, UNSEEN__HEADER_LEN);
    failed = failed ? failed : unseen__file_sync(log->fd);
    return failed ? unseen__error_io(error, "write", log->path, failed) : UNSEEN_OK;
}

enum unseen_status unseen__log_open(struct unseen__log *log, const char *path, bool writable,
                                    const struct unseen_allocator *allocator,
                                    struct unseen_error *error)
{
    enum unseen_status status = init(log, path, writable, allocator, error);
    if (status == UNSEEN_OK) {
        status = open_locked(log, error);
    }
    if (status == UNSEEN_OK) {
        status = read_header(log, error);
    }
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
    }
    return status;
}

/* ---- making ---- */

static enum unseen_status write_new(struct unseen__log *log, const char *name,
                                    struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_PLACE];
    if (unlink(name) != 0 && errno != ENOENT) {
        return unseen__error_io(error, "remove", name, errno);
    }
    const int failed = unseen__file_open(name, O_RDWR | O_CREAT | O_EXCL, &log->fd);
    if (failed != 0) {
        return unseen__error_io(error, "create", name, failed);
    }
    log->unpublished = true;
    enum unseen_status status = unseen__lock_take(log->fd, name, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    unseen__header_encode(&log->header, bytes);
    unseen__header_encode(&log->header, bytes + UNSEEN__HEADER_LEN);
    const int code = unseen__file_write(log->fd, 0, bytes, sizeof(bytes));
    return code ? unseen__error_io(error, "write", name, code) : UNSEEN_OK;
}

enum unseen_status unseen__log_start_new(struct unseen__log *log, const char *path,
                                         const struct unseen__log_header *header,
                                         const struct unseen_allocator *allocator,
                                         struct unseen_error *error)
{
    enum unseen_status status = init(log, path, true, allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    log->header = *header;
    char *name = unseen__path_with(allocator, path, NEW_SUFFIX);
    status =
        name ? write_new(log, name, error) : unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
    }
    unseen__path_free(allocator, name);
    return status;
}

enum unseen_status unseen__log_publish(struct unseen__log *log, struct unseen_error *error)
{
    char *name = unseen__path_with(&log->allocator, log->path, NEW_SUFFIX);
    if (!name) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    int code = unseen__file_sync(log->fd);
    if (code == 0) {
        code = unseen__file_replace(name, log->path);
        log->unpublished = code != 0;
    }
    unseen__path_free(&log->allocator, name);
    return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
}

enum unseen_status unseen__log_create(struct unseen__log *log, const char *path,
                                      const struct unseen__log_header *header,
                                      const struct unseen_allocator *allocator, bool *exists_out,
                                      struct unseen_error *error)
{
    struct stat st;
    int directory = -1;
    int code = unseen__directory_open(path, &directory);
    code = code ? code : unseen__directory_lock(directory);
    if (code != 0) {
        if (directory >= 0) {
            (void)close(directory);
        }
        return unseen__error_io(error, "create", path, code);
    }
    enum unseen_status status = UNSEEN_OK;
    *exists_out = lstat(path, &st) == 0;
    if (!*exists_out) {
        status = unseen__log_start_new(log, path, header, allocator, error);
        if (status == UNSEEN_OK) {
            status = unseen__log_publish(log, error);
            if (status != UNSEEN_OK) {
                unseen__log_release(log);
            }
        }
    }
    (void)close(directory); /* only its lock was needed */
    return status;
}

/* ---- appending ---- */

static bool reserve(struct unseen__log *log, size_t len)
{
    if (len <= log->cap) {
        return true;
    }
    uint8_t *buf = unseen__alloc(&log->allocator, len, 8);
    if (!buf) {
        return false;
    }
    unseen__free(&log->allocator, log->buf, log->cap);
    log->buf = buf;
    log->cap = len;
    return true;
}

enum unseen_status unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                      const uint8_t *payload, const uint8_t *bits, bool sync,
                                      struct unseen_error *error)
{
    const unsigned key_bits = log->header.key_bits;
    const size_t len = unseen__record_len(&record, key_bits);
    const size_t payload_len =
        record.n * (record.kind == UNSEEN__RECORD_CHANGES ? unseen__key_bytes(key_bits) : 1);
    if (!reserve(log, len)) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    record.place = log->end;
    record.number = log->number + 1;
    memset(log->buf, 0, len);
    unseen__record_encode_head(&record, log->buf);
    if (payload_len > 0) {
        memcpy(log->buf + UNSEEN__RECORD_HEAD, payload, payload_len);
    }
    if (bits) {
        memcpy(log->buf + unseen__record_bits_place(&record, key_bits), bits,
               ((size_t)record.n + 7) / 8);
    }
    const uint64_t sum = unseen__record_sum(log->buf, len, log->header.id);
    store_le64(log->buf + len - UNSEEN__RECORD_TAIL, sum);
    int code = unseen__file_write(log->fd, log->end, log->buf, len);
    if (code == 0 && sync) {
        code = unseen__file_sync(log->fd);
    }
    if (code != 0) {
        return unseen__error_io(error, "write", log->path, code);
    }
    log->end += len;
    log->number = record.number;
    log->record_sum = sum;
    return UNSEEN_OK;
}

enum unseen_status unseen__log_cut(struct unseen__log *log, struct unseen_error *error)
{
    const int code = unseen__file_truncate(log->fd, log->end);
    return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
}
