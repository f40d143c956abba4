/* SPDX-License-Identifier: MIT
 *
 * Finds the known name that is most like a wrong one, for hints. */
#ifndef UNSEEN_CLI_SUGGEST_H
#define UNSEEN_CLI_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *wanted;
    const char
        *best; /* the most similar name so far, the first of several; NULL: none is similar */
    size_t distance;
};

/* Compares another name. Before the first call only `wanted` is set. */
void suggest_try(struct suggestion *n, const char *name);

#endif
