/* SPDX-License-Identifier: MIT
 *
 * The cells of a Bloom filter as one run of lines of 64 bytes, and that run in pieces. The filters
 * of a set each hold a part of the set's whole array, or one of them holds all. A piece says which
 * lines of the whole array it has, so a set saved as many filters loads as one, and back.
 *
 *     piece  0  1  kind: 1          8   8  the first line
 *            1  7  reserved: 0      16  n  lines of 64 bytes, at most 512 */
#ifndef UNSEEN_FILTER_LINE_ARRAY_H
#define UNSEEN_FILTER_LINE_ARRAY_H

#include "filter/filter.h"

enum {
    UNSEEN__LINE = 64,
    UNSEEN__LINE_ARRAY_PIECE_HEAD = 16,
    UNSEEN__LINE_ARRAY_PIECE_LINES = 512
};

struct unseen__line_array {
    uint8_t *bytes;
    uint64_t nlines;
    uint64_t first_line; /* in the whole array */
    uint64_t end_line;   /* of the whole array */
    size_t nbytes;       /* as asked from the allocator: nlines * 64, rounded up */
    uint64_t *loaded;    /* while loading, a bit for each line that has come */
    uint64_t nloaded;
};

/* Part number prefix of 2^prefix_bits equal parts. With load_max = 0, an array of zeros. Else an array
 * to be loaded, of whatever bytes are there; load_max is the most bytes that its pieces can have
 * together. Memory is not written to where the allocator gives zeros. Errors: NOMEM; CORRUPT if the
 * whole array is larger than load_max. */
enum unseen_status unseen__line_array_init(struct unseen__line_array *array, uint64_t nlines,
                                           unsigned prefix_bits, uint64_t prefix, uint64_t load_max,
                                           const struct unseen_allocator *allocator);
void unseen__line_array_release(struct unseen__line_array *array,
                                const struct unseen_allocator *allocator);

/* Bytes taken through the allocator. */
size_t unseen__line_array_memory(const struct unseen__line_array *array);

/* As the operations of a filter; a position is a number of lines. load_piece refuses a line that
 * has come before, load_finish a line that has not come. */
size_t unseen__line_array_save_piece(const struct unseen__line_array *array, uint64_t *position,
                                     uint8_t *buf);
bool unseen__line_array_owns_piece(const struct unseen__line_array *array, const uint8_t *piece,
                                   size_t len);
enum unseen_status unseen__line_array_load_piece(struct unseen__line_array *array,
                                                 const uint8_t *piece, size_t len,
                                                 const struct unseen_allocator *allocator);
enum unseen_status unseen__line_array_load_finish(struct unseen__line_array *array,
                                                  const struct unseen_allocator *allocator);

/* The part of an owned piece that is in this array: n bytes from *bytes_out stand for those from
 * *place_out on in the array. */
size_t unseen__line_array_overlap(const struct unseen__line_array *array, const uint8_t *piece,
                                  size_t len, const uint8_t **bytes_out, size_t *offset_out);

/* How many bits are set in n bytes, a multiple of 8. */
uint64_t unseen__count_bits(const uint8_t *bytes, size_t n);

/* The set bits of both sides of a combination, and of their union. */
struct unseen__combined {
    uint64_t own;
    uint64_t other;
    uint64_t either;
};

/* Combines an array of bits with the owned part of a piece, and adds what it saw to *counts. */
void unseen__line_array_combine(struct unseen__line_array *array,
                                enum unseen__combination combination, const uint8_t *piece,
                                size_t len, struct unseen__combined *counts);

#endif
