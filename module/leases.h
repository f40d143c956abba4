/* SPDX-License-Identifier: MIT
 *
 * URLs that a worker has taken and not finished: keys, each until a time. A lease that has run out
 * counts as absent, and makes room when room is needed. */
#ifndef UNSEEN_MODULE_LEASES_H
#define UNSEEN_MODULE_LEASES_H

#include <unseen.h>

struct lease {
    struct unseen_key key;
    int64_t until; /* milliseconds since 1970; 0: a free slot */
};

struct leases {
    struct lease *slots; /* NULL before the first lease */
    size_t nslots;       /* a power of two, or 0 */
    size_t n;            /* slots in use, at most three quarters */
};

void leases_release(struct leases *leases, const struct unseen_allocator *allocator);

/* The time until which a key is leased; 0: it is not. */
int64_t leases_until(const struct leases *leases, struct unseen_key key);

/* Leases a key, or changes the time of its lease; until is above 0. Leases that ended before
 * `now` may be dropped. Errors: NOMEM; nothing was changed. */
enum unseen_status leases_put(struct leases *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now);

void leases_remove(struct leases *leases, struct unseen_key key);

#endif
