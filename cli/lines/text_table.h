/* SPDX-License-Identifier: MIT
 *
 * Texts, each once, and numbered in the order in which they came. Open addressing; texts are hashed
 * under a secret of the table's own, so that nobody can choose some that meet in it. */
#ifndef UNSEEN_CLI_TEXT_TABLE_H
#define UNSEEN_CLI_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct text_entry {
    struct unseen_key hash;
    size_t at; /* in bytes */
    size_t len;
    struct unseen_key key; /* the caller's, like value; zero at first */
    uint64_t value;
};

/* All zero is an empty one. */
struct text_table {
    struct unseen_set *hasher; /* empty: makes the hashes; NULL before the first text */
    struct text bytes;         /* one text after the other */
    struct text_entry *entries;
    size_t n;
    uint32_t *slots; /* number of an entry + 1; 0: free. At most half full */
    size_t nslots;   /* a power of two, or 0 */
};

/* The entry of the text, NULL if there is none. Threads may look up together. */
struct text_entry *text_table_find(const struct text_table *t, const void *data, size_t len);

/* The same, made if there is none; NULL without memory. Entries move. */
struct text_entry *text_table_add(struct text_table *t, const void *data, size_t len);

static inline struct unseen_bytes text_table_text(const struct text_table *t, size_t i)
{
    return (struct unseen_bytes){t->bytes.data + t->entries[i].at, t->entries[i].len};
}

/* Empties it, and keeps memory. */
void text_table_clear(struct text_table *t);

void text_table_release(struct text_table *t);

#endif
