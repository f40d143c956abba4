/* SPDX-License-Identifier: MIT
 *
 * Runs: see run.h. */
#include "small/run.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"

enum {
    WINDOW = 56 /* unary bits that one load gives at any bit position */
};

/* The place of the highest 1 bit; x is not 0. */
UNSEEN_INLINE unsigned highest_bit(uint64_t x)
{
#if defined(__GNUC__)
    return 63 - (unsigned)__builtin_clzll(x);
#else
    unsigned place = 0;
    while (x >>= 1) {
        place++;
    }
    return place;
#endif
}

/* The low bits of a gap among n numbers: floor(log2(universe / n)), without the division. */
UNSEEN_INLINE unsigned shift_of(uint64_t universe, unsigned n)
{
    const unsigned up = highest_bit(universe);
    const unsigned down = highest_bit(n);
    if (down >= up) {
        return 0;
    }
    return up - down - ((uint64_t)n << (up - down) > universe);
}

static size_t bits_of(const uint64_t *numbers, unsigned n, unsigned shift)
{
    size_t bits = (size_t)n * (shift + 1);
    uint64_t last = 0;
    for (unsigned i = 0; i < n; i++) {
        bits += (size_t)((numbers[i] - last) >> shift);
        last = numbers[i];
    }
    return bits;
}

size_t unseen__run_len(const uint64_t *numbers, unsigned n, uint64_t universe)
{
    return n ? (bits_of(numbers, n, shift_of(universe, n)) + 7) / 8 : 0;
}

/* Writes bits one after the other; RUN_PAD bytes behind them are overwritten. */
struct writer {
    uint8_t *to;
    uint64_t word; /* `fill` bits, below 8, that the next byte begins with */
    unsigned fill;
};

UNSEEN_INLINE void put_bits(struct writer *writer, uint64_t value, unsigned nbits)
{
    writer->word |= value << writer->fill;
    writer->fill += nbits;
    store_le64(writer->to, writer->word);
    writer->to += writer->fill >> 3;
    writer->word >>= writer->fill & 56;
    writer->fill &= 7;
}

/* `zeros` 0 bits and a 1 bit. */
UNSEEN_INLINE void put_unary(struct writer *writer, uint64_t zeros)
{
    for (; zeros >= WINDOW; zeros -= WINDOW) {
        put_bits(writer, 0, WINDOW);
    }
    put_bits(writer, (uint64_t)1 << zeros, (unsigned)zeros + 1);
}

void unseen__run_encode(uint8_t *run, size_t len, const uint64_t *numbers, unsigned n,
                        uint64_t universe)
{
    uint8_t bytes[RUN_BYTES + RUN_PAD];
    if (n == 0) {
        return;
    }
    const unsigned shift = shift_of(universe, n);
    const uint64_t mask = ((uint64_t)1 << shift) - 1;
    struct writer writer = {.to = bytes};
    uint64_t last = 0;
    for (unsigned i = 0; i < n; i++) {
        put_bits(&writer, (numbers[i] - last) & mask, shift);
        last = numbers[i];
    }
    last = 0;
    for (unsigned i = 0; i < n; i++) {
        put_unary(&writer, (numbers[i] - last) >> shift);
        last = numbers[i];
    }
    memcpy(run, bytes, len);
}

/* Walks along a run. */
struct walk {
    uint64_t sum;  /* of the low parts so far */
    uint64_t ones; /* 1 bits of the window that are left */
    size_t window; /* the first bit of the window */
    size_t unary;  /* the first bit of the unary part */
    size_t end;    /* one past the last bit of the run */
    size_t low;    /* the next low part */
    uint64_t mask;
    size_t one; /* the last 1 bit that was read */
    unsigned shift;
    unsigned i;
};

UNSEEN_INLINE uint64_t window_at(const uint8_t *run, size_t bit)
{
    return load_le64(run + (bit >> 3)) >> (bit & 7) & (((uint64_t)1 << WINDOW) - 1);
}

UNSEEN_INLINE struct walk walk_start(const uint8_t *run, size_t len, unsigned n, uint64_t universe)
{
    const unsigned shift = shift_of(universe, n);
    struct walk walk = {.shift = shift, .mask = ((uint64_t)1 << shift) - 1, .end = len * 8};
    walk.unary = walk.window = (size_t)n * shift;
    walk.ones = walk.window < walk.end ? window_at(run, walk.window) : 0;
    return walk;
}

/* Reads the next number. Returns false if no 1 bit is left. */
UNSEEN_INLINE bool walk_next(struct walk *walk, const uint8_t *run, uint64_t *number_out)
{
    while (UNSEEN_UNLIKELY(walk->ones == 0)) {
        walk->window += WINDOW;
        if (walk->window >= walk->end) {
            return false;
        }
        walk->ones = window_at(run, walk->window);
    }
    walk->one = walk->window + lowest_bit(walk->ones);
    walk->ones &= walk->ones - 1;
    walk->sum += load_le64(run + (walk->low >> 3)) >> (walk->low & 7) & walk->mask;
    walk->low += walk->shift;
    *number_out = ((uint64_t)(walk->one - walk->unary - walk->i) << walk->shift) + walk->sum;
    walk->i++;
    return true;
}

bool unseen__run_has(const uint8_t *run, size_t len, unsigned n, uint64_t universe, uint64_t x)
{
    if (n == 0) {
        return false;
    }
    struct walk walk = walk_start(run, len, n, universe);
    if (walk.unary > walk.end) {
        return true;
    }
    for (uint64_t number; walk.i < n && walk_next(&walk, run, &number);) {
        if (number >= x) {
            return number == x;
        }
    }
    return false;
}

bool unseen__run_decode(const uint8_t *run, size_t len, unsigned n, uint64_t universe,
                        uint64_t *numbers)
{
    if (n == 0) {
        return len == 0;
    }
    struct walk walk = walk_start(run, len, n, universe);
    if (len > RUN_BYTES || walk.unary > walk.end) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!walk_next(&walk, run, &numbers[i]) || numbers[i] >= universe) {
            return false;
        }
    }
    /* The padding: no 1 bit behind the last, and no byte too many. */
    const size_t bits = bits_of(numbers, n, walk.shift);
    return (bits + 7) / 8 == len && (bits % 8 == 0 || run[len - 1] >> bits % 8 == 0);
}

/* ---- one number more ---- */

/* Copies the bits [from, end) of a run. */
static void put_range(struct writer *writer, const uint8_t *run, size_t from, size_t end)
{
    for (; end - from >= WINDOW; from += WINDOW) {
        put_bits(writer, window_at(run, from), WINDOW);
    }
    const unsigned nbits = (unsigned)(end - from);
    put_bits(writer, window_at(run, from) & (((uint64_t)1 << nbits) - 1), nbits);
}

static size_t insert_anew(uint8_t *to, const uint8_t *run, size_t len, unsigned n,
                          uint64_t universe, uint64_t x)
{
    uint64_t numbers[RUN_MAX];
    (void)unseen__run_decode(run, len, n, universe, numbers);
    unsigned i = n;
    for (; i > 0 && numbers[i - 1] > x; i--) {
        numbers[i] = numbers[i - 1];
    }
    numbers[i] = x;
    const size_t new_len = unseen__run_len(numbers, n + 1, universe);
    unseen__run_encode(to, new_len, numbers, n + 1, universe);
    return new_len;
}

/* As long as shift stays the same, only the gap that x falls into has new bits: it becomes two
 * gaps, or one more follows the last. */
size_t unseen__run_insert(uint8_t *to, const uint8_t *run, size_t len, unsigned n,
                          uint64_t universe, uint64_t x)
{
    if (n == 0 || shift_of(universe, n) != shift_of(universe, n + 1)) {
        return insert_anew(to, run, len, n, universe, x);
    }
    struct walk walk = walk_start(run, len, n, universe);
    const unsigned shift = walk.shift;
    size_t unary = walk.unary; /* where the unary code of the gap begins */
    uint64_t before = 0;
    uint64_t number = 0;
    while (walk.i < n && walk_next(&walk, run, &number) && number <= x) {
        before = number;
        unary = walk.one + 1;
    }
    const bool is_last = number <= x;
    const size_t end = 8 * (len - 1) + highest_bit(run[len - 1]) + 1;
    const unsigned i = is_last ? n : walk.i - 1;
    struct writer writer = {.to = to};
    put_range(&writer, run, 0, (size_t)i * shift);
    put_bits(&writer, (x - before) & walk.mask, shift);
    if (!is_last) {
        put_bits(&writer, (number - x) & walk.mask, shift);
        put_range(&writer, run, (size_t)(i + 1) * shift, walk.unary);
    }
    put_range(&writer, run, walk.unary, unary);
    put_unary(&writer, (x - before) >> shift);
    if (!is_last) {
        put_unary(&writer, (number - x) >> shift);
        put_range(&writer, run, walk.one + 1, end);
    }
    return (size_t)(writer.to - to) + (writer.fill > 0);
}
