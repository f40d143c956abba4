/* SPDX-License-Identifier: MIT */
#include "commands/keytable.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAP = 1024
};

/* Where the key is, or the free entry where it would be. There always is a free one. */
static struct keytable_entry *place_of(const struct keytable *t, struct unseen_key key)
{
    const struct unseen_key hash = unseen_set_identity_key(t->hasher, &key, sizeof(key));
    size_t at = (size_t)hash.lo & (t->cap - 1);
    while (t->entries[at].used &&
           (t->entries[at].key.hi != key.hi || t->entries[at].key.lo != key.lo)) {
        at = (at + 1) & (t->cap - 1);
    }
    return &t->entries[at];
}

static bool grow(struct keytable *t)
{
    if (!t->hasher && unseen_set_create(&t->hasher, NULL, NULL) != UNSEEN_OK) {
        return false;
    }
    struct keytable bigger = {
        .hasher = t->hasher, .cap = t->cap > 0 ? 2 * t->cap : FIRST_CAP, .n = t->n};
    bigger.entries = calloc(bigger.cap, sizeof(*bigger.entries));
    if (!bigger.entries) {
        return false;
    }
    for (size_t i = 0; i < t->cap; i++) {
        if (t->entries[i].used) {
            *place_of(&bigger, t->entries[i].key) = t->entries[i];
        }
    }
    free(t->entries);
    *t = bigger;
    return true;
}

struct keytable_entry *keytable_find(const struct keytable *t, struct unseen_key key)
{
    if (t->cap == 0) {
        return NULL;
    }
    struct keytable_entry *entry = place_of(t, key);
    return entry->used ? entry : NULL;
}

struct keytable_entry *keytable_put(struct keytable *t, struct unseen_key key)
{
    if (t->n >= t->cap / 2 && !grow(t)) {
        return NULL;
    }
    struct keytable_entry *entry = place_of(t, key);
    if (!entry->used) {
        *entry = (struct keytable_entry){.key = key, .used = true};
        t->n++;
    }
    return entry;
}

void keytable_clear(struct keytable *t)
{
    if (t->cap > 0) {
        memset(t->entries, 0, t->cap * sizeof(*t->entries));
    }
    t->n = 0;
}

void keytable_release(struct keytable *t)
{
    unseen_set_free(t->hasher);
    free(t->entries);
    *t = (struct keytable){.entries = NULL};
}
