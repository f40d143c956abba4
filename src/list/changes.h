/* SPDX-License-Identifier: MIT
 *
 * The changes of a list: records behind the list proper, one for each commit (docs/format.md,
 * "Changes"). open.c reads them, and edit.c writes them.
 *
 * A record holds its own offset and number, and its checksum is seeded with the checksum of the
 * list's header. So a record of another list, or at another offset, is never accepted. Bytes at the
 * end that are not an intact record are an interrupted commit: it never happened. But if an intact
 * record follows them, they are damage. */
#ifndef UNSEEN_LIST_CHANGES_H
#define UNSEEN_LIST_CHANGES_H

#include "base/file.h"
#include "list/texts.h"

enum {
    UNSEEN__CHANGES_HEAD = 40,
    UNSEEN__CHANGES_TAIL = 8,
    UNSEEN__CHANGE_HEAD = 5 /* bytes of a change: which change, and the length of its text */
};

struct unseen__list_changes {
    struct unseen__list_texts texts;
    const char *path;               /* borrowed, for messages */
    uint64_t list_checksum;         /* the checksum in the list's header */
    uint64_t start;                 /* offset of the first record */
    uint64_t end;                   /* offset behind the last intact record */
    uint64_t number;                /* of the last record; 0: there is none */
    uint64_t last_checksum;         /* of the last record */
    uint64_t ntorn;                 /* bytes of an interrupted commit behind the end */
    struct unseen__file_stamp torn; /* the file, when these were read */
};

void unseen__list_changes_init(struct unseen__list_changes *changes, const char *path,
                               const struct unseen__hasher *hasher, uint64_t list_checksum,
                               uint64_t start, const struct unseen_allocator *allocator);
void unseen__list_changes_release(struct unseen__list_changes *changes);

/* Reads the records behind the end; if the last record is not what it was, reads all records anew.
 * *changed_out, unless it is NULL, says if any record was read. Errors: CORRUPT, VERSION, IO,
 * NOMEM; whole records may have been taken up before the error. */
enum unseen_status unseen__list_changes_read(struct unseen__list_changes *changes, int fd,
                                             bool *changed_out, struct unseen_error *error);

/* Reads all records again and checks them. Errors: CORRUPT, VERSION, IO, NOMEM. */
enum unseen_status unseen__list_changes_verify(const struct unseen__list_changes *changes, int fd,
                                               struct unseen_error *error);

/* Makes a record of n changes, for the end of the file, in bytes[0..len). The caller has put the
 * changes, nbytes in all, at UNSEEN__CHANGES_HEAD, and left room for 7 + UNSEEN__CHANGES_TAIL bytes
 * behind them. Returns len. */
size_t unseen__list_changes_seal(const struct unseen__list_changes *changes, uint64_t n,
                                 uint8_t *bytes, size_t nbytes);

/* Reports damage of a list's file at an offset. Returns CORRUPT. */
enum unseen_status unseen__list_damaged(const char *path, uint64_t offset,
                                        struct unseen_error *error);

/* Takes note that the record in bytes has been appended to the file. */
void unseen__list_changes_appended(struct unseen__list_changes *changes, const uint8_t *bytes,
                                   size_t len);

#endif
