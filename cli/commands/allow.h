/* SPDX-License-Identifier: MIT
 *
 * unseen allow: what a list says in error, or shall not say. */
#ifndef UNSEEN_CLI_ALLOW_H
#define UNSEEN_CLI_ALLOW_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns the exit status. */
int allow_run(const struct options *o, enum unseen_cpu cpu);

#endif
