/* SPDX-License-Identifier: MIT
 *
 * The event loop of a server, in one thread: for each connection it reads what is there, answers
 * all of it, writes the answers, hands the changes that they tell of to a commit, and only then
 * waits for more. Standard input and output are one connection; a socket brings any number of them.
 *
 * - Nobody waits for a client. The answers that it does not read yet are kept. On standard input
 *   and output it may send any number of requests before it reads an answer; a client of a socket
 *   is not read from while many of its answers wait.
 * - A change is handed to a commit when everything answered so far on its connection has been
 *   written. An answer that dies unread in this process was not committed, and the client may ask
 *   again.
 * - SIGINT, SIGTERM and SIGHUP end the loop between two requests. */
#ifndef UNSEEN_CLI_LOOP_H
#define UNSEEN_CLI_LOOP_H

#include <stdbool.h>

#include "serve/connection.h"

/* Blocks the signals that end the loop (stop.h), but while the loop waits. Called before other
 * threads start, so that they leave these signals alone, too. */
void loop_block_signals(void);

/* Serves the connections of the socket `where` (see listener_open) until a signal comes; where
 * NULL, standard input and output until the input ends. Returns false if it could not go on, which
 * has been reported, or if not all requests of standard input were answered and the answers
 * written. *reader_gone_out: nobody reads standard output any more. Commits may still be on their
 * way. */
bool loop_run(struct service *service, const char *where, bool *reader_gone_out);

/* ---- listener.c: the socket that clients connect to -------------------------------------- */

struct listener {
    int fd;           /* -1: nobody can connect */
    const char *path; /* of a local socket; NULL: none */
};

/* Listens on unix:PATH, ADDRESS:PORT, [ADDRESS]:PORT, or PORT or :PORT, which is that port of
 * 127.0.0.1. Port 0 is any port that is free. Says on standard error where it listens. Returns
 * false if it cannot, which has been reported. Either way listener_close follows. */
bool listener_open(struct listener *l, const char *where);
void listener_close(struct listener *l);

#endif
