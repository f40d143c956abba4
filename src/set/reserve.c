/* SPDX-License-Identifier: MIT
 *
 * Makes room in a set for keys that are about to come: each filter grows in one
 * step. */
#include "set/set.h"
#include "tags/compact.h"

/* Added to the generation, so that chunks of exports before and after do not fit together. */
#define RESERVED 3

enum unseen_status unseen_set_reserve(struct unseen_set *set, uint64_t nkeys)
{
    if (set->ops != &unseen__compact_ops && set->ops != &unseen__compact_count_ops) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    enum unseen_status status = unseen__set_fetch_all(set);
    for (size_t i = 0; i < unseen__set_nshards(set) && status == UNSEEN_OK; i++) {
        struct unseen__shard *shard = &set->shards[i];
        pthread_mutex_lock(&shard->lock);
        status = unseen__compact_reserve(shard->filter, nkeys);
        shard->generation += RESERVED;
        pthread_mutex_unlock(&shard->lock);
    }
    return status;
}
