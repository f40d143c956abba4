/* SPDX-License-Identifier: MIT
 *
 * unseen_reserve.h - room for keys that are about to come, in a set that has keys already.
 *
 *     unseen_set_reserve(set, 5000000);
 *
 * A set with a growing filter needs no such call, and none in advance: capacity in struct
 * unseen_set_options does the same for a new set. To grow step by step takes longer than all the
 * rest of adding a key, so a program that learns on its way how many keys will come saves that.
 * The conventions are those of unseen.h. */
#ifndef UNSEEN_RESERVE_H
#define UNSEEN_RESERVE_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes room for nkeys keys in all, those that the set has included. The set takes the memory of a
 * set that was made with this capacity, or keeps its own if that is more. Its answers and its
 * promise stay as they are. Beyond nkeys it grows as ever.
 *
 * For replicas (unseen_replica.h) a call is a change: their bytes agree only if each gets it.
 *
 * Errors:
 *   - UNSUPPORTED: the filter is neither "compact" nor "compact-count" nor "exact"
 *   - NOMEM: the set has its keys, and perhaps some of the room
 *   - RANDOM: so too
 * Threads: as unseen_set_add.
 * Time: linear in the memory; for each key in the set, 5 ns for each doubling, "exact" 15 ns. */
UNSEEN_API enum unseen_status unseen_set_reserve(struct unseen_set *set, uint64_t nkeys);

/* The same for the set of a store. The room is not recorded: when the store is opened again, its
 * set is as large as its keys need.
 *
 * Errors:
 *   - those of unseen_set_reserve
 *   - those of unseen_store_add
 * Threads: as unseen_store_add.
 * Time: as unseen_set_reserve. */
UNSEEN_API enum unseen_status unseen_store_reserve(struct unseen_store *store, uint64_t nkeys);

#ifdef __cplusplus
}
#endif

#endif
