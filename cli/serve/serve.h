/* SPDX-License-Identifier: MIT
 *
 * unseen serve: a store as a co-process of a program in any language. */
#ifndef UNSEEN_CLI_SERVE_H
#define UNSEEN_CLI_SERVE_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int serve_run(const struct options *o, enum unseen_cpu cpu);

#endif
