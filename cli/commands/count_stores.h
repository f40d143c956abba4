/* SPDX-License-Identifier: MIT
 *
 * `unseen count STORE...`: how many distinct keys the stores have. */
#ifndef UNSEEN_CLI_COUNT_STORES_H
#define UNSEEN_CLI_COUNT_STORES_H

#include "commands/commands.h"

/* True if one of the files is a store, a list or the like. */
bool count_stores_are_meant(const struct options *o);

/* Counts the keys of all stores, or with --both those that each of them has. False if that failed,
 * which has been reported. */
bool count_stores(const struct options *o, enum unseen_cpu cpu, uint64_t *n_out);

#endif
