/* SPDX-License-Identifier: MIT
 *
 * A set that several threads use at once: keys -> verdicts.
 *
 * A set for one thread is one filter. A set for several is up to 256 filters. Each has its own lock
 * and holds the keys of one hash prefix, so adding a key is one critical section, and exactly one
 * thread is told that the key was new. A batch is sorted by filter first: a lock is then taken once
 * for all keys of its filter. */
#include "set/set.h"

#include <string.h>

enum {
    SHARED_BATCH = 1024, /* keys sorted by filter at a time */
    UNANSWERED = 0xff
};

static size_t shard_of(const struct unseen_set *set, struct unseen_key key)
{
    return (size_t)((key.hi >> 1) >> (63 - set->shard_bits));
}

static enum unseen_status run_locked(const struct unseen_set *set, size_t shard,
                                     enum unseen__operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone)
{
    struct unseen__shard *s = &set->shards[shard];
    pthread_mutex_lock(&s->lock);
    enum unseen_status status = unseen__set_run_shard(set, s, operation, keys, n, verdicts, ndone);
    pthread_mutex_unlock(&s->lock);
    return status;
}

uint64_t unseen__set_count_key(const struct unseen_set *set, struct unseen_key key)
{
    struct unseen__shard *s = &set->shards[shard_of(set, key)];
    pthread_mutex_lock(&s->lock);
    const uint64_t count = set->ops->multiplicity(s->filter, key);
    pthread_mutex_unlock(&s->lock);
    return count;
}

/* Up to SHARED_BATCH keys in the order of their filters. */
struct sorted {
    struct unseen_key keys[SHARED_BATCH];
    uint8_t verdicts[SHARED_BATCH];
    uint16_t index[SHARED_BATCH];                      /* of each key in the batch */
    uint16_t start[(1 << UNSEEN__SHARD_BITS_MAX) + 1]; /* of each filter's keys */
};

static void sort_by_shard(const struct unseen_set *set, const struct unseen_key *keys, size_t n,
                          struct sorted *s)
{
    size_t nshards = unseen__set_nshards(set);
    memset(s->start, 0, sizeof(s->start));
    for (size_t i = 0; i < n; i++) {
        s->start[shard_of(set, keys[i]) + 1]++;
    }
    for (size_t k = 0; k < nshards; k++) {
        s->start[k + 1] = (uint16_t)(s->start[k + 1] + s->start[k]);
    }
    uint16_t next[1 << UNSEEN__SHARD_BITS_MAX];
    memcpy(next, s->start, nshards * sizeof(*next));
    for (size_t i = 0; i < n; i++) {
        uint16_t to = next[shard_of(set, keys[i])]++;
        s->keys[to] = keys[i];
        s->index[to] = (uint16_t)i;
    }
    memset(s->verdicts, UNANSWERED, n);
}

/* Called when a filter ran out of memory. Removes the keys that other filters added behind the
 * first key without an answer, so that the caller can add them again. A filter that counts has
 * added those that it had SEEN, too. */
static void take_back(const struct unseen_set *set, enum unseen__operation operation,
                      struct sorted *s, size_t n, size_t *ndone)
{
    const bool counts_seen = operation == UNSEEN__ADD && set->ops->multiplicity && !set->window;
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        if (s->verdicts[i] == UNANSWERED && s->index[i] < first) {
            first = s->index[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        const bool was_added =
            s->verdicts[i] == UNSEEN_NEW || (counts_seen && s->verdicts[i] == UNSEEN_SEEN);
        if (was_added && s->index[i] > first) {
            uint8_t verdict;
            size_t one;
            (void)run_locked(set, shard_of(set, s->keys[i]), UNSEEN__REMOVE, &s->keys[i], 1,
                             &verdict, &one);
        }
    }
    *ndone = first;
}

static enum unseen_status run_sorted(const struct unseen_set *set, enum unseen__operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone)
{
    struct sorted s;
    sort_by_shard(set, keys, n, &s);
    enum unseen_status result = UNSEEN_OK;
    for (size_t k = 0; k < unseen__set_nshards(set); k++) {
        size_t start = s.start[k];
        size_t count = s.start[k + 1] - start;
        size_t shard_done;
        if (count == 0) {
            continue;
        }
        enum unseen_status status =
            run_locked(set, k, operation, s.keys + start, count, s.verdicts + start, &shard_done);
        if (status != UNSEEN_OK) {
            result = status;
            memset(s.verdicts + start + shard_done, UNANSWERED, count - shard_done);
        }
    }
    *ndone = n;
    if (result != UNSEEN_OK) {
        take_back(set, operation, &s, n, ndone);
    }
    for (size_t i = 0; i < n; i++) {
        if (s.index[i] < *ndone) {
            verdicts[s.index[i]] = s.verdicts[i];
        }
    }
    return result;
}

/* True if all keys belong to one filter, as in a program that sorts keys by their top bits. */
static bool is_of_one_shard(const struct unseen_set *set, const struct unseen_key *keys, size_t n)
{
    size_t i = 1;
    while (i < n && shard_of(set, keys[i]) == shard_of(set, keys[0])) {
        i++;
    }
    return i >= n;
}

enum unseen_status unseen__set_run_shared(const struct unseen_set *set,
                                          enum unseen__operation operation,
                                          const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts, size_t *ndone)
{
    if (n > 0 && is_of_one_shard(set, keys, n)) {
        return run_locked(set, shard_of(set, keys[0]), operation, keys, n, verdicts, ndone);
    }
    for (size_t done = 0; done < n; done += SHARED_BATCH) {
        size_t count = n - done < SHARED_BATCH ? n - done : SHARED_BATCH;
        size_t batch_done;
        enum unseen_status status =
            run_sorted(set, operation, keys + done, count, verdicts + done, &batch_done);
        if (status != UNSEEN_OK) {
            *ndone = done + batch_done;
            return status;
        }
    }
    *ndone = n;
    return UNSEEN_OK;
}
