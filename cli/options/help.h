/* SPDX-License-Identifier: MIT
 *
 * What the tool says about itself, from the tables of commands, options, profiles and rules. */
#ifndef UNSEEN_CLI_HELP_H
#define UNSEEN_CLI_HELP_H

#include <stdbool.h>

#include "commands/commands.h"

/* To standard output; false if that failed, which has been reported. */
bool help_command(const struct command *command);
bool help_version(void);

/* The short usage, to standard error. */
void help_usage(const struct command *command);

/* unseen help [TOPIC]: the exit status. */
int help_run(int argc, char **argv);

#endif
