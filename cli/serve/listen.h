/* SPDX-License-Identifier: MIT
 *
 * Many conversations at once over a socket, in one thread: whatever has arrived on a connection is
 * answered before more is read from it, and who does not read the answers delays nobody else. */
#ifndef UNSEEN_CLI_LISTEN_H
#define UNSEEN_CLI_LISTEN_H

#include <stdbool.h>

#include "serve/listed.h"
#include "serve/talk.h"

/* Where to listen: unix:PATH, ADDRESS:PORT, [ADDRESS]:PORT, or PORT or :PORT, which is that port of
 * 127.0.0.1. Port 0 is any that is free. Once connections are taken it says so on standard error.
 *
 * Talks, to each connection as first says, until a signal (stop.h) ends it. False if it could not
 * listen or go on, which has been reported. */
bool listen_run(const char *where, const struct talk *first, struct listed *listed);

#endif
