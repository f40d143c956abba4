/* SPDX-License-Identifier: MIT
 *
 * The value of a key: a small set (unseen_small.h) or a set, and what its commands count.
 * Nothing here knows the server but for its memory.
 *
 * A value with few keys is one block of memory, the bytes of the small set themselves; its mark
 * names its recipe. From the first lease on it is a struct with the small set, and when the small
 * set is full, or cannot do what is asked, a struct with a set. Which of them it is shows
 * nowhere in the answers. A change may move a value, so it takes the address of the pointer. */
#ifndef UNSEEN_MODULE_VALUE_H
#define UNSEEN_MODULE_VALUE_H

#include "server/memory.h"
#include "value/leases.h"
#include "value/recipe.h"

struct value;

/* Makes an empty value. The value becomes one more user of the recipe.
 *
 * Errors:
 *   - NOMEM */
enum unseen_status value_create(struct value **value_out, struct recipe *recipe);
void value_free(struct value *value);

/* ---- changes; budget is the memory that they may take ---- */

/* Adds keys, and gives each its verdict. In a value for CF.* each add counts.
 *
 * Errors, after *ndone_out keys:
 *   - SPACE: NONSCALING, and full
 *   - NOMEM: the memory, or the budget, is used up; nothing that was added is lost */
enum unseen_status value_add(struct value **value, const struct unseen_key *keys, size_t n,
                             uint8_t *verdicts, size_t *ndone_out, struct budget *budget);

/* Adds the key of a value for CF.* unless it is there. */
enum unseen_status value_add_absent(struct value **value, struct unseen_key key, uint8_t *verdict,
                                    struct budget *budget);

/* Removes a key: one add of it, if adds count. Errors: UNSUPPORTED, NOMEM. */
enum unseen_status value_remove(struct value **value, struct unseen_key key, uint8_t *verdict,
                                struct budget *budget);

/* Adds the keys in one piece of another value, which has the same secret and width. *cursor as in
 * unseen_set_merge.
 *
 * Errors:
 *   - MISMATCH, UNSUPPORTED, ARGUMENT: nothing was changed
 *   - NOMEM: some keys were added; merge again for the rest */
enum unseen_status value_merge_step(struct value **value, const struct value *other,
                                    uint64_t *cursor, struct budget *budget);

/* What a worker that claims a URL is told. */
enum claim {
    CLAIM_BUSY = -1, /* another worker has it */
    CLAIM_DONE = 0,  /* it was added */
    CLAIM_YOURS = 1
};

/* Leases a key that is neither in the value nor leased at `now`, until a time. Errors: NOMEM,
 * RANDOM. */
enum unseen_status value_claim(struct value **value, struct unseen_key key, int64_t now,
                               int64_t until, enum claim *claim_out, struct budget *budget);

/* Puts off the end of a lease that lasts. Returns false if there is none. */
bool value_renew(struct value **value, struct unseen_key key, int64_t now, int64_t until,
                 struct budget *budget);

/* Leases a key as the primary did, or as a dump says. Errors: NOMEM, RANDOM. */
enum unseen_status value_lease(struct value **value, struct unseen_key key, int64_t now,
                               int64_t until, struct budget *budget);

/* Tells a value with a window the time of what is added next, and lets at most max keys leave, and
 * those that are late. */
void value_expire(struct value *value, uint64_t now, size_t max);

/* Lets keys leave that are due at `upto`, in all values with a window. A value lets at most
 * VALUE_TICK_KEYS leave, in the order of time. Values are alike on a primary and its replicas, so
 * the same calls let the same keys leave. */
enum {
    VALUE_TICK_KEYS = 4096
};
void value_tick_all(uint64_t upto);

/* ---- questions ---- */

void value_contains(const struct value *value, const struct unseen_key *keys, size_t n,
                    uint8_t *verdicts);

/* How often a key was added, in a value for CF.*. */
uint64_t value_count(const struct value *value, struct unseen_key key);

/* The recipe lives as long as the value. */
struct recipe *value_recipe(const struct value *value);

uint64_t value_nadded(const struct value *value);   /* adds that changed something */
uint64_t value_nremoved(const struct value *value); /* removals that did */

/* What the value counts for its users: keys that have not left, if it has a window; or nadded. */
uint64_t value_nitems(const struct value *value);
const struct lease_table *value_leases(const struct value *value);

/* The numbers of the set, as unseen_set_stats has them. The filter of a small set is "small". */
struct unseen_set_stats value_stats(const struct value *value);

/* Equal in values that got the same changes. */
uint64_t value_digest(const struct value *value);

/* Bytes of memory. */
uint64_t value_memory(const struct value *value);

/* The number of separate allocations, about: how long freeing takes. */
size_t value_effort(const struct value *value);

/* What BF.INFO calls the capacity: that of all filters which RedisBloom would have by now, each as
 * large as the one before it times the expansion. *nfilters_out is their number. */
uint64_t value_capacity(const struct value *value, uint64_t *nfilters_out);

/* The number of a value. No two values have the same number, so it tells whether another value has
 * taken a name. It stays when keys are added. 0: the value is one block of memory, which has no
 * number yet. */
uint32_t value_serial(const struct value *value);

/* The number of values of the server. Threads: any. */
uint64_t value_total(void);

/* ---- for dumps and loads ---- */

/* The small set, or NULL; the set, or NULL. */
const void *value_small(const struct value *value);
const struct unseen_set *value_set(const struct value *value);

/* A value without a set, to which one of the next two gives one. */
enum unseen_status value_begin(struct value **value_out, struct recipe *recipe);

/* Errors: CORRUPT, NOMEM. */
enum unseen_status value_load_small(struct value *value, const void *data, size_t len);

/* Takes a set that was imported with the allocator of the value. False: it has not the filter
 * and the secret of the recipe, and is freed. */
bool value_load_set(struct value *value, struct unseen_set *set);

/* The allocator of a value that value_begin made. block_limit is the largest block that it
 * gives. */
struct unseen_allocator value_allocator(struct value *value, uint64_t block_limit);

/* Ends a load. The value may become one block. Returns false if a small set contradicts the
 * counts. */
bool value_finish(struct value **value, uint64_t nadded, uint64_t nremoved);

/* The address of the one block that the value is, or of the block of its small set, for a server
 * that moves blocks; NULL: there is nothing to move. */
void **value_block(struct value **value);

#endif
