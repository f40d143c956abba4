/* SPDX-License-Identifier: MIT
 *
 * `unseen add` and `unseen remove` on a set that a server has. */
#ifndef UNSEEN_CLI_CHANGE_SERVER_H
#define UNSEEN_CLI_CHANGE_SERVER_H

#include <unseen.h>

#include "commands/commands.h"

/* Changes the set at o->seen.path by lines. Returns the exit status. */
int change_server_run(const struct options *o, enum unseen_cpu cpu);

#endif
