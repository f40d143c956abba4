/* SPDX-License-Identifier: MIT
 *
 * unseen check: which lines are in a store. */
#ifndef UNSEEN_CLI_CHECK_H
#define UNSEEN_CLI_CHECK_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int check_run(const struct options *o, enum unseen_cpu cpu);

#endif
