/* SPDX-License-Identifier: MIT
 *
 * What somebody may have meant. */
#ifndef UNSEEN_CLI_NEAREST_H
#define UNSEEN_CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *wanted;
    const char *best; /* the most similar name so far, or NULL; of equals the first */
    size_t distance;
};

/* Start with wanted alone set. */
void nearest_try(struct nearest *n, const char *name);

#endif
