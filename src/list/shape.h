/* SPDX-License-Identifier: MIT
 *
 * The shape of a list's pages. A page of 4 KiB is a linear system of its own: blocks of 64 rows, and
 * in each block some columns of 64 bits, one for each bit of a fingerprint. The first blocks of a
 * page have one column more, and keys that lie in them a fingerprint longer by one bit: so a page
 * has a rate between two powers of 2, and all pages are alike. docs/format.md has the bytes.
 *
 *     group 0     columns 0..7 of each block; the 2 top bits of the last one are its bump level
 *     group 1     columns 8.. of each block
 *     tail        the additional column of the first blocks
 *     displaced   2 bits a block: those of the column that the levels stand in
 *
 * A key that is not in the list is told by the columns of group 0 but for one time in 128: two
 * neighbouring lines of 64 bytes, and its bump level stands there, too. */
#ifndef UNSEEN_LIST_SHAPE_H
#define UNSEEN_LIST_SHAPE_H

#include <stdbool.h>

#include "unseen.h"

enum {
    UNSEEN__LIST_PAGE = 4096,
    UNSEEN__LIST_ROWS = 64, /* in a block */
    UNSEEN__LIST_COLUMNS_MAX = 30,
    UNSEEN__LIST_BLOCKS_MAX = 128,
    UNSEEN__LIST_FIRST_ROWS = 40 /* so many more keys begin in the first block than in others */
};

struct unseen__list_shape {
    unsigned columns; /* of every block */
    unsigned blocks;
    unsigned extended; /* blocks from the first that have one column more */

    /* what follows from these */
    unsigned group0; /* columns in group 0 */
    unsigned group1_place;
    unsigned tail_place;
    unsigned displaced_place;
};

/* The shape with the fewest bits per key whose rate is at most fpr. Errors: FPR (below 2^-30). */
enum unseen_status unseen__list_shape_for(double fpr, struct unseen__list_shape *shape_out);

/* Completes a shape from its first three numbers; false if there is no such shape. */
bool unseen__list_shape_make(unsigned columns, unsigned blocks, unsigned extended,
                             struct unseen__list_shape *shape_out);

/* The share of other keys that are taken for members. */
double unseen__list_shape_rate(const struct unseen__list_shape *shape);

#endif
