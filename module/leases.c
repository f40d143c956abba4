/* SPDX-License-Identifier: MIT
 *
 * A table with linear probing: the slot of a key is the first free slot at or behind its home.
 * After a removal the slots behind move up, so that no search ends early.
 *
 * Keys may be forged: they come from files and clients, too. So the home of a key is a hash under a
 * salt that is drawn for each table. Otherwise keys with one home would make each search as long as
 * the table. */
#include "leases.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

enum {
    FIRST_LEASES = 8,
    SLOTS_PER_LEASE = 2
};

_Static_assert(sizeof((struct leases){0}.salt) == crypto_shorthash_KEYBYTES, "the salt is a key");

static size_t home_of(const struct leases *leases, struct unseen_key key)
{
    uint64_t hash;
    (void)crypto_shorthash((unsigned char *)&hash, (const unsigned char *)&key, sizeof(key),
                           leases->salt);
    return (size_t)hash & (leases->nslots - 1);
}

static size_t after(const struct leases *leases, size_t i)
{
    return (i + 1) & (leases->nslots - 1);
}

/* The slot of the key, or the free slot where it would be. */
static size_t find(const struct leases *leases, struct unseen_key key)
{
    size_t i = home_of(leases, key);
    while (leases->slots[i] != 0) {
        const struct unseen_key *found = &leases->all[leases->slots[i] - 1].key;
        if (found->hi == key.hi && found->lo == key.lo) {
            break;
        }
        i = after(leases, i);
    }
    return i;
}

void leases_release(struct leases *leases, const struct unseen_allocator *allocator)
{
    if (leases->slots) {
        const size_t cap = leases->nslots / SLOTS_PER_LEASE;
        allocator->free(allocator->context, leases->all, cap * sizeof(*leases->all));
        allocator->free(allocator->context, leases->slots, leases->nslots * sizeof(*leases->slots));
    }
    *leases = (struct leases){0};
}

int64_t leases_until(const struct leases *leases, struct unseen_key key)
{
    const uint32_t index = leases->n == 0 ? 0 : leases->slots[find(leases, key)];
    return index == 0 ? 0 : leases->all[index - 1].until;
}

/* Adds a key that is absent; there is room. */
static void append(struct leases *leases, struct lease lease)
{
    leases->slots[find(leases, lease.key)] = (uint32_t)leases->n + 1;
    leases->all[leases->n++] = lease;
}

static bool alloc_table(struct leases *leases, const struct unseen_allocator *allocator, size_t cap)
{
    const size_t size = SLOTS_PER_LEASE * cap * sizeof(*leases->slots);
    leases->all =
        allocator->alloc(allocator->context, cap * sizeof(*leases->all), _Alignof(struct lease));
    leases->slots =
        leases->all ? allocator->alloc(allocator->context, size, _Alignof(uint32_t)) : NULL;
    if (!leases->slots) {
        if (leases->all) {
            allocator->free(allocator->context, leases->all, cap * sizeof(*leases->all));
        }
        return false;
    }
    memset(leases->slots, 0, size);
    leases->nslots = SLOTS_PER_LEASE * cap;
    return true;
}

/* Moves the leases that last into a new table, which they fill to three quarters at most. */
static enum unseen_status rebuild(struct leases *leases, const struct unseen_allocator *allocator,
                                  int64_t now)
{
    struct leases rebuilt = {0};
    size_t cap = FIRST_LEASES;
    size_t nlasting = 1;
    for (size_t i = 0; i < leases->n; i++) {
        nlasting += leases->all[i].until > now;
    }
    while (cap / 4 * 3 < nlasting) {
        cap *= 2;
    }
    if (cap > UINT32_MAX) {
        return UNSEEN_ERR_NOMEM;
    }
    if (getentropy(rebuilt.salt, sizeof(rebuilt.salt)) != 0) {
        return UNSEEN_ERR_RANDOM;
    }
    if (!alloc_table(&rebuilt, allocator, cap)) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < leases->n; i++) {
        if (leases->all[i].until > now) {
            append(&rebuilt, leases->all[i]);
        }
    }
    leases_release(leases, allocator);
    *leases = rebuilt;
    return UNSEEN_OK;
}

enum unseen_status leases_put(struct leases *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now)
{
    const uint32_t index = leases->n == 0 ? 0 : leases->slots[find(leases, key)];
    if (index != 0) {
        leases->all[index - 1].until = until;
        return UNSEEN_OK;
    }
    if (leases->n == leases->nslots / SLOTS_PER_LEASE) {
        const enum unseen_status status = rebuild(leases, allocator, now);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    append(leases, (struct lease){key, until});
    return UNSEEN_OK;
}

/* Empties a slot, and moves the slots behind it up. */
static void close_hole(struct leases *leases, size_t hole)
{
    const size_t mask = leases->nslots - 1;
    for (size_t i = after(leases, hole); leases->slots[i] != 0; i = after(leases, i)) {
        const size_t home = home_of(leases, leases->all[leases->slots[i] - 1].key);
        /* True if the home is not between the hole and slot i, in a circle. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            leases->slots[hole] = leases->slots[i];
            hole = i;
        }
    }
    leases->slots[hole] = 0;
}

void leases_remove(struct leases *leases, struct unseen_key key)
{
    const size_t slot = leases->n == 0 ? 0 : find(leases, key);
    const uint32_t index = leases->n == 0 ? 0 : leases->slots[slot];
    if (index == 0) {
        return;
    }
    const struct lease last = leases->all[leases->n - 1];
    leases->slots[find(leases, last.key)] = index;
    leases->all[index - 1] = last;
    close_hole(leases, slot);
    leases->n--;
}
