/* SPDX-License-Identifier: MIT
 *
 * A store with the least limit of memory: one that is opened in parts, and one in memory that is
 * about to go over its limit. Key number i is the same in all of them. */
#ifndef UNSEEN_CRASH_PARTS_H
#define UNSEEN_CRASH_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "crash.h"
#include "hash/key.h"

#define PARTS_LIMIT ((uint64_t)1 << 20)

enum {
    PARTS_NKEYS = 120000, /* of the store in parts */
    PARTS_NFEW = 60000,   /* of the one in memory */
    PARTS_BATCH = 4096,
    PARTS_STEP = 61
};

static inline struct unseen_key parts_key(uint64_t i)
{
    struct unseen_key key = {0, crash_random(&i)};
    unseen__key_narrow(64, &key);
    return key;
}

static inline enum unseen_status parts_open(struct unseen_store **store_out, const char *path,
                                            enum unseen_store_mode mode, struct unseen_error *error)
{
    static const uint64_t seed = 11;
    struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .memory = PARTS_LIMIT};
    if (mode == UNSEEN_STORE_CREATE) {
        options.profile = "none";
        options.seed = &seed;
        options.seed_len = sizeof(seed);
    }
    return unseen_store_open(store_out, path, &options, error);
}

/* Adds the keys first..end-1, which are at most PARTS_BATCH. *ndone_out were answered. */
static inline enum unseen_status parts_add(struct unseen_store *store, uint64_t first, uint64_t end,
                                           size_t *ndone_out)
{
    struct unseen_key keys[PARTS_BATCH];
    uint8_t verdicts[PARTS_BATCH];
    for (uint64_t i = first; i < end; i++) {
        keys[i - first] = parts_key(i);
    }
    *ndone_out = 0;
    return unseen_store_add_keys(store, keys, (size_t)(end - first), verdicts, ndone_out);
}

/* Whether none of the keys first, first + step, ... before end is answered NEW. A question that
 * fails answers nothing. */
static inline bool parts_has(const struct unseen_set *set, uint64_t first, uint64_t end,
                             uint64_t step, bool may_fail)
{
    for (uint64_t i = first; i < end; i += step) {
        const struct unseen_key key = parts_key(i);
        uint8_t verdict = UNSEEN_NEW;
        const enum unseen_status status = unseen_set_contains_keys(set, &key, 1, &verdict, NULL);
        if (status == UNSEEN_OK ? verdict == UNSEEN_NEW : !may_fail) {
            return false;
        }
    }
    return true;
}

/* Makes a store of n keys. */
static inline void parts_make(const char *path, uint64_t n)
{
    struct unseen_store *store = NULL;
    size_t ndone;
    crash_require(parts_open(&store, path, UNSEEN_STORE_CREATE, NULL) == UNSEEN_OK, path);
    for (uint64_t i = 0; i < n; i += PARTS_BATCH) {
        const uint64_t end = i + PARTS_BATCH < n ? i + PARTS_BATCH : n;
        crash_require(parts_add(store, i, end, &ndone) == UNSEEN_OK &&
                          unseen_store_commit(store, NULL) == UNSEEN_OK,
                      "add");
    }
    crash_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
}

#endif
