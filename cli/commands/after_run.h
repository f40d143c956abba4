/* SPDX-License-Identifier: MIT
 *
 * Hints at the end of a run. The run did what the command line says, but the user probably meant
 * something else. */
#ifndef UNSEEN_CLI_AFTER_RUN_H
#define UNSEEN_CLI_AFTER_RUN_H

#include <stdbool.h>

#include "commands/commands.h"
#include "lines/batch.h"

/* Hints at `unseen -x FILE` if the run has read a file while lines wait on standard input. Then the
 * user probably meant what anew does: program | anew known.txt. */
void after_run_unread(const struct options *o);

/* What the first line that is not a URL looks like. All zero: none has come yet. */
struct first_failed {
    bool has_come;
    bool is_host; /* a name with dots, and perhaps a path: a URL without its scheme */
};

void after_run_look(struct first_failed *first, const struct batch *b);

/* Hints at the rule default-scheme if no line of the run was a URL, and a new set or store was
 * made. */
void after_run_schemes(const struct first_failed *first, const struct report *r,
                       const struct options *o, const struct unseen_set_stats *stats,
                       const char *profile);

#endif
