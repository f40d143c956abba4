/* SPDX-License-Identifier: MIT
 *
 * A file that is mapped can be cut short by others, whatever one tells them (`cp` does it first of
 * all). To read what is gone ends a process (SIGBUS) without a word: a server must go on, and other
 * commands say which file it was. */
#ifndef UNSEEN_CLI_GUARD_H
#define UNSEEN_CLI_GUARD_H

#include <stdbool.h>

/* To be called before the first guard_call. */
void guard_start(void);

/* Calls ask, which reads mapped files; false if what it read is gone: then it was left in the middle,
 * and memory that it had taken is not given back. For one thread only. */
bool guard_call(void (*ask)(void *context), void *context);

#endif
