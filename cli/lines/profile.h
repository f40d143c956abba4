/* SPDX-License-Identifier: MIT
 *
 * From the names of a profile and of rules to a canonicaliser. */
#ifndef UNSEEN_CLI_PROFILE_H
#define UNSEEN_CLI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

/* -p and --rule. */
struct profile_options {
    const char *called; /* how a corrected command starts */
    const char *name;   /* NULL: the command's own default */
    const char **rules;
    size_t nrules;
};

/* Makes the canonicaliser that the options ask for; standard is the profile where they name none,
 * NULL for the library's. False if that failed, which has been reported. */
bool profile_create(struct unseen_url **url_out, const struct profile_options *o,
                    const char *standard, enum unseen_cpu cpu);

/* Whether url takes bytes as they are. */
bool profile_is_none(const struct unseen_url *url);

#endif
