/* SPDX-License-Identifier: MIT
 *
 * A set that forgets by time: a queue for each of its filters, and the clock that its caller
 * sets. */
#ifndef UNSEEN_SET_WINDOW_H
#define UNSEEN_SET_WINDOW_H

#include "set/queue.h"
#include "set/set.h"

struct unseen__window {
    uint64_t length;
    uint64_t step;        /* of the times in the queues */
    uint64_t slack;       /* keys that have been due for this long leave at once */
    uint64_t clock;       /* 0: not set yet */
    uint64_t next;        /* before this time, no key is due and no step of time ends */
    pthread_mutex_t lock; /* of whoever moves the clock that far */
    struct unseen__queue queues[];
};

/* Far below the limit of uint64_t: the end of a window can be computed. */
#define UNSEEN__TIME_MAX (UINT64_MAX / 4)

#define UNSEEN__WINDOW_MAX (UINT64_C(100) * 366 * 86400 * 1000)

/* The fewest bits of a key that do for a window and this rate. ops may be NULL. */
unsigned unseen__window_key_bits(const struct unseen__filter_ops *ops, double fpr);

/* Checks a window against the filter. Errors: ARGUMENT, UNSUPPORTED. */
enum unseen_status unseen__window_check(const struct unseen__filter_ops *ops,
                                        const struct unseen_set_options *options,
                                        struct unseen_error *error);

/* Gives the set, which has its filters, an empty queue for each. Errors: NOMEM. */
enum unseen_status unseen__window_create(struct unseen_set *set, uint64_t window);

/* set->window may be NULL. */
void unseen__window_free(struct unseen_set *set);

/* Adds the numbers of the window to *stats. */
void unseen__window_stats(const struct unseen_set *set, struct unseen_set_stats *stats);

/* UNSUPPORTED, and a sentence, if the set has a window and is shared. `what` is the participle of
 * what is asked for. */
enum unseen_status unseen__window_refuse(const struct unseen_set *set, const char *what,
                                         struct unseen_error *error);

/* ---- window_save.c ---- */

/* Writes the next payload of the queue of a filter, of CHUNK_PAYLOAD_MAX bytes at most. *at is 0
 * before the first call. Returns its length, 0 behind the last one. */
size_t unseen__window_save(const struct unseen_set *set, size_t shard, uint64_t *at,
                           uint8_t *payload);

/* Takes a payload; the first one gives the set its window. Errors: CORRUPT, NOMEM, RANDOM;
 * UNSUPPORTED: the set is shared. */
enum unseen_status unseen__window_load(struct unseen_set *set, const uint8_t *p, size_t len);

/* Checks that the filter, which is complete, has the keys of the queue and no others. Errors:
 * CORRUPT. Time: linear in the keys. */
enum unseen_status unseen__window_load_finish(struct unseen_set *set);

#endif
