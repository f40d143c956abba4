/* SPDX-License-Identifier: MIT
 *
 * Repair and rewrite: health.c reads all of a log, rewrite.c writes a new log from it. */
#ifndef UNSEEN_STORE_REWRITE_H
#define UNSEEN_STORE_REWRITE_H

#include "store/store.h"

/* ---- health.c ---- */

/* A scan of the whole log, past its damages. */
struct unseen__reading {
    /* set by the caller */
    const struct unseen__log *log;
    void (*report)(void *context, const struct unseen_error *damage); /* may be NULL */
    void *context;

    /* results */
    struct unseen_store_health health;
    struct unseen__output output;
    uint64_t damaged_offset; /* where the last damage begins and ends; both 0: no damage */
    uint64_t damaged_end;
    uint64_t end;                   /* of the last intact record; there health.torn_bytes begin */
    struct unseen__file_stamp file; /* the log, before it was read */
    bool has_records;
    uint64_t nallowed;   /* keys in the records that allow keys */
    bool allows_held;    /* one of these keys was there when it was allowed */
    uint64_t first_time; /* the first that is known; 0: none is */
    uint64_t last_time;
    uint64_t record_time; /* of the last record */
    uint64_t agreed_time;
    bool goes_back; /* the times of the records do */

    /* For a new log: keys of this time and before are left out, and keys of a time that is not
     * known get this one. */
    uint64_t horizon;
    uint64_t time;
    const struct unseen__source
        *other;                   /* NULL, or a log that is merged into the new one by time, */
    struct unseen__stash *common; /* and keys that both may have */
};

/* Fills in the results. Damage is a result, not an error. Errors: IO, NOMEM. */
enum unseen_status unseen__read_all(struct unseen__reading *reading, struct unseen_error *error);

/* The same. CORRUPT if there is damage, or if the log ends before log->end. */
enum unseen_status unseen__read_intact(struct unseen__reading *reading, struct unseen_error *error);

/* ---- rewrite.c ---- */

/* Replaces the log `from`, which was read, by a new log with this header. Its id must be new, as
 * an image belongs to one log; without a log the image is all there is, and both keep their id.
 * With is_repair, damaged bytes are left out, and the old log is kept as PATH.damaged. *to_out is
 * the new log, open and locked. BUSY if `from` has lost its name. After an error there is nothing
 * to release. */
enum unseen_status unseen__log_write_anew(struct unseen__log *to_out, struct unseen__log *from,
                                          const struct unseen__log_header *header,
                                          const struct unseen__reading *reading, bool is_repair,
                                          struct unseen_error *error);

/* Takes a new log in place of that of the store, and reads what it says. The set is as it was. */
enum unseen_status unseen__store_take_log(struct unseen_store *store, struct unseen__log *log,
                                          struct unseen_error *error);

/* Does the same as unseen__log_write_anew, closes the new log, and removes an image that belongs to
 * the old one. */
enum unseen_status unseen__log_rewrite(struct unseen__log *from,
                                       const struct unseen__log_header *header,
                                       const struct unseen__reading *reading, bool is_repair,
                                       struct unseen_error *error);

#endif
