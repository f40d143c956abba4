/* SPDX-License-Identifier: MIT
 *
 * A set that forgets by time: a queue for each of its filters, and the clock that its caller
 * sets. */
#ifndef UNSEEN_SET_WINDOW_H
#define UNSEEN_SET_WINDOW_H

#include "set/set.h"

#define UNSEEN__WINDOW_MAX (UINT64_C(100) * 366 * 86400 * 1000)

/* The fewest bits of a key that do for a window and this rate. ops may be NULL. */
unsigned unseen__window_key_bits(const struct unseen__filter_ops *ops, double fpr);

/* Checks a window against the filter. Errors: ARGUMENT, UNSUPPORTED. */
enum unseen_status unseen__window_check(const struct unseen__filter_ops *ops,
                                        const struct unseen_set_options *options,
                                        struct unseen_error *error);

/* Gives the set, which has its filters, an empty queue for each. Errors: NOMEM. */
enum unseen_status unseen__window_create(struct unseen_set *set, uint64_t window);

/* set->window may be NULL. */
void unseen__window_free(struct unseen_set *set);

/* Adds the numbers of the window to *stats. */
void unseen__window_stats(const struct unseen_set *set, struct unseen_set_stats *stats);

/* UNSUPPORTED, and a sentence, if the set has a window. `what` is the participle of what is asked
 * for. */
enum unseen_status unseen__window_refuse(const struct unseen_set *set, const char *what,
                                         struct unseen_error *error);

#endif
