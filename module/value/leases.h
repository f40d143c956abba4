/* SPDX-License-Identifier: MIT
 *
 * URLs that a worker has taken and not finished: keys, each until a time. A lease that has run out
 * counts as absent, and makes room when room is needed. */
#ifndef UNSEEN_MODULE_LEASES_H
#define UNSEEN_MODULE_LEASES_H

#include "leases/lease_table.h"

struct lease {
    struct unseen_key key;
    int64_t until; /* milliseconds since 1970; above 0. 0: the entry is free */
};

/* The time until which a key is leased; 0: it is not. */
int64_t leases_until(const struct lease_table *leases, struct unseen_key key);

/* Leases a key, or changes the time of its lease; until is above 0. Leases that ended before
 * `now` may be dropped. Errors: NOMEM, RANDOM; nothing was changed. */
enum unseen_status leases_put(struct lease_table *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now);

void leases_remove(struct lease_table *leases, struct unseen_key key);

#endif
