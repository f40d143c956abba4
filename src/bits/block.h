/* SPDX-License-Identifier: MIT
 *
 * The blocked Bloom filter [Putze09]: all bits of a key are in one block. A block is one cache
 * line, or two adjacent lines that the processor fetches together. So a question costs one access
 * to memory; in the textbook's filter (bloom.c) it costs k.
 *
 * The price is more bits for the same rate, because some blocks get more keys than others and
 * answer wrong more often. rate.h has the exact rate. The numbers of bits and of hashes follow from
 * it, so the promised rate is kept. Blocks of two lines need fewer bits, above all at low rates.
 * They are used if they save more than a twentieth:
 *
 *     rate    classic   one line   two lines  (bits per key, k up to 16)
 *     1e-2       9.6       9.9        9.8
 *     1e-3      14.4      15.5       15.0
 *     1e-4      19.2      22.0       20.6
 *     1e-6      28.8      38.8       33.9
 *
 * Where a key's bits are. The top of hi chooses the block. Let a be the low half of lo, and b the
 * high half: place i is the top 9 bits of a * multiplier[i] + b, modulo 2^32. With vectors, one
 * multiplication yields all places. A block of one line has places 0 to k - 1. In a block of two
 * lines, the larger half of the k places are 0, 1, ... in the first line, and the others are 8, 9,
 * ... in the second line. Bit p of a line is bit p % 8 of its byte p / 8.
 *
 * Tried and dropped (bits per key at a rate of 1e-4): a place in each eighth of a line, which takes
 * no permutation of vectors, needs 4 % more (a place in each half, as with two lines here, 0.03 %).
 * Drawing again until all places differ needs 0.5 % fewer, which is not worth a second look at each
 * place. */
#ifndef UNSEEN_BITS_BLOCK_H
#define UNSEEN_BITS_BLOCK_H

#include "bits/blocks.h"

extern const struct blocks_kind unseen__block_kind;

extern const struct blocks_kernel unseen__block_portable[2]; /* by two_lines */
#if UNSEEN_X86
extern const struct blocks_kernel unseen__block_avx2[2];
extern const struct blocks_kernel unseen__block_avx512[2];
#endif

/* The operations that block does not share with counting. */
enum unseen_status unseen__block_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                             size_t len);
void unseen__block_merge_finish(struct unseen__filter *filter);

/* The places in use, as bits. With two lines, the places of the second line begin at bit 8. */
UNSEEN_INLINE uint32_t block_lanes(bool two_lines, unsigned k)
{
    const unsigned second = two_lines ? k / 2 : 0;
    return (((uint32_t)1 << (k - second)) - 1) | (((uint32_t)1 << second) - 1) << 8;
}

#endif
