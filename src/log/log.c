/* SPDX-License-Identifier: MIT
 *
 * A log is made under another name, synced, and given its own, so that it is whole or not there at
 * all; of two processes that make the same one, the second finds it made. A writer holds a lock on
 * the log, and whatever replaces the log is locked before it takes the name; so who has got a lock
 * looks whether the name still is that of the file it has locked. */
#include "base/posix.h"

#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/filename.h"

static const char NEW_SUFFIX[] = ".unseen-new";

enum unseen_status unseen__log_new_id(uint8_t id[UNSEEN__ID_LEN])
{
    return getentropy(id, UNSEEN__ID_LEN) == 0 ? UNSEEN_OK : UNSEEN_ERR_UNSUPPORTED;
}

/* ---- opening ---- */

static enum unseen_status init(struct unseen__log *log, const char *path, bool writable,
                               const struct unseen_allocator *allocator, struct unseen_error *error)
{
    char file[PATH_MAX];
    *log = (struct unseen__log){
        .allocator = *allocator,
        .fd = -1,
        .writable = writable,
        .end = UNSEEN__RECORDS_OFFSET,
    };
    /* A symbolic link stays one: what is made beside the log is made where the log is. */
    const char *real = realpath(path, file) ? file : path;
    log->path = unseen__path_with(allocator, path, "");
    log->file = unseen__path_with(allocator, real, "");
    if (log->path && log->file) {
        return UNSEEN_OK;
    }
    unseen__log_release(log);
    return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
}

void unseen__log_release(struct unseen__log *log)
{
    if (log->making) {
        (void)unlink(log->making); /* nobody will miss it */
    }
    unseen__lock_close(&log->fd, log->opener);
    unseen__path_free(&log->allocator, log->path);
    unseen__path_free(&log->allocator, log->file);
    unseen__path_free(&log->allocator, log->making);
    array_free(&log->allocator, &log->buf, &log->cap, 1);
    unseen__secret_forget(&log->header.secret);
    log->path = NULL;
    log->file = NULL;
    log->making = NULL;
}

bool unseen__log_has_name(const struct unseen__log *log)
{
    return unseen__lock_has_name(log->fd, log->file);
}

/* A folder cannot be opened to write, nor a socket at all. */
static bool is_no_regular_file(const struct unseen__log *log)
{
    struct stat st;
    return (log->fd < 0 ? stat(log->path, &st) : fstat(log->fd, &st)) == 0 && !S_ISREG(st.st_mode);
}

/* Opens the file; a writer also takes its lock. */
static enum unseen_status open_file(struct unseen__log *log, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    if (log->writable) {
        status = unseen__lock_open(log->path, O_RDWR, &log->fd, error);
        log->opener = status == UNSEEN_OK ? (long)getpid() : 0;
    } else {
        const int code = unseen__file_open(log->path, O_RDONLY, &log->fd);
        status = code ? unseen__error_io(error, "open", log->path, code) : UNSEEN_OK;
    }
    if (is_no_regular_file(log)) {
        return unseen__error(error, UNSEEN_ERR_FOREIGN, UNSEEN__NO_OFFSET,
                             "%s is not a store: it is no regular file", log->path);
    }
    return status;
}

static enum unseen_status explain_header(const struct unseen__log *log, enum unseen_status status,
                                         size_t len, struct unseen_error *error)
{
    switch (status) {
    case UNSEEN_ERR_FOREIGN:
        return unseen__error(error, status, 0, "%s is not a store%s", log->path,
                             len == 0 ? ": it is empty" : "");
    case UNSEEN_ERR_VERSION:
        return unseen__error(error, status, 0, "%s was written by another version of unseen",
                             log->path);
    default:
        return unseen__error(error, status, 0, "both headers of %s are damaged", log->path);
    }
}

/* Either copy will do; the better of two answers says what is wrong with both. */
static enum unseen_status read_header(struct unseen__log *log, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_OFFSET] = {0};
    size_t len = 0;
    const int code = unseen__file_read(log->fd, 0, bytes, sizeof(bytes), &len);
    if (code != 0) {
        return unseen__error_io(error, "read", log->path, code);
    }
    uint8_t *const second = bytes + UNSEEN__HEADER_LEN;
    struct unseen__log_header spare;
    enum unseen_status a = unseen__header_decode(bytes, &log->header);
    enum unseen_status b = unseen__header_decode(second, a == UNSEEN_OK ? &spare : &log->header);
    if (a == UNSEEN_OK && b == UNSEEN_OK && len == sizeof(bytes) &&
        memcmp(bytes, second, UNSEEN__HEADER_LEN) != 0) {
        return unseen__error(error, UNSEEN_ERR_CORRUPT, 0, "the two headers of %s differ",
                             log->path);
    }
    /* Zeros may stand for what a cut has taken away. */
    a = a == UNSEEN_OK && len < UNSEEN__HEADER_LEN ? UNSEEN_ERR_CORRUPT : a;
    b = b == UNSEEN_OK && len < sizeof(bytes) ? UNSEEN_ERR_CORRUPT : b;
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
        status = open_file(log, error);
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

/* It holds the secret: as long as it is made, only its owner may read it. */
static const unsigned MODE_AT_WORK = 0600;

/* Owner and rights of another file, or these rights. */
static int set_rights(int fd, const struct stat *other, unsigned mode)
{
    return other ? unseen__file_make_alike(fd, other) : fchmod(fd, mode) != 0 ? errno : 0;
}

static enum unseen_status write_new(struct unseen__log *log, const struct stat *other,
                                    unsigned mode, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_OFFSET];
    int code = unseen__file_make_in(AT_FDCWD, log->making, MODE_AT_WORK, &log->fd);
    if (code != 0) {
        return unseen__error_io(error, "create", log->making, code);
    }
    const enum unseen_status status = unseen__lock_take(log->fd, log->making, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    log->opener = (long)getpid();
    unseen__header_encode(&log->header, bytes);
    unseen__header_encode(&log->header, bytes + UNSEEN__HEADER_LEN);
    code = set_rights(log->fd, other, mode);
    code = code ? code : unseen__file_write(log->fd, 0, bytes, sizeof(bytes));
    return code ? unseen__error_io(error, "write", log->making, code) : UNSEEN_OK;
}

/* Makes a log at its path and suffix: in place of another file, whose owner and rights it gets, or the
 * first one, which gets these rights. */
static enum unseen_status make(struct unseen__log *log, const struct unseen__log_header *header,
                               const char *suffix, const struct stat *other, unsigned mode,
                               struct unseen_error *error)
{
    log->header = *header;
    char *making = unseen__path_with(&log->allocator, log->file, suffix);
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    if (!making) {
        (void)unseen__error_status(error, status, log->path);
    } else if (other && unlink(making) != 0 && errno != ENOENT) {
        status = unseen__error_io(error, "remove", making, errno);
        unseen__path_free(&log->allocator, making);
    } else {
        log->making = making;
        status = write_new(log, other, mode, error);
    }
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
    }
    return status;
}

enum unseen_status unseen__log_start_new(struct unseen__log *log, const struct unseen__log *old,
                                         const struct unseen__log_header *header,
                                         struct unseen_error *error)
{
    struct stat st;
    if (fstat(old->fd, &st) != 0) {
        return unseen__error_io(error, "read", old->path, errno);
    }
    const enum unseen_status status = init(log, old->path, true, &old->allocator, error);
    /* It holds the secret: whoever could not read the old one must not read this one. */
    return status == UNSEEN_OK ? make(log, header, NEW_SUFFIX, &st, 0, error) : status;
}

enum unseen_status unseen__log_publish(struct unseen__log *log, struct unseen_error *error)
{
    int code = unseen__file_sync(log->fd);
    if (code == 0) {
        code = unseen__file_replace(log->making, log->file);
    }
    if (code != 0) {
        return unseen__error_io(error, "write", log->path, code);
    }
    unseen__path_free(&log->allocator, log->making);
    log->making = NULL;
    return UNSEEN_OK;
}

/* Gives a new log its name unless there is one of that name. Where links are unknown, two processes
 * that make the same one in the same moment are not told apart. */
static enum unseen_status publish_first(struct unseen__log *log, bool *exists_out,
                                        struct unseen_error *error)
{
    int code = unseen__file_sync(log->fd);
    if (code != 0) {
        return unseen__error_io(error, "write", log->path, code);
    }
    if (link(log->making, log->file) == 0) {
        (void)unlink(log->making); /* another name of it harms nobody */
        unseen__path_free(&log->allocator, log->making);
        log->making = NULL;
        code = unseen__file_sync_name(log->file);
        return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
    }
    if (errno == EEXIST) {
        *exists_out = true;
        return UNSEEN_OK;
    }
    return unseen__log_publish(log, error);
}

enum unseen_status unseen__log_create(struct unseen__log *log, const char *path,
                                      const struct unseen__log_header *header, unsigned mode,
                                      const struct unseen_allocator *allocator, bool *exists_out,
                                      struct unseen_error *error)
{
    struct stat st;
    char suffix[sizeof(NEW_SUFFIX) + 16];
    *exists_out = lstat(path, &st) == 0;
    if (*exists_out) {
        return UNSEEN_OK;
    }
    /* A name of its own: another process may be making the same one. */
    (void)snprintf(suffix, sizeof(suffix), ".%08x%s", (unsigned)load_le32(header->id), NEW_SUFFIX);
    enum unseen_status status = init(log, path, true, allocator, error);
    if (status == UNSEEN_OK) {
        status = make(log, header, suffix, NULL, mode, error);
    }
    if (status == UNSEEN_OK) {
        status = publish_first(log, exists_out, error);
        if (status != UNSEEN_OK || *exists_out) {
            unseen__log_release(log);
        }
    }
    return status;
}

/* ---- appending ---- */

enum unseen_status unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                      const uint8_t *payload, const uint8_t *bits, bool sync,
                                      struct unseen_error *error)
{
    const unsigned key_bits = log->header.key_bits;
    const size_t len = unseen__record_len(&record, key_bits);
    const size_t payload_len =
        record.n * (record.kind == UNSEEN__RECORD_CHANGES ? unseen__key_bytes(key_bits) : 1);
    if (!array_resize(&log->allocator, &log->buf, &log->cap, len, 1)) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    record.offset = log->end;
    record.number = log->number + 1;
    memset(log->buf, 0, len);
    unseen__record_encode_head(&record, log->buf);
    if (payload_len > 0) {
        memcpy(log->buf + UNSEEN__RECORD_HEAD, payload, payload_len);
    }
    if (bits) {
        memcpy(log->buf + unseen__record_bits_offset(&record, key_bits), bits,
               ((size_t)record.n + 7) / 8);
    }
    const uint64_t checksum = unseen__record_checksum(log->buf, len, log->header.id);
    store_le64(log->buf + len - UNSEEN__RECORD_TAIL, checksum);
    int code = unseen__file_write(log->fd, log->end, log->buf, len);
    if (code == 0 && sync) {
        code = unseen__file_sync(log->fd);
    }
    if (code != 0) {
        /* After a failed sync the kernel may call bytes clean that are not on the disk. Nobody must
         * find the record and take it for durable. */
        (void)unseen__file_truncate(log->fd, log->end);
        return unseen__error_io(error, "write", log->path, code);
    }
    log->last_offset = log->end;
    log->end += len;
    log->number = record.number;
    log->record_checksum = checksum;
    return UNSEEN_OK;
}

enum unseen_status unseen__log_settle(struct unseen__log *log, struct unseen_error *error)
{
    uint64_t size = 0;
    int code = unseen__file_size(log->fd, &size);
    if (code == 0 && size > log->end) {
        code = unseen__file_truncate(log->fd, log->end);
    }
    code = code ? code : unseen__file_sync(log->fd);
    code = code ? code : unseen__file_sync_name(log->file);
    return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
}
