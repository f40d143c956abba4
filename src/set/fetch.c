/* SPDX-License-Identifier: MIT
 *
 * Fetches pieces. The set of a large store is opened without its pieces; a piece is read from the
 * image of the store when a key first needs it. Only the reading takes a lock: threads that ask for
 * keys whose pieces have been read do not wait. Such a set has one filter. */
#include "set/set.h"
#include "tags/compact.h"

enum unseen_status unseen__set_fetch_keys(const struct unseen_set *set,
                                          const struct unseen_key *keys, size_t n)
{
    struct unseen__shard *shard = &set->shards[0];
    if (unseen__compact_has_pieces(shard->filter, keys, n)) {
        return UNSEEN_OK;
    }
    pthread_mutex_lock(&shard->lock);
    const enum unseen_status status = unseen__compact_fetch(shard->filter, keys, n);
    pthread_mutex_unlock(&shard->lock);
    return status;
}
