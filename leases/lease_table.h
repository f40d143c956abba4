/* SPDX-License-Identifier: MIT
 *
 * A table of leases by key. It has three users: `unseen serve`, whose workers lease URLs, the sets
 * of the module, and the cache guard of the module. What a lease is besides its key, and when it
 * ends, each user says for itself: an entry of the table is a struct of the user, and its first
 * member is the key. */
#ifndef UNSEEN_LEASE_TABLE_H
#define UNSEEN_LEASE_TABLE_H

#include <stdbool.h>

#include <unseen.h>

/* All zero but for entry_size: no leases. */
struct lease_table {
    size_t entry_size; /* set by the user */
    void *entries;     /* the first `end` are in use or free; a free one is 0 behind its key */
    size_t n;          /* in use */
    size_t end;
    uint32_t *slots; /* index + 1 of an entry; 0: free. NULL before the first lease */
    size_t nslots;   /* a power of two, twice the room for entries, or 0 */
    uint32_t unused; /* the first of the free entries: index + 1; 0: none */
    uint8_t salt[16];
};

/* Makes room for so many entries more. The entries may move in memory; their indexes stay. The
 * order of the entries follows from the calls alone. allocator as in unseen_set_options; the same
 * one must be given to all calls.
 *
 * Errors: NOMEM, RANDOM; nothing was changed. */
enum unseen_status lease_table_reserve(struct lease_table *table,
                                       const struct unseen_allocator *allocator, size_t nmore);

/* Adds the entry of a key that is absent; there is room. It is 0 behind its key. */
void *lease_table_add(struct lease_table *table, struct unseen_key key);

/* The entry of a key, valid until the next call of lease_table_reserve; NULL: the key is absent. */
void *lease_table_find(const struct lease_table *table, struct unseen_key key);

/* Removes an entry that is in use. */
void lease_table_remove(struct lease_table *table, void *entry);

void lease_table_release(struct lease_table *table, const struct unseen_allocator *allocator);

/* The entry of an index below table->end, in use or free. */
static inline void *lease_table_at(const struct lease_table *table, size_t index)
{
    return (char *)table->entries + index * table->entry_size;
}

static inline bool lease_table_is_full(const struct lease_table *table)
{
    return table->n == table->nslots / 2;
}

static inline uint32_t lease_table_index(const struct lease_table *table, const void *entry)
{
    return (uint32_t)((size_t)((const char *)entry - (const char *)table->entries) /
                      table->entry_size);
}

#endif
