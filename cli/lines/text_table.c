/* SPDX-License-Identifier: MIT */
#include "lines/text_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ENTRIES = 512
};

/* The slot of the text, or the free slot where it belongs. The table always has a free slot. */
static size_t find_slot(const struct text_table *t, struct unseen_key hash, const void *data,
                        size_t len)
{
    size_t i = (size_t)hash.lo & (t->nslots - 1);
    while (t->slots[i]) {
        const struct text_entry *e = &t->entries[t->slots[i] - 1];
        if (e->hash.hi == hash.hi && e->len == len &&
            (len == 0 || memcmp(t->bytes.data + e->at, data, len) == 0)) {
            break;
        }
        i = (i + 1) & (t->nslots - 1);
    }
    return i;
}

/* Makes room for twice as many entries. */
static bool grow(struct text_table *t)
{
    const size_t cap = t->nslots ? t->nslots : FIRST_ENTRIES;
    if (cap > UINT32_MAX / 2 ||
        (!t->hasher && unseen_set_create(&t->hasher, NULL, NULL) != UNSEEN_OK)) {
        return false;
    }
    struct text_entry *entries = realloc(t->entries, cap * sizeof(*entries));
    t->entries = entries ? entries : t->entries;
    uint32_t *slots = entries ? calloc(2 * cap, sizeof(*slots)) : NULL;
    if (!slots) {
        return false;
    }
    free(t->slots);
    t->slots = slots;
    t->nslots = 2 * cap;
    for (size_t i = 0; i < t->n; i++) {
        const struct unseen_bytes text = text_table_text(t, i);
        slots[find_slot(t, entries[i].hash, text.data, text.len)] = (uint32_t)i + 1;
    }
    return true;
}

struct text_entry *text_table_find(const struct text_table *t, const void *data, size_t len)
{
    if (t->n == 0) {
        return NULL;
    }
    const struct unseen_key hash = unseen_set_identity_key(t->hasher, data, len);
    const uint32_t number = t->slots[find_slot(t, hash, data, len)];
    return number ? &t->entries[number - 1] : NULL;
}

struct text_entry *text_table_add(struct text_table *t, const void *data, size_t len)
{
    if (t->n == t->nslots / 2 && !grow(t)) {
        return NULL;
    }
    const struct unseen_key hash = unseen_set_identity_key(t->hasher, data, len);
    const size_t slot = find_slot(t, hash, data, len);
    if (t->slots[slot]) {
        return &t->entries[t->slots[slot] - 1];
    }
    if (!text_reserve(&t->bytes, len + 1)) { /* so that an empty text has an address, too */
        return NULL;
    }
    if (len > 0) {
        memcpy(t->bytes.data + t->bytes.len, data, len);
    }
    t->entries[t->n] = (struct text_entry){.hash = hash, .at = t->bytes.len, .len = len};
    t->bytes.len += len;
    t->slots[slot] = (uint32_t)++t->n;
    return &t->entries[t->n - 1];
}

void text_table_clear(struct text_table *t)
{
    if (t->n > 0) {
        memset(t->slots, 0, t->nslots * sizeof(*t->slots));
    }
    t->n = 0;
    t->bytes.len = 0;
}

void text_table_release(struct text_table *t)
{
    unseen_set_free(t->hasher);
    free(t->entries);
    free(t->slots);
    text_release(&t->bytes);
    *t = (struct text_table){.hasher = NULL};
}
