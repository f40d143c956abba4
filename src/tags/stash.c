/* SPDX-License-Identifier: MIT
 *
 * Implements the stash of stash.h: an array of keys, an array of their counts, and a hash table
 * that has the index of each key. */
#include "base/posix.h"

#include "tags/stash.h"

#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"

enum {
    LEAST_SLOTS = 64
};

static bool is_equal(struct unseen_key x, struct unseen_key y)
{
    return x.lo == y.lo && x.hi == y.hi;
}

/* The home slot of a key: two rounds of a multiplication whose high word is folded onto the low
 * word. The salt is random for each stash. Without it, the author of an import could choose keys
 * that all have one home. */
static size_t home_slot(const struct unseen__stash *o, struct unseen_key key)
{
    const uint64_t a = key.lo ^ o->salt[0];
    const uint64_t b = key.hi ^ o->salt[1];
    const uint64_t c = (mul_high(a, b) ^ a * b) + key.lo;
    const uint64_t d = o->salt[0] | 1;
    return (size_t)(mul_high(c, d) ^ c * d) & (o->nslots - 1);
}

/* The slot of a key, or the empty slot where it belongs. */
static size_t find_slot(const struct unseen__stash *o, struct unseen_key key)
{
    size_t i = home_slot(o, key);
    while (o->slots[i] != 0 && !is_equal(o->keys[o->slots[i] - 1], key)) {
        i = (i + 1) & (o->nslots - 1);
    }
    return i;
}

void unseen__stash_release(struct unseen__stash *o, const struct unseen_allocator *allocator)
{
    unseen__free(allocator, o->keys, o->nslots / 2 * sizeof(*o->keys));
    unseen__free(allocator, o->counts, o->nslots / 2 * sizeof(*o->counts));
    unseen__free(allocator, o->slots, o->nslots * sizeof(*o->slots));
    *o = (struct unseen__stash){.salt = {o->salt[0], o->salt[1]}};
}

bool unseen__stash_contains(const struct unseen__stash *o, struct unseen_key key)
{
    return o->nslots > 0 && o->slots[find_slot(o, key)] != 0;
}

/* Doubles the room. */
static enum unseen_status stash_grow(struct unseen__stash *o,
                                     const struct unseen_allocator *allocator)
{
    struct unseen__stash bigger = *o;
    bigger.nslots = o->nslots ? o->nslots * 2 : LEAST_SLOTS;
    if (bigger.nslots > UINT32_MAX) {
        return UNSEEN_ERR_NOMEM;
    }
    if (o->salt[0] == 0 && o->salt[1] == 0 && getentropy(bigger.salt, sizeof(bigger.salt)) != 0) {
        return UNSEEN_ERR_RANDOM;
    }
    bigger.keys =
        unseen__alloc(allocator, bigger.nslots / 2 * sizeof(*bigger.keys), sizeof(uint64_t));
    bigger.slots =
        bigger.keys
            ? unseen__alloc_zero(allocator, bigger.nslots * sizeof(*bigger.slots), sizeof(uint64_t))
            : NULL;
    if (bigger.slots && o->counts) {
        bigger.counts =
            unseen__alloc(allocator, bigger.nslots / 2 * sizeof(*bigger.counts), sizeof(uint64_t));
    }
    if (!bigger.slots || (o->counts && !bigger.counts)) {
        unseen__free(allocator, bigger.slots, bigger.nslots * sizeof(*bigger.slots));
        unseen__free(allocator, bigger.keys, bigger.nslots / 2 * sizeof(*bigger.keys));
        return UNSEEN_ERR_NOMEM;
    }
    if (o->counts) {
        memcpy(bigger.counts, o->counts, o->nkeys * sizeof(*o->counts));
    }
    if (o->nkeys > 0) {
        memcpy(bigger.keys, o->keys, o->nkeys * sizeof(*o->keys));
    }
    for (size_t i = 0; i < o->nkeys; i++) {
        bigger.slots[find_slot(&bigger, o->keys[i])] = (uint32_t)i + 1;
    }
    unseen__stash_release(o, allocator);
    *o = bigger;
    return UNSEEN_OK;
}

enum unseen_status unseen__stash_add(struct unseen__stash *o, struct unseen_key key,
                                     const struct unseen_allocator *allocator)
{
    const enum unseen_status status =
        2 * (o->nkeys + 1) > o->nslots ? stash_grow(o, allocator) : UNSEEN_OK;
    if (status != UNSEEN_OK) {
        return status;
    }
    if (o->counts) {
        o->counts[o->nkeys] = 1;
    }
    o->slots[find_slot(o, key)] = (uint32_t)o->nkeys + 1;
    o->keys[o->nkeys++] = key;
    return UNSEEN_OK;
}

static bool make_counts(struct unseen__stash *o, const struct unseen_allocator *allocator)
{
    o->counts = unseen__alloc(allocator, o->nslots / 2 * sizeof(*o->counts), sizeof(uint64_t));
    for (size_t i = 0; o->counts && i < o->nkeys; i++) {
        o->counts[i] = 1;
    }
    return o->counts != NULL;
}

enum unseen_status unseen__stash_add_again(struct unseen__stash *o, struct unseen_key key,
                                           uint64_t n, const struct unseen_allocator *allocator)
{
    const bool is_present = unseen__stash_contains(o, key);
    if (!is_present) {
        const enum unseen_status status = unseen__stash_add(o, key, allocator);
        if (status != UNSEEN_OK || n == 1) {
            return status;
        }
    }
    if (!o->counts && !make_counts(o, allocator)) {
        if (!is_present) {
            (void)unseen__stash_remove(o, key);
        }
        return UNSEEN_ERR_NOMEM;
    }
    o->counts[o->slots[find_slot(o, key)] - 1] += is_present ? n : n - 1;
    return UNSEEN_OK;
}

uint64_t unseen__stash_count(const struct unseen__stash *o, struct unseen_key key)
{
    if (!unseen__stash_contains(o, key)) {
        return 0;
    }
    return o->counts ? o->counts[o->slots[find_slot(o, key)] - 1] : 1;
}

/* Empties a slot. Each later entry of the run moves back into the gap, unless its home is after the
 * gap. */
static void close_gap(struct unseen__stash *o, size_t gap)
{
    const size_t mask = o->nslots - 1;
    for (size_t i = (gap + 1) & mask; o->slots[i] != 0; i = (i + 1) & mask) {
        const size_t home = home_slot(o, o->keys[o->slots[i] - 1]);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            o->slots[gap] = o->slots[i];
            gap = i;
        }
    }
    o->slots[gap] = 0;
}

bool unseen__stash_remove(struct unseen__stash *o, struct unseen_key key)
{
    if (!unseen__stash_contains(o, key)) {
        return false;
    }
    const size_t slot = find_slot(o, key);
    const uint32_t index = o->slots[slot] - 1;
    if (o->counts && o->counts[index] > 1) {
        o->counts[index]--;
        return true;
    }
    if (o->counts) {
        o->counts[index] = o->counts[o->nkeys - 1];
    }
    const struct unseen_key last = o->keys[o->nkeys - 1];
    o->slots[find_slot(o, last)] = index + 1;
    o->keys[index] = last;
    close_gap(o, slot);
    o->nkeys--;
    return true;
}

size_t unseen__stash_memory(const struct unseen__stash *o)
{
    const size_t counts = o->counts ? sizeof(*o->counts) : 0;
    return o->nslots * sizeof(*o->slots) + o->nslots / 2 * (sizeof(*o->keys) + counts);
}
