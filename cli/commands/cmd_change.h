/* SPDX-License-Identifier: MIT
 *
 * unseen add, unseen remove: lines into a store, or out of it, without a word. */
#ifndef UNSEEN_CLI_CMD_CHANGE_H
#define UNSEEN_CLI_CMD_CHANGE_H

#include <stdbool.h>

#include <unseen.h>

#include "commands/commands.h"
#include "print/report.h"

/* A store that is changed by what is read. */
struct change {
    const struct options *o;
    struct unseen_store *store;
    struct report report;
    bool failed; /* something was left out, which has been reported */
    bool broken; /* a commit has failed, which has been reported */
};

/* Opens the store, which is made if need be unless lines are removed from it. False if that failed,
 * which has been reported; change_finish is called in either case. */
bool change_start(struct change *c, const struct options *o, enum unseen_cpu cpu);

/* Adds keys, or removes them, and hands them to a commit; false if that failed. */
bool change_keys(struct change *c, const struct unseen_key *keys, size_t n);

/* Closes the store, prints the figures; returns the exit status. */
int change_finish(struct change *c);

#endif
