/* SPDX-License-Identifier: MIT
 *
 * Integers in order, through a bitmap. */
#ifndef UNSEEN_CLI_SORT_H
#define UNSEEN_CLI_SORT_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int sort_run(const struct options *o, enum unseen_cpu cpu);

#endif
