/* SPDX-License-Identifier: MIT
 *
 * What the tool did to the disk in a run with the shim, or in several. */
#ifndef UNSEEN_CRASH_RECORD_H
#define UNSEEN_CRASH_RECORD_H

#include "disk.h"

struct record {
    struct disk_state base; /* before it; set by the caller */
    struct trace_op **ops;
    size_t n;
};

/* Takes the trace out of the file _trace. */
void record_load(struct record *record);
void record_free(struct record *record);

/* Ends the harness unless the shim has seen everything: with all of it kept, the disk is what is
 * really there. */
void record_check(const struct record *record);

#endif
