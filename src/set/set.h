/* SPDX-License-Identifier: MIT
 *
 * The inside of a set: a URL identity and a hasher make keys of bytes, and filters hold the
 * keys. */
#ifndef UNSEEN_SET_SET_H
#define UNSEEN_SET_SET_H

#include <pthread.h>
#include <string.h>

#include "base/macros.h"
#include "filter/filter.h"
#include "hash/key.h"
#include "set/filters.h"
#include "tags/stash.h"

enum {
    UNSEEN__SHARD_BITS_MAX = 8
};

/* A shared set has 2^shard_bits filters, each with its own lock. The top bits of a key's hi say
 * which filter the key belongs to. */
struct unseen__shard {
    struct unseen__filter *filter;
    pthread_mutex_t lock;
    uint64_t generation; /* a hash of all changes so far */
};

struct unseen_set {
    const struct unseen__filter_ops *ops;
    struct unseen__shard *shards;
    unsigned shard_bits;
    bool shared;  /* take the locks */
    bool fetches; /* pages are read when they are first needed */
    bool is_lost; /* not all keys are there, and the set answers nothing; it fetches */
    /* NULL, or the keys since the pages were written, of a set whose pages stay in their file. It
     * makes the same keys. */
    struct unseen_set *recent;
    /* NULL: none. Keys that the filter takes for present by error, and how often each counts: see
     * UNSEEN__ALLOWED_ABSENT. Of one filter only: the set is not shared. */
    struct unseen__stash *allowed;
    unsigned threads;
    unsigned key_bits;
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    struct unseen_url *own_url;   /* freed with the set; NULL: the store's, or none */
    enum unseen_cpu cpu;          /* a level, not AUTO */
    struct unseen_allocator allocator;
    struct unseen__hasher hasher;
    struct unseen__window *window; /* NULL: the set does not forget by time */
};

/* The filter of an export, as the header of the export describes it. */
struct unseen__saved {
    const uint8_t *params; /* UNSEEN__PARAMS_LEN bytes */
    uint64_t nkeys;
    uint64_t nbytes_max; /* all pieces together are not longer */
};

/* The id of a canonicaliser, which may be NULL. */
const char *unseen__profile_of(const struct unseen_url *url);

/* Makes the canonicaliser of a profile (NULL: crawl) for a set or a store to own; NULL for the
 * profile none. Errors: those of unseen_url_create. */
enum unseen_status unseen__set_url_make(struct unseen_url **url_out, const char *profile,
                                        enum unseen_cpu cpu,
                                        const struct unseen_allocator *allocator,
                                        struct unseen_error *error);

/* Makes an empty set as unseen_set_create does, with the secret in place of the options' seed, and
 * with the canonicaliser, which it borrows, in place of their profile. `saved` describes the pieces
 * that will be loaded into the set; NULL: none will. CORRUPT if no set can have such pieces. */
enum unseen_status
unseen__set_create(struct unseen_set **set_out, const struct unseen_set_options *options,
                   const struct unseen_url *url, const struct unseen__secret *secret,
                   const struct unseen__saved *saved, struct unseen_error *error);

/* Exchanges the filters of two sets that make the same keys. Other threads may make keys
 * meanwhile. */
void unseen__set_swap_filters(struct unseen_set *a, struct unseen_set *b);

/* Errors: NAME; UNSUPPORTED: the filter does not count. */
enum unseen_status unseen__filter_named(const char *name, bool counts,
                                        const struct unseen__filter_ops **ops_out,
                                        struct unseen_error *error);

/* Says that all chunks of an import together have nbytes bytes at most. A header that asks for a
 * larger set is then CORRUPT. Call it before the first chunk. */
void unseen__import_limit(struct unseen_import *import, uint64_t nbytes);

/* Lends the set a canonicaliser (NULL: bytes), which its header must name. Otherwise the set makes
 * its own. Call it before the first chunk. */
void unseen__import_lend_url(struct unseen_import *import, const struct unseen_url *url);

/* Takes the groups of an import from a table, and their pages from a file, when they are first
 * needed (filter.h). Call it after the chunk of the header; then import the chunks of the rest.
 * After success the set owns *pages. Errors: UNSUPPORTED (this filter has no table), CORRUPT,
 * NOMEM. */
enum unseen_status unseen__import_table(struct unseen_import *import,
                                        const struct unseen__pages *pages, const uint8_t *table,
                                        size_t len);

/* The number of filters. */
UNSEEN_INLINE size_t unseen__set_nshards(const struct unseen_set *set)
{
    return (size_t)1 << set->shard_bits;
}

/* The nkeys of unseen_set_stats alone. It is cheap. */
uint64_t unseen__set_nkeys(const struct unseen_set *set);

/* unseen_set_export, for writers of chunks. */
enum unseen_status unseen__set_next_chunk(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                          size_t *len_out);

/* The length of the table of a set, and the table. 0: this set has no table. */
size_t unseen__set_table_len(const struct unseen_set *set);
void unseen__set_save_table(const struct unseen_set *set, uint8_t *table);

/* As unseen__set_next_chunk, of a set with a table: the chunks without groups; and the pages of its
 * groups, in the order of the table. */
enum unseen_status unseen__set_next_rest(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                         size_t *len_out);
enum unseen_status unseen__set_next_pages(const void *set, uint64_t *cursor, void *buf, size_t cap,
                                          size_t *len_out);

/* A part of a set (unseen_set_part_bits), which may be that of a store. */
struct unseen__part {
    const struct unseen_set *set;
    unsigned bits;
    uint64_t index;
};

/* Reads all of the part; keeps what the table has of it; gives its memory to the next part. Errors:
 * NOMEM; of load: CORRUPT, IO. */
enum unseen_status unseen__set_load_part(const struct unseen__part *part);
enum unseen_status unseen__set_keep_part(const struct unseen__part *part);
enum unseen_status unseen__set_drop_part(const struct unseen__part *part);

/* unseen__set_next_pages, of a part. */
enum unseen_status unseen__set_next_of_part(const void *part, uint64_t *cursor, void *buf,
                                            size_t cap, size_t *len_out);

/* Reads what n keys need, everything if keys is NULL; less for one that asks only. The set fetches.
 * Errors: those of fetch in compact.h. */
enum unseen_status unseen__set_fetch_keys(const struct unseen_set *set,
                                          const struct unseen_key *keys, size_t n, bool asks_only);

/* Reads all that has not been read. UNSUPPORTED: the pages stay in their file. */
UNSEEN_INLINE enum unseen_status unseen__set_fetch_all(const struct unseen_set *set)
{
    return set->recent    ? UNSEEN_ERR_UNSUPPORTED
           : set->fetches ? unseen__set_fetch_keys(set, NULL, 0, false)
                          : UNSEEN_OK;
}

#define UNSEEN__BITS_PER_KEY_MAX 1e6

/* Checks bits per key, which may not come beside a rate. 0: not given. Errors: ARGUMENT. */
enum unseen_status unseen__shape_check(double fpr, double bits_per_key, struct unseen_error *error);

/* The fewest bits of a key with which a new set of this filter keeps this rate. */
unsigned unseen__key_bits_for(const struct unseen__filter_ops *ops, double fpr);

/* The lowest rate that a filter which grows promises with keys of so many bits. */
double unseen__lowest_rate(unsigned key_bits);

/* Copies the options, of whatever size the caller's struct is, fills in defaults, and checks fpr,
 * bits_per_key and key_bits. */
enum unseen_status unseen__set_options(const struct unseen_set_options *given,
                                       struct unseen_set_options *options_out,
                                       struct unseen_error *error);

enum unseen__operation {
    UNSEEN__ADD,
    UNSEEN__ADD_ABSENT, /* a present key is not counted once more */
    UNSEEN__CONTAINS,
    UNSEEN__REMOVE
};

/* Adds the keys whose verdict says that they changed the filter to the generation. Keys are hashes
 * already. A sum does not depend on how keys are divided among filters. */
UNSEEN_INLINE void unseen__set_changed(struct unseen__shard *shard, uint64_t weight,
                                       uint8_t verdict, const struct unseen_key *keys, size_t n,
                                       const uint8_t *verdicts)
{
    /* Most batches of known keys change nothing: memchr says so in no time. */
    if (n == 1 ? *verdicts != verdict : n == 0 || !memchr(verdicts, verdict, n)) {
        return;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        /* Without a branch: which keys are new is unpredictable. */
        sum += (keys[i].lo ^ keys[i].hi) & (0 - (uint64_t)(verdicts[i] == verdict));
    }
    shard->generation += weight * sum;
}

UNSEEN_INLINE enum unseen_status unseen__set_run_filter(const struct unseen_set *set,
                                                        struct unseen__filter *filter,
                                                        enum unseen__operation operation,
                                                        const struct unseen_key *keys, size_t n,
                                                        uint8_t *verdicts, size_t *ndone)
{
    *ndone = n;
    switch (operation) {
    case UNSEEN__ADD:
        return set->ops->add(filter, keys, n, verdicts, ndone);
    case UNSEEN__ADD_ABSENT:
        return (set->ops->add_absent ? set->ops->add_absent : set->ops->add)(filter, keys, n,
                                                                             verdicts, ndone);
    case UNSEEN__CONTAINS:
        set->ops->contains(filter, keys, n, verdicts);
        return UNSEEN_OK;
    case UNSEEN__REMOVE:
        set->ops->remove(filter, keys, n, verdicts);
        return UNSEEN_OK;
    }
    return UNSEEN_ERR_ARGUMENT;
}

/* window.c: the operation on one filter of a set with a window. */
enum unseen_status unseen__window_run(const struct unseen_set *set, struct unseen__shard *shard,
                                      enum unseen__operation operation,
                                      const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                      size_t *ndone);

/* The operation on one filter, which must be able to do it, as if the set had no window. Inlined,
 * as the operation is nearly always a constant, and a single key takes little more time than its
 * cache misses. */
UNSEEN_INLINE enum unseen_status unseen__set_run_plain(const struct unseen_set *set,
                                                       struct unseen__shard *shard,
                                                       enum unseen__operation operation,
                                                       const struct unseen_key *keys, size_t n,
                                                       uint8_t *verdicts, size_t *ndone)
{
    const enum unseen_status status =
        unseen__set_run_filter(set, shard->filter, operation, keys, n, verdicts, ndone);
    /* A key that is added again to a filter that counts is a change, too. The weights differ, so
     * that changes do not cancel out. */
    switch (operation) {
    case UNSEEN__ADD:
        if (set->ops->multiplicity) {
            unseen__set_changed(shard, 5, UNSEEN_SEEN, keys, *ndone, verdicts);
        }
        /* fallthrough */
    case UNSEEN__ADD_ABSENT:
        unseen__set_changed(shard, 1, UNSEEN_NEW, keys, *ndone, verdicts);
        break;
    case UNSEEN__REMOVE:
        unseen__set_changed(shard, 3, UNSEEN_SEEN, keys, *ndone, verdicts);
        break;
    default:
        break;
    }
    return status;
}

/* The operation on one filter. */
UNSEEN_INLINE enum unseen_status unseen__set_run_shard(const struct unseen_set *set,
                                                       struct unseen__shard *shard,
                                                       enum unseen__operation operation,
                                                       const struct unseen_key *keys, size_t n,
                                                       uint8_t *verdicts, size_t *ndone)
{
    return UNSEEN_UNLIKELY(set->window)
               ? unseen__window_run(set, shard, operation, keys, n, verdicts, ndone)
               : unseen__set_run_plain(set, shard, operation, keys, n, verdicts, ndone);
}

/* set_threads.c: the operation on the filters that the keys belong to, each under its lock. */
enum unseen_status unseen__set_run_shared(const struct unseen_set *set,
                                          enum unseen__operation operation,
                                          const struct unseen_key *keys, size_t n,
                                          uint8_t *verdicts, size_t *ndone);

/* paged.c: the operation on a set with recent keys. Errors: UNSUPPORTED (a removal), those of
 * unseen__compact_ask and of adding; STOPPED, of each operation on a set that is lost. */
enum unseen_status unseen__paged_run(const struct unseen_set *set, enum unseen__operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone_out);

/* unseen__set_run, whatever keys are allowed. */
UNSEEN_INLINE enum unseen_status unseen__set_run_filters(const struct unseen_set *set,
                                                         enum unseen__operation operation,
                                                         const struct unseen_key *keys, size_t n,
                                                         uint8_t *verdicts, size_t *ndone_out)
{
    size_t ndone = 0;
    enum unseen_status status = UNSEEN_OK;
    if (operation == UNSEEN__REMOVE && !set->ops->remove) {
        status = UNSEEN_ERR_UNSUPPORTED;
    } else if (UNSEEN_UNLIKELY(set->fetches) && (set->recent || set->is_lost)) {
        return unseen__paged_run(set, operation, keys, n, verdicts, ndone_out);
    } else if (UNSEEN_UNLIKELY(set->fetches)) {
        status = unseen__set_fetch_keys(set, keys, n, operation == UNSEEN__CONTAINS);
    }
    if (status == UNSEEN_OK) {
        status = set->shared ? unseen__set_run_shared(set, operation, keys, n, verdicts, &ndone)
                             : unseen__set_run_shard(set, &set->shards[0], operation, keys, n,
                                                     verdicts, &ndone);
    }
    if (ndone_out) {
        *ndone_out = ndone;
    }
    return status;
}

/* ---- allowed.c ---- */

/* In set->allowed an allowed key that was not added since is there once, and is answered NEW. One
 * that was added since is there twice, and one that was removed again is there once more. */
enum {
    UNSEEN__ALLOWED_ABSENT = 1,
    UNSEEN__ALLOWED_ADDED = 2
};

/* Allows a key that the set does not have, though the filter says so; a key that is allowed already
 * stays as it is. Errors: NOMEM, RANDOM. */
enum unseen_status unseen__set_allow(struct unseen_set *set, struct unseen_key key);

/* Writes the allowed keys of a set that has some, 24 bytes each, and reads them back into a set
 * without any. Errors: CORRUPT, NOMEM, RANDOM. */
void unseen__set_save_allowed(const struct unseen_set *set, uint8_t *bytes);
enum unseen_status unseen__set_load_allowed(struct unseen_set *set, const uint8_t *bytes, size_t n);

/* How many keys are allowed and absent. Linear in the allowed keys. */
uint64_t unseen__set_nallowed(const struct unseen_set *set);

/* Frees set->allowed, before the set is freed. */
void unseen__set_forget_allowed(struct unseen_set *set);

/* unseen__set_run of a set with allowed keys. */
enum unseen_status unseen__set_run_allowed(const struct unseen_set *set,
                                           enum unseen__operation operation,
                                           const struct unseen_key *keys, size_t n,
                                           uint8_t *verdicts, size_t *ndone_out);

/* Does what unseen_set_add_keys does, for each operation. UNSUPPORTED if the filter cannot REMOVE.
 * ADD, ADD_ABSENT and REMOVE change the set. */
UNSEEN_INLINE enum unseen_status unseen__set_run(const struct unseen_set *set,
                                                 enum unseen__operation operation,
                                                 const struct unseen_key *keys, size_t n,
                                                 uint8_t *verdicts, size_t *ndone_out)
{
    return UNSEEN_UNLIKELY(set->allowed != NULL)
               ? unseen__set_run_allowed(set, operation, keys, n, verdicts, ndone_out)
               : unseen__set_run_filters(set, operation, keys, n, verdicts, ndone_out);
}

/* How often a key was added to a filter that counts. */
uint64_t unseen__set_count_key(const struct unseen_set *set, struct unseen_key key);

#endif
