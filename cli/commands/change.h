/* SPDX-License-Identifier: MIT
 *
 * A store that is being changed by its keys: what `unseen add`, `remove` and `import` share. */
#ifndef UNSEEN_CLI_CHANGE_H
#define UNSEEN_CLI_CHANGE_H

#include <stdbool.h>

#include <unseen.h>

#include "commands/commands.h"
#include "lines/url_watch.h"
#include "print/report.h"

struct change {
    const struct options *o;
    struct unseen_store *store;
    struct report report;
    struct url_watch watch;
    struct unseen_key *kept; /* keys to remove; NULL: keys are added */
    size_t nkept;
    uint64_t nfalse; /* lines that are still taken for seen after their removal */
    bool failed;     /* a line or a file was left out, which has been reported */
    bool broken;     /* a commit has failed, which has been reported */
};

/* Opens the store, and makes it if need be, unless lines are to be removed. False if that failed,
 * which has been reported. The caller calls change_finish in either case. */
bool change_start(struct change *c, const struct options *o, enum unseen_cpu cpu);

/* Checks that no input is a store, an image or a list. False if one is, which has been reported. */
bool change_check_inputs(const struct options *o);

/* Counts what a batch has beside its keys. */
void change_count(struct change *c, const struct batch *b);

/* Adds keys and begins their commit, or keeps keys to remove many at once; false if that failed. */
bool change_keys(struct change *c, const struct unseen_key *keys, size_t n);

/* Removes the keys that are kept. False if that failed, or an earlier change did. */
bool change_kept(struct change *c);

/* Closes the store and prints the figures. Returns the exit status. */
int change_finish(struct change *c);

#endif
