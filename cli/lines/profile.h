/* SPDX-License-Identifier: MIT
 *
 * Makes a canonicaliser from the names of a profile and of rules. */
#ifndef UNSEEN_CLI_PROFILE_H
#define UNSEEN_CLI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

/* The options -p, --rule, --drop-params and --only-params. */
struct profile_options {
    const char *name; /* NULL: the default of the command */
    const char **rules;
    size_t nrules;
    char **made; /* those of the rules that were allocated */
    size_t nmade;
};

/* Makes the canonicaliser that the options ask for. `standard` is the profile if they name none;
 * NULL: the library's default. False if that failed, which has been reported. */
bool profile_create(struct unseen_url **url_out, const struct profile_options *o,
                    const char *standard, enum unseen_cpu cpu);

/* True if the profile of url is none. */
bool profile_is_none(const struct unseen_url *url);

/* Checks that --base, if it is not NULL, is an absolute URL; reports it if not. */
bool profile_check_base(const char *base);

#endif
