/* SPDX-License-Identifier: MIT
 *
 * The option --base, of the commands that resolve references. */
#ifndef UNSEEN_CLI_BASE_H
#define UNSEEN_CLI_BASE_H

#include <stdbool.h>

#include "lines/identity.h"

/* Checks that the base, if there is one, is an absolute URL; reports it if not. `called` is how a
 * corrected command starts. */
bool base_check(const struct key_options *key, const char *called);

#endif
