/* SPDX-License-Identifier: MIT
 *
 * The log of a store: the file that holds every committed change. This file makes, opens, locks and
 * appends to it; scan.h reads it. */
#ifndef UNSEEN_LOG_LOG_H
#define UNSEEN_LOG_LOG_H

#include "base/file.h"
#include "log/log_format.h"

struct unseen__log {
    struct unseen_allocator allocator;
    int fd;         /* -1: not open */
    char *path;     /* as the caller gave it, for messages */
    char *file;     /* path with symbolic links resolved; names beside the log begin with it */
    char *new_path; /* the name of a log that is being made; NULL: the log is called file */
    bool writable;
    long opener;         /* the process that has the lock */
    bool header_damaged; /* one of the two copies is, or was before it was mended */
    bool cut_short;      /* the file ends within the two copies of the header: damage */
    bool is_empty;       /* the file has no byte: FOREIGN */
    struct unseen__log_header header;

    /* The last intact record, as far as it is known. */
    uint64_t end;         /* where the next record goes */
    uint64_t last_offset; /* 0: there is no record */
    uint64_t number;
    uint64_t record_checksum;
    uint64_t time;                  /* the latest of its records */
    struct unseen__file_stamp torn; /* the file, if a long torn end was found; else zeros */
    bool ends_open; /* the last record that this process appended has keys or text */

    uint8_t *buf; /* for a record that is being made */
    size_t cap;
};

/* Opens the log at path. A writer also takes the lock and mends a damaged copy of the header. Reads
 * no record. Only a repair may go on with a log that is cut_short. Errors: MISSING, FOREIGN,
 * VERSION, CORRUPT, BUSY, IO, NOMEM. After an error there is nothing to release. */
enum unseen_status unseen__log_open(struct unseen__log *log, const char *path, bool writable,
                                    const struct unseen_allocator *allocator,
                                    struct unseen_error *error);

/* Removes the file at path if it is a regular file without a byte, as mktemp(1) makes, so that a
 * log can be made there. A log that has an image was not made by mktemp(1): somebody has emptied
 * it. MISSING: no empty file is there now, but another process may have made a log. FOREIGN,
 * without a sentence: the file stays, as it has an image or is a link. Other errors: BUSY, IO. */
enum unseen_status unseen__log_remove_empty(const char *path, const char *image,
                                            struct unseen_error *error);

/* Makes the log at path and opens it to write. The file gets the rights `mode`, whatever the umask
 * is. *exists_out: path exists, and nothing was made. */
enum unseen_status unseen__log_create(struct unseen__log *log, const char *path,
                                      const struct unseen__log_header *header, unsigned mode,
                                      const struct unseen_allocator *allocator, bool *exists_out,
                                      struct unseen_error *error);

/* Makes a log beside another one, whose lock the caller has. unseen__log_publish puts the new log
 * in the place of the old one, of a draft as a draft; BUSY if another file has taken its name. A
 * release before that removes the new log. */
enum unseen_status unseen__log_start_new(struct unseen__log *log, const struct unseen__log *old,
                                         const struct unseen__log_header *header,
                                         struct unseen_error *error);
enum unseen_status unseen__log_publish(struct unseen__log *log, struct unseen__log *old,
                                       struct unseen_error *error);

/* Makes a draft beside path: a log that takes the name only when unseen__log_publish_draft is
 * called. The first makes an empty log, and expects that path does not exist; the second a copy of
 * `old`, whose lock the caller has until the copy has taken its place. A draft that a killed
 * process left is replaced. Errors: BUSY (another process has a draft), FOREIGN, IO, NOMEM. */
enum unseen_status unseen__log_start_draft(struct unseen__log *log, const char *path,
                                           const struct unseen__log_header *header, unsigned mode,
                                           const struct unseen_allocator *allocator,
                                           struct unseen_error *error);
enum unseen_status unseen__log_copy(struct unseen__log *log, const struct unseen__log *old,
                                    struct unseen_error *error);
/* old: the log of which the draft is a copy, or NULL. BUSY if path is another file by now. */
enum unseen_status unseen__log_publish_draft(struct unseen__log *log, struct unseen__log *old,
                                             struct unseen_error *error);

/* True if the open file is still the file called log->file. */
bool unseen__log_has_name(const struct unseen__log *log);

/* True if the file has changed since that stamp, or another file has its name. */
bool unseen__log_has_changed(const struct unseen__log *log, const struct unseen__file_stamp *since);

/* Appends a record; its offset, number and checksum are filled in here, and its time is at least
 * that of the record before. keys are packed; bits may be NULL if the record lacks
 * UNSEEN__FLAG_REMOVALS, runs if it has none. Returns when the record is written, and with
 * `sync` when it is durable. After an error, append nothing more. Errors: IO, NOMEM. */
enum unseen_status unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                      const uint8_t *payload, const uint8_t *bits,
                                      const struct unseen__run *runs, bool sync,
                                      struct unseen_error *error);

/* Appends a record without keys. Errors: IO, NOMEM. */
enum unseen_status unseen__log_append_empty(struct unseen__log *log, bool sync,
                                            struct unseen_error *error);

/* Appends a record without keys, unless this process has appended nothing, or such a record last.
 * Damage of the record before it is then no longer taken for an unfinished commit. It is not
 * synced: the next writer does that before it appends (unseen__log_settle). Errors: IO, NOMEM. */
enum unseen_status unseen__log_append_end(struct unseen__log *log, struct unseen_error *error);

/* Cuts off the bytes behind the last intact record, and makes the rest and the file's name
 * durable. Removes what a killed writer has left of a new log or a new image. */
enum unseen_status unseen__log_settle(struct unseen__log *log, struct unseen_error *error);

/* Leads the header to a later record; all before it is durable and will not be read again. Returns
 * when that is durable. Errors: IO; append nothing more. */
enum unseen_status unseen__log_move_head(struct unseen__log *log,
                                         const struct unseen__log_head *head,
                                         struct unseen_error *error);

/* Gives the disk of the records before `end` back, which is at the head or before. A record that
 * names an output file stays. False if the file system cannot do that. */
bool unseen__log_punch(const struct unseen__log *log, uint64_t end);

void unseen__log_release(struct unseen__log *log);

/* Makes 16 random bytes. RANDOM if the system gives none. */
enum unseen_status unseen__log_new_id(uint8_t id[UNSEEN__ID_LEN]);

#endif
