/* SPDX-License-Identifier: MIT
 *
 * `unseen info` of a set that a server has. */
#ifndef UNSEEN_CLI_INFO_SERVER_H
#define UNSEEN_CLI_INFO_SERVER_H

#include "commands/commands.h"
#include "print/output.h"

/* Prints the figures of the set at an address. False if that failed, which has been reported. */
bool info_server(const char *address, const struct options *o, struct output *out);

#endif
