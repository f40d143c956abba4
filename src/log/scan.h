/* SPDX-License-Identifier: MIT
 *
 * Reading the records of a log from some place on, each checked before it is shown. Where no intact
 * record is, tells a torn end from damage (docs/format.md, "The end"). */
#ifndef UNSEEN_LOG_SCAN_H
#define UNSEEN_LOG_SCAN_H

#include "log/log.h"

enum unseen__scan_state {
    UNSEEN__SCAN_RECORD,
    UNSEEN__SCAN_END,
    UNSEEN__SCAN_TORN,   /* place..size is no record, and none follows */
    UNSEEN__SCAN_DAMAGED /* place..next is no record, and one follows at next */
};

struct unseen__scan {
    const struct unseen__log *log;
    uint64_t size;            /* of the file, when the scan began */
    uint64_t offset;          /* of the record to read */
    uint64_t number;          /* of the last record read */
    uint64_t record_checksum; /* its checksum */
    bool skipped;             /* any later number may follow */
    uint64_t nhashed;         /* bytes, of records and of what looked like records */
    uint64_t next;            /* after DAMAGED: where intact records go on */

    /* after RECORD */
    struct unseen__record record;
    const uint8_t *payload;
    const uint8_t *bits; /* NULL: nothing is removed */

    uint8_t *buf; /* the file from buf_place on */
    size_t cap;
    size_t len;
    uint64_t buf_offset;
};

/* Starts behind a record of this number, at a place where a record or the end is. */
enum unseen_status unseen__scan_init(struct unseen__scan *scan, const struct unseen__log *log,
                                     uint64_t offset, uint64_t number, struct unseen_error *error);

/* Moves on. After TORN it stays; after DAMAGED it can go on with unseen__scan_skip. Errors: IO,
 * NOMEM, VERSION (a record of a kind that must be known), CORRUPT (damage made to keep us busy). */
enum unseen_status unseen__scan_next(struct unseen__scan *scan, enum unseen__scan_state *state_out,
                                     struct unseen_error *error);
void unseen__scan_skip(struct unseen__scan *scan);

void unseen__scan_release(struct unseen__scan *scan);

#endif
