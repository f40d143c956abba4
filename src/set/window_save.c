/* SPDX-License-Identifier: MIT
 *
 * The window of a set as payloads of chunks, and back (docs/format.md, "Window of a set"). A
 * payload has the length and the clock, and then rows of keys:
 *
 *     {time, n, n keys}                     a part of the queue, or a piece of a part
 *     {NOTES, n, n times {key, count}}      keys that were removed while they stay in the queue
 *
 * Payloads may be forged. A reader checks that the times rise and are of the window, and, when the
 * filter is complete, that it has the keys of the queue and no others. */
#include "set/window.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/chunk.h"
#include "hash/key.h"

enum {
    HEAD = 16,
    ROW = 12,
    COUNT = 8,
    CHECKED = 512 /* keys that the filter is asked for at once */
};

#define NOTES UINT64_MAX

/* ---- out ---- */

static uint8_t *put_row(uint8_t *p, uint64_t time, size_t n)
{
    store_le64(p, time);
    store_le32(p + 8, (uint32_t)n);
    return p + ROW;
}

/* How many entries of entry_len bytes a row at p may have. */
static size_t row_room(const uint8_t *p, const uint8_t *end, size_t entry_len)
{
    const size_t left = (size_t)(end - p);
    return left < ROW ? 0 : (left - ROW) / entry_len;
}

/* Writes parts from the key *index of the queue on. */
static uint8_t *put_parts(const struct unseen__queue *q, uint64_t *index, uint8_t *p,
                          const uint8_t *end, size_t key_len)
{
    const struct unseen__queue_part *part = unseen__queue_first(q);
    struct unseen__queue_place place = unseen__queue_seek(q, *index);
    uint64_t skip = *index;
    for (size_t i = 0; i < q->nparts; i++, part++) {
        if (skip >= part->nkeys) {
            skip -= part->nkeys;
            continue;
        }
        const uint64_t left = part->nkeys - skip;
        const size_t room = row_room(p, end, key_len);
        const size_t n = left < room ? (size_t)left : room;
        if (n == 0) {
            break;
        }
        p = put_row(p, part->time, n);
        unseen__queue_read(&place, n, p);
        p += n * key_len;
        *index += n;
        skip = 0;
    }
    return p;
}

static uint8_t *put_notes(const struct unseen__stash *removed, uint64_t *index, uint8_t *p,
                          const uint8_t *end, unsigned key_bits)
{
    const size_t key_len = unseen__key_bytes(key_bits);
    const size_t room = row_room(p, end, key_len + COUNT);
    const size_t left = removed->nkeys - (size_t)*index;
    const size_t n = left < room ? left : room;
    if (n == 0) {
        return p;
    }
    p = put_row(p, NOTES, n);
    for (size_t i = 0; i < n; i++, ++*index) {
        const struct unseen_key key = removed->keys[*index];
        unseen__keys_pack(&key, 1, key_bits, p);
        store_le64(p + key_len, unseen__stash_count(removed, key));
        p += key_len + COUNT;
    }
    return p;
}

size_t unseen__window_save(const struct unseen_set *set, size_t shard, uint64_t *at,
                           uint8_t *payload)
{
    const struct unseen__window *w = set->window;
    const struct unseen__queue *q = &w->queues[shard];
    const uint8_t *const end = payload + CHUNK_PAYLOAD_MAX;
    uint64_t index = *at > 0 ? *at - 1 : 0;
    uint8_t *p = payload + HEAD;
    if (*at > q->nkeys + q->removed.nkeys) {
        return 0;
    }
    store_le64(payload, w->length);
    store_le64(payload + 8, w->clock);
    if (index < q->nkeys) {
        p = put_parts(q, &index, p, end, unseen__key_bytes(set->key_bits));
    }
    if (index >= q->nkeys) {
        index -= q->nkeys;
        p = put_notes(&q->removed, &index, p, end, set->key_bits);
        index += q->nkeys;
    }
    *at = index + 1;
    return (size_t)(p - payload);
}

/* ---- in ---- */

/* Whether a queue with this last part may go on with keys of this time. None is due for too
 * long. */
static bool time_is_valid(const struct unseen__window *w, uint64_t time)
{
    const struct unseen__queue_part *last = unseen__queue_last(&w->queues[0]);
    if (last && time != last->time &&
        (time < last->time || time / w->step == last->time / w->step)) {
        return false;
    }
    return time <= w->clock && (time > 0 || w->clock == 0) &&
           w->clock - time < w->length + w->slack + w->step;
}

static enum unseen_status load_part(struct unseen_set *set, uint64_t time, const uint8_t *p,
                                    size_t n)
{
    struct unseen__queue *q = &set->window->queues[0];
    struct unseen_key keys[UNSEEN__QUEUE_RUN];
    const size_t key_len = unseen__key_bytes(set->key_bits);
    if (!time_is_valid(set->window, time)) {
        return UNSEEN_ERR_CORRUPT;
    }
    while (n > 0) {
        const size_t count = n < UNSEEN__QUEUE_RUN ? n : UNSEEN__QUEUE_RUN;
        const enum unseen_status status = unseen__queue_reserve(q, count, key_len, &set->allocator);
        if (status != UNSEEN_OK) {
            return status;
        }
        unseen__keys_unpack(p, count, set->key_bits, keys);
        unseen__queue_append(q, keys, count, set->key_bits, time, set->window->step);
        p += count * key_len;
        n -= count;
    }
    return UNSEEN_OK;
}

static enum unseen_status load_notes(struct unseen_set *set, const uint8_t *p, size_t n)
{
    struct unseen__stash *removed = &set->window->queues[0].removed;
    const size_t key_len = unseen__key_bytes(set->key_bits);
    for (size_t i = 0; i < n; i++, p += key_len + COUNT) {
        const uint64_t count = load_le64(p + key_len);
        struct unseen_key key;
        unseen__keys_unpack(p, 1, set->key_bits, &key);
        if (count == 0 || unseen__stash_contains(removed, key)) {
            return UNSEEN_ERR_CORRUPT;
        }
        const enum unseen_status status =
            unseen__stash_add_again(removed, key, count, &set->allocator);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    return UNSEEN_OK;
}

/* Gives the set its window, or compares the window with that of the payloads before. */
static enum unseen_status load_head(struct unseen_set *set, const uint8_t *p)
{
    const uint64_t length = load_le64(p);
    const uint64_t clock = load_le64(p + 8);
    if (set->window) {
        return length == set->window->length && clock == set->window->clock ? UNSEEN_OK
                                                                            : UNSEEN_ERR_CORRUPT;
    }
    if (length == 0 || length > UNSEEN__WINDOW_MAX || clock > UNSEEN__TIME_MAX ||
        !(set->ops->abilities & UNSEEN_CAN_REMOVE) || set->ops->multiplicity) {
        return UNSEEN_ERR_CORRUPT;
    }
    const enum unseen_status status = unseen__window_create(set, length);
    if (status == UNSEEN_OK) {
        set->window->clock = clock;
    }
    return status;
}

enum unseen_status unseen__window_load(struct unseen_set *set, const uint8_t *p, size_t len)
{
    const uint8_t *const end = p + len;
    if (set->shared) {
        return UNSEEN_ERR_UNSUPPORTED;
    }
    if (len < HEAD) {
        return UNSEEN_ERR_CORRUPT;
    }
    enum unseen_status status = load_head(set, p);
    for (p += HEAD; p < end && status == UNSEEN_OK;) {
        const size_t left = (size_t)(end - p);
        const uint64_t time = left < ROW ? 0 : load_le64(p);
        const size_t n = left < ROW ? 0 : load_le32(p + 8);
        const size_t entry_len = unseen__key_bytes(set->key_bits) + (time == NOTES ? COUNT : 0);
        if (n == 0 || n > (left - ROW) / entry_len) {
            return UNSEEN_ERR_CORRUPT;
        }
        p += ROW;
        status = time == NOTES ? load_notes(set, p, n) : load_part(set, time, p, n);
        p += n * entry_len;
    }
    return status;
}

/* Whether the filter has the next n keys of the queue, except those that are noted. */
static bool filter_has(const struct unseen_set *set, struct unseen__queue_place *place, size_t n)
{
    const struct unseen__queue *q = &set->window->queues[0];
    uint8_t packed[CHECKED * sizeof(struct unseen_key)];
    struct unseen_key keys[CHECKED];
    uint8_t verdicts[CHECKED];
    unseen__queue_read(place, n, packed);
    unseen__keys_unpack(packed, n, set->key_bits, keys);
    set->ops->contains(set->shards[0].filter, keys, n, verdicts);
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == UNSEEN_NEW && !unseen__stash_contains(&q->removed, keys[i])) {
            return false;
        }
    }
    return true;
}

enum unseen_status unseen__window_load_finish(struct unseen_set *set)
{
    struct unseen__window *w = set->window;
    const struct unseen__queue *q = &w->queues[0];
    uint64_t nlive = q->nkeys;
    for (size_t i = 0; i < q->removed.nkeys; i++) {
        const uint64_t count = unseen__stash_count(&q->removed, q->removed.keys[i]);
        if (count > nlive) {
            return UNSEEN_ERR_CORRUPT;
        }
        nlive -= count;
    }
    if (nlive != unseen__set_nkeys(set)) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (q->nkeys > 0) {
        struct unseen__queue_place place = unseen__queue_seek(q, 0);
        for (uint64_t left = q->nkeys; left > 0;) {
            const size_t n = left < CHECKED ? (size_t)left : CHECKED;
            if (!filter_has(set, &place, n)) {
                return UNSEEN_ERR_CORRUPT;
            }
            left -= n;
        }
    }
    /* The set that was saved was told its clock in this step of time, and has the same value. */
    const uint64_t due = unseen_set_due(set);
    const uint64_t end = w->clock - w->clock % w->step + w->step;
    w->next = due <= w->clock || w->clock == 0 ? 0 : due < end ? due : end;
    return UNSEEN_OK;
}
