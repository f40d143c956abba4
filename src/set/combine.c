/* SPDX-License-Identifier: MIT
 *
 * Union and intersection of two sets: each piece of the one, as for an export, goes to every filter
 * of the other that owns some of it. So two sets combine whatever the number of threads they were
 * made for, and a filter has one way to cut itself in pieces. */
#include "set/set.h"

#include <string.h>

#include "base/memory.h"

static size_t nshards_of(const struct unseen_set *set)
{
    return (size_t)1 << set->shard_bits;
}

static bool is_same_kind(const struct unseen_set *set, const struct unseen_set *other)
{
    return set != other && set->ops == other->ops &&
           unseen__secret_equals(&set->hasher.secret, &other->hasher.secret) &&
           set->key_bits == other->key_bits &&
           strcmp(unseen_set_profile(set), unseen_set_profile(other)) == 0 &&
           set->ops->is_same_shape(set->shards[0].filter, other->shards[0].filter);
}

static void combine_filter(struct unseen_set *set, enum unseen__combination combination,
                           const struct unseen__filter *other, uint8_t *buf)
{
    uint64_t position = 0;
    for (size_t len; (len = set->ops->save_piece(other, &position, buf)) != 0;) {
        for (size_t i = 0; i < nshards_of(set); i++) {
            struct unseen__filter *filter = set->shards[i].filter;
            if (set->ops->owns_piece(filter, buf, len)) {
                set->ops->combine_piece(filter, combination, buf, len);
            }
        }
    }
}

static enum unseen_status combine(struct unseen_set *set, const struct unseen_set *other,
                                  enum unseen__combination combination, unsigned ability)
{
    if (!(set->ops->abilities & ability)) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (!is_same_kind(set, other)) {
        return UNSEEN_ERR_MISMATCH;
    }
    uint8_t *buf = unseen__alloc(&set->allocator, UNSEEN_CHUNK_MAX, 64);
    if (!buf) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < nshards_of(other); i++) {
        combine_filter(set, combination, other->shards[i].filter, buf);
    }
    for (size_t i = 0; i < nshards_of(set); i++) {
        set->ops->combine_finish(set->shards[i].filter, combination);
    }
    unseen__free(&set->allocator, buf, UNSEEN_CHUNK_MAX);
    return UNSEEN_OK;
}

enum unseen_status unseen_set_merge(struct unseen_set *set, const struct unseen_set *other)
{
    return combine(set, other, UNSEEN__UNION, UNSEEN_CAN_MERGE);
}

enum unseen_status unseen_set_intersect(struct unseen_set *set, const struct unseen_set *other)
{
    return combine(set, other, UNSEEN__INTERSECTION, UNSEEN_CAN_INTERSECT);
}
