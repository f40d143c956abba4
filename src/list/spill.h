/* SPDX-License-Identifier: MIT
 *
 * Keys on their way into a list, parted by their top bits. Each part has a buffer. A full buffer
 * goes to a file as a chunk, with a checksum. The file has no name, so that a crash leaves nothing
 * behind. A chunk that has been read gives its blocks back to the disk.
 *
 * Only the highest bits of a key are kept. A record is the bytes that hold the kept bits behind the
 * bits of the part. */
#ifndef UNSEEN_LIST_SPILL_H
#define UNSEEN_LIST_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unseen_list.h"

struct unseen__spill;

/* Makes a spill of 2^part_bits parts. It keeps the highest key_bits bits of a key, more than
 * part_bits, and has buffers of `memory` bytes in all. If a file is needed, it is made in folder;
 * the name is copied. If the disk has no room for about so many expected keys (0: not known), the
 * first write to the file fails with IO. Errors: NOMEM. */
enum unseen_status unseen__spill_create(struct unseen__spill **spill_out, unsigned part_bits,
                                        unsigned key_bits, size_t memory, uint64_t expected,
                                        const char *folder,
                                        const struct unseen_allocator *allocator);
void unseen__spill_free(struct unseen__spill *spill);

/* Adds n keys. Errors: IO, NOMEM; after an error, the spill can only be freed. */
enum unseen_status unseen__spill_add(struct unseen__spill *spill, const uint64_t *keys, size_t n,
                                     struct unseen_error *error);

unsigned unseen__spill_part_bits(const struct unseen__spill *spill);
uint64_t unseen__spill_count(const struct unseen__spill *spill, size_t part);
uint64_t unseen__spill_total(const struct unseen__spill *spill);

/* Stores all keys of a part, in any order, in keys, which has room for unseen__spill_count() and 1
 * more. Empties the part, and gives its room in the file back. Several threads may read different
 * parts at once. Errors: IO, CORRUPT (the file has other bytes than were
 * written), NOMEM. */
enum unseen_status unseen__spill_read(struct unseen__spill *spill, size_t part, uint64_t *keys,
                                      struct unseen_error *error);

#endif
