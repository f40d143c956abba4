/* SPDX-License-Identifier: MIT
 *
 * unseen update: entries into a list, or out of it, without building it anew. */
#ifndef UNSEEN_CLI_UPDATE_H
#define UNSEEN_CLI_UPDATE_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns the exit status. */
int update_run(const struct options *o, enum unseen_cpu cpu);

#endif
