/* SPDX-License-Identifier: MIT
 *
 * The value of a key: one set or two (plan.c), and what its commands count. Nothing here knows the
 * server but for its memory. */
#ifndef UNSEEN_MODULE_VALUE_H
#define UNSEEN_MODULE_VALUE_H

#include "leases.h"
#include "memory.h"
#include "plan.h"

struct value {
    struct plan *plan;
    struct memory memory;
    uint64_t nadded;   /* adds that changed something */
    uint64_t nremoved; /* removals that did */
    unsigned nlayers;
    struct unseen_set *layers[2]; /* keys go into the last */
    struct leases leases; /* of URLs that workers have claimed; adding a URL ends its lease */
};

/* Makes an empty value. The value has a plan of its own: the caller keeps his.
 *
 * Errors:
 *   - NOMEM */
enum unseen_status value_create(struct value **value_out, struct plan *plan);
void value_free(struct value *value);

/* Adds keys, and gives each its verdict. In a value for CF.* each add counts.
 *
 * Errors, after *ndone_out keys:
 *   - SPACE: NONSCALING, and full
 *   - NOMEM: the memory, or MAXBYTES, is used up; nothing that was added is lost */
enum unseen_status value_add(struct value *value, const struct unseen_key *keys, size_t n,
                             uint8_t *verdicts, size_t *ndone_out);

/* Adds the key of a value for CF.* unless it is there. */
enum unseen_status value_add_absent(struct value *value, struct unseen_key key, uint8_t *verdict);

void value_contains(const struct value *value, const struct unseen_key *keys, size_t n,
                    uint8_t *verdicts);

/* Removes a key: one add of it, if adds count. Errors: UNSUPPORTED. */
enum unseen_status value_remove(struct value *value, struct unseen_key key, uint8_t *verdict);

/* Adds all keys of another value to a value with one layer each, of one secret and width.
 *
 * Errors:
 *   - MISMATCH or UNSUPPORTED: nothing was changed
 *   - NOMEM: some keys were added; merge again for the rest */
enum unseen_status value_merge(struct value *value, const struct value *other);

/* What a worker that claims a URL is told. */
enum claim {
    CLAIM_BUSY = -1, /* another worker has it */
    CLAIM_DONE = 0,  /* it was added */
    CLAIM_YOURS = 1
};

/* Leases a key that is neither in the value nor leased at `now`, until a time. Errors: NOMEM. */
enum unseen_status value_claim(struct value *value, struct unseen_key key, int64_t now,
                               int64_t until, enum claim *claim_out);

/* Puts off the end of a lease that lasts. Returns false if there is none. */
bool value_renew(struct value *value, struct unseen_key key, int64_t now, int64_t until);

/* Leases a key as the primary did, or as a dump says. Errors: NOMEM. */
enum unseen_status value_lease(struct value *value, struct unseen_key key, int64_t now,
                               int64_t until);

/* How often a key was added, in a value for CF.*. */
uint64_t value_count(const struct value *value, struct unseen_key key);

/* Equal in values that got the same changes. */
uint64_t value_digest(const struct value *value);

/* Bytes of memory. */
uint64_t value_memory(const struct value *value);

/* The number of separate allocations, about: how long freeing takes. */
size_t value_effort(const struct value *value);

/* Keys that the value has room for before it is full or grows: what BF.INFO calls its capacity. */
uint64_t value_capacity(const struct value *value);

/* The number of values of the server. Threads: any. */
uint64_t value_total(void);

/* ---- for loads ---- */

/* An empty value without layers. */
enum unseen_status value_begin(struct value **value_out, struct plan *plan);

/* True if the set may be the next layer of the value: it has the plan's filter and secret. */
bool value_fits(const struct value *value, const struct unseen_set *set);

#endif
