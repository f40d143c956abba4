/* SPDX-License-Identifier: MIT
 *
 * The inside of a set: what makes its keys, the URL identity, and one or more filters. */
#ifndef UNSEEN_SET_SET_H
#define UNSEEN_SET_SET_H

#include <pthread.h>

#include "filter/filter.h"
#include "hash/key.h"

enum {
    UNSEEN__SHARD_BITS_MAX = 8
};

/* A shared set is 2^shard_bits filters, each with its own lock; the top bits of a key's hi say
 * which one it belongs to. */
struct unseen__shard {
    struct unseen__filter *filter;
    pthread_mutex_t lock;
};

struct unseen_set {
    const struct unseen__filter_ops *ops;
    struct unseen__shard *shards;
    unsigned shard_bits;
    bool shared; /* take the locks */
    unsigned key_bits;
    const struct unseen_url *url; /* NULL: the bytes are the identity */
    enum unseen_cpu cpu;          /* a level, not AUTO */
    struct unseen_allocator allocator;
    struct unseen__hasher hasher;
};

/* What the header of an export says of the filter. */
struct unseen__saved {
    const uint8_t *params; /* UNSEEN__PARAMS_LEN bytes */
    uint64_t nkeys;
    uint64_t nbytes_max; /* of all its pieces together */
};

/* An empty set, as unseen_set_create; the secret stands in place of the options' seed. saved is NULL, or says what pieces will be
 * loaded into it; CORRUPT for what cannot be. */
enum unseen_status unseen__set_create(struct unseen_set **set_out,
                                      const struct unseen_set_options *options,
                                      const struct unseen__secret *secret,
                                      const struct unseen__saved *saved,
                                      struct unseen_error *error);

/* NAME: no filter has that name. */
enum unseen_status unseen__filter_named(const char *name, const struct unseen__filter_ops **ops_out,
                                        struct unseen_error *error);

/* Says that the chunks of an import will have nbytes bytes at most. Set it before the first chunk. A
 * header that asks for a larger set is then CORRUPT. */
void unseen__import_limit(struct unseen_import *import, uint64_t nbytes);

/* The options the caller gave, completed with defaults. */
enum unseen_status unseen__set_options(const struct unseen_set_options *given,
                                       struct unseen_set_options *options_out,
                                       struct unseen_error *error);

enum unseen__operation {
    UNSEEN__ADD,
    UNSEEN__CONTAINS,
    UNSEEN__REMOVE,
    UNSEEN__COUNT
};

/* The family of unseen_set_add and unseen_set_add_keys; REMOVE and COUNT are UNSUPPORTED where the
 * filter cannot do them. Only ADD and REMOVE change the set. */
enum unseen_status unseen__set_run(const struct unseen_set *set, enum unseen__operation operation,
                                   const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                   size_t *ndone_out);
enum unseen_status unseen__set_run_items(const struct unseen_set *set,
                                         enum unseen__operation operation,
                                         const struct unseen_bytes *items, size_t n,
                                         uint8_t *verdicts, size_t *ndone_out);

/* How many filters, as a power of two, so many threads share well. */
unsigned unseen__shard_bits(unsigned threads);

#endif
