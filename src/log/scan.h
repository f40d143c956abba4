/* SPDX-License-Identifier: MIT
 *
 * A scan reads the records of a log one after the other and checks each before it shows it. Where
 * it finds no intact record, it tells a torn end from damage (docs/format.md, "The end"). */
#ifndef UNSEEN_LOG_SCAN_H
#define UNSEEN_LOG_SCAN_H

#include "log/log.h"

enum unseen__scan_state {
    UNSEEN__SCAN_RECORD,
    UNSEEN__SCAN_END,
    UNSEEN__SCAN_TORN,   /* from offset to size there is no intact record */
    UNSEEN__SCAN_DAMAGED /* from offset to next there is no intact record; at next there is one */
};

struct unseen__scan {
    const struct unseen__log *log;
    struct unseen__file_stamp file; /* when the scan began */
    uint64_t size;            /* where the scan ends: of the file, unless the caller lessens it */
    uint64_t offset;          /* of the next record */
    uint64_t number;          /* of the last record */
    uint64_t record_checksum; /* of the last record */
    uint64_t time;            /* the latest of the records so far */
    bool skipped;             /* the next record may have any number */
    uint64_t nhashed;         /* bytes that were hashed, of records and of false ones */
    uint64_t next;            /* after DAMAGED: the offset of the next intact record */

    /* after RECORD */
    struct unseen__record record;
    const uint8_t *payload;
    const uint8_t *bits; /* NULL: no key is removed */
    const uint8_t *runs; /* record.nruns */
    bool goes_back;      /* the record's time is before that of an earlier one: damage */

    uint8_t *buf; /* bytes of the file, from buf_offset on */
    size_t cap;
    size_t len;
    uint64_t buf_offset;
};

/* Starts at `offset`, where a record begins or the log ends. `number` is that of the record
 * before. */
enum unseen_status unseen__scan_init(struct unseen__scan *scan, const struct unseen__log *log,
                                     uint64_t offset, uint64_t number, struct unseen_error *error);

/* Reads the next record. After TORN the scan is at its end. After DAMAGED, unseen__scan_skip moves
 * it to the next intact record. Errors: IO, NOMEM, VERSION (a record of a kind that this version
 * does not know), CORRUPT (the search for the next record was given up: it took too much work). */
enum unseen_status unseen__scan_next(struct unseen__scan *scan, enum unseen__scan_state *state_out,
                                     struct unseen_error *error);
void unseen__scan_skip(struct unseen__scan *scan);

void unseen__scan_release(struct unseen__scan *scan);

#endif
