/* SPDX-License-Identifier: MIT
 *
 * The union of two sets. The other set is cut into pieces, as for an export, and each piece goes to
 * every filter of the set that owns some of its keys. So the two sets may have been made for
 * different numbers of threads, and filters need no other code to cut themselves into pieces. */
#include "set/set.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tags/compact.h"

enum {
    POSITION_BITS = 50 /* of a merge in steps: 1 + (filter of the other set << 50 | position) */
};

static enum unseen_status check_mergeable(const struct unseen_set *set,
                                          const struct unseen_set *other,
                                          struct unseen_error *error)
{
    enum unseen_setting setting = UNSEEN_SETTING_NONE;
    const char *name = NULL;
    if (set == other) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, setting,
                                     "a set cannot be merged with itself");
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

/* The position of the pieces that must be merged first and at once, because their keys may move to
 * other pieces while the other set changes. The pieces in front of them can be merged one by one.
 * 0: the filter's pieces are all merged at once. */
static uint64_t whole_keys(const struct unseen_set *set)
{
    return set->ops == &unseen__compact_ops ? COMPACT_POSITION_KEYS : 0;
}

/* Gives the piece at *position of a filter of the other set to the filters that own some of its
 * keys. *len_out is 0 behind the last. */
static enum unseen_status merge_piece(struct unseen_set *set, const struct unseen__filter *other,
                                      uint64_t *position, uint8_t *buf, size_t *len_out)
{
    enum unseen_status status = UNSEEN_OK;
    const size_t len = set->ops->save_piece(other, position, buf);
    for (size_t i = 0; len > 0 && i < unseen__set_nshards(set) && status == UNSEEN_OK; i++) {
        struct unseen__filter *filter = set->shards[i].filter;
        if (set->ops->owns_piece(filter, buf, len)) {
            status = set->ops->merge_piece(filter, buf, len);
        }
    }
    *len_out = len;
    return status;
}

/* Merges all pieces of the other set from this position on. */
static enum unseen_status merge_from(struct unseen_set *set, const struct unseen_set *other,
                                     uint64_t position, uint8_t *buf)
{
    enum unseen_status status = UNSEEN_OK;
    for (size_t i = 0; i < unseen__set_nshards(other); i++) {
        uint64_t at = position;
        for (size_t len = 1; len > 0 && status == UNSEEN_OK;) {
            status = merge_piece(set, other->shards[i].filter, &at, buf, &len);
        }
    }
    return status;
}

static void merge_finish(struct unseen_set *set, const struct unseen_set *other)
{
    for (size_t i = 0; i < unseen__set_nshards(set); i++) {
        set->ops->merge_finish(set->shards[i].filter);
    }
    for (size_t i = 0; i < unseen__set_nshards(other); i++) {
        set->shards[0].generation += other->shards[i].generation;
    }
    set->shards[0].generation++;
}

/* Checks what must be true before a merge. *buf_out has room for a piece; the caller frees
 * it. */
static enum unseen_status merge_begin(struct unseen_set *set, const struct unseen_set *other,
                                      uint8_t **buf_out, struct unseen_error *error)
{
    if (!(set->ops->abilities & UNSEEN_CAN_MERGE)) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
                                     "sets with the filter %s%s cannot be merged", set->ops->name,
                                     set->ops->multiplicity ? " that counts" : "");
    }
    enum unseen_status status = check_mergeable(set, other, error);
    if (status == UNSEEN_OK && (set->window || other->window)) {
        status = unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                       "a set with a window cannot be merged: its keys have times");
    }
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
    *buf_out = unseen__alloc(&set->allocator, UNSEEN_CHUNK_MAX, 64);
    return *buf_out ? UNSEEN_OK : unseen__error_plain(error, UNSEEN_ERR_NOMEM);
}

static enum unseen_status merge_end(struct unseen_set *set, uint8_t *buf, enum unseen_status status,
                                    struct unseen_error *error)
{
    unseen__free(&set->allocator, buf, UNSEEN_CHUNK_MAX);
    if (status == UNSEEN_ERR_UNSUPPORTED) {
        return unseen__error_setting(error, status, UNSEEN_SETTING_NONE,
                                     "the keys of the two sets crowd in one place: somebody who "
                                     "knows the secret made them");
    }
    return status == UNSEEN_OK ? UNSEEN_OK : unseen__error_plain(error, status);
}

/* The piece at *cursor, of a filter whose pieces can be merged one by one. */
static enum unseen_status merge_at(struct unseen_set *set, const struct unseen_set *other,
                                   uint64_t *cursor, uint8_t *buf)
{
    const uint64_t shard = (*cursor - 1) >> POSITION_BITS;
    uint64_t position = (*cursor - 1) & (((uint64_t)1 << POSITION_BITS) - 1);
    size_t len;
    if (shard >= unseen__set_nshards(other)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const enum unseen_status status =
        merge_piece(set, other->shards[shard].filter, &position, buf, &len);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (len > 0 && position < whole_keys(set)) {
        *cursor = 1 + (shard << POSITION_BITS | position);
    } else if (shard + 1 < unseen__set_nshards(other)) {
        *cursor = 1 + ((shard + 1) << POSITION_BITS);
    } else {
        merge_finish(set, other);
        *cursor = UNSEEN_MERGE_DONE;
    }
    return status;
}

/* The first step: what cannot be merged in steps is merged as a whole. */
static enum unseen_status merge_first(struct unseen_set *set, const struct unseen_set *other,
                                      uint64_t *cursor, uint8_t *buf)
{
    const enum unseen_status status = merge_from(set, other, whole_keys(set), buf);
    *cursor = 1;
    if (whole_keys(set) == 0) {
        merge_finish(set, other);
        *cursor = UNSEEN_MERGE_DONE;
    }
    return status;
}

enum unseen_status unseen_set_merge(struct unseen_set *set, const struct unseen_set *other,
                                    uint64_t *cursor, struct unseen_error *error)
{
    uint8_t *buf;
    enum unseen_status status = merge_begin(set, other, &buf, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!cursor) {
        status = merge_from(set, other, 0, buf);
        merge_finish(set, other);
    } else {
        status =
            *cursor == 0 ? merge_first(set, other, cursor, buf) : merge_at(set, other, cursor, buf);
    }
    return merge_end(set, buf, status, error);
}
