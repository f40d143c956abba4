/* SPDX-License-Identifier: MIT
 *
 * The operations that every filter has. A filter is a struct that begins with a pointer to its
 * table of operations. It sees 128-bit keys, never strings, and takes its memory from the allocator
 * that it is given. One thread at a time may use a filter; src/set shares filters among threads. A
 * new filter is a file with a table of operations, and a line in each table of set/filters.c. */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include <stdbool.h>

#include "unseen.h"

struct unseen__tally;

struct unseen__filter {
    const struct unseen__filter_ops *ops;
};

/* The pages of a compact filter that stand in a file, one behind the other, and are read when they
 * are first needed. */
struct unseen__pages {
    /* Reads len bytes, `offset` bytes behind the start of the first page. Errors: CORRUPT if there
     * are fewer, IO. */
    enum unseen_status (*read)(void *context, uint64_t offset, uint8_t *buf, size_t len);
    /* Says that these bytes will be read soon; NULL: nobody needs to know. */
    void (*will_read)(void *context, uint64_t offset, size_t len);
    void (*release)(void *context);
    void *context;
    uint64_t n; /* how many pages there are */
    /* A group takes memory when it is read, and not before. The set then has one thread. */
    bool is_late;
};

/* A set is 2^prefix_bits filters. */
struct unseen__filter_params {
    double fpr;          /* 0: it follows from bits_per_key */
    uint64_t capacity;   /* of the whole set */
    double bits_per_key; /* 0: they follow from fpr */
    unsigned hashes;     /* 0: the best */
    /* Every key of this filter has these top prefix_bits bits of hi. */
    unsigned prefix_bits;
    uint64_t prefix;
    /* The set's filter of prefix 0, whose array the other filters may share; NULL for that filter
     * itself. It is freed before the others. */
    struct unseen__filter *first;
    /* NULL, or the parameters of an export, as save_params wrote them: create an empty filter into
     * which pieces are loaded. Ignore fpr and capacity then. Impossible parameters give CORRUPT. Do
     * not write to memory that these bytes alone ask for before pieces come. */
    const uint8_t *saved;
    uint64_t saved_nkeys; /* the number of keys of the whole set, as the export says */
    uint64_t saved_max;   /* the most bytes that all pieces can have together */
    bool clears_later;    /* a filter of blocks: see unseen__blocks_clear */
    enum unseen_cpu cpu;  /* a level, not AUTO */
    struct unseen_allocator allocator;
};

/* An operation that a filter does not support is NULL. */
struct unseen__filter_ops {
    const char *name;
    unsigned abilities; /* UNSEEN_CAN_*, in agreement with the operations below */
    /* Into how many filters a set with these parameters may be divided, as a power of two: at most
     * `wanted`, unless the pieces of params->saved need another number. NULL: as many as wanted. */
    enum unseen_status (*shard_bits)(const struct unseen__filter_params *params, unsigned wanted,
                                     unsigned *shard_bits_out);

    enum unseen_status (*create)(struct unseen__filter **filter_out,
                                 const struct unseen__filter_params *params);
    void (*free)(struct unseen__filter *filter);

    /* As unseen_set_add_keys and so on; contains and remove cannot fail. */
    enum unseen_status (*add)(struct unseen__filter *filter, const struct unseen_key *keys,
                              size_t n, uint8_t *verdicts, size_t *ndone_out);
    /* As add, but a key that is present is left as it is, and not counted once more. NULL: add
     * never counts a key twice, so it is used instead. */
    enum unseen_status (*add_absent)(struct unseen__filter *filter, const struct unseen_key *keys,
                                     size_t n, uint8_t *verdicts, size_t *ndone_out);
    void (*contains)(const struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts);
    void (*remove)(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                   uint8_t *verdicts);

    /* How often a key was added, as unseen_set_count_keys; NULL: the filter does not count. */
    uint64_t (*multiplicity)(const struct unseen__filter *filter, struct unseen_key key);

    /* The nkeys of stats alone. It must be cheap: an export calls it at each chunk. */
    uint64_t (*nkeys)(const struct unseen__filter *filter);

    /* Adds this filter's numbers to *stats. Rates are weighted by 2^-prefix_bits. fill gets the
     * number of slots in use, which src/set divides by nslots. capacity, hashes and fpr_promise
     * describe the set: each filter writes the same. */
    void (*stats)(const struct unseen__filter *filter, struct unseen_set_stats *stats);

    /* For a filter whose nkeys_estimate and fpr_estimate take a formula: stats leaves them out, and
     * tally adds the numbers that the formula needs (bits/rate.h). */
    void (*tally)(const struct unseen__filter *filter, struct unseen__tally *tally);

    /* Writes the parameters that a reader must know into UNSEEN__PARAMS_LEN bytes of the header.
     * Called for each filter of a set in turn with the same bytes, which are 0 before the first. */
    void (*save_params)(const struct unseen__filter *filter, uint8_t *params);

    /* Writes the next piece, without frame and checksum, and returns its length; 0 is the end.
     * *position is 0 at first and always below 2^49; of a filter that is made of others, below
     * 2^50. */
    size_t (*save_piece)(const struct unseen__filter *filter, uint64_t *position, uint8_t *buf);

    /* Load pieces, in any order, into a filter that was created from saved parameters; load_finish
     * checks the whole. A piece goes to every filter of the set that owns a part of it. Every byte
     * may be hostile. */
    bool (*owns_piece)(const struct unseen__filter *filter, const uint8_t *piece, size_t len);
    enum unseen_status (*load_piece)(struct unseen__filter *filter, const uint8_t *piece,
                                     size_t len);
    enum unseen_status (*load_finish)(struct unseen__filter *filter);

    /* Union. is_same_shape compares the first filters of two sets. If it is true, every filter gets
     * each piece of the other set of which it owns a part; then merge_finish counts the keys. A
     * filter that grows can fail in the midst of a union (NOMEM): it then has all its keys and some
     * of the other's, and a union from the start adds the rest. */
    bool (*is_same_shape)(const struct unseen__filter *filter, const struct unseen__filter *other);
    enum unseen_status (*merge_piece)(struct unseen__filter *filter, const uint8_t *piece,
                                      size_t len);
    void (*merge_finish)(struct unseen__filter *filter);

    /* For unseen_plan: plan fills in the unknown numbers of a plan from the known numbers;
     * plan_rate is the rate of a filter with this plan and nkeys keys. */
    enum unseen_status (*plan)(struct unseen_plan *plan);
    double (*plan_rate)(const struct unseen_plan *plan, double nkeys);
};

/* The length of a filter's parameters, and of the longest piece. */
#define UNSEEN__PARAMS_LEN ((size_t)32)
#define UNSEEN__PIECE_MAX  (UNSEEN_CHUNK_MAX - 64)

#endif
