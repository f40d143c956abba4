/* SPDX-License-Identifier: MIT
 *
 * The writer of a list's changes (unseen_list_edit). It holds the lock of the file, collects
 * changes in memory, and appends them as one record with each commit. If a commit fails, its record
 * is cut off again, and the next reader finds the list as it was. */
#include "base/posix.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "kind/kind.h"
#include "list/changes.h"
#include "list/list.h"

enum {
    RECORD_LEAST = 4096,
    AROUND = UNSEEN__CHANGES_HEAD + 7 +
             UNSEEN__CHANGES_TAIL /* most bytes of a record beside its changes */
};

struct unseen_list_edit {
    struct unseen_allocator allocator;
    char *path;
    int fd;
    long opener;   /* the process that took the lock, or 0 */
    bool has_name; /* path named this file when it was opened, as nearly always */
    struct unseen__list_header header;
    struct unseen__list_identity identity;
    struct unseen__list_room room;     /* for the text of one entry, */
    struct unseen__list_room question; /* and for those of its readings */
    struct unseen__hasher hasher;      /* makes the list's keys */
    struct unseen__list_changes changes;
    uint8_t *record; /* the changes that are not committed, from UNSEEN__CHANGES_HEAD on */
    size_t cap;
    size_t nbytes; /* of these changes */
    uint64_t n;
    bool is_settled; /* all that is in the file is on the disk */
    bool ends_open;  /* the last record that this process appended has changes */
    bool stopped;
};

/* The texts of one change: of an entry, and of its readings. */
struct text_list {
    struct unseen_bytes texts[1 + UNSEEN__KIND_READINGS_MAX];
    size_t n;
};

/* ---- opening ---- */

static enum unseen_status read_changes(struct unseen_list_edit *edit, struct unseen_error *error)
{
    struct unseen__list_offsets offsets;
    const enum unseen_status status = unseen__list_file_inspect(
        edit->fd, edit->path, &edit->allocator, &edit->header, &offsets, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen__list_header *header = &edit->header;
    unseen__hasher_init(&edit->hasher, &header->secret, UNSEEN_CPU_PORTABLE);
    unseen__list_changes_init(&edit->changes, edit->path, &edit->hasher, header->checksum,
                              offsets.end, &edit->allocator);
    return unseen__list_changes_read(&edit->changes, edit->fd, NULL, error);
}

/* Errors: BUSY, and those of unseen_list_open. */
static enum unseen_status open_edit(struct unseen_list_edit *edit, const char *path,
                                    struct unseen_error *error)
{
    unseen__list_changes_init(&edit->changes, path, &edit->hasher, 0, 0, &edit->allocator);
    edit->path = unseen__path_with(&edit->allocator, path, "");
    if (!edit->path) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    enum unseen_status status = unseen__lock_open(path, &edit->fd, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    edit->opener = (long)getpid();
    edit->has_name = unseen__lock_has_name(edit->fd, path);
    status = read_changes(edit, error);
    return status == UNSEEN_OK
               ? unseen__list_identity_read(&edit->identity, &edit->header, path,
                                            UNSEEN_CPU_PORTABLE, &edit->allocator, error)
               : status;
}

enum unseen_status unseen_list_edit_open(struct unseen_list_edit **edit_out, const char *path,
                                         const struct unseen_list_options *given,
                                         struct unseen_error *error)
{
    struct unseen_list_options options = {.size = sizeof(options)};
    enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_list_options", error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    const struct unseen_allocator allocator = unseen__allocator(options.allocator);
    struct unseen_list_edit *edit =
        unseen__alloc_zero(&allocator, sizeof(*edit), _Alignof(max_align_t));
    if (!edit) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    edit->allocator = allocator;
    edit->fd = -1;
    status = open_edit(edit, path, error);
    if (status != UNSEEN_OK) {
        unseen_list_edit_close(edit);
        return status;
    }
    *edit_out = edit;
    return UNSEEN_OK;
}

/* Appends a record without changes, unless this process has appended nothing. Damage of the record
 * before it is then not taken for an interrupted commit. It is not synced: the next writer does
 * that before it appends. */
static void append_end(struct unseen_list_edit *edit)
{
    uint8_t bytes[UNSEEN__CHANGES_HEAD + UNSEEN__CHANGES_TAIL];
    if (edit->ends_open && !edit->stopped) {
        const size_t len = unseen__list_changes_seal(&edit->changes, 0, bytes, 0);
        if (unseen__file_write(edit->fd, edit->changes.end, bytes, len) != 0) {
            (void)unseen__file_truncate(edit->fd, edit->changes.end); /* it only guards */
        }
    }
}

void unseen_list_edit_close(struct unseen_list_edit *edit)
{
    if (!edit) {
        return;
    }
    const struct unseen_allocator allocator = edit->allocator;
    append_end(edit);
    unseen__lock_close(&edit->fd, edit->opener);
    unseen__list_changes_release(&edit->changes);
    unseen__list_identity_release(&edit->identity);
    unseen__hasher_release(&edit->hasher);
    unseen__secret_forget(&edit->header.secret);
    array_free(&allocator, &edit->room.data, &edit->room.cap, 1);
    array_free(&allocator, &edit->question.data, &edit->question.cap, 1);
    array_free(&allocator, &edit->record, &edit->cap, 1);
    unseen__path_free(&allocator, edit->path);
    unseen__free(&allocator, edit, sizeof(*edit));
}

/* ---- changing ---- */

static enum unseen_status check_change(const struct unseen_list_edit *edit,
                                       enum unseen_list_change change)
{
    return edit->stopped                                               ? UNSEEN_ERR_STOPPED
           : change < UNSEEN_LIST_ALLOW || change > UNSEEN_LIST_REMOVE ? UNSEEN_ERR_ARGUMENT
                                                                       : UNSEEN_OK;
}

/* Adds the length of a text to *nbytes. */
static enum unseen_status add_len(size_t *nbytes, size_t len)
{
    if (len > UINT32_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (len > SIZE_MAX / 4 - *nbytes) {
        return UNSEEN_ERR_NOMEM;
    }
    *nbytes += len;
    return UNSEEN_OK;
}

/* Makes room for n texts of nbytes in all, so that nothing fails in the middle. */
static enum unseen_status reserve_changes(struct unseen_list_edit *edit, size_t n, size_t nbytes)
{
    size_t heads;
    if (!size_mul(n, UNSEEN__CHANGE_HEAD, &heads) || heads >= SIZE_MAX / 4) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status = unseen__list_texts_reserve(&edit->changes.texts, n, nbytes);
    if (status != UNSEEN_OK) {
        return status;
    }
    return heads + nbytes <= SIZE_MAX / 2 - AROUND - edit->nbytes &&
                   array_grow(&edit->allocator, &edit->record, &edit->cap,
                              AROUND + edit->nbytes + heads + nbytes, RECORD_LEAST, 1)
               ? UNSEEN_OK
               : UNSEEN_ERR_NOMEM;
}

/* Makes a change, for which there is room. Returns true if it says something else than before. */
static bool put_change(struct unseen_list_edit *edit, enum unseen_list_change change,
                       const struct unseen_bytes *text)
{
    if (!unseen__list_texts_change(&edit->changes.texts, change, text->data, text->len)) {
        return false;
    }
    uint8_t *to = edit->record + UNSEEN__CHANGES_HEAD + edit->nbytes;
    to[0] = (uint8_t)change;
    store_le32(to + 1, (uint32_t)text->len);
    if (text->len > 0) {
        memcpy(to + UNSEEN__CHANGE_HEAD, text->data, text->len);
    }
    edit->nbytes += UNSEEN__CHANGE_HEAD + text->len;
    edit->n++;
    return true;
}

enum unseen_status unseen_list_edit_change_texts(struct unseen_list_edit *edit,
                                                 enum unseen_list_change change,
                                                 const struct unseen_bytes *texts, size_t n,
                                                 uint8_t *changed, struct unseen_error *error)
{
    size_t nbytes = 0;
    enum unseen_status status = check_change(edit, change);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        status = add_len(&nbytes, texts[i].len);
    }
    if (status == UNSEEN_OK && n > 0) {
        status = reserve_changes(edit, n, nbytes);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        const bool is_change = put_change(edit, change, &texts[i]);
        if (changed) {
            changed[i] = is_change;
        }
    }
    return unseen__error_status(error, status, edit->path);
}

/* Makes the text of an entry, in edit->room or in the item; of an item that is not an entry, none.
 */
static enum unseen_status make_entry(struct unseen_list_edit *edit, const struct unseen_bytes *item,
                                     struct text_list *list_out, enum unseen_entry *fitness_out)
{
    const enum unseen_status status = unseen__list_identity_entry(
        &edit->identity, item, &edit->room, &edit->allocator, &list_out->texts[0], fitness_out);
    list_out->n = status == UNSEEN_OK && list_out->texts[0].len > 0;
    return status;
}

static bool is_same(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* Adds a text of each reading of the item that has none of the texts yet: an item is allowed if all
 * its readings are. */
static enum unseen_status add_readings(struct unseen_list_edit *edit,
                                       const struct unseen_bytes *item, struct text_list *list)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    uint16_t readings[UNSEEN_KIND_TEXTS_MAX];
    unsigned covered = 0;
    size_t n = 0;
    const size_t need = unseen_kind_bound(edit->identity.kind, item->len);
    if (need == 0 || !array_grow(&edit->allocator, &edit->question.data, &edit->question.cap, need,
                                 RECORD_LEAST, 1)) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status =
        unseen__kind_texts(edit->identity.kind, edit->identity.url, *item, edit->question.data,
                           edit->question.cap, texts, readings, &n);
    for (size_t i = 0; i < n; i++) {
        if (is_same(texts[i], list->texts[0])) {
            covered |= readings[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (readings[i] & ~covered) {
            list->texts[list->n++] = texts[i];
            covered |= readings[i];
        }
    }
    return status;
}

/* Makes the texts that a change of this item is about. */
static enum unseen_status make_texts(struct unseen_list_edit *edit, enum unseen_list_change change,
                                     const struct unseen_bytes *item, struct text_list *list_out,
                                     struct unseen_error *error)
{
    enum unseen_entry fitness;
    enum unseen_status status = make_entry(edit, item, list_out, &fitness);
    if (list_out->n > 0 && (change == UNSEEN_LIST_ALLOW || change == UNSEEN_LIST_DISALLOW)) {
        status = add_readings(edit, item, list_out);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_status(error, status, edit->path);
    }
    return list_out->n > 0
               ? UNSEEN_OK
               : unseen__list_identity_refuse(&edit->identity, edit->path, item, fitness, error);
}

/* Makes room for the texts of all entries, which it makes only to measure them: edit->room holds
 * those of one. */
static enum unseen_status reserve_entries(struct unseen_list_edit *edit,
                                          enum unseen_list_change change,
                                          const struct unseen_bytes *entries, size_t n,
                                          struct unseen_error *error)
{
    size_t nbytes = 0;
    size_t ntexts = 0;
    for (size_t i = 0; i < n; i++) {
        struct text_list list;
        enum unseen_status status = make_texts(edit, change, &entries[i], &list, error);
        if (status != UNSEEN_OK) {
            return status;
        }
        for (size_t k = 0; k < list.n && status == UNSEEN_OK; k++) {
            status = add_len(&nbytes, list.texts[k].len);
        }
        if (status != UNSEEN_OK) {
            return unseen__error_status(error, status, edit->path);
        }
        ntexts += list.n;
    }
    return unseen__error_status(error, reserve_changes(edit, ntexts, nbytes), edit->path);
}

enum unseen_status unseen_list_edit_change(struct unseen_list_edit *edit,
                                           enum unseen_list_change change,
                                           const struct unseen_bytes *entries, size_t n,
                                           uint8_t *changed, struct unseen_error *error)
{
    enum unseen_status status = check_change(edit, change);
    if (status != UNSEEN_OK || n == 0) {
        return unseen__error_status(error, status, edit->path);
    }
    status = reserve_entries(edit, change, entries, n, error);
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        struct text_list list;
        bool is_change = false;
        /* The same as in reserve_entries. */
        (void)make_texts(edit, change, &entries[i], &list, NULL);
        for (size_t k = 0; k < list.n; k++) {
            is_change |= put_change(edit, change, &list.texts[k]);
        }
        if (changed) {
            changed[i] = is_change;
        }
    }
    return status;
}

/* ---- committing ---- */

/* Before the first record, cuts off the rest of an interrupted commit, which would look like damage
 * behind it, and syncs what a writer that was killed may have left: a power cut must not keep this
 * record without those before it. */
static int append_record(const struct unseen_list_edit *edit, size_t len)
{
    const uint64_t end = edit->changes.end;
    int code = edit->changes.ntorn > 0 ? unseen__file_truncate(edit->fd, end) : 0;
    if (code == 0 && !edit->is_settled && end > edit->changes.start) {
        code = unseen__file_sync(edit->fd);
    }
    code = code ? code : unseen__file_write(edit->fd, end, edit->record, len);
    code = code ? code : unseen__file_sync(edit->fd);
    if (code != 0) {
        /* After a failed sync the kernel may call bytes clean that are not on the disk. Nobody
         * must find the record and take it for durable. */
        (void)unseen__file_truncate(edit->fd, end);
    }
    return code;
}

/* Does path still name this file? A program that knows nothing of the lock may rename another file
 * over it at any time. */
static enum unseen_status edit_check_name(struct unseen_list_edit *edit, struct unseen_error *error)
{
    if (!edit->has_name || unseen__lock_has_name(edit->fd, edit->path)) {
        return UNSEEN_OK;
    }
    edit->stopped = true;
    return unseen__error(error, UNSEEN_ERR_MISMATCH, UNSEEN__NO_OFFSET,
                         "%s was replaced by another file while it was being changed", edit->path);
}

/* Checks that the file is still this list, and not cut short. Nobody would find changes behind
 * anything else, or behind a gap. */
static enum unseen_status check_file(struct unseen_list_edit *edit, struct unseen_error *error)
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

enum unseen_status unseen_list_edit_commit(struct unseen_list_edit *edit,
                                           struct unseen_error *error)
{
    if (edit->stopped) {
        return unseen__error_status(error, UNSEEN_ERR_STOPPED, edit->path);
    }
    enum unseen_status status = edit_check_name(edit, error);
    if (edit->n == 0 || status != UNSEEN_OK) {
        return status;
    }
    status = check_file(edit, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const size_t len =
        unseen__list_changes_seal(&edit->changes, edit->n, edit->record, edit->nbytes);
    const int code = append_record(edit, len);
    if (code != 0) {
        edit->stopped = true;
        return unseen__error_io(error, "write", edit->path, code);
    }
    unseen__list_changes_appended(&edit->changes, edit->record, len);
    edit->is_settled = true;
    edit->ends_open = true;
    edit->n = 0;
    edit->nbytes = 0;
    return edit_check_name(edit, error);
}
