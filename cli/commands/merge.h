/* SPDX-License-Identifier: MIT
 *
 * unseen merge: several stores into one. */
#ifndef UNSEEN_CLI_MERGE_H
#define UNSEEN_CLI_MERGE_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int merge_run(const struct options *o, enum unseen_cpu cpu);

#endif
