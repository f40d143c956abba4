/* SPDX-License-Identifier: MIT
 *
 * URLs that a worker has taken and not finished: keys, each until a time. A lease that has run out
 * counts as absent, and makes room when room is needed. */
#ifndef UNSEEN_MODULE_LEASES_H
#define UNSEEN_MODULE_LEASES_H

#include <unseen.h>

struct lease {
    struct unseen_key key;
    int64_t until; /* milliseconds since 1970; above 0 */
};

struct leases {
    struct lease *all; /* n leases, in an order that follows from the calls alone */
    size_t n;
    uint32_t *slots; /* a hash table by key: index + 1; 0: free. NULL before the first lease */
    size_t nslots;   /* a power of two, twice the capacity of `all`, or 0 */
    uint8_t salt[16];
};

void leases_release(struct leases *leases, const struct unseen_allocator *allocator);

/* The time until which a key is leased; 0: it is not. */
int64_t leases_until(const struct leases *leases, struct unseen_key key);

/* Leases a key, or changes the time of its lease; until is above 0. Leases that ended before
 * `now` may be dropped. Errors: NOMEM, RANDOM; nothing was changed. */
enum unseen_status leases_put(struct leases *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now);

void leases_remove(struct leases *leases, struct unseen_key key);

#endif
