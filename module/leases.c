/* SPDX-License-Identifier: MIT
 *
 * A table with linear probing: the slot of a key is the first free slot at or behind its home.
 * After a removal the slots behind move up, so that no search ends early. Keys are hashes under
 * a secret. */
#include "leases.h"

#include <stdbool.h>
#include <string.h>

enum {
    FIRST_SLOTS = 16
};

static size_t home_of(const struct leases *leases, struct unseen_key key)
{
    return (size_t)key.hi & (leases->nslots - 1);
}

static size_t after(const struct leases *leases, size_t i)
{
    return (i + 1) & (leases->nslots - 1);
}

/* The slot of the key, or the free slot where it would be. */
static size_t find(const struct leases *leases, struct unseen_key key)
{
    size_t i = home_of(leases, key);
    while (leases->slots[i].until != 0 &&
           (leases->slots[i].key.hi != key.hi || leases->slots[i].key.lo != key.lo)) {
        i = after(leases, i);
    }
    return i;
}

void leases_release(struct leases *leases, const struct unseen_allocator *allocator)
{
    if (leases->slots) {
        allocator->free(allocator->context, leases->slots, leases->nslots * sizeof(struct lease));
    }
    *leases = (struct leases){NULL, 0, 0};
}

int64_t leases_until(const struct leases *leases, struct unseen_key key)
{
    return leases->n == 0 ? 0 : leases->slots[find(leases, key)].until;
}

/* Moves the leases that last into a new table, which they fill to three eighths at most. */
static enum unseen_status rebuild(struct leases *leases, const struct unseen_allocator *allocator,
                                  int64_t now)
{
    struct leases rebuilt = {NULL, FIRST_SLOTS, 0};
    size_t nlasting = 1;
    for (size_t i = 0; i < leases->nslots; i++) {
        nlasting += leases->slots[i].until > now;
    }
    while (rebuilt.nslots / 8 * 3 < nlasting) {
        rebuilt.nslots *= 2;
    }
    const size_t size = rebuilt.nslots * sizeof(struct lease);
    rebuilt.slots = allocator->alloc(allocator->context, size, _Alignof(struct lease));
    if (!rebuilt.slots) {
        return UNSEEN_ERR_NOMEM;
    }
    memset(rebuilt.slots, 0, size);
    for (size_t i = 0; i < leases->nslots; i++) {
        if (leases->slots[i].until > now) {
            rebuilt.slots[find(&rebuilt, leases->slots[i].key)] = leases->slots[i];
            rebuilt.n++;
        }
    }
    leases_release(leases, allocator);
    *leases = rebuilt;
    return UNSEEN_OK;
}

enum unseen_status leases_put(struct leases *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now)
{
    if (leases->n >= leases->nslots / 4 * 3) {
        const enum unseen_status status = rebuild(leases, allocator, now);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    struct lease *slot = &leases->slots[find(leases, key)];
    leases->n += slot->until == 0;
    *slot = (struct lease){key, until};
    return UNSEEN_OK;
}

void leases_remove(struct leases *leases, struct unseen_key key)
{
    size_t hole = leases->n == 0 ? 0 : find(leases, key);
    if (leases->n == 0 || leases->slots[hole].until == 0) {
        return;
    }
    for (size_t i = after(leases, hole); leases->slots[i].until != 0; i = after(leases, i)) {
        const size_t home = home_of(leases, leases->slots[i].key);
        /* True if the home is not between the hole and slot i, in a circle. */
        const bool may_move =
            ((i - home) & (leases->nslots - 1)) >= ((i - hole) & (leases->nslots - 1));
        if (may_move) {
            leases->slots[hole] = leases->slots[i];
            hole = i;
        }
    }
    leases->slots[hole].until = 0;
    leases->n--;
}
