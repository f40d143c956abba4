/* SPDX-License-Identifier: MIT
 *
 * A run: up to RUN_MAX sorted numbers below a universe, in Golomb-Rice code [Golomb66] [Rice79].
 * Random numbers take about log2(universe / n) + 1.5 bits each; the least possible is + 1.44.
 *
 * The gap of a number is its distance to the number before it. The low `shift` bits of all gaps
 * come first, shift bits each; then the rests of all gaps in unary, each as so many 0 bits and a 1
 * bit:
 *
 *     [ low bits of gap 0 ][ of gap 1 ] ... [ of gap n - 1 ][ 0..01 ][ 0..01 ] ... [ 0..01 ][ pad ]
 *
 * Bits count from the low end of a byte, and zeros fill the last byte. Two separate parts instead
 * of one code after the other let the decoder go from 1 bit to 1 bit in one instruction: the i-th 1
 * bit stands at bit p of the unary part, so the rests of gaps 0 to i add up to p - i.
 *
 * shift follows from n and the universe alone. Neither it nor the length of a run is stored in the
 * run. */
#ifndef UNSEEN_SMALL_RUN_H
#define UNSEEN_SMALL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RUN_MAX = 127,          /* numbers of a run */
    RUN_UNIVERSE_BITS = 47, /* bits of a number: one load gives a low part at any bit position */
    RUN_BYTES = (RUN_MAX * (RUN_UNIVERSE_BITS + 3)) / 8 + 1,
    RUN_PAD = 8 /* bytes that must be readable behind a run */
};

/* The length in bytes of the run of n sorted numbers. */
size_t unseen__run_len(const uint64_t *numbers, unsigned n, uint64_t universe);

/* Writes the run of n sorted numbers, unseen__run_len bytes. */
void unseen__run_encode(uint8_t *run, size_t len, const uint64_t *numbers, unsigned n,
                        uint64_t universe);

/* Whether x is a number of the run. RUN_PAD bytes behind the run are readable, and any. A run that
 * is not valid gives any answer, true if it is too short for its low parts, after at most n
 * steps. */
bool unseen__run_has(const uint8_t *run, size_t len, unsigned n, uint64_t universe, uint64_t x);

/* Reads all numbers. RUN_PAD bytes behind the run are readable. Returns false if the bytes are not
 * what unseen__run_encode writes for any n numbers below the universe. */
bool unseen__run_decode(const uint8_t *run, size_t len, unsigned n, uint64_t universe,
                        uint64_t *numbers);

/* Writes the run of one number more to `to`, which has RUN_BYTES + RUN_PAD bytes. The run is sound,
 * n is less than RUN_MAX, and RUN_PAD bytes behind the run are readable. Returns the length. */
size_t unseen__run_insert(uint8_t *to, const uint8_t *run, size_t len, unsigned n,
                          uint64_t universe, uint64_t x);

#endif
