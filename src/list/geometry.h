/* SPDX-License-Identifier: MIT
 *
 * The geometry of a list's pages. A page of 4 KiB is a linear system of its own: blocks of 64 rows,
 * and in each block some columns of 64 bits, one for each bit of a fingerprint. The first blocks of
 * a page have one column more, and keys that lie in them a fingerprint longer by one bit: so a page
 * has a rate between two powers of 2, and all pages are alike. docs/format.md has the bytes.
 *
 *     group 0   columns 0..7 of each block; the 2 top bits of the last one are its bump level
 *     rest      columns 8.. of each block, and the additional column if it has one; behind every
 *               second block of four, a byte with the bits that those four levels stand in place of
 *
 * A key that is not in the list is told by the columns of group 0 but for one time in 128: two
 * neighbouring lines of 64 bytes, and its bump level stands there, too. All else that a member
 * needs is in one place, too: for three blocks of four in as many bytes as two blocks and one byte
 * are. */
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
    UNSEEN__LIST_FIRST_ROWS = 40 /* so many more keys begin in the first block than in others */
};

struct unseen__list_geometry {
    unsigned columns; /* of every block */
    unsigned blocks;
    unsigned extended; /* blocks from the first that have one column more */

    /* what follows from these */
    unsigned group0;                                 /* columns in group 0 */
    uint16_t rest[UNSEEN__LIST_BLOCKS_MAX];          /* the place of a block's other columns */
    uint16_t displaced[UNSEEN__LIST_BLOCKS_MAX / 4]; /* the place of a byte for four blocks */
};

/* The geometry with the fewest bits per key whose rate is at most fpr. Errors: FPR (below 2^-30). */
enum unseen_status unseen__list_geometry_for(double fpr,
                                             struct unseen__list_geometry *geometry_out);

/* Completes a geometry from its first three numbers; false if there is no such geometry. */
bool unseen__list_geometry_make(unsigned columns, unsigned blocks, unsigned extended,
                                struct unseen__list_geometry *geometry_out);

/* The share of other keys that are taken for members. */
double unseen__list_geometry_rate(const struct unseen__list_geometry *geometry);

#endif
