/* SPDX-License-Identifier: MIT
 *
 * unseen_replica.h - copies of sets that must stay equal, for servers that replicate them.
 *
 * A replica is made by a copy, or by an export and an import (unseen.h). Given the same changes in
 * the same order as the original, it gives the same answers and has the same bytes. It needs only
 * the changes that had an effect: the keys that were NEW when added, and SEEN when removed.
 *
 *     unseen_set_copy(&replica, set, NULL);
 *     -> add and remove in both
 *     if (unseen_set_digest(set) != unseen_set_digest(replica)) ... something went wrong
 *
 * Two sets that grew apart are joined by unseen_set_merge. The conventions are those of unseen.h. */
#ifndef UNSEEN_REPLICA_H
#define UNSEEN_REPLICA_H

#include <unseen.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a copy of a set, with its secret, URL identity, processor level, allocator, and number of
 * threads.
 *
 * Ownership: the caller frees *copy_out with unseen_set_free.
 * Errors:
 *   - NOMEM
 * Threads: one, for the set.
 * Time: linear in the memory; 5 to 11 ns for each key, 28 ns with "exact". */
UNSEEN_API enum unseen_status unseen_set_copy(
    struct unseen_set **copy_out, const struct unseen_set *set, struct unseen_error *error);

/* A hash of what a set has: its secret, and every bit that decides an answer now or later. Replicas
 * have equal digests. Two sets that were given the same keys in another order have equal digests
 * with the filters "exact", "bloom", "block" and "counting"; with the others they seldom have.
 * Compare sets that were made for the same number of threads.
 *
 * The digest is for finding faults, not for proving equality to somebody who may forge a set.
 *
 * Errors: none.
 * Threads: one, for the set.
 * Time: linear in the memory. */
UNSEEN_API uint64_t unseen_set_digest(const struct unseen_set *set);

#ifdef __cplusplus
}
#endif

#endif
