/* SPDX-License-Identifier: MIT
 *
 * The event loop of a server, in one thread: for each connection it reads what is there, answers
 * it, in turns of bounded work (line_reader.h), and writes the answers; then it hands the changes
 * that they tell of to a commit, and only then waits for more. Standard input and output are one
 * connection; a socket brings any number of them.
 *
 * - Nobody waits for a client. On standard input and output a client may send any number of
 *   requests before it reads an answer. The client of a socket is answered as far as the system
 *   takes the answers at once, and not read from until then.
 * - A change is handed to a commit when its answer has been written. An answer that dies unread in
 *   this process was not committed, and the client may ask again. A client that chose `O durable`
 *   gets its answers after the commit instead.
 * - Nobody waits for the disk but those who asked for it: the store's thread commits, for all
 *   clients together, and tells the loop.
 * - SIGINT and SIGTERM end the loop between two requests. So does SIGHUP without a socket; with one
 *   it lets the service look for a new file at once. */
#ifndef UNSEEN_CLI_LOOP_H
#define UNSEEN_CLI_LOOP_H

#include <stdbool.h>

#include "serve/connection.h"
#include "serve/listener.h"

/* Blocks the signals that end the loop (stop.h), but while the loop waits. Called before other
 * threads start, so that they leave these signals alone, too. */
void loop_block_signals(bool listens);

/* Serves the connections of a socket until a signal comes; where NULL, standard input and output
 * until the input ends. Returns false if it could not go on, which has been reported, or if not all
 * requests of standard input were answered and the answers written. *reader_gone_out: nobody reads
 * standard output any more. Commits may still be on their way. */
bool loop_run(struct service *service, const struct listen_options *where, bool *reader_gone_out);

#endif
