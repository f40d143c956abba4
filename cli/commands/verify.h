/* SPDX-License-Identifier: MIT
 *
 * unseen verify: whether all bytes of stores are as they were written. */
#ifndef UNSEEN_CLI_VERIFY_H
#define UNSEEN_CLI_VERIFY_H

#include <unseen.h>

#include "options.h"

/* Runs the command; returns its exit status. */
int verify_run(const struct options *o, enum unseen_cpu cpu);

#endif
