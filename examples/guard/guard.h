/* SPDX-License-Identifier: MIT
 *
 * A filter in front of a key-value store on disk. It says of a key that it is certainly not in the
 * store, so that the store is not asked; and it is never behind the store, also after kill -9.
 *
 *     if (guard_may_have(guard, key, len)) -> ask the store
 *
 *     guard_write_begin(guard);
 *     guard_add(guard, keys, n)            -> durable when it returns
 *     write the keys to the store, commit
 *     guard_write_end(guard);
 *
 * The keys are in two places, both files in the guard's folder:
 *
 *     list       a static list of unseen, 7 bits a key at 1 %, 13.5 at 1e-4, mapped
 *     recent.N   a store of unseen with what was added since the list was made
 *
 * guard_rebuild makes a new list of all keys of the store, which forgets deleted keys. Every
 * function that can fail returns false and has printed why. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

struct guard;

/* Opens the guard in the folder, which is made if it does not exist. rate is that of wrong "may
 * have" by the list. */
struct guard *guard_open(const char *folder, double rate);
void guard_close(struct guard *guard);

/* False before the first guard_rebuild: the guard does not know the store, and lets everything
 * pass. Any number of threads may ask. */
bool guard_knows(const struct guard *guard);
bool guard_may_have(struct guard *guard, const void *key, size_t len);

/* The same the other way round, and asked in any case: where nearly all keys are there,
 * guard_may_have lets most questions pass unasked. */
bool guard_lacks(struct guard *guard, const void *key, size_t len);

/* Between these calls, keys may be added and then written to the store. Any number of writers. */
void guard_write_begin(struct guard *guard);
void guard_write_end(struct guard *guard);
bool guard_add(struct guard *guard, const struct unseen_bytes *keys, size_t n);

/* Makes the list anew. each calls take with every key of the store as it is when `begin` was
 * called, or later; begin is called when no write is under way, and must not take long (a
 * snapshot). While a thread rebuilds, another one that wants to waits. */
struct guard_scan {
    bool (*begin)(void *context);
    bool (*each)(void *context, bool (*take)(void *build, const void *key, size_t len),
                 void *build);
    void *context;
};
bool guard_rebuild(struct guard *guard, const struct guard_scan *scan);

/* Bytes of the list, and its keys; keys added since, and the bytes of memory they take. */
struct guard_stats {
    uint64_t list_bytes;
    uint64_t list_keys;
    uint64_t recent_keys;
    uint64_t recent_memory;
};
struct guard_stats guard_stats(struct guard *guard);

#endif
