/* SPDX-License-Identifier: MIT
 *
 * Reading all of a log for its health, and writing a new log from it. */
#ifndef UNSEEN_STORE_REWRITE_H
#define UNSEEN_STORE_REWRITE_H

#include "store/store.h"

/* ---- health.c ---- */

/* One look at every record. */
struct unseen__reading {
    /* set by the caller */
    const struct unseen__log *log;
    void (*report)(void *context, const struct unseen_error *damage); /* may be NULL */
    void *context;

    /* results */
    struct unseen_store_health health;
    struct unseen__output output;
    uint64_t damaged_offset; /* of the last damage */
    uint64_t damaged_end;
    uint64_t torn_offset; /* with health.torn_bytes */
};

/* Damage is a result, not an error. Errors: IO, NOMEM. */
enum unseen_status unseen__read_all(struct unseen__reading *reading, struct unseen_error *error);

/* ---- rewrite.c ---- */

/* Writes the log anew under another header, whose id is new, and puts it in place; the image is
 * removed. is_repair: leave out damaged places, and keep the old log as PATH.damaged. */
enum unseen_status unseen__log_rewrite(const struct unseen__log *from,
                                       const struct unseen__log_header *header,
                                       const struct unseen__output *output, bool is_repair,
                                       struct unseen_error *error);

#endif
