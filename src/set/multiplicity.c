/* SPDX-License-Identifier: MIT
 *
 * How often something was added to a set that counts. */
#include "set/set.h"

static unsigned ask(const struct unseen_set *set, struct unseen_key key)
{
    const size_t i = set->shard_bits ? (size_t)(key.hi >> (64 - set->shard_bits)) : 0;
    struct unseen__shard *shard = &set->shards[i];
    if (!set->shared) {
        return set->ops->multiplicity(shard->filter, key);
    }
    pthread_mutex_lock(&shard->lock);
    const unsigned times = set->ops->multiplicity(shard->filter, key);
    pthread_mutex_unlock(&shard->lock);
    return times;
}

enum unseen_status unseen_set_multiplicity(const struct unseen_set *set, const void *data,
                                           size_t len, unsigned *times_out)
{
    struct unseen_key key;
    if (!set->ops->multiplicity) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    const enum unseen_status status = unseen_set_key(set, data, len, &key);
    if (status == UNSEEN_OK) {
        *times_out = ask(set, key);
    }
    return status;
}
