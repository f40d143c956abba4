/* SPDX-License-Identifier: MIT
 *
 * Union and intersection. The other set is cut into pieces, as for an export, and each piece goes
 * to every filter of the set that owns some of its keys. So the two sets may have been made for
 * different numbers of threads, and filters need no other code to cut themselves into pieces. */
#include "set/set.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static size_t nshards_of(const struct unseen_set *set)
{
    return (size_t)1 << set->shard_bits;
}

static enum unseen_status check_same(const struct unseen_set *set, const struct unseen_set *other,
                                     struct unseen_error *error)
{
    enum unseen_setting setting = UNSEEN_SETTING_NONE;
    const char *name = NULL;
    if (set == other) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, setting,
                                     "a set cannot be combined with itself");
    }
    if (set->ops != other->ops) {
        setting = UNSEEN_SETTING_FILTER;
        name = "filter";
    } else if (!unseen__secret_equals(&set->hasher.secret, &other->hasher.secret)) {
        setting = UNSEEN_SETTING_SEED;
        name = "seed";
    } else if (set->key_bits != other->key_bits) {
        setting = UNSEEN_SETTING_KEY_BITS;
        name = "number of key bits";
    } else if (strcmp(unseen_set_profile(set), unseen_set_profile(other)) != 0) {
        setting = UNSEEN_SETTING_PROFILE;
        name = "profile";
    } else if (!set->ops->is_same_shape(set->shards[0].filter, other->shards[0].filter)) {
        setting = UNSEEN_SETTING_CAPACITY;
        name = "capacity or rate";
    } else {
        return UNSEEN_OK;
    }
    return unseen__error_setting(error, UNSEEN_ERR_MISMATCH, setting,
                                 "the sets do not have the same %s", name);
}

static enum unseen_status combine_filter(struct unseen_set *set,
                                         enum unseen__combination combination,
                                         const struct unseen__filter *other, uint8_t *buf)
{
    uint64_t position = 0;
    enum unseen_status status = UNSEEN_OK;
    for (size_t len;
         status == UNSEEN_OK && (len = set->ops->save_piece(other, &position, buf)) != 0;) {
        for (size_t i = 0; i < nshards_of(set) && status == UNSEEN_OK; i++) {
            struct unseen__filter *filter = set->shards[i].filter;
            if (set->ops->owns_piece(filter, buf, len)) {
                status = set->ops->combine_piece(filter, combination, buf, len);
            }
        }
    }
    return status;
}

static enum unseen_status combine(struct unseen_set *set, const struct unseen_set *other,
                                  enum unseen__combination combination, unsigned ability,
                                  struct unseen_error *error)
{
    if (!(set->ops->abilities & ability)) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
                                     "sets with the filter %s cannot be combined this way",
                                     set->ops->name);
    }
    enum unseen_status status = check_same(set, other, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = unseen__set_fetch_all(set);
    if (status == UNSEEN_OK) {
        status = unseen__set_fetch_all(other);
    }
    if (status != UNSEEN_OK) {
        return unseen__error_plain(error, status);
    }
    uint8_t *buf = unseen__alloc(&set->allocator, UNSEEN_CHUNK_MAX, 64);
    if (!buf) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    for (size_t i = 0; i < nshards_of(other) && status == UNSEEN_OK; i++) {
        status = combine_filter(set, combination, other->shards[i].filter, buf);
    }
    for (size_t i = 0; i < nshards_of(set); i++) {
        set->ops->combine_finish(set->shards[i].filter, combination);
    }
    for (size_t i = 0; i < nshards_of(other); i++) {
        set->shards[0].generation += other->shards[i].generation;
    }
    set->shards[0].generation += 1 + (uint64_t)combination;
    unseen__free(&set->allocator, buf, UNSEEN_CHUNK_MAX);
    return status == UNSEEN_OK ? UNSEEN_OK : unseen__error_plain(error, status);
}

enum unseen_status unseen_set_merge(struct unseen_set *set, const struct unseen_set *other,
                                    struct unseen_error *error)
{
    return combine(set, other, UNSEEN__UNION, UNSEEN_CAN_MERGE, error);
}

enum unseen_status unseen_set_intersect(struct unseen_set *set, const struct unseen_set *other,
                                        struct unseen_error *error)
{
    return combine(set, other, UNSEEN__INTERSECTION, UNSEEN_CAN_INTERSECT, error);
}
