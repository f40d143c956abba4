/* SPDX-License-Identifier: MIT
 *
 * Makes, opens, locks and appends to the log of a store.
 *
 * Making: a log is made under another name, synced, and then given its own name. So under its own
 * name it is always complete. If two processes make the same log, the second process finds the log
 * of the first.
 *
 * Locks: a writer holds a lock on the log. If a new log replaces the log, the new log is locked
 * before it takes the name. So a process that gets a lock must check that the name still leads to
 * the file it locked. */
#include "base/posix.h"

#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/own.h"
#include "log/image_file.h"

static const char NEW_SUFFIX[] = ".unseen-new";
static const char DRAFT_SUFFIX[] = ".draft.unseen-new";
static const char NEW_DRAFT_SUFFIX[] = ".draft.new.unseen-new";

enum {
    COPY_LEN = 1 << 20,
    HEADER_TRIES = 3, /* to read a header that a writer is changing */
    BLOCK = 4096,     /* of the disk */
    NAME_LEN = UNSEEN__RECORD_HEAD + UNSEEN__OUTPUT_NAME_MAX + UNSEEN__RECORD_TAIL
};

enum unseen_status unseen__log_new_id(uint8_t id[UNSEEN__ID_LEN])
{
    return getentropy(id, UNSEEN__ID_LEN) == 0 ? UNSEEN_OK : UNSEEN_ERR_RANDOM;
}

/* ---- opening ---- */

/* old: NULL, or the log in whose place this one will be put. Where that is was found when it was
 * opened: since then the process may have gone to another folder, or a symbolic link been led to
 * another store. */
static enum unseen_status log_init(struct unseen__log *log, const char *path,
                                   const struct unseen__log *old, bool writable,
                                   const struct unseen_allocator *allocator,
                                   struct unseen_error *error)
{
    *log = (struct unseen__log){
        .allocator = *allocator,
        .fd = -1,
        .writable = writable,
        .end = UNSEEN__RECORDS_OFFSET,
    };
    log->path = unseen__path_with(allocator, path, "");
    log->file =
        old ? unseen__path_with(allocator, old->file, "") : unseen__path_real(allocator, path);
    if (log->path && log->file) {
        return UNSEEN_OK;
    }
    unseen__log_release(log);
    return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
}

void unseen__log_release(struct unseen__log *log)
{
    if (log->new_path) {
        (void)unlink(log->new_path); /* if this fails, the file is harmless */
    }
    unseen__lock_close(&log->fd, log->opener);
    unseen__path_free(&log->allocator, log->path);
    unseen__path_free(&log->allocator, log->file);
    unseen__path_free(&log->allocator, log->new_path);
    array_free(&log->allocator, &log->buf, &log->cap, 1);
    unseen__secret_forget(&log->header.secret);
    log->path = NULL;
    log->file = NULL;
    log->new_path = NULL;
}

bool unseen__log_has_name(const struct unseen__log *log)
{
    return unseen__lock_has_name(log->fd, log->file);
}

bool unseen__log_has_changed(const struct unseen__log *log, const struct unseen__file_stamp *since)
{
    struct unseen__file_stamp now;
    return !unseen__log_has_name(log) || unseen__file_stamp(log->fd, &now) != 0 ||
           !unseen__file_stamp_equals(&now, since);
}

/* True if the log is not a regular file. A folder cannot be opened to write, and a socket cannot be
 * opened at all: then the path is asked. */
static bool is_special_file(const struct unseen__log *log)
{
    struct stat st;
    return (log->fd < 0 ? stat(log->path, &st) : fstat(log->fd, &st)) == 0 && !S_ISREG(st.st_mode);
}

/* Opens the file; a writer also takes its lock. */
static enum unseen_status log_open_file(struct unseen__log *log, struct unseen_error *error)
{
    enum unseen_status status = UNSEEN_OK;
    if (log->writable) {
        status = unseen__lock_open(log->path, &log->fd, error);
        log->opener = status == UNSEEN_OK ? (long)getpid() : 0;
    } else {
        const int code = unseen__file_open(log->path, O_RDONLY, &log->fd);
        status = code ? unseen__error_io(error, "open", log->path, code) : UNSEEN_OK;
    }
    if (is_special_file(log)) {
        return unseen__error(error, UNSEEN_ERR_FOREIGN, UNSEEN__NO_OFFSET,
                             "%s is not a store: it is not a regular file", log->path);
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

/* A log whose head was moved has a record there. */
static bool is_cut_before(const struct unseen__log *log, uint64_t head)
{
    uint64_t size = 0;
    return head > UNSEEN__RECORDS_OFFSET && unseen__file_size(log->fd, &size) == 0 && size <= head;
}

/* Reads both copies of the header and uses an intact one. If both are bad, the error is VERSION if
 * either has another version, FOREIGN if neither has the magic, else CORRUPT. */
static enum unseen_status read_header(struct unseen__log *log, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_OFFSET] = {0};
    size_t len = 0;
    const int code = unseen__file_read(log->fd, 0, bytes, sizeof(bytes), &len);
    if (code != 0) {
        return unseen__error_io(error, "read", log->path, code);
    }
    log->is_empty = len == 0;
    uint8_t *const second = bytes + UNSEEN__HEADER_LEN;
    struct unseen__log_header spare;
    enum unseen_status a = unseen__header_decode(bytes, &log->header);
    enum unseen_status b = unseen__header_decode(second, a == UNSEEN_OK ? &spare : &log->header);
    if (a == UNSEEN_OK && b == UNSEEN_OK && len == sizeof(bytes) &&
        !unseen__headers_agree(bytes, second)) {
        return unseen__error(error, UNSEEN_ERR_CORRUPT, 0, "the two headers of %s differ",
                             log->path);
    }
    /* The copies are written one after the other when the log begins later than before. */
    const bool second_is_later =
        a == UNSEEN_OK && b == UNSEEN_OK && spare.head.offset > log->header.head.offset;
    const bool differ =
        a == UNSEEN_OK && b == UNSEEN_OK && spare.head.offset != log->header.head.offset;
    if (second_is_later) {
        log->header.head = spare.head;
    }
    /* A copy that was cut off was not read: its bytes here are zeros, which may happen to be
     * right. */
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
    log->cut_short = len < sizeof(bytes) || is_cut_before(log, log->header.head.offset);
    if (!(log->header_damaged || differ) || log->cut_short || !log->writable) {
        return UNSEEN_OK;
    }
    const bool first_is_good = a == UNSEEN_OK && !second_is_later;
    int failed = unseen__file_write(log->fd, first_is_good ? UNSEEN__HEADER_LEN : 0,
                                    first_is_good ? bytes : second, UNSEEN__HEADER_LEN);
    failed = failed ? failed : unseen__file_sync(log->fd);
    return failed ? unseen__error_io(error, "write", log->path, failed) : UNSEEN_OK;
}

enum unseen_status unseen__log_open(struct unseen__log *log, const char *path, bool writable,
                                    const struct unseen_allocator *allocator,
                                    struct unseen_error *error)
{
    enum unseen_status status = log_init(log, path, NULL, writable, allocator, error);
    if (status == UNSEEN_OK) {
        status = log_open_file(log, error);
    }
    int tries = 0;
    do {
        status = status == UNSEEN_OK ? read_header(log, error) : status;
    } while (status == UNSEEN_OK && !writable && log->header_damaged && ++tries < HEADER_TRIES);
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
        return status;
    }
    log->end = log->header.head.offset;
    log->number = log->header.head.number;
    log->time = log->header.head.time;
    return UNSEEN_OK;
}

/* ---- making ---- */

/* The header holds the secret. Until the log gets its rights, only its owner may read it. */
static const unsigned MODE_AT_WORK = 0600;

static const struct unseen__log_head new_head = {.offset = UNSEEN__RECORDS_OFFSET};

/* Gives the file the owner and rights of `other`; without `other`, the rights `mode`. */
static int set_rights(int fd, const struct stat *other, unsigned mode)
{
    return other ? unseen__file_make_alike(fd, other) : fchmod(fd, mode) != 0 ? errno : 0;
}

/* Gives a locked file its rights and the two copies of the header. */
static enum unseen_status write_headers(struct unseen__log *log, const struct stat *other,
                                        unsigned mode, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__RECORDS_OFFSET];
    log->opener = (long)getpid();
    unseen__header_encode(&log->header, bytes);
    unseen__header_encode(&log->header, bytes + UNSEEN__HEADER_LEN);
    int code = set_rights(log->fd, other, mode);
    code = code ? code : unseen__file_write(log->fd, 0, bytes, sizeof(bytes));
    return code ? unseen__error_io(error, "write", log->new_path, code) : UNSEEN_OK;
}

static enum unseen_status write_new(struct unseen__log *log, const struct stat *other,
                                    unsigned mode, struct unseen_error *error)
{
    const int code = unseen__file_make_in(AT_FDCWD, log->new_path, MODE_AT_WORK, &log->fd);
    if (code != 0) {
        return unseen__error_io(error, "create", log->new_path, code);
    }
    const enum unseen_status status = unseen__lock_take(log->fd, log->new_path, error);
    return status == UNSEEN_OK ? write_headers(log, other, mode, error) : status;
}

/* Makes a log at log->file and suffix. `other` is the log that the new one will replace: the new
 * one gets its owner and rights. Without `other` the new log gets the rights `mode`. */
static enum unseen_status log_make(struct unseen__log *log, const struct unseen__log_header *header,
                                   const char *suffix, const struct stat *other, unsigned mode,
                                   struct unseen_error *error)
{
    log->header = *header;
    log->header.head = new_head;
    char *new_path = unseen__path_with(&log->allocator, log->file, suffix);
    enum unseen_status status = UNSEEN_ERR_NOMEM;
    if (!new_path) {
        (void)unseen__error_status(error, status, log->path);
    } else if (other && unlink(new_path) != 0 && errno != ENOENT) {
        status = unseen__error_io(error, "remove", new_path, errno);
        unseen__path_free(&log->allocator, new_path);
    } else {
        log->new_path = new_path;
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
    const enum unseen_status status = log_init(log, old->path, old, true, &old->allocator, error);
    const char *suffix = old->new_path ? NEW_DRAFT_SUFFIX : NEW_SUFFIX;
    return status == UNSEEN_OK ? log_make(log, header, suffix, &st, 0, error) : status;
}

static enum unseen_status made_meanwhile(const struct unseen__log *log, struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_BUSY, UNSEEN__NO_OFFSET,
                         "%s was made meanwhile, by another process", log->path);
}

/* Gives the new log its name, whatever has it now. */
static enum unseen_status take_name(struct unseen__log *log, struct unseen_error *error)
{
    int code = unseen__file_sync(log->fd);
    if (code == 0) {
        code = unseen__file_replace(log->new_path, log->file);
    }
    if (code != 0) {
        return unseen__error_io(error, "write", log->path, code);
    }
    unseen__path_free(&log->allocator, log->new_path);
    log->new_path = NULL;
    return UNSEEN_OK;
}

enum unseen_status unseen__log_publish(struct unseen__log *log, struct unseen__log *old,
                                       struct unseen_error *error)
{
    if (!old->new_path) {
        return unseen__log_has_name(old) ? take_name(log, error) : made_meanwhile(log, error);
    }
    if (rename(log->new_path, old->new_path) != 0) {
        return unseen__error_io(error, "write", log->path, errno);
    }
    unseen__path_free(&log->allocator, log->new_path);
    log->new_path = old->new_path;
    old->new_path = NULL;
    return UNSEEN_OK;
}

/* Gives a new log its name; *exists_out if that name is taken. A file system without hard links
 * cannot say so: if two processes make the same log at the same moment, one log is lost. */
static enum unseen_status publish_first(struct unseen__log *log, bool *exists_out,
                                        struct unseen_error *error)
{
    int code = unseen__file_sync(log->fd);
    if (code != 0) {
        return unseen__error_io(error, "write", log->path, code);
    }
    if (link(log->new_path, log->file) == 0) {
        (void)unlink(log->new_path); /* if this fails, the second name is harmless */
        unseen__path_free(&log->allocator, log->new_path);
        log->new_path = NULL;
        code = unseen__file_sync_name(log->file);
        return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
    }
    if (errno == EEXIST) {
        *exists_out = true;
        return UNSEEN_OK;
    }
    return take_name(log, error);
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
    /* The id makes the name unique: another process may be making the same log. */
    (void)snprintf(suffix, sizeof(suffix), ".%08x%s", (unsigned)load_le32(header->id), NEW_SUFFIX);
    enum unseen_status status = log_init(log, path, NULL, true, allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = log_make(log, header, suffix, NULL, mode, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = publish_first(log, exists_out, error);
    if (status != UNSEEN_OK || *exists_out) {
        unseen__log_release(log);
    }
    return status;
}

/* An empty file is not a log that somebody is making: a new log takes its name only when it is
 * complete. A process that waited for the lock of the empty file finds the new log then. */
enum unseen_status unseen__log_remove_empty(const char *path, const char *image,
                                            struct unseen_error *error)
{
    struct stat st;
    int fd = -1;
    if (lstat(path, &st) != 0) {
        return UNSEEN_ERR_MISSING;
    }
    if (!S_ISREG(st.st_mode)) {
        return UNSEEN_ERR_FOREIGN;
    }
    enum unseen_status status = unseen__lock_open(path, &fd, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = UNSEEN_ERR_MISSING;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
        (access(image, F_OK) == 0 || unlink(path) != 0)) {
        status = UNSEEN_ERR_FOREIGN;
    }
    unseen__lock_close(&fd, (long)getpid());
    return status;
}

/* ---- drafts ---- */

/* Makes and locks the file of a draft. Removes that of a killed process. */
static enum unseen_status make_draft(struct unseen__log *log,
                                     const struct unseen__log_header *header,
                                     const struct stat *other, unsigned mode,
                                     struct unseen_error *error)
{
    int folder = -1;
    log->header = *header;
    char *new_path = unseen__path_with(&log->allocator, log->file, DRAFT_SUFFIX);
    if (!new_path) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    const int code = unseen__file_open_folder(new_path, &folder);
    enum unseen_status status = code ? unseen__error_io(error, "create", new_path, code)
                                     : unseen__own_make(folder, unseen__file_name(new_path),
                                                        new_path, MODE_AT_WORK, &log->fd, error);
    if (folder >= 0) {
        (void)close(folder); /* nothing was written through it */
    }
    if (status != UNSEEN_OK) {
        unseen__path_free(&log->allocator, new_path); /* the file, if there is one, is not ours */
        return status;
    }
    log->new_path = new_path;
    return write_headers(log, other, mode, error);
}

enum unseen_status unseen__log_start_draft(struct unseen__log *log, const char *path,
                                           const struct unseen__log_header *header, unsigned mode,
                                           const struct unseen_allocator *allocator,
                                           struct unseen_error *error)
{
    enum unseen_status status = log_init(log, path, NULL, true, allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct unseen__log_header fresh = *header;
    fresh.head = new_head;
    status = make_draft(log, &fresh, NULL, mode, error);
    unseen__secret_forget(&fresh.secret);
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
    }
    return status;
}

/* Copies bytes of `old` to where they are. */
static enum unseen_status copy_bytes(struct unseen__log *log, const struct unseen__log *old,
                                     uint64_t at, uint64_t end, struct unseen_error *error)
{
    int code = 0;
    while (code == 0 && at < end) {
        const size_t wanted = end - at < COPY_LEN ? (size_t)(end - at) : COPY_LEN;
        size_t got = 0;
        code = unseen__file_read(old->fd, at, log->buf, wanted, &got);
        if (code == 0 && got < wanted) {
            code = EIO;
        }
        if (code != 0) {
            return unseen__error_io(error, "read", old->path, code);
        }
        code = unseen__file_write(log->fd, at, log->buf, got);
        at += got;
    }
    return code ? unseen__error_io(error, "write", log->new_path, code) : UNSEEN_OK;
}

/* Appends the records of `old` as they are: header, offsets and checksums are the same. */
static enum unseen_status copy_records(struct unseen__log *log, const struct unseen__log *old,
                                       struct unseen_error *error)
{
    const struct unseen__log_head *head = &old->header.head;
    const uint64_t name = head->output_offset;
    const uint64_t name_end = head->offset - name < NAME_LEN ? head->offset : name + NAME_LEN;
    enum unseen_status status = UNSEEN_OK;
    if (!array_resize(&log->allocator, &log->buf, &log->cap, COPY_LEN, 1)) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    if (name > 0) {
        status = copy_bytes(log, old, name, name_end, error);
    }
    if (status == UNSEEN_OK) {
        status = copy_bytes(log, old, head->offset, old->end, error);
    }
    log->end = old->end;
    log->last_offset = old->last_offset;
    log->number = old->number;
    log->record_checksum = old->record_checksum;
    log->time = old->time;
    return status;
}

enum unseen_status unseen__log_copy(struct unseen__log *log, const struct unseen__log *old,
                                    struct unseen_error *error)
{
    struct stat st;
    if (fstat(old->fd, &st) != 0) {
        return unseen__error_io(error, "read", old->path, errno);
    }
    enum unseen_status status = log_init(log, old->path, old, true, &old->allocator, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = make_draft(log, &old->header, &st, 0, error);
    if (status == UNSEEN_OK) {
        status = copy_records(log, old, error);
    }
    if (status != UNSEEN_OK) {
        unseen__log_release(log);
    }
    return status;
}

enum unseen_status unseen__log_publish_draft(struct unseen__log *log, struct unseen__log *old,
                                             struct unseen_error *error)
{
    bool exists = false;
    if (old) {
        return unseen__log_publish(log, old, error);
    }
    const enum unseen_status status = publish_first(log, &exists, error);
    return exists ? made_meanwhile(log, error) : status;
}

/* ---- appending ---- */

enum unseen_status unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                      const uint8_t *payload, const uint8_t *bits,
                                      const struct unseen__run *runs, bool sync,
                                      struct unseen_error *error)
{
    const unsigned key_bits = log->header.key_bits;
    const size_t len = unseen__record_len(&record, key_bits);
    const size_t payload_len =
        record.n * (unseen__record_has_keys(&record) ? unseen__key_bytes(key_bits) : 1);
    if (!array_resize(&log->allocator, &log->buf, &log->cap, len, 1)) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, log->path);
    }
    record.offset = log->end;
    record.number = log->number + 1;
    record.time = record.time > log->time ? record.time : log->time;
    memset(log->buf, 0, len);
    unseen__record_encode_head(&record, log->buf);
    if (payload) {
        memcpy(log->buf + UNSEEN__RECORD_HEAD, payload, payload_len);
    }
    if (bits) {
        memcpy(log->buf + unseen__record_bits_offset(&record, key_bits), bits,
               ((size_t)record.n + 7) / 8);
    }
    for (uint32_t i = 0; i < record.nruns; i++) {
        unseen__record_run_encode(&runs[i], log->buf +
                                                unseen__record_runs_offset(&record, key_bits) +
                                                (size_t)i * UNSEEN__RUN_LEN);
    }
    const uint64_t checksum = unseen__record_checksum(log->buf, len, log->header.id);
    store_le64(log->buf + len - UNSEEN__RECORD_TAIL, checksum);
    int code = unseen__file_write(log->fd, log->end, log->buf, len);
    if (code == 0 && sync) {
        code = unseen__file_sync(log->fd);
    }
    if (code != 0) {
        /* After a failed sync the kernel may drop bytes that never reached the disk. No reader may
         * find the record and take it for durable. */
        (void)unseen__file_truncate(log->fd, log->end);
        return unseen__error_io(error, "write", log->path, code);
    }
    log->ends_open = record.n > 0;
    log->last_offset = log->end;
    log->end += len;
    log->number = record.number;
    log->record_checksum = checksum;
    log->time = record.time;
    return UNSEEN_OK;
}

enum unseen_status unseen__log_append_empty(struct unseen__log *log, bool sync,
                                            struct unseen_error *error)
{
    const struct unseen__record empty = {.kind = UNSEEN__RECORD_CHANGES,
                                         .output_len = UNSEEN__NO_OUTPUT};
    return unseen__log_append(log, empty, NULL, NULL, NULL, sync, error);
}

enum unseen_status unseen__log_append_end(struct unseen__log *log, struct unseen_error *error)
{
    return log->ends_open ? unseen__log_append_empty(log, false, error) : UNSEEN_OK;
}

/* A new log or image that a killed process has left is of no use. Only the holder of the lock
 * writes such a file. If this fails, the file is harmless. */
static void remove_left(const struct unseen__log *log)
{
    static const char *const suffixes[] = {NEW_SUFFIX, UNSEEN__NEW_IMAGE_SUFFIX};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char *left = unseen__path_with(&log->allocator, log->file, suffixes[i]);
        if (left) {
            (void)unlink(left);
        }
        unseen__path_free(&log->allocator, left);
    }
}

enum unseen_status unseen__log_settle(struct unseen__log *log, struct unseen_error *error)
{
    remove_left(log);
    uint64_t size = 0;
    int code = unseen__file_size(log->fd, &size);
    if (code == 0 && size > log->end) {
        code = unseen__file_truncate(log->fd, log->end);
    }
    code = code ? code : unseen__file_sync(log->fd);
    code = code ? code : unseen__file_sync_name(log->file);
    return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
}

/* ---- giving the disk back ---- */

enum unseen_status unseen__log_move_head(struct unseen__log *log,
                                         const struct unseen__log_head *head,
                                         struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__HEADER_LEN];
    int code = 0;
    log->header.head = *head;
    unseen__header_encode(&log->header, bytes);
    for (uint64_t copy = 0; code == 0 && copy < UNSEEN__RECORDS_OFFSET; copy += sizeof(bytes)) {
        code = unseen__file_write(log->fd, copy, bytes, sizeof(bytes));
        code = code ? code : unseen__file_sync(log->fd);
    }
    return code ? unseen__error_io(error, "write", log->path, code) : UNSEEN_OK;
}

/* Whole blocks only: no byte of a block that stays is written. */
static bool punch(int fd, uint64_t from, uint64_t to)
{
    const uint64_t start = (from + BLOCK - 1) / BLOCK * BLOCK;
    const uint64_t end = to / BLOCK * BLOCK;
    return start >= end || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)start,
                                     (off_t)(end - start)) == 0;
}

bool unseen__log_punch(const struct unseen__log *log, uint64_t end)
{
    const uint64_t name = log->header.head.output_offset;
    return name == 0 || name >= end ? punch(log->fd, UNSEEN__RECORDS_OFFSET, end)
                                    : punch(log->fd, UNSEEN__RECORDS_OFFSET, name) &&
                                          punch(log->fd, name + NAME_LEN, end);
}
