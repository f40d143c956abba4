/* SPDX-License-Identifier: MIT
 *
 * The limits of the system under which the tool runs [getrlimit(2)]. */
#ifndef UNSEEN_CLI_SYSTEM_LIMITS_H
#define UNSEEN_CLI_SYSTEM_LIMITS_H

#include <stdbool.h>

/* Takes what the system lets the tool take: as many open files as the hard limit allows, and a
 * stack that every command can work on. A file that grows past its limit is from now on an error of
 * write, not the end of the process. Returns false if the stack cannot be made large enough. Call
 * it before any thread is made. */
bool system_limits_prepare(void);

#endif
