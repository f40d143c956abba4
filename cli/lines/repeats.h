/* SPDX-License-Identifier: MIT
 *
 * Counts how often each integer came again, beside a bitmap that says which integers came. An
 * integer that came again takes a word, however often it came. */
#ifndef UNSEEN_CLI_REPEATS_H
#define UNSEEN_CLI_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty struct. */
struct repeats {
    uint64_t *items; /* the integer in the upper 40 bits, its count in the lower 24 */
    size_t n;
    size_t cap;
    size_t at; /* index of the next item to take */
};

/* Adds a repeat of a value below 2^40. False without memory; nothing has changed then. */
bool repeats_add(struct repeats *r, uint64_t value);

/* Sorts everything. Call it once, before the next two functions. */
void repeats_sort(struct repeats *r);

/* The smallest integer that was not taken yet; UINT64_MAX if all were. */
static inline uint64_t repeats_next(const struct repeats *r)
{
    return r->at < r->n ? r->items[r->at] >> 24 : UINT64_MAX;
}

/* Takes that integer, and returns how often it came again. */
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
