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
    size_t at; /* items before it are done */
};

/* Adds a value below 2^40. False without memory; nothing was added then. */
bool repeats_add(struct repeats *r, uint64_t value);

/* Call once before the following two: brings everything in order. */
void repeats_sort(struct repeats *r);

/* The least integer that is left; UINT64_MAX if there is none. */
static inline uint64_t repeats_next(const struct repeats *r)
{
    return r->at < r->n ? r->items[r->at] >> 24 : UINT64_MAX;
}

/* How often that came again; and then it is done. */
static inline uint64_t repeats_take(struct repeats *r)
{
    const uint64_t value = repeats_next(r);
    uint64_t n = 0;
    while (r->at < r->n && r->items[r->at] >> 24 == value) {
        n += r->items[r->at++] & 0xffffff;
    }
    return n;
}

void repeats_release(struct repeats *r);

#endif
