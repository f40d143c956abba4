/* SPDX-License-Identifier: MIT
 *
 * unseen info: what there is to know of a store. */
#ifndef UNSEEN_CLI_INFO_H
#define UNSEEN_CLI_INFO_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int info_run(const struct options *o, enum unseen_cpu cpu);

#endif
