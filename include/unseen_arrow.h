/* SPDX-License-Identifier: MIT
 *
 * unseen_arrow.h - sets, for strings in Apache Arrow's variable-size binary layout.
 *
 * Item i is data[offsets[i]..offsets[i + 1]). offsets has n + 1 entries that never decrease. Arrays
 * with 32-bit offsets are widened by the caller. The conventions are those of unseen.h. */
#ifndef UNSEEN_ARROW_H
#define UNSEEN_ARROW_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As unseen_set_add, unseen_set_contains and unseen_set_remove: the same answers and errors, and
 * nothing is copied.
 *
 * Arguments:
 *   - data may be NULL if all items are empty.
 *   - verdicts gets n bytes; ndone_out may be NULL.
 * Errors:
 *   - as for the set
 *   - ARGUMENT at the first item whose offset is negative or decreases
 *   The items before it are done then, and *ndone_out is their number.
 * Threads: as for the set.
 * Time: linear in the bytes. */
UNSEEN_API enum unseen_status unseen_set_add_arrow(struct unseen_set *set, const void *data,
                                                   const int64_t *offsets, size_t n,
                                                   uint8_t *verdicts, size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_contains_arrow(const struct unseen_set *set,
                                                        const void *data, const int64_t *offsets,
                                                        size_t n, uint8_t *verdicts,
                                                        size_t *ndone_out);
UNSEEN_API enum unseen_status unseen_set_remove_arrow(struct unseen_set *set, const void *data,
                                                      const int64_t *offsets, size_t n,
                                                      uint8_t *verdicts, size_t *ndone_out);

#ifdef __cplusplus
}
#endif

#endif
