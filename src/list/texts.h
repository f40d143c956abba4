/* SPDX-License-Identifier: MIT
 *
 * The texts that the changes of a list are about, and what holds of each: allowed, added or
 * removed. Two tables with open addressing lead to a text:
 *
 *     by_key     from the list's key of the text. Most questions end here, at the first slot, which
 *                is empty. Of several texts with one key, only the first is in this table.
 *     by_text    from a hash of the text under a secret of this object.
 *
 * Whoever knows the list's secret can make texts with equal keys, but not texts that meet in either
 * table: by_text has its own secret, and by_key spreads keys by a secret factor. A slot is 8 bytes:
 * the high half of the key or hash, and the number of the text. */
#ifndef UNSEEN_LIST_TEXTS_H
#define UNSEEN_LIST_TEXTS_H

#include "hash/key.h"
#include "unseen_list.h"

/* The state of a text: ALLOWED or not, and either ADDED, REMOVED or neither. */
enum {
    UNSEEN__TEXT_ALLOWED = 1,
    UNSEEN__TEXT_ADDED = 2,
    UNSEEN__TEXT_REMOVED = 4
};

struct unseen__list_text {
    uint64_t key;    /* the list's key of the text */
    uint64_t hash;   /* of by_text */
    uint64_t offset; /* in the bytes of all texts */
    uint32_t len;
    uint32_t state;
};

struct unseen__list_texts {
    struct unseen_allocator allocator;
    const struct unseen__hasher *list; /* makes the list's keys */
    struct unseen__hasher own;         /* makes the hashes of by_text, from the first text on */
    uint64_t factor;                   /* odd, secret; 0: no secret has been drawn yet */
    uint64_t *by_key;
    uint64_t *by_text;
    size_t nslots; /* of each table: 0 or a power of two */
    unsigned shift;
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

/* hasher makes the list's keys; it is borrowed until the release. */
void unseen__list_texts_init(struct unseen__list_texts *texts, const struct unseen__hasher *hasher,
                             const struct unseen_allocator *allocator);
void unseen__list_texts_release(struct unseen__list_texts *texts);

/* Makes room for n more texts, of nbytes in all. Errors: NOMEM, RANDOM. */
enum unseen_status unseen__list_texts_reserve(struct unseen__list_texts *texts, size_t n,
                                              size_t nbytes);

/* Makes a change, for which there is room. Returns true if the state of the text changed. */
bool unseen__list_texts_change(struct unseen__list_texts *texts, enum unseen_list_change change,
                               const void *data, size_t len);

/* The state of a text, which has this key. nslots must not be 0. */
unsigned unseen__list_texts_state(const struct unseen__list_texts *texts, uint64_t key,
                                  const void *data, size_t len);

/* The first slot of a key in by_key. */
static inline size_t unseen__list_texts_slot(const struct unseen__list_texts *texts, uint64_t key)
{
    return (size_t)(key * texts->factor >> texts->shift);
}

/* May a text have this key? For most keys without a text the first slot says no. */
static inline bool unseen__list_texts_may_have(const struct unseen__list_texts *texts, uint64_t key)
{
    return texts->by_key[unseen__list_texts_slot(texts, key)] != 0;
}

static inline void unseen__list_texts_prefetch(const struct unseen__list_texts *texts, uint64_t key)
{
    UNSEEN_PREFETCH_READ(&texts->by_key[unseen__list_texts_slot(texts, key)]);
}

#endif
