/* SPDX-License-Identifier: MIT
 *
 * `unseen import --format guava|dcso` and `unseen import --from-redis`: a Bloom filter of another
 * program becomes a foreign filter. */
#ifndef UNSEEN_CLI_IMPORT_FOREIGN_H
#define UNSEEN_CLI_IMPORT_FOREIGN_H

#include "commands/commands.h"

/* Runs the command and returns the exit status. A filter is made without kernels: cpu is not
 * used. */
int import_foreign_run(const struct options *o, enum unseen_cpu cpu);

#endif
