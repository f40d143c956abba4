/* SPDX-License-Identifier: MIT
 *
 * Shows the progress of a build: a line that is drawn again and again on a terminal, or a new line
 * from time to time. */
#ifndef UNSEEN_CLI_BUILD_PROGRESS_H
#define UNSEEN_CLI_BUILD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/commands.h"

struct build_progress {
    bool draws; /* on a terminal */
    bool prints;
    double start;
    double next;
    double phase_start;
    double phase_share; /* the share that was done when the phase began */
    uint64_t phase_n;   /* the number that was done when the phase began */
};

/* Starts the clock and listens to SIGUSR1. */
void build_progress_start(struct build_progress *p, const struct options *o);

/* Begins a phase. n things, which are a share of it, are done already. */
void build_progress_phase(struct build_progress *p, uint64_t n, double share);

/* Shows the progress if it is time to, or if SIGUSR1 asks for it: n things are done, which are a
 * share of the phase, or below 0 if the share is not known. Cheap. */
void build_progress_show(struct build_progress *p, const char *doing, uint64_t n, const char *of,
                         double share);

/* Wipes out the line on the terminal. */
void build_progress_end(struct build_progress *p);

/* The seconds since build_progress_start. */
double build_progress_seconds(const struct build_progress *p);

#endif
