/* SPDX-License-Identifier: MIT
 *
 * Each repeat is appended as a word. When the array is full, it is sorted, and words of the same
 * integer become one word. The array grows only if more than half of it is then in use. The sort
 * is in place, by one byte after the other from the top [McIlroy93]. */
#include "lines/repeats.h"

#include <stdlib.h>

enum {
    FIRST_CAP = 32 * 1024,
    FEW = 48, /* so few items are sorted by insertion */
    COUNT_MAX = (1 << 24) - 1,
    LOWEST_SHIFT = 24,
    TOP_SHIFT = 56
};

static void sort_few(uint64_t *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

/* Moves every item to the part of its byte. Part b then ends at ends[b]. */
static void distribute(uint64_t *items, size_t n, unsigned shift, size_t *ends)
{
    size_t next[256];
    size_t sum = 0;
    for (size_t b = 0; b < 256; b++) {
        ends[b] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        ends[items[i] >> shift & 255]++;
    }
    for (size_t b = 0; b < 256; b++) {
        next[b] = sum;
        sum += ends[b];
        ends[b] = sum;
    }
    for (size_t b = 0; b < 256; b++) {
        while (next[b] < ends[b]) {
            uint64_t item = items[next[b]];
            size_t part = 0;
            while ((part = item >> shift & 255) != b) {
                const uint64_t other = items[next[part]];
                items[next[part]++] = item;
                item = other;
            }
            items[next[b]++] = item;
        }
    }
}

/* Recurses five levels at most: only the bytes of the integer are looked at. */
static void sort(uint64_t *items, size_t n, unsigned shift)
{
    size_t ends[256];
    if (n <= FEW) {
        sort_few(items, n);
        return;
    }
    distribute(items, n, shift, ends);
    size_t first = 0;
    for (size_t b = 0; b < 256 && shift > LOWEST_SHIFT; b++) {
        sort(items + first, ends[b] - first, shift - 8);
        first = ends[b];
    }
}

void repeats_sort(struct repeats *r)
{
    size_t kept = 0;
    sort(r->items, r->n, TOP_SHIFT);
    for (size_t i = 0; i < r->n; i++) {
        const uint64_t count = r->items[i] & COUNT_MAX;
        const bool same = kept > 0 && r->items[kept - 1] >> 24 == r->items[i] >> 24;
        if (same && (r->items[kept - 1] & COUNT_MAX) + count <= COUNT_MAX) {
            r->items[kept - 1] += count;
        } else {
            r->items[kept++] = r->items[i];
        }
    }
    r->n = kept;
}

/* Makes room for another item. */
static bool repeats_make_room(struct repeats *r)
{
    repeats_sort(r);
    if (r->cap > 0 && r->n <= r->cap / 2) {
        return true;
    }
    const size_t cap = r->cap ? r->cap * 2 : FIRST_CAP;
    uint64_t *items =
        cap <= SIZE_MAX / sizeof(*items) ? realloc(r->items, cap * sizeof(*items)) : NULL;
    if (!items) {
        return r->n < r->cap;
    }
    r->items = items;
    r->cap = cap;
    return true;
}

bool repeats_add(struct repeats *r, uint64_t value)
{
    if (r->n == r->cap && !repeats_make_room(r)) {
        return false;
    }
    r->items[r->n++] = value << 24 | 1;
    return true;
}

void repeats_release(struct repeats *r)
{
    free(r->items);
    *r = (struct repeats){0};
}
