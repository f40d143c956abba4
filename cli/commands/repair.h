/* SPDX-License-Identifier: MIT
 *
 * unseen repair: makes a damaged store usable again. */
#ifndef UNSEEN_CLI_REPAIR_H
#define UNSEEN_CLI_REPAIR_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int repair_run(const struct options *o, enum unseen_cpu cpu);

#endif
