/* SPDX-License-Identifier: MIT
 *
 * The cells of a Bloom filter (bloom, block, counting) as an array of lines of 64 bytes, which is
 * saved and loaded in pieces. Each filter of a set has an equal part of the set's whole array, or
 * one filter has all of it. A piece says which lines of the whole array it has. So a set that was
 * saved from many filters can be loaded into one filter, and the reverse.
 *
 *     piece  0  1  kind: 1          8   8  the first line
 *            1  7  reserved: 0      16  n  lines of 64 bytes, at most 512 */
#ifndef UNSEEN_BITS_LINE_ARRAY_H
#define UNSEEN_BITS_LINE_ARRAY_H

#include "filter/filter.h"

enum {
    UNSEEN__LINE = 64
};

struct unseen__line_array {
    uint8_t *bytes;
    uint64_t nlines;
    uint64_t first_line; /* in the whole array */
    uint64_t end_line;   /* of the whole array */
    size_t nbytes;       /* as asked from the allocator: nlines * 64, rounded up */
    uint64_t *loaded;    /* while loading: a bit for each line that is loaded */
    uint64_t nloaded;
};

/* Creates part number prefix of 2^prefix_bits equal parts. If load_max is 0, the array is zeros.
 * Else it is to be loaded: its bytes are undefined, and load_max is the most bytes that its pieces
 * can have together. Does not write to memory that the allocator has zeroed. With clears_later its
 * bytes are undefined, too. Errors: NOMEM; CORRUPT if the whole array is larger than load_max. */
enum unseen_status unseen__line_array_init(struct unseen__line_array *array, uint64_t nlines,
                                           unsigned prefix_bits, uint64_t prefix, uint64_t load_max,
                                           bool clears_later,
                                           const struct unseen_allocator *allocator);
void unseen__line_array_release(struct unseen__line_array *array,
                                const struct unseen_allocator *allocator);

/* Bytes taken through the allocator. */
size_t unseen__line_array_memory(const struct unseen__line_array *array);

/* The operations of a filter with these names. A position is a number of lines. load_piece refuses
 * a line that is already loaded; load_finish fails if a line is not loaded. */
size_t unseen__line_array_save_piece(const struct unseen__line_array *array, uint64_t *position,
                                     uint8_t *buf);
bool unseen__line_array_owns_piece(const struct unseen__line_array *array, const uint8_t *piece,
                                   size_t len);
enum unseen_status unseen__line_array_load_piece(struct unseen__line_array *array,
                                                 const uint8_t *piece, size_t len,
                                                 const struct unseen_allocator *allocator);
enum unseen_status unseen__line_array_load_finish(struct unseen__line_array *array,
                                                  const struct unseen_allocator *allocator);

/* The part of an owned piece that is in this array. Returns its length in bytes; *bytes_out is its
 * address in the piece, *offset_out its offset in the array. */
size_t unseen__line_array_overlap(const struct unseen__line_array *array, const uint8_t *piece,
                                  size_t len, const uint8_t **bytes_out, size_t *offset_out);

/* Sets the bits of the owned part of a piece. Returns how many bits of that part are set then. */
uint64_t unseen__line_array_merge(struct unseen__line_array *array, const uint8_t *piece,
                                  size_t len);

#endif
