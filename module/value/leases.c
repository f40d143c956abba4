/* SPDX-License-Identifier: MIT */
#include "value/leases.h"

/* Moves the leases that last into a new table, which they fill to three quarters at most. */
static enum unseen_status rebuild(struct lease_table *leases,
                                  const struct unseen_allocator *allocator, int64_t now)
{
    struct lease_table rebuilt = {.entry_size = sizeof(struct lease)};
    size_t nlasting = 0;
    for (size_t i = 0; i < leases->end; i++) {
        nlasting += ((struct lease *)lease_table_at(leases, i))->until > now;
    }
    const enum unseen_status status =
        lease_table_reserve(&rebuilt, allocator, nlasting + nlasting / 3 + 2);
    if (status != UNSEEN_OK) {
        return status;
    }
    for (size_t i = 0; i < leases->end; i++) {
        const struct lease *lease = lease_table_at(leases, i);
        if (lease->until > now) {
            *(struct lease *)lease_table_add(&rebuilt, lease->key) = *lease;
        }
    }
    lease_table_release(leases, allocator);
    *leases = rebuilt;
    return UNSEEN_OK;
}

int64_t leases_until(const struct lease_table *leases, struct unseen_key key)
{
    const struct lease *lease = lease_table_find(leases, key);
    return lease ? lease->until : 0;
}

enum unseen_status leases_put(struct lease_table *leases, const struct unseen_allocator *allocator,
                              struct unseen_key key, int64_t until, int64_t now)
{
    struct lease *lease = lease_table_find(leases, key);
    if (!lease) {
        const enum unseen_status status =
            lease_table_is_full(leases) ? rebuild(leases, allocator, now) : UNSEEN_OK;
        if (status != UNSEEN_OK) {
            return status;
        }
        lease = lease_table_add(leases, key);
    }
    lease->until = until;
    return UNSEEN_OK;
}

void leases_remove(struct lease_table *leases, struct unseen_key key)
{
    struct lease *lease = lease_table_find(leases, key);
    if (lease) {
        lease_table_remove(leases, lease);
    }
}
