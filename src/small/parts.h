/* SPDX-License-Identifier: MIT
 *
 * Parts: the numbers of many keys as 2^log_runs runs. The top log_runs bits of a key's hi choose
 * the run, and the next bits are the number in the run:
 *
 *     [ number of keys of each run, 1 byte ][ bytes of each run, 1 byte ][ run 0 ][ run 1 ] ... */
#ifndef UNSEEN_SMALL_PARTS_H
#define UNSEEN_SMALL_PARTS_H

#include "base/bytes.h"
#include "base/macros.h"
#include "small/run.h"
#include "unseen.h"

enum {
    RATE_STEPS = 12, /* codes for a rate in a power of two */
    RATE_CODE_MAX = 255,
    PARTS_RUN_BYTES = 255 /* of a run */
};

/* A rate as one byte: 2^(-code / 12). */
double unseen__rate_of_code(unsigned code);

/* The code of the highest such rate that is at most `rate`; more than RATE_CODE_MAX if there is
 * none. */
unsigned unseen__rate_code(double rate);

/* 64 * (inverse / 64) * 2^(code / 12), rounded up: the universe of a run in which 64 keys have the
 * share 64 / inverse of the rate. The same number on every machine. inverse is less than 4096. */
uint64_t unseen__rate_universe(unsigned code, unsigned inverse);

struct parts {
    const uint8_t *start; /* of the counts */
    uint64_t universe;    /* of a run */
    unsigned log_runs;
};

static inline size_t parts_runs(const struct parts *parts)
{
    return (size_t)1 << parts->log_runs;
}

static inline const uint8_t *parts_lens(const struct parts *parts)
{
    return parts->start + parts_runs(parts);
}

/* The sum of n bytes, eight at a time: four sums of 16 bits hold up to 1,024 bytes. */
static inline size_t sum_bytes(const uint8_t *p, size_t n)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
    size_t sum = 0;
    while (n >= 8) {
        const size_t count = n >= 1024 ? 1024 : n & ~(size_t)7;
        uint64_t sums = 0;
        for (size_t i = 0; i < count; i += 8) {
            const uint64_t x = load_le64(p + i);
            sums += (x & even) + (x >> 8 & even);
        }
        sums = (sums & 0xffff0000ffff) + (sums >> 16 & 0xffff0000ffff);
        sum += (size_t)((sums & UINT32_MAX) + (sums >> 32));
        p += count;
        n -= count;
    }
    while (n > 0) {
        sum += p[--n];
    }
    return sum;
}

/* All keys of the parts. */
static inline size_t parts_count(const struct parts *parts)
{
    return sum_bytes(parts->start, parts_runs(parts));
}

/* The bytes of the parts, with their counts and lengths. */
static inline size_t parts_len(const struct parts *parts)
{
    return 2 * parts_runs(parts) + sum_bytes(parts_lens(parts), parts_runs(parts));
}

static inline size_t parts_run_of(const struct parts *parts, uint64_t hi)
{
    return parts->log_runs ? (size_t)(hi >> (64 - parts->log_runs)) : 0;
}

/* A run of the parts. */
static inline const uint8_t *parts_run(const struct parts *parts, size_t run)
{
    return parts->start + 2 * parts_runs(parts) + sum_bytes(parts_lens(parts), run);
}

/* A run with RUN_PAD readable bytes behind it: where it is, or in `copy`. `end` is where readable
 * memory ends, at the end of the parts or later. */
static inline const uint8_t *parts_run_padded(const struct parts *parts, size_t run,
                                              const uint8_t *end,
                                              uint8_t copy[PARTS_RUN_BYTES + 1 + RUN_PAD])
{
    const uint8_t *bytes = parts_run(parts, run);
    const size_t len = parts_lens(parts)[run];
    if ((size_t)(end - bytes) >= len + RUN_PAD) {
        return bytes;
    }
    memcpy(copy, bytes, len);
    memset(copy + len, 0, RUN_PAD);
    return copy;
}

/* Whether x is a number of the run; `end` as above. */
static inline bool parts_run_has(const struct parts *parts, size_t run, uint64_t x,
                                 const uint8_t *end)
{
    uint8_t copy[PARTS_RUN_BYTES + 1 + RUN_PAD];
    return unseen__run_has(parts_run_padded(parts, run, end, copy), parts_lens(parts)[run],
                           parts->start[run], parts->universe, x);
}

/* Reads the numbers of a run, RUN_MAX at most. Returns false if the run is not sound. */
bool unseen__parts_decode(const struct parts *parts, size_t run, uint64_t *numbers);

#endif
