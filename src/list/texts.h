/* SPDX-License-Identifier: MIT
 *
 * What the changes of a list say of texts. A table from keys to texts, with open addressing: a slot
 * is 8 bytes, the high half of a key and which text it is, so that a question whose text is not here
 * touches one line as a rule; where the halves agree, the keys are compared, and then the texts. */
#ifndef UNSEEN_LIST_TEXTS_H
#define UNSEEN_LIST_TEXTS_H

#include "base/macros.h"
#include "unseen.h"

/* What holds of a text: 0, or ALLOWED and one of the others or none. */
enum {
    UNSEEN__TEXT_ALLOWED = 1,
    UNSEEN__TEXT_ADDED = 2,
    UNSEEN__TEXT_REMOVED = 4
};

struct unseen__list_text {
    uint64_t key;
    uint64_t place; /* in bytes */
    uint32_t len;
    uint32_t state;
};

struct unseen__list_texts {
    struct unseen_allocator allocator;
    uint64_t seed;
    uint64_t *slots;
    size_t nslots;                   /* 0 or a power of two */
    struct unseen__list_text *texts; /* in the order in which they came */
    size_t n;
    size_t cap;
    uint8_t *bytes;
    size_t nbytes;
    size_t bytes_cap;
    uint64_t nallowed;
    uint64_t nadded;
    uint64_t nremoved;
};

/* The seed is that of the list's keys. */
void unseen__list_texts_init(struct unseen__list_texts *texts, uint64_t seed,
                             const struct unseen_allocator *allocator);
void unseen__list_texts_release(struct unseen__list_texts *texts);

/* Room for n more texts of nbytes together, or false. */
bool unseen__list_texts_reserve(struct unseen__list_texts *texts, size_t n, size_t nbytes);

/* Makes a change, for which there is room. Whether it was one. */
bool unseen__list_texts_change(struct unseen__list_texts *texts, enum unseen_list_change change,
                               const void *data, size_t len);

/* What holds of a text, or of the first one with this key. nslots must not be 0. */
unsigned unseen__list_texts_state(const struct unseen__list_texts *texts, uint64_t key,
                                  const void *data, size_t len);
unsigned unseen__list_texts_key_state(const struct unseen__list_texts *texts, uint64_t key);

/* Whether there may be a text of this key; of most others it says no, by their first slot. */
static inline bool unseen__list_texts_may_have(const struct unseen__list_texts *texts, uint64_t key)
{
    return texts->slots[key & (texts->nslots - 1)] != 0;
}

static inline void unseen__list_texts_prefetch(const struct unseen__list_texts *texts, uint64_t key)
{
    UNSEEN_PREFETCH_READ(&texts->slots[key & (texts->nslots - 1)]);
}

#endif
