/* SPDX-License-Identifier: MIT
 *
 * Shows on standard error how far a run is: a line that is drawn again and again on a terminal, a
 * new line from time to time in a log, and a line for each SIGUSR1. */
#ifndef UNSEEN_CLI_PROGRESS_H
#define UNSEEN_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "print/message.h"

struct progress {
    bool draws;  /* on a terminal */
    bool prints; /* to a log */
    double start;
    double next;
    double phase_start;
    double phase_share; /* the share that was done when the phase began */
    uint64_t phase_n;   /* the number that was done when the phase began */
};

/* Starts the clock and listens to SIGUSR1. By default a line is drawn if standard error is a
 * terminal and to_file says that no output goes there; WHEN_ALWAYS draws it beside the output, and
 * prints lines if standard error is a log. Messages wipe a drawn line out from here on. */
void progress_start(struct progress *p, enum when when, enum when color, bool to_file);

/* Begins a phase. n things, which are a share of it, are done already. */
void progress_phase(struct progress *p, uint64_t n, double share);

/* True if it is time to show something, or SIGUSR1 asks for it: then call progress_put. Cheap. */
bool progress_is_due(const struct progress *p);

/* True if SIGUSR1 has arrived and was not answered yet. */
bool progress_is_wanted(void);

/* Shows the text, with the share of the phase that is done and the time that is left; a share below
 * 0 is not known. */
void progress_put(struct progress *p, const char *text, double share);

/* Both, for a run that counts one thing: n of them are done. */
void progress_show(struct progress *p, const char *doing, uint64_t n, const char *of, double share);

/* Wipes out the line on the terminal. */
void progress_end(struct progress *p);

/* The seconds since progress_start. */
double progress_seconds(const struct progress *p);

#endif
