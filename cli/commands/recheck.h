/* SPDX-License-Identifier: MIT
 *
 * unseen recheck: which lines were taken for repeats wrongly. */
#ifndef UNSEEN_CLI_RECHECK_H
#define UNSEEN_CLI_RECHECK_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int recheck_run(const struct options *o, enum unseen_cpu cpu);

#endif
