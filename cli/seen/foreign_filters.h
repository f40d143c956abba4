/* SPDX-License-Identifier: MIT
 *
 * Opens foreign filters, which `unseen import` makes of other programs' Bloom filters. */
#ifndef UNSEEN_CLI_FOREIGN_FILTERS_H
#define UNSEEN_CLI_FOREIGN_FILTERS_H

#include <stdbool.h>

#include <unseen_foreign.h>

/* Reads the filter at path. False if that failed, which has been reported. The caller frees
 * *filter_out. */
bool foreign_open(struct unseen_foreign **filter_out, const char *path);

/* Reports an error of any function of a filter. */
void foreign_report(const char *path, const struct unseen_error *error);

#endif
