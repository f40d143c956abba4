/* SPDX-License-Identifier: MIT */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "list/edit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "list/open.h"

enum {
    RECORD_LEAST = 4096,
    AROUND = UNSEEN__CHANGES_HEAD + 7 + UNSEEN__CHANGES_TAIL /* what a record has beside changes */
};

/* ---- opening ---- */

static enum unseen_status read_changes(struct unseen__list_edit *edit, struct unseen_error *error)
{
    struct unseen__list_places places;
    const enum unseen_status status = unseen__list_file_look(edit->fd, edit->path, &edit->allocator,
                                                             &edit->header, &places, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen__list_header *header = &edit->header;
    unseen__hasher_init(&edit->hasher, &header->secret, UNSEEN_CPU_PORTABLE);
    unseen__list_changes_init(&edit->changes, edit->path, &edit->hasher, header->sum, places.end,
                              &edit->allocator);
    return unseen__list_changes_read(&edit->changes, edit->fd, NULL, error);
}

enum unseen_status unseen__list_edit_open(struct unseen__list_edit *edit, const char *path,
                                          const struct unseen_allocator *allocator,
                                          struct unseen_error *error)
{
    *edit = (struct unseen__list_edit){.allocator = *allocator, .fd = -1};
    unseen__list_changes_init(&edit->changes, path, &edit->hasher, 0, 0, allocator);
    const size_t len = strlen(path) + 1;
    edit->path = unseen__alloc(allocator, len, 1);
    if (!edit->path) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    memcpy(edit->path, path, len);
    enum unseen_status status = unseen__lock_open(path, O_RDWR, &edit->fd, error);
    if (status == UNSEEN_OK) {
        edit->opener = (long)getpid();
        edit->has_name = unseen__lock_has_name(edit->fd, path);
        status = read_changes(edit, error);
    }
    if (status != UNSEEN_OK) {
        unseen__list_edit_release(edit);
    }
    return status;
}

void unseen__list_edit_release(struct unseen__list_edit *edit)
{
    if (edit->fd >= 0) {
        /* A child made by fork has the lock, too: it would outlive us there. */
        if (edit->opener == (long)getpid()) {
            (void)flock(edit->fd, LOCK_UN);
        }
        (void)close(edit->fd); /* everything that matters has been synced */
    }
    unseen__list_changes_release(&edit->changes);
    unseen__hasher_release(&edit->hasher);
    unseen__secret_forget(&edit->header.secret);
    unseen__free(&edit->allocator, edit->record, edit->cap);
    unseen__free(&edit->allocator, edit->path, strlen(edit->path) + 1);
}

/* ---- changing ---- */

static bool reserve_record(struct unseen__list_edit *edit, size_t nbytes)
{
    size_t cap = edit->cap < RECORD_LEAST ? RECORD_LEAST : edit->cap;
    if (nbytes > SIZE_MAX / 4 - AROUND - edit->nbytes) {
        return false;
    }
    while (cap < AROUND + edit->nbytes + nbytes) {
        cap *= 2;
    }
    if (cap == edit->cap) {
        return true;
    }
    uint8_t *record = unseen__alloc(&edit->allocator, cap, 64);
    if (!record) {
        return false;
    }
    if (edit->nbytes > 0) {
        memcpy(record + UNSEEN__CHANGES_HEAD, edit->record + UNSEEN__CHANGES_HEAD, edit->nbytes);
    }
    unseen__free(&edit->allocator, edit->record, edit->cap);
    edit->record = record;
    edit->cap = cap;
    return true;
}

/* Room for everything, so that nothing fails in the middle. */
static enum unseen_status reserve(struct unseen__list_edit *edit, const struct unseen_bytes *items,
                                  size_t n)
{
    size_t nbytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (items[i].len > UINT32_MAX) {
            return UNSEEN_ERR_ARGUMENT;
        }
        if (items[i].len > SIZE_MAX / 4 - nbytes) {
            return UNSEEN_ERR_NOMEM;
        }
        nbytes += items[i].len;
    }
    size_t heads;
    if (!size_mul(n, UNSEEN__CHANGE_HEAD, &heads) || heads >= SIZE_MAX / 4) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status = unseen__list_texts_reserve(&edit->changes.texts, n, nbytes);
    if (status != UNSEEN_OK) {
        return status;
    }
    return reserve_record(edit, heads + nbytes) ? UNSEEN_OK : UNSEEN_ERR_NOMEM;
}

static void put_change(struct unseen__list_edit *edit, enum unseen_list_change change,
                       const struct unseen_bytes *item)
{
    uint8_t *to = edit->record + UNSEEN__CHANGES_HEAD + edit->nbytes;
    to[0] = (uint8_t)change;
    store_le32(to + 1, (uint32_t)item->len);
    if (item->len > 0) {
        memcpy(to + UNSEEN__CHANGE_HEAD, item->data, item->len);
    }
    edit->nbytes += UNSEEN__CHANGE_HEAD + item->len;
    edit->n++;
}

enum unseen_status unseen__list_edit_change(struct unseen__list_edit *edit,
                                            enum unseen_list_change change,
                                            const struct unseen_bytes *items, size_t n,
                                            uint8_t *changed, struct unseen_error *error)
{
    enum unseen_status status = edit->stopped ? UNSEEN_ERR_STOPPED
                                : change < UNSEEN_LIST_ALLOW || change > UNSEEN_LIST_REMOVE
                                    ? UNSEEN_ERR_ARGUMENT
                                    : UNSEEN_OK;
    if (status == UNSEEN_OK && n > 0) {
        status = reserve(edit, items, n);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, edit->path);
    }
    for (size_t i = 0; i < n; i++) {
        const bool is_change =
            unseen__list_texts_change(&edit->changes.texts, change, items[i].data, items[i].len);
        if (is_change) {
            put_change(edit, change, &items[i]);
        }
        if (changed) {
            changed[i] = is_change;
        }
    }
    return UNSEEN_OK;
}

/* ---- committing ---- */

/* What an interrupted commit has left goes first: behind this one it would look like damage. */
static int append(const struct unseen__list_edit *edit, size_t len)
{
    const uint64_t end = edit->changes.end;
    int code = edit->changes.ntorn > 0 ? unseen__file_truncate(edit->fd, end) : 0;
    code = code ? code : unseen__file_write(edit->fd, end, edit->record, len);
    code = code ? code : unseen__file_sync(edit->fd);
    if (code != 0) {
        /* After a failed sync the kernel may call bytes clean that are not on the disk. Nobody must
         * find the record and take it for durable. */
        (void)unseen__file_truncate(edit->fd, end);
    }
    return code;
}

/* Another file may get the name at any time: who renames it over this one need not know of locks. */
static enum unseen_status check_name(struct unseen__list_edit *edit, struct unseen_error *error)
{
    if (!edit->has_name || unseen__lock_has_name(edit->fd, edit->path)) {
        return UNSEEN_OK;
    }
    edit->stopped = true;
    return unseen__error(error, UNSEEN_ERR_MISMATCH, UNSEEN__NO_OFFSET,
                         "%s was replaced by another file while it was being changed", edit->path);
}

/* Behind what is no list any more, or behind a gap, nobody would find the changes. */
static enum unseen_status check_file(struct unseen__list_edit *edit, struct unseen_error *error)
{
    uint64_t size = 0;
    enum unseen_status status = unseen__list_file_check(edit->fd, edit->path, &edit->header, error);
    const int code = status == UNSEEN_OK ? unseen__file_size(edit->fd, &size) : 0;
    if (code != 0) {
        status = unseen__error_io(error, "read", edit->path, code);
    } else if (status == UNSEEN_OK && size < edit->changes.end) {
        status = unseen__error(error, UNSEEN_ERR_MISMATCH, size,
                               "%s was cut short while it was being changed", edit->path);
    }
    edit->stopped = status != UNSEEN_OK;
    return status;
}

enum unseen_status unseen__list_edit_commit(struct unseen__list_edit *edit,
                                            struct unseen_error *error)
{
    if (edit->stopped) {
        return unseen__error_status(error, UNSEEN_ERR_STOPPED, edit->path);
    }
    enum unseen_status status = check_name(edit, error);
    if (edit->n == 0 || status != UNSEEN_OK) {
        return status;
    }
    status = check_file(edit, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const size_t len =
        unseen__list_changes_seal(&edit->changes, edit->n, edit->record, edit->nbytes);
    const int code = append(edit, len);
    if (code != 0) {
        edit->stopped = true;
        return unseen__error_io(error, "write", edit->path, code);
    }
    unseen__list_changes_appended(&edit->changes, edit->record, len);
    edit->n = 0;
    edit->nbytes = 0;
    return check_name(edit, error);
}
