/* SPDX-License-Identifier: MIT
 *
 * unseen_shard.h - which of n machines, files or keys of a cluster a URL belongs to.
 *
 * Every program of unseen gives the same answer: this function, `unseen canon --shard`, the command
 * UNSEEN.SHARD of the server module, and unseen.shard in Python. There is no secret in it, so
 * programs need not share one; but whoever makes the input can fill one shard.
 *
 *     struct unseen_shards *shards;
 *     if (unseen_shards_create(&shards, NULL) != UNSEEN_OK) ...
 *     uint32_t i = unseen_shards_find(shards, "http://e.com/", 13, 20);      -> 0 to 19
 *     unseen_shards_free(shards);
 *
 * All spellings of a URL have one shard if the bytes are those of unseen_url_canon (unseen.h). The
 * conventions are those of unseen.h; docs/format.md has the definition, "Shares". */
#ifndef UNSEEN_SHARD_H
#define UNSEEN_SHARD_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

struct unseen_shards;

/* Makes the hash that decides on shards: 1.2 KB.
 *
 * Ownership: the caller frees *shards_out with unseen_shards_free.
 * Errors:
 *   - NOMEM
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_shards_create(
    struct unseen_shards **shards_out, const struct unseen_allocator *allocator);

/* Frees the hash. No other thread may use it any more. shards may be NULL.
 *
 * Errors: none.
 * Threads: one.
 * Time: constant. */
UNSEEN_API void unseen_shards_free(struct unseen_shards *shards);

/* The shard of an identity: 0 to n - 1. n is 1 or more.
 *
 * Errors: none.
 * Threads: any.
 * Time: that of two keys. */
UNSEEN_API uint32_t unseen_shards_find(
    const struct unseen_shards *shards, const void *identity, size_t len, uint32_t n);

/* ---- Keys of a cluster -------------------------------------------------------------------------
 * A set over n keys of a Redis or Valkey cluster has the keys NAME:{TAG}, one for each shard. The
 * tags put the keys on equal parts of the cluster's hash slots. */

#define UNSEEN_SHARD_TAGS_MAX 16384

/* Fills in the tags of n shards. Tag i is the smallest number which, written in decimal, has a hash
 * slot from i * 16384 / n on and below (i + 1) * 16384 / n.
 *
 * Errors:
 *   - ARGUMENT: n is not from 1 to UNSEEN_SHARD_TAGS_MAX
 * Threads: any.
 * Time: n log n; 10 us for 16 shards, 4 ms for 16384. */
UNSEEN_API enum unseen_status unseen_shard_tags(uint32_t n, uint32_t *tags);

#ifdef __cplusplus
}
#endif

#endif
