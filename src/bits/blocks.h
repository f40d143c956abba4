/* SPDX-License-Identifier: MIT
 *
 * What the two filters of blocks share: block.h, whose cells are bits, and counting.h, whose cells
 * are counters of 4 bits. Both have an array of lines of 64 bytes. A block is one line or two
 * adjacent lines. All cells of a key are in one block, which the top of hi chooses. blocks.c has
 * their plans, creation, numbers and pieces; a struct blocks_kind says where they differ. */
#ifndef UNSEEN_BITS_BLOCKS_H
#define UNSEEN_BITS_BLOCKS_H

#include "base/bytes.h"
#include "base/macros.h"
#include "bits/line_array.h"
#include "bits/rate.h"

struct blocks;

/* The operations of one SIMD level and one number of lines. Only filters that count have the last
 * two. */
struct blocks_kernel {
    void (*add)(struct blocks *b, const struct unseen_key *keys, size_t n, uint8_t *verdicts);
    void (*contains)(const struct blocks *b, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts);
    void (*remove)(struct blocks *b, const struct unseen_key *keys, size_t n, uint8_t *verdicts);
    void (*add_absent)(struct blocks *b, const struct unseen_key *keys, size_t n,
                       uint8_t *verdicts);
};

/* Which keys of a batch are added. */
enum blocks_which {
    ADD_ALL,
    ADD_ABSENT /* a key that is there is left as it is, and not counted once more */
};

struct blocks_kind {
    unsigned cells;     /* of a line */
    unsigned cell_bits; /* of a cell */
    double fpr_min;
    uint64_t (*count)(const uint8_t *bytes, size_t nbytes); /* cells in use */
    const struct blocks_kernel *portable;                   /* [two_lines], like the others */
    const struct blocks_kernel *avx2;                       /* NULL on other processors */
    const struct blocks_kernel *avx512;
};

struct blocks {
    struct unseen__filter filter;
    const struct blocks_kernel *kernel;
    uint8_t *bytes;
    uint64_t nblocks;
    unsigned prefix_bits;
    unsigned k;
    uint64_t nkeys;
    uint64_t nset; /* cells in use */

    const struct blocks_kind *kind;
    bool two_lines; /* a block has two lines */
    double fpr;
    uint64_t capacity;
    size_t ncleared; /* bytes, of a filter that is cleared little by little */
    struct unseen__line_array array;
    uint64_t nmerged; /* set bits, while merging */
    struct unseen_allocator allocator;
};

/* Of the places of a key in a line: odd, otherwise random. They are part of the format. */
#define BLOCKS_MULTIPLIERS                                                                         \
    0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd3a2646d, 0xfd7046c5,            \
        0xb55a4f09, 0x8da6b343, 0xd8163841, 0xcb1ab31f, 0x5851f42d, 0xa0761d65, 0xe7037ed1,        \
        0x8ebc6af1, 0x589965cd

UNSEEN_INLINE struct blocks *blocks_from(struct unseen__filter *filter)
{
    return (struct blocks *)(void *)filter;
}

UNSEEN_INLINE const struct blocks *blocks_from_const(const struct unseen__filter *filter)
{
    return (const struct blocks *)(const void *)filter;
}

/* The block of a key. */
UNSEEN_INLINE uint8_t *blocks_of_key(const struct blocks *b, bool two_lines, struct unseen_key key)
{
    return b->bytes +
           ((size_t)mul_high(key.hi << b->prefix_bits, b->nblocks) << (two_lines ? 7 : 6));
}

/* Clears this share of a filter that was created with clears_later; what was cleared stays so. The
 * filter must not be used before all of it is cleared (share 1). */
void unseen__blocks_clear(struct unseen__filter *filter, double share);

/* The load (the mean number of keys of a block) that leaves nset cells in use. */
double unseen__blocks_load(const struct blocks *b, uint64_t nset);

#endif
