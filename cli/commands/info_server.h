/* SPDX-License-Identifier: MIT
 *
 * `unseen info` of a set that a server has. */
#ifndef UNSEEN_CLI_INFO_SERVER_H
#define UNSEEN_CLI_INFO_SERVER_H

#include "commands/commands.h"

/* Prints the figures of the set at the address that is the first file. Returns the exit status. */
int info_server(const struct options *o);

#endif
