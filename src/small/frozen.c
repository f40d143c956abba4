/* SPDX-License-Identifier: MIT
 *
 * Frozen sets (unseen_small.h; docs/format.md, "Frozen sets"). Up to FROZEN_RUN_MAX keys are one
 * run, more keys are parts:
 *
 *     [ code of the rate ][ n ][ run ]
 *     [ code of the rate ][ 128 + log_runs ][ n, 4 bytes ][ parts ]
 *
 * n is the number of different keys. Code and n give the universe: unlike a layer, which must be
 * ready for 64 keys in a run, a frozen set wastes nothing on keys that never come. */
#include "base/heapsort.h"
#include "small/parts.h"
#include "unseen_small.h"

enum {
    FROZEN_RUN_MAX = 96,  /* keys of the form with one run */
    FROZEN_PER_RUN = 64,  /* keys of a run of the other form, at most on average */
    FROZEN_MORE_RUNS = 2, /* runs are doubled so often if one has no room */
    FROZEN_LOG_RUNS_MAX = 10 + FROZEN_MORE_RUNS,
    MANY = 128,
    HEAD = 2,
    HEAD_MANY = 6
};

#define FROZEN_RATE_MIN 1e-6

/* The universe of a run, if n keys in 2^log_runs runs shall have the rate of the code. */
static uint64_t universe_of(unsigned code, size_t n, unsigned log_runs)
{
    return (unseen__rate_universe(code, 64) * n >> (6 + log_runs)) + 1;
}

static uint64_t number_of(uint64_t hi, const struct parts *parts)
{
    return mul_high(hi << parts->log_runs, parts->universe);
}

static unsigned log_runs_for(size_t n)
{
    unsigned log_runs = 1;
    while (n > (size_t)FROZEN_PER_RUN << log_runs) {
        log_runs++;
    }
    return log_runs;
}

static bool is_possible(size_t n, double fpr)
{
    return n <= UNSEEN_FROZEN_KEYS_MAX && fpr >= FROZEN_RATE_MIN && fpr < 1;
}

size_t unseen_frozen_bound(size_t n, double fpr)
{
    if (!is_possible(n, fpr)) {
        return 0;
    }
    /* n numbers below u in a run take n * (s + 1) + u / 2^s bits, for s = floor(log2(u / n)). That is
     * less than n * (log2(u / n) + 3), and over all runs the logarithm is largest if all are alike. */
    const size_t nbits = n * (unseen__rate_code(fpr) / RATE_STEPS + 1 + 1 + 3);
    const size_t nruns =
        n <= FROZEN_RUN_MAX ? 1 : (size_t)1 << (log_runs_for(n) + FROZEN_MORE_RUNS);
    return HEAD_MANY + 3 * nruns + (nbits + 7) / 8;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = ((const struct unseen_key *)a)->hi;
    const uint64_t y = ((const struct unseen_key *)b)->hi;
    return (x > y) - (x < y);
}

/* Sorts the keys, and moves those with different hi to the front. Returns their number. */
static size_t sort_different(struct unseen_key *keys, size_t n)
{
    size_t ndifferent = 0;
    heap_sort(keys, n, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (ndifferent == 0 || keys[i].hi != keys[ndifferent - 1].hi) {
            keys[ndifferent++] = keys[i];
        }
    }
    return ndifferent;
}

/* Writes the run of n sorted keys behind *at. Returns false if it has no room in cap bytes; *at is
 * beyond its end all the same. */
static bool put_run(const struct parts *parts, const struct unseen_key *keys, unsigned n,
                    uint8_t *buf, size_t cap, size_t *at, size_t *len_out)
{
    uint64_t numbers[RUN_MAX];
    for (unsigned i = 0; i < n; i++) {
        numbers[i] = number_of(keys[i].hi, parts);
    }
    const size_t len = unseen__run_len(numbers, n, parts->universe);
    const bool has_room = *at <= cap && len <= cap - *at;
    if (has_room) {
        unseen__run_encode(buf + *at, len, numbers, n, parts->universe);
    }
    *at += len;
    *len_out = len;
    return has_room;
}

static enum unseen_status build_one(unsigned code, const struct unseen_key *keys, unsigned n,
                                    uint8_t *buf, size_t cap, size_t *len_out)
{
    const struct parts parts = {.universe = universe_of(code, n, 0)};
    size_t run_len;
    *len_out = HEAD;
    if (!put_run(&parts, keys, n, buf, cap, len_out, &run_len)) {
        return UNSEEN_ERR_SPACE;
    }
    buf[0] = (uint8_t)code;
    buf[1] = (uint8_t)n;
    return UNSEEN_OK;
}

/* Writes all runs. *fits_out is false if one would be longer than a run can be. */
static enum unseen_status build_runs(unsigned code, const struct unseen_key *keys, size_t n,
                                     unsigned log_runs, uint8_t *buf, size_t cap, size_t *len_out,
                                     bool *fits_out)
{
    const size_t nruns = (size_t)1 << log_runs;
    const struct parts parts = {.log_runs = log_runs, .universe = universe_of(code, n, log_runs)};
    size_t at = HEAD_MANY + 2 * nruns;
    size_t next = 0;
    bool has_room = true;
    for (size_t run = 0; run < nruns; run++) {
        size_t end = next;
        while (end < n && parts_run_of(&parts, keys[end].hi) == run) {
            end++;
        }
        size_t len = 0;
        *fits_out = end - next <= RUN_MAX;
        if (*fits_out) {
            has_room &= put_run(&parts, keys + next, (unsigned)(end - next), buf, cap, &at, &len);
            *fits_out = len <= PARTS_RUN_BYTES;
        }
        if (!*fits_out) {
            return UNSEEN_ERR_ARGUMENT;
        }
        if (has_room) {
            buf[HEAD_MANY + run] = (uint8_t)(end - next);
            buf[HEAD_MANY + nruns + run] = (uint8_t)len;
        }
        next = end;
    }
    *len_out = at;
    if (!has_room) {
        return UNSEEN_ERR_SPACE;
    }
    buf[0] = (uint8_t)code;
    buf[1] = (uint8_t)(MANY + log_runs);
    store_le32(buf + HEAD, (uint32_t)n);
    return UNSEEN_OK;
}

enum unseen_status unseen_frozen_build(struct unseen_key *keys, size_t n, double fpr, void *buf,
                                       size_t cap, size_t *len_out)
{
    if (!is_possible(n, fpr)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const unsigned code = unseen__rate_code(fpr);
    const size_t ndifferent = sort_different(keys, n);
    if (ndifferent <= FROZEN_RUN_MAX) {
        return build_one(code, keys, (unsigned)ndifferent, buf, cap, len_out);
    }
    const unsigned log_runs = log_runs_for(ndifferent);
    enum unseen_status status = UNSEEN_ERR_ARGUMENT;
    bool fits = false;
    for (unsigned more = 0; more <= FROZEN_MORE_RUNS && !fits; more++) {
        status = build_runs(code, keys, ndifferent, log_runs + more, buf, cap, len_out, &fits);
    }
    return status;
}

static bool one_has(const uint8_t *bytes, size_t len, uint64_t hi)
{
    const unsigned n = bytes[1];
    const struct parts parts = {.universe = universe_of(bytes[0], n, 0)};
    uint8_t run[RUN_BYTES + RUN_PAD];
    if (len - HEAD > RUN_BYTES) {
        return true;
    }
    memcpy(run, bytes + HEAD, len - HEAD);
    memset(run + len - HEAD, 0, RUN_PAD);
    return unseen__run_has(run, len - HEAD, n, parts.universe, number_of(hi, &parts));
}

static bool runs_have(const uint8_t *bytes, size_t len, uint64_t hi)
{
    const unsigned log_runs = bytes[1] - MANY;
    if (log_runs > FROZEN_LOG_RUNS_MAX || len < HEAD_MANY + ((size_t)2 << log_runs)) {
        return true;
    }
    const struct parts parts = {.start = bytes + HEAD_MANY,
                                .log_runs = log_runs,
                                .universe =
                                    universe_of(bytes[0], load_le32(bytes + HEAD), log_runs)};
    const size_t run = parts_run_of(&parts, hi);
    const size_t at = (size_t)(parts_run(&parts, run) - bytes);
    if (at > len || parts_lens(&parts)[run] > len - at || parts.universe >> RUN_UNIVERSE_BITS) {
        return true;
    }
    return parts_run_has(&parts, run, number_of(hi, &parts), bytes + len);
}

bool unseen_frozen_contains(const void *data, size_t len, struct unseen_key key)
{
    const uint8_t *bytes = data;
    if (len < HEAD) {
        return true;
    }
    return (bytes[1] < MANY ? one_has : runs_have)(bytes, len, key.hi);
}
