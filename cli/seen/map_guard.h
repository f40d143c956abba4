/* SPDX-License-Identifier: MIT
 *
 * A guard for reading mapped files. If another program cuts a mapped file short (`cp` over it does
 * so first), a read of the lost bytes raises SIGBUS, which ends a process without a message. With
 * the guard a server goes on, and other commands say which file was cut. */
#ifndef UNSEEN_CLI_MAP_GUARD_H
#define UNSEEN_CLI_MAP_GUARD_H

#include <stdbool.h>

/* Call it before the first guard_call. */
void guard_start(void);

/* Calls ask, which reads mapped files. False if a file was cut short: ask was left in the middle
 * then, and memory that it took is not freed. For one thread only. */
bool guard_call(void (*ask)(void *context), void *context);

#endif
