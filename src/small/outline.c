/* SPDX-License-Identifier: MIT */
#include "small/outline.h"

/* The `hi` of a number x, below the bits of the run, are at or above x * 2^64 / universe and below
 * that of x + 1. Both are rounded outwards, by less than 2^25: a bit of the outline is 2^45
 * wide, or more. */
static uint64_t first_of(uint64_t x, const struct parts *parts)
{
    return x * (UINT64_MAX / parts->universe) >> parts->log_runs;
}

static uint64_t last_of(uint64_t x, const struct parts *parts)
{
    const uint64_t width = UINT64_MAX / parts->universe + 1;
    const uint64_t end = x + 1 > UINT64_MAX / width ? UINT64_MAX : (x + 1) * width;
    return end >> parts->log_runs;
}

/* Marks the interval of each number of a run. */
static void mark_run(uint8_t *outline, unsigned bits, const struct parts *parts, size_t run)
{
    const uint64_t base = parts->log_runs ? (uint64_t)run << (64 - parts->log_runs) : 0;
    uint64_t numbers[RUN_MAX];
    (void)unseen__parts_decode(parts, run, numbers);
    for (unsigned i = 0; i < parts->start[run]; i++) {
        const uint64_t first = (base + first_of(numbers[i], parts)) >> (64 - bits);
        const uint64_t last = (base + last_of(numbers[i], parts)) >> (64 - bits);
        for (uint64_t at = first; at <= last; at++) {
            outline[at / 8] |= (uint8_t)(1u << at % 8);
        }
    }
}

void unseen__outline_make(uint8_t *outline, unsigned bits, const struct small *small)
{
    memset(outline, 0, outline_len(bits));
    for (unsigned i = 0; i < small->nlayers; i++) {
        for (size_t run = 0; run < parts_runs(&small->layers[i]); run++) {
            mark_run(outline, bits, &small->layers[i], run);
        }
    }
}
