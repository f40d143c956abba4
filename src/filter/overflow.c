/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE 1
#include "filter/overflow.h"

#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"

static bool is_zero(struct unseen_key key)
{
    return (key.lo | key.hi) == 0;
}

static bool is_equal(struct unseen_key x, struct unseen_key y)
{
    return x.lo == y.lo && x.hi == y.hi;
}

/* Whoever makes an import chooses its keys, all of them for one slot if that could be foreseen. The
 * salt is a secret of this list: two rounds of a multiplication folded onto itself. */
static size_t home_slot(const struct unseen__overflow *o, struct unseen_key key)
{
    const uint64_t a = key.lo ^ o->salt[0];
    const uint64_t b = key.hi ^ o->salt[1];
    const uint64_t c = (mul_high(a, b) ^ a * b) + key.lo;
    const uint64_t d = o->salt[0] | 1;
    return (size_t)(mul_high(c, d) ^ c * d) & (o->nslots - 1);
}

/* The slot of a key, or the empty slot where it belongs. */
static size_t find_slot(const struct unseen__overflow *o, struct unseen_key key)
{
    size_t i = home_slot(o, key);
    while (!is_zero(o->slots[i]) && !is_equal(o->slots[i], key)) {
        i = (i + 1) & (o->nslots - 1);
    }
    return i;
}

void unseen__overflow_release(struct unseen__overflow *o, const struct unseen_allocator *allocator)
{
    unseen__free(allocator, o->slots, o->nslots * sizeof(*o->slots));
    *o = (struct unseen__overflow){0};
}

bool unseen__overflow_contains(const struct unseen__overflow *o, struct unseen_key key)
{
    if (is_zero(key)) {
        return o->has_zero;
    }
    return o->nslots && !is_zero(o->slots[find_slot(o, key)]);
}

/* Without a source of randomness, where the memory lies is hard to know, too. */
static void choose_salt(struct unseen__overflow *o)
{
    if (getentropy(o->salt, sizeof(o->salt)) != 0) {
        o->salt[0] = (uint64_t)(uintptr_t)o->slots * UINT64_C(0x9e3779b97f4a7c15);
        o->salt[1] = (uint64_t)(uintptr_t)&o->salt * UINT64_C(0xbf58476d1ce4e5b9);
    }
}

static enum unseen_status double_slots(struct unseen__overflow *o,
                                       const struct unseen_allocator *allocator)
{
    struct unseen__overflow bigger = *o;
    bigger.nslots = o->nslots ? o->nslots * 2 : 64;
    bigger.slots =
        unseen__alloc_zero(allocator, bigger.nslots * sizeof(*bigger.slots), sizeof(uint64_t));
    if (!bigger.slots) {
        return UNSEEN_ERR_NOMEM;
    }
    if (o->nslots == 0) {
        choose_salt(&bigger);
    }
    for (size_t i = 0; i < o->nslots; i++) {
        if (!is_zero(o->slots[i])) {
            bigger.slots[find_slot(&bigger, o->slots[i])] = o->slots[i];
        }
    }
    unseen__free(allocator, o->slots, o->nslots * sizeof(*o->slots));
    *o = bigger;
    return UNSEEN_OK;
}

enum unseen_status unseen__overflow_add(struct unseen__overflow *o, struct unseen_key key,
                                        const struct unseen_allocator *allocator)
{
    if (is_zero(key)) {
        o->has_zero = true;
        o->nkeys++;
        return UNSEEN_OK;
    }
    if (2 * (o->nkeys + 1) > o->nslots) {
        enum unseen_status status = double_slots(o, allocator);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    o->slots[find_slot(o, key)] = key;
    o->nkeys++;
    return UNSEEN_OK;
}

bool unseen__overflow_remove(struct unseen__overflow *o, struct unseen_key key)
{
    if (!unseen__overflow_contains(o, key)) {
        return false;
    }
    o->nkeys--;
    if (is_zero(key)) {
        o->has_zero = false;
        return true;
    }
    /* Close the gap: move back each later key of the run whose home is not after the gap. */
    size_t mask = o->nslots - 1;
    size_t gap = find_slot(o, key);
    for (size_t i = (gap + 1) & mask; !is_zero(o->slots[i]); i = (i + 1) & mask) {
        size_t home = home_slot(o, o->slots[i]);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            o->slots[gap] = o->slots[i];
            gap = i;
        }
    }
    o->slots[gap] = (struct unseen_key){0, 0};
    return true;
}

size_t unseen__overflow_memory(const struct unseen__overflow *o)
{
    return o->nslots * sizeof(*o->slots);
}
