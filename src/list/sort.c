/* SPDX-License-Identifier: MIT
 *
 * Sorts by the top bits, in two steps. The first step scatters the keys over so many buckets that
 * each bucket fits in the nearest cache. The second step scatters a bucket, inside that cache, over
 * so many slots that few keys share a slot, and insertion puts these in order. Keys that are not
 * hash values may agree in many more bits than chance makes them agree: insertion then gives up,
 * and a radix sort over all bits takes over. */
#include "list/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
    BUCKET_KEYS = 768, /* about so many, which take 16 KiB with their slots */
    BUCKET_BITS_MAX = 12,
    SLOT_BITS = 10,
    DIGIT_BITS = 8,
    MOVES_PER_KEY = 8
};

/* Turns the number of keys of each value into the index at which these keys begin. */
static void add_up(uint32_t *counts, size_t n)
{
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t count = counts[i];
        counts[i] = at;
        at += count;
    }
}

/* Sorts from[0..n) into `to` by the `bits` bits from bit `low` on. Leaves the index at which each
 * value ends in counts. */
static void scatter(const uint64_t *from, uint64_t *to, size_t n, unsigned low, unsigned bits,
                    uint32_t *counts)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(counts, 0, sizeof(*counts) << bits);
    for (size_t i = 0; i < n; i++) {
        counts[from[i] >> low & mask]++;
    }
    add_up(counts, (size_t)1 << bits);
    for (size_t i = 0; i < n; i++) {
        to[counts[from[i] >> low & mask]++] = from[i];
    }
}

/* Insertion sort. Returns false if it would take many moves. */
static bool insert_all(uint64_t *keys, size_t n)
{
    size_t budget = MOVES_PER_KEY * n;
    for (size_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        size_t k = i;
        while (k > 0 && keys[k - 1] > key) {
            keys[k] = keys[k - 1];
            k--;
        }
        keys[k] = key;
        if (i - k > budget) {
            return false;
        }
        budget -= i - k;
    }
    return true;
}

/* Returns false if the keys are not spread as hash values are; they are then in any order. */
static bool sort_spread(uint64_t *keys, uint64_t *other, size_t n, unsigned prefix_bits)
{
    uint32_t ends[1 << BUCKET_BITS_MAX];
    uint32_t slots[1 << SLOT_BITS];
    unsigned bits = 1;
    while (bits < BUCKET_BITS_MAX && n >> bits > BUCKET_KEYS) {
        bits++;
    }
    const unsigned low = 64 - prefix_bits - bits;
    scatter(keys, other, n, low, bits, ends); /* ends[i]: where bucket i ends */
    size_t at = 0;
    bool spread = true;
    for (size_t i = 0; i >> bits == 0; i++) {
        const size_t count = ends[i] - at;
        scatter(other + at, keys + at, count, low - SLOT_BITS, SLOT_BITS, slots);
        spread = spread && insert_all(keys + at, count);
        at = ends[i];
    }
    return spread;
}

static void sort_any(uint64_t *keys, uint64_t *other, size_t n)
{
    uint32_t counts[1 << DIGIT_BITS];
    for (unsigned low = 0; low < 64; low += 2 * DIGIT_BITS) {
        scatter(keys, other, n, low, DIGIT_BITS, counts);
        scatter(other, keys, n, low + DIGIT_BITS, DIGIT_BITS, counts);
    }
}

size_t unseen__sort_distinct(uint64_t *keys, uint64_t *other, size_t n, unsigned prefix_bits)
{
    if (!sort_spread(keys, other, n, prefix_bits)) {
        sort_any(keys, other, n);
    }
    size_t ndistinct = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        keys[ndistinct] = key;
        ndistinct += i + 1 == n || key != keys[i + 1];
    }
    return ndistinct;
}
