/* SPDX-License-Identifier: MIT
 *
 * The geometry of a list's pages: how many columns and blocks a page has, and at which offsets they
 * are. The builder chooses a geometry, and everything that reads or writes a page goes by it.
 *
 * A page of 4 KiB is a linear system of its own. It has blocks of 64 rows, and each block has some
 * columns of 64 bits, one column for each bit of a fingerprint. The first `extended` blocks have
 * one column more, and the keys in them have a fingerprint longer by one bit. So the rate of a page
 * can lie between two powers of 2, and all pages are alike. docs/format.md has the bytes.
 *
 *     group 0   columns 0..7 of each block; the 2 top bits of the last column are the bump level
 *     rest      columns 8.. of each block, and the additional column if the block has one; in the
 *               middle of every four blocks, one byte holds the bits that the four levels displace
 *
 * Group 0 rules out 127 of 128 keys that are not in the list. For one key it takes two neighbouring
 * lines of 64 bytes, and the bump level is in them, too. A member also needs the rest of two
 * neighbouring blocks and their displaced bits. For three blocks of four all of that is
 * contiguous. */
#ifndef UNSEEN_LIST_GEOMETRY_H
#define UNSEEN_LIST_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "unseen_list.h"

enum {
    UNSEEN__LIST_PAGE = 4096,
    UNSEEN__LIST_ROWS = 64, /* in a block */
    UNSEEN__LIST_COLUMNS_MAX = 30,
    UNSEEN__LIST_BLOCKS_MAX = 128,
    UNSEEN__LIST_FIRST_ROWS = 40 /* the keys of so many more rows begin in the first block */
};

struct unseen__list_geometry {
    unsigned columns; /* of every block */
    unsigned blocks;
    unsigned extended; /* so many blocks, from the first on, have one column more */

    /* derived from the three above */
    unsigned group0;                                 /* columns in group 0 */
    uint16_t rest[UNSEEN__LIST_BLOCKS_MAX];          /* the offset of the columns behind group 0 */
    uint16_t displaced[UNSEEN__LIST_BLOCKS_MAX / 4]; /* the offset of the byte of four blocks */
};

/* Finds the geometry with the fewest bits per key whose rate is at most fpr. Errors: FPR (below
 * 2^-30). */
enum unseen_status unseen__list_geometry_for(double fpr,
                                             struct unseen__list_geometry *geometry_out);

/* Completes a geometry from its first three numbers. Returns false if they are out of range or do
 * not fit on a page. */
bool unseen__list_geometry_make(unsigned columns, unsigned blocks, unsigned extended,
                                struct unseen__list_geometry *geometry_out);

/* The false-positive rate: the share of other keys that are taken for members. */
double unseen__list_geometry_rate(const struct unseen__list_geometry *geometry);

/* The number of pages for nkeys keys; UINT32_MAX stands for more, which no list can have. */
uint32_t unseen__list_npages(const struct unseen__list_geometry *geometry, uint64_t nkeys);

#endif
