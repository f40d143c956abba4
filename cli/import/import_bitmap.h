/* SPDX-License-Identifier: MIT
 *
 * `unseen import --format redis-bitmap|java-bitset`: bytes of bits become integers of a bitmap. */
#ifndef UNSEEN_CLI_IMPORT_BITMAP_H
#define UNSEEN_CLI_IMPORT_BITMAP_H

#include "commands/commands.h"

/* Runs the command and returns the exit status. */
int import_bitmap_run(const struct options *o, enum unseen_cpu cpu);

#endif
