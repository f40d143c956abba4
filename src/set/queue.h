/* SPDX-License-Identifier: MIT
 *
 * The queue of a filter with a window: the keys that were new, packed, in the order of their
 * time (docs/decisions/window.md).
 *
 *     blocks:  [k k k k] -> [k k k k] -> [k k . .]    the first keys of the first block are gone
 *     parts:   {time, 5} {time, 1} {time, 4}          how many of the keys have which time
 *
 * A part has the keys that were added in one step of time, and the latest time of that step. */
#ifndef UNSEEN_SET_QUEUE_H
#define UNSEEN_SET_QUEUE_H

#include <stdbool.h>

#include "tags/stash.h"
#include "unseen.h"

enum {
    UNSEEN__QUEUE_RUN = 1024 /* keys that are appended at once, at most */
};

struct unseen__queue_part {
    uint64_t time;
    uint64_t nkeys;
};

struct unseen__queue {
    struct unseen__queue_block *head;
    struct unseen__queue_block *tail;
    struct unseen__queue_block *spare; /* follows the tail; NULL: none */
    struct unseen__queue_part *parts;  /* nparts of them, from first_part on */
    size_t parts_cap;
    size_t first_part;
    size_t nparts;
    uint64_t nkeys;
    size_t memory; /* without that of `removed` */
    /* Keys that were removed while they stay in the queue. An entry that comes out of the queue
     * takes one of its key along. */
    struct unseen__stash removed;
};

void unseen__queue_release(struct unseen__queue *q, const struct unseen_allocator *allocator);

/* Makes room for n keys of key_len bytes, and for a part. n is at most UNSEEN__QUEUE_RUN. Errors:
 * NOMEM; nothing has changed. */
enum unseen_status unseen__queue_reserve(struct unseen__queue *q, size_t n, size_t key_len,
                                         const struct unseen_allocator *allocator);

/* Appends n keys of key_bits bits, for which there is room. They join the last part if its time and
 * theirs, divided by `step`, are equal; then their time becomes that of the part. The time is not
 * before that of the last part. */
void unseen__queue_append(struct unseen__queue *q, const struct unseen_key *keys, size_t n,
                          unsigned key_bits, uint64_t time, uint64_t step);

/* Takes the first n keys out of the queue. The first part has so many. */
void unseen__queue_take(struct unseen__queue *q, struct unseen_key *keys, size_t n,
                        unsigned key_bits, const struct unseen_allocator *allocator);

/* A place in the queue: in a block, in front of a key. */
struct unseen__queue_place {
    const struct unseen__queue_block *block;
    size_t at;
};

/* The place of the index `first`, which the queue has. Time: linear in the blocks before. */
struct unseen__queue_place unseen__queue_seek(const struct unseen__queue *q, uint64_t first);

/* Writes n packed keys, which the queue has from the place on, and moves the place
 * behind them. Time: linear in n. */
void unseen__queue_read(struct unseen__queue_place *place, size_t n, uint8_t *packed);

/* Takes the last entry of a key out of the queue, if there is one. Time: linear. */
void unseen__queue_cut(struct unseen__queue *q, struct unseen_key key, unsigned key_bits,
                       const struct unseen_allocator *allocator);

/* The first part; NULL: the queue is empty. */
static inline struct unseen__queue_part *unseen__queue_first(const struct unseen__queue *q)
{
    return q->nparts > 0 ? &q->parts[q->first_part] : NULL;
}

static inline struct unseen__queue_part *unseen__queue_last(const struct unseen__queue *q)
{
    return q->nparts > 0 ? &q->parts[q->first_part + q->nparts - 1] : NULL;
}

#endif
