/* SPDX-License-Identifier: MIT
 *
 * A hash table with linear probing: the slot of a key is the first free slot at or behind its home.
 * After a removal the slots behind move up, so that no search ends early. At most half of the slots
 * are in use.
 *
 * Keys may be forged: they come from files and clients, too. So the home of a key is a hash under a
 * salt that is drawn for each table. Otherwise keys with one home would make each search as long as
 * the table. */
#include "leases/lease_table.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    FIRST_SLOTS = 16,
    SLOTS_PER_ENTRY = 2
};

_Static_assert(sizeof((struct lease_table){0}.salt) == crypto_shorthash_KEYBYTES,
               "the salt is a key");

/* ---- memory ---- */

static void *take(const struct unseen_allocator *allocator, size_t size)
{
    return allocator ? allocator->alloc(allocator->context, size, _Alignof(uint64_t))
                     : malloc(size);
}

static void give_back(const struct unseen_allocator *allocator, void *block, size_t size)
{
    if (allocator && block) {
        allocator->free(allocator->context, block, size);
    } else {
        free(block);
    }
}

static size_t slots_size(const struct lease_table *table)
{
    return table->nslots * sizeof(*table->slots);
}

static size_t entries_size(const struct lease_table *table)
{
    return table->nslots / SLOTS_PER_ENTRY * table->entry_size;
}

/* ---- slots ---- */

/* number: an index + 1, as the slots have it. */
static struct unseen_key key_of(const struct lease_table *table, uint32_t number)
{
    struct unseen_key key;
    memcpy(&key, lease_table_at(table, number - 1), sizeof(key));
    return key;
}

static size_t home_of(const struct lease_table *table, struct unseen_key key)
{
    uint64_t hash;
    (void)crypto_shorthash((unsigned char *)&hash, (const unsigned char *)&key, sizeof(key),
                           table->salt);
    return (size_t)hash & (table->nslots - 1);
}

static size_t after(const struct lease_table *table, size_t i)
{
    return (i + 1) & (table->nslots - 1);
}

/* The slot of the key, or the free slot where it would be. */
static size_t slot_of(const struct lease_table *table, struct unseen_key key)
{
    size_t i = home_of(table, key);
    while (table->slots[i] != 0) {
        const struct unseen_key found = key_of(table, table->slots[i]);
        if (found.hi == key.hi && found.lo == key.lo) {
            break;
        }
        i = after(table, i);
    }
    return i;
}

/* Empties a slot, and moves the slots behind it up. */
static void close_hole(struct lease_table *table, size_t hole)
{
    const size_t mask = table->nslots - 1;
    for (size_t i = after(table, hole); table->slots[i] != 0; i = after(table, i)) {
        const size_t home = home_of(table, key_of(table, table->slots[i]));
        /* True if the home is not between the hole and slot i, in a circle. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole] = 0;
}

/* ---- entries ---- */

/* Moves all entries into larger memory, which `grown` gets. */
static enum unseen_status grow(const struct lease_table *table, struct lease_table *grown,
                               const struct unseen_allocator *allocator)
{
    grown->entries = take(allocator, entries_size(grown));
    grown->slots = grown->entries ? take(allocator, slots_size(grown)) : NULL;
    if (!grown->slots) {
        give_back(allocator, grown->entries, entries_size(grown));
        return UNSEEN_ERR_NOMEM;
    }
    memset(grown->slots, 0, slots_size(grown));
    if (table->end > 0) {
        memcpy(grown->entries, table->entries, table->end * table->entry_size);
    }
    for (size_t i = 0; i < table->nslots; i++) {
        if (table->slots[i] != 0) { /* NOLINT: without slots nslots is 0 */
            grown->slots[slot_of(grown, key_of(grown, table->slots[i]))] = table->slots[i];
        }
    }
    return UNSEEN_OK;
}

enum unseen_status lease_table_reserve(struct lease_table *table,
                                       const struct unseen_allocator *allocator, size_t nmore)
{
    struct lease_table grown = *table;
    while (grown.nslots / SLOTS_PER_ENTRY < table->n + nmore) {
        grown.nslots = grown.nslots ? 2 * grown.nslots : FIRST_SLOTS;
    }
    if (grown.nslots == table->nslots) {
        return UNSEEN_OK;
    }
    if (grown.nslots / SLOTS_PER_ENTRY > UINT32_MAX) {
        return UNSEEN_ERR_NOMEM;
    }
    if (!table->slots && getentropy(grown.salt, sizeof(grown.salt)) != 0) {
        return UNSEEN_ERR_RANDOM;
    }
    const enum unseen_status status = grow(table, &grown, allocator);
    if (status == UNSEEN_OK) {
        give_back(allocator, table->entries, entries_size(table));
        give_back(allocator, table->slots, slots_size(table));
        *table = grown;
    }
    return status;
}

/* A free entry has the next one in place of its key. */
void *lease_table_add(struct lease_table *table, struct unseen_key key)
{
    const size_t index = table->unused ? table->unused - 1 : table->end++;
    void *entry = lease_table_at(table, index);
    if (table->unused) {
        memcpy(&table->unused, entry, sizeof(table->unused));
    }
    memset(entry, 0, table->entry_size);
    memcpy(entry, &key, sizeof(key));
    table->slots[slot_of(table, key)] = (uint32_t)index + 1;
    table->n++;
    return entry;
}

void *lease_table_find(const struct lease_table *table, struct unseen_key key)
{
    const uint32_t number = table->n == 0 ? 0 : table->slots[slot_of(table, key)];
    return number == 0 ? NULL : lease_table_at(table, number - 1);
}

void lease_table_remove(struct lease_table *table, void *entry)
{
    struct unseen_key key;
    memcpy(&key, entry, sizeof(key));
    close_hole(table, slot_of(table, key));
    memset(entry, 0, table->entry_size);
    memcpy(entry, &table->unused, sizeof(table->unused));
    table->unused = lease_table_index(table, entry) + 1;
    table->n--;
}

void lease_table_release(struct lease_table *table, const struct unseen_allocator *allocator)
{
    give_back(allocator, table->entries, entries_size(table));
    give_back(allocator, table->slots, slots_size(table));
    *table = (struct lease_table){.entry_size = table->entry_size};
}
