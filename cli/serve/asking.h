/* SPDX-License-Identifier: MIT
 *
 * `unseen serve --protocol NAME`: another program asks, in its own protocol, on standard input and
 * output or over a socket. Nothing is changed. */
#ifndef UNSEEN_CLI_ASKING_H
#define UNSEEN_CLI_ASKING_H

#include <stdbool.h>

#include <unseen.h>

#include "commands/commands.h"

/* Whether there are options that only a new store has a use for. */
bool asking_makes_store(const struct options *o);

/* The exit status. */
int asking_run(const struct options *o, enum unseen_cpu cpu);

#endif
