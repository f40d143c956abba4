/* SPDX-License-Identifier: MIT */
#include "log/scan.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum {
    READ_AHEAD = 1 << 20,
    HASHED_MAX = 64 << 20 /* a scan hashes this many bytes, and 8 times the log, at most */
};

enum unseen_status unseen__scan_init(struct unseen__scan *scan, const struct unseen__log *log,
                                     uint64_t offset, uint64_t number, struct unseen_error *error)
{
    *scan = (struct unseen__scan){.log = log, .offset = offset, .number = number};
    const int code = unseen__file_stamp(log->fd, &scan->file);
    scan->size = scan->file.size;
    return code ? unseen__error_io(error, "read", log->path, code) : UNSEEN_OK;
}

void unseen__scan_release(struct unseen__scan *scan)
{
    array_free(&scan->log->allocator, &scan->buf, &scan->cap, 1);
}

/* The len bytes at offset; *bytes_out is NULL if the file ends before. Bytes in front of the
 * buffer, which only a search asks for, are read again. */
static enum unseen_status need(struct unseen__scan *scan, uint64_t offset, size_t len,
                               const uint8_t **bytes_out, struct unseen_error *error)
{
    *bytes_out = NULL;
    if (offset > scan->size || len > scan->size - offset) {
        return UNSEEN_OK;
    }
    const uint64_t buf_end = scan->buf_offset + scan->len;
    if (offset < scan->buf_offset || offset + len > buf_end) {
        const bool overlaps = offset >= scan->buf_offset && offset < buf_end;
        const size_t kept = overlaps ? (size_t)(buf_end - offset) : 0;
        if (kept > 0) {
            memmove(scan->buf, scan->buf + (offset - scan->buf_offset), kept);
        }
        scan->buf_offset = offset;
        scan->len = kept;
        const uint64_t rest = scan->size - offset;
        const size_t ahead = rest < READ_AHEAD ? (size_t)rest : READ_AHEAD;
        const size_t wanted = len > ahead ? len : ahead;
        if (!array_resize(&scan->log->allocator, &scan->buf, &scan->cap, wanted, 1)) {
            return unseen__error_status(error, UNSEEN_ERR_NOMEM, scan->log->path);
        }
        size_t got = 0;
        const int code =
            unseen__file_read(scan->log->fd, offset + kept, scan->buf + kept, wanted - kept, &got);
        if (code != 0) {
            scan->len = 0;
            return unseen__error_io(error, "read", scan->log->path, code);
        }
        scan->len = kept + got;
        if (scan->len < len) {
            return UNSEEN_OK; /* the file has become shorter since */
        }
    }
    *bytes_out = scan->buf + (offset - scan->buf_offset);
    return UNSEEN_OK;
}

/* *bytes_out is the intact record at offset, NULL if there is none. */
static enum unseen_status read_record(struct unseen__scan *scan, uint64_t offset,
                                      struct unseen__record *record, const uint8_t **bytes_out,
                                      struct unseen_error *error)
{
    const uint8_t *bytes = NULL;
    *bytes_out = NULL;
    enum unseen_status status =
        need(scan, offset, UNSEEN__RECORD_HEAD + UNSEEN__RECORD_TAIL, &bytes, error);
    if (status != UNSEEN_OK || !bytes || !unseen__record_decode_head(bytes, offset, record)) {
        return status;
    }
    const size_t len = unseen__record_len(record, scan->log->header.key_bits);
    status = need(scan, offset, len, &bytes, error);
    scan->nhashed += bytes ? len : 0;
    if (status == UNSEEN_OK && bytes &&
        load_le64(bytes + len - UNSEEN__RECORD_TAIL) ==
            unseen__record_checksum(bytes, len, scan->log->header.id)) {
        *bytes_out = bytes;
    }
    if (*bytes_out &&
        !unseen__record_runs_are_valid(
            record, bytes + unseen__record_runs_offset(record, scan->log->header.key_bits))) {
        *bytes_out = NULL;
    }
    if (*bytes_out && !unseen__record_is_known(record)) {
        return unseen__error(error, UNSEEN_ERR_VERSION, offset,
                             "%s was written by another version of unseen", scan->log->path);
    }
    return status;
}

/* Moves *offset_out forward to the next mark of a record, or to the size of the file. */
static enum unseen_status find_mark(struct unseen__scan *scan, uint64_t *offset_out,
                                    struct unseen_error *error)
{
    uint64_t offset = *offset_out;
    while (offset < scan->size) {
        const uint8_t *bytes = NULL;
        const uint64_t rest = scan->size - offset;
        const size_t len = rest < READ_AHEAD / 2 ? (size_t)rest : READ_AHEAD / 2;
        const enum unseen_status status = need(scan, offset, len, &bytes, error);
        if (status != UNSEEN_OK || !bytes) {
            *offset_out = scan->size;
            return status;
        }
        for (size_t i = 0; i + 4 <= len; i += 8) {
            if (load_le32(bytes + i) == UNSEEN__RECORD_MARK) {
                *offset_out = offset + i;
                return UNSEEN_OK;
            }
        }
        offset += (len + 7) & ~(size_t)7;
    }
    *offset_out = scan->size;
    return UNSEEN_OK;
}

/* Finds the first intact record behind scan->offset. A hostile log can hold many heads without
 * records, each of which has to be hashed. So the search is given up when the scan has hashed too
 * many bytes. */
static enum unseen_status find_next(struct unseen__scan *scan, bool *found_out,
                                    struct unseen_error *error)
{
    struct unseen__record record;
    *found_out = false;
    for (uint64_t offset = scan->offset + 8;; offset += 8) {
        const uint8_t *bytes = NULL;
        enum unseen_status status = find_mark(scan, &offset, error);
        if (status == UNSEEN_OK && offset < scan->size) {
            status = read_record(scan, offset, &record, &bytes, error);
        }
        if (status != UNSEEN_OK || offset >= scan->size) {
            return status;
        }
        if (bytes && record.number > scan->number) {
            scan->next = offset;
            *found_out = true;
            return UNSEEN_OK;
        }
        if (scan->nhashed > HASHED_MAX + 8 * scan->size) {
            return unseen__error(error, UNSEEN_ERR_CORRUPT, scan->offset,
                                 "%s is damaged from byte %llu on, beyond repair", scan->log->path,
                                 (unsigned long long)scan->offset);
        }
    }
}

static void scan_show(struct unseen__scan *scan, const struct unseen__record *record,
                      const uint8_t *bytes)
{
    const unsigned key_bits = scan->log->header.key_bits;
    const size_t len = unseen__record_len(record, key_bits);
    const bool removals =
        record->kind == UNSEEN__RECORD_CHANGES && (record->flags & UNSEEN__FLAG_REMOVALS);
    scan->record = *record;
    scan->payload = bytes + UNSEEN__RECORD_HEAD;
    scan->bits = removals ? bytes + unseen__record_bits_offset(record, key_bits) : NULL;
    scan->runs = bytes + unseen__record_runs_offset(record, key_bits);
    scan->goes_back = record->time < scan->time;
    scan->time = scan->goes_back ? scan->time : record->time;
    scan->record_checksum = load_le64(bytes + len - UNSEEN__RECORD_TAIL);
    scan->number = record->number;
    scan->skipped = false;
    scan->offset += len;
}

enum unseen_status unseen__scan_next(struct unseen__scan *scan, enum unseen__scan_state *state_out,
                                     struct unseen_error *error)
{
    struct unseen__record record;
    const uint8_t *bytes = NULL;
    if (scan->offset >= scan->size) {
        *state_out = UNSEEN__SCAN_END;
        return UNSEEN_OK;
    }
    enum unseen_status status = read_record(scan, scan->offset, &record, &bytes, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (bytes && (scan->skipped || record.number == scan->number + 1)) {
        scan_show(scan, &record, bytes);
        *state_out = UNSEEN__SCAN_RECORD;
        return UNSEEN_OK;
    }
    bool found = false;
    if (bytes) {
        scan->next = scan->offset; /* intact, but records before it are missing */
        found = true;
    } else {
        status = find_next(scan, &found, error);
    }
    const uint64_t head = scan->log->header.head.offset;
    if (!found && scan->offset == head && head > UNSEEN__RECORDS_OFFSET) {
        scan->next = scan->size; /* there was a record when the head was moved here */
        found = true;
    }
    *state_out = found ? UNSEEN__SCAN_DAMAGED : UNSEEN__SCAN_TORN;
    return status;
}

void unseen__scan_skip(struct unseen__scan *scan)
{
    scan->offset = scan->next;
    scan->skipped = true;
}
