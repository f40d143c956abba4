/* SPDX-License-Identifier: MIT
 *
 * A run that remembers ends in order when a signal asks it to end: what was printed is committed
 * first. A second signal ends it at once. */
#ifndef UNSEEN_CLI_STOP_H
#define UNSEEN_CLI_STOP_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only noted, and a pipe without a reader is an error of
 * write. Signals that were ignored stay so. */
void stop_listen(void);

/* Whether one of the three has arrived. */
bool stop_is_wanted(void);

/* Dies of the signal that was noted, so that whoever started the program sees it, or, if the
 * reader of the output has gone away, of the SIGPIPE that would have come. Returns if there is
 * nothing to die of. */
void stop_die(bool reader_gone);

#endif
