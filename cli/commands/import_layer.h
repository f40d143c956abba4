/* SPDX-License-Identifier: MIT
 *
 * `unseen import --format guava|dcso`: a Bloom filter of another program becomes a frozen layer. */
#ifndef UNSEEN_CLI_IMPORT_LAYER_H
#define UNSEEN_CLI_IMPORT_LAYER_H

#include "commands/commands.h"

/* Runs the command and returns the exit status. A layer is made without kernels: cpu is not
 * used. */
int import_layer_run(const struct options *o, enum unseen_cpu cpu);

#endif
