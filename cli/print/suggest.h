/* SPDX-License-Identifier: MIT
 *
 * What somebody may have meant. */
#ifndef UNSEEN_CLI_SUGGEST_H
#define UNSEEN_CLI_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *wanted;
    const char *best; /* the most similar name so far, or NULL; of equals the first */
    size_t distance;
};

/* Start with wanted alone set. */
void suggest_try(struct suggestion *n, const char *name);

#endif
