/* SPDX-License-Identifier: MIT
 *
 * The progress of a run: the figures of --stats, the status line of SIGUSR1, the progress line. */
#ifndef UNSEEN_CLI_REPORT_H
#define UNSEEN_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "print/message.h"

enum stats {
    STATS_NONE,
    STATS_TEXT,
    STATS_JSON
};

struct report_options {
    enum stats stats;
    enum when progress;
    enum when color;
};

struct report {
    const struct report_options *o;
    uint64_t nnew;
    uint64_t nseen;
    uint64_t nlong;
    uint64_t nother;
    uint64_t nbytes;
    uint64_t nmisses;
    uint64_t nfailed;   /* lines that are not URLs under the profile */
    uint64_t nexcluded; /* lines of -x lists */
    double start;
    bool progress;
    double next_progress;
};

/* Starts the clock and listens to SIGUSR1. A progress line is drawn if the options want one and
 * standard error is a terminal; by default only with to_file, which says that no output goes to the
 * terminal. Messages wipe it out from here on. report_poll works on r until report_end. */
void report_start(struct report *r, const struct report_options *o, bool to_file);

/* For commands with figures of their own: the first listens to SIGUSR1, the second is true if it
 * has arrived since the last call. */
void report_listen(void);
bool report_is_wanted(void);

/* Prints the status line if SIGUSR1 has arrived, and the progress line if it is due. Does nothing
 * before report_start. Cheap. */
void report_poll(void);

/* Wipes out the progress line and prints the figures that the options want. */
void report_end(struct report *r, const struct unseen_set_stats *stats, const char *profile);

#endif
