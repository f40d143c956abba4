/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter [Putze09]: all bits of a key are in one block of one cache line, or of
 * two adjacent ones that the processor fetches together, so a question costs one access to memory
 * where the textbook's filter costs k.
 *
 * The price is that some blocks get more keys than others, and those answer wrong more often: more
 * bits for the same rate. rate.h has the exact rate; the number of bits and of hashes follows from
 * it, so the promised rate is kept. Two lines need fewer bits, the more so the lower the rate, and
 * are taken where that saves more than a twentieth:
 *
 *     rate    classic   one line   two lines  (bits per key, k up to 16)
 *     1e-2       9.6       9.9        9.8
 *     1e-3      14.4      15.5       15.0
 *     1e-4      19.2      22.0       20.6
 *     1e-6      28.8      38.8       33.9
 *
 * Where a key's bits are: the top of hi chooses the block. With a and b, the halves of lo, place i
 * is the top 9 bits of a * multiplier[i] + b, modulo 2^32: one multiplication for all places at once
 * where there are vectors. In a block of one line they are places 0 to k - 1. In one of two lines
 * places 0 on, the larger half of k, are in the first line and places 8 on in the second. Bit p of
 * a line is bit p % 8 of its byte p / 8.
 *
 * Tried and dropped, in bits per key at 1e-4: places kept apart in 8 parts of a line, as for vectors
 * without a permutation: 4 % more (in 2, as for two lines here: 0.03 %). Places made different
 * by drawing again: 0.5 % fewer, not worth a second look at each. */
#ifndef UNSEEN_FILTER_BLOCK_H
#define UNSEEN_FILTER_BLOCK_H

#include "filter/blocks.h"

extern const struct blocks_kind unseen__block_kind;

extern const struct blocks_kernel unseen__block_portable[2]; /* by two_lines */
#if UNSEEN_X86
extern const struct blocks_kernel unseen__block_avx2[2];
extern const struct blocks_kernel unseen__block_avx512[2];
#endif

/* Operations that blocks.c cannot share. */
void unseen__block_combine_piece(struct unseen__filter *filter,
                                 enum unseen__combination combination, const uint8_t *piece,
                                 size_t len);
void unseen__block_combine_finish(struct unseen__filter *filter,
                                  enum unseen__combination combination);

/* Odd, otherwise random: they are part of the format. */
#define BLOCK_MULTIPLIERS                                                                          \
    0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd3a2646d, 0xfd7046c5,            \
        0xb55a4f09, 0x8da6b343, 0xd8163841, 0xcb1ab31f, 0x5851f42d, 0xa0761d65, 0xe7037ed1,        \
        0x8ebc6af1, 0x589965cd

/* The places in use, as bits: those of the first line, and from bit 8 on those of the second. */
UNSEEN_INLINE uint32_t block_lanes(bool two_lines, unsigned k)
{
    const unsigned second = two_lines ? k / 2 : 0;
    return (((uint32_t)1 << (k - second)) - 1) | (((uint32_t)1 << second) - 1) << 8;
}

#endif
