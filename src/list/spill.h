/* SPDX-License-Identifier: MIT
 *
 * Keys on their way into a list, parted by their top bits: a buffer for each part, and what does
 * not fit there goes to a file, in chunks of a buffer's size, each with a checksum. As a rule the
 * file has no name any more, so that a crash leaves nothing behind, and a chunk that has been read
 * gives its blocks back. A kept spill (below) is the opposite: its file stays, with everything in it,
 * and together with a table of the chunks it is the same spill again in another process.
 *
 * Only the highest bits of a key are kept. A record is the bytes that hold those behind its part's
 * bits. */
#ifndef UNSEEN_LIST_SPILL_H
#define UNSEEN_LIST_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unseen_list.h"

struct unseen__spill;

/* 2^part_bits parts, of keys of which key_bits, more than part_bits, are kept; buffers of memory
 * bytes in all. folder is where the file is made, if one is needed; copied. Errors: NOMEM. */
enum unseen_status unseen__spill_create(struct unseen__spill **spill_out, unsigned part_bits,
                                        unsigned key_bits, size_t memory, const char *folder,
                                        const struct unseen_allocator *allocator);
void unseen__spill_free(struct unseen__spill *spill);

/* About how many keys will come: if the disk has no room for them, that is found out when the first
 * of them go there. */
void unseen__spill_expect(struct unseen__spill *spill, uint64_t nkeys);

/* Errors: IO, NOMEM; the spill can then only be freed. */
enum unseen_status unseen__spill_add(struct unseen__spill *spill, const uint64_t *keys, size_t n,
                                     struct unseen_error *error);

unsigned unseen__spill_part_bits(const struct unseen__spill *spill);
uint64_t unseen__spill_count(const struct unseen__spill *spill, size_t part);
uint64_t unseen__spill_total(const struct unseen__spill *spill);

/* All keys of a part, in no order, to keys, which has room for unseen__spill_count() and 1 more;
 * gives the part's room in the file back unless it is kept. Several threads may read different parts
 * at once. Errors: IO, CORRUPT (the file has other bytes than were written), NOMEM. */
enum unseen_status unseen__spill_read(struct unseen__spill *spill, size_t part, uint64_t *keys,
                                      struct unseen_error *error);

/* ---- kept spills ---- */

/* The file is fd, empty and open for reading and writing as long as the spill; the caller closes it.
 * Before the first key. */
void unseen__spill_keep(struct unseen__spill *spill, int fd);

/* Everything added so far is in the file, and on the disk. Errors: as of _add. */
enum unseen_status unseen__spill_save(struct unseen__spill *spill, struct unseen_error *error);

/* The table of what was saved, to bytes; nothing has been added since. */
size_t unseen__spill_table_len(const struct unseen__spill *spill);
void unseen__spill_table(const struct unseen__spill *spill, uint8_t *bytes);

/* Makes the spill, a new one whose part_bits, key_bits and stride (below) are those of the one that
 * was saved, what that was then. fd is its file, which may have more in it than was saved. Checks
 * what it reads, and _read checks the rest. Errors: CORRUPT, IO, NOMEM. */
enum unseen_status unseen__spill_resume(struct unseen__spill *spill, int fd, const uint8_t *table,
                                        size_t len, struct unseen_error *error);

/* Bytes of a buffer, and of its chunk: memory / 2^part_bits, within limits. A spill with
 * stride * 2^part_bits bytes of memory has the same. */
size_t unseen__spill_stride(const struct unseen__spill *spill);

#endif
