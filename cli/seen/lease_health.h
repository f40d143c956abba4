/* SPDX-License-Identifier: MIT
 *
 * Checks and repairs the leases of a store, for `unseen verify` and `unseen repair`. */
#ifndef UNSEEN_CLI_LEASE_HEALTH_H
#define UNSEEN_CLI_LEASE_HEALTH_H

#include <stdbool.h>

#include <unseen.h>

#include "seen/seen_options.h"

/* Reads the leases of a store of which the log has that note. Calls report for each damage. Returns
 * false if the file cannot be read, which has been reported. */
bool lease_health_verify(const char *store, uint64_t note,
                         void (*report)(void *context, const struct unseen_error *damage),
                         void *context);

/* Keeps every intact record of a damaged file in a new one; the old one stays as
 * STORE.leases.damaged. If the file is gone, the store forgets that it had leases. `health` is that
 * of the repaired store. Returns false if that failed, which has been reported. */
bool lease_health_repair(const char *store, const struct seen_options *o, enum unseen_cpu cpu,
                         const struct unseen_store_health *health,
                         void (*report)(void *context, const struct unseen_error *damage),
                         void *context);

#endif
