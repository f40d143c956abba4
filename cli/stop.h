/* SPDX-License-Identifier: MIT
 *
 * Ends a run in order when a signal asks for it: the lines that were printed are committed first.
 * A second signal ends the program at once. */
#ifndef UNSEEN_CLI_STOP_H
#define UNSEEN_CLI_STOP_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only noted, and a write to a pipe without a reader
 * fails instead of killing the program. Signals that were ignored stay ignored. */
void stop_listen(void);

/* True if one of the three has arrived. */
bool stop_is_wanted(void);

/* Dies of the signal that was noted, so that the parent process sees it. If the reader of the
 * output has gone away, dies of SIGPIPE, as a program without stop_listen would. Returns if there
 * is neither. */
void stop_die(bool reader_gone);

#endif
