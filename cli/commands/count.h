/* SPDX-License-Identifier: MIT
 *
 * How many distinct lines there are, in all or in each of many groups. */
#ifndef UNSEEN_CLI_COUNT_H
#define UNSEEN_CLI_COUNT_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int count_run(const struct options *o, enum unseen_cpu cpu);

#endif
