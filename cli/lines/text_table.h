/* SPDX-License-Identifier: MIT
 *
 * A hash table of texts with open addressing. Each text is in the table once. Texts are numbered in
 * the order in which they came, and hashed under a secret of the table, so that nobody can choose
 * texts that collide. */
#ifndef UNSEEN_CLI_TEXT_TABLE_H
#define UNSEEN_CLI_TEXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct text_entry {
    struct unseen_key hash;
    size_t at; /* offset in bytes */
    size_t len;
    struct unseen_key key; /* for the caller, like value; both are zero at first */
    uint64_t value;
};

/* All zero is an empty table. */
struct text_table {
    struct unseen_set *hasher; /* an empty set that makes the hashes; NULL before the first text */
    struct text bytes;         /* one text after the other */
    struct text_entry *entries;
    size_t n;
    uint32_t *slots; /* number of an entry + 1; 0: free. At most half full */
    size_t nslots;   /* a power of two, or 0 */
};

/* The entry of the text; NULL if the table lacks it. Threads may look up at the same time. */
struct text_entry *text_table_find(const struct text_table *t, const void *data, size_t len);

/* The entry of the text, which is added if the table lacks it; NULL without memory. Entries
 * move. */
struct text_entry *text_table_add(struct text_table *t, const void *data, size_t len);

static inline struct unseen_bytes text_table_text(const struct text_table *t, size_t i)
{
    return (struct unseen_bytes){t->bytes.data + t->entries[i].at, t->entries[i].len};
}

/* Empties the table, and keeps its memory. */
void text_table_clear(struct text_table *t);

void text_table_release(struct text_table *t);

#endif
