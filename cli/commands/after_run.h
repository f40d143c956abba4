/* SPDX-License-Identifier: MIT
 *
 * Hints at the end of a run. The run did what the command line says, but the user probably meant
 * something else. */
#ifndef UNSEEN_CLI_AFTER_RUN_H
#define UNSEEN_CLI_AFTER_RUN_H

#include <stdbool.h>

#include "commands/commands.h"
#include "lines/url_watch.h"

/* Hints at `unseen -x FILE` if the run has read a file while lines wait on standard input. Then the
 * user probably meant what anew does: program | anew known.txt. */
void after_run_unread(const struct options *o);

/* Reports that no line of the run was a URL, or hints at it if nothing was remembered or looked up.
 * False if the run has failed for that. */
bool after_run_urls(const struct url_watch *w, const struct options *o, const char *profile);

#endif
