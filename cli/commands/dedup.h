/* SPDX-License-Identifier: MIT
 *
 * The main job: print each line the first time it is seen. */
#ifndef UNSEEN_CLI_DEDUP_H
#define UNSEEN_CLI_DEDUP_H

#include <unseen.h>

#include "options.h"

/* Returns the exit status. */
int dedup_run(const struct options *o, enum unseen_cpu cpu);

#endif
