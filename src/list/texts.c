/* SPDX-License-Identifier: MIT
 *
 * The tables of the texts that changes are about; texts.h has the idea. */
#include "list/texts.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "list/list_key.h"

enum {
    LEAST = 64
};

#define TAG_MASK (UINT64_MAX << 32)

void unseen__list_texts_init(struct unseen__list_texts *texts, const struct unseen__hasher *hasher,
                             const struct unseen_allocator *allocator)
{
    *texts = (struct unseen__list_texts){.allocator = *allocator, .list = hasher};
}

static void free_slots(struct unseen__list_texts *texts)
{
    unseen__free(&texts->allocator, texts->by_key, texts->nslots * sizeof(texts->by_key[0]));
    unseen__free(&texts->allocator, texts->by_text, texts->nslots * sizeof(texts->by_text[0]));
}

void unseen__list_texts_release(struct unseen__list_texts *texts)
{
    const struct unseen_allocator allocator = texts->allocator;
    free_slots(texts);
    unseen__free(&allocator, texts->texts, texts->cap * sizeof(texts->texts[0]));
    unseen__free(&allocator, texts->bytes, texts->bytes_cap);
    unseen__hasher_release(&texts->own);
    unseen__list_texts_init(texts, texts->list, &allocator);
}

/* ---- room ---- */

/* A slot: the high half of a key or hash, and below it the number of the text + 1. An empty slot is
 * 0. */
static uint64_t slot_of(uint64_t hash, size_t number)
{
    return (hash & TAG_MASK) | (number + 1);
}

static struct unseen__list_text *text_in(const struct unseen__list_texts *texts, uint64_t slot)
{
    return &texts->texts[(slot & ~TAG_MASK) - 1];
}

static size_t next_slot(const struct unseen__list_texts *texts, size_t at)
{
    return (at + 1) & (texts->nslots - 1);
}

/* The slot of by_key that leads to the first text of this key, or the free slot where that
 * belongs. */
static uint64_t *find_key(const struct unseen__list_texts *texts, uint64_t key)
{
    size_t at = unseen__list_texts_slot(texts, key);
    while (texts->by_key[at] != 0 && (((texts->by_key[at] ^ key) & TAG_MASK) != 0 ||
                                      text_in(texts, texts->by_key[at])->key != key)) {
        at = next_slot(texts, at);
    }
    return &texts->by_key[at];
}

static bool is_text(const struct unseen__list_texts *texts, const struct unseen__list_text *text,
                    const void *data, size_t len)
{
    return text->len == len && (len == 0 || memcmp(texts->bytes + text->offset, data, len) == 0);
}

/* The text with this hash and these bytes, or NULL. */
static struct unseen__list_text *find_text(const struct unseen__list_texts *texts, uint64_t hash,
                                           const void *data, size_t len)
{
    for (size_t at = (size_t)hash & (texts->nslots - 1);; at = next_slot(texts, at)) {
        const uint64_t slot = texts->by_text[at];
        if (slot == 0) {
            return NULL;
        }
        if (((slot ^ hash) & TAG_MASK) == 0 && text_in(texts, slot)->hash == hash &&
            is_text(texts, text_in(texts, slot), data, len)) {
            return text_in(texts, slot);
        }
    }
}

static void put_slots(struct unseen__list_texts *texts, size_t number)
{
    const struct unseen__list_text *text = &texts->texts[number];
    uint64_t *first = find_key(texts, text->key);
    size_t at = (size_t)text->hash & (texts->nslots - 1);
    if (*first == 0) {
        *first = slot_of(text->key, number);
    }
    while (texts->by_text[at] != 0) {
        at = next_slot(texts, at);
    }
    texts->by_text[at] = slot_of(text->hash, number);
}

static uint64_t *new_slots(const struct unseen__list_texts *texts, size_t nslots)
{
    size_t size;
    return size_mul(nslots, sizeof(uint64_t), &size)
               ? unseen__alloc_zero(&texts->allocator, size, 64)
               : NULL;
}

/* At most a quarter of the slots are taken, so that most questions end at their first slot, and the
 * processor predicts that. (With up to a half, a question cost 13 ns more than without changes, now
 * 6; of 10^5 changes.) */
static bool grow_slots(struct unseen__list_texts *texts, size_t n)
{
    size_t nslots = texts->nslots < LEAST ? LEAST : texts->nslots;
    while (nslots / 4 < n) {
        nslots *= 2;
    }
    if (nslots == texts->nslots) {
        return true;
    }
    uint64_t *by_key = new_slots(texts, nslots);
    uint64_t *by_text = by_key ? new_slots(texts, nslots) : NULL;
    if (!by_text) {
        unseen__free(&texts->allocator, by_key, nslots * sizeof(by_key[0]));
        return false;
    }
    free_slots(texts);
    texts->by_key = by_key;
    texts->by_text = by_text;
    texts->nslots = nslots;
    texts->shift = 64;
    for (size_t bits = nslots; bits > 1; bits /= 2) {
        texts->shift--;
    }
    for (size_t i = 0; i < texts->n; i++) {
        put_slots(texts, i);
    }
    return true;
}

/* Draws the secret of this object's tables. */
static enum unseen_status draw_secret(struct unseen__list_texts *texts)
{
    struct unseen__secret secret;
    const enum unseen_status status = unseen__secret_make(NULL, 0, &secret, NULL);
    if (status == UNSEEN_OK) {
        unseen__hasher_init(&texts->own, &secret, UNSEEN_CPU_PORTABLE);
        texts->factor = unseen__key(&texts->own, NULL, 0, 128).hi | 1;
    }
    unseen__secret_forget(&secret);
    return status;
}

enum unseen_status unseen__list_texts_reserve(struct unseen__list_texts *texts, size_t n,
                                              size_t nbytes)
{
    /* A slot has 32 bits for a number. */
    if (n > UINT32_MAX - 1 - texts->n || nbytes >= SIZE_MAX - texts->nbytes) {
        return UNSEEN_ERR_NOMEM;
    }
    const enum unseen_status status = texts->factor == 0 ? draw_secret(texts) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        return status;
    }
    return array_grow(&texts->allocator, &texts->texts, &texts->cap, texts->n + n, LEAST,
                      sizeof(texts->texts[0])) &&
                   array_grow(&texts->allocator, &texts->bytes, &texts->bytes_cap,
                              texts->nbytes + nbytes + 1, LEAST, 1) &&
                   grow_slots(texts, texts->n + n)
               ? UNSEEN_OK
               : UNSEEN_ERR_NOMEM;
}

/* ---- asking ---- */

unsigned unseen__list_texts_state(const struct unseen__list_texts *texts, uint64_t key,
                                  const void *data, size_t len)
{
    if (*find_key(texts, key) == 0) {
        return 0;
    }
    const struct unseen__list_text *text =
        find_text(texts, unseen__list_key(&texts->own, data, len), data, len);
    return text ? text->state : 0;
}

/* ---- changing ---- */

static unsigned state_after(unsigned state, enum unseen_list_change change)
{
    switch (change) {
    case UNSEEN_LIST_ALLOW:
        return state | UNSEEN__TEXT_ALLOWED;
    case UNSEEN_LIST_DISALLOW:
        return state & ~(unsigned)UNSEEN__TEXT_ALLOWED;
    case UNSEEN_LIST_ADD:
        return (state & UNSEEN__TEXT_ALLOWED) | UNSEEN__TEXT_ADDED;
    case UNSEEN_LIST_REMOVE:
        return (state & UNSEEN__TEXT_ALLOWED) | UNSEEN__TEXT_REMOVED;
    }
    return state;
}

static void count_state(struct unseen__list_texts *texts, unsigned state, uint64_t by)
{
    texts->nallowed += state & UNSEEN__TEXT_ALLOWED ? by : 0;
    texts->nadded += state & UNSEEN__TEXT_ADDED ? by : 0;
    texts->nremoved += state & UNSEEN__TEXT_REMOVED ? by : 0;
}

static struct unseen__list_text *add_text(struct unseen__list_texts *texts, uint64_t hash,
                                          const void *data, size_t len)
{
    struct unseen__list_text *text = &texts->texts[texts->n];
    *text = (struct unseen__list_text){.key = unseen__list_key(texts->list, data, len),
                                       .hash = hash,
                                       .offset = texts->nbytes,
                                       .len = (uint32_t)len};
    if (len > 0) {
        memcpy(texts->bytes + texts->nbytes, data, len);
    }
    texts->nbytes += len;
    put_slots(texts, texts->n++);
    return text;
}

bool unseen__list_texts_change(struct unseen__list_texts *texts, enum unseen_list_change change,
                               const void *data, size_t len)
{
    const uint64_t hash = unseen__list_key(&texts->own, data, len);
    struct unseen__list_text *text = find_text(texts, hash, data, len);
    const unsigned before = text ? text->state : 0;
    const unsigned after = state_after(before, change);
    if (before == after) {
        return false;
    }
    text = text ? text : add_text(texts, hash, data, len);
    text->state = after;
    count_state(texts, before, UINT64_MAX); /* one less */
    count_state(texts, after, 1);
    return true;
}
