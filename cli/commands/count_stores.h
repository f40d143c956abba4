/* SPDX-License-Identifier: MIT
 *
 * How many distinct keys some stores have together. */
#ifndef UNSEEN_CLI_COUNT_STORES_H
#define UNSEEN_CLI_COUNT_STORES_H

#include <stdbool.h>

#include <unseen.h>

#include "commands/commands.h"

/* Whether one of the files is a store. */
bool count_stores_are_meant(const struct options *o);

/* Returns the exit status. */
int count_stores_run(const struct options *o, enum unseen_cpu cpu);

#endif
