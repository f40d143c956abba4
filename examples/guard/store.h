/* SPDX-License-Identifier: MIT
 *
 * A key-value store with a guard in front of it: what main.c uses, and lmdb/store.c and
 * rocksdb/store.c are. Every function that can fail returns false and has printed why. */
#ifndef GUARD_STORE_H
#define GUARD_STORE_H

#include "guard.h"

/* What a store is opened with. */
struct store_setting {
    double rate;        /* of the guard; 0: no guard */
    const char *filter; /* of the store itself: NULL, or "bloom:BITS" or "ribbon:BITS" */
    bool fast;          /* for measuring: the store does not sync */
};

struct store;

struct store *store_open(const char *folder, const struct store_setting *setting);
void store_close(struct store *store);

/* Writes n keys and their values in one transaction; they are durable when it returns. */
bool store_put(struct store *store, const struct unseen_bytes *keys,
               const struct unseen_bytes *values, size_t n);

/* found_out says whether the key is there; take then gets its value. */
bool store_get(struct store *store, struct unseen_bytes key, bool *found_out,
               void (*take)(void *context, struct unseen_bytes value), void *context);

bool store_delete(struct store *store, struct unseen_bytes key);

/* Calls each with every key. */
bool store_keys(struct store *store, bool (*each)(void *context, const void *key, size_t len),
                void *context);

/* Makes the guard's list anew. */
bool store_rebuild(struct store *store);

/* Questions that went to the store behind the guard; blocks that it read from its files, if it
 * counts them; bytes of its own filters, if it has some. */
struct store_stats {
    uint64_t asked;
    uint64_t blocks_read;
    uint64_t filter_bytes;
    const char *blocks_are;
};
bool store_stats(struct store *store, struct store_stats *stats_out);

struct guard *store_guard(struct store *store);

#endif
