/* SPDX-License-Identifier: MIT
 *
 * unseen explain: whether URLs are the same, and why. */
#ifndef UNSEEN_CLI_EXPLAIN_H
#define UNSEEN_CLI_EXPLAIN_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int explain_run(const struct options *o, enum unseen_cpu cpu);

#endif
