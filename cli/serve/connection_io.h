/* SPDX-License-Identifier: MIT
 *
 * Between a connection (connection.h) and its descriptors. Nothing here waits. */
#ifndef UNSEEN_CLI_CONNECTION_IO_H
#define UNSEEN_CLI_CONNECTION_IO_H

#include <stdbool.h>

#include "serve/connection.h"

/* Reads what is there, if is_readable, answers it and writes the answers, as far as the client
 * takes them and no answer waits for a commit. Reading comes first, so that requests that came
 * together with the end of a connection are answered. */
void connection_serve(struct connection *c, bool is_readable);

/* Writes what the client takes now. */
void connection_flush(struct connection *c);

/* Whether the loop should read from it. */
bool connection_wants_input(const struct connection *c);

/* Whether all that came has been answered and sent, and nothing more comes. */
bool connection_is_complete(const struct connection *c);

#endif
