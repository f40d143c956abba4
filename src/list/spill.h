/* SPDX-License-Identifier: MIT
 *
 * Keys on their way into a list, parted by their top bits: a buffer for each part, and what does
 * not fit there goes to a file that has no name any more, so that a crash leaves nothing behind.
 *
 * Only the highest bits of a key are kept. A record is the bytes that hold those behind its part's
 * bits. A part that has been read gives its blocks of the file back. */
#ifndef UNSEEN_LIST_SPILL_H
#define UNSEEN_LIST_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "unseen.h"

struct unseen__spill;

/* 2^part_bits parts, of keys of which key_bits, more than part_bits, are kept; buffers of memory
 * bytes in all. folder is where the file is made, if one is needed; copied. Errors: NOMEM. */
enum unseen_status unseen__spill_create(struct unseen__spill **spill_out, unsigned part_bits,
                                        unsigned key_bits, size_t memory, const char *folder,
                                        const struct unseen_allocator *allocator);
void unseen__spill_free(struct unseen__spill *spill);

/* Errors: IO, NOMEM; the spill can then only be freed. */
enum unseen_status unseen__spill_add(struct unseen__spill *spill, const uint64_t *keys, size_t n,
                                     struct unseen_error *error);

unsigned unseen__spill_part_bits(const struct unseen__spill *spill);
uint64_t unseen__spill_count(const struct unseen__spill *spill, size_t part);
uint64_t unseen__spill_total(const struct unseen__spill *spill);

/* All keys of a part, in no order, to keys, which has room for unseen__spill_count() and 1 more;
 * gives the part's room in the file back. Several threads may read different parts at once. Errors:
 * IO, and NOMEM. */
enum unseen_status unseen__spill_read(struct unseen__spill *spill, size_t part, uint64_t *keys,
                                      struct unseen_error *error);

#endif
