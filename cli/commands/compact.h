/* SPDX-License-Identifier: MIT
 *
 * unseen compact: writes a store anew. */
#ifndef UNSEEN_CLI_COMPACT_H
#define UNSEEN_CLI_COMPACT_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int compact_run(const struct options *o, enum unseen_cpu cpu);

#endif
