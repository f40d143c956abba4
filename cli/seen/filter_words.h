/* SPDX-License-Identifier: MIT
 *
 * What the tool says about the kinds of filters. */
#ifndef UNSEEN_CLI_FILTER_WORDS_H
#define UNSEEN_CLI_FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "seen/seen_options.h"

/* "grow remove merge intersect", as far as it can. */
void filters_abilities(unsigned abilities, char text[40]);

/* Whether there is a filter of this name; if not, that is reported. A corrected command begins with
 * again, such as "unseen -s STORE", and ends with files, such as " FILE". */
bool filters_check_name(const char *name, const char *again, const char *files);

/* Reports why a set could not be made, if it is for --filter, its rate or the lack of --capacity;
 * false if it is not. The status is that of unseen_set_create or unseen_store_open. */
bool filters_report(const struct seen_options *o, enum unseen_status status, const char *again,
                    const char *files);

/* One warning if set has more keys than it was made for and answers worse than promised. */
void filters_warn_full(const struct seen_options *o, const struct unseen_set *set);

/* unseen help filters. */
void filters_help(void);

#endif
