/* SPDX-License-Identifier: MIT
 *
 * A block is full before the next one is begun, so only the head and the tail have gaps. A block
 * has room for a 64th of the keys at most, so that a small queue has small gaps. */
#include "set/queue.h"

#include <string.h>

#include "base/memory.h"
#include "hash/key.h"

enum {
    BLOCK_MIN = 64,
    BLOCK_MAX = 8192,
    BLOCKS = 64,
    PARTS_MIN = 8
};

struct unseen__queue_block {
    struct unseen__queue_block *next;
    struct unseen__queue_block *prev;
    uint32_t begin; /* its keys are those from begin to end */
    uint32_t end;
    uint32_t cap;
    uint32_t key_len;
    uint8_t keys[];
};

static size_t block_size(const struct unseen__queue_block *block)
{
    return sizeof(*block) + (size_t)block->cap * block->key_len;
}

static void free_block(struct unseen__queue *q, struct unseen__queue_block *block,
                       const struct unseen_allocator *allocator)
{
    if (block) {
        q->memory -= block_size(block);
        unseen__free(allocator, block, block_size(block));
    }
}

void unseen__queue_release(struct unseen__queue *q, const struct unseen_allocator *allocator)
{
    for (struct unseen__queue_block *block = q->head, *next; block; block = next) {
        next = block->next;
        free_block(q, block, allocator);
    }
    free_block(q, q->spare, allocator);
    unseen__free(allocator, q->parts, q->parts_cap * sizeof(*q->parts));
    unseen__stash_release(&q->removed, allocator);
    *q = (struct unseen__queue){.removed = q->removed};
}

/* ---- keys go in ---- */

/* The room of a new block. */
static size_t block_cap(const struct unseen__queue *q)
{
    const uint64_t cap = q->nkeys / BLOCKS;
    return cap < BLOCK_MIN ? BLOCK_MIN : cap > BLOCK_MAX ? BLOCK_MAX : (size_t)cap;
}

/* Makes a spare block with room for n keys. */
static enum unseen_status make_spare(struct unseen__queue *q, size_t n, size_t key_len,
                                     const struct unseen_allocator *allocator)
{
    const size_t cap = n > block_cap(q) ? n : block_cap(q);
    const size_t size = sizeof(struct unseen__queue_block) + cap * key_len;
    struct unseen__queue_block *block =
        unseen__alloc(allocator, size, _Alignof(struct unseen__queue_block));
    if (!block) {
        return UNSEEN_ERR_NOMEM;
    }
    *block = (struct unseen__queue_block){.cap = (uint32_t)cap, .key_len = (uint32_t)key_len};
    free_block(q, q->spare, allocator);
    q->spare = block;
    q->memory += size;
    return UNSEEN_OK;
}

/* Makes room for one more part. */
static enum unseen_status reserve_part(struct unseen__queue *q,
                                       const struct unseen_allocator *allocator)
{
    if (q->first_part + q->nparts < q->parts_cap) {
        return UNSEEN_OK;
    }
    struct unseen__queue_part *parts = q->parts;
    size_t cap = q->parts_cap;
    if (q->first_part < cap / 2 || cap == 0) {
        cap = cap ? 2 * cap : PARTS_MIN;
        parts = unseen__alloc(allocator, cap * sizeof(*parts), _Alignof(struct unseen__queue_part));
        if (!parts) {
            return UNSEEN_ERR_NOMEM;
        }
    }
    if (q->nparts > 0) {
        memmove(parts, q->parts + q->first_part, q->nparts * sizeof(*parts));
    }
    if (parts != q->parts) {
        unseen__free(allocator, q->parts, q->parts_cap * sizeof(*parts));
        q->memory += (cap - q->parts_cap) * sizeof(*parts);
    }
    q->parts = parts;
    q->parts_cap = cap;
    q->first_part = 0;
    return UNSEEN_OK;
}

enum unseen_status unseen__queue_reserve(struct unseen__queue *q, size_t n, size_t key_len,
                                         const struct unseen_allocator *allocator)
{
    const size_t left = q->tail ? q->tail->cap - q->tail->end : 0;
    const enum unseen_status status = reserve_part(q, allocator);
    if (status != UNSEEN_OK || n <= left || (q->spare && n - left <= q->spare->cap)) {
        return status;
    }
    return make_spare(q, n - left, key_len, allocator);
}

static void append_spare(struct unseen__queue *q)
{
    struct unseen__queue_block *block = q->spare;
    block->prev = q->tail; /* NOLINT: unseen__queue_reserve has made it */
    *(q->tail ? &q->tail->next : &q->head) = block;
    q->tail = block;
    q->spare = NULL;
}

void unseen__queue_append(struct unseen__queue *q, const struct unseen_key *keys, size_t n,
                          unsigned key_bits, uint64_t time, uint64_t step)
{
    struct unseen__queue_part *last = unseen__queue_last(q);
    if (n == 0) {
        return;
    }
    if (!last || last->time / step != time / step) {
        last = &q->parts[q->first_part + q->nparts++];
        last->nkeys = 0; /* NOLINT: unseen__queue_reserve has made room for it */
    }
    last->time = time;
    last->nkeys += n;
    q->nkeys += n;
    while (n > 0) {
        if (!q->tail || q->tail->end == q->tail->cap) {
            append_spare(q);
        }
        struct unseen__queue_block *tail = q->tail;
        const size_t count = n < tail->cap - tail->end ? n : tail->cap - tail->end;
        unseen__keys_pack(keys, count, key_bits, tail->keys + (size_t)tail->end * tail->key_len);
        tail->end += (uint32_t)count;
        keys += count;
        n -= count;
    }
}

/* ---- keys come out ---- */

/* Takes a block out of the list that has no keys any more. */
static void drop_block(struct unseen__queue *q, struct unseen__queue_block *block,
                       const struct unseen_allocator *allocator)
{
    *(block->prev ? &block->prev->next : &q->head) = block->next;
    *(block->next ? &block->next->prev : &q->tail) = block->prev;
    free_block(q, block, allocator);
}

void unseen__queue_take(struct unseen__queue *q, struct unseen_key *keys, size_t n,
                        unsigned key_bits, const struct unseen_allocator *allocator)
{
    struct unseen__queue_part *first = unseen__queue_first(q);
    first->nkeys -= n;
    q->first_part += first->nkeys == 0;
    q->nparts -= first->nkeys == 0;
    q->nkeys -= n;
    while (n > 0) {
        struct unseen__queue_block *head = q->head;
        const size_t count = n < head->end - head->begin ? n : head->end - head->begin;
        unseen__keys_unpack(head->keys + (size_t)head->begin * head->key_len, count, key_bits,
                            keys);
        head->begin += (uint32_t)count;
        keys += count;
        n -= count;
        if (head->begin == head->end) {
            drop_block(q, head, allocator);
        }
    }
}

struct unseen__queue_place unseen__queue_seek(const struct unseen__queue *q, uint64_t first)
{
    const struct unseen__queue_block *block = q->head;
    for (; first >= block->end - block->begin; block = block->next) {
        first -= block->end - block->begin;
    }
    return (struct unseen__queue_place){block, block->begin + (size_t)first};
}

void unseen__queue_read(struct unseen__queue_place *place, size_t n, uint8_t *packed)
{
    while (n > 0) {
        const struct unseen__queue_block *block = place->block;
        const size_t left = block->end - place->at;
        const size_t count = n < left ? n : left;
        memcpy(packed, block->keys + place->at * block->key_len, count * block->key_len);
        packed += count * block->key_len;
        n -= count;
        place->at += count;
        if (place->at == block->end && block->next) {
            *place = (struct unseen__queue_place){block->next, block->next->begin};
        }
    }
}

/* The last place of a packed key, counted back from the end of the queue, from 1; 0: none. */
static uint64_t find_last(const struct unseen__queue *q, const uint8_t *packed,
                          struct unseen__queue_block **block_out, uint32_t *at_out)
{
    uint64_t place = 0;
    for (struct unseen__queue_block *block = q->tail; block; block = block->prev) {
        for (uint32_t i = block->end; i > block->begin; i--) {
            place++;
            if (memcmp(block->keys + (size_t)(i - 1) * block->key_len, packed, block->key_len) ==
                0) {
                *block_out = block;
                *at_out = i - 1;
                return place;
            }
        }
    }
    return 0;
}

void unseen__queue_cut(struct unseen__queue *q, struct unseen_key key, unsigned key_bits,
                       const struct unseen_allocator *allocator)
{
    uint8_t packed[sizeof(key)];
    struct unseen__queue_block *block;
    uint32_t at;
    unseen__keys_pack(&key, 1, key_bits, packed);
    uint64_t place = find_last(q, packed, &block, &at);
    if (place == 0) {
        return;
    }
    /* The keys behind it move up by one. */
    for (; block; block = block->next, at = 0) {
        const size_t len = block->key_len;
        uint8_t *gap = block->keys + (size_t)at * len;
        memmove(gap, gap + len, (size_t)(block->end - at - 1) * len);
        if (block->next) {
            memcpy(block->keys + (size_t)(block->end - 1) * len, block->next->keys, len);
        }
    }
    q->nkeys--;
    if (--q->tail->end == q->tail->begin) {
        drop_block(q, q->tail, allocator);
    }
    struct unseen__queue_part *part = unseen__queue_last(q);
    for (; place > part->nkeys; part--) {
        place -= part->nkeys;
    }
    part->nkeys--;
}
