/* SPDX-License-Identifier: MIT
 *
 * The pieces of a query, which stand between two &, sorted as bytes. */
#ifndef UNSEEN_URL_PIECES_H
#define UNSEEN_URL_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces are numbered by where they start. */
struct unseen__pieces {
    const char *text;
    const char *end;
};

/* Does the piece b come before the piece a? Both are equal up to the distance. */
bool unseen__piece_before(const struct unseen__pieces *pieces, uint32_t b, uint32_t a,
                          size_t distance);

/* Sorts n pieces; spare has room for n. The time is linear in the text. */
void unseen__sort_pieces(const struct unseen__pieces *pieces, uint32_t *starts, uint32_t *spare,
                         size_t n);

#endif
