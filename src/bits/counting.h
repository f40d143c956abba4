/* SPDX-License-Identifier: MIT
 *
 * The counting Bloom filter [Fan00], blocked [Putze09]: a counter of 4 bits where the blocked Bloom
 * filter (block.h) has a bit, so that keys can be removed. All counters of a key are in one line of
 * 128 counters, or in two adjacent lines of 256 where the rate asks for it.
 *
 * Adding a key adds 1 to each of its counters, also if the key is present: a counting set is a bag.
 * A key is gone when it was removed as often as it was added. So removing is right: every added key
 * has left its mark, even if it was wrongly taken for seen. The least of a key's counters is at
 * least the number of times that the key was added.
 *
 * Two places of a key may be the same. Their counter then goes up and down by 1.
 *
 * A counter of 15 is full and stays 15 for ever, because the true count is lost. A key whose
 * counters are all full cannot be removed. In a filter within its capacity, one counter in 10^11
 * gets full by chance [Fan00]; a key that is added 15 times fills its own counters.
 *
 * Removing a key that was never added: if one of its counters is 0, nothing changes. If all are
 * above 0 (which has the probability of a false positive), the key looks like a member, and other
 * keys lose a count.
 *
 * Where a key's counters are. The top of hi chooses the block. Let a be the low half of lo, and b
 * the high half: place i is the top 7 bits of a * multiplier[i] + b, modulo 2^32. In a block of two
 * lines, places with even i are in the first line, the others in the second. Counter p of a line is
 * the low (p even) or the high half of its byte p / 2. */
#ifndef UNSEEN_BITS_COUNTING_H
#define UNSEEN_BITS_COUNTING_H

#include "bits/blocks.h"

enum {
    COUNTING_CELLS = 128 /* counters of a line */
};

extern const struct blocks_kind unseen__counting_kind;

extern const struct blocks_kernel unseen__counting_portable[2]; /* by two_lines */
#if UNSEEN_X86
extern const struct blocks_kernel unseen__counting_avx2[2];
extern const struct blocks_kernel unseen__counting_avx512[2];
#endif

/* The operations that counting does not share with block. */
enum unseen_status unseen__counting_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                                size_t len);
void unseen__counting_merge_finish(struct unseen__filter *filter);
uint64_t unseen__counting_count(const struct unseen__filter *filter, struct unseen_key key);

/* The lowest bit of each counter of a word. */
#define COUNTING_ONES UINT64_C(0x1111111111111111)

/* The lowest bit of each counter that is not 0, and of each counter that is 15. */
UNSEEN_INLINE uint64_t counting_used(uint64_t x)
{
    return (x | x >> 1 | x >> 2 | x >> 3) & COUNTING_ONES;
}

UNSEEN_INLINE uint64_t counting_full(uint64_t x)
{
    return x & x >> 1 & x >> 2 & x >> 3 & COUNTING_ONES;
}

/* The sum of 16 counters of at most 8 each. */
UNSEEN_INLINE unsigned counting_sum(uint64_t x)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x & low) + (x >> 4 & low);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* The i'th place of a key in its block. */
UNSEEN_INLINE unsigned counting_place(bool two_lines, unsigned i, uint64_t lo, uint32_t multiplier)
{
    const unsigned in_line = ((uint32_t)lo * multiplier + (uint32_t)(lo >> 32)) >> 25;
    return two_lines ? in_line + i % 2 * COUNTING_CELLS : in_line;
}

#endif
