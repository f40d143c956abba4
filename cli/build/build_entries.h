/* SPDX-License-Identifier: MIT
 *
 * From the lines of all inputs to keys of a list, on all processors. */
#ifndef UNSEEN_CLI_BUILD_ENTRIES_H
#define UNSEEN_CLI_BUILD_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "build/build_inputs.h"
#include "build/build_old.h"
#include "commands/commands.h"

/* How far it is. */
struct build_done {
    struct build_place place;
    struct build_counts counts;
};

enum build_ending {
    BUILD_ALL,         /* all lines are in */
    BUILD_REFUSED,     /* some are no entries, which has been reported */
    BUILD_INTERRUPTED, /* by a signal */
    BUILD_UNREADABLE,  /* an input could not be read, which has been reported */
    BUILD_BROKEN       /* no more can be added, which has been reported */
};

struct build_entries {
    const struct options *o;
    const struct build_inputs *inputs;
    struct unseen_list_build *build;
    enum unseen_kind kind;
    const struct unseen_url *url;
    const struct build_old *old; /* what was removed from it is left out */
    unsigned nthreads;

    /* Saves how far it is, every so many seconds; false if that failed, which has been reported. May
     * be NULL. No other thread uses the build meanwhile. */
    bool (*save)(void *context, const struct build_done *done);
    double save_every;
    /* Called several times a second, in the thread of the caller. */
    void (*look)(void *context, const struct build_done *done);
    void *context;
};

/* Adds all lines from *done on, which says in the end how far it has come. */
enum build_ending build_entries_run(const struct build_entries *e, struct build_done *done);

#endif
