/* SPDX-License-Identifier: MIT */
#include "list/texts.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "list/key.h"

enum {
    LEAST = 64
};

#define TAG_MASK (UINT64_MAX << 32)

void unseen__list_texts_init(struct unseen__list_texts *texts, uint64_t seed,
                             const struct unseen_allocator *allocator)
{
    *texts = (struct unseen__list_texts){.allocator = *allocator, .seed = seed};
}

void unseen__list_texts_release(struct unseen__list_texts *texts)
{
    const struct unseen_allocator allocator = texts->allocator;
    unseen__free(&allocator, texts->slots, texts->nslots * sizeof(texts->slots[0]));
    unseen__free(&allocator, texts->texts, texts->cap * sizeof(texts->texts[0]));
    unseen__free(&allocator, texts->bytes, texts->bytes_cap);
    unseen__list_texts_init(texts, texts->seed, &allocator);
}

/* ---- room ---- */

/* A block of *cap elements becomes one of at least `wanted`, twice as large or more. */
static bool grow(const struct unseen_allocator *allocator, void **block, size_t *cap, size_t wanted,
                 size_t element)
{
    size_t old_size = *cap * element;
    size_t size;
    if (wanted <= *cap) {
        return true;
    }
    size_t new_cap = *cap < LEAST ? LEAST : *cap;
    while (new_cap < wanted) {
        if (new_cap > SIZE_MAX / 2) {
            return false;
        }
        new_cap *= 2;
    }
    void *grown = size_mul(new_cap, element, &size) ? unseen__alloc(allocator, size, 64) : NULL;
    if (!grown) {
        return false;
    }
    if (old_size > 0) {
        memcpy(grown, *block, old_size);
    }
    unseen__free(allocator, *block, old_size);
    *block = grown;
    *cap = new_cap;
    return true;
}

static void put_slot(struct unseen__list_texts *texts, size_t number)
{
    const uint64_t key = texts->texts[number].key;
    const size_t mask = texts->nslots - 1;
    size_t at = (size_t)key & mask;
    while (texts->slots[at] != 0) {
        at = (at + 1) & mask;
    }
    texts->slots[at] = (key & TAG_MASK) | (number + 1);
}

/* At most a quarter of the slots are taken, so that most questions end at their first, and the
 * processor guesses that. (With up to a half, a question cost 13 ns more than without changes, now 6;
 * of 10^5 changes.) */
static bool grow_slots(struct unseen__list_texts *texts, size_t n)
{
    size_t nslots = texts->nslots < LEAST ? LEAST : texts->nslots;
    size_t size;
    while (nslots / 4 < n) {
        nslots *= 2;
    }
    if (nslots == texts->nslots) {
        return true;
    }
    uint64_t *slots = size_mul(nslots, sizeof(slots[0]), &size)
                          ? unseen__alloc_zero(&texts->allocator, size, 64)
                          : NULL;
    if (!slots) {
        return false;
    }
    unseen__free(&texts->allocator, texts->slots, texts->nslots * sizeof(slots[0]));
    texts->slots = slots;
    texts->nslots = nslots;
    for (size_t i = 0; i < texts->n; i++) {
        put_slot(texts, i);
    }
    return true;
}

bool unseen__list_texts_reserve(struct unseen__list_texts *texts, size_t n, size_t nbytes)
{
    void *block = texts->texts;
    void *bytes = texts->bytes;
    /* A slot has 32 bits for a number. */
    if (n > UINT32_MAX - 1 - texts->n || nbytes >= SIZE_MAX - texts->nbytes) {
        return false;
    }
    bool ok = grow(&texts->allocator, &block, &texts->cap, texts->n + n, sizeof(texts->texts[0]));
    texts->texts = block;
    ok = ok && grow(&texts->allocator, &bytes, &texts->bytes_cap, texts->nbytes + nbytes + 1, 1);
    texts->bytes = bytes;
    return ok && grow_slots(texts, texts->n + n);
}

/* ---- looking for one ---- */

static bool is_text(const struct unseen__list_texts *texts, const struct unseen__list_text *text,
                    const void *data, size_t len)
{
    return text->len == len && (len == 0 || memcmp(texts->bytes + text->place, data, len) == 0);
}

/* The text, or any that has the key, or NULL. */
static struct unseen__list_text *find(const struct unseen__list_texts *texts, uint64_t key,
                                      bool any, const void *data, size_t len)
{
    const size_t mask = texts->nslots - 1;
    for (size_t at = (size_t)key & mask;; at = (at + 1) & mask) {
        const uint64_t slot = texts->slots[at];
        if (slot == 0) {
            return NULL;
        }
        if (((slot ^ key) & TAG_MASK) == 0) {
            struct unseen__list_text *text = &texts->texts[(slot & ~TAG_MASK) - 1];
            if (text->key == key && (any || is_text(texts, text, data, len))) {
                return text;
            }
        }
    }
}

unsigned unseen__list_texts_state(const struct unseen__list_texts *texts, uint64_t key,
                                  const void *data, size_t len)
{
    const struct unseen__list_text *text = find(texts, key, false, data, len);
    return text ? text->state : 0;
}

unsigned unseen__list_texts_key_state(const struct unseen__list_texts *texts, uint64_t key)
{
    const struct unseen__list_text *text = find(texts, key, true, NULL, 0);
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

static void count(struct unseen__list_texts *texts, unsigned state, uint64_t by)
{
    texts->nallowed += state & UNSEEN__TEXT_ALLOWED ? by : 0;
    texts->nadded += state & UNSEEN__TEXT_ADDED ? by : 0;
    texts->nremoved += state & UNSEEN__TEXT_REMOVED ? by : 0;
}

static struct unseen__list_text *append(struct unseen__list_texts *texts, uint64_t key,
                                        const void *data, size_t len)
{
    struct unseen__list_text *text = &texts->texts[texts->n];
    *text = (struct unseen__list_text){.key = key, .place = texts->nbytes, .len = (uint32_t)len};
    if (len > 0) {
        memcpy(texts->bytes + texts->nbytes, data, len);
    }
    texts->nbytes += len;
    put_slot(texts, texts->n++);
    return text;
}

bool unseen__list_texts_change(struct unseen__list_texts *texts, enum unseen_list_change change,
                               const void *data, size_t len)
{
    const uint64_t key = unseen__list_key(data, len, texts->seed);
    struct unseen__list_text *text = find(texts, key, false, data, len);
    const unsigned before = text ? text->state : 0;
    const unsigned after = state_after(before, change);
    if (before == after) {
        return false;
    }
    text = text ? text : append(texts, key, data, len);
    text->state = after;
    count(texts, before, UINT64_MAX); /* one less */
    count(texts, after, 1);
    return true;
}
