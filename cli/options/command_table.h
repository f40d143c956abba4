/* SPDX-License-Identifier: MIT
 *
 * All commands: what each is called, what its help says, and what runs it. */
#ifndef UNSEEN_CLI_COMMAND_TABLE_H
#define UNSEEN_CLI_COMMAND_TABLE_H

#include "commands/commands.h"

/* The i'th command, the default one first; NULL past the last. */
const struct command *command_at(size_t i);

/* The command called name, or NULL. */
const struct command *command_find(const char *name);

#endif
