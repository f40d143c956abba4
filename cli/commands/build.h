/* SPDX-License-Identifier: MIT
 *
 * unseen build: a list from lines. */
#ifndef UNSEEN_CLI_BUILD_H
#define UNSEEN_CLI_BUILD_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns the exit status. */
int build_run(const struct options *o, enum unseen_cpu cpu);

#endif
