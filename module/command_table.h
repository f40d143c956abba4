/* SPDX-License-Identifier: MIT
 *
 * The commands of the module: names, flags, and what COMMAND DOCS says. */
#ifndef UNSEEN_MODULE_COMMAND_TABLE_H
#define UNSEEN_MODULE_COMMAND_TABLE_H

#include "server/server.h"

/* Registers every command. Returns NULL, or the name of a command that the server refuses. */
const char *commands_register(struct server_ctx *ctx);

#endif
