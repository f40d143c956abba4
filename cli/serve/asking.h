/* SPDX-License-Identifier: MIT
 *
 * `unseen serve --protocol NAME`: another program asks, in its own protocol, on standard input and
 * output or over a socket. Nothing is changed. */
#ifndef UNSEEN_CLI_ASKING_H
#define UNSEEN_CLI_ASKING_H

#include <unseen.h>

#include "options.h"

/* The exit status. */
int asking_run(const struct options *o, enum unseen_cpu cpu);

#endif
