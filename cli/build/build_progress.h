/* SPDX-License-Identifier: MIT
 *
 * How far a build is: a line that is drawn again and again on a terminal, or lines now and then. */
#ifndef UNSEEN_CLI_BUILD_PROGRESS_H
#define UNSEEN_CLI_BUILD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/commands.h"

struct build_progress {
    bool draws; /* one line, drawn again */
    bool prints;
    double start;
    double next;
    double phase_start;
    double phase_share; /* that was done when the phase began */
    uint64_t phase_n;   /* the same, counted */
};

/* Starts the clock, and listens to SIGUSR1. */
void build_progress_start(struct build_progress *p, const struct options *o);

/* Begins another phase, of which n of something and a share are done already. */
void build_progress_phase(struct build_progress *p, uint64_t n, double share);

/* Says what is done if it is time to, or if SIGUSR1 asks for it: n of something, and the share of
 * the phase, below 0 if that is not known. Cheap. */
void build_progress_show(struct build_progress *p, const char *doing, uint64_t n, const char *of,
                         double share);

/* Wipes out the line. */
void build_progress_end(struct build_progress *p);

/* Seconds since the start. */
double build_progress_seconds(const struct build_progress *p);

#endif
