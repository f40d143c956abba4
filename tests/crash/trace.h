/* SPDX-License-Identifier: MIT
 *
 * What the shim writes and the simulator reads: one struct trace_op for each call that changes the
 * disk, followed by its two names and its bytes. Only files of the folder UNSEEN_CRASH_DIR count;
 * names are relative to it ("." is the folder itself).
 *
 * The shim is told what to do by the environment:
 *
 *     UNSEEN_CRASH_DIR     the folder; without it the shim does nothing
 *     UNSEEN_CRASH_TRACE   a file to append the trace to
 *     UNSEEN_CRASH_SLOW    microseconds by which each sync is made longer, so that calls of other
 *                          threads fall into it
 *     UNSEEN_CRASH_FAULT   "N:KIND": what happens to call number N; kinds in shim.c.
 *                          "CALL NAME N:KIND": to the N-th such call on the file NAME, or on any
 *                          file if that is "*"
 *     UNSEEN_CRASH_REPORT  a file that gets a line when that call is reached
 *     UNSEEN_CRASH_PLANT   a fault for the whole run that a harness has to notice; in shim.c
 */
#ifndef UNSEEN_CRASH_TRACE_H
#define UNSEEN_CRASH_TRACE_H

#include <stdint.h>

enum trace_kind {
    TRACE_OPEN = 1,   /* name; value 1: cut to nothing */
    TRACE_CLOSE,      /* */
    TRACE_WRITE,      /* at, bytes; value 1: a hole, which is zeros */
    TRACE_TRUNCATE,   /* at: the new length */
    TRACE_SYNC_BEGIN, /* a sync covers what came before its begin ... */
    TRACE_SYNC_END,   /* ... from its end on */
    TRACE_RENAME,     /* name to name2 */
    TRACE_LINK,       /* name to name2 */
    TRACE_UNLINK,     /* name */
    TRACE_LOST,       /* a sync that failed: what came before it will never arrive */
    TRACE_MARK        /* not a call: process number `at` of the workload has ended with success */
};

struct trace_op {
    uint32_t kind;
    int32_t fd;
    int64_t pid;
    uint64_t at;
    uint64_t len; /* bytes behind the names */
    uint32_t value;
    uint16_t name_len;
    uint16_t name2_len;
};

#endif
