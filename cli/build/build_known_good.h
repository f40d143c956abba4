/* SPDX-License-Identifier: MIT
 *
 * What must never be listed: the lines of --known-good are asked of the finished list, and those
 * that it has, by error or not, are allowed in it. */
#ifndef UNSEEN_CLI_BUILD_KNOWN_GOOD_H
#define UNSEEN_CLI_BUILD_KNOWN_GOOD_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "build/build_progress.h"
#include "commands/commands.h"

struct build_known_good {
    uint64_t nasked;
    uint64_t nallowed; /* of them: they were listed */
};

/* Whether the files that the options name can be read; false, and reported, if not. */
bool build_known_good_check(const struct options *o);

/* Asks the list at path, and changes it. False if that failed, which has been reported, or if a
 * signal wants the program to end. */
bool build_known_good_run(const struct options *o, const char *path, enum unseen_cpu cpu,
                          struct build_progress *progress, struct build_known_good *result_out);

#endif
