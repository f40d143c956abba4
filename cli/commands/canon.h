/* SPDX-License-Identifier: MIT
 *
 * unseen canon: print the canonical form of each line. */
#ifndef UNSEEN_CLI_CANON_H
#define UNSEEN_CLI_CANON_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int canon_run(const struct options *o, enum unseen_cpu cpu);

#endif
