/* SPDX-License-Identifier: MIT
 *
 * unseen_bitmap.h - exact sets of integers below 2^40, one bit each.
 *
 * A bitmap takes 4 KiB for each run of 2^15 integers with more than 127 members, and 16 to 256
 * bytes for a run with fewer. A table of the runs takes 4 KiB for each 2^24 integers. Memory freed
 * by clearing is used again by the same bitmap.
 *
 *     struct unseen_bitmap *bitmap;
 *     uint64_t ids[] = {7, 3, 7};
 *     uint8_t verdicts[3];
 *     if (unseen_bitmap_create(&bitmap, NULL, NULL) != UNSEEN_OK) ...
 *     if (unseen_bitmap_set(bitmap, ids, 3, verdicts, NULL) != UNSEEN_OK) ...
 *     -> verdicts are NEW, NEW, SEEN; unseen_bitmap_next(bitmap, 0, ids, 3) = 2: 3 and 7
 *
 * The conventions are those of unseen.h. Functions that take the bitmap as const: any number of
 * threads at once. All others: one thread. */
#ifndef UNSEEN_BITMAP_H
#define UNSEEN_BITMAP_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

struct unseen_bitmap;

/* One more than the largest integer. */
#define UNSEEN_BITMAP_END ((uint64_t)1 << 40)

struct unseen_bitmap_options {
    size_t size; /* sizeof(struct unseen_bitmap_options) */
    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the bitmap */
};

/* Creates an empty bitmap.
 *
 * Ownership: the caller frees *bitmap_out with unseen_bitmap_free. options may be NULL.
 * Errors:
 *   - SIZE
 *   - UNSUPPORTED: cpu
 *   - NOMEM
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_bitmap_create(struct unseen_bitmap **bitmap_out,
    const struct unseen_bitmap_options *options, struct unseen_error *error);

/* Frees the bitmap. bitmap may be NULL.
 *
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API void unseen_bitmap_free(struct unseen_bitmap *bitmap);

/* set adds n integers in order, clear removes them, get changes nothing. Hundreds at a time are
 * several times as fast as single integers.
 *
 * Arguments:
 *   - each verdict says whether its integer was in the bitmap before (SEEN) or not (NEW).
 *   - verdicts gets n bytes, or is NULL.
 *   - *ndone_out is the number of integers done, n on success; ndone_out may be NULL.
 *   - To get, an integer of 2^40 or more is NEW.
 * Errors:
 *   - ARGUMENT: set, clear: an integer of 2^40 or more
 *   - NOMEM: set
 *   The first *ndone_out integers are done then, and the others are not.
 * Threads: get: any.
 * Time: linear in n. */
UNSEEN_API enum unseen_status unseen_bitmap_set(struct unseen_bitmap *bitmap,
    const uint64_t *values, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_bitmap_clear(struct unseen_bitmap *bitmap,
    const uint64_t *values, size_t n, uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API void unseen_bitmap_get(
    const struct unseen_bitmap *bitmap, const uint64_t *values, size_t n, uint8_t *verdicts);

/* Adds all integers in [first, end), or removes them if is_member is false.
 *
 * Errors:
 *   - ARGUMENT: first is above end, or end above 2^40
 *   - NOMEM: of adding; some integers of the range may have been added, the others are as they
 *     were
 * Threads: one.
 * Time: linear in the memory of the range. */
UNSEEN_API enum unseen_status unseen_bitmap_set_range(
    struct unseen_bitmap *bitmap, uint64_t first, uint64_t end, bool is_member);

/* The number of members in [first, end). Integers of 2^40 and more are never members.
 *
 * Time: constant for 0 and UNSEEN_BITMAP_END, else linear in the memory of the range. */
UNSEEN_API uint64_t unseen_bitmap_count(
    const struct unseen_bitmap *bitmap, uint64_t first, uint64_t end);

/* Stores the first max members from `from` on, in increasing order, and returns their number. A
 * number below max says that these are all.
 *
 * Time: linear in the memory passed over. */
UNSEEN_API size_t unseen_bitmap_next(
    const struct unseen_bitmap *bitmap, uint64_t from, uint64_t *values, size_t max);

enum unseen_bitmap_operation {
    UNSEEN_BITMAP_OR = 0,    /* adds the members of the other bitmap */
    UNSEEN_BITMAP_AND = 1,   /* keeps the members that the other bitmap also has */
    UNSEEN_BITMAP_ANDNOT = 2 /* removes the members of the other bitmap */
};

/* Combines the bitmap with another one, which may be itself.
 *
 * Errors:
 *   - ARGUMENT: no such operation
 *   - NOMEM: of OR; some members of other may have been added
 * Threads: one, for both.
 * Time: linear in the memory of both. */
UNSEEN_API enum unseen_status unseen_bitmap_combine(struct unseen_bitmap *bitmap,
    enum unseen_bitmap_operation operation, const struct unseen_bitmap *other);

/* The bytes taken through the allocator. */
UNSEEN_API uint64_t unseen_bitmap_memory(const struct unseen_bitmap *bitmap);

/* ---- Files ---- */

enum unseen_bitmap_mode {
    UNSEEN_BITMAP_READ = 0,
    UNSEEN_BITMAP_EDIT = 1 /* to be saved: no other process can edit it meanwhile */
};

/* Reads the bitmap that unseen_bitmap_save wrote to path. To EDIT, a file that does not exist is an
 * empty bitmap, and the file stays locked until the bitmap is saved or freed.
 *
 * Ownership: the caller frees *bitmap_out with unseen_bitmap_free. options may be NULL.
 * Errors:
 *   - as unseen_bitmap_create
 *   - CORRUPT
 *   - VERSION
 *   - MISSING: READ
 *   - FOREIGN: the file is not a bitmap; EDIT: a file of somebody else is in the way
 *   - BUSY: EDIT: another process edits it
 *   - IO
 * Threads: any.
 * Time: linear in the file. */
UNSEEN_API enum unseen_status unseen_bitmap_open(struct unseen_bitmap **bitmap_out,
    const char *path, enum unseen_bitmap_mode mode, const struct unseen_bitmap_options *options,
    struct unseen_error *error);

/* Writes a bitmap that was opened to EDIT to its file, durably and in one step: an error or a crash
 * leaves the file as it was. Once only; then the bitmap can be read and freed.
 *
 * Errors:
 *   - ARGUMENT: not opened to EDIT, or saved before
 *   - IO
 *   - NOMEM
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API enum unseen_status unseen_bitmap_save(
    struct unseen_bitmap *bitmap, struct unseen_error *error);

#ifdef __cplusplus
}
#endif

#endif
