/* SPDX-License-Identifier: MIT
 *
 * Reads and makes the records of changes behind a list. */
#include "base/posix.h"

#include "list/changes.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "hash/checksum.h"

enum {
    KIND_CHANGES = 1,
    HASHED_MAX = 64 << 20 /* bytes hashed for heads without records, then a search is given up */
};

/* The first four bytes of a record, as a number: "UNTR". */
#define RECORD_MARK 0x52544e55u

struct head {
    uint32_t kind;
    uint64_t offset;
    uint64_t number;
    uint64_t nbytes; /* of the changes */
    uint64_t n;
};

/* One reading of the file. */
struct reader {
    const struct unseen__list_changes *changes;
    int fd;
    struct unseen__file_stamp file; /* when the reading began */
    uint8_t *buf;
    size_t cap;
    uint64_t nhashed;
};

void unseen__list_changes_init(struct unseen__list_changes *changes, const char *path,
                               const struct unseen__hasher *hasher, uint64_t list_checksum,
                               uint64_t start, const struct unseen_allocator *allocator)
{
    *changes = (struct unseen__list_changes){
        .path = path, .list_checksum = list_checksum, .start = start, .end = start};
    unseen__list_texts_init(&changes->texts, hasher, allocator);
}

void unseen__list_changes_release(struct unseen__list_changes *changes)
{
    unseen__list_texts_release(&changes->texts);
}

/* ---- records ---- */

static uint64_t checksum_of(const struct unseen__list_changes *changes, const uint8_t *bytes,
                            size_t len)
{
    return unseen__checksum_seeded(bytes, len - UNSEEN__CHANGES_TAIL, changes->list_checksum);
}

size_t unseen__list_changes_seal(const struct unseen__list_changes *changes, uint64_t n,
                                 uint8_t *bytes, size_t nbytes)
{
    const size_t body = UNSEEN__CHANGES_HEAD + nbytes;
    const size_t len = round_up_8(body) + UNSEEN__CHANGES_TAIL;
    memset(bytes, 0, UNSEEN__CHANGES_HEAD);
    memset(bytes + body, 0, len - body);
    store_le32(bytes, RECORD_MARK);
    store_le32(bytes + 4, KIND_CHANGES);
    store_le64(bytes + 8, changes->end);
    store_le64(bytes + 16, changes->number + 1);
    store_le64(bytes + 24, nbytes);
    store_le64(bytes + 32, n);
    store_le64(bytes + len - UNSEEN__CHANGES_TAIL, checksum_of(changes, bytes, len));
    return len;
}

void unseen__list_changes_appended(struct unseen__list_changes *changes, const uint8_t *bytes,
                                   size_t len)
{
    changes->end += len;
    changes->number++;
    changes->last_checksum = load_le64(bytes + len - UNSEEN__CHANGES_TAIL);
    changes->ntorn = 0;
}

static bool decode_head(const uint8_t bytes[UNSEEN__CHANGES_HEAD], uint64_t offset,
                        struct head *head_out)
{
    *head_out = (struct head){
        .kind = load_le32(bytes + 4),
        .offset = load_le64(bytes + 8),
        .number = load_le64(bytes + 16),
        .nbytes = load_le64(bytes + 24),
        .n = load_le64(bytes + 32),
    };
    return load_le32(bytes) == RECORD_MARK && head_out->offset == offset && head_out->number != 0;
}

/* ---- reading ---- */

enum unseen_status unseen__list_damaged(const char *path, uint64_t offset,
                                        struct unseen_error *error)
{
    return unseen__error(error, UNSEEN_ERR_CORRUPT, offset, "%s is damaged at byte %llu", path,
                         (unsigned long long)offset);
}

/* Reads the len bytes at offset into the buffer. *got_out is false if the file has become
 * shorter. */
static enum unseen_status fetch_bytes(struct reader *r, uint64_t offset, size_t len, bool *got_out,
                                      struct unseen_error *error)
{
    size_t got = 0;
    if (!array_resize(&r->changes->texts.allocator, &r->buf, &r->cap, len, 1)) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, r->changes->path);
    }
    const int code = unseen__file_read(r->fd, offset, r->buf, len, &got);
    *got_out = got == len;
    return code ? unseen__error_io(error, "read", r->changes->path, code) : UNSEEN_OK;
}

/* Looks for an intact record at offset. If there is one, *intact_out is true, and the record is in
 * the buffer, *len_out bytes. */
static enum unseen_status changes_read_record(struct reader *r, uint64_t offset,
                                              struct head *head_out, size_t *len_out,
                                              bool *intact_out, struct unseen_error *error)
{
    uint8_t bytes[UNSEEN__CHANGES_HEAD];
    size_t got = 0;
    *intact_out = false;
    const int code = unseen__file_read(r->fd, offset, bytes, sizeof(bytes), &got);
    if (code != 0) {
        return unseen__error_io(error, "read", r->changes->path, code);
    }
    const uint64_t least = UNSEEN__CHANGES_HEAD + UNSEEN__CHANGES_TAIL;
    const uint64_t rest = offset < r->file.size ? r->file.size - offset : 0;
    if (got < sizeof(bytes) || !decode_head(bytes, offset, head_out) || rest < least ||
        head_out->nbytes > rest - least || rest > SIZE_MAX / 2) {
        return UNSEEN_OK;
    }
    const size_t len =
        round_up_8(UNSEEN__CHANGES_HEAD + (size_t)head_out->nbytes) + UNSEEN__CHANGES_TAIL;
    if (len > rest) {
        return UNSEEN_OK;
    }
    *len_out = len;
    const enum unseen_status status = fetch_bytes(r, offset, len, intact_out, error);
    r->nhashed += len;
    *intact_out =
        status == UNSEEN_OK && *intact_out &&
        load_le64(r->buf + len - UNSEEN__CHANGES_TAIL) == checksum_of(r->changes, r->buf, len);
    return status;
}

/* Looks for an intact record behind the end, where there is none. Each head makes it hash a record,
 * and a file may be full of heads without records: so after some bytes the search ends with
 * CORRUPT. */
static enum unseen_status find_later(struct reader *r, bool *found_out, struct unseen_error *error)
{
    struct head head;
    uint8_t block[4096];
    size_t len = 0;
    *found_out = false;
    r->nhashed = 0;
    for (uint64_t at = r->changes->end + 8; at < r->file.size; at += sizeof(block)) {
        size_t got = 0;
        const int code = unseen__file_read(r->fd, at, block, sizeof(block), &got);
        if (code != 0) {
            return unseen__error_io(error, "read", r->changes->path, code);
        }
        for (size_t i = 0; i + 8 <= got; i += 8) {
            if (load_le32(block + i) != RECORD_MARK) {
                continue;
            }
            const enum unseen_status status =
                changes_read_record(r, at + i, &head, &len, found_out, error);
            if (status != UNSEEN_OK || *found_out) {
                return status;
            }
            if (r->nhashed > HASHED_MAX + 8 * r->file.size) {
                return unseen__list_damaged(r->changes->path, r->changes->end, error);
            }
        }
    }
    return UNSEEN_OK;
}

/* Decodes one change of a record and moves *at behind it. Returns false if the change is not sound
 * or goes beyond end. */
static bool next_change(const uint8_t **at, const uint8_t *end, enum unseen_list_change *change_out,
                        struct unseen_bytes *text_out)
{
    const size_t rest = (size_t)(end - *at);
    if (rest < UNSEEN__CHANGE_HEAD || **at < UNSEEN_LIST_ALLOW || **at > UNSEEN_LIST_REMOVE ||
        load_le32(*at + 1) > rest - UNSEEN__CHANGE_HEAD) {
        return false;
    }
    *change_out = (enum unseen_list_change) * *at;
    *text_out = (struct unseen_bytes){(const char *)*at + UNSEEN__CHANGE_HEAD, load_le32(*at + 1)};
    *at += UNSEEN__CHANGE_HEAD + text_out->len;
    return true;
}

/* Checks all changes of a record, and their number, before the first is made. */
static bool is_sound(const struct head *head, const uint8_t *bytes)
{
    const uint8_t *at = bytes + UNSEEN__CHANGES_HEAD;
    const uint8_t *const end = at + head->nbytes;
    uint64_t n = 0;
    enum unseen_list_change change;
    struct unseen_bytes text;
    while (at < end) {
        if (!next_change(&at, end, &change, &text)) {
            return false;
        }
        n++;
    }
    return n == head->n;
}

static enum unseen_status take_record(struct unseen__list_changes *changes, const struct head *head,
                                      const uint8_t *bytes, size_t len, struct unseen_error *error)
{
    const uint8_t *at = bytes + UNSEEN__CHANGES_HEAD;
    const uint8_t *const end = at + head->nbytes;
    enum unseen_list_change change;
    struct unseen_bytes text;
    if (head->kind != KIND_CHANGES) {
        return unseen__error(error, UNSEEN_ERR_VERSION, head->offset,
                             "%s was written by another version of unseen", changes->path);
    }
    if (!is_sound(head, bytes)) {
        return unseen__list_damaged(changes->path, head->offset, error);
    }
    const enum unseen_status status =
        head->n > 0
            ? unseen__list_texts_reserve(&changes->texts, (size_t)head->n, (size_t)head->nbytes)
            : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, changes->path);
    }
    while (next_change(&at, end, &change, &text)) {
        (void)unseen__list_texts_change(&changes->texts, change, text.data, text.len);
    }
    unseen__list_changes_appended(changes, bytes, len);
    return UNSEEN_OK;
}

/* Looks at the end. *intact_out: an intact record is there, and in the buffer. *later_out: none is
 * there, but an intact record follows. */
static enum unseen_status look_at_end(struct reader *r, struct head *head_out, size_t *len_out,
                                      bool *intact_out, bool *later_out, struct unseen_error *error)
{
    const uint64_t end = r->changes->end;
    *later_out = false;
    enum unseen_status status = changes_read_record(r, end, head_out, len_out, intact_out, error);
    if (status == UNSEEN_OK && !*intact_out) {
        status = find_later(r, later_out, error);
    }
    /* A writer may have replaced an interrupted commit between the two looks. */
    return status == UNSEEN_OK && *later_out
               ? changes_read_record(r, end, head_out, len_out, intact_out, error)
               : status;
}

static enum unseen_status read_on(struct unseen__list_changes *changes, struct reader *r,
                                  struct unseen_error *error)
{
    changes->ntorn = 0;
    while (changes->end < r->file.size) {
        struct head head;
        size_t len = 0;
        bool intact = false;
        bool later = false;
        enum unseen_status status = look_at_end(r, &head, &len, &intact, &later, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        if (!intact && !later) {
            changes->ntorn = r->file.size - changes->end;
            changes->torn = r->file;
            return UNSEEN_OK;
        }
        if (!intact || head.number != changes->number + 1) {
            return unseen__list_damaged(changes->path, changes->end, error);
        }
        status = take_record(changes, &head, r->buf, len, error);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status start_reader(struct reader *r, const struct unseen__list_changes *changes,
                                       int fd, struct unseen_error *error)
{
    *r = (struct reader){.changes = changes, .fd = fd};
    const int code = unseen__file_stamp(fd, &r->file);
    return code ? unseen__error_io(error, "read", changes->path, code) : UNSEEN_OK;
}

/* Does the file still end in the interrupted commit of the last reading? Searching it again may
 * take long and finds nothing new. */
static bool is_torn_as_before(const struct reader *r)
{
    const struct unseen__list_changes *changes = r->changes;
    return changes->ntorn > 0 && unseen__file_stamp_equals(&r->file, &changes->torn);
}

/* Reads all records into `fresh`. */
static enum unseen_status read_afresh(const struct unseen__list_changes *changes, int fd,
                                      struct unseen__list_changes *fresh,
                                      struct unseen_error *error)
{
    struct reader r;
    unseen__list_changes_init(fresh, changes->path, changes->texts.list, changes->list_checksum,
                              changes->start, &changes->texts.allocator);
    enum unseen_status status = start_reader(&r, fresh, fd, error);
    if (status == UNSEEN_OK) {
        status = read_on(fresh, &r, error);
    }
    unseen__free(&changes->texts.allocator, r.buf, r.cap);
    if (status != UNSEEN_OK) {
        unseen__list_changes_release(fresh);
    }
    return status;
}

/* Is the last record still in the file? A writer whose sync failed cuts off a record that a reader
 * may have read already. */
static enum unseen_status is_as_before(const struct reader *r, bool *same_out,
                                       struct unseen_error *error)
{
    const struct unseen__list_changes *changes = r->changes;
    uint8_t checksum[UNSEEN__CHANGES_TAIL];
    size_t got = 0;
    *same_out = true;
    if (changes->end == changes->start) {
        return UNSEEN_OK;
    }
    const int code =
        unseen__file_read(r->fd, changes->end - sizeof(checksum), checksum, sizeof(checksum), &got);
    *same_out = got == sizeof(checksum) && load_le64(checksum) == changes->last_checksum;
    return code ? unseen__error_io(error, "read", changes->path, code) : UNSEEN_OK;
}

enum unseen_status unseen__list_changes_read(struct unseen__list_changes *changes, int fd,
                                             bool *changed_out, struct unseen_error *error)
{
    struct reader r;
    bool same = true;
    const uint64_t end = changes->end;
    enum unseen_status status = start_reader(&r, changes, fd, error);
    if (status == UNSEEN_OK) {
        status = is_as_before(&r, &same, error);
    }
    if (status == UNSEEN_OK && same && !is_torn_as_before(&r)) {
        status = read_on(changes, &r, error);
    }
    unseen__free(&changes->texts.allocator, r.buf, r.cap);
    if (status == UNSEEN_OK && !same) {
        struct unseen__list_changes fresh;
        status = read_afresh(changes, fd, &fresh, error);
        if (status == UNSEEN_OK) {
            unseen__list_changes_release(changes);
            *changes = fresh;
        }
    }
    if (status == UNSEEN_OK && changed_out) {
        *changed_out = !same || changes->end != end;
    }
    return status;
}

enum unseen_status unseen__list_changes_verify(const struct unseen__list_changes *changes, int fd,
                                               struct unseen_error *error)
{
    struct unseen__list_changes fresh;
    const enum unseen_status status = read_afresh(changes, fd, &fresh, error);
    if (status == UNSEEN_OK) {
        unseen__list_changes_release(&fresh);
    }
    return status;
}
