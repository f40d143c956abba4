/* SPDX-License-Identifier: MIT
 *
 * unseen_replica.h - copies of sets that must stay equal, for servers that replicate them.
 *
 * A replica is made by a copy, or by an export and an import (unseen.h). Given the same changes in
 * the same order as the original, it gives the same answers and has the same bytes. It needs only
 * the changes that had an effect: the keys that were NEW when added, and SEEN when removed. Packed
 * keys are 8 to 16 bytes each.
 *
 *     unseen_set_copy(&replica, set, NULL);
 *     -> add and remove in both
 *     if (unseen_set_digest(set) != unseen_set_digest(replica)) ... something went wrong
 *
 * unseen_set_merge joins two sets that grew apart. The conventions are those of unseen.h. */
#ifndef UNSEEN_REPLICA_H
#define UNSEEN_REPLICA_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a copy of a set, with its secret, URL identity, processor level, allocator, and number of
 * threads.
 *
 * Ownership: the caller frees *copy_out with unseen_set_free.
 * Errors:
 *   - NOMEM
 *   - RANDOM: as unseen_set_add
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
 * Errors: none; 0 for the set of a store whose image cannot be read.
 * Threads: one, for the set.
 * Time: linear in the memory. */
UNSEEN_API uint64_t unseen_set_digest(const struct unseen_set *set);

/* As unseen_set_merge (unseen.h), in steps that each take one piece of the other set, so that a
 * program has time for other work between them. Replicas that take the same steps, each in the same
 * state, stay equal.
 *
 * Arguments:
 *   - *cursor is 0 before the first step; the calls count it on. UNSEEN_MERGE_DONE says that all
 *     keys are there.
 *   - Both sets may change between the steps. Keys that the other set had at the first step and has
 *     at the last one are merged; keys that came or went meanwhile may be.
 * Errors: those of unseen_set_merge, and
 *   - ARGUMENT: a cursor of another merge
 * Threads: one, for both sets.
 * Time: 1 ms or less for sets with the filter "compact" and one thread; otherwise the first step is
 *   the whole merge. */
#define UNSEEN_MERGE_DONE UINT64_MAX
UNSEEN_API enum unseen_status unseen_set_merge_step(struct unseen_set *set,
    const struct unseen_set *other, uint64_t *cursor, struct unseen_error *error);

/* As unseen_set_count (unseen.h), for n keys of this set.
 *
 * Errors:
 *   - UNSUPPORTED: the filter cannot tell
 * Threads: any.
 * Time: linear in n. */
UNSEEN_API enum unseen_status unseen_set_count_keys(
    const struct unseen_set *set, const struct unseen_key *keys, size_t n, uint64_t *counts);

/* Writes n keys to buf, each in key_bits / 8 bytes (struct unseen_set_options): what a replica
 * needs of a change, in the fewest bytes. The keys are of this set. Returns the number of bytes
 * written, n * 16 at most.
 *
 * Errors: none.
 * Threads: any.
 * Time: linear in n. */
UNSEEN_API size_t unseen_set_pack_keys(
    const struct unseen_set *set, const struct unseen_key *keys, size_t n, void *buf);

/* Reads keys that unseen_set_pack_keys wrote for this set or for a replica of it.
 *
 * Arguments:
 *   - data and len are whole keys; keys has room for max of them.
 *   - *n_out is the number of keys.
 * Errors:
 *   - CORRUPT: len is not a multiple of the size of a key
 *   - SPACE: more than max keys
 * Threads: any.
 * Time: linear in len. */
UNSEEN_API enum unseen_status unseen_set_unpack_keys(const struct unseen_set *set, const void *data,
    size_t len, struct unseen_key *keys, size_t max, size_t *n_out);

#ifdef __cplusplus
}
#endif

#endif
