/* SPDX-License-Identifier: MIT
 *
 * `unseen allow` of a store. */
#ifndef UNSEEN_CLI_ALLOW_STORE_H
#define UNSEEN_CLI_ALLOW_STORE_H

#include "commands/commands.h"

/* Allows the lines of the input that the store takes for seen by error. Returns the exit status. */
int allow_store_run(const struct options *o, enum unseen_cpu cpu);

#endif
