/* SPDX-License-Identifier: MIT
 *
 * The log of a store: the file that holds every committed change. Made, opened, locked, appended
 * to; scan.h reads it. */
#ifndef UNSEEN_LOG_LOG_H
#define UNSEEN_LOG_LOG_H

#include "log/log_format.h"

struct unseen__log {
    struct unseen_allocator allocator;
    int fd;       /* -1: not open */
    char *path;   /* as it was given, for messages */
    char *file;   /* where it really is: what other names are made from */
    char *making; /* where it is being made; NULL: it has its name */
    bool writable;
    long opener;         /* the process that has the lock */
    bool header_damaged; /* one of the copies was */
    bool cut_short;      /* it ends within the copies: a log never had its name without both */
    struct unseen__log_header header;

    /* The last intact record, as far as is known. */
    uint64_t end;         /* the place behind it */
    uint64_t last_offset; /* its own; 0 without one */
    uint64_t number;
    uint64_t record_checksum;

    uint8_t *buf; /* a record in the making */
    size_t cap;
};

/* Opens the log at path; to write, also takes the lock and mends a damaged header copy. No record
 * is read, and nobody but a repair may go on with one that was cut_short. Errors: MISSING, FOREIGN,
 * VERSION, CORRUPT, BUSY, IO, NOMEM; there is nothing to release then. */
enum unseen_status unseen__log_open(struct unseen__log *log, const char *path, bool writable,
                                    const struct unseen_allocator *allocator,
                                    struct unseen_error *error);

/* Makes the log at path, opened to write; mode is what the file gets, whatever the umask is.
 * *exists_out: path exists already, open it instead. */
enum unseen_status unseen__log_create(struct unseen__log *log, const char *path,
                                      const struct unseen__log_header *header, unsigned mode,
                                      const struct unseen_allocator *allocator, bool *exists_out,
                                      struct unseen_error *error);

/* Starts a log beside another, whose lock the caller has, to replace it; publish does that. Released
 * before, it is removed. */
enum unseen_status unseen__log_start_new(struct unseen__log *log, const struct unseen__log *old,
                                         const struct unseen__log_header *header,
                                         struct unseen_error *error);
enum unseen_status unseen__log_publish(struct unseen__log *log, struct unseen_error *error);

/* Whether the open file still has its name. */
bool unseen__log_has_name(const struct unseen__log *log);

/* Appends a record; place, number and checksum are filled in here. keys are packed, bits may be
 * NULL (without the flag). Returns when the record is written, and with sync when it is durable.
 * After an error the log must not be appended to any more. Errors: IO, NOMEM. */
enum unseen_status unseen__log_append(struct unseen__log *log, struct unseen__record record,
                                      const uint8_t *payload, const uint8_t *bits, bool sync,
                                      struct unseen_error *error);

/* Makes the log durable up to its last intact record, and its name; cuts off what is behind. */
enum unseen_status unseen__log_settle(struct unseen__log *log, struct unseen_error *error);

void unseen__log_release(struct unseen__log *log);

/* 16 random bytes. UNSUPPORTED where the system has none. */
enum unseen_status unseen__log_new_id(uint8_t id[UNSEEN__ID_LEN]);

#endif
