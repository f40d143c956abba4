/* SPDX-License-Identifier: MIT
 *
 * The changes of a list: records behind the list proper, one for each commit (docs/format.md,
 * "Changes"). A record says its place and number, and its checksum begins with that of the list's
 * header, so that no record of another list, or of another place, is taken for one. What is not
 * intact at the end is an interrupted commit, which never happened, unless an intact record comes
 * behind it: that is damage. */
#ifndef UNSEEN_LIST_CHANGES_H
#define UNSEEN_LIST_CHANGES_H

#include "list/texts.h"

enum {
    UNSEEN__CHANGES_HEAD = 40,
    UNSEEN__CHANGES_TAIL = 8,
    UNSEEN__CHANGE_HEAD = 5 /* of one change: what is done, and the length of the text */
};

struct unseen__list_changes {
    struct unseen__list_texts texts;
    const char *path;       /* borrowed, for messages */
    uint64_t list_checksum; /* of the list's header */
    uint64_t start;         /* of the first record */
    uint64_t end;           /* of the last intact one */
    uint64_t number;        /* of the last one, 0 without one */
    uint64_t last_checksum; /* of the last one */
    uint64_t ntorn;         /* bytes behind the end, */
    int64_t torn_at[2];     /* and when the file had been changed when they were looked at */
};

void unseen__list_changes_init(struct unseen__list_changes *changes, const char *path,
                               const struct unseen__hasher *hasher, uint64_t list_checksum,
                               uint64_t start, const struct unseen_allocator *allocator);
void unseen__list_changes_release(struct unseen__list_changes *changes);

/* Takes up what the file holds behind the end; if that is not what it was, all of it anew.
 * *changed_out, unless NULL, says if there was anything. Errors: CORRUPT, VERSION, IO, NOMEM; whole
 * records may have been taken up before. */
enum unseen_status unseen__list_changes_read(struct unseen__list_changes *changes, int fd,
                                             bool *changed_out, struct unseen_error *error);

/* Reads all of them again and compares. Errors: CORRUPT, VERSION, IO, NOMEM. */
enum unseen_status unseen__list_changes_verify(const struct unseen__list_changes *changes, int fd,
                                               struct unseen_error *error);

/* Makes a record of n changes for the end, in bytes[0..len): the changes, nbytes, are at
 * UNSEEN__CHANGES_HEAD, and behind them there is room for 7 + UNSEEN__CHANGES_TAIL. Returns len. */
size_t unseen__list_changes_seal(const struct unseen__list_changes *changes, uint64_t n,
                                 uint8_t *bytes, size_t nbytes);

/* The record in bytes has been appended. */
void unseen__list_changes_appended(struct unseen__list_changes *changes, const uint8_t *bytes,
                                   size_t len);

#endif
