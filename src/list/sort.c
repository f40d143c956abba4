/* SPDX-License-Identifier: MIT
 *
 * A radix sort from the low digit to the high one, over just enough of the top bits that few keys
 * agree in them; insertion puts those in order. Keys that are no hash values may agree in many
 * more: then the digits below are sorted, too. */
#include "list/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
    DIGIT = 8,
    DIGITS_MAX = 64 / DIGIT,
    BUCKETS = 1 << DIGIT,
    MOVES_PER_KEY = 8
};

/* Sorts by the ndigits digits above bit `low`, from keys to keys by way of other. */
static void sort_digits(uint64_t *keys, uint64_t *other, size_t n, unsigned low, unsigned ndigits)
{
    size_t counts[DIGITS_MAX][BUCKETS];
    memset(counts, 0, sizeof(counts));
    for (size_t i = 0; i < n; i++) {
        for (unsigned d = 0; d < ndigits; d++) {
            counts[d][keys[i] >> (low + DIGIT * d) & (BUCKETS - 1)]++;
        }
    }
    uint64_t *from = keys;
    uint64_t *to = other;
    for (unsigned d = 0; d < ndigits; d++) {
        const unsigned shift = low + DIGIT * d;
        size_t at = 0;
        for (size_t k = 0; k < BUCKETS; k++) {
            const size_t count = counts[d][k];
            counts[d][k] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++) {
            to[counts[d][from[i] >> shift & (BUCKETS - 1)]++] = from[i];
        }
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, n * sizeof(*keys));
    }
}

/* False if that would take many moves. */
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

size_t unseen__sort_distinct(uint64_t *keys, uint64_t *other, size_t n, unsigned prefix_bits)
{
    unsigned ndigits = 0;
    while (ndigits < DIGITS_MAX && n >> (DIGIT * ndigits) > 4) {
        ndigits++;
    }
    const unsigned below = 64 - prefix_bits;
    if (DIGIT * ndigits >= below) {
        sort_digits(keys, other, n, 0, DIGITS_MAX);
    } else {
        sort_digits(keys, other, n, below - DIGIT * ndigits, ndigits);
        if (!insert_all(keys, n)) {
            sort_digits(keys, other, n, 0, DIGITS_MAX);
        }
    }
    size_t ndistinct = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            keys[ndistinct++] = keys[i];
        }
    }
    return ndistinct;
}
