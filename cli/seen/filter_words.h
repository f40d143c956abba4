/* SPDX-License-Identifier: MIT
 *
 * Messages about filters: what is wrong with --filter, --capacity, --fpr, --bits and --hashes, when
 * a filter is full, and which command helps. */
#ifndef UNSEEN_CLI_FILTER_WORDS_H
#define UNSEEN_CLI_FILTER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "seen/seen_options.h"

/* True if there is a filter of this name; if not, that is reported. */
bool filters_check_name(const char *name);

/* Writes the options that say the shape of the filter: "", " --bits 20" or " --bits 20 --hashes
 * 10". */
#define FILTERS_SHAPE_CAP 64
void filters_shape(const struct seen_options *o, char text[FILTERS_SHAPE_CAP]);

/* Reports an error of unseen_set_create or unseen_store_open if it is about --filter and what goes
 * with it; false if it is not. */
bool filters_report(const struct seen_options *o, const struct unseen_error *error);

/* True if the set has more keys than it was made for, and answers worse than promised. */
bool filters_is_full(const struct unseen_set *set);

/* If the set is full, reports that. Returns a capacity that is enough for the keys of earlier runs
 * and for all lines of this run, of which nnew were new and nseen were taken for repeats; 0 if the
 * set is not full. */
uint64_t filters_report_full(const struct unseen_set *set, uint64_t nnew, uint64_t nseen);

/* Hints at the rewrite of a store, which has the set and the rate, that gives it the filter of the
 * options. */
void filters_hint_rewrite(const struct seen_options *o, const struct unseen_set *set, double fpr);

/* True if the set answers as promised; if not, reports that, with the command that helps. */
bool filters_check_full(const struct seen_options *o, const struct unseen_set *set, uint64_t nnew,
                        uint64_t nseen);

/* Prints `unseen help filters`. */
void filters_help(void);

#endif
