/* SPDX-License-Identifier: MIT
 *
 * The one writer of a list's changes. Holds the lock of the file; changes are collected in memory,
 * and a commit appends them as one record and syncs it. What fails is cut back, and whoever opens the
 * list next finds it as it was. */
#ifndef UNSEEN_LIST_EDIT_H
#define UNSEEN_LIST_EDIT_H

#include "list/changes.h"
#include "list/list_format.h"

struct unseen__list_edit {
    struct unseen_allocator allocator;
    char *path;
    int fd;
    long opener;   /* the process that took the lock, or 0 */
    bool has_name; /* the path named it when it was opened, as nearly always */
    struct unseen__list_header header;
    struct unseen__hasher hasher; /* makes the list's keys */
    struct unseen__list_changes changes;
    uint8_t *record; /* the changes that were not committed, from UNSEEN__CHANGES_HEAD on */
    size_t cap;
    size_t nbytes; /* of them */
    uint64_t n;
    bool stopped;
};

/* What cannot be opened to be asked cannot be changed. Errors: BUSY, MISSING, FOREIGN, VERSION, CORRUPT,
 * IO, NOMEM; there is nothing to release then. */
enum unseen_status unseen__list_edit_open(struct unseen__list_edit *edit, const char *path,
                                          const struct unseen_allocator *allocator,
                                          struct unseen_error *error);
void unseen__list_edit_release(struct unseen__list_edit *edit);

/* All or nothing. Errors: ARGUMENT, NOMEM, STOPPED. */
enum unseen_status unseen__list_edit_change(struct unseen__list_edit *edit,
                                            enum unseen_list_change change,
                                            const struct unseen_bytes *items, size_t n,
                                            uint8_t *changed, struct unseen_error *error);

/* Errors: IO, MISMATCH (replaced, written over or cut short meanwhile), STOPPED. */
enum unseen_status unseen__list_edit_commit(struct unseen__list_edit *edit,
                                            struct unseen_error *error);

#endif
