/* SPDX-License-Identifier: MIT
 *
 * How often each integer came again: what stands beside a bitmap to make it a bag. A word for each
 * integer that came again, however often it did. */
#ifndef UNSEEN_CLI_REPEATS_H
#define UNSEEN_CLI_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. */
struct repeats {
    uint64_t *items; /* the integer in the upper 40 bits, how often in the lower 24 */
    size_t n;
    size_t cap;
    size_t at; /* repeats_take: items before it are done */
};

/* Adds a value below 2^40. False without memory; nothing was added then. */
bool repeats_add(struct repeats *r, uint64_t value);

/* Call once before repeats_take: brings everything in order. */
void repeats_sort(struct repeats *r);

/* How often value came again. Values must be asked for in increasing order. */
static inline uint64_t repeats_take(struct repeats *r, uint64_t value)
{
    uint64_t n = 0;
    while (r->at < r->n && r->items[r->at] >> 24 == value) {
        n += r->items[r->at++] & 0xffffff;
    }
    return n;
}

void repeats_release(struct repeats *r);

#endif
