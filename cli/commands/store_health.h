/* SPDX-License-Identifier: MIT
 *
 * What a look at all bytes of a store has found, in words. */
#ifndef UNSEEN_CLI_STORE_HEALTH_H
#define UNSEEN_CLI_STORE_HEALTH_H

#include <unseen.h>

#include "print/output.h"

/* For unseen_store_verify and unseen_store_repair: one message for each damage. */
void health_report(void *context, const struct unseen_error *damage);

/* One line on the store at path. */
void health_put(struct output *out, const char *path, const struct unseen_store_health *health);

#endif
