/* SPDX-License-Identifier: MIT
 *
 * unseen import: into a store what other programs remember. */
#ifndef UNSEEN_CLI_IMPORT_H
#define UNSEEN_CLI_IMPORT_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int import_run(const struct options *o, enum unseen_cpu cpu);

#endif
